// What is committed where orders are accepted: that their accounts are what they were checked against, the orders, what they use up of
// the day, what they claim besides, and their audit entries. For several accounts at once most of it is one statement for all.

import { accountsStand } from '../../data/accounts/account-stands.ts';
import { inOne, type Statement } from '../../data/engine/db.ts';
import { countOrders } from '../../data/orders/limits.ts';
import { insertOrder } from '../../data/orders/orders.ts';
import type { Decimal } from '../../domain/decimal.ts';
import type { GroupId, OrderId } from '../../domain/ids.ts';
import { isEntry, type Plans } from '../../domain/orders/entitlement.ts';
import type {
  Action,
  Order,
  OrderIntent,
  OrderType,
  SignalNotes,
  Source,
} from '../../domain/orders/order.ts';
import type { AskedPrice } from '../../domain/orders/priced.ts';
import type { Sizing } from '../../domain/orders/sizing.ts';
import type { OrderWish } from '../../domain/protection/wish.ts';
import { audit, type RequestContext } from '../audit/audit.ts';
import { type Placing, planOf } from './entitled.ts';

export interface NewOrder extends Placing {
  readonly source: Source;
  readonly simulation: boolean;
  readonly action: Action;
  readonly orderType: OrderType | null;
  readonly intent: OrderIntent;
  readonly symbol: string;
  readonly quantity: Decimal;
  /** Where that counts something else than units. */
  readonly sizing?: Sizing | null;
  /** What its entry waits for; without it, it is at the market. */
  readonly priced?: AskedPrice | null;
  readonly notes?: SignalNotes;
  /** What is to protect what it opens, or what is held. */
  readonly wish?: OrderWish | undefined;
  /** Whose signal it came from. */
  readonly groupId?: GroupId | undefined;
  /** A rehearsal of whoever knows the URL: it is kept, and nobody is told of it. */
  readonly isUnproven?: boolean;
  /** Outside the daily limit: not refused for it, and none of what it allows is used up. */
  readonly isUncounted?: boolean;
  readonly arrivedAt: number;
  readonly context: RequestContext;
  /** Of a real webhook order. */
  readonly fingerprint: string | null;
  /**
   * Where it cannot be queued it is taken back, and refused. Otherwise it stands, and is executed once it is found: a fingerprint
   * that was taken stays taken, and the kill switch's closes are to be made, however late.
   */
  readonly isTakenBack?: boolean;
  /** What the order claims besides, each guarded by its own name. */
  claims(order: OrderId): readonly Statement[];
}

export interface Accepted {
  readonly asked: NewOrder;
  readonly order: Order;
}

interface UnitDeps {
  readonly plans: Plans;
  readonly clock: { now(): number };
}

/** In this order for everybody: who waits for somebody's row holds none that the other one waits for. */
export function acceptingUnit(deps: UnitDeps, accepted: readonly Accepted[]): readonly Statement[] {
  const each = inOneOrder(accepted);
  const now = deps.clock.now();
  return [
    accountsStand(each.map(({ asked }) => asked.account)),
    inOne(each.map(({ asked, order }) => insertOrder(order, asked.fingerprint))),
    ...counted(deps, each),
    ...together(each.flatMap(({ asked, order }) => asked.claims(order.id))),
    inOne(each.map((one) => audited(one, now))),
  ];
}

/** What each of them claims by the same insert is one for all. */
const together = (claims: readonly Statement[]): readonly Statement[] =>
  claims.length > 1 && claims.every((claim) => isSameInsert(claim, claims[0])) ? [inOne(claims)] : claims;

const isSameInsert = ({ parts }: Statement, first: Statement | undefined): boolean =>
  parts === first?.parts && /^\s*insert\b/.test(parts[0] ?? '');

/** Of a user's accounts. */
const inOneOrder = (accepted: readonly Accepted[]): readonly Accepted[] =>
  accepted.length === 1
    ? accepted
    : accepted.toSorted((a, b) => (a.order.accountId < b.order.accountId ? -1 : 1));

export const isCounted = ({ limits, isUncounted }: NewOrder): boolean => limits !== null && !isUncounted;

/** All are of one user, one day and one mode. Exits and closes are counted, and never refused for the count. */
function counted({ plans, clock }: UnitDeps, accepted: readonly Accepted[]): Statement[] {
  const uses = accepted.filter(({ asked }) => isCounted(asked));
  const asked = uses[0]?.asked;
  if (!asked?.limits) return [];
  const { user, simulation, limits } = asked;
  const entries = uses.filter((each) => isEntry(each.asked.intent)).length;
  const limit = entries === 0 ? null : planOf(plans, user, clock.now()).daily_orders;
  const count = (most: number | null, of: number) =>
    of === 0 ? [] : [countOrders(user.id, limits.day, { simulation, limit: most, count: of })];
  // Entries first: what leaves a position takes no entry's place.
  return [...count(limit, entries), ...count(null, uses.length - entries)];
}

function audited({ asked, order }: Accepted, now: number): Statement {
  const { user, account, limits, groupId } = asked;
  return audit(
    asked.context,
    {
      userId: user.id,
      action: `${asked.source}_order`,
      failure: null,
      resource: { type: 'order', id: order.id },
      metadata: {
        trading_account_id: account.id,
        simulation: asked.simulation,
        ...(groupId === undefined ? {} : { group_id: groupId }),
        ...(limits ? {} : { kill_switch: true }),
        ...(asked.isUnproven ? { unproven: true } : {}),
      },
    },
    now,
  );
}
