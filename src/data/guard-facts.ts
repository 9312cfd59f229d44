// What guards ask for of an account's past.

import { type Decimal, decimal } from '../domain/decimal.ts';
import { millis, type Timestamp, timestamp } from '../domain/ids.ts';
import type { Order } from '../domain/order.ts';
import type { SentEntry } from '../worker/orders.ts';
import { type Db, sql } from './db.ts';

type Book = Pick<Order, 'userId' | 'accountId' | 'simulation'>;

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

export async function firstEquity(
  db: Db,
  { accountId, simulation }: Book,
  day: string,
  equity: Decimal,
): Promise<Decimal> {
  await db.commit([
    sql`insert into day_equity (trading_account_id, simulation, day, equity)
        values (${accountId}, ${simulation}, ${day}, ${equity})
        on conflict (trading_account_id, simulation, day) do nothing`,
  ]);
  return knownEquity(db, { accountId, simulation }, day, equity);
}

/** That of the day's first order, or this one. */
export async function knownEquity(
  db: Db,
  { accountId, simulation }: Pick<Book, 'accountId' | 'simulation'>,
  day: string,
  equity: Decimal,
): Promise<Decimal> {
  const row = await db.get<{ equity: string }>(
    sql`select equity from day_equity where trading_account_id = ${accountId} and simulation = ${simulation}
          and day = ${day}`,
  );
  return row ? decimal(row.equity) : equity;
}
