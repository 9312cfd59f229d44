// Where secrets lie sealed, and whose they are: for what seals them anew.

import { type Db, must, type Statement, sql } from '../engine/db.ts';

export interface SealedSecret {
  /** Of the account, the group or the destination, or of the user whose authenticator it is. */
  readonly owner: string;
  readonly sealed: string;
}

export interface Place {
  /** Those that do not begin so, in the order of their owners; `after` is the last owner of the page before. */
  list(db: Db, page: { notLike: string; after: string; limit: number }): Promise<SealedSecret[]>;
  /** Guarded by `unchanged`. */
  replace(secret: SealedSecret, sealed: string): Statement;
}

export const SEALED_SECRETS: readonly Place[] = [
  {
    list: (db, { notLike, after, limit }) =>
      db.all<{ owner: string; sealed: string }>(
        sql`select id as owner, webhook_secret as sealed from trading_groups
            where id > ${after} and webhook_secret not like ${`${notLike}%`} order by id limit ${limit}`,
      ),
    replace: ({ owner, sealed: before }, sealed) =>
      must(
        'unchanged',
        sql`update trading_groups set webhook_secret = ${sealed} where id = ${owner} and webhook_secret = ${before}`,
      ),
  },
  {
    list: (db, { notLike, after, limit }) =>
      db.all<{ owner: string; sealed: string }>(
        sql`select id as owner, webhook_secret as sealed from trading_accounts
            where id > ${after} and webhook_secret not like ${`${notLike}%`} order by id limit ${limit}`,
      ),
    replace: ({ owner, sealed: before }, sealed) =>
      must(
        'unchanged',
        sql`update trading_accounts set webhook_secret = ${sealed} where id = ${owner} and webhook_secret = ${before}`,
      ),
  },
  {
    list: (db, { notLike, after, limit }) =>
      db.all<{ owner: string; sealed: string }>(
        sql`select user_id as owner, totp_secret as sealed from second_factors
            where user_id > ${after} and totp_secret not like ${`${notLike}%`} order by user_id limit ${limit}`,
      ),
    replace: ({ owner, sealed: before }, sealed) =>
      must(
        'unchanged',
        sql`update second_factors set totp_secret = ${sealed} where user_id = ${owner} and totp_secret = ${before}`,
      ),
  },
  {
    list: (db, { notLike, after, limit }) =>
      db.all<{ owner: string; sealed: string }>(
        sql`select id as owner, sealed_address as sealed from notification_destinations
            where id > ${after} and sealed_address not like ${`${notLike}%`} order by id limit ${limit}`,
      ),
    replace: ({ owner, sealed: before }, sealed) =>
      must(
        'unchanged',
        sql`update notification_destinations set sealed_address = ${sealed} where id = ${owner} and sealed_address = ${before}`,
      ),
  },
];
