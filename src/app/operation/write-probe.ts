// Whether the database takes what is written: one that can only be read, on a full disk for one, accepts no order. Asked as
// often as anybody likes, it writes once a second at most.

import type { Db } from '../../data/engine/db.ts';
import { keepFact } from '../../data/engine/facts.ts';
import { timestamp } from '../../domain/ids.ts';

const EVERY_MS = 1_000;

export interface WriteProbe {
  /** Throws where the last write, which is at most a second old, was not made. */
  write(): Promise<void>;
}

export function createWriteProbe(
  { db, clock }: { readonly db: Db; readonly clock: { now(): number } },
  // Not the clock that may be set.
  ticking: { now(): number } = performance,
): WriteProbe {
  let last: { readonly at: number; readonly outcome: Promise<void> } | null = null;
  let isUnderWay = false;

  async function writeNow(): Promise<void> {
    isUnderWay = true;
    try {
      await db.commit([keepFact('last_probe', timestamp(clock.now()))]);
    } finally {
      isUnderWay = false;
    }
  }

  return {
    write() {
      const now = ticking.now();
      if (last === null || (!isUnderWay && now - last.at >= EVERY_MS))
        last = { at: now, outcome: writeNow() };
      return last.outcome;
    },
  };
}
