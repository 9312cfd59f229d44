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

/** Guarded by `owner`. It locks the row: whoever begins after this sees everything that was saved before. */
const isOwner = (user: UserId, token: string): Statement =>
  must('owner', sql`update worker_owners set token = token where user_id = ${user} and token = ${token}`);

/** Guarded by `account`. */
const mayEnter = (user: UserId, account: AccountId): Statement =>
  must(
    'account',
    sql`update worker_owners set token = token where user_id = ${user}
          and exists (select 1 from trading_accounts where id = ${account} and halted = ${false})
          and exists (select 1 from users where id = ${user} and is_active = ${true})`,
  );
