// What a user's orders came to. Everything from the first order on is counted, since what was opened before the range has its
// cost from there; what is told is of the range.

import type { Db } from '../../data/db.ts';
import { ordersFromTheFirst } from '../../data/order-history.ts';
import type { AccountId, UserId } from '../../domain/ids.ts';
import { openPerformance, type Performance, type Range } from '../../domain/performance.ts';

export interface PerformanceRequest extends Range {
  readonly accountId?: AccountId;
  readonly simulation: boolean;
}

export async function readPerformance(
  { db }: { db: Db },
  user: UserId,
  request: PerformanceRequest,
): Promise<Performance> {
  const performance = openPerformance(request);
  for await (const orders of ordersFromTheFirst(db.lists, user, request))
    for (const order of orders) performance.take(order);
  return performance.read();
}
