// A user's orders from the first one on, in the order of their submission: for what can only be counted from the beginning. In
// steps, each by an index and short, so that nobody waits behind it; and not for ever. Only what is counted is read.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BrokerName } from '../domain/brokers.ts';
import { decimalOrNull } from '../domain/decimal.ts';
import type { AccountId, OrderId, Timestamp, UserId } from '../domain/ids.ts';
import { NO_NOTES, type Order, type OrderStatus, type Side } from '../domain/order.ts';
import type { CountedLeg, CountedOrder } from '../domain/performance.ts';
import { join, ListTooSlow, type Reads, sql } from './db.ts';

const STEP = 100;
/** Longer than a list, which shows one page: this reads all of them, a few milliseconds at a time. */
const MOST_MS = 10_000;

/** An order, and one of its legs; nulls where it has none. */
interface Row {
  readonly order_id: OrderId;
  readonly submitted_at: Timestamp;
  readonly trading_account_id: AccountId;
  readonly broker_name: BrokerName;
  readonly simulation: number | boolean;
  readonly symbol: string;
  readonly status: OrderStatus;
  readonly position_before: string | null;
  readonly trace: string;
  readonly notes: string | null;
  readonly side: Side | null;
  readonly fill_price: string | null;
  readonly fill_quantity: string | null;
  readonly fee: string | null;
  readonly instrument: string | null;
  readonly unit_value: string | null;
  readonly sent_at: Timestamp | null;
  readonly acked_at: Timestamp | null;
  readonly filled_at: Timestamp | null;
}

export async function* ordersFromTheFirst(
  db: Reads,
  user: UserId,
  { accountId, simulation, to }: { accountId?: AccountId; simulation: boolean; to?: Timestamp },
): AsyncGenerator<readonly CountedOrder[]> {
  const begun = performance.now();
  const conditions = [
    sql`user_id = ${user}`,
    ...(accountId === undefined ? [] : [sql`trading_account_id = ${accountId}`]),
    ...(to === undefined ? [] : [sql`submitted_at <= ${to}`]),
  ];
  let last: Row | null = null;
  for (;;) {
    const behind = last ? [sql`(submitted_at, order_id) > (${last.submitted_at}, ${last.order_id})`] : [];
    // The mode is looked at here: a step is over so many orders, whichever of them fit.
    const rows: Row[] = await db.all<Row>(
      join(
        [
          sql`select o.order_id, o.submitted_at, o.trading_account_id, o.broker_name, o.simulation, o.symbol, o.status,
                o.position_before, o.trace, o.notes, l.side, l.fill_price, l.fill_quantity, l.fee, l.instrument, l.unit_value,
                l.sent_at, l.acked_at, l.filled_at
              from (select * from order_history where`,
          join([...conditions, ...behind], ' and '),
          sql`order by submitted_at, order_id limit ${STEP}) o left join order_legs l on l.order_id = o.order_id
              order by o.submitted_at, o.order_id, l.position`,
        ],
        ' ',
      ),
    );
    const byOrder = [...Map.groupBy(rows, (row) => row.order_id).values()];
    yield byOrder.flatMap((legs) => {
      const [order] = legs;
      return order && Boolean(order.simulation) === simulation ? toCounted(order, legs) : [];
    });
    last = rows.at(-1) ?? null;
    if (byOrder.length < STEP) return;
    if (performance.now() - begun > MOST_MS) throw new ListTooSlow('too many orders to count');
    await nextTurn();
  }
}

const toCounted = (order: Row, rows: readonly Row[]): CountedOrder => ({
  accountId: order.trading_account_id,
  brokerName: order.broker_name,
  symbol: order.symbol,
  status: order.status,
  submittedAt: order.submitted_at,
  positionBefore: decimalOrNull(order.position_before),
  trace: JSON.parse(order.trace) as Order['trace'],
  notes: order.notes === null ? NO_NOTES : (JSON.parse(order.notes) as Order['notes']),
  legs: rows.flatMap((row) => toLeg(row) ?? []),
});

const toLeg = (row: Row): CountedLeg | null =>
  row.side && {
    side: row.side,
    fillPrice: decimalOrNull(row.fill_price),
    fillQuantity: decimalOrNull(row.fill_quantity),
    fee: decimalOrNull(row.fee),
    instrument: row.instrument,
    unitValue: decimalOrNull(row.unit_value),
    sentAt: row.sent_at,
    ackedAt: row.acked_at,
    filledAt: row.filled_at,
  };
