// protections whose position has no stop, or may have none: for its owner, and for the operator.

import type { BrokerName } from '../../domain/brokers.ts';
import type { Timestamp, UserId } from '../../domain/ids.ts';
import type { Protection, ProtectionState } from '../../domain/protection/protection.ts';
import { join, type Reads, sql } from '../engine/db.ts';
import { protectionsWhere } from './protections.ts';

/**
 * Born with its entry's fill, and no worker has saved anything of it, or none has come back to it since; also where none has seen it yet,
 * unless it waits for an order of which nobody knows the end. Or its stop was taken away for an order, and none has come back to that.
 * When it is due says nothing: whoever is to find it a worker puts that off.
 */
const isUnattended = (since: Timestamp) =>
  sql`((state = 'armed' and unprotected_since < ${since}
        and (body is null or seen_at < ${since} or (seen_at is null and wanted_by is null)))
      or (state = 'suspended' and coalesce(seen_at, created_at) < ${since}))`;

/** Of the user's real positions: those without a stop, those that may have none, and those that nobody can look at. */
export const troubledProtections = (
  db: Reads,
  user: UserId,
  unattendedSince: Timestamp,
  limit: number,
): Promise<Protection[]> =>
  protectionsWhere(
    db,
    join(
      [
        sql`where trading_account_id in (select id from trading_accounts where user_id = ${user} and deleted_at is null)
          and ended_at is null and simulation = ${false} and (state in ('unprotected', 'unwatched') or`,
        isUnattended(unattendedSince),
        sql`) order by created_at, id limit ${limit}`,
      ],
      ' ',
    ),
  );

export interface CountedProtections {
  readonly state: ProtectionState;
  readonly brokerName: BrokerName;
  readonly count: number;
  /** Of those whose position has no stop, or may have none, and to which somebody should look: the first. */
  readonly unprotectedSince: Timestamp | null;
  /** When the one that was looked at least lately was. */
  readonly seenAt: Timestamp;
}

/** Of real positions that are kept. */
export async function countProtections(db: Reads, unattendedSince: Timestamp): Promise<CountedProtections[]> {
  const rows = await db.all<{
    state: ProtectionState;
    broker_name: BrokerName;
    count: number;
    unprotected_since: Timestamp | null;
    seen_at: Timestamp;
  }>(
    join(
      [
        sql`select state, broker_name, count(*) as count, min(coalesce(seen_at, created_at)) as seen_at,
          min(case when state in ('unprotected', 'unwatched') then unprotected_since when`,
        isUnattended(unattendedSince),
        sql`then coalesce(unprotected_since, seen_at, created_at) end) as unprotected_since
        from protections where ended_at is null and simulation = ${false} group by state, broker_name`,
      ],
      ' ',
    ),
  );
  return rows.map((row) => ({
    state: row.state,
    brokerName: row.broker_name,
    count: row.count,
    unprotectedSince: row.unprotected_since,
    seenAt: row.seen_at,
  }));
}
