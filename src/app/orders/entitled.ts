// What may hold an order back, of who asks for it: halt, plan, terms, credentials and the daily limit.

import type { Account } from '../../data/accounts/accounts.ts';
import type { User } from '../../data/identity/users.ts';
import type { Limits } from '../../data/orders/targets.ts';
import type { Denial } from '../../domain/denial.ts';
import { millis } from '../../domain/ids.ts';
import {
  effectivePlan,
  entitlements,
  type Plan,
  type Plans,
  type Standing,
  secondsLeftOfDay,
} from '../../domain/orders/entitlement.ts';
import type { OrderIntent } from '../../domain/orders/order.ts';

/** Whose order it is, as it was read. */
export interface Placing {
  readonly user: User;
  readonly account: Account;
  /** What holds it back; null: nothing does, and it is not counted. The kill switch's own closes are such. */
  readonly limits: Limits | null;
}

/** As far as it decides who may. */
interface Wished extends Placing {
  readonly intent: OrderIntent;
  readonly simulation: boolean;
  /** Outside the daily limit. */
  readonly isUncounted?: boolean;
}

/** Of halt, plan, terms, credentials and daily limit the first; null: none. */
export const refusalOf = (...of: Parameters<typeof refusalsOf>): Denial | null =>
  refusalsOf(...of)[0] ?? null;

export function refusalsOf(
  { plans, clock }: { readonly plans: Plans; readonly clock: { now(): number } },
  request: Wished,
): Denial[] {
  const { user, limits } = request;
  const now = clock.now();
  return limits ? entitlements(standingOf(request, limits, planOf(plans, user, now), now)) : [];
}

function standingOf(request: Wished, limits: Limits, plan: Plan, now: number): Standing {
  const { user, account, intent, simulation, isUncounted = false } = request;
  const { termsVersion, hadPlan, ordersToday } = limits;
  const areAccepted = termsVersion === null || user.termsVersion === termsVersion;
  return {
    intent,
    simulation,
    plan,
    hadPlan,
    halted: account.halted,
    terms: areAccepted ? 'accepted' : user.termsVersion === null ? 'never_accepted' : 'outdated',
    credentials: account.credentialsVerified
      ? 'verified'
      : account.credentialsRefused
        ? 'refused'
        : 'never_verified',
    ordersToday: simulation ? ordersToday.simulated : ordersToday.real,
    isUncounted,
    secondsLeftToday: secondsLeftOfDay(now),
  };
}

export function planOf(plans: Plans, user: User, now: number): Plan {
  const planExpiresAt = user.planExpiresAt === null ? null : millis(user.planExpiresAt);
  return plans[effectivePlan(plans, { plan: user.plan, planExpiresAt }, now)] ?? plans.free;
}
