// Before the kill switch closes what is held, what could still be filled is taken back: an entry of ours that rests at the
// broker would open a position on the halted account. Then it tells what there is to close. Beside the account's lane, where an
// exit may be waiting: a halted account sends no entry, and one that is on its way is in the list.

import { BrokerBusy, BrokerUnavailable, type OpenOrder, type Position } from '../../broker/broker.ts';
import { type Decimal, negate, sign, ZERO } from '../../domain/decimal.ts';
import type { AccountId, UserId } from '../../domain/ids.ts';
import { agrees } from '../../domain/orders/expected.ts';
import { isOpenLeg, isOurEntry, isUnderWay, type Leg, type Order } from '../../domain/orders/order.ts';
import { beforeRound } from '../../domain/orders/patience.ts';
import { cancelledBy, TAKE_BACK_MS } from '../../domain/orders/resting.ts';
import type { Connections } from '../line/connections.ts';
import { queryOf } from '../line/leg-at-broker.ts';
import type { Line } from '../line/line.ts';
import type { WorkerOrders } from '../orders.ts';
import type { Unavailable } from './enquiries.ts';
import { type TakingBack, takeBack } from './take-back.ts';
import type { Trades } from './trades.ts';

/** One instrument in which something is, or may be, held. */
interface ToClose {
  readonly symbol: string;
  readonly quantity: Decimal;
  /** Why it cannot be traded here, in words; null: it can. */
  readonly reason: string | null;
}

export interface Cleared {
  /** What the broker shows, what our own fills say, and where an entry of ours may yet be filled. */
  readonly toClose: readonly ToClose[];
  /** How many resting entries were taken back. */
  readonly cancelled: number;
  /** Why some could not be, in words; null: all were. */
  readonly cancelError: string | null;
  /** Why the positions could not be read: then `toClose` is what we know ourselves. null: they were. */
  readonly unreadable: string | null;
}

export interface ClearDeps {
  readonly connections: Connections;
  readonly orders: Pick<WorkerOrders, 'unsettled' | 'findAccount' | 'heldByRecord'>;
  /** Of the account. */
  readonly trades: Trades;
  rest(ms: number, signal: AbortSignal): Promise<void>;
  readonly taking: TakingBack;
  readonly signal: AbortSignal;
}

interface Asked {
  readonly accountId: AccountId;
  /** When it was asked for, by `performance.now()`: it may have stood behind another one. */
  readonly arrivedAt: number;
  readonly withinMs?: number;
}

/** How long whoever pressed the switch waits for the answer, where he does not say it; and no longer is the broker waited for. */
const LONGEST_MS = 30_000;
/** By when, of that time, each of these is waited for no longer, though it goes on: nothing is closed before them. */
const SHARES = { takingBack: 1 / 2, looks: 5 / 8, positions: 3 / 4 } as const;

export async function clearEntries(
  deps: ClearDeps,
  user: UserId,
  { accountId, arrivedAt, withinMs = LONGEST_MS }: Asked,
): Promise<Cleared | Unavailable> {
  const { orders, trades } = deps;
  const account = await orders.findAccount(accountId);
  // Whoever asked for it may have waited for long, and have trusted the account again since.
  if (!account?.halted) return { unavailable: 'the account is not halted any more' };
  const { orders: unsettled } = await orders.unsettled(user, accountId);
  const entries = unsettled.filter((order) => !order.simulation).flatMap(openEntries);
  const ask = <Answer>(share: keyof typeof SHARES, task: (line: Line) => Promise<Answer>) => {
    const leftMs = arrivedAt + Math.min(withinMs, LONGEST_MS) * SHARES[share] - performance.now();
    const use = () => deps.connections.use({ accountId, simulation: false }, task, { mayTryRefused: true });
    return within(patiently(deps, use, leftMs), leftMs);
  };

  const isHalted = async () => (await orders.findAccount(accountId))?.halted === true;
  const cancelled = new Set<string>();
  const taken = await ask('takingBack', async (line) => {
    for (const ref of await takeBackWaiting(deps.taking, line, entries)) cancelled.add(ref);
    return cancelEntries(line, { entries, cancelled, isHalted, endEntry: deps.taking.endEntry });
  }).catch(inWords);
  await Promise.all(
    entries.map(({ leg, order }) =>
      ask('looks', (line) => line.find(queryOf(leg, order)))
        .then((state) => state && trades.seen({ ...leg, fillQuantity: state.fillQuantity }))
        .catch(inWords),
    ),
  );
  const positions = await ask('positions', (line) => line.positions()).catch(inWords);
  const shown: readonly Position[] = typeof positions === 'string' ? [] : positions;
  const known = typeof positions === 'string' ? await orders.heldByRecord(user, accountId) : [];
  return {
    toClose: together(shown, [...trades.recent(), ...known, ...mayYetOpen(entries)]),
    cancelled: cancelled.size,
    cancelError: taken,
    unreadable: typeof positions === 'string' ? positions : null,
  };
}

/** One thing that fails must not keep the rest open. */
function inWords(fault: unknown): string {
  if (!(fault instanceof BrokerUnavailable)) throw fault;
  return fault.message;
}

/** The switch is pressed when much is going on: a broker that is busy or away is waited for, as an exit waits for it. */
async function patiently<Answer>(
  { rest, signal }: Pick<ClearDeps, 'rest' | 'signal'>,
  ask: () => Promise<Answer>,
  leftMs: number,
): Promise<Answer> {
  const until = performance.now() + leftMs;
  let restedMs = 0;
  for (let rounds = 1; ; rounds++)
    try {
      return await ask();
    } catch (fault) {
      if (!isPassing(fault)) throw fault;
      const ms = fault instanceof BrokerBusy ? Math.max(fault.retryAfterMs, 50) : beforeRound(rounds);
      restedMs += ms;
      if (restedMs > leftMs || performance.now() + ms > until || signal.aborted) throw fault;
      await rest(ms, signal);
    }
}

/** A broker that hangs keeps nobody from closing what is held. */
async function within<Answer>(asking: Promise<Answer>, ms: number): Promise<Answer> {
  const over = Promise.withResolvers<never>();
  const silent = () => over.reject(new BrokerUnavailable('the broker did not answer in time'));
  const timer = setTimeout(silent, Math.max(0, ms));
  // Of one that is not waited for any more.
  asking.catch(() => {});
  try {
    return await Promise.race([asking, over.promise]);
  } finally {
    clearTimeout(timer);
  }
}

const isPassing = (fault: unknown): boolean =>
  fault instanceof BrokerBusy || (fault instanceof BrokerUnavailable && fault.name === 'BrokerUnavailable');

/** What is in several lists is in it once; the broker's own word on the quantity counts, but for what our fills say. */
function together(
  shown: readonly Position[],
  ours: readonly (readonly [symbol: string, quantity: Decimal])[],
): ToClose[] {
  const found = new Map<string, ToClose>();
  for (const { symbol, quantity, tradable = true, reason = null } of shown)
    if (sign(quantity) !== 0)
      found.set(symbol, { symbol, quantity, reason: tradable ? null : (reason ?? 'it is not traded here') });
  for (const [symbol, quantity] of ours)
    if (!found.has(symbol) && !agrees({ quantity: ZERO, expected: quantity }))
      found.set(symbol, { symbol, quantity, reason: null });
  return [...found.values()];
}

/** Where an entry is on its way, or rests: its close waits for it. */
const mayYetOpen = (entries: readonly OpenEntry[]): (readonly [string, Decimal])[] =>
  entries.map(({ leg, order }) => [
    leg.instrument ?? order.symbol,
    leg.side === 'sell' ? negate(leg.quantity) : leg.quantity,
  ]);

const PRESSED = cancelledBy('the kill switch was pressed');

/** Those that wait for a price are known by our own record: not every broker has them in its list. By the broker's own ids. */
async function takeBackWaiting(
  taking: TakingBack,
  line: Line,
  entries: readonly OpenEntry[],
): Promise<readonly string[]> {
  // One that is being executed is its lane's, and no entry of a halted account is sent.
  const waiting = entries
    .map(({ order }) => order)
    .filter(({ priced, status }) => priced && !isUnderWay(status));
  const taken = await takeBack(taking, line, waiting, () => PRESSED);
  return taken.flatMap(({ order, isOver }) =>
    isOver && order.status === 'cancelled'
      ? order.legs.flatMap(({ leg, brokerRef }) => (leg === 'entry' && brokerRef !== null ? [brokerRef] : []))
      : [],
  );
}

interface Cancelling {
  readonly entries: readonly OpenEntry[];
  /** Those that were taken back, over all attempts. */
  readonly cancelled: Set<string>;
  /** It may have been trusted again meanwhile: then nothing more is taken back. */
  isHalted(): Promise<boolean>;
  readonly endEntry: TakingBack['endEntry'];
}

/** Why some could not be taken back; one of them must not keep the rest, nor the positions, open. */
async function cancelEntries(
  line: Line,
  { entries, cancelled, isHalted, endEntry }: Cancelling,
): Promise<string | null> {
  // Where the broker does not repeat our id, ours are known by its own.
  const isOurs = ({ clientOrderId, brokerRef, side }: OpenOrder) =>
    clientOrderId === null
      ? entries.some(({ leg }) => leg.brokerRef === brokerRef && leg.side === side)
      : isOurEntry(clientOrderId);
  const left: string[] = [];
  for (const order of await line.openOrders()) {
    if (!isOurs(order) || cancelled.has(order.brokerRef)) continue;
    if (!(await isHalted())) return 'the account is not halted any more';
    // One that rests before its answer has come is in nobody's record yet: why it ends is.
    const own = entries.find(({ leg }) => leg.clientOrderId === order.clientOrderId)?.order;
    if (own?.priced) await endEntry(own, PRESSED);
    await line.cancel(order, TAKE_BACK_MS).then(
      () => {
        cancelled.add(order.brokerRef);
      },
      (fault: unknown) => {
        if (fault instanceof BrokerBusy) throw fault;
        left.push(`${order.symbol} (${order.brokerRef}): ${inWords(fault)}`);
      },
    );
  }
  return left.length > 0 ? left.join('; ') : null;
}

interface OpenEntry {
  readonly order: Order;
  readonly leg: Leg;
}

const openEntries = (order: Order): OpenEntry[] =>
  order.legs.filter((leg) => leg.leg === 'entry' && isOpenLeg(leg)).map((leg) => ({ order, leg }));
