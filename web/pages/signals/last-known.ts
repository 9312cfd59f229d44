// An order is heard of by the stream and read with the list. It carries no version: which of the two is newer is told by when
// they came to be known.

import type { Order } from '../../parts/happened.ts';

export interface Known {
  readonly order: Order;
  /** By the browser's own clock. Of what was heard: when; of what was read: when it was asked for, and so it is no older. */
  readonly at: number;
}

/**
 * What was heard before the list was asked for is in the list. What was heard since then may or may not be: if the list has
 * something newer, the stream brings that, too.
 */
export const lastKnown = (heard: Known | undefined, read: Known | undefined): Order | null =>
  (heard && read && heard.at < read.at ? read : (heard ?? read))?.order ?? null;
