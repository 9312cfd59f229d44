// An order has come to its end: one line in the log of whoever saved it, and one more in its count.

import { type Counters, venueOf } from '../../domain/counters.ts';
import { orderLine } from '../../domain/orders/log-line.ts';
import { hasEnded, type Order } from '../../domain/orders/order.ts';

export interface EndDeps {
  readonly clock: { now(): number };
  readonly log: { info(context: object, text: string): void };
  readonly counters: Pick<Counters, 'orderEnded'>;
}

/** Called once the end is committed: versions see to it that nobody else has committed one. */
export function tellEnd({ clock, log, counters }: EndDeps, order: Order): void {
  if (!hasEnded(order.status)) return;
  counters.orderEnded(venueOf(order), order.status);
  log.info(orderLine(order, clock.now()), 'order ended');
}
