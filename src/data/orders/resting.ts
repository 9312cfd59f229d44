// Entries that rest at the broker, by what is saved of them.

import type { AccountId, OrderId, Timestamp, UserId } from '../../domain/ids.ts';
import type { Order, OrderError } from '../../domain/orders/order.ts';
import { type Db, type Statement, sql } from '../engine/db.ts';
import type { OpenCheck } from './fill-checks.ts';
import { ordersWhere } from './order-rows.ts';

/** The first reason counts. It is beside what the order's version guards: whoever saves the order leaves it as it is. */
export const endEntry = (order: OrderId, why: OrderError): Statement =>
  sql`update order_history set ending = ${JSON.stringify(why)} where order_id = ${order} and ending is null
        and status in ('executing', 'placed', 'partially_filled', 'unknown')`;

// `is true`: else SQLite takes one of the user's indexes, and passes over all orders that the user ever had.

/** Every one of a user: those that are on their way there, too. */
export const endEntriesOf = (user: UserId, why: OrderError, now: Timestamp): Statement[] => [
  sql`update order_history set ending = ${JSON.stringify(why)}
      where priced is not null and unsettled = true and (user_id = ${user}) is true and ending is null
        and status in ('executing', 'placed', 'partially_filled', 'unknown')`,
  sql`update fill_checks set next_at = ${now}
      where user_id = ${user} and state <> 'done' and state in ('scheduled', 'dead_letter') and order_id in (
        select order_id from order_history where priced is not null and unsettled = true and (user_id = ${user}) is true)`,
];

/** Those of an account, in the words of their index. */
export const restingOf = (db: Db, account: AccountId): Promise<Order[]> =>
  ordersWhere(db, sql`where priced is not null and unsettled = true and trading_account_id = ${account}`);

/** Those of a user, on whichever account. */
export const restingOfUser = (db: Db, user: UserId): Promise<Order[]> =>
  ordersWhere(db, sql`where priced is not null and unsettled = true and (user_id = ${user}) is true`);

/** Nobody follows it any more, and it rests where it is. One whose end somebody has to find out yet is left as it is. */
export const leaveEntry = (order: OrderId): Statement[] => [
  sql`update fill_checks set state = 'done', visible_at = null
      where order_id = ${order} and state in ('scheduled', 'running') and exists (
        select 1 from order_history where order_id = ${order} and status in ('placed', 'partially_filled'))`,
  sql`update order_history set unsettled = ${false}
      where order_id = ${order} and priced is not null and status in ('placed', 'partially_filled')`,
];

/** An entry that was given up is looked at now, and not only when its turn comes. */
export const lookAtGivenUp = (order: OrderId, now: Timestamp): Statement =>
  sql`update fill_checks set next_at = ${now} where order_id = ${order} and state = 'dead_letter'`;

/** So is what rests on the account, given up or not. */
export const lookAtResting = (account: AccountId, now: Timestamp): Statement =>
  sql`update fill_checks set next_at = ${now} where state in ('scheduled', 'dead_letter') and state <> 'done' and order_id in (
        select order_id from order_history
        where priced is not null and unsettled = true and trading_account_id = ${account})`;

interface OverdueRow {
  order_id: OrderId;
  user_id: UserId;
  state: 'scheduled' | 'running' | 'dead_letter';
  attempts: number;
  next_at: Timestamp;
  visible_at: Timestamp | null;
}

/**
 * Those whose check is due and waits behind one of their user that is under way for another account, or that is stuck; and those whose
 * own check is stuck: its verifier died, and its claim is long. Of each account the oldest, so that what is stuck on one leaves room for the
 * others. `stuckUntil`: a claim that is over by then is one.
 */
export async function overdueResting(
  db: Db,
  {
    before,
    stuckUntil,
    limit,
  }: { readonly before: Timestamp; readonly stuckUntil: Timestamp; readonly limit: number },
): Promise<OpenCheck[]> {
  const rows = await db.all<OverdueRow>(
    sql`select order_id, user_id, state, attempts, next_at, visible_at from (
          select c.order_id, c.user_id, c.state, c.attempts, c.next_at, c.visible_at,
            row_number() over (partition by o.trading_account_id order by c.next_at, c.order_id) as nth
          from fill_checks c join order_history o on o.order_id = c.order_id
          where c.state <> 'done' and c.state in ('scheduled', 'running') and c.next_at <= ${before} and o.priced is not null
            and o.priced not like '%"timeInForce":"ioc"%' and o.priced not like '%"timeInForce":"fok"%'
            and (c.state = 'running' and c.visible_at <= ${stuckUntil}
              or c.state = 'scheduled' and exists (
                select 1 from fill_checks r join order_history other on other.order_id = r.order_id
                where r.user_id = c.user_id and r.state <> 'done' and r.state = 'running'
                  and (other.trading_account_id <> o.trading_account_id or r.visible_at <= ${stuckUntil})))) due
        where nth = 1 order by next_at, order_id limit ${limit}`,
  );
  return rows.map(toOverdue);
}

/**
 * Of each account the one that was given up and whose next look is due first: the broker has named it, so it is found by that for as
 * long as it rests. So are those at the market that ask to be protected: what they opened while nobody could ask has no stop before
 * that is known. `since`: what was accepted before is over by any clock.
 */
export async function givenUpResting(
  db: Db,
  { before, since, limit }: { readonly before: Timestamp; readonly since: Timestamp; readonly limit: number },
): Promise<OpenCheck[]> {
  const rows = await db.all<OverdueRow>(
    sql`select order_id, user_id, state, attempts, next_at, visible_at from (
          select c.order_id, c.user_id, c.state, c.attempts, c.next_at, c.visible_at,
            row_number() over (partition by o.trading_account_id order by c.next_at, c.order_id) as nth
          from fill_checks c join order_history o on o.order_id = c.order_id
          where c.state <> 'done' and c.state = 'dead_letter' and c.next_at <= ${before}
            and o.unsettled = true and o.submitted_at >= ${since}
            and exists (select 1 from order_legs l where l.order_id = o.order_id and l.broker_ref is not null)
            and (o.wish is not null or o.priced is not null
              and o.priced not like '%"timeInForce":"ioc"%' and o.priced not like '%"timeInForce":"fok"%')) due
        where nth = 1 order by next_at, order_id limit ${limit}`,
  );
  return rows.map(toOverdue);
}

const toOverdue = (row: OverdueRow): OpenCheck => ({
  orderId: row.order_id,
  userId: row.user_id,
  state: row.state,
  attempts: row.attempts,
  nextAt: row.next_at,
  ...(row.state === 'running' && row.visible_at !== null && { stuckUntil: row.visible_at }),
});

export async function countResting(db: Db): Promise<number> {
  const row = await db.get<{ orders: number }>(
    sql`select count(*) as orders from order_history where priced is not null and unsettled = true
          and status in ('placed', 'partially_filled')`,
  );
  return row?.orders ?? 0;
}
