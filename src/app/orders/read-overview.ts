// What a user sees first: is everything in order, and if not, what is to be done. From the database alone: no worker and no
// broker is asked, so that a broker that is away delays nothing.

import { readHead } from '../../data/audit/chain.ts';
import type { Db } from '../../data/engine/db.ts';
import { currentTerms } from '../../data/identity/users.ts';
import { listDestinations } from '../../data/notifications/destinations.ts';
import { ordersOn } from '../../data/orders/limits.ts';
import { ordersByIds } from '../../data/orders/orders.ts';
import { leftProtections } from '../../data/orders/protections-left.ts';
import { troubledProtections } from '../../data/orders/protections-troubled.ts';
import { failedReversals } from '../../data/orders/reversals.ts';
import {
  countRefused,
  countSignals,
  type StandingAccount,
  type StandingStrategy,
  signalMarks,
  signalsAround,
  standingAccounts,
  standingStrategies,
} from '../../data/orders/standing.ts';
import { openChecks } from '../../data/orders/unresolved.ts';
import { BROKERS, isRealMoney } from '../../domain/brokers.ts';
import { millis, type OrderId, type Timestamp, timestamp, type UserId } from '../../domain/ids.ts';
import { dayOf, effectivePlan, type Plans } from '../../domain/orders/entitlement.ts';
import { type Attending, unattendedAt } from '../../domain/protection/unattended.ts';
import { canonicalSymbol } from '../../domain/signals/symbol.ts';
import { driftTrouble } from '../../domain/told/drift-trouble.ts';
import { protectionTrouble } from '../../domain/told/protection-trouble.ts';
import {
  credentialsState,
  credentialsTrouble,
  deadDestination,
  deadLetter,
  failedReversal,
  silence,
  type Trouble,
  termsTrouble,
  unknownOrder,
  withdrawalTrouble,
  worstFirst,
} from '../../domain/told/trouble.ts';
import type { User } from '../identity/access.ts';
import { LONG_UNSEALED_MS, unsealedMs } from '../operation/health.ts';
import { type Ended, lastEnded } from './ended-troubles.ts';
import { readDay } from './read-day.ts';

export interface OverviewDeps extends Attending {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly plans: Plans;
  /** null: other processes seal. */
  readonly sealer: { problem(): string | null } | null;
  /** Of a fill check, after the first try. */
  readonly fillRetries: number;
}

/** Things to do in one answer; nobody reads more of them. */
const MOST_TROUBLES = 50;
/** Looked at, of each kind. */
const MOST_LOOKED_AT = 200;
const MOST_STRATEGIES = 5_000;
/** Signals of one account: a stroke each. */
const MOST_MARKS = 300;
/** Of all accounts together. */
const MOST_MARKS_IN_ALL = 6_000;
/** A reversal that failed longer ago than this is history. */
const REVERSALS_MS = 7 * 86_400_000;

export type Overview = Awaited<ReturnType<typeof readOverview>>;

/** `dayStart`: null: that of the UTC day. */
export async function readOverview(deps: OverviewDeps, user: User, dayStart: Timestamp | null) {
  const { clock } = deps;
  const db = deps.db.lists;
  const now = clock.now();
  const from = dayStart ?? (`${dayOf(now)}T00:00:00.000Z` as Timestamp);
  const [accounts, strategies, signals] = [
    await standingAccounts(db, user.id),
    await standingStrategies(db, user.id, MOST_STRATEGIES),
    await countSignals(db, user.id, from),
  ];
  const day = await readDay(deps.db, user.id, from);
  const marks = Map.groupBy(
    await signalMarks(db, user.id, accounts, {
      since: from,
      limit: Math.max(1, Math.min(MOST_MARKS, Math.floor(MOST_MARKS_IN_ALL / accounts.length))),
    }),
    ({ accountId }) => accountId,
  );
  const { todo, unresolved, ended } = await readTroubles(deps, user, { accounts, strategies, from, now });
  const last = await lastEnded(db, user.id, accounts, ended);
  const executed = { ...day.signals, ...signals };
  return {
    checked_at: timestamp(now),
    day_start: from,
    in_order: todo.length === 0,
    since: last?.ended_at ?? null,
    last_trouble: last,
    todo: todo.slice(0, MOST_TROUBLES),
    todo_more: Math.max(0, todo.length - MOST_TROUBLES),
    counted_all: day.isAll,
    orders_today: { accepted: day.accepted, unresolved, half_answered_within_ms: day.halfWithinMs },
    signals_today: { total: Object.values(executed).reduce((sum, count) => sum + count, 0), ...executed },
    limit: await readLimit(deps, user, now),
    accounts: accounts.map((account) => {
      const orders = day.accounts.get(account.id);
      const profit = day.profits.get(account.id);
      return {
        ...showAccount(account),
        connection: connectionOf(account, day.brokers.get(account.id) ?? null),
        positions: inSync(account, strategies, todo),
        counted_all: day.isAll,
        orders_today: orders?.real ?? 0,
        simulated_today: orders?.simulated ?? 0,
        realised_today: profit === undefined && day.isAll ? 0 : (profit?.realised ?? null),
        currency: BROKERS[account.brokerName].currency,
        profit_steps: profit?.steps ?? [],
        signals_today: (marks.get(account.id) ?? []).map(({ at, refused, simulation }) => ({
          at,
          refused,
          simulation,
        })),
      };
    }),
    audit: await readSealing(deps, now),
  };
}

const credentialsOf = ({ credentialsVerified, hasCredentials, credentialsCheckedAt }: StandingAccount) =>
  credentialsState({ verified: credentialsVerified, hasCredentials, checkedAt: credentialsCheckedAt });

const showAccount = (account: StandingAccount) => ({
  id: account.id,
  name: account.name,
  broker_name: account.brokerName,
  environment: account.environment,
  real_money: isRealMoney(account.brokerName, account.environment),
  halted: account.halted,
  halted_since: account.haltedAt,
  credentials: credentialsOf(account),
  credentials_since: account.credentialsCheckedAt,
  last_signal_at: account.lastSignalAt,
});

function connectionOf(
  account: StandingAccount,
  seen: { readonly state: 'answering' | 'silent'; readonly at: Timestamp } | null,
) {
  if (credentialsOf(account) === 'refused')
    return { state: 'refused', at: account.credentialsCheckedAt } as const;
  return seen ?? ({ state: 'not_known', at: null } as const);
}

/** null: no strategy speaks, or nobody could compare. */
function inSync(account: StandingAccount, strategies: readonly StandingStrategy[], todo: readonly Trouble[]) {
  const own = strategies.filter(({ accountId }) => accountId === account.id);
  if (own.length === 0 || !account.credentialsVerified) return null;
  // Where an order's end is not known, neither is what is held.
  const unknown = new Set(
    todo
      .filter(({ kind, trading_account_id: id }) => id === account.id && IN_DOUBT.includes(kind))
      .map(({ symbol = '' }) => canonicalSymbol(account.brokerName, symbol)),
  );
  const agrees = ({ symbol, driftSince }: StandingStrategy) => driftSince === null && !unknown.has(symbol);
  return { in_sync: own.filter(agrees).length, of: own.length };
}
const IN_DOUBT: readonly Trouble['kind'][] = ['unknown_order', 'dead_letter'];

async function readLimit({ db, plans }: OverviewDeps, user: User, now: number) {
  const day = dayOf(now);
  const { real, simulated } = await ordersOn(db, user.id, day);
  const planExpiresAt = user.planExpiresAt === null ? null : millis(user.planExpiresAt);
  const plan = plans[effectivePlan(plans, { plan: user.plan, planExpiresAt }, now)] ?? plans.free;
  return { day, daily_orders: plan.daily_orders, orders_today: real, simulated_today: simulated };
}

async function readSealing(deps: OverviewDeps, now: number) {
  const { entries, sealedUpTo } = await readHead(deps.db);
  const waitingMs = await unsealedMs(deps);
  return {
    sealed: waitingMs <= LONG_UNSEALED_MS && (deps.sealer?.problem() ?? null) === null,
    sealed_up_to: sealedUpTo,
    entries,
    unsealed_seconds: Math.round(waitingMs / 1000),
    checked_at: timestamp(now),
  };
}

// What is to be done

interface Standing {
  readonly accounts: readonly StandingAccount[];
  readonly strategies: readonly StandingStrategy[];
  readonly from: Timestamp;
  readonly now: number;
}

async function readTroubles(deps: OverviewDeps, user: User, standing: Standing) {
  const ofOrders = await orderTroubles(deps, user.id, standing);
  const ofAccounts = await accountTroubles(deps.db, user.id, standing);
  const ended = [...ofOrders.ended, ...ofAccounts.ended];
  const todo = [
    ...ofOrders.troubles,
    ...(await protectionTroubles(deps, user.id, standing)),
    ...driftTroubles(standing),
    ...ofAccounts.troubles,
    ...(await termsToAccept(deps, user, standing.now)),
    ...(await deadDestinations(deps.db, user.id)),
  ];
  return { todo: worstFirst(todo), unresolved: ofOrders.unresolved, ended };
}

async function orderTroubles(
  { db, fillRetries }: OverviewDeps,
  user: UserId,
  { accounts, from, now }: Standing,
) {
  const checks = await openChecks(db.lists, user, MOST_LOOKED_AT);
  const reversals = await failedReversals(db.lists, user, {
    since: timestamp(now - REVERSALS_MS),
    limit: MOST_LOOKED_AT,
  });
  const open = reversals.filter(({ followedAt }) => followedAt === null);
  const ids = new Set<OrderId>([...checks, ...open].map(({ orderId }) => orderId));
  const orders = new Map((await ordersByIds(db.lists, [...ids])).map((order) => [order.id, order]));
  const byId = new Map(accounts.map((account) => [account.id, account]));
  let unresolved = 0;
  const troubles: Trouble[] = [];
  const of = (id: OrderId) => {
    const order = orders.get(id);
    const account = order && byId.get(order.accountId);
    return account ? { order, account } : null;
  };
  for (const { orderId, isDeadLetter, attempts, nextAt, lastError } of checks) {
    const found = of(orderId);
    if (!found) continue;
    const { order, account } = found;
    if (order.submittedAt >= from) unresolved++;
    const following = { attempts, mostAttempts: fillRetries + 1, lastReason: lastError };
    troubles.push(
      isDeadLetter
        ? deadLetter(order, account, { ...following, nextAt: null })
        : unknownOrder(order, account, { ...following, nextAt }),
    );
  }
  const known = new Set(checks.map(({ orderId }) => orderId));
  for (const { orderId } of open) {
    const found = known.has(orderId) ? null : of(orderId);
    if (found) troubles.push(failedReversal(found.order, found.account));
  }
  const ended = reversals.flatMap(({ orderId, followedAt }): Ended[] =>
    followedAt === null
      ? []
      : [
          {
            kind: 'failed_reversal',
            title: 'A reversal had failed',
            ended_at: followedAt,
            order_id: orderId,
          },
        ],
  );
  return { troubles, unresolved, ended };
}

async function protectionTroubles(
  { db, ...attending }: OverviewDeps,
  user: UserId,
  { accounts, now }: Standing,
): Promise<Trouble[]> {
  const byId = new Map(accounts.map((account) => [account.id, account]));
  const troubled = [
    ...(await troubledProtections(db.lists, user, unattendedAt(now, attending), MOST_LOOKED_AT)),
    ...(await leftProtections(db.lists, user, MOST_LOOKED_AT)),
  ];
  return troubled.flatMap((protection) => {
    const account = byId.get(protection.accountId);
    return (account && protectionTrouble(protection, account, now)) ?? [];
  });
}

function driftTroubles({ accounts, strategies }: Standing): Trouble[] {
  const byId = new Map(accounts.map((account) => [account.id, account]));
  return strategies.flatMap(({ accountId, driftSince, ...strategy }) => {
    const account = byId.get(accountId);
    if (!account || driftSince === null) return [];
    const found = driftTrouble(account, { ...strategy, since: driftSince });
    // Halted is its owner's own wish: nobody is asked to buy again what was closed by it.
    return found === null || (account.halted && found.kind === 'drift_missing') ? [] : found;
  });
}

async function accountTroubles(db: Db, user: UserId, { accounts }: Standing) {
  const troubles: (Trouble | null)[] = [];
  const ended: Ended[] = [];
  for (const account of accounts) {
    const state = credentialsOf(account);
    const since = state === 'missing' ? account.createdAt : account.credentialsCheckedAt;
    const refused =
      state === 'refused' && since !== null
        ? await countRefused(db.lists, user, account, { code: 'credentials_not_verified', since })
        : 0;
    troubles.push(
      credentialsTrouble(account, { state, since, refused, wereGood: account.credentialsRefused }),
      withdrawalTrouble(account, { since, warnings: account.keyWarnings }),
    );
    const { silenceAfter, silenceToldAt } = account;
    if (silenceAfter === null || silenceToldAt === null) continue;
    const { last, next } = await signalsAround(db.lists, user, account, silenceToldAt);
    if (next === null) {
      const lastAt = last ?? account.createdAt;
      troubles.push(silence(account, { since: silenceToldAt, lastAt, silenceAfter }));
    } else
      ended.push({
        kind: 'silence',
        title: `${account.name} was silent`,
        ended_at: next,
        trading_account_id: account.id,
      });
  }
  return { troubles: troubles.filter((each) => each !== null), ended };
}

async function deadDestinations(db: Db, user: UserId): Promise<Trouble[]> {
  return (await listDestinations(db.lists, user)).flatMap(({ name, deadSince, lastError }) =>
    deadSince === null ? [] : deadDestination({ name, since: deadSince, lastError }),
  );
}

/** Only who may trade has to accept them. */
async function termsToAccept({ db, plans }: OverviewDeps, user: User, now: number): Promise<Trouble[]> {
  const planExpiresAt = user.planExpiresAt === null ? null : millis(user.planExpiresAt);
  const plan = plans[effectivePlan(plans, { plan: user.plan, planExpiresAt }, now)] ?? plans.free;
  const terms = plan.simulation_only ? null : await currentTerms(db);
  if (terms === null || terms.version === user.termsVersion) return [];
  return [termsTrouble({ version: terms.version, publishedAt: terms.published_at })];
}
