// A manual order of a logged-in user. The same path as a signal's, with an optional Idempotency-Key instead of the
// replay fingerprint.

import type { User } from '../../data/identity/users.ts';
import { claimIdempotencyKey, type IdempotencyKey } from '../../data/orders/limits.ts';
import { findOrder } from '../../data/orders/orders.ts';
import { findTarget, type Target } from '../../data/orders/targets.ts';
import type { Decimal } from '../../domain/decimal.ts';
import { type Denial, deny, isDenial, ruleOf } from '../../domain/denial.ts';
import { type AccountId, timestamp } from '../../domain/ids.ts';
import { dayOf } from '../../domain/orders/entitlement.ts';
import type { Action, OrderType } from '../../domain/orders/order.ts';
import { mapAction } from '../../domain/signals/signal.ts';
import { isAllowedSymbol } from '../../domain/signals/symbol.ts';
import { audit, type RequestContext } from '../audit/audit.ts';
import { type Placed, type PlaceOrderDeps, placeOrder, recordRefusal } from './place-order.ts';

export interface DashboardOrder {
  readonly user: User;
  readonly accountId: AccountId;
  readonly action: Action;
  readonly orderType: OrderType | null;
  readonly symbol: string;
  readonly quantity: Decimal;
  readonly simulation: boolean;
  readonly idempotency: IdempotencyKey | null;
  readonly arrivedAt: number;
  readonly context: RequestContext;
}

const KEY_LIFE_MS = 24 * 3_600_000;

export async function placeDashboardOrder(
  deps: PlaceOrderDeps,
  request: DashboardOrder,
): Promise<Denial | Placed> {
  const outcome = await checkAndPlace(deps, request);
  if (isDenial(outcome)) {
    const entry = audit(
      request.context,
      {
        userId: request.user.id,
        action: ruleOf(outcome.code).audit ?? 'dashboard_order',
        failure: outcome,
        resource: { type: 'account', id: request.accountId },
        metadata: { code: outcome.code, trading_account_id: request.accountId },
      },
      deps.clock.now(),
    );
    await recordRefusal(deps, outcome, [entry]);
  }
  return outcome;
}

async function checkAndPlace(deps: PlaceOrderDeps, request: DashboardOrder): Promise<Denial | Placed> {
  const { user, idempotency } = request;
  const mapped = mapAction(request.action, request.orderType);
  if ('problem' in mapped) return deny('request_invalid', { detail: mapped.problem });
  const now = deps.clock.now();
  const notBefore = timestamp(now - KEY_LIFE_MS);

  const check = async (): Promise<Target | Denial> => {
    const key = idempotency && { key: idempotency.key, notBefore };
    const target = await findTarget(deps.db, request.accountId, { day: dayOf(now), key });
    if (target?.user.id !== user.id)
      return deny('not_found', { detail: 'You have no such trading account.' });
    return refusalOf(request, target) ?? target;
  };

  const target = await check();
  if (isDenial(target)) return target;
  const earlier = idempotency && (await earlierAnswer(deps, target, idempotency));
  if (earlier) return earlier;
  const { action, symbol, quantity, simulation, arrivedAt, context } = request;
  const outcome = await placeOrder(deps, {
    ...target,
    source: 'dashboard',
    simulation,
    action,
    ...mapped,
    symbol,
    quantity,
    arrivedAt,
    context,
    fingerprint: null,
    again: check,
    claims: (order) =>
      idempotency ? claimIdempotencyKey(user.id, idempotency, order, timestamp(now), notBefore) : [],
  });
  // Another request with this key was committed between our look and our unit.
  if ('contested' in outcome) return deny('idempotency_in_progress');
  return outcome;
}

function refusalOf({ symbol }: DashboardOrder, { user, account }: Target): Denial | null {
  if (!user.isActive) return deny('user_deactivated');
  if (isAllowedSymbol(account.brokerName, account.allowedSymbols, symbol)) return null;
  return symbolNotAllowed(symbol);
}

export const symbolNotAllowed = (symbol: string): Denial =>
  deny('request_invalid', {
    detail: `The symbol ${symbol} is not in the account's allowed list.`,
    advice: 'Add it to the account’s allowed symbols, or order one of them.',
  });

/** The first answer of this key again, or why it cannot be given. */
async function earlierAnswer(
  { db }: PlaceOrderDeps,
  { earlier }: Target,
  { bodyHash }: IdempotencyKey,
): Promise<Denial | Placed | null> {
  if (!earlier) return null;
  if (earlier.bodyHash !== bodyHash) return deny('idempotency_conflict');
  const order = await findOrder(db, earlier.orderId);
  if (!order || order.status === 'queued' || order.status === 'executing')
    return deny('idempotency_in_progress');
  return { order, answered: true };
}
