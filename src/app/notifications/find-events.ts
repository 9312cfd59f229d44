// Finds what users want to be told of, after it was committed: whoever accepts or executes an order does nothing for it, and
// knows nothing of it. How far it came is moved on in the unit that makes the messages: nothing is told twice or forgotten by us,
// however many processes look, and wherever they die.
//
// It reads on in the audit log by the places of its seals: where sealing has stopped, so has this. Orders that it meets there
// are watched until they end. States that no entry tells of (credentials, silence, the limit) are told once, by a mark. While
// nobody has a destination that listens, two reads a second are all that it does.

import { readHead } from '../../data/audit/chain.ts';
import type { Statement } from '../../data/engine/db.ts';
import { inSteps } from '../../data/engine/steps.ts';
import { hasLiveDestinations } from '../../data/notifications/destinations.ts';
import {
  accountNames,
  advanceCursor,
  changedOrders,
  dayCounts,
  deadAmong,
  firstListener,
  makeMark,
  marksAmong,
  readCursor,
  rewatchOrder,
  sealedEvents,
  troubledAccounts,
  unwatchOrder,
  type WatchedOrder,
  watchedAmong,
  watchOrder,
} from '../../data/notifications/sources.ts';
import { ordersByIds } from '../../data/orders/orders.ts';
import { type AccountId, millis, type OrderId, type Timestamp, timestamp } from '../../domain/ids.ts';
import { dayOf, effectivePlan, type Plans } from '../../domain/orders/entitlement.ts';
import type { Order } from '../../domain/orders/order.ts';
import {
  credentialsEvent,
  entryEvent,
  isTold,
  limitEvent,
  orderEvents,
  silenceEvent,
} from '../../domain/told/events.ts';
import type { Event } from '../../domain/told/notification.ts';
import { type Occurrence, type TellDeps, tell } from './tell.ts';

export interface EventDeps extends TellDeps {
  readonly plans: Plans;
}

/** Places in the audit log. */
const STEP = 500;
const MOST_STEPS = 20;
/** While nobody listens the cursor is moved on now and then only. */
const FAR_BEHIND = 10_000;
const MOST_CHANGED = 200;
const HOUR_MS = 3_600_000;
/** A broker that does not answer, and an attack, is told of once in this time, of each account. */
const FOLD_MS = HOUR_MS / 2;
const FOLDED: { readonly [kind in Event['kind']]?: string } = {
  broker_disconnected: 'outage',
  attack: 'attack',
};

/** What was written since the last look, and what became of orders meanwhile. */
export async function findEvents(deps: EventDeps): Promise<void> {
  const { db } = deps;
  // The head first: what was sealed behind it concerns those who begin to listen only after this look.
  const { entries: head } = await readHead(db);
  const from = await readCursor(db);
  // The first look of all. Destinations may have been added before there was anybody to look.
  if (from === null) {
    const begin = Math.min((await firstListener(db.lists)) ?? head, head);
    return void (await db.commit([advanceCursor(null, begin)]));
  }
  if (!(await hasLiveDestinations(db))) {
    if (head - from > FAR_BEHIND) await db.commit([advanceCursor(from, head)]);
    return;
  }
  const end = Math.min(head, from + MOST_STEPS * STEP);
  const readOn = async (at: number | null): Promise<number | null> => {
    const after = at ?? from;
    if (after >= end) return null;
    const upTo = Math.min(end, after + STEP);
    const unit = await unitOf(deps, after, upTo);
    return (await db.commit([advanceCursor(after, upTo), ...unit])) === null ? upTo : null;
  };
  let reached = from;
  for await (const at of inSteps(readOn)) reached = at;
  // A failed guard: somebody else was faster. The next round sees what is left.
  if (reached >= end) await findChanges(deps);
}

async function unitOf(deps: EventDeps, after: number, upTo: number): Promise<Statement[]> {
  const { db, clock } = deps;
  const { entries, orders: ids } = await sealedEvents(db.lists, after, upTo);
  if (entries.length === 0 && ids.length === 0) return [];
  const now = timestamp(clock.now());
  const known = await watchedAmong(db, ids);
  const orders = await ordersByIds(
    db,
    ids.filter((id) => !known.has(id)),
  );
  const dead = await deadAmong(
    db,
    orders.map(({ id }) => id),
  );
  const names = await namesOf(deps, [...entries, ...orders]);
  const ofEntries = entries.flatMap((entry): Occurrence[] => {
    const event = entryEvent(entry, nameIn(names, entry.accountId));
    return event ? [{ event, begunAt: entry.at }] : [];
  });
  const ofOrders = orders.flatMap((order): Occurrence[] => {
    const seen = { before: null, isDeadLetter: dead.has(order.id), at: now };
    const events = orderEvents(order, nameIn(names, order.accountId) ?? '', seen);
    return events.map((event) => ({ event, begunAt: order.submittedAt }));
  });
  const { told, marks } = await foldedOnce(deps, [...ofEntries, ...ofOrders]);
  return [
    ...marks,
    ...orders
      .filter((order) => !isTold(order))
      .map((order) => watchOrder(watchedAs(order, dead.has(order.id)), now)),
    ...(await tell(deps, told)),
  ];
}

const watchedAs = ({ id, userId, version, status }: Order, deadLetter: boolean): WatchedOrder => ({
  ...{ id, userId, version, status },
  deadLetter,
});

/** Orders of which something was told, or is to be, and that are no longer as they were. */
async function findChanges(deps: EventDeps): Promise<void> {
  const { db, clock } = deps;
  const changed = await changedOrders(db, MOST_CHANGED);
  if (changed.length === 0) return;
  const now = timestamp(clock.now());
  const found = new Map<OrderId, Order>(
    (
      await ordersByIds(
        db,
        changed.map(({ told }) => told.id),
      )
    ).map((order) => [order.id, order]),
  );
  const names = await namesOf(deps, [...found.values()]);
  const marks: Statement[] = [];
  const occurrences: Occurrence[] = [];
  for (const { told, isDeadLetter } of changed) {
    const order = found.get(told.id);
    if (!order) continue;
    const deadLetter = isDeadLetter || told.deadLetter;
    marks.push(isTold(order) ? unwatchOrder(told) : rewatchOrder(told, watchedAs(order, deadLetter)));
    const seen = { before: told, isDeadLetter, at: now };
    const events = orderEvents(order, nameIn(names, order.accountId) ?? '', seen);
    occurrences.push(...events.map((event) => ({ event, begunAt: now })));
  }
  const folded = await foldedOnce(deps, occurrences);
  await db.commit([...marks, ...folded.marks, ...(await tell(deps, folded.told))]);
}

async function namesOf({ db }: EventDeps, of: readonly { readonly accountId: AccountId | null }[]) {
  const ids = new Set(of.flatMap(({ accountId }) => accountId ?? []));
  return accountNames(db, [...ids]);
}

const nameIn = (names: ReadonlyMap<AccountId, string>, id: AccountId | null): string | null =>
  id === null ? null : (names.get(id) ?? null);

/** Of an account that fails with every order, or is attacked again and again, one. */
async function foldedOnce({ db, clock }: EventDeps, occurrences: readonly Occurrence[]) {
  const now = clock.now();
  const markOf = ({ kind, userId, accountId }: Event): string | null =>
    FOLDED[kind] ? `${FOLDED[kind]}:${accountId ?? userId}:${Math.floor(now / FOLD_MS)}` : null;
  const known = await marksAmong(db, [...new Set(occurrences.flatMap(({ event }) => markOf(event) ?? []))]);
  const fresh = new Set<string>();
  const told = occurrences.filter(({ event }) => {
    const mark = markOf(event);
    if (mark === null) return true;
    if (known.has(mark) || fresh.has(mark)) return false;
    fresh.add(mark);
    return true;
  });
  return { told, marks: [...fresh].map((mark) => makeMark(mark, timestamp(now))) };
}

/** What no entry tells of: credentials that a broker refuses, silence, and a daily limit that is near. Once each. */
export async function findStates(deps: EventDeps): Promise<void> {
  const { db, clock, plans } = deps;
  if (!(await hasLiveDestinations(db))) return;
  const now = clock.now();
  const found: { mark: string; event: Event }[] = [];
  for (const account of await troubledAccounts(db.lists, timestamp(now - HOUR_MS))) {
    const { id, refusedSince, silentSince, silenceAfter } = account;
    if (refusedSince)
      found.push({
        mark: `credentials:${id}:${refusedSince}`,
        event: credentialsEvent(account, { at: refusedSince, wereGood: account.wereGood }),
      });
    if (silentSince && silenceAfter !== null)
      found.push({
        mark: `silence:${id}:${silentSince}`,
        event: silenceEvent(account, { at: silentSince, silenceAfter }),
      });
  }
  const day = dayOf(now);
  for (const { userId, plan, planExpiresAt, real, simulated } of await dayCounts(db.lists, day)) {
    const subscription = { plan, planExpiresAt: planExpiresAt === null ? null : millis(planExpiresAt) };
    const { daily_orders: limit } = plans[effectivePlan(plans, subscription, now)] ?? plans.free;
    for (const [used, isSimulated] of [
      [real, false],
      [simulated, true],
    ] as const) {
      const event = limitEvent(userId, timestamp(now), { used, limit, isSimulated });
      if (event) found.push({ mark: `limit:${userId}:${day}:${isSimulated}`, event });
    }
  }
  const known = await marksAmong(
    db,
    found.map(({ mark }) => mark),
  );
  for (const { mark, event } of found)
    if (!known.has(mark)) {
      const begunAt: Timestamp = event.at;
      await db.commit([makeMark(mark, timestamp(now)), ...(await tell(deps, [{ event, begunAt }]))]);
    }
}
