// What a broker changed: replies that nobody could read are counted by broker and call, and the last of them are kept, so that an
// operator sees on the first day what an exchange says now. Whoever tells of one waits for nothing.

import {
  forgetUnreadable,
  type KeptReply,
  keepUnreadable,
  keptReplies,
  type UnreadableCount,
  unreadableCounts,
} from '../../data/accounts/unreadable-replies.ts';
import type { Db } from '../../data/engine/db.ts';
import type { BrokerName } from '../../domain/brokers.ts';
import type { Counters } from '../../domain/counters.ts';
import { timestamp } from '../../domain/ids.ts';
import { newId } from '../new-id.ts';

interface Keeping {
  readonly db: Pick<Db, 'commit'>;
  readonly clock: { now(): number };
  readonly counters: Pick<Counters, 'replyUnreadable'>;
  readonly log: { warn(fields: object, words: string): void };
}

/** An exchange that talks nonsense does so to everybody at once: it is written down so often at most. */
const PAUSE_MS = 5_000;
/** What has not come again for so long is over. */
const DAYS = 30;

type Told = Omit<KeptReply, 'id'>;

export function openUnreadable({ db, clock, counters, log }: Keeping) {
  /** The last of each broker and call, and how many there were. */
  let heard = new Map<string, { readonly last: Told; readonly times: number }>();
  let writing: Promise<void> = Promise.resolve();
  let pause: NodeJS.Timeout | null = null;

  async function write(): Promise<void> {
    const told = [...heard.values()];
    heard = new Map();
    if (told.length === 0) return;
    const over = timestamp(clock.now() - DAYS * 24 * 3_600_000);
    try {
      await db.commit([
        ...told.flatMap(({ last, times }) => keepUnreadable({ ...last, id: newId() }, times)),
        ...forgetUnreadable(over),
      ]);
    } catch (fault) {
      log.warn({ fault }, 'replies that could not be read were not kept');
    }
  }

  function writeSoon(): void {
    if (pause) return;
    writing = writing.then(write);
    pause = setTimeout(() => {
      pause = null;
      if (heard.size > 0) writeSoon();
    }, PAUSE_MS).unref();
  }

  return {
    tell(broker: BrokerName, { call, status, reply }: Pick<KeptReply, 'call' | 'status' | 'reply'>): void {
      counters.replyUnreadable(broker, call);
      const key = `${broker} ${call}`;
      const last = { broker, call, status, reply, seen_at: timestamp(clock.now()) };
      heard.set(key, { last, times: (heard.get(key)?.times ?? 0) + 1 });
      writeSoon();
    },
    /** With what was told of by then. */
    async close(): Promise<void> {
      if (pause) clearTimeout(pause);
      pause = null;
      await writing;
      await write();
    },
  };
}

export interface Unreadable {
  readonly counts: readonly UnreadableCount[];
  readonly replies: readonly Omit<KeptReply, 'id'>[];
}

export async function readUnreadable({ db }: { readonly db: Db }): Promise<Unreadable> {
  const [counts, replies] = await Promise.all([unreadableCounts(db.lists), keptReplies(db.lists)]);
  return { counts, replies: replies.map(({ id: _id, ...reply }) => reply) };
}
