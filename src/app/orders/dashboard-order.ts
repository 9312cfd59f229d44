// A manual order of a logged-in user. The same path as a signal's, with an optional Idempotency-Key instead of the
// replay fingerprint.

import type { Account } from '../../data/accounts/accounts.ts';
import type { User } from '../../data/identity/users.ts';
import { claimIdempotencyKey, type IdempotencyKey } from '../../data/orders/limits.ts';
import { findOrder } from '../../data/orders/orders.ts';
import { findTarget, type Target } from '../../data/orders/targets.ts';
import { type Decimal, ONE } from '../../domain/decimal.ts';
import { type Denial, deny, isDenial, ruleOf } from '../../domain/denial.ts';
import { type AccountId, timestamp } from '../../domain/ids.ts';
import { dayOf, isEntry } from '../../domain/orders/entitlement.ts';
import { type Action, NO_NOTES, type OrderIntent, type OrderType } from '../../domain/orders/order.ts';
import type { AskedPrice } from '../../domain/orders/priced.ts';
import { sizingOf } from '../../domain/orders/sizing.ts';
import { mapAction } from '../../domain/signals/mapping.ts';
import { readQuantityType, whyNoRisk } from '../../domain/signals/quantity-type.ts';
import { isAllowedSymbol } from '../../domain/signals/symbol.ts';
import { type Store, StoreUnavailable } from '../../store/store.ts';
import { audit, type RequestContext } from '../audit/audit.ts';
import { type Asking, filledIn, readAsked, unsupported, wishOf } from '../protection/wished.ts';
import {
  type Placed,
  type PlaceOrderDeps,
  placeOrder,
  recordRefusal,
  withProtection,
} from './place-order.ts';
import { kindRefusal, readPriced } from './priced.ts';

export interface DashboardOrder {
  readonly user: User;
  readonly accountId: AccountId;
  readonly action: Action;
  readonly orderType: OrderType | null;
  readonly symbol: string;
  readonly quantity: Decimal;
  readonly simulation: boolean;
  /** The body as validated: among them what is to protect the position. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly idempotency: IdempotencyKey | null;
  readonly arrivedAt: number;
  readonly context: RequestContext;
}

export interface DashboardDeps extends PlaceOrderDeps {
  readonly store: Pick<Store, 'ping'>;
}

/** Asked before anything is accepted, as level 4 of a webhook does: what nobody can be told of is not accepted. */
export async function isStoreAway({ store }: Pick<DashboardDeps, 'store'>): Promise<boolean> {
  try {
    await store.ping();
    return false;
  } catch (fault) {
    if (fault instanceof StoreUnavailable) return true;
    throw fault;
  }
}

const KEY_LIFE_MS = 24 * 3_600_000;

export async function placeDashboardOrder(
  deps: DashboardDeps,
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

async function checkAndPlace(deps: DashboardDeps, request: DashboardOrder): Promise<Denial | Placed> {
  const { user, idempotency } = request;
  const mapped = mapAction(request.action, request.orderType);
  if ('problem' in mapped) return deny('request_invalid', { detail: mapped.problem });
  const pricing = readPriced(request.fields, { ...mapped, action: request.action });
  if ('problem' in pricing) return deny('request_invalid', { detail: pricing.problem });
  const { intent, priced } = pricing;
  const asked = readAsked(request.fields, mapped);
  if ('problem' in asked) return deny('request_invalid', { detail: asked.problem });
  const { symbol, quantity } = request;
  const counts = readQuantityType(request.fields.quantity_type, { ...mapped, quantity });
  if ('problem' in counts) return deny('request_invalid', { detail: counts.problem });
  const quantityType = counts.type;
  const ignored = [...asked.ignored, ...pricing.ignored, ...(counts.isUsed ? [] : ['quantity_type'])];
  const asking = { intent, symbol, quantity, quantityType, protection: asked.protection, priced };
  const now = deps.clock.now();
  const notBefore = timestamp(now - KEY_LIFE_MS);

  const find = async (): Promise<Target | Denial> => {
    const key = idempotency && { key: idempotency.key, notBefore };
    const found = await findTarget(deps.db, request.accountId, { day: dayOf(now), key });
    if (found?.user.id !== user.id) return deny('not_found', { detail: 'You have no such trading account.' });
    return found.user.isActive ? found : deny('user_deactivated');
  };

  const target = await find();
  if (isDenial(target)) return target;
  // Before what the account allows by now: the first answer stands, whatever was set since.
  const earlier = idempotency && (await earlierAnswer(deps, target, idempotency));
  if (earlier) return earlier;
  const refusal = askedRefusal(target.account, asking);
  if (refusal) return refusal;
  if (await isStoreAway(deps)) return deny('store_unavailable');
  const { action, simulation, arrivedAt, context } = request;
  const outcome = await placeOrder(deps, {
    ...target,
    source: 'dashboard',
    simulation,
    action,
    ...mapped,
    intent,
    symbol,
    quantity,
    priced,
    sizing: sizingOf(quantityType, quantity, ONE),
    wish: wishOf(target.account, asking),
    notes: ignored.length > 0 ? { ...NO_NOTES, ignored } : NO_NOTES,
    isUncounted: action === 'protect' || action === 'cancel',
    arrivedAt,
    context,
    fingerprint: null,
    isTakenBack: true,
    async again() {
      const current = await find();
      if (isDenial(current)) return current;
      return askedRefusal(current.account, asking) ?? { ...current, wish: wishOf(current.account, asking) };
    },
    claims: (order) =>
      idempotency ? claimIdempotencyKey(user.id, idempotency, order, timestamp(now), notBefore) : [],
  });
  // Another request with this key was committed between our look and our unit.
  if ('contested' in outcome) return deny('idempotency_in_progress');
  return outcome;
}

type AskedOf = Asking & { readonly priced: AskedPrice | null };

/** Of what is asked for, whoever asks. `factor`: with which it is taken; a manual order as it is. */
export const askedRefusal = (account: Account, asking: AskedOf, factor = ONE): Denial | null =>
  symbolRefusal(account, asking) ??
  unsupported(account, asking, factor) ??
  kindRefusal(account, asking) ??
  riskRefusal(account, asking);

/** What is lost at a stop that nobody asks for cannot be counted. */
function riskRefusal(account: Account, { quantityType, protection, symbol }: Asking): Denial | null {
  const why = whyNoRisk(quantityType, () => filledIn(account, protection ?? {}, symbol));
  return why === null ? null : deny('request_invalid', { detail: why });
}

type Wished = { readonly symbol: string; readonly intent: OrderIntent };

/** What is taken off the list can still be left. */
function symbolRefusal({ brokerName, allowedSymbols }: Account, { symbol, intent }: Wished): Denial | null {
  if (!isEntry(intent) || isAllowedSymbol(brokerName, allowedSymbols, symbol)) return null;
  return deny('request_invalid', {
    detail: `The symbol ${symbol} is not in the account's allowed list.`,
    advice: 'Add it to the account’s allowed symbols, or order one of them.',
  });
}

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
  return withProtection({ db }, order, true);
}
