// One exchange, many languages: what a broker's language is to the engine (exchange.ts), and what the engine offers to it.
//
// How to write one (test/stubs/<broker>.ts, and a line in test/stubs/stubs.ts):
//
// 1. `markets`: what it trades, under the name that stands on the wire, with its own contract size, step and minimum. Each
//    names the paper engine's listing (`of`) that prices and fills it. The engine checks steps and minimums and counts in
//    the base asset inside: a dialect reads and tells the wire's own units and never converts.
// 2. `open(office)` gives the function that reads one request. It recognises the path, authenticates (the key's holder comes
//    from `office.holderOf`), and says what the visitor wants:
//    - an order: `{ what: 'order', account, order, tell }`. The engine takes it, or not, and `tell` says what became of it,
//      in the wire's format. Every refusal has one word (RefusalCode): a complete record from these to the broker's own
//      codes is what `tell` looks them up in, so that the compiler finds what is missing.
//    - a stop that is to stand, or to stand elsewhere: `{ what: 'stop', account, stop, tell }`, the same way.
//    - anything else: `{ what, account, answer }`. `look_up` is what became of orders, `positions` is written down as a look
//      at the account, `cancel` ends an order that rests, and its answer may be lost like an order's, `other` is the rest. `answer` asks the office and says it on the wire.
//    - what is refused at the door (`turnedAway`): wrong signature, unknown key, stale time, no permission, another address.
//    It only reads: nothing happens before `tell` or `answer` is called, for a fault may come first.
// 3. `busy` is "too many requests" with the delay as that broker spells it; `down` is what it says when it cannot; `denied`
//    is how it refuses a key.
// 4. `refs` spells the exchange's own order ids as the broker does (a number, a UUID).
// 5. `stream`, where the broker tells of orders by itself: who may listen, and in which words it is told.
// 6. `traits` are its manners, unless an account is registered with others: ids forgotten after a minute, fills that come later.
//    `manners` are those about stops: whether a second one of the position is refused, whether they end with it.
//
// Faults, traps, the ledger and the control room are the engine's and the same for all.

import type { IncomingHttpHeaders } from 'node:http';
import type { Manners } from '../src/broker/paper/rules.ts';
import type { Candle, CandleSpan } from '../src/domain/candles.ts';
import type { TimeInForce } from '../src/domain/capabilities.ts';
import type { Decimal } from '../src/domain/decimal.ts';
import type { AccountId } from '../src/domain/ids.ts';
import type { OrderError, Side } from '../src/domain/orders/order.ts';
import type { Desk } from './exchange-desk.ts';
import type { Holder, MarginMode, Standing } from './exchange-standing.ts';
import type { Traits } from './exchange-traits.ts';

export interface Answer {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface WireRequest {
  readonly method: string;
  /** As the client signed it: without the asker's name in front. */
  readonly path: string;
  /** As it stands in the address, undecoded, without its question mark. */
  readonly search: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** As it came. */
  readonly body: string;
  /** The client's. */
  readonly address: string;
}

export interface AskedOrder {
  readonly clientOrderId: string;
  /** On the wire. */
  readonly symbol: string;
  readonly side: Side;
  /** In what the wire counts in. */
  readonly quantity: Decimal;
  readonly reduceOnly: boolean;
  /** In ms: it is taken until then. */
  readonly sendBefore: number;
  /** Asks for one side of a hedged account; one-way orders do not. */
  readonly isHedged?: boolean;
  /** Where the order names one: a close in the wrong one finds no position. */
  readonly marginMode?: MarginMode;
  /** Fills at this price or better, and rests until then. */
  readonly limit?: Decimal;
  /** Waits until the price is there, and is then an order at the market, or one with its limit. */
  readonly trigger?: Decimal;
  /** Of one with a price; without it, it rests until it is cancelled. */
  readonly timeInForce?: TimeInForce;
  /** Beside `limit`: a stop of the same quantity, found by this order's id, that ends with it, as it ends with the stop. */
  readonly stop?: Decimal;
}

/** A stop that is to stand. */
export interface AskedStop {
  readonly clientOrderId: string;
  /** On the wire. */
  readonly symbol: string;
  /** Of the order that it becomes. */
  readonly side: Side;
  /** In what the wire counts in; null: all that is held when it triggers. */
  readonly quantity: Decimal | null;
  readonly price: Decimal;
  readonly triggerBy: 'last' | 'mark';
  /** Where the broker names one: a stop in the wrong one finds no position. */
  readonly marginMode?: MarginMode;
}

/** A stop as the exchange has it, in what the wire counts in. One that stands beside an order has the order's id. */
export interface SeenStop extends AskedStop {
  readonly ref: string;
  /** `rejected`: it triggered, and its order was not taken. */
  readonly status: 'standing' | 'triggered' | 'cancelled' | 'expired' | 'rejected';
  /** What it became; null: nothing yet, or ever. */
  readonly order: SeenOrder | null;
  /** Why it ended. */
  readonly reason: string | null;
  readonly acceptedAt: number;
  readonly updatedAt: number;
}

/** Why a stop is not taken. */
const STOP_REFUSALS = [
  /** The price is beyond it already. */
  'would_trigger',
  /** Nothing is held that it could close. */
  'no_position',
  /** What it would close is kept for something else (Manners.reserves). */
  'reserved',
  /** The position has its stop (Manners.secondStop). */
  'second',
  'invalid_symbol',
  'off_tick',
  'off_step',
  'market_closed',
  'broker_rate_limited',
  'duplicate',
  /** Of one that is to be moved: there is none that stands under that name. */
  'not_found',
  /** The account's settings say so (`paper.protection: refuse`): the broker's own code for "refused", whatever it is. */
  'refused',
] as const;
export type StopRefusalCode = (typeof STOP_REFUSALS)[number];

export type StopTaken =
  | { readonly outcome: 'accepted'; readonly stop: SeenStop }
  | {
      readonly outcome: 'refused';
      readonly code: StopRefusalCode;
      readonly message: string;
      /** Of a duplicate, the one that is there already. */
      readonly stop: SeenStop | null;
    };

/** An order as the exchange has it, in what the wire counts in. */
export interface SeenOrder {
  /** Of what a stop became: one that the exchange made up. */
  readonly clientOrderId: string;
  readonly ref: string;
  readonly symbol: string;
  readonly side: Side;
  readonly quantity: Decimal;
  readonly reduceOnly: boolean;
  readonly status: 'placed' | 'partially_filled' | 'filled' | 'cancelled' | 'failed';
  readonly fillQuantity: Decimal;
  /** null: nothing is filled. */
  readonly fillPrice: Decimal | null;
  readonly fee: Decimal | null;
  readonly reason: string | null;
  /** null: at the market. */
  readonly limit: Decimal | null;
  /** It waits until this price is there; null: it does not, or it was. */
  readonly trigger: Decimal | null;
  /** The trigger that it was sent with, also when it was there; null: none. */
  readonly waitedFor: Decimal | null;
  readonly acceptedAt: number;
  readonly updatedAt: number;
}

export interface SeenPosition {
  readonly symbol: string;
  /** Signed: below zero is short. */
  readonly quantity: Decimal;
  readonly averagePrice: Decimal;
  readonly lastPrice: Decimal;
  readonly openProfit: Decimal;
  readonly marginMode: MarginMode;
}

/** Why an order is not taken. */
export const REFUSALS = [
  'insufficient_margin',
  'market_closed',
  'invalid_symbol',
  'below_minimum',
  'off_step',
  /** Beyond what can be held, or nothing at all. */
  'invalid_quantity',
  'broker_rate_limited',
  'position_mode_mismatch',
  'no_position',
  'expired',
  'duplicate',
  /** The price is beyond its trigger already. */
  'would_trigger',
] as const;
export type RefusalCode = (typeof REFUSALS)[number];

export type Taken =
  | { readonly outcome: 'accepted'; readonly order: SeenOrder }
  | {
      readonly outcome: 'refused';
      readonly code: RefusalCode;
      readonly message: string;
      /** As the paper engine says it; null: it was not asked. */
      readonly error: OrderError | null;
      /** Of a duplicate, the one that is there already. */
      readonly order: SeenOrder | null;
    };

/** What the broker would say first, by what it knows of the account; null: nothing. */
type FirstWord = () => Promise<Answer | null>;

export interface OrderVisit {
  readonly what: 'order';
  readonly refuses?: FirstWord;
  readonly account: AccountId;
  readonly order: AskedOrder;
  tell(taken: Taken): Answer;
}

export interface OtherVisit {
  readonly what: 'look_up' | 'positions' | 'cancel' | 'other';
  /** null: nobody's in particular. */
  readonly account: AccountId | null;
  answer(): Promise<Answer>;
}

/** Faults and lost answers befall it as they do an order. */
export interface StopVisit {
  readonly what: 'stop';
  readonly refuses?: FirstWord;
  readonly account: AccountId;
  /** `moves`: the one that stands and is to be so from now on, by the exchange's id or the client's; without it a new one. */
  readonly stop: AskedStop & { readonly moves?: string };
  tell(taken: StopTaken): Answer;
}

export type Visit = OrderVisit | StopVisit | OtherVisit;

export const turnedAway = (answer: Answer): OtherVisit => ({
  what: 'other',
  account: null,
  answer: async () => answer,
});

/** What it trades. */
export interface Listed {
  /** On the wire. */
  readonly symbol: string;
  /** The paper engine's listing behind it: no two that are open have the same. */
  readonly of: string;
  /** How much of the base asset is one of what the wire counts in. */
  readonly contractSize: Decimal;
  /** Both in what the wire counts in. */
  readonly step: Decimal;
  readonly min: Decimal;
  /** Where an order is filled in parts, each is a multiple of it; as a rule of the step. */
  readonly part?: Decimal;
  /** The least value of an order that opens; 0: any. */
  readonly minValue: Decimal;
  readonly tick: Decimal;
  readonly isSuspended: boolean;
}

/** The exchange's own ids: of each order it has a digest, in hexadecimal. */
export interface Refs {
  tell(digest: string): string;
  /** How the digest begins; null: no such id was ever given. */
  read(ref: string): string | null;
}

/** What a dialect may ask. Symbols and quantities are the wire's. */
export interface Office {
  now(): number;
  holderOf(apiKey: string): Holder | null;
  /** null also where the id is forgotten. */
  find(account: AccountId, clientOrderId: string): Promise<SeenOrder | null>;
  findByRef(account: AccountId, ref: string): Promise<SeenOrder | null>;
  /** The last ones, newest first. */
  orders(account: AccountId): Promise<readonly SeenOrder[]>;
  /** Ends an order that rests; false: it does not. */
  cancel(account: AccountId, ref: string): Promise<boolean>;
  /** The last ones, newest first, those that have ended too. */
  stops(account: AccountId): Promise<readonly SeenStop[]>;
  /** Removes one that stands; false: it does not. */
  removeStop(account: AccountId, ref: string): Promise<boolean>;
  /** What is held; what is flat is not there. */
  positions(account: AccountId): Promise<readonly SeenPosition[]>;
  balance(
    account: AccountId,
  ): Promise<{ readonly equity: Decimal; readonly cash: Decimal; readonly available: Decimal }>;
  quote(symbol: string): { readonly bid: Decimal; readonly ask: Decimal };
  /** What the engine's prices were; none that has not begun. */
  candles(symbol: string, span: CandleSpan): Promise<readonly Candle[]>;
}

/** One client at the broker's private stream. */
export interface StreamTalk {
  /** The answers to what the client says. */
  hear(message: string): readonly (string | object)[];
  /** Whose orders are told; null: he has not logged in, or has not asked for them. */
  account(): AccountId | null;
  tell(order: SeenOrder): object;
}

export interface StreamVisit {
  readonly path: string;
  readonly query: URLSearchParams;
  /** Of the handshake. */
  readonly headers: IncomingHttpHeaders;
}

export interface StreamDialect {
  isAt(path: string): boolean;
  open(office: Pick<Office, 'now' | 'holderOf'>, visit: StreamVisit): StreamTalk;
}

export interface Dialect {
  /** How its paths begin: what stands before that is the asker's name, `/w1/fapi/v1/order`. */
  readonly roots: readonly string[];
  readonly traits: Traits;
  /** Where it differs from the usual about stops and what rests; an account may be registered with others. */
  manners?(standing: Standing): Partial<Manners>;
  /** null: the paper engine's own list, as it stands. */
  readonly markets: readonly Listed[] | null;
  readonly refs: Refs;
  /**
   * The desk is for the engine's own language; a broker's goes by the office. Awaited where a request means something else by what
   * stands there already: a stop that takes another's place.
   */
  open(office: Office, desk: Desk): (request: WireRequest) => Visit | Promise<Visit>;
  readonly stream?: StreamDialect;
  busy(retryAfterMs: number): Answer;
  /** The engine failed. */
  down(problem: string): Answer;
  /** The credentials are refused. */
  readonly denied: Answer;
  /** Any order's answer: what garbage is made of where there is none. */
  readonly sample: Answer;
  /** Under which names an order's ids stand in an answer: garbage leaves them out, or gives another's. */
  readonly idFields: readonly string[];
}

export const isResting = ({ status }: SeenOrder): boolean =>
  status === 'placed' || status === 'partially_filled';

/** As many bits of it as a double carries. */
export const NUMBERS: Refs = {
  tell: (digest) => `${Number.parseInt(digest.slice(0, 12), 16)}`,
  read: (ref) => (/^\d{1,15}$/.test(ref) ? Number(ref).toString(16).padStart(12, '0') : null),
};

export const UUIDS: Refs = {
  tell: (digest) => digest.padEnd(32, '0').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
  read: (ref) => (/^[\da-f-]{36}$/.test(ref) ? ref.replaceAll('-', '').slice(0, 20) : null),
};
