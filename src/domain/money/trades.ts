// Round trips: from flat to flat, or to the other side, of one account and instrument, by average cost from our own fills.
// What a trade has earned is what the performance counts of its fills, to the last digit. What somebody else closed of it is
// told, and earns nothing that we could know.

import type { BrokerName } from '../brokers.ts';
import { absolute, add, average, type Decimal, multiply, sign, smaller, subtract, ZERO } from '../decimal.ts';
import type { AccountId, OrderId, Timestamp } from '../ids.ts';
import type { Side } from '../orders/order.ts';
import { EXIT_REASONS } from '../protection/protection.ts';
import { canonicalSymbol } from '../signals/symbol.ts';
import { share } from './average-cost.ts';
import { type Booked, type BooksSoFar, type CountedOrder, type Found, openBooks, worthOf } from './books.ts';
import { currencyOf, type Range } from './performance.ts';

export const CLOSED_BY = [
  ...EXIT_REASONS,
  /** An exit of the strategy's. */
  'signal',
  /** An order that went to the other side. */
  'reversal',
  /** By hand. */
  'dashboard',
  /** At the broker, by somebody else: for how much is not known. */
  'closed_elsewhere',
] as const;
export type ClosedBy = (typeof CLOSED_BY)[number];

/** What one fill did to one trade. */
export interface TradePart {
  readonly at: Timestamp;
  /** null: somebody else's. */
  readonly orderId: OrderId | null;
  readonly side: Side;
  /** Not signed. */
  readonly quantity: Decimal;
  readonly price: Decimal | null;
  /** What the strategy saw; null: it did not say. */
  readonly asked: Decimal | null;
  readonly fee: Decimal | null;
  readonly slippage: Decimal | null;
  /** Signed, after it. */
  readonly position: Decimal;
  /** After fees; null: not known. */
  readonly profit: Decimal | null;
  /** null: it opens. */
  readonly closedBy: ClosedBy | null;
  /** The order that found it closed. */
  readonly missedBy?: OrderId;
}

export interface RoundTrip {
  /** Of the order that opened it; with the place of its leg where that is not its last. */
  readonly id: string;
  readonly accountId: AccountId;
  readonly brokerName: BrokerName;
  readonly currency: string;
  readonly symbol: string;
  readonly side: 'long' | 'short';
  readonly openedAt: Timestamp;
  /** null: it is open. */
  readonly closedAt: Timestamp | null;
  readonly closedBy: ClosedBy | null;
  /** All that was opened. */
  readonly quantity: Decimal;
  readonly entryPrice: Decimal;
  /** Of what we closed ourselves. */
  readonly exitPrice: Decimal | null;
  /** After the fees that are known. */
  readonly profit: Decimal;
  readonly fees: Decimal;
  /** Fills whose fee the broker does not say, or takes in another currency. */
  readonly feesUnknown: number;
  /** In money; null: no order of it had a price. */
  readonly slippage: Decimal | null;
  readonly closedElsewhere: Decimal;
  readonly openedBy: readonly OrderId[];
  readonly exits: readonly OrderId[];
  /** In the order of filling. */
  readonly parts: readonly TradePart[];
}

/** What a fill of ours paid to close what somebody else had opened. */
export interface ForeignFee {
  readonly at: Timestamp;
  readonly currency: string;
  readonly fee: Decimal;
}

export interface TradesListener {
  onClosed(trade: RoundTrip & { readonly closedAt: Timestamp }): void;
  /** One that was told as closed had not ended: what somebody else seemed to have closed of it was protection's. It is told anew. */
  onReopened(id: string): void;
  onForeign?(fee: ForeignFee): void;
}

/** Where a count stands: another one can go on from there, and from there again. */
export interface TradesSoFar {
  readonly books: BooksSoFar;
  readonly open: ReadonlyMap<string, Ledger>;
  readonly incomplete: ReadonlyMap<string, readonly Ledger[]>;
}

/** Of orders of one mode, in the order of their submission. Trades are told as they were closed. */
export function openTrades({ onClosed, onReopened, onForeign }: TradesListener, begun?: TradesSoFar) {
  const open = copiesOf(begun?.open, copyOf);
  /** Of each book: trades that were told, and of which something is missing that protection may have closed. */
  const incomplete = copiesOf(begun?.incomplete, (ledgers) => ledgers.map(copyOf));

  function tell(ledger: Ledger, at: Timestamp, closedBy: ClosedBy): void {
    onClosed({ ...roundTripOf(ledger, at, closedBy), closedAt: at });
  }

  function end(book: string, ledger: Ledger, at: Timestamp, closedBy: ClosedBy): void {
    open.delete(book);
    incomplete.set(book, [...(incomplete.get(book) ?? []), ledger]);
    tell(ledger, at, closedBy);
  }

  /** What was closed by somebody else since our last fill. */
  function loseTo({ book, at, held, ours, order }: Booked): void {
    const ledger = open.get(book);
    if (!ledger || held.quantity === ours.quantity) return;
    ledger.parts.push({
      ...{ at, orderId: null, price: null, asked: null, fee: null, slippage: null, profit: null },
      quantity: absolute(subtract(held.quantity, ours.quantity)),
      side: sign(held.quantity) > 0 ? 'sell' : 'buy',
      position: ours.quantity,
      closedBy: 'closed_elsewhere',
      missedBy: order.id,
    });
    if (ours.quantity === ZERO) end(book, ledger, at, 'closed_elsewhere');
  }

  /** Somebody else had closed it, as it seemed: it was protection. */
  function restore({ book }: Booked, { missedBy, quantity }: Found, part: Omit<TradePart, 'position'>): void {
    const isIn = ({ parts }: Ledger) => parts.some((each) => each.missedBy === missedBy);
    const running = open.get(book);
    const ledger = running && isIn(running) ? running : incomplete.get(book)?.find(isIn);
    if (!ledger) return;
    const since = ledger.parts.findIndex((each) => each.missedBy === missedBy);
    const later = ledger.parts.splice(since).map((each) => ({
      ...each,
      position: subtract(each.position, quantity),
      quantity: each.missedBy === missedBy ? subtract(each.quantity, part.quantity) : each.quantity,
    }));
    ledger.parts.push(...later.filter((each) => each.quantity !== ZERO));
    const position = add(ledger.parts.at(-1)?.position ?? ZERO, quantity);
    ledger.parts.push({ ...part, position });
    if (ledger === running || part.closedBy === null) return;
    onReopened(ledger.id);
    tell(ledger, part.at, part.closedBy);
  }

  function take(booked: Booked): void {
    loseTo(booked);
    const { at, order, leg, price, book, ours, holding, found, missing } = booked;
    const { closing, opening } = partsOf(booked);
    const sizes = found.map(({ quantity }) => absolute(quantity));
    const { fees, foreign } = feesOf(leg.fee, leg.fillQuantity ?? ZERO, [closing, opening, ...sizes]);
    const [ofClosing = null, ofOpening = null, ...ofFound] = fees;
    const realised = found.reduce((sum, each) => subtract(sum, each.realised), booked.realised);
    const asked = askedOf(booked);
    const part = (
      what: Pick<TradePart, 'quantity' | 'fee' | 'closedBy'>,
      earned: Decimal,
    ): Omit<TradePart, 'position'> => {
      const slippage = asked && missedOf(what.quantity, price, asked, leg);
      const profit = subtract(earned, what.fee ?? ZERO);
      return { at, orderId: order.id, side: leg.side, price, asked, slippage, profit, ...what };
    };

    const closed = closing === ZERO ? undefined : open.get(book);
    if (closed) {
      const position = opening === ZERO ? holding.quantity : ZERO;
      const closedBy = closerOf(booked, opening);
      closed.parts.push({ ...part({ quantity: closing, fee: ofClosing, closedBy }, realised), position });
      if (closing === absolute(ours.quantity)) end(book, closed, at, closedBy);
    }
    if (opening !== ZERO) {
      const ledger = open.get(book) ?? ledgerOf(booked);
      open.set(book, ledger);
      const position = holding.quantity;
      ledger.parts.push({ ...part({ quantity: opening, fee: ofOpening, closedBy: null }, ZERO), position });
    }
    for (const [index, each] of found.entries()) {
      const what = { quantity: absolute(each.quantity), fee: ofFound[index] ?? null };
      restore(booked, each, part({ ...what, closedBy: closerOf(booked, ZERO) }, each.realised));
    }
    const isMissing = ({ missedBy }: TradePart) => missing.some((each) => each.missedBy === missedBy);
    const still = incomplete.get(book)?.filter(({ parts }) => parts.some(isMissing)) ?? [];
    if (still.length > 0) incomplete.set(book, still);
    else incomplete.delete(book);
    if (foreign !== ZERO) onForeign?.({ at, currency: currencyOf(order), fee: foreign });
  }

  const books = openBooks(take, begun?.books);
  return {
    take: (order: CountedOrder) => books.take(order),
    soFar: (): TradesSoFar => ({
      books: books.soFar(),
      open: copiesOf(open, copyOf),
      incomplete: copiesOf(incomplete, (ledgers) => ledgers.map(copyOf)),
    }),
    /** After all were taken: those that are open still. */
    close(): RoundTrip[] {
      books.close();
      return [...open.values()].map((ledger) => roundTripOf(ledger, null, null));
    },
  };
}

export const isWithin = (at: Timestamp, { from, to }: Range): boolean =>
  (from === undefined || at >= from) && (to === undefined || at <= to);

/** Of a trade's profit: what was earned before the range, and in it. */
export function earnedIn({ parts }: RoundTrip, range: Range): { before: Decimal; within: Decimal } {
  const sum = (some: readonly TradePart[]) =>
    some.reduce<Decimal>((total, { profit }) => add(total, profit ?? ZERO), ZERO);
  const { from } = range;
  return {
    before: from === undefined ? ZERO : sum(parts.filter(({ at }) => at < from)),
    within: sum(parts.filter(({ at }) => isWithin(at, range))),
  };
}

/** Not signed: how much of ours it closes, and how much it opens. */
function partsOf({ ours, quantity }: Booked): { closing: Decimal; opening: Decimal } {
  const size = absolute(quantity);
  if (sign(ours.quantity) * sign(quantity) >= 0) return { closing: ZERO, opening: size };
  const closing = smaller(size, absolute(ours.quantity));
  return { closing, opening: subtract(size, closing) };
}

/** Each part of a fill bears its part of the fee, and what is left of it is foreign; together they are the fee, to the last digit. */
function feesOf(
  fee: Decimal | null,
  filled: Decimal,
  sizes: readonly Decimal[],
): { readonly fees: readonly (Decimal | null)[]; readonly foreign: Decimal } {
  if (fee === null) return { fees: sizes.map(() => null), foreign: ZERO };
  let [left, rest] = [fee, filled];
  const fees = sizes.map((size) => {
    const part = share(left, size, rest);
    left = subtract(left, part);
    rest = subtract(rest, size);
    return part;
  });
  return { fees, foreign: left };
}

/** The price that the strategy saw, of a leg that its order is about. */
const askedOf = ({ order: { notes, legs }, leg }: Booked): Decimal | null =>
  legs.at(-1)?.leg === leg.leg ? notes.price : null;

/** In money, as the performance has it; below zero is worse. */
const missedOf = (quantity: Decimal, price: Decimal, asked: Decimal, leg: Booked['leg']): Decimal =>
  worthOf(quantity, leg.side === 'buy' ? subtract(asked, price) : subtract(price, asked), leg);

function closerOf({ order, leg }: Booked, opening: Decimal): ClosedBy {
  if (order.exitReason) return order.exitReason;
  const isReversal = leg.leg === 'exit' && order.legs.some((other) => other.leg === 'entry');
  if (isReversal || opening !== ZERO) return 'reversal';
  return order.source === 'dashboard' ? 'dashboard' : 'signal';
}

function tradeId({ order: { id, legs }, leg }: Booked): string {
  const place = legs.indexOf(leg);
  return place === legs.length - 1 ? id : `${id}.${place + 1}`;
}

/** What is known of a trade from its beginning, and what became of it so far. */
interface Ledger
  extends Pick<RoundTrip, 'id' | 'accountId' | 'brokerName' | 'currency' | 'symbol' | 'side' | 'openedAt'> {
  readonly parts: TradePart[];
}

/** Each can be written in without the other. */
const copyOf = (ledger: Ledger): Ledger => ({ ...ledger, parts: [...ledger.parts] });
const copiesOf = <From, To>(
  some: ReadonlyMap<string, From> | undefined,
  copy: (each: From) => To,
): Map<string, To> => new Map([...(some ?? [])].map(([book, each]) => [book, copy(each)]));

function ledgerOf(booked: Booked): Ledger {
  const { at, order, quantity } = booked;
  return {
    id: tradeId(booked),
    accountId: order.accountId,
    brokerName: order.brokerName,
    currency: currencyOf(order),
    symbol: canonicalSymbol(order.brokerName, order.symbol),
    side: sign(quantity) > 0 ? 'long' : 'short',
    openedAt: at,
    parts: [],
  };
}

function roundTripOf(ledger: Ledger, closedAt: Timestamp | null, closedBy: ClosedBy | null): RoundTrip {
  const entered = { quantity: ZERO, value: ZERO, orders: new Set<OrderId>() };
  const left = { quantity: ZERO, value: ZERO, orders: new Set<OrderId>() };
  let [profit, fees, closedElsewhere, feesUnknown] = [ZERO, ZERO, ZERO, 0];
  let slippage: Decimal | null = null;
  for (const part of ledger.parts) {
    if (part.orderId === null || part.price === null) {
      closedElsewhere = add(closedElsewhere, part.quantity);
      continue;
    }
    const end = part.closedBy === null ? entered : left;
    end.quantity = add(end.quantity, part.quantity);
    end.value = add(end.value, multiply(part.quantity, part.price));
    end.orders.add(part.orderId);
    profit = add(profit, part.profit ?? ZERO);
    if (part.fee === null) feesUnknown++;
    else fees = add(fees, part.fee);
    if (part.slippage !== null) slippage = add(slippage ?? ZERO, part.slippage);
  }
  return {
    ...ledger,
    ...{ closedAt, closedBy, profit, fees, feesUnknown, slippage, closedElsewhere },
    quantity: entered.quantity,
    entryPrice: average(entered.value, entered.quantity),
    exitPrice: left.quantity === ZERO ? null : average(left.value, left.quantity),
    openedBy: [...entered.orders],
    exits: [...left.orders],
  };
}
