// What a day of orders came to, account by account: how many there were and how they ended, whether the broker answered, and
// what was earned.

import { add, type Decimal, rounded, sign, toNumber, ZERO } from '../decimal.ts';
import type { AccountId, Timestamp } from '../ids.ts';
import { ORDER_STATUSES, type OrderStatus, type Source } from '../orders/order.ts';
import { bookOf, type CountedOrder } from './books.ts';
import { openPerformance } from './performance.ts';

/** Orders that are alike, and how many there are of them. */
export interface CountedAlike {
  readonly accountId: AccountId;
  readonly source: Source;
  readonly simulation: boolean;
  readonly status: OrderStatus;
  readonly ofDay: number;
  /** With those from shortly before the day, whose fills may be of it. */
  readonly seen: number;
}

export interface AccountDay {
  real: number;
  simulated: number;
  /** Real ones, with those from shortly before. */
  seen: number;
  /** With simulated ones too: whoever reads those reads these. */
  toRead: number;
}

/** What became of a signal that became an order. */
export const SIGNAL_ENDS = ['executed', 'rejected', 'under_way'] as const;
export type SignalEnd = (typeof SIGNAL_ENDS)[number];

const ENDS: Readonly<Record<OrderStatus, SignalEnd>> = {
  queued: 'under_way',
  executing: 'under_way',
  unknown: 'under_way',
  placed: 'executed',
  partially_filled: 'executed',
  filled: 'executed',
  done: 'executed',
  cancelled: 'rejected',
  failed: 'rejected',
  rejected: 'rejected',
  expired: 'rejected',
};

export const statusesOf = (end: SignalEnd): readonly OrderStatus[] =>
  ORDER_STATUSES.filter((status) => ENDS[status] === end);

export function countDay(counted: readonly CountedAlike[]) {
  const accounts = new Map<AccountId, AccountDay>();
  const signals = { executed: 0, rejected: 0, under_way: 0 };
  let accepted = 0;
  for (const { accountId, source, simulation, status, ofDay, seen } of counted) {
    const day = accounts.get(accountId) ?? { real: 0, simulated: 0, seen: 0, toRead: 0 };
    accounts.set(accountId, day);
    day.toRead += seen;
    if (source === 'webhook') signals[ENDS[status]] += ofDay;
    if (simulation) day.simulated += ofDay;
    else {
      day.real += ofDay;
      day.seen += seen;
      accepted += ofDay;
    }
  }
  return { accounts, signals, accepted };
}

export interface DayOrder extends CountedOrder {
  readonly simulation: boolean;
  /** The broker could not be reached. */
  readonly wasUnreachable: boolean;
}

/** `answering`, `silent`: as the last of the orders that tells it has found it. */
export interface BrokerSeen {
  readonly state: 'answering' | 'silent';
  readonly at: Timestamp;
}

/** Of orders as they were submitted. */
export function brokerSeen(orders: readonly DayOrder[]): BrokerSeen | null {
  for (const { legs, status, submittedAt, wasUnreachable } of orders.toReversed()) {
    if (wasUnreachable || status === 'unknown') return { state: 'silent', at: submittedAt };
    const at = legs.findLast(({ ackedAt }) => ackedAt !== null)?.ackedAt;
    if (at) return { state: 'answering', at };
  }
  return null;
}

/** Within how long half of those that were filled were answered. */
export const halfWithin = (orders: readonly DayOrder[]): number | null =>
  median(orders.flatMap(({ status, trace }) => (status === 'filled' ? (trace.answered ?? []) : [])));

/** By nearest rank, as in the performance. */
const median = (values: readonly number[]): number | null =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length / 2) - 1] ?? null;

// Profit

const hasFill = ({ fillQuantity }: { readonly fillQuantity: Decimal | null }): boolean =>
  fillQuantity !== null && sign(fillQuantity) > 0;

/** What was held already when these orders began: its cost has to be looked for among earlier ones. */
export function heldBefore(orders: readonly DayOrder[]): Set<string> {
  const seen = new Set<string>();
  const held = new Set<string>();
  for (const order of orders)
    for (const leg of order.legs.filter(hasFill)) {
      const book = bookOf(order, leg);
      if (!seen.has(book) && order.positionBefore !== ZERO) held.add(book);
      seen.add(book);
    }
  return held;
}

/** Behind an order that began flat nothing has to be looked for. */
export function strikeFlat(held: Set<string>, order: DayOrder): void {
  if (order.positionBefore === ZERO) for (const leg of order.legs) held.delete(bookOf(order, leg));
}

export interface Profit {
  readonly realised: number;
  /** The sum after each fill, or after some of many; the oldest first. */
  readonly steps: readonly { readonly at: Timestamp; readonly realised: number }[];
}

/** Of orders in the order of their submission. */
export function openProfit(from: Timestamp, mostSteps: number) {
  const steps: [Timestamp, Decimal][] = [];
  let sum = ZERO;
  const performance = openPerformance({ from }, (at, earned) => {
    sum = add(sum, earned);
    steps.push([at, sum]);
  });
  return {
    take: performance.take,
    read(): Profit {
      performance.read();
      return {
        realised: money(sum),
        steps: thinned(steps, mostSteps).map(([at, value]) => ({ at, realised: money(value) })),
      };
    },
  };
}

const money = (amount: Decimal): number => toNumber(rounded(amount));

/** Evenly, and with the last one. */
const thinned = <Item>(items: readonly Item[], most: number): Item[] => {
  const every = Math.ceil(items.length / most);
  return items.filter((_, index) => (items.length - 1 - index) % every === 0);
};
