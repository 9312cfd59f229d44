// Ways in, made without the login routes: sessions and keys in every state, for the tests of who may do what.

import { randomUUIDv7 } from 'node:crypto';
import { createTokens, hashToken } from '../../src/app/identity/tokens.ts';
import { randomToken } from '../../src/app/secret-box.ts';
import { type Db, sql } from '../../src/data/engine/db.ts';
import { insertApiKey } from '../../src/data/identity/api-keys.ts';
import { insertRefreshToken } from '../../src/data/identity/sessions.ts';
import type { User } from '../../src/data/identity/users.ts';
import { type SessionId, timestamp } from '../../src/domain/ids.ts';

const JWT_SECRET = 'the tests sign with this secret of 32 characters and more';

/** The service signs with the key that the tests sign with. */
export const SIGNED = { JWT_SECRET };

const ACCESS_MS = 30 * 60_000;
const REFRESH_MS = 30 * 86_400_000;

export type Headers = Record<string, string>;

interface Place {
  readonly clock: { now(): number };
  readonly db: Pick<Db, 'commit'>;
}

export interface TestSession {
  readonly id: SessionId;
  readonly token: string;
  readonly csrf: string;
  /** By cookie, with the CSRF token. */
  readonly cookie: Headers;
  /** By header, with the CSRF token. */
  readonly bearer: Headers;
}

export async function makeSession(
  world: Place,
  { id: userId }: Pick<User, 'id'>,
  { isActive = true, lifetimeMs = ACCESS_MS } = {},
): Promise<TestSession> {
  const id = randomUUIDv7() as SessionId;
  const csrf = randomToken();
  const now = world.clock.now();
  const expiresAt = timestamp(now + REFRESH_MS);
  await world.db.commit([
    sql`insert into user_sessions (id, user_id, csrf_token, ip_address, user_agent, created_at, is_active)
        values (${id}, ${userId}, ${csrf}, '127.0.0.1', 'test', ${timestamp(now)}, ${isActive})`,
    insertRefreshToken({ tokenHash: hashToken(randomToken()), sessionId: id, expiresAt }),
  ]);
  const tokens = createTokens({ secret: JWT_SECRET, clock: world.clock });
  const token = tokens.issue('access', { user: userId, session: id }, lifetimeMs);
  const proof = { 'x-csrf-token': csrf };
  return {
    id,
    token,
    csrf,
    cookie: { cookie: `access_token=${token}`, ...proof },
    bearer: { authorization: `Bearer ${token}`, ...proof },
  };
}

export async function makeApiKey(
  world: Place,
  { id: userId }: Pick<User, 'id'>,
  { expiresInMs = null }: { expiresInMs?: number | null } = {},
): Promise<{ id: string; key: string; headers: Headers }> {
  const key = randomToken();
  const id = randomUUIDv7();
  const now = world.clock.now();
  await world.db.commit([
    insertApiKey({
      id,
      userId,
      name: 'test',
      keyHash: hashToken(key),
      expiresAt: expiresInMs === null ? null : timestamp(now + expiresInMs),
      createdAt: timestamp(now),
    }),
  ]);
  return { id, key, headers: { authorization: `Bearer ${key}` } };
}
