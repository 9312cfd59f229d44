// The port to a broker. Decimal strings inside, the user's units outside (0.01 BTC, shares, contracts: whatever a broker
// counts in is the connector's business), and three honest outcomes of placing an order. A readable answer is not a right
// one: an answer whose shape is wrong is never "flat", "accepted" or "not found", but BrokerUnavailable for a question and
// `unknown` for an order.

import type { BrokerName, MarginMode } from '../domain/brokers.ts';
import type { AskMore, Candle, CandleSpan } from '../domain/candles.ts';
import type { Capabilities, TimeInForce } from '../domain/capabilities.ts';
import { type Decimal, multiply } from '../domain/decimal.ts';
import type { AccountId, ClientOrderId, Timestamp } from '../domain/ids.ts';
import type { InstrumentSearch } from '../domain/instrument-search.ts';
import type { BrokerOrderState } from '../domain/orders/fill.ts';
import type { OrderError, Side } from '../domain/orders/order.ts';
import type { TriggerBy } from '../domain/protection/settings.ts';

export type { BrokerOrderState, Capabilities, TriggerBy };

export interface Instrument {
  /** The broker's own name for it: what orders and positions are kept under. Pinned on a leg that is sent. */
  readonly symbol: string;
  readonly description: string;
  readonly contractSize: Decimal;
  /** What one unit of the currency that it is quoted in is worth in the account's; without it they are the same. */
  readonly currencyRate?: Decimal;
  readonly quantityStep: Decimal;
  readonly minQuantity: Decimal;
  /** The least value of an order that opens, in what it is quoted in; without it there is none, or nobody says. */
  readonly minValue?: Decimal;
  readonly tickSize: Decimal;
  readonly open: boolean;
  /** null while it is open, or where nobody knows. */
  readonly nextOpen: Timestamp | null;
}

/** Of one, at a price of 1, in the account's currency. */
export const unitValueOf = ({ contractSize, currencyRate }: Instrument): Decimal =>
  currencyRate === undefined ? contractSize : multiply(contractSize, currencyRate);

export interface Position {
  /** As an alert can send it; where nothing can be traded in it here, as the broker names it. */
  readonly symbol: string;
  /** Signed: below zero is short. Of what is not traded here: in whatever the broker counts it. */
  readonly quantity: Decimal;
  readonly averagePrice: Decimal;
  /** null: the broker does not say. */
  readonly lastPrice: Decimal | null;
  readonly openProfit: Decimal | null;
  /** false: it is held, and no order of ours can close it. */
  readonly tradable: boolean;
  /** Why not, and what to do about it, in words; null where it is tradable. */
  readonly reason: string | null;
}

export const TRADABLE = { tradable: true, reason: null } as const;

export interface Balance {
  readonly currency: string;
  readonly equity: Decimal;
  readonly cash: Decimal;
  readonly available: Decimal;
}

export interface Quote {
  readonly bid: Decimal;
  readonly ask: Decimal;
}

export interface BrokerOrder {
  readonly clientOrderId: ClientOrderId;
  readonly instrument: Instrument;
  readonly side: Side;
  readonly quantity: Decimal;
  /**
   * Closes only: clamped to the position, and never opens the other side. Sent where the broker is able to, whatever we know
   * of its least quantity and step: what takes nobody in may let out who is in it, and only the broker can say no.
   */
  readonly reduceOnly: boolean;
  /** A broker that can refuse what arrives later is told; nobody else can stop it then. */
  readonly sendBefore: Timestamp;
  /** Fills at this price or better, and rests until then; without it at the market. A multiple of the tick. */
  readonly limit?: Decimal;
  /**
   * Entries only, where the broker is able to (Capabilities.stopEntries): it waits until the price is there, and is then an order at the
   * market, or one with its limit. It is found and cancelled as a conditional one. Never sent as anything else.
   */
  readonly trigger?: Decimal;
  /** Of one with a price; without it, it rests until it is cancelled. One of Capabilities.timeInForce. */
  readonly timeInForce?: TimeInForce;
  /**
   * Beside `limit`, where the broker reserves what an order would close (Capabilities.reserves): a stop of the same quantity
   * stands with it, and whichever comes first ends the other. It is found by this order's id among the stops.
   */
  readonly stop?: Decimal;
}

/** What is to be written in one unit with a fill; null: it cannot be. Only whoever writes the book knows its words. */
export type Beside = readonly object[];
export type RecordFill = (state: BrokerOrderState) => Beside | null;

/** Becomes an order at the market once the price is there. It can only reduce. */
export interface StopOrder {
  readonly clientOrderId: ClientOrderId;
  readonly instrument: Instrument;
  /** Of the order that it becomes: a sell protects a long position. */
  readonly side: Side;
  /** What is to be closed. Where the broker's stops are of the position (Capabilities.stop), all that is held is. */
  readonly quantity: Decimal;
  /** A multiple of the tick. */
  readonly price: Decimal;
  readonly triggerBy: TriggerBy;
}

/** All that is known of a stop that was sent: a broker without our ids compares the rest. */
export interface SentStop {
  readonly clientOrderId: ClientOrderId;
  /** The broker's own id, where it gave one. */
  readonly brokerRef: string | null;
  /** As of SentOrder. */
  readonly symbol: string;
  readonly side: Side;
  readonly quantity: Decimal;
  readonly price: Decimal;
  readonly sentAt: Timestamp;
  /** When another was set in its place, if one was. Where stops have no ids, what triggered later is that one. */
  readonly replacedAt?: Timestamp | null;
  /** Orders that stops became and that are written down, by the broker's names: this one became none of them. Where stops have no ids. */
  readonly recorded?: readonly string[];
}

/** A stop that stands at the broker now, whoever set it. */
export interface StandingStop {
  /** null: not one of ours, or the broker takes no ids of stops. With a target that was placed with it: the target's. */
  readonly clientOrderId: ClientOrderId | null;
  /** null: it has none, because it is a part of the position. */
  readonly brokerRef: string | null;
  readonly side: Side;
  readonly price: Decimal;
  /** null: all that is held when it triggers. */
  readonly quantity: Decimal | null;
}

/** What has become of a stop. */
export interface StopState {
  readonly brokerRef: string | null;
  /** `ended`: removed, or expired. One that triggered, and whose order was refused, has triggered: `order` has failed. */
  readonly status: 'standing' | 'triggered' | 'ended';
  /** What it became when it triggered; null: it has not, or the broker does not say yet. */
  readonly order: BrokerOrderState | null;
  /** Where it became more than one: each of them. `order` is their sum. */
  readonly orders?: readonly BrokerOrderState[];
  /** Why it ended, in the broker's words. */
  readonly reason: string | null;
  /** Its time was over: nobody took it away. */
  readonly hasExpired?: true;
}

export type StopOutcome =
  /** Taken. Whether it stands is seen by looking. `clientOrderId`: under which of our ids; of a stop that was moved it may be the first. */
  | {
      readonly outcome: 'accepted';
      readonly clientOrderId: ClientOrderId;
      readonly brokerRef: string | null;
    }
  /**
   * `passed`: the price is beyond it already. `no_position`: nothing is held that it could close. `gone`: of a stop that was to be
   * moved, it does not stand there any more. `opposed`: the broker takes none beside an order of the other side. `words`: the broker's.
   */
  | {
      readonly outcome: 'rejected';
      readonly why: 'passed' | 'no_position' | 'gone' | 'opposed' | 'refused';
      readonly words: string;
    }
  | { readonly outcome: 'unknown'; readonly reason: string };

/**
 * What protects a position, at the broker. Every call but `place` and `move` may throw BrokerUnavailable or one of its kinds; those two
 * as `Broker.place` does. No call here ever makes an order at the market.
 */
export interface Stops {
  /** By whose ids `standing` shows them, where not by ours: the broker's own, or none. */
  readonly names?: 'theirs' | 'none';
  /**
   * Where the broker has one stop of the position and takes another in its place (Capabilities.moves is `set`), it moves the one that is there,
   * whoever set it; where it refuses a second one, this one is of the quantity, beside it.
   */
  place(stop: StopOrder, signal: AbortSignal): Promise<StopOutcome>;
  /** Where Capabilities.moves is `amend`: the same stop, with this price and quantity from now on. */
  move?(stop: SentStop, to: StopOrder, signal: AbortSignal): Promise<StopOutcome>;
  /** One that has ended is no error. Of a target's stop: with the target, by `Broker.cancel`. */
  remove(stop: SentStop, signal: AbortSignal): Promise<void>;
  /** All that stand for the instrument, whoever set them. */
  standing(instrument: Instrument, signal: AbortSignal): Promise<readonly StandingStop[]>;
  /** null: the broker has none. */
  find(stop: SentStop, signal: AbortSignal): Promise<StopState | null>;
}

/** All that is known of an order that was sent: a broker without our ids compares the rest. */
export interface SentOrder {
  readonly clientOrderId: ClientOrderId;
  /** The broker's own id, where it gave one. */
  readonly brokerRef: string | null;
  /** The instrument's symbol as it was when the order was sent: a month that rolled is not looked up as the next one. */
  readonly symbol: string;
  readonly side: Side;
  readonly quantity: Decimal;
  readonly sentAt: Timestamp;
  /** It was sent to wait for a price (BrokerOrder.trigger): some brokers keep such orders in another place. */
  readonly isConditional?: boolean;
}

export type CancelQuery = Pick<OpenOrder, 'clientOrderId' | 'brokerRef' | 'symbol'> &
  Pick<SentOrder, 'isConditional'>;

export interface OrderQuery extends SentOrder {
  /**
   * Where the broker takes no ids of ours: what else was sent to it around that time, by anybody. To be asked after the
   * broker was: whatever the broker shows was written down here before it was sent.
   */
  rivals?(): Promise<readonly SentOrder[]>;
}

/** An order that has not ended at the broker, whoever sent it. */
export interface OpenOrder {
  /** null: not one of ours, or the broker does not repeat it. */
  readonly clientOrderId: ClientOrderId | null;
  readonly brokerRef: string;
  readonly symbol: string;
  readonly side: Side;
  readonly quantity: Decimal;
  readonly fillQuantity: Decimal;
  readonly reduceOnly: boolean;
}

export type PlaceOutcome =
  | { readonly outcome: 'accepted'; readonly state: BrokerOrderState }
  /** `isOpposed`: the broker takes none beside an order of the other side. Nothing is under its id. */
  | { readonly outcome: 'rejected'; readonly error: OrderError; readonly isOpposed?: boolean }
  /** Sent, and no answer: to be looked up by client order id, never sent again blindly. */
  | { readonly outcome: 'unknown'; readonly reason: string };

export type FillOutcome =
  | { readonly outcome: 'filled' }
  /** Nothing was done, whatever the reason: `place` says it. */
  | { readonly outcome: 'apart' }
  /** It was, or will be, or not: with what `record` has given last, and nothing else. */
  | { readonly outcome: 'unknown'; readonly reason: string };

/** An order of which the broker says by itself that something happened to it, by the names that it has for it. */
export interface OrderHint {
  readonly clientOrderId: string | null;
  readonly brokerRef: string | null;
}

/** What the broker says of the account and the credentials when it is asked to trade with them. */
export interface Fitness {
  /** What does not keep it from trading and the user should know: "the key can withdraw". */
  readonly warnings: readonly string[];
  /** The broker's own name of the account, whichever key asks; without it, it does not say. */
  readonly identity?: string;
}

/** Nothing was sent, or only a question was asked: safe to try again after reconnecting. */
export class BrokerUnavailable extends Error {
  override readonly name: string = 'BrokerUnavailable';
}

/** Whom a refusal for the rate means: this account alone, all who ask from our address, or those of them who ask the same question. */
export type BusyScope = 'account' | 'address' | 'question';

/** The broker limits the rate: nothing was done. The connection is good; to ask again sooner makes it worse. */
export class BrokerBusy extends BrokerUnavailable {
  override readonly name: string = 'BrokerBusy';
  readonly retryAfterMs: number;
  /** undefined: it does not say, and all connections with the same `limits` are meant. */
  readonly scope: BusyScope | undefined;
  constructor(message: string, retryAfterMs: number, scope?: BusyScope) {
    super(message);
    this.retryAfterMs = retryAfterMs;
    this.scope = scope;
  }
}

/** The broker refuses the credentials; the message is its own words. A connector does not try again: that can lock them. */
export class CredentialsRejected extends BrokerUnavailable {
  override readonly name: string = 'CredentialsRejected';
}

/** The credentials are good and the account is not: hedged, without a permission, of the wrong type. Says what to change. */
export class AccountUnfit extends BrokerUnavailable {
  override readonly name: string = 'AccountUnfit';
}

/**
 * One open connection for one trading account. Every call but `place` may throw BrokerUnavailable or one of its kinds.
 * Every call ends soon after its signal aborts; what `place` had sent by then is `unknown`.
 */
export interface Broker {
  readonly capabilities: Capabilities;
  /** Whom the broker counts together when it limits the rate and does not say whom: connections with the same word share one gate. */
  readonly limits: string;
  /** Connections with the same word find the same instruments; without one they may differ. */
  readonly listing?: string;
  /**
   * Throws AccountUnfit where the account cannot be traded as it is. `symbols`: some that are to be traded, of which it may be
   * good to know how the broker would trade them.
   */
  verify(signal: AbortSignal, symbols?: readonly string[]): Promise<Fitness>;
  /** The platform's symbol → the broker's instrument, or a rejection (invalid_symbol) that offers the nearest names. A suspended one is not open. */
  resolve(symbol: string, signal: AbortSignal): Promise<Instrument | { readonly rejection: OrderError }>;
  /** Signed; zero where nothing is held. */
  position(instrument: Instrument, signal: AbortSignal): Promise<Decimal>;
  /** All that is held, also what is not traded here: one odd row never hides the others. */
  positions(signal: AbortSignal): Promise<readonly Position[]>;
  /** Those that are meant by the text, the likeliest first; without a text all, in the order of their names. */
  instruments(search: InstrumentSearch, signal: AbortSignal): Promise<readonly Instrument[]>;
  balance(signal: AbortSignal): Promise<Balance>;
  quote(instrument: Instrument, signal: AbortSignal): Promise<Quote>;
  /**
   * What it was traded at, the oldest first; what was not traded has none. Without this call the broker has none. Only whoever looks asks
   * for them, and connections with the same `listing` are given the same ones.
   */
  candles?(of: Instrument, span: CandleSpan, signal: AbortSignal, more?: AskMore): Promise<readonly Candle[]>;
  /**
   * Never throws for a refusal, nor for a lost answer. BrokerUnavailable means: certainly not sent; BrokerBusy: certainly
   * not taken.
   */
  place(order: BrokerOrder, signal: AbortSignal): Promise<PlaceOutcome>;
  /**
   * Of a broker whose book lies in our own database: an order that was never sent before is filled whole and at once, in one unit with what
   * `record` gives; or it is not, and is sent by `place` as to any other broker. Throws as `place` does.
   */
  fill?(order: BrokerOrder, record: RecordFill, signal: AbortSignal): Promise<FillOutcome>;
  /** The order, or null where the broker has none. */
  find(order: OrderQuery, signal: AbortSignal): Promise<BrokerOrderState | null>;
  openOrders(signal: AbortSignal): Promise<readonly OpenOrder[]>;
  /** Without it the broker keeps no stops (Capabilities.stop is `none`). */
  readonly stops?: Stops;
  /** Asks for the end of an order that rests. What became of it is found by looking; one that has ended is no error. */
  cancel(order: CancelQuery, signal: AbortSignal): Promise<void>;
  /**
   * Where the broker tells of orders by itself: listens until the signal aborts or the connection is closed, and throws
   * BrokerUnavailable where that ends sooner. What is told is never believed; it makes somebody look. Once it listens,
   * `tell` is called with null: what happened before may have been missed.
   */
  watch?(tell: (hint: OrderHint | null) => void, signal: AbortSignal): Promise<void>;
  /** How far our clock is ahead of the broker's, in ms; null, or without this call: it has not told its time. */
  aheadMs?(): number | null;
  /** Ends a `watch` too, at once. */
  close(): Promise<void>;
}

/** What leaves us for the broker is counted here, whoever sends it: reading must not use up what orders need. */
export interface Meter {
  /** A request leaves, of that weight by the broker's own count; without a word 1. */
  sent(weight?: number): void;
  /** The broker says how much of its rate is used by now, by all who ask from here. */
  told(used: number): void;
}

export interface BrokerAccount {
  readonly id: AccountId;
  /** `live`, or what else the connector offers. */
  readonly environment: string;
  /** Which margin an order that opens asks for, where the broker wants to know; without it cross. */
  readonly marginMode?: MarginMode;
  /** The paper broker's settings, as stored with the account. */
  readonly paper: unknown;
  /** What the user sealed for this broker, opened; null where the account has none. */
  readonly credentials?: unknown;
  /** Without one nobody counts. */
  readonly meter?: Meter;
}

/** A reply that nobody could read, as it may be kept: without secrets. */
export interface UnreadableReply {
  /** What was asked for; there are few such names. */
  readonly call: string;
  /** Of HTTP. */
  readonly status: number;
  readonly reply: string;
}

/** It is counted and kept. Never fails, and nobody waits for it. */
export type TellUnreadable = (reply: UnreadableReply) => void;

/** A broker's market, to look at: what a simulation trades in. */
export interface Market {
  /** null: nobody can be asked there. */
  resolve(
    symbol: string,
    signal: AbortSignal,
  ): Promise<Instrument | { readonly rejection: OrderError } | null>;
  quote(instrument: Instrument, signal: AbortSignal): Promise<Quote>;
}

/** Throws BrokerUnavailable where no connection can be made, and CredentialsRejected where the credentials are why. */
export type OpenBroker = (account: BrokerAccount, signal: AbortSignal) => Promise<Broker>;
/** A book beside the account's real one, which fills at once what the market has. */
export type OpenSimulation = (account: BrokerAccount, market: Market, signal: AbortSignal) => Promise<Broker>;
export type Brokers = Readonly<Record<BrokerName, OpenBroker>>;
