// Finds orders that nobody is working on: after a restart, or when the store lost their message. Their users' workers
// are started and told to look into the database.

import type { Db } from '../../data/engine/db.ts';
import { usersWithOrdersUnderWay } from '../../data/orders/orders.ts';
import { timestamp } from '../../domain/ids.ts';
import type { Mailbox } from '../../worker/host/mailbox.ts';
import type { Placement, Pool } from '../../worker/host/pool.ts';

export interface RescueDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly pool: Pool & Placement;
  readonly mailbox: Pick<Mailbox, 'tell' | 'waiting'>;
  readonly log: { warn(context: object, text: string): void };
}

/** Orders accepted less than `graceMs` ago are left to the message that is on its way to their worker. */
export async function rescueOrders(
  { db, clock, pool, mailbox, log }: RescueDeps,
  graceMs: number,
): Promise<void> {
  const users = await usersWithOrdersUnderWay(db, timestamp(clock.now() - graceMs));
  await Promise.all(
    users.map(async (user) => {
      // Not by what is remembered of the user: that nobody serves it may be why it is here.
      const isServed = (await pool.hostOf(user)) !== null || (await pool.ensure(user));
      // A worker serves its mailbox in turn: by the time it comes to this, none of the user's orders is in its hands.
      // Where something waits there already, it comes to the orders by that.
      if (isServed && (await mailbox.waiting(user)) === 0) await mailbox.tell(user, { kind: 'recover' });
      if (!isServed)
        log.warn({ user_id: user }, 'no worker could be started to recover the orders of this user');
    }),
  );
}
