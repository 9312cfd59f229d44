// The worker's view of the database.

import type { Account } from '../data/accounts.ts';
import type { AccountId, OrderId, UserId } from '../domain/ids.ts';
import type { Order } from '../domain/order.ts';

export interface WorkerOrders {
  find(id: OrderId): Promise<Order | null>;
  /** `queued` or `executing`, oldest first. */
  underWay(user: UserId): Promise<Order[]>;
  /** From now on nobody else's worker sends this user's orders; the token is this worker's own. */
  begin(user: UserId, token: string): Promise<void>;
  /**
   * Saves the order if it still has its version, and returns it with the next one. `settled`: the worker is done, and a
   * leg that is still open goes to fill verification in the same unit.
   */
  save(order: Order, options: { settled: boolean }): Promise<Order | 'taken'>;
  /**
   * The same, right before a leg is sent: only by the worker that began last, and `halted` for an entry of an account
   * that is halted by now, or whose user was deactivated.
   */
  saveSending(order: Order, token: string): Promise<Order | 'taken' | 'halted'>;
  findAccount(id: AccountId): Promise<Account | null>;
}
