// What would become of a message at the account's webhook: every check's word, the order that it would give, and a message
// that works. Nothing is sent, counted, remembered or mailed. The checks are the webhook's own.

import { acceptedBefore } from '../../data/orders/orders.ts';
import { groupTookBefore, hasArrived, type Webhook } from '../../data/orders/signals.ts';
import { findGroupTarget, findTarget } from '../../data/orders/targets.ts';
import { type Denial, deny, isDenial, toldOf } from '../../domain/denial.ts';
import { NO_SYMBOLS } from '../../domain/groups.ts';
import { type AccountId, type GroupId, isUuid, type UserId } from '../../domain/ids.ts';
import { dayOf, isEntry } from '../../domain/orders/entitlement.ts';
import { withoutOpening } from '../../domain/orders/other-legs.ts';
import { recogniseForeign, renderMessage } from '../../domain/signals/foreign-messages.ts';
import { type BodyReading, readBody, type Signal } from '../../domain/signals/signal.ts';
import { type Example, fillTemplate, workingMessage } from '../../domain/signals/template.ts';
import { fingerprint } from '../../domain/signals/webhook.ts';
import { CHECKS, type Check, type CheckVerdict, checkOf } from '../../domain/signals/webhook-checks.ts';
import type { AskDeps } from '../accounts/account-broker.ts';
import { noSuchAccount } from '../accounts/accounts.ts';
import { understanding } from './arrived-signal.ts';
import { groupDoor } from './door.ts';
import { refusalsOf } from './entitled.ts';
import {
  type Addressee,
  becameBefore,
  intentOf,
  type JudgeDeps,
  readFor,
  unproven,
} from './judge-message.ts';
import type { PlaceOrderDeps } from './place-order.ts';
import { draftedBy, type OrderPlan, planFor } from './plan-order.ts';
import { isReport, REPORT } from './sync.ts';

const MOST_BYTES = 16 * 1024;

export interface CheckedMessage {
  readonly checks: readonly CheckVerdict[];
  readonly understood: object | null;
  readonly ignored: readonly string[];
  readonly plan: OrderPlan | null;
  /** Of a group's: each that is enabled; null: it is for one account. */
  readonly members: readonly CheckedMember[] | null;
  /** To paste; null: the message works as it stands. */
  readonly corrected: string | null;
  /** For which service the message was written, if not for this one; and what of it gets lost. */
  readonly service: string | null;
  readonly lost: readonly string[];
  /** What was filled in for the platform, to judge the message. None of one that was received: that is judged as it came. */
  readonly examples: readonly Example[];
}

interface CheckedMember {
  readonly trading_account_id: AccountId;
  readonly checks: readonly CheckVerdict[];
  readonly plan: OrderPlan | null;
  /** Why it would be refused. */
  readonly error: { readonly code: string; readonly detail: string; readonly advice: string } | null;
}

type CheckDeps = PlaceOrderDeps & AskDeps & JudgeDeps;

interface Message {
  readonly message: string;
  readonly simulation: boolean;
}

export async function checkMessage(
  deps: CheckDeps,
  user: UserId,
  id: string,
  { message, simulation }: Message,
): Promise<CheckedMessage | Denial> {
  const now = deps.clock.now();
  const target = isUuid(id) ? await findTarget(deps.db, id as AccountId, { day: dayOf(now) }) : null;
  if (target?.user.id !== user) return noSuchAccount();
  const { account } = target;
  const given = await givenAs(deps, { userId: user, accountId: account.id }, message, now);
  const found: Found = new Map();
  const judged = await judgedBy(
    deps,
    { target, factor: account.quantityMultiplier, symbols: NO_SYMBOLS },
    given,
    { simulation, mayOpen: true },
  );
  if (isDenial(judged)) return judged;
  const { signal, plan } = judged;
  for (const [check, { detail }] of judged.found) found.set(check, detail);
  for (const { check, denial } of unproven(deps, account, given.reading, { simulation, now }))
    found.set(check, toldOf(denial));
  const print = signal && !simulation ? fingerprint(user, signal) : null;
  const before = print && (await acceptedBefore(deps.db, account.id, print));
  if (before) found.set('replay', becameBefore(before));
  return { ...shownAs(given, found, signal, now), plan, members: null };
}

/** The same at a group's webhook: what is asked there once, and what each member says. */
export async function checkGroupMessage(
  deps: CheckDeps,
  user: UserId,
  id: string,
  { message, simulation }: Message,
): Promise<CheckedMessage | Denial> {
  const now = deps.clock.now();
  const target = isUuid(id) ? await findGroupTarget(deps.db, id as GroupId, dayOf(now)) : null;
  if (target?.user.id !== user) return deny('group_not_found');
  const { group, lock, members } = groupDoor(target);
  if (!group) return deny('group_not_found');
  const given = await givenAs(deps, { userId: user, groupId: group.id }, message, now);
  const how = { simulation, mayOpen: group.enabled };
  const judged = await Promise.all(
    members.map(async (to) => ({ to, judged: await judgedBy(deps, to, given, how) })),
  );
  const limited = judged.map((each) => each.judged).find((each) => isDenial(each));
  if (limited) return limited;
  const each = judged.flatMap(({ to, judged: of }) => (isDenial(of) ? [] : [{ to, ...of }]));
  const signal = each.find((one) => one.signal)?.signal ?? null;
  const found: Found = new Map();
  const unread = signal ? undefined : each[0]?.found.get('payload');
  if (unread) found.set('payload', unread.detail);
  for (const { check, denial } of unproven(deps, lock, given.reading, { simulation, now }))
    found.set(check, toldOf(denial));
  const print = signal && !simulation ? fingerprint(user, signal) : null;
  const before = print && (await groupTookBefore(deps.db, group.id, print));
  if (before)
    found.set('replay', `It came before, at ${before.arrivedAt}. The same signal is executed once.`);
  const isOff =
    members.length === 0 ||
    (!group.enabled && signal !== null && signal.action !== 'sync' && isEntry(signal.intent));
  const disabled = deny('group_disabled');
  if (isOff) found.set('halt', disabled.detail);
  return {
    ...shownAs(given, found, signal && { ...signal, symbol: signal.asReceived.symbol }, now),
    plan: each.find(({ plan }) => plan)?.plan ?? null,
    members: each.map(({ to, signal: own, found: refused, plan }) => {
      if (isOff) refused.set('halt', disabled);
      const [first] = isOff ? [disabled] : CHECKS.flatMap((check) => refused.get(check) ?? []);
      return {
        trading_account_id: to.target.account.id,
        checks: CHECKS.map((check) => verdictOf(check, texts(refused), own !== null)),
        plan,
        error: first ? { code: first.code, detail: first.detail, advice: first.advice } : null,
      };
    }),
  };
}

type Found = Map<Check, string>;
const texts = (found: ReadonlyMap<Check, Denial>): Found =>
  new Map([...found].map(([check, { detail }]) => [check, detail]));

/** A message as it is judged: turned into ours, and filled in as the platform would. */
interface Given {
  readonly message: string;
  readonly reading: BodyReading;
  readonly foreign: ReturnType<typeof recogniseForeign>;
  readonly turned: string | null;
  readonly examples: readonly Example[];
}

async function givenAs(
  { db }: Pick<CheckDeps, 'db'>,
  webhook: Webhook,
  message: string,
  now: number,
): Promise<Given> {
  const foreign = recogniseForeign(message);
  const turned = foreign && renderMessage(foreign.fields);
  // A template is judged as the platform would fill it in; what the platform has sent it did not fill in.
  const wasReceived = message.includes('{{') && (await hasArrived(db, webhook, message));
  const asIs = { text: turned ?? message, examples: [] };
  const { text, examples } = wasReceived ? asIs : fillTemplate(asIs.text, now);
  const reading = readBody(new TextEncoder().encode(text));
  return { message, reading, foreign, turned, examples };
}

/** What an account says of a message to it, and what it would do; a denial says nothing of the message. */
async function judgedBy(
  deps: CheckDeps,
  { target, symbols, factor }: Addressee,
  { reading }: Given,
  { simulation, mayOpen }: { readonly simulation: boolean; readonly mayOpen: boolean },
): Promise<
  | Denial
  | { readonly signal: Signal | null; readonly found: Map<Check, Denial>; readonly plan: OrderPlan | null }
> {
  const { account } = target;
  const { signal, refusals } = readFor({ account, symbols, factor }, reading, simulation);
  const found = new Map(refusals.map(({ check, denial }) => [check, { ...denial, detail: toldOf(denial) }]));
  if (!signal) return { signal, found, plan: null };
  const intent = isReport(signal) ? REPORT : signal.intent;
  for (const denial of refusalsOf(deps, { ...target, intent, simulation }))
    found.set(checkOf(denial.code), denial);
  const trades = !found.has('symbol') && (!isReport(signal) || account.outOfSync === 'follow');
  if (!trades) return { signal, found, plan: null };
  const asSaid = intentOf(deps, target, signal, simulation);
  const drafted = {
    ...draftedBy(signal, simulation, factor),
    intent: mayOpen ? asSaid : withoutOpening(asSaid),
  };
  const plan = await planFor(deps, account, drafted);
  if (!isDenial(plan)) return { signal, found, plan };
  // It says nothing of the message.
  if (plan.code === 'rate_limited') return plan;
  found.set('worker', plan);
  return { signal, found, plan: null };
}

function shownAs(
  { message, foreign, turned, examples }: Given,
  found: Found,
  signal: Signal | null,
  now: number,
): Omit<CheckedMessage, 'plan' | 'members'> {
  if (Buffer.byteLength(message) > MOST_BYTES) found.set('size', 'A webhook’s message has at most 16 KiB.');
  if (turned && found.has('secret'))
    found.set('secret', 'Put your webhook secret into the message that works.');
  return {
    checks: CHECKS.map((check) => verdictOf(check, found, signal !== null)),
    understood: signal && understanding(signal),
    ignored: signal?.ignored ?? [],
    corrected: turned ?? (found.has('payload') || found.has('secret') ? workingMessage(message, now) : null),
    service: foreign?.service ?? null,
    lost: foreign?.lost ?? [],
    examples,
  };
}

/** Of these nothing can be said before the message is understood. */
const NEED_SIGNAL: readonly Check[] = [
  'symbol',
  'replay',
  'halt',
  'plan',
  'terms',
  'credentials',
  'daily_limit',
  'worker',
];
/** Passed, and why that is not all there is to say. */
const NOT_ASKED: { readonly [check in Check]?: string } = {
  rate: 'Not counted here.',
  ip: 'Not asked here: it depends on where the message comes from.',
  certificate: 'Not asked here: it depends on who sends the message.',
};

function verdictOf(check: Check, found: ReadonlyMap<Check, string>, isUnderstood: boolean): CheckVerdict {
  const detail = found.get(check);
  if (detail !== undefined) return { check, outcome: 'refused', detail };
  if (!isUnderstood && NEED_SIGNAL.includes(check)) return { check, outcome: 'not_reached', detail: null };
  return { check, outcome: 'passed', detail: NOT_ASKED[check] ?? null };
}
