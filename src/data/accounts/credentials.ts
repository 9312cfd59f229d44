// What a user proves to be the user with: the password, and the links by which it is set anew.

import type { Timestamp, UserId } from '../../domain/ids.ts';
import { type Db, must, type Statement, sql } from '../engine/db.ts';
import { toUser, type User, type UserRow } from '../identity/users.ts';

export interface UserCredentials {
  readonly user: User;
  readonly passwordHash: string;
  /** When everything that opened this user's doors was last ended; null: never. */
  readonly securedAt: Timestamp | null;
}

type CredentialsRow = UserRow & { password_hash: string; secured_at: Timestamp | null };

const toCredentials = (row: CredentialsRow | undefined): UserCredentials | null =>
  row ? { user: toUser(row), passwordHash: row.password_hash, securedAt: row.secured_at } : null;

export const credentialsByEmail = async (db: Db, email: string): Promise<UserCredentials | null> =>
  toCredentials(await db.get<CredentialsRow>(sql`select * from users where email = ${email}`));

export const credentialsOf = async (db: Db, user: UserId): Promise<UserCredentials | null> =>
  toCredentials(await db.get<CredentialsRow>(sql`select * from users where id = ${user}`));

export const setPassword = (user: UserId, passwordHash: string): Statement =>
  sql`update users set password_hash = ${passwordHash} where id = ${user}`;

/** Compared and set: of two that change it at once, one does. */
export const changePasswordFrom = (user: UserId, from: string, to: string): Statement =>
  must(
    'password',
    sql`update users set password_hash = ${to} where id = ${user} and password_hash = ${from}`,
  );

export function insertPasswordReset(reset: {
  readonly tokenHash: string;
  readonly userId: UserId;
  readonly expiresAt: Timestamp;
}): Statement {
  return sql`insert into password_resets (token_hash, user_id, expires_at)
    values (${reset.tokenHash}, ${reset.userId}, ${reset.expiresAt})`;
}

/** Whose password a token may set; null for a token that is used, expired or unknown, or of a deactivated user. */
export async function userOfPasswordReset(db: Db, tokenHash: string, now: Timestamp): Promise<User | null> {
  const row = await db.get<UserRow>(
    sql`select u.* from password_resets r join users u on u.id = r.user_id
        where r.token_hash = ${tokenHash} and r.used_at is null and r.expires_at > ${now} and u.is_active = ${true}`,
  );
  return row ? toUser(row) : null;
}

/** Guarded by `reset_unused`. Whatever other links the user has are used up with this one. */
export const usePasswordReset = (tokenHash: string, user: UserId, now: Timestamp): Statement[] => [
  must(
    'reset_unused',
    sql`update password_resets set used_at = ${now}
        where token_hash = ${tokenHash} and used_at is null and expires_at > ${now}`,
  ),
  useUpPasswordResets(user, now),
];

export const useUpPasswordResets = (user: UserId, now: Timestamp): Statement =>
  sql`update password_resets set used_at = ${now} where user_id = ${user} and used_at is null`;
