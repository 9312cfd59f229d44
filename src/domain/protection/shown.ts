// How what protects a position is shown: beside the order that asked for it, beside the position, and by itself. Decimals become JSON
// numbers here.

import {
  absolute,
  add,
  type Decimal,
  multiply,
  rounded,
  subtract,
  toNumber,
  toNumberOrNull,
  ZERO,
} from '../decimal.ts';
import { hasEnded, type Order } from '../orders/order.ts';
import { closedBy, leftOf, type Protection, type ProtectiveLeg } from './protection.ts';
import { isGiven, type OrderWish } from './wish.ts';

export type ShownProtection = Omit<ReturnType<typeof showProtection>, 'id'> & { readonly id: string | null };

export function showProtection(protection: Protection) {
  const { id, state, stop, targets, trail, breakEven, timeStopAt } = protection;
  return {
    id,
    state,
    stop_loss: toNumberOrNull(stop?.price ?? null),
    take_profit: targets.map(({ price, percent }, index) => {
      const filled = closedBy(protection, index + 1);
      const resting = newest(protection.legs, index + 1);
      return {
        price: toNumber(price),
        percent: toNumber(percent),
        quantity: toNumber(resting ? add(filled, leftOf(resting)) : filled),
        filled: toNumber(filled),
      };
    }),
    trailing_stop: trail && {
      distance: toNumber(trail.distance),
      activate_at: toNumberOrNull(trail.activateAt),
      best: toNumber(trail.best),
    },
    break_even: breakEven && {
      at: breakEven.at === 'tp1' ? breakEven.at : toNumber(breakEven.at),
      to: toNumber(breakEven.to),
    },
    time_stop_at: timeStopAt,
    stop_quantity: toNumberOrNull(stopQuantity(protection)),
    seen_at: protection.seenAt,
    unprotected_since: protection.unprotectedSince,
    reason: protection.reason,
  };
}

/** Of a level; while it moves there are two, and the last one counts. */
const newest = (legs: readonly ProtectiveLeg[], level: number): ProtectiveLeg | undefined =>
  legs
    .filter((leg) => leg.level === level && !leg.isLeaving)
    .reduce<ProtectiveLeg | undefined>(
      (last, leg) => (last && last.revision > leg.revision ? last : leg),
      undefined,
    );

/** What the stop at the broker closes; where a target has its own part of it, with that. null: none is known to be there. */
function stopQuantity({ legs }: Protection): Decimal | null {
  const levels = [...new Set(legs.map(({ level }) => level))];
  const stops = levels.flatMap((level) => {
    const leg = newest(
      legs.filter(({ stop, status }) => stop !== null && status !== 'sending'),
      level,
    );
    return leg ? [leg.limit === null ? leg.quantity : leftOf(leg)] : [];
  });
  return stops.length === 0 ? null : stops.reduce(add, ZERO);
}

/** Asked for, and nothing of it is wanted yet: a price is known, a distance counts from the first fill. */
const armed = ({ own: { stop, targets } }: OrderWish): ShownProtection => ({
  id: null,
  state: 'armed',
  stop_loss: isGiven(stop) && stop.unit === 'price' ? toNumber(stop.value) : null,
  take_profit:
    isGiven(targets) && targets.every(({ at }) => at.unit === 'price')
      ? targets.map(({ at, percent }) => ({
          price: toNumber(at.value),
          percent: toNumber(percent),
          quantity: 0,
          filled: 0,
        }))
      : [],
  trailing_stop: null,
  break_even: null,
  time_stop_at: null,
  stop_quantity: null,
  seen_at: null,
  unprotected_since: null,
  reason: null,
});

/** Of an order: what it asked for, and what became of that. null: it asked for nothing, or ended without opening anything. */
export function protectionOf(order: Order, protection: Protection | null): ShownProtection | null {
  if (protection) return showProtection(protection);
  return order.wish && isAboutProtection(order) && !hasEnded(order.status) ? armed(order.wish) : null;
}

/** It sets what protects a position. An exit that may also open something does so once it opens that. */
export const isAboutProtection = ({ wish, intent: { operation }, legs }: Order): boolean =>
  wish !== undefined &&
  (operation === 'PLACE_ENTRY_ORDER' ||
    operation === 'PROTECT_POSITION' ||
    legs.some(({ leg }) => leg === 'entry'));

/** What is lost at the stop, from the average price; below zero: won. null: there is no stop, or it is not known what one is worth. */
export function riskOf(
  protection: Pick<Protection, 'stop' | 'side'> | null,
  { quantity, averagePrice }: { readonly quantity: Decimal; readonly averagePrice: Decimal },
  unitValue: Decimal | null,
): number | null {
  if (!protection?.stop || unitValue === null) return null;
  const { side, stop } = protection;
  const away = side === 'long' ? subtract(averagePrice, stop.price) : subtract(stop.price, averagePrice);
  return toNumber(rounded(multiply(multiply(away, absolute(quantity)), unitValue)));
}
