// What guards ask for of an account's past.

import { type Decimal, decimal } from '../../domain/decimal.ts';
import { millis, type Timestamp, timestamp } from '../../domain/ids.ts';
import type { Order } from '../../domain/orders/order.ts';
import type { EquityRead, SentEntry } from '../../worker/orders.ts';
import { type Db, type Statement, sql } from '../engine/db.ts';

type Book = Pick<Order, 'userId' | 'accountId' | 'simulation'>;
type BookOrder = Book & Pick<Order, 'id'>;

/** An entry is sent within so long after its acceptance, or never; so that its index finds it. */
const LONGEST_LIFE_MS = 3_600_000;

export async function entriesSince(
  db: Db,
  { userId, accountId, simulation }: Book,
  since: Timestamp,
): Promise<SentEntry[]> {
  const submitted = timestamp(millis(since) - LONGEST_LIFE_MS);
  const rows = await db.all<{ instrument: string | null; sent_at: Timestamp }>(
    sql`select l.instrument, l.sent_at from order_legs l join order_history o on o.order_id = l.order_id
        where o.user_id = ${userId} and o.trading_account_id = ${accountId} and o.simulation = ${simulation} and o.submitted_at >= ${submitted}
          and l.leg = 'entry' and l.sent_at >= ${since} and l.status not in ('planned', 'rejected')
        order by l.sent_at`,
  );
  return rows.map((row) => ({ instrument: row.instrument, sentAt: row.sent_at }));
}

/** That of the day's first order, or of when the guard was set on that day: this one, where it is for that. null: another was sent before, and none was kept. */
export async function firstEquity(
  db: Db,
  order: BookOrder,
  day: string,
  read: EquityRead,
): Promise<Decimal | null> {
  const first = await knownEquity(db, order, day, read);
  if (first !== read.equity) return first;
  const { accountId, simulation } = order;
  await db.commit([
    sql`insert into day_equity (trading_account_id, simulation, day, equity)
        values (${accountId}, ${simulation}, ${day}, ${read.equity})
        on conflict (trading_account_id, simulation, day) do nothing`,
  ]);
  return (await keptEquity(db, order, day)) ?? read.equity;
}

/** What a day is counted from: on the day on which the guard is set, the equity of that moment. */
export const beginDay = (
  { accountId, simulation }: Pick<Book, 'accountId' | 'simulation'>,
  day: string,
  equity: Decimal,
): Statement =>
  sql`insert into day_equity (trading_account_id, simulation, day, equity)
      values (${accountId}, ${simulation}, ${day}, ${equity})
      on conflict (trading_account_id, simulation, day) do update set equity = excluded.equity`;

/** The same, and nothing is kept. */
export async function knownEquity(
  db: Db,
  order: BookOrder,
  day: string,
  { equity, at }: EquityRead,
): Promise<Decimal | null> {
  const kept = await keptEquity(db, order, day);
  if (kept !== null) return kept;
  return (await hasSent(db, order, day, at)) ? null : equity;
}

async function keptEquity(db: Db, { accountId, simulation }: Book, day: string): Promise<Decimal | null> {
  const row = await db.get<{ equity: string }>(
    sql`select equity from day_equity where trading_account_id = ${accountId} and simulation = ${simulation}
          and day = ${day}`,
  );
  return row ? decimal(row.equity) : null;
}

/**
 * On that day, up to that time; what was refused at once has cost nothing. Of the order itself, what was sent before. A stop or target that
 * the broker filled is no order of the day: nobody was there to note the equity, and it was placed before it was written down.
 */
async function hasSent(
  db: Db,
  { id, userId, accountId, simulation }: BookOrder,
  day: string,
  at: Timestamp,
): Promise<boolean> {
  const since = timestamp(Date.parse(day));
  const submitted = timestamp(millis(since) - LONGEST_LIFE_MS);
  const row = await db.get(
    sql`select 1 from order_legs l join order_history o on o.order_id = l.order_id
        where o.user_id = ${userId} and o.trading_account_id = ${accountId} and o.simulation = ${simulation}
          and o.submitted_at >= ${submitted} and l.sent_at >= ${since} and l.status not in ('planned', 'rejected')
          and not (o.source = 'protection' and l.sent_at < o.submitted_at)
          and (l.sent_at < ${at} or (l.sent_at = ${at} and l.order_id <> ${id})) limit 1`,
  );
  return row !== null && row !== undefined;
}
