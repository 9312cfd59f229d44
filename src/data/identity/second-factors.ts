// The second factor of a user, and the recovery codes that stand in for it.

import type { Timestamp, UserId } from '../../domain/ids.ts';
import { type Db, must, type Statement, sql } from '../engine/db.ts';

export interface SecondFactor {
  /** Sealed. */
  readonly totpSecret: string;
  /** Until it is proven, login does not ask for it. */
  readonly confirmed: boolean;
}

export async function findSecondFactor(db: Db, user: UserId): Promise<SecondFactor | null> {
  const row = await db.get<{ totp_secret: string; confirmed_at: Timestamp | null }>(
    sql`select totp_secret, confirmed_at from second_factors where user_id = ${user}`,
  );
  return row ? { totpSecret: row.totp_secret, confirmed: row.confirmed_at !== null } : null;
}

/** Guarded by `unconfirmed`: it replaces what was never proven, and nothing else. */
export const enrolSecondFactor = (user: UserId, totpSecret: string, now: Timestamp): Statement =>
  must(
    'unconfirmed',
    sql`insert into second_factors (user_id, totp_secret, created_at, last_step)
        values (${user}, ${totpSecret}, ${now}, 0)
        on conflict (user_id) do update set totp_secret = excluded.totp_secret, created_at = excluded.created_at
          where second_factors.confirmed_at is null`,
  );

/** Guarded by `enrolled`: of this very secret, and not yet confirmed. The code that proved it is used up. */
export function confirmSecondFactor(
  user: UserId,
  totpSecret: string,
  step: number,
  now: Timestamp,
): Statement {
  return must(
    'enrolled',
    sql`update second_factors set confirmed_at = ${now}, last_step = ${step}
        where user_id = ${user} and totp_secret = ${totpSecret} and confirmed_at is null`,
  );
}

/** Guarded by `code_unused`: the code of a time step works once, and none older than one that was used. */
export const useTimeStep = (user: UserId, totpSecret: string, step: number): Statement =>
  must(
    'code_unused',
    sql`update second_factors set last_step = ${step}
        where user_id = ${user} and totp_secret = ${totpSecret} and confirmed_at is not null and last_step < ${step}`,
  );

/** Guarded by `code_unused`. */
export const useRecoveryCode = (user: UserId, codeHash: string, now: Timestamp): Statement =>
  must(
    'code_unused',
    sql`update recovery_codes set used_at = ${now}
        where code_hash = ${codeHash} and user_id = ${user} and used_at is null`,
  );

export const insertRecoveryCode = (user: UserId, codeHash: string): Statement =>
  sql`insert into recovery_codes (code_hash, user_id) values (${codeHash}, ${user})`;

/** Guarded by `enrolled`. */
export const deleteSecondFactor = (user: UserId): Statement[] => [
  must('enrolled', sql`delete from second_factors where user_id = ${user}`),
  sql`delete from recovery_codes where user_id = ${user}`,
];
