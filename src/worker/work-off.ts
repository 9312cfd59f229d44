// What a worker makes of the orders of its user that stand `queued` or `executing` in the database, oldest first. A
// message is only a hint that there is one: those before it, whose messages were lost or whose worker died, come first.
// An order whose legs were provably never sent is traded if it is still fresh, a leg that the broker has is adopted, and
// the rest is `expired` or `unknown`: executeOrder decides that from what was saved.

import type { OrderId } from '../domain/ids.ts';
import { moveTo, type Order } from '../domain/order.ts';
import { type Execution, executeOrder, OrderTaken } from './execute.ts';

export interface WorkOff {
  /** Up to this order and with it; null: all of them. */
  readonly upTo: OrderId | null;
  /** Between two orders the worker may stop. */
  readonly signal: AbortSignal;
  readonly log: { error(context: object, text: string): void };
}

/** The outcome of the order that it was to go up to; null where that was not among them. */
export async function workOff(
  execution: Execution,
  orders: readonly Order[],
  { upTo, signal, log }: WorkOff,
): Promise<Order | null> {
  for (const order of orders) {
    if (signal.aborted) throw new Interrupted();
    if (order.id === upTo) return take(execution, order);
    try {
      await take(execution, order);
    } catch (fault) {
      if (fault instanceof OrderTaken) throw fault;
      log.error({ fault, order: order.id }, 'an order could not be recovered');
    }
  }
  return null;
}

/** The worker stops; what it has not come to is left to the next one. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

async function take(execution: Execution, order: Order): Promise<Order> {
  // Saving bumps the version: a predecessor that still lives can save, and therefore send, nothing more.
  const mine = order.status === 'executing' ? await execution.save(moveTo(order, 'executing')) : order;
  return executeOrder(execution, mine);
}
