// What a user's orders came to: by day and by symbol. Profit is by average cost from our own fills, less their fees, so far as
// those are known; what was traded elsewhere is not in it. Orders come one by one, so that a history of any length is
// counted in little memory, and what was opened long before the range keeps its cost.

import { BROKERS, type BrokerName } from '../brokers.ts';
import {
  absolute,
  add,
  type Decimal,
  decimal,
  multiply,
  negate,
  rounded,
  sign,
  smaller,
  subtract,
  toNumber,
  ZERO,
} from '../decimal.ts';
import type { AccountId, Timestamp } from '../ids.ts';
import type { Leg, Order, OrderStatus } from '../orders/order.ts';
import { fillOf, slippage } from '../orders/result.ts';
import type { ExitReason } from '../protection/protection.ts';
import { canonicalSymbol } from '../signals/symbol.ts';
import { FLAT, type Holding, heldToo, net } from './average-cost.ts';

/** Both ends are in it. */
export interface Range {
  readonly from?: Timestamp;
  readonly to?: Timestamp;
}

/** What is counted of an order. */
export type CountedLeg = Pick<
  Leg,
  | 'leg'
  | 'side'
  | 'fillPrice'
  | 'fillQuantity'
  | 'fee'
  | 'instrument'
  | 'unitValue'
  | 'sentAt'
  | 'ackedAt'
  | 'filledAt'
>;
export interface CountedOrder
  extends Pick<
    Order,
    | 'accountId'
    | 'brokerName'
    | 'symbol'
    | 'status'
    | 'submittedAt'
    | 'positionBefore'
    | 'trace'
    | 'notes'
    | 'exitReason'
  > {
  readonly legs: readonly CountedLeg[];
}

/** What a leg traded, at its average price. */
interface Fill {
  readonly at: Timestamp;
  readonly order: CountedOrder;
  readonly leg: CountedLeg;
  /** Signed. */
  readonly quantity: Decimal;
  readonly price: Decimal;
  readonly isFirst: boolean;
}

interface Day {
  realised: Decimal;
  readonly orders: Partial<Record<OrderStatus, number>>;
  readonly latencies: number[];
  slippage: Decimal | null;
}

interface SymbolTotals {
  realised: Decimal;
  orders: number;
  volume: Decimal;
  /** What protection closed, by why. */
  readonly exitReasons: Partial<Record<ExitReason, number>>;
}

export type Performance = ReturnType<ReturnType<typeof openPerformance>['read']>;

/** Of orders of one mode, which are counted in the order of their submission. `onEarned`: told of every fill in the range. */
export function openPerformance(
  { from, to }: Range,
  onEarned: (at: Timestamp, earned: Decimal) => void = () => {},
) {
  const books = new Map<string, { readonly holding: Holding; readonly filledAt: Timestamp }>();
  const days = new Map<string, Day>();
  const symbols = new Map<string, SymbolTotals>();
  const currencies = new Set<string>();
  const accounts = new Set<AccountId>();
  /** In the order of filling; an order that is yet to come was filled no earlier than it was submitted. */
  const waiting: Fill[] = [];

  const isInRange = (at: Timestamp) => (from === undefined || at >= from) && (to === undefined || at <= to);
  const dayOf = (at: Timestamp) =>
    entryOf(days, at.slice(0, 10), () => ({ realised: ZERO, orders: {}, latencies: [], slippage: null }));
  const totalsOf = ({ brokerName, symbol }: CountedOrder) =>
    entryOf(
      symbols,
      canonicalSymbol(brokerName, symbol),
      (): SymbolTotals => ({
        realised: ZERO,
        orders: 0,
        volume: ZERO,
        exitReasons: {},
      }),
    );

  function count(order: CountedOrder): void {
    accounts.add(order.accountId);
    const day = dayOf(order.submittedAt);
    day.orders[order.status] = (day.orders[order.status] ?? 0) + 1;
    const totals = totalsOf(order);
    totals.orders++;
    const { exitReason, legs } = order;
    const hasClosed = legs.some(({ fillQuantity }) => fillQuantity !== null && sign(fillQuantity) > 0);
    if (exitReason && hasClosed) totals.exitReasons[exitReason] = (totals.exitReasons[exitReason] ?? 0) + 1;
    const { queued, acked } = order.trace;
    if (queued !== undefined && acked !== undefined) day.latencies.push(acked - queued);
    const missed = slippage(order);
    const { quantity: fillQuantity } = fillOf(order);
    const { unitValue } = order.legs.at(-1) ?? {};
    if (missed === null || !fillQuantity) return;
    currencies.add(currencyOf(order));
    const money = multiply(multiply(missed, fillQuantity), unitValue ?? ONE);
    day.slippage = add(day.slippage ?? ZERO, money);
  }

  function book({ at, order, leg, quantity, price, isFirst }: Fill): void {
    const key = bookOf(order, leg);
    const known = books.get(key);
    const held = known?.holding ?? FLAT;
    const seen = isFirst && isSettled(key, order, leg, known?.filledAt) ? order.positionBefore : null;
    const { ours, foreign } = seen === null ? { ours: held, foreign: ZERO } : apart(held, seen, quantity);
    const trade = { quantity: subtract(quantity, foreign), price, unitValue: leg.unitValue ?? ONE };
    const { holding, realised } = net(ours, trade);
    books.set(key, { holding, filledAt: at });
    if (!isInRange(at)) return;
    accounts.add(order.accountId);
    currencies.add(currencyOf(order));
    const earned = subtract(realised, leg.fee ?? ZERO);
    const [day, totals] = [dayOf(at), totalsOf(order)];
    day.realised = add(day.realised, earned);
    totals.realised = add(totals.realised, earned);
    totals.volume = add(totals.volume, leg.fillQuantity ?? ZERO);
    onEarned(at, earned);
  }

  /** Whether the position that the order was planned on has all our earlier fills in it, and no later one. */
  const isSettled = (
    key: string,
    { submittedAt }: CountedOrder,
    leg: CountedLeg,
    filledAt: Timestamp | undefined,
  ): boolean =>
    (filledAt === undefined || (leg.sentAt !== null && filledAt <= leg.sentAt)) &&
    !waiting.some((fill) => fill.order.submittedAt < submittedAt && bookOf(fill.order, fill.leg) === key);

  function bookBefore(at: Timestamp | null): void {
    for (let fill = waiting[0]; fill && (at === null || fill.at < at); fill = waiting[0]) {
      waiting.shift();
      book(fill);
    }
  }

  return {
    take(order: CountedOrder): void {
      bookBefore(order.submittedAt);
      if (isInRange(order.submittedAt)) count(order);
      for (const fill of fillsOf(order)) {
        const later = waiting.findLastIndex((other) => other.at <= fill.at);
        waiting.splice(later + 1, 0, fill);
      }
    },
    /** Of which something is in the range, after it is read. */
    accounts: (): ReadonlySet<AccountId> => accounts,
    /** All that was taken so far; money is null where it would be of several currencies. */
    read() {
      bookBefore(null);
      const money = (amount: Decimal | null) =>
        amount === null || currencies.size > 1 ? null : toNumber(rounded(amount));
      return {
        days: inOrder(days).map(([day, { realised, orders, latencies, slippage: missed }]) => ({
          day,
          realised: money(realised),
          orders,
          latency_ms: percentiles(latencies),
          slippage: money(missed),
        })),
        symbols: inOrder(symbols).map(([symbol, { realised, orders, volume, exitReasons }]) => ({
          symbol,
          realised: money(realised),
          orders,
          volume: toNumber(rounded(volume)),
          exit_reasons: exitReasons,
        })),
        currency: currencies.size === 1 ? ([...currencies][0] ?? null) : null,
      };
    },
  };
}

/** One per account and instrument. */
export const bookOf = ({ accountId, brokerName, symbol }: CountedOrder, { instrument }: CountedLeg): string =>
  `${accountId} ${instrument ?? canonicalSymbol(brokerName, symbol)}`;

/**
 * What is ours of the position at the broker. What is held there no longer was closed elsewhere, or by a reset of the simulated
 * book: its cost is forgotten. What is held there besides was opened elsewhere, or so long ago that its order is gone: the
 * part of a trade that closes it is none of our fills', and earns nothing that we could know.
 */
function apart(held: Holding, there: Decimal, quantity: Decimal): { ours: Holding; foreign: Decimal } {
  const ours = heldToo(held, there);
  if (sign(quantity) * sign(there) >= 0) return { ours, foreign: ZERO };
  const closes = (position: Decimal) => smaller(absolute(quantity), absolute(position));
  const foreign = subtract(closes(there), closes(ours.quantity));
  return { ours, foreign: sign(quantity) > 0 ? foreign : negate(foreign) };
}

/** Of a leg that was sent before it was noted. */
const ONE = decimal(1);

const currencyOf = ({ brokerName }: { brokerName: BrokerName }): string => BROKERS[brokerName].currency;

function fillsOf(order: CountedOrder): Fill[] {
  const traded = order.legs.filter(({ fillQuantity }) => fillQuantity !== null && sign(fillQuantity) > 0);
  return traded.flatMap((leg, index) => {
    const { fillQuantity, fillPrice, side } = leg;
    if (fillQuantity === null || fillPrice === null) return [];
    // A part that was filled before the rest was cancelled has no time of its own.
    const seen = leg.filledAt ?? leg.ackedAt ?? leg.sentAt ?? order.submittedAt;
    return {
      at: seen < order.submittedAt ? order.submittedAt : seen,
      order,
      leg,
      quantity: side === 'buy' ? fillQuantity : negate(fillQuantity),
      price: fillPrice,
      isFirst: index === 0,
    };
  });
}

/** By nearest rank: each is a latency that was measured. */
function percentiles(latencies: readonly number[]) {
  const sorted = latencies.toSorted((a, b) => a - b);
  const rank = (percent: number) => sorted[Math.ceil((percent / 100) * sorted.length) - 1] ?? null;
  return { p50: rank(50), p90: rank(90), p99: rank(99) };
}

function entryOf<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

const inOrder = <Value>(map: ReadonlyMap<string, Value>): [string, Value][] =>
  [...map].sort(([a], [b]) => (a < b ? -1 : 1));
