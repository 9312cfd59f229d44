// From a validated signal to its orders with their answers; shared by the webhook and the dashboard. The orders' rows and
// their audit entries are committed before anything is queued: from then on no order is lost. A signal to one account is one to
// a group of one.

import { DatabaseUnavailable, type Db, NotCommitted, type Statement } from '../../data/engine/db.ts';
import { takeBackOrder, uncountOrder } from '../../data/orders/limits.ts';
import { findOrder } from '../../data/orders/orders.ts';
import type { Limits } from '../../data/orders/targets.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import { type OrderId, timestamp } from '../../domain/ids.ts';
import { isEntry, type Plans, secondsLeftOfDay } from '../../domain/orders/entitlement.ts';
import { namesOf } from '../../domain/orders/log-line.ts';
import { NO_NOTES, type Order } from '../../domain/orders/order.ts';
import { withoutOpening } from '../../domain/orders/other-legs.ts';
import { pricedOf } from '../../domain/orders/priced.ts';
import type { Protection } from '../../domain/protection/protection.ts';
import { isAboutProtection } from '../../domain/protection/shown.ts';
import { type Tracing, traceNames } from '../../domain/tracing.ts';
import { StoreUnavailable } from '../../store/store.ts';
import type { Mailbox } from '../../worker/host/mailbox.ts';
import type { Pool } from '../../worker/host/pool.ts';
import { newId } from '../new-id.ts';
import { protectionFor } from '../protection/read-protections.ts';
import { type Accepted, acceptingUnit, isCounted, type NewOrder } from './accepting-unit.ts';
import { answerOf } from './await-answer.ts';
import type { Changes } from './changes.ts';
import { type Placing, refusalOf } from './entitled.ts';
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

interface LoneOrder extends NewOrder {
  /** What was read is no longer so: it is read again, and the caller's own checks are made again. */
  again(): Promise<(Placing & Partial<Pick<NewOrder, 'intent' | 'sizing' | 'wish'>>) | Denial>;
}

/** What one signal asks of each account of a user that it is for: they are accepted together, or none is. */
export interface Together {
  /** A denial: its caller has refused it already. */
  readonly asked: readonly (NewOrder | Denial)[];
  /** What was read of any of them is no longer so: all are read and judged again. */
  again(): Promise<readonly (NewOrder | Denial)[] | Denial>;
  /** What is committed with all of them; in the order in which they were asked. */
  claims(became: readonly (Order | Denial)[]): readonly Statement[];
  /** Called once they are committed: whatever becomes of the answers, they stand. */
  onAccepted?(orders: readonly Order[]): void;
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

/** One order, of one account. */
export async function placeOrder(
  deps: PlaceOrderDeps,
  { again, ...request }: LoneOrder,
): Promise<Denial | Contested | Placed> {
  const outcome = await placeTogether(deps, {
    asked: [request],
    async again() {
      const current = await again();
      return isDenial(current) ? current : [{ ...request, ...current }];
    },
    claims: () => [],
  });
  if (!('length' in outcome)) return outcome;
  const [placed] = outcome;
  if (!placed) throw new Error('an order was neither placed nor refused');
  return placed;
}

/**
 * Each is judged alone; those that nothing holds back are accepted by one commit, and from then on live alone: none waits for
 * another. A denial for each, or one of what they were asked by: nothing was accepted.
 */
export async function placeTogether(
  deps: PlaceOrderDeps,
  request: Together,
  triesLeft = MOST_TRIES,
): Promise<Denial | Contested | readonly (Placed | Denial)[]> {
  const { clock, pool } = deps;
  const now = clock.now();
  let judged = judgeEach(deps, request.asked);
  const first = judged.find(isNoDenial);
  if (!first) return judged as readonly Denial[];

  /** Of all that nothing else holds back. */
  const refused = (denial: Denial) => judged.map((each) => (isDenial(each) ? each : denial));
  try {
    if (!(await pool.ensure(first.user.id))) return refused(deny('worker_unavailable'));
    judged = judged.map((each) => (isDenial(each) ? each : asKnown(pool, each)));
    if (!judged.every((each) => isDenial(each) || areKnown(pool, each)))
      return refused(deny('worker_unavailable', UPGRADING));
  } catch (fault) {
    if (fault instanceof StoreUnavailable) return refused(deny('store_unavailable'));
    throw fault;
  }

  const became = judged.map((each) => (isDenial(each) ? each : { asked: each, order: accept(deps, each) }));
  const accepted = became.filter(isNoDenial);
  // Whoever stood still for so long would trade a signal of long ago as if it were new.
  const isStale = ({ asked }: Accepted) => clock.now() - asked.arrivedAt > lifeOf(deps, asked);
  if (accepted.some(isStale)) return refused(deny('worker_unavailable'));
  const failedGuard = await commitOrders(
    deps,
    accepted.map(({ order }) => order),
    [
      ...acceptingUnit(deps, accepted),
      ...request.claims(became.map((each) => (isDenial(each) ? each : each.order))),
    ],
  );
  if (failedGuard !== null && typeof failedGuard === 'object') return refused(failedGuard);
  // Halted, changed or deleted, or the user deactivated, since it was read: all checks again, on what is so now. So where others
  // have taken what was left of the day, and there may be room for some.
  const isShort = failedGuard === 'daily_limit' && accepted.length > 1;
  if (failedGuard === 'account' || isShort) {
    if (triesLeft === 0) return refused(deny('database_unavailable', CHANGING));
    const current = await request.again();
    if ('code' in current) return current;
    return placeTogether(deps, { ...request, asked: current }, triesLeft - 1);
  }
  if (failedGuard === 'daily_limit')
    return refused(deny('daily_limit_reached', { retryAfter: secondsLeftOfDay(now) }));
  if (failedGuard !== null) return { contested: failedGuard };
  for (const { order } of accepted) deps.changes.ofOrder(order);
  request.onAccepted?.(accepted.map(({ order }) => order));
  return Promise.all(became.map((each) => (isDenial(each) ? each : answered(deps, each))));
}

const isNoDenial = <T extends object>(each: T | Denial): each is T => !isDenial(each);

/** Alone, but for the day's orders: those before it count. */
function judgeEach(
  deps: PlaceOrderDeps,
  asked: readonly (NewOrder | Denial)[],
): readonly (NewOrder | Denial)[] {
  let taken = 0;
  return asked.map((each) => {
    if (isDenial(each)) return each;
    const refusal = refusalOf(deps, taken === 0 ? each : { ...each, limits: later(each.limits, taken) });
    if (!refusal && isCounted(each)) taken++;
    return refusal ?? each;
  });
}

const later = (limits: Limits | null, taken: number): Limits | null =>
  limits && {
    ...limits,
    ordersToday: {
      real: limits.ordersToday.real + taken,
      simulated: limits.ordersToday.simulated + taken,
    },
  };

/** The order as it stands when its worker, or its sender's patience, is done with it. */
async function answered(deps: PlaceOrderDeps, { asked, order }: Accepted): Promise<Placed | Denial> {
  const result = await answerOf(deps, order);
  if (result === 'not_queued') {
    const isBack = asked.isTakenBack && (await takenBack(deps, order, asked));
    if (isBack) return deny('store_unavailable');
  } else if (result) return withProtection(deps, result, true);
  // A fault from here on must not look like a refusal: the order is accepted.
  const known = await findOrder(deps.db, order.id).catch(() => null);
  return withProtection(deps, known ?? order, false);
}

/** Read for an order that asked for one, and for no other. One that might have opened something, and does not, is shown without its wish. */
export async function withProtection(
  deps: Pick<PlaceOrderDeps, 'db'>,
  order: Order,
  answered: boolean,
): Promise<Placed> {
  if (!order.wish) return { order, answered };
  if (isAboutProtection(order)) return { order, answered, protection: await protectionFor(deps, order) };
  const { wish: _, ...plain } = order;
  return { order: plain, answered };
}

/** No exit waits for a worker that knows of protection: while one does not, it opens nothing that would have no stop. */
const asKnown = (pool: Pool, order: NewOrder): NewOrder =>
  order.wish && order.intent.operation === 'PLACE_EXIT_ORDER' && !pool.allKnow('protection')
    ? { ...order, intent: withoutOpening(order.intent), wish: undefined }
    : order;

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

/** As a commit answers; a denial where it did not answer, and the orders were not found either. */
async function commitOrders(
  deps: PlaceOrderDeps,
  [order]: readonly Order[],
  unit: readonly Statement[],
): Promise<string | null | Denial> {
  // One stands for all: they are committed together.
  if (!order) throw new Error('there is no order to commit');
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
  asked: NewOrder,
): Promise<boolean> {
  const { limits } = asked;
  const uncounted = limits && isCounted(asked) ? [uncountOrder(order, limits.day)] : [];
  try {
    const lost = await db.commit([...takeBackOrder(order), ...uncounted]);
    if (lost === null) changes.ofOrder(order);
    return lost === null;
  } catch (fault) {
    log.warn({ fault, ...namesOf(order) }, 'an order that was not queued could not be taken back');
    return false;
  }
}

function accept(deps: PlaceOrderDeps, request: NewOrder): Order {
  const now = deps.clock.now();
  const passedMs = Math.max(0, now - request.arrivedAt);
  return {
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
    trace: { validated: passedMs, queued: passedMs },
    ...(request.wish && { wish: request.wish }),
    ...(request.sizing && { sizing: request.sizing }),
    ...(request.groupId && { groupId: request.groupId }),
    ...(request.priced && { priced: pricedOf(request.priced, now) }),
  };
}

/** What is to rest for less than that is not sent later either. */
const lifeOf = ({ entryDeadlineMs, exitDeadlineMs }: PlaceOrderDeps, { intent, priced }: NewOrder): number =>
  isEntry(intent)
    ? Math.min(entryDeadlineMs, priced ? priced.expiresInSeconds * 1000 : entryDeadlineMs)
    : exitDeadlineMs;

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
