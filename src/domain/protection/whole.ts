// Where the broker reserves what an order would close, it keeps stops and targets of whole quantities alone, and trades finer ones: an exit of
// a share of the position may leave a part of one, for which no stop can stand. That is told, and nothing is closed for it alone: once the
// price is beyond the stop, it is closed as by the stop. Nobody takes its close while the market is closed: it waits for the opening.

import { type Decimal, downTo, subtract, ZERO } from '../decimal.ts';
import { priceFor } from './follow.ts';
import { isBetter, type Protection } from './protection.ts';
import type { Facts } from './step.ts';

/** So much of it can have a stop there. */
export const keepable = (quantity: Decimal, { able, quantityStep }: Facts): Decimal =>
  able.reserves ? downTo(quantity, quantityStep) : quantity;

/** It is to have a stop, and is less than any can be for. */
export const isTooLittle = ({ stop }: Protection, bare: Decimal, facts: Facts): boolean =>
  stop !== null && keepable(bare, facts) === ZERO;

/** What is sent to close it is refused until then, each time. */
export const awaitsOpening = (protection: Protection, bare: Decimal, facts: Facts): boolean =>
  !facts.isOpen && isTooLittle(protection, bare, facts);

/** The stop would have closed it by now. */
export const isBeyond = ({ stop, side }: Protection, { quoted }: Facts): boolean => {
  const price = quoted && priceFor(side, quoted);
  return stop !== null && price !== null && !isBetter(side, price, stop.price);
};

const WORDS = 'without a stop: the broker keeps stops for whole quantities only.';

/** Nothing is tried for it. */
export const isPartTold = ({ reason }: Pick<Protection, 'reason'>): boolean =>
  reason?.endsWith(WORDS) ?? false;

/** Says of what is held that a part of it has no stop; and no longer, where it has. */
export function tellingPart(protection: Protection, bare: Decimal, facts: Facts): Protection {
  const { reason, stop } = protection;
  const part = subtract(bare, keepable(bare, facts));
  const isOurs = isPartTold(protection);
  if (stop === null || part === ZERO) return isOurs ? { ...protection, reason: null } : protection;
  // Whatever was refused before was more: of so little nothing is tried any more.
  const isSaid = reason === null || isOurs || isTooLittle(protection, bare, facts);
  return isSaid ? { ...protection, reason: `${part} of ${bare} is ${WORDS}` } : protection;
}
