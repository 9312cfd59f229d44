// Each user who has a stream open has a feed here, which all streams of that user in this process share. It reads the
// user's journal, looks at the orders that stand in it, each once however often it is named, and tells their records.
//
// The journal may miss changes: a process died between saving an order and noting it, or the store was away. So every
// round compares the user's open and recent orders with what was told, and notes in the journal what was not. A feed
// outlives its last stream by the time that a place in the journal is good for: what was missed while nobody was connected
// is in the journal when somebody comes back, at whichever process.

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../data/engine/db.ts';
import { type OrderMark, orderMarks } from '../../data/orders/marks.ts';
import { isUuid, type OrderId, timestamp, type UserId } from '../../domain/ids.ts';
import type { OrderRecord } from '../../domain/orders/result.ts';
import type { JournalLine, Store } from '../../store/store.ts';
import { ACCESS, journalOf, SIGNALS } from './changes.ts';
import { type Found, foundOrders } from './read-orders.ts';

export type FeedEvent =
  | { readonly kind: 'order'; readonly place: string; readonly record: OrderRecord }
  /** Signals have arrived that became no order. */
  | { readonly kind: 'signals'; readonly place: string }
  /** Something may have been missed: what is shown is to be read anew. */
  | { readonly kind: 'reset'; readonly place: string }
  /** Nothing: from here on. */
  | { readonly kind: 'place'; readonly place: string };

export interface Reader {
  /** Never waits. */
  tell(events: readonly FeedEvent[]): void;
  /** Whatever opened it may not be good any more. */
  checkAccess(): void;
}

export interface Feeds {
  /**
   * From the place on, or from now on. Resolves when the reader has been told where it stands, with what ends it. Rejects
   * with StoreUnavailable.
   */
  open(user: UserId, after: string | null, reader: Reader): Promise<() => void>;
  stop(): void;
}

export interface FeedsDeps {
  readonly db: Db;
  readonly store: Pick<Store, 'keepJournal' | 'readJournal' | 'watchJournal' | 'note'>;
  readonly clock: { now(): number };
  readonly log: { warn(context: object, text: string): void };
}

/** A place is good for so long. */
const KEPT_MS = 300_000;
/** A journal is kept for a while longer: its feed is a round late at times. */
const JOURNAL_MS = KEPT_MS + 30_000;
const ROUND_MS = 15_000;
/** Once soon after the beginning: a process may not have heard yet that this journal is kept. */
const FIRST_ROUND_MS = 1_000;
/** After a database or a store that did not answer. */
const AGAIN_MS = 1_000;
const WARN_EVERY_MS = 60_000;
/** Orders are looked at together, by all feeds, and no sooner than this after the last time: many changes are one. */
const TOGETHER_MS = 250;
/** Where there was no last time. */
const SOON_MS = 20;
/** Of one user: what has changed beyond them is read anew. */
const MOST_AT_ONCE = 200;

interface Change {
  readonly place: string;
  readonly order: Found;
}

interface Feed {
  readonly user: UserId;
  readonly readers: Set<Reader>;
  place: string;
  /** Of orders that may change yet, and of recent ones. */
  told: Map<OrderId, OrderMark>;
  /** What is done for this feed comes one after the other. */
  turn: Promise<void>;
  isAsked: boolean;
  leftAt: number;
  end(): void;
}

export function openFeeds({ db, store, clock, log }: FeedsDeps, { roundMs = ROUND_MS } = {}): Feeds {
  const feeds = new Map<UserId, Promise<Feed>>();
  const load = together((ids: readonly OrderId[]) => foundOrders({ db: db.lists }, ids));
  let isOpen = true;
  let warnedAt = Number.NEGATIVE_INFINITY;

  function enqueue(feed: Feed, task: () => Promise<void>): Promise<void> {
    const done = feed.turn.then(task);
    feed.turn = done.catch((fault: unknown) => {
      warn(fault);
      if (isOpen) setTimeout(() => look(feed), AGAIN_MS).unref();
    });
    return done;
  }

  /** Once a minute: where a part is away, every feed notices. */
  function warn(fault: unknown): void {
    if (performance.now() - warnedAt < WARN_EVERY_MS) return;
    warnedAt = performance.now();
    log.warn({ fault }, 'order streams could not look for changes; they will look again');
  }

  function look(feed: Feed): void {
    if (feed.isAsked || !isOpen) return;
    feed.isAsked = true;
    void enqueue(feed, () => {
      feed.isAsked = false;
      return tellNew(feed);
    }).catch(() => {});
  }

  async function tellNew(feed: Feed): Promise<void> {
    if (feed.readers.size === 0) return;
    const lines = await store.readJournal(journalOf(feed.user), feed.place);
    if (lines?.length === 0) return;
    const changes = lines && (await changesIn(feed, lines));
    const place = lines?.at(-1)?.place ?? (await store.keepJournal(journalOf(feed.user), JOURNAL_MS));
    // Who is told to read anew reads all of it.
    if (!changes) feed.told = (await compare(feed)).marks;
    for (const { order } of changes ?? []) feed.told.set(order.order.id, order.mark);
    feed.place = place;
    const events = changes
      ? [...changes.map(eventOf), ...signalsIn(lines)]
      : [{ kind: 'reset', place } as const];
    for (const reader of [...feed.readers]) reader.tell(events);
    if (lines?.some(({ text }) => text === ACCESS))
      for (const reader of [...feed.readers]) reader.checkAccess();
  }

  /**
   * An order stands at the last of its lines: who is cut off before it is told of it again. Null: they are more than anybody
   * is told one by one.
   */
  async function changesIn(feed: Feed, lines: readonly JournalLine[]): Promise<Change[] | null> {
    const places = new Map<OrderId, string>();
    for (const { place, text } of lines) {
      if (!isUuid(text)) continue;
      places.delete(text as OrderId);
      places.set(text as OrderId, place);
    }
    if (places.size > MOST_AT_ONCE) return null;
    const found = await load([...places.keys()]);
    return [...places].flatMap(([id, place]): Change[] => {
      const order = found.get(id);
      // A line may name anything: what is not the user's does not exist.
      return order?.order.userId === feed.user ? [{ place, order }] : [];
    });
  }

  /** What has been told, as far as it still matters; and by id what was not. */
  async function compare(feed: Feed): Promise<{ marks: Map<OrderId, OrderMark>; untold: OrderId[] }> {
    const since = timestamp(clock.now() - KEPT_MS);
    const named = [...feed.told].flatMap(([id, { isOpen: mayChange }]) => (mayChange ? [id] : []));
    const marks = await orderMarks(db.lists, feed.user, { since, named });
    const untold = [...marks].flatMap(([id, { state }]) => (feed.told.get(id)?.state === state ? [] : [id]));
    return { marks, untold };
  }

  async function round(feed: Feed): Promise<void> {
    const { user, told } = feed;
    await store.keepJournal(journalOf(user), JOURNAL_MS);
    const { marks, untold } = await compare(feed);
    // Told while nobody reads: it stands in the journal for who comes back.
    if (untold.length > 0) await store.note(journalOf(user), untold);
    const isRead = feed.readers.size > 0;
    for (const id of told.keys()) if (!marks.has(id)) told.delete(id);
    for (const id of isRead ? [] : untold) told.set(id, marks.get(id) as OrderMark);
    look(feed);
  }

  async function start(user: UserId, continues: boolean): Promise<Feed> {
    const journal = journalOf(user);
    const place = await store.keepJournal(journal, JOURNAL_MS);
    const feed: Feed = {
      user,
      place,
      readers: new Set(),
      told: new Map(),
      turn: Promise.resolve(),
      isAsked: false,
      leftAt: performance.now(),
      end() {
        clearTimeout(first);
        clearInterval(rounds);
        unwatch();
        feeds.delete(user);
      },
    };
    const goRound = () => {
      const isLeft = feed.readers.size === 0 && performance.now() - feed.leftAt > KEPT_MS;
      if (isLeft) feed.end();
      else void enqueue(feed, () => round(feed)).catch(() => {});
    };
    const first = setTimeout(goRound, Math.min(FIRST_ROUND_MS, roundMs)).unref();
    const rounds = setInterval(goRound, roundMs).unref();
    const unwatch = store.watchJournal(journal, () => look(feed));
    // Who begins reads the orders as they are now. Who continues elsewhere is told of all that could have been missed there.
    if (!continues)
      await enqueue(feed, async () => {
        feed.told = (await compare(feed)).marks;
      }).catch(() => {});
    return feed;
  }

  /** In the feed's turn: nothing is told to the others meanwhile that this one would miss. */
  async function join(feed: Feed, after: string | null, reader: Reader): Promise<void> {
    // While nobody read, the feed stood still.
    if (feed.readers.size === 0) feed.place = await store.keepJournal(journalOf(feed.user), JOURNAL_MS);
    const lines = after === null ? [] : await store.readJournal(journalOf(feed.user), after);
    const place = lines?.at(-1)?.place ?? (lines && after) ?? feed.place;
    const changes = lines && (await changesIn(feed, lines));
    // The others have not been told: what is new here is new to them.
    const missed = changes ? [...changes.map(eventOf), ...signalsIn(lines)] : [];
    reader.tell([...missed, { kind: changes ? 'place' : 'reset', place }]);
    feed.readers.add(reader);
  }

  return {
    async open(user, after, reader) {
      let starting = feeds.get(user);
      if (!starting) {
        starting = start(user, after !== null);
        feeds.set(user, starting);
        starting.catch(() => feeds.delete(user));
      }
      const feed = await starting;
      // It is not left, and does not end before this one has joined.
      feed.leftAt = performance.now();
      await enqueue(feed, () => join(feed, after, reader));
      look(feed);
      return () => {
        feed.readers.delete(reader);
        feed.leftAt = performance.now();
      };
    },

    stop() {
      isOpen = false;
      for (const starting of feeds.values()) starting.then((feed) => feed.end()).catch(() => {});
    },
  };
}

/** Once, however many. */
function signalsIn(lines: readonly JournalLine[]): FeedEvent[] {
  const last = lines.findLast(({ text }) => text === SIGNALS);
  return last ? [{ kind: 'signals', place: last.place }] : [];
}

const eventOf = ({ place, order }: Change): FeedEvent => ({ kind: 'order', place, record: order.record });

/** What is asked for within a moment is read together. */
function together(read: (ids: readonly OrderId[]) => Promise<Map<OrderId, Found>>) {
  let waiting = new Set<OrderId>();
  let batch: Promise<Map<OrderId, Found>> | undefined;
  let lastAt = Number.NEGATIVE_INFINITY;

  async function readWaiting(): Promise<Map<OrderId, Found>> {
    const pauseMs = Math.max(SOON_MS, lastAt + TOGETHER_MS - performance.now());
    await sleep(pauseMs, undefined, { ref: false });
    lastAt = performance.now();
    const ids = [...waiting];
    waiting = new Set();
    batch = undefined;
    const found = new Map<OrderId, Found>();
    for (let at = 0; at < ids.length; at += MOST_AT_ONCE) {
      if (at > 0) await nextTurn();
      for (const [id, order] of await read(ids.slice(at, at + MOST_AT_ONCE))) found.set(id, order);
    }
    return found;
  }

  return (ids: readonly OrderId[]): Promise<Map<OrderId, Found>> => {
    if (ids.length === 0) return Promise.resolve(new Map());
    for (const id of ids) waiting.add(id);
    batch ??= readWaiting();
    return batch;
  };
}
