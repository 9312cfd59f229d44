// API keys: only the SHA-256 of a key is ever stored.

import type { Timestamp, UserId } from '../domain/ids.ts';
import { type Db, type Statement, sql } from './db.ts';
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

export function touchApiKey(keyId: string, now: Timestamp): Statement {
  return sql`update api_keys set last_used_at = ${now} where id = ${keyId}`;
}
