// What protection closes is an order like any other: one that the broker's own stop or target has made, or one that is to be made.

import { add, type Decimal, negate, ZERO } from '../decimal.ts';
import { type OrderId, type Timestamp, timestamp } from '../ids.ts';
import type { BrokerOrderState } from '../orders/fill.ts';
import { type Leg, NO_NOTES, type Order } from '../orders/order.ts';
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
    readonly left: Decimal;
    readonly unitValue: Decimal | null;
  },
): Order {
  const { leg, fill, left, now, unitValue } = closing;
  const at = timestamp(now);
  const before = add(left, fill.fillQuantity);
  const made: Leg = {
    leg: 'exit',
    nth: 1,
    clientOrderId: leg.clientOrderId,
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
    legs: [{ ...made, quantity: fill.status === 'filled' ? fill.fillQuantity : leg.quantity }],
    filledAt: fill.fillQuantity === ZERO ? null : at,
  };
}
