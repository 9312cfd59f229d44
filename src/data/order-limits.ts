// What an accepted order uses up: a place in the user's day, and an idempotency key.

import type { OrderId, Timestamp, UserId } from '../domain/ids.ts';
import { type Db, must, type Statement, sql } from './db.ts';

export async function ordersOn(db: Db, user: UserId, day: string): Promise<number> {
  const row = await db.get<{ orders: number }>(
    sql`select orders from daily_order_counts where user_id = ${user} and day = ${day}`,
  );
  return row?.orders ?? 0;
}

/** Guarded by `daily_limit`: exact, however many orders are accepted at one moment. A limit of 0 is denied before. */
export function countOrder(user: UserId, day: string, limit: number | null): Statement {
  return limit === null
    ? sql`insert into daily_order_counts (user_id, day, orders) values (${user}, ${day}, 1)
          on conflict (user_id, day) do update set orders = daily_order_counts.orders + 1`
    : must(
        'daily_limit',
        sql`insert into daily_order_counts (user_id, day, orders) values (${user}, ${day}, 1)
            on conflict (user_id, day) do update set orders = daily_order_counts.orders + 1
              where daily_order_counts.orders < ${limit}`,
      );
}

export interface IdempotencyKey {
  readonly key: string;
  readonly bodyHash: string;
}

export async function findIdempotencyKey(
  db: Db,
  user: UserId,
  key: string,
  notBefore: Timestamp,
): Promise<{ bodyHash: string; orderId: OrderId } | null> {
  const row = await db.get<{ body_hash: string; order_id: OrderId }>(
    sql`select body_hash, order_id from idempotency_keys
        where user_id = ${user} and idempotency_key = ${key} and created_at > ${notBefore}`,
  );
  return row ? { bodyHash: row.body_hash, orderId: row.order_id } : null;
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
