// An order on its way to Alpaca: what is asked for, what is not worth asking, and whether the answer is about it.
//
// At the market it is for the day. With a limit it rests until it is cancelled; with a stop beside it, it is one order of two
// legs, of which the stop is the second (OCO: “one cancels the other”, for exits only).

import { compare, type Decimal, decimal, isOnStep, isWhole, sign } from '../../domain/decimal.ts';
import type { OrderError } from '../../domain/orders/order.ts';
import type { BrokerOrder, BrokerOrderState, PlaceOutcome } from '../broker.ts';
import { withLeftOver } from '../left-over.ts';
import { type Clock, hoursOf, type NestedOrder, ORDER, stateOf } from './answers.ts';
import { isOpposed, isPassed, type Refusal, rejectionOf } from './refusals.ts';

/** So long before the close nothing is sent: longer than a call takes. */
const CLOSING_MS = 15_000;

export function requestOf(order: BrokerOrder) {
  const { clientOrderId, instrument, side, quantity, limit, stop, trigger, timeInForce = 'gtc' } = order;
  const common = { symbol: instrument.symbol, qty: quantity, side, clientOrderId } as const;
  if (trigger !== undefined)
    return limit === undefined
      ? ({ ...common, type: 'stop', timeInForce, stopPrice: trigger } as const)
      : ({ ...common, type: 'stop_limit', timeInForce, stopPrice: trigger, limitPrice: limit } as const);
  if (limit === undefined) return { ...common, type: 'market', timeInForce: 'day' } as const;
  const resting = { ...common, type: 'limit', timeInForce } as const;
  if (stop === undefined) return { ...resting, limitPrice: limit };
  return {
    ...resting,
    orderClass: 'oco',
    takeProfit: { limitPrice: limit },
    stopLoss: { stopPrice: stop },
  } as const;
}

/** null: this is not the order that was sent. */
export function acceptedAs(body: unknown, order: BrokerOrder): BrokerOrderState | null {
  if (!ORDER.Check(body)) return null;
  const isIt =
    body.client_order_id === order.clientOrderId &&
    body.symbol === order.instrument.symbol &&
    body.side === order.side &&
    compare(decimal(body.qty), order.quantity) === 0 &&
    isPricedAs(body, order);
  return isIt ? stateOf(body) : null;
}

/** Whether it waits for what was asked for, and for nothing else. */
function isPricedAs(
  { type, limit_price, stop_price }: Pick<NestedOrder, 'type' | 'limit_price' | 'stop_price'>,
  { limit, trigger }: BrokerOrder,
): boolean {
  if (trigger !== undefined)
    return (
      type === (limit === undefined ? 'stop' : 'stop_limit') &&
      isAt(stop_price, trigger) &&
      (limit === undefined || isAt(limit_price, limit))
    );
  return limit === undefined || (type === 'limit' && isAt(limit_price, limit));
}

/** Whether the answer names that price. */
export const isAt = (told: string | number | null | undefined, price: Decimal): boolean =>
  told !== null && told !== undefined && compare(decimal(told), price) === 0;

export const refused = (refusal: Refusal, order: BrokerOrder): PlaceOutcome => ({
  outcome: 'rejected',
  ...(isOpposed(refusal) && { isOpposed: true }),
  error:
    order.trigger !== undefined && isPassed(refusal)
      ? { ...rejectionOf(refusal), code: 'invalid_price' }
      : withLeftOver(rejectionOf(refusal), order),
});

/** Why it is not worth sending. */
export function problemOf(order: BrokerOrder): OrderError | null {
  const { instrument, quantity, reduceOnly, limit, stop, trigger, timeInForce } = order;
  const { symbol, quantityStep } = instrument;
  if (sign(quantity) <= 0 || !(reduceOnly || isOnStep(quantity, quantityStep)))
    return invalid(
      `Alpaca trades ${symbol} in steps of ${quantityStep}, and ${quantity} is no multiple of that. Nothing was sent; send a quantity that is.`,
    );
  if (limit === undefined && trigger === undefined)
    return stop === undefined
      ? null
      : { code: 'failed_at_broker', message: 'Alpaca takes a stop with an order only beside its limit.' };
  // Fractions are orders of the day.
  if (timeInForce === 'day') return null;
  const fraction = fractionProblem(stop === undefined ? 'orders that rest' : 'stops', quantity);
  return fraction === null ? null : invalid(fraction);
}

const invalid = (message: string): OrderError => ({ code: 'invalid_quantity', message });

/** In words; null: it is whole. Fractions of a share are traded by orders of the day alone. */
export function fractionProblem(what: string, quantity: Decimal): string | null {
  if (isWhole(quantity)) return null;
  const whole = quantity.slice(0, quantity.indexOf('.'));
  const instead = whole === '0' ? 'a whole number' : whole;
  return `Alpaca keeps ${what} for whole shares only: send ${instead}, not ${quantity}.`;
}

export const tooLate = ({ sendBefore }: BrokerOrder): OrderError => ({
  code: 'expired',
  message: `The order was not sent: it had to be at Alpaca before ${sendBefore}.`,
});

/** By Alpaca's own clock: what arrives after the close waits until morning. null: it is open. */
export function closedProblem(clock: Clock): OrderError | null {
  const leftMs = Date.parse(clock.next_close) - Date.parse(clock.timestamp);
  if (clock.is_open && leftMs >= CLOSING_MS) return null;
  const hours = hoursOf(clock);
  const state = clock.is_open ? 'closes in a few seconds' : 'is closed';
  return {
    code: 'market_closed',
    message: `The American market ${state}, and Alpaca would keep the order until it opens: it was not sent. It opens at ${hours.next_open}; send it again then.`,
    market_hours: hours,
  };
}
