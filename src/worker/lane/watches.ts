// How long something is watched, and how long a process stood still.

import { UNWATCHED, type Watch } from '../../domain/orders/step.ts';

/** Counts by the clock that never jumps and by what was waited, whichever is more. */
export function stopwatch() {
  let begun = performance.now();
  let waitedMs = 0;
  let looks = 0;
  return {
    begin(): void {
      begun = performance.now();
      waitedMs = 0;
      looks = 0;
    },
    pass(ms: number): void {
      waitedMs += ms;
    },
    looked(): void {
      looks++;
    },
    read: (): Watch =>
      looks === 0 && waitedMs === 0
        ? UNWATCHED
        : { looks, ms: Math.max(waitedMs, performance.now() - begun) },
  };
}

/** By both clocks: one stands still while a machine sleeps, the other can be set back. */
export function pauseSince(now: () => number): () => number {
  const [wall, steady] = [now(), performance.now()];
  return () => Math.max(now() - wall, performance.now() - steady);
}

/** The clock, which a machine that sleeps or a test may have stand still, and at least as much time as has passed. */
export function livelyClock(clock: { now(): number }): () => number {
  const [begun, steady] = [clock.now(), performance.now()];
  return () => Math.max(clock.now(), begun + performance.now() - steady);
}
