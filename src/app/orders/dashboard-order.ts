// A manual order of a logged-in user. The same path as a signal's, with an optional Idempotency-Key instead of the
// replay fingerprint.

import { findAccount } from '../../data/accounts.ts';
import { claimIdempotencyKey, findIdempotencyKey, type IdempotencyKey } from '../../data/order-limits.ts';
import { findOrder } from '../../data/orders.ts';
import type { User } from '../../data/users.ts';
import type { Decimal } from '../../domain/decimal.ts';
import { type Denial, deny, isDenial, ruleOf } from '../../domain/denial.ts';
import { type AccountId, timestamp } from '../../domain/ids.ts';
import type { Action, OrderType } from '../../domain/order.ts';
import { mapAction } from '../../domain/signal.ts';
import { isAllowedSymbol } from '../../domain/symbol.ts';
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
        failure: outcome.detail,
        resource: { type: 'account', id: request.accountId },
        metadata: { code: outcome.code, trading_account_id: request.accountId },
      },
      deps.clock.now(),
    );
    await recordRefusal(deps, outcome, entry);
  }
  return outcome;
}

async function checkAndPlace(deps: PlaceOrderDeps, request: DashboardOrder): Promise<Denial | Placed> {
  const { user, idempotency, symbol } = request;
  const account = await findAccount(deps.db, request.accountId);
  if (account?.userId !== user.id) return deny('not_found', { detail: 'You have no such trading account.' });
  const mapped = mapAction(request.action, request.orderType);
  if ('problem' in mapped) return deny('request_invalid', { detail: mapped.problem });
  if (!isAllowedSymbol(account.brokerName, account.allowedSymbols, symbol))
    return deny('request_invalid', { detail: `The symbol ${symbol} is not in the account's allowed list.` });

  if (idempotency) {
    const earlier = await earlierAnswer(deps, request, idempotency);
    if (earlier) return earlier;
  }
  const { action, quantity, simulation, arrivedAt, context } = request;
  const now = deps.clock.now();
  const outcome = await placeOrder(deps, {
    user,
    account,
    source: 'dashboard',
    simulation,
    action,
    ...mapped,
    symbol,
    quantity,
    arrivedAt,
    context,
    fingerprint: null,
    claims: (order) =>
      idempotency
        ? claimIdempotencyKey(user.id, idempotency, order, timestamp(now), timestamp(now - KEY_LIFE_MS))
        : [],
  });
  // Another request with this key was committed between our look and our unit.
  if ('contested' in outcome) return deny('idempotency_in_progress');
  return outcome;
}

/** The first answer of this key again, or why it cannot be given. */
async function earlierAnswer(
  { db, clock }: PlaceOrderDeps,
  { user }: DashboardOrder,
  { key, bodyHash }: IdempotencyKey,
): Promise<Denial | Placed | null> {
  const earlier = await findIdempotencyKey(db, user.id, key, timestamp(clock.now() - KEY_LIFE_MS));
  if (!earlier) return null;
  if (earlier.bodyHash !== bodyHash) return deny('idempotency_conflict');
  const order = await findOrder(db, earlier.orderId);
  if (!order || order.status === 'queued' || order.status === 'executing')
    return deny('idempotency_in_progress');
  return { order, answered: true };
}
