// Where secrets lie sealed, and whose they are: for what seals them anew.

import { type Db, join, must, type Statement, sql } from '../engine/db.ts';

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

/** One column of one table; `owner` is the column that says whose it is, and its key. */
const place = (table: Statement, owner: Statement, column: Statement): Place => ({
  list: (db, { notLike, after, limit }) =>
    db.all<{ owner: string; sealed: string }>(
      words(
        ...[sql`select`, owner, sql`as owner,`, column, sql`as sealed from`, table],
        ...[sql`where`, owner, sql`> ${after} and`, column, sql`not like ${`${notLike}%`}`],
        ...[sql`order by`, owner, sql`limit ${limit}`],
      ),
    ),
  replace: (secret, sealed) =>
    must(
      'unchanged',
      words(
        ...[sql`update`, table, sql`set`, column, sql`= ${sealed}`],
        ...[sql`where`, owner, sql`= ${secret.owner} and`, column, sql`= ${secret.sealed}`],
      ),
    ),
});

const words = (...statements: readonly Statement[]): Statement => join(statements, ' ');

export const SEALED_SECRETS: readonly Place[] = [
  place(sql`trading_groups`, sql`id`, sql`webhook_secret`),
  place(sql`trading_accounts`, sql`id`, sql`webhook_secret`),
  place(sql`second_factors`, sql`user_id`, sql`totp_secret`),
  place(sql`notification_destinations`, sql`id`, sql`sealed_address`),
];
