// A worker's open broker connections: one per account and book, shared by the account's lanes, kept until it breaks or
// the account changes. One that is replaced is closed when nobody uses it any more.

import {
  AccountUnfit,
  type Broker,
  BrokerBusy,
  BrokerUnavailable,
  CredentialsRejected,
  type Fitness,
  type Market,
  type OpenBroker,
  type OpenSimulation,
  type SentOrder,
} from '../../broker/broker.ts';
import type { Account } from '../../data/accounts/accounts.ts';
import { type BrokerName, NEEDS_CREDENTIALS } from '../../domain/brokers.ts';
import type { Counters } from '../../domain/counters.ts';
import type { AccountId, Timestamp } from '../../domain/ids.ts';
import type { Order } from '../../domain/orders/order.ts';
import { readPaperSettings } from '../../domain/paper-settings.ts';
import type { Tracing } from '../../domain/tracing.ts';
import type { OpenCredentials } from './credentials.ts';
import { discretion } from './discretion.ts';
import type { Gates } from './gate.ts';
import { inTime, type Line, openLine, told } from './line.ts';
import { createPresenting, type Presented, RefusedBefore, refusalIn } from './presenting.ts';
import type { Rates } from './rates.ts';
import { admitReader, currentReader, onBehalfOf, ReadsLimited } from './reader.ts';
import { createImpatience, MarketSilent } from './rehearsing.ts';
import { watched } from './watched-calls.ts';

export interface BrokerAccess {
  readonly brokers: Readonly<Record<BrokerName, OpenBroker>>;
  /** Stands in for any broker in simulation. */
  readonly simulated: OpenSimulation;
  readonly openCredentials: OpenCredentials;
  findAccount(id: AccountId): Promise<Account | null>;
  /** The broker refuses these credentials for good: no entry is to be made with them until they are verified again. */
  refuseCredentials(account: AccountId, version: number): Promise<void>;
  /** Legs that were sent to the broker around that time, whoever's they are. */
  sentAround(broker: BrokerName, time: Timestamp): Promise<readonly SentOrder[]>;
  wait(ms: number): Promise<void>;
  /** A connector has its own limit, which ends the call itself; this one is for a connector that hangs. */
  readonly brokerTimeoutMs: number;
  /** Of this process, and not of this worker alone. */
  readonly gates: Gates;
  readonly rates: Rates;
  readonly counters: Pick<Counters, 'brokerCalled'>;
  readonly tracing: Pick<Tracing, 'during'>;
}

/** An account, or its simulated book. An order is one. `version`: the account's, where it was just read. */
type Target = Pick<Order, 'accountId' | 'simulation'> & { readonly version?: number | null };
type Wanted = Target & Pick<UseOptions, 'mayTryRefused' | 'isTrading'>;

interface UseOptions {
  /** How often it reconnects where the broker is unavailable; 3 times, where nothing is said. */
  readonly retries?: number;
  /** An exit, a close or a flatten: credentials that were refused before are presented all the same, once. */
  readonly mayTryRefused?: boolean;
  /** An order: nothing is traded by credentials that were never verified, which may be of another account at the broker. */
  readonly isTrading?: boolean;
}

class NeverVerified extends BrokerUnavailable {
  constructor() {
    super('new credentials were entered, and were not verified yet');
  }
}

interface Connection extends Presented {
  readonly line: Line;
  /** Its credentials were verified, whether or not they were refused since. */
  isProven: boolean;
  users: number;
  isReplaced: boolean;
}

export interface Connections {
  /**
   * Runs the task on the account's connection. Where the broker is unavailable, which also means that the task has sent
   * nothing, it reconnects and runs it again, up to `retries` times; then BrokerUnavailable is thrown. A broker that is
   * busy is not asked again. One that refuses credentials which were good until now is asked twice more, within seconds
   * (presenting.ts); CredentialsRejected then means that they are refused.
   */
  use<T>(target: Target, task: (line: Line) => Promise<T>, options?: UseOptions): Promise<T>;
  /** Presents the account's credentials anew, whatever is open or was refused. */
  verify(account: AccountId): Promise<Fitness & { readonly version: number }>;
  close(): void;
  count(): number;
}

const FINAL = [BrokerBusy, CredentialsRejected, AccountUnfit, MarketSilent];
const RETRIES = 3;
const FIRST_RETRY_MS = 100;

export function createConnections(access: BrokerAccess): Connections {
  const { brokers, simulated, openCredentials, findAccount, wait } = access;
  const open = new Map<string, Connection>();
  const opening = new Map<string, Promise<Connection>>();
  const { refusalOf, patiently, answered, forget } = createPresenting(access);

  const keyOf = ({ accountId, simulation }: Target) => (simulation ? `sim:${accountId}` : accountId);

  async function connect(target: Wanted): Promise<Connection> {
    const key = keyOf(target);
    const known = open.get(key);
    if (known && known.version === target.version && mayUse(target, known)) return known;
    // Lanes of one account may ask at once: one connection serves them all.
    const underWay = opening.get(key) ?? openCurrent(target).finally(() => opening.delete(key));
    opening.set(key, underWay);
    const opened = await underWay.catch((fault: unknown) => {
      // Begun by one who may not present them.
      if (target.mayTryRefused && fault instanceof RefusedBefore) return connect(target);
      if (!target.isTrading && fault instanceof NeverVerified) return connect(target);
      // Begun by one who has read enough: who trades does not wait for that.
      if (fault instanceof ReadsLimited && !currentReader()) return connect(target);
      throw fault;
    });
    // Begun before the account was changed: not for who has read it since.
    if (typeof target.version === 'number' && opened.version < target.version) return connect(target);
    if (!mayUse(target, opened)) throw new NeverVerified();
    return opened;
  }

  async function openCurrent(target: Wanted): Promise<Connection> {
    const key = keyOf(target);
    const account = await existing(target.accountId);
    const isProven = wereVerified(account);
    if (!mayUse(target, { isProven })) throw new NeverVerified();
    const known = open.get(key);
    if (known?.version === account.connectionVersion) {
      known.isProven = isProven;
      return known;
    }
    const words = target.simulation ? undefined : refusalOf(account.id, account.connectionVersion);
    if (words !== undefined && !target.mayTryRefused) throw new RefusedBefore(words);
    return replace(key, await openAccount(account, target));
  }

  const presentedOf = ({ id, connectionVersion: version, credentialsVerified }: Account): Presented => ({
    version,
    isTrusted: credentialsVerified && refusalOf(id, version) === undefined,
  });

  const wereVerified = ({ sealedCredentials, credentialsVerified, credentialsRefused }: Account) =>
    sealedCredentials === null || credentialsVerified || credentialsRefused;

  const mayUse = ({ simulation, isTrading }: Wanted, { isProven }: Pick<Connection, 'isProven'>) =>
    simulation || !isTrading || isProven;

  async function existing(id: AccountId): Promise<Account> {
    const account = await findAccount(id);
    if (!account) throw new BrokerUnavailable('the trading account was deleted');
    return account;
  }

  /** `limits`: the connection's own word. */
  function gatesOf({ id, brokerName, environment }: Account, isSimulated: boolean, limits: string) {
    const account = isSimulated ? `simulated ${id}` : id;
    // What a broker refuses a simulation is kept from all whom it means by the real line, where that asks.
    const address = isSimulated ? account : `${brokerName} ${environment}`;
    const all = { limits, account, address };
    return { gate: access.gates(all), chartGate: access.gates({ ...all, question: `charts ${address}` }) };
  }

  const rateOf = ({ id, brokerName, environment }: Account) =>
    access.rates({ broker: brokerName, environment, account: id });

  async function openAccount(account: Account, { simulation }: Target): Promise<Connection> {
    const reader = simulation ? undefined : currentReader();
    if (reader) await admitReader(reader, rateOf(account));
    // Where even connecting is limited: whom the broker counts together is known only from there on.
    const opening = `open ${account.brokerName} ${simulation ? 'simulated' : account.id}`;
    const { gate } = gatesOf(account, simulation, opening);
    const busyMs = gate.busyMs();
    if (busyMs > 0) throw new BrokerBusy('the broker limits the rate of connections', busyMs);
    const presented = presentedOf(account);
    const line = await (simulation ? openSimulation(account) : openReal(account)).catch((fault: unknown) => {
      if (!(fault instanceof BrokerBusy)) throw simulation ? fault : refusalIn(fault, presented);
      gate.close(fault.retryAfterMs, fault.scope);
      throw new BrokerBusy(fault.message, gate.busyMs(), fault.scope);
    });
    return { ...presented, line, isProven: wereVerified(account), users: 0, isReplaced: false };
  }

  const openSimulation = async (account: Account): Promise<Line> => {
    const opened = await openInTime(
      (signal) => simulated({ ...account, credentials: null }, marketOf(account), signal),
      access.brokerTimeoutMs,
    );
    return openLine(opened, {
      credentialsVersion: 0,
      discreet: discretion(null),
      ...gatesOf(account, true, opened.limits),
      timeoutMs: access.brokerTimeoutMs,
      ...watched(access, 'simulation'),
    });
  };

  /** What the account's own broker has. A simulation needs no credentials: without good ones there is nobody to ask. */
  function marketOf(account: Account): Market {
    const { id, userId, brokerName, sealedCredentials, connectionVersion: version } = account;
    const isUsable = !NEEDS_CREDENTIALS[brokerName] || sealedCredentials !== null;
    const inPatience = createImpatience();
    /** Who rehearses trades nothing there: he leaves to orders what is kept for them, and waits as at a busy broker. */
    const rehearsing = { user: userId, pay: async () => {} };
    const ask = <T>(task: (line: Line) => Promise<T>) =>
      onBehalfOf(currentReader() ?? rehearsing, () =>
        patiently(id, () => attempt({ accountId: id, simulation: false, version }, task)),
      ).catch((fault: unknown) => {
        if (!(fault instanceof ReadsLimited) || currentReader()) throw fault;
        throw new BrokerBusy(fault.message, fault.retryAfterMs);
      });
    return {
      async resolve(symbol) {
        if (!isUsable) return null;
        try {
          return await ask((line) => line.resolve(symbol));
        } catch (fault) {
          if (fault instanceof CredentialsRejected) return null;
          throw fault;
        }
      },
      quote: (instrument) => ask((line) => inPatience(() => line.quote(instrument))),
    };
  }

  async function openReal(account: Account): Promise<Line> {
    const { id, environment, marginMode, paper, brokerName, sealedCredentials: sealed } = account;
    const credentials = sealed === null ? null : await openCredentials(sealed, account);
    const discreet = discretion(credentials);
    const meter = rateOf(account);
    // A paper account rehearses a slow broker, not one that hangs.
    const timeoutMs = access.brokerTimeoutMs + latencyOf(paper);
    try {
      const opened = await openInTime(
        (signal) => brokers[brokerName]({ id, environment, marginMode, paper, credentials, meter }, signal),
        timeoutMs,
      );
      const credentialsVersion = NEEDS_CREDENTIALS[brokerName] ? account.credentialsVersion : 0;
      return openLine(opened, {
        credentialsVersion,
        discreet,
        ...gatesOf(account, false, opened.limits),
        rate: meter,
        timeoutMs,
        ...watched(access, brokerName),
        answered: () => answered(id),
        rivals: ({ sentAt }) => access.sentAround(brokerName, sentAt),
      });
    } catch (fault) {
      if (fault instanceof BrokerUnavailable) throw told(fault, discreet);
      // Whatever broke in there had the credentials in hand: its own text is not shown to anybody.
      throw new BrokerUnavailable('the connection could not be opened', { cause: fault });
    }
  }

  function replace(key: string, connection: Connection): Connection {
    drop(key, open.get(key));
    open.set(key, connection);
    return connection;
  }

  function drop(key: string, connection: Connection | undefined): void {
    if (!connection) return;
    if (open.get(key) === connection) open.delete(key);
    connection.isReplaced = true;
    closeUnused(connection);
  }

  function closeUnused(connection: Connection): void {
    if (connection.isReplaced && connection.users === 0) connection.line.close();
  }

  async function attempt<T>(target: Wanted, task: (line: Line) => Promise<T>): Promise<T> {
    const key = keyOf(target);
    let connection: Connection | undefined;
    try {
      connection = await connect(target);
      connection.users++;
      return await task(connection.line);
    } catch (fault) {
      const isGood = fault instanceof BrokerBusy || fault instanceof MarketSilent;
      if (fault instanceof BrokerUnavailable && !isGood) drop(key, connection);
      throw connection && !target.simulation ? refusalIn(fault, connection) : fault;
    } finally {
      if (connection) {
        connection.users--;
        closeUnused(connection);
      }
    }
  }

  async function again<T>(retries: number, work: () => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries++) {
      try {
        return await work();
      } catch (fault) {
        const isFinal = FINAL.some((kind) => fault instanceof kind);
        if (!(fault instanceof BrokerUnavailable) || isFinal || tries === retries) throw fault;
        await wait(FIRST_RETRY_MS * 2 ** tries);
      }
    }
  }

  async function verifyAnew(accountId: AccountId): ReturnType<Connections['verify']> {
    const target = { accountId, simulation: false };
    // Beside what is open: an order may be on its way over that.
    const account = await existing(accountId);
    const connection = await openAccount(account, target);
    const checked = account.allowedSymbols?.slice(0, MOST_CHECKED);
    const { warnings, ...fitness } = await connection.line.verify(checked).catch((fault: unknown) => {
      connection.line.close();
      throw refusalIn(fault, connection);
    });
    const unlisted = await unlistedOf(connection.line, account.allowedSymbols);
    forget(accountId);
    replace(keyOf(target), connection);
    return { ...fitness, warnings: [...warnings, ...unlisted], version: connection.version };
  }

  return {
    use(target, task, { retries = RETRIES, ...options } = {}) {
      const run = () => again(retries, () => attempt({ ...target, ...options }, task));
      return target.simulation ? run() : patiently(target.accountId, run);
    },
    verify: (accountId) => patiently(accountId, () => again(RETRIES, () => verifyAnew(accountId))),
    close() {
      for (const [key, connection] of open) drop(key, connection);
    },
    count: () => open.size,
  };
}

/** So many are asked for: a long list is not to use up what the broker answers in a minute. */
const MOST_CHECKED = 20;

/** Symbols that the account allows and its broker does not have, in words. */
async function unlistedOf(line: Line, symbols: readonly string[] = []): Promise<string[]> {
  const warnings: string[] = [];
  try {
    for (const symbol of symbols.slice(0, MOST_CHECKED)) {
      const found = await line.resolve(symbol);
      if ('rejection' in found)
        warnings.push(`An allowed symbol can never trade. ${found.rejection.message}`);
    }
  } catch (fault) {
    // The credentials are good all the same.
    if (!(fault instanceof BrokerUnavailable || fault instanceof ReadsLimited)) throw fault;
  }
  return warnings;
}

/** One that opens after all, when nobody waits for it any more, is closed. */
async function openInTime(
  open: (signal: AbortSignal) => Promise<Broker>,
  timeoutMs: number,
): Promise<Broker> {
  let opening: Promise<Broker> | undefined;
  try {
    return await inTime((signal) => {
      opening = open(signal);
      return opening;
    }, timeoutMs);
  } catch (fault) {
    opening?.then((late) => late.close()).catch(() => {});
    throw fault;
  }
}

function latencyOf(paper: unknown): number {
  const reading = readPaperSettings(paper);
  return 'settings' in reading ? reading.settings.latency_ms : 0;
}
