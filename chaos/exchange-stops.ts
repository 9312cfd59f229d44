// The exchange's books of stops: taken as the account's exchange takes them, removed, and told of.

import { BrokerUnavailable } from '../src/broker/broker.ts';
import type { PaperLedger, PaperOrder, PaperStop } from '../src/broker/paper/ledger.ts';
import type { PaperBroker } from '../src/broker/paper/paper.ts';
import type { StopTaken, StopWish } from '../src/broker/paper/stop-calls.ts';
import type { StopRefusal } from '../src/broker/paper/stops.ts';
import { type Db, sql } from '../src/data/engine/db.ts';
import { ZERO } from '../src/domain/decimal.ts';
import { type AccountId, type ClientOrderId, timestamp } from '../src/domain/ids.ts';
import { type Outcome, type StopArrival, stopRequestLine } from './exchange-journal.ts';
import type { Passage } from './exchange-ledger.ts';
import type { Traits } from './exchange-traits.ts';

const { signal: PATIENT } = new AbortController();

type Placed =
  /** `isAnswered` is false where the account's settings lose the answers about stops. */
  | {
      readonly outcome: 'accepted' | 'duplicate';
      readonly stop: PaperStop;
      readonly isAnswered: boolean;
    }
  | { readonly outcome: 'rejected'; readonly refusal: StopRefusal };

interface Deps {
  readonly db: Db;
  readonly ledger: PaperLedger;
  brokerOf(account: AccountId): PaperBroker;
  traitsOf(account: AccountId): Traits;
  pass<Value>(passage: Passage, task: () => Promise<Value>): Promise<Value>;
}

export interface StopAndOrder {
  readonly stop: PaperStop;
  /** What it became. */
  readonly order: PaperOrder | null;
}

export function stopDesk({ db, ledger, brokerOf, traitsOf, pass }: Deps) {
  /** As it is now that somebody looks. */
  async function look(account: AccountId, id: ClientOrderId): Promise<PaperStop | null> {
    await brokerOf(account).openOrders(PATIENT);
    return ledger.findStop(account, id);
  }

  /** Itself, or a careless account's copy. */
  async function standingUnder(account: AccountId, id: ClientOrderId): Promise<PaperStop | undefined> {
    await brokerOf(account).openOrders(PATIENT);
    const { stops } = await ledger.read(account);
    return stops.find(({ clientOrderId }) => clientOrderId === id || clientOrderId.startsWith(`${id}#`));
  }

  /** Under the first id that is free, where the broker takes one twice. */
  async function takeCarelessly(
    broker: PaperBroker,
    passage: Passage,
    account: AccountId,
    wish: StopWish,
  ): Promise<StopTaken> {
    for (let copies = 1; ; copies++) {
      const id = copies === 1 ? wish.clientOrderId : (`${wish.clientOrderId}#${copies}` as ClientOrderId);
      const taken = await broker.stops.take({ ...wish, clientOrderId: id }, PATIENT);
      const isKnown = !passage.isWritten && (await ledger.findStop(account, id)) !== null;
      if (!isKnown) return taken;
    }
  }

  async function place(passage: Passage, arrival: StopArrival): Promise<Placed> {
    const { account, symbol, ...wish } = arrival;
    const broker = brokerOf(account);
    const instrument = await broker.resolve(symbol, PATIENT);
    if ('rejection' in instrument)
      return {
        outcome: 'rejected',
        refusal: { code: 'invalid_symbol', words: instrument.rejection.message },
      };
    const { refusesDuplicates } = traitsOf(account);
    const first =
      refusesDuplicates === 'while_open' && wish.moves === undefined
        ? await standingUnder(account, wish.clientOrderId)
        : undefined;
    if (first) return { outcome: 'duplicate', stop: first, isAnswered: true };
    const taken =
      refusesDuplicates === true || wish.moves !== undefined
        ? await broker.stops.take({ ...wish, instrument }, PATIENT)
        : await takeCarelessly(broker, passage, account, { ...wish, instrument });
    if ('isLost' in taken) throw new BrokerUnavailable('The ledger could not be written.');
    if ('refusal' in taken) return { outcome: 'rejected', refusal: taken.refusal };
    return { outcome: passage.isWritten ? 'accepted' : 'duplicate', ...taken };
  }

  /** By how the exchange's own reference begins. */
  async function byReference(account: AccountId, beginning: string): Promise<PaperStop | null> {
    const row = await db.get<{ client_order_id: ClientOrderId }>(
      sql`select client_order_id from paper_stops
          where book = ${account} and substr(broker_ref, 1, ${beginning.length}) = ${beginning}`,
    );
    return row ? look(account, row.client_order_id) : null;
  }

  /** false: it does not stand. */
  async function remove(account: AccountId, stop: PaperStop): Promise<boolean> {
    const now = await look(account, stop.clientOrderId);
    if (now?.status !== 'standing') return false;
    const { clientOrderId, brokerRef, symbol, side, price } = stop;
    const sent = { clientOrderId, brokerRef, symbol, side, quantity: ZERO, price, sentAt: timestamp(0) };
    await brokerOf(account).stops.remove(sent, PATIENT);
    return true;
  }

  return {
    byReference,
    remove,

    async take(arrival: StopArrival): Promise<Placed> {
      const passage: Passage = { stop: arrival, isWritten: false, hasWaited: false };
      const placed = await pass(passage, () => place(passage, arrival));
      if (!passage.isWritten) {
        const code = 'refusal' in placed ? placed.refusal.code : null;
        await db.commit([stopRequestLine(arrival, placed.outcome, code)]);
      }
      return placed;
    },

    /** It comes to nothing before the engine sees it. */
    async note(arrival: StopArrival, outcome: Exclude<Outcome, 'late'>, code: string | null): Promise<void> {
      await db.commit([stopRequestLine(arrival, outcome, code)]);
    },

    /** The account's last ones, newest first. */
    async last(account: AccountId): Promise<StopAndOrder[]> {
      await brokerOf(account).openOrders(PATIENT);
      const rows = await db.all<{ client_order_id: ClientOrderId }>(
        sql`select client_order_id from paper_stops where book = ${account} order by rowid desc limit 200`,
      );
      const stops = await Promise.all(rows.map((row) => ledger.findStop(account, row.client_order_id)));
      return Promise.all(
        stops
          .filter((stop) => stop !== null)
          .map(async (stop) => ({
            stop,
            order: stop.orderId === null ? null : await ledger.find(account, stop.orderId),
          })),
      );
    },

    /** Whatever stands, as its owner would on the exchange's own pages. */
    async removeAll(account: AccountId): Promise<number> {
      const standing = (await ledger.read(account)).stops;
      for (const stop of standing) await remove(account, stop);
      return standing.length;
    },
  };
}
