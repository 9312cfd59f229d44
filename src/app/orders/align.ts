// On purpose: the position is moved to where the strategy stands, by its last word.

import type { Account } from '../../data/accounts.ts';
import { findStrategy, strategyStands } from '../../data/strategies.ts';
import { findTarget, type Target } from '../../data/targets.ts';
import type { User } from '../../data/users.ts';
import { absolute } from '../../domain/decimal.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import { dayOf } from '../../domain/entitlement.ts';
import { type AccountId, isUuid } from '../../domain/ids.ts';
import { NO_NOTES } from '../../domain/order.ts';
import { alignment } from '../../domain/signal.ts';
import { positionOf } from '../../domain/strategy.ts';
import { noSuchAccount } from '../accounts/accounts.ts';
import type { RequestContext } from '../audit/audit.ts';
import { type Placed, type PlaceOrderDeps, placeOrder } from './place-order.ts';
import { keyOf } from './strategy.ts';

export interface Alignment {
  readonly user: User;
  readonly accountId: string;
  readonly symbol: string;
  readonly simulation: boolean;
  readonly arrivedAt: number;
  readonly context: RequestContext;
}

export async function alignPosition(deps: PlaceOrderDeps, request: Alignment): Promise<Denial | Placed> {
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
  const outcome = await placeOrder(deps, {
    ...target,
    source: 'dashboard',
    simulation,
    action: 'sync',
    ...alignment(position),
    symbol,
    quantity: absolute(position),
    notes: { ...NO_NOTES, marketPosition: stance.side },
    arrivedAt,
    context,
    fingerprint: null,
    again: find,
    claims: () => [strategyStands(state)],
  });
  if (!('contested' in outcome)) return outcome;
  return deny('account_changed', {
    detail: 'The strategy has said something else in the meantime.',
    advice: 'Look again, and align if it is still needed.',
  });
}

const nothingSaid = ({ name }: Account, symbol: string): Denial =>
  deny('request_invalid', {
    detail: `No signal to ${name} has said where the strategy stands in ${symbol}.`,
    advice: 'Send market_position and market_position_size with every alert.',
  });
