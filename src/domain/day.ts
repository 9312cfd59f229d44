// What a day of orders came to, account by account: how many there were and how they ended, whether the broker answered, and
// what was earned. Orders come in the order of their submission.

import { add, type Decimal, rounded, sign, toNumber, ZERO } from './decimal.ts';
import type { AccountId, Timestamp } from './ids.ts';
import type { OrderStatus, Source } from './order.ts';
import { bookOf, type CountedOrder, openPerformance } from './performance.ts';

export interface DayOrder extends CountedOrder {
  readonly simulation: boolean;
  readonly source: Source;
  /** The broker could not be reached. */
  readonly wasUnreachable: boolean;
}

/** `answering`, `silent`: as its last order of the day found it. */
export interface BrokerSeen {
  readonly state: 'answering' | 'silent';
  readonly at: Timestamp;
}

export interface AccountDay {
  real: number;
  simulated: number;
  broker: BrokerSeen | null;
  /** Real ones, as they were submitted; some from shortly before the day, whose fills may be of it. */
  readonly orders: DayOrder[];
}

/** What became of a signal that became an order. */
const ENDS: Readonly<Record<OrderStatus, 'executed' | 'rejected' | 'underWay'>> = {
  queued: 'underWay',
  executing: 'underWay',
  unknown: 'underWay',
  placed: 'executed',
  partially_filled: 'executed',
  filled: 'executed',
  done: 'executed',
  cancelled: 'rejected',
  failed: 'rejected',
  rejected: 'rejected',
  expired: 'rejected',
};

export function openDay(from: Timestamp) {
  const accounts = new Map<AccountId, AccountDay>();
  const signals = { executed: 0, rejected: 0, underWay: 0 };
  const answeredAfter: number[] = [];
  let accepted = 0;

  const dayOf = (account: AccountId): AccountDay => {
    const known = accounts.get(account) ?? { real: 0, simulated: 0, broker: null, orders: [] };
    accounts.set(account, known);
    return known;
  };

  return {
    take(order: DayOrder): void {
      const day = dayOf(order.accountId);
      if (!order.simulation) day.orders.push(order);
      if (order.submittedAt < from) return;
      if (order.source === 'webhook') signals[ENDS[order.status]]++;
      if (order.simulation) {
        day.simulated++;
        return;
      }
      day.real++;
      accepted++;
      day.broker = seenBy(order) ?? day.broker;
      if (order.status === 'filled' && order.trace.answered !== undefined)
        answeredAfter.push(order.trace.answered);
    },
    read: () => ({ accounts, signals, accepted, halfWithinMs: median(answeredAfter) }),
  };
}

function seenBy({ legs, status, submittedAt, wasUnreachable }: DayOrder): BrokerSeen | null {
  if (wasUnreachable || status === 'unknown') return { state: 'silent', at: submittedAt };
  const at = legs.findLast(({ ackedAt }) => ackedAt !== null)?.ackedAt;
  return at ? { state: 'answering', at } : null;
}

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
  readonly steps: readonly (readonly [Timestamp, number])[];
}

export function profitSince(from: Timestamp, orders: readonly DayOrder[], mostSteps: number): Profit {
  const steps: [Timestamp, Decimal][] = [];
  let sum = ZERO;
  const performance = openPerformance({ from }, (at, earned) => {
    sum = add(sum, earned);
    steps.push([at, sum]);
  });
  for (const order of orders) performance.take(order);
  performance.read();
  return { realised: money(sum), steps: thinned(steps, mostSteps).map(([at, value]) => [at, money(value)]) };
}

const money = (amount: Decimal): number => toNumber(rounded(amount));

/** Evenly, and with the last one. */
const thinned = <Item>(items: readonly Item[], most: number): Item[] => {
  const every = Math.ceil(items.length / most);
  return items.filter((_, index) => (items.length - 1 - index) % every === 0);
};
