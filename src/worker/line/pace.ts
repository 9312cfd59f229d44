// A few at once, and then one per interval: what was not used is saved up, to as many as may come at once.

export interface Pace {
  /** Until the next one may come; 0: now. */
  waitMs(now: number): number;
  /** One comes. */
  take(now: number): void;
}

export function createPace({ burst, paceMs }: { readonly burst: number; readonly paceMs: number }): Pace {
  /** At one per interval, all that have come would have been due by then. */
  let paidUntil = Number.NEGATIVE_INFINITY;
  return {
    waitMs: (now) => Math.max(0, paidUntil - (burst - 1) * paceMs - now),
    take(now) {
      paidUntil = Math.max(paidUntil, now) + paceMs;
    },
  };
}
