// protections that nobody looks after: restored from a backup, of another account at the broker, or of one that was deleted; and how they
// come to be kept again.

import type { AccountId, Timestamp, UserId } from '../../domain/ids.ts';
import type { Direction, Order } from '../../domain/orders/order.ts';
import type { Protection } from '../../domain/protection/protection.ts';
import { join, must, type Reads, type Statement, sql } from '../engine/db.ts';
import { keptProtections, protectionsWhere, saveProtection } from './protections.ts';

/** What the owner may have kept again: of real positions, at accounts that are not deleted. */
export const leftProtections = (db: Reads, user: UserId, limit: number): Promise<Protection[]> =>
  protectionsWhere(
    db,
    sql`where trading_account_id in (select id from trading_accounts where user_id = ${user} and deleted_at is null)
          and state = 'left' and simulation = ${false} order by created_at, id limit ${limit}`,
  );

/**
 * Guarded by `protection`: it is left no longer, another one is kept for the position, or the account is gone. `protection`: as it is to be kept
 * from now on.
 */
export const resumeProtection = (protection: Protection, now: Timestamp): Statement[] => [
  must(
    'protection',
    sql`select 1 from trading_accounts where id = ${protection.accountId} and deleted_at is null`,
  ),
  must(
    'protection',
    sql`update protections set ended_at = null where id = ${protection.id} and state = 'left'
          and version = ${protection.version}`,
  ),
  saveProtection(protection, now),
];

/** Nobody looks after them any more, and what stands at the broker stands: of one account, or of all. */
export const leaveProtections = (
  reason: string,
  at: Timestamp,
  account: AccountId | null = null,
  { isReal = false }: { readonly isReal?: boolean } = {},
): Statement =>
  leave(reason, at, [
    ...(account === null ? [] : [sql`and trading_account_id = ${account}`]),
    ...(isReal ? [sql`and simulation = ${false}`] : []),
  ]);

/** So it is with those of a user's accounts that are deleted by now. */
export const leaveProtectionsOfDeleted = (reason: string, at: Timestamp, user: UserId): Statement =>
  leave(reason, at, [
    sql`and trading_account_id in (
          select id from trading_accounts where user_id = ${user} and deleted_at is not null)`,
  ]);

const leave = (reason: string, at: Timestamp, which: readonly Statement[]): Statement =>
  join(
    [
      sql`update protections set state = 'left', reason = ${reason}, version = version + 1, due_at = null,
            ended_at = ${at} where ended_at is null`,
      ...which,
    ],
    ' ',
  );

interface Place {
  readonly instrument: string;
  readonly side: Direction;
  /** Of the login that sees it now. */
  readonly credentialsVersion: number | null;
}

/** The last one of the position; null: there is none, one is kept for it, or it stands at another account at the broker. */
export async function leftOfPosition(
  db: Reads,
  { userId, accountId, simulation }: Pick<Order, 'userId' | 'accountId' | 'simulation'>,
  { instrument, side, credentialsVersion }: Place,
): Promise<Protection | null> {
  const isIts = (one: Protection) =>
    one.instrument === instrument && one.simulation === simulation && one.side === side;
  const [last] = await protectionsWhere(
    db,
    sql`where trading_account_id = ${accountId} and state = 'left' and instrument = ${instrument}
          and simulation = ${simulation} and side = ${side} order by created_at desc, id desc limit 1`,
  );
  if (!last || last.credentialsVersion !== credentialsVersion) return null;
  return (await keptProtections(db, userId, accountId)).some(isIts) ? null : last;
}
