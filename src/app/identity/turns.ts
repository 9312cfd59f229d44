// Argon2 takes a core and 19 MB for every password, on purpose. So few are worked on at once, whatever is asked for: those
// who trade keep a core, and nobody waits behind more than a handful. Each who asks has a line of their own, and the lines
// take turns: who asks again and again waits behind themselves. Where there is no room left the longest line gives way.

import { availableParallelism } from 'node:os';
import { type Denial, deny } from '../../domain/denial.ts';

export interface Turns {
  /** Does the work when its turn comes, or refuses it. `who`: a user who is logged in, or a stranger's address. */
  take<Result>(who: string, work: () => Promise<Result>): Promise<Result | Denial>;
}

/** One core, and one of the platform's four threads, are for everybody else. */
const AT_ONCE = Math.max(1, Math.min(3, availableParallelism() - 1));
/** Behind each of them: less than a second. */
const WAITING = 16;

/** Called with whether its turn has come; else it is refused. */
type Waiter = (isTurn: boolean) => void;

export function createTurns({ atOnce, waiting } = { atOnce: AT_ONCE, waiting: AT_ONCE * WAITING }): Turns {
  /** In the order in which they come next. */
  const lines = new Map<string, Waiter[]>();
  let inLine = 0;
  let free = atOnce;

  function queueUp(who: string, waiter: Waiter): void {
    const own = lines.get(who) ?? [];
    if (inLine >= waiting) {
      const longest = [...lines.values()].reduce((a, b) => (b.length > a.length ? b : a), own);
      if (longest.length <= own.length + 1) {
        waiter(false);
        return;
      }
      longest.pop()?.(false);
      inLine--;
    }
    own.push(waiter);
    inLine++;
    lines.set(who, own);
  }

  function next(): Waiter | undefined {
    const [first] = lines;
    if (!first) return undefined;
    const [who, line] = first;
    const waiter = line.shift();
    inLine--;
    // To the end of all lines, whatever of it is left.
    lines.delete(who);
    if (line.length > 0) lines.set(who, line);
    return waiter;
  }

  return {
    async take(who, work) {
      if (free > 0) free--;
      else if (!(await new Promise<boolean>((resolve) => queueUp(who, resolve))))
        return deny('passwords_busy', { retryAfter: 1 });
      try {
        return await work();
      } finally {
        // The turn is handed on; it is free only where nobody waits.
        const waiter = next();
        if (waiter) waiter(true);
        else free++;
      }
    },
  };
}
