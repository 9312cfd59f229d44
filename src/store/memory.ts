// The store inside one process: everything in maps, gone with the process. Each call costs constant time, and memory
// follows what is alive: what has expired is swept a little with every new key, without a timer.

import { CallLog } from '../domain/call-log.ts';
import type { Clock } from '../domain/clock.ts';
import { Expiring } from './expiring.ts';
import { Fifo } from './fifo.ts';
import { openJournals } from './journals.ts';
import { Replies } from './replies.ts';
import { type Lease, type Store, StoreUnavailable } from './store.ts';

/** A timer that is asked to wait longer fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The clock decides what has expired; nothing here outlives the process, so a monotonic one serves best. */
export function openMemoryStore({ clock }: { readonly clock: Clock }): Store {
  const claims = new Expiring<{ readonly state: 'under_way' | 'done'; expiresAt: number }>();
  const windows = new Expiring<CallLog>();
  const leases = new Expiring<Lease & { expiresAt: number }>();
  const queues = new Expiring<{ readonly messages: Fifo<string>; expiresAt: number }>();
  const presence = new Expiring<{ readonly present: Map<string, Present>; expiresAt: number }>();
  const tallies = new Expiring<{ readonly counts: Map<string, number>; expiresAt: number }>();
  const replies = new Replies();
  const journals = openJournals();
  // A queue has messages or takers, never both: a message that meets a taker is handed over at once.
  const waiting = new Map<string, Fifo<Taker>>();
  // Begins at the time of opening, so that fences keep growing over a restart too.
  let lastFence = Math.floor(clock.now());
  let isOpen = true;

  const timeNow = (): number => {
    if (!isOpen) throw new StoreUnavailable('the store is closed');
    return clock.now();
  };

  const begin = (key: string, ttlMs: number): 'begun' | 'under_way' | 'done' => {
    const now = timeNow();
    const known = claims.get(key, now);
    if (known) return known.state;
    claims.set(key, { state: 'under_way', expiresAt: now + ttlMs }, now);
    return 'begun';
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
    claim: async (key, ttlMs) => begin(key, ttlMs) === 'begun',

    async release(key) {
      timeNow();
      claims.delete(key);
    },

    begin: async (key, ttlMs) => begin(key, ttlMs),

    async prolong(key, ttlMs) {
      const now = timeNow();
      const known = claims.get(key, now);
      if (known) known.expiresAt = now + ttlMs;
    },

    async finish(key, ttlMs) {
      const now = timeNow();
      claims.set(key, { state: 'done', expiresAt: now + ttlMs }, now);
    },

    async countInWindow(key, limit, windowMs) {
      const now = timeNow();
      const known = windows.get(key, now);
      if (known) return known.count(now, limit, windowMs);
      const log = new CallLog(now + windowMs);
      windows.set(key, log, now);
      return log.count(now, limit, windowMs);
    },

    async acquireLease(key, holder, ttlMs, instead) {
      const now = timeNow();
      const held = leases.get(key, now);
      const isMine = held?.holder === holder;
      if (held && !isMine && !(instead && heldLease(key, instead, now))) return null;
      // An expired lease was lost, even to nobody: who takes it again holds a new one.
      const fence = isMine ? held.fence : ++lastFence;
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
        queues.set(queue, { messages, expiresAt: now + ttlMs }, now);
        return;
      }
      known.messages.push(message);
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
        return message;
      }
      if (timeoutMs !== undefined && timeoutMs <= 0) return null;
      return waitForMessage(queue, timeoutMs, signal);
    },

    async queueLength(queue) {
      return queues.get(queue, timeNow())?.messages.size ?? 0;
    },

    expectReply: (options) => replies.expect(options),

    async reply(address, message) {
      timeNow();
      replies.deliver(address, message);
    },

    async announce(group, name, says, ttlMs) {
      const now = timeNow();
      const expiresAt = now + ttlMs;
      const known = presence.get(group, now);
      if (!known) {
        presence.set(group, { present: new Map([[name, { says, expiresAt }]]), expiresAt }, now);
        return false;
      }
      dropGone(known.present, now);
      const wasThere = known.present.has(name);
      known.present.set(name, { says, expiresAt });
      known.expiresAt = Math.max(known.expiresAt, expiresAt);
      return wasThere;
    },

    async withdraw(group, name) {
      presence.get(group, timeNow())?.present.delete(name);
    },

    async announced(group) {
      const now = timeNow();
      const present = presence.get(group, now)?.present ?? new Map<string, Present>();
      dropGone(present, now);
      return [...present].map(([name, { says, expiresAt }]) => ({ name, says, leftMs: expiresAt - now }));
    },

    async tally(group, name, ttlMs) {
      const now = timeNow();
      const counts = tallies.get(group, now)?.counts ?? new Map<string, number>();
      counts.set(name, (counts.get(name) ?? 0) + 1);
      tallies.set(group, { counts, expiresAt: now + ttlMs }, now);
    },

    async tallied(group) {
      const counts = tallies.get(group, timeNow())?.counts ?? [];
      return [...counts].map(([name, count]) => ({ name, count }));
    },

    keepJournal: async (journal, keptMs) => journals.keep(journal, keptMs, timeNow()),
    note: async (journal, texts) => journals.note(journal, texts, timeNow()),
    readJournal: async (journal, after) => journals.read(journal, after, timeNow()),
    watchJournal: (journal, look) => journals.watch(journal, look),

    // Nobody else can write here.
    refused: () => 0,

    async ping() {
      timeNow();
    },

    async close() {
      isOpen = false;
      replies.close();
      for (const takers of waiting.values())
        for (let taker = takers.first; taker; taker = takers.first) taker(null);
    },
  };
}

/** Called at most once, with a message or, where none came, with null. */
type Taker = (message: string | null) => void;

interface Present {
  readonly says: string;
  readonly expiresAt: number;
}

function dropGone(present: Map<string, Present>, now: number): void {
  for (const [name, { expiresAt }] of present) if (expiresAt <= now) present.delete(name);
}
