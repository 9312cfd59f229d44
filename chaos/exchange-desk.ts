// The exchange's books: the paper engine over a ledger of its own, and a journal of every order request. An acceptance
// and its line in the journal are one unit: neither can tell of what the other does not know.

import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Broker,
  BrokerUnavailable,
  type Capabilities,
  type OrderQuery,
  type Position,
  TRADABLE,
} from '../src/broker/broker.ts';
import { isResting, waits } from '../src/broker/paper/book.ts';
import type { PaperOrder } from '../src/broker/paper/ledger.ts';
import { openPaper, type PaperBroker } from '../src/broker/paper/paper.ts';
import { type Manners, USUAL_MANNERS } from '../src/broker/paper/rules.ts';
import { sql } from '../src/data/engine/db.ts';
import { migrate } from '../src/data/engine/migrate.ts';
import { openSqlite } from '../src/data/engine/sqlite.ts';
import { absolute, average, type Decimal, ZERO } from '../src/domain/decimal.ts';
import { type AccountId, type ClientOrderId, millis, timestamp } from '../src/domain/ids.ts';
import type { OrderError } from '../src/domain/orders/order.ts';
import {
  type Arrival,
  heldAt,
  journalLine,
  noteDenial,
  noteLook,
  noteNotFound,
  type Outcome,
  readLedger,
  TABLES,
} from './exchange-journal.ts';
import { exchangeLedger, ordersIn, type Passage } from './exchange-ledger.ts';
import { eachSecond, exchangePrices, haveOtherPrices } from './exchange-prices.ts';
import { type Holder, type Standing, UNKNOWN } from './exchange-standing.ts';
import { stopDesk } from './exchange-stops.ts';
import { drawn, type Traits } from './exchange-traits.ts';

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

type Placed =
  /** `isAnswered` is false where the account's settings lose every answer. */
  | {
      readonly outcome: 'accepted' | 'duplicate';
      readonly order: PaperOrder;
      readonly isAnswered: boolean;
    }
  | { readonly outcome: 'rejected' | 'late'; readonly rejection: OrderError };

/** What is so of an account: its book's settings, its exchange's manners, and what its broker knows of it. */
export interface Registration {
  readonly paper: unknown;
  readonly traits: Traits;
  readonly standing: Standing;
}

interface Seat {
  /** As JSON; null: nobody has connected yet. */
  paper: string | null;
  broker: PaperBroker | null;
  traits: Traits;
  standing: Standing;
}

export interface DeskOptions {
  readonly file: string;
  readonly pause: (ms: number) => Promise<void>;
  /** Of accounts of which nobody said anything else. */
  readonly traits: Traits;
  /** Where they differ from the usual, by what is known of the account. */
  readonly manners: ((standing: Standing) => Partial<Manners>) | undefined;
  /** Each time that something is written of orders. */
  onChange(account: AccountId, orders: readonly PaperOrder[]): void;
  /** In the engine's units, of the engine's listings. */
  readonly partStepOf: (listing: string) => Decimal | undefined;
}

export async function openDesk({ file, pause, traits: usual, manners, partStepOf, onChange }: DeskOptions) {
  const db = openSqlite({ file });
  await migrate(db, Date.now());
  await db.script(TABLES);
  const lags = new AsyncLocalStorage<number>();
  /** Accounts in which something waits for a price. */
  const waiting = new Set<AccountId>();
  const { ledger, waitOnce, pass, by } = exchangeLedger(db, {
    onWrite(account, change) {
      if (waits(change.book)) waiting.add(account);
      else waiting.delete(account);
      for (const order of change.stops?.orders ?? [])
        if (isResting(order)) fillInTime(account, order.clientOrderId);
      onChange(account, ordersIn(change));
    },
  });
  const prices = await exchangePrices(db);

  /** To be filled as they come, or not at all. */
  const atOnce = new Set<string>();
  const restsMs = (account: AccountId, clientOrderId: string): number => {
    const { fillsAfterMs } = seatOf(account).traits;
    return fillsAfterMs && !atOnce.has(clientOrderId) ? drawn(fillsAfterMs, 'fill', clientOrderId) : 0;
  };

  const mannersOf = (account: AccountId): Manners => {
    const { traits, standing } = seatOf(account);
    return { ...USUAL_MANNERS, ...manners?.(standing), ...traits.manners };
  };

  const openSeat = (id: AccountId, paper: string) =>
    openPaper({
      ledger,
      clock: { now: Date.now },
      wait: (ms) => waitOnce(() => pause(ms)),
      restsMs: ({ clientOrderId }) => restsMs(id, clientOrderId),
      partStep: partStepOf,
      manners: () => mannersOf(id),
      lastPrice: prices.last,
    })({ id, paper: JSON.parse(paper) }, PATIENT);

  const seats = new Map<AccountId, Seat>();
  for (const row of await db.all<SeatRow>(sql`select * from exchange_accounts`))
    seats.set(row.account, {
      paper: row.paper,
      broker: row.paper === null ? null : await openSeat(row.account, row.paper),
      traits: JSON.parse(row.traits) as Traits,
      standing: JSON.parse(row.standing) as Standing,
    });
  for (const { book } of await db.all<{ book: AccountId }>(
    sql`select book from paper_accounts where walked_to is not null`,
  ))
    waiting.add(book);
  // Whether or not anybody looks: who listens is to be told in time.
  const ticking = eachSecond(async () => {
    for (const account of waiting) await seatOf(account).broker?.positions(PATIENT);
  });

  function seatOf(account: AccountId): Seat {
    const seat = seats.get(account) ?? { paper: null, broker: null, traits: usual, standing: UNKNOWN };
    seats.set(account, seat);
    return seat;
  }

  async function keep(account: AccountId): Promise<void> {
    const { paper, traits, standing } = seatOf(account);
    await db.commit([
      sql`insert into exchange_accounts (account, paper, traits, standing)
          values (${account}, ${paper}, ${JSON.stringify(traits)}, ${JSON.stringify(standing)})
          on conflict (account) do update
            set paper = excluded.paper, traits = excluded.traits, standing = excluded.standing`,
    ]);
  }

  /** Throws BrokerUnavailable where the settings are none. */
  async function seat(account: AccountId, paper: unknown): Promise<void> {
    const seat = seatOf(account);
    const text = JSON.stringify(paper ?? null);
    if (seat.paper === text && seat.broker) return;
    const broker = await openSeat(account, text);
    // What its prices and rules have come to until now, they have come to.
    await seat.broker?.settle(false, PATIENT);
    const isJump = haveOtherPrices(seat.paper, text);
    // The one before is left to what is still under way on it; the ledger's versions keep the two apart.
    seat.paper = text;
    seat.broker = broker;
    await keep(account);
    if (isJump) await broker.settle(true, PATIENT);
  }

  const stops = stopDesk({ db, ledger, brokerOf, traitsOf: (account) => seatOf(account).traits, pass });

  /** Whoever looks fills what is due; where nobody does, it is filled all the same. */
  function fillInTime(account: AccountId, clientOrderId: string): void {
    void pause(restsMs(account, clientOrderId) + 1)
      .then(() => brokerOf(account).positions(PATIENT))
      .catch(() => undefined);
  }

  /** An order that has ended so long ago is no longer known by the id that its client gave it. */
  function isForgotten(account: AccountId, order: PaperOrder): boolean {
    const { forgetsIdsAfterMs } = seatOf(account).traits;
    if (!forgetsIdsAfterMs || isResting(order)) return false;
    return Date.now() - millis(order.updatedAt) > drawn(forgetsIdsAfterMs, 'forget', order.clientOrderId);
  }

  function brokerOf(account: AccountId): PaperBroker {
    const { broker } = seatOf(account);
    if (!broker) throw new BrokerUnavailable(`The account ${account} was never connected.`);
    return broker;
  }

  /** As it is now that somebody looks. */
  async function look(account: AccountId, clientOrderId: ClientOrderId): Promise<PaperOrder | null> {
    await brokerOf(account).find({ ...ANY, clientOrderId }, PATIENT);
    return ledger.find(account, clientOrderId);
  }

  /** Under the first id that is free: a broker without idempotency keeps what has the same id as another order too. */
  async function placeCarelessly(
    { account }: Arrival,
    passage: Passage,
    order: Parameters<Broker['place']>[0],
  ) {
    const broker = brokerOf(account);
    for (let copies = 1; ; copies++) {
      const id = copies === 1 ? order.clientOrderId : (`${order.clientOrderId}#${copies}` as ClientOrderId);
      const outcome = await broker.place({ ...order, clientOrderId: id }, PATIENT);
      const isKnown = !passage.isWritten && (await ledger.find(account, id)) !== null;
      if (!isKnown) return { outcome, id };
    }
  }

  async function place(passage: Passage, arrival: Arrival): Promise<Placed> {
    const { account, symbol, ...order } = arrival;
    const broker = brokerOf(account);
    const instrument = await broker.resolve(symbol, PATIENT);
    if ('rejection' in instrument) return { outcome: 'rejected', rejection: instrument.rejection };
    if (/^(ioc|fok)$/.test(order.timeInForce ?? '')) atOnce.add(order.clientOrderId);
    const { traits } = seatOf(account);
    const first = traits.refusesDuplicates === 'while_open' && (await look(account, order.clientOrderId));
    if (first && isResting(first)) return { outcome: 'duplicate', order: first, isAnswered: true };
    const sent = { ...order, instrument, reduceOnly: order.reduceOnly && traits.reduceOnly };
    const { outcome, id } =
      traits.refusesDuplicates === true
        ? { outcome: await broker.place(sent, PATIENT), id: order.clientOrderId }
        : await placeCarelessly(arrival, passage, sent);
    if (outcome.outcome === 'rejected')
      return { outcome: outcome.error.code === 'expired' ? 'late' : 'rejected', rejection: outcome.error };
    const isAnswered = outcome.outcome === 'accepted';
    const placed = await ledger.find(account, id);
    if (!placed) throw new BrokerUnavailable('The ledger could not be written.');
    if (placed.status === 'placed' && traits.fillsAfterMs) fillInTime(account, id);
    return { outcome: passage.isWritten ? 'accepted' : 'duplicate', order: placed, isAnswered };
  }

  return {
    brokerOf,
    stops,
    by,
    lastPrice: prices.last,

    /** What waits anywhere is settled up to this moment, and at the new prices. */
    async setPrices(changes: ReadonlyMap<string, Decimal | null>): Promise<void> {
      for (const account of waiting) await seatOf(account).broker?.settle(false, PATIENT);
      await prices.set(changes);
      for (const account of waiting) await seatOf(account).broker?.settle(true, PATIENT);
    },

    /** Whoever asks for positions in it is told of those of so long ago. */
    lagging: <Value>(ms: number, task: () => Promise<Value>): Promise<Value> => lags.run(ms, task),

    async positions(account: AccountId): Promise<readonly Position[]> {
      const now = await brokerOf(account).positions(PATIENT);
      const lagMs = lags.getStore() ?? 0;
      if (lagMs === 0) return now;
      const held = await heldAt(db, account, Date.now() - lagMs);
      return Object.entries(held).map(([symbol, { quantity, cost }]) => {
        const still = now.find((position) => position.symbol === symbol);
        return {
          symbol,
          quantity,
          averagePrice: still?.averagePrice ?? average(absolute(cost), absolute(quantity)),
          lastPrice: still?.lastPrice ?? null,
          openProfit: null,
          ...TRADABLE,
        };
      });
    },

    async find(account: AccountId, clientOrderId: ClientOrderId): Promise<PaperOrder | null> {
      const known = await ledger.find(account, clientOrderId);
      const forgotten = known !== null && isForgotten(account, known);
      const order = known === null || forgotten ? null : await look(account, clientOrderId);
      if (!order) await db.commit([noteNotFound(account, clientOrderId, forgotten)]);
      return order;
    },

    /** By how the exchange's own reference begins. */
    async findByReference(account: AccountId, beginning: string): Promise<PaperOrder | null> {
      const row = await db.get<{ client_order_id: ClientOrderId }>(
        sql`select client_order_id from paper_orders
            where book = ${account} and substr(broker_ref, 1, ${beginning.length}) = ${beginning}`,
      );
      return row ? look(account, row.client_order_id) : null;
    },

    /** The account's last ones, newest first. */
    async orders(account: AccountId): Promise<PaperOrder[]> {
      await brokerOf(account).openOrders(PATIENT);
      const rows = await db.all<{ client_order_id: ClientOrderId }>(
        sql`select client_order_id from paper_orders where book = ${account} order by rowid desc limit 200`,
      );
      const orders = await Promise.all(rows.map((row) => ledger.find(account, row.client_order_id)));
      return orders.filter((order) => order !== null);
    },

    async connect(account: AccountId, paper: unknown) {
      await seat(account, paper);
      const { refusesDuplicates, reduceOnly, forgetsIdsAfterMs, limits, able } = seatOf(account).traits;
      const capabilities: Capabilities = {
        ...brokerOf(account).capabilities,
        ...able,
        refusesDuplicateIds: refusesDuplicates === true,
        reduceOnly,
        reserves: mannersOf(account).reserves,
        findsByClientIdMs: forgetsIdsAfterMs?.least ?? Number.POSITIVE_INFINITY,
      };
      return { capabilities, limits };
    },

    /** What was said of the account so far, or is so where nothing was. */
    registered(account: AccountId): Registration {
      const { paper, traits, standing } = seatOf(account);
      return { paper: paper === null ? undefined : JSON.parse(paper), traits, standing };
    },

    /** Without settings for its book it waits for somebody to connect. Throws BrokerUnavailable where they are none. */
    async register(account: AccountId, { paper, traits, standing }: Registration): Promise<void> {
      const seated = seatOf(account);
      seated.traits = traits;
      seated.standing = standing;
      if (paper !== undefined) await seat(account, paper);
      await keep(account);
    },

    /** What is due is filled, though nobody looks. */
    async stir(account: AccountId): Promise<void> {
      await seatOf(account).broker?.positions(PATIENT);
    },

    usual: { paper: undefined, traits: usual, standing: UNKNOWN } satisfies Registration,

    holderOf(apiKey: string): Holder | null {
      for (const [account, { standing }] of seats)
        if (standing.apiKey === apiKey) return { account, standing };
      return null;
    },

    async take(arrival: Arrival): Promise<Placed> {
      const passage: Passage = { order: arrival, isWritten: false, hasWaited: false };
      const placed = await pass(passage, () => place(passage, arrival));
      if (!passage.isWritten) {
        const code = 'rejection' in placed ? placed.rejection.code : null;
        await db.commit([journalLine(arrival, placed.outcome, code)]);
      }
      return placed;
    },

    /** It comes to nothing before the engine sees it. */
    async note(arrival: Arrival, outcome: Outcome, code: string | null): Promise<void> {
      await db.commit([journalLine(arrival, outcome, code)]);
    },

    /** Somebody was told of the account's positions, at this very moment. */
    async noteLook(account: AccountId, asker: string | null, lagMs: number): Promise<void> {
      await db.commit([noteLook(account, asker, lagMs)]);
    },

    noteDenial: (account: AccountId, asker: string | null) => db.commit([noteDenial(account, asker)]),

    ledger: () => readLedger(db),

    async close(): Promise<void> {
      await ticking.stop();
      await Promise.all([...seats.values()].map(({ broker }) => broker?.close()));
      await db.close();
    },
  };
}

export type Desk = Awaited<ReturnType<typeof openDesk>>;

interface SeatRow {
  account: AccountId;
  paper: string | null;
  traits: string;
  standing: string;
}
