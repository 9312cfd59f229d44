// What to send for a signal, given the position held: the spec's auto-reversal table. A position is signed.

import { absolute, add, compare, type Decimal, negate, sign, smaller, subtract, ZERO } from '../decimal.ts';
import type { Direction, LegName, Order, OrderError, OrderIntent, Side, Target } from './order.ts';

interface PlannedLeg {
  readonly leg: LegName;
  readonly side: Side;
  readonly quantity: Decimal;
  /** A leg that closes must never open the other side, whatever happened since the position was read. */
  readonly reduceOnly: boolean;
}

export interface Plan {
  /** In the order in which they are sent; empty: there is nothing to trade. */
  readonly legs: readonly PlannedLeg[];
  readonly autoExit: boolean;
}

const planOf = (...legs: readonly PlannedLeg[]): Plan => ({ legs, autoExit: legs.length > 1 });
const NOTHING = planOf();

export function planOrder(intent: OrderIntent, quantity: Decimal, position: Decimal): Plan {
  if (intent.target) return planTarget(intent.target, position);
  switch (intent.operation) {
    case 'PLACE_ENTRY_ORDER':
      return planEntry(intent.side, quantity, position);
    case 'PLACE_EXIT_ORDER':
      return planExit(intent.direction, quantity, position);
    case 'CLOSE_POSITION':
      return planExit(intent.direction ?? directionOf(position), absolute(position), position);
  }
}

function planEntry(side: Side, quantity: Decimal, position: Decimal): Plan {
  const entry: PlannedLeg = { leg: 'entry', side, quantity, reduceOnly: false };
  const held = sign(position);
  const isOpposite = side === 'buy' ? held < 0 : held > 0;
  return isOpposite ? planOf(closing(side, absolute(position)), entry) : planOf(entry);
}

/**
 * Moves the position to the target. What exceeds or contradicts it is always closed; the rest is opened only in the
 * direction of the action: a "sell" after a missed entry never buys.
 */
function planTarget({ position: target, opens }: Target, position: Decimal): Plan {
  const isContrary = sign(position) !== 0 && sign(position) !== sign(target);
  const kept = isContrary ? ZERO : smaller(absolute(position), absolute(target));
  const [excess, rest] = [subtract(absolute(position), kept), subtract(absolute(target), kept)];
  const closes = sign(excess) > 0 ? [closing(sign(position) > 0 ? 'sell' : 'buy', excess)] : [];
  const side = sideTowards(target);
  if (compare(rest, ZERO) === 0 || (opens !== null && opens !== side)) return planOf(...closes);
  return planOf(...closes, { leg: 'entry', side, quantity: rest, reduceOnly: false });
}

/** What an order that was planned leaves undone of its target, by whatever kept it from trading that. null: nothing. */
export function shortOfTarget(order: Order): OrderError | null {
  const { intent, positionBefore, legs, action, symbol } = order;
  const { target } = intent;
  if (!target || positionBefore === null) return null;
  if (leavesToAnother(order))
    return {
      code: 'out_of_sync',
      message:
        `The strategy stands at ${target.position} ${symbol}, the account stood at ${positionBefore}: a part of what is too much ` +
        'was not closed, because another order of ours has not ended, which may close it. Once that is known, align the account.',
    };
  const opens = (planned: readonly { readonly leg: LegName }[]) => planned.some(({ leg }) => leg === 'entry');
  if (opens(legs) || !opens(planTarget({ ...target, opens: null }, positionBefore).legs)) return null;
  return {
    code: 'out_of_sync',
    message:
      `The strategy stands at ${target.position} ${symbol}, the account stood at ${positionBefore}: a ${action} does not ` +
      'open what is missing. An alert was lost, or something else traded on the account. Align the account, or set out_of_sync to follow.',
  };
}

/** Signed: what was held before, and what was filled since; null: it was not read. */
export const positionAfter = ({ positionBefore, legs }: Order): Decimal | null =>
  positionBefore === null
    ? null
    : legs.reduce((held, { side, fillQuantity }) => {
        const filled = fillQuantity ?? ZERO;
        return side === 'buy' ? add(held, filled) : subtract(held, filled);
      }, positionBefore);

/** Signed: when all that is planned is filled. */
export const plannedPosition = ({ positionBefore, legs }: Order): Decimal =>
  legs.reduce<Decimal>(
    (held, { side, quantity }) => (side === 'buy' ? add(held, quantity) : subtract(held, quantity)),
    positionBefore ?? ZERO,
  );

/** Of what is too much for its target a part was left to another order that rests: where the position ends, that one decides. */
export const leavesToAnother = (order: Order): boolean =>
  order.intent.target !== undefined &&
  compare(absolute(plannedPosition(order)), absolute(order.intent.target.position)) > 0;

/** Takes at most what is held on that side: an exit never flips a position. */
function planExit(direction: Direction, quantity: Decimal, position: Decimal): Plan {
  const heldThatWay = direction === 'long' ? position : negate(position);
  if (sign(heldThatWay) <= 0) return NOTHING;
  const side = direction === 'long' ? 'sell' : 'buy';
  return planOf(closing(side, smaller(quantity, heldThatWay)));
}

/** Which side has to be traded to stand there from flat. */
export const sideTowards = (position: Decimal): Side => (sign(position) < 0 ? 'sell' : 'buy');

const directionOf = (position: Decimal): Direction => (sign(position) < 0 ? 'short' : 'long');

const closing = (side: Side, quantity: Decimal): PlannedLeg => ({
  leg: 'exit',
  side,
  quantity,
  reduceOnly: true,
});
