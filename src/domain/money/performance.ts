// What a user's orders came to: by day and by symbol. Profit is by average cost from our own fills, less their fees, so far as
// those are known; what was traded elsewhere is not in it. Orders come one by one, so that a history of any length is
// counted in little memory, and what was opened long before the range keeps its cost.

import { BROKERS, type BrokerName } from '../brokers.ts';
import { add, type Decimal, rounded, sign, subtract, toNumber, ZERO } from '../decimal.ts';
import type { AccountId, Timestamp } from '../ids.ts';
import type { OrderStatus } from '../orders/order.ts';
import { fillOf, slippage } from '../orders/result.ts';
import type { ExitReason } from '../protection/protection.ts';
import { canonicalSymbol } from '../signals/symbol.ts';
import { type CountedOrder, openBooks, worthOf } from './books.ts';
import { openLatencies } from './latencies.ts';

/** Both ends are in it. */
export interface Range {
  readonly from?: Timestamp;
  readonly to?: Timestamp;
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
  const days = new Map<string, Day>();
  const symbols = new Map<string, SymbolTotals>();
  const currencies = new Set<string>();
  const accounts = new Set<AccountId>();
  const latencies = openLatencies();

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
    const { queued, sent, acked } = order.trace;
    if (queued !== undefined && acked !== undefined) {
      day.latencies.push(acked - queued);
      latencies.take(acked - queued, sent === undefined ? null : acked - sent);
    }
    const missed = slippage(order);
    const { quantity: fillQuantity } = fillOf(order);
    const last = order.legs.at(-1);
    if (missed === null || !fillQuantity || !last) return;
    currencies.add(currencyOf(order));
    const money = worthOf(fillQuantity, missed, last);
    day.slippage = add(day.slippage ?? ZERO, money);
  }

  const books = openBooks(({ at, order, leg, realised }) => {
    if (!isInRange(at)) return;
    accounts.add(order.accountId);
    currencies.add(currencyOf(order));
    const earned = subtract(realised, leg.fee ?? ZERO);
    const [day, totals] = [dayOf(at), totalsOf(order)];
    day.realised = add(day.realised, earned);
    totals.realised = add(totals.realised, earned);
    totals.volume = add(totals.volume, leg.fillQuantity ?? ZERO);
    onEarned(at, earned);
  });

  return {
    take(order: CountedOrder): void {
      books.take(order);
      if (isInRange(order.submittedAt)) count(order);
    },
    /** Of which something is in the range, after it is read. */
    accounts: (): ReadonlySet<AccountId> => accounts,
    /** All that was taken so far; money is null where it would be of several currencies. */
    read() {
      books.close();
      const money = (amount: Decimal | null) =>
        amount === null || currencies.size > 1 ? null : toNumber(rounded(amount));
      return {
        days: inOrder(days).map(([day, { realised, orders, latencies: ofDay, slippage: missed }]) => ({
          day,
          realised: money(realised),
          orders,
          latency_ms: percentiles(ofDay),
          slippage: money(missed),
        })),
        symbols: inOrder(symbols).map(([symbol, { realised, orders, volume, exitReasons }]) => ({
          symbol,
          realised: money(realised),
          orders,
          volume: toNumber(rounded(volume)),
          exit_reasons: exitReasons,
        })),
        latencies: latencies.read(),
        currency: currencies.size === 1 ? ([...currencies][0] ?? null) : null,
      };
    },
  };
}

export const currencyOf = ({ brokerName }: { readonly brokerName: BrokerName }): string =>
  BROKERS[brokerName].currency;

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
