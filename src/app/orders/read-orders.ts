// What a user can see of their orders.

import type { Db } from '../../data/db.ts';
import { verificationsOf } from '../../data/fill-checks.ts';
import { listOrders, type OrderFilter } from '../../data/order-list.ts';
import { type Surroundings, surroundingsOf } from '../../data/order-story.ts';
import { findOrder } from '../../data/orders.ts';

export type { OrderFilter };

import { type Denial, deny } from '../../domain/denial.ts';
import { isUuid, type OrderId, type UserId } from '../../domain/ids.ts';
import { openLeg } from '../../domain/order.ts';
import { type OrderRecord, orderRecord, orderSummary, type Verification } from '../../domain/order-result.ts';
import { onePage, pageOf } from '../pages.ts';

const NOT_VERIFIED: Verification = { state: 'none', attempts: 0, next_at: null };

export async function readOrder(
  { db }: { db: Db },
  user: UserId,
  id: string,
): Promise<Denial | (OrderRecord & Surroundings)> {
  const none = deny('not_found', { detail: 'You have no such order.' });
  if (!isUuid(id)) return none;
  // Before the order: verification that has ended is never shown beside the status from before its end.
  const verifications = await verificationsOf(db, [id as OrderId]);
  const order = await findOrder(db, id as OrderId);
  // Another user's order does not exist for this one.
  if (order?.userId !== user) return none;
  // A check is scheduled in the unit that leaves a leg open: where it was not there before, it is there now.
  const missed =
    !verifications.has(order.id) && openLeg(order) ? await verificationsOf(db, [order.id]) : null;
  return {
    ...orderRecord(order, (missed ?? verifications).get(order.id) ?? NOT_VERIFIED),
    ...(await surroundingsOf(db.lists, order)),
  };
}

export async function readOrders(
  { db }: { db: Db },
  user: UserId,
  { filter, cursor, limit }: { filter: OrderFilter; cursor: OrderId | null; limit: number },
) {
  const page = { cursor, limit };
  const found = await listOrders(db.lists, user, { filter, limit: onePage(page).limit, after: cursor });
  const verifications = await verificationsOf(
    db.lists,
    found.map((order) => order.id),
  );
  return pageOf(found, page, (order) => orderSummary(order, verifications.get(order.id) ?? NOT_VERIFIED));
}
