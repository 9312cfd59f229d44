// The exchange's books: the paper engine over a ledger of its own, and a journal of every order request. An acceptance
// and its line in the journal are one unit: neither can tell of what the other does not know.

import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Broker,
  type BrokerOrderState,
  BrokerUnavailable,
  type Capabilities,
  type OrderQuery,
} from '../src/broker/broker.ts';
import type { PaperLedger, PaperOrder } from '../src/broker/paper/ledger.ts';
import { openPaper } from '../src/broker/paper/paper.ts';
import { type Db, type Statement, sql } from '../src/data/db.ts';
import { migrate } from '../src/data/migrate.ts';
import { openPaperLedger } from '../src/data/paper-ledger.ts';
import { openSqlite } from '../src/data/sqlite.ts';
import { type Decimal, ZERO } from '../src/domain/decimal.ts';
import { type AccountId, type ClientOrderId, millis, type Timestamp, timestamp } from '../src/domain/ids.ts';
import type { OrderError, Side } from '../src/domain/order.ts';
import { drawn, PLAIN, type Traits } from './exchange-traits.ts';

/** The engine is always asked to the end: whoever has gone by then has sent it all the same. */
export const { signal: PATIENT } = new AbortController();

/** The engine goes by the client's id alone. */
const ANY: Omit<OrderQuery, 'clientOrderId'> = {
  brokerRef: null,
  symbol: '',
  side: 'buy',
  quantity: ZERO,
  sentAt: timestamp(0),
};

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
}

/** `not_taken`: it came to nothing before the engine saw it. */
type Outcome = 'accepted' | 'duplicate' | 'rejected' | 'late' | 'not_taken';

type Taken =
  /** `isAnswered` is false where the account's settings lose every answer. */
  | {
      readonly outcome: 'accepted' | 'duplicate';
      readonly state: BrokerOrderState;
      readonly isAnswered: boolean;
    }
  | { readonly outcome: 'rejected' | 'late'; readonly rejection: OrderError };

interface Seat {
  /** As JSON; null: nobody has connected yet. */
  paper: string | null;
  broker: Broker | null;
  traits: Traits;
}

/** One request on its way through the engine. */
interface Passage {
  readonly arrival: Arrival;
  isWritten: boolean;
  hasWaited: boolean;
}

export async function openDesk({ file, pause }: { file: string; pause: (ms: number) => Promise<void> }) {
  const db = openSqlite({ file });
  await migrate(db, Date.now());
  await db.script(TABLES);
  const passages = new AsyncLocalStorage<Passage>();
  const ledger = journaled(db, passages);
  async function wait(ms: number): Promise<void> {
    const passage = passages.getStore();
    if (passage?.hasWaited) return;
    if (passage) passage.hasWaited = true;
    await pause(ms);
  }

  const restsMs = (account: AccountId, clientOrderId: string): number => {
    const { fillsAfterMs } = seatOf(account).traits;
    return fillsAfterMs ? drawn(fillsAfterMs, 'fill', clientOrderId) : 0;
  };

  const openSeat = (id: AccountId, paper: string) =>
    openPaper({
      ledger,
      clock: { now: Date.now },
      wait,
      restsMs: ({ clientOrderId }) => restsMs(id, clientOrderId),
    })({ id, environment: 'live', paper: JSON.parse(paper) }, PATIENT);

  const seats = new Map<AccountId, Seat>();
  for (const row of await db.all<SeatRow>(sql`select * from exchange_accounts`))
    seats.set(row.account, {
      paper: row.paper,
      broker: row.paper === null ? null : await openSeat(row.account, row.paper),
      traits: JSON.parse(row.traits) as Traits,
    });

  function seatOf(account: AccountId): Seat {
    const seat = seats.get(account) ?? { paper: null, broker: null, traits: PLAIN };
    seats.set(account, seat);
    return seat;
  }

  async function keep(account: AccountId): Promise<void> {
    const { paper, traits } = seatOf(account);
    await db.commit([
      sql`insert into exchange_accounts (account, paper, traits)
          values (${account}, ${paper}, ${JSON.stringify(traits)})
          on conflict (account) do update set paper = excluded.paper, traits = excluded.traits`,
    ]);
  }

  /** Whoever looks fills what is due; where nobody does, it is filled all the same. */
  function fillInTime(account: AccountId, clientOrderId: string): void {
    void pause(restsMs(account, clientOrderId) + 1)
      .then(() => brokerOf(account).positions(PATIENT))
      .catch(() => undefined);
  }

  /** An order that has ended so long ago is no longer known by the id that its client gave it. */
  function isForgotten(account: AccountId, { clientOrderId, status, updatedAt }: PaperOrder): boolean {
    const { forgetsIdsAfterMs } = seatOf(account).traits;
    if (!forgetsIdsAfterMs || status === 'placed' || status === 'partially_filled') return false;
    return Date.now() - millis(updatedAt) > drawn(forgetsIdsAfterMs, 'forget', clientOrderId);
  }

  function brokerOf(account: AccountId): Broker {
    const { broker } = seatOf(account);
    if (!broker) throw new BrokerUnavailable(`The account ${account} was never connected.`);
    return broker;
  }

  /** Under the first id that is free: a broker without idempotency keeps what has the same id as another order too. */
  async function placeCarelessly(broker: Broker, passage: Passage, order: Parameters<Broker['place']>[0]) {
    for (let copies = 1; ; copies++) {
      const id = copies === 1 ? order.clientOrderId : (`${order.clientOrderId}#${copies}` as ClientOrderId);
      const outcome = await broker.place({ ...order, clientOrderId: id }, PATIENT);
      const isKnown = !passage.isWritten && (await ledger.find(passage.arrival.account, id)) !== null;
      if (!isKnown) return { outcome, id };
    }
  }

  async function place(passage: Passage): Promise<Taken> {
    const { arrival } = passage;
    const { account, symbol, ...order } = arrival;
    const broker = brokerOf(account);
    const instrument = await broker.resolve(symbol, PATIENT);
    if ('rejection' in instrument) return { outcome: 'rejected', rejection: instrument.rejection };
    const { traits } = seatOf(account);
    const sent = { ...order, instrument, reduceOnly: order.reduceOnly && traits.reduceOnly };
    const { outcome, id } = traits.refusesDuplicates
      ? { outcome: await broker.place(sent, PATIENT), id: order.clientOrderId }
      : await placeCarelessly(broker, passage, sent);
    if (outcome.outcome === 'rejected')
      return { outcome: outcome.error.code === 'expired' ? 'late' : 'rejected', rejection: outcome.error };
    const isAnswered = outcome.outcome === 'accepted';
    const state = isAnswered ? outcome.state : await ledger.find(account, id);
    if (!state) throw new BrokerUnavailable('The ledger could not be written.');
    if (state.status === 'placed' && traits.fillsAfterMs) fillInTime(account, id);
    return { outcome: passage.isWritten ? 'accepted' : 'duplicate', state, isAnswered };
  }

  return {
    brokerOf,

    async find(account: AccountId, clientOrderId: ClientOrderId): Promise<BrokerOrderState | null> {
      const known = await ledger.find(account, clientOrderId);
      const forgotten = known !== null && isForgotten(account, known);
      const state = forgotten ? null : await brokerOf(account).find({ ...ANY, clientOrderId }, PATIENT);
      if (!state)
        await db.commit([
          sql`insert into exchange_not_found (at, account, client_order_id, forgotten)
              values (${Date.now()}, ${account}, ${clientOrderId}, ${forgotten})`,
        ]);
      return state;
    },

    async findByReference(account: AccountId, reference: string) {
      const row = await db.get<{ client_order_id: ClientOrderId }>(
        sql`select client_order_id from paper_orders where book = ${account} and broker_ref = ${reference}`,
      );
      const clientOrderId = row?.client_order_id;
      const state = clientOrderId && (await brokerOf(account).find({ ...ANY, clientOrderId }, PATIENT));
      return state ? { clientOrderId, state } : null;
    },

    /** Throws BrokerUnavailable where the settings are none. */
    async connect(account: AccountId, paper: unknown) {
      const seat = seatOf(account);
      const text = JSON.stringify(paper ?? null);
      if (seat.paper !== text || !seat.broker) {
        const broker = await openSeat(account, text);
        // The one before is left to what is still under way on it; the ledger's versions keep the two apart.
        seat.paper = text;
        seat.broker = broker;
        await keep(account);
      }
      const { refusesDuplicates, reduceOnly, forgetsIdsAfterMs, limits } = seat.traits;
      const capabilities: Capabilities = {
        ...brokerOf(account).capabilities,
        refusesDuplicateIds: refusesDuplicates,
        reduceOnly,
        findsByClientIdMs: forgetsIdsAfterMs?.least ?? Number.POSITIVE_INFINITY,
      };
      return { capabilities, limits };
    },

    async setTraits(account: AccountId, traits: Traits): Promise<void> {
      seatOf(account).traits = traits;
      await keep(account);
    },

    async take(arrival: Arrival): Promise<Taken> {
      const passage: Passage = { arrival, isWritten: false, hasWaited: false };
      const taken = await passages.run(passage, () => place(passage));
      if (!passage.isWritten) {
        const code = 'rejection' in taken ? taken.rejection.code : null;
        await db.commit([journalLine(arrival, taken.outcome, code)]);
      }
      return taken;
    },

    /** Somebody was told of the account's positions, at this very moment. */
    async noteLook(account: AccountId, asker: string | null): Promise<void> {
      await db.commit([
        sql`insert into exchange_looks (at, account, asker) values (${Date.now()}, ${account}, ${asker})`,
      ]);
    },

    async turnAway(arrival: Arrival): Promise<void> {
      await db.commit([journalLine(arrival, 'not_taken', null)]);
    },

    async ledger() {
      // All of them are read in one turn of the event loop, in which nothing is written.
      const [orders, books, requests, looks, notFound] = await Promise.all([
        db.all<OrderRow>(
          sql`select book as account, client_order_id, broker_ref, symbol, side, quantity, reduce_only, status,
                fill_quantity, fill_price, accepted_at, updated_at
              from paper_orders order by rowid`,
        ),
        db.all<{ account: string; positions: string }>(
          sql`select book as account, positions from paper_accounts order by book`,
        ),
        db.all<RequestRow>(sql`select * from exchange_requests order by seq`),
        db.all<{ at: number; account: AccountId; asker: string | null }>(
          sql`select at, account, asker from exchange_looks order by seq`,
        ),
        db.all<NotFoundRow>(
          sql`select at, account, client_order_id, forgotten from exchange_not_found order by seq`,
        ),
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
      };
    },

    async close(): Promise<void> {
      await Promise.all([...seats.values()].map(({ broker }) => broker?.close()));
      await db.close();
    },
  };
}

/** The ledger that also writes down, in the unit of an acceptance, by which request it came about. */
function journaled(db: Db, passages: AsyncLocalStorage<Passage>): PaperLedger {
  const ledger = openPaperLedger(db);
  return {
    ...ledger,
    async write(book, change) {
      const passage = passages.getStore();
      if (!passage || !change.placed) return ledger.write(book, change);
      const line = journalLine(passage.arrival, 'accepted', null);
      const both: Db = { ...db, commit: (unit) => db.commit([...unit, line]) };
      const written = await openPaperLedger(both).write(book, change);
      passage.isWritten = written === 'written';
      return written;
    },
  };
}

const journalLine = (arrival: Arrival, outcome: Outcome, code: string | null): Statement =>
  sql`insert into exchange_requests (arrived_at, account, client_order_id, asker, symbol, side, quantity,
        reduce_only, send_before, outcome, code)
      values (${arrival.arrivedAt}, ${arrival.account}, ${arrival.clientOrderId}, ${arrival.asker},
        ${arrival.symbol}, ${arrival.side}, ${arrival.quantity}, ${arrival.reduceOnly}, ${arrival.sendBefore},
        ${outcome}, ${code})`;

const TABLES = `
create table if not exists exchange_accounts (
  account text primary key,
  paper text,
  traits text not null
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
  send_before text not null,
  outcome text not null,
  code text
);
create table if not exists exchange_looks (
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

interface SeatRow {
  account: AccountId;
  paper: string | null;
  traits: string;
}

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
  status: BrokerOrderState['status'];
  fill_quantity: string;
  fill_price: string | null;
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
  send_before: Timestamp;
  outcome: Outcome;
  code: string | null;
}
