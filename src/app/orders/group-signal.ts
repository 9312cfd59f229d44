// What is kept and answered of a signal that is for a group: its arrival, once for all members, and what became of it at each.

import { groupStands } from '../../data/accounts/groups.ts';
import type { Db, Statement } from '../../data/engine/db.ts';
import { acceptedBefore, ordersByIds } from '../../data/orders/orders.ts';
import {
  groupTookBefore,
  insertGroupSignal,
  insertSignal,
  type SignalMember,
} from '../../data/orders/signals.ts';
import { type Denial, type DenialCode, deny, isDenial, ruleOf, toldOf } from '../../domain/denial.ts';
import { DENIALS } from '../../domain/denials.ts';
import type { Group } from '../../domain/groups.ts';
import type { AccountId, GroupId, OrderId } from '../../domain/ids.ts';
import type { Order } from '../../domain/orders/order.ts';
import { type AuditEvent, audit, type RequestContext, storable } from '../audit/audit.ts';
import { arrivedSignal, type Findings } from './arrived-signal.ts';
import type { Door } from './door.ts';
import { becameBefore } from './judge-message.ts';
import type { Placed } from './place-order.ts';
import type { Synced } from './sync.ts';

/** What became of a signal at one member of its group. */
export interface MemberOutcome {
  readonly accountId: AccountId;
  readonly became: Placed | Synced | Denial;
}

export interface GroupOutcome {
  readonly groupId: GroupId;
  readonly members: readonly MemberOutcome[];
  /** Nobody took it; see `denialOf`. */
  readonly denial: Denial | null;
}

export const groupOutcome = (groupId: GroupId, members: readonly MemberOutcome[]): GroupOutcome => ({
  groupId,
  members,
  denial: denialOf(members.map(({ became }) => became)),
});

/**
 * Nobody took it: why the first did not. Before that what is no fault of the signal's, whoever it met: its sender sends it again, and
 * then it may be taken.
 */
export function denialOf(outcome: Denial | readonly (Placed | Synced | Denial)[]): Denial | null {
  if ('code' in outcome) return outcome;
  const denials = outcome.filter((each) => isDenial(each));
  if (denials.length < outcome.length) return null;
  return denials.find(({ code }) => ruleOf(code).status >= 500) ?? denials[0] ?? null;
}

/** An order, a report that moved nothing, or a refusal. */
type Became = Order | 'sync' | Denial;

export interface Ended {
  /** null: of the webhook as a whole, before any account was asked. */
  readonly accountId: AccountId | null;
  readonly became: Became;
}

const orderIdOf = (became: Became | undefined): OrderId | null =>
  typeof became === 'object' && !isDenial(became) ? became.id : null;

const toMember = ({ accountId, became }: Ended): SignalMember[] => {
  if (accountId === null) return [];
  const denial = typeof became === 'object' && isDenial(became) ? became : null;
  const detail = denial && storable(toldOf(denial), 1024);
  return [{ accountId, orderId: orderIdOf(became), code: denial?.code ?? null, detail }];
};

type ArrivalDeps = Parameters<typeof arrivedSignal>[0];
type Arrival = Parameters<typeof arrivedSignal>[1];

/** Of an account's own webhook its one end; of a group's one row for all, which a real signal has once. */
export function arrivalOf(
  deps: ArrivalDeps,
  request: Arrival,
  findings: Findings,
  { ends, fingerprint }: { readonly ends: readonly Ended[]; readonly fingerprint: string | null },
): Statement[] {
  const groupId = findings.whose?.groupId ?? null;
  const taken = ends.map(({ became }) => orderIdOf(became)).find((id) => id !== null);
  const end = taken ?? endOf(ends);
  const kept = arrivedSignal(deps, request, findings, end);
  if (!kept) return [];
  if (groupId === null) return [insertSignal(kept)];
  return insertGroupSignal(kept, { groupId, fingerprint, members: ends.flatMap(toMember) });
}

/** Of one that gave no order. */
const endOf = (ends: readonly Ended[]): 'sync' | Denial => {
  const [first] = ends;
  if (!first || ends.some(({ became }) => became === 'sync')) return 'sync';
  return first.became as Denial;
};

/** Of a refusal that is nobody's in particular: the group's own, or the account's. */
export const refusalOfAll = (denial: Denial, outcome: Denial | GroupOutcome): readonly Ended[] =>
  isDenial(outcome)
    ? [{ accountId: null, became: denial }]
    : outcome.members.map(({ accountId, became }) => ({
        accountId,
        became: isDenial(became) ? became : denial,
      }));

interface By {
  readonly userId: Group['userId'];
  readonly context: RequestContext;
  readonly now: number;
}

/** What is committed with a group's orders besides: that it is still what it was, and one entry for all of them. */
export function groupClaims(group: Group, ends: readonly Ended[], { userId, context, now }: By): Statement[] {
  const refused = ends.filter(isRefused).length;
  return [
    groupStands(group),
    audit(
      context,
      {
        userId,
        action: 'group_order',
        failure: null,
        resource: { type: 'group', id: group.id },
        metadata: {
          group_id: group.id,
          accepted: ends.length - refused,
          refused,
          orders: ends.flatMap(({ became }) => orderIdOf(became) ?? []),
        },
      },
      now,
    ),
  ];
}

const isRefused = (end: Ended): end is Ended & { readonly became: Denial } =>
  typeof end.became === 'object' && isDenial(end.became);

/** For each member that was refused while others were not. */
export const refusedEntries = (
  group: Group,
  ends: readonly Ended[],
  { userId, context, now }: By,
): Statement[] =>
  ends.filter(isRefused).map(({ accountId, became }) => {
    const event: AuditEvent = {
      userId,
      action: ruleOf(became.code).audit ?? 'webhook_order',
      failure: became,
      resource: { type: 'account', id: accountId ?? '' },
      metadata: { code: became.code, trading_account_id: accountId, group_id: group.id },
    };
    return audit(context, event, now);
  });

/** A real signal that was taken before. */
export type FirstTime =
  | { readonly order: NonNullable<Awaited<ReturnType<typeof acceptedBefore>>> }
  | { readonly taken: NonNullable<Awaited<ReturnType<typeof groupTookBefore>>> };

export async function firstTime(db: Db, { group, members }: Door, print: string): Promise<FirstTime | null> {
  if (group) {
    const taken = await groupTookBefore(db, group.id, print);
    return taken && { taken };
  }
  const [own] = members;
  const order = own ? await acceptedBefore(db, own.target.account.id, print) : null;
  return order && { order };
}

/** A repeat trades nowhere twice. Of a group's, with the orders that it became, as they are now. */
export async function replayOf(
  db: Db,
  group: Group | null,
  before: FirstTime | null,
): Promise<Denial | GroupOutcome> {
  if (before && 'order' in before)
    return deny('webhook_replay_attack', { detail: becameBefore(before.order) });
  if (!group) return deny('webhook_replay_attack');
  if (!before) return { groupId: group.id, members: [], denial: deny('webhook_replay_attack') };
  const { arrivedAt, members } = before.taken;
  const ids = members.flatMap(({ orderId }) => orderId ?? []);
  const orders = new Map((await ordersByIds(db, ids).catch(() => [])).map((order) => [order.id, order]));
  return {
    groupId: group.id,
    denial: deny('webhook_replay_attack', {
      detail: `It came before, at ${arrivedAt}, and became ${ids.length} orders of the group: ${ids.join(', ')}. The same signal is executed once.`,
    }),
    members: members.flatMap(({ accountId, orderId, code, detail }): MemberOutcome[] => {
      const order = orderId && orders.get(orderId);
      if (order) return [{ accountId, became: { order, answered: true } }];
      return code !== null && isCode(code)
        ? [{ accountId, became: deny(code, detail === null ? {} : { detail }) }]
        : [];
    }),
  };
}

const isCode = (code: string): code is DenialCode => Object.hasOwn(DENIALS, code);
