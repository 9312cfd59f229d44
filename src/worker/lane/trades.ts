// What an account should hold by our own fills (domain/orders/expected.ts), as its worker keeps it: made from what is saved when the
// worker first meets the account, and up to date from then on, since nobody else executes this user's orders.

import { type Decimal, ZERO } from '../../domain/decimal.ts';
import type { OrderId, UserId } from '../../domain/ids.ts';
import {
  afterClose,
  agreedOn,
  countedIn,
  expectedOf,
  type Known,
  knownFrom,
  type Standing,
  unexplainedIn,
  withClosed,
  withFill,
} from '../../domain/orders/expected.ts';
import { isOpenLeg, type Leg, type Order, openLeg } from '../../domain/orders/order.ts';
import type { OtherLeg } from '../../domain/orders/other-legs.ts';
import { closesFirst } from '../../domain/orders/position.ts';
import type { WorkerOrders } from '../orders.ts';

/** What the broker shows of each instrument. */
export type Shown = ReadonlyMap<string, Decimal>;

/** Of one account and mode. */
export interface Trades {
  /** The broker's position agrees with what was expected, or is believed. The fills of these legs are in it, as far as they are known. */
  agreed(instrument: string, position: Decimal, open: readonly Pick<OtherLeg, 'leg' | 'order'>[]): void;
  /** As it was seen, by whomever and however often: only what is new counts. */
  seen(leg: Pick<Leg, 'clientOrderId' | 'instrument' | 'side' | 'fillQuantity'>): void;
  /** What a stop or a target has closed, as it was seen: a position that was believed before may have it in there already. `shown`: what is held by now. */
  closed(legs: readonly Parameters<Trades['seen']>[0][], shown?: Decimal): void;
  /** All that protects it was looked at: whatever else is held than our fills make of it, somebody else has traded. */
  explained(instrument: string): void;
  /** As its own execution left it: whether it has ended need not be asked for. */
  executed(order: Order): void;
  /** Orders that had an open leg when this was last asked, and are not among these: whoever saw their end, it is to be `seen`. */
  left(open: readonly Order[]): readonly OrderId[];
  /** null: nothing was filled of late. */
  expected(instrument: string): Decimal | null;
  /** What is held after a stop or a target has closed something, where the broker shows so much. */
  standing(instrument: string, shown: Decimal, open: readonly OtherLeg[]): Standing;
  /** The same of every instrument where something was. */
  recent(): readonly (readonly [instrument: string, position: Decimal])[];
  /** What the symbol means at the broker. */
  named(symbol: string, instrument: string): void;
  /** When it was last read, something was held that such an entry would have to close first. */
  isAgainst(order: Pick<Order, 'symbol' | 'intent'>): boolean;
}

export interface TradesClock {
  now(): number;
  readonly lagMs: number;
}

/** `saved`: orders of late, and all of those that were accepted since then. By the same clock as they were saved with. */
export function openTrades(
  { now, lagMs }: TradesClock,
  saved: readonly Order[] = [],
  wholeSince?: number,
): Trades {
  const known = knownFrom(saved, wholeSince);
  const names = new Map<string, string>();
  let unsettled: readonly OrderId[] = saved.filter(openLeg).map(({ id }) => id);
  const change = (instrument: string, to: Known) => known.set(instrument, to);
  const seen: Trades['seen'] = (leg) => {
    const before = leg.instrument === null ? undefined : known.get(leg.instrument);
    if (leg.instrument !== null && before) change(leg.instrument, withFill(before, leg, now()));
  };
  return {
    agreed(instrument, position, open) {
      const legs = open.map((other) => ({ ...other.leg, fillQuantity: countedIn(other, now(), lagMs) }));
      const before = known.get(instrument);
      const there = legs.filter((leg) => leg.instrument === instrument);
      const unexplained = unexplainedIn(position, before, there, there.some(isOpenLeg));
      change(instrument, { ...agreedOn(position, before, legs), unexplained });
    },
    seen,
    closed(legs, shown) {
      for (const [instrument, there] of Map.groupBy(legs, (leg) => leg.instrument)) {
        const before = instrument === null ? undefined : known.get(instrument);
        if (instrument !== null && before) change(instrument, withClosed(before, there, now(), shown));
      }
    },
    explained(instrument) {
      const before = known.get(instrument);
      if (before) change(instrument, { ...before, unexplained: ZERO });
    },
    executed(order) {
      // What a person settled was traded long before, and is in every position.
      if (!order.settledBy) order.legs.forEach(seen);
      if (!openLeg(order)) unsettled = unsettled.filter((id) => id !== order.id);
    },
    left(open) {
      const still = open.map(({ id }) => id);
      const ended = unsettled.filter((id) => !still.includes(id));
      unsettled = still;
      return ended;
    },
    expected: (instrument) => expectedOf(known.get(instrument), now(), lagMs),
    standing: (instrument, shown, open) =>
      afterClose({ known: known.get(instrument), instrument, shown, open }, now(), lagMs),
    recent: () =>
      [...known.keys()].flatMap((instrument) => {
        const position = expectedOf(known.get(instrument), now(), lagMs);
        return position === null ? [] : [[instrument, position] as const];
      }),
    named(symbol, instrument) {
      names.set(symbol, instrument);
    },
    isAgainst({ symbol, intent }) {
      const last = known.get(names.get(symbol) ?? symbol);
      return last !== undefined && closesFirst(intent, last.quantity);
    },
  };
}

/** An account, or its simulated book. */
export type Book = Pick<Order, 'accountId' | 'simulation'>;

/** What each account of a user should hold. */
export interface Books {
  /** From what is saved at first, and as its worker sees it from then on. */
  of(book: Book): Promise<Trades>;
  /** With what has ended since, whoever saw and saved it. `open`: its orders with an open leg, as they stand now. */
  upToDate(book: Book, open: readonly Order[]): Promise<Trades>;
  /** The same, for whoever has not read them. */
  asOfNow(book: Book): Promise<Trades>;
  /** What was filled there before is in no position any more. */
  beginAnew(book: Book): void;
}

interface BooksDeps {
  readonly orders: Pick<WorkerOrders, 'recent' | 'unsettled' | 'find'>;
  /** With which orders are saved. */
  readonly clock: { now(): number };
  readonly tradesClock: TradesClock;
}

/** Orders that were accepted longer ago have nothing to do with what lags now. */
const RECENT_MS = 15 * 60_000;

export function openBooks({ orders, clock, tradesClock }: BooksDeps, user: UserId): Books {
  const books = new Map<string, Promise<Trades>>();
  const nameOf = ({ accountId, simulation }: Book) => `${accountId} ${simulation}`;

  async function read({ accountId, simulation }: Book): Promise<Trades> {
    const since = clock.now() - RECENT_MS;
    const recent = await orders.recent(user, accountId, since);
    const { orders: unsettled } = await orders.unsettled(user, accountId);
    const known = new Set(recent.map(({ id }) => id));
    const saved = [...recent, ...unsettled.filter(({ id }) => !known.has(id))];
    return openTrades(
      tradesClock,
      saved.filter((order) => order.simulation === simulation),
      since,
    );
  }

  function of(book: Book): Promise<Trades> {
    const known = books.get(nameOf(book)) ?? read(book);
    books.set(nameOf(book), known);
    // A database that is away is asked again by the next order.
    known.catch(() => books.delete(nameOf(book)));
    return known;
  }

  async function upToDate(book: Book, open: readonly Order[]): Promise<Trades> {
    const known = await of(book);
    for (const id of known.left(open)) {
      const ended = await orders.find(id);
      if (ended) known.executed(ended);
    }
    return known;
  }

  return {
    of,
    upToDate,
    async asOfNow(book) {
      const { orders: unsettled } = await orders.unsettled(user, book.accountId);
      const open = unsettled.filter((order) => order.simulation === book.simulation && openLeg(order));
      return upToDate(book, open);
    },
    beginAnew: (book) => void books.set(nameOf(book), Promise.resolve(openTrades(tradesClock))),
  };
}

/** It is looked at, and nothing is learnt by it. */
export const onlyLooking = (trades: Trades): Trades => ({
  ...trades,
  agreed() {},
  seen() {},
  closed() {},
  explained() {},
  executed() {},
  named() {},
});
