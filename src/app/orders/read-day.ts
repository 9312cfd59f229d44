// What a user's day came to, account by account. However many orders it had, it is read in a moment.

import { type Db, ListTooSlow, type Reads } from '../../data/engine/db.ts';
import { untilDone } from '../../data/engine/steps.ts';
import { ordersBefore, ordersSince } from '../../data/orders/history.ts';
import { countOrders } from '../../data/orders/standing.ts';
import { type AccountId, millis, type Timestamp, timestamp, type UserId } from '../../domain/ids.ts';
import {
  type BrokerSeen,
  brokerSeen,
  countDay,
  type DayOrder,
  halfWithin,
  heldBefore,
  openProfit,
  type Profit,
  type Sought,
  strikeFlat,
} from '../../domain/money/day.ts';

/** Of a sum over the day. */
const MOST_STEPS = 60;
/** An order is filled, or known to be, within so long: those of before the day may have earned something on it. */
const FILLED_WITHIN_MS = 3_600_000;
/** Orders of one account, simulated ones too, that are looked through for what an open position cost. */
const MOST_BEFORE = 2_000;
/** Orders whose profit is counted here, the accounts with the fewest first; of more the performance tells. */
const MOST_COUNTED = 1_000;
/** Orders that are counted, the newest. Who sends as many as one may, all day long, has some more; and to count is work for everybody. */
const MOST_SEEN = 20_000;
/** Of all accounts together: orders that are read for one answer, and how long that may take. */
const MOST_READ = 10_000;
const MOST_MS = 1_500;

/**
 * Counted are the newest orders, of hardly anybody not all; what they earned, and how they went, is read of as many as can be read in a
 * moment.
 */
export async function readDay(db: Db, user: UserId, from: Timestamp) {
  const begin = timestamp(millis(from) - FILLED_WITHIN_MS);
  const counted = await countOrders(db.lists, user, { begin, from, limit: MOST_SEEN });
  const isAll = counted.reduce((sum, { seen }) => sum + seen, 0) < MOST_SEEN;
  const day = countDay(counted);
  const brokers = new Map<AccountId, BrokerSeen | null>();
  /** null: not known. */
  const profits = new Map<AccountId, Profit | null>();
  const latest: DayOrder[] = [];
  const budget = openBudget();
  let room = isAll ? MOST_COUNTED : 0;
  const fewestFirst = [...day.accounts].filter(([, { seen }]) => seen > 0);
  for (const [id, { toRead }] of fewestFirst.sort(([, a], [, b]) => a.toRead - b.toRead)) {
    const isCounted = toRead <= room;
    if (isCounted) room -= toRead;
    const { orders, before } = await ordersOf(db.lists, budget, { user, id, begin, isCounted });
    const ofDay = orders.filter(({ submittedAt }) => submittedAt >= from);
    latest.push(...ofDay);
    brokers.set(id, brokerSeen(ofDay));
    profits.set(id, before && (await profitOf(from, [...before, ...orders])));
  }
  return { ...day, isAll, brokers, profits, halfWithinMs: halfWithin(latest) };
}

interface Budget {
  take(orders: number): void;
  isSpent(): boolean;
}

function openBudget(): Budget {
  const begun = performance.now();
  let read = 0;
  return {
    take(orders) {
      read += orders;
    },
    isSpent: () => read >= MOST_READ || performance.now() - begun > MOST_MS,
  };
}

interface OfAccount {
  readonly user: UserId;
  readonly id: AccountId;
  readonly begin: Timestamp;
  readonly isCounted: boolean;
}

/** `before`: earlier ones, with what was held when these began; null: what these earned is not known. */
async function ordersOf(lists: Reads, budget: Budget, { user, id, begin, isCounted }: OfAccount) {
  let orders: readonly DayOrder[] = [];
  if (budget.isSpent()) return { orders, before: null };
  try {
    orders = isCounted
      ? await all(ordersSince(lists, user, id, begin), budget)
      : await newest(ordersBefore(lists, user, id, END_OF_TIME), budget);
    const isKnown = isCounted && !budget.isSpent();
    const held = heldBefore(orders);
    return {
      orders,
      before: isKnown ? await costsOf(ordersBefore(lists, user, id, begin), budget, held) : null,
    };
  } catch (fault) {
    // The rest of the answer does not depend on it.
    if (fault instanceof ListTooSlow) return { orders, before: null };
    throw fault;
  }
}

/** Exact decimals take their time, and others have their turn meanwhile. */
async function profitOf(from: Timestamp, orders: readonly DayOrder[]): Promise<Profit> {
  const profit = openProfit(from, MOST_STEPS);
  let counted = 0;
  await untilDone(async () => {
    for (const order of orders.slice(counted, counted + AT_ONCE)) profit.take(order);
    counted += AT_ONCE;
    return counted < orders.length;
  });
  return profit.read();
}
const AT_ONCE = 50;

const END_OF_TIME = '9999-12-31T00:00:00.000Z' as Timestamp;

const real = (orders: readonly DayOrder[]) => orders.filter(({ simulation }) => !simulation);

async function all(steps: AsyncGenerator<readonly DayOrder[]>, budget: Budget): Promise<DayOrder[]> {
  const orders: DayOrder[] = [];
  for await (const step of steps) {
    budget.take(step.length);
    orders.push(...real(step));
    if (budget.isSpent()) break;
  }
  return orders;
}

/** As they were submitted. */
async function newest(steps: AsyncGenerator<readonly DayOrder[]>, budget: Budget): Promise<DayOrder[]> {
  for await (const step of steps) {
    budget.take(step.length);
    return real(step).toReversed();
  }
  return [];
}

/** Of earlier orders, the newest first, those from which on everything that was held has its cost; null: they are too many. */
async function costsOf(
  steps: AsyncGenerator<readonly DayOrder[]>,
  budget: Budget,
  held: Map<string, Sought>,
): Promise<DayOrder[] | null> {
  if (held.size === 0) return [];
  const before: DayOrder[] = [];
  let looked = 0;
  for await (const earlier of steps) {
    budget.take(earlier.length);
    looked += earlier.length;
    for (const order of real(earlier)) {
      before.push(order);
      strikeFlat(held, order);
      if (held.size === 0) return before.reverse();
    }
    if (looked >= MOST_BEFORE || budget.isSpent()) return null;
  }
  return before.reverse();
}
