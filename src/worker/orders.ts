// The worker's view of the database.

import type { Beside, SentOrder } from '../broker/broker.ts';
import type { Account } from '../data/accounts/accounts.ts';
import type { BrokerName } from '../domain/brokers.ts';
import type { Decimal } from '../domain/decimal.ts';
import type { Guards } from '../domain/guards/guards.ts';
import type { AccountId, OrderId, Timestamp, UserId } from '../domain/ids.ts';
import type { Direction, Order, OrderError } from '../domain/orders/order.ts';

/** An account's guards, and as of which of its changes. */
export interface Guarding {
  /** null: it has none. */
  readonly guards: Guards | null;
  /** null: not read, and not compared. */
  readonly revision: number | null;
}

/** An account's orders that have not come to their end: those under way, and those with a leg that is open. */
export interface Unsettled extends Guarding {
  readonly orders: readonly Order[];
  /** The account's connection version; null: it has no such orders. */
  readonly version: number | null;
}

export interface SentEntry {
  readonly instrument: string | null;
  readonly sentAt: Timestamp;
}

/** `at`: when it was asked for. */
export interface EquityRead {
  readonly equity: Decimal;
  readonly at: Timestamp;
}

export interface SaveOptions {
  readonly settled: boolean;
  /** Something protects the account's positions: it is to know of what was opened anew. */
  readonly isProtected?: boolean;
  /** It was at the broker before: verification may have given it up since. */
  readonly isSeen?: boolean;
}

/** A leg as it is about to be sent, and the revision of its account as of which that was judged. */
export interface AboutToSend {
  readonly order: Order;
  readonly revision: number | null;
}

/** That an order was sent and has ended, as it is saved by whoever fills it, in one unit with the fill. */
export interface Recording {
  readonly unit: Beside;
  /**
   * Afterwards: as `save` would have returned it. Where nobody said whether it was saved, that is looked up; null: it was not, so far. Where it
   * is later, `save` says so, whatever is to be saved then.
   */
  saved(isCertain: boolean): Promise<Order | null>;
}

/** Of which position, and by which login it was seen. */
export interface Wanting {
  readonly instrument: string;
  readonly side: Direction;
  readonly credentialsVersion: number | null;
}

export interface WorkerOrders {
  find(id: OrderId): Promise<Order | null>;
  /** Those with an order that is `queued` or `executing`. */
  accountsUnderWay(user: UserId): Promise<AccountId[]>;
  unsettled(user: UserId, account: AccountId): Promise<Unsettled>;
  /** Orders of the account, of both modes, that were accepted since then and of which a part may have been sent. */
  recent(user: UserId, account: AccountId, since: number): Promise<readonly Order[]>;
  /** What was held after the last orders of the account in each instrument, by our own record; real orders only. */
  heldByRecord(
    user: UserId,
    account: AccountId,
  ): Promise<readonly (readonly [instrument: string, position: Decimal])[]>;
  /** Months in which something was opened under the order's symbol, by the broker's names, the oldest first; mostly none. */
  monthsUnder(
    of: Pick<Order, 'accountId' | 'simulation' | 'brokerName' | 'symbol'>,
  ): Promise<readonly string[]>;
  /** Nothing is held there any more. */
  forgetMonth(of: Pick<Order, 'accountId' | 'simulation'>, instrument: string): Promise<void>;
  /** From now on nobody else's worker saves or sends this user's orders; the token is this worker's own. */
  begin(user: UserId, token: string): Promise<void>;
  /**
   * Saves the order if it still has its version and the worker is the one that began last, and returns it with the next
   * version. `settled`: the worker is done, and a leg that is still open goes to fill verification in the same unit.
   */
  save(order: Order, token: string, options: SaveOptions): Promise<Order | 'taken'>;
  /** `saveSending`, and `save` of an order that has ended by that, as one: for a broker whose book lies in our own database. */
  recording(order: Order, token: string, options: SaveOptions, sent: AboutToSend): Recording;
  /** Why its entry ends from now on, unless another reason was given before; nothing else is changed. As it stands then. */
  endEntry(order: Order, why: OrderError): Promise<Order>;
  /** Who traded last in the order's instrument, by our own record; of one that opens, or has traded itself, since it was accepted. */
  closedBy(
    of: Pick<
      Order,
      'userId' | 'accountId' | 'brokerName' | 'simulation' | 'symbol' | 'intent' | 'submittedAt' | 'legs'
    >,
  ): Promise<'protection' | 'somebody'>;
  /**
   * The same, of an order that has ended by setting what protects a position: it is wanted from now on. One that was left at this very
   * account is kept again for it.
   */
  want(order: Order, token: string, of: Wanting): Promise<Order | 'taken'>;
  /**
   * The same, right before a leg is sent: `halted` for an entry of an account that is, or whose user was deactivated;
   * `unverified` for one of an account whose credentials were refused or replaced since. Where the account has changed
   * since that revision, nothing is saved for an entry, and these are its guards. An order that has ended was recorded before, and nobody
   * had heard of that.
   */
  saveSending(
    order: Order,
    token: string,
    revision: number | null,
  ): Promise<Order | 'taken' | 'halted' | 'unverified' | Guarding>;
  /** Legs of real orders that were sent to the broker around that time, whoever's they are. */
  sentAround(broker: BrokerName, time: Timestamp): Promise<readonly SentOrder[]>;
  /** Entries of the account and mode that were sent since then, oldest first; what was refused at once is none. */
  entriesSince(
    of: Pick<Order, 'userId' | 'accountId' | 'simulation'>,
    since: number,
  ): Promise<readonly SentEntry[]>;
  /** The equity at the day's first order: this one, where it is for that. null: another was sent before, and none was kept. */
  firstEquity(
    of: Pick<Order, 'id' | 'userId' | 'accountId' | 'simulation'>,
    day: string,
    read: EquityRead,
  ): Promise<Decimal | null>;
  /** The same, and nothing is kept. */
  knownEquity: WorkerOrders['firstEquity'];
  findAccount(id: AccountId): Promise<Account | null>;
  /** The credentials of this version of the account are no longer verified. */
  refuseCredentials(account: AccountId, version: number): Promise<void>;
}
