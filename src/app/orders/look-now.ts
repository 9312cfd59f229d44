// A user wants to know now what became of an order. The broker is asked as fill verification asks it, beside its queue: no try
// is used up, and nothing is ever sent. Whatever is found is saved, or left to a check that is under way already. An account
// has one such look at a time: the checks of the queue, which ask the same broker in the same turn, do not wait for more.

import type { Db } from '../../data/engine/db.ts';
import {
  concludeLook,
  findOpenCheck,
  type OpenCheck,
  shownVerification,
} from '../../data/orders/fill-checks.ts';
import { findOrder, saveOrder } from '../../data/orders/orders.ts';
import { knownOf } from '../../data/orders/protections.ts';
import type { WindowCount } from '../../domain/call-log.ts';
import { type Denial, deny } from '../../domain/denial.ts';
import { isUuid, type OrderId, timestamp, type UserId } from '../../domain/ids.ts';
import { afterLook, type FillRules } from '../../domain/orders/fill.ts';
import { namesOf } from '../../domain/orders/log-line.ts';
import { type Order, openLeg } from '../../domain/orders/order.ts';
import { isExit } from '../../domain/orders/patience.ts';
import { seldomLookAt } from '../../domain/orders/resting.ts';
import type { Verification } from '../../domain/orders/result.ts';
import { isSettleable } from '../../domain/orders/settle.ts';
import type { Store } from '../../store/store.ts';
import { LESS, secondsOf } from '../accounts/account-broker.ts';
import type { Owner } from '../accounts/accounts.ts';
import { writeAudit } from '../audit/audit.ts';
import type { Afterwards } from '../background.ts';
import { forget } from './once.ts';
import { noteEnd } from './strategy.ts';
import { tellEnd } from './tell-end.ts';
import { heldNow, lookAt, resolution, tellOfFill, type VerifyDeps } from './verify-fills.ts';

export interface LookingDeps
  extends Pick<VerifyDeps, 'clock' | 'pool' | 'mailbox' | 'visibilityMs' | 'changes' | 'log' | 'counters'> {
  readonly db: Db;
  readonly store: Pick<Store, 'claim' | 'release'>;
  readonly looking: Omit<FillRules, 'retries'>;
}

interface LookDeps extends LookingDeps {
  readonly later: Pick<Afterwards, 'begin'>;
  takeRead(user: UserId): Promise<WindowCount>;
}

export interface LookBegun {
  readonly order_id: OrderId;
  readonly verification: Verification;
}

export async function lookNow(deps: LookDeps, owner: Owner, id: string): Promise<Denial | LookBegun> {
  const order = isUuid(id) ? await findOrder(deps.db, id as OrderId) : null;
  // Another user's order does not exist for this one.
  if (order?.userId !== owner.id) return deny('not_found', { detail: 'You have no such order.' });
  const check = await findOpenCheck(deps.db, order.id);
  // One that is under way is the look that was asked for.
  const isBegun = check !== null && check.state !== 'running';
  const isReading = isBegun && !isWayOut(order, check, deps.clock.now());
  const limited = isReading ? await tooMany(deps, owner.id) : null;
  if (limited) return limited;
  const denial = check ? null : deny('nothing_to_look_for');
  await writeAudit(deps, owner.context, {
    userId: owner.id,
    action: 'order_look',
    failure: denial,
    resource: { type: 'order', id: order.id },
    metadata: { trading_account_id: order.accountId, ...(denial ? { code: denial.code } : {}) },
  });
  if (!check) return denial ?? deny('nothing_to_look_for');
  if (isBegun) deps.later.begin(async () => void (await lookAlone(deps, check, { isReading })));
  return {
    order_id: order.id,
    verification: shownVerification({ ...check, next_at: check.nextAt }),
  };
}

/** What became of a close, or of an order that its owner has to settle, is asked for as often as he likes: he wants to be out. */
const isWayOut = (order: Order, { state }: OpenCheck, now: number): boolean =>
  isExit(order) ||
  openLeg(order)?.leg === 'exit' ||
  isSettleable(order, { isDeadLetter: state === 'dead_letter' }, now);

async function tooMany({ takeRead }: LookDeps, user: UserId): Promise<Denial | null> {
  const { allowed, retryAfterMs } = await takeRead(user);
  if (allowed) return null;
  return deny('rate_limited', {
    ...LESS,
    retryAfter: secondsOf(retryAfterMs),
    detail: 'You have asked brokers too often within a minute.',
  });
}

interface Looking {
  /** For a user who only wants to know. */
  readonly isReading?: boolean;
}

/** false: the account is being looked at already. */
export async function lookAlone(
  deps: LookingDeps,
  check: OpenCheck,
  looking: Looking = {},
): Promise<boolean> {
  const order = await findOrder(deps.db, check.orderId);
  if (!order) return true;
  const claim = `look:{${check.userId}}:${order.accountId}`;
  const letGo = () => forget(deps.store, claim, deps.visibilityMs);
  const isClaimed = await deps.store.claim(claim, deps.visibilityMs).catch(async (fault: unknown) => {
    // An answer that was lost may have been a yes. Where it was a no, two looks side by side do no harm.
    await letGo();
    throw fault;
  });
  if (!isClaimed) return false;
  try {
    await look(deps, check, looking);
  } finally {
    await letGo();
  }
  return true;
}

/** It only ever ends a check: a look that finds no end leaves the tries, and the time of the next one, as they are, but for what rests. */
async function look(deps: LookingDeps, check: OpenCheck, as: Looking): Promise<void> {
  const { db, clock, log, looking } = deps;
  const seen = await lookAt(deps, check, as);
  const order = await findOrder(db, check.orderId);
  if (!order) return;
  const now = clock.now();
  const rules = { ...looking, retries: Number.POSITIVE_INFINITY };
  const { order: after, verdict } = afterLook(order, seen, check.attempts + 1, rules, now);
  const wasGivenUp = check.state === 'dead_letter';
  const lost = await db.commit([
    concludeLook(check, verdict, wasGivenUp ? timestamp(seldomLookAt(after, now)) : null),
    ...(after === order ? [] : [...saveOrder(after), ...knownOf(after)]),
    ...resolution(order, after, now, { wasGivenUp }),
  ]);
  if (lost) {
    log.warn({ ...namesOf(order), lost }, 'a look was overtaken by a fill check, which decides');
    return;
  }
  deps.changes.ofOrder(order);
  if (after === order) return;
  tellEnd(deps, after);
  await tellOfFill(deps, order, after);
  await noteEnd(deps, after, heldNow(deps));
}
