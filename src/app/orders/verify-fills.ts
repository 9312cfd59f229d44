// Background fill verification: takes the checks that are due, one of a user at a time, asks the user's worker to look
// at the broker, and records what the domain makes of it.

import { findAccount } from '../../data/accounts/accounts.ts';
import { DatabaseUnavailable, type Db, type Statement } from '../../data/engine/db.ts';
import {
  type ClaimedCheck,
  claimCheck,
  concludeCheck,
  dueChecks,
  type FillCheck,
  freeLostChecks,
  hasLostChecks,
} from '../../data/orders/fill-checks.ts';
import { findOrder, saveOrder } from '../../data/orders/orders.ts';
import { isProtected, knownOf } from '../../data/orders/protections.ts';
import type { Counters } from '../../domain/counters.ts';
import type { Decimal } from '../../domain/decimal.ts';
import { millis, timestamp } from '../../domain/ids.ts';
import { afterLook, type FillRules, type Look } from '../../domain/orders/fill.ts';
import { namesOf } from '../../domain/orders/log-line.ts';
import { mainLeg, type Order, openLeg } from '../../domain/orders/order.ts';
import type { Mailbox } from '../../worker/host/mailbox.ts';
import type { Pool } from '../../worker/host/pool.ts';
import { audit, OURSELVES } from '../audit/audit.ts';
import type { Changes } from './changes.ts';
import { positionFor } from './plan-order.ts';
import { noteEnd } from './strategy.ts';
import { tellEnd } from './tell-end.ts';

export interface VerifyDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly pool: Pool;
  readonly mailbox: Pick<Mailbox, 'ask' | 'tell'>;
  readonly log: { info(context: object, text: string): void; warn(context: object, text: string): void };
  readonly rules: FillRules;
  readonly visibilityMs: number;
  readonly changes: Pick<Changes, 'ofOrder'>;
  readonly counters: Pick<Counters, 'checkTaken' | 'deadLetter' | 'orderEnded'>;
}

/** Users verified at the same time; one slow broker must not hold back the others. */
const PARALLEL_CHECKS = 64;

const GIVE_BACK_AGAIN_MS = 500;
const NOT_SAVED = 'what was seen could not be saved';

/** Runs all checks that are due now, and returns how many there were. */
export async function verifyDueFills(deps: VerifyDeps): Promise<number> {
  const { db, clock } = deps;
  const now = timestamp(clock.now());
  if (await hasLostChecks(db, now)) await db.commit(freeLostChecks(now, deps.rules.retries));
  const due = await dueChecks(db, now, PARALLEL_CHECKS);
  await Promise.all(due.map((check) => verifyOne(deps, check)));
  return due.length;
}

async function verifyOne(deps: VerifyDeps, due: FillCheck): Promise<void> {
  const { db, clock, visibilityMs } = deps;
  const check = { ...due, attempts: due.attempts + 1, visibleAt: timestamp(clock.now() + visibilityMs) };
  try {
    if ((await db.commit([claimCheck(due, check.visibleAt)])) !== null) return;
    deps.counters.checkTaken(Math.max(0, clock.now() - millis(due.nextAt)));
    await conclude(deps, check);
  } catch (fault) {
    // An answer that was lost may have been a yes. What fails otherwise would fail again at once: it uses up its try.
    if (fault instanceof DatabaseUnavailable) giveBack(deps, check);
    throw fault;
  }
}

/** As if it had not been taken: while it counts as under way, nobody looks at any order of its user. A database that is away is asked again. */
function giveBack(deps: VerifyDeps, check: ClaimedCheck, leftMs = deps.visibilityMs): void {
  const untaken = { check: 'scheduled', nextAt: check.nextAt, reason: NOT_SAVED, isFree: true } as const;
  deps.db.commit([concludeCheck(check, untaken)]).catch((fault: unknown) => {
    const again = () => giveBack(deps, check, leftMs - GIVE_BACK_AGAIN_MS);
    if (fault instanceof DatabaseUnavailable && leftMs > 0) setTimeout(again, GIVE_BACK_AGAIN_MS).unref();
    else deps.log.warn({ fault, order_id: check.orderId }, 'a fill check was not given back');
  });
}

async function conclude(deps: VerifyDeps, check: ClaimedCheck): Promise<void> {
  const { db, clock, log, rules } = deps;
  const look = await lookAt(deps, check);
  const order = await findOrder(db, check.orderId);
  if (!order) return;
  const { order: after, verdict } = afterLook(order, look, check.attempts, rules, clock.now());
  const changes = after === order ? [] : [...saveOrder(after), ...knownOf(after)];
  const lost = await db.commit([
    concludeCheck(check, verdict),
    ...changes,
    ...resolution(order, after, clock.now()),
  ]);
  if (lost === null) deps.changes.ofOrder(order);
  if (lost === null && after !== order) {
    tellEnd(deps, after);
    await tellOfFill(deps, order, after);
    await noteEnd(deps, after, heldNow(deps));
  }
  const names = namesOf(order);
  if (lost) log.warn({ ...names, lost }, 'a fill check was overtaken; it will be made again');
  // Somebody has saved the order at that moment: this look was made of what it was before.
  if (lost === 'version') giveBack(deps, check);
  if (lost === null && verdict.check === 'dead_letter') {
    deps.counters.deadLetter();
    log.warn({ ...names, reason: verdict.reason }, 'fill verification gave up: dead letter');
  }
  if (after.error !== order.error)
    log.info({ ...names, error: after.error }, 'fill verification found an end');
}

/**
 * What was opened is to be protected, and what was closed needs it no longer: the user's worker is told, and looks. Not of an account
 * where nothing is protected.
 */
export async function tellOfFill(
  { db, mailbox, log }: Pick<VerifyDeps, 'db' | 'mailbox' | 'log'>,
  before: Order,
  after: Order,
): Promise<void> {
  const isSame = before.legs.every(
    ({ fillQuantity }, index) => fillQuantity === after.legs[index]?.fillQuantity,
  );
  if (isSame) return;
  try {
    if (after.wish || (await isProtected(db, after.accountId)))
      await mailbox.tell(after.userId, { kind: 'recover', accountId: after.accountId });
  } catch (fault) {
    log.warn({ fault, ...namesOf(after) }, 'a worker could not be told of a fill; the sweep finds it');
  }
}

/** Of what was unknown, or had been given up: it is known now. */
export function resolution(
  before: Order,
  after: Order,
  now: number,
  { wasGivenUp } = { wasGivenUp: false },
): Statement[] {
  const wasOpen = before.status === 'unknown' || (wasGivenUp && openLeg(before));
  const isOpen = after.status === 'unknown' || (wasGivenUp && openLeg(after));
  if (!wasOpen || isOpen) return [];
  const event = {
    userId: after.userId,
    action: 'order_resolved',
    failure: null,
    resource: { type: 'order', id: after.id },
    metadata: {
      trading_account_id: after.accountId,
      symbol: after.symbol,
      simulation: after.simulation,
      status: after.status,
    },
  };
  return [audit(OURSELVES, event, now)];
}

/** Of the very instrument that the order traded; null: nobody can tell. */
export const heldNow =
  (deps: Pick<VerifyDeps, 'db' | 'clock' | 'pool' | 'mailbox' | 'visibilityMs'>) =>
  async (order: Order): Promise<Decimal | null> => {
    const account = await findAccount(deps.db, order.accountId);
    if (!account) return null;
    const of = { symbol: mainLeg(order)?.instrument ?? order.symbol, simulation: order.simulation };
    const found = await positionFor({ ...deps, responseWaitMs: deps.visibilityMs / 2 }, account, of);
    return 'position' in found ? found.position : null;
  };

/** A worker that cannot be started, or does not answer, is a look without an answer: it uses up a try. */
export async function lookAt(
  { pool, mailbox, visibilityMs }: Pick<VerifyDeps, 'pool' | 'mailbox' | 'visibilityMs'>,
  { userId, orderId }: Pick<FillCheck, 'userId' | 'orderId'>,
  { isReading = false }: { readonly isReading?: boolean } = {},
): Promise<Look> {
  try {
    if (!(await pool.ensure(userId))) return { seen: 'failure', reason: 'no worker could be started' };
    const look = await mailbox.ask(userId, { kind: 'look', orderId, isReading }, visibilityMs / 2);
    return look ?? { seen: 'failure', reason: 'the worker did not answer' };
  } catch (fault) {
    return {
      seen: 'failure',
      reason: fault instanceof Error ? fault.message : 'the worker could not be asked',
    };
  }
}
