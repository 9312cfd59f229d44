// What the exchange writes down: every order request and what became of it, every fill, what each account held from when on, every
// look at positions, every refusal of credentials, every "no such order", and all that happened to stops. The judge reads it.

import type { BrokerOrderState, TriggerBy } from '../src/broker/broker.ts';
import type { Book, PaperOrder, PaperStop, StopChanges } from '../src/broker/paper/ledger.ts';
import { type Db, type Statement, sql } from '../src/data/engine/db.ts';
import type { TimeInForce } from '../src/domain/capabilities.ts';
import { type Decimal, ZERO } from '../src/domain/decimal.ts';
import { type AccountId, type ClientOrderId, millis, type Timestamp } from '../src/domain/ids.ts';
import type { Side } from '../src/domain/orders/order.ts';

/** An order request, as it came in. */
export interface Arrival {
  readonly arrivedAt: number;
  readonly account: AccountId;
  readonly asker: string | null;
  readonly clientOrderId: ClientOrderId;
  readonly symbol: string;
  readonly side: Side;
  readonly quantity: Decimal;
  readonly reduceOnly: boolean;
  readonly sendBefore: Timestamp;
  readonly limit?: Decimal;
  readonly trigger?: Decimal;
  readonly timeInForce?: TimeInForce;
  /** Of the stop that is to stand beside it. */
  readonly stop?: Decimal;
}

/** `not_taken`: it came to nothing before the engine saw it. */
export type Outcome = 'accepted' | 'duplicate' | 'rejected' | 'late' | 'not_taken';

export const journalLine = (arrival: Arrival, outcome: Outcome, code: string | null): Statement =>
  sql`insert into exchange_requests (arrived_at, account, client_order_id, asker, symbol, side, quantity,
        reduce_only, limit_price, trigger_price, time_in_force, stop_price, send_before, outcome, code)
      values (${arrival.arrivedAt}, ${arrival.account}, ${arrival.clientOrderId}, ${arrival.asker},
        ${arrival.symbol}, ${arrival.side}, ${arrival.quantity}, ${arrival.reduceOnly}, ${arrival.limit ?? null},
        ${arrival.trigger ?? null}, ${arrival.timeInForce ?? null}, ${arrival.stop ?? null}, ${arrival.sendBefore}, ${outcome}, ${code})`;

export async function readLedger(db: Db) {
  // All of them are read in one turn of the event loop, in which nothing is written.
  const [orders, books, requests, looks, notFound, held, denials, fills, stops, stopRequests] =
    await Promise.all([
      db.all<OrderRow>(
        sql`select book as account, client_order_id, broker_ref, symbol, side, quantity, reduce_only, limit_price, status,
            fill_quantity, fill_price, reason, accepted_at, updated_at
          from paper_orders order by rowid`,
      ),
      db.all<{ account: string; positions: string }>(
        sql`select book as account, positions from paper_accounts order by book`,
      ),
      db.all<RequestRow>(sql`select * from exchange_requests order by seq`),
      db.all<{ at: number; account: AccountId; asker: string | null; lag_ms: number }>(
        sql`select at, account, asker, lag_ms from exchange_looks order by seq`,
      ),
      db.all<NotFoundRow>(
        sql`select at, account, client_order_id, forgotten from exchange_not_found order by seq`,
      ),
      db.all<{ at: number; account: AccountId; holdings: string }>(
        sql`select at, account, holdings from exchange_held order by seq`,
      ),
      db.all<{ at: number; account: AccountId; asker: string | null }>(
        sql`select at, account, asker from exchange_denials order by seq`,
      ),
      db.all<FillRow>(sql`select * from exchange_fills order by seq`),
      db.all<StopEventRow>(sql`select * from exchange_stops order by seq`),
      db.all<StopRequestRow>(sql`select * from exchange_stop_requests order by seq`),
    ]);
  return {
    orders: orders.map((row) => ({ ...row, reduce_only: Boolean(row.reduce_only) })),
    positions: books.flatMap(({ account, positions }) =>
      Object.entries(JSON.parse(positions) as Record<string, { quantity: string }>).map(
        ([symbol, { quantity }]) => ({ account, symbol, quantity }),
      ),
    ),
    requests: requests.map((row) => ({ ...row, reduce_only: Boolean(row.reduce_only) })),
    looks,
    not_found: notFound.map((row) => ({ ...row, forgotten: Boolean(row.forgotten) })),
    held: held.map(({ at, account, holdings }) => ({
      at,
      account,
      quantities: Object.fromEntries(
        Object.entries(JSON.parse(holdings) as Holdings).map(([symbol, { quantity }]) => [symbol, quantity]),
      ),
    })),
    denials,
    fills,
    stops,
    stop_requests: stopRequests,
  };
}

export const TABLES = `
create table if not exists exchange_accounts (
  account text primary key,
  paper text,
  traits text not null,
  standing text not null
);
create table if not exists exchange_requests (
  seq integer primary key autoincrement,
  arrived_at integer not null,
  account text not null,
  client_order_id text not null,
  asker text,
  symbol text not null,
  side text not null,
  quantity text not null,
  reduce_only integer not null,
  limit_price text,
  trigger_price text,
  time_in_force text,
  stop_price text,
  send_before text not null,
  outcome text not null,
  code text
);
create table if not exists exchange_fills (
  seq integer primary key autoincrement,
  at integer not null,
  account text not null,
  client_order_id text not null,
  symbol text not null,
  side text not null,
  fill_quantity text not null,
  fill_price text not null
);
create table if not exists exchange_stops (
  seq integer primary key autoincrement,
  at integer not null,
  noted_at integer not null,
  account text not null,
  client_order_id text not null,
  broker_ref text not null,
  what text not null,
  symbol text not null,
  side text not null,
  quantity text,
  price text not null,
  trigger_by text not null,
  order_id text,
  reason text,
  asker text
);
create table if not exists exchange_stop_requests (
  seq integer primary key autoincrement,
  arrived_at integer not null,
  account text not null,
  client_order_id text not null,
  asker text,
  moves text,
  symbol text not null,
  side text not null,
  quantity text,
  price text not null,
  trigger_by text not null,
  outcome text not null,
  code text
);
create table if not exists exchange_prices (
  symbol text primary key,
  price text not null
);
create table if not exists exchange_looks (
  seq integer primary key autoincrement,
  at integer not null,
  account text not null,
  asker text,
  lag_ms integer not null
);
create table if not exists exchange_held (
  seq integer primary key autoincrement,
  at integer not null,
  account text not null,
  holdings text not null
);
create index if not exists exchange_held_by_account on exchange_held (account, seq);
create table if not exists exchange_denials (
  seq integer primary key autoincrement,
  at integer not null,
  account text not null,
  asker text
);
create table if not exists exchange_not_found (
  seq integer primary key autoincrement,
  at integer not null,
  account text not null,
  client_order_id text not null,
  forgotten integer not null
);
`;

interface NotFoundRow {
  at: number;
  account: AccountId;
  client_order_id: string;
  forgotten: number;
}

interface OrderRow {
  account: AccountId;
  client_order_id: string;
  broker_ref: string;
  symbol: string;
  side: Side;
  quantity: string;
  reduce_only: number;
  limit_price: string | null;
  status: BrokerOrderState['status'];
  fill_quantity: string;
  fill_price: string | null;
  reason: string | null;
  accepted_at: Timestamp;
  updated_at: Timestamp;
}

interface RequestRow {
  seq: number;
  arrived_at: number;
  account: AccountId;
  client_order_id: string;
  asker: string | null;
  symbol: string;
  side: Side;
  quantity: string;
  reduce_only: number;
  limit_price: string | null;
  trigger_price: string | null;
  time_in_force: TimeInForce | null;
  stop_price: string | null;
  send_before: Timestamp;
  outcome: Outcome;
  code: string | null;
}

export const noteLook = (account: AccountId, asker: string | null, lagMs: number): Statement =>
  sql`insert into exchange_looks (at, account, asker, lag_ms)
      values (${Date.now()}, ${account}, ${asker}, ${lagMs})`;

export const noteDenial = (account: AccountId, asker: string | null): Statement =>
  sql`insert into exchange_denials (at, account, asker) values (${Date.now()}, ${account}, ${asker})`;

type Holdings = Book['holdings'];

/** From now on. */
export const noteHeld = (account: string, holdings: Holdings): Statement =>
  sql`insert into exchange_held (at, account, holdings)
      values (${Date.now()}, ${account}, ${JSON.stringify(holdings)})`;

/** What the account held at that time. */
export async function heldAt(db: Db, account: AccountId, at: number): Promise<Holdings> {
  const row = await db.get<{ holdings: string }>(
    sql`select holdings from exchange_held where account = ${account} and at <= ${at}
        order by seq desc limit 1`,
  );
  return row ? (JSON.parse(row.holdings) as Holdings) : {};
}

export const noteNotFound = (account: AccountId, clientOrderId: string, forgotten: boolean): Statement =>
  sql`insert into exchange_not_found (at, account, client_order_id, forgotten)
      values (${Date.now()}, ${account}, ${clientOrderId}, ${forgotten})`;

/** The wish for a stop, as it came in. */
export interface StopArrival {
  readonly arrivedAt: number;
  readonly account: AccountId;
  readonly asker: string | null;
  readonly clientOrderId: ClientOrderId;
  /** Under which id the one stands that is to be moved; without it, it is a new one. */
  readonly moves?: ClientOrderId;
  readonly symbol: string;
  readonly side: Side;
  readonly quantity: Decimal | null;
  readonly price: Decimal;
  readonly triggerBy: TriggerBy;
}

export const stopRequestLine = (
  arrival: StopArrival,
  outcome: Exclude<Outcome, 'late'>,
  code: string | null,
): Statement =>
  sql`insert into exchange_stop_requests (arrived_at, account, client_order_id, asker, moves, symbol, side, quantity,
        price, trigger_by, outcome, code)
      values (${arrival.arrivedAt}, ${arrival.account}, ${arrival.clientOrderId}, ${arrival.asker},
        ${arrival.moves ?? null}, ${arrival.symbol}, ${arrival.side}, ${arrival.quantity}, ${arrival.price},
        ${arrival.triggerBy}, ${outcome}, ${code})`;

/** Each with all that was filled of its order so far: one that was filled no further is told of once more. */
export const fillLines = (account: string, orders: readonly PaperOrder[]): Statement[] =>
  orders
    .filter(({ fillQuantity }) => fillQuantity !== ZERO)
    .map(
      ({ clientOrderId, symbol, side, fillQuantity, fillPrice }) =>
        sql`insert into exchange_fills (at, account, client_order_id, symbol, side, fill_quantity, fill_price)
            values (${Date.now()}, ${account}, ${clientOrderId}, ${symbol}, ${side}, ${fillQuantity}, ${fillPrice})`,
    );

interface FillRow {
  seq: number;
  at: number;
  account: AccountId;
  client_order_id: string;
  symbol: string;
  side: Side;
  fill_quantity: string;
  fill_price: string;
}

/** All that happened to stops by one change of the book. `asker`: who asked for something just then. */
export const stopLines = (account: string, asker: string | null, changes: StopChanges): Statement[] => [
  ...(changes.placed ? [stopLine(account, asker, 'placed', changes.placed)] : []),
  ...changes.changed.map((stop) =>
    stopLine(account, asker, stop.status === 'standing' ? 'moved' : stop.status, stop),
  ),
];

const stopLine = (account: string, asker: string | null, what: StopEvent, stop: PaperStop): Statement =>
  sql`insert into exchange_stops (at, noted_at, account, client_order_id, broker_ref, what, symbol, side, quantity,
        price, trigger_by, order_id, reason, asker)
      values (${millis(stop.updatedAt)}, ${Date.now()}, ${account}, ${stop.clientOrderId}, ${stop.brokerRef}, ${what},
        ${stop.symbol}, ${stop.side}, ${stop.quantity}, ${stop.price}, ${stop.triggerBy}, ${stop.orderId},
        ${stop.reason}, ${asker})`;

type StopEvent = 'placed' | 'moved' | Exclude<PaperStop['status'], 'standing'>;

interface StopEventRow {
  seq: number;
  /** By the exchange's prices. */
  at: number;
  noted_at: number;
  account: AccountId;
  client_order_id: string;
  broker_ref: string;
  what: StopEvent;
  symbol: string;
  side: Side;
  quantity: string | null;
  price: string;
  trigger_by: TriggerBy;
  order_id: string | null;
  reason: string | null;
  asker: string | null;
}

interface StopRequestRow {
  seq: number;
  arrived_at: number;
  account: AccountId;
  client_order_id: string;
  asker: string | null;
  moves: string | null;
  symbol: string;
  side: Side;
  quantity: string | null;
  price: string;
  trigger_by: TriggerBy;
  outcome: Outcome;
  code: string | null;
}
