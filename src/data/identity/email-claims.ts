// Who wants to have an address: links that were mailed to it, of which the first that is followed decides.

import type { Timestamp, UserId } from '../../domain/ids.ts';
import { ACCOUNT_DELETED } from '../../domain/protection/left.ts';
import { deleteGroups } from '../accounts/groups.ts';
import { type Db, must, type Statement, sql } from '../engine/db.ts';
import { leaveProtectionsOfDeleted } from '../orders/protections-left.ts';

export interface EmailClaim {
  readonly tokenHash: string;
  readonly email: string;
  /** Who has the address then. */
  readonly userId: UserId;
  /** Of somebody who registered an address that another one had registered before; null: of the user itself. */
  readonly newcomer: { readonly passwordHash: string; readonly termsVersion: string | null } | null;
  readonly expiresAt: Timestamp;
}

export const insertEmailClaim = ({ newcomer, ...claim }: EmailClaim): Statement =>
  sql`insert into email_claims (token_hash, email, user_id, password_hash, terms_version, expires_at)
      values (${claim.tokenHash}, ${claim.email}, ${claim.userId}, ${newcomer?.passwordHash ?? null},
        ${newcomer?.termsVersion ?? null}, ${claim.expiresAt})`;

/** Null: used, expired or unknown. */
export async function findEmailClaim(db: Db, tokenHash: string, now: Timestamp): Promise<EmailClaim | null> {
  const row = await db.get<{
    token_hash: string;
    email: string;
    user_id: UserId;
    password_hash: string | null;
    terms_version: string | null;
    expires_at: Timestamp;
  }>(sql`select * from email_claims where token_hash = ${tokenHash} and expires_at > ${now}`);
  return row
    ? {
        tokenHash: row.token_hash,
        email: row.email,
        userId: row.user_id,
        newcomer:
          row.password_hash === null
            ? null
            : { passwordHash: row.password_hash, termsVersion: row.terms_version },
        expiresAt: row.expires_at,
      }
    : null;
}

/** Guarded by `claim`. All other links to the address are used up with this one. */
export const useEmailClaim = ({ tokenHash, email }: EmailClaim): Statement[] => [
  must('claim', sql`delete from email_claims where token_hash = ${tokenHash}`),
  sql`delete from email_claims where email = ${email}`,
];

/** Guarded by `unverified`. */
export const markVerified = (user: UserId): Statement =>
  must(
    'unverified',
    sql`update users set email_verified = ${true} where id = ${user} and email_verified = ${false}`,
  );

/**
 * Guarded by `unverified`. The user stays as a name for what is in the records, with an address that can be nobody's:
 * nobody gets in, and no webhook is answered. Groups go, and accounts with their protections, but for
 * those with something under way, which ends first.
 */
export const vacateAddress = (user: UserId, now: Timestamp): Statement[] => [
  must(
    'unverified',
    sql`update users set email = ${`${user}@gone.invalid`}, password_hash = ${''}, is_active = ${false}
        where id = ${user} and email_verified = ${false} and is_active = ${true}`,
  ),
  sql`update trading_accounts set deleted_at = ${now}, connection_version = connection_version + 1
      where user_id = ${user} and deleted_at is null
        and not exists (select 1 from order_history o
          where o.trading_account_id = trading_accounts.id and o.status in ('queued', 'executing'))
        and not exists (select 1 from fill_checks c join order_history o on o.order_id = c.order_id
          where o.trading_account_id = trading_accounts.id and c.state in ('scheduled', 'running'))`,
  leaveProtectionsOfDeleted(ACCOUNT_DELETED, now, user),
  ...deleteGroups(user),
];
