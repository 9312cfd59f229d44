// What the account's other open legs on an instrument mean for an order that is planned there: what they take or open
// is neither taken nor opened a second time, and an exit waits for what they may yet bring.

import { absolute, add, type Decimal, negate, sign, smaller, subtract, ZERO } from '../decimal.ts';
import { millis, type OrderId } from '../ids.ts';
import {
  type Direction,
  isOpenLeg,
  type Leg,
  mainLeg,
  type Order,
  type OrderIntent,
  type Side,
} from './order.ts';
import { type Holding, plannedPosition, sideTowards, signed } from './position.ts';

/** A leg of another order of this account, on the same instrument, that has not ended as far as we know. */
export interface OtherLeg {
  readonly orderId: OrderId;
  readonly leg: Leg;
  /** What is known of it besides. */
  readonly order?: Pick<Order, 'priced' | 'ending' | 'exitReason'>;
  /** Whether it is still there no look will tell: its owner says so. */
  readonly isOutOfReach?: boolean;
}

interface Beside {
  readonly others: readonly OtherLeg[];
  readonly now: number;
}

interface GivingUp {
  /** What has not arrived at the broker this long after it was sent is given up. */
  readonly giveUpMs: number;
}

/** It is at the broker, and not all of it is filled. */
export const isResting = ({ status }: Leg): boolean => status === 'placed' || status === 'partially_filled';

/** An entry that waits for its price, as it was asked to. */
const isWaiting = ({ leg, order }: Pick<OtherLeg, 'leg' | 'order'>): boolean =>
  leg.leg === 'entry' && isOpenLeg(leg) && order?.priced !== undefined;

/** It waits, and is there: nothing more is to be expected of it in the next moments. */
export const isSettledIn = (other: Pick<OtherLeg, 'leg' | 'order'>): boolean =>
  isWaiting(other) && isResting(other.leg);

/**
 * Entries that wait and cannot stay beside this order: all of them, but for one that waits itself, which takes the place of those
 * of its name and of the other side. Where the broker takes no close of that side (`opposed`) beside them, those at the market too.
 */
export function inTheWayOf(
  order: Pick<Order, 'priced' | 'intent'>,
  others: readonly OtherLeg[],
  opposed: { readonly side: Side } | null,
): readonly OtherLeg[] {
  const { priced, intent } = order;
  const side = intent.operation === 'PLACE_ENTRY_ORDER' ? intent.side : null;
  const isOpposing = ({ leg }: OtherLeg) =>
    opposed !== null && leg.leg === 'entry' && isOpenLeg(leg) && leg.side !== opposed.side;
  return others.filter(
    (other) =>
      isOpposing(other) ||
      (isWaiting(other) &&
        !(priced && other.leg.side === side && (other.order?.priced?.id ?? null) !== priced.id)),
  );
}

/** How many wait there besides. */
export const waitingBeside = (others: readonly OtherLeg[]): number => others.filter(isWaiting).length;

const isYounger = ({ sentAt }: Leg, now: number, ms: number): boolean =>
  sentAt !== null && now - millis(sentAt) < ms;

export const isYoung = (leg: Leg, now: number, { giveUpMs }: GivingUp): boolean =>
  isYounger(leg, now, giveUpMs);

/** Sooner, fill verification may yet find out; from then on a person may settle what nobody knows the end of. */
export const FORGOTTEN_MS = 10 * 60_000;

/** Nothing was heard of it for so long that no order waits for it, or looks at it again. One that rests at the broker is not. */
export const isForgotten = (leg: Leg, now: number): boolean =>
  !isResting(leg) && !isYounger(leg, now, FORGOTTEN_MS);

/** It rests, or may be on its way: what was sent long ago is in the position by now, or never will be. */
const isPending = (leg: Leg, now: number, giving: GivingUp): boolean =>
  isResting(leg) || (isOpenLeg(leg) && isYoung(leg, now, giving));

const closes = (leg: Leg, position: Decimal): boolean =>
  leg.leg === 'exit' && sign(position) === (leg.side === 'sell' ? 1 : -1);

const unfilled = (legs: readonly OtherLeg[]): Decimal =>
  legs.reduce<Decimal>((sum, { leg }) => add(sum, subtract(leg.quantity, leg.fillQuantity ?? ZERO)), ZERO);

export const pendingLeg = ({ others, now }: Beside, giving: GivingUp): OtherLeg | undefined =>
  others.find(({ leg }) => isPending(leg, now, giving));

/** A close of protection's was seen to be filled, in whole or in part: whoever is to write that down may not have done it yet. */
export const protectiveFilled = ({ others }: Pick<Beside, 'others'>): boolean =>
  others.some(({ leg, order }) => order?.exitReason && sign(leg.fillQuantity ?? ZERO) > 0);

/** Protection closes there, and nobody knows yet how that ended. */
export const protectiveInDoubt = ({ others, now }: Beside): boolean =>
  others.some(({ leg, order }) => order?.exitReason && isOpenLeg(leg) && !isForgotten(leg, now));

/** Only what is too much for the target is closed. */
export function withoutOpening(intent: OrderIntent): OrderIntent {
  if (!intent.target) return intent;
  const opens = sideTowards(intent.target.position) === 'buy' ? 'sell' : 'buy';
  return { ...intent, target: { ...intent.target, opens } };
}

/** Something of the position is to be left: here a broker that clamps a close to what is held does not keep it right. */
export const leavesSome = ({ target }: OrderIntent): boolean =>
  target !== undefined && sign(target.position) !== 0;

/**
 * What our own open closes take already is not there to be taken again. Where the broker does not clamp a close to what is
 * held, two closes of +3 would end at -3; where it does, two that are each to leave 1 of 3 would leave nothing.
 */
export function takeable(
  { instrument, quantity: position }: Holding,
  { target }: OrderIntent,
  { able, others, now }: Beside & { readonly able: { readonly reduceOnly: boolean } },
  giving: GivingUp,
): Holding {
  const isLeft = target !== undefined && sign(target.position) === sign(position);
  if (able.reduceOnly && !isLeft) return { instrument, quantity: position };
  const isTaking = (leg: Leg) => (isLeft ? isPending(leg, now, giving) : isResting(leg));
  const taken = unfilled(
    others.filter(({ leg }) => leg.instrument === instrument && isTaking(leg) && closes(leg, position)),
  );
  const left = subtract(absolute(position), smaller(taken, absolute(position)));
  return { instrument, quantity: sign(position) < 0 ? negate(left) : left };
}

/** A close of ours that may have been made, or may yet be: where a second one is not clamped, none is sent before it is known. */
export const closeInDoubt = (
  held: readonly Holding[],
  { others, now }: Beside,
  giving: GivingUp,
): OtherLeg | undefined =>
  others.find(
    ({ leg }) =>
      (leg.status === 'sending' || leg.status === 'unknown') &&
      held.some(({ instrument, quantity }) => leg.instrument === instrument && closes(leg, quantity)) &&
      isYoung(leg, now, giving),
  );

/** The side that alone it closes; null: either, or it opens. */
export const directionOf = (intent: OrderIntent): Direction | null =>
  intent.target || intent.operation === 'PLACE_ENTRY_ORDER' ? null : intent.direction;

/**
 * What an exit waits for: an entry of ours that may yet open what it is to close, or a close of ours that holds back a part of it.
 * None: whatever is not held now will not come by an order of ours.
 */
export function othersToAwait(
  { intent }: Pick<Order, 'intent'>,
  { able, others, now }: Beside & { readonly able: { readonly reduceOnly: boolean } },
): OtherLeg | undefined {
  const direction = directionOf(intent);
  const opens = ({ leg, side }: Leg) =>
    leg === 'entry' && (direction === null || side === (direction === 'long' ? 'buy' : 'sell'));
  // Where a close is clamped to what is held, another one beside it takes nothing away from it.
  const holdsBack = ({ leg, side }: Leg) =>
    leg === 'exit' &&
    (!able.reduceOnly || leavesSome(intent)) &&
    (direction === null || side === (direction === 'long' ? 'sell' : 'buy'));
  // What is being taken back is waited for no longer: an exit is made all the same.
  const isTakenBack = (other: OtherLeg) => other.order?.ending !== undefined && isSettledIn(other);
  return others.find(
    (other) =>
      isOpenLeg(other.leg) &&
      !isForgotten(other.leg, now) &&
      !isTakenBack(other) &&
      (opens(other.leg) || holdsBack(other.leg)),
  );
}

/** Signed: where the position would stand when all that is planned is filled, and every entry on its side that may yet be. */
export function furthestPosition(order: Order, { others, now }: Beside, giving: GivingUp): Decimal {
  const side = mainLeg(order)?.side;
  const more = unfilled(
    others.filter(({ leg }) => leg.leg === 'entry' && leg.side === side && isPending(leg, now, giving)),
  );
  return add(plannedPosition(order), side ? signed(side, more) : more);
}
