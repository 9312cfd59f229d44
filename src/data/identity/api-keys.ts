// API keys: only the SHA-256 of a key is ever stored.

import type { Timestamp, UserId } from '../../domain/ids.ts';
import { type Db, join, must, type Reads, type Statement, sql } from '../engine/db.ts';
import { toUser, type User, type UserRow } from './users.ts';

export interface ApiKey {
  readonly id: string;
  readonly userId: UserId;
  readonly name: string;
  readonly keyHash: string;
  readonly expiresAt: Timestamp | null;
  readonly createdAt: Timestamp;
}

export function insertApiKey(key: ApiKey): Statement {
  return sql`insert into api_keys (id, user_id, name, key_hash, expires_at, created_at)
    values (${key.id}, ${key.userId}, ${key.name}, ${key.keyHash}, ${key.expiresAt}, ${key.createdAt})`;
}

/** The owner of a key that is neither revoked nor expired. */
export async function ownerOfApiKey(
  db: Db,
  keyHash: string,
  now: Timestamp,
): Promise<{ keyId: string; user: User } | null> {
  const row = await db.get<UserRow & { key_id: string }>(
    sql`select k.id as key_id, u.* from api_keys k join users u on u.id = k.user_id
        where k.key_hash = ${keyHash} and k.revoked_at is null and (k.expires_at is null or k.expires_at > ${now})`,
  );
  return row ? { keyId: row.key_id, user: toUser(row) } : null;
}

/** Neither revoked nor expired, and of a user who is active. */
export async function isApiKeyGood(db: Reads, id: string, now: Timestamp): Promise<boolean> {
  const row = await db.get(
    sql`select k.id from api_keys k join users u on u.id = k.user_id
        where k.id = ${id} and k.revoked_at is null and (k.expires_at is null or k.expires_at > ${now})
          and u.is_active = ${true}`,
  );
  return row !== undefined;
}

/** What its owner sees of a key. Expired ones too: revoked ones are gone. */
export interface ListedApiKey {
  readonly id: string;
  readonly name: string;
  readonly expiresAt: Timestamp | null;
  readonly lastUsedAt: Timestamp | null;
  readonly createdAt: Timestamp;
}

/** Oldest first; `after` is the last key of the page before. */
export async function listApiKeys(
  db: Reads,
  user: UserId,
  { after, limit }: { after: string | null; limit: number },
): Promise<ListedApiKey[]> {
  const conditions = [sql`where user_id = ${user}`, sql`revoked_at is null`];
  if (after) conditions.push(sql`id > ${after}`);
  const rows = await db.all<{
    id: string;
    name: string;
    expires_at: Timestamp | null;
    last_used_at: Timestamp | null;
    created_at: Timestamp;
  }>(
    join(
      [
        sql`select id, name, expires_at, last_used_at, created_at from api_keys`,
        join(conditions, ' and '),
        sql`order by id limit ${limit}`,
      ],
      ' ',
    ),
  );
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    createdAt: row.created_at,
  }));
}

/** Guarded by `found`. */
export const revokeApiKey = (user: UserId, id: string, now: Timestamp): Statement =>
  must(
    'found',
    sql`update api_keys set revoked_at = ${now} where id = ${id} and user_id = ${user} and revoked_at is null`,
  );

export function touchApiKey(keyId: string, now: Timestamp): Statement {
  return sql`update api_keys set last_used_at = ${now} where id = ${keyId}`;
}
