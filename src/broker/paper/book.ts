// The book's arithmetic: what a fill does to a position and to the profit, and what margin a book needs.

import Big from 'big.js';
import {
  absolute,
  add,
  average,
  compare,
  type Decimal,
  decimal,
  larger,
  multiply,
  negate,
  rounded,
  sign,
  subtract,
  ZERO,
} from '../../domain/decimal.ts';
import { FLAT, net } from '../../domain/money/average-cost.ts';
import type { Side } from '../../domain/orders/order.ts';
import { signed } from '../../domain/orders/position.ts';
import { type Balance, type Position, type Quote, TRADABLE } from '../broker.ts';
import type { Book, Holding, PaperOrder, PaperStop } from './ledger.ts';
import { findListing, type Listing, listingAbroad } from './market.ts';

export type Quotes = (listing: Listing) => Quote;

/** Whether anything in it waits for a price. */
export const waits = ({ stops, resting }: Book): boolean => stops.length > 0 || resting.some(waitsForPrice);

const waitsForPrice = ({ limit, trigger }: PaperOrder): boolean => limit !== null || trigger !== null;

export const isResting = ({ status }: PaperOrder): boolean =>
  status === 'placed' || status === 'partially_filled';

export const held = (book: Book, symbol: string): Decimal => (book.holdings[symbol] ?? FLAT).quantity;

/** How much an order of that side could take off the position. */
export function reducible(book: Book, symbol: string, side: Side): Decimal {
  const against = side === 'sell' ? held(book, symbol) : negate(held(book, symbol));
  return sign(against) > 0 ? against : ZERO;
}

/** What is kept of it for orders that rest and stops that stand; a pair of them keeps it once. */
export function reserved(book: Book, symbol: string, side: Side): Decimal {
  const isMeant = (each: PaperOrder | PaperStop) => each.symbol === symbol && each.side === side;
  const orders = book.resting.filter(isMeant).map(unfilled);
  const stops = book.stops
    .filter((stop) => isMeant(stop) && !stop.isBeside)
    .map(({ quantity }) => quantity ?? reducible(book, symbol, side));
  return [...orders, ...stops].reduce(add, ZERO);
}

/** In the order of their names. */
export const positionsOf = (book: Book, quotes: Quotes): Position[] =>
  Object.entries(book.holdings)
    .map(([symbol, holding]): Position => {
      const listing = listedNow(book, symbol);
      if (!listing) return unlisted(symbol, holding);
      return {
        symbol,
        quantity: holding.quantity,
        averagePrice: average(holding.cost, multiply(holding.quantity, unitValue(listing))),
        lastPrice: closingPrice(holding, quotes(listing)),
        openProfit: rounded(openProfit(listing, holding, quotes)),
        ...TRADABLE,
      };
    })
    .sort((a, b) => (a.symbol < b.symbol ? -1 : 1));

/** Traded once, and taken off the list since: what one of it is worth is not known any more. */
const unlisted = (symbol: string, { quantity, cost }: Holding): Position => ({
  symbol,
  quantity,
  averagePrice: average(cost, quantity),
  lastPrice: null,
  openProfit: null,
  tradable: false,
  reason: `The paper exchange no longer lists ${symbol}. What is held of it counts for nothing there.`,
});

/** What it would be sold or bought back at. */
const closingPrice = ({ quantity }: Holding, { bid, ask }: Quote): Decimal =>
  sign(quantity) > 0 ? bid : ask;

const openProfit = (listing: Listing, holding: Holding, quotes: Quotes): Decimal =>
  subtract(value(listing, holding.quantity, closingPrice(holding, quotes(listing))), holding.cost);

export function balanceOf(book: Book, startingCash: Decimal, quotes: Quotes): Balance {
  const worth = equity(book, startingCash, quotes);
  const available = subtract(worth, marginUsed(book, quotes));
  return {
    currency: 'USD',
    equity: rounded(worth),
    cash: rounded(add(startingCash, book.profit)),
    available: sign(available) > 0 ? rounded(available) : ZERO,
  };
}

export interface Fill {
  readonly side: Side;
  readonly quantity: Decimal;
  readonly price: Decimal;
}

/** The book after a fill: netted, with what it earned or lost and its fee in the profit. */
export function applyFill(book: Book, listing: Listing, fill: Fill): Book {
  const { holding, realised } = net(book.holdings[listing.symbol] ?? FLAT, {
    quantity: signed(fill.side, fill.quantity),
    price: fill.price,
    unitValue: unitValue(listing),
  });
  const kept = listing.abroad ? { ...holding, instrument: listing.abroad } : holding;
  const { [listing.symbol]: _before, ...others } = book.holdings;
  return {
    ...book,
    profit: subtract(add(book.profit, realised), feeOf(listing, fill)),
    holdings: sign(holding.quantity) === 0 ? others : { ...others, [listing.symbol]: kept },
  };
}

/** Of one, at a price of 1, in the book's currency. */
const unitValue = (listing: Listing): Decimal => multiply(listing.contractSize, listing.currencyRate);

const value = (listing: Listing, quantity: Decimal, price: Decimal): Decimal =>
  multiply(multiply(quantity, price), unitValue(listing));

export const feeOf = (listing: Listing, { quantity, price }: Omit<Fill, 'side'>): Decimal =>
  multiply(value(listing, quantity, price), listing.feeRate);

/** What the order needs on its own, whatever is held: its initial margin and its fee. */
export function ownNeed(listing: Listing, quantity: Decimal, quotes: Quotes): Decimal {
  const price = quotes(listing).ask;
  return add(marginOf(listing, quantity, price), feeOf(listing, { quantity, price }));
}

export interface Margin {
  readonly needed: Decimal;
  readonly available: Decimal;
}

/**
 * What an order would need on top of what the book needs already, and what there is for it. null: it does not make
 * the position that could come about any larger, which is always allowed.
 */
export function marginFor(
  book: Book,
  listing: Listing,
  { side, quantity }: Omit<Fill, 'price'>,
  startingCash: Decimal,
  quotes: Quotes,
): Margin | null {
  const before = exposure(book, listing.symbol);
  const after = exposure(book, listing.symbol, { side, quantity });
  if (compare(after, before) <= 0) return null;
  const price = quotes(listing).ask;
  return {
    needed: add(marginOf(listing, subtract(after, before), price), feeOf(listing, { quantity, price })),
    available: subtract(equity(book, startingCash, quotes), marginUsed(book, quotes)),
  };
}

/** The largest position that could come about if what rests on one side were filled and the other not. */
export function exposure(book: Book, symbol: string, more?: Omit<Fill, 'price'>): Decimal {
  const pending = (side: Side) =>
    book.resting
      // A reduce-only order makes no position larger.
      .filter((order) => order.symbol === symbol && order.side === side && !order.reduceOnly)
      .reduce((sum, order) => add(sum, unfilled(order)), more?.side === side ? more.quantity : ZERO);
  const position = held(book, symbol);
  return [add(position, pending('buy')), subtract(position, pending('sell'))]
    .map(absolute)
    .reduce(larger, absolute(position));
}

export const unfilled = (order: PaperOrder): Decimal => subtract(order.quantity, order.fillQuantity);

const marginOf = (listing: Listing, quantity: Decimal, price: Decimal): Decimal =>
  multiply(value(listing, quantity, price), listing.marginRate);

function marginUsed(book: Book, quotes: Quotes): Decimal {
  const symbols = new Set([...Object.keys(book.holdings), ...book.resting.map(({ symbol }) => symbol)]);
  return [...symbols].reduce<Decimal>((sum, symbol) => {
    const listing = listedNow(book, symbol);
    return listing ? add(sum, marginOf(listing, exposure(book, symbol), quotes(listing).ask)) : sum;
  }, ZERO);
}

/** Cash, and what the positions would bring if they were closed now. */
function equity(book: Book, startingCash: Decimal, quotes: Quotes): Decimal {
  return Object.entries(book.holdings).reduce<Decimal>(
    (sum, [symbol, holding]) => {
      const listing = listedNow(book, symbol);
      return listing ? add(sum, openProfit(listing, holding, quotes)) : sum;
    },
    add(startingCash, book.profit),
  );
}

/** Rounded to cents so that "needs" is never shown as less than it is, nor "available" as more. */
export const inCents = (amount: Decimal, direction: 'up' | 'down'): string =>
  new Big(amount).toFixed(2, direction === 'up' ? Big.roundUp : Big.roundDown);

/** A part of it, on the step, by a number drawn from 0 up to 1: never all, and nothing only where there is but one step. */
export function partOf(quantity: Decimal, step: Decimal, drawn: number): Decimal {
  const steps = Number(new Big(quantity).div(step).toFixed(0, Big.roundDown));
  return steps < 2 ? ZERO : multiply(step, decimal(1 + Math.floor(drawn * (steps - 1))));
}

export const heldListings = (book: Book): Listing[] =>
  Object.keys(book.holdings).flatMap((symbol) => listedNow(book, symbol) ?? []);

/** Of another broker's market, what something waits for a price of. */
export function waitingAbroad(book: Book): Listing[] {
  const held = book.stops.map(({ symbol }) => book.holdings[symbol]?.instrument);
  const ordered = book.resting.map((order) => (waitsForPrice(order) ? order.instrument : null));
  const instruments = [...held, ...ordered].filter((each) => each !== undefined && each !== null);
  const bySymbol = new Map(instruments.map((instrument) => [instrument.symbol, instrument]));
  return [...bySymbol.values()].map(listingAbroad);
}

/** Of a symbol in the book, which was listed when it was traded; null: it is not any more. */
export function listedNow(book: Book, symbol: string): Listing | null {
  const abroad = book.holdings[symbol]?.instrument;
  return (abroad ? listingAbroad(abroad) : findListing(symbol)) ?? null;
}
