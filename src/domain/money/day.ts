// What a day of orders came to, account by account: how many there were and how they ended, whether the broker answered, and
// what was earned.

import { add, type Decimal, rounded, sign, subtract, toNumber, ZERO } from '../decimal.ts';
import type { AccountId, Timestamp } from '../ids.ts';
import { ORDER_STATUSES, type OrderStatus, type Source } from '../orders/order.ts';
import { signed } from '../orders/position.ts';
import { bookOf, type CountedLeg, type CountedOrder, isOfBroker } from './books.ts';
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
  /** It waited for its price, and may have been filled long after it was planned. */
  readonly isPriced: boolean;
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

/** What was held when the day's orders began, so far as it was not yet found among earlier ones. */
export interface Sought {
  /** Signed; null: not known. */
  readonly quantity: Decimal | null;
  /** It was held then. */
  readonly at: Timestamp;
}

interface Filled {
  readonly at: Timestamp | null;
  /** Signed. */
  readonly quantity: Decimal;
}

const fillOf = ({ side, fillQuantity, filledAt }: CountedLeg): Filled => ({
  at: filledAt,
  quantity: signed(side, fillQuantity ?? ZERO),
});

/** Of each book, what was filled by then: nobody knows when a leg was filled that has no time. */
const filledBy = (fills: readonly Filled[], time: Timestamp): Decimal =>
  fills.reduce((sum, { at, quantity }) => (at === null || at <= time ? add(sum, quantity) : sum), ZERO);

/** What was held already when these orders began: its cost has to be looked for among earlier ones. */
export function heldBefore(orders: readonly DayOrder[]): Map<string, Sought> {
  const fills = new Map<string, Filled[]>();
  const seen = new Set<string>();
  const held = new Map<string, Sought>();
  for (const order of orders)
    for (const leg of order.legs.filter(hasFill)) {
      const { positionBefore, submittedAt: at } = order;
      const book = bookOf(order, leg);
      const before = fills.get(book) ?? [];
      const fill = fillOf(leg);
      // What waits for its price says nothing of what was held when it was filled.
      if (!seen.has(book) && !(order.isPriced && positionBefore === ZERO)) {
        seen.add(book);
        const quantity = positionBefore && subtract(positionBefore, filledBy(before, at));
        if (quantity !== ZERO) held.set(book, { quantity, at });
      }
      // What it closed was held before, where nothing of the day's is: they found it missing.
      else if (isOfBroker(order, leg) && !held.has(book)) {
        const after = add(filledBy(before, at), fill.quantity);
        if (sign(after) === sign(fill.quantity)) held.set(book, { quantity: null, at });
      }
      before.push(fill);
      fills.set(book, before);
    }
  return held;
}

/** Behind an order that began flat nothing has to be looked for; where it waited for its price, once all that was held is found. */
export function strikeFlat(held: Map<string, Sought>, order: DayOrder): void {
  for (const leg of order.legs) {
    const book = bookOf(order, leg);
    const sought = held.get(book);
    if (!sought) continue;
    const { at, quantity } = sought;
    const left = quantity && subtract(quantity, filledBy([fillOf(leg)], at));
    if (order.positionBefore === ZERO && (!order.isPriced || left === ZERO)) held.delete(book);
    else held.set(book, { at, quantity: left });
  }
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
