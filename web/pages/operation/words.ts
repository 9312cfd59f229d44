// What the operation page says: in sentences that tell an admin what is so, and what a button will do.

import { problemOf } from '../../api/problem.ts';
import type { components } from '../../api/schema.ts';
import { counted, figure } from '../../parts/numbers.ts';
import type { Asked } from './asked.ts';

type Health = components['schemas']['Health'];
type User = components['schemas']['UserRecord'];
type Plan = components['schemas']['Plan'];

// Health

export interface Part {
  readonly name: string;
  readonly isUp: boolean;
  readonly detail: string;
}

const known = (...texts: readonly (string | null)[]): string =>
  texts.filter((text) => text !== null).join(', ') || 'answers';
const countedIf = (count: number | undefined, one: string, many?: string): string | null =>
  count === undefined ? null : counted(count, one, many);

/** Parts that do not answer say nothing of what they count. */
export function partsOf({ database, store, workers, queues, audit }: Health): Part[] {
  const part = (name: string, { status }: { status: 'up' | 'down' }, detail: string): Part => ({
    name,
    isUp: status === 'up',
    detail: status === 'up' ? detail : 'does not answer',
  });
  const unsealed = audit.unsealed_seconds;
  return [
    part('Database', database, known(database.kind ?? null)),
    part('Store', store, known()),
    part(
      'Workers',
      workers,
      known(
        countedIf(workers.hosts, 'host'),
        workers.active === undefined ? null : `${figure(workers.active)} active`,
      ),
    ),
    part(
      'Queues',
      queues,
      known(countedIf(queues.fill_checks, 'fill check'), countedIf(queues.worker_starts, 'start')),
    ),
    part(
      'Audit log',
      audit,
      unsealed === undefined ? 'answers' : unsealed === 0 ? 'all sealed' : `${figure(unsealed)} s not sealed`,
    ),
  ];
}

/** The heading: what does not answer comes first. */
export function answerOf(health: Health): {
  readonly said: string;
  readonly isDown: boolean;
  readonly risk: string;
} {
  const down = partsOf(health).filter(({ isUp }) => !isUp);
  const letters = health.queues.dead_letters ?? 0;
  const names = down.map(({ name }, index) => (index === 0 ? name : name.toLowerCase()));
  const last = names.pop();
  const who = names.length > 0 ? `${names.join(', ')} and ${last}` : last;
  return {
    said:
      last === undefined ? 'Everything answers' : `${who} ${down.length === 1 ? 'does' : 'do'} not answer`,
    isDown: down.length > 0,
    risk:
      letters === 0
        ? ''
        : `${counted(letters, 'order')} ${letters === 1 ? 'is a dead letter' : 'are dead letters'}`,
  };
}

// What could not be read

/** The same of several parts, and so said once, for all of them. */
export interface SharedFault {
  readonly fault: unknown;
  readonly of: readonly Asked[];
}

/** Null: what failed failed alone, and says so itself. */
export function sharedFault(parts: readonly Asked[]): SharedFault | null {
  const alike = Map.groupBy(
    parts.filter(({ fault }) => fault !== null),
    ({ fault }) => `${problemOf(fault).code} ${problemOf(fault).title}`,
  );
  const of = [...alike.values()].toSorted((a, b) => b.length - a.length)[0];
  return of && of.length > 1 ? { fault: of[0]?.fault, of } : null;
}

/** What of it is not below: nothing is there half. */
export function missingIn({ of }: SharedFault, all: readonly Asked[]): string {
  const names = of.filter(({ isKnown }) => !isKnown).map(({ name }) => name);
  if (names.length === 0) return 'What is below may be out of date.';
  if (names.length === all.length) return '';
  const last = names.pop();
  return `Not shown: ${names.length > 0 ? `${names.join(', ')} and ${last}` : last}.`;
}

// Who may look

/** Null: they may. */
export function whyNot(
  user: { readonly email: string; readonly is_admin: boolean },
  refusal: { readonly status: number; readonly code: string } | null,
): string | null {
  if (!user.is_admin || refusal?.code === 'admin_required')
    return `This page is for those who run the service. ${user.email} is not an admin of it.`;
  if (refusal?.code === 'wrong_host')
    return 'The service is not administered under the name in your address bar. Open it under BASE_URL, or add this name to ALLOWED_HOSTS.';
  if (refusal?.status !== 403) return null;
  return refusal.code === 'ip_not_allowed'
    ? 'The service is administered from its admin addresses only, and yours is not one of them. ADMIN_IPS sets them; without it, only the machine itself is one.'
    : 'The service does not allow its administration from here.';
}

// Users

const DAY = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});
const dayOf = (at: string): string => DAY.format(new Date(at));

export function untilWords({ plan_expires_at: at }: Pick<User, 'plan_expires_at'>, now: number): string {
  if (at === null) return 'no end';
  return Date.parse(at) <= now ? `expired ${dayOf(at)}` : dayOf(at);
}

/** What is asked for: a plan, and its last day (UTC), or none. */
export interface PlanWish {
  readonly plan: string;
  /** `2027-03-01`; empty: no end. */
  readonly until: string;
}

export const wishOf = ({ plan, plan_expires_at: at }: User): PlanWish => ({
  plan,
  until: at?.slice(0, 10) ?? '',
});

/** Only what changes; null: nothing does. */
export function changeOf(user: User, { plan, until }: PlanWish) {
  const before = wishOf(user);
  const change = {
    ...(plan === before.plan ? {} : { plan }),
    // The day itself is in it.
    ...(until === before.until ? {} : { plan_expires_at: until === '' ? null : `${until}T23:59:59Z` }),
  };
  return Object.keys(change).length === 0 ? null : change;
}

const limitWords = ({ simulation_only: simulates, daily_orders: daily }: Plan): string =>
  `${simulates ? 'simulated orders only' : 'real orders'}, ${daily === null ? 'as many as they like' : `${figure(daily)} a day`}`;

/** What will happen, and from when on. */
export function planSentence(user: User, wish: PlanWish, plans: readonly Plan[], now: number): string {
  const plan = plans.find(({ name }) => name === wish.plan);
  const isOver = wish.until !== '' && Date.parse(`${wish.until}T23:59:59Z`) <= now;
  const held = isOver ? plans.find(({ name }) => name === 'free') : plan;
  const may = held
    ? `${user.email} may place ${limitWords(held)}`
    : `${user.email} has the plan ${wish.plan}`;
  if (isOver)
    return `That day is over: the plan behaves as free. From the next order on ${may}; positions can still be closed.`;
  const end =
    wish.until === '' ? 'The plan has no end.' : `After ${dayOf(wish.until)} (UTC) it behaves as free.`;
  const exits = held?.simulation_only ? ' Positions can still be closed.' : '';
  return `From the next order on ${may}. ${end}${exits}`;
}

export const planButton = (user: User, { plan, until }: PlanWish): string =>
  `Give ${user.email} ${plan} ${until === '' ? 'without an end' : `until ${dayOf(until)}`}`;

export const activeSentence = ({ email, is_active: isActive }: User): string =>
  isActive
    ? `From the next request on nobody gets in as ${email}: no page, no API key, no webhook, and so no exit either. Positions stay as they are at the broker. Nothing is deleted.`
    : `${email} can get in again, and the webhooks trade again, from the next request on.`;

// Terms

/** What publishing stops, until each user has accepted. */
export const termsWarning = (version: string): string =>
  `From this moment on no user can open a position with real money, by webhook, page or API, until that user has accepted version ${version || '…'}. ` +
  'Exits pass for those who have accepted an earlier version, and simulations pass for all. It cannot be undone.';

/** `3` after `2`; whatever else a version is, its successor is for the admin to name. */
export const nextVersion = (current: string | null): string =>
  current === null ? '1' : /^\d{1,9}$/.test(current) ? String(Number(current) + 1) : '';

// What brokers said

type Unreadable = components['schemas']['UnreadableReplies'];

/** Those that are kept of one broker and call, newest first. */
export const lastRepliesOf = (
  { replies }: Unreadable,
  of: Pick<Unreadable['counts'][number], 'broker' | 'call'>,
): Unreadable['replies'] => replies.filter(({ broker, call }) => broker === of.broker && call === of.call);
