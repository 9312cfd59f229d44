// A reversal that got half way: what was to be closed is closed, and what was to be opened is not. The account stands neither where
// it stood nor where the signal wanted it, whatever the status says of the order.

import { add, compare, ZERO } from '../decimal.ts';
import { hasEnded, type Leg, mainLeg, type Order } from './order.ts';

export function isHalfDone(order: Order): boolean {
  const entry = mainLeg(order);
  if (!hasEnded(order.status) || entry?.leg !== 'entry' || entry.status === 'filled') return false;
  const closes = order.legs.filter(({ leg }) => leg === 'exit');
  // Months of one symbol are closed apart, each by as many attempts as it takes.
  const byInstrument = [...Map.groupBy(closes, ({ instrument }) => instrument).values()];
  return byInstrument.length > 0 && byInstrument.every(isClosed);
}

/** By the last attempt, which was planned on what the ones before had left; or by all of them, where an earlier one was filled late. */
function isClosed(attempts: readonly Leg[]): boolean {
  const [first] = attempts;
  if (!first || attempts.at(-1)?.status === 'filled') return true;
  const filled = attempts.reduce((sum, { fillQuantity }) => add(sum, fillQuantity ?? ZERO), ZERO);
  return compare(filled, first.quantity) >= 0;
}
