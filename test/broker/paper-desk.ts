// What the tests of the paper broker share: a database of their own on disk, a clock that stands still until it is
// moved, and a latency that passes at once.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  BrokerAccount,
  BrokerOrder,
  BrokerOrderState,
  Market,
  PlaceOutcome,
} from '../../src/broker/broker.ts';
import type { PaperLedger } from '../../src/broker/paper/ledger.ts';
import { findListing, type Listing } from '../../src/broker/paper/market.ts';
import { openPaper, openSimulated } from '../../src/broker/paper/paper.ts';
import { type Db, sql } from '../../src/data/engine/db.ts';
import { openSqlite } from '../../src/data/engine/sqlite.ts';
import { openPaperLedger } from '../../src/data/orders/paper-ledger.ts';
import { type Decimal, decimal } from '../../src/domain/decimal.ts';
import type { AccountId, ClientOrderId, Timestamp } from '../../src/domain/ids.ts';
import type { OrderError, Side } from '../../src/domain/orders/order.ts';
import type { PaperSettings } from '../../src/domain/paper-settings.ts';
import { withTables } from '../data/backend.ts';
import { type PatientBroker, patient } from './patient.ts';

/** A Wednesday, 15:00 in New York. */
export const OPEN_HOURS = Date.parse('2026-07-15T19:00:00Z');

export interface LedgerRow {
  readonly client_order_id: ClientOrderId;
  readonly symbol: string;
  readonly side: Side;
  readonly fill_quantity: Decimal;
}

export interface PaperDesk {
  now: number;
  /** The latencies that were waited for. */
  readonly waited: number[];
  readonly deps: Parameters<typeof openPaper>[0];
  /** Another connection to the same database. */
  openDb(): Db;
  open(id: AccountId, paper?: Partial<PaperSettings>, over?: PaperLedger): Promise<PatientBroker>;
  openSimulated(id: AccountId, market?: Market): Promise<PatientBroker>;
  rows(book: string): Promise<LedgerRow[]>;
  restart(): Promise<void>;
  end(): Promise<void>;
}

export async function paperDesk(): Promise<PaperDesk> {
  const dir = await mkdtemp(join(tmpdir(), 'fillpath-paper-'));
  const file = await withTables(join(dir, 'paper.db'));
  const openDb = () => openSqlite({ file });
  let db = openDb();
  const waited: number[] = [];
  const desk: PaperDesk = {
    now: OPEN_HOURS,
    waited,
    deps: {
      // Through `db`, so that it outlives a restart.
      ledger: {
        read: (book) => openPaperLedger(db).read(book),
        find: (book, id) => openPaperLedger(db).find(book, id),
        findStop: (book, id) => openPaperLedger(db).findStop(book, id),
        write: (...change) => openPaperLedger(db).write(...change),
      },
      clock: { now: () => desk.now },
      wait: async (ms) => {
        waited.push(ms);
      },
    },
    openDb,
    open: async (id, paper = {}, ledger = desk.deps.ledger) =>
      patient(await openPaper({ ...desk.deps, ledger })(accountOf(id, paper), NO_HURRY)),
    openSimulated: async (id, market = NOBODY) =>
      patient(await openSimulated(desk.deps)(accountOf(id, null), market, NO_HURRY)),
    rows: (book) => db.all<LedgerRow>(sql`select * from paper_orders where book = ${book}`),
    async restart() {
      await db.close();
      db = openDb();
    },
    async end() {
      await db.close();
      await rm(dir, { recursive: true });
    },
  };
  return desk;
}

export const { signal: NO_HURRY } = new AbortController();

export const accountOf = (id: AccountId, paper: unknown): BrokerAccount => ({
  id,
  environment: 'live',
  paper,
});

/** Of an account without a broker that could be asked. */
export const NOBODY: Market = {
  resolve: async () => null,
  quote: () => assert.fail('nobody is there to be asked'),
};

let accounts = 0;
export const newAccount = (): AccountId => `account-${++accounts}` as AccountId;

/** An order that is never late. */
export const NEVER = '9999-12-31T23:59:59.999Z' as Timestamp;

let orders = 0;
export async function orderOf(
  broker: Pick<PatientBroker, 'resolve' | 'place'>,
  side: Side,
  quantity: string | number,
  symbol = 'BTCUSDT',
  more: Partial<BrokerOrder> = {},
): Promise<BrokerOrder> {
  const instrument = await broker.resolve(symbol);
  assert.ok(!('rejection' in instrument));
  const clientOrderId = `order${++orders}` as ClientOrderId;
  const base = { clientOrderId, instrument, side, quantity: decimal(quantity), reduceOnly: false };
  return { ...base, sendBefore: NEVER, ...more };
}

export const place = async (...args: Parameters<typeof orderOf>): Promise<PlaceOutcome> =>
  args[0].place(await orderOf(...args));

export function accepted(outcome: PlaceOutcome): BrokerOrderState {
  assert.ok(outcome.outcome === 'accepted', JSON.stringify(outcome));
  return outcome.state;
}

export function rejected(outcome: PlaceOutcome): OrderError {
  assert.ok(outcome.outcome === 'rejected', JSON.stringify(outcome));
  return outcome.error;
}

export const listed = (symbol: string): Listing =>
  findListing(symbol) ?? assert.fail(`${symbol} is not listed`);
