// Our books: what each fill of our orders did to the position of its account and instrument, in the order of filling. Orders
// come one by one as they were submitted, so that a history of any length is booked in little memory.

import { absolute, type Decimal, multiply, negate, ONE, sign, smaller, subtract, ZERO } from '../decimal.ts';
import type { Timestamp } from '../ids.ts';
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

/** A fill, and what it did to what we hold. */
export interface Booked extends Pick<Fill, 'at' | 'order' | 'leg' | 'price'> {
  /** Of the account and instrument. */
  readonly book: string;
  /** Before it, by our books. */
  readonly held: Holding;
  /** As much of that as was still there. */
  readonly ours: Holding;
  /** Signed: what it traded of ours; the rest of the fill closed what somebody else had opened. */
  readonly quantity: Decimal;
  readonly holding: Holding;
  /** By average cost; fees are not in it. */
  readonly realised: Decimal;
}

/** Where the books stand: others can go on from there. */
export interface BooksSoFar {
  readonly books: ReadonlyMap<string, { readonly holding: Holding; readonly filledAt: Timestamp }>;
  readonly waiting: readonly Fill[];
}

export function openBooks(onBooked: (booked: Booked) => void, begun?: BooksSoFar) {
  const books = new Map(begun?.books);
  /** In the order of filling; an order that is yet to come was filled no earlier than it was submitted. */
  const waiting: Fill[] = [...(begun?.waiting ?? [])];

  function book({ at, order, leg, quantity, price, isFirst }: Fill): void {
    const key = bookOf(order, leg);
    const known = books.get(key);
    const held = known?.holding ?? FLAT;
    const seen = isFirst && isSettled(key, order, leg, known?.filledAt) ? order.positionBefore : null;
    const { ours, foreign } = seen === null ? { ours: held, foreign: ZERO } : apart(held, seen, quantity);
    const traded = subtract(quantity, foreign);
    const { holding, realised } = net(ours, { quantity: traded, price, unitValue: unitValueOf(leg) });
    books.set(key, { holding, filledAt: at });
    onBooked({ at, order, leg, price, book: key, held, ours, quantity: traded, holding, realised });
  }

  /** Whether the position that the order was planned on has all our earlier fills in it, and no later one. */
  const isSettled = (
    key: string,
    { submittedAt }: CountedOrder,
    leg: CountedLeg,
    filledAt: Timestamp | undefined,
  ): boolean =>
    (filledAt === undefined || (leg.sentAt !== null && filledAt <= leg.sentAt)) &&
    !waiting.some((fill) => fill.order.submittedAt < submittedAt && bookOf(fill.order, fill.leg) === key);

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

/**
 * What is ours of the position at the broker. What is held there no longer was closed elsewhere, or by a reset of the simulated
 * book: its cost is forgotten. What is held there besides was opened elsewhere, or so long ago that its order is gone: the
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
