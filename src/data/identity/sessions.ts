// Sessions and their refresh tokens.

import type { SessionId, Timestamp, UserId } from '../../domain/ids.ts';
import { type Db, join, must, type Reads, type Statement, sql } from '../engine/db.ts';
import { toUser, type User, type UserRow } from './users.ts';

export interface Session {
  readonly id: SessionId;
  readonly userId: UserId;
  readonly csrfToken: string;
  readonly ipAddress: string;
  readonly userAgent: string;
  readonly createdAt: Timestamp;
  readonly isActive: boolean;
}

interface SessionRow {
  id: SessionId;
  user_id: UserId;
  csrf_token: string;
  ip_address: string;
  user_agent: string;
  created_at: Timestamp;
  is_active: number | boolean;
}

const toSession = (row: SessionRow): Session => ({
  id: row.id,
  userId: row.user_id,
  csrfToken: row.csrf_token,
  ipAddress: row.ip_address,
  userAgent: row.user_agent,
  createdAt: row.created_at,
  isActive: Boolean(row.is_active),
});

/** Guarded by `credentials`: a password that was changed since it was verified, or of a deactivated user, opens nothing. */
export function insertSession(session: Session, passwordHash: string): Statement {
  return must(
    'credentials',
    sql`insert into user_sessions (id, user_id, csrf_token, ip_address, user_agent, created_at, is_active)
        select ${session.id}, ${session.userId}, ${session.csrfToken}, ${session.ipAddress}, ${session.userAgent},
          ${session.createdAt}, ${session.isActive}
        from users where id = ${session.userId} and password_hash = ${passwordHash} and is_active = ${true}`,
  );
}

/** Read on every authenticated request: a revocation holds from the very next one. */
export async function findSession(db: Db, id: SessionId): Promise<{ session: Session; user: User } | null> {
  const row = await db.get<
    SessionRow & Omit<UserRow, 'id' | 'is_active'> & { is_user_active: number | boolean }
  >(
    sql`select s.*, u.email, u.is_admin, u.is_active as is_user_active, u.plan, u.plan_expires_at, u.terms_version, u.email_verified
        from user_sessions s join users u on u.id = s.user_id where s.id = ${id}`,
  );
  if (!row) return null;
  return {
    session: toSession(row),
    user: toUser({ ...row, id: row.user_id, is_active: row.is_user_active }),
  };
}

/** Newest first; only those that can still be used or refreshed. `before` is the last one of the page before. */
export async function liveSessions(
  db: Reads,
  user: UserId,
  { before, limit, now }: { before: SessionId | null; limit: number; now: Timestamp },
): Promise<Session[]> {
  const conditions = [
    sql`user_id = ${user} and is_active = ${true}
        and exists (select 1 from refresh_tokens r where r.session_id = s.id and r.expires_at > ${now})`,
    ...(before ? [sql`id < ${before}`] : []),
  ];
  const rows = await db.all<SessionRow>(
    join(
      [
        sql`select s.* from user_sessions s where `,
        join(conditions, ' and '),
        sql` order by id desc limit ${limit}`,
      ],
      '',
    ),
  );
  return rows.map(toSession);
}

/** It can be used or refreshed, by a user who is active. */
export async function isSessionLive(db: Reads, id: SessionId, now: Timestamp): Promise<boolean> {
  const row = await db.get(
    sql`select s.id from user_sessions s join users u on u.id = s.user_id
        where s.id = ${id} and s.is_active = ${true} and u.is_active = ${true}
          and exists (select 1 from refresh_tokens r where r.session_id = s.id and r.expires_at > ${now})`,
  );
  return row !== undefined;
}

/** Guarded by `session`: what outlives a session is made while it is open. Whoever ends it comes before, and is seen, or after. */
export const sessionHolds = (id: SessionId): Statement =>
  must('session', sql`select 1 from user_sessions where id = ${id} and is_active = ${true}`);

/** Guarded by `active`: nobody revokes what is another's. */
export const revokeOwnSession = (id: SessionId, user: UserId): Statement =>
  must(
    'active',
    sql`update user_sessions set is_active = ${false}
        where id = ${id} and user_id = ${user} and is_active = ${true}`,
  );

/** Guarded by `active`. */
export const revokeSession = (id: SessionId): Statement =>
  must('active', sql`update user_sessions set is_active = ${false} where id = ${id} and is_active = ${true}`);

export const revokeAllSessions = (): Statement =>
  sql`update user_sessions set is_active = ${false} where is_active = ${true}`;

export const revokeOtherSessions = (user: UserId, kept: SessionId): Statement =>
  sql`update user_sessions set is_active = ${false}
      where user_id = ${user} and id <> ${kept} and is_active = ${true}`;

export interface RefreshToken {
  readonly tokenHash: string;
  readonly sessionId: SessionId;
  readonly expiresAt: Timestamp;
  readonly usedAt: Timestamp | null;
}

export function insertRefreshToken({
  tokenHash,
  sessionId,
  expiresAt,
}: Omit<RefreshToken, 'usedAt'>): Statement {
  return sql`insert into refresh_tokens (token_hash, session_id, expires_at)
    values (${tokenHash}, ${sessionId}, ${expiresAt})`;
}

export async function findRefreshToken(db: Db, tokenHash: string): Promise<RefreshToken | null> {
  const row = await db.get<{ session_id: SessionId; expires_at: Timestamp; used_at: Timestamp | null }>(
    sql`select session_id, expires_at, used_at from refresh_tokens where token_hash = ${tokenHash}`,
  );
  return row
    ? { tokenHash, sessionId: row.session_id, expiresAt: row.expires_at, usedAt: row.used_at }
    : null;
}

/** Guarded by `unused`: of any number of parallel refreshes with one token, one wins. */
export const useRefreshToken = (tokenHash: string, now: Timestamp): Statement =>
  must(
    'unused',
    sql`update refresh_tokens set used_at = ${now} where token_hash = ${tokenHash} and used_at is null`,
  );

/** What has expired tells nothing any more: no token that old is believed. */
export const forgetExpiredRefreshTokens = (session: SessionId, now: Timestamp): Statement =>
  sql`delete from refresh_tokens where session_id = ${session} and expires_at <= ${now}`;
