// UUIDv7s that sort in the order in which this process made them. The platform's own do so only by the millisecond, and
// within one of them orders would be listed, and recovered, in any order.

import { randomUUIDv7 } from 'node:crypto';

let last = '';

export function newId(): string {
  const drawn = randomUUIDv7();
  last = drawn > last ? drawn : (successor(last) ?? newId());
  return last;
}

const TAIL_DIGITS = 12;

/** Null in one of 2^48 cases, until the millisecond is over. */
function successor(id: string): string | null {
  const tail = (Number.parseInt(id.slice(-TAIL_DIGITS), 16) + 1).toString(16).padStart(TAIL_DIGITS, '0');
  return tail.length > TAIL_DIGITS ? null : id.slice(0, -TAIL_DIGITS) + tail;
}
