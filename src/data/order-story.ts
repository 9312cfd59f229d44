// What stands around an order: the signal that it came from, its neighbours in the same book, and what the last look found.

import { decimal, toNumber } from '../domain/decimal.ts';
import type { OrderId, Timestamp } from '../domain/ids.ts';
import type { Action, Order, OrderStatus } from '../domain/order.ts';
import { join, type Reads, type Statement, sql } from './db.ts';

interface Neighbour {
  readonly order_id: OrderId;
  readonly submitted_at: Timestamp;
  readonly action: Action;
  readonly quantity: number;
  readonly status: OrderStatus;
}

export interface Surroundings {
  readonly signal_id: string | null;
  readonly previous_order: Neighbour | null;
  readonly next_order: Neighbour | null;
  /** Why the last look at the broker found no end. */
  readonly last_look: string | null;
}

export async function surroundingsOf(db: Reads, order: Order): Promise<Surroundings> {
  const [signal, previous, next, check] = await Promise.all([
    db.get<{ id: string }>(sql`select id from signals where order_id = ${order.id}`),
    neighbour(db, order, 'previous'),
    neighbour(db, order, 'next'),
    db.get<{ last_error: string | null }>(
      sql`select last_error from fill_checks where order_id = ${order.id}`,
    ),
  ]);
  return {
    signal_id: signal?.id ?? null,
    previous_order: previous,
    next_order: next,
    last_look: check?.last_error ?? null,
  };
}

/** Orders of other accounts and modes that may stand between two of one book; the index has them all. */
const LOOKED_THROUGH = 500;

async function neighbour(db: Reads, order: Order, which: 'previous' | 'next'): Promise<Neighbour | null> {
  const [beyond, direction]: [Statement, Statement] =
    which === 'next'
      ? [sql`> (${order.submittedAt}, ${order.id})`, sql`order by submitted_at, order_id`]
      : [sql`< (${order.submittedAt}, ${order.id})`, sql`order by submitted_at desc, order_id desc`];
  const row = await db.get<Omit<Neighbour, 'quantity'> & { quantity: string }>(
    join(
      [
        sql`select order_id, submitted_at, action, quantity, status from (select * from order_history
            where user_id = ${order.userId} and symbol = ${order.symbol} and (submitted_at, order_id)`,
        beyond,
        direction,
        sql`limit ${LOOKED_THROUGH}) as near
            where trading_account_id = ${order.accountId} and simulation = ${order.simulation}`,
        direction,
        sql`limit 1`,
      ],
      ' ',
    ),
  );
  return row ? { ...row, quantity: toNumber(decimal(row.quantity)) } : null;
}

/** Another order in the same book has been sent to the broker since. */
export async function hasFollower(db: Reads, order: Order): Promise<boolean> {
  const row = await db.get(
    sql`select 1 as found from (select order_id, trading_account_id, simulation from order_history
          where user_id = ${order.userId} and symbol = ${order.symbol}
            and (submitted_at, order_id) > (${order.submittedAt}, ${order.id})
          order by submitted_at, order_id limit ${LOOKED_THROUGH}) as later
        where trading_account_id = ${order.accountId} and simulation = ${order.simulation} and exists (
          select 1 from order_legs l where l.order_id = later.order_id and l.sent_at is not null) limit 1`,
  );
  return row !== undefined;
}
