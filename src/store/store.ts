// The port to the in-memory store: what must be fast and shared, and may be forgotten. Truth lives in the database.

import type { WindowCount } from '../domain/call-log.ts';

/** The store did not answer. Who asks decides whether that opens or closes the door. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

export interface Lease {
  readonly holder: string;
  /** Grows with every change of holder: a later holder always has the larger one. */
  readonly fence: number;
}

interface Announced {
  readonly name: string;
  readonly says: string;
  /** For how long it is believed without another word. */
  readonly leftMs: number;
}

export interface ExpectedReply {
  readonly address: string;
  /**
   * null: none in time, or nobody waits any more. `onMissed` is called whenever the store was away in between, so that
   * the reply may have come and gone.
   */
  readonly reply: Promise<string | null>;
  /** Nobody waits any more. */
  cancel(): void;
}

export interface JournalLine {
  readonly place: string;
  readonly text: string;
}

export interface Store {
  /** Once: true for the first caller, false for everybody else until the claim expires or is released. */
  claim(key: string, ttlMs: number): Promise<boolean>;
  release(key: string): Promise<void>;

  /**
   * What must happen once and takes a while. `begun`: this caller is to do it, and to say so (`prolong`) before `ttlMs`
   * have passed; who dies while doing it is followed by the next caller. `under_way`: somebody else is doing it. `done`:
   * it has happened. `release` makes it as if it had never begun.
   */
  begin(key: string, ttlMs: number): Promise<'begun' | 'under_way' | 'done'>;
  /** Of what is under way or done; else nothing. */
  prolong(key: string, ttlMs: number): Promise<void>;
  finish(key: string, ttlMs: number): Promise<void>;

  /** An exact sliding window: at most `limit` allowed calls in any `windowMs`. A refused call is not counted. */
  countInWindow(key: string, limit: number, windowMs: number): Promise<WindowCount>;

  /**
   * The lease, if it is free, expired, or held by this holder already (then it is prolonged), or if it is still the one
   * of somebody who is known to be gone (`instead`); else null.
   */
  acquireLease(key: string, holder: string, ttlMs: number, instead?: Lease | null): Promise<Lease | null>;
  /** Prolongs; false where the lease was lost, which is final. */
  renewLease(key: string, lease: Lease, ttlMs: number): Promise<boolean>;
  releaseLease(key: string, lease: Lease): Promise<void>;
  leaseHolder(key: string): Promise<Lease | null>;

  /**
   * First in, first out, each message to one taker. A queue to which nothing is added expires after its longest
   * `ttlMs`. What stands in braces in its name groups queues that wait together: a process that waits at any number of
   * queues of one group costs the store as much as at one.
   */
  push(queue: string, message: string, ttlMs: number): Promise<void>;
  /**
   * The next message; waits until there is one, `timeoutMs` have passed or the signal aborts (null). Who waits is not
   * troubled by a store that goes away and comes back; who does not wait (0) is told.
   */
  take(queue: string, options: { timeoutMs?: number; signal?: AbortSignal }): Promise<string | null>;
  queueLength(queue: string): Promise<number>;

  /** An address for one answer to this process, for as long as somebody waits for it there. */
  expectReply(options: { readonly timeoutMs: number; onMissed?(): void }): ExpectedReply;
  /** To whoever waits at the address just now. It is kept for nobody: who misses it must ask again. */
  reply(address: string, message: string): Promise<void>;

  /**
   * Who is there: a name in a group, with what it says of itself, until `ttlMs` have passed or it withdraws. True where
   * it was there without a gap.
   */
  announce(group: string, name: string, says: string, ttlMs: number): Promise<boolean>;
  withdraw(group: string, name: string): Promise<void>;
  announced(group: string): Promise<Announced[]>;

  /** Adds one to the name's count in this group. The whole group is forgotten `ttlMs` after the last addition. */
  tally(group: string, name: string, ttlMs: number): Promise<void>;
  tallied(group: string): Promise<{ readonly name: string; readonly count: number }[]>;

  /**
   * A journal is kept for its readers, and only while there are any: it begins with this call where there is none, and
   * ends `keptMs` after the last one, as do its lines. Returns its end: what is noted from now on comes behind that place.
   */
  keepJournal(journal: string, keptMs: number): Promise<string>;
  /** Costs nothing where nobody keeps the journal. Lines may be lost: who reads has another way to learn what they say. */
  note(journal: string, texts: readonly string[]): Promise<void>;
  /** The lines behind the place, as they came; null: some of them are gone, or nobody knows of the place. */
  readJournal(journal: string, after: string): Promise<readonly JournalLine[] | null>;
  /** Calls `look` whenever there may be new lines, until what is returned is called. */
  watchJournal(journal: string, look: () => void): () => void;

  /** Messages and words of presence that no process of ours had written, since the opening. They were dropped. */
  refused(): number;

  ping(): Promise<void>;
  close(): Promise<void>;
}
