// A leg in the words of the port: what is sent, and what is asked for.

import type { BrokerOrder, Instrument, OrderQuery } from '../../broker/broker.ts';
import { millis, timestamp } from '../../domain/ids.ts';
import { CLOCKS_APART_MS } from '../../domain/orders/fill.ts';
import type { Leg, Order } from '../../domain/orders/order.ts';
import { isYoung } from '../../domain/orders/other-legs.ts';
import type { Priced } from '../../domain/orders/priced.ts';
import type { Line } from './line.ts';

export const brokerOrder = (
  order: Order,
  leg: Leg,
  instrument: Instrument,
  giveUpMs: number,
): BrokerOrder => ({
  clientOrderId: leg.clientOrderId,
  instrument,
  side: leg.side,
  quantity: leg.quantity,
  // A leg that closes must never open the other side, whatever happened since the position was read.
  reduceOnly: leg.leg === 'exit',
  ...(leg.leg === 'entry' && order.priced && pricesOf(order.priced)),
  // Well before we give it up, by whatever clock.
  sendBefore: timestamp(
    Math.min(millis(order.deadlineAt), millis(leg.sentAt ?? order.deadlineAt) + giveUpMs - CLOCKS_APART_MS),
  ),
});

const pricesOf = ({ limit, stop, timeInForce }: Priced) => ({
  ...(limit !== null && { limit }),
  ...(stop !== null && { trigger: stop }),
  timeInForce,
});

/** `symbol`: for a leg of old, on which no instrument was pinned. */
export function queryOf(
  { instrument, sentAt, ...leg }: Leg,
  { symbol, priced }: Pick<Order, 'symbol' | 'priced'>,
): OrderQuery {
  const { clientOrderId, brokerRef, side, quantity } = leg;
  const isConditional = leg.leg === 'entry' && priced !== undefined && priced.stop !== null;
  return {
    clientOrderId,
    brokerRef,
    symbol: instrument ?? symbol,
    side,
    quantity,
    sentAt: sentAt ?? timestamp(0),
    ...(isConditional && { isConditional }),
  };
}

type Asked = Pick<Line, 'capabilities' | 'credentialsVersion'>;

/** It was sent to another account, perhaps: "not found" says nothing of it. */
export const isOfAnotherLogin = (
  { credentialsVersion }: Pick<Order, 'credentialsVersion'>,
  line: Pick<Line, 'credentialsVersion'>,
): boolean => credentialsVersion !== null && credentialsVersion !== line.credentialsVersion;

/**
 * What is not found is not there: it was acknowledged, and has ended a while ago, because by the broker's own id what has ended is
 * forgotten, and never what rests; or it is of another account, behind other credentials. Or the broker, which can be believed, does
 * not have it so long after it was sent: it never arrived, or not at this account. Of an order of its own that is no end: it may be at the other.
 */
export function isGone(
  order: Order,
  leg: Leg,
  line: Asked,
  now: number,
  rules: { readonly giveUpMs: number },
): boolean {
  const isOld = !isYoung(leg, now, rules);
  if (leg.ackedAt !== null) return isOfAnotherLogin(order, line) || (isOld && leg.brokerRef !== null);
  return isOld && findsById(order, leg, line, now);
}

const findsById = (order: Order, leg: Leg, { capabilities }: Asked, now: number): boolean =>
  now - millis(leg.sentAt ?? order.submittedAt) + CLOCKS_APART_MS < capabilities.findsByClientIdMs;

/** null: "not found" can be believed. */
export function whyDoubt(order: Order, leg: Leg, line: Asked, now: number): string | null {
  const { capabilities } = line;
  if (isOfAnotherLogin(order, line))
    return 'the broker does not know the order, but the credentials were changed after it had been sent';
  if (findsById(order, leg, line, now)) return null;
  return capabilities.findsByClientIdMs === 0
    ? 'this broker cannot be asked for an order by our id'
    : 'the broker does not know the order, but it forgets ids sooner than this';
}
