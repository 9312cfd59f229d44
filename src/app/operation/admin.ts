// Administration: what an operator sees and changes from an admin IP. Every attempt to change something leaves an
// audit entry, with the admin as its user and the target as its resource.

import { realMoneyAmong } from '../../data/accounts/accounts.ts';
import type { Db, Statement } from '../../data/engine/db.ts';
import { findSession, liveSessions, revokeSession } from '../../data/identity/sessions.ts';
import {
  changeUser,
  claimFirstAdmin,
  currentTerms,
  findUserRecord,
  hasAdmin,
  hasTerms,
  holdTerms,
  insertTerms,
  insertUser,
  listUsers,
  stillActingAdmin,
  type Terms,
  type User,
  type UserChange,
  type UserRecord,
} from '../../data/identity/users.ts';
import {
  type DeadLetter as CheckGivenUp,
  deadLetters,
  hasCheck,
  reviveCheck,
} from '../../data/orders/dead-letters.ts';
import { countChecks, earliestCheck } from '../../data/orders/fill-checks.ts';
import { findOrder, ordersUnderWayNow, usersWithOrdersUnderWay } from '../../data/orders/orders.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import { isEmail, normalEmail } from '../../domain/identity/email.ts';
import { weakness } from '../../domain/identity/password.ts';
import {
  isUuid,
  millis,
  type OrderId,
  type SessionId,
  type Timestamp,
  timestamp,
  type UserId,
} from '../../domain/ids.ts';
import { effectivePlan, type Plans } from '../../domain/orders/entitlement.ts';
import type { Store } from '../../store/store.ts';
import type { Hosts } from '../../worker/host/hosts.ts';
import type { Mailbox } from '../../worker/host/mailbox.ts';
import { STARTS_QUEUE } from '../../worker/host/pool.ts';
import { audit, type RequestContext, writeAudit } from '../audit/audit.ts';
import type { PasswordHasher } from '../identity/passwords.ts';
import { shownUser } from '../identity/sessions.ts';
import { newId } from '../new-id.ts';
import type { Changes } from '../orders/changes.ts';
import { onePage, type Page, type PageRequest, pageOf } from '../pages.ts';
import { leaving } from './leaving.ts';

export type { Terms, UserChange };

export interface DeadLetter extends CheckGivenUp {
  /** false: it is simulated, or its account trades no real money. */
  readonly real_money: boolean;
}

interface AdminDeps {
  readonly db: Db;
  readonly clock: { now(): number };
}

interface Tells {
  readonly changes: Pick<Changes, 'ofOrder' | 'ofAccess'>;
}

/** Who administers, and by which request. */
export interface Admin {
  /** null: the operator, at the machine itself. */
  readonly id: UserId | null;
  readonly context: RequestContext;
}

/** What is attempted, for the audit log. */
interface Deed {
  readonly action: string;
  readonly resource?: { readonly type: string; readonly id: string };
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** The change and its audit entry in one unit. A guard's name: nothing was changed. */
function perform(
  { db, clock }: AdminDeps,
  { id, context }: Admin,
  deed: Deed,
  change: readonly Statement[],
): Promise<string | null> {
  return db.commit([...change, audit(context, { userId: id, failure: null, ...deed }, clock.now())]);
}

async function refuse(
  deps: AdminDeps,
  by: Admin | RequestContext,
  deed: Deed,
  denial: Denial,
): Promise<Denial> {
  const { id, context } = 'context' in by ? by : { id: null, context: by };
  await writeAudit(deps, context, { userId: id, failure: denial, ...deed });
  return denial;
}

const noSuch = (what: string): Denial => deny('not_found', { detail: `There is no such ${what}.` });

// The first admin

export async function makeFirstAdmin(
  deps: AdminDeps & { readonly hasher: PasswordHasher },
  { email, password }: { email: string; password: string },
  context: RequestContext,
): Promise<Denial | { user: object }> {
  const { db, clock, hasher } = deps;
  const user: User = {
    id: newId() as UserId,
    email: normalEmail(email),
    isAdmin: true,
    isActive: true,
    plan: 'desk',
    planExpiresAt: null,
    termsVersion: null,
    emailVerified: true,
  };
  const deed: Deed = { action: 'first_admin' };
  if (!isEmail(user.email)) return deny('request_invalid', { detail: '"email" must be an email address.' });
  const weak = weakness(password, user.email);
  if (weak) return weak;
  // Spares the work of hashing; the claim below is what decides.
  if (await hasAdmin(db)) return refuse(deps, context, deed, deny('admin_exists'));
  const passwordHash = await hasher.hash(password);
  const now = timestamp(clock.now());
  const made: Deed = { ...deed, resource: { type: 'user', id: user.id } };
  const lost = await perform(deps, { id: user.id, context }, made, [
    claimFirstAdmin(now),
    insertUser(user, passwordHash, now),
  ]);
  if (lost === 'email') return refuse(deps, context, deed, deny('email_taken'));
  if (lost !== null) return refuse(deps, context, deed, deny('admin_exists'));
  return { user: shownUser(user) };
}

// Workers and queues

interface WorkerDeps extends AdminDeps {
  readonly hosts: Hosts;
}

export async function readWorkers({ hosts }: Pick<WorkerDeps, 'hosts'>, page: PageRequest) {
  const { after, limit } = onePage(page);
  const found = await hosts.workers({ after: after as UserId | null, limit });
  return pageOf(
    found.map((worker) => ({ id: worker.userId, worker })),
    page,
    ({ worker }) => ({
      user_id: worker.userId,
      host: worker.host,
      started_at: timestamp(worker.startedAt),
      busy: worker.busy,
      last_active_at: timestamp(worker.lastActiveAt),
      connections: worker.connections,
    }),
  );
}

/** Ends when the worker has: what it has in flight is finished first. The user's next request starts a new one. */
export async function stopWorker(deps: WorkerDeps, by: Admin, user: string): Promise<Denial | null> {
  const host = isUuid(user) ? await deps.hosts.hostOf(user as UserId) : null;
  const deed: Deed = { action: 'worker_stop', resource: { type: 'worker', id: shortened(user) } };
  if (!host) return refuse(deps, by, deed, noSuch('worker'));
  await perform(deps, by, deed, []);
  await deps.hosts.stop(host, user as UserId);
  return null;
}

/** Mailboxes in one answer; the fullest come first. */
const MOST_MAILBOXES = 100;
/** Whose mailbox is looked into. */
const MOST_USERS = 1_000;

interface QueueDeps {
  readonly db: Db;
  readonly store: Pick<Store, 'queueLength'>;
  readonly mailbox: Pick<Mailbox, 'waiting'>;
  readonly hosts: Pick<Hosts, 'list'>;
  readonly clock: { now(): number };
}

export async function readQueues({ db, store, mailbox, hosts, clock }: QueueDeps) {
  const [checks, due, orders, starts, there, users] = await Promise.all([
    countChecks(db),
    earliestCheck(db),
    ordersUnderWayNow(db),
    store.queueLength(STARTS_QUEUE),
    hosts.list(),
    // Only who has an order under way has something waiting, but for a question that is answered in a moment.
    usersWithOrdersUnderWay(db, timestamp(clock.now())),
  ]);
  const mailboxes = await Promise.all(
    users.slice(0, MOST_USERS).map(async (id) => ({ user_id: id, waiting: await mailbox.waiting(id) })),
  );
  const secondsSince = (time: Timestamp) => Math.max(0, clock.now() - millis(time)) / 1000;
  return {
    orders: {
      under_way: orders.count,
      oldest_seconds: orders.oldest === null ? null : secondsSince(orders.oldest),
    },
    fill_checks: {
      scheduled: checks.scheduled,
      running: checks.running,
      dead_letter: checks.dead_letter,
      overdue_seconds: due === null ? 0 : secondsSince(due),
    },
    worker_starts: { waiting: starts },
    hosts: there.map(({ name, startedAt, workers, busy, draining }) => ({
      name,
      started_at: timestamp(startedAt),
      workers,
      busy,
      draining,
    })),
    mailboxes: mailboxes.sort((a, b) => b.waiting - a.waiting).slice(0, MOST_MAILBOXES),
  };
}

// Dead letters

export async function readDeadLetters(
  { db }: Pick<AdminDeps, 'db'>,
  page: PageRequest,
): Promise<Page<DeadLetter>> {
  const { after, limit } = onePage(page);
  const found = await deadLetters(db.lists, { after: after as OrderId | null, limit });
  const real = await realMoneyAmong(
    db.lists,
    found.map((letter) => letter.trading_account_id),
  );
  const told = found.map((letter) => ({
    ...letter,
    real_money: real.has(letter.trading_account_id) && !letter.simulation,
  }));
  return pageOf(
    told.map((letter) => ({ id: letter.order_id, letter })),
    page,
    ({ letter }) => letter,
  );
}

/** A fresh check, due now and with all its tries. */
export async function retryDeadLetter(
  deps: AdminDeps & Tells,
  by: Admin,
  order: string,
): Promise<Denial | null> {
  const deed: Deed = { action: 'dead_letter_retry', resource: { type: 'order', id: shortened(order) } };
  if (!isUuid(order)) return refuse(deps, by, deed, noSuch('dead letter'));
  const id = order as OrderId;
  const lost = await perform(deps, by, deed, [reviveCheck(id, timestamp(deps.clock.now()))]);
  if (lost === null) {
    const retried = await findOrder(deps.db, id);
    if (retried) deps.changes.ofOrder(retried);
    return null;
  }
  const denial = (await hasCheck(deps.db, id)) ? deny('not_a_dead_letter') : noSuch('dead letter');
  return refuse(deps, by, deed, denial);
}

// Users and sessions

interface UserDeps extends AdminDeps {
  readonly plans: Plans;
}

const shownRecord = (user: UserRecord, plans: Plans, now: number) => {
  const planExpiresAt = user.planExpiresAt === null ? null : millis(user.planExpiresAt);
  return {
    id: user.id,
    email: user.email,
    is_admin: user.isAdmin,
    is_active: user.isActive,
    plan: user.plan,
    effective_plan: effectivePlan(plans, { plan: user.plan, planExpiresAt }, now),
    plan_expires_at: user.planExpiresAt,
    terms_version: user.termsVersion,
    email_verified: user.emailVerified,
    terms_accepted_at: user.termsAcceptedAt,
    created_at: user.createdAt,
  };
};

export async function readUsers(
  { db, clock, plans }: UserDeps,
  { email, ...page }: PageRequest & { email: string | null },
) {
  const { after, limit } = onePage(page);
  const found = await listUsers(db.lists, { email, after: after as UserId | null, limit });
  const now = clock.now();
  return pageOf(found, page, (user) => shownRecord(user, plans, now));
}

/** Of one user, in one answer; the newest. */
const MOST_SESSIONS = 200;

/** With the active sessions, because an operator who is to end one needs its id. */
export async function readUser({ db, clock, plans }: UserDeps, id: string) {
  const user = isUuid(id) ? await findUserRecord(db, id as UserId) : null;
  if (!user) return noSuch('user');
  const sessions = await liveSessions(db, user.id, {
    before: null,
    limit: MOST_SESSIONS,
    now: timestamp(clock.now()),
  });
  return {
    ...shownRecord(user, plans, clock.now()),
    sessions: sessions.map((session) => ({
      id: session.id,
      created_at: session.createdAt,
      ip_address: session.ipAddress,
      user_agent: session.userAgent,
    })),
  };
}

/** A deactivation holds from the user's next request on: every way in looks at `is_active`. */
export async function changeUserAsAdmin(deps: UserDeps & Tells, by: Admin, id: string, change: UserChange) {
  const { isActive, plan, planExpiresAt } = change;
  const isLeaving = isActive === false && isUuid(id);
  const { left, unit } = isLeaving ? await leaving(deps, id as UserId) : { left: [], unit: [] };
  const deed: Deed = {
    action: 'user_change',
    resource: { type: 'user', id: shortened(id) },
    metadata: {
      ...{ is_active: isActive, plan, plan_expires_at: planExpiresAt },
      ...(left.length > 0 && { left }),
    },
  };
  if (!isUuid(id)) return refuse(deps, by, deed, noSuch('user'));
  if (plan !== undefined && !Object.hasOwn(deps.plans, plan)) {
    const known = Object.keys(deps.plans).join(', ');
    const { metadata: _, ...bare } = deed;
    return refuse(deps, by, bare, deny('request_invalid', { detail: `"plan" must be one of ${known}.` }));
  }
  if (isActive === false && id === by.id) return refuse(deps, by, deed, deny('own_deactivation'));
  const lost = await perform(deps, by, deed, [
    ...(isActive === false && by.id !== null ? [stillActingAdmin(by.id)] : []),
    changeUser(id as UserId, change),
    ...unit,
  ]);
  if (lost === 'acting') return refuse(deps, by, deed, deny('user_deactivated'));
  if (lost !== null) return refuse(deps, by, deed, noSuch('user'));
  if (isActive === false) deps.changes.ofAccess(id as UserId);
  const user = await readUser(deps, id);
  return isDenial(user) || left.length === 0 ? user : { ...user, left };
}

export async function revokeSessionAsAdmin(
  deps: AdminDeps & Tells,
  by: Admin,
  id: string,
): Promise<Denial | null> {
  const deed: Deed = { action: 'session_revoke', resource: { type: 'session', id: shortened(id) } };
  const lost = isUuid(id) ? await perform(deps, by, deed, [revokeSession(id as SessionId)]) : 'active';
  if (lost !== null) return refuse(deps, by, deed, noSuch('active session'));
  const ended = await findSession(deps.db, id as SessionId);
  if (ended) deps.changes.ofAccess(ended.user.id);
  return null;
}

// Terms

/** They are the current ones from now on: whoever trades must accept them first. */
export async function publishTerms(
  deps: AdminDeps,
  by: Admin,
  { version, text }: Pick<Terms, 'version' | 'text'>,
): Promise<Denial | Terms> {
  const { db, clock } = deps;
  const deed: Deed = { action: 'terms_publish', resource: { type: 'terms', id: version } };
  for (;;) {
    if (await hasTerms(db, version)) return refuse(deps, by, deed, deny('terms_version_exists'));
    // Later than the present ones, whatever the clock says: the newest by time is the current one.
    const current = await currentTerms(db);
    const earliest = current === null ? 0 : millis(current.published_at) + 1;
    const terms: Terms = { version, text, published_at: timestamp(Math.max(clock.now(), earliest)) };
    const hold = current === null ? [] : [holdTerms(current.version)];
    // Lost to another version of the same moment: look again.
    if ((await perform(deps, by, deed, [...hold, insertTerms(terms)])) === null) return terms;
  }
}

/** Whatever stood in the URL; an id of ours fits. */
const shortened = (id: string): string => id.slice(0, 64).toWellFormed();
