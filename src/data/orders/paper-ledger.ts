// The paper broker's ledger in our database. The book's version is compared and set by every unit, so that two
// processes that trade one book can never corrupt it.

import type { Book, Holding, PaperLedger, PaperOrder } from '../../broker/paper/ledger.ts';
import { decimal, ZERO } from '../../domain/decimal.ts';
import type { ClientOrderId, Timestamp } from '../../domain/ids.ts';
import type { Side } from '../../domain/orders/order.ts';
import { type Db, must, type Statement, sql } from '../engine/db.ts';

export function openPaperLedger(db: Db): PaperLedger {
  return {
    read: (book) => readBook(db, book),
    async find(book, clientOrderId) {
      const row = await db.get<OrderRow>(
        sql`select * from paper_orders where book = ${book} and client_order_id = ${clientOrderId}`,
      );
      return row ? orderOf(row) : null;
    },
    async write(name, { book, placed, changed }) {
      const unit = [writeBook(name, book)];
      if (placed) unit.push(insertOrder(name, placed));
      unit.push(...changed.map((order) => updateOrder(name, order)));
      const failed = await db.commit(unit);
      if (failed === null) return 'written';
      return failed === 'duplicate' ? 'duplicate' : 'stale';
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
  status: PaperOrder['status'];
  fill_quantity: string;
  fill_price: string | null;
  fee: string | null;
  reason: string | null;
  accepted_at: Timestamp;
  updated_at: Timestamp;
}

type BookRow = { version: number; profit: string; positions: string } & (
  | OrderRow
  | { client_order_id: null }
);

/** The book and what rests in it by one query: two could see two versions. */
async function readBook(db: Db, name: string): Promise<Book> {
  const rows = await db.all<BookRow>(
    sql`select a.version, a.profit, a.positions, o.client_order_id, o.broker_ref, o.symbol, o.side, o.quantity,
          o.reduce_only, o.status, o.fill_quantity, o.fill_price, o.fee, o.reason, o.accepted_at, o.updated_at
        from paper_accounts a
        left join paper_orders o on o.book = a.book and o.status in ('placed', 'partially_filled')
        where a.book = ${name}
        order by o.accepted_at, o.client_order_id`,
  );
  const [first] = rows;
  if (!first) return { version: 0, profit: ZERO, holdings: {}, resting: [] };
  return {
    version: first.version,
    profit: decimal(first.profit),
    holdings: JSON.parse(first.positions) as Record<string, Holding>,
    resting: rows.flatMap((row) => (row.client_order_id === null ? [] : [orderOf(row)])),
  };
}

const orderOf = (row: OrderRow): PaperOrder => ({
  clientOrderId: row.client_order_id,
  brokerRef: row.broker_ref,
  symbol: row.symbol,
  side: row.side,
  quantity: decimal(row.quantity),
  reduceOnly: Boolean(row.reduce_only),
  status: row.status,
  fillQuantity: decimal(row.fill_quantity),
  fillPrice: row.fill_price === null ? null : decimal(row.fill_price),
  fee: row.fee === null ? null : decimal(row.fee),
  reason: row.reason,
  acceptedAt: row.accepted_at,
  updatedAt: row.updated_at,
});

function writeBook(name: string, { version, profit, holdings }: Book): Statement {
  const positions = JSON.stringify(holdings);
  return must(
    'version',
    version === 1
      ? sql`insert into paper_accounts (book, version, profit, positions)
            values (${name}, ${version}, ${profit}, ${positions})
            on conflict (book) do nothing`
      : sql`update paper_accounts set version = ${version}, profit = ${profit}, positions = ${positions}
            where book = ${name} and version = ${version - 1}`,
  );
}

function insertOrder(name: string, order: PaperOrder): Statement {
  return must(
    'duplicate',
    sql`insert into paper_orders (book, client_order_id, broker_ref, symbol, side, quantity, reduce_only, status,
          fill_quantity, fill_price, fee, reason, accepted_at, updated_at)
        values (${name}, ${order.clientOrderId}, ${order.brokerRef}, ${order.symbol}, ${order.side},
          ${order.quantity}, ${order.reduceOnly}, ${order.status}, ${order.fillQuantity}, ${order.fillPrice},
          ${order.fee}, ${order.reason}, ${order.acceptedAt}, ${order.updatedAt})
        on conflict (book, client_order_id) do nothing`,
  );
}

const updateOrder = (name: string, order: PaperOrder): Statement =>
  must(
    'order',
    sql`update paper_orders set status = ${order.status}, fill_quantity = ${order.fillQuantity},
          fill_price = ${order.fillPrice}, fee = ${order.fee}, reason = ${order.reason}, updated_at = ${order.updatedAt}
        where book = ${name} and client_order_id = ${order.clientOrderId}
          and status in ('placed', 'partially_filled')`,
  );
