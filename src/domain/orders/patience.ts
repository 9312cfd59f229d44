// How long an order is patient, and with what. Whoever cannot get out loses more than whoever cannot get in: an entry may be given up
// early, an exit ends by its fill, by the broker's final word, by proof that nothing is held, or by its deadline. This table is all
// that differs; until when is the order's own deadline in every row.

import { millis } from '../ids.ts';
import { isEntry } from './entitlement.ts';
import { lastCloses, type Order } from './order.ts';

export interface Patience {
  /** A busy broker is waited for so long at a time, and so often. */
  readonly busyMs: number;
  readonly refusals: number;
  /** The spec's reconnect with its retries is one round. So many more are made for a broker that is away. */
  readonly rounds: number;
  /** Other orders of ours that were sent a moment ago are waited for, shortly, before anything is planned; or … */
  readonly waitsForOthersFirst: boolean;
  /** … what is held is taken at once, and what they may yet bring is waited for until the deadline. */
  readonly waitsForRest: boolean;
  /** A leg whose answer was lost is looked for by the worker, and not left to fill verification. */
  readonly looksForLost: boolean;
}

export const PATIENCE: Readonly<Record<'entry' | 'exit', Patience>> = {
  entry: {
    busyMs: 5_000,
    refusals: 2,
    rounds: 0,
    waitsForOthersFirst: true,
    waitsForRest: false,
    looksForLost: false,
  },
  exit: {
    busyMs: Number.POSITIVE_INFINITY,
    refusals: Number.POSITIVE_INFINITY,
    rounds: Number.POSITIVE_INFINITY,
    waitsForOthersFirst: false,
    waitsForRest: true,
    looksForLost: true,
  },
};

const ROUNDS_MS = [500, 1_000, 2_000, 4_000, 8_000];
const LAST_ROUNDS_MS = 15_000;

/** Before the next round to a broker that is away; `rounds`: how many were made. */
export const beforeRound = (rounds: number): number => ROUNDS_MS[rounds - 1] ?? LAST_ROUNDS_MS;

/** It can only make a position smaller. */
export const isExit = ({ intent }: Pick<Order, 'intent'>): boolean => !isEntry(intent);

/**
 * A reversal has an exit's patience until its close is filled. Before it is planned nobody knows that it is one: what was held
 * when it was last read tells, and what was sent the other way and has no end yet.
 */
export function patienceOf(order: Order, { mayReverse = false } = {}): Patience {
  if (isExit(order)) return PATIENCE.exit;
  const closes = lastCloses(order);
  const isClosing =
    closes.length > 0
      ? closes.some(({ status }) => status !== 'filled')
      : order.legs.length === 0 && mayReverse;
  return isClosing ? PATIENCE.exit : PATIENCE.entry;
}

/** A busy broker is waited for where the order stays fresh and patience lasts. An exit waits until its deadline in any case. */
export const isWorthWaiting = (
  order: Order,
  {
    now,
    busyMs,
    refusals,
    mayReverse,
  }: {
    readonly now: number;
    readonly busyMs: number;
    readonly refusals: number;
    readonly mayReverse: boolean;
  },
): boolean => {
  const patience = patienceOf(order, { mayReverse });
  if (patience.busyMs === Number.POSITIVE_INFINITY) return true;
  return (
    busyMs <= patience.busyMs && refusals <= patience.refusals && now + busyMs <= millis(order.deadlineAt)
  );
};
