// What a worker does first: resolves every order of its user that a predecessor left `queued` or `executing`. An order
// whose legs were provably never sent is traded if it is still fresh, a leg that the broker has is adopted, and the
// rest is `expired` or `unknown`: executeOrder decides that from what was saved.

import { moveTo, type Order } from '../domain/order.ts';
import { type Execution, executeOrder } from './execute.ts';

export async function recoverOrders(
  execution: Execution,
  orders: readonly Order[],
  log: { error(context: object, text: string): void },
): Promise<void> {
  for (const order of orders) {
    try {
      // Saving bumps the version: a predecessor that still lives can save, and therefore send, nothing more.
      const mine = order.status === 'executing' ? await execution.save(moveTo(order, 'executing')) : order;
      await executeOrder(execution, mine);
    } catch (fault) {
      log.error({ fault, order: order.id }, 'an order could not be recovered');
    }
  }
}
