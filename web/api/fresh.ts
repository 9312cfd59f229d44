// Whether an answer still stands for what is so now. Brokers hang, tabs are hidden and networks go away, and the last answer
// stays on the page: what is decided by it, with money, needs a young one.

/** A little more than from one question to the next, and the time that a broker takes. */
const FRESH_MS = 15_000;
/** How often is asked what somebody is about to decide by. */
export const ASK_AGAIN_MS = 10_000;

interface Answer {
  readonly isSuccess: boolean;
  /** By this machine's clock, as the queries note it. */
  readonly dataUpdatedAt: number;
}

/** The last question was answered, and not long ago. A clock that was set back makes nothing young. */
export function isFresh({ isSuccess, dataUpdatedAt }: Answer, now = Date.now()): boolean {
  const age = now - dataUpdatedAt;
  return isSuccess && age >= 0 && age < FRESH_MS;
}
