// What an exchange's stops are to the connector: how each question about them is put through ccxt's endpoint methods, and how its
// answer is read. Never through createOrder: what its unified words mean for a stop differs from exchange to exchange, and at two
// of them it is an order at the market. Like a profile it remembers nothing: stops.ts asks.

import type { MarginMode } from '../../domain/brokers.ts';
import type { Decimal } from '../../domain/decimal.ts';
import type { ClientOrderId } from '../../domain/ids.ts';
import type { Side } from '../../domain/orders/order.ts';
import type { TriggerBy } from '../broker.ts';
import type { Fill } from './orders.ts';
import type { Asking, CcxtMarket, Codes, Page, Question, SeenOrder } from './profile.ts';

export interface StopToSend {
  readonly market: CcxtMarket;
  readonly clientOrderId: ClientOrderId;
  /** Of the order that it becomes. */
  readonly side: Side;
  readonly contracts: Decimal;
  readonly price: Decimal;
  readonly triggerBy: TriggerBy;
  /** Of the position, where stops name it; null: they do not. */
  readonly marginMode: MarginMode | null;
  /** One for the whole position was refused, because there is one: this one is of the contracts, beside it. */
  readonly isSecond: boolean;
}

export interface StopToFind {
  readonly market: CcxtMarket;
  readonly clientOrderId: ClientOrderId;
  /** The exchange's own id; null: it gave none, or its answer was lost. */
  readonly ref: string | null;
  readonly side: Side;
  readonly contracts: Decimal;
  readonly price: Decimal;
  /** By the exchange's clock, in ms, and a little before. */
  readonly since: number;
  /** Another was set in its place then; Infinity: none was. */
  readonly until: number;
  /** By the exchange's clock, in ms. */
  readonly now: number;
}

/** Of a stop that was taken, or that stands elsewhere from now on. */
export interface TakenStop {
  /** null: it has none, because it is a part of the position, or it was not told. */
  readonly ref: string | null;
  /** Of our ids the one that it has there: of one that was moved it may be the first. */
  readonly clientId: ClientOrderId;
}

/** A stop as the exchange has it, in contracts. */
export interface SeenStop {
  readonly ref: string | null;
  /** null: it was given none, or the exchange does not repeat it. */
  readonly clientId: string | null;
  readonly marketId: string;
  readonly side: Side;
  readonly price: Decimal;
  /** null: all that is held when it triggers. */
  readonly contracts: Decimal | null;
  /** `failed`: it triggered, and its order was refused; `ended`: removed; `expired`: its time was over. */
  readonly fate: 'standing' | 'triggered' | 'failed' | 'ended' | 'expired';
  /** Why it ended. */
  readonly reason: string | null;
  /** What it became: each order, or the exchange's id of it. */
  readonly became: readonly (SeenOrder | string)[];
}

/** `standing`: what stands there already, where the answer is that nothing is to be changed; without it the stop that was sent. */
export type StopQuestion = Question<TakenStop> & { readonly standing?: TakenStop };

/** Nothing is to be sent: what is held there is not what the stop would close. */
interface Unplaced {
  readonly why: 'no_position';
  readonly words: string;
}

export interface StopWords {
  /** By whose ids stops are listed, where not by ours: the exchange's own, or none. */
  readonly names?: 'theirs' | 'none';
  /** What codes mean here, where that is more than for orders, or something else. */
  readonly codes: Codes;
  /** A stop names the margin mode of its position. */
  readonly namesMarginMode: boolean;
  /** Nobody knows by which code it refuses a second one of the whole position: after any refusal one of the contracts is tried. */
  readonly hidesSecond?: true;
  /**
   * `asking`: for what must be known before, such as a target that the same call would overwrite. What is asked there may fail:
   * nothing was sent by then. Its answer is read only where it tells of this very stop.
   */
  place(stop: StopToSend, asking: Asking): StopQuestion | Promise<StopQuestion | Unplaced>;
  /** Where a stop can be changed in its place. */
  move?(stop: StopToFind, to: StopToSend, asking: Asking): StopQuestion | Promise<StopQuestion>;
  /** null: it was looked for, and there is nothing to remove. What has its place by now is not removed. */
  remove(stop: StopToFind, asking: Asking): Question<true> | Promise<Question<true> | null>;
  /** All that stand there for the market, whoever set them, and nothing else. */
  standing(market: CcxtMarket, page: string | null): Question<Page<SeenStop>>;
  /** One after the other, until one has it: null is "not there". */
  lookUps(stop: StopToFind): readonly Question<SeenStop | null>[];
  /** Where a stop's own row does not say what it became: asked of one that has triggered, by the exchange's ids of the orders. */
  became?(stop: SeenStop): Question<readonly string[]>;
  /** What a stop became, by the exchange's own id of it. `side`: which it must have, where it does not say. */
  order(ref: string, market: CcxtMarket, side: Side): Question<SeenOrder>;
  /** Of an order without a quantity, which does not tell what was filled. */
  readonly fills?: {
    /** What it has traded. */
    of(order: SeenOrder, market: CcxtMarket, page: string | null): Question<Page<Fill>>;
    /** The same order, with all of that. null: not all of it is told yet. */
    added(order: SeenOrder, fills: readonly Fill[]): SeenOrder | null;
  };
}

/** null: none of them is it. */
export const stopAmong = (
  stops: readonly SeenStop[] | undefined,
  isIt: (stop: SeenStop) => boolean,
): SeenStop | null | undefined => stops && (stops.find(isIt) ?? null);
