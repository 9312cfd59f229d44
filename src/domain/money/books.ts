// Our books: what each fill of our orders did to the position of its account and instrument, in the order of filling. Orders
// come one by one as they were submitted, so that a history of any length is booked in little memory.

import {
  absolute,
  add,
  type Decimal,
  multiply,
  negate,
  ONE,
  sign,
  smaller,
  subtract,
  ZERO,
} from '../decimal.ts';
import type { OrderId, Timestamp } from '../ids.ts';
import type { Leg, Order } from '../orders/order.ts';
import { signed } from '../orders/position.ts';
import { canonicalSymbol } from '../signals/symbol.ts';
import { FLAT, type Holding, heldToo, net } from './average-cost.ts';

/** What is counted of an order. */
export type CountedLeg = Pick<
  Leg,
  | 'leg'
  | 'side'
  | 'fillPrice'
  | 'fillQuantity'
  | 'fee'
  | 'instrument'
  | 'unitValue'
  | 'sentAt'
  | 'ackedAt'
  | 'filledAt'
>;
export interface CountedOrder
  extends Pick<
    Order,
    | 'id'
    | 'accountId'
    | 'brokerName'
    | 'source'
    | 'symbol'
    | 'status'
    | 'submittedAt'
    | 'positionBefore'
    | 'trace'
    | 'notes'
    | 'exitReason'
    | 'tradedAt'
  > {
  readonly legs: readonly CountedLeg[];
}

/** What a leg traded, at its average price. */
interface Fill {
  readonly at: Timestamp;
  readonly order: CountedOrder;
  readonly leg: CountedLeg;
  /** Signed. */
  readonly quantity: Decimal;
  readonly price: Decimal;
  readonly isFirst: boolean;
}

/** What was not held any more when an order was planned: somebody else has closed it, or protection has, and that was not known yet. */
interface Missing extends Holding {
  readonly missedBy: OrderId;
  readonly at: Timestamp;
}

/** What was missing, and what it earned: protection had closed it. */
export interface Found {
  readonly missedBy: OrderId;
  /** Signed, as it was traded. */
  readonly quantity: Decimal;
  readonly realised: Decimal;
}

/** A fill, and what it did to what we hold. */
export interface Booked extends Pick<Fill, 'at' | 'order' | 'leg' | 'price'> {
  /** Of the account and instrument. */
  readonly book: string;
  /** Before it, by our books. */
  readonly held: Holding;
  /** As much of that as was still there. */
  readonly ours: Holding;
  /**
   * Signed: what it traded of ours; the rest of the fill closed what was missing already, and what somebody else had opened.
   */
  readonly quantity: Decimal;
  readonly found: readonly Found[];
  readonly holding: Holding;
  /** After it. */
  readonly missing: readonly Missing[];
  /** By average cost, with what was found; fees are not in it. */
  readonly realised: Decimal;
}

interface Book {
  readonly holding: Holding;
  /** All that is booked was filled by then: an order that was planned later has seen it. */
  readonly filledBy: Timestamp | undefined;
  /** Its last order has seen what was held. */
  readonly isSeen: boolean;
  readonly missing: readonly Missing[];
}
const EMPTY: Book = { holding: FLAT, filledBy: undefined, isSeen: true, missing: [] };

/** Of each book, the last ones. */
const MOST_MISSING = 8;

/** Where the books stand: others can go on from there. */
export interface BooksSoFar {
  readonly books: ReadonlyMap<string, Book>;
  readonly waiting: readonly Fill[];
}

export function openBooks(onBooked: (booked: Booked) => void, begun?: BooksSoFar) {
  const books = new Map(begun?.books);
  /** In the order of filling; an order that is yet to come was filled no earlier than it was submitted. */
  const waiting: Fill[] = [...(begun?.waiting ?? [])];

  function book(fill: Fill): void {
    const { at, order, leg, price } = fill;
    const key = bookOf(order, leg);
    const known = books.get(key) ?? EMPTY;
    const isWhole = !waiting.some(
      (other) => other.order.submittedAt < order.submittedAt && bookOf(other.order, other.leg) === key,
    );
    const { ours, quantity, found, ...after } = (isOfBroker(order, leg) ? takenByBroker : taken)(
      known,
      fill,
      isWhole,
    );
    const { holding, realised } = net(ours, { quantity, price, unitValue: unitValueOf(leg) });
    const filledBy = [known.filledBy, leg.leg === 'entry' ? order.tradedAt : undefined].reduce<Timestamp>(
      latest,
      at,
    );
    books.set(key, { ...after, holding, filledBy });
    onBooked({
      ...{ at, order, leg, price, book: key, ours, quantity, found, holding },
      held: known.holding,
      missing: after.missing,
      realised: found.reduce((sum, each) => add(sum, each.realised), realised),
    });
  }

  function bookBefore(at: Timestamp | null): void {
    for (let fill = waiting[0]; fill && (at === null || fill.at < at); fill = waiting[0]) {
      waiting.shift();
      book(fill);
    }
  }

  return {
    take(order: CountedOrder): void {
      bookBefore(order.submittedAt);
      for (const fill of fillsOf(order)) {
        const later = waiting.findLastIndex((other) => other.at <= fill.at);
        waiting.splice(later + 1, 0, fill);
      }
    },
    soFar: (): BooksSoFar => ({ books: new Map(books), waiting: [...waiting] }),
    /** Books what still waits: after it, all that was taken is booked. */
    close: () => bookBefore(null),
  };
}

/** One per account and instrument. */
export const bookOf = ({ accountId, brokerName, symbol }: CountedOrder, { instrument }: CountedLeg): string =>
  `${accountId} ${instrument ?? canonicalSymbol(brokerName, symbol)}`;

/** 1 for a leg that was sent before it was noted. */
const unitValueOf = ({ unitValue }: Pick<Leg, 'unitValue'>): Decimal => unitValue ?? ONE;

/** What so many are worth at the leg's price, in the account's currency. */
export const worthOf = (quantity: Decimal, price: Decimal, leg: Pick<Leg, 'unitValue'>): Decimal =>
  multiply(multiply(quantity, price), unitValueOf(leg));

const latest = (at: Timestamp, other: Timestamp | undefined): Timestamp =>
  other !== undefined && other > at ? other : at;

interface Taken extends Pick<Booked, 'ours' | 'quantity' | 'found'>, Pick<Book, 'isSeen' | 'missing'> {}

/** `isWhole`: nothing of the book that was submitted before is still to be booked. */
function taken(book: Book, { at, order, leg, quantity, isFirst }: Fill, isWhole: boolean): Taken {
  const { holding, filledBy, missing } = book;
  // Whether the position that the order was planned on has all our earlier fills in it, and no later one.
  const isSettled = isWhole && (filledBy === undefined || (leg.sentAt !== null && filledBy <= leg.sentAt));
  const seen = isFirst && isSettled ? order.positionBefore : null;
  if (seen === null) return { ours: holding, quantity, found: [], missing, isSeen: book.isSeen && !isFirst };
  const { ours, foreign } = apart(holding, seen, quantity);
  const gone = {
    ...{ missedBy: order.id, at },
    quantity: subtract(holding.quantity, ours.quantity),
    cost: subtract(holding.cost, ours.cost),
  };
  return {
    ours,
    quantity: subtract(quantity, foreign),
    found: [],
    missing: gone.quantity === ZERO ? missing : [...missing, gone].slice(-MOST_MISSING),
    isSeen: true,
  };
}

/** Its own stop or target, written down when it was found. */
export const isOfBroker = ({ exitReason, submittedAt }: CountedOrder, { sentAt }: CountedLeg): boolean =>
  exitReason !== undefined && sentAt !== null && sentAt < submittedAt;

/**
 * What the broker's own stop or target has closed is known late: an order in between may have found it missing. What is held says how
 * much of it that was: so much has not left our books yet. It opens nothing: what is more than that was somebody else's, unless
 * what we hold is in doubt.
 */
function takenByBroker(book: Book, fill: Fill, isWhole: boolean): Taken {
  const { order, leg, quantity, price } = fill;
  const onItsSide = (position: Decimal) => (sign(position) === -sign(quantity) ? absolute(position) : ZERO);
  const before = order.positionBefore ?? negate(quantity);
  const size = absolute(quantity);
  const gone = subtract(onItsSide(book.holding.quantity), onItsSide(add(before, quantity)));
  let wanted = smaller(size, subtract(size, gone));
  const found: Found[] = [];
  const missing = book.missing.flatMap((each): readonly Missing[] => {
    const isOlder = leg.sentAt !== null && each.at < leg.sentAt;
    const part = isOlder ? ZERO : smaller(wanted, onItsSide(each.quantity));
    if (sign(part) <= 0) return [each];
    wanted = subtract(wanted, part);
    const trade = { quantity: signed(leg.side, part), price, unitValue: unitValueOf(leg) };
    const { holding, realised } = net(each, trade);
    found.push({ missedBy: each.missedBy, quantity: trade.quantity, realised });
    return holding.quantity === ZERO ? [] : [{ ...each, ...holding }];
  });
  const ofFound = found.reduce<Decimal>((sum, each) => add(sum, each.quantity), ZERO);
  const rest = {
    ...fill,
    quantity: subtract(quantity, ofFound),
    order: { ...order, positionBefore: order.positionBefore && add(order.positionBefore, ofFound) },
  };
  const planned = taken({ ...book, missing }, rest, isWhole);
  const after = { ...planned, found, isSeen: planned.isSeen || book.isSeen };
  if (!after.isSeen || !isWhole) return after;
  const closes = smaller(absolute(after.quantity), onItsSide(after.ours.quantity));
  return { ...after, quantity: signed(leg.side, closes) };
}

/**
 * What is ours of the position at the broker. What is held there no longer was closed elsewhere, by a reset of the simulated
 * book, or by protection, of which nobody knew yet: it is missing from then on. What is held there besides was opened elsewhere, or so long ago that its order is gone: the
 * part of a trade that closes it is none of our fills', and earns nothing that we could know.
 */
function apart(held: Holding, there: Decimal, quantity: Decimal): { ours: Holding; foreign: Decimal } {
  const ours = heldToo(held, there);
  if (sign(quantity) * sign(there) >= 0) return { ours, foreign: ZERO };
  const closes = (position: Decimal) => smaller(absolute(quantity), absolute(position));
  const foreign = subtract(closes(there), closes(ours.quantity));
  return { ours, foreign: sign(quantity) > 0 ? foreign : negate(foreign) };
}

function fillsOf(order: CountedOrder): Fill[] {
  const traded = order.legs.filter(({ fillQuantity }) => fillQuantity !== null && sign(fillQuantity) > 0);
  return traded.flatMap((leg, index) => {
    const { fillQuantity, fillPrice, side } = leg;
    if (fillQuantity === null || fillPrice === null) return [];
    // A part that was filled before the rest was cancelled has no time of its own.
    const seen = leg.filledAt ?? leg.ackedAt ?? leg.sentAt ?? order.submittedAt;
    return {
      at: seen < order.submittedAt ? order.submittedAt : seen,
      order,
      leg,
      quantity: signed(side, fillQuantity),
      price: fillPrice,
      isFirst: index === 0,
    };
  });
}
