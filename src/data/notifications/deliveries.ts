// notification_deliveries: messages on their way, and what became of them.

import type { Timestamp } from '../../domain/ids.ts';
import type { EventKind, Message } from '../../domain/told/notification.ts';
import { join, must, type Reads, type Statement, sql } from '../engine/db.ts';

export type DeliveryOutcome = 'pending' | 'delivered' | 'given_up';

export interface Delivery {
  readonly id: string;
  readonly event: EventKind | 'test';
  readonly message: Omit<Message, 'id'>;
  readonly createdAt: Timestamp;
  readonly attempts: number;
  readonly outcome: DeliveryOutcome;
  readonly endedAt: Timestamp | null;
  readonly lastError: string | null;
  /** So many are told of by this one; 0: it is about itself. */
  readonly folded: number;
}

interface Row {
  id: string;
  event: EventKind | 'test';
  message: string;
  created_at: Timestamp;
  attempts: number;
  outcome: DeliveryOutcome;
  ended_at: Timestamp | null;
  last_error: string | null;
  folded: number;
}

const toDelivery = (row: Row): Delivery => ({
  id: row.id,
  event: row.event,
  message: JSON.parse(row.message) as Omit<Message, 'id'>,
  createdAt: row.created_at,
  attempts: row.attempts,
  outcome: row.outcome,
  endedAt: row.ended_at,
  lastError: row.last_error,
  folded: row.folded,
});

export interface Waiting {
  readonly destinationId: string;
  /** Of all kinds. */
  readonly pending: number;
  /** Of each kind, made in this minute and for themselves. */
  readonly byKind: ReadonlyMap<EventKind, number>;
}

/** What the destinations have before them: for whether there is room, and whether it is a burst. */
export async function waitingAt(
  db: Reads,
  destinations: readonly string[],
  since: Timestamp,
): Promise<Map<string, Waiting>> {
  if (destinations.length === 0) return new Map();
  const ids = join(
    destinations.map((id) => sql`${id}`),
    ', ',
  );
  const rows = await db.all<{ destination_id: string; event: EventKind; pending: number; fresh: number }>(
    join(
      [
        sql`select destination_id, event, count(case when outcome = 'pending' then 1 end) as pending,
              count(case when created_at >= ${since} and folded = 0 then 1 end) as fresh
            from notification_deliveries
            where (outcome = 'pending' or created_at >= ${since}) and destination_id in (`,
        ids,
        sql`) group by destination_id, event`,
      ],
      '',
    ),
  );
  return new Map(
    [...Map.groupBy(rows, (row) => row.destination_id)].map(([destinationId, ofOne]) => [
      destinationId,
      {
        destinationId,
        pending: ofOne.reduce((sum, { pending }) => sum + pending, 0),
        byKind: new Map(ofOne.map(({ event, fresh }) => [event, fresh])),
      },
    ]),
  );
}

export interface NewDelivery {
  readonly id: string;
  readonly destinationId: string;
  readonly event: EventKind | 'test';
  readonly message: Omit<Message, 'id'>;
  readonly createdAt: Timestamp;
  readonly dueAt: Timestamp;
}

export const insertDelivery = (made: NewDelivery): Statement =>
  sql`insert into notification_deliveries (id, destination_id, event, message, created_at, due_at, attempts, outcome, folded)
      values (${made.id}, ${made.destinationId}, ${made.event}, ${JSON.stringify(made.message)}, ${made.createdAt},
        ${made.dueAt}, 0, 'pending', 0)`;

/**
 * Into the one of its fold, of which the last one's words are kept. One that is on its way or has ended takes no more and gives
 * the fold up to another: unguarded, since the unit is everybody's. It is written even where it stays, so that it does not
 * leave in between.
 */
export const foldDelivery = (made: NewDelivery, fold: string, count: number): Statement[] => [
  sql`update notification_deliveries set fold = case when attempts = 0 and outcome = 'pending' then fold end
      where destination_id = ${made.destinationId} and fold = ${fold}`,
  sql`insert into notification_deliveries (id, destination_id, event, message, created_at, due_at, attempts, outcome,
        fold, folded)
      values (${made.id}, ${made.destinationId}, ${made.event}, ${JSON.stringify(made.message)}, ${made.createdAt},
        ${made.dueAt}, 0, 'pending', ${fold}, ${count})
      on conflict (destination_id, fold) do update
        set message = excluded.message, folded = notification_deliveries.folded + excluded.folded`,
];

export const noteDropped = (destinationId: string, count: number): Statement =>
  sql`update notification_destinations set dropped = dropped + ${count} where id = ${destinationId}`;

/** The oldest that is due. */
export async function nextDelivery(db: Reads, destination: string, now: Timestamp): Promise<Delivery | null> {
  const row = await db.get<Row>(
    sql`select id, event, message, created_at, attempts, outcome, ended_at, last_error, folded
        from notification_deliveries
        where destination_id = ${destination} and outcome = 'pending' and event <> 'test' and due_at <= ${now}
        order by id limit 1`,
  );
  return row ? toDelivery(row) : null;
}

/** Before it is sent: from here on nothing is folded into it any more. */
export const noteAttempt = (id: string): Statement =>
  must(
    'pending',
    sql`update notification_deliveries set attempts = attempts + 1 where id = ${id} and outcome = 'pending'`,
  );

export const endDelivery = (
  id: string,
  outcome: 'delivered' | 'given_up',
  error: string | null,
  now: Timestamp,
): Statement =>
  sql`update notification_deliveries set outcome = ${outcome}, ended_at = ${now}, last_error = ${error}
      where id = ${id} and outcome = 'pending'`;

export const noteDeliveryError = (id: string, error: string): Statement =>
  sql`update notification_deliveries set last_error = ${error} where id = ${id}`;

/** Too old to be of use. */
export const giveUpOld = (destination: string, before: Timestamp, now: Timestamp): Statement =>
  sql`update notification_deliveries set outcome = 'given_up', ended_at = ${now}
      where destination_id = ${destination} and outcome = 'pending' and created_at < ${before}`;

// Trials: beside the others, at once and once.

export interface Trial extends Delivery {
  readonly destinationId: string;
}

export async function waitingTrials(db: Reads, limit: number): Promise<Trial[]> {
  const rows = await db.all<Row & { destination_id: string }>(
    sql`select id, destination_id, event, message, created_at, attempts, outcome, ended_at, last_error, folded
        from notification_deliveries where outcome = 'pending' and event = 'test' and attempts = 0
        order by due_at limit ${limit}`,
  );
  return rows.map((row) => ({ ...toDelivery(row), destinationId: row.destination_id }));
}

/** Guarded by `trial`: whoever comes first sends it. */
export const claimTrial = ({ id }: Trial): Statement =>
  must('trial', sql`update notification_deliveries set attempts = 1 where id = ${id} and attempts = 0`);

/** null: it has not ended. */
export async function endOfDelivery(
  db: Reads,
  id: string,
): Promise<{ readonly outcome: DeliveryOutcome; readonly error: string | null } | null> {
  const row = await db.get<{ outcome: DeliveryOutcome; last_error: string | null }>(
    sql`select outcome, last_error from notification_deliveries where id = ${id} and outcome <> 'pending'`,
  );
  return row ? { outcome: row.outcome, error: row.last_error } : null;
}

/** Newest first; `after` is the last one of the page before. */
export async function listDeliveries(
  db: Reads,
  destination: string,
  { after, limit }: { after: string | null; limit: number },
): Promise<Delivery[]> {
  const rows = await db.all<Row>(
    join(
      [
        sql`select id, event, message, created_at, attempts, outcome, ended_at, last_error, folded
            from notification_deliveries where destination_id = ${destination}`,
        ...(after === null ? [] : [sql`and id < ${after}`]),
        sql`order by id desc limit ${limit}`,
      ],
      ' ',
    ),
  );
  return rows.map(toDelivery);
}
