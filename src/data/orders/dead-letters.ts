// Fill checks that have used up their tries, and the way back.

import type { AccountId, OrderId, Timestamp, UserId } from '../../domain/ids.ts';
import type { OrderStatus } from '../../domain/orders/order.ts';
import { type Db, join, must, type Reads, type Statement, sql } from '../engine/db.ts';

export interface DeadLetter {
  readonly order_id: OrderId;
  readonly user_id: UserId;
  readonly trading_account_id: AccountId;
  readonly simulation: boolean;
  readonly symbol: string;
  readonly status: OrderStatus;
  /** Polls made. */
  readonly attempts: number;
  readonly last_error: string | null;
  /** When the last poll was due. */
  readonly next_at: Timestamp;
}

/** Newest order first; `after` is the last one of the page before. */
export async function deadLetters(
  db: Reads,
  { after, limit }: { after: OrderId | null; limit: number },
): Promise<DeadLetter[]> {
  const rows = await db.all<Omit<DeadLetter, 'simulation'> & { readonly simulation: number | boolean }>(
    join(
      [
        sql`select c.order_id, c.user_id, o.trading_account_id, o.simulation, o.symbol, o.status, c.attempts,
              c.last_error, c.next_at
            from fill_checks c join order_history o on o.order_id = c.order_id
            where c.state <> 'done' and c.state = 'dead_letter'`,
        ...(after ? [sql`and c.order_id < ${after}`] : []),
        sql`order by c.order_id desc limit ${limit}`,
      ],
      ' ',
    ),
  );
  return rows.map((row) => ({ ...row, simulation: Boolean(row.simulation) }));
}

export async function hasCheck(db: Db, order: OrderId): Promise<boolean> {
  return (await db.get(sql`select order_id from fill_checks where order_id = ${order}`)) !== undefined;
}

/** A fresh check with all its tries. Guarded by `dead_letter`: one that is scheduled or running is left to itself. */
export const reviveCheck = (order: OrderId, now: Timestamp): Statement =>
  must(
    'dead_letter',
    sql`update fill_checks set state = 'scheduled', attempts = 0, next_at = ${now}, visible_at = null
        where order_id = ${order} and state = 'dead_letter'`,
  );
