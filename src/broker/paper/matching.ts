// How an order is filled, and what ends with it: the same whether it arrives, has rested, or is what a stop became.

import { add, average, compare, type Decimal, multiply, sign, smaller, ZERO } from '../../domain/decimal.ts';
import { type ClientOrderId, millis, timestamp } from '../../domain/ids.ts';
import type { Side } from '../../domain/orders/order.ts';
import type { Quote } from '../broker.ts';
import { applyFill, feeOf, isResting, listedNow, partOf, reducible, unfilled } from './book.ts';
import type { Book, BookChange, PaperOrder, PaperStop } from './ledger.ts';
import { type Listing, listingAbroad, unit } from './market.ts';
import { type Moment, mannersOf, type Rules, sessionOf, walkedTo } from './rules.ts';

/** A book on its way to the next one, and what the ledger is to be told of it. */
export interface Draft {
  book: Book;
  /** That rested before, as they are now. */
  readonly orders: Map<ClientOrderId, PaperOrder>;
  /** That stood before, as they are now. */
  readonly stops: Map<ClientOrderId, PaperStop>;
  /** What stops became. */
  readonly made: Map<ClientOrderId, PaperOrder>;
}

export const draftOf = (book: Book): Draft => ({
  book,
  orders: new Map(),
  stops: new Map(),
  made: new Map(),
});

export const isUnchanged = ({ orders, stops, made }: Draft): boolean =>
  orders.size + stops.size + made.size === 0;

export function changeOf(
  { book, orders, stops, made }: Draft,
  now: number,
  placed: { readonly order?: PaperOrder; readonly stop?: PaperStop } = {},
): BookChange {
  const hasStops = placed.stop !== undefined || stops.size + made.size > 0;
  return {
    book: { ...walkedTo(book, timestamp(now)), version: book.version + 1 },
    placed: placed.order ?? null,
    changed: [...orders.values()],
    ...(hasStops && {
      stops: {
        placed: placed.stop ?? null,
        changed: [...stops.values()],
        orders: [...made.values()],
      },
    }),
  };
}

/** In any unit, as long as it is one. A stop watches the last price, which is the bid. */
export const isStopReached = (side: Side, level: number, last: number): boolean =>
  side === 'sell' ? last <= level : last >= level;

export function isWithinLimit({ side, limit }: Pick<PaperOrder, 'side' | 'limit'>, quote: Quote): boolean {
  if (limit === null) return true;
  return side === 'buy' ? compare(quote.ask, limit) <= 0 : compare(quote.bid, limit) >= 0;
}

/** What it is traded as; null: it is not listed any more. */
export const listingOf = (book: Book, { symbol, instrument }: PaperOrder): Listing | null =>
  instrument ? listingAbroad(instrument) : listedNow(book, symbol);

/** From when on anything may become of it. */
export const dueAt = (order: PaperOrder, { restsMs }: Rules): number =>
  millis(order.acceptedAt) + (restsMs?.(order) ?? 0);

/**
 * How much of it the settings let be filled now. In parts: the same part every time for the same seed and order; the rest goes
 * on resting.
 */
export function fillable(order: PaperOrder, listing: Listing, { settings, partStep }: Rules): Decimal {
  if (settings.fill === 'full') return unfilled(order);
  if (settings.fill !== 'partial' || order.status !== 'placed') return ZERO;
  const step = partStep?.(listing.symbol) ?? listing.quantityStep;
  return partOf(order.quantity, step, unit(`${settings.seed}:${order.clientOrderId}`));
}

interface Step {
  readonly book: Book;
  readonly order: PaperOrder;
}

/** An order that arrives, or that is looked at again: what can be filled of it now is. */
export function matchNow(
  book: Book,
  order: PaperOrder,
  listing: Listing,
  rules: Rules,
  moment: Moment,
): Step {
  const isPossible =
    order.trigger === null &&
    moment.now >= dueAt(order, rules) &&
    sessionOf(listing, rules).isOpen(moment.now) &&
    isWithinLimit(order, moment.quotes(listing));
  const wanted = isPossible ? fillable(order, listing, rules) : ZERO;
  return sign(wanted) === 0 ? { book, order } : match(book, order, listing, wanted, moment);
}

/**
 * Fills at the ask or the bid of the moment. Margin is not asked for again: an order that rests has counted in full
 * since it was accepted. A reduce-only order takes what is still held, and ends where that is less than it wanted.
 */
function match(book: Book, order: PaperOrder, listing: Listing, wanted: Decimal, moment: Moment): Step {
  const quantity = order.reduceOnly ? smaller(wanted, reducible(book, order.symbol, order.side)) : wanted;
  const isCutShort = compare(quantity, wanted) < 0;
  const filled = sign(quantity) === 0 ? { book, order } : fillAt(book, order, listing, quantity, moment);
  return isCutShort ? { ...filled, order: endOrder(filled.order, 'cancelled', LEFT, moment.now) } : filled;
}

export const LEFT = 'nothing is left to reduce';

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

export const endOrder = (
  order: PaperOrder,
  status: 'cancelled' | 'failed',
  reason: string,
  now: number,
): PaperOrder => ({ ...order, status, reason, updatedAt: timestamp(now) });

export const endStop = (
  stop: PaperStop,
  status: 'cancelled' | 'rejected',
  reason: string,
  now: number,
): PaperStop => ({ ...stop, status, reason, updatedAt: timestamp(now) });

/** The order as it is from now on. A stop beside it ends with it. */
export function keepOrder(draft: Draft, order: PaperOrder, now: number): void {
  const { clientOrderId: id } = order;
  (draft.made.has(id) ? draft.made : draft.orders).set(id, order);
  const resting = draft.book.resting.flatMap((other) =>
    other.clientOrderId !== id ? other : isResting(order) ? order : [],
  );
  draft.book = { ...draft.book, resting };
  if (isResting(order)) return;
  const beside = draft.book.stops.find((stop) => stop.isBeside && stop.clientOrderId === id);
  if (beside) keepStop(draft, endStop(beside, 'cancelled', 'the order beside it has ended', now));
}

export function keepStop(draft: Draft, stop: PaperStop): void {
  const { clientOrderId: id } = stop;
  draft.stops.set(id, stop);
  const stops = draft.book.stops.flatMap((other) =>
    other.clientOrderId !== id ? other : stop.status === 'standing' ? stop : [],
  );
  draft.book = { ...draft.book, stops };
}

/** An order of the book, looked at now. */
export function matchInBook(
  draft: Draft,
  order: PaperOrder,
  listing: Listing,
  rules: Rules,
  moment: Moment,
): void {
  const step = matchNow(draft.book, order, listing, rules, moment);
  if (step.order === order) return;
  draft.book = step.book;
  keepOrder(draft, step.order, moment.now);
  endIdle(draft, listing.symbol, rules, moment.now);
}

/** What could only have reduced a position that is not there any more. */
export function endIdle(draft: Draft, symbol: string, rules: Rules, now: number): void {
  const { stops, resting } = draft.book;
  if (stops.length + resting.length === 0 || !mannersOf(rules).endsWithPosition) return;
  const isIdle = (each: PaperOrder | PaperStop) =>
    each.symbol === symbol && sign(reducible(draft.book, symbol, each.side)) === 0;
  for (const stop of stops.filter((each) => each.quantity === null && isIdle(each)))
    keepStop(draft, endStop(stop, 'cancelled', 'the position is closed', now));
  for (const order of resting.filter((each) => each.limit !== null && each.reduceOnly && isIdle(each)))
    keepOrder(draft, endOrder(order, 'cancelled', LEFT, now), now);
}
