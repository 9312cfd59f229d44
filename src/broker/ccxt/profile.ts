// What one exchange is to the connector: how each question is put through ccxt, how its answer is read, and what its codes
// mean. A profile asks nobody and remembers nothing: connector.ts does that, the same for all of them.

import type { MarginMode } from '../../domain/brokers.ts';
import { type Decimal, ZERO } from '../../domain/decimal.ts';
import type { ClientOrderId } from '../../domain/ids.ts';
import type { Side } from '../../domain/orders/order.ts';
import { type Balance, BrokerUnavailable, type Capabilities, type Quote } from '../broker.ts';
import type { Said } from '../stream.ts';
import type { Call, Credentials, Heard } from './wire.ts';

/** Asked once, when a connection is opened: ccxt would guess, and remember its guess. */
export type AccountKind = 'unified' | 'classic';

export type ExchangeName = 'binance' | 'bybit' | 'okx' | 'gate' | 'bitget';

/** ccxt's method, unified or one of the exchange's own endpoints, and what it is given. */
export interface Question<T> {
  readonly method: string;
  readonly args: readonly unknown[];
  /** undefined: it is no answer to this question, and is not believed. */
  read(body: unknown): T | undefined;
}

/** A perpetual, counted as the exchange counts. */
export interface CcxtMarket {
  /** On the wire. */
  readonly id: string;
  /** ccxt's own name: BTC/USDT:USDT. */
  readonly symbol: string;
  readonly contractSize: Decimal;
}

/** An order as the exchange has it, in contracts. */
export interface SeenOrder {
  /** null: acknowledged without a name. */
  readonly ref: string | null;
  readonly clientId: string | null;
  readonly marketId: string;
  readonly side: Side;
  readonly quantity: Decimal;
  readonly filled: Decimal;
  /** The average; null where nothing is filled, whatever stands there. */
  readonly price: Decimal | null;
  readonly fee: Decimal | null;
  readonly fate: 'open' | 'ended' | 'failed';
  readonly reason: string | null;
  readonly reduceOnly: boolean;
}

export interface Held {
  readonly marketId: string;
  /** Signed, in contracts. */
  readonly quantity: Decimal;
  readonly averagePrice: Decimal;
  readonly lastPrice: Decimal | null;
  readonly openProfit: Decimal | null;
  readonly isHedged: boolean;
  readonly marginMode: MarginMode | null;
}

/** Longer lists come in pages. */
export interface Page<T> {
  readonly rows: readonly T[];
  /** null: that was the last one. */
  readonly next: string | null;
}

export interface OrderToSend {
  readonly market: CcxtMarket;
  readonly clientOrderId: ClientOrderId;
  readonly side: Side;
  readonly contracts: Decimal;
  readonly reduceOnly: boolean;
  readonly marginMode: MarginMode | null;
  /** Rests until it fills at this price or better; null: at the market. */
  readonly limit: Decimal | null;
  /** Of one with a limit; null: it rests until it is cancelled. */
  readonly atOnce?: 'IOC' | 'FOK' | null;
}

export interface OrderToFind {
  readonly market: CcxtMarket;
  readonly clientOrderId: ClientOrderId;
  readonly ref: string | null;
  readonly side: Side;
  readonly contracts: Decimal;
  /** By the exchange's clock, in ms, and a little before. */
  readonly since: number;
}

/** What an exchange's refusal means, whatever its code is. */
export type Meaning =
  | 'insufficient_margin'
  | 'market_closed'
  | 'invalid_symbol'
  | 'invalid_quantity'
  | 'position_mode_mismatch'
  | 'no_position'
  /** Any other refusal of an order. */
  | 'refused'
  /** Too many requests from our address, or it is overloaded: nothing was done. */
  | 'busy'
  /** Too many requests of this account; or, of what anybody may ask, too many of that question. */
  | 'account_busy'
  | 'credentials'
  /** The key is bound to other addresses. */
  | 'address'
  | 'permission'
  | 'account_type'
  /** The request's time, or the order's deadline, does not suit the exchange's clock. */
  | 'clock'
  | 'duplicate'
  | 'not_found'
  /** It cannot be asked now, and has done nothing. */
  | 'unavailable'
  /** It does not say whether it did anything. */
  | 'unsaid'
  /** Of a stop: the price is beyond it already. */
  | 'passed'
  /** Of a stop: there is one of the whole position, and no other is taken. */
  | 'second'
  /** Of a stop: it stands as it was asked for. */
  | 'unchanged';

export interface Refusal {
  readonly code: string;
  readonly words: string;
}

/** Where one code means several things, its words decide; undefined: neither of them. */
export type Codes = Readonly<Record<string, Meaning | ((words: string) => Meaning | undefined)>>;

type Reply<T> = { readonly answer: T } | { readonly refused: Meaning };

/** Asks for an account that is being opened or verified. */
export interface Asking {
  /** Throws where there is no good answer. */
  ask<T>(question: Question<T>): Promise<T>;
  /** A refusal by code is an answer too, unless it is of the credentials themselves. */
  tell<T>(question: Question<T>): Promise<Reply<T>>;
  /** What is good to know, and no more: null where it is not answered. */
  hear<T>(question: Question<T>): Promise<T | null>;
}

interface Standing {
  readonly isHedged: boolean;
  /** What keeps the account from trading, with what to change. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  /** The exchange's own name of the account; undefined: it does not say. */
  readonly identity?: string | undefined;
}

export interface Environment {
  /** ccxt's class. */
  readonly exchange: string;
  readonly mode: 'live' | 'sandbox' | 'demo';
  /** Where its private stream is. */
  readonly stream: string;
}

/** A market as ccxt lists it, as far as we look at it; numbers are texts. */
export interface ListedMarket {
  readonly id: string;
  readonly symbol: string;
  readonly baseId: string;
  readonly quoteId: string;
  readonly swap: boolean;
  readonly linear: boolean;
  readonly settle: string;
  readonly quote: string;
  readonly active: boolean;
  readonly contractSize: string | number;
  readonly precision: { readonly amount: string; readonly price: string };
  readonly limits: { readonly amount: { readonly min?: string }; readonly cost?: { readonly min?: string } };
  readonly info: unknown;
}

interface Listener {
  readonly asking: Asking;
  readonly credentials: Credentials;
  readonly kind: AccountKind;
  /** Where the environment's stream is. */
  readonly stream: string;
}

interface Opening {
  readonly url: string;
  /** Each is said when the one before was agreed to. `now`: by the exchange's clock, in ms. */
  readonly words: readonly ((now: number) => object)[];
}

/** The exchange's private stream of what happens to orders. */
export interface Feed {
  open(listener: Listener): Promise<Opening> | Opening;
  /** undefined: nothing that matters here. */
  read(message: unknown): Said | undefined;
  /** What keeps it open; null: the protocol's own ping. */
  ping(now: number): string | null;
}

export interface Profile {
  readonly name: ExchangeName;
  /** As people call it. */
  readonly title: string;
  readonly environments: Readonly<Record<string, Environment>>;
  readonly feed: Feed;
  /** ccxt's options: what makes it ask for no more than was meant, and guess nothing. */
  options(kind: AccountKind): Readonly<Record<string, unknown>>;
  /** Sent with every request, and when the stream is opened. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Where ccxt asks for more than what is traded here. */
  prepare?(ccxt: Record<string, unknown>): void;
  /** Contract size, step and least quantity, in contracts, and the tick of prices, where ccxt's own are not to be trusted. */
  sizes?(market: ListedMarket): Partial<Readonly<Record<'contractSize' | 'step' | 'min' | 'tick', unknown>>>;
  /** What ccxt looks up in the exchange's own row of a market when it composes a request; where nothing is said nothing. */
  readonly rowKept?: readonly string[];

  /** null: the answer is not a refusal by code. */
  refusal(heard: Heard): Refusal | null;
  readonly codes: Codes;
  /** A refusal without a code that is certain all the same; null: nothing is known. */
  refusedWithoutCode?(heard: Heard): Meaning | null;
  /** How long a refusal for the rate asks to wait; null: it does not say. `now` is by the exchange's clock. */
  delayMs?(heard: Heard, now: number): number | null;
  /** What a question counts of the exchange's published rate (domain/brokers.ts), by ccxt's method; where nothing is said 1. */
  weightOf?(method: string): number;
  /** How much of it is used by now, where the exchange says; null: it does not. */
  usedWeight?(headers: Headers): number | null;
  /** The order's deadline by the exchange's own means. `left`: until then, in ms; `at`: then, by the exchange's clock. */
  deadline(left: number, at: number): Pick<Call, 'headers' | 'windowMs' | 'agedMs'>;

  readonly time: Question<number>;
  /** Also proves the credentials. */
  identify(asking: Asking, environment: string): Promise<AccountKind>;
  standing(asking: Asking, kind: AccountKind, environment: string): Promise<Standing>;
  /** What to do about a hedged account, in the exchange's own terms. */
  readonly howToSwitch: string;

  /** Each order names its margin mode, and a close must name that of its position. */
  readonly namesMarginMode: boolean;
  /** Which one is set there for the market, where the exchange tells; null: none is. */
  marginModeSet?(market: CcxtMarket, kind: AccountKind): Question<MarginMode | null>;
  place(order: OrderToSend, kind: AccountKind): Question<SeenOrder>;
  /** One after the other, until one has it: null is "not there". */
  lookUps(order: OrderToFind, kind: AccountKind): readonly Question<SeenOrder | null>[];
  cancel(ref: string, market: CcxtMarket, kind: AccountKind): Question<true>;
  openOrders(kind: AccountKind, page: string | null): Question<Page<SeenOrder>>;
  /** `market`: of that one, where the exchange can be asked for one. */
  positions(market: CcxtMarket | null, kind: AccountKind, page: string | null): Question<Page<Held>>;
  balance(kind: AccountKind): Question<Balance>;
  quote(market: CcxtMarket, kind: AccountKind): Question<Quote>;
  /** What such an account can do, where that is not what all of them can (domain/brokers.ts). */
  capabilities?(kind: AccountKind): Partial<Capabilities>;
}

export const question = <T>(
  method: string,
  args: readonly unknown[],
  read: (body: unknown) => T | undefined,
): Question<T> => ({ method, args, read });

export const lastPage = <T>(rows: readonly T[] | undefined): Page<T> | undefined =>
  rows && { rows, next: null };

/** Where one market was asked for: what is held in another one answers nothing. */
export const heldIn = (
  market: Pick<CcxtMarket, 'id'> | null,
  rows: readonly Held[] | undefined,
): readonly Held[] | undefined =>
  rows?.every(({ marketId }) => market === null || marketId === market.id) ? rows : undefined;

/** As ccxt is told of it for each of them. `own`: what one exchange needs besides. */
export const newOrder = (
  { market, clientOrderId, side, contracts, reduceOnly, marginMode, limit, atOnce }: OrderToSend,
  read: Question<SeenOrder>['read'],
  own: Readonly<Record<string, unknown>> = {},
): Question<SeenOrder> =>
  question(
    'createOrder',
    [
      market.symbol,
      limit === null ? 'market' : 'limit',
      side,
      contracts,
      limit ?? undefined,
      {
        clientOrderId,
        ...(reduceOnly && { reduceOnly }),
        ...(marginMode && { marginMode }),
        ...(atOnce && { timeInForce: atOnce }),
        ...own,
      },
    ],
    read,
  );

/** By the exchange's name for it, and by ours where it has none. */
export const orderNamed = (
  { market, clientOrderId, ref }: Pick<OrderToFind, 'market' | 'clientOrderId' | 'ref'>,
  read: Question<SeenOrder>['read'],
): Question<SeenOrder> =>
  question(
    'fetchOrder',
    ref === null ? [undefined, market.symbol, { clientOrderId }] : [ref, market.symbol],
    read,
  );

/** undefined: something of it is missing. */
export const inUsdt = (
  equity: Decimal | undefined,
  cash: Decimal | undefined,
  available: Decimal | undefined,
): Balance | undefined =>
  equity && cash && available ? { currency: 'USDT', equity, cash, available } : undefined;

export const NO_USDT: Balance = { currency: 'USDT', equity: ZERO, cash: ZERO, available: ZERO };

/** Of an account in which other coins stand for it too and that has no USDT: what the exchange says it is worth, in dollars. */
export function withoutUsdt(
  title: string,
  { equity, cash, available }: Readonly<Record<'equity' | 'cash' | 'available', Decimal | undefined>>,
): Balance {
  if (equity && cash && available) return { currency: 'USD', equity, cash, available };
  throw new BrokerUnavailable(
    `${title} has no USDT in the account, and does not say what the account is worth: its balance is not known.`,
  );
}
