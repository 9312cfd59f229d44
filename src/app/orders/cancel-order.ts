// A user takes one entry back that rests. Why is saved first, with the audit entry; then the user's worker does it, and the answer is
// how the order stands then. What the broker has not confirmed by then is taken back by the sweep.

import type { Db } from '../../data/engine/db.ts';
import { findOrder } from '../../data/orders/orders.ts';
import { endEntry, lookAtResting } from '../../data/orders/resting.ts';
import { type Denial, deny } from '../../domain/denial.ts';
import { isUuid, type OrderId, timestamp } from '../../domain/ids.ts';
import { isUnderWay, type Order } from '../../domain/orders/order.ts';
import { cancelledBy, openEntry, rests } from '../../domain/orders/resting.ts';
import { type OrderResult, orderResult } from '../../domain/orders/result.ts';
import type { Owner } from '../accounts/accounts.ts';
import { audit, writeAudit } from '../audit/audit.ts';
import { protectionFor } from '../protection/read-protections.ts';
import { lookAt, type VerifyDeps } from './verify-fills.ts';

interface CancelDeps extends Pick<VerifyDeps, 'clock' | 'pool' | 'mailbox' | 'changes'> {
  readonly db: Db;
  readonly responseWaitMs: number;
}

export async function cancelOrder(deps: CancelDeps, owner: Owner, id: string): Promise<Denial | OrderResult> {
  const { db, clock } = deps;
  const order = isUuid(id) ? await findOrder(db, id as OrderId) : null;
  // Another user's order does not exist for this one.
  if (order?.userId !== owner.id) return deny('not_found', { detail: 'You have no such order.' });
  if (!isThere(order)) {
    const denial = deny('not_resting');
    await writeAudit(deps, owner.context, { ...about(order), failure: denial });
    return denial;
  }
  await db.commit([
    endEntry(order.id, cancelledBy('its owner asked for it')),
    lookAtResting(order.accountId, timestamp(clock.now())),
    audit(owner.context, about(order), clock.now()),
  ]);
  await lookAt(
    { ...deps, visibilityMs: deps.responseWaitMs * 2 },
    { userId: order.userId, orderId: order.id },
  );
  const after = (await findOrder(db, order.id)) ?? order;
  deps.changes.ofOrder(after);
  return orderResult(after, after.wish ? await protectionFor(deps, after) : null);
}

/** At the broker, or, of one that waits for a price, perhaps there. */
const isThere = (order: Order): boolean =>
  !isUnderWay(order.status) && openEntry(order) !== undefined && (order.priced !== undefined || rests(order));

const about = (order: Order) => ({
  userId: order.userId,
  action: 'order_cancel',
  failure: null,
  resource: { type: 'order', id: order.id },
  metadata: { trading_account_id: order.accountId, symbol: order.symbol, simulation: order.simulation },
});
