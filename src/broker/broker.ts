// The port to a broker. Decimal strings inside, and three honest outcomes of placing an order.

import type { Decimal } from '../domain/decimal.ts';
import type { BrokerOrderState } from '../domain/fill.ts';
import type { AccountId, ClientOrderId, Timestamp } from '../domain/ids.ts';
import type { OrderError, Side } from '../domain/order.ts';
import type { BrokerName } from '../domain/symbol.ts';

/** What the broker can promise, and so what we can. */
export interface Capabilities {
  /** A second order with a known client order id is refused: sending again is safe. */
  readonly refusesDuplicateIds: boolean;
  /** An order can be looked up by its client order id, and "not found" can be believed. */
  readonly findsByClientId: boolean;
  readonly reduceOnly: boolean;
  readonly fractionalQuantities: boolean;
}

export interface Instrument {
  /** The broker's own name for it: what orders and positions are kept under. */
  readonly symbol: string;
  readonly description: string;
  readonly contractSize: Decimal;
  readonly quantityStep: Decimal;
  readonly minQuantity: Decimal;
  readonly tickSize: Decimal;
  readonly open: boolean;
  /** null while it is open. */
  readonly nextOpen: Timestamp | null;
}

export interface Position {
  readonly symbol: string;
  /** Signed: below zero is short. */
  readonly quantity: Decimal;
  readonly averagePrice: Decimal;
}

export type { BrokerOrderState };

export interface BrokerOrder {
  readonly clientOrderId: ClientOrderId;
  readonly instrument: Instrument;
  readonly side: Side;
  readonly quantity: Decimal;
  /** Closes only: clamped to the position, and never opens the other side. */
  readonly reduceOnly: boolean;
  /** The order's deadline. A broker that can refuse what arrives later is told; nobody else can stop it then. */
  readonly sendBefore: Timestamp;
}

export type PlaceOutcome =
  | { readonly outcome: 'accepted'; readonly state: BrokerOrderState }
  | { readonly outcome: 'rejected'; readonly error: OrderError }
  /** Sent, and no answer: to be looked up by client order id, never sent again blindly. */
  | { readonly outcome: 'unknown'; readonly reason: string };

/** Nothing was sent, or only a question was asked: safe to try again after reconnecting. */
export class BrokerUnavailable extends Error {
  override readonly name: string = 'BrokerUnavailable';
}

/** The broker refuses the credentials; the message is its own words. To try again changes nothing, and can lock them. */
export class CredentialsRejected extends BrokerUnavailable {
  override readonly name: string = 'CredentialsRejected';
}

/** One open connection for one trading account. Every call but `place` may throw BrokerUnavailable. */
export interface Broker {
  readonly capabilities: Capabilities;
  /** The platform's symbol → the broker's instrument, or a rejection (invalid_symbol). */
  resolve(symbol: string): Promise<Instrument | { readonly rejection: OrderError }>;
  /** Signed; zero where nothing is held. */
  position(instrument: Instrument): Promise<Decimal>;
  positions(): Promise<readonly Position[]>;
  /** Those that contain the text, in the order of their names. */
  instruments(query: string): Promise<readonly Instrument[]>;
  /** Never throws for a refusal, nor for a lost answer. BrokerUnavailable means: certainly not sent. */
  place(order: BrokerOrder): Promise<PlaceOutcome>;
  /** The order under that id, or null where the broker has none. */
  find(clientOrderId: ClientOrderId, symbol: string): Promise<BrokerOrderState | null>;
  close(): Promise<void>;
}

export interface BrokerAccount {
  readonly id: AccountId;
  /** The paper broker's settings, as stored with the account. */
  readonly paper: unknown;
  /** What the user sealed for this broker, opened; null where the account has none. */
  readonly credentials?: unknown;
}

/** Throws BrokerUnavailable where no connection can be made, and CredentialsRejected where the credentials are why. */
export type OpenBroker = (account: BrokerAccount) => Promise<Broker>;
export type Brokers = Readonly<Record<BrokerName, OpenBroker>>;
