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
import { type Booked, type CountedOrder, openBooks, worthOf } from './books.ts';
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
  /** Of its profit: what was earned before the range, and in it. */
  readonly earned: { readonly before: Decimal; readonly within: Decimal };
}

export interface TradesListener {
  onClosed(trade: RoundTrip): void;
  /** In the order of filling. */
  onPart?(id: string, part: TradePart): void;
}

/** Of orders of one mode, in the order of their submission. Trades are told as they were closed. */
export function openTrades({ onClosed, onPart }: TradesListener, { from, to }: Range = {}) {
  const open = new Map<string, Ledger>();
  /** What our fills paid to close what others had opened, in the range. */
  const foreign = new Map<string, Decimal>();

  const whenOf = (at: Timestamp): When =>
    from !== undefined && at < from ? 'before' : to !== undefined && at > to ? 'after' : 'within';

  function end(book: string, ledger: Ledger, at: Timestamp, closedBy: ClosedBy): void {
    open.delete(book);
    onClosed(ledger.told(at, closedBy));
  }

  /** What was closed by somebody else since our last fill. */
  function loseTo({ book, at, held, ours }: Booked): void {
    const ledger = open.get(book);
    if (!ledger || held.quantity === ours.quantity) return;
    const lost = absolute(subtract(held.quantity, ours.quantity));
    ledger.lose(lost);
    onPart?.(ledger.id, {
      ...{ at, orderId: null, quantity: lost, price: null, asked: null, fee: null, slippage: null },
      ...{ side: sign(held.quantity) > 0 ? 'sell' : 'buy', position: ours.quantity, profit: null },
      closedBy: 'closed_elsewhere',
    });
    if (ours.quantity === ZERO) end(book, ledger, at, 'closed_elsewhere');
  }

  function take(booked: Booked): void {
    loseTo(booked);
    const { at, order, leg, price, book, ours, holding, realised } = booked;
    const { closing, opening } = partsOf(booked);
    const fees = feesOf(leg.fee, leg.fillQuantity ?? ZERO, { closing, opening });
    const when = whenOf(at);
    const asked = askedOf(booked);
    const part = (id: string, what: Pick<TradePart, 'quantity' | 'fee' | 'position' | 'closedBy'>) => {
      const earned = what.closedBy === null ? ZERO : realised;
      const slippage = asked && missedOf(what.quantity, price, asked, leg);
      const profit = subtract(earned, what.fee ?? ZERO);
      onPart?.(id, { at, orderId: order.id, side: leg.side, price, asked, slippage, profit, ...what });
      return { price, slippage, profit, order: order.id, fee: what.fee, quantity: what.quantity, when };
    };

    const closed = closing === ZERO ? undefined : open.get(book);
    if (closed) {
      const position = opening === ZERO ? holding.quantity : ZERO;
      const closedBy = closerOf(booked, opening);
      closed.close(part(closed.id, { quantity: closing, fee: fees.closing, position, closedBy }));
      if (closing === absolute(ours.quantity)) end(book, closed, at, closedBy);
    }
    if (opening !== ZERO) {
      const ledger = open.get(book) ?? openLedger(tradeId(booked), booked);
      open.set(book, ledger);
      const position = holding.quantity;
      ledger.open(part(ledger.id, { quantity: opening, fee: fees.opening, position, closedBy: null }));
    }
    if (fees.foreign !== ZERO && when === 'within') {
      const currency = currencyOf(order);
      foreign.set(currency, add(foreign.get(currency) ?? ZERO, fees.foreign));
    }
  }

  const books = openBooks(take);
  return {
    take: (order: CountedOrder) => books.take(order),
    /** After all were taken: those that are open still. */
    close(): RoundTrip[] {
      books.close();
      return [...open.values()].map((ledger) => ledger.told(null, null));
    },
    foreignFees: (currency: string): Decimal => foreign.get(currency) ?? ZERO,
  };
}

type When = 'before' | 'within' | 'after';

/** Not signed: how much of ours it closes, and how much it opens. */
function partsOf({ ours, quantity }: Booked): { closing: Decimal; opening: Decimal } {
  const size = absolute(quantity);
  if (sign(ours.quantity) * sign(quantity) >= 0) return { closing: ZERO, opening: size };
  const closing = smaller(size, absolute(ours.quantity));
  return { closing, opening: subtract(size, closing) };
}

interface Fees {
  readonly closing: Decimal | null;
  readonly opening: Decimal | null;
  readonly foreign: Decimal;
}

/** Each part of a fill bears its part of the fee; together they are the fee, to the last digit. */
function feesOf(
  fee: Decimal | null,
  filled: Decimal,
  { closing, opening }: { readonly closing: Decimal; readonly opening: Decimal },
): Fees {
  if (fee === null) return { closing: null, opening: null, foreign: ZERO };
  const isWhole = add(closing, opening) === filled;
  const ofClosing = isWhole && opening === ZERO ? fee : share(fee, closing, filled);
  const ofOpening = isWhole ? subtract(fee, ofClosing) : share(fee, opening, filled);
  return {
    closing: ofClosing,
    opening: ofOpening,
    foreign: subtract(subtract(fee, ofClosing), ofOpening),
  };
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

interface Entry {
  readonly quantity: Decimal;
  readonly price: Decimal;
  readonly fee: Decimal | null;
  readonly slippage: Decimal | null;
  readonly profit: Decimal;
  readonly order: OrderId;
  readonly when: When;
}

type Ledger = ReturnType<typeof openLedger>;

/** What an open trade has come to so far. */
function openLedger(id: string, { at, order, quantity }: Booked) {
  const entered = { quantity: ZERO, value: ZERO };
  const left = { quantity: ZERO, value: ZERO };
  const [openedBy, exits] = [new Set<OrderId>(), new Set<OrderId>()];
  const earned = { before: ZERO, within: ZERO, after: ZERO };
  let [fees, closedElsewhere, feesUnknown] = [ZERO, ZERO, 0];
  let slippage: Decimal | null = null;

  function note(entry: Entry, side: typeof entered, orders: Set<OrderId>): void {
    side.quantity = add(side.quantity, entry.quantity);
    side.value = add(side.value, multiply(entry.quantity, entry.price));
    orders.add(entry.order);
    earned[entry.when] = add(earned[entry.when], entry.profit);
    if (entry.fee === null) feesUnknown++;
    else fees = add(fees, entry.fee);
    if (entry.slippage !== null) slippage = add(slippage ?? ZERO, entry.slippage);
  }

  return {
    id,
    open: (entry: Entry) => note(entry, entered, openedBy),
    close: (entry: Entry) => note(entry, left, exits),
    lose(lost: Decimal): void {
      closedElsewhere = add(closedElsewhere, lost);
    },
    told: (closedAt: Timestamp | null, closedBy: ClosedBy | null): RoundTrip => ({
      id,
      accountId: order.accountId,
      brokerName: order.brokerName,
      currency: currencyOf(order),
      symbol: canonicalSymbol(order.brokerName, order.symbol),
      side: sign(quantity) > 0 ? 'long' : 'short',
      openedAt: at,
      ...{ closedAt, closedBy, fees, feesUnknown, slippage, closedElsewhere },
      quantity: entered.quantity,
      entryPrice: average(entered.value, entered.quantity),
      exitPrice: left.quantity === ZERO ? null : average(left.value, left.quantity),
      profit: add(add(earned.before, earned.within), earned.after),
      openedBy: [...openedBy],
      exits: [...exits],
      earned: { before: earned.before, within: earned.within },
    }),
  };
}
