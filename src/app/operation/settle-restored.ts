// Makes a restored database safe to start on: nothing that may have been sent since its backup is sent again, no signal of
// before the restoration is taken, and what was revoked or changed since the backup does not open anything.

import { insertAuditEntry } from '../../data/audit/log.ts';
import type { Db } from '../../data/engine/db.ts';
import { leaveProtections } from '../../data/orders/protections-left.ts';
import { haltEverybody, markRestored, ordersUnderWay, settleOrder } from '../../data/orders/restored.ts';
import { millis, timestamp, type UserId } from '../../domain/ids.ts';
import { afterRestore, type Backup } from '../../domain/orders/restored.ts';
import { securedAfterRestore } from '../identity/after-theft.ts';
import type { PasswordHasher } from '../identity/passwords.ts';

const RESTORED =
  'The service was restored from a backup: what stands at the broker stands, and nobody looks after it until you say so.';

export interface Settled {
  /** Looked for at their brokers from the first start on. */
  readonly unknown: number;
  /** Certainly not traded. */
  readonly expired: number;
}

export async function settleRestored(
  {
    db,
    clock,
    hasher,
  }: { readonly db: Db; readonly clock: { now(): number }; readonly hasher: Pick<PasswordHasher, 'hash'> },
  { halt, ...backup }: Backup & { readonly halt: boolean },
): Promise<Settled> {
  const now = timestamp(clock.now());
  const entry = (
    action: string,
    userId: UserId | null,
    resource: { type: string; id: string } | null,
    metadata: object,
  ) =>
    insertAuditEntry({
      ...{ userId, action, success: true, ipAddress: null, userAgent: null, requestPath: null },
      ...{ requestMethod: null, errorMessage: null, createdAt: now },
      resourceType: resource?.type ?? null,
      resourceId: resource?.id ?? null,
      metadata: { backed_up_at: backup.madeAt, ...metadata },
    });
  const settled = { unknown: 0, expired: 0 };
  for (const order of await ordersUnderWay(db)) {
    const after = afterRestore(order, backup);
    const lost = await db.commit([
      ...settleOrder(after, now),
      entry('order_restored', order.userId, { type: 'order', id: order.id }, { status: after.status }),
    ]);
    if (lost !== null) throw new Error(`order ${order.id} was changed by somebody else meanwhile`);
    settled[after.status === 'expired' ? 'expired' : 'unknown']++;
  }
  await db.commit([
    markRestored(now),
    ...(await securedAfterRestore({ hasher }, millis(now))),
    ...(halt ? [haltEverybody(now)] : []),
    // Where it was restored from, others may protect these positions by now: nothing is placed or taken away for what was saved.
    leaveProtections(RESTORED, now),
    entry('database_restored', null, null, { ...settled, halted: halt }),
  ]);
  return settled;
}
