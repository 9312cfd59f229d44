// What would become of a message at the account's webhook: every check's word, the order that it would give, and a message
// that works. Nothing is sent, counted, remembered or mailed. The checks are the webhook's own.

import { acceptedBefore } from '../../data/orders/orders.ts';
import { hasArrived } from '../../data/orders/signals.ts';
import { findTarget } from '../../data/orders/targets.ts';
import { type Denial, isDenial, toldOf } from '../../domain/denial.ts';
import { type AccountId, isUuid, type UserId } from '../../domain/ids.ts';
import { dayOf } from '../../domain/orders/entitlement.ts';
import { recogniseForeign, renderMessage } from '../../domain/signals/foreign-messages.ts';
import { readBody } from '../../domain/signals/signal.ts';
import { type Example, fillTemplate, workingMessage } from '../../domain/signals/template.ts';
import { fingerprint } from '../../domain/signals/webhook.ts';
import { CHECKS, type Check, type CheckVerdict, checkOf } from '../../domain/signals/webhook-checks.ts';
import type { AskDeps } from '../accounts/account-broker.ts';
import { noSuchAccount } from '../accounts/accounts.ts';
import { understanding } from './arrived-signal.ts';
import { becameBefore, intentOf, type JudgeDeps, judgeMessage } from './judge-message.ts';
import { type PlaceOrderDeps, refusalsOf } from './place-order.ts';
import { draftedBy, type OrderPlan, planFor } from './plan-order.ts';
import { isReport, REPORT } from './sync.ts';

const MOST_BYTES = 16 * 1024;

export interface CheckedMessage {
  readonly checks: readonly CheckVerdict[];
  readonly understood: object | null;
  readonly ignored: readonly string[];
  readonly plan: OrderPlan | null;
  /** To paste; null: the message works as it stands. */
  readonly corrected: string | null;
  /** For which service the message was written, if not for this one; and what of it gets lost. */
  readonly service: string | null;
  readonly lost: readonly string[];
  /** What was filled in for the platform, to judge the message. None of one that was received: that is judged as it came. */
  readonly examples: readonly Example[];
}

export async function checkMessage(
  deps: PlaceOrderDeps & AskDeps & JudgeDeps,
  user: UserId,
  id: string,
  { message, simulation }: { readonly message: string; readonly simulation: boolean },
): Promise<CheckedMessage | Denial> {
  const now = deps.clock.now();
  const target = isUuid(id) ? await findTarget(deps.db, id as AccountId, { day: dayOf(now) }) : null;
  if (target?.user.id !== user) return noSuchAccount();
  const { account } = target;
  const foreign = recogniseForeign(message);
  const turned = foreign && renderMessage(foreign.fields);
  // A template is judged as the platform would fill it in; what the platform has sent it did not fill in.
  const wasReceived =
    message.includes('{{') && (await hasArrived(deps.db, { userId: user, accountId: account.id, message }));
  const asIs = { text: turned ?? message, examples: [] };
  const { text, examples } = wasReceived ? asIs : fillTemplate(asIs.text, now);
  const reading = readBody(new TextEncoder().encode(text));
  const { signal, refusals } = judgeMessage(deps, account, reading, { simulation, now });
  const found = new Map<Check, string>(refusals.map(({ check, denial }) => [check, toldOf(denial)]));
  if (Buffer.byteLength(message) > MOST_BYTES) found.set('size', 'A webhook’s message has at most 16 KiB.');

  if (signal) {
    const print = fingerprint(user, signal);
    const first = print === null || simulation ? null : await acceptedBefore(deps.db, account.id, print);
    if (first) found.set('replay', becameBefore(first));
    const intent = isReport(signal) ? REPORT : signal.intent;
    for (const { code, detail } of refusalsOf(deps, { ...target, intent, simulation }))
      found.set(checkOf(code), detail);
  }
  const trades = signal && !found.has('symbol') && (!isReport(signal) || account.outOfSync === 'follow');
  const drafted = trades && {
    ...draftedBy(signal, simulation, account.quantityMultiplier),
    intent: intentOf(deps, target, signal, simulation),
  };
  const plan = drafted ? await planFor(deps, account, drafted) : null;
  if (plan && isDenial(plan)) {
    // It says nothing of the message.
    if (plan.code === 'rate_limited') return plan;
    found.set('worker', plan.detail);
  }
  if (turned && found.has('secret'))
    found.set('secret', 'Put your webhook secret into the message that works.');

  return {
    checks: CHECKS.map((check) => verdictOf(check, found, signal !== null)),
    understood: signal && understanding(signal),
    ignored: signal?.ignored ?? [],
    plan: plan && isDenial(plan) ? null : plan,
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
