// The paper exchange's rules, purely: what it does with an order that arrives. Each decision is a change of the book as it was
// read; the connection writes it, or reads again and asks again.

import {
  compare,
  type Decimal,
  decimal,
  isOnStep,
  sign,
  smaller,
  subtract,
  ZERO,
} from '../../domain/decimal.ts';
import { millis, timestamp } from '../../domain/ids.ts';
import type { OrderError } from '../../domain/orders/order.ts';
import type { BrokerOrder, Quote } from '../broker.ts';
import { withLeftOver } from '../left-over.ts';
import { exposure, isResting, marginFor, type Quotes, reducible, reserved } from './book.ts';
import type { Book, BookChange, PaperOrder } from './ledger.ts';
import { type Listing, MAX_QUANTITY } from './market.ts';
import { changeOf, draftOf, endIdle, endOrder, isUnchanged, keepOrder, matchNow } from './matching.ts';
import { insufficientMargin, marketClosed, rehearse } from './rejections.ts';
import { brokerRef, type Moment, mannersOf, type Rules, sessionOf } from './rules.ts';
import { US_STOCKS } from './session.ts';
import { walk } from './settle.ts';
import { type AskedStop, besideOrder, refusalOf } from './stops.ts';

type Decision =
  | { readonly rejection: OrderError }
  | { readonly change: BookChange; readonly order: PaperOrder };

/** What becomes of an order that arrives now. */
export function accept(
  book: Book,
  order: BrokerOrder,
  listing: Listing,
  rules: Rules,
  moment: Moment,
): Decision {
  const draft = draftOf(book);
  walk(draft, rules, moment);
  const { now } = moment;
  const quantity = order.reduceOnly
    ? smaller(order.quantity, reducible(draft.book, listing.symbol, order.side))
    : order.quantity;
  const rejection =
    checkDeadline(order, now) ??
    rehearse(rules.settings.reject, order.quantity, listing, moment) ??
    checkHours(order, listing, rules, now) ??
    checkQuantity(draft.book, order, quantity, listing) ??
    checkReserved(draft.book, order, quantity, listing, rules) ??
    checkPrices(draft.book, order, quantity, listing, rules, moment) ??
    checkMargin(draft.book, order, quantity, listing, rules, moment.quotes);
  if (rejection) return { rejection };
  const accepted: PaperOrder = {
    clientOrderId: order.clientOrderId,
    brokerRef: brokerRef(order.clientOrderId, rules),
    symbol: listing.symbol,
    side: order.side,
    quantity,
    reduceOnly: order.reduceOnly,
    limit: order.limit ?? null,
    trigger: order.trigger ?? null,
    goodUntil: endOfDay(order, listing, now),
    instrument: isPriced(order) ? listing.abroad : null,
    status: 'placed',
    fillQuantity: ZERO,
    fillPrice: null,
    // What another broker would ask for is not known.
    fee: listing.abroad ? null : ZERO,
    reason: null,
    acceptedAt: timestamp(now),
    updatedAt: timestamp(now),
  };
  // Where the settings end it, it is accepted first all the same, and ended only when somebody looks: as at a real exchange,
  // the answer to placing does not tell.
  const matched = matchNow(draft.book, accepted, listing, rules, moment);
  const { book: after, order: placed } = atOnce(order, { book: draft.book, order: accepted }, matched, now);
  draft.book = after;
  endIdle(draft, listing.symbol, rules, now);
  if (!isResting(placed)) return { order: placed, change: changeOf(draft, now, { order: placed }) };
  const beside = stopBeside(order, quantity);
  const stop = beside ? besideOrder(beside, listing, rules, now) : undefined;
  const { resting, stops } = draft.book;
  draft.book = { ...draft.book, resting: [...resting, placed], stops: stop ? [...stops, stop] : stops };
  return { order: placed, change: changeOf(draft, now, { order: placed, ...(stop && { stop }) }) };
}

/** Some are filled at once, as far as they can be or all of them, and do not rest. */
function atOnce(
  { timeInForce }: BrokerOrder,
  before: { readonly book: Book; readonly order: PaperOrder },
  after: { readonly book: Book; readonly order: PaperOrder },
  now: number,
): { readonly book: Book; readonly order: PaperOrder } {
  if ((timeInForce !== 'ioc' && timeInForce !== 'fok') || after.order.trigger !== null) return after;
  if (!isResting(after.order)) return after;
  const kept = timeInForce === 'fok' ? before : after;
  return {
    ...kept,
    order: endOrder(kept.order, 'cancelled', `${timeInForce}: it was not filled at once`, now),
  };
}

const isPriced = ({ limit, trigger }: BrokerOrder): boolean => limit !== undefined || trigger !== undefined;

/**
 * Of an order of the day; null: it is none. It ends also where one may trade at any hour, as in a simulation. Of a foreign market only
 * shares have such orders (domain/sessions.ts), and their day is New York's.
 */
function endOfDay({ timeInForce }: BrokerOrder, { session }: Listing, now: number): PaperOrder['goodUntil'] {
  if (timeInForce !== 'day') return null;
  const end = session.nextClose(now) ?? US_STOCKS.nextClose(now);
  return end === null ? null : timestamp(end);
}

/** Ends an order that rests, as its owner asks. null: nothing changes. */
export function cancel(book: Book, ref: string, rules: Rules, moment: Moment): BookChange | null {
  const draft = draftOf(book);
  // What was filled before wins.
  walk(draft, rules, moment);
  const order = draft.book.resting.find((resting) => resting.brokerRef === ref);
  if (order) keepOrder(draft, endOrder(order, 'cancelled', 'cancelled as asked', moment.now), moment.now);
  return isUnchanged(draft) ? null : changeOf(draft, moment.now);
}

const stopBeside = ({ stop, side, clientOrderId }: BrokerOrder, quantity: Decimal): AskedStop | null =>
  stop === undefined ? null : { clientOrderId, side, quantity, price: stop, triggerBy: 'last' };

const isStopReachedAt = (side: BrokerOrder['side'], trigger: Decimal, { bid }: Quote): boolean =>
  side === 'buy' ? compare(bid, trigger) >= 0 : compare(bid, trigger) <= 0;

const checkDeadline = ({ sendBefore }: BrokerOrder, now: number): OrderError | null =>
  now <= millis(sendBefore)
    ? null
    : { code: 'expired', message: `The order arrived after its deadline, ${sendBefore}, and was not taken.` };

/** With a limit it may as well rest until the market opens. */
const checkHours = (order: BrokerOrder, listing: Listing, rules: Rules, now: number): OrderError | null =>
  (isPriced(order) && order.timeInForce !== 'ioc' && order.timeInForce !== 'fok') ||
  sessionOf(listing, rules).isOpen(now)
    ? null
    : marketClosed(listing, now);

const invalid = (message: string): OrderError => ({ code: 'invalid_quantity', message });

function checkQuantity(
  book: Book,
  order: BrokerOrder,
  quantity: Decimal,
  listing: Listing,
): OrderError | null {
  const { side, reduceOnly, quantity: asked } = order;
  const { symbol, quantityStep, minQuantity } = listing;
  if (sign(asked) <= 0) return invalid('The quantity must be above zero.');
  if (reduceOnly && sign(quantity) === 0)
    return {
      code: 'no_position',
      message: `No ${side === 'sell' ? 'long' : 'short'} position in ${symbol} is held: there is nothing to close.`,
    };
  // What closes adds to nothing: a small remainder must have a way out, and so must one beside the step if it is all that is held.
  if (reduceOnly && compare(quantity, reducible(book, symbol, side)) === 0) return null;
  if (!isOnStep(quantity, quantityStep))
    return withLeftOver(invalid(`The quantity of ${symbol} must be a multiple of ${quantityStep}.`), order);
  if (reduceOnly) return null;
  if (compare(quantity, minQuantity) < 0)
    return invalid(`The quantity of ${symbol} must be at least ${minQuantity}.`);
  if (compare(quantity, MAX_QUANTITY) > 0)
    return invalid(`The quantity of ${symbol} must be at most ${MAX_QUANTITY}.`);
  const reach = exposure(book, symbol, { side, quantity });
  if (compare(reach, MAX_QUANTITY) > 0 && compare(reach, exposure(book, symbol)) > 0)
    return invalid(
      `A position in ${symbol} may be at most ${MAX_QUANTITY}; with this order it could be ${reach}.`,
    );
  return null;
}

/** Where what rests keeps what it would close, nothing else closes that. */
function checkReserved(
  book: Book,
  { side }: BrokerOrder,
  quantity: Decimal,
  { symbol }: Listing,
  rules: Rules,
): OrderError | null {
  if (!mannersOf(rules).reserves) return null;
  const [held, kept] = [reducible(book, symbol, side), reserved(book, symbol, side)];
  const free = subtract(held, kept);
  if (sign(held) === 0 || sign(kept) === 0 || compare(quantity, free) <= 0) return null;
  return {
    code: 'insufficient_margin',
    message: `Of ${symbol} ${held} is held, and ${free} is not kept for other orders: ${quantity} cannot be closed.`,
  };
}

/** Of its limit, and of the stop that is to stand beside it. */
function checkPrices(
  book: Book,
  order: BrokerOrder,
  quantity: Decimal,
  listing: Listing,
  rules: Rules,
  moment: Moment,
): OrderError | null {
  const { limit, trigger, side, reduceOnly } = order;
  const isOff = (price?: Decimal) =>
    price !== undefined && (sign(price) <= 0 || !isOnStep(price, listing.tickSize));
  if (isOff(limit) || isOff(trigger)) {
    const words = `A price of ${listing.symbol} must be a multiple of ${listing.tickSize}.`;
    return reduceOnly ? invalid(words) : { code: 'invalid_price', message: words };
  }
  const isPassed = trigger !== undefined && isStopReachedAt(side, trigger, moment.quotes(listing));
  if (isPassed)
    return {
      code: 'invalid_price',
      message: `The market has passed ${trigger} already: it would trigger at once.`,
    };
  const beside = stopBeside(order, quantity);
  const refusal = beside && refusalOf(book, beside, listing, rules, moment);
  return refusal ? invalid(refusal.words) : null;
}

function checkMargin(
  book: Book,
  { side, reduceOnly }: BrokerOrder,
  quantity: Decimal,
  listing: Listing,
  rules: Rules,
  quotes: Quotes,
): OrderError | null {
  if (rules.isUnlimited || reduceOnly) return null;
  const margin = marginFor(book, listing, { side, quantity }, decimal(rules.settings.starting_cash), quotes);
  if (!margin || compare(margin.needed, margin.available) <= 0) return null;
  return insufficientMargin(margin);
}
