// A broker that says "busy" is not asked again before the time it gave, by nobody whom it counts together: one gate for
// all their connections in this process.

export interface Gate {
  /** Until the broker takes calls again; 0: it does. */
  busyMs(): number;
  /** The broker has said so. */
  close(ms: number): void;
}

export type Gates = (limits: string) => Gate;

/** A delay that is no number. */
const UNSAID_MS = 1_000;
/** Nobody is shut out for longer by one answer, whatever it says. */
const LONGEST_MS = 15 * 60_000;
export function createGates(now: () => number = () => performance.now()): Gates {
  const openAt = new Map<string, number>();
  return (limits) => ({
    busyMs() {
      const left = Math.ceil((openAt.get(limits) ?? 0) - now());
      if (left <= 0) openAt.delete(limits);
      return Math.max(0, left);
    },
    close(ms) {
      const until = now() + Math.min(Math.max(Number.isFinite(ms) ? ms : UNSAID_MS, 0), LONGEST_MS);
      openAt.set(limits, Math.max(until, openAt.get(limits) ?? 0));
    },
  });
}
