// That an account is still what it was when it was read, at the moment in which something is committed for it.

import type { AccountId, Timestamp } from '../../domain/ids.ts';
import { type Db, join, must, type Statement, sql } from '../engine/db.ts';
import type { Account } from './accounts.ts';

/** How many real orders of the account have arrived since then. By count: ids and row numbers say nothing of who commits first. */
export interface RecentOrders {
  readonly since: Timestamp;
  readonly count: number;
}

const countSince = ({ id, userId }: Pick<Account, 'id' | 'userId'>, since: Timestamp): Statement =>
  sql`select count(*) from order_history where user_id = ${userId} and trading_account_id = ${id}
      and submitted_at >= ${since} and simulation = ${false}`;

export async function countRecentOrders(
  db: Db,
  account: Pick<Account, 'id' | 'userId'>,
  since: Timestamp,
): Promise<RecentOrders> {
  const counted = join([sql`select (`, countSince(account, since), sql`) as orders`], '');
  return { since, count: (await db.get<{ orders: number }>(counted))?.orders ?? 0 };
}

/** Guarded by `quiet`: none has come since they were counted. Behind what locks the account's row, as `idle` is. */
export const noOrderSince = (
  account: Pick<Account, 'id' | 'userId'>,
  { since, count }: RecentOrders,
): Statement =>
  must(
    'quiet',
    join(
      [
        sql`update trading_accounts set revision = revision + 1 where id = ${account.id} and ${count} = (`,
        countSince(account, since),
        sql`)`,
      ],
      '',
    ),
  );

/**
 * Guarded by `account`: at the moment in which an order is committed its account is what the order was checked against,
 * and its user active. It holds both rows, so that a halt, a deletion, a deactivation or a fence comes before the order
 * or after it.
 */
export const accountStands = ({
  id,
  revision,
  halted,
}: Pick<Account, 'id' | 'revision' | 'halted'>): Statement =>
  must(
    'account',
    sql`select 1 from trading_accounts a join users u on u.id = a.user_id
        where a.id = ${id} and a.revision = ${revision} and a.halted = ${halted} and a.deleted_at is null
          and u.is_active = ${true}`,
  );

/** The same of several, each once; they are held in the order of their ids. */
export function accountsStand(accounts: readonly Account[]): Statement {
  const [only] = accounts;
  if (only && accounts.length === 1) return accountStands(only);
  const each = accounts.map(
    ({ id, revision, halted }) => sql`(a.id = ${id} and a.revision = ${revision} and a.halted = ${halted})`,
  );
  const all = [
    sql`select 1 from trading_accounts a join users u on u.id = a.user_id
        where a.deleted_at is null and u.is_active = ${true} and (`,
    join(each, ' or '),
    sql`) order by a.id`,
  ];
  return must('account', join(all, ''), accounts.length);
}

/** Waits for whoever is just committing an order on the account; who read it before this commits none any more. */
export const fenceAccount = (id: AccountId): Statement =>
  sql`update trading_accounts set revision = revision + 1 where id = ${id}`;
