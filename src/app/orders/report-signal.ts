// A `sync`, for one account or for those of a group: each says where it stands, those that follow their strategy are moved together,
// and all of it is recorded together.

import type { Statement } from '../../data/engine/db.ts';
import { findStrategy } from '../../data/orders/strategies.ts';
import { type Decimal, toNumberOrNull } from '../../domain/decimal.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import type { Group } from '../../domain/groups.ts';
import type { AccountId, UserId } from '../../domain/ids.ts';
import { isEntry } from '../../domain/orders/entitlement.ts';
import type { Order } from '../../domain/orders/order.ts';
import { closesFirst } from '../../domain/orders/position.ts';
import { type Mapping, reduction } from '../../domain/signals/mapping.ts';
import { audit, type RequestContext } from '../audit/audit.ts';
import type { Addressed } from './door.ts';
import { type Ended, type MemberOutcome, refusedEntries } from './group-signal.ts';
import type { Heard, Hearing } from './hear-word.ts';
import type { Contested, Placed, PlaceOrderDeps } from './place-order.ts';
import { type Follows, hearReport, reportStrategy, type Synced } from './sync.ts';

/** An account that is asked, what it has heard, and, of a report, what it does to follow. */
export interface Asked {
  readonly each: Addressed;
  readonly heard: Heard;
  readonly as?: Mapping;
}

/** What is asked of whom, decided again where something has changed; and what is committed with it besides. */
export interface Errand {
  ask(members: readonly Addressed[], group: Group | null): Promise<readonly Asked[]>;
  claims(ends: readonly Ended[]): readonly Statement[];
}

export interface Reporting {
  readonly userId: UserId;
  readonly group: Group | null;
  readonly members: readonly Addressed[];
  /** As it was sent. */
  readonly symbol: string;
  readonly simulation: boolean;
  readonly context: RequestContext;
  hearingOf(each: Addressed): readonly Hearing[];
  /** Called once all have heard it, before any broker is asked. */
  onHeard(): void;
  place(errand: Errand): Promise<Denial | Contested | readonly (Placed | Denial)[]>;
  /** Of the signal as it arrived. */
  arrival(ends: readonly Ended[]): readonly Statement[];
  /** Of a group that is moved: that it is still what it was, and its entry. */
  groupMoved(ends: readonly Ended[]): readonly Statement[];
}

/** A strategy that speaks faster than this is not worth a longer wait. */
const MOST_TRIES = 4;

interface Follower extends Follows {
  readonly accountId: AccountId;
  readonly symbol: string;
  readonly factor: Hearing['factor'];
  readonly held: Decimal;
}

interface Followed {
  readonly orders: readonly Order[];
  /** Whose order may have been accepted, and nobody knows. */
  readonly inDoubt: ReadonlyMap<AccountId, Denial>;
}

const NOBODY: Followed = { orders: [], inDoubt: new Map() };

export const isInDoubt = ({ code }: Denial): boolean => code === 'outcome_unknown';

export async function reportSignal(
  deps: PlaceOrderDeps,
  reporting: Reporting,
): Promise<readonly (MemberOutcome & { readonly became: Synced | Denial })[]> {
  const { userId, group, members, simulation, context } = reporting;
  const heardBy = await Promise.all(
    members.map(async (each) => {
      const { target } = each.to;
      const [hearing] = reporting.hearingOf(each);
      if (each.refused || !hearing)
        return { target, by: each.refused?.denial ?? deny('webhook_payload_invalid') };
      const heard = await hearReport(deps, target, hearing);
      return { target, by: isDenial(heard) ? heard : { hearing, heard } };
    }),
  );
  reporting.onHeard();
  const found = await Promise.all(
    heardBy.map(async ({ target, by }) => {
      const { account } = target;
      if (isDenial(by)) return { accountId: account.id, report: by };
      const { hearing, heard } = by;
      const report = await reportStrategy(deps, target, hearing, heard);
      if (isDenial(report) || !report.follows) return { accountId: account.id, report };
      const { factor, signal } = hearing;
      const held = report.synced.brokerPosition;
      const follower = { ...report.follows, accountId: account.id, factor, symbol: signal.symbol, held };
      return { accountId: account.id, report, follower };
    }),
  );
  const { orders: moved, inDoubt } = await follow(found.flatMap(({ follower }) => follower ?? []));
  const ends = endsWith(moved, inDoubt);
  const isTaken = ends.some(({ became }) => !isDenial(became));
  // What may stand, with its orders, is not recorded a second time.
  if (isTaken && moved.length === 0 && inDoubt.size === 0)
    await deps.db.commit([...reporting.arrival(kept(ends)), ...entriesOf(ends)]);
  return ends;

  /** What is refused, halted or overtaken is not aligned, and holds back nobody else; the reports stand. */
  async function follow(asked: readonly Follower[]): Promise<Followed> {
    let left = asked;
    let placing: readonly Asked[] = [];
    const ask = async (now: readonly Addressed[], at: Group | null) => {
      placing = askedOf(left, now, at);
      return placing;
    };
    for (let tries = 1; left.length > 0 && tries <= MOST_TRIES; tries++) {
      const outcome = await reporting.place({ ask, claims });
      if ('length' in outcome)
        return {
          orders: outcome.flatMap((each) => ('order' in each ? [each.order] : [])),
          inDoubt: new Map(
            outcome.flatMap((each, index) => {
              const account = placing[index]?.each.to.target.account;
              return account && isDenial(each) && isInDoubt(each) ? [[account.id, each] as const] : [];
            }),
          ),
        };
      if (!('contested' in outcome) || outcome.contested !== 'strategy') return NOBODY;
      left = await notOvertaken(left);
    }
    return NOBODY;
  }

  /** Whose strategy has said nothing else since it was read. */
  async function notOvertaken(asked: readonly Follower[]): Promise<readonly Follower[]> {
    const versions = await Promise.all(asked.map(({ state }) => findStrategy(deps.db, state.key)));
    return asked.filter(({ state }, index) => versions[index]?.version === state.version);
  }

  /** In one unit with the orders: what became of it at each, moved or not. */
  function claims(asked: readonly Ended[]): readonly Statement[] {
    const orders = asked.flatMap(({ became }) =>
      typeof became === 'object' && !isDenial(became) ? [became] : [],
    );
    const all = endsWith(orders);
    return [...reporting.arrival(kept(all)), ...entriesOf(all), ...reporting.groupMoved(kept(all))];
  }

  function endsWith(orders: readonly Order[], inDoubt = NOBODY.inDoubt) {
    const byAccount = new Map(orders.map((order) => [order.accountId, order]));
    return found.map(({ accountId, report }) => ({
      accountId,
      became: isDenial(report)
        ? report
        : (inDoubt.get(accountId) ?? { ...report.synced, order: byAccount.get(accountId) ?? null }),
    }));
  }

  /** One that became an order has that order's entry. */
  function entriesOf(all: ReturnType<typeof endsWith>): readonly Statement[] {
    const by = { userId, context, now: deps.clock.now() };
    return [
      ...(group ? refusedEntries(group, kept(all), by) : []),
      ...all.flatMap(({ accountId, became }) =>
        isDenial(became) || became.order ? [] : [reported(accountId, became)],
      ),
    ];
  }

  function reported(accountId: AccountId, synced: Synced): Statement {
    const { inSync, strategyPosition, brokerPosition, gap } = synced;
    return audit(
      context,
      {
        userId,
        action: 'webhook_order',
        failure: null,
        resource: { type: 'account', id: accountId },
        metadata: {
          trading_account_id: accountId,
          ...(group ? { group_id: group.id } : {}),
          simulation,
          sync: true,
          symbol: reporting.symbol,
          in_sync: inSync,
          strategy_position: toNumberOrNull(strategyPosition),
          broker_position: toNumberOrNull(brokerPosition),
          gap,
        },
      },
      deps.clock.now(),
    );
  }
}

/** As they are now; not one that would take another symbol, or another size, than it was read for. */
function askedOf(
  followers: readonly Follower[],
  members: readonly Addressed[],
  group: Group | null,
): readonly Asked[] {
  return members.flatMap((each) => {
    const own = followers.find(({ accountId }) => accountId === each.to.target.account.id);
    const isSame = own && own.factor === each.to.factor && own.symbol === each.signal?.symbol;
    const as = isSame ? moveOf(own, group) : null;
    return own && as ? [{ each, heard: own.heard, as }] : [];
  });
}

/** A group that is disabled opens nothing; what contradicts the strategy is closed all the same. null: nothing is to be done. */
function moveOf({ as, held }: Follower, group: Group | null): Mapping | null {
  const { target } = as.intent;
  if (group?.enabled !== false || !isEntry(as.intent) || !target) return as;
  return closesFirst(as.intent, held) ? reduction(target.position) : null;
}

/** As it is kept of each: an order, a report that moved nothing, or a refusal. */
const kept = (
  ends: readonly { readonly accountId: AccountId; readonly became: Synced | Denial }[],
): Ended[] =>
  ends.map(({ accountId, became }) => ({
    accountId,
    became: isDenial(became) ? became : (became.order ?? 'sync'),
  }));
