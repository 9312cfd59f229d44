// notices: what owners are to be told of. And whose webhooks have been silent for too long.

import type { AccountId, Timestamp, UserId } from '../../domain/ids.ts';
import type { NoticeKind } from '../../domain/told/notice.ts';
import { type Db, must, type Statement, sql } from '../engine/db.ts';

export interface Notice {
  readonly id: string;
  readonly userId: UserId;
  readonly accountId: AccountId;
  readonly kind: NoticeKind;
  readonly detail: string;
  readonly createdAt: Timestamp;
  readonly attempts: number;
}

export const insertNotice = (notice: Omit<Notice, 'attempts'>): Statement =>
  sql`insert into notices (id, user_id, trading_account_id, kind, detail, created_at, attempts, next_at)
      values (${notice.id}, ${notice.userId}, ${notice.accountId}, ${notice.kind}, ${notice.detail},
        ${notice.createdAt}, 0, ${notice.createdAt})`;

export interface DueNotice extends Notice {
  /** Whether its user is active. */
  readonly isActive: boolean;
  readonly email: string;
  readonly accountName: string;
}

interface NoticeRow {
  id: string;
  user_id: UserId;
  trading_account_id: AccountId;
  kind: NoticeKind;
  detail: string;
  created_at: Timestamp;
  attempts: number;
  is_active: number | boolean;
  email: string;
  name: string;
}

export async function dueNotices(db: Db, now: Timestamp, limit: number): Promise<DueNotice[]> {
  const rows = await db.all<NoticeRow>(
    sql`select n.*, u.email, u.is_active, a.name from notices n join users u on u.id = n.user_id
          join trading_accounts a on a.id = n.trading_account_id
        where n.next_at is not null and n.next_at <= ${now} order by n.next_at limit ${limit}`,
  );
  return rows.map((row) => ({
    id: row.id,
    userId: row.user_id,
    accountId: row.trading_account_id,
    kind: row.kind,
    detail: row.detail,
    createdAt: row.created_at,
    attempts: row.attempts,
    isActive: Boolean(row.is_active),
    email: row.email,
    accountName: row.name,
  }));
}

/** Guarded by `notice`: whoever comes first tells it. `nextAt`: when it is tried again, should this come to nothing. */
export const claimNotice = ({ id, attempts }: Notice, nextAt: Timestamp): Statement =>
  must(
    'notice',
    sql`update notices set attempts = ${attempts + 1}, next_at = ${nextAt} where id = ${id} and attempts = ${attempts}`,
  );

/** Told, or given up. */
export const endNotice = ({ id }: Pick<Notice, 'id'>): Statement =>
  sql`update notices set next_at = null where id = ${id}`;

export interface SilentAccount {
  readonly id: AccountId;
  readonly userId: UserId;
  readonly silenceAfter: number;
  /** Of its last genuine signal; of its making, where there was none. */
  readonly lastAt: Timestamp;
}

/** Accounts that ask for it, of users whose webhooks are answered, and of whose last genuine signal nobody was told yet that it was the last. */
export async function watchedAccounts(db: Db): Promise<SilentAccount[]> {
  const rows = await db.all<{ id: AccountId; user_id: UserId; silence_after: number; last_at: Timestamp }>(
    sql`select * from (
          select a.id, a.user_id, a.silence_after, a.silence_told_at, (select max(h.arrived_at) from (
              select max(s.arrived_at) as arrived_at from signals s
                where s.user_id = a.user_id and s.trading_account_id = a.id
                 and s.simulation = false
                 and (s.outcome <> 'refused'
                   or s.refused_by in ('halt', 'plan', 'terms', 'credentials', 'daily_limit', 'worker'))
              union all select max(m.arrived_at) from signal_members m
                where m.trading_account_id = a.id and m.simulation = false
                  and (m.code is null or m.code <> 'webhook_replay_attack')
              union all select a.created_at) h) as last_at
          from trading_accounts a join users u on u.id = a.user_id
          where a.silence_after is not null and a.deleted_at is null and u.is_active = true) watched
        where silence_told_at is null or silence_told_at < last_at`,
  );
  return rows.map((row) => ({
    id: row.id,
    userId: row.user_id,
    silenceAfter: row.silence_after,
    lastAt: row.last_at,
  }));
}

/** Guarded by `silence`: told once of each. */
export const noteSilence = ({ id, lastAt }: SilentAccount, now: Timestamp): Statement =>
  must(
    'silence',
    sql`update trading_accounts set silence_told_at = ${now}
        where id = ${id} and (silence_told_at is null or silence_told_at < ${lastAt})`,
  );
