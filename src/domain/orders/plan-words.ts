// What an order would do, in words for a person.

import { sign } from '../decimal.ts';
import type { Leg, Order } from './order.ts';
import { plannedPosition } from './position.ts';

export function describePlan(order: Order): string {
  const { error, status, positionBefore, legs, symbol, intent } = order;
  if (status === 'done' && intent.operation === 'PROTECT_POSITION')
    return `Nothing would be traded: it is about what protects the position of ${positionBefore} in ${symbol}.`;
  if (status === 'done')
    return `Nothing would be sent: the position in ${symbol} is ${positionBefore} already.`;
  if (legs.length === 0) return `Nothing would be sent. ${error?.message ?? ''}`.trim();
  const steps = legs.map((leg, index) => step(order, leg, index)).join(', then, once that is filled, ');
  const ends = `The position would go from ${positionBefore ?? 0} to ${plannedPosition(order)}.`;
  return `${steps.charAt(0).toUpperCase()}${steps.slice(1)}. ${ends}${error ? ` ${error.message}` : ''}`;
}

function step({ positionBefore, symbol, legs }: Order, { leg, side, quantity }: Leg, index: number): string {
  const what = `${side} ${quantity}${index === 0 ? ` ${symbol}` : ''} at the market`;
  if (leg === 'exit') {
    const held = positionBefore !== null && sign(positionBefore) < 0 ? 'short' : 'long';
    const isAll = positionBefore !== null && positionBefore.replace('-', '') === quantity;
    return `${what} to ${isAll ? 'close' : 'reduce'} the ${held} position`;
  }
  const opens = side === 'buy' ? 'long' : 'short';
  const isNew = legs.length > 1 || positionBefore === null || sign(positionBefore) === 0;
  return `${what} to ${isNew ? 'open' : 'add to'} a ${opens} position`;
}
