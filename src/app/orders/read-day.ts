// What a user's day came to, account by account. However many orders it had, it is read in a moment.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Db } from '../../data/db.ts';
import { ordersBefore, ordersSince } from '../../data/order-history.ts';
import { countOrders } from '../../data/standing.ts';
import {
  type BrokerSeen,
  brokerSeen,
  countDay,
  type DayOrder,
  halfWithin,
  heldBefore,
  openProfit,
  type Profit,
  strikeFlat,
} from '../../domain/day.ts';
import { type AccountId, millis, type Timestamp, timestamp, type UserId } from '../../domain/ids.ts';

/** Of a sum over the day. */
const MOST_STEPS = 60;
/** An order is filled, or known to be, within so long: those of before the day may have earned something on it. */
const FILLED_WITHIN_MS = 3_600_000;
/** Orders of one account that are looked through for what an open position cost. */
const MOST_BEFORE = 2_000;
/** Orders whose profit is counted here, the accounts with the fewest first; of more the performance tells. */
const MOST_COUNTED = 1_000;

/** Counted are all orders; what they earned, and how they went, is read of as many as can be read in a moment. */
export async function readDay(db: Db, user: UserId, from: Timestamp) {
  const begin = timestamp(millis(from) - FILLED_WITHIN_MS);
  const day = countDay(await countOrders(db.lists, user, { begin, from }));
  const brokers = new Map<AccountId, BrokerSeen | null>();
  /** null: not known. */
  const profits = new Map<AccountId, Profit | null>();
  const latest: DayOrder[] = [];
  let room = MOST_COUNTED;
  const fewestFirst = [...day.accounts].filter(([, { seen }]) => seen > 0);
  for (const [id, { seen }] of fewestFirst.sort(([, a], [, b]) => a.seen - b.seen)) {
    const isCounted = seen <= room;
    if (isCounted) room -= seen;
    const orders = isCounted
      ? await all(ordersSince(db.lists, user, id, begin))
      : await newest(ordersBefore(db.lists, user, id, END_OF_TIME));
    const ofDay = orders.filter(({ submittedAt }) => submittedAt >= from);
    latest.push(...ofDay);
    brokers.set(id, brokerSeen(ofDay));
    const before = isCounted ? await costsOf(db, user, id, { orders, begin }) : null;
    profits.set(id, before && (await profitOf(from, [...before, ...orders])));
  }
  return { ...day, brokers, profits, halfWithinMs: halfWithin(latest) };
}

/** Exact decimals take their time, and others have their turn meanwhile. */
async function profitOf(from: Timestamp, orders: readonly DayOrder[]): Promise<Profit> {
  const profit = openProfit(from, MOST_STEPS);
  for (const [index, order] of orders.entries()) {
    profit.take(order);
    if (index % AT_ONCE === AT_ONCE - 1) await nextTurn();
  }
  return profit.read();
}
const AT_ONCE = 50;

const END_OF_TIME = '9999-12-31T00:00:00.000Z' as Timestamp;

const real = (orders: readonly DayOrder[]) => orders.filter(({ simulation }) => !simulation);

async function all(steps: AsyncGenerator<readonly DayOrder[]>): Promise<DayOrder[]> {
  const orders: DayOrder[] = [];
  for await (const step of steps) orders.push(...real(step));
  return orders;
}

/** As they were submitted. */
async function newest(steps: AsyncGenerator<readonly DayOrder[]>): Promise<DayOrder[]> {
  for await (const step of steps) return real(step).toReversed();
  return [];
}

/** Earlier orders, from which on everything that was held at `begin` has its cost; null: they are too many. */
async function costsOf(
  db: Db,
  user: UserId,
  account: AccountId,
  { orders, begin }: { readonly orders: readonly DayOrder[]; readonly begin: Timestamp },
): Promise<DayOrder[] | null> {
  const held = heldBefore(orders);
  if (held.size === 0) return [];
  const before: DayOrder[] = [];
  for await (const earlier of ordersBefore(db.lists, user, account, begin)) {
    for (const order of earlier) {
      if (order.simulation) continue;
      before.push(order);
      strikeFlat(held, order);
      if (held.size === 0) return before.reverse();
    }
    if (before.length >= MOST_BEFORE) return null;
  }
  return before.reverse();
}
