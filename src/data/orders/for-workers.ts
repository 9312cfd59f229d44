// The worker's view of the database.

import { setTimeout as sleep } from 'node:timers/promises';
import type { OrderId, Timestamp, UserId } from '../../domain/ids.ts';
import { millis, timestamp } from '../../domain/ids.ts';
import { hasEnded, type Leg, type Order, openLeg } from '../../domain/orders/order.ts';
import type { Protection } from '../../domain/protection/protection.ts';
import { resumed } from '../../domain/protection/resume.ts';
import { rolls } from '../../domain/signals/symbol.ts';
import type { AboutToSend, Guarding, SaveOptions, WorkerOrders } from '../../worker/orders.ts';
import { type Account, changeAccountAt, findAccount } from '../accounts/accounts.ts';
import { DatabaseUnavailable, type Db, must, type Statement, sql } from '../engine/db.ts';
import { endGivenUp, scheduleCheck } from './fill-checks.ts';
import { entriesSince, firstEquity, knownEquity } from './guard-facts.ts';
import { forgetMonth, monthsUnder, noteMonth } from './months.ts';
import {
  accountsUnderWay,
  findOrder,
  heldByRecord,
  legsSentAround,
  recentOrders,
  saveOrder,
} from './orders.ts';
import { closedBy, firstProtection, knownOf, noteProtection, wantedFor } from './protections.ts';
import { leftOfPosition, resumeProtection } from './protections-left.ts';
import { endEntry, lookAtGivenUp } from './resting.ts';
import { openUnsettled } from './unsettled.ts';

/** A commit whose answer was lost is made again so often, each time after twice the time. */
const MOST_TRIES = 4;
const FIRST_PAUSE_MS = 100;

interface WorkerOrdersDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly firstPollMs: number;
  /** Told of every order that is saved; nobody waits for it. */
  onSave?(order: Order): void;
  /** Told of every order that this worker has brought to its end. */
  onEnd?(order: Order): Promise<void>;
}

export function workerOrders(deps: WorkerOrdersDeps): WorkerOrders {
  const { db, clock, firstPollMs } = deps;
  const next = (order: Order): Order => ({ ...order, version: order.version + 1 });

  /** Ends of which nobody has said whether they were saved with their fills: they may be yet. */
  const unheard = new Map<OrderId, Order>();

  async function untilAnswered<Answer>(ask: (tries: number) => Promise<Answer>): Promise<Answer> {
    for (let tries = 1; ; tries++)
      try {
        return await ask(tries);
      } catch (fault) {
        if (!(fault instanceof DatabaseUnavailable) || tries === MOST_TRIES) throw fault;
        await sleep(FIRST_PAUSE_MS * 2 ** tries);
      }
  }

  /** By its version, and by what is in it: a successor's first word moves the version, too. */
  async function stands({ id, version, status, trace }: Order): Promise<boolean> {
    const found = await findOrder(db, id);
    return (
      found?.version === version + 1 &&
      found.status === status &&
      JSON.stringify(found.trace) === JSON.stringify(trace)
    );
  }

  /** The guards make it safe to ask again. Where the order stands as it was to be saved by then, the lost commit was made. */
  const commit = (order: Order, unit: readonly Statement[]): Promise<string | null> =>
    untilAnswered(async (tries) => {
      const failed = await db.commit(unit);
      return failed === 'version' && tries > 1 && (await stands(order)) ? null : failed;
    });

  /** What was recorded with its fill, and nobody had heard of that. */
  async function recordedBefore({ id }: Order): Promise<Order | null> {
    const recorded = unheard.get(id);
    if (!recorded || !(await untilAnswered(() => stands(recorded)))) return null;
    return saved(recorded);
  }

  /** That nobody and nothing keeps a leg from being sent; and where, if that is to be found again. */
  function maySend({ order, revision }: AboutToSend, token: string): readonly Statement[] {
    const entry = opened(order);
    // A close that was sent once is not held back when it is sent again: it may be why the account was halted.
    const wasClosing = order.legs.some(({ leg, nth }) => leg === 'exit' && nth > 1);
    const isEntry = entry || (order.intent.operation === 'PLACE_ENTRY_ORDER' && !wasClosing);
    return [
      isOwner(order.userId, token),
      ...(isEntry ? [mayEnter(order, entry ? revision : null)] : []),
      ...(entry?.instrument && rolls(order.symbol)
        ? [noteMonth(order, entry.instrument, timestamp(clock.now()))]
        : []),
    ];
  }

  const savingUnit = (
    order: Order,
    { settled, isProtected = false, isSeen = false }: SaveOptions,
    protection: string | null = null,
  ): readonly Statement[] => [
    ...saveOrder(order, protection),
    ...(isProtected || order.exitReason ? knownOf(order) : []),
    ...(settled && openLeg(order)
      ? [scheduleCheck(order.id, order.userId, timestamp(clock.now() + firstPollMs))]
      : []),
    ...(isSeen && !openLeg(order) ? [endGivenUp(order.id, timestamp(clock.now()))] : []),
  ];

  async function saved(order: Order): Promise<Order> {
    unheard.delete(order.id);
    deps.onSave?.(order);
    if (hasEnded(order.status)) await deps.onEnd?.(order);
    return next(order);
  }

  return {
    find: (id) => findOrder(db, id),
    accountsUnderWay: (user) => accountsUnderWay(db, user),
    unsettled: openUnsettled(db),
    recent: (user, account, since) => recentOrders(db, user, account, since),
    heldByRecord: (user, account) => heldByRecord(db, user, account),
    monthsUnder: (of) => monthsUnder(db, of),
    async forgetMonth({ accountId, simulation }, instrument) {
      await db.commit([forgetMonth(accountId, simulation, instrument)]);
    },
    sentAround: (broker, time) => legsSentAround(db, broker, time),
    findAccount: (id) => findAccount(db, id),
    async endEntry(order, why) {
      await db.commit([endEntry(order.id, why), lookAtGivenUp(order.id, timestamp(clock.now()))]);
      return (await findOrder(db, order.id)) ?? order;
    },
    closedBy: (of) => closedBy(db, of),
    entriesSince: (of, since) => entriesSince(db, of, timestamp(since)),
    firstEquity: (of, day, read) => firstEquity(db, of, day, read),
    knownEquity: (of, day, read) => knownEquity(db, of, day, read),
    async refuseCredentials(account, version) {
      const refused = { verified: false, at: timestamp(clock.now()), warnings: [] };
      await db.commit([changeAccountAt(account, version, { credentials: refused })]);
    },
    async begin(user, token) {
      await db.commit([
        sql`insert into worker_owners (user_id, token) values (${user}, ${token})
            on conflict (user_id) do update set token = excluded.token`,
      ]);
    },
    async save(order, token, options) {
      const protectedAs = protectedBy(order, options);
      const saving = (protection: string | null) =>
        commit(order, [isOwner(order.userId, token), ...savingUnit(order, options, protection)]);
      const first = await saving(protectedAs?.id ?? null);
      const isKept = first === 'protection';
      if ((isKept ? await saving(null) : first) !== null) {
        const before = await recordedBefore(order);
        unheard.delete(order.id);
        return before ?? 'taken';
      }
      return marked(await saved(order), isKept ? null : protectedAs);
    },
    recording(order, token, options, sent) {
      const protectedAs = protectedBy(order, options);
      return {
        unit: [...maySend(sent, token), ...savingUnit(order, options, protectedAs?.id ?? null)],
        async saved(isCertain) {
          if (isCertain) return marked(await saved(order), protectedAs);
          unheard.set(order.id, order);
          return recordedBefore(order);
        },
      };
    },
    async want(order, token, of) {
      const at = timestamp(clock.now());
      const saving = (wanting: readonly Statement[]) =>
        commit(order, [isOwner(order.userId, token), ...saveOrder(order), ...wanting]);
      // One that was left is its owner's to speak of, and he does: it is kept again, and what he asks for now is taken in.
      const left = await leftOfPosition(db, order, of);
      const again = left ? await saving(keptAgain(left, order, at)) : 'protection';
      const failed =
        again === 'protection' ? await saving([wantedFor(order, of.instrument, of.side, at)]) : again;
      return failed === null ? saved(order) : 'taken';
    },
    async saveSending(order, token, revision) {
      const failed = await commit(order, [...maySend({ order, revision }, token), ...saveOrder(order)]);
      if (failed === null) return saved(order);
      if (failed !== 'account') {
        const before = await recordedBefore(order);
        unheard.delete(order.id);
        return before ?? 'taken';
      }
      const account = await findAccount(db, order.accountId);
      if (!account || account.halted) return 'halted';
      if (!order.simulation && !account.credentialsVerified) return 'unverified';
      const isChanged = opened(order) && revision !== null && account.revision !== revision;
      return isChanged ? guardingOf(account) : 'halted';
    },
  };
}

/** The leg by which it is about to open something. */
const opened = ({ legs }: Order): Leg | undefined =>
  legs.find(({ leg, status }) => leg === 'entry' && status === 'sending');

/** Where nothing is kept of the account, what protects the order's position is made with it: whoever answers need not read it. */
const protectedBy = (order: Order, { isProtected = false }: SaveOptions) =>
  order.wish && !isProtected && !order.protectedAs ? firstProtection(order) : null;

const marked = (order: Order, protectedAs: Order['protectedAs'] | null): Order =>
  protectedAs ? { ...order, protectedAs } : order;

/** Guarded by `protection`, as it is where its owner says so on Today. */
const keptAgain = (left: Protection, order: Order, at: Timestamp): Statement[] => [
  ...resumeProtection({ ...resumed(left, millis(at)), isResumed: 'asked', wantedBy: [order.id] }, at),
  noteProtection(left.id, at, { what: 'resumed', from: null, to: null, by: order.id }),
];

/** Guarded by `owner`. It holds the row: whoever begins after this sees everything that was saved before. */
export const isOwner = (user: UserId, token: string): Statement =>
  must('owner', sql`select 1 from worker_owners where user_id = ${user} and token = ${token}`);

const guardingOf = ({ guards, revision }: Account): Guarding => ({
  guards: Object.keys(guards).length > 0 ? guards : null,
  revision,
});

/**
 * Guarded by `account`. Whoever halts, deactivates, sets a guard or refuses the credentials is told so before this, or after
 * the leg is saved.
 */
const mayEnter = ({ userId, accountId, simulation }: Order, revision: number | null): Statement =>
  must(
    'account',
    sql`select 1 from trading_accounts a join users u on u.id = ${userId}
        where a.id = ${accountId} and a.halted = ${false} and u.is_active = ${true}
          and a.broker_credentials_verified = coalesce(${simulation ? null : true}, a.broker_credentials_verified)
          and a.revision = coalesce(${revision}, a.revision)`,
  );
