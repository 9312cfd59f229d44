// What a user's orders came to. Everything from the first order on is counted, since what was opened before the range has its
// cost from there; what is told is of the range.

import { realMoneyAmong, realMoneyOf } from '../../data/accounts/accounts.ts';
import type { Db } from '../../data/engine/db.ts';
import { ordersFromTheFirst } from '../../data/orders/history.ts';
import type { AccountId, UserId } from '../../domain/ids.ts';
import type { CountedOrder } from '../../domain/money/books.ts';
import { openPerformance, type Range } from '../../domain/money/performance.ts';

export interface PerformanceRequest extends Range {
  readonly accountId?: AccountId;
  readonly simulation: boolean;
  readonly realMoney?: boolean;
}

const NONE: ReadonlySet<AccountId> = new Set();

export type ShownPerformance = Awaited<ReturnType<typeof readPerformance>>;

export async function readPerformance({ db }: { db: Db }, user: UserId, request: PerformanceRequest) {
  const { simulation, realMoney } = request;
  const performance = openPerformance(request);
  const live = realMoney === undefined || simulation ? NONE : await realMoneyOf(db.lists, user);
  // Each account has books of its own: what is left out of them changes nothing in the others.
  const isAsked = ({ accountId }: CountedOrder) =>
    realMoney === undefined || live.has(accountId) === realMoney;
  for await (const orders of ordersFromTheFirst(db.lists, user, request))
    for (const order of orders) if (isAsked(order)) performance.take(order);
  const told = performance.read();
  const accounts = performance.accounts();
  const real = simulation ? NONE : await realMoneyAmong(db.lists, accounts);
  return { ...told, real_money: allOrNone(real.size, accounts.size) };
}

const allOrNone = (some: number, all: number): boolean | null =>
  all > 0 && some === all ? true : all > 0 && some === 0 ? false : null;
