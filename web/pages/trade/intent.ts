// One intent, one order. A press has its key, and the key stays until an answer came: who presses again because the network
// was away asks for the same order, and gets the first one's answer. Another order, or the same one on purpose after an
// answer, has another key. It outlives the drawer and a reload, but not its use: see LIFE_MS.

import type { Problem } from '../../api/problem.ts';
import { sameWish, type Wish } from './wish.ts';

export interface Intent {
  /** Whose it is: a tab outlives a login. */
  readonly userId: string;
  readonly wish: Wish;
  readonly key: string;
  /** Of the first press, epoch milliseconds. */
  readonly pressedAt: number;
}

/** What the browser keeps for one tab. */
export interface Keep {
  getItem(name: string): string | null;
  setItem(name: string, text: string): void;
  removeItem(name: string): void;
}

const NAME = 'fillpath.unanswered-order';
/** An order that was accepted has ended by then; what it did stands in the list. */
const LIFE_MS = 10 * 60_000;

interface Who {
  readonly userId: string;
  readonly now: number;
}

/** The user's press that has no answer yet; null: none, or too long ago to be meant by the next one. */
export function unanswered(keep: Keep, { userId, now }: Who): Intent | null {
  try {
    const intent = JSON.parse(keep.getItem(NAME) ?? 'null') as Intent | null;
    if (intent?.userId !== userId) return null;
    const age = now - intent.pressedAt;
    return age >= 0 && age < LIFE_MS ? intent : null;
  } catch {
    return null;
  }
}

/** The intent of a press: the unanswered one where it is for the same order, else a new one. Kept before anything is sent. */
export function press(keep: Keep, wish: Wish, { userId, now, newKey }: Who & { newKey: string }): Intent {
  const earlier = unanswered(keep, { userId, now });
  const intent =
    earlier && sameWish(earlier.wish, wish) ? earlier : { userId, wish, key: newKey, pressedAt: now };
  keep.setItem(NAME, JSON.stringify(intent));
  return intent;
}

/** An answer came: the next press is an intent of its own. */
export const answered = (keep: Keep): void => keep.removeItem(NAME);

/**
 * Whether a problem leaves open what became of the order. Our own faults do, also those that promise that nothing was queued:
 * the same key is right for the next press in any case.
 */
export const leavesOpen = ({ status, code }: Pick<Problem, 'status' | 'code'>): boolean =>
  status === 0 || status >= 500 || code === 'idempotency_in_progress';
