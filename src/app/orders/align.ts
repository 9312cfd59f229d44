// On purpose: the position is moved to where the strategy stands, by its last word.

import type { Account } from '../../data/accounts/accounts.ts';
import type { User } from '../../data/identity/users.ts';
import { findStrategy, strategyStands } from '../../data/orders/strategies.ts';
import { findTarget, type Target } from '../../data/orders/targets.ts';
import { absolute, type Decimal } from '../../domain/decimal.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import { type AccountId, isUuid } from '../../domain/ids.ts';
import { dayOf } from '../../domain/orders/entitlement.ts';
import { NO_NOTES } from '../../domain/orders/order.ts';
import { planOrder } from '../../domain/orders/position.ts';
import { alignment, reduction } from '../../domain/signals/signal.ts';
import { positionOf } from '../../domain/signals/strategy.ts';
import { noSuchAccount } from '../accounts/accounts.ts';
import type { RequestContext } from '../audit/audit.ts';
import { type DashboardDeps, isStoreAway } from './dashboard-order.ts';
import { type Placed, type PlaceOrderDeps, placeOrder, refusalOf } from './place-order.ts';
import { positionFor } from './plan-order.ts';
import { keyOf } from './strategy.ts';

export interface Alignment {
  readonly user: User;
  readonly accountId: string;
  readonly symbol: string;
  readonly simulation: boolean;
  readonly arrivedAt: number;
  readonly context: RequestContext;
}

export async function alignPosition(deps: DashboardDeps, request: Alignment): Promise<Denial | Placed> {
  const { user, accountId, symbol, simulation, arrivedAt, context } = request;
  const find = async (): Promise<Target | Denial> => {
    const target = isUuid(accountId)
      ? await findTarget(deps.db, accountId as AccountId, { day: dayOf(arrivedAt) })
      : null;
    if (target?.user.id !== user.id) return noSuchAccount();
    return target.user.isActive ? target : deny('user_deactivated');
  };
  const target = await find();
  if (isDenial(target)) return target;
  const state = await findStrategy(deps.db, keyOf(target.account, symbol, simulation));
  const stance = state?.word.after ?? null;
  const position = stance && positionOf(stance);
  if (!state || !stance || position === null) return nothingSaid(target.account, symbol);
  const mapping = await mappingTo(deps, target, { symbol, simulation, position });
  if (isDenial(mapping)) return mapping;
  if (await isStoreAway(deps)) return deny('store_unavailable');
  const outcome = await placeOrder(deps, {
    ...target,
    source: 'dashboard',
    simulation,
    action: 'sync',
    ...mapping,
    symbol,
    quantity: absolute(position),
    notes: { ...NO_NOTES, marketPosition: stance.side },
    arrivedAt,
    context,
    fingerprint: null,
    isTakenBack: true,
    again: find,
    claims: () => [strategyStands(state)],
  });
  if (!('contested' in outcome)) return outcome;
  return deny('account_changed', {
    detail: 'The strategy has said something else in the meantime.',
    advice: 'Look again, and align if it is still needed.',
  });
}

/** Where an entry is refused, a halt above all, what is too much is closed all the same; the order can open nothing. */
async function mappingTo(
  deps: PlaceOrderDeps,
  target: Target,
  { position, ...of }: { readonly position: Decimal; readonly symbol: string; readonly simulation: boolean },
): Promise<ReturnType<typeof alignment> | Denial> {
  const whole = alignment(position);
  const refusal = refusalOf(deps, { ...target, intent: whole.intent, simulation: of.simulation });
  if (!refusal) return whole;
  const part = reduction(position);
  if (refusalOf(deps, { ...target, intent: part.intent, simulation: of.simulation })) return refusal;
  const held = await positionFor(deps, target.account, of);
  if (isDenial(held)) return held;
  if ('rejection' in held) return refusal;
  return planOrder(
    part.intent,
    absolute(position),
    [{ instrument: of.symbol, quantity: held.position }],
    of.symbol,
  ).legs.length > 0
    ? part
    : refusal;
}

const nothingSaid = ({ name }: Account, symbol: string): Denial =>
  deny('request_invalid', {
    detail: `No signal to ${name} has said where the strategy stands in ${symbol}.`,
    advice: 'Send market_position and market_position_size with every alert.',
  });
