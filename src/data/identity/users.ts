// Users, what they have accepted and from where they may act.

import type { Timestamp, UserId } from '../../domain/ids.ts';
import { type Db, join, must, type Reads, type Statement, sql } from '../engine/db.ts';

export interface User {
  readonly id: UserId;
  readonly email: string;
  readonly isAdmin: boolean;
  readonly isActive: boolean;
  readonly plan: string;
  readonly planExpiresAt: Timestamp | null;
  readonly termsVersion: string | null;
  /** Shown to be the user's, by a link that was mailed to it. */
  readonly emailVerified: boolean;
}

export interface UserRow {
  id: UserId;
  email: string;
  is_admin: number | boolean;
  is_active: number | boolean;
  plan: string;
  plan_expires_at: Timestamp | null;
  terms_version: string | null;
  email_verified: number | boolean;
}

export const toUser = (row: UserRow): User => userOf(row.id, row);

/** Of a row that is not the user's alone. */
export const userOf = (id: UserId, row: Omit<UserRow, 'id'>): User => ({
  id,
  email: row.email,
  isAdmin: Boolean(row.is_admin),
  isActive: Boolean(row.is_active),
  plan: row.plan,
  planExpiresAt: row.plan_expires_at,
  termsVersion: row.terms_version,
  emailVerified: Boolean(row.email_verified),
});

/** What everybody has who has nothing else. */
const FREE = 'free';

/** Guarded by `email`: an address belongs to one user. */
export function insertUser(user: User, passwordHash: string, now: Timestamp): Statement {
  return must(
    'email',
    sql`insert into users (id, email, password_hash, is_admin, is_active, plan, plan_expires_at, terms_version,
          terms_accepted_at, created_at, had_plan, email_verified)
        values (${user.id}, ${user.email}, ${passwordHash}, ${user.isAdmin}, ${user.isActive}, ${user.plan},
          ${user.planExpiresAt}, ${user.termsVersion}, ${user.termsVersion === null ? null : now}, ${now},
          ${user.plan !== FREE}, ${user.emailVerified})
        on conflict (email) do nothing`,
  );
}

export async function findUserByEmail(db: Db, email: string): Promise<User | null> {
  const row = await db.get<UserRow>(sql`select * from users where email = ${email}`);
  return row ? toUser(row) : null;
}

/** Whether it is a user's who has not shown that it is. */
export async function isUnverified(db: Db, email: string): Promise<boolean> {
  const row = await db.get(sql`select id from users where email = ${email} and email_verified = ${false}`);
  return row !== undefined;
}

export async function hasAdmin(db: Db): Promise<boolean> {
  return (await db.get(sql`select id from users where is_admin = ${true} limit 1`)) !== undefined;
}

export async function adminEmails(db: Reads): Promise<string[]> {
  const rows = await db.all<{ email: string }>(
    sql`select email from users where is_admin = ${true} order by email`,
  );
  return rows.map(({ email }) => email);
}

/** Guarded by `first_admin`: of all that try at once, in any process, one is the first. */
export const claimFirstAdmin = (now: Timestamp): Statement =>
  must(
    'first_admin',
    sql`insert into once (what, done_at)
        select 'first_admin', ${now} where not exists (select 1 from users where is_admin = ${true})
        on conflict (what) do nothing`,
  );

export async function hasUsers(db: Db): Promise<boolean> {
  return (await db.get(sql`select id from users limit 1`)) !== undefined;
}

/** What an operator sees of a user. */
export interface UserRecord extends User {
  readonly termsAcceptedAt: Timestamp | null;
  readonly createdAt: Timestamp;
}

type UserRecordRow = UserRow & { terms_accepted_at: Timestamp | null; created_at: Timestamp };

const toUserRecord = (row: UserRecordRow): UserRecord => ({
  ...toUser(row),
  termsAcceptedAt: row.terms_accepted_at,
  createdAt: row.created_at,
});

export async function findUserRecord(db: Db, id: UserId): Promise<UserRecord | null> {
  const row = await db.get<UserRecordRow>(sql`select * from users where id = ${id}`);
  return row ? toUserRecord(row) : null;
}

/** Newest first; `email` is any part of an address, `after` the last user of the page before. */
export async function listUsers(
  db: Reads,
  { email, after, limit }: { email: string | null; after: UserId | null; limit: number },
): Promise<UserRecord[]> {
  const conditions = [sql`where true`];
  if (email !== null) {
    const part = email.toLowerCase().replace(/[!%_]/g, '!$&');
    conditions.push(sql`lower(email) like ${`%${part}%`} escape '!'`);
  }
  if (after) conditions.push(sql`id < ${after}`);
  const rows = await db.all<UserRecordRow>(
    join([sql`select * from users`, join(conditions, ' and '), sql`order by id desc limit ${limit}`], ' '),
  );
  return rows.map(toUserRecord);
}

export interface UserChange {
  readonly isActive?: boolean;
  readonly plan?: string;
  readonly planExpiresAt?: Timestamp | null;
}

/** At least one change. Guarded by `user`. */
export function changeUser(id: UserId, { isActive, plan, planExpiresAt }: UserChange): Statement {
  const changes = [
    ...(isActive === undefined ? [] : [sql`is_active = ${isActive}`]),
    ...(plan === undefined ? [] : [sql`plan = ${plan}`]),
    // A plan that is taken away has been there.
    ...(plan === FREE ? [sql`had_plan = (had_plan or plan <> 'free')`] : []),
    ...(plan === undefined || plan === FREE ? [] : [sql`had_plan = ${true}`]),
    ...(planExpiresAt === undefined ? [] : [sql`plan_expires_at = ${planExpiresAt}`]),
  ];
  return must('user', join([sql`update users set `, join(changes, ', '), sql` where id = ${id}`], ''));
}

/** Guarded by `acting`. It locks the row, so that two admins cannot deactivate each other at one moment. */
export const stillActingAdmin = (id: UserId): Statement =>
  must(
    'acting',
    sql`update users set is_active = ${true} where id = ${id} and is_active = ${true} and is_admin = ${true}`,
  );

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

export async function hasTerms(db: Db, version: string): Promise<boolean> {
  return (await db.get(sql`select version from terms where version = ${version}`)) !== undefined;
}

/** Guarded by `current`. The first acceptance of a version keeps its time. */
export const acceptTerms = (user: UserId, version: string, now: Timestamp): Statement =>
  must(
    'current',
    sql`update users set terms_version = ${version},
          terms_accepted_at = case when terms_version = ${version} then terms_accepted_at else ${now} end
        where id = ${user}
          and ${version} = (select version from terms order by published_at desc, version desc limit 1)`,
  );

/** Locks the row: of publications after it, one waits for the other and then sees it. */
export const holdTerms = (version: string): Statement =>
  sql`update terms set version = version where version = ${version}`;

/** Guarded by `current`: a version is published once, and is the newest by its time. */
export function insertTerms(terms: Terms): Statement {
  return must(
    'current',
    sql`insert into terms (version, text, published_at)
        select ${terms.version}, ${terms.text}, ${terms.published_at}
        where not exists (select 1 from terms where published_at >= ${terms.published_at})
        on conflict (version) do nothing`,
  );
}
