// What orders of ours that are under way close of a position already: that much needs no stop where the broker keeps it for them, and
// nobody closes it a second time.

import { add, compare, type Decimal, sign, subtract, ZERO } from '../decimal.ts';
import { hasEnded, type Leg, type Order, unitsOf } from '../orders/order.ts';
import { isResting } from '../orders/other-legs.ts';
import { closingSide, type Protection } from './protection.ts';
import type { Facts } from './step.ts';

export type Closing = Pick<Facts, 'closing' | 'reserved'>;

/** `orders`: of the account, as far as their end is not known. */
export function closingOf(protection: Protection, orders: readonly Order[]): Closing {
  const its = orders.find(({ id }) => id === protection.closing?.order);
  const side = closingSide(protection);
  const closes = (leg: Leg) =>
    leg.leg === 'exit' && leg.instrument === protection.instrument && leg.side === side;
  const resting = orders.flatMap(({ legs }) => legs.filter((leg) => closes(leg) && isResting(leg)));
  return {
    closing: its && !hasEnded(its.status) ? leftOf(unitsOf(its), its.legs) : null,
    reserved: resting.reduce<Decimal>((sum, leg) => add(sum, leftOf(leg.quantity, [leg])), ZERO),
  };
}

const leftOf = (quantity: Decimal, legs: readonly Leg[]): Decimal => {
  const left = legs.reduce<Decimal>((rest, leg) => subtract(rest, leg.fillQuantity ?? ZERO), quantity);
  return sign(left) > 0 ? left : ZERO;
};

/** The order that closes the position for it is under way, and nothing was added since. */
export const isBeingClosed = ({ closing, held }: Facts): boolean =>
  closing !== null && !(held?.isAgreed && compare(held.quantity, closing) > 0);

/**
 * What is to be covered of what is held. Where the broker reserves, nothing is that orders of ours close, or that is still shown after
 * they have: a leg that stands when it is gone opens the other side.
 */
export function toCover(shown: Decimal, { able, held, isUnsettled, reserved }: Facts): Decimal {
  if (!able.reserves) return shown;
  const least = held?.least ?? shown;
  // An entry of which nobody knows whether it was filled may have brought what our fills do not know of.
  const left = subtract(least === ZERO && isUnsettled ? shown : least, reserved);
  return sign(left) > 0 ? left : ZERO;
}
