// Profit by average cost: what a trade does to a position, and what it earns or loses. Exact: what the one division rounds
// stays with what is still held, so that nothing is lost or made by it.

import Big from 'big.js';
import {
  absolute,
  add,
  canonical,
  compare,
  type Decimal,
  multiply,
  negate,
  sign,
  smaller,
  subtract,
  ZERO,
} from '../decimal.ts';

/**
 * A position, both signed. The cost is what it was entered for, in the account's currency. It is kept instead of an
 * average price because it needs no rounding to grow, so that profit stays exact.
 */
export interface Holding {
  readonly quantity: Decimal;
  readonly cost: Decimal;
}

export const FLAT: Holding = { quantity: ZERO, cost: ZERO };

export interface Trade {
  /** Signed: below zero is sold. */
  readonly quantity: Decimal;
  readonly price: Decimal;
  /** Of one, at a price of 1, in the account's currency. */
  readonly unitValue: Decimal;
}

/** The position after a trade, netted, and what the closed part of it earned; fees are not in it. */
export function net(before: Holding, trade: Trade): { holding: Holding; realised: Decimal } {
  const { quantity: signed } = trade;
  const value = (quantity: Decimal) => multiply(multiply(quantity, trade.price), trade.unitValue);
  const quantity = add(before.quantity, signed);
  if (sign(before.quantity) * sign(signed) >= 0)
    return { holding: { quantity, cost: add(before.cost, value(signed)) }, realised: ZERO };
  const closed = smaller(absolute(signed), absolute(before.quantity));
  const closedCost = share(before.cost, closed, absolute(before.quantity));
  const realised = negate(add(value(sign(signed) > 0 ? closed : negate(closed)), closedCost));
  const isFlipped = sign(quantity) === sign(signed);
  const cost = isFlipped ? value(quantity) : subtract(before.cost, closedCost);
  return { holding: { quantity, cost }, realised };
}

/** As much of it as is also held there, at its own average cost. */
export function heldToo({ quantity, cost }: Holding, there: Decimal): Holding {
  if (sign(quantity) !== sign(there)) return FLAT;
  if (compare(absolute(there), absolute(quantity)) >= 0) return { quantity, cost };
  return { quantity: there, cost: share(cost, absolute(there), absolute(quantity)) };
}

/** The one rounding, to 20 places. */
export const share = (total: Decimal, part: Decimal, whole: Decimal): Decimal =>
  part === whole ? total : canonical(new Big(total).times(part).div(whole));
