// What an account may hold while the end of an order of it is not known: what was read, or that with the order. Nobody makes one
// number of the two.

import { add, type Decimal, negate, subtract, ZERO } from '../decimal.ts';
import { isOpenLeg, type Order } from './order.ts';
import { signed } from './position.ts';

type Undecided = Pick<Order, 'legs' | 'positionBefore'>;

/** More of them at once are told as all or none: nobody reads sixteen. */
const MOST_APART = 2;

/** Each once, what was read first; one alone: it is known. */
export function mayHold(read: Decimal, orders: readonly Undecided[]): readonly Decimal[] {
  const changes = orders.map((order) => changeBy(order, read)).filter((change) => change !== ZERO);
  if (changes.length > MOST_APART) return [...new Set([read, changes.reduce(add, read)])];
  const may = [read];
  for (const by of changes) may.push(...may.map((one) => add(one, by)));
  return [...new Set(may)];
}

function changeBy(order: Undecided, read: Decimal): Decimal {
  const leg = order.legs.find(isOpenLeg);
  if (!leg) return ZERO;
  const rest = subtract(leg.quantity, leg.fillQuantity ?? ZERO);
  const by = signed(leg.side, rest);
  const { positionBefore: before } = order;
  // The broker's position may have it in it already: then it is the other way that may be.
  return before !== null && add(before, by) === read ? negate(by) : by;
}
