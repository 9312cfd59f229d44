// What a worker has to know of an account before it plans: its orders that have not come to their end, and the account's guards.

import type { Guards } from '../../domain/guards/guards.ts';
import type { AccountId, UserId } from '../../domain/ids.ts';
import type { Unsettled } from '../../worker/orders.ts';
import { type Db, join, listQuery, sql } from '../engine/db.ts';
import { inOneTurn, momentOf } from '../engine/in-one-turn.ts';
import { type OrderRow, withLegs } from './order-rows.ts';

interface Whose {
  readonly user: UserId;
  readonly account: AccountId;
}

type Row = OrderRow & { connection_version: number; account_guards: string | null; revision: number };

/** Of several accounts of a user, by one statement where they are asked for at one moment. Nobody waits for another user's, or fails with it. */
export function openUnsettled(db: Db): (user: UserId, account: AccountId) => Promise<Unsettled> {
  const read = inOneTurn(
    async (asked: readonly Whose[]) => {
      const byUser = new Map(
        [...Map.groupBy(asked, ({ user }) => user)].map(([user, of]) => {
          const accounts = [...new Set(of.map(({ account }) => account))];
          return [user, unsettledOrders(db, user, accounts)] as const;
        }),
      );
      return asked.map(async ({ user, account }) => (await byUser.get(user))?.get(account) ?? NOTHING);
    },
    { moment: momentOf(db) },
  );
  return async (user, account) => read({ user, account });
}

const NOTHING: Unsettled = { orders: [], version: null, guards: null, revision: null };

/**
 * Accounts' orders that are under way or have an open leg, with the account's connection version. First the one that a
 * predecessor had begun: its legs were planned on the position of then, and nothing may trade before them. The others as
 * they came. (`true` stands in the text: with a value SQLite does not take the index of what is unsettled.)
 */
export async function unsettledOrders(
  db: Db,
  user: UserId,
  accounts: readonly AccountId[],
): Promise<ReadonlyMap<AccountId, Unsettled>> {
  const rows = await db.all<Row>(unsettledOf(accounts, user));
  const orders = Map.groupBy(await withLegs(db, rows), ({ accountId }) => accountId);
  const firsts = new Map(rows.toReversed().map((row) => [row.trading_account_id, row]));
  return new Map(
    [...firsts].map(([account, first]) => [
      account,
      {
        orders: orders.get(account) ?? [],
        version: first.connection_version,
        guards: first.account_guards ? (JSON.parse(first.account_guards) as Guards) : null,
        revision: first.revision,
      },
    ]),
  );
}

const unsettledOf = listQuery((accounts, user: UserId) => {
  const theirs = [sql`trading_account_id in (`, accounts, sql`) and user_id = ${user}`];
  return join(
    [
      sql`select o.*, a.connection_version, a.guards as account_guards, a.revision
          from order_history o join trading_accounts a on a.id = o.trading_account_id
          where o.order_id in (
            select order_id from order_history where `,
      ...theirs,
      sql` and unsettled = true
            union all select order_id from order_history where `,
      ...theirs,
      sql` and status in ('queued', 'executing') and unsettled = false)
          order by case o.status when 'executing' then 0 else 1 end, o.rowid`,
    ],
    '',
  );
});
