// When a position that is to be protected counts as one that nobody looks after.

import { type Timestamp, timestamp } from '../ids.ts';

export interface Attending {
  /** So long a stop that is refused is tried, until the position counts as unprotected. */
  readonly protectMs: number;
  readonly protectionSweepMs: number;
}

/** For another host to find out that one has died, and to take its users. */
const FOLLOWED_MS = 30_000;

/** Whoever looks after a position without a stop would have looked since then, and told what became of the stop. */
export const unattendedAt = (now: number, { protectMs, protectionSweepMs }: Attending): Timestamp =>
  timestamp(now - Math.max(protectMs + FOLLOWED_MS, 2 * protectionSweepMs));
