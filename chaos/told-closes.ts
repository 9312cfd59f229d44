// Which rows of our history tell of what stops and targets closed at the exchange.

import { type Decimal, decimal, sign } from '../src/domain/decimal.ts';
import { hasEnded } from '../src/domain/orders/order.ts';
import type { ExchangeLedger } from './exchange-client.ts';
import { isProtective, type LegRow, type OrderRow, type Records } from './records.ts';

type ExchangeOrder = ExchangeLedger['orders'][number];

export interface ToldCloses {
  /** Of each order of a stop or a target that closed something: the legs that tell of it. There should be one. */
  readonly closes: ReadonlyMap<ExchangeOrder, readonly LegRow[]>;
  /** What we asked about when the exchange had forgotten it: all that we can say is that the position was closed there. */
  readonly untold: ReadonlySet<ExchangeOrder>;
  /** Legs that tell of nothing. */
  readonly made: readonly LegRow[];
}

export function toldCloses({ orders, stops, not_found }: ExchangeLedger, records: Records): ToldCloses {
  const orderOf = new Map(records.orders.map((row) => [row.order_id, row]));
  const told = records.legs.filter(
    ({ order_id, client_order_id: id }) => orderOf.get(order_id)?.source === 'protection' && isProtective(id),
  );
  const toldBy = Map.groupBy(told, ({ broker_ref }) => broker_ref ?? '');
  // Some brokers know what a stop became by the stop's own reference.
  const fired = Map.groupBy(stops, ({ account, order_id }) => `${account} ${order_id}`);
  const refsOf = ({ account, client_order_id: id, broker_ref }: ExchangeOrder) => {
    const own = (fired.get(`${account} ${id}`) ?? []).map((stop) => stop.broker_ref);
    return [...new Set([broker_ref, ...own])];
  };
  const closed = orders.filter(
    ({ client_order_id: id, fill_quantity, status }) =>
      isProtective(id) && hasEnded(status as OrderRow['status']) && sign(decimal(fill_quantity)) > 0,
  );
  // And one that was moved may have another name there: then it is known by what it closed.
  const byRef = new Set(closed.flatMap(refsOf));
  const sameOf = (order: ExchangeOrder) =>
    told.filter(
      (leg) =>
        !byRef.has(leg.broker_ref ?? '') &&
        orderOf.get(leg.order_id)?.trading_account_id === order.account &&
        orderOf.get(leg.order_id)?.symbol === order.symbol &&
        isQuantity(leg, decimal(order.fill_quantity)) &&
        leg.fill_price === order.fill_price,
    );
  // Each row is one order's: two that closed the same at one price have two.
  const taken = new Set<LegRow>();
  const closes = new Map(
    closed.map((order) => {
      const own = refsOf(order).flatMap((ref) => toldBy.get(ref) ?? []);
      const same = own.length > 0 ? [] : sameOf(order).filter((leg) => !taken.has(leg));
      const its = own.length > 0 ? own : same.slice(0, 1);
      for (const leg of its) taken.add(leg);
      return [order, its];
    }),
  );
  const forgotten = new Set(not_found.filter((each) => each.forgotten).map((each) => each.client_order_id));
  return {
    closes,
    untold: new Set(
      closed.filter((order) => closes.get(order)?.length === 0 && forgotten.has(order.client_order_id)),
    ),
    made: told.filter((leg) => !taken.has(leg)),
  };
}

const isQuantity = ({ fill_quantity: filled }: LegRow, quantity: Decimal): boolean =>
  filled !== null && decimal(filled) === quantity;
