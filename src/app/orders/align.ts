// On purpose: the position is moved to where the strategy stands, by its last word.

import type { Account } from '../../data/accounts/accounts.ts';
import type { User } from '../../data/identity/users.ts';
import { findStrategy, forgetStopped, strategyStands } from '../../data/orders/strategies.ts';
import { findTarget, type Target } from '../../data/orders/targets.ts';
import { absolute, type Decimal, ZERO } from '../../domain/decimal.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import { type AccountId, isUuid } from '../../domain/ids.ts';
import { dayOf } from '../../domain/orders/entitlement.ts';
import { NO_NOTES } from '../../domain/orders/order.ts';
import { planOrder } from '../../domain/orders/position.ts';
import { sizingOf } from '../../domain/orders/sizing.ts';
import { alignment, type Mapping, reduction } from '../../domain/signals/mapping.ts';
import { positionOf, scaledPosition } from '../../domain/signals/strategy.ts';
import { noSuchAccount } from '../accounts/accounts.ts';
import type { RequestContext } from '../audit/audit.ts';
import { wishOf } from '../protection/wished.ts';
import { type DashboardDeps, isStoreAway } from './dashboard-order.ts';
import { refusalOf } from './entitled.ts';
import { type Placed, type PlaceOrderDeps, placeOrder } from './place-order.ts';
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
  const said = stance && positionOf(stance);
  if (!state || !stance || said === null) return nothingSaid(target.account, symbol);
  const { scale } = state;
  const position = scaledPosition(said, scale);
  const mapping = await mappingTo(deps, target, { symbol, simulation, position });
  if (isDenial(mapping)) return mapping;
  const wishFor = (account: Account) => wishOf(account, { intent: mapping.intent, symbol, protection: null });
  if (await isStoreAway(deps)) return deny('store_unavailable');
  const outcome = await placeOrder(deps, {
    ...target,
    source: 'dashboard',
    simulation,
    action: 'sync',
    ...mapping,
    symbol,
    quantity: absolute(said),
    sizing: said === ZERO ? null : sizingOf('units', absolute(said), scale.factor),
    notes: { ...NO_NOTES, marketPosition: stance.side },
    wish: wishFor(target.account),
    arrivedAt,
    context,
    fingerprint: null,
    // What lifts "stopped out" stands with that: taken back, it would have let the strategy in again, and told nobody.
    isTakenBack: state.stopped === null,
    async again() {
      const current = await find();
      return isDenial(current) ? current : { ...current, wish: wishFor(current.account) };
    },
    claims: () => [state.stopped === null ? strategyStands(state) : forgetStopped(state)],
  });
  if (!('contested' in outcome)) return outcome;
  return deny('account_changed', {
    detail: 'The strategy has said something else in the meantime.',
    advice: 'Look again, and align if it is still needed.',
  });
}

interface Whither {
  readonly position: Decimal;
  readonly symbol: string;
  readonly simulation: boolean;
  /** Outside the daily limit. */
  readonly isUncounted?: boolean;
}

/** Where what is held cannot be read now, an order that can only close is accepted all the same, and waits as every exit does. */
async function mappingTo(deps: PlaceOrderDeps, target: Target, whither: Whither): Promise<Mapping | Denial> {
  const { position, simulation } = whither;
  const held = await positionFor(deps, target.account, whither);
  if ('position' in held) return towards(deps, target, { ...whither, held: held.position });
  const whole = alignment(position);
  const refusal = refusalOf(deps, { ...target, intent: whole.intent, simulation });
  if (!refusal) return whole;
  return 'rejection' in held ? refusal : reduction(position);
}

/**
 * What only closes is an exit, with an exit's deadline and patience, and whatever holds back entries does not hold it back. Where
 * an entry is refused, a halt above all, what is too much is closed all the same, and nothing is opened.
 */
export function towards(
  deps: PlaceOrderDeps,
  target: Target,
  { position, symbol, held, ...of }: Whither & { readonly held: Decimal },
): Mapping | Denial {
  const [whole, part] = [alignment(position), reduction(position)];
  const legsOf = ({ intent }: Mapping) =>
    planOrder(intent, absolute(position), [{ instrument: symbol, quantity: held }], symbol).legs;
  const closes = legsOf(part).length > 0;
  if (closes && legsOf(whole).every(({ leg }) => leg === 'exit')) return part;
  const refusal = refusalOf(deps, { ...target, ...of, intent: whole.intent });
  return refusal && closes ? part : (refusal ?? whole);
}

const nothingSaid = ({ name }: Account, symbol: string): Denial =>
  deny('request_invalid', {
    detail: `No signal to ${name} has said where the strategy stands in ${symbol}.`,
    advice: 'Send market_position and market_position_size with every alert.',
  });
