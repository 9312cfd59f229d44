// Orders of a user whose end nobody knows: a few statements, each by an index, however long the history is.

import type { AccountId, OrderId, Timestamp, UserId } from '../../domain/ids.ts';
import type { Order } from '../../domain/orders/order.ts';
import { type Reads, sql } from '../engine/db.ts';
import { ordersByIds } from './orders.ts';

export interface OpenCheck {
  readonly orderId: OrderId;
  readonly isDeadLetter: boolean;
  readonly attempts: number;
  /** null: nobody asks, since there is nothing at the broker to ask for. Such an order waited in a restored backup. */
  readonly nextAt: Timestamp | null;
  readonly lastError: string | null;
}

/** One account has few: nothing is sent on an instrument while one of its orders is unknown. */
const MOST_UNKNOWN = 50;

/** Of one book, those of which nobody knows whether they were filled. */
export async function unknownOrders(
  db: Reads,
  user: UserId,
  { accountId, simulation }: { readonly accountId: AccountId; readonly simulation: boolean },
): Promise<Order[]> {
  const rows = await db.all<{ order_id: OrderId }>(
    sql`select order_id from order_history where user_id = ${user} and status = 'unknown'
          and trading_account_id = ${accountId} and simulation = ${simulation}
        order by submitted_at limit ${MOST_UNKNOWN}`,
  );
  return ordersByIds(
    db,
    rows.map(({ order_id }) => order_id),
  );
}

/** Of real orders whose end nobody knows: those that are `unknown`, and those that were given up. The oldest first. */
export async function openChecks(db: Reads, user: UserId, limit: number): Promise<OpenCheck[]> {
  const rows = await db.all<{
    order_id: OrderId;
    state: string;
    attempts: number;
    next_at: Timestamp | null;
    last_error: string | null;
  }>(
    sql`select c.order_id, c.state, c.attempts, c.next_at, c.last_error
        from fill_checks c join order_history o on o.order_id = c.order_id
        where c.user_id = ${user} and c.state <> 'done' and o.simulation = ${false}
          and (c.state = 'dead_letter' or o.status = 'unknown')
        union all
        select o.order_id, 'none', 0, null, null from order_history o
        where o.user_id = ${user} and o.status = 'unknown' and o.simulation = ${false}
          and not exists (select 1 from fill_checks c where c.order_id = o.order_id and c.state <> 'done')
        order by order_id limit ${limit}`,
  );
  return rows.map((row) => ({
    orderId: row.order_id,
    isDeadLetter: row.state === 'dead_letter',
    // One that is under way is not yet made.
    attempts: row.state === 'running' ? row.attempts - 1 : row.attempts,
    nextAt: row.next_at,
    lastError: row.last_error,
  }));
}
