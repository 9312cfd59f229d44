// A worker's open broker connections: one per account and book, kept until it breaks or the account changes.

import {
  type Broker,
  type BrokerOrderState,
  BrokerUnavailable,
  CredentialsRejected,
  type OpenBroker,
} from '../broker/broker.ts';
import type { Account } from '../data/accounts.ts';
import type { AccountId } from '../domain/ids.ts';
import type { Order, OrderError } from '../domain/order.ts';
import { readPaperSettings } from '../domain/paper-settings.ts';
import type { BrokerName } from '../domain/symbol.ts';
import type { OpenCredentials } from './credentials.ts';
import { type Discretion, discretion } from './discretion.ts';

export interface BrokerAccess {
  readonly brokers: Readonly<Record<BrokerName, OpenBroker>>;
  /** Stands in for any broker in simulation. */
  readonly simulated: OpenBroker;
  readonly openCredentials: OpenCredentials;
  findAccount(id: AccountId): Promise<Account | null>;
  wait(ms: number): Promise<void>;
  /** A connector has its own limit, which ends the call itself; this one is for a connector that hangs. */
  readonly brokerTimeoutMs: number;
}

/** An account, or its simulated book. An order is one. */
type Target = Pick<Order, 'accountId' | 'simulation'>;

interface Connection {
  readonly version: number;
  readonly broker: Broker;
}

export interface Connections {
  /**
   * Runs the task on the order's connection. Where the broker is unavailable, which also means that the task has sent
   * nothing, it reconnects and runs it again, up to 3 times; then BrokerUnavailable is thrown.
   */
  use<T>(target: Target, task: (broker: Broker) => Promise<T>): Promise<T>;
  /** Opens the account's connection anew, whatever is open, and returns the account's version that it was opened for. */
  renew(account: AccountId): Promise<number>;
  close(): Promise<void>;
  count(): number;
}

const RETRIES = 3;
const FIRST_RETRY_MS = 100;

export function createConnections(access: BrokerAccess): Connections {
  const { brokers, simulated, openCredentials, findAccount, wait } = access;
  const open = new Map<string, Connection>();

  const keyOf = ({ accountId, simulation }: Target) => (simulation ? `sim:${accountId}` : accountId);

  async function connect(target: Target): Promise<Connection> {
    const account = await findAccount(target.accountId);
    if (!account) throw new BrokerUnavailable('the trading account was deleted');
    const key = keyOf(target);
    const known = open.get(key);
    if (known?.version === account.connectionVersion) return known;
    await disconnect(key);
    const broker = await (target.simulation ? openSimulation(account) : openReal(account));
    const connection = { version: account.connectionVersion, broker };
    open.set(key, connection);
    return connection;
  }

  const openSimulation = async ({ id, paper }: Account): Promise<Broker> =>
    guarded(
      await simulated({ id, paper, credentials: null }),
      discretion(null),
      limitOf(access.brokerTimeoutMs),
    );

  async function openReal(account: Account): Promise<Broker> {
    const { id, paper, sealedCredentials: sealed } = account;
    const credentials = sealed === null ? null : await openCredentials(sealed, account);
    const discreet = discretion(credentials);
    // A paper account rehearses a slow broker, not one that hangs.
    const limit = limitOf(access.brokerTimeoutMs + latencyOf(paper));
    try {
      const opened = await limit(() => brokers[account.brokerName]({ id, paper, credentials }));
      return guarded(opened, discreet, limit);
    } catch (fault) {
      if (fault instanceof BrokerUnavailable) throw told(fault, discreet);
      // Whatever broke in there had the credentials in hand: its own text is not shown to anybody.
      throw new BrokerUnavailable('the connection could not be opened', { cause: fault });
    }
  }

  async function disconnect(key: string): Promise<void> {
    const known = open.get(key);
    open.delete(key);
    // A connection that is broken may not close cleanly either; it is gone for us in any case.
    await known?.broker.close().catch(() => {});
  }

  async function withConnection<T>(target: Target, task: (connection: Connection) => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await task(await connect(target));
      } catch (fault) {
        if (!(fault instanceof BrokerUnavailable)) throw fault;
        await disconnect(keyOf(target));
        if (attempt === RETRIES || fault instanceof CredentialsRejected) throw fault;
        await wait(FIRST_RETRY_MS * 2 ** attempt);
      }
    }
  }

  return {
    use: (target, task) => withConnection(target, ({ broker }) => task(broker)),
    async renew(accountId) {
      await disconnect(accountId);
      return withConnection({ accountId, simulation: false }, async ({ version }) => version);
    },
    async close() {
      await Promise.all([...open.keys()].map(disconnect));
    },
    count: () => open.size,
  };
}

/** A fault inside a connector is never ours: after `place` the outcome is unknown, a question went unanswered. */
function guarded(broker: Broker, discreet: Discretion, limit: Limit): Broker {
  const ask = <Answer>(question: () => Promise<Answer>): Promise<Answer> =>
    limit(question).catch((fault: unknown) => {
      throw told(fault, discreet);
    });
  const said = (error: OrderError): OrderError => ({ ...error, message: discreet(error.message) });
  const seen = (state: BrokerOrderState): BrokerOrderState =>
    state.reason === null ? state : { ...state, reason: discreet(state.reason) };
  return {
    capabilities: broker.capabilities,
    async resolve(symbol) {
      const found = await ask(() => broker.resolve(symbol));
      return 'rejection' in found ? { rejection: said(found.rejection) } : found;
    },
    position: (instrument) => ask(() => broker.position(instrument)),
    positions: () => ask(() => broker.positions()),
    instruments: (query) => ask(() => broker.instruments(query)),
    async place(order) {
      try {
        const placed = await limit(() => broker.place(order));
        switch (placed.outcome) {
          case 'accepted':
            return { ...placed, state: seen(placed.state) };
          case 'rejected':
            return { ...placed, error: said(placed.error) };
          case 'unknown':
            return { ...placed, reason: discreet(placed.reason) };
        }
      } catch (fault) {
        if (fault instanceof BrokerUnavailable) throw told(fault, discreet);
        return { outcome: 'unknown', reason: discreet(messageOf(fault)) };
      }
    },
    async find(id, symbol) {
      const state = await ask(() => broker.find(id, symbol));
      return state && seen(state);
    },
    close: () => ask(() => broker.close()),
  };
}

type Limit = <Answer>(call: () => Promise<Answer>) => Promise<Answer>;

/** After the connector's own time, so that its word counts where it has one. */
const GRACE_MS = 1_000;

function limitOf(timeoutMs: number): Limit {
  return async (call) => {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new Error('the broker did not answer in time')),
      timeoutMs + GRACE_MS,
    );
    try {
      // Promise.try, because a connector may throw before it returns a promise.
      return await Promise.race([Promise.try(call), late.promise]);
    } finally {
      clearTimeout(timer);
    }
  };
}

function latencyOf(paper: unknown): number {
  const reading = readPaperSettings(paper);
  return 'settings' in reading ? reading.settings.latency_ms : 0;
}

/** Made anew, because the connector's own carries its text in its stack and its cause too. */
function told(fault: unknown, discreet: Discretion): BrokerUnavailable {
  const text = discreet(messageOf(fault));
  return fault instanceof CredentialsRejected ? new CredentialsRejected(text) : new BrokerUnavailable(text);
}

const messageOf = (fault: unknown): string => (fault instanceof Error ? fault.message : String(fault));
