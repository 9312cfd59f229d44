// From a validated signal to an order with its answer; shared by the webhook and the dashboard. The order's row and
// its audit entry are committed before anything is queued: from then on the order is never lost.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Account, accountStands, findAccount } from '../../data/accounts.ts';
import type { Db, Statement } from '../../data/db.ts';
import { countOrder, ordersOn } from '../../data/order-limits.ts';
import { findOrder, insertOrder } from '../../data/orders.ts';
import { currentTermsVersion, type User } from '../../data/users.ts';
import type { Decimal } from '../../domain/decimal.ts';
import { type Denial, deny } from '../../domain/denial.ts';
import { dayOf, effectivePlan, entitlement, type Plans, secondsLeftOfDay } from '../../domain/entitlement.ts';
import { millis, type OrderId, timestamp } from '../../domain/ids.ts';
import {
  type Action,
  type Order,
  type OrderIntent,
  type OrderType,
  passed,
  type Source,
} from '../../domain/order.ts';
import { StoreUnavailable } from '../../store/store.ts';
import type { Mailbox } from '../../worker/mailbox.ts';
import type { Pool } from '../../worker/pool.ts';
import { audit, type RequestContext } from '../audit/audit.ts';
import { newId } from '../new-id.ts';

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
}

export interface NewOrder {
  readonly user: User;
  readonly account: Account;
  readonly source: Source;
  readonly simulation: boolean;
  readonly action: Action;
  readonly orderType: OrderType | null;
  readonly intent: OrderIntent;
  readonly symbol: string;
  readonly quantity: Decimal;
  readonly arrivedAt: number;
  readonly context: RequestContext;
  /** Of a real webhook order. */
  readonly fingerprint: string | null;
  /** The kill switch's own close: no plan, terms, credentials or daily limit hold it back, and it is not counted. */
  readonly isKillSwitch?: boolean;
  /** What the order claims besides, each guarded by its own name. */
  claims(order: OrderId): Statement[];
  /** Called once the order is committed: whatever becomes of the answer, it stands. */
  onAccepted?(): void;
}

/** `answered`: the worker's word; otherwise the order as known so far, and its result is to be asked for later. */
export interface Placed {
  readonly order: Order;
  readonly answered: boolean;
}

/** A guard of the order's unit that only its caller can explain: `fingerprint`, or one of its own claims. */
export interface Contested {
  readonly contested: string;
}

export async function placeOrder(
  deps: PlaceOrderDeps,
  request: NewOrder,
): Promise<Denial | Contested | Placed> {
  const { db, clock, pool } = deps;
  const { user, account, isKillSwitch = false } = request;
  const now = clock.now();
  const day = dayOf(now);
  const plan = planOf(deps.plans, user, now);

  const [termsVersion, ordersToday] = await Promise.all([
    currentTermsVersion(db),
    ordersOn(db, user.id, day),
  ]);
  const refusal = entitlement({
    intent: request.intent,
    simulation: request.simulation,
    plan,
    halted: account.halted,
    termsAccepted: termsVersion === null || user.termsVersion === termsVersion,
    credentialsVerified: account.credentialsVerified,
    ordersToday,
    secondsLeftToday: secondsLeftOfDay(now),
  });
  if (refusal && !isKillSwitch) return refusal;

  try {
    if (!(await pool.ensure(user.id))) return deny('worker_unavailable');
  } catch (fault) {
    if (fault instanceof StoreUnavailable) return deny('store_unavailable');
    throw fault;
  }

  const order = accept(deps, request);
  // Whoever stood still for so long would trade a signal of long ago as if it were new.
  if (clock.now() - request.arrivedAt > lifeOf(deps, request)) return deny('worker_unavailable');
  const failedGuard = await db.commit([
    accountStands(account.id, { isEntry: request.intent.operation === 'PLACE_ENTRY_ORDER' }),
    insertOrder(order, request.fingerprint),
    ...(isKillSwitch ? [] : [countOrder(user.id, day, plan.daily_orders)]),
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
          ...(isKillSwitch ? { kill_switch: true } : {}),
        },
      },
      clock.now(),
    ),
  ]);
  // Halted or deleted since the account was read: the same checks again, on the account as it is now.
  if (failedGuard === 'account') {
    const current = await findAccount(db, account.id);
    return current ? placeOrder(deps, { ...request, account: current }) : deny(noAccount[request.source]);
  }
  if (failedGuard === 'daily_limit')
    return deny('daily_limit_reached', { retryAfter: secondsLeftOfDay(now) });
  if (failedGuard !== null) return { contested: failedGuard };
  request.onAccepted?.();

  const result = await answerOf(deps, order);
  if (result) return { order: result, answered: true };
  // A fault from here on must not look like a refusal: the order is accepted.
  const known = await findOrder(db, order.id).catch(() => null);
  return { order: known ?? order, answered: false };
}

/** The worker's word, by its reply or, where that was lost, by what it saved; null: not in time. */
async function answerOf(deps: PlaceOrderDeps, order: Order): Promise<Order | null> {
  const { db, mailbox, log, responseWaitMs } = deps;
  const over = new AbortController();
  try {
    const reply = mailbox.ask(order.userId, { kind: 'execute', orderId: order.id }, responseWaitMs);
    return await Promise.race([reply, settledOrder(db, order.id, over.signal)]);
  } catch (fault) {
    // The order stands in the database: it will be found there and executed, or expire.
    log.warn({ fault, order: order.id }, 'the order could not be queued');
    return null;
  } finally {
    over.abort();
  }
}

const LOOK_EVERY_MS = 1_000;

/** Ends when the order's worker is done with it, or never. A worker that died may have been followed by another. */
async function settledOrder(db: Db, id: OrderId, signal: AbortSignal): Promise<Order> {
  for (;;) {
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
    // Nobody waits any more: whatever this ends with is not looked at.
    const order = signal.aborted ? null : await findOrder(db, id).catch(() => null);
    if (order && order.status !== 'queued' && order.status !== 'executing') return order;
    if (signal.aborted) return new Promise(() => {});
  }
}

const noAccount = { webhook: 'webhook_not_found', dashboard: 'not_found' } as const;

function accept(deps: PlaceOrderDeps, request: NewOrder): Order {
  const now = deps.clock.now();
  const order: Order = {
    id: newId() as OrderId,
    version: 1,
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
    status: 'queued',
    error: null,
    positionBefore: null,
    autoExit: false,
    legs: [],
    exitError: null,
    submittedAt: timestamp(request.arrivedAt),
    deadlineAt: timestamp(now + lifeOf(deps, request)),
    filledAt: null,
    trace: {},
  };
  return passed(passed(order, 'validated', now), 'queued', now);
}

const lifeOf = ({ entryDeadlineMs, exitDeadlineMs }: PlaceOrderDeps, { intent }: NewOrder): number =>
  intent.operation === 'PLACE_ENTRY_ORDER' ? entryDeadlineMs : exitDeadlineMs;

function planOf(plans: Plans, user: User, now: number) {
  const planExpiresAt = user.planExpiresAt === null ? null : millis(user.planExpiresAt);
  return plans[effectivePlan(plans, { plan: user.plan, planExpiresAt }, now)] ?? plans.free;
}
