// Which of a group's signals orders came from, and what became of it at each member.

import type { AccountId, GroupId, OrderId } from '../../domain/ids.ts';
import { join, type Reads, sql } from '../engine/db.ts';

export interface ToldMember {
  readonly accountId: AccountId;
  readonly account: string;
  readonly orderId: OrderId | null;
  /** Why it was refused; null: it was not. */
  readonly code: string | null;
  readonly detail: string | null;
}

export interface ToldSignal {
  readonly id: string;
  readonly groupId: GroupId;
  /** Of the group; null: it is deleted. */
  readonly name: string | null;
  /** In the group's own order. */
  readonly members: readonly ToldMember[];
}

/** Those that are still kept. */
export async function groupSignalsOf(db: Reads, orders: readonly OrderId[]): Promise<ToldSignal[]> {
  if (orders.length === 0) return [];
  const ids = join(
    orders.map((id) => sql`${id}`),
    ', ',
  );
  const rows = await db.all<{
    signal_id: string;
    group_id: GroupId;
    group_name: string | null;
    trading_account_id: AccountId;
    name: string;
    order_id: OrderId | null;
    code: string | null;
    detail: string | null;
  }>(
    join(
      [
        sql`select m.signal_id, s.group_id, g.name as group_name, m.trading_account_id, a.name, m.order_id, m.code, m.detail
            from signal_members m join signals s on s.id = m.signal_id
            join trading_accounts a on a.id = m.trading_account_id
            left join trading_groups g on g.id = s.group_id
            where m.signal_id in (select signal_id from signal_members where order_id in (`,
        ids,
        sql`)) order by m.signal_id, m.position`,
      ],
      '',
    ),
  );
  const bySignal = Map.groupBy(rows, ({ signal_id }) => signal_id);
  return [...bySignal.values()].flatMap((members) => {
    const [first] = members;
    if (!first) return [];
    return [
      {
        id: first.signal_id,
        groupId: first.group_id,
        name: first.group_name,
        members: members.map(
          ({ trading_account_id: accountId, name: account, order_id: orderId, ...row }) => ({
            ...{ accountId, account, orderId },
            ...{ code: row.code, detail: row.detail },
          }),
        ),
      },
    ];
  });
}
