// One user's worker: takes the user's requests one at a time, in order, and holds the broker connections. Its host
// keeps it `active` by holding the user's lease. Idle for long enough it stops; the next request starts a new one.

import type { Account } from '../data/accounts.ts';
import type { Look } from '../domain/fill.ts';
import type { AccountId, OrderId, UserId } from '../domain/ids.ts';
import { type Order, openLeg } from '../domain/order.ts';
import { type BrokerAccess, type Connections, createConnections } from './connections.ts';
import { readPositions, searchSymbols, verifyCredentials } from './enquiries.ts';
import { type Execution, OrderTaken } from './execute.ts';
import type { Envelope, Mailbox, WorkRequest } from './mailbox.ts';
import type { WorkerOrders } from './orders.ts';
import { workOff } from './work-off.ts';

export interface WorkerDeps {
  readonly mailbox: Mailbox;
  readonly orders: WorkerOrders;
  readonly brokers: BrokerAccess['brokers'];
  readonly simulated: BrokerAccess['simulated'];
  readonly openCredentials: BrokerAccess['openCredentials'];
  readonly clock: { now(): number };
  wait(ms: number): Promise<void>;
  readonly log: { warn(context: object, text: string): void; error(context: object, text: string): void };
  readonly reversalPolls: number;
  readonly reversalPollMs: number;
  readonly idleMs: number;
  readonly brokerTimeoutMs: number;
}

export interface Worker {
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
    isHalted: async (account) =>
      (await findAccount(account))?.halted === true || !(await orders.isActive(user)),
  };
  const stopping = new AbortController();
  let busy = true;
  let lastActiveAt = clock.now();

  /** Whoever asks, and for what: a user's worker connects that user's accounts, and no other. */
  async function findAccount(id: AccountId): Promise<Account | null> {
    const account = await orders.findAccount(id);
    return account?.userId === user ? account : null;
  }

  async function save(order: Order, options = { settled: false }): Promise<Order> {
    const saved = await orders.save(order, options);
    if (!saved) throw new OrderTaken(order.id);
    return saved;
  }

  async function run(): Promise<void> {
    try {
      await attempt({ kind: 'recover' });
      while (!stopping.signal.aborted) {
        busy = false;
        const envelope = await mailbox.next(user, { timeoutMs: deps.idleMs, signal: stopping.signal });
        if (!envelope) break;
        busy = true;
        await serve(envelope);
        lastActiveAt = clock.now();
      }
    } finally {
      await connections.close();
    }
  }

  async function serve(envelope: Envelope): Promise<void> {
    const answer = await attempt(envelope.request);
    // No answer is an answer too: the API says 202, and what became of the order is found out by recovery.
    if (answer === undefined) return;
    await mailbox
      .reply(envelope, answer)
      .catch((fault: unknown) => log.warn({ fault, user }, 'a reply was lost'));
  }

  async function attempt(request: WorkRequest) {
    try {
      return await work(request);
    } catch (fault) {
      if (fault instanceof OrderTaken) log.warn({ user, request }, 'another worker has taken the order over');
      else log.error({ fault, user, request }, 'a request to the worker failed');
      return undefined;
    }
  }

  async function work(request: WorkRequest) {
    switch (request.kind) {
      case 'execute': {
        const done = await workOff(execution, await orders.underWay(user), request.orderId, log);
        // A message may come twice, or late: only the order's own status says whether there is anything left to do.
        return done ?? orders.find(request.orderId);
      }
      case 'look':
        return look(request.orderId);
      case 'recover':
        await workOff(execution, await orders.underWay(user), null, log);
        return null;
      case 'verify':
        return verifyCredentials(connections, request.accountId);
      case 'positions':
        return readPositions(connections, request.accountId);
      case 'symbols':
        return searchSymbols(connections, request.accountId, request);
    }
  }

  async function look(orderId: OrderId): Promise<Look> {
    const order = await orders.find(orderId);
    const leg = order && openLeg(order);
    if (!leg) return { seen: 'failure', reason: 'the order has no open leg' };
    try {
      return await connections.use(order, async (broker) => {
        const instrument = await broker.resolve(order.symbol);
        const symbol = 'rejection' in instrument ? order.symbol : instrument.symbol;
        const state = await broker.find(leg.clientOrderId, symbol);
        if (state) return { seen: 'state', state };
        return broker.capabilities.findsByClientId
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
    ended,
    stop() {
      stopping.abort();
      return ended;
    },
    state: () => ({ busy, lastActiveAt, connections: connections.count() }),
  };
}
