// The worker's view of the database.

import type { Account } from '../data/accounts.ts';
import type { AccountId, OrderId, UserId } from '../domain/ids.ts';
import type { Order } from '../domain/order.ts';

export interface WorkerOrders {
  find(id: OrderId): Promise<Order | null>;
  /** `queued` or `executing`, oldest first. */
  underWay(user: UserId): Promise<Order[]>;
  /**
   * Saves the order if it still has its version, and returns it with the next one; null where another worker has
   * taken it over. `settled`: the worker is done, and a leg that is still open goes to fill verification in the same
   * unit.
   */
  save(order: Order, options: { settled: boolean }): Promise<Order | null>;
  findAccount(id: AccountId): Promise<Account | null>;
  isActive(user: UserId): Promise<boolean>;
}
