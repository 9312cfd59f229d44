// The paper broker's ledger in our database. The book's version is compared and set by every unit, so that two
// processes that trade one book can never corrupt it.

import type { Instrument, TriggerBy } from '../../broker/broker.ts';
import type { Book, Holding, PaperLedger, PaperOrder, PaperStop } from '../../broker/paper/ledger.ts';
import { decimal, decimalOrNull, ZERO } from '../../domain/decimal.ts';
import type { ClientOrderId, Timestamp } from '../../domain/ids.ts';
import type { Side } from '../../domain/orders/order.ts';
import { type Db, join, listQuery, must, type Statement, sql } from '../engine/db.ts';
import { inOneTurn, momentOf } from '../engine/in-one-turn.ts';

export function openPaperLedger(db: Db): PaperLedger {
  return {
    read: inOneTurn((books) => readBooks(db, books), { moment: momentOf(db) }),
    async find(book, clientOrderId) {
      const row = await db.get<OrderRow>(
        sql`select * from paper_orders where book = ${book} and client_order_id = ${clientOrderId}`,
      );
      return row ? orderOf(row) : null;
    },
    async findStop(book, clientOrderId) {
      const row = await db.get<StopRow>(
        sql`select * from paper_stops where book = ${book} and client_order_id = ${clientOrderId}`,
      );
      return row ? stopOf(row) : null;
    },
    async write(name, { book, placed, changed, stops }, beside = null) {
      // Given by this very side of the house: whoever saves orders.
      const recorded = beside as readonly Statement[] | null;
      const unit = [...(recorded ?? []), writeBook(name, book)];
      if (placed) unit.push(insertOrder(name, placed));
      unit.push(...changed.map((order) => updateOrder(name, order)));
      if (stops) {
        if (stops.placed) unit.push(insertStop(name, stops.placed));
        unit.push(...stops.changed.map((stop) => updateStop(name, stop)));
        unit.push(...stops.orders.map((order) => insertOrder(name, order)));
      }
      const failed = await db.commit(unit);
      if (failed === null) return 'written';
      if (failed === 'duplicate') return 'duplicate';
      return recorded?.some(({ guard }) => guard === failed) ? 'unrecorded' : 'stale';
    },
  };
}

interface OrderRow {
  client_order_id: ClientOrderId;
  broker_ref: string;
  symbol: string;
  side: Side;
  quantity: string;
  reduce_only: number | boolean;
  limit_price: string | null;
  trigger_price: string | null;
  good_until: Timestamp | null;
  instrument: string | null;
  status: PaperOrder['status'];
  fill_quantity: string;
  fill_price: string | null;
  fee: string | null;
  reason: string | null;
  accepted_at: Timestamp;
  updated_at: Timestamp;
}

interface StopRow {
  client_order_id: ClientOrderId;
  broker_ref: string;
  symbol: string;
  side: Side;
  quantity: string | null;
  price: string;
  trigger_by: TriggerBy;
  is_beside: number | boolean;
  status: PaperStop['status'];
  order_id: ClientOrderId | null;
  reason: string | null;
  accepted_at: Timestamp;
  updated_at: Timestamp;
}

type BookRow = {
  book_name: string;
  version: number;
  profit: string;
  positions: string;
  walked_to: Timestamp | null;
} & (({ kind: 'order' } & OrderRow) | ({ kind: 'stop' } & StopRow) | { kind: null });

/** Books, and what rests and stands in them, by one query: two could see two versions of one. */
async function readBooks(db: Db, names: readonly string[]): Promise<Book[]> {
  const rows = Map.groupBy(
    await db.all<BookRow>(booksNamed([...new Set(names)], null)),
    ({ book_name }) => book_name,
  );
  return names.map((name) => bookOf(rows.get(name) ?? []));
}

const booksNamed = listQuery((names) =>
  join(
    [
      sql`select a.book as book_name, a.version, a.profit, a.positions, a.walked_to, w.*
          from paper_accounts a
          left join (
            select 'order' as kind, book, client_order_id, broker_ref, symbol, side, quantity, reduce_only, limit_price, trigger_price, good_until, instrument,
              status, fill_quantity, fill_price, fee, reason, accepted_at, updated_at,
              null as price, null as trigger_by, null as is_beside, null as order_id
            from paper_orders where status in ('placed', 'partially_filled') and book in (`,
      names,
      sql`)
            union all
            select 'stop', book, client_order_id, broker_ref, symbol, side, quantity, null, null, null, null, null,
              status, null, null, null, reason, accepted_at, updated_at,
              price, trigger_by, is_beside, order_id
            from paper_stops where status = 'standing' and book in (`,
      names,
      sql`)
          ) w on w.book = a.book
          where a.book in (`,
      names,
      sql`)
          order by w.accepted_at, w.client_order_id`,
    ],
    '',
  ),
);

function bookOf(rows: readonly BookRow[]): Book {
  const [first] = rows;
  if (!first) return { version: 0, profit: ZERO, holdings: {}, resting: [], stops: [], walkedTo: null };
  return {
    version: first.version,
    profit: decimal(first.profit),
    holdings: JSON.parse(first.positions) as Record<string, Holding>,
    resting: rows.flatMap((row) => (row.kind === 'order' ? [orderOf(row)] : [])),
    stops: rows.flatMap((row) => (row.kind === 'stop' ? [stopOf(row)] : [])),
    walkedTo: first.walked_to,
  };
}

const orderOf = (row: OrderRow): PaperOrder => ({
  clientOrderId: row.client_order_id,
  brokerRef: row.broker_ref,
  symbol: row.symbol,
  side: row.side,
  quantity: decimal(row.quantity),
  reduceOnly: Boolean(row.reduce_only),
  limit: decimalOrNull(row.limit_price),
  trigger: decimalOrNull(row.trigger_price),
  goodUntil: row.good_until,
  instrument: row.instrument === null ? null : (JSON.parse(row.instrument) as Instrument),
  status: row.status,
  fillQuantity: decimal(row.fill_quantity),
  fillPrice: decimalOrNull(row.fill_price),
  fee: decimalOrNull(row.fee),
  reason: row.reason,
  acceptedAt: row.accepted_at,
  updatedAt: row.updated_at,
});

const stopOf = (row: StopRow): PaperStop => ({
  clientOrderId: row.client_order_id,
  brokerRef: row.broker_ref,
  symbol: row.symbol,
  side: row.side,
  quantity: decimalOrNull(row.quantity),
  price: decimal(row.price),
  triggerBy: row.trigger_by,
  isBeside: Boolean(row.is_beside),
  status: row.status,
  orderId: row.order_id,
  reason: row.reason,
  acceptedAt: row.accepted_at,
  updatedAt: row.updated_at,
});

function writeBook(name: string, { version, profit, holdings, walkedTo }: Book): Statement {
  const positions = JSON.stringify(holdings);
  return must(
    'book',
    version === 1
      ? sql`insert into paper_accounts (book, version, profit, positions, walked_to)
            values (${name}, ${version}, ${profit}, ${positions}, ${walkedTo})
            on conflict (book) do nothing`
      : sql`update paper_accounts
            set version = ${version}, profit = ${profit}, positions = ${positions}, walked_to = ${walkedTo}
            where book = ${name} and version = ${version - 1}`,
  );
}

function insertOrder(name: string, order: PaperOrder): Statement {
  const instrument = order.instrument && JSON.stringify(order.instrument);
  return must(
    'duplicate',
    sql`insert into paper_orders (book, client_order_id, broker_ref, symbol, side, quantity, reduce_only, limit_price, trigger_price, good_until,
          instrument, status, fill_quantity, fill_price, fee, reason, accepted_at, updated_at)
        values (${name}, ${order.clientOrderId}, ${order.brokerRef}, ${order.symbol}, ${order.side},
          ${order.quantity}, ${order.reduceOnly}, ${order.limit}, ${order.trigger}, ${order.goodUntil}, ${instrument}, ${order.status},
          ${order.fillQuantity}, ${order.fillPrice}, ${order.fee}, ${order.reason}, ${order.acceptedAt},
          ${order.updatedAt})
        on conflict (book, client_order_id) do nothing`,
  );
}

const updateOrder = (name: string, order: PaperOrder): Statement =>
  must(
    'paper order',
    sql`update paper_orders set status = ${order.status}, fill_quantity = ${order.fillQuantity},
          fill_price = ${order.fillPrice}, fee = ${order.fee}, reason = ${order.reason}, updated_at = ${order.updatedAt},
          trigger_price = ${order.trigger}
        where book = ${name} and client_order_id = ${order.clientOrderId}
          and status in ('placed', 'partially_filled')`,
  );

const insertStop = (name: string, stop: PaperStop): Statement =>
  must(
    'duplicate',
    sql`insert into paper_stops (book, client_order_id, broker_ref, symbol, side, quantity, price, trigger_by, is_beside,
          status, order_id, reason, accepted_at, updated_at)
        values (${name}, ${stop.clientOrderId}, ${stop.brokerRef}, ${stop.symbol}, ${stop.side}, ${stop.quantity},
          ${stop.price}, ${stop.triggerBy}, ${stop.isBeside}, ${stop.status}, ${stop.orderId}, ${stop.reason},
          ${stop.acceptedAt}, ${stop.updatedAt})
        on conflict (book, client_order_id) do nothing`,
  );

const updateStop = (name: string, stop: PaperStop): Statement =>
  must(
    'paper stop',
    sql`update paper_stops set quantity = ${stop.quantity}, price = ${stop.price}, trigger_by = ${stop.triggerBy},
          status = ${stop.status}, order_id = ${stop.orderId}, reason = ${stop.reason}, updated_at = ${stop.updatedAt}
        where book = ${name} and client_order_id = ${stop.clientOrderId} and status = 'standing'`,
  );
