// What an order would do, in words for a person.

import { sign, toNumberOrNull } from '../decimal.ts';
import type { Timestamp } from '../ids.ts';
import type { Leg, Order } from './order.ts';
import { plannedPosition } from './position.ts';
import { kindOf, mayRest, type Priced } from './priced.ts';
import { EVERY_SYMBOL } from './resting.ts';

export function describePlan(order: Order): string {
  const { error, status, positionBefore, legs, symbol, intent } = order;
  if (status === 'done' && intent.operation === 'PROTECT_POSITION')
    return `Nothing would be traded: it is about what protects the position of ${positionBefore} in ${symbol}.`;
  if (status === 'done' && intent.operation === 'CANCEL_ENTRIES')
    return `Nothing would be traded: entries that rest in ${symbol === EVERY_SYMBOL ? 'any symbol' : symbol} would be taken back.`;
  if (status === 'done')
    return `Nothing would be sent: the position in ${symbol} is ${positionBefore} already.`;
  if (legs.length === 0) return `Nothing would be sent. ${error?.message ?? ''}`.trim();
  const steps = legs.map((leg, index) => step(order, leg, index)).join(', then, once that is filled, ');
  const until =
    order.priced && mayRest(order.priced)
      ? ` It rests until ${inMinutes(order.priced.expiresAt)} at the latest.`
      : '';
  const ends = `The position would go from ${positionBefore ?? 0} to ${plannedPosition(order)}.${until}`;
  return `${steps.charAt(0).toUpperCase()}${steps.slice(1)}. ${ends}${error ? ` ${error.message}` : ''}`;
}

/** "2026-11-18 22:36 UTC": a person counts no milliseconds. */
const inMinutes = (at: Timestamp): string => `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`;

/** What of it would rest, and until when; null: nothing would. */
export function restingPlan({ priced, legs, error }: Order) {
  if (!priced || error !== null || !legs.some(({ leg }) => leg === 'entry')) return null;
  return {
    kind: kindOf(priced),
    limit_price: toNumberOrNull(priced.limit),
    stop_price: toNumberOrNull(priced.stop),
    time_in_force: priced.timeInForce,
    expires_at: priced.expiresAt,
  };
}

/** "at 60000 or better" */
function where(priced: Priced | undefined): string {
  if (!priced) return 'at the market';
  const limit = `at ${priced.limit} or better`;
  if (priced.stop === null) return limit;
  return `${priced.limit === null ? 'at the market' : limit} once ${priced.stop} is reached`;
}

function step(
  { positionBefore, symbol, legs, priced }: Order,
  { leg, side, quantity }: Leg,
  index: number,
): string {
  const price = where(leg === 'entry' ? priced : undefined);
  const what = `${side} ${quantity}${index === 0 ? ` ${symbol}` : ''} ${price}`;
  if (leg === 'exit') {
    const held = positionBefore !== null && sign(positionBefore) < 0 ? 'short' : 'long';
    const isAll = positionBefore !== null && positionBefore.replace('-', '') === quantity;
    return `${what} to ${isAll ? 'close' : 'reduce'} the ${held} position`;
  }
  const opens = side === 'buy' ? 'long' : 'short';
  const isNew = legs.length > 1 || positionBefore === null || sign(positionBefore) === 0;
  return `${what} to ${isNew ? 'open' : 'add to'} a ${opens} position`;
}
