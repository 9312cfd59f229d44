// What ends where somebody else may have been in, and what is known of it afterwards.

import type { Cause } from '../../domain/identity/after-theft.ts';
import type { AccountId, GroupId, Timestamp, UserId } from '../../domain/ids.ts';
import { type Db, join, type Reads, type Statement, sql } from '../engine/db.ts';
import { keepFact, readFact } from '../engine/facts.ts';

export type Whose = UserId | 'everybody';

const of = (whose: Whose, statement: Statement): Statement =>
  whose === 'everybody' ? statement : join([statement, sql` and user_id = ${whose}`], '');

/** Sessions, API keys and links for a new password end. */
export const endDoors = (whose: Whose, now: Timestamp): Statement[] => [
  of(whose, sql`update user_sessions set is_active = ${false} where is_active = ${true}`),
  of(whose, sql`update api_keys set revoked_at = ${now} where revoked_at is null`),
  of(whose, sql`update password_resets set used_at = ${now} where used_at is null`),
];

/**
 * Every door ends, known devices too (by `secured_at`), and destinations pause. Webhook secrets and tokens stay: by them positions are closed. `recently`: who was
 * secured since then is still in the same trouble, which began when that did.
 */
export function endAccess(
  whose: Whose,
  { because, now, recently }: { because: Cause; now: Timestamp; recently: Timestamp },
): Statement[] {
  return [
    // First, while it can be seen what was open.
    join(
      [
        sql`update users set exposed_since = case when secured_at > ${recently} then exposed_since else coalesce((
              select min(o.created_at) from (
                select s.user_id, s.created_at from user_sessions s where s.is_active = ${true}
                  and exists (select 1 from refresh_tokens r where r.session_id = s.id and r.expires_at > ${now})
                union all select k.user_id, k.created_at from api_keys k where k.revoked_at is null
              ) o where o.user_id = users.id), ${now}) end,
            secured_at = ${now}, secured_because = ${because} where true`,
        ...(whose === 'everybody' ? [] : [sql` and id = ${whose}`]),
      ],
      '',
    ),
    ...endDoors(whose, now),
    of(
      whose,
      sql`update notification_destinations set paused_at = coalesce(paused_at, ${now}), paused_because = ${because},
            version = version + 1 where true`,
    ),
  ];
}

const PASSWORDS_ENDED_AT = 'passwords_ended_at';

/** Nobody knows the password of this hash. */
export const endPasswords = (hashOfNobodys: string, now: Timestamp): Statement[] => [
  sql`update users set password_hash = ${hashOfNobodys}`,
  keepFact(PASSWORDS_ENDED_AT, now),
];

/** null: they never did. */
export const passwordsEndedAt = async (db: Db): Promise<Timestamp | null> =>
  (await readFact(db, PASSWORDS_ENDED_AT)) as Timestamp | null;

export interface Secured {
  readonly at: Timestamp;
  readonly because: Cause;
  readonly exposedSince: Timestamp;
}

/** null: never. */
export async function securedUser(db: Reads, user: UserId): Promise<Secured | null> {
  const row = await db.get<{
    secured_at: Timestamp | null;
    secured_because: Cause;
    exposed_since: Timestamp;
  }>(sql`select secured_at, secured_because, exposed_since from users where id = ${user}`);
  if (!row?.secured_at) return null;
  return { at: row.secured_at, because: row.secured_because, exposedSince: row.exposed_since };
}

export interface Seen<Id> {
  readonly id: Id;
  readonly name: string;
  readonly hasOldSecret: boolean;
  readonly hasOldToken: boolean;
}

type Times<Id> = {
  readonly id: Id;
  readonly name: string;
  readonly secret_made_at: Timestamp | null;
  readonly token_made_at: Timestamp | null;
};

const seenAt =
  (at: Timestamp) =>
  <Id>({ id, name, secret_made_at, token_made_at }: Times<Id>): Seen<Id> => {
    const isOld = (madeAt: Timestamp | null): boolean => madeAt === null || madeAt <= at;
    return { id, name, hasOldSecret: isOld(secret_made_at), hasOldToken: isOld(token_made_at) };
  };

/** Those that were there then, oldest first. */
export async function accountsBefore(
  db: Reads,
  user: UserId,
  { at, limit }: { at: Timestamp; limit: number },
): Promise<Seen<AccountId>[]> {
  const rows = await db.all<Times<AccountId>>(
    sql`select id, name, secret_made_at, token_made_at from trading_accounts
        where user_id = ${user} and deleted_at is null and created_at <= ${at} order by created_at, id limit ${limit}`,
  );
  return rows.map(seenAt(at));
}

export async function groupsBefore(db: Reads, user: UserId, at: Timestamp): Promise<Seen<GroupId>[]> {
  const rows = await db.all<Times<GroupId>>(
    sql`select id, name, secret_made_at, token_made_at from trading_groups
        where user_id = ${user} and created_at <= ${at} order by created_at, id`,
  );
  return rows.map(seenAt(at));
}

export interface EndedKey {
  readonly id: string;
  readonly name: string;
  readonly created_at: Timestamp;
  readonly last_used_at: Timestamp | null;
}

/** Those that ended with it. */
export const keysEndedAt = (
  db: Reads,
  user: UserId,
  { at, limit }: { at: Timestamp; limit: number },
): Promise<EndedKey[]> =>
  db.all<EndedKey>(
    sql`select id, name, created_at, last_used_at from api_keys
        where user_id = ${user} and revoked_at = ${at} order by id limit ${limit}`,
  );
