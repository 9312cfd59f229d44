// The worker's view of the database.

import type { AccountId, UserId } from '../domain/ids.ts';
import { timestamp } from '../domain/ids.ts';
import { type Order, openLeg } from '../domain/order.ts';
import type { WorkerOrders } from '../worker/orders.ts';
import { findAccount } from './accounts.ts';
import { type Db, must, type Statement, sql } from './db.ts';
import { scheduleCheck } from './fill-checks.ts';
import { findOrder, ordersUnderWay, saveOrder } from './orders.ts';

export function workerOrders(deps: { db: Db; clock: { now(): number }; firstPollMs: number }): WorkerOrders {
  const { db, clock, firstPollMs } = deps;
  const next = (order: Order): Order => ({ ...order, version: order.version + 1 });
  return {
    find: (id) => findOrder(db, id),
    underWay: (user) => ordersUnderWay(db, user),
    findAccount: (id) => findAccount(db, id),
    async begin(user, token) {
      await db.commit([
        sql`insert into worker_owners (user_id, token) values (${user}, ${token})
            on conflict (user_id) do update set token = excluded.token`,
      ]);
    },
    async save(order, { settled }) {
      const unit = saveOrder(order);
      if (settled && openLeg(order))
        unit.push(scheduleCheck(order.id, order.userId, timestamp(clock.now() + firstPollMs)));
      return (await db.commit(unit)) === null ? next(order) : 'taken';
    },
    async saveSending(order, token) {
      const isEntry = order.intent.operation === 'PLACE_ENTRY_ORDER';
      const failed = await db.commit([
        isOwner(order.userId, token),
        ...(isEntry ? [mayEnter(order.userId, order.accountId)] : []),
        ...saveOrder(order),
      ]);
      if (failed === null) return next(order);
      return failed === 'account' ? 'halted' : 'taken';
    },
  };
}

/** Guarded by `owner`. It holds the row: whoever begins after this sees everything that was saved before. */
const isOwner = (user: UserId, token: string): Statement =>
  must('owner', sql`select 1 from worker_owners where user_id = ${user} and token = ${token}`);

/** Guarded by `account`. Whoever halts or deactivates is told so before this, or after the leg is saved. */
const mayEnter = (user: UserId, account: AccountId): Statement =>
  must(
    'account',
    sql`select 1 from trading_accounts a join users u on u.id = ${user}
        where a.id = ${account} and a.halted = ${false} and u.is_active = ${true}`,
  );
