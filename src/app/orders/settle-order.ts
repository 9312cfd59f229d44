// The owner of an order says what became of it, where the broker could not tell. Nothing is asked or changed there. Whoever saves the order
// first decides: its version is compared, and who lost that reads it again.

import type { Db } from '../../data/engine/db.ts';
import { endCheck, findOpenCheck } from '../../data/orders/fill-checks.ts';
import { findOrder, saveOrder } from '../../data/orders/orders.ts';
import { knownOf } from '../../data/orders/protections.ts';
import { toNumber } from '../../domain/decimal.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import { isUuid, type OrderId, timestamp } from '../../domain/ids.ts';
import { type Order, openLeg } from '../../domain/orders/order.ts';
import type { OrderRecord } from '../../domain/orders/result.ts';
import { isSettleable, type Settlement, settle } from '../../domain/orders/settle.ts';
import type { Owner } from '../accounts/accounts.ts';
import { audit, writeAudit } from '../audit/audit.ts';
import type { Afterwards } from '../background.ts';
import { readOrder } from './read-orders.ts';
import { noteEnd } from './strategy.ts';
import { tellEnd } from './tell-end.ts';
import { heldNow, type VerifyDeps } from './verify-fills.ts';

export interface SettleDeps
  extends Pick<VerifyDeps, 'clock' | 'pool' | 'mailbox' | 'visibilityMs' | 'changes' | 'log' | 'counters'> {
  readonly db: Db;
  readonly later: Pick<Afterwards, 'begin'>;
}

/** Looks that are under way may save the order meanwhile, one after the other. */
const MOST_TRIES = 5;

export async function settleOrder(
  deps: SettleDeps,
  owner: Owner,
  id: string,
  settlement: Settlement,
): Promise<Denial | OrderRecord> {
  for (let tries = 1; ; tries++) {
    const order = isUuid(id) ? await findOrder(deps.db, id as OrderId) : null;
    // Another user's order does not exist for this one.
    if (order?.userId !== owner.id) return deny('not_found', { detail: 'You have no such order.' });
    const after = await settled(deps, order, settlement);
    if (isDenial(after)) {
      const event = about(order, settlement);
      const metadata = { ...event.metadata, code: after.code };
      await writeAudit(deps, owner.context, { ...event, failure: after, metadata });
      return after;
    }
    const lost = await deps.db.commit([
      ...saveOrder(after),
      ...knownOf(after),
      // A leg of it that is still open is followed on.
      ...(openLeg(after) ? [] : [endCheck(order.id, timestamp(deps.clock.now()))]),
      audit(owner.context, about(after, settlement), deps.clock.now()),
    ]);
    if (lost !== null && tries < MOST_TRIES) continue;
    if (lost !== null) return deny('not_settleable');
    deps.changes.ofOrder(after);
    if (after.status !== order.status) tellEnd(deps, after);
    deps.later.begin(() => noteEnd(deps, after, heldNow(deps)));
    return readOrder(deps, owner.id, order.id);
  }
}

async function settled(
  { db, clock }: SettleDeps,
  order: Order,
  settlement: Settlement,
): Promise<Denial | Order> {
  const check = await findOpenCheck(db, order.id);
  if (!isSettleable(order, { isDeadLetter: check?.state === 'dead_letter' }, clock.now()))
    return deny('not_settleable');
  const after = settle(order, settlement, clock.now());
  return 'problem' in after ? deny('request_invalid', { detail: after.problem }) : after;
}

/** `order`: as it is afterwards, or as it stays. */
const about = (order: Order, settlement: Settlement) => ({
  userId: order.userId,
  action: 'order_settled',
  failure: null,
  resource: { type: 'order', id: order.id },
  metadata: {
    trading_account_id: order.accountId,
    symbol: order.symbol,
    simulation: order.simulation,
    status: order.status,
    outcome: settlement.outcome,
    ...(settlement.outcome === 'filled'
      ? { price: toNumber(settlement.price), quantity: toNumber(settlement.quantity) }
      : {}),
  },
});
