// What an accepted order uses up: a place in the user's day, and an idempotency key.

import type { OrderId, Timestamp, UserId } from '../../domain/ids.ts';
import type { Order } from '../../domain/orders/order.ts';
import { type Db, must, type Statement, sql } from '../engine/db.ts';

/** Accepted on one UTC day: of each kind a plan allows so many. */
export interface OrdersToday {
  readonly real: number;
  readonly simulated: number;
}

export async function ordersOn(db: Db, user: UserId, day: string): Promise<OrdersToday> {
  const row = await db.get<{ orders: number; simulated: number }>(
    sql`select orders, simulated from daily_order_counts where user_id = ${user} and day = ${day}`,
  );
  return { real: row?.orders ?? 0, simulated: row?.simulated ?? 0 };
}

/**
 * With a limit guarded by `daily_limit`: exact, however many orders are accepted at one moment. A limit of 0 is denied
 * before, and so are more at once than a day has. `count`: of one signal to several accounts.
 */
export function countOrders(
  user: UserId,
  day: string,
  { simulation, limit, count }: { simulation: boolean; limit: number | null; count: number },
): Statement {
  if (limit === null)
    return simulation
      ? sql`insert into daily_order_counts (user_id, day, orders, simulated) values (${user}, ${day}, 0, ${count})
            on conflict (user_id, day) do update set simulated = daily_order_counts.simulated + excluded.simulated`
      : sql`insert into daily_order_counts (user_id, day, orders, simulated) values (${user}, ${day}, ${count}, 0)
            on conflict (user_id, day) do update set orders = daily_order_counts.orders + excluded.orders`;
  return must(
    'daily_limit',
    simulation
      ? sql`insert into daily_order_counts (user_id, day, orders, simulated) values (${user}, ${day}, 0, ${count})
            on conflict (user_id, day) do update set simulated = daily_order_counts.simulated + excluded.simulated
              where daily_order_counts.simulated + excluded.simulated <= ${limit}`
      : sql`insert into daily_order_counts (user_id, day, orders, simulated) values (${user}, ${day}, ${count}, 0)
            on conflict (user_id, day) do update set orders = daily_order_counts.orders + excluded.orders
              where daily_order_counts.orders + excluded.orders <= ${limit}`,
  );
}

/** It was taken back. */
export const uncountOrder = (
  { userId, simulation }: Pick<Order, 'userId' | 'simulation'>,
  day: string,
): Statement =>
  simulation
    ? sql`update daily_order_counts set simulated = simulated - 1
          where user_id = ${userId} and day = ${day} and simulated > 0`
    : sql`update daily_order_counts set orders = orders - 1
          where user_id = ${userId} and day = ${day} and orders > 0`;

/** Guarded by `order`: nobody has taken it since it was accepted. Its key is free again. */
export const takeBackOrder = ({ id, version }: Pick<Order, 'id' | 'version'>): Statement[] => [
  sql`delete from idempotency_keys where order_id = ${id}`,
  must(
    'order',
    sql`delete from order_history where order_id = ${id} and version = ${version} and status = 'queued'`,
  ),
];

export interface IdempotencyKey {
  readonly key: string;
  readonly bodyHash: string;
}

/** Guarded by `idempotency`: one order per key, for as long as keys live. */
export function claimIdempotencyKey(
  user: UserId,
  { key, bodyHash }: IdempotencyKey,
  order: OrderId,
  now: Timestamp,
  notBefore: Timestamp,
): Statement[] {
  return [
    sql`delete from idempotency_keys
        where user_id = ${user} and idempotency_key = ${key} and created_at <= ${notBefore}`,
    must(
      'idempotency',
      sql`insert into idempotency_keys (user_id, idempotency_key, body_hash, order_id, created_at)
          values (${user}, ${key}, ${bodyHash}, ${order}, ${now})
          on conflict (user_id, idempotency_key) do nothing`,
    ),
  ];
}
