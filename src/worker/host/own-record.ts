// What a user's worker finds in our own record, of that user and no other.

import { BrokerUnavailable, type SentOrder } from '../../broker/broker.ts';
import type { Account } from '../../data/accounts/accounts.ts';
import type { BrokerName } from '../../domain/brokers.ts';
import type { AccountId, OrderId, Timestamp, UserId } from '../../domain/ids.ts';
import type { Order } from '../../domain/orders/order.ts';
import type { WorkerOrders } from '../orders.ts';

interface OwnRecordDeps {
  readonly orders: Pick<WorkerOrders, 'find' | 'findAccount' | 'refuseCredentials' | 'sentAround'>;
  readonly log: { warn(context: object, text: string): void };
}

export const ownRecord = ({ orders, log }: OwnRecordDeps, user: UserId) => ({
  /** Whoever asks, and for what: a user's worker connects that user's accounts, and no other. */
  async findAccount(id: AccountId): Promise<Account | null> {
    const account = await orders.findAccount(id);
    return account?.userId === user ? account : null;
  },

  async findOrder(id: OrderId): Promise<Order | null> {
    const order = await orders.find(id);
    return order?.userId === user ? order : null;
  },

  async refuseCredentials(account: AccountId, version: number): Promise<void> {
    const names = { user_id: user, trading_account_id: account };
    log.warn(names, 'the broker refuses the credentials: they are no longer verified');
    await orders
      .refuseCredentials(account, version)
      .catch((fault: unknown) => log.warn({ fault, ...names }, 'refused credentials could not be marked'));
  },

  /** A broker that is asked for an order by comparison must not be given another's. */
  async sentAround(broker: BrokerName, time: Timestamp): Promise<readonly SentOrder[]> {
    try {
      return await orders.sentAround(broker, time);
    } catch (fault) {
      log.warn({ fault, user_id: user }, 'what else was sent could not be read');
      throw new BrokerUnavailable('our own record of what was sent cannot be read at present');
    }
  },
});
