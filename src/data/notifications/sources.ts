// What events are made of: sealed audit entries behind the cursor, orders that are watched, and states of accounts and days.
// Seals are numbered without a gap, by one sealer at a time and after the commits that they tell of: who reads on from a place
// misses nothing, however long a transaction was under way.

import type { AccountId, OrderId, Timestamp, UserId } from '../../domain/ids.ts';
import type { OrderStatus } from '../../domain/orders/order.ts';
import type { Entry, ToldOrder } from '../../domain/told/events.ts';
import { ORDER_ACTIONS, TOLD_ACTIONS } from '../../domain/told/events.ts';
import { CLOSING_ACTIONS, closeIn } from '../../domain/told/protection-events.ts';
import { join, must, type Reads, type SqlValue, type Statement, sql } from '../engine/db.ts';
import { hasLive } from './destinations.ts';

const NAME = 'audit_seals';

const listOf = (values: readonly SqlValue[]): Statement =>
  join(
    values.map((value) => sql`${value}`),
    ', ',
  );

/** null: nobody has read yet. */
export async function readCursor(db: Reads): Promise<number | null> {
  const row = await db.get<{ position: number }>(
    sql`select position from notification_cursor where name = ${NAME}`,
  );
  return row?.position ?? null;
}

/** The place of the first destination's adding, from which on somebody listens; null: nobody has, as far as it is sealed. */
export async function firstListener(db: Reads): Promise<number | null> {
  const row = await db.get<{ position: number | null }>(
    sql`select min(s.position) as position from audit_seals s join audit_logs a on a.id = s.entry_id
        where a.action = 'notification_destination_added'`,
  );
  return row?.position ?? null;
}

/** Guarded by `cursor`: of two processes that have read the same, one tells of it. */
export const advanceCursor = (from: number | null, to: number): Statement =>
  must(
    'cursor',
    from === null
      ? sql`insert into notification_cursor (name, position) values (${NAME}, ${to}) on conflict (name) do nothing`
      : sql`update notification_cursor set position = ${to} where name = ${NAME} and position = ${from}`,
  );

export interface SealedEvents {
  readonly entries: readonly Entry[];
  readonly orders: readonly OrderId[];
}

/** Of users with destinations, at these places. */
export async function sealedEvents(db: Reads, after: number, upTo: number): Promise<SealedEvents> {
  const rows = await db.all<{
    user_id: UserId;
    action: string;
    success: number | boolean;
    ip_address: string | null;
    resource_type: string | null;
    resource_id: string | null;
    metadata: string;
    created_at: Timestamp;
  }>(
    join(
      [
        sql`select a.user_id, a.action, a.success, a.ip_address, a.resource_type, a.resource_id, a.metadata, a.created_at
            from audit_seals s join audit_logs a on a.id = s.entry_id
            where s.position > ${after} and s.position <= ${upTo} and a.action in (`,
        listOf([...new Set([...TOLD_ACTIONS, ...ORDER_ACTIONS, ...CLOSING_ACTIONS])]),
        sql`) and `,
        hasLive('a.user_id'),
        sql` order by s.position`,
      ],
      '',
    ),
  );
  const isOrder = (action: string) => (ORDER_ACTIONS as readonly string[]).includes(action);
  const closes = await provenCloses(
    db,
    rows.filter(({ action }) => CLOSING_ACTIONS.includes(action)).map(({ metadata }) => metadata),
  );
  return {
    entries: rows.flatMap((row) => {
      const metadata = JSON.parse(row.metadata) as Record<string, unknown>;
      if (isOrder(row.action) || closeIn(metadata) !== null) return [];
      const account =
        metadata.trading_account_id ?? (row.resource_type === 'account' ? row.resource_id : null);
      return [
        {
          userId: row.user_id,
          action: row.action,
          at: row.created_at,
          ip: row.ip_address,
          accountId: typeof account === 'string' ? (account as AccountId) : null,
          metadata,
        },
      ];
    }),
    orders: [
      ...rows.flatMap(({ action, success, resource_type, resource_id, metadata }) =>
        isOrder(action) && success && resource_type === 'order' && !isUnproven(metadata)
          ? [resource_id as OrderId]
          : [],
      ),
      ...closes,
    ],
  };
}

/** Orders by which protections close positions; of a rehearsal only where whoever set it was proven. */
async function provenCloses(db: Reads, entries: readonly string[]): Promise<OrderId[]> {
  const closes = entries.flatMap((text) => {
    const metadata = JSON.parse(text) as Record<string, unknown>;
    const order = closeIn(metadata);
    const isRehearsal = metadata.simulation === true;
    return order === null
      ? []
      : [{ order: order as OrderId, setBy: String(metadata.caused_by), isRehearsal }];
  });
  const rehearsed = new Set(closes.flatMap(({ setBy, isRehearsal }) => (isRehearsal ? [setBy] : [])));
  if (rehearsed.size === 0) return closes.map(({ order }) => order);
  const rows = await db.all<{ resource_id: string; metadata: string }>(
    join(
      [
        sql`select resource_id, metadata from audit_logs where resource_type = 'order' and action in (`,
        listOf(ORDER_ACTIONS),
        sql`) and resource_id in (`,
        listOf([...rehearsed]),
        sql`)`,
      ],
      '',
    ),
  );
  const proven = new Set(rows.flatMap((row) => (isUnproven(row.metadata) ? [] : [row.resource_id])));
  return closes.flatMap(({ order, setBy, isRehearsal }) =>
    isRehearsal && !proven.has(setBy) ? [] : [order],
  );
}

/** A rehearsal of whoever knows the URL: its words are a stranger's, and nobody is told of it. */
const isUnproven = (metadata: string): boolean =>
  (JSON.parse(metadata) as { unproven?: unknown }).unproven === true;

export interface OwnAccount {
  readonly id: AccountId;
  readonly isRemoved: boolean;
}

/** Those of these that are the user's, or were. */
export async function ownAccounts(db: Reads, user: UserId, ids: readonly AccountId[]): Promise<OwnAccount[]> {
  if (ids.length === 0) return [];
  const rows = await db.all<{ id: AccountId; deleted_at: Timestamp | null }>(
    join(
      [
        sql`select id, deleted_at from trading_accounts where user_id = ${user} and id in (`,
        listOf(ids),
        sql`) order by id`,
      ],
      '',
    ),
  );
  return rows.map(({ id, deleted_at }) => ({ id, isRemoved: deleted_at !== null }));
}

export async function accountNames(
  db: Reads,
  ids: readonly AccountId[],
): Promise<ReadonlyMap<AccountId, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db.all<{ id: AccountId; name: string }>(
    join([sql`select id, name from trading_accounts where id in (`, listOf(ids), sql`)`], ''),
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

// Orders that are watched

export interface WatchedOrder extends ToldOrder {
  readonly id: OrderId;
  readonly userId: UserId;
  readonly version: number;
}

/** Guarded by `watched`: it is not yet. */
export const watchOrder = (watched: WatchedOrder, now: Timestamp): Statement =>
  must(
    'watched',
    sql`insert into notification_orders (order_id, user_id, version, status, dead_letter, since)
        values (${watched.id}, ${watched.userId}, ${watched.version}, ${watched.status}, ${watched.deadLetter}, ${now})
        on conflict (order_id) do nothing`,
  );

/** Guarded by `told`: nobody else has told of it meanwhile. */
export const rewatchOrder = (before: WatchedOrder, after: WatchedOrder): Statement =>
  must(
    'told',
    sql`update notification_orders set version = ${after.version}, status = ${after.status}, dead_letter = ${after.deadLetter}
        where order_id = ${before.id} and version = ${before.version} and dead_letter = ${before.deadLetter}`,
  );

/** The same. */
export const unwatchOrder = ({ id, version, deadLetter }: WatchedOrder): Statement =>
  must(
    'told',
    sql`delete from notification_orders where order_id = ${id} and version = ${version} and dead_letter = ${deadLetter}`,
  );

export async function watchedAmong(db: Reads, orders: readonly OrderId[]): Promise<ReadonlySet<OrderId>> {
  if (orders.length === 0) return new Set();
  const rows = await db.all<{ order_id: OrderId }>(
    join([sql`select order_id from notification_orders where order_id in (`, listOf(orders), sql`)`], ''),
  );
  return new Set(rows.map(({ order_id }) => order_id));
}

export interface ChangedOrder {
  readonly told: WatchedOrder;
  readonly isDeadLetter: boolean;
}

/** Watched ones that are no longer as they were told of. */
export async function changedOrders(db: Reads, limit: number): Promise<ChangedOrder[]> {
  const rows = await db.all<{
    order_id: OrderId;
    user_id: UserId;
    version: number;
    status: OrderStatus;
    dead_letter: number | boolean;
    is_dead: number;
  }>(
    sql`select w.order_id, w.user_id, w.version, w.status, w.dead_letter,
          case when c.state = 'dead_letter' then 1 else 0 end as is_dead
        from notification_orders w join order_history o on o.order_id = w.order_id
        left join fill_checks c on c.order_id = w.order_id
        where o.version <> w.version or (c.state = 'dead_letter' and w.dead_letter = ${false}) limit ${limit}`,
  );
  return rows.map((row) => ({
    told: {
      id: row.order_id,
      userId: row.user_id,
      version: row.version,
      status: row.status,
      deadLetter: Boolean(row.dead_letter),
    },
    isDeadLetter: row.is_dead === 1,
  }));
}

/** Of these. */
export async function deadAmong(db: Reads, orders: readonly OrderId[]): Promise<ReadonlySet<OrderId>> {
  if (orders.length === 0) return new Set();
  const rows = await db.all<{ order_id: OrderId }>(
    join(
      [
        sql`select order_id from fill_checks where state = 'dead_letter' and order_id in (`,
        listOf(orders),
        sql`)`,
      ],
      '',
    ),
  );
  return new Set(rows.map(({ order_id }) => order_id));
}

// What is told once

/** Guarded by `mark`. */
export const makeMark = (mark: string, now: Timestamp): Statement =>
  must(
    'mark',
    sql`insert into notification_marks (mark, made_at) values (${mark}, ${now}) on conflict (mark) do nothing`,
  );

export async function marksAmong(db: Reads, marks: readonly string[]): Promise<ReadonlySet<string>> {
  if (marks.length === 0) return new Set();
  const rows = await db.all<{ mark: string }>(
    join([sql`select mark from notification_marks where mark in (`, listOf(marks), sql`)`], ''),
  );
  return new Set(rows.map(({ mark }) => mark));
}

// States

export interface AccountState {
  readonly id: AccountId;
  readonly userId: UserId;
  readonly name: string;
  /** Since when the broker refuses its credentials; null: it does not. */
  readonly refusedSince: Timestamp | null;
  /** They were verified before that. */
  readonly wereGood: boolean;
  /** When it was noticed that its webhook is silent, and after how many seconds; null: it is not. */
  readonly silentSince: Timestamp | null;
  readonly silenceAfter: number | null;
}

/** Of users with destinations: what has become so since then. */
export async function troubledAccounts(db: Reads, since: Timestamp): Promise<AccountState[]> {
  const rows = await db.all<{
    id: AccountId;
    user_id: UserId;
    name: string;
    refused: number;
    credentials_refused: number | boolean;
    credentials_checked_at: Timestamp | null;
    silence_told_at: Timestamp | null;
    silence_after: number | null;
  }>(
    join(
      [
        sql`select a.id, a.user_id, a.name, a.credentials_checked_at, a.credentials_refused, a.silence_told_at, a.silence_after,
              case when a.broker_credentials_verified = ${false} and a.sealed_credentials is not null
                and a.credentials_checked_at >= ${since} then 1 else 0 end as refused
            from trading_accounts a where a.deleted_at is null
              and (a.silence_told_at >= ${since}
                or a.broker_credentials_verified = ${false} and a.credentials_checked_at >= ${since}) and`,
        hasLive('a.user_id'),
      ],
      ' ',
    ),
  );
  return rows.map((row) => ({
    id: row.id,
    userId: row.user_id,
    name: row.name,
    refusedSince: row.refused === 1 ? row.credentials_checked_at : null,
    wereGood: Boolean(row.credentials_refused),
    silentSince: row.silence_told_at !== null && row.silence_told_at >= since ? row.silence_told_at : null,
    silenceAfter: row.silence_after,
  }));
}

export interface DayCount {
  readonly userId: UserId;
  readonly plan: string;
  readonly planExpiresAt: Timestamp | null;
  readonly real: number;
  readonly simulated: number;
}

/** Of users with destinations. */
export async function dayCounts(db: Reads, day: string): Promise<DayCount[]> {
  const rows = await db.all<{
    user_id: UserId;
    plan: string;
    plan_expires_at: Timestamp | null;
    orders: number;
    simulated: number;
  }>(
    join(
      [
        sql`select c.user_id, u.plan, u.plan_expires_at, c.orders, c.simulated
            from daily_order_counts c join users u on u.id = c.user_id where c.day = ${day} and`,
        hasLive('c.user_id'),
      ],
      ' ',
    ),
  );
  return rows.map((row) => ({
    userId: row.user_id,
    plan: row.plan,
    planExpiresAt: row.plan_expires_at,
    real: row.orders,
    simulated: row.simulated,
  }));
}
