// What to send for a signal, given what is held: the spec's auto-reversal table. A position is signed. It is mostly of one
// instrument; under a symbol that rolls it may lie in several months, each of which is closed by an order of its own.

import { absolute, add, compare, type Decimal, negate, sign, smaller, subtract, ZERO } from '../decimal.ts';
import type { Direction, Leg, LegName, Order, OrderError, OrderIntent, Side, Target } from './order.ts';

/** What is held of one instrument. */
export interface Holding {
  readonly instrument: string;
  /** Signed. */
  readonly quantity: Decimal;
}

interface PlannedLeg {
  readonly leg: LegName;
  readonly instrument: string;
  readonly side: Side;
  readonly quantity: Decimal;
}

export interface Plan {
  /** In the order in which they are sent; empty: there is nothing to trade. */
  readonly legs: readonly PlannedLeg[];
  readonly autoExit: boolean;
}

/** `held`: the oldest month first. `current`: what the symbol means now, and where something is opened. */
export function planOrder(
  intent: OrderIntent,
  quantity: Decimal,
  held: readonly Holding[],
  current: string,
): Plan {
  const legs = legsFor(intent, quantity, held, current);
  return {
    legs,
    autoExit: legs.some(({ leg }) => leg === 'exit') && legs.some(({ leg }) => leg === 'entry'),
  };
}

/** What is held has to become smaller, or nothing, before anything is opened. */
export const closesFirst = (intent: OrderIntent, quantity: Decimal): boolean =>
  legsFor(intent, ZERO, [{ instrument: '', quantity }], '').some(({ leg }) => leg === 'exit');

function legsFor(
  intent: OrderIntent,
  quantity: Decimal,
  held: readonly Holding[],
  current: string,
): PlannedLeg[] {
  if (intent.target) return legsToTarget(intent.target, held, current);
  switch (intent.operation) {
    case 'PLACE_ENTRY_ORDER': {
      const { side } = intent;
      return [...closeAll(held, side === 'buy' ? 'short' : 'long'), opening(side, quantity, current)];
    }
    case 'PLACE_EXIT_ORDER':
      return take(held, intent.direction, quantity);
    case 'CLOSE_POSITION':
      return intent.direction === null
        ? [...closeAll(held, 'long'), ...closeAll(held, 'short')]
        : closeAll(held, intent.direction);
    case 'PROTECT_POSITION':
    case 'CANCEL_ENTRIES':
      return [];
  }
}

/**
 * Moves the position to the target. What exceeds or contradicts it is always closed; the rest is opened only in the
 * direction of the action: a "sell" after a missed entry never buys.
 */
function legsToTarget(
  { position: target, opens }: Target,
  held: readonly Holding[],
  current: string,
): PlannedLeg[] {
  const side = sideTowards(target);
  const [same, contrary]: Direction[] = side === 'buy' ? ['long', 'short'] : ['short', 'long'];
  if (!same || !contrary) return [];
  const there = heldOn(held, same);
  const excess = subtract(there, absolute(target));
  const closes = [...closeAll(held, contrary), ...(sign(excess) > 0 ? take(held, same, excess) : [])];
  const missing = negate(excess);
  if (sign(missing) <= 0 || (opens !== null && opens !== side)) return closes;
  return [...closes, opening(side, missing, current)];
}

const onSide = (held: readonly Holding[], direction: Direction): readonly Holding[] =>
  held.filter(({ quantity }) => sign(quantity) === (direction === 'long' ? 1 : -1));

/** How much is held that way, as a number without a sign. */
export const heldOn = (held: readonly Holding[], direction: Direction): Decimal =>
  onSide(held, direction).reduce<Decimal>((sum, { quantity }) => add(sum, absolute(quantity)), ZERO);

/** Signed, over all months. */
export const heldInAll = (held: readonly Holding[]): Decimal =>
  held.reduce<Decimal>((sum, { quantity }) => add(sum, quantity), ZERO);

const closeAll = (held: readonly Holding[], direction: Direction): PlannedLeg[] =>
  take(held, direction, heldOn(held, direction));

/** At most what is held on that side, the oldest month first: an exit never flips a position. */
function take(held: readonly Holding[], direction: Direction, quantity: Decimal): PlannedLeg[] {
  const legs: PlannedLeg[] = [];
  let left = quantity;
  for (const { instrument, quantity: there } of onSide(held, direction)) {
    const part = smaller(left, absolute(there));
    if (sign(part) <= 0) break;
    legs.push({ leg: 'exit', instrument, side: direction === 'long' ? 'sell' : 'buy', quantity: part });
    left = subtract(left, part);
  }
  return legs;
}

const opening = (side: Side, quantity: Decimal, instrument: string): PlannedLeg => ({
  leg: 'entry',
  instrument,
  side,
  quantity,
});

/** What an order that was planned leaves undone of its target, by whatever kept it from trading that. null: nothing. */
export function shortOfTarget(order: Order): OrderError | null {
  const { intent, positionBefore, legs, action, symbol } = order;
  const { target } = intent;
  if (!target || positionBefore === null) return null;
  if (leavesToAnother(order))
    return {
      code: 'out_of_sync',
      message:
        `The strategy stands at ${target.position} ${symbol}, the account stood at ${positionBefore}: a part of the excess ` +
        'was not closed, because another of your orders may still close it. Once that one has ended, align the account.',
    };
  const opens = (planned: readonly { readonly leg: LegName }[]) => planned.some(({ leg }) => leg === 'entry');
  const stood = [{ instrument: symbol, quantity: positionBefore }];
  if (opens(legs) || !opens(legsToTarget({ ...target, opens: null }, stood, symbol))) return null;
  return {
    code: 'out_of_sync',
    message:
      `The strategy stands at ${target.position} ${symbol}, the account stood at ${positionBefore}: a ${action} does not ` +
      'open what is missing. An alert was lost, or something else traded on the account. Align the account, or set out_of_sync to follow.',
  };
}

/** What trading so much on this side does to a position. */
export const signed = (side: Side, quantity: Decimal): Decimal =>
  side === 'buy' ? quantity : negate(quantity);

/** Signed: what was held before, and what was filled since; null: it was not read. */
export const positionAfter = ({ positionBefore, legs }: Order): Decimal | null =>
  positionBefore === null ? null : add(positionBefore, filledBy(legs));

/** Signed: what these legs have done to the position. */
export const filledBy = (legs: readonly Pick<Leg, 'side' | 'fillQuantity'>[]): Decimal =>
  legs.reduce<Decimal>((sum, { side, fillQuantity }) => add(sum, signed(side, fillQuantity ?? ZERO)), ZERO);

/** It will not be filled any further, if at all. */
const isOver = ({ status }: Pick<Leg, 'status'>): boolean =>
  status === 'rejected' || status === 'expired' || status === 'cancelled' || status === 'failed';

/** Signed: when all that is planned, and not over, is filled. */
export const plannedPosition = ({ positionBefore, legs }: Pick<Order, 'positionBefore' | 'legs'>): Decimal =>
  legs.reduce<Decimal>((held, leg) => {
    const traded = isOver(leg) ? (leg.fillQuantity ?? ZERO) : leg.quantity;
    return add(held, signed(leg.side, traded));
  }, positionBefore ?? ZERO);

/** Of what is too much for its target a part was left to another order that rests: where the position ends, that one decides. */
export const leavesToAnother = (order: Order): boolean =>
  order.intent.target !== undefined &&
  !order.legs.some(isOver) &&
  compare(absolute(plannedPosition(order)), absolute(order.intent.target.position)) > 0;

/** Which side has to be traded to stand there from flat. */
export const sideTowards = (position: Decimal): Side => (sign(position) < 0 ? 'sell' : 'buy');
