// An order as a restored database has it: it waited in the backup, and nothing of it is at the broker under a known id.

import { sql } from '../../src/data/engine/db.ts';
import { findOrder } from '../../src/data/orders/orders.ts';
import { settleOrder } from '../../src/data/orders/restored.ts';
import { type OrderId, timestamp } from '../../src/domain/ids.ts';
import { afterRestore } from '../../src/domain/orders/restored.ts';
import type { World } from '../world.ts';

export async function leaveAsRestored({ db, clock }: World, id: string): Promise<void> {
  await db.commit([
    sql`delete from fill_checks where order_id = ${id}`,
    sql`delete from order_legs where order_id = ${id}`,
    sql`update order_history set status = 'queued' where order_id = ${id}`,
  ]);
  const order = await findOrder(db, id as OrderId);
  if (!order) throw new Error(`there is no order ${id}`);
  const madeAt = timestamp(clock.now());
  const after = afterRestore(order, { madeAt, hasLedger: () => false });
  await db.commit(settleOrder(after, madeAt));
}
