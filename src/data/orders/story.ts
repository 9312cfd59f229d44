// What stands around an order: the signal that it came from, its neighbours in the same book, and what the last look found.

import { decimal, toNumber } from '../../domain/decimal.ts';
import { millis, type OrderId, type Timestamp, timestamp } from '../../domain/ids.ts';
import type { Action, Order, OrderStatus } from '../../domain/orders/order.ts';
import { join, type Reads, type Statement, sql } from '../engine/db.ts';

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

/** Between an order's arrival and its acceptance, at the most: others that came later may be accepted before it. */
const OVERTAKEN_MS = 60_000;

/**
 * Another order in the same book is on its way, or has been sent to the broker after this one; `open`: what becomes of one of
 * them is not known yet. Orders are executed as they are accepted, and not as they arrived. `isSame`: a symbol has several
 * spellings.
 */
export async function followersOf(
  db: Reads,
  order: Order,
  isSame: (symbol: string) => boolean,
): Promise<'none' | 'ended' | 'open'> {
  const from = timestamp(millis(order.submittedAt) - OVERTAKEN_MS);
  type Row = Record<'simulation' | 'unsettled' | 'follows', number | boolean> & { readonly symbol: string };
  const rows = await db.all<Row>(
    sql`select o.symbol, o.simulation, o.unsettled, o.order_id <> ${order.id} and (o.status in ('queued', 'executing')
          or (o.rowid > (select rowid from order_history where order_id = ${order.id}) and exists (
            select 1 from order_legs l where l.order_id = o.order_id and l.sent_at is not null))) as follows
        from order_history o
        where o.user_id = ${order.userId} and o.trading_account_id = ${order.accountId} and o.submitted_at >= ${from}
        order by o.submitted_at, o.order_id limit ${LOOKED_THROUGH}`,
  );
  const inBook = rows.filter(({ simulation }) => Boolean(simulation) === order.simulation);
  const followers = inBook.filter(({ symbol, follows }) => follows && isSame(symbol));
  // Where not all were looked at, one of the others may be.
  if (rows.length === LOOKED_THROUGH || followers.some(({ unsettled }) => unsettled)) return 'open';
  return followers.length > 0 ? 'ended' : 'none';
}
