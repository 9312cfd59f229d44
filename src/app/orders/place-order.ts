// From a validated signal to an order with its answer; shared by the webhook and the dashboard. The order's row and
// its audit entry are committed before anything is queued: from then on the order is never lost.

import { accountStands } from '../../data/accounts/account-stands.ts';
import type { Account } from '../../data/accounts/accounts.ts';
import { DatabaseUnavailable, type Db, NotCommitted, type Statement } from '../../data/engine/db.ts';
import type { User } from '../../data/identity/users.ts';
import { countOrder, takeBackOrder, uncountOrder } from '../../data/orders/limits.ts';
import { findOrder, insertOrder } from '../../data/orders/orders.ts';
import type { Limits } from '../../data/orders/targets.ts';
import type { Decimal } from '../../domain/decimal.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import { millis, type OrderId, timestamp } from '../../domain/ids.ts';
import {
  effectivePlan,
  entitlements,
  isEntry,
  type Plan,
  type Plans,
  type Standing,
  secondsLeftOfDay,
} from '../../domain/orders/entitlement.ts';
import { namesOf } from '../../domain/orders/log-line.ts';
import {
  type Action,
  hasEnded,
  NO_NOTES,
  type Order,
  type OrderIntent,
  type OrderType,
  passed,
  type SignalNotes,
  type Source,
} from '../../domain/orders/order.ts';
import { type AskedPrice, pricedOf } from '../../domain/orders/priced.ts';
import type { Sizing } from '../../domain/orders/sizing.ts';
import type { Protection } from '../../domain/protection/protection.ts';
import type { OrderWish } from '../../domain/protection/wish.ts';
import { type Tracing, traceNames } from '../../domain/tracing.ts';
import { StoreUnavailable } from '../../store/store.ts';
import type { Mailbox } from '../../worker/host/mailbox.ts';
import type { Pool } from '../../worker/host/pool.ts';
import { audit, type RequestContext } from '../audit/audit.ts';
import { newId } from '../new-id.ts';
import { protectionFor } from '../protection/read-protections.ts';
import type { Changes } from './changes.ts';
import { fateOf } from './fate.ts';

export interface PlaceOrderDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly pool: Pool;
  readonly mailbox: Pick<Mailbox, 'ask'>;
  readonly log: { warn(context: object, text: string): void };
  readonly plans: Plans;
  readonly responseWaitMs: number;
  readonly entryDeadlineMs: number;
  readonly exitDeadlineMs: number;
  readonly changes: Pick<Changes, 'ofOrder'>;
  readonly tracing: Pick<Tracing, 'during'>;
}

/** Whose order it is, as it was read. */
interface Placing {
  readonly user: User;
  readonly account: Account;
  /** What holds it back; null: nothing does, and it is not counted. The kill switch's own closes are such. */
  readonly limits: Limits | null;
}

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
  /** What was read is no longer so: it is read again, and the caller's own checks are made again. */
  again(): Promise<(Placing & Partial<Pick<NewOrder, 'intent' | 'sizing' | 'wish'>>) | Denial>;
  /** What the order claims besides, each guarded by its own name. */
  claims(order: OrderId): Statement[];
  /** Called once the order is committed: whatever becomes of the answer, it stands. */
  onAccepted?(): void;
}

/** `answered`: the worker's word; otherwise the order as known so far, and its result is to be asked for later. */
export interface Placed {
  readonly order: Order;
  readonly answered: boolean;
  /** What its wish has become so far. */
  readonly protection?: Protection | null;
}

/** A guard of the order's unit that only its caller can explain: `fingerprint`, or one of its own claims. */
export interface Contested {
  readonly contested: string;
}

/** An account that changes faster than this is not worth a longer wait. */
const MOST_TRIES = 4;

export async function placeOrder(
  deps: PlaceOrderDeps,
  request: NewOrder,
  triesLeft = MOST_TRIES,
): Promise<Denial | Contested | Placed> {
  const { db, clock, pool } = deps;
  const { user, account, limits } = request;
  const now = clock.now();
  const plan = planOf(deps.plans, user, now);
  const refusal = refusalOf(deps, request);
  if (refusal) return refusal;

  try {
    if (!(await pool.ensure(user.id))) return deny('worker_unavailable');
    if (!areKnown(pool, request)) return deny('worker_unavailable', UPGRADING);
  } catch (fault) {
    if (fault instanceof StoreUnavailable) return deny('store_unavailable');
    throw fault;
  }

  const order = accept(deps, request);
  // Whoever stood still for so long would trade a signal of long ago as if it were new.
  if (clock.now() - request.arrivedAt > lifeOf(deps, request)) return deny('worker_unavailable');
  const failedGuard = await commitOrder(deps, order, [
    accountStands(account),
    insertOrder(order, request.fingerprint),
    ...(limits && !request.isUncounted ? [counted(request, limits, plan)] : []),
    ...request.claims(order.id),
    audit(
      request.context,
      {
        userId: user.id,
        action: `${request.source}_order`,
        failure: null,
        resource: { type: 'order', id: order.id },
        metadata: {
          trading_account_id: account.id,
          simulation: request.simulation,
          ...(limits ? {} : { kill_switch: true }),
          ...(request.isUnproven ? { unproven: true } : {}),
        },
      },
      clock.now(),
    ),
  ]);
  if (failedGuard !== null && typeof failedGuard === 'object') return failedGuard;
  // Halted, changed or deleted, or the user deactivated, since it was read: all checks again, on what is so now.
  if (failedGuard === 'account') {
    if (triesLeft === 0) return deny('database_unavailable', CHANGING);
    const current = await request.again();
    return isDenial(current) ? current : placeOrder(deps, { ...request, ...current }, triesLeft - 1);
  }
  if (failedGuard === 'daily_limit')
    return deny('daily_limit_reached', { retryAfter: secondsLeftOfDay(now) });
  if (failedGuard !== null) return { contested: failedGuard };
  deps.changes.ofOrder(order);
  request.onAccepted?.();

  const result = await answerOf(deps, order);
  if (result === 'not_queued') {
    const isBack = request.isTakenBack && (await takenBack(deps, order, request));
    if (isBack) return deny('store_unavailable');
  } else if (result) return withProtection(deps, result, true);
  // A fault from here on must not look like a refusal: the order is accepted.
  const known = await findOrder(db, order.id).catch(() => null);
  return withProtection(deps, known ?? order, false);
}

/** Read for an order that asked for one, and for no other. */
export const withProtection = async (
  deps: Pick<PlaceOrderDeps, 'db'>,
  order: Order,
  answered: boolean,
): Promise<Placed> =>
  order.wish ? { order, answered, protection: await protectionFor(deps, order) } : { order, answered };

/** Of halt, plan, terms, credentials and daily limit the first; null: none. */
export const refusalOf = (...of: Parameters<typeof refusalsOf>): Denial | null =>
  refusalsOf(...of)[0] ?? null;

export function refusalsOf(
  { plans, clock }: Pick<PlaceOrderDeps, 'plans' | 'clock'>,
  request: Placing & Pick<NewOrder, 'intent' | 'simulation' | 'isUncounted'>,
): Denial[] {
  const { user, limits } = request;
  const now = clock.now();
  return limits ? entitlements(standingOf(request, limits, planOf(plans, user, now), now)) : [];
}

/** Whatever its worker has to know of. */
const areKnown = (pool: Pool, { wish, sizing, priced, action }: NewOrder): boolean =>
  (!wish || pool.allKnow('protection')) &&
  (!sizing || pool.allKnow('sizes')) &&
  (!(priced || action === 'cancel') || pool.allKnow('resting'));

const UPGRADING = {
  detail:
    'The service is being upgraded, and some of its workers do not know yet what this order asks for. Nothing was queued.',
  advice: 'Send the order again in a minute.',
};

const CHANGING = {
  detail: 'The account is being changed at this moment. Nothing was queued.',
  advice: 'Send the order again.',
};

function standingOf(
  request: Placing & Pick<NewOrder, 'intent' | 'simulation' | 'isUncounted'>,
  limits: Limits,
  plan: Plan,
  now: number,
): Standing {
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

/** Exits and closes are counted, and never refused for the count. */
const counted = ({ user, intent, simulation }: NewOrder, { day }: Limits, plan: Plan): Statement =>
  countOrder(user.id, day, { simulation, limit: isEntry(intent) ? plan.daily_orders : null });

/** As a commit answers; a denial where it did not answer, and the order was not found either. */
async function commitOrder(
  deps: PlaceOrderDeps,
  order: Order,
  unit: readonly Statement[],
): Promise<string | null | Denial> {
  try {
    return await deps.tracing.during('commit', traceNames(order), () => deps.db.commit(unit));
  } catch (fault) {
    if (!(fault instanceof DatabaseUnavailable) || fault instanceof NotCommitted) throw fault;
    const fate = await fateOf(deps, order);
    deps.log.warn({ fault, ...namesOf(order), fate }, 'the answer to an order’s commit was lost');
    if (fate === 'stands') return null;
    return fate === 'never' ? deny('database_unavailable') : deny('outcome_unknown');
  }
}

/** As if it had never been accepted; not where a worker has it by now: the message may have come, and its receipt not. */
async function takenBack(
  { db, log, changes }: PlaceOrderDeps,
  order: Order,
  { limits, isUncounted }: NewOrder,
): Promise<boolean> {
  const uncounted = limits && !isUncounted ? [uncountOrder(order, limits.day)] : [];
  try {
    const lost = await db.commit([...takeBackOrder(order), ...uncounted]);
    if (lost === null) changes.ofOrder(order);
    return lost === null;
  } catch (fault) {
    log.warn({ fault, ...namesOf(order) }, 'an order that was not queued could not be taken back');
    return false;
  }
}

/** The worker's word, by its reply or, where that was lost, by what it saved; null: not in time. */
async function answerOf(deps: PlaceOrderDeps, order: Order): Promise<Order | 'not_queued' | null> {
  const { db, mailbox, log, responseWaitMs } = deps;
  const saved = lookForEnd(db, order.id);
  try {
    const reply = mailbox.ask(
      order.userId,
      { kind: 'execute', orderId: order.id, accountId: order.accountId },
      responseWaitMs,
    );
    return await Promise.race([reply, saved.order]);
  } catch (fault) {
    // The order stands in the database: it will be found there and executed, or expire, where nobody takes it back.
    log.warn({ fault, ...namesOf(order) }, 'the order could not be queued');
    return fault instanceof StoreUnavailable ? 'not_queued' : null;
  } finally {
    saved.stop();
  }
}

const LOOK_EVERY_MS = 1_000;

/** How the order stands when its worker is done with it. A worker that died may have been followed by another. */
function lookForEnd(db: Db, id: OrderId): { readonly order: Promise<Order>; stop(): void } {
  const { promise, resolve } = Promise.withResolvers<Order>();
  let isOver = false;
  let timer = setTimeout(look, LOOK_EVERY_MS);
  async function look(): Promise<void> {
    const order = await findOrder(db, id).catch(() => null);
    // A worker that has its acknowledgement may still wait for the fill.
    if (order && (hasEnded(order.status) || 'answered' in order.trace)) resolve(order);
    else if (!isOver) timer = setTimeout(look, LOOK_EVERY_MS);
  }
  return {
    order: promise,
    stop() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

function accept(deps: PlaceOrderDeps, request: NewOrder): Order {
  const now = deps.clock.now();
  const order: Order = {
    id: newId() as OrderId,
    version: 1,
    requestId: request.context.requestId || null,
    userId: request.user.id,
    accountId: request.account.id,
    brokerName: request.account.brokerName,
    source: request.source,
    simulation: request.simulation,
    symbol: request.symbol,
    action: request.action,
    orderType: request.orderType,
    intent: request.intent,
    quantity: request.quantity,
    notes: request.notes ?? NO_NOTES,
    guards: [],
    status: 'queued',
    error: null,
    positionBefore: null,
    autoExit: false,
    awaitsRest: false,
    legs: [],
    exitError: null,
    submittedAt: timestamp(request.arrivedAt),
    deadlineAt: timestamp(now + lifeOf(deps, request)),
    credentialsVersion: null,
    filledAt: null,
    trace: {},
    ...(request.wish && { wish: request.wish }),
    ...(request.sizing && { sizing: request.sizing }),
    ...(request.priced && { priced: pricedOf(request.priced, now) }),
  };
  return passed(passed(order, 'validated', now), 'queued', now);
}

/** What is to rest for less than that is not sent later either. */
const lifeOf = ({ entryDeadlineMs, exitDeadlineMs }: PlaceOrderDeps, { intent, priced }: NewOrder): number =>
  isEntry(intent)
    ? Math.min(entryDeadlineMs, priced ? priced.expiresInSeconds * 1000 : entryDeadlineMs)
    : exitDeadlineMs;

function planOf(plans: Plans, user: User, now: number): Plan {
  const planExpiresAt = user.planExpiresAt === null ? null : millis(user.planExpiresAt);
  return plans[effectivePlan(plans, { plan: user.plan, planExpiresAt }, now)] ?? plans.free;
}

/** No refusal is answered before it is recorded, but for one that only the database's return could record. */
export async function recordRefusal(
  { db, log }: Pick<PlaceOrderDeps, 'db' | 'log'>,
  { code }: Denial,
  entries: readonly Statement[],
): Promise<void> {
  const recorded = db.commit(entries);
  if (code !== 'outcome_unknown') await recorded;
  // Its failure must not turn "it may have been accepted" into "nothing was queued".
  else
    recorded.catch((fault: unknown) =>
      log.warn({ fault }, 'an outcome that is not known is not recorded either'),
    );
}
