// Argon2 takes a core and 19 MB for every password, on purpose. So few are worked on at once, whatever is asked for: those
// who trade keep a core, and nobody waits behind more than a handful. Who comes beyond that is told to come back.

import { availableParallelism } from 'node:os';
import { type Denial, deny } from '../../domain/denial.ts';

export interface Turns {
  /** Does the work when its turn comes, or refuses it at once. */
  take<Result>(work: () => Promise<Result>): Promise<Result | Denial>;
}

/** One core, and one of the platform's four threads, are for everybody else. */
const AT_ONCE = Math.max(1, Math.min(3, availableParallelism() - 1));
/** Behind each of them: less than a second. */
const WAITING = 16;

export function createTurns({ atOnce, waiting } = { atOnce: AT_ONCE, waiting: AT_ONCE * WAITING }): Turns {
  const queue: (() => void)[] = [];
  let free = atOnce;
  return {
    async take(work) {
      if (free > 0) free--;
      else if (queue.length >= waiting) return deny('passwords_busy', { retryAfter: 1 });
      else await new Promise<void>((resolve) => queue.push(resolve));
      try {
        return await work();
      } finally {
        // The turn is handed on; it is free only where nobody waits.
        const next = queue.shift();
        if (next) next();
        else free++;
      }
    },
  };
}
