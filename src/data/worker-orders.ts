// The worker's view of the database.

import { timestamp } from '../domain/ids.ts';
import { openLeg } from '../domain/order.ts';
import type { WorkerOrders } from '../worker/orders.ts';
import { findAccount } from './accounts.ts';
import type { Db } from './db.ts';
import { scheduleCheck } from './fill-checks.ts';
import { findOrder, ordersUnderWay, saveOrder } from './orders.ts';
import { isActiveUser } from './users.ts';

export function workerOrders(deps: { db: Db; clock: { now(): number }; firstPollMs: number }): WorkerOrders {
  const { db, clock, firstPollMs } = deps;
  return {
    find: (id) => findOrder(db, id),
    underWay: (user) => ordersUnderWay(db, user),
    findAccount: (id) => findAccount(db, id),
    isActive: (user) => isActiveUser(db, user),
    async save(order, { settled }) {
      const unit = saveOrder(order);
      if (settled && openLeg(order))
        unit.push(scheduleCheck(order.id, order.userId, timestamp(clock.now() + firstPollMs)));
      return (await db.commit(unit)) === null ? { ...order, version: order.version + 1 } : null;
    },
  };
}
