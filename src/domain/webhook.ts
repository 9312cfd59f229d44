// Levels 2 to 4 of the webhook's validation, as pure functions.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { UserId } from './ids.ts';
import type { Signal } from './signal.ts';

/** Level 2: the signal's age, in either direction, must be below the account's limit. */
export function isFresh(signalTime: number, now: number, maxRequestAgeSeconds: number): boolean {
  return Math.abs(now - signalTime) < maxRequestAgeSeconds * 1000;
}

/** Level 3. Hashed first, so that the time taken tells nothing, not even the secret's length. */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(sha256(given), sha256(expected));
}

/**
 * Level 4: which request this is. The quantity stands in its shortest form (1, 1.0 and "1" are one), the rest as
 * received. Without a timestamp (simulation only) no two signals are the same: null.
 */
export function fingerprint(userId: UserId, signal: Signal): string | null {
  if (signal.timestamp === null) return null;
  const { action, symbol, timestamp, secret } = signal.asReceived;
  const identity = `${userId}:${action}:${symbol}:${signal.quantity}:${timestamp}:${secret}`;
  return sha256(identity).toString('hex').slice(0, 32);
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
