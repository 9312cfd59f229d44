// The store inside one process: everything in maps, gone with the process. Each call costs constant time, and memory
// follows what is alive: what has expired is swept a little with every new key, without a timer.

import { CallLog } from '../domain/call-log.ts';
import type { Clock } from '../domain/clock.ts';
import { type Lease, type Store, StoreUnavailable } from './store.ts';

/** Entries swept for each one added. More than one, or the sweep would never catch up with the growth. */
const SWEPT_PER_NEW_KEY = 2;

/** A timer that is asked to wait longer fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The clock decides what has expired; nothing here outlives the process, so a monotonic one serves best. */
export function openMemoryStore({ clock }: { readonly clock: Clock }): Store {
  const claims = new Expiring<{ expiresAt: number }>();
  const windows = new Expiring<CallLog>();
  const leases = new Expiring<Lease & { expiresAt: number }>();
  const queues = new Expiring<{ readonly messages: Fifo<string>; ttlMs: number; expiresAt: number }>();
  // A queue has messages or takers, never both: a message that meets a taker is handed over at once.
  const waiting = new Map<string, Fifo<Taker>>();
  // Begins at the time of opening, so that fences keep growing over a restart too.
  let lastFence = Math.floor(clock.now());
  let isOpen = true;

  const timeNow = (): number => {
    if (!isOpen) throw new StoreUnavailable('the store is closed');
    return clock.now();
  };

  const heldLease = (key: string, lease: Lease, now: number) => {
    const held = leases.get(key, now);
    return held?.holder === lease.holder && held.fence === lease.fence ? held : undefined;
  };

  /** Settles with the next message, or with null after the time, the signal or the closing of the store. */
  const waitForMessage = (queue: string, timeoutMs: number | undefined, signal: AbortSignal | undefined) =>
    new Promise<string | null>((resolve) => {
      const takers = waiting.get(queue) ?? new Fifo<Taker>();
      if (takers.size === 0) waiting.set(queue, takers);
      // Whatever settles it also takes it out of the line, in the same turn: no message goes to one who has left.
      const settle: Taker = (message) => {
        takers.remove(place);
        if (takers.size === 0) waiting.delete(queue);
        clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
        resolve(message);
      };
      const giveUp = () => settle(null);
      const place = takers.push(settle);
      // Keeps the process alive: somebody awaits the answer. Closing the store or the signal ends it early.
      const timer =
        timeoutMs === undefined ? undefined : setTimeout(giveUp, Math.min(timeoutMs, LONGEST_TIMER_MS));
      signal?.addEventListener('abort', giveUp);
    });

  return {
    async claim(key, ttlMs) {
      const now = timeNow();
      if (claims.get(key, now)) return false;
      claims.set(key, { expiresAt: now + ttlMs }, now);
      return true;
    },

    async release(key) {
      timeNow();
      claims.delete(key);
    },

    async countInWindow(key, limit, windowMs) {
      const now = timeNow();
      const known = windows.get(key, now);
      if (known) return known.count(now, limit, windowMs);
      const log = new CallLog(now + windowMs);
      windows.set(key, log, now);
      return log.count(now, limit, windowMs);
    },

    async clearWindow(key) {
      timeNow();
      windows.delete(key);
    },

    async acquireLease(key, holder, ttlMs) {
      const now = timeNow();
      const held = leases.get(key, now);
      if (held && held.holder !== holder) return null;
      // An expired lease was lost, even to nobody: who takes it again holds a new one.
      const fence = held ? held.fence : ++lastFence;
      leases.set(key, { holder, fence, expiresAt: now + ttlMs }, now);
      return { holder, fence };
    },

    async renewLease(key, lease, ttlMs) {
      const now = timeNow();
      const held = heldLease(key, lease, now);
      if (held) held.expiresAt = now + ttlMs;
      return held !== undefined;
    },

    async releaseLease(key, lease) {
      if (heldLease(key, lease, timeNow())) leases.delete(key);
    },

    async leaseHolder(key) {
      const held = leases.get(key, timeNow());
      return held ? { holder: held.holder, fence: held.fence } : null;
    },

    async push(queue, message, ttlMs) {
      const now = timeNow();
      const taker = waiting.get(queue)?.first;
      if (taker) return taker(message);
      const known = queues.get(queue, now);
      if (!known) {
        const messages = new Fifo<string>();
        messages.push(message);
        queues.set(queue, { messages, ttlMs, expiresAt: now + ttlMs }, now);
        return;
      }
      known.messages.push(message);
      known.ttlMs = ttlMs;
      // Never sooner than promised to the messages before it.
      known.expiresAt = Math.max(known.expiresAt, now + ttlMs);
    },

    async take(queue, { timeoutMs, signal }) {
      const now = timeNow();
      if (signal?.aborted) return null;
      const known = queues.get(queue, now);
      const message = known?.messages.shift();
      if (known && message !== undefined) {
        if (known.messages.size === 0) queues.delete(queue);
        else known.expiresAt = Math.max(known.expiresAt, now + known.ttlMs);
        return message;
      }
      if (timeoutMs !== undefined && timeoutMs <= 0) return null;
      return waitForMessage(queue, timeoutMs, signal);
    },

    async queueLength(queue) {
      return queues.get(queue, timeNow())?.messages.size ?? 0;
    },

    async ping() {
      timeNow();
    },

    async close() {
      isOpen = false;
      for (const takers of waiting.values())
        for (let taker = takers.first; taker; taker = takers.first) taker(null);
    },
  };
}

/** Called at most once, with a message or, where none came, with null. */
type Taker = (message: string | null) => void;

/** A map whose entries end. A few steps of an endless walk, taken with every new key, remove those that have. */
class Expiring<Entry extends { readonly expiresAt: number }> {
  readonly #entries = new Map<string, Entry>();
  #walk = this.#entries.entries();

  get(key: string, now: number): Entry | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && entry.expiresAt > now ? entry : undefined;
  }

  set(key: string, entry: Entry, now: number): void {
    this.#entries.set(key, entry);
    for (let step = 0; step < SWEPT_PER_NEW_KEY; step++) {
      const next = this.#walk.next();
      if (next.done) this.#walk = this.#entries.entries();
      else if (next.value[1].expiresAt <= now) this.#entries.delete(next.value[0]);
    }
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}

interface Place<Item> {
  readonly item: Item;
  before: Place<Item> | undefined;
  after: Place<Item> | undefined;
}

/** A line that can also be left from the middle. */
class Fifo<Item> {
  #first: Place<Item> | undefined;
  #last: Place<Item> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): Item | undefined {
    return this.#first?.item;
  }

  push(item: Item): Place<Item> {
    const place: Place<Item> = { item, before: this.#last, after: undefined };
    if (this.#last) this.#last.after = place;
    else this.#first = place;
    this.#last = place;
    this.#size++;
    return place;
  }

  shift(): Item | undefined {
    const place = this.#first;
    if (place) this.remove(place);
    return place?.item;
  }

  /** Of a place that is still in the line. */
  remove(place: Place<Item>): void {
    if (place.before) place.before.after = place.after;
    else this.#first = place.after;
    if (place.after) place.after.before = place.before;
    else this.#last = place.before;
    this.#size--;
  }
}
