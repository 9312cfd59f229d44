// What a restored database is told before anything starts on it.

import type { Timestamp } from '../../domain/ids.ts';
import { type Order, openLeg } from '../../domain/orders/order.ts';
import { type Db, type Statement, sql } from '../engine/db.ts';
import { keepFact, readFact } from '../engine/facts.ts';
import { scheduleCheck } from './fill-checks.ts';
import { ordersByIds, saveOrder } from './orders.ts';

const RESTORED_AT = 'restored_at';
const BACKED_UP_AT = 'backed_up_at';

export const markBackup = (at: Timestamp): Statement => keepFact(BACKED_UP_AT, at);
export const backupMadeAt = async (db: Db): Promise<Timestamp | null> =>
  (await readFact(db, BACKED_UP_AT)) as Timestamp | null;

export const markRestored = (at: Timestamp): Statement => keepFact(RESTORED_AT, at);
/** null: it is no restored one. */
export const restoredAt = async (db: Db): Promise<Timestamp | null> =>
  (await readFact(db, RESTORED_AT)) as Timestamp | null;

export async function ordersUnderWay(db: Db): Promise<Order[]> {
  const rows = await db.all<{ order_id: Order['id'] }>(
    sql`select order_id from order_history where status in ('queued', 'executing')`,
  );
  return ordersByIds(
    db,
    rows.map(({ order_id }) => order_id),
  );
}

/** Guarded by `version`. What may be at the broker is looked for from then on. */
export const settleOrder = (order: Order, at: Timestamp): Statement[] => [
  ...saveOrder(order),
  ...(openLeg(order) ? [scheduleCheck(order.id, order.userId, at)] : []),
];

export const haltEverybody = (at: Timestamp): Statement =>
  sql`update trading_accounts set halted = ${true}, halted_at = ${at}, revision = revision + 1
      where halted = ${false} and deleted_at is null`;

/** Of the accounts that are not deleted. */
export async function sealedCredentials(db: Db): Promise<string[]> {
  const rows = await db.all<{ sealed_credentials: string }>(
    sql`select sealed_credentials from trading_accounts
        where sealed_credentials is not null and deleted_at is null`,
  );
  return rows.map(({ sealed_credentials }) => sealed_credentials);
}

export interface Counts {
  readonly users: number;
  readonly accounts: number;
  readonly orders: number;
  readonly under_way: number;
  readonly audit_entries: number;
}

export async function countRecords(db: Db): Promise<Counts> {
  const counts = await db.get<Counts>(
    sql`select (select count(*) from users) as users,
          (select count(*) from trading_accounts where deleted_at is null) as accounts,
          (select count(*) from order_history) as orders,
          (select count(*) from order_history where status in ('queued', 'executing')) as under_way,
          (select count(*) from audit_logs) as audit_entries`,
  );
  if (!counts) throw new Error('the database counts nothing');
  return counts;
}
