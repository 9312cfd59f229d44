// One user's worker: takes the user's requests one at a time, in order, and holds the broker connections. Its host
// keeps it `active` by holding the user's lease. Idle for long enough it stops; the next request starts a new one.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from '../data/accounts.ts';
import type { Look } from '../domain/fill.ts';
import type { AccountId, OrderId, UserId } from '../domain/ids.ts';
import { type Order, openLeg } from '../domain/order.ts';
import { type BrokerAccess, type Connections, createConnections } from './connections.ts';
import {
  readBalance,
  readPositions,
  resetSimulation,
  searchSymbols,
  verifyCredentials,
} from './enquiries.ts';
import { type Execution, OrderTaken, queryOf } from './execute.ts';
import type { Envelope, Mailbox, WorkRequest } from './mailbox.ts';
import type { WorkerOrders } from './orders.ts';
import { Interrupted, workOff } from './work-off.ts';

const BEGIN_AGAIN_MS = 500;
/** Instead of an answer: the request is for the next worker of this user. */
const LEFT = Symbol('left to the next worker');

export interface WorkerDeps {
  readonly mailbox: Mailbox;
  readonly orders: WorkerOrders;
  readonly brokers: BrokerAccess['brokers'];
  readonly simulated: BrokerAccess['simulated'];
  /** Makes the account's simulated book what it was at first. */
  flattenSimulated(account: AccountId): Promise<void>;
  readonly openCredentials: BrokerAccess['openCredentials'];
  readonly clock: { now(): number };
  wait(ms: number): Promise<void>;
  readonly log: { warn(context: object, text: string): void; error(context: object, text: string): void };
  readonly reversalPolls: number;
  readonly reversalPollMs: number;
  readonly idleMs: number;
  readonly brokerTimeoutMs: number;
  readonly giveUpMs: number;
}

export interface Worker {
  /** Resolves when the worker has the user, and knows of everything that was accepted before; or when it ends. */
  readonly ready: Promise<unknown>;
  /** Ends when the worker was idle for too long or was stopped; what is in flight is finished first. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
  state(): { busy: boolean; lastActiveAt: number; connections: number };
}

export function startWorker(deps: WorkerDeps, user: UserId): Worker {
  const { mailbox, orders, clock, log } = deps;
  const connections: Connections = createConnections({ ...deps, findAccount });
  const execution: Execution = {
    ...deps,
    connections,
    save,
    saveSending,
  };
  /** Whoever began last has the user. */
  const token = randomUUID();
  const stopping = new AbortController();
  const ready = Promise.withResolvers<void>();
  let busy = true;
  let lastActiveAt = clock.now();

  /** Whoever asks, and for what: a user's worker connects that user's accounts, and no other. */
  async function findAccount(id: AccountId): Promise<Account | null> {
    const account = await orders.findAccount(id);
    return account?.userId === user ? account : null;
  }

  async function save(order: Order, options = { settled: false }): Promise<Order> {
    return mine(order, await orders.save(order, options));
  }

  async function saveSending(order: Order): Promise<Order | 'halted'> {
    return mine(order, await orders.saveSending(order, token));
  }

  function mine<Saved>(order: Order, saved: Saved | 'taken'): Saved {
    if (saved !== 'taken') return saved;
    // Another worker has the user: this one has nothing more to do.
    stopping.abort();
    throw new OrderTaken(order.id);
  }

  async function run(): Promise<void> {
    try {
      const left = await begin();
      ready.resolve();
      await attempt(() => workOff(execution, left, workTo(null)), 'what was left');
      while (!stopping.signal.aborted) {
        busy = false;
        const envelope = await mailbox.next(user, { timeoutMs: deps.idleMs, signal: stopping.signal });
        if (!envelope) break;
        busy = true;
        await serve(envelope);
        lastActiveAt = clock.now();
      }
    } finally {
      ready.resolve();
      await connections.close();
    }
  }

  /** Returns what a predecessor left. A database that is away is waited for: without it there is nothing to do. */
  async function begin(): Promise<Order[]> {
    while (!stopping.signal.aborted)
      try {
        await orders.begin(user, token);
        return await orders.underWay(user);
      } catch (fault) {
        log.warn({ fault, user }, 'a worker could not begin; it tries again');
        await sleep(BEGIN_AGAIN_MS, undefined, { signal: stopping.signal }).catch(() => {});
      }
    return [];
  }

  async function serve(envelope: Envelope): Promise<void> {
    const { request } = envelope;
    const answer = await attempt(() => work(request), request);
    const lost = (fault: unknown) => log.warn({ fault, user }, 'a reply was lost');
    if (answer === LEFT) await mailbox.post(user, envelope).catch(lost);
    // No answer is an answer too: the API says 202, and what became of the order is found out by recovery.
    else if (answer !== undefined) await mailbox.reply(envelope, answer).catch(lost);
  }

  async function attempt<Answer>(task: () => Promise<Answer>, request: WorkRequest | string) {
    try {
      return await task();
    } catch (fault) {
      if (fault instanceof Interrupted) return LEFT;
      if (!(fault instanceof OrderTaken)) {
        log.error({ fault, user, request }, 'a request to the worker failed');
        return undefined;
      }
      log.warn({ user, request }, 'another worker has taken the order over');
      return LEFT;
    }
  }

  async function work(request: WorkRequest) {
    switch (request.kind) {
      case 'execute': {
        const done = await workOff(execution, await orders.underWay(user), workTo(request.orderId));
        // A message may come twice, or late: only the order's own status says whether there is anything left to do.
        return done ?? orders.find(request.orderId);
      }
      case 'look':
        return look(request.orderId);
      case 'recover':
        await workOff(execution, await orders.underWay(user), workTo(null));
        return null;
      case 'verify':
        return verifyCredentials(connections, request.accountId);
      case 'positions':
        return readPositions(connections, request);
      case 'balance':
        return readBalance(connections, request.accountId);
      case 'symbols':
        return searchSymbols(connections, request.accountId, request);
      case 'resetSimulation': {
        const account = await findAccount(request.accountId);
        if (!account) return { unavailable: 'the trading account was deleted' };
        return resetSimulation(deps.flattenSimulated, account.id, await orders.underWay(user));
      }
    }
  }

  const workTo = (upTo: OrderId | null) => ({ upTo, signal: stopping.signal, log });

  async function look(orderId: OrderId): Promise<Look> {
    const order = await orders.find(orderId);
    const leg = order && openLeg(order);
    if (!leg) return { seen: 'failure', reason: 'the order has no open leg' };
    try {
      return await connections.use(order, async (broker) => {
        // What was sent before instruments were pinned is looked up as it would be sent today.
        const instrument = leg.instrument === null ? await broker.resolve(order.symbol) : null;
        const symbol = instrument && 'symbol' in instrument ? instrument.symbol : order.symbol;
        const state = await broker.find(queryOf(leg, symbol));
        if (state) return { seen: 'state', state };
        return broker.capabilities.findsByClientIdMs > 0
          ? { seen: 'nothing' }
          : { seen: 'failure', reason: 'this broker cannot be asked for an order by our id' };
      });
    } catch (fault) {
      return {
        seen: 'failure',
        reason: fault instanceof Error ? fault.message : 'the broker cannot be reached',
      };
    }
  }

  const ended = run();
  return {
    ready: ready.promise,
    ended,
    stop() {
      stopping.abort();
      return ended;
    },
    state: () => ({ busy, lastActiveAt, connections: connections.count() }),
  };
}
