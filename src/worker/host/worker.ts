// One user's worker. It takes the user's requests as they come and puts each on its lane: one lane per trading account for
// what trades, in the order of acceptance, and beside it one for what only asks and one for charts and lists. Accounts do not
// wait for each other. Its host keeps it `active` by holding the user's lease. Idle for long enough it stops; the next request
// starts a new one.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AccountId, OrderId, UserId } from '../../domain/ids.ts';
import type { Look } from '../../domain/orders/fill.ts';
import { hasEnded, isUnderWay, type Order, type OrderError, openLeg } from '../../domain/orders/order.ts';
import { endingNow } from '../../domain/orders/resting.ts';
import type { Rules } from '../../domain/orders/step.ts';
import type { Tracing } from '../../domain/tracing.ts';
import { clearEntries } from '../lane/clear-entries.ts';
import {
  lookAtOrder,
  type Reset,
  readAtBroker,
  readMarket,
  resetSimulation,
  searchSymbols,
  type Unavailable,
  verifyCredentials,
} from '../lane/enquiries.ts';
import type { Execution } from '../lane/execution.ts';
import { judgeGuards } from '../lane/guarding.ts';
import { createLanes, type Turn } from '../lane/lanes.ts';
import { makeRoom } from '../lane/make-room.ts';
import { OrderTaken } from '../lane/order-taken.ts';
import { answerPlan } from '../lane/plan-ahead.ts';
import { createProtecting, type ProtectingDeps } from '../lane/protecting.ts';
import { createReadings, type TakeRead } from '../lane/readings.ts';
import { createResting, type Resting } from '../lane/resting.ts';
import { openBooks } from '../lane/trades.ts';
import { livelyClock } from '../lane/watches.ts';
import { Interrupted, workOff } from '../lane/work-off.ts';
import { type BrokerAccess, type Connections, createConnections } from '../line/connections.ts';
import { createListening } from '../line/listening.ts';
import type { Young } from '../line/young.ts';
import type { WorkerOrders } from '../orders.ts';
import { executionOf } from './execution.ts';
import { type Envelope, type Mailbox, namesOf, type Work, type WorkRequest } from './mailbox.ts';
import { ownRecord } from './own-record.ts';

const BEGIN_AGAIN_MS = 500;
/** Instead of an answer: the request is for the next worker of this user. */
const LEFT = Symbol('left to the next worker');

type Log = Record<'info' | 'warn' | 'error', (context: object, text: string) => void>;

export interface WorkerDeps {
  readonly mailbox: Mailbox;
  readonly orders: WorkerOrders;
  readonly protections: ProtectingDeps['protections'];
  readonly brokers: BrokerAccess['brokers'];
  readonly simulated: BrokerAccess['simulated'];
  /** Makes the account's simulated book what it was at first. */
  flattenSimulated(account: AccountId): Promise<void>;
  readonly openCredentials: BrokerAccess['openCredentials'];
  readonly gates: BrokerAccess['gates'];
  readonly rates: BrokerAccess['rates'];
  /** What all users find at a broker. */
  readonly listings: Young;
  readonly charts: Young;
  readonly takeRead: TakeRead;
  readonly clock: { now(): number };
  wait(ms: number): Promise<void>;
  /** Patience: by the clock on the wall, and ended by the signal. */
  rest(ms: number, signal: AbortSignal): Promise<void>;
  readonly log: Log;
  readonly counters: BrokerAccess['counters'] & Execution['counters'];
  readonly tracing: Tracing;
  readonly rules: Rules;
  readonly protecting: ProtectingDeps['rules'];
  /** One price of an instrument for all who follow it. */
  readonly prices: Young;
  readonly sweeps: ProtectingDeps['sweeps'];
  readonly idleMs: number;
  readonly brokerTimeoutMs: number;
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
  const record = ownRecord(deps, user);
  const { findAccount, findOrder } = record;
  const connections: Connections = createConnections({
    ...deps,
    ...record,
  });
  const readings = createReadings(user, deps.takeRead);
  /** What was read of the account before is no longer so. */
  const traded = (order: Order): Order => {
    readings.forget(order.accountId);
    return order;
  };
  /** Whoever began last has the user. */
  const token = randomUUID();
  /** So that fills are not found by the clock alone. */
  const listening = createListening({
    connections,
    askForLook: (order) => mailbox.askForLook(order),
    onHint: (account, hint) => protecting.hear(account, hint === null ? 'perhaps' : 'certainly'),
    clock,
    log,
    times: { unheardMs: deps.protecting.protectMs / 2 },
  });
  /** As it would be judged; nothing is remembered of it. */
  const foresee: Execution['judge'] = (entry) =>
    judgeGuards({ ...deps, orders: { ...orders, firstEquity: orders.knownEquity } }, entry);
  const lanes = createLanes();
  /** What of each account waits. */
  const resting = new Map<AccountId, Resting>();
  const tradesClock = { now: livelyClock(clock), lagMs: deps.rules.lagMs };
  const books = openBooks({ orders, clock, tradesClock }, user);
  const protecting = createProtecting(
    {
      ...deps,
      ...{ connections, books, token, mine, rules: deps.protecting },
      trading: (account, does) => trading(account, does),
      workOff: (account, turn) => workOffAccount(account, null, turn),
      forget: (account) => readings.forget(account),
      hold: (account, isHeld) => listening.hold(account, isHeld),
      makeRoom: (line, of, at) => makeRoom(execution, line, of, at),
    },
    user,
  );
  const execution = executionOf({ ...deps, connections, protecting }, user, { token, traded, mine });
  const faults = new Map<OrderId, number>();
  /** Accounts that are to be recovered, and whose turn has not come. */
  const recovering = new Set<AccountId>();
  const stopping = new AbortController();
  const ready = Promise.withResolvers<void>();
  let lastActiveAt = clock.now();
  let hasBegun = false;

  /** What was saved: an order, or what protects a position. */
  function mine<Saved>({ id }: { readonly id: string }, saved: Saved | 'taken'): Saved {
    if (saved !== 'taken') return saved;
    // Another worker has the user: this one has nothing more to do.
    log.warn({ user_id: user }, 'another worker has the user: this one ends');
    stopping.abort();
    throw new OrderTaken(id);
  }

  async function run(): Promise<void> {
    try {
      const left = await begin();
      hasBegun = true;
      // Before anything is traded: whoever closes must know what protects the position.
      await attempt(() => protecting.begin(), 'what is protected');
      for (const account of left) void attempt(() => recover(account), 'what was left');
      ready.resolve();
      while (!stopping.signal.aborted) {
        const envelope = await mailbox.next(user, { timeoutMs: deps.idleMs, signal: stopping.signal });
        lastActiveAt = clock.now();
        if (envelope) void serve(envelope);
        else if (!lanes.isBusy() && !protecting.isKeeping()) break;
      }
    } finally {
      ready.resolve();
      listening.close();
      protecting.close();
      await lanes.drained();
      connections.close();
    }
  }

  /** Returns the accounts where a predecessor left something. A database that is away is waited for. */
  async function begin(): Promise<AccountId[]> {
    while (!stopping.signal.aborted)
      try {
        await orders.begin(user, token);
        return await orders.accountsUnderWay(user);
      } catch (fault) {
        log.warn({ fault, user_id: user }, 'a worker could not begin; it tries again');
        await sleep(BEGIN_AGAIN_MS, undefined, { signal: stopping.signal }).catch(() => {});
      }
    return [];
  }

  const serve = (envelope: Envelope): Promise<void> =>
    deps.tracing.continued(envelope.trace ?? null, () => answer(envelope));

  async function answer(envelope: Envelope): Promise<void> {
    const { request } = envelope;
    const outcome = await attempt(() => work(request), request);
    lastActiveAt = clock.now();
    const lost = (fault: unknown) => log.warn({ fault, user_id: user }, 'a reply was lost');
    if (outcome === LEFT) await mailbox.post(user, envelope).catch(lost);
    // No answer is an answer too: the API says 202, and what became of the order is found out by recovery.
    else if (outcome !== undefined)
      await deps.tracing.during('result', {}, () => mailbox.reply(envelope, outcome)).catch(lost);
  }

  async function attempt<Answer>(task: () => Promise<Answer>, request: WorkRequest | string) {
    try {
      return await task();
    } catch (fault) {
      if (fault instanceof Interrupted) return LEFT;
      if (!(fault instanceof OrderTaken)) {
        log.error({ fault, ...named(request) }, 'a request to the worker failed');
        return undefined;
      }
      log.warn(named(request), 'another worker has taken the order over');
      return LEFT;
    }
  }

  const named = (request: WorkRequest | string) => ({ user_id: user, ...namesOf(request) });

  async function work(request: WorkRequest) {
    switch (request.kind) {
      case 'execute': {
        const { orderId, accountId } = request;
        const done = await trading(accountId, (turn) => workOffAccount(accountId, orderId, turn));
        // A message may come twice, or late: only the order's own status says whether there is anything left to do.
        return done ?? findOrder(orderId);
      }
      case 'recover': {
        const { accountId, isOther } = request;
        // What was filled at the former account is in no position of this one.
        if (accountId && isOther)
          await trading(accountId, async () => books.beginAnew({ accountId, simulation: false }));
        if (accountId) protecting.hear(accountId, request.isAsked ? 'asked' : 'certainly');
        else {
          await protecting.begin();
          await Promise.all((await orders.accountsUnderWay(user)).map(recover));
        }
        return null;
      }
      case 'flatten': {
        const { accountId } = request;
        const asked = { ...request, arrivedAt: performance.now() };
        const known = await books.asOfNow({ accountId, simulation: false });
        const own = { ...deps, connections, trades: known, taking: execution, signal: stopping.signal };
        const clear = () => clearEntries(own, user, asked).finally(() => readings.forget(accountId));
        return inTurn(`flatten ${accountId}`, clear);
      }
      case 'look':
        return look(request);
      case 'verify':
        return reading(request, () => verifyCredentials(connections, request.accountId));
      case 'symbols':
        return reading(
          request,
          () => searchSymbols({ ...deps, connections }, request.accountId, request),
          charting,
        );
      case 'positions':
      case 'balance':
      case 'openOrders':
        return reading(request, () => readAtBroker(connections, request));
      case 'quote':
      case 'candles':
        return reading(
          request,
          () => readMarket({ ...deps, connections }, request),
          request.kind === 'candles' ? charting : asking,
        );
      case 'plan': {
        const { accountId, draft, isProof } = request;
        const beside = { unsettled: () => orders.unsettled(user, accountId), signal: stopping.signal };
        const besides = async () => ({ trades: await books.asOfNow(draft), ...beside });
        const plan = () => answerPlan({ ...execution, judge: foresee }, request, besides);
        // What is proven is for an order, or for what one has made of the position.
        return asking(accountId, () => (isProof ? plan() : readings.asReader(plan)));
      }
      case 'resetSimulation':
        return startOver(request.accountId);
    }
  }

  /** What the worker has not come to when it stops is left to the next one. */
  const inTurn = <T>(lane: string, does: (turn: Turn) => Promise<T>): Promise<T> =>
    lanes.run(lane, (turn) => {
      if (stopping.signal.aborted) throw new Interrupted();
      return does(turn);
    });
  const trading = <T>(account: AccountId, does: (turn: Turn) => Promise<T>) =>
    inTurn(`orders ${account}`, does);
  const asking = <T>(account: AccountId, does: () => Promise<T>) => inTurn(`enquiries ${account}`, does);

  /** Only to be looked at: what an order is to come of does not wait for it. */
  const charting = <T>(account: AccountId, does: () => Promise<T>) => inTurn(`charts ${account}`, does);

  /** For a user who looks; what is asked is all of the request. */
  const reading = <T extends object>(
    request: WorkRequest & { readonly accountId: AccountId },
    ask: () => Promise<T>,
    lane = asking,
  ): Promise<T> =>
    readings.answer(
      request.accountId,
      JSON.stringify(request),
      () => lane(request.accountId, ask),
      // Whoever verifies has changed something: what was so a moment ago is no answer to him.
      (answer) => request.kind !== 'verify' && !('unavailable' in answer),
    );

  async function recover(account: AccountId): Promise<void> {
    // One that waits for its turn will see everything that there is by then.
    if (recovering.has(account)) return;
    recovering.add(account);
    await trading(account, (turn) => {
      recovering.delete(account);
      return workOffAccount(account, null, turn);
    }).finally(() => recovering.delete(account));
  }

  function workOffAccount(account: AccountId, upTo: OrderId | null, turn: Turn): Promise<Order | null> {
    const read = () => orders.unsettled(user, account);
    const inHand = resting.get(account) ?? createResting();
    resting.set(account, inHand);
    return workOff(execution, read, {
      ...{ upTo, turn, resting: inHand, tradesOf: books.upToDate, faults, log },
      protectFirst: protecting.first,
      onDone(order) {
        listening.note(order);
        protecting.note(order);
      },
      signal: stopping.signal,
    });
  }

  /** Not where an order waits that was sent on the book as it is. */
  function startOver(id: AccountId): Promise<Reset | Unavailable> {
    return trading(id, async () => {
      if (!(await findAccount(id))) return { unavailable: 'the trading account was deleted' };
      const { orders: unsettled } = await orders.unsettled(user, id);
      const isWanted = unsettled.some(({ simulation, status }) => simulation && isUnderWay(status));
      if (isWanted) return { reset: false };
      const outcome = await resetSimulation(deps.flattenSimulated, id);
      readings.forget(id);
      // What was filled before is in no position any more.
      books.beginAnew({ accountId: id, simulation: true });
      return outcome;
    });
  }

  async function look({ orderId, isReading = false }: Work['look']['request']): Promise<Look> {
    const order = await findOrder(orderId);
    if (!order) return { seen: 'failure', reason: 'there is no such order' };
    const leg = openLeg(order);
    const ending = await endingOf(order);
    const own = { connections, clock, ending, taking: execution };
    const looking = () => inTurn(`looks ${order.accountId}`, () => lookAtOrder(own, order));
    const seen = await (isReading ? readings.asPaid(looking) : looking());
    if (seen.seen === 'state' && leg)
      (await books.of(traded(order))).seen({ ...leg, fillQuantity: seen.state.fillQuantity });
    if (seen.seen === 'state' && hasEnded(seen.state.status)) listening.forget(order);
    else listening.note(order);
    return seen;
  }

  /** Why its entry is not to rest any longer; null: it may, or its execution has it in hand. */
  async function endingOf(order: Order): Promise<OrderError | null> {
    if (isUnderWay(order.status) || !(order.priced || order.ending)) return null;
    return endingNow(order, { now: clock.now(), account: await findAccount(order.accountId) });
  }

  const ended = run();
  return {
    ready: ready.promise,
    ended,
    stop() {
      stopping.abort();
      return ended;
    },
    state: () => ({ busy: !hasBegun || lanes.isBusy(), lastActiveAt, connections: connections.count() }),
  };
}
