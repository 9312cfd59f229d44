// How long to wait before a position is looked after again, where its broker or our own database did not answer.

import type { Protection } from '../../domain/protection/protection.ts';

/** Twice as long each time. */
export const FIRST_RETRY_MS = 1_000;
export const LONGEST_RETRY_MS = 15_000;
/** While a position has no stop. */
const LONGEST_BARE_RETRY_MS = 2_000;

export const longestRetryMs = ({ state }: Protection): number =>
  state === 'standing' ? LONGEST_RETRY_MS : LONGEST_BARE_RETRY_MS;

/** Of each of those that may fail: how often they have, in a row. */
export function createRetries<Key>() {
  const failures = new Map<Key, number>();
  return {
    after(key: Key, longestMs: number): number {
      const times = failures.get(key) ?? 0;
      failures.set(key, times + 1);
      return Math.min(longestMs, FIRST_RETRY_MS * 2 ** times);
    },
    over(key: Key): void {
      failures.delete(key);
    },
  };
}
