// The paper exchange's rules about stops, purely: which it takes, how one gets another price, and how it is taken away.

import { compare, type Decimal, isOnStep, sign, subtract, ZERO } from '../../domain/decimal.ts';
import { type ClientOrderId, timestamp } from '../../domain/ids.ts';
import type { Side } from '../../domain/orders/order.ts';
import type { TriggerBy } from '../broker.ts';
import { reducible, reserved } from './book.ts';
import type { Book, BookChange, PaperStop } from './ledger.ts';
import type { Listing } from './market.ts';
import {
  changeOf,
  type Draft,
  draftOf,
  endOrder,
  endStop,
  isStopReached,
  isUnchanged,
  keepOrder,
  keepStop,
} from './matching.ts';
import { rehearse } from './rejections.ts';
import { brokerRef, type Moment, mannersOf, type Rules } from './rules.ts';
import { walk } from './settle.ts';

export interface AskedStop {
  readonly clientOrderId: ClientOrderId;
  readonly side: Side;
  /** null: all that is held when it triggers. */
  readonly quantity: Decimal | null;
  readonly price: Decimal;
  readonly triggerBy: TriggerBy;
}

export interface StopRefusal {
  readonly code: /** The price is beyond it already. */
    | 'would_trigger'
    | 'no_position'
    /** What it would close is kept for something else. */
    | 'reserved'
    /** The position has its stop. */
    | 'second'
    | 'off_tick'
    | 'off_step'
    | 'invalid_symbol'
    | 'market_closed'
    | 'broker_rate_limited'
    /** None stands that could be moved. */
    | 'not_found'
    /** As the settings say. */
    | 'refused';
  readonly words: string;
}

export type StopDecision =
  | { readonly refusal: StopRefusal }
  | { readonly change: BookChange; readonly stop: PaperStop };

/** What becomes of a stop that arrives now. */
export function placeStop(
  book: Book,
  asked: AskedStop,
  listing: Listing,
  rules: Rules,
  moment: Moment,
): StopDecision {
  const draft = draftOf(book);
  walk(draft, rules, moment);
  const refusal = refusalOf(draft.book, asked, listing, rules, moment);
  if (refusal) return { refusal };
  const { secondStop } = mannersOf(rules);
  const first = asked.quantity === null ? positionStop(draft.book, listing.symbol, asked.side) : undefined;
  if (first && secondStop === 'refused')
    return refused('second', `The position in ${listing.symbol} has a stop already.`);
  if (first && secondStop === 'instead') return placedAnew(draft, first, asked, moment);
  const stop = stopOf(asked, listing, rules, moment.now);
  draft.book = { ...draft.book, stops: [...draft.book.stops, stop] };
  return { stop, change: changeOf(draft, moment.now, { stop }) };
}

/** Of one that stands: with this price, and where it has a quantity with this one, from now on. */
export function moveStop(
  book: Book,
  id: ClientOrderId,
  to: AskedStop,
  listing: Listing,
  rules: Rules,
  moment: Moment,
): StopDecision {
  const draft = draftOf(book);
  walk(draft, rules, moment);
  const stop = draft.book.stops.find(({ clientOrderId }) => clientOrderId === id);
  if (!stop) return refused('not_found', 'No such stop stands there any more.');
  // What is kept for it, and for the order that it stands beside, is its own.
  const stops = draft.book.stops.filter((other) => other !== stop);
  const resting = draft.book.resting.filter((order) => !stop.isBeside || order.clientOrderId !== id);
  const refusal = refusalOf({ ...draft.book, stops, resting }, to, listing, rules, moment);
  return refusal ? { refusal } : placedAnew(draft, stop, to, moment);
}

/** Takes away one that stands, and the order that it stands beside. null: nothing changes. */
export function removeStop(book: Book, id: ClientOrderId, rules: Rules, moment: Moment): BookChange | null {
  const draft = draftOf(book);
  walk(draft, rules, moment);
  const stop = draft.book.stops.find(({ clientOrderId }) => clientOrderId === id);
  const order = stop?.isBeside && draft.book.resting.find(({ clientOrderId }) => clientOrderId === id);
  if (stop) keepStop(draft, endStop(stop, 'cancelled', 'cancelled as asked', moment.now));
  if (order) keepOrder(draft, endOrder(order, 'cancelled', 'cancelled as asked', moment.now), moment.now);
  return isUnchanged(draft) ? null : changeOf(draft, moment.now);
}

/** Of an order that rests, for what it would close. */
export const besideOrder = (asked: AskedStop, listing: Listing, rules: Rules, now: number): PaperStop => ({
  ...stopOf(asked, listing, rules, now),
  isBeside: true,
});

function stopOf(asked: AskedStop, { symbol }: Listing, rules: Rules, now: number): PaperStop {
  const { clientOrderId, side, quantity, price, triggerBy } = asked;
  return {
    ...{ clientOrderId, symbol, side, quantity, price, triggerBy },
    brokerRef: brokerRef(`stop:${clientOrderId}`, rules),
    isBeside: false,
    status: 'standing',
    orderId: null,
    reason: null,
    acceptedAt: timestamp(now),
    updatedAt: timestamp(now),
  };
}

function placedAnew(
  draft: Draft,
  before: PaperStop,
  { price, quantity, triggerBy }: AskedStop,
  { now }: Moment,
): StopDecision {
  const stop: PaperStop = {
    ...before,
    price,
    triggerBy,
    quantity: before.quantity === null || before.isBeside ? before.quantity : quantity,
    updatedAt: timestamp(now),
  };
  keepStop(draft, stop);
  return { stop, change: changeOf(draft, now) };
}

const positionStop = (book: Book, symbol: string, side: Side): PaperStop | undefined =>
  book.stops.find((stop) => stop.symbol === symbol && stop.side === side && stop.quantity === null);

const refused = (code: StopRefusal['code'], words: string): { readonly refusal: StopRefusal } => ({
  refusal: { code, words },
});

/** In the order in which an exchange looks: what is wrong with it as such, with the account, with the market. */
export function refusalOf(
  book: Book,
  { side, price, quantity }: AskedStop,
  listing: Listing,
  rules: Rules,
  moment: Moment,
): StopRefusal | null {
  const { symbol, tickSize, quantityStep } = listing;
  const { stopsNeedPosition, reserves } = mannersOf(rules);
  const { protection, reject } = rules.settings;
  if (protection === 'refuse')
    return { code: 'refused', words: 'The paper exchange refuses every stop, as the settings say.' };
  const rehearsed = isOfStops(reject) ? rehearse(reject, quantity ?? ZERO, listing, moment) : null;
  if (rehearsed && isOfStops(reject)) return { code: reject, words: rehearsed.message };
  if (sign(price) <= 0 || !isOnStep(price, tickSize))
    return { code: 'off_tick', words: `A price of ${symbol} must be a multiple of ${tickSize}.` };
  const held = reducible(book, symbol, side);
  if (quantity !== null && quantity !== held && (sign(quantity) <= 0 || !isOnStep(quantity, quantityStep)))
    return { code: 'off_step', words: `The quantity of ${symbol} must be a multiple of ${quantityStep}.` };
  if (stopsNeedPosition && sign(held) === 0)
    return {
      code: 'no_position',
      words: `No ${side === 'sell' ? 'long' : 'short'} position in ${symbol} is held: there is nothing to protect.`,
    };
  const free = subtract(held, reserved(book, symbol, side));
  if (reserves && compare(quantity ?? held, free) > 0)
    return {
      code: 'reserved',
      words: `Of ${symbol} ${held} is held, and ${free} is not kept for other orders.`,
    };
  const { bid } = moment.quotes(listing);
  if (isStopReached(side, Number(price), Number(bid)))
    return {
      code: 'would_trigger',
      words: `The price of ${symbol} is ${bid}: the stop at ${price} would trigger at once.`,
    };
  return null;
}

/** Those rejections that can befall a stop. */
const isOfStops = (code: Rules['settings']['reject']) =>
  code === 'market_closed' || code === 'invalid_symbol' || code === 'broker_rate_limited';
