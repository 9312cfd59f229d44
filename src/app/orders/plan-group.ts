// What an order would do on one account, or, sent to a group, on each of its members: with their factors and their own symbols, as the
// group's webhook would take it. Nothing is sent.

import { findGroupTarget } from '../../data/orders/targets.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import { symbolFor } from '../../domain/groups.ts';
import { type AccountId, type GroupId, isUuid } from '../../domain/ids.ts';
import { dayOf, isEntry } from '../../domain/orders/entitlement.ts';
import { withoutOpening } from '../../domain/orders/other-legs.ts';
import type { AskDeps } from '../accounts/account-broker.ts';
import { askedRefusal } from './dashboard-order.ts';
import { groupDoor } from './door.ts';
import { refusalOf } from './entitled.ts';
import type { PlaceOrderDeps } from './place-order.ts';
import { type OrderPlan, type PlanRequest, planDashboardOrder, planFor, readPlanned } from './plan-order.ts';

interface PlannedMember {
  readonly trading_account_id: AccountId;
  readonly plan: OrderPlan | null;
  /** Why it would be refused. */
  readonly error: { readonly code: string; readonly detail: string; readonly advice: string } | null;
}

/** Of a group: the plan of the first member that has one. */
export interface PlannedOrder extends OrderPlan {
  /** null: it is for one account. */
  readonly members: readonly PlannedMember[] | null;
}

type PlanDeps = AskDeps & Pick<PlaceOrderDeps, 'clock' | 'db' | 'plans'>;

export async function planAsked(deps: PlanDeps, request: PlanRequest): Promise<PlannedOrder | Denial> {
  const { accountId, groupId } = request;
  if (groupId !== undefined && accountId === undefined) return planForGroup(deps, { ...request, groupId });
  if (accountId === undefined || groupId !== undefined)
    return deny('request_invalid', { detail: 'Name trading_account_id or group_id, and one of them alone.' });
  const plan = await planDashboardOrder(deps, { ...request, accountId });
  return isDenial(plan) ? plan : { ...plan, members: null };
}

async function planForGroup(
  deps: PlanDeps,
  request: PlanRequest & { readonly groupId: string },
): Promise<PlannedOrder | Denial> {
  const asking = readPlanned(request);
  if (isDenial(asking)) return asking;
  const { userId, groupId } = request;
  const day = dayOf(deps.clock.now());
  const target = isUuid(groupId) ? await findGroupTarget(deps.db, groupId as GroupId, day) : null;
  if (target?.user.id !== userId) return deny('group_not_found');
  const { isOff, members } = { isOff: !target.group.enabled, ...groupDoor(target) };
  const planned = await Promise.all(
    members.map(async ({ target: member, factor, symbols }) => {
      const { account } = member;
      const symbol = symbolFor(account.brokerName, symbols, asking.symbol);
      const intent = isOff ? withoutOpening(asking.intent) : asking.intent;
      const own = { ...asking, symbol, intent };
      const refusal =
        (isOff && isEntry(asking.intent) ? deny('group_disabled') : null) ??
        askedRefusal(account, own, factor) ??
        refusalOf(deps, { ...member, intent, simulation: asking.simulation });
      const plan = refusal ?? (await planFor(deps, account, { source: 'webhook', ...own, factor }));
      return { accountId: account.id, plan };
    }),
  );
  // It says nothing of the order.
  const limited = planned.find(({ plan }) => isDenial(plan) && plan.code === 'rate_limited')?.plan;
  if (limited && isDenial(limited)) return limited;
  const shown = planned.map(({ accountId, plan }): PlannedMember => {
    const trading_account_id = accountId;
    if (!isDenial(plan)) return { trading_account_id, plan, error: null };
    const { code, detail, advice } = plan;
    return { trading_account_id, plan: null, error: { code, detail, advice } };
  });
  const first = shown.find(({ plan }) => plan)?.plan ?? NOBODY;
  return { ...first, members: shown };
}

const NOBODY: OrderPlan = {
  legs: [],
  text: 'No member of the group would take it.',
  protection: [],
  sizing: null,
  rests: null,
  guards: [],
  error: null,
};
