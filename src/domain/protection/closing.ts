// What protection closes is an order like any other: one that the broker's own stop or target has made, or one that is to be made.

import { add, compare, type Decimal, negate, sign, ZERO } from '../decimal.ts';
import { type ClientOrderId, millis, type OrderId, type Timestamp, timestamp } from '../ids.ts';
import { heldAfter } from '../orders/expected.ts';
import type { BrokerOrderState } from '../orders/fill.ts';
import { hasEnded, isOpenLeg, type Leg, NO_NOTES, type Order } from '../orders/order.ts';
import type { Direction } from '../side.ts';
import { closingSide, type ExitReason, type Protection, type ProtectiveLeg } from './protection.ts';

interface Closing {
  readonly id: OrderId;
  readonly reason: ExitReason;
  readonly now: number;
}

const base = (
  protection: Protection,
  { id, reason, now }: Closing,
  quantity: Decimal,
  deadlineAt: Timestamp,
): Order => ({
  id,
  version: 1,
  requestId: null,
  userId: protection.userId,
  accountId: protection.accountId,
  brokerName: protection.brokerName,
  source: 'protection',
  simulation: protection.simulation,
  symbol: protection.symbol,
  action: protection.side === 'long' ? 'close_long' : 'close_short',
  orderType: null,
  intent: { operation: 'CLOSE_POSITION', direction: protection.side },
  quantity,
  notes: NO_NOTES,
  guards: [],
  status: 'queued',
  error: null,
  positionBefore: null,
  autoExit: false,
  awaitsRest: false,
  legs: [],
  credentialsVersion: null,
  exitError: null,
  submittedAt: timestamp(now),
  deadlineAt,
  filledAt: null,
  trace: {},
  exitReason: reason,
  causedBy: protection.setBy,
});

/** To be executed as any close is. */
export const closeOrder = (
  protection: Protection,
  closing: Closing & { readonly held: Decimal; readonly lifeMs: number },
): Order => base(protection, closing, closing.held, timestamp(closing.now + closing.lifeMs));

/** Made by the broker. `left`: what is held now. */
export function filledOrder(
  protection: Protection,
  closing: Closing & {
    readonly leg: ProtectiveLeg;
    readonly fill: BrokerOrderState;
    /** Of the leg's fills: a target and the stop beside it have one id, and two legs cannot. */
    readonly nth: number;
    readonly left: Decimal;
    readonly counted: Order['counted'];
    readonly unitValue: Decimal | null;
  },
): Order {
  const { leg, fill, nth, left, counted, now, unitValue } = closing;
  const at = timestamp(now);
  const before = add(left, fill.fillQuantity);
  const made: Leg = {
    leg: 'exit',
    nth: 1,
    clientOrderId: nth === 1 ? leg.clientOrderId : (`${leg.clientOrderId}#${nth}` as ClientOrderId),
    brokerRef: fill.brokerRef ?? leg.brokerRef,
    side: closingSide(protection),
    quantity: leg.quantity,
    status: fill.status,
    fillPrice: fill.fillPrice,
    fillQuantity: fill.fillQuantity,
    fee: fill.fee,
    instrument: protection.instrument,
    unitValue,
    sentAt: leg.sentAt,
    ackedAt: leg.sentAt,
    filledAt: at,
  };
  return {
    ...base(protection, closing, fill.status === 'filled' ? fill.fillQuantity : leg.quantity, at),
    status: fill.status,
    positionBefore: protection.side === 'long' ? before : negate(before),
    counted,
    legs: [{ ...made, quantity: fill.status === 'filled' ? fill.fillQuantity : leg.quantity }],
    filledAt: fill.fillQuantity === ZERO ? null : at,
  };
}

/**
 * When what a leg has closed was held last, as far as that is known: who learns it late may find another position there. `last`: the order that
 * traded there last. Where that one was planned on nothing after the leg had been placed, and all that it brought is held, the leg has closed
 * what was there before. Where what the leg protects was still held then, or less is held now, it counts as closed when it is found.
 */
export function closedFrom(
  last: Order | null,
  {
    leg,
    left,
    side,
    now,
  }: { leg: Pick<ProtectiveLeg, 'sentAt'>; left: Decimal; side: Direction; now: number },
): Timestamp {
  const entry = last?.legs.findLast((each) => each.leg === 'entry');
  const isOfBefore =
    entry != null &&
    entry.side === (side === 'long' ? 'buy' : 'sell') &&
    last?.positionBefore === ZERO &&
    entry.sentAt !== null &&
    millis(entry.sentAt) > millis(leg.sentAt) &&
    entry.fillQuantity !== null &&
    compare(left, entry.fillQuantity) >= 0;
  return isOfBefore ? leg.sentAt : timestamp(now);
}

/**
 * Of one that ends: who closed its position, by our own record; where that was protection, its order. `closing`: our own close of it, which may be under way and have taken it before
 * anybody heard of that. `traded`: what traded there of late, the newest first.
 */
export function closedLast(
  { side, instrument }: Pick<Protection, 'side' | 'instrument'>,
  { closing, traded }: { readonly closing: Order | null; readonly traded: readonly Order[] },
): Order | 'an order' | 'somebody else' {
  const [last] = traded;
  if (closing && !hasEnded(closing.status)) return 'an order';
  // One that has not ended may have taken it; and one of several months closes whatever is held of them.
  if (traded.some(isInDoubt) || new Set(last?.legs.map((leg) => leg.instrument)).size > 1) return 'an order';
  const held = heldAfter(traded).get(instrument) ?? ZERO;
  if (sign(held) === (side === 'long' ? 1 : -1)) return 'somebody else';
  return last?.exitReason ? last : 'an order';
}

const isInDoubt = ({ legs }: Order): boolean => legs.some((leg) => leg.leg === 'exit' && isOpenLeg(leg));
