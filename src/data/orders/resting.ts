// Entries that rest at the broker, by what is saved of them.

import type { AccountId, OrderId, Timestamp } from '../../domain/ids.ts';
import type { Order, OrderError } from '../../domain/orders/order.ts';
import { type Db, type Statement, sql } from '../engine/db.ts';
import { ordersWhere } from './order-rows.ts';

/** The first reason counts. It is beside what the order's version guards: whoever saves the order leaves it as it is. */
export const endEntry = (order: OrderId, why: OrderError): Statement =>
  sql`update order_history set ending = ${JSON.stringify(why)} where order_id = ${order} and ending is null
        and status in ('executing', 'placed', 'partially_filled', 'unknown')`;

/** Those of an account, in the words of their index. */
export const restingOf = (db: Db, account: AccountId): Promise<Order[]> =>
  ordersWhere(db, sql`where priced is not null and unsettled = true and trading_account_id = ${account}`);

/** What rests on the account is looked at now, and not only when its turn comes. */
export const lookAtResting = (account: AccountId, now: Timestamp): Statement =>
  sql`update fill_checks set next_at = ${now} where state = 'scheduled' and state <> 'done' and order_id in (
        select order_id from order_history
        where priced is not null and unsettled = true and trading_account_id = ${account})`;

export async function countResting(db: Db): Promise<number> {
  const row = await db.get<{ orders: number }>(
    sql`select count(*) as orders from order_history where priced is not null and unsettled = true
          and status in ('placed', 'partially_filled')`,
  );
  return row?.orders ?? 0;
}
