// The paper exchange's rules, purely: what it does with an order that arrives, and with those that rest. Each decision
// is a change of the book as it was read; the connection writes it, or reads again and asks again.

import { createHash } from 'node:crypto';
import {
  add,
  average,
  compare,
  type Decimal,
  decimal,
  isOnStep,
  multiply,
  sign,
  smaller,
  ZERO,
} from '../../domain/decimal.ts';
import { millis, timestamp } from '../../domain/ids.ts';
import type { OrderError } from '../../domain/orders/order.ts';
import type { PaperSettings, Rehearsal } from '../../domain/paper-settings.ts';
import { type BrokerOrder, withLeftOver } from '../broker.ts';
import {
  applyFill,
  exposure,
  feeOf,
  inCents,
  type Margin,
  marginFor,
  ownNeed,
  partOf,
  type Quotes,
  reducible,
  unfilled,
} from './book.ts';
import type { Book, BookChange, PaperOrder } from './ledger.ts';
import { findListing, type Listing, MAX_QUANTITY, unit } from './market.ts';
import { AROUND_THE_CLOCK, type Session } from './session.ts';

/** Which exchange it is: the paper broker's, or the one behind a simulation. */
export interface Rules {
  readonly book: string;
  /** In front of the references that it gives. */
  readonly prefix: string;
  readonly settings: PaperSettings;
  /** A simulation has no margin and no closing time. */
  readonly isUnlimited: boolean;
  /** For how long an order rests before anything becomes of it; as a rule not at all. */
  readonly restsMs?: (order: PaperOrder) => number;
  /** Parts of orders are multiples of it; as a rule of the listing's own. */
  readonly partStep?: (symbol: string) => Decimal | undefined;
}

export const isResting = (order: PaperOrder): boolean =>
  order.status === 'placed' || order.status === 'partially_filled';

export const sessionOf = (listing: Listing, rules: Rules): Session =>
  rules.isUnlimited ? AROUND_THE_CLOCK : listing.session;

export const invalidSymbol = (symbol: string): OrderError => ({
  code: 'invalid_symbol',
  message: `The symbol ${symbol} is not found in the broker contracts.`,
});

type Decision =
  | { readonly rejection: OrderError }
  | { readonly change: BookChange; readonly order: PaperOrder };

/** When something is decided, and at which prices. */
export interface Moment {
  readonly now: number;
  readonly quotes: Quotes;
}

/** What becomes of an order that arrives now. */
export function accept(
  book: Book,
  order: BrokerOrder,
  listing: Listing,
  rules: Rules,
  moment: Moment,
): Decision {
  const { now, quotes } = moment;
  const quantity = order.reduceOnly
    ? smaller(order.quantity, reducible(book, listing.symbol, order.side))
    : order.quantity;
  const rejection =
    checkDeadline(order, now) ??
    rehearse(rules.settings.reject, order, listing, quotes, now) ??
    checkHours(listing, rules, now) ??
    checkQuantity(book, order, quantity, listing) ??
    checkMargin(book, order, quantity, listing, rules, quotes);
  if (rejection) return { rejection };
  const accepted: PaperOrder = {
    clientOrderId: order.clientOrderId,
    brokerRef: brokerRef(order, rules),
    symbol: listing.symbol,
    side: order.side,
    quantity,
    reduceOnly: order.reduceOnly,
    status: 'placed',
    fillQuantity: ZERO,
    fillPrice: null,
    // What another broker would ask for is not known.
    fee: listing.abroad ? null : ZERO,
    reason: null,
    acceptedAt: timestamp(now),
    updatedAt: timestamp(now),
  };
  const { book: after, order: placed } = matchOnArrival(book, accepted, listing, rules, moment);
  const resting = isResting(placed) ? [...after.resting, placed] : after.resting;
  return {
    order: placed,
    change: { book: { ...after, version: book.version + 1, resting }, placed, changed: [] },
  };
}

/** What has become of the orders that rest, now that somebody looks. null: nothing. */
export function settle(book: Book, rules: Rules, moment: Moment): BookChange | null {
  let after = book;
  const changed: PaperOrder[] = [];
  const resting: PaperOrder[] = [];
  for (const order of book.resting) {
    const step = decide(after, order, rules, moment);
    after = step.book;
    if (step.order !== order) changed.push(step.order);
    if (isResting(step.order)) resting.push(step.order);
  }
  if (changed.length === 0) return null;
  return { book: { ...after, version: book.version + 1, resting }, placed: null, changed };
}

/** Ends an order that rests, as its owner asks. null: no such order does. */
export function cancel(book: Book, brokerRef: string, now: number): BookChange | null {
  const order = book.resting.find((resting) => resting.brokerRef === brokerRef);
  if (!order) return null;
  const resting = book.resting.filter((other) => other !== order);
  const ended = end(order, 'cancelled', 'cancelled as asked', now);
  return { book: { ...book, version: book.version + 1, resting }, placed: null, changed: [ended] };
}

interface Step {
  readonly book: Book;
  readonly order: PaperOrder;
}

const isDue = (order: PaperOrder, { restsMs }: Rules, now: number): boolean =>
  !restsMs || now >= millis(order.acceptedAt) + restsMs(order);

function matchOnArrival(book: Book, order: PaperOrder, listing: Listing, rules: Rules, moment: Moment): Step {
  if (!isDue(order, rules, moment.now)) return { book, order };
  switch (rules.settings.fill) {
    case 'full':
      return match(book, order, listing, order.quantity, moment);
    case 'partial':
      return matchPart(book, order, listing, rules, moment);
    case 'never':
    // Accepted first, and ended only when somebody looks: as at a real exchange, the answer to placing does not tell.
    case 'cancel':
    case 'fail':
      return { book, order };
  }
}

function decide(book: Book, order: PaperOrder, rules: Rules, moment: Moment): Step {
  const { now } = moment;
  const { fill } = rules.settings;
  if (fill === 'never' || !isDue(order, rules, now)) return { book, order };
  if (fill === 'cancel')
    return { book, order: end(order, 'cancelled', 'cancelled by the paper exchange', now) };
  if (fill === 'fail') return { book, order: end(order, 'failed', 'failed at the paper exchange', now) };
  const listing = findListing(order.symbol);
  if (!listing) return { book, order: end(order, 'cancelled', `${order.symbol} is no longer listed`, now) };
  if (!sessionOf(listing, rules).isOpen(now)) return { book, order };
  if (fill === 'full') return match(book, order, listing, unfilled(order), moment);
  return order.status === 'placed' ? matchPart(book, order, listing, rules, moment) : { book, order };
}

/** The same part every time for the same seed and order; the rest goes on resting. */
function matchPart(book: Book, order: PaperOrder, listing: Listing, rules: Rules, moment: Moment): Step {
  const drawn = unit(`${rules.settings.seed}:${order.clientOrderId}`);
  const step = rules.partStep?.(listing.symbol) ?? listing.quantityStep;
  const part = partOf(order.quantity, step, drawn);
  return sign(part) === 0 ? { book, order } : match(book, order, listing, part, moment);
}

/**
 * Fills at the ask or the bid of the moment. Margin is not asked for again: an order that rests has counted in full
 * since it was accepted. A reduce-only order takes what is still held, and ends where that is less than it wanted.
 */
function match(book: Book, order: PaperOrder, listing: Listing, wanted: Decimal, moment: Moment): Step {
  const quantity = order.reduceOnly ? smaller(wanted, reducible(book, order.symbol, order.side)) : wanted;
  const isCutShort = compare(quantity, wanted) < 0;
  const filled = sign(quantity) === 0 ? { book, order } : fillAt(book, order, listing, quantity, moment);
  if (!isCutShort) return filled;
  return { ...filled, order: end(filled.order, 'cancelled', 'nothing is left to reduce', moment.now) };
}

function fillAt(
  book: Book,
  order: PaperOrder,
  listing: Listing,
  quantity: Decimal,
  { now, quotes }: Moment,
): Step {
  const { bid, ask } = quotes(listing);
  const price = order.side === 'buy' ? ask : bid;
  const fillQuantity = add(order.fillQuantity, quantity);
  const earlier = multiply(order.fillPrice ?? ZERO, order.fillQuantity);
  return {
    book: applyFill(book, listing, { side: order.side, quantity, price }),
    order: {
      ...order,
      status: compare(fillQuantity, order.quantity) === 0 ? 'filled' : 'partially_filled',
      fillQuantity,
      fillPrice: average(add(earlier, multiply(price, quantity)), fillQuantity),
      fee: order.fee === null ? null : add(order.fee, feeOf(listing, { quantity, price })),
      updatedAt: timestamp(now),
    },
  };
}

const end = (order: PaperOrder, status: 'cancelled' | 'failed', reason: string, now: number): PaperOrder => ({
  ...order,
  status,
  reason,
  updatedAt: timestamp(now),
});

/** Derived from the book and the client's id, so that a repeat has the same. */
function brokerRef(order: BrokerOrder, rules: Rules): string {
  const digest = createHash('sha256').update(`${rules.book}:${order.clientOrderId}`).digest('hex');
  return `${rules.prefix}-${digest.slice(0, 20)}`;
}

const checkDeadline = ({ sendBefore }: BrokerOrder, now: number): OrderError | null =>
  now <= millis(sendBefore)
    ? null
    : { code: 'expired', message: `The order arrived after its deadline, ${sendBefore}, and was not taken.` };

function checkHours(listing: Listing, rules: Rules, now: number): OrderError | null {
  const session = sessionOf(listing, rules);
  return session.isOpen(now) ? null : marketClosed(listing, now);
}

function checkQuantity(
  book: Book,
  order: BrokerOrder,
  quantity: Decimal,
  listing: Listing,
): OrderError | null {
  const { side, reduceOnly, quantity: asked } = order;
  const { symbol, quantityStep, minQuantity } = listing;
  const invalid = (message: string): OrderError => ({ code: 'invalid_quantity', message });
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

const RETRY_AFTER_SECONDS = 2;

/** The rejection that the settings ask for, with what belongs to it. */
function rehearse(
  code: Rehearsal | null,
  order: BrokerOrder,
  listing: Listing,
  quotes: Quotes,
  now: number,
): OrderError | null {
  switch (code) {
    case null:
      return null;
    case 'insufficient_margin':
      return insufficientMargin({ needed: ownNeed(listing, order.quantity, quotes), available: ZERO });
    case 'market_closed':
      return marketClosed(listing, now);
    case 'invalid_symbol':
      return invalidSymbol(listing.symbol);
    case 'broker_rate_limited':
      return {
        code,
        message: `The broker limits the rate of requests. Try again in ${RETRY_AFTER_SECONDS} seconds.`,
        retry_after: RETRY_AFTER_SECONDS,
      };
    case 'position_mode_mismatch':
      return {
        code,
        message:
          'The account is in hedge mode at the broker. Switch it to one-way mode there, then try again.',
      };
  }
}

const insufficientMargin = ({ needed, available }: Margin): OrderError => ({
  code: 'insufficient_margin',
  message: `Insufficient margin: the order needs ${inCents(needed, 'up')} and ${inCents(
    sign(available) > 0 ? available : ZERO,
    'down',
  )} is available. Add funds, close a position or send a smaller quantity.`,
});

function marketClosed(listing: Listing, now: number): OrderError {
  const hours = listing.session.hours(now);
  return {
    code: 'market_closed',
    message: `The market for ${listing.symbol} is closed (${hours.session}, ${hours.timezone}). It opens next at ${hours.next_open}.`,
    market_hours: hours,
  };
}
