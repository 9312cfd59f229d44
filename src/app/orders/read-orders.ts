// What a user can see of their orders.

import { realMoneyAmong } from '../../data/accounts/accounts.ts';
import type { Db, Reads } from '../../data/engine/db.ts';
import { verificationsOf } from '../../data/orders/fill-checks.ts';
import { listOrders, type OrderFilter } from '../../data/orders/list.ts';
import { markOf, NOT_VERIFIED, type OrderMark } from '../../data/orders/marks.ts';
import { findOrder, ordersByIds } from '../../data/orders/orders.ts';
import { protectionsOfOrders } from '../../data/orders/protections-read.ts';
import { type Surroundings, surroundingsOf } from '../../data/orders/story.ts';

export type { OrderFilter };

import { type Denial, deny } from '../../domain/denial.ts';
import { isUuid, type OrderId, type UserId } from '../../domain/ids.ts';
import { isUnderWay, type Order, openLeg } from '../../domain/orders/order.ts';
import {
  type OrderRecord,
  orderRecord,
  orderSummary,
  type Verification,
} from '../../domain/orders/result.ts';
import { onePage, pageOf } from '../pages.ts';

export async function readOrder({ db }: { db: Db }, user: UserId, id: string): Promise<Denial | OrderRecord> {
  const found = isUuid(id) ? (await foundOrders({ db }, [id as OrderId])).get(id as OrderId) : undefined;
  // Another user's order does not exist for this one.
  return found?.order.userId === user ? found.record : NO_SUCH_ORDER;
}

/** What stands around it: apart from its record, which is asked for often and must not wait behind lists. */
export async function readStory(
  { db }: { db: Db },
  user: UserId,
  id: string,
): Promise<Denial | Surroundings> {
  const order = isUuid(id) ? await findOrder(db, id as OrderId) : null;
  return order?.userId === user ? surroundingsOf(db.lists, order) : NO_SUCH_ORDER;
}

const NO_SUCH_ORDER = deny('not_found', { detail: 'You have no such order.' });

export interface Found {
  readonly order: Order;
  readonly mark: OrderMark;
  readonly record: OrderRecord;
}

/** Whoever's they are: to be compared with who asks. */
export async function foundOrders(
  { db }: { db: Reads },
  ids: readonly OrderId[],
): Promise<Map<OrderId, Found>> {
  const { orders, verifications } = await readTogether(db, ids);
  const real = await realAccountsOf(db, orders);
  const protections = await protectionsOfOrders(db, orders);
  return new Map(
    orders.map((order) => {
      const verification = verifications.get(order.id) ?? NOT_VERIFIED;
      const mark = markOf(order, verification);
      return [
        order.id,
        {
          order,
          mark,
          record: orderRecord(order, {
            verification,
            isRealAccount: real.has(order.accountId),
            protection: protections.get(order.id) ?? null,
          }),
        },
      ];
    }),
  );
}

/**
 * An order, its legs and its check are three reads, and somebody may save it in between: an end beside a search for it, or
 * the other way round. Then all is read once more.
 */
async function readTogether(db: Reads, ids: readonly OrderId[]) {
  const read = async () => ({
    verifications: await verificationsOf(db, ids),
    orders: await ordersByIds(db, ids),
  });
  const first = await read();
  const isTorn = (order: Order) =>
    !isUnderWay(order.status) &&
    isFollowed(first.verifications.get(order.id)) !== (openLeg(order) !== undefined);
  return first.orders.some(isTorn) ? read() : first;
}

const isFollowed = ({ state }: Verification = NOT_VERIFIED): boolean =>
  state === 'scheduled' || state === 'dead_letter';

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
  const real = await realAccountsOf(db.lists, found);
  const protections = await protectionsOfOrders(db.lists, found);
  return pageOf(found, page, (order) =>
    orderSummary(order, {
      verification: verifications.get(order.id) ?? NOT_VERIFIED,
      isRealAccount: real.has(order.accountId),
      protection: protections.get(order.id) ?? null,
    }),
  );
}

/** A simulated order is none of real money wherever it is, and is not asked for. */
const realAccountsOf = (db: Reads, orders: readonly Order[]) =>
  realMoneyAmong(
    db,
    orders.flatMap(({ accountId, simulation }) => (simulation ? [] : [accountId])),
  );
