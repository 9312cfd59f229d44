// Users, what they have accepted and from where they may act.

import type { Timestamp, UserId } from '../domain/ids.ts';
import { type Db, type Statement, sql } from './db.ts';

export interface User {
  readonly id: UserId;
  readonly email: string;
  readonly isAdmin: boolean;
  readonly isActive: boolean;
  readonly plan: string;
  readonly planExpiresAt: Timestamp | null;
  readonly termsVersion: string | null;
}

export interface UserRow {
  id: UserId;
  email: string;
  is_admin: number | boolean;
  is_active: number | boolean;
  plan: string;
  plan_expires_at: Timestamp | null;
  terms_version: string | null;
}

export const toUser = (row: UserRow): User => ({
  id: row.id,
  email: row.email,
  isAdmin: Boolean(row.is_admin),
  isActive: Boolean(row.is_active),
  plan: row.plan,
  planExpiresAt: row.plan_expires_at,
  termsVersion: row.terms_version,
});

export function insertUser(user: User, passwordHash: string, now: Timestamp): Statement {
  return sql`insert into users (id, email, password_hash, is_admin, is_active, plan, plan_expires_at, terms_version,
      terms_accepted_at, created_at)
    values (${user.id}, ${user.email}, ${passwordHash}, ${user.isAdmin}, ${user.isActive}, ${user.plan},
      ${user.planExpiresAt}, ${user.termsVersion}, ${user.termsVersion === null ? null : now}, ${now})`;
}

export async function hasUsers(db: Db): Promise<boolean> {
  return (await db.get(sql`select id from users limit 1`)) !== undefined;
}

/** Addresses and CIDR blocks; empty: the user may act from anywhere. */
export async function allowedIps(db: Db, user: UserId): Promise<string[]> {
  const rows = await db.all<{ ip_address: string }>(
    sql`select ip_address from user_allowed_ips where user_id = ${user}`,
  );
  return rows.map((row) => row.ip_address);
}

export interface Terms {
  readonly version: string;
  readonly text: string;
  readonly published_at: Timestamp;
}

export async function currentTerms(db: Db): Promise<Terms | null> {
  const terms = await db.get<Terms>(
    sql`select version, text, published_at from terms order by published_at desc, version desc limit 1`,
  );
  return terms ?? null;
}

export async function currentTermsVersion(db: Db): Promise<string | null> {
  const row = await db.get<{ version: string }>(
    sql`select version from terms order by published_at desc, version desc limit 1`,
  );
  return row?.version ?? null;
}

export function insertTerms(terms: Terms): Statement {
  return sql`insert into terms (version, text, published_at)
    values (${terms.version}, ${terms.text}, ${terms.published_at})`;
}
