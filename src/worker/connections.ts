// A worker's open broker connections: one per account and book, kept until it breaks or the account changes.

import {
  AccountUnfit,
  type Broker,
  BrokerBusy,
  type BrokerOrderState,
  BrokerUnavailable,
  CredentialsRejected,
  type Fitness,
  type Market,
  type OpenBroker,
  type OpenSimulation,
} from '../broker/broker.ts';
import type { Account } from '../data/accounts.ts';
import { type BrokerName, NEEDS_CREDENTIALS } from '../domain/brokers.ts';
import type { AccountId } from '../domain/ids.ts';
import type { Order, OrderError } from '../domain/order.ts';
import { readPaperSettings } from '../domain/paper-settings.ts';
import type { OpenCredentials } from './credentials.ts';
import { type Discretion, discretion } from './discretion.ts';

export interface BrokerAccess {
  readonly brokers: Readonly<Record<BrokerName, OpenBroker>>;
  /** Stands in for any broker in simulation. */
  readonly simulated: OpenSimulation;
  readonly openCredentials: OpenCredentials;
  findAccount(id: AccountId): Promise<Account | null>;
  wait(ms: number): Promise<void>;
  /** How long a call may take. */
  readonly brokerTimeoutMs: number;
}

/** An account, or its simulated book. An order is one. */
type Target = Pick<Order, 'accountId' | 'simulation'>;

/** A broker's calls, each with a signal of its own that aborts when its time is over. */
type Timed<Call> = Call extends (...asked: [...infer Asked, AbortSignal]) => infer Answer
  ? (...asked: Asked) => Answer
  : never;
export type GuardedBroker = Pick<Broker, 'capabilities' | 'limits' | 'close'> & {
  readonly [Name in Exclude<keyof Broker, 'capabilities' | 'limits' | 'close'>]: Timed<Broker[Name]>;
};

interface Connection {
  readonly version: number;
  readonly broker: GuardedBroker;
}

export interface Connections {
  /**
   * Runs the task on the order's connection. Where the broker is unavailable, which also means that the task has sent
   * nothing, it reconnects and runs it again, up to 3 times; then BrokerUnavailable is thrown.
   */
  use<T>(target: Target, task: (broker: GuardedBroker) => Promise<T>): Promise<T>;
  /**
   * Opens the account's connection anew, whatever is open, and lets the broker say whether the account can be traded.
   * Returns the account's version that it was opened for.
   */
  renew(account: AccountId): Promise<{ readonly version: number } & Fitness>;
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

  async function openSimulation(account: Account): Promise<GuardedBroker> {
    const { id, environment, paper } = account;
    const limit = limitOf(access.brokerTimeoutMs);
    const opened = await limit((signal) =>
      simulated({ id, environment, paper, credentials: null }, marketOf(account), signal),
    );
    return guarded(opened, discretion(null), limit);
  }

  /** What the account's own broker has. A simulation needs no credentials: without good ones there is nobody to ask. */
  function marketOf({ id, brokerName, sealedCredentials }: Account): Market {
    const isUsable = !NEEDS_CREDENTIALS[brokerName] || sealedCredentials !== null;
    const ask = <T>(task: (broker: GuardedBroker) => Promise<T>) =>
      attempt({ accountId: id, simulation: false }, ({ broker }) => task(broker));
    return {
      async resolve(symbol) {
        if (!isUsable) return null;
        try {
          return await ask((broker) => broker.resolve(symbol));
        } catch (fault) {
          if (fault instanceof CredentialsRejected) return null;
          throw fault;
        }
      },
      quote: (instrument) => ask((broker) => broker.quote(instrument)),
    };
  }

  async function openReal(account: Account): Promise<GuardedBroker> {
    const { id, environment, paper, sealedCredentials: sealed } = account;
    const credentials = sealed === null ? null : await openCredentials(sealed, account);
    const discreet = discretion(credentials);
    // A paper account rehearses a slow broker, not one that hangs.
    const limit = limitOf(access.brokerTimeoutMs + latencyOf(paper));
    try {
      const opened = await limit((signal) =>
        brokers[account.brokerName]({ id, environment, paper, credentials }, signal),
      );
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
    for (let tries = 0; ; tries++) {
      try {
        return await attempt(target, task);
      } catch (fault) {
        if (!(fault instanceof BrokerUnavailable) || tries === RETRIES || isFinal(fault)) throw fault;
        await wait(FIRST_RETRY_MS * 2 ** tries);
      }
    }
  }

  async function attempt<T>(target: Target, task: (connection: Connection) => Promise<T>): Promise<T> {
    try {
      return await task(await connect(target));
    } catch (fault) {
      if (fault instanceof BrokerUnavailable) await disconnect(keyOf(target));
      throw fault;
    }
  }

  return {
    use: (target, task) => withConnection(target, ({ broker }) => task(broker)),
    async renew(accountId) {
      await disconnect(accountId);
      return withConnection({ accountId, simulation: false }, async ({ version, broker }) => ({
        version,
        ...(await broker.verify()),
      }));
    },
    async close() {
      await Promise.all([...open.keys()].map(disconnect));
    },
    count: () => open.size,
  };
}

/** To try again changes nothing. */
const isFinal = (fault: BrokerUnavailable): boolean =>
  fault instanceof CredentialsRejected || fault instanceof AccountUnfit;

/** A fault inside a connector is never ours: after `place` the outcome is unknown, a question went unanswered. */
function guarded(broker: Broker, discreet: Discretion, limit: Limit): GuardedBroker {
  const ask = <Answer>(question: Limited<Answer>): Promise<Answer> =>
    limit(question).catch((fault: unknown) => {
      throw told(fault, discreet);
    });
  const said = (error: OrderError): OrderError => ({ ...error, message: discreet(error.message) });
  const seen = (state: BrokerOrderState): BrokerOrderState =>
    state.reason === null ? state : { ...state, reason: discreet(state.reason) };
  return {
    capabilities: broker.capabilities,
    limits: broker.limits,
    async verify() {
      const { warnings } = await ask((signal) => broker.verify(signal));
      return { warnings: warnings.map(discreet) };
    },
    async resolve(symbol) {
      const found = await ask((signal) => broker.resolve(symbol, signal));
      return 'rejection' in found ? { rejection: said(found.rejection) } : found;
    },
    position: (instrument) => ask((signal) => broker.position(instrument, signal)),
    positions: () => ask((signal) => broker.positions(signal)),
    instruments: (search) => ask((signal) => broker.instruments(search, signal)),
    balance: () => ask((signal) => broker.balance(signal)),
    quote: (instrument) => ask((signal) => broker.quote(instrument, signal)),
    openOrders: () => ask((signal) => broker.openOrders(signal)),
    cancel: (order) => ask((signal) => broker.cancel(order, signal)),
    async place(order) {
      try {
        const placed = await limit((signal) => broker.place(order, signal));
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
    async find(order) {
      const state = await ask((signal) => broker.find(order, signal));
      return state && seen(state);
    },
    close: () => ask(() => broker.close()),
  };
}

type Limited<Answer> = (signal: AbortSignal) => Promise<Answer>;
type Limit = <Answer>(call: Limited<Answer>) => Promise<Answer>;

/** After the signal, so that the connector's own word counts; one that does not heed it is left alone. */
const GRACE_MS = 1_000;

function limitOf(timeoutMs: number): Limit {
  return async (call) => {
    const over = new AbortController();
    const late = Promise.withResolvers<never>();
    const tooLate = new Error('the broker did not answer in time');
    const timers = [
      setTimeout(() => over.abort(tooLate), timeoutMs),
      setTimeout(() => late.reject(tooLate), timeoutMs + GRACE_MS),
    ];
    try {
      // Promise.try, because a connector may throw before it returns a promise.
      return await Promise.race([Promise.try(call, over.signal), late.promise]);
    } finally {
      for (const timer of timers) clearTimeout(timer);
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
  if (fault instanceof BrokerBusy) return new BrokerBusy(text, fault.retryAfterMs);
  if (fault instanceof CredentialsRejected) return new CredentialsRejected(text);
  return fault instanceof AccountUnfit ? new AccountUnfit(text) : new BrokerUnavailable(text);
}

const messageOf = (fault: unknown): string => (fault instanceof Error ? fault.message : String(fault));
