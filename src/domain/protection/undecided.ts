// What orders whose end nobody knows may yet mean for a position's protection.

import { isOpenLeg, type Order } from '../orders/order.ts';
import { asksForStop } from './wish.ts';

const openEntries = ({ legs }: Order, instrument: string) =>
  legs.filter((leg) => leg.leg === 'entry' && leg.instrument === instrument && isOpenLeg(leg));

/** An entry that may yet be filled there. One that rests at its price is waited for by nobody: whoever sees its fill says so. */
export const mayOpen = (order: Order, instrument: string): boolean =>
  openEntries(order, instrument).some(
    ({ status }) => !(order.priced && (status === 'placed' || status === 'partially_filled')),
  );

/**
 * It asks for a stop, and nobody knows whether it was filled. Of one that rests it is known: what it has filled is wanted, and the rest
 * is not there.
 */
export const mayWantStop = (order: Order, instrument: string): boolean =>
  order.wish !== undefined &&
  asksForStop(order.wish.fromFlat) &&
  openEntries(order, instrument).some(({ status }) => status === 'sending' || status === 'unknown');
