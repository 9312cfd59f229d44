// A worker's open broker connections: one per account and book, kept until it breaks or the account changes.

import { type Broker, BrokerUnavailable, type OpenBroker } from '../broker/broker.ts';
import type { Account } from '../data/accounts.ts';
import type { Order } from '../domain/order.ts';
import type { BrokerName } from '../domain/symbol.ts';

export interface BrokerAccess {
  readonly brokers: Readonly<Record<BrokerName, OpenBroker>>;
  /** Stands in for any broker in simulation. */
  readonly simulated: OpenBroker;
  findAccount(id: Order['accountId']): Promise<Account | null>;
  wait(ms: number): Promise<void>;
}

export interface Connections {
  /**
   * Runs the task on the order's connection. Where the broker is unavailable, which also means that the task has sent
   * nothing, it reconnects and runs it again, up to 3 times; then BrokerUnavailable is thrown.
   */
  use<T>(order: Order, task: (broker: Broker) => Promise<T>): Promise<T>;
  close(): Promise<void>;
  count(): number;
}

const RETRIES = 3;
const FIRST_RETRY_MS = 100;

export function createConnections({ brokers, simulated, findAccount, wait }: BrokerAccess): Connections {
  const open = new Map<string, { version: number; broker: Broker }>();

  const keyOf = (order: Order) => (order.simulation ? `sim:${order.accountId}` : order.accountId);

  async function connect(order: Order): Promise<Broker> {
    const account = await findAccount(order.accountId);
    if (!account) throw new BrokerUnavailable('the trading account was deleted');
    const key = keyOf(order);
    const known = open.get(key);
    if (known?.version === account.connectionVersion) return known.broker;
    await disconnect(key);
    const broker = guarded(await (order.simulation ? simulated : brokers[account.brokerName])(account));
    open.set(key, { version: account.connectionVersion, broker });
    return broker;
  }

  async function disconnect(key: string): Promise<void> {
    const known = open.get(key);
    open.delete(key);
    // A connection that is broken may not close cleanly either; it is gone for us in any case.
    await known?.broker.close().catch(() => {});
  }

  return {
    async use(order, task) {
      for (let attempt = 0; ; attempt++) {
        try {
          return await task(await connect(order));
        } catch (fault) {
          if (!(fault instanceof BrokerUnavailable)) throw fault;
          await disconnect(keyOf(order));
          if (attempt === RETRIES) throw fault;
          await wait(FIRST_RETRY_MS * 2 ** attempt);
        }
      }
    },
    async close() {
      await Promise.all([...open.keys()].map(disconnect));
    },
    count: () => open.size,
  };
}

/** A fault inside a connector is never ours: after `place` the outcome is unknown, a question went unanswered. */
function guarded(broker: Broker): Broker {
  const asUnavailable = (fault: unknown): never => {
    if (fault instanceof BrokerUnavailable) throw fault;
    throw new BrokerUnavailable(messageOf(fault));
  };
  return {
    capabilities: broker.capabilities,
    resolve: (symbol) => broker.resolve(symbol).catch(asUnavailable),
    position: (instrument) => broker.position(instrument).catch(asUnavailable),
    positions: () => broker.positions().catch(asUnavailable),
    instruments: (query) => broker.instruments(query).catch(asUnavailable),
    place: (order) =>
      broker.place(order).catch((fault: unknown) => {
        if (fault instanceof BrokerUnavailable) throw fault;
        return { outcome: 'unknown', reason: messageOf(fault) };
      }),
    find: (id, symbol) => broker.find(id, symbol).catch(asUnavailable),
    close: () => broker.close(),
  };
}

const messageOf = (fault: unknown): string => (fault instanceof Error ? fault.message : String(fault));
