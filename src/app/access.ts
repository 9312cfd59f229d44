// Who may act, how often and from where. The same checks stand before the webhook and the trading routes.

import { createHash } from 'node:crypto';
import { ownerOfApiKey, touchApiKey } from '../data/api-keys.ts';
import type { Db } from '../data/db.ts';
import { allowedIps, type User } from '../data/users.ts';

export type { User };

import { type Denial, deny } from '../domain/denial.ts';
import { timestamp, type UserId } from '../domain/ids.ts';
import type { Store } from '../store/store.ts';
import { ipList } from './ip-list.ts';

export interface RateLimit {
  readonly requests: number;
  readonly windowMs: number;
}

interface RateDeps {
  readonly store: Pick<Store, 'countInWindow'>;
  readonly rateLimit: RateLimit;
  readonly log: { warn(context: object, text: string): void };
}

/** Fails open, as the spec says: a store that does not answer must not stop anybody from trading. */
export async function checkRate({ store, rateLimit, log }: RateDeps, user: UserId): Promise<Denial | null> {
  try {
    const { allowed, retryAfterMs } = await store.countInWindow(
      `rate:{${user}}`,
      rateLimit.requests,
      rateLimit.windowMs,
    );
    return allowed ? null : deny('rate_limited', { retryAfter: Math.max(1, Math.ceil(retryAfterMs / 1000)) });
  } catch (fault) {
    log.warn({ fault, user }, 'the rate limiter fails open: the store does not answer');
    return null;
  }
}

export async function isAllowedIp({ db }: { db: Db }, user: UserId, ip: string): Promise<boolean> {
  const allowed = await allowedIps(db, user);
  return allowed.length === 0 || ipList(allowed).has(ip);
}

export const hashApiKey = (key: string): string => createHash('sha256').update(key).digest('hex');

/** The user behind an API key; null where the key is unknown, revoked or expired. */
export async function authenticateApiKey(
  { db, clock }: { db: Db; clock: { now(): number } },
  key: string,
): Promise<User | null> {
  const now = timestamp(clock.now());
  const owner = await ownerOfApiKey(db, hashApiKey(key), now);
  if (!owner) return null;
  await db.commit([touchApiKey(owner.keyId, now)]);
  return owner.user;
}
