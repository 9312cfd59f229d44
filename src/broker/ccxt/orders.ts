// An order as an exchange tells of it, and what that means to us. "Closed" is not filled, and a price where nothing was
// filled is none: what counts is how much was traded, and whether more can be.

import { add, average, compare, type Decimal, multiply, sign, ZERO } from '../../domain/decimal.ts';
import type { BrokerOrderState } from '../broker.ts';
import type { OrderToFind, SeenOrder } from './profile.ts';

/** undefined: something was filled, and nobody says at which price. */
export function stateOf(order: SeenOrder, contractSize: Decimal): BrokerOrderState | undefined {
  const { ref, filled, quantity, price, fee, reason } = order;
  const hasFilled = sign(filled) > 0;
  if (hasFilled && (price === null || sign(price) <= 0)) return undefined;
  const status = statusOf(order);
  const hasEndedBadly = status === 'cancelled' || status === 'failed';
  return {
    brokerRef: ref,
    status,
    fillQuantity: multiply(filled, contractSize),
    fillPrice: hasFilled ? price : null,
    fee: hasFilled ? fee : null,
    reason: hasEndedBadly ? (reason ?? `${filled} of ${quantity} were filled`) : null,
  };
}

function statusOf({ filled, quantity, fate }: SeenOrder): BrokerOrderState['status'] {
  const hasFilled = sign(filled) > 0;
  if (hasFilled && compare(filled, quantity) >= 0) return 'filled';
  if (fate === 'open') return hasFilled ? 'partially_filled' : 'placed';
  return fate === 'failed' && !hasFilled ? 'failed' : 'cancelled';
}

/** Taken, and no more is known of it. */
export const acknowledged = (
  order: Pick<SeenOrder, 'ref' | 'clientId' | 'marketId' | 'side' | 'quantity' | 'reduceOnly'>,
): SeenOrder => ({ ...order, filled: ZERO, price: null, fee: null, fate: 'open', reason: null });

/** null: it is not among them. */
export const among = (
  orders: readonly SeenOrder[] | undefined,
  clientOrderId: string,
): SeenOrder | null | undefined =>
  orders && (orders.find(({ clientId }) => clientId === clientOrderId) ?? null);

/** Where it was asked for by its id: another one's answers nothing. */
export const only = <Row extends { readonly clientId: string | null }>(
  rows: readonly Row[] | undefined,
  clientOrderId: string,
): readonly Row[] | undefined =>
  rows?.every(({ clientId }) => clientId === clientOrderId) ? rows : undefined;

export interface Fill {
  readonly ref: string;
  readonly clientId: string | null;
  readonly quantity: Decimal;
  readonly price: Decimal;
  readonly fee: Decimal | null;
}

/** All that is left of an order that no list has any more is what it traded. null: nothing. */
export function orderOfFills(
  fills: readonly Fill[] | undefined,
  order: Pick<OrderToFind, 'market' | 'clientOrderId' | 'side' | 'contracts'>,
): SeenOrder | null | undefined {
  if (!fills) return undefined;
  const ours = fills.filter(({ clientId }) => clientId === order.clientOrderId);
  const filled = ours.reduce<Decimal>((sum, { quantity }) => add(sum, quantity), ZERO);
  if (sign(filled) === 0) return null;
  const paid = ours.reduce<Decimal>((sum, { quantity, price }) => add(sum, multiply(quantity, price)), ZERO);
  return {
    ref: ours[0]?.ref ?? null,
    clientId: order.clientOrderId,
    marketId: order.market.id,
    side: order.side,
    quantity: order.contracts,
    filled,
    price: average(paid, filled),
    fee: ours.every(({ fee }) => fee !== null)
      ? ours.reduce<Decimal>((sum, { fee }) => add(sum, fee ?? ZERO), ZERO)
      : null,
    fate: 'open',
    reason: null,
    reduceOnly: false,
  };
}

/** A large position may be closed by several orders: they are told as one. undefined: there is none. */
export const asOne = (orders: readonly SeenOrder[]): SeenOrder | undefined =>
  orders.length === 0 ? undefined : orders.reduce(together);

function together(one: SeenOrder, other: SeenOrder): SeenOrder {
  const both = [one, other];
  const filled = add(one.filled, other.filled);
  const paid = both.reduce<Decimal>(
    (sum, order) => add(sum, multiply(order.filled, order.price ?? ZERO)),
    ZERO,
  );
  const isUnpriced = both.some((order) => sign(order.filled) > 0 && order.price === null);
  const isOpen = both.some(({ fate }) => fate === 'open');
  const ended = one.fate === other.fate ? one.fate : 'ended';
  return {
    ...one,
    quantity: add(one.quantity, other.quantity),
    filled,
    price: sign(filled) === 0 || isUnpriced ? null : average(paid, filled),
    fee: one.fee === null || other.fee === null ? null : add(one.fee, other.fee),
    fate: isOpen ? 'open' : ended,
    reason: one.reason ?? other.reason,
  };
}
