// What a worker makes of the orders of its user that stand `queued` or `executing` in the database, oldest first. A
// message is only a hint that there is one: those before it, whose messages were lost or whose worker died, come first.
// An order whose legs were provably never sent is traded if it is still fresh, a leg that the broker has is adopted, and
// the rest is `expired` or `unknown`: executeOrder decides that from what was saved.

import type { OrderId } from '../domain/ids.ts';
import { moveTo, type Order } from '../domain/order.ts';
import { type Execution, executeOrder } from './execute.ts';

/** Up to the given order and with it, or all of them. Returns that order's outcome; null where it was not among them. */
export async function workOff(
  execution: Execution,
  orders: readonly Order[],
  upTo: OrderId | null,
  log: { error(context: object, text: string): void },
): Promise<Order | null> {
  for (const order of orders) {
    if (order.id === upTo) return take(execution, order);
    try {
      await take(execution, order);
    } catch (fault) {
      log.error({ fault, order: order.id }, 'an order could not be recovered');
    }
  }
  return null;
}

async function take(execution: Execution, order: Order): Promise<Order> {
  // Saving bumps the version: a predecessor that still lives can save, and therefore send, nothing more.
  const mine = order.status === 'executing' ? await execution.save(moveTo(order, 'executing')) : order;
  return executeOrder(execution, mine);
}
