// How long to wait before a position is looked after again, where its broker or our own database did not answer.

import { BrokerBusy, type BrokerUnavailable, CredentialsRejected } from '../../broker/broker.ts';
import type { Protection } from '../../domain/protection/protection.ts';
import { AFTER_MS, currentErrand } from '../line/errand.ts';

/** Twice as long each time. */
export const FIRST_RETRY_MS = 1_000;
export const LONGEST_RETRY_MS = 15_000;
/** While a position has no stop. */
const LONGEST_BARE_RETRY_MS = 2_000;
/** A broker that limits its rate may name no time, or one that has passed. */
const SHORTEST_BUSY_MS = 100;

export interface Failed {
  readonly protection: Protection;
  readonly fault: BrokerUnavailable;
  /** The next sweep looks after it in any case. */
  readonly sweepMs: number;
}

/** Of each of those that may fail: how often they have, in a row. */
export function createRetries<Key>() {
  const failures = new Map<Key, number>();

  function after(key: Key, longestMs: number): number {
    const times = failures.get(key) ?? 0;
    failures.set(key, times + 1);
    return Math.min(longestMs, FIRST_RETRY_MS * 2 ** times);
  }

  return {
    after,
    /** A busy broker says when it may be asked again, and refused credentials wait for somebody to change them. */
    afterFault(key: Key, { protection, fault, sweepMs }: Failed): number {
      const longestMs = protection.state === 'standing' ? LONGEST_RETRY_MS : LONGEST_BARE_RETRY_MS;
      const againMs = after(key, longestMs);
      if (fault instanceof CredentialsRejected) return sweepMs;
      if (!(fault instanceof BrokerBusy)) return Math.min(againMs, sweepMs);
      const busyMs = Math.max(SHORTEST_BUSY_MS, fault.retryAfterMs);
      return Math.min(busyMs + AFTER_MS[currentErrand()], sweepMs);
    },
    over(key: Key): void {
      failures.delete(key);
    },
  };
}
