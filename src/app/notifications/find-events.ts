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
import { groupSignalsOf } from '../../data/notifications/group-signals.ts';
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
import { credentialsEvent, isTold, limitEvent, orderEvents, silenceEvent } from '../../domain/told/events.ts';
import { DELIVERY_LIFE_MS, type Event } from '../../domain/told/notification.ts';
import { type Occurrence, type TellDeps, tell } from './tell.ts';
import { toldOf, toldOfEntries } from './together.ts';

export interface EventDeps extends TellDeps {
  readonly plans: Plans;
}

/** Places in the audit log. */
const STEP = 500;
const MOST_STEPS = 20;
/** While nobody listens the cursor is moved on now and then only. */
const FAR_BEHIND = 10_000;
const MOST_CHANGED = 200;
/** What has become so while nobody looked is told of for as long as a message would be sent: marks live longer. */
const LOOK_BACK_MS = DELIVERY_LIFE_MS;
/** A broker that does not answer, and an attack, is told of once in this time, of each account. */
const FOLD_MS = 1_800_000;
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
  // What a group's signal became is told with the others of it: see findChanges.
  const [ofGroups, alone] = [orders.filter(isOfGroup), orders.filter((order) => !isOfGroup(order))];
  const ofOrders = alone.flatMap((order): Occurrence[] => {
    const seen = { before: null, isDeadLetter: dead.has(order.id), at: now };
    const events = orderEvents(order, nameIn(names, order.accountId) ?? '', seen);
    return events.map((event) => ({ event, begunAt: order.submittedAt }));
  });
  const ofEntries = toldOfEntries(entries, ({ accountId }) => nameIn(names, accountId));
  const { told, marks } = await foldedOnce(deps, [...ofEntries, ...ofOrders]);
  return [
    ...marks,
    ...ofGroups.map((order) => watchOrder({ ...watchedAs(order, false), ...UNTOLD }, now)),
    ...alone
      .filter((order) => !isTold(order))
      .map((order) => watchOrder(watchedAs(order, dead.has(order.id)), now)),
    ...(await tell(deps, told)),
  ];
}

const isOfGroup = ({ groupId }: Order): boolean => groupId !== undefined && groupId !== null;

/** Watched as no order is: so it counts as changed until it is told. */
const UNTOLD = { version: 0, status: 'queued' } as const;

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
  const seen = changed.flatMap(({ told, isDeadLetter }) => {
    const order = found.get(told.id);
    if (!order) return [];
    const isFirst = told.version === UNTOLD.version;
    const before = isFirst ? null : told;
    const events = orderEvents(order, nameIn(names, order.accountId) ?? '', {
      before,
      isDeadLetter,
      at: now,
    });
    const begunAt = isFirst ? order.submittedAt : now;
    return [{ told, isDeadLetter, order, events, isFirst, begunAt }];
  });
  const ofGroups = seen.flatMap(({ order }) => (isOfGroup(order) ? [order.id] : []));
  const { told, waiting } = toldOf(seen, await groupSignalsOf(db, ofGroups), now);
  const marks = seen
    .filter(({ order }) => !waiting.has(order.id))
    .map(({ told: before, order, isDeadLetter }) =>
      isTold(order)
        ? unwatchOrder(before)
        : rewatchOrder(before, watchedAs(order, isDeadLetter || before.deadLetter)),
    );
  const folded = await foldedOnce(deps, told);
  const unit = [...marks, ...folded.marks, ...(await tell(deps, folded.told))];
  if (unit.length > 0) await db.commit(unit);
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
  const markOf = (event: Occurrence['event']): string | null => {
    const name = 'as' in event ? undefined : FOLDED[event.kind];
    if ('as' in event || name === undefined) return null;
    return `${name}:${event.accountId ?? event.userId}:${Math.floor(now / FOLD_MS)}`;
  };
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
  for (const account of await troubledAccounts(db.lists, timestamp(now - LOOK_BACK_MS))) {
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
