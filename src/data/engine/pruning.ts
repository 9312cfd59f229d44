// What is kept no longer: found by an index, a few at a time, and deleted by its keys.

import type { AccountId, OrderId, SessionId, Timestamp, UserId } from '../../domain/ids.ts';
import { hasEnded, OPEN_LEG_STATUSES, ORDER_STATUSES } from '../../domain/orders/order.ts';
import { type Db, join, must, type Reads, type SqlValue, type Statement, sql } from './db.ts';

/** Of a few rows. */
const among = (column: string, keys: readonly SqlValue[]): Statement =>
  join(
    [
      { parts: [`${column} in (`], values: [] },
      join(
        keys.map((key) => sql`${key}`),
        ', ',
      ),
      sql`)`,
    ],
    '',
  );

const deleteFrom = (table: string, where: Statement): Statement =>
  join([{ parts: [`delete from ${table} where `], values: [] }, where], '');

const mustDelete = (table: string, where: Statement): Statement => must('there', deleteFrom(table, where));

/**
 * A few rows, and the statements that delete them. Guarded by `there`: what another process has deleted meanwhile is
 * not deleted, and not counted, once more.
 */
export interface Batch {
  readonly rows: number;
  readonly unit: readonly Statement[];
}

/** Sessions go with their last token: each has one, from its login on. */
export async function expiredTokens(db: Db, before: Timestamp, limit: number): Promise<Batch> {
  const rows = await db.all<{ token_hash: string; session_id: SessionId }>(
    sql`select token_hash, session_id from refresh_tokens where expires_at < ${before}
        order by expires_at limit ${limit}`,
  );
  const sessions = [...new Set(rows.map(({ session_id }) => session_id))];
  const tokens = rows.map(({ token_hash }) => token_hash);
  const withoutToken = sql`and not exists (select 1 from refresh_tokens r where r.session_id = user_sessions.id)`;
  return {
    rows: rows.length,
    unit: [
      mustDelete('refresh_tokens', among('token_hash', tokens)),
      deleteFrom('user_sessions', join([among('id', sessions), withoutToken], ' ')),
    ],
  };
}

export async function expiredResets(db: Db, before: Timestamp, limit: number): Promise<Batch> {
  const rows = await db.all<{ token_hash: string }>(
    sql`select token_hash from password_resets where expires_at < ${before} order by expires_at limit ${limit}`,
  );
  const tokens = rows.map(({ token_hash }) => token_hash);
  return { rows: rows.length, unit: [mustDelete('password_resets', among('token_hash', tokens))] };
}

export async function expiredClaims(db: Db, before: Timestamp, limit: number): Promise<Batch> {
  const rows = await db.all<{ token_hash: string }>(
    sql`select token_hash from email_claims where expires_at < ${before} order by expires_at limit ${limit}`,
  );
  const tokens = rows.map(({ token_hash }) => token_hash);
  return { rows: rows.length, unit: [mustDelete('email_claims', among('token_hash', tokens))] };
}

export async function oldMailed(db: Db, before: Timestamp, limit: number): Promise<Batch> {
  const rows = await db.all<{ address_hash: string }>(
    sql`select address_hash from mailed where last_at < ${before} order by last_at limit ${limit}`,
  );
  const addresses = rows.map(({ address_hash }) => address_hash);
  // By the time too: one that was written to since is none of these.
  const where = join([among('address_hash', addresses), sql`and last_at < ${before}`], ' ');
  return { rows: rows.length, unit: [mustDelete('mailed', where)] };
}

export async function oldTries(db: Db, before: Timestamp, limit: number): Promise<Batch> {
  const rows = await db.all<{ subject: string }>(
    sql`select subject from tries where try_1 < ${before} order by try_1 limit ${limit}`,
  );
  const subjects = rows.map(({ subject }) => subject);
  // By the time too: one that has tried again since is none of these.
  const unit = [mustDelete('tries', join([among('subject', subjects), sql`and try_1 < ${before}`], ' '))];
  return { rows: rows.length, unit };
}

export async function oldIdempotencyKeys(db: Db, before: Timestamp, limit: number): Promise<Batch> {
  const rows = await db.all<{ order_id: OrderId }>(
    sql`select order_id from idempotency_keys where created_at < ${before} order by created_at limit ${limit}`,
  );
  const orders = rows.map(({ order_id }) => order_id);
  return { rows: rows.length, unit: [mustDelete('idempotency_keys', among('order_id', orders))] };
}

export async function oldAlerts(db: Db, before: Timestamp, limit: number): Promise<Batch> {
  const rows = await db.all<{ user_id: UserId }>(
    sql`select user_id from alert_mails where last_at < ${before} limit ${limit}`,
  );
  const users = rows.map(({ user_id }) => user_id);
  // By the time too: one that has been alerted since is none of these.
  const unit = [
    mustDelete('alert_mails', join([among('user_id', users), sql`and last_at < ${before}`], ' ')),
  ];
  return { rows: rows.length, unit };
}

export async function revokedApiKeys(db: Db, before: Timestamp, limit: number): Promise<Batch> {
  const rows = await db.all<{ id: string }>(
    sql`select id from api_keys where revoked_at is not null and revoked_at < ${before}
        order by revoked_at limit ${limit}`,
  );
  const ids = rows.map(({ id }) => id);
  return { rows: rows.length, unit: [mustDelete('api_keys', among('id', ids))] };
}

export async function oldDayCounts(db: Db, beforeDay: string, limit: number): Promise<Batch> {
  const rows = await db.all<{ user_id: UserId; day: string }>(
    sql`select user_id, day from daily_order_counts where day < ${beforeDay} order by day limit ${limit}`,
  );
  const days = new Map<string, UserId[]>();
  for (const { user_id, day } of rows) days.set(day, [...(days.get(day) ?? []), user_id]);
  const unit = [...days].map(([day, users]) =>
    mustDelete('daily_order_counts', join([sql`day = ${day} and `, among('user_id', users)], '')),
  );
  return { rows: rows.length, unit };
}

export async function oldDayEquity(db: Db, beforeDay: string, limit: number): Promise<Batch> {
  const rows = await db.all<{ trading_account_id: AccountId; day: string }>(
    sql`select distinct trading_account_id, day from day_equity where day < ${beforeDay} limit ${limit}`,
  );
  const unit = rows.map(({ trading_account_id, day }) =>
    mustDelete('day_equity', sql`trading_account_id = ${trading_account_id} and day = ${day}`),
  );
  return { rows: rows.length, unit };
}

export async function oldNotices(db: Db, before: Timestamp, limit: number): Promise<Batch> {
  const rows = await db.all<{ id: string }>(
    sql`select id from notices where created_at < ${before} order by created_at limit ${limit}`,
  );
  const ids = rows.map(({ id }) => id);
  return { rows: rows.length, unit: [mustDelete('notices', among('id', ids))] };
}

export async function oldDeliveries(db: Db, before: Timestamp, limit: number): Promise<Batch> {
  const rows = await db.all<{ id: string }>(
    sql`select id from notification_deliveries where created_at < ${before} order by created_at limit ${limit}`,
  );
  const ids = rows.map(({ id }) => id);
  return { rows: rows.length, unit: [mustDelete('notification_deliveries', among('id', ids))] };
}

export async function oldMarks(db: Db, before: Timestamp, limit: number): Promise<Batch> {
  const rows = await db.all<{ mark: string }>(
    sql`select mark from notification_marks where made_at < ${before} order by made_at limit ${limit}`,
  );
  const marks = rows.map(({ mark }) => mark);
  return { rows: rows.length, unit: [mustDelete('notification_marks', among('mark', marks))] };
}

/** What nothing has become of for so long, nobody is told of any more. */
export async function oldWatches(db: Db, before: Timestamp, limit: number): Promise<Batch> {
  const rows = await db.all<{ order_id: OrderId }>(
    sql`select order_id from notification_orders where since < ${before} order by since limit ${limit}`,
  );
  const orders = rows.map(({ order_id }) => order_id);
  return { rows: rows.length, unit: [mustDelete('notification_orders', among('order_id', orders))] };
}

/** Those that became no order; the others go with theirs. */
export async function oldSignals(db: Db, before: Timestamp, limit: number): Promise<Batch> {
  const rows = await db.all<{ id: string }>(
    sql`select id from signals where order_id is null and arrived_at < ${before} order by arrived_at limit ${limit}`,
  );
  const ids = rows.map(({ id }) => id);
  return { rows: rows.length, unit: [mustDelete('signals', among('id', ids))] };
}

/** What strategies said that say nothing any more, and of whom nothing is to be told. */
export async function silentStrategies(db: Db, before: Timestamp, limit: number): Promise<Batch> {
  const rows = await db.all<StrategyPlace>(
    sql`select trading_account_id, symbol, simulation, version from strategy_positions
        where side is null and drift_since is null and compare_at is null and arrived_at < ${before}
        order by arrived_at limit ${limit}`,
  );
  return { rows: rows.length, unit: rows.map(withoutStrategy) };
}

/** Of each account and mode those beyond so many, the oldest: whoever knows a webhook's address can name symbols without end. */
export async function surplusStrategies(db: Db, most: number, limit: number): Promise<Batch> {
  const rows = await db.all<StrategyPlace>(
    sql`select trading_account_id, symbol, simulation, version from (
          select p.*, row_number() over (
            partition by p.trading_account_id, p.simulation order by p.arrived_at desc, p.symbol) as place
          from strategy_positions p
          where p.trading_account_id in (
            select trading_account_id from strategy_positions group by trading_account_id having count(*) > ${most})
        ) as placed where place > ${most} limit ${limit}`,
  );
  return { rows: rows.length, unit: rows.map(withoutStrategy) };
}

interface StrategyPlace {
  readonly trading_account_id: AccountId;
  readonly symbol: string;
  readonly simulation: number | boolean;
  readonly version: number;
}

/** By the version too: one that has spoken since is none of these. */
const withoutStrategy = ({ trading_account_id, symbol, simulation, version }: StrategyPlace): Statement =>
  mustDelete(
    'strategy_positions',
    sql`trading_account_id = ${trading_account_id} and symbol = ${symbol} and simulation = ${Boolean(simulation)}
          and version = ${version}`,
  );

/**
 * Of an order that ended before that, so that nothing can change about it any more. An entry that rests ends weeks after it was submitted:
 * it counts from its last fill, or from when it was looked at last.
 */
const endedBefore = (before: Timestamp): Statement =>
  join(
    [
      among(
        'o.status',
        ORDER_STATUSES.filter((status) => hasEnded(status)),
      ),
      sql`and o.submitted_at < ${before} and coalesce(o.filled_at, o.submitted_at) < ${before}
          and coalesce(o.traded_at, o.submitted_at) < ${before}
          and not exists (select 1 from order_legs l where l.order_id = o.order_id and `,
      among('l.status', OPEN_LEG_STATUSES),
      // A dead letter waits for a person, and a key for its day to be over.
      sql`) and not exists (select 1 from fill_checks c where c.order_id = o.order_id
              and (c.state <> 'done' or c.next_at >= ${before}))
          and not exists (select 1 from idempotency_keys i where i.order_id = o.order_id)`,
    ],
    ' ',
  );

export interface OldOrders extends Batch {
  /** The last order looked at; null: there are no more. */
  readonly last: OrderId | null;
}

/**
 * By the time that is in their ids, so that no index is needed for it; but none that says that it is younger. What
 * cannot be deleted is passed over, and counts among the few.
 */
export async function oldOrders(
  db: Reads,
  { after, beforeId, before, limit }: { after: OrderId; beforeId: OrderId; before: Timestamp; limit: number },
): Promise<OldOrders> {
  const rows = await db.all<{ order_id: OrderId; goes: number | boolean }>(
    join(
      [
        sql`select order_id, case when`,
        endedBefore(before),
        sql`then 1 else 0 end as goes from order_history o where order_id > ${after} and order_id < ${beforeId}
            order by order_id limit ${limit}`,
      ],
      ' ',
    ),
  );
  const ids = rows.filter(({ goes }) => Boolean(goes)).map(({ order_id }) => order_id);
  return {
    rows: ids.length,
    unit: [
      ...(await paperOrdersOf(db, ids)),
      deleteFrom('order_legs', among('order_id', ids)),
      deleteFrom('fill_checks', among('order_id', ids)),
      deleteFrom('signals', among('order_id', ids)),
      mustDelete('order_history', among('order_id', ids)),
    ],
    last: rows.at(-1)?.order_id ?? null,
  };
}

/**
 * What the paper broker's ledger has of them. Its book stands by itself: what is held and what was earned is no sum of its orders.
 * What rests there is left, whatever became of ours.
 */
async function paperOrdersOf(db: Reads, ids: readonly OrderId[]): Promise<Statement[]> {
  if (ids.length === 0) return [];
  const legs = await db.all<{ client_order_id: string; account: AccountId }>(
    join(
      [
        sql`select l.client_order_id, o.trading_account_id as account from order_legs l
            join order_history o on o.order_id = l.order_id where`,
        among('l.order_id', ids),
      ],
      ' ',
    ),
  );
  const books = new Map<AccountId, string[]>();
  for (const { client_order_id, account } of legs)
    books.set(account, [...(books.get(account) ?? []), client_order_id]);
  return [...books].map(([account, orders]) =>
    deleteFrom(
      'paper_orders',
      join(
        [
          // Its own, and that of its rehearsals.
          among('book', [account, `sim:${account}`]),
          among('client_order_id', orders),
          sql`status not in ('placed', 'partially_filled')`,
        ],
        ' and ',
      ),
    ),
  );
}

/** Stops of the paper broker that have ended, and what they became. */
export async function oldPaperStops(db: Db, before: Timestamp, limit: number): Promise<Batch> {
  const rows = await db.all<{ book: string; client_order_id: string; order_id: string | null }>(
    sql`select book, client_order_id, order_id from paper_stops
        where status <> 'standing' and updated_at < ${before} order by updated_at limit ${limit}`,
  );
  const books = Map.groupBy(rows, ({ book }) => book);
  const unit = [...books].flatMap(([book, stops]) => {
    const of = (ids: readonly string[]) => [sql`book = ${book}`, among('client_order_id', ids)];
    const orders = stops.flatMap(({ order_id }) => order_id ?? []);
    const ended = sql`status not in ('placed', 'partially_filled')`;
    return [
      mustDelete('paper_stops', join(of(stops.map((stop) => stop.client_order_id)), ' and ')),
      ...(orders.length > 0 ? [deleteFrom('paper_orders', join([...of(orders), ended], ' and '))] : []),
    ];
  });
  return { rows: rows.length, unit };
}

// What has been done, for whoever watches.

export const notePruned = (what: string, rows: number, now: Timestamp): Statement =>
  sql`insert into pruned (what, row_count, last_at) values (${what}, ${rows}, ${now})
      on conflict (what) do update set row_count = pruned.row_count + excluded.row_count, last_at = excluded.last_at`;

/** Since when nothing was done of it, where nothing ever was. */
export const notePruningBegun = (what: string, now: Timestamp): Statement =>
  sql`insert into pruned (what, row_count, last_at) values (${what}, 0, ${now}) on conflict (what) do nothing`;

export function readPruned(db: Reads): Promise<{ what: string; row_count: number; last_at: Timestamp }[]> {
  return db.all(sql`select what, row_count, last_at from pruned order by what`);
}
