// The worker's view of the database.

import type { SentOrder } from '../broker/broker.ts';
import type { Account } from '../data/accounts.ts';
import type { BrokerName } from '../domain/brokers.ts';
import type { AccountId, OrderId, Timestamp, UserId } from '../domain/ids.ts';
import type { Order } from '../domain/order.ts';
import type { Unsettled } from './work-off.ts';

export interface WorkerOrders {
  find(id: OrderId): Promise<Order | null>;
  /** Those with an order that is `queued` or `executing`. */
  accountsUnderWay(user: UserId): Promise<AccountId[]>;
  unsettled(user: UserId, account: AccountId): Promise<Unsettled>;
  /** From now on nobody else's worker saves or sends this user's orders; the token is this worker's own. */
  begin(user: UserId, token: string): Promise<void>;
  /**
   * Saves the order if it still has its version and the worker is the one that began last, and returns it with the next
   * version. `settled`: the worker is done, and a leg that is still open goes to fill verification in the same unit.
   */
  save(order: Order, token: string, options: { settled: boolean }): Promise<Order | 'taken'>;
  /** The same, right before a leg is sent: `halted` for an entry of an account that is, or whose user was deactivated. */
  saveSending(order: Order, token: string): Promise<Order | 'taken' | 'halted'>;
  /** Legs of real orders that were sent to the broker around that time, whoever's they are. */
  sentAround(broker: BrokerName, time: Timestamp): Promise<readonly SentOrder[]>;
  findAccount(id: AccountId): Promise<Account | null>;
  /** The credentials of this version of the account are no longer verified. */
  refuseCredentials(account: AccountId, version: number): Promise<void>;
}
