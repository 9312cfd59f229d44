// An order of which nobody could find out what became of it: its owner looks at the broker, and says. That is the last word about its
// open leg. Nothing is sent by it.

import { compare, type Decimal, ZERO } from '../decimal.ts';
import { millis, timestamp } from '../ids.ts';
import { followingAll, isOfMonths } from './fill.ts';
import {
  clientOrderId,
  hasEnded,
  isUnderWay,
  type Leg,
  type LegName,
  mainLeg,
  moveTo,
  type Order,
  openLeg,
  type Side,
} from './order.ts';
import { FORGOTTEN_MS } from './other-legs.ts';

export type Settlement =
  | { readonly outcome: 'filled'; readonly price: Decimal; readonly quantity: Decimal }
  | { readonly outcome: 'not_filled' };

/** `isDeadLetter`: fill verification has given it up. */
export function isSettleable(
  order: Order,
  { isDeadLetter }: { isDeadLetter: boolean },
  now: number,
): boolean {
  if (isUnderWay(order.status)) return false;
  if (isDeadLetter) return openLeg(order) !== undefined;
  return order.status === 'unknown' && now - unknownSince(order) >= FORGOTTEN_MS;
}

/** When its sender was told so; or, where that was never noted, when it was sent. */
function unknownSince({ submittedAt, trace, legs }: Order): number {
  if (trace.answered !== undefined) return millis(submittedAt) + trace.answered;
  return Math.max(millis(submittedAt), ...legs.map(({ sentAt }) => (sentAt === null ? 0 : millis(sentAt))));
}

/** `problem`: what is said cannot be. */
export function settle(
  order: Order,
  settlement: Settlement,
  now: number,
): Order | { readonly problem: string } {
  const known = openLeg(order);
  if (settlement.outcome === 'not_filled') {
    // What was seen of it was traded; the rest was not.
    const legs = known ? changed(order.legs, known, { status: 'cancelled' }) : order.legs;
    return ended({ ...order, legs, settledBy: 'user' }, known, 'cancelled', now);
  }
  const leg = known ?? wouldHaveSent(order);
  if (!leg) return { problem: NO_SIDE };
  const { price, quantity } = settlement;
  if (sentQuantity(leg) && compare(quantity, leg.quantity) > 0)
    return { problem: `"quantity" must be at most ${leg.quantity}: no more was sent.` };
  const seen = leg.fillQuantity ?? ZERO;
  if (compare(quantity, seen) < 0)
    return { problem: `"quantity" must be at least ${seen}: so much of it is known to be filled.` };
  const fill: Partial<Leg> = {
    status: 'filled',
    fillPrice: price,
    fillQuantity: quantity,
    filledAt: leg.filledAt ?? timestamp(now),
  };
  const own = { ...leg, quantity: sentQuantity(leg) ? leg.quantity : quantity, ...fill };
  const legs = known ? changed(order.legs, known, fill) : [own];
  return ended({ ...order, legs, settledBy: 'user' }, known, 'filled', now);
}

const NO_SIDE =
  'The order waited in a backup, and which side it would have traded is not known: it can be settled as not_filled only.';

/** A close that was never planned names none. */
const sentQuantity = ({ quantity }: Leg): boolean => compare(quantity, ZERO) > 0;

const changed = (legs: readonly Leg[], which: Leg, change: Partial<Leg>): Leg[] =>
  legs.map((leg) => (leg === which ? { ...leg, ...change } : leg));

/**
 * The order follows its last leg; where it closes in several months, all of them. A reversal that failed stays failed, whatever became of
 * the close that it left at the broker.
 */
function ended(order: Order, leg: Leg | undefined, status: 'filled' | 'cancelled', now: number): Order {
  if (isOfMonths(order)) return followingAll(order, now);
  const isMain = leg === undefined || mainLeg(order)?.clientOrderId === leg.clientOrderId;
  if (!isMain || hasEnded(order.status)) return order;
  // What a lost answer, or a restored backup, had it say of itself holds no longer.
  return moveTo(order, status, {
    error: null,
    filledAt: status === 'filled' ? timestamp(now) : order.filledAt,
  });
}

/** Of an order that waited in a restored backup and has no leg: what its owner found at the broker. null: either side may be it. */
function wouldHaveSent({ id, intent, quantity, submittedAt }: Order): Leg | null {
  const [name, side]: [LegName, Side | null] =
    intent.operation === 'PLACE_ENTRY_ORDER'
      ? ['entry', intent.side]
      : ['exit', intent.direction && (intent.direction === 'long' ? 'sell' : 'buy')];
  if (side === null || intent.target) return null;
  return {
    leg: name,
    nth: 1,
    clientOrderId: clientOrderId(id, name),
    brokerRef: null,
    side,
    quantity,
    status: 'unknown',
    fillPrice: null,
    fillQuantity: null,
    fee: null,
    instrument: null,
    unitValue: null,
    sentAt: submittedAt,
    ackedAt: null,
    filledAt: null,
  };
}
