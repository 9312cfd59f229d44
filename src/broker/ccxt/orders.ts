// An order as an exchange tells of it, and what that means to us. "Closed" is not filled, and a price where nothing was
// filled is none: what counts is how much was traded, and whether more can be.

import { add, average, compare, type Decimal, multiply, sign, ZERO } from '../../domain/decimal.ts';
import { isOurs } from '../../domain/orders/order.ts';
import type { BrokerOrderState } from '../broker.ts';
import type { OrderToFind, SeenOrder } from './profile.ts';
import { type Row, word } from './rows.ts';

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
  return fate === 'failed' ? 'failed' : 'cancelled';
}

/** Taken, and no more is known of it. */
export const acknowledged = (
  order: Pick<SeenOrder, 'ref' | 'clientId' | 'marketId' | 'side' | 'quantity' | 'reduceOnly'>,
): SeenOrder => ({ ...order, filled: ZERO, price: null, fee: null, fate: 'open', reason: null });

type Named = Pick<OrderToFind, 'clientOrderId' | 'ref'>;

/** Under which names an exchange's row has the ids of an order: ours and its own. */
export interface IdFields {
  readonly client: string;
  readonly own: string;
  /** What stands in front of ours. */
  readonly prefix?: string;
}

/**
 * Of a row that cannot be read otherwise: it is certainly not of this order. An order of ours has our id, so that an empty one is
 * another's; where the row has none at all, only the exchange's own id tells.
 */
export const isAnothers =
  ({ client, own, prefix = '' }: IdFields, { clientOrderId, ref }: Named) =>
  (row: Row): boolean => {
    const [clientId, id] = [row[client], word(row, own)];
    if (id === undefined || id === ref || clientId === prefix + clientOrderId) return false;
    return typeof clientId === 'string' || ref !== null;
  };

/** Of an open order that cannot be read otherwise: nobody here has sent it. */
export const isNobodysOfOurs =
  ({ client, prefix = '' }: IdFields) =>
  (row: Row): boolean => {
    const clientId = row[client];
    return (
      typeof clientId === 'string' && !(clientId.startsWith(prefix) && isOurs(clientId.slice(prefix.length)))
    );
  };

/** null: it is not among them. undefined: there are several under its id, and nobody says which it is. */
export function among(orders: readonly SeenOrder[] | undefined, order: Named): SeenOrder | null | undefined {
  const ours = orders?.filter(({ clientId }) => clientId === order.clientOrderId);
  const named = ours?.filter(({ ref }) => ref === order.ref) ?? [];
  const wanted = named.length > 0 ? named : ours;
  const [first = null, ...more] = wanted ?? [];
  if (more.some(({ ref }) => ref !== first?.ref)) return undefined;
  // A fill is not taken back.
  return (
    wanted &&
    more.reduce((one, other) => (one && compare(one.filled, other.filled) >= 0 ? one : other), first)
  );
}

/** Where it was asked for by its id: others' beside it are passed over, and others' alone answer nothing. */
export function only<Row extends { readonly clientId: string | null }>(
  rows: readonly Row[] | undefined,
  { clientOrderId }: Named,
): readonly Row[] | undefined {
  const ours = rows?.filter(({ clientId }) => clientId === clientOrderId);
  return ours?.length === 0 && rows?.length !== 0 ? undefined : ours;
}

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
  order: Omit<OrderToFind, 'since'>,
): SeenOrder | null | undefined {
  if (!fills) return undefined;
  // Where the exchange does not repeat our id, its own names the order.
  const ours = fills.filter(({ clientId, ref }) =>
    clientId === null ? ref === order.ref : clientId === order.clientOrderId,
  );
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
