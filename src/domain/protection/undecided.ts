// What orders whose end nobody knows may yet mean for a position's protection.

import { millis } from '../ids.ts';
import { isOpenLeg, type Order } from '../orders/order.ts';
import { FORGOTTEN_MS, isSettledIn } from '../orders/other-legs.ts';
import type { Protection } from './protection.ts';
import { asksForStop } from './wish.ts';

const openEntries = ({ legs }: Order, instrument: string) =>
  legs.filter((leg) => leg.leg === 'entry' && leg.instrument === instrument && isOpenLeg(leg));

/** An entry that may yet be filled there. One that rests at its price is waited for by nobody: whoever sees its fill says so. */
export const mayOpen = (order: Order, instrument: string): boolean =>
  openEntries(order, instrument).some((leg) => !isSettledIn({ leg, order }));

/**
 * It asks for a stop, and may have been filled: what went to the market is, a moment before that is known. Of one that rests at its price
 * it is known: what it has filled is wanted, and the rest is not there.
 */
export const mayWantStop = (order: Order, instrument: string): boolean =>
  order.wish !== undefined && asksForStop(order.wish.fromFlat) && mayOpen(order, instrument);

/**
 * Nothing is held, and nobody learns what became of the order that asks for it: it is looked at as what stands is. Where something was held and
 * protected before, that was seen last then.
 */
export function isForsaken(
  { state, legs, wantedBy, heard, unprotectedSince, seenAt }: Protection,
  now: number,
): boolean {
  const since = state === 'armed' ? unprotectedSince : state === 'standing' ? seenAt : null;
  // What is yet to be taken in was not there then.
  const isAwaited = state === 'armed' || (wantedBy.length > 0 && wantedBy.every((id) => heard.includes(id)));
  return legs.length === 0 && isAwaited && since !== null && now - millis(since) > FORGOTTEN_MS;
}
