// The fill-verification queue: rows beside the orders, so that a check is scheduled in the very unit that records
// `placed` or `unknown`. Claimed by compare-and-set; a claim whose verifier died is freed when it becomes visible
// again.

import type { OrderId, Timestamp, UserId } from '../../domain/ids.ts';
import type { Verdict } from '../../domain/orders/fill.ts';
import type { Verification } from '../../domain/orders/result.ts';
import { type Db, join, must, type Reads, type Statement, sql } from '../engine/db.ts';

export interface FillCheck {
  readonly orderId: OrderId;
  readonly userId: UserId;
  /** Polls begun, this one included once it is claimed. */
  readonly attempts: number;
  readonly nextAt: Timestamp;
}

/** One that is under way, and by when its claim is over: two claims that count the same tries are two. */
export interface ClaimedCheck extends FillCheck {
  readonly visibleAt: Timestamp;
}

export type CheckState = 'scheduled' | 'running' | 'done' | 'dead_letter';

interface CheckRow {
  order_id: OrderId;
  user_id: UserId;
  state: CheckState;
  attempts: number;
  next_at: Timestamp;
}

export function scheduleCheck(order: OrderId, user: UserId, nextAt: Timestamp): Statement {
  return sql`insert into fill_checks (order_id, user_id, state, attempts, next_at)
    values (${order}, ${user}, 'scheduled', 0, ${nextAt})
    on conflict (order_id) do update set state = 'scheduled', attempts = 0, next_at = excluded.next_at,
      visible_at = null`;
}

/**
 * The first due check of each user that has none running, in the order in which they fell due. What is done is in no
 * index; SQLite uses that only where a query says so in the index's own words: `state <> 'done'`. Each question is one look into that index,
 * however many dead letters the user has.
 */
export async function dueChecks(db: Db, now: Timestamp, limit: number): Promise<FillCheck[]> {
  const rows = await db.all<CheckRow>(
    sql`select order_id, user_id, state, attempts, next_at from fill_checks due
        where state <> 'done' and state = 'scheduled' and next_at <= ${now}
          and not exists (select 1 from fill_checks other
            where other.user_id = due.user_id and other.state <> 'done' and other.state = 'running')
          and not exists (select 1 from fill_checks other
            where other.user_id = due.user_id and other.state <> 'done' and other.state = 'scheduled'
              and (other.next_at, other.order_id) < (due.next_at, due.order_id))
        order by next_at, order_id limit ${limit}`,
  );
  return rows.map((row) => ({
    orderId: row.order_id,
    userId: row.user_id,
    attempts: row.attempts,
    nextAt: row.next_at,
  }));
}

/** Guarded by `claimed`; the unique index on running checks decides between two verifiers. */
export function claimCheck(check: FillCheck, visibleAt: Timestamp): Statement {
  return must(
    'claimed',
    sql`update fill_checks set state = 'running', attempts = ${check.attempts + 1}, visible_at = ${visibleAt}
        where order_id = ${check.orderId} and state = 'scheduled' and attempts = ${check.attempts}`,
  );
}

/** Guarded by `claimed`: a verifier that was away for longer than its claim changes nothing. */
export function concludeCheck(check: ClaimedCheck, verdict: Verdict): Statement {
  const nextAt = verdict.check === 'scheduled' ? verdict.nextAt : check.nextAt;
  const reason = verdict.check === 'done' ? null : verdict.reason;
  const isFree = verdict.check === 'scheduled' && verdict.isFree === true;
  const attempts = isFree ? check.attempts - 1 : check.attempts;
  return must(
    'claimed',
    sql`update fill_checks set state = ${verdict.check}, next_at = ${nextAt}, visible_at = null,
          attempts = ${isSeen(verdict) ? 0 : attempts}, last_error = ${reason}
        where order_id = ${check.orderId} and state = 'running' and attempts = ${check.attempts}
          and visible_at = ${check.visibleAt}`,
  );
}

const isSeen = (verdict: Verdict): boolean => verdict.check === 'scheduled' && verdict.rests === 'seen';

export interface OpenCheck extends FillCheck {
  readonly state: 'scheduled' | 'running' | 'dead_letter';
  /** Of a claim that whoever looks may take over: nobody has heard of its verifier for long. */
  readonly stuckUntil?: Timestamp;
}

/** Guarded by `turn`: of all who would look beside the queue, one does, and the others come to what is due after it. */
export const takeTurn = ({ orderId, state, nextAt }: OpenCheck, until: Timestamp): Statement =>
  must(
    'turn',
    sql`update fill_checks set next_at = ${until}
        where order_id = ${orderId} and state = ${state} and next_at = ${nextAt}`,
  );

/** null: nothing of the order is followed up, or no longer. */
export async function findOpenCheck(db: Db, order: OrderId): Promise<OpenCheck | null> {
  const row = await db.get<CheckRow>(
    sql`select order_id, user_id, state, attempts, next_at from fill_checks where order_id = ${order}`,
  );
  if (!row || row.state === 'done') return null;
  const { order_id: orderId, user_id: userId, state, attempts, next_at: nextAt } = row;
  return { orderId, userId, state, attempts, nextAt };
}

/**
 * A look beside the queue has no claim and uses up no try. Guarded by `idle`: where a check is under way, that one decides, unless it is
 * stuck. What rests has been looked at by it, and is followed again where it had been given up. What stays given up is looked at again at
 * `seldomAt`; null: it was not given up.
 */
export const concludeLook = (
  { orderId, stuckUntil }: Pick<OpenCheck, 'orderId' | 'stuckUntil'>,
  verdict: Verdict,
  seldomAt: Timestamp | null,
): Statement =>
  must(
    'idle',
    join(
      [
        afterLooking(verdict, seldomAt),
        sql`where order_id = ${orderId} and (state in ('scheduled', 'dead_letter')
              or state = 'running' and visible_at = ${stuckUntil ?? null})`,
      ],
      ' ',
    ),
  );

function afterLooking(verdict: Verdict, seldomAt: Timestamp | null): Statement {
  if (verdict.check === 'done')
    return sql`update fill_checks set state = 'done', visible_at = null, last_error = null`;
  const { reason } = verdict;
  if (verdict.check === 'scheduled' && verdict.rests === 'seen')
    return sql`update fill_checks set last_error = ${reason}, next_at = ${verdict.nextAt}, attempts = 0, state = 'scheduled',
                 visible_at = null`;
  if (seldomAt !== null)
    return sql`update fill_checks set last_error = ${reason},
                 next_at = case when state = 'dead_letter' then ${seldomAt} else next_at end`;
  if (verdict.check === 'scheduled' && verdict.rests)
    return sql`update fill_checks set last_error = ${reason}, next_at = ${verdict.nextAt}`;
  return sql`update fill_checks set last_error = ${reason}`;
}

/** Its owner has said what became of it. A look that is under way meanwhile concludes nothing: the check is no longer its own. */
export const endCheck = (order: OrderId, now: Timestamp): Statement =>
  sql`update fill_checks set state = 'done', next_at = ${now}, visible_at = null, last_error = null
      where order_id = ${order} and state <> 'done'`;

/** Nobody looks at what was given up: so whoever has seen its end ends this too. */
export const endGivenUp = (order: OrderId, now: Timestamp): Statement =>
  sql`update fill_checks set state = 'done', next_at = ${now}, last_error = null where order_id = ${order} and state = 'dead_letter'`;

/** Frees the checks of verifiers that died; one that has used up its tries that way is a dead letter. */
export function freeLostChecks(now: Timestamp, retries: number): Statement[] {
  return [
    sql`update fill_checks set state = 'dead_letter', visible_at = null, last_error = 'the check was lost repeatedly'
        where state = 'running' and visible_at <= ${now} and attempts > ${retries}`,
    sql`update fill_checks set state = 'scheduled', visible_at = null
        where state = 'running' and visible_at <= ${now}`,
  ];
}

export async function hasLostChecks(db: Db, now: Timestamp): Promise<boolean> {
  const row = await db.get(
    sql`select order_id from fill_checks where state = 'running' and visible_at <= ${now} limit 1`,
  );
  return row !== undefined;
}

export async function verificationsOf(
  db: Reads,
  orders: readonly OrderId[],
): Promise<Map<OrderId, Verification>> {
  if (orders.length === 0) return new Map();
  const list = join(
    orders.map((id) => sql`${id}`),
    ', ',
  );
  const rows = await db.all<CheckRow>(
    join(
      [
        sql`select order_id, user_id, state, attempts, next_at from fill_checks where order_id in (`,
        list,
        sql`)`,
      ],
      '',
    ),
  );
  return new Map(rows.map((row) => [row.order_id, shownVerification(row)]));
}

/** A running check is shown as scheduled, its poll as not yet made: it is under way. */
export function shownVerification({
  state,
  attempts,
  next_at,
}: Pick<CheckRow, 'state' | 'attempts' | 'next_at'>): Verification {
  if (state === 'running') return { state: 'scheduled', attempts: attempts - 1, next_at };
  return { state, attempts, next_at: state === 'scheduled' ? next_at : null };
}

export async function countChecks(db: Db): Promise<Record<CheckRow['state'], number>> {
  const rows = await db.all<{ state: CheckRow['state']; checks: number }>(
    sql`select state, count(*) as checks from fill_checks where state <> 'done' group by state`,
  );
  const counts = { scheduled: 0, running: 0, done: 0, dead_letter: 0 };
  for (const row of rows) counts[row.state] = row.checks;
  return counts;
}

/** When the next one falls due, or the oldest did that nobody has taken yet; null: none waits. */
export async function earliestCheck(db: Db): Promise<Timestamp | null> {
  const row = await db.get<{ due: Timestamp | null }>(
    sql`select min(next_at) as due from fill_checks where state <> 'done' and state = 'scheduled'`,
  );
  return row?.due ?? null;
}
