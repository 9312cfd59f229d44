// What stands around an order: the signal that it came from, its neighbours in the same book, what the last look found,
// and what protected it: when its stop stood, and which closes it led to.

import { decimal, toNumber } from '../../domain/decimal.ts';
import { millis, type OrderId, type Timestamp, timestamp } from '../../domain/ids.ts';
import type { Action, Order, OrderStatus } from '../../domain/orders/order.ts';
import type { ExitReason } from '../../domain/protection/protection.ts';
import { EXIT_WORDS } from '../../domain/told/protection-words.ts';
import { join, type Reads, type Statement, sql } from '../engine/db.ts';

interface Neighbour {
  readonly order_id: OrderId;
  readonly submitted_at: Timestamp;
  readonly action: Action;
  readonly quantity: number;
  readonly status: OrderStatus;
}

/** One that a protection made. */
interface Close extends Neighbour {
  readonly exit_reason: ExitReason;
  readonly exit_reason_text: string;
}

/** When its stop was first seen at the broker. */
interface ProtectedStep {
  readonly at: Timestamp;
  /** Since its first fill was known. */
  readonly unprotected_ms: number;
  readonly protection_id: string;
}

export interface Surroundings {
  readonly signal_id: string | null;
  readonly previous_order: Neighbour | null;
  readonly next_order: Neighbour | null;
  /** Why the last look at the broker found no end. */
  readonly last_look: string | null;
  readonly protected: ProtectedStep | null;
  /** Made by its protection, the oldest first. */
  readonly closes: readonly Close[];
  /** Of a close: the order that had set the protection. */
  readonly caused_by: Neighbour | null;
  /** Of a close: why it was made. */
  readonly exit_reason_text: string | null;
}

export async function surroundingsOf(db: Reads, order: Order): Promise<Surroundings> {
  const [signal, previous, next, check, seen, closes, cause] = await Promise.all([
    db.get<{ id: string }>(
      order.groupId === undefined
        ? sql`select id from signals where order_id = ${order.id}`
        : sql`select signal_id as id from signal_members where order_id = ${order.id}`,
    ),
    neighbour(db, order, 'previous'),
    neighbour(db, order, 'next'),
    db.get<{ last_error: string | null }>(
      sql`select last_error from fill_checks where order_id = ${order.id}`,
    ),
    protectedStep(db, order),
    closesOf(db, order),
    causeOf(db, order),
  ]);
  return {
    signal_id: signal?.id ?? null,
    previous_order: previous,
    next_order: next,
    last_look: check?.last_error ?? null,
    protected: seen,
    closes,
    caused_by: cause,
    exit_reason_text: order.exitReason === undefined ? null : EXIT_WORDS[order.exitReason],
  };
}

/** The first protection that was made for what it had filled: by whom it was set last says only the row of today. */
async function protectedStep(db: Reads, order: Order): Promise<ProtectedStep | null> {
  const entry = order.legs.findLast(({ leg }) => leg === 'entry');
  if (order.unprotectedMs === undefined || !entry) return null;
  const row = await db.get<{ id: string; at: Timestamp | null }>(
    sql`select p.id, (select min(h.at) from protection_history h where h.protection_id = p.id and h.what = 'standing') as at
        from protections p
        where p.user_id = ${order.userId} and p.created_at >= ${order.submittedAt}
          and p.trading_account_id = ${order.accountId} and p.simulation = ${order.simulation}
          and p.instrument = ${entry.instrument} and p.side = ${entry.side === 'buy' ? 'long' : 'short'}
        order by p.created_at, p.id limit 1`,
  );
  return row?.at ? { at: row.at, unprotected_ms: order.unprotectedMs, protection_id: row.id } : null;
}

/** Five targets and a stop, each perhaps in a few parts. */
const MOST_CLOSES = 50;

async function closesOf(db: Reads, order: Order): Promise<readonly Close[]> {
  if (!order.wish) return [];
  const rows = await db.all<NeighbourRow & { exit_reason: ExitReason }>(
    sql`select order_id, submitted_at, action, quantity, status, exit_reason from order_history
        where caused_by = ${order.id} order by submitted_at, order_id limit ${MOST_CLOSES}`,
  );
  return rows.map((row) => ({
    ...shown(row),
    exit_reason: row.exit_reason,
    exit_reason_text: EXIT_WORDS[row.exit_reason],
  }));
}

async function causeOf(db: Reads, { causedBy }: Order): Promise<Neighbour | null> {
  if (causedBy === undefined) return null;
  const row = await db.get<NeighbourRow>(
    sql`select order_id, submitted_at, action, quantity, status from order_history where order_id = ${causedBy}`,
  );
  return row ? shown(row) : null;
}

type NeighbourRow = Omit<Neighbour, 'quantity'> & { quantity: string };

const shown = ({ order_id, submitted_at, action, quantity, status }: NeighbourRow): Neighbour => ({
  ...{ order_id, submitted_at, action, status },
  quantity: toNumber(decimal(quantity)),
});

/** Orders of other accounts and modes that may stand between two of one book; the index has them all. */
const LOOKED_THROUGH = 500;

async function neighbour(db: Reads, order: Order, which: 'previous' | 'next'): Promise<Neighbour | null> {
  const [beyond, direction]: [Statement, Statement] =
    which === 'next'
      ? [sql`> (${order.submittedAt}, ${order.id})`, sql`order by submitted_at, order_id`]
      : [sql`< (${order.submittedAt}, ${order.id})`, sql`order by submitted_at desc, order_id desc`];
  const row = await db.get<NeighbourRow>(
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
  return row ? shown(row) : null;
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
