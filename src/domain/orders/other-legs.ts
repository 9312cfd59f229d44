// What the account's other open legs on an instrument mean for an order that is planned there: what they take or open
// is neither taken nor opened a second time.

import { absolute, add, type Decimal, negate, sign, smaller, subtract, ZERO } from '../decimal.ts';
import { millis, type OrderId } from '../ids.ts';
import { isOpenLeg, type Leg, mainLeg, type Order, type OrderIntent } from './order.ts';
import { plannedPosition, sideTowards } from './position.ts';

/** A leg of another order of this account, on the same instrument, that has not ended as far as we know. */
export interface OtherLeg {
  readonly orderId: OrderId;
  readonly leg: Leg;
}

interface Beside {
  readonly others: readonly OtherLeg[];
  readonly now: number;
}

interface Patience {
  /** What has not arrived at the broker this long after it was sent is given up. */
  readonly giveUpMs: number;
}

const isResting = ({ status }: Leg): boolean => status === 'placed' || status === 'partially_filled';

export const isYoung = ({ sentAt }: Leg, now: number, { giveUpMs }: Patience): boolean =>
  sentAt !== null && now - millis(sentAt) < giveUpMs;

/** It rests, or may be on its way: what was sent long ago is in the position by now, or never will be. */
const isPending = (leg: Leg, now: number, patience: Patience): boolean =>
  isResting(leg) || (isOpenLeg(leg) && isYoung(leg, now, patience));

const closes = (leg: Leg, position: Decimal): boolean =>
  leg.leg === 'exit' && sign(position) === (leg.side === 'sell' ? 1 : -1);

const unfilled = (legs: readonly OtherLeg[]): Decimal =>
  legs.reduce<Decimal>((sum, { leg }) => add(sum, subtract(leg.quantity, leg.fillQuantity ?? ZERO)), ZERO);

export const pendingLeg = ({ others, now }: Beside, patience: Patience): OtherLeg | undefined =>
  others.find(({ leg }) => isPending(leg, now, patience));

/** Only what is too much for the target is closed. */
export function withoutOpening(intent: OrderIntent): OrderIntent {
  if (!intent.target) return intent;
  const opens = sideTowards(intent.target.position) === 'buy' ? 'sell' : 'buy';
  return { ...intent, target: { ...intent.target, opens } };
}

/**
 * What our own open closes take already is not there to be taken again. Where the broker does not clamp a close to what is
 * held, two closes of +3 would end at -3; where it does, two that are each to leave 1 of 3 would leave nothing.
 */
export function takeable(
  position: Decimal,
  { target }: OrderIntent,
  { able, others, now }: Beside & { readonly able: { readonly reduceOnly: boolean } },
  patience: Patience,
): Decimal {
  const leavesSome = target !== undefined && sign(target.position) === sign(position);
  if (able.reduceOnly && !leavesSome) return position;
  const isTaking = (leg: Leg) => (leavesSome ? isPending(leg, now, patience) : isResting(leg));
  const taken = unfilled(others.filter(({ leg }) => isTaking(leg) && closes(leg, position)));
  const left = subtract(absolute(position), smaller(taken, absolute(position)));
  return sign(position) < 0 ? negate(left) : left;
}

/** A close of ours that may have been made, or may yet be: where a second one is not clamped, none is sent before it is known. */
export const closeInDoubt = (
  position: Decimal,
  { others, now }: Beside,
  patience: Patience,
): OtherLeg | undefined =>
  others.find(
    ({ leg }) =>
      (leg.status === 'sending' || leg.status === 'unknown') &&
      closes(leg, position) &&
      isYoung(leg, now, patience),
  );

/** Signed: where the position would stand when all that is planned is filled, and every entry on its side that may yet be. */
export function furthestPosition(order: Order, { others, now }: Beside, patience: Patience): Decimal {
  const side = mainLeg(order)?.side;
  const more = unfilled(
    others.filter(({ leg }) => leg.leg === 'entry' && leg.side === side && isPending(leg, now, patience)),
  );
  return add(plannedPosition(order), side === 'sell' ? negate(more) : more);
}
