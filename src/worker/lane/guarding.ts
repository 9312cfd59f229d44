// What an account's guards have to know of an entry that is about to be sent. Only what a guard that is set asks for is
// looked up, and what cannot be found out is null: the guard refuses then. A broker that is busy for a moment is no answer:
// whoever asked waits, as for any other call, and asks again.

import { BrokerBusy, type Instrument } from '../../broker/broker.ts';
import { BROKERS } from '../../domain/brokers.ts';
import type { Decimal } from '../../domain/decimal.ts';
import { type GuardFacts, type Guards, judgeEntry } from '../../domain/guards/guards.ts';
import { timestamp } from '../../domain/ids.ts';
import { dayOf } from '../../domain/orders/entitlement.ts';
import { type GuardVerdict, mainLeg, type Order } from '../../domain/orders/order.ts';
import { hasStop } from '../../domain/protection/foreseen.ts';
import { canonicalSymbol } from '../../domain/signals/symbol.ts';
import type { Line } from '../line/line.ts';
import type { WorkerOrders } from '../orders.ts';
import type { WorkerProtections } from '../protections.ts';

interface GuardDeps {
  readonly orders: Pick<WorkerOrders, 'entriesSince' | 'firstEquity'>;
  readonly clock: { now(): number };
  readonly protections: Pick<WorkerProtections, 'kept'>;
}

/**
 * The equity at the day's first order, of an account whose guard asks for it: for the others it would be a call beside every
 * day's first order, which a busy broker would count against that order. Read once for a day, an account and a mode; a
 * second worker of that day reads it again, and keeps the first.
 */
export function equityNotes({
  orders,
  clock,
}: Omit<GuardDeps, 'protections'>): (order: Order, line: Line) => void {
  const days = new Map<string, string>();
  return (order, line) => {
    const now = clock.now();
    const day = dayOf(now);
    const book = `${order.accountId} ${order.simulation}`;
    if (days.get(book) === day) return;
    days.set(book, day);
    line
      .balance()
      .then(({ equity }) => orders.firstEquity(order, day, { equity, at: timestamp(now) }))
      // Tried again with the next order. Where this one is sent meanwhile, the guard refuses until the day ends.
      .catch(() => days.delete(book));
  };
}

export interface GuardedEntry {
  readonly order: Order;
  /** Where the position would stand at the most, signed. */
  readonly positionAfter: Decimal;
  readonly guards: Guards;
  readonly line: Line;
  readonly instrument: Instrument;
}

const MINUTE_MS = 60_000;

export async function judgeGuards(
  { orders, clock, protections }: GuardDeps,
  { order, positionAfter, guards, line, instrument }: GuardedEntry,
): Promise<GuardVerdict[]> {
  const entry = mainLeg(order);
  if (entry?.leg !== 'entry') return [];
  const now = clock.now();
  const found = <Fact>(isNeeded: boolean, find: () => Promise<Fact>): Promise<Fact | null> =>
    isNeeded ? find().catch(orNull) : Promise.resolve(null);
  const cooldownMs = (guards.cooldown_seconds ?? 0) * 1000;
  const backTo = now - Math.max(MINUTE_MS, cooldownMs);
  const counts = guards.max_orders_per_minute !== undefined || guards.cooldown_seconds !== undefined;
  const [entries, equity, brokerPrice, isStopped, meant] = await Promise.all([
    found(counts, () => orders.entriesSince(order, backTo)),
    found(guards.max_daily_loss !== undefined, async () => {
      const { equity: current } = await line.balance();
      const read = { equity: current, at: timestamp(now) };
      return { now: current, first: await orders.firstEquity(order, dayOf(now), read) };
    }),
    found(guards.max_price_deviation_percent !== undefined, async () => {
      const { bid, ask } = await line.quote(instrument);
      return entry.side === 'buy' ? ask : bid;
    }),
    found(guards.require_stop === true, async () =>
      hasStop(order, await protections.kept(order.userId, order.accountId)),
    ),
    namesMeant(namesIn(guards), { order, line, instrument }),
  ]);
  const last = entries?.findLast((sent) => sent.instrument === instrument.symbol);
  const facts: GuardFacts = {
    now,
    source: order.source,
    side: entry.side,
    quantity: entry.quantity,
    positionAfter,
    isSymbol: (name) => meant.has(name),
    entriesInLastMinute: entries?.filter(({ sentAt }) => Date.parse(sentAt) > now - MINUTE_MS).length ?? null,
    lastEntry: entries && { at: last?.sentAt ?? null },
    equity,
    price: order.notes.price,
    brokerPrice,
    hasStop: isStopped,
  };
  return judgeEntry(guards, facts);
}

const namesIn = ({ max_order_quantity, max_position }: Guards): string[] =>
  [max_order_quantity, max_position]
    .flatMap((limit) => (typeof limit === 'object' ? Object.keys(limit) : []))
    .filter((name) => name !== '*');

/** Those that mean the instrument, by their spelling or by the broker's word; one that it could not be asked for may mean it. */
async function namesMeant(
  names: readonly string[],
  { order: { brokerName, symbol }, line, instrument }: Pick<GuardedEntry, 'order' | 'line' | 'instrument'>,
): Promise<ReadonlySet<string>> {
  const spellings = [symbol, instrument.symbol].map((each) => canonicalSymbol(brokerName, each));
  const isMeant = async (name: string) => {
    if (spellings.includes(canonicalSymbol(brokerName, name))) return true;
    if (!BROKERS[brokerName].quirks.hasAliases) return false;
    const found = await line.resolve(name).catch(orNull);
    return found === null || (!('rejection' in found) && found.symbol === instrument.symbol);
  };
  const apart = [...new Set(names)];
  const meant = await Promise.all(apart.map(isMeant));
  return new Set(apart.filter((_, index) => meant[index]));
}

function orNull(fault: unknown): null {
  if (fault instanceof BrokerBusy) throw fault;
  return null;
}
