// notification_destinations: where users want to be told, and how that goes.

import type { Cause } from '../../domain/identity/after-theft.ts';
import type { AccountId, Timestamp, UserId } from '../../domain/ids.ts';
import type { DestinationKind, EventKind, Filter, Health } from '../../domain/told/notification.ts';
import { MOST_DESTINATIONS } from '../../domain/told/notification.ts';
import { join, must, type Reads, type Statement, sql } from '../engine/db.ts';

export interface Destination extends Filter, Health {
  readonly id: string;
  readonly userId: UserId;
  readonly kind: DestinationKind;
  readonly name: string;
  readonly shownAs: string;
  readonly sealedAddress: string;
  readonly summaryHour: number;
  readonly nextSummaryAt: Timestamp | null;
  readonly version: number;
  readonly failures: number;
  readonly lastSuccessAt: Timestamp | null;
  readonly lastError: string | null;
  readonly dropped: number;
  /** Not by its owner: nothing is sent there, no trial either, until the owner confirms it. */
  readonly pausedBecause: Cause | null;
}

interface Row {
  id: string;
  user_id: UserId;
  kind: DestinationKind;
  name: string;
  shown_as: string;
  sealed_address: string;
  events: string;
  account_ids: string | null;
  summary_hour: number;
  next_summary_at: Timestamp | null;
  created_at: Timestamp;
  listens_since: Timestamp;
  version: number;
  failures: number;
  failing_since: Timestamp | null;
  working_since: Timestamp | null;
  last_success_at: Timestamp | null;
  last_error: string | null;
  paused_at: Timestamp | null;
  dead_since: Timestamp | null;
  dropped: number;
  paused_because: Cause | null;
}

const toDestination = (row: Row): Destination => ({
  id: row.id,
  userId: row.user_id,
  kind: row.kind,
  name: row.name,
  shownAs: row.shown_as,
  sealedAddress: row.sealed_address,
  events: JSON.parse(row.events) as EventKind[],
  accountIds: row.account_ids === null ? null : (JSON.parse(row.account_ids) as AccountId[]),
  summaryHour: row.summary_hour,
  nextSummaryAt: row.next_summary_at,
  createdAt: row.created_at,
  listensSince: row.listens_since,
  version: row.version,
  failures: row.failures,
  failingSince: row.failing_since,
  workingSince: row.working_since,
  lastSuccessAt: row.last_success_at,
  lastError: row.last_error,
  pausedAt: row.paused_at,
  deadSince: row.dead_since,
  dropped: row.dropped,
  pausedBecause: row.paused_because,
});

type New = Omit<
  Destination,
  | keyof Health
  | 'listensSince'
  | 'version'
  | 'failures'
  | 'lastSuccessAt'
  | 'lastError'
  | 'dropped'
  | 'pausedBecause'
> &
  Pick<Destination, 'createdAt'>;

const LIVE = sql`d.paused_at is null and d.dead_since is null`;

/**
 * Before the first of a user's destinations listens, or does again: orders that are open are watched from here on as they are
 * now, and what became of others meanwhile is told to nobody. While one listens they are watched already.
 */
function beginToWatch(user: UserId): Statement[] {
  const noneLive = join(
    [sql`not exists (select 1 from notification_destinations d where d.user_id = ${user} and`, LIVE, sql`)`],
    ' ',
  );
  const where = (statement: Statement, ...more: Statement[]) => join([statement, noneLive, ...more], ' ');
  return [
    where(
      sql`delete from notification_orders where user_id = ${user} and exists (
            select 1 from order_history o left join fill_checks c on c.order_id = o.order_id
            where o.order_id = notification_orders.order_id and (o.version <> notification_orders.version
              or (c.state = 'dead_letter' and notification_orders.dead_letter = ${false}))) and`,
    ),
    where(
      sql`insert into notification_orders (order_id, user_id, version, status, dead_letter, since)
          select c.order_id, c.user_id, o.version, o.status, c.state = 'dead_letter', o.submitted_at
          from fill_checks c join order_history o on o.order_id = c.order_id
          where c.user_id = ${user} and c.state <> 'done' and`,
      sql`on conflict (order_id) do nothing`,
    ),
    // Those that nobody asks a broker about yet.
    where(
      sql`insert into notification_orders (order_id, user_id, version, status, dead_letter, since)
          select order_id, user_id, version, status, ${false}, submitted_at from order_history
          where user_id = ${user} and status in ('queued', 'executing') and`,
      sql`on conflict (order_id) do nothing`,
    ),
    // Those that nobody will ever ask a broker about: they waited in a restored backup, and what became of them their owner has
    // to say. Watched as they were before the restoration, so that he is told.
    where(
      sql`insert into notification_orders (order_id, user_id, version, status, dead_letter, since)
          select o.order_id, o.user_id, o.version - 1, 'executing', ${false}, o.submitted_at from order_history o
          where o.user_id = ${user} and o.status = 'unknown' and o.simulation = ${false} and not exists (
            select 1 from fill_checks c where c.order_id = o.order_id and c.state <> 'done') and`,
      sql`on conflict (order_id) do nothing`,
    ),
  ];
}

/** Guarded by `room`. The user's row is written as it is, so that two at once take turns. */
export const insertDestination = (made: New): Statement[] => [
  sql`update users set plan = plan where id = ${made.userId}`,
  must(
    'room',
    sql`select 1 from users where id = ${made.userId}
        and (select count(*) from notification_destinations where user_id = ${made.userId}) < ${MOST_DESTINATIONS}`,
  ),
  ...beginToWatch(made.userId),
  sql`insert into notification_destinations (id, user_id, kind, name, shown_as, sealed_address, events, account_ids,
        summary_hour, next_summary_at, created_at, listens_since, version, failures, dead_mailed, dropped)
      values (${made.id}, ${made.userId}, ${made.kind}, ${made.name}, ${made.shownAs}, ${made.sealedAddress},
        ${JSON.stringify(made.events)}, ${made.accountIds && JSON.stringify(made.accountIds)}, ${made.summaryHour},
        ${made.nextSummaryAt}, ${made.createdAt}, ${made.createdAt}, 1, 0, ${false}, 0)`,
];

export async function listDestinations(db: Reads, user: UserId): Promise<Destination[]> {
  const rows = await db.all<Row>(
    sql`select * from notification_destinations where user_id = ${user} order by id limit ${MOST_DESTINATIONS}`,
  );
  return rows.map(toDestination);
}

/** Whoever's it is: for who sends. */
export async function destinationById(db: Reads, id: string): Promise<Destination | null> {
  const row = await db.get<Row>(sql`select * from notification_destinations where id = ${id}`);
  return row ? toDestination(row) : null;
}

export async function findDestination(db: Reads, user: UserId, id: string): Promise<Destination | null> {
  const row = await db.get<Row>(
    sql`select * from notification_destinations where user_id = ${user} and id = ${id}`,
  );
  return row ? toDestination(row) : null;
}

export interface DestinationChange {
  readonly name?: string;
  readonly events?: readonly EventKind[];
  readonly accountIds?: readonly AccountId[] | null;
  readonly summaryHour?: number;
  /** With either of those. */
  readonly nextSummaryAt?: Timestamp | null;
  readonly pausedAt?: Timestamp;
  /** No longer paused, whoever paused it, and a dead one has another chance. */
  readonly resumedAt?: Timestamp;
}

/** Guarded by `found`. */
export function changeDestination(user: UserId, id: string, change: DestinationChange): Statement[] {
  const { name, events, accountIds, summaryHour, nextSummaryAt, pausedAt, resumedAt } = change;
  const changes = [
    ...(name === undefined ? [] : [sql`name = ${name}`]),
    ...(events === undefined ? [] : [sql`events = ${JSON.stringify(events)}`]),
    ...(accountIds === undefined ? [] : [sql`account_ids = ${accountIds && JSON.stringify(accountIds)}`]),
    ...(summaryHour === undefined ? [] : [sql`summary_hour = ${summaryHour}`]),
    ...(nextSummaryAt === undefined ? [] : [sql`next_summary_at = ${nextSummaryAt}`]),
    ...(pausedAt === undefined ? [] : [sql`paused_at = ${pausedAt}`]),
    ...(resumedAt === undefined
      ? []
      : [sql`paused_at = null, paused_because = null, listens_since = ${resumedAt}`, REVIVED]),
    sql`version = version + 1`,
  ];
  const changed = join(
    [
      sql`update notification_destinations set`,
      join(changes, ', '),
      sql`where user_id = ${user} and id = ${id}`,
    ],
    ' ',
  );
  return [...(resumedAt === undefined ? [] : beginToWatch(user)), must('found', changed)];
}

const REVIVED = sql`dead_since = null, dead_mailed = ${false}, failing_since = null, failures = 0, wait_until = null`;

/** Guarded by `found`. */
export const deleteDestination = (user: UserId, id: string): Statement[] => [
  must('found', sql`delete from notification_destinations where user_id = ${user} and id = ${id}`),
  sql`delete from notification_deliveries where destination_id = ${id}`,
];

// Those that are told

export async function hasLiveDestinations(db: Reads): Promise<boolean> {
  const found = await db.get(
    join([sql`select 1 as one from notification_destinations d where`, LIVE, sql`limit 1`], ' '),
  );
  return found !== undefined;
}

/** A row's user has one. */
export const hasLive = (column: 'a.user_id' | 'c.user_id'): Statement =>
  join(
    [
      sql`exists (select 1 from notification_destinations d where d.user_id = `,
      { parts: [column], values: [] },
      sql` and `,
      LIVE,
      sql`)`,
    ],
    '',
  );

export async function liveDestinationsOf(db: Reads, users: readonly UserId[]): Promise<Destination[]> {
  if (users.length === 0) return [];
  const ids = join(
    users.map((id) => sql`${id}`),
    ', ',
  );
  const rows = await db.all<Row>(
    join(
      [
        sql`select d.* from notification_destinations d where d.user_id in (`,
        ids,
        sql`) and `,
        LIVE,
        sql` order by d.id`,
      ],
      '',
    ),
  );
  return rows.map(toDestination);
}

/** Of active users, with a message that is due; those first that have waited longest. */
export async function dueDestinations(db: Reads, now: Timestamp, limit: number): Promise<Destination[]> {
  const rows = await db.all<Row>(
    join(
      [
        sql`select d.* from (
              select destination_id, min(due_at) as due_at from notification_deliveries
              where outcome = 'pending' and event <> 'test' and due_at <= ${now} group by destination_id) p
            join notification_destinations d on d.id = p.destination_id
            join users u on u.id = d.user_id
            where`,
        LIVE,
        sql`and (d.wait_until is null or d.wait_until <= ${now}) and u.is_active = ${true}
            order by p.due_at limit ${limit}`,
      ],
      ' ',
    ),
  );
  return rows.map(toDestination);
}

/** Guarded by `destination`: of all who come one sends, and nobody else until then. */
export const claimDestination = ({ id, version }: Destination, until: Timestamp): Statement =>
  must(
    'destination',
    sql`update notification_destinations set version = ${version + 1}, wait_until = ${until}
        where id = ${id} and version = ${version}`,
  );

/** Who claimed it lets go. Where its owner has changed something meanwhile, the claim expires by itself. */
export const releaseDestination = (id: string, version: number): Statement =>
  sql`update notification_destinations set wait_until = null where id = ${id} and version = ${version}`;

export const noteSuccess = (id: string, now: Timestamp): Statement =>
  sql`update notification_destinations set last_success_at = ${now}, failures = 0, failing_since = null,
        working_since = case when working_since is null or failing_since is not null then ${now} else working_since end,
        dead_since = null, dead_mailed = ${false}
      where id = ${id}`;

/** By a message that arrived there although it was dead, if it was. */
export const reviveDestination = (
  { id, userId }: Pick<Destination, 'id' | 'userId'>,
  now: Timestamp,
): Statement[] => [
  ...beginToWatch(userId),
  sql`update notification_destinations set listens_since = ${now} where id = ${id} and dead_since is not null`,
  noteSuccess(id, now),
];

/** A message that is not tried again did not arrive; the next one has its own chance, at once. */
export const noteRefusal = (id: string, error: string, now: Timestamp): Statement =>
  sql`update notification_destinations set failing_since = coalesce(failing_since, ${now}), last_error = ${error}
      where id = ${id}`;

export const noteFailure = (
  id: string,
  { error, now, waitUntil, isDead }: { error: string; now: Timestamp; waitUntil: Timestamp; isDead: boolean },
): Statement[] => [
  // What was refused for good before does not count: the day in which it has its chance begins with the first try of this one.
  sql`update notification_destinations set failures = failures + 1,
        failing_since = case when failures = 0 then ${now} else coalesce(failing_since, ${now}) end,
        last_error = ${error}, wait_until = ${waitUntil} where id = ${id}`,
  ...(isDead
    ? [
        sql`update notification_destinations set dead_since = coalesce(dead_since, ${now}) where id = ${id}`,
        sql`update notification_deliveries set outcome = 'given_up', ended_at = ${now}
            where destination_id = ${id} and outcome = 'pending'`,
      ]
    : []),
];

// Summaries

export async function dueSummaries(db: Reads, now: Timestamp, limit: number): Promise<Destination[]> {
  const rows = await db.all<Row>(
    join(
      [
        sql`select d.* from notification_destinations d where d.next_summary_at <= ${now} and`,
        LIVE,
        sql`order by d.next_summary_at limit ${limit}`,
      ],
      ' ',
    ),
  );
  return rows.map(toDestination);
}

/** Guarded by `summary`: one a day. */
export const nextSummaryOf = ({ id, nextSummaryAt }: Destination, next: Timestamp): Statement =>
  must(
    'summary',
    sql`update notification_destinations set next_summary_at = ${next}
        where id = ${id} and next_summary_at = ${nextSummaryAt}`,
  );

// The dead

export interface DeadDestination {
  readonly id: string;
  readonly name: string;
  readonly kind: DestinationKind;
  readonly deadSince: Timestamp;
  readonly lastError: string | null;
  readonly email: string;
}

/** Of whom their owners have not been told by mail. */
export async function unmailedDead(db: Reads, limit: number): Promise<DeadDestination[]> {
  const rows = await db.all<
    Pick<Row, 'id' | 'name' | 'kind' | 'last_error'> & { email: string; dead_since: Timestamp }
  >(
    sql`select d.id, d.name, d.kind, d.dead_since, d.last_error, u.email
        from notification_destinations d join users u on u.id = d.user_id
        where d.dead_since is not null and d.dead_mailed = ${false} and u.is_active = ${true}
        order by d.dead_since limit ${limit}`,
  );
  return rows.map(({ id, name, kind, dead_since, last_error, email }) => ({
    ...{ id, name, kind, email },
    deadSince: dead_since,
    lastError: last_error,
  }));
}

/** Guarded by `mailed`: whoever comes first tells it. */
export const noteMailed = ({ id, deadSince }: Pick<DeadDestination, 'id' | 'deadSince'>): Statement =>
  must(
    'mailed',
    sql`update notification_destinations set dead_mailed = ${true}
        where id = ${id} and dead_since = ${deadSince} and dead_mailed = ${false}`,
  );
