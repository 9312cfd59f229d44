// Which orders of a book have not come to their end, or have come since: what is held beside them is not what will be held.

import type { OrderId } from '../../domain/ids.ts';
import type { Order } from '../../domain/orders/order.ts';
import { type Reads, sql } from '../engine/db.ts';

export type Book = Pick<Order, 'userId' | 'accountId' | 'simulation'>;

/**
 * The symbols of those that a worker has to execute, and of those that fill verification follows. What it has given up is none of
 * them: nobody knows when such a one ends.
 */
export async function symbolsUnderWay(
  db: Reads,
  { userId, accountId, simulation }: Book,
): Promise<readonly string[]> {
  const rows = await db.all<{ symbol: string }>(
    sql`select symbol from order_history where user_id = ${userId} and status in ('queued', 'executing')
          and trading_account_id = ${accountId} and simulation = ${simulation}
        union
        select o.symbol from fill_checks c join order_history o on o.order_id = c.order_id
        where c.user_id = ${userId} and c.state in ('scheduled', 'running') and o.trading_account_id = ${accountId}
          and o.simulation = ${simulation}`,
  );
  return rows.map(({ symbol }) => symbol);
}

/** The user's newest order; null: there is none. */
export async function newestOrder(db: Reads, { userId }: Book): Promise<OrderId | null> {
  const row = await db.get<{ order_id: OrderId }>(
    sql`select order_id from order_history where user_id = ${userId} order by order_id desc limit 1`,
  );
  return row?.order_id ?? null;
}

const MOST = 100;

/** The symbols of those that were accepted after that one. */
export async function symbolsSince(
  db: Reads,
  { userId, accountId, simulation }: Book,
  newest: OrderId | null,
): Promise<readonly string[]> {
  const rows = await db.all<{ symbol: string; account: string; simulation: number | boolean }>(
    newest === null
      ? sql`select symbol, trading_account_id as account, simulation from order_history where user_id = ${userId}
            order by order_id desc limit ${MOST}`
      : sql`select symbol, trading_account_id as account, simulation from order_history
            where user_id = ${userId} and order_id > ${newest} order by order_id desc limit ${MOST}`,
  );
  return rows
    .filter((row) => row.account === accountId && Boolean(row.simulation) === simulation)
    .map(({ symbol }) => symbol);
}
