// order_history and its legs. A change compares the order's version and sets the next one; whoever lost the race
// learns it and has written nothing.

import type { SentOrder } from '../../broker/broker.ts';
import type { BrokerName } from '../../domain/brokers.ts';
import { type Decimal, decimal, ZERO } from '../../domain/decimal.ts';
import {
  type AccountId,
  earliestId,
  millis,
  type OrderId,
  type Timestamp,
  timestamp,
  type UserId,
} from '../../domain/ids.ts';
import { heldAfter } from '../../domain/orders/expected.ts';
import { isHalfDone } from '../../domain/orders/half-done.ts';
import type { Order } from '../../domain/orders/order.ts';
import { isUnsettled, keyOf, NO_NOTES, wasSent } from '../../domain/orders/order.ts';
import { brokerRefs, exitOrderResult, exitQuantity, fillOf } from '../../domain/orders/result.ts';
import { type Db, join, must, type Reads, type Statement, sql } from '../engine/db.ts';
import { type LegRow, listOf, ordersWhere, wishText } from './order-rows.ts';
import { wantProtection } from './protections.ts';

/** Guarded by `fingerprint`: a real signal stands once per account. */
export function insertOrder(order: Order, fingerprint: string | null): Statement {
  return must(
    'fingerprint',
    sql`insert into order_history (order_id, version, user_id, trading_account_id, broker_name, source, simulation,
          symbol, action, order_type, intent, quantity, status, error, broker_refs, submitted_at, deadline_at,
          auto_exit, trace, fingerprint, unsettled, notes, request_id, wish, sizing, priced, exit_reason, caused_by,
          group_id)
        values (${order.id}, ${order.version}, ${order.userId}, ${order.accountId}, ${order.brokerName},
          ${order.source}, ${order.simulation}, ${order.symbol}, ${order.action}, ${order.orderType},
          ${JSON.stringify(order.intent)}, ${order.quantity}, ${order.status}, null, '[]', ${order.submittedAt},
          ${order.deadlineAt}, ${order.autoExit}, ${JSON.stringify(order.trace)}, ${fingerprint}, ${isOpenToAll(order)},
          ${json(order.notes === NO_NOTES ? null : order.notes)}, ${order.requestId},
          ${order.wish ? wishText(order.wish) : null}, ${json(order.sizing ?? null)}, ${json(order.priced ?? null)}, ${order.exitReason ?? null}, ${order.causedBy ?? null},
          ${order.groupId ?? null})
        on conflict (trading_account_id, fingerprint) do nothing`,
  );
}

/**
 * What is to be worked off by versions of every age. Those from before protection would open the position and forget its stop, those from
 * before sizes would trade cash as units, and those from before prices would trade at the market: until a part of it was sent, such an
 * order is kept from them.
 */
const isOpenToAll = (order: Order): boolean => isUnsettled(order) && (!isNewer(order) || wasSent(order));

const isNewer = ({ wish, sizing, priced, intent }: Order): boolean =>
  wish !== undefined || sizing !== undefined || priced !== undefined || intent.operation === 'CANCEL_ENTRIES';

/** A real order that was accepted before, however long ago. */
export async function acceptedBefore(
  db: Db,
  account: AccountId,
  fingerprint: string,
): Promise<{ readonly id: OrderId; readonly submittedAt: Timestamp } | null> {
  const row = await db.get<{ order_id: OrderId; submitted_at: Timestamp }>(
    sql`select order_id, submitted_at from order_history
        where trading_account_id = ${account} and fingerprint = ${fingerprint}`,
  );
  return row ? { id: row.order_id, submittedAt: row.submitted_at } : null;
}

/**
 * Guarded by `version`: the order's own is compared, and the next one set. `protection`: the id of the one that its wish
 * becomes, guarded by `protection`: none is kept for the position. null: it may be.
 */
export function saveOrder(order: Order, protection: string | null = null): Statement[] {
  const fill = fillOf(order);
  return [
    must(
      'version',
      sql`update order_history set version = ${order.version + 1}, status = ${order.status},
            error = ${json(order.error)}, broker_refs = ${JSON.stringify(brokerRefs(order))},
            fill_price = ${fill.price}, fill_quantity = ${fill.quantity},
            filled_at = ${order.filledAt}, auto_exit = ${order.autoExit}, exit_quantity = ${exitQuantity(order)},
            position_before = ${order.positionBefore}, counted = ${json(order.counted ?? null)}, exit_order_result = ${json(exitOrderResult(order))},
            trace = ${JSON.stringify(order.trace)}, credentials_version = ${order.credentialsVersion},
            unsettled = ${isOpenToAll(order)}, awaits_rest = ${order.awaitsRest},
            guards = ${order.guards.length > 0 ? JSON.stringify(order.guards) : null},
            half_done = ${isHalfDone(order)}, settled_by = ${order.settledBy ?? null}
          where order_id = ${order.id} and version = ${order.version}`,
    ),
    ...order.legs.map(
      (leg, position) =>
        sql`insert into order_legs (order_id, leg, position, client_order_id, broker_ref, side, quantity, status,
              fill_price, fill_quantity, fee, instrument, unit_value, sent_at, acked_at, filled_at)
            values (${order.id}, ${keyOf(leg)}, ${position}, ${leg.clientOrderId}, ${leg.brokerRef}, ${leg.side},
              ${leg.quantity}, ${leg.status}, ${leg.fillPrice}, ${leg.fillQuantity}, ${leg.fee},
              ${leg.instrument}, ${leg.unitValue}, ${leg.sentAt}, ${leg.ackedAt}, ${leg.filledAt})
            on conflict (order_id, leg) do update set position = excluded.position, side = excluded.side,
              quantity = excluded.quantity, broker_ref = excluded.broker_ref, status = excluded.status,
              fill_price = excluded.fill_price, fill_quantity = excluded.fill_quantity, fee = excluded.fee,
              instrument = excluded.instrument, unit_value = excluded.unit_value, sent_at = excluded.sent_at, acked_at = excluded.acked_at,
              filled_at = excluded.filled_at`,
    ),
    // Nothing of it was sent, and it will be planned anew; or a part of it was, and the rest is another than it was planned before.
    ...((order.status === 'executing' && order.legs.length === 0) || order.legs.some(({ nth }) => nth > 1)
      ? [forgetPlanned(order)]
      : []),
    // Computed once, and saved before it is sent.
    ...(order.sizing
      ? [
          sql`update order_history set sizing = ${JSON.stringify(order.sizing)}, intent = ${JSON.stringify(order.intent)}
              where order_id = ${order.id}`,
        ]
      : []),
    ...(order.tradedAt
      ? [sql`update order_history set traded_at = ${order.tradedAt} where order_id = ${order.id}`]
      : []),
    // What it has opened is to be protected from the moment in which that is known.
    ...(order.wish ? wantProtection(order, protection) : []),
  ];
}

function forgetPlanned({ id, legs }: Order): Statement {
  // One that was about to be sent, and certainly was not, stands there as `sending`.
  if (legs.length === 0) return sql`delete from order_legs where order_id = ${id}`;
  const planned = sql`delete from order_legs where order_id = ${id} and status = 'planned'`;
  const kept = legs.map((leg) => sql`${keyOf(leg)}`);
  return join([planned, sql` and leg not in (`, join(kept, ', '), sql`)`], '');
}

export async function findOrder(db: Db, id: OrderId): Promise<Order | null> {
  const [order] = await ordersWhere(db, sql`where order_id = ${id}`);
  return order ?? null;
}

/**
 * Those of the account that were accepted since then, or were filled since then after a long rest, and of which a part may have been sent.
 * With the latter come those that were sent meanwhile: each says how much was held when it was planned.
 */
export async function recentOrders(
  db: Db,
  user: UserId,
  account: AccountId,
  since: number,
): Promise<Order[]> {
  const from = timestamp(since);
  const recent = await ordersWhere(
    db,
    sql`where order_id in (
          select order_id from order_history
          where user_id = ${user} and trading_account_id = ${account} and submitted_at >= ${from}
          union select order_id from order_history
          where trading_account_id = ${account} and user_id = ${user} and traded_at >= ${from})
        and position_before is not null`,
  );
  const first = recent.reduce((early, { submittedAt }) => (submittedAt < early ? submittedAt : early), from);
  if (first >= from) return recent;
  const meanwhile = await ordersWhere(
    db,
    sql`where user_id = ${user} and trading_account_id = ${account} and submitted_at >= ${first}
          and submitted_at < ${from} and position_before is not null
        order by submitted_at desc, order_id desc limit ${RECORD}`,
  );
  return uniquely([...recent, ...meanwhile]);
}

/** So many orders back our own record tells what may be held. */
const RECORD = 200;

/** What was held after the last real orders of the account, by instrument; what was closed is left out. */
export async function heldByRecord(
  db: Db,
  user: UserId,
  account: AccountId,
): Promise<(readonly [string, Decimal])[]> {
  const last = await ordersWhere(
    db,
    sql`where user_id = ${user} and trading_account_id = ${account} and simulation = ${false} and position_before is not null
        order by submitted_at desc, order_id desc limit ${RECORD}`,
  );
  // As far back as the others: what was traded before may have been closed by one that is not read any more.
  const since = (last.length === RECORD ? last.at(-1)?.submittedAt : undefined) ?? timestamp(0);
  const rested = await ordersWhere(
    db,
    sql`where trading_account_id = ${account} and user_id = ${user} and simulation = ${false} and traded_at >= ${since}
        order by traded_at desc limit ${RECORD}`,
  );
  const held = heldAfter(uniquely([...last, ...rested]).toSorted(newestFirst));
  return [...held].filter(([, position]) => position !== ZERO);
}

const uniquely = (orders: readonly Order[]): Order[] => [
  ...new Map(orders.map((order) => [order.id, order])).values(),
];

/** So long after its acceptance an order may be sent, and so far clocks may differ. */
const SENT_WITHIN_MS = 3_600_000;
const AROUND_MS = 300_000;

/** Legs of real orders that were sent to the broker around that time, or may have been; whoever's they are. */
export async function legsSentAround(db: Db, broker: BrokerName, time: Timestamp): Promise<SentOrder[]> {
  const at = millis(time);
  const [from, to] = [at - AROUND_MS, at + AROUND_MS];
  // By their ids, which are in the order of acceptance: no other index has the broker in it.
  const rows = await db.all<LegRow & { symbol: string }>(
    sql`select l.*, o.symbol from order_history o join order_legs l on l.order_id = o.order_id
        where o.order_id >= ${earliestId(from - SENT_WITHIN_MS)} and o.order_id < ${earliestId(to)}
          and o.broker_name = ${broker} and o.simulation = ${false}
          and l.sent_at >= ${timestamp(from)} and l.sent_at <= ${timestamp(to)}`,
  );
  return rows.map((row) => ({
    clientOrderId: row.client_order_id,
    brokerRef: row.broker_ref,
    symbol: row.instrument ?? row.symbol,
    side: row.side,
    quantity: decimal(row.quantity),
    sentAt: row.sent_at ?? timestamp(0),
  }));
}

/** Accounts of this user with an order that a worker has to do something about. */
export async function accountsUnderWay(db: Db, user: UserId): Promise<AccountId[]> {
  const rows = await db.all<{ trading_account_id: AccountId }>(
    sql`select distinct trading_account_id from order_history
        where user_id = ${user} and status in ('queued', 'executing')`,
  );
  return rows.map((row) => row.trading_account_id);
}

/** Users with an order that was accepted before the given time and has not got beyond `executing`. */
export async function usersWithOrdersUnderWay(db: Db, before: Timestamp): Promise<UserId[]> {
  const rows = await db.all<{ user_id: UserId }>(
    sql`select distinct user_id from order_history where status in ('queued', 'executing') and submitted_at <= ${before}`,
  );
  return rows.map((row) => row.user_id);
}

/** `due`: the earliest deadline of them. */
export async function ordersUnderWayNow(
  db: Db,
): Promise<{ count: number; oldest: Timestamp | null; due: Timestamp | null }> {
  const row = await db.get<{ orders: number; oldest: Timestamp | null; due: Timestamp | null }>(
    sql`select count(*) as orders, min(submitted_at) as oldest, min(deadline_at) as due from order_history
        where status in ('queued', 'executing')`,
  );
  return { count: row?.orders ?? 0, oldest: row?.oldest ?? null, due: row?.due ?? null };
}

/** Also those of a restored database that have no leg to look for. They have an index of their own, in these words. */
export async function countUnknown(db: Db): Promise<number> {
  const row = await db.get<{ orders: number }>(
    sql`select count(*) as orders from order_history where status = 'unknown'`,
  );
  return row?.orders ?? 0;
}

/** As they come. */
export function ordersByIds(db: Reads, ids: readonly OrderId[]): Promise<Order[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return ordersWhere(db, join([sql`where order_id in (`, listOf(ids), sql`)`], ''));
}

const json = (value: object | null): string | null => (value === null ? null : JSON.stringify(value));

/** Of those of one moment the last that was made. */
const newestFirst = (a: Order, b: Order) =>
  b.submittedAt.localeCompare(a.submittedAt) || b.id.localeCompare(a.id);

/** So many orders of other symbols of the account are looked through. */
const MOST_BETWEEN = 50;

/** Orders of ours that have traded the instrument in the book, or may have, the newest first, as far as is looked. */
export async function tradedLately(
  db: Reads,
  {
    userId,
    accountId,
    simulation,
    instrument,
  }: Pick<Order, 'userId' | 'accountId' | 'simulation'> & { readonly instrument: string },
): Promise<Order[]> {
  const rows = await db.all<{ order_id: OrderId }>(
    sql`select order_id from order_history
        where user_id = ${userId} and trading_account_id = ${accountId} and simulation = ${simulation}
          and (fill_quantity is not null or status = 'unknown')
        order by submitted_at desc, order_id desc limit ${MOST_BETWEEN}`,
  );
  const orders = await ordersByIds(
    db,
    rows.map(({ order_id }) => order_id),
  );
  const trades = ({ legs }: Order) => legs.some((leg) => leg.instrument === instrument);
  return orders.filter(trades).toSorted(newestFirst);
}
