// Levels 2 to 4 of the webhook's validation, as pure functions.

import { hash } from 'node:crypto';
import type { UserId } from '../ids.ts';
import type { Proof, Signal } from './signal.ts';

/** Level 2: the signal's age, in either direction, must be below the account's limit. */
export function isFresh(signalTime: number, now: number, maxRequestAgeSeconds: number): boolean {
  return Math.abs(now - signalTime) < maxRequestAgeSeconds * 1000;
}

/**
 * Levels 2 and 3 in one, for the counting of requests: those that carry the account's secret and a fresh timestamp are
 * the owner's, and nobody who knows only the URL can use up their number.
 */
export const isGenuine = (
  { timestamp, digest }: Proof,
  now: number,
  { maxRequestAge, isSecret }: { maxRequestAge: number; isSecret: (digest: Uint8Array) => boolean },
): boolean =>
  timestamp !== null && isFresh(timestamp, now, maxRequestAge) && digest !== null && isSecret(digest);

/**
 * Level 4: which request this is. The quantity stands in its shortest form (1, 1.0 and "1" are one), the rest as
 * received; what a `protect` asks for in its one form. Without a timestamp (simulation only) no two signals are the same: null.
 */
export function fingerprint(userId: UserId, signal: Signal): string | null {
  if (signal.timestamp === null) return null;
  const { action, symbol, timestamp, secret, apart, moves } = signal.asReceived;
  const identity = `${userId}:${action}:${symbol}:${signal.quantity}:${timestamp}:${secret}`;
  const more = apart === null ? '' : `:${apart.id}:${apart.side}:${apart.size}`;
  const moved = moves === null ? '' : `:${moves}`;
  return hash('sha256', identity + more + moved).slice(0, 32);
}

/**
 * For how long a signal is remembered: as long as it would still be fresh, and longer for one from the future, but no
 * time that a sender could choose. In earnest none is fresh for longer than that.
 */
export function memoryMs(signal: Signal, now: number, maxRequestAgeSeconds: number): number {
  const ageMs = maxRequestAgeSeconds * 1000;
  const ahead = Math.max(0, (signal.timestamp ?? now) - now);
  return ageMs + Math.min(ahead, ageMs);
}
