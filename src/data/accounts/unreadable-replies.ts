// What brokers said and nobody could read: how often, by what was asked, and the last of it.

import type { BrokerName } from '../../domain/brokers.ts';
import type { Timestamp } from '../../domain/ids.ts';
import { type Reads, type Statement, sql } from '../engine/db.ts';

/** So many of a broker are kept. */
const MOST_KEPT = 20;

export interface UnreadableCount {
  readonly broker: BrokerName;
  readonly call: string;
  readonly times: number;
  readonly first_at: Timestamp;
  readonly last_at: Timestamp;
}

export interface KeptReply {
  readonly id: string;
  readonly broker: BrokerName;
  readonly call: string;
  readonly status: number;
  readonly reply: string;
  readonly seen_at: Timestamp;
}

/** One more reply, the last of so many. */
export const keepUnreadable = (reply: KeptReply, times: number): readonly Statement[] => [
  sql`insert into unreadable_counts (broker_name, call_name, times, first_at, last_at)
      values (${reply.broker}, ${reply.call}, ${times}, ${reply.seen_at}, ${reply.seen_at})
      on conflict (broker_name, call_name) do update
        set times = unreadable_counts.times + excluded.times, last_at = excluded.last_at`,
  sql`insert into unreadable_replies (id, broker_name, call_name, status, reply, seen_at)
      values (${reply.id}, ${reply.broker}, ${reply.call}, ${reply.status}, ${reply.reply}, ${reply.seen_at})`,
  sql`delete from unreadable_replies where broker_name = ${reply.broker} and id not in
        (select id from unreadable_replies where broker_name = ${reply.broker} order by id desc limit ${MOST_KEPT})`,
];

/** What has not come again since then. */
export const forgetUnreadable = (before: Timestamp): readonly Statement[] => [
  sql`delete from unreadable_counts where last_at < ${before}`,
  sql`delete from unreadable_replies where seen_at < ${before}`,
];

/** What came last stands first. */
export const unreadableCounts = (db: Reads): Promise<UnreadableCount[]> =>
  db.all<UnreadableCount>(
    sql`select broker_name as broker, call_name as call, times, first_at, last_at from unreadable_counts
        order by last_at desc, broker_name, call_name`,
  );

export const keptReplies = (db: Reads): Promise<KeptReply[]> =>
  db.all<KeptReply>(
    sql`select id, broker_name as broker, call_name as call, status, reply, seen_at from unreadable_replies
        order by id desc`,
  );
