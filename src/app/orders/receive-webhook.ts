// The webhook, whole: the checks in the contract's order. The first denial ends the request, and one place audits
// every outcome. An account is a group of one: what is asked once, of whoever knocks, is asked at the door (door.ts); then each
// account that the signal is for is judged alone.

import type { Counters } from '../../domain/counters.ts';
import { type Denial, deny, isDenial, isOurFault, ruleOf } from '../../domain/denial.ts';
import type { AccountId, UserId } from '../../domain/ids.ts';
import { dayOf } from '../../domain/orders/entitlement.ts';
import type { Action, OrderIntent } from '../../domain/orders/order.ts';
import { withoutOpening } from '../../domain/orders/other-legs.ts';
import { takenWith } from '../../domain/orders/sized-order.ts';
import { readBody } from '../../domain/signals/signal.ts';
import { lessStopped, type Stopped } from '../../domain/signals/strategy.ts';
import { fingerprint, memoryMs } from '../../domain/signals/webhook.ts';
import type { Span, Tracing } from '../../domain/tracing.ts';
import type { Store } from '../../store/store.ts';
import { type AlertDeps, alertUser } from '../audit/alerts.ts';
import { audit, type RequestContext } from '../audit/audit.ts';
import type { Strangers } from '../audit/strangers.ts';
import { checkRate, type RateLimit } from '../identity/access.ts';
import { wishOf } from '../protection/wished.ts';
import type { NewOrder } from './accepting-unit.ts';
import type { Findings, Whose } from './arrived-signal.ts';
import type { Changes } from './changes.ts';
import {
  type Addressed,
  checkAtDoor,
  type Door,
  findDoor,
  type Knock,
  type Let,
  readFlag,
  senderAt,
} from './door.ts';
import {
  arrivalOf,
  denialOf,
  type Ended,
  type FirstTime,
  firstTime,
  type GroupOutcome,
  groupClaims,
  groupOutcome,
  refusalOfAll,
  refusedEntries,
  replayOf,
} from './group-signal.ts';
import { type Hear, heardAnd, saysStance, UNHEARD } from './hear-word.ts';
import type { HearingTurns, Place } from './hearing-turns.ts';
import { intentOf, type JudgeDeps } from './judge-message.ts';
import { attemptAt, type OnceDeps } from './once.ts';
import { type Placed, type PlaceOrderDeps, placeTogether, recordRefusal } from './place-order.ts';
import { type Asked, type Errand, isInDoubt, reportSignal } from './report-signal.ts';
import type { Synced } from './sync.ts';

export interface WebhookDeps extends PlaceOrderDeps, AlertDeps, JudgeDeps {
  readonly store: OnceDeps['store'] & Pick<Store, 'countInWindow'>;
  readonly changes: Pick<Changes, 'ofOrder' | 'ofSignal'>;
  readonly rateLimit: RateLimit;
  readonly strangers: Strangers;
  /** Of requests beyond their user's own limit: the first few of a minute are kept, the others are counted. */
  readonly overLimit: Strangers;
  readonly hearingTurns: HearingTurns;
  readonly counters: Pick<Counters, 'failedOpen' | 'groupOrders'>;
  readonly tracing: Pick<Tracing, 'during' | 'begin'>;
}

export interface WebhookRequest extends Knock {
  readonly token: string;
  /** null: larger than a webhook body may be. */
  readonly body: Uint8Array | null;
  readonly context: RequestContext;
  /** The header as it came. */
  readonly traceparent?: string | null;
  /** Told whose webhook it is, as soon as that is known. */
  onFound?(user: UserId, whose: Whose): void;
}

export type WebhookOutcome = Denial | Placed | Synced | GroupOutcome;

export async function receiveWebhook(deps: WebhookDeps, request: WebhookRequest): Promise<WebhookOutcome> {
  const simulation = request.queryProblem === null && readFlag(request.simulation) === true;
  const findings: Findings = { simulation, metadata: {} };
  const checks = deps.tracing.begin('checks');
  const inLine = deps.hearingTurns.arrive(`${request.token} ${simulation}`);
  const outcome = await checkAndPlace(deps, request, findings, { checks, inLine }).finally(() => {
    checks.end();
    inLine.end();
  });
  const refused = isDenial(outcome) || 'groupId' in outcome ? outcome : null;
  const denial = refused && (isDenial(refused) ? refused : refused.denial);
  if (refused && denial) {
    const { user, whose, isStranger, isBeforeLimit, isOverLimit, metadata } = findings;
    const attempt = { code: denial.code, target: user?.id ?? null };
    if ((isStranger || isBeforeLimit) && !deps.strangers.count(request.context, attempt)) return outcome;
    if (isOverLimit && !deps.overLimit.count(request.context, attempt)) return outcome;
    const entry = audit(
      request.context,
      {
        userId: user?.id ?? null,
        action: ruleOf(denial.code).audit ?? 'webhook_order',
        failure: denial,
        ...(whose ? { resource: { type: whose.groupId ? 'group' : 'account', id: whose.lock.id } } : {}),
        metadata: { code: denial.code, ...(whose ? namesOf(whose) : {}), ...metadata },
      },
      deps.clock.now(),
    );
    const ends = refusalOfAll(denial, refused);
    const kept = arrivalOf(deps, request, findings, { ends, fingerprint: null });
    await recordRefusal(deps, denial, [entry, ...kept]).catch(async (fault: unknown) => {
      // Whoever is answered that the database is away sends it again: it is not to be a replay then.
      await findings.attempt?.forget();
      throw fault;
    });
    if (user && kept.length > 0) deps.changes.ofSignal(user.id);
    if (user)
      alertUser(deps, {
        code: denial.code,
        user,
        accountName: whose?.name ?? null,
        ip: request.context.ip,
        detail: denial.detail,
      });
  }
  if (!denial && findings.user && findings.signal?.action === 'sync') deps.changes.ofSignal(findings.user.id);
  return outcome;
}

const namesOf = ({ lock, groupId }: Whose) =>
  groupId === null ? { trading_account_id: lock.id } : { group_id: groupId };

const whoseIs = ({ lock, group, name, members }: Door): Whose => ({
  accountId: members[0]?.target.account.id ?? group?.members[0]?.accountId ?? null,
  groupId: group?.id ?? null,
  ...{ name, lock },
});

async function checkAndPlace(
  deps: WebhookDeps,
  request: WebhookRequest,
  findings: Findings,
  { checks, inLine }: { readonly checks: Span; readonly inLine: Place },
): Promise<WebhookOutcome> {
  const { token, body, arrivedAt, context } = request;
  const day = dayOf(arrivedAt);
  // Level 1
  const find = async (): Promise<Door | Denial> => {
    const door = await findDoor(deps.db, token, day);
    if (!door) {
      findings.isStranger = true;
      return deny('webhook_not_found');
    }
    const whose = whoseIs(door);
    Object.assign(findings, { user: door.user, whose });
    request.onFound?.(door.user.id, whose);
    findings.isBeforeLimit = body === null || !door.user.isActive;
    return door.user.isActive ? door : deny('user_deactivated');
  };
  const door = await find();
  if (body === null) {
    findings.metadata = { attack_type: 'oversized_payload' };
    return deny('payload_too_large');
  }
  if (isDenial(door)) return door;
  const { user, lock, group } = door;

  const reading = readBody(body);
  findings.reading = reading;
  const sender = senderAt(deps, lock, reading.proof, arrivedAt);
  const tooMany = await checkRate(deps, user.id, sender);
  if (tooMany) {
    findings.isStranger = sender === 'other';
    findings.isOverLimit = sender === 'own';
    return tooMany;
  }

  const check = (at: Door) => {
    const checked = checkAtDoor(deps, request, reading, at);
    if ('denial' in checked)
      Object.assign(findings, { metadata: checked.metadata, refusedBy: checked.check });
    // What was understood is shown, also where it was refused for its symbol, its age or its secret.
    if (checked.signal) findings.signal = checked.signal;
    return checked;
  };
  const checked = check(door);
  if ('denial' in checked) return checked.denial;
  const { signal, simulation } = checked;
  if (saysStance(signal)) await inLine.turn(signal.symbol);
  else inLine.end();

  // Level 4
  const print = fingerprint(user.id, signal);
  const real = simulation ? null : print;
  const first = async () => (real === null ? null : firstTime(deps.db, door, real));
  /** For the answer alone: a replay is one, whether or not it can be read. */
  const named = () => first().catch(() => null);
  const replay = (before: FirstTime | null) => {
    findings.metadata = { attack_type: 'replay', payload_hash: print };
    return replayOf(deps.db, group, before);
  };
  const lifeMs = memoryMs(signal, arrivedAt, lock.maxRequestAge);
  const attempt = print === null ? null : await attemptAt(deps, keyOf(door, print, simulation), lifeMs);
  if (attempt === 'decided') return replay(await named());
  if (attempt !== null && isDenial(attempt)) return forAll(attempt, checked.members);
  if (attempt) findings.attempt = attempt;
  checks.end();

  /** For whom the signal is; where something has changed meanwhile, what it has become. */
  let current: Pick<Door, 'group'> & Pick<Let, 'members'> = { group, members: checked.members };
  /** Who of them was asked. */
  let asked: readonly Asked[] = [];
  const place = async ({ ask, claims }: Errand) => {
    const orders = async () => {
      asked = await ask(current.members, current.group);
      return asked.map(newOrder);
    };
    return placeTogether(deps, {
      asked: await orders(),
      async again() {
        const changed = await find();
        if (isDenial(changed)) return changed;
        const checkedAgain = check(changed);
        if ('denial' in checkedAgain) return checkedAgain.denial;
        current = { group: changed.group, members: checkedAgain.members };
        return orders();
      },
      claims: (became) =>
        claims(asked.map(({ each }, index) => ({ accountId: idOf(each), became: became[index] ?? 'sync' }))),
      onAccepted(orders) {
        if (group) deps.counters.groupOrders(orders.length);
        attempt?.decided();
        inLine.end();
      },
    });
  };
  const arrival = (ends: readonly Ended[]) => arrivalOf(deps, request, findings, { ends, fingerprint: real });
  const by = () => ({ userId: user.id, context, now: deps.clock.now() });
  const groupMoved = (ends: readonly Ended[]) =>
    current.group ? groupClaims(current.group, ends, by()) : [];

  function newOrder({ each, heard, as }: Asked): NewOrder | Denial {
    const { to, signal: said, refused } = each;
    if (refused) return refused.denial;
    if (!said) return deny('webhook_payload_invalid');
    const { target, factor } = to;
    const { notes, unit, stopped = null } = heard;
    // A group that is disabled opens nothing, by whatever word.
    const isOff = current.group?.enabled === false;
    const asSaid = intentOf(deps, target, said, simulation);
    const taken = takenWith(factor, { ...said, intent: isOff ? withoutOpening(asSaid) : asSaid });
    const intent = as?.intent ?? withoutStopped(taken.intent, stopped);
    return {
      ...target,
      source: 'webhook',
      simulation,
      action: said.action,
      orderType: as ? as.orderType : said.orderType,
      intent,
      sizing: taken.sizing,
      symbol: said.symbol,
      quantity: said.quantity,
      priced: said.priced,
      wish: wishOf(target.account, { ...said, intent }),
      groupId: group?.id,
      notes,
      isUncounted: UNCOUNTED.includes(said.action),
      isUnproven: simulation && sender === 'other',
      arrivedAt,
      context,
      fingerprint: real,
      claims: () => unit,
    };
  }

  const hearingOf = ({ to, signal: said }: Addressed) =>
    said
      ? [{ account: to.target.account, signal: said, simulation, factor: to.factor, arrivedAt, context }]
      : [];
  // What an account's own checks refuse is not heard. That its group is disabled is none of them.
  const hears = ({ refused }: Addressed) => !refused || refused.denial.code === 'group_disabled';
  const order = (hear: Hear) =>
    place({
      async ask(members) {
        const heard = await hear(members.filter(hears).flatMap(hearingOf));
        return members.map((each) => ({ each, heard: heard.get(idOf(each)) ?? UNHEARD }));
      },
      claims: (ends) => [
        ...arrival(ends),
        ...(current.group ? refusedEntries(current.group, ends, by()) : []),
        ...groupMoved(ends),
      ],
    });

  const report = async (): Promise<WebhookOutcome> => {
    const ends = await reportSignal(deps, {
      ...{ userId: user.id, symbol: signal.symbol, simulation, context },
      ...{ group, members: checked.members, hearingOf, place, arrival, groupMoved },
      onHeard: inLine.end,
    });
    const denial = denialOf(ends.map(({ became }) => became));
    if (denial && isOurFault(denial)) await attempt?.forget();
    else if (!simulation && ends.some(({ became }) => isDenial(became) && isInDoubt(became)))
      attempt?.leave();
    else attempt?.decided();
    // By the broker, after everything else: it has no such symbol.
    if (denial?.code === 'webhook_payload_invalid') findings.refusedBy = 'worker';
    if (group) return groupOutcome(group.id, ends);
    return ends[0]?.became ?? deny('webhook_payload_invalid');
  };

  try {
    if (signal.action === 'sync') return await report();
    const outcome = await heardAnd(deps, order);
    // The store may have forgotten it; the order's row has not. One that is accepted was compared with it by its commit.
    const isContested = 'contested' in outcome;
    const denial = isContested ? null : denialOf(outcome);
    const isRefused = denial !== null && !isInDoubt(denial);
    const known = isContested ? await named() : isRefused ? await first() : null;
    if (isContested || known) {
      attempt?.decided();
      return replay(known);
    }
    if (denial && isOurFault(denial)) await attempt?.forget();
    // A real order has its fingerprint in its row: there a repeat finds it, or trades. A simulated one has it here only.
    else if (denial && isInDoubt(denial) && !simulation) attempt?.leave();
    else attempt?.decided();
    return answerOf(outcome);
  } catch (fault) {
    await attempt?.forget();
    throw fault;
  }

  /** None of them was asked, or all in vain. */
  function forAll(denial: Denial, members: readonly Addressed[]): WebhookOutcome {
    if (!group) return denial;
    const each = members.map((member) => ({
      accountId: idOf(member),
      became: member.refused?.denial ?? denial,
    }));
    return groupOutcome(group.id, each);
  }

  /** For all of them, or for each. */
  function answerOf(outcome: Denial | readonly (Placed | Denial)[]): WebhookOutcome {
    // What is no longer let in at the door has no members.
    if ('code' in outcome) return isOurFault(outcome) ? forAll(outcome, current.members) : outcome;
    const [own] = outcome;
    if (!group) return own ?? deny('webhook_payload_invalid');
    return groupOutcome(
      group.id,
      outcome.map((became, index) => ({ accountId: idOf(asked[index]?.each), became })),
    );
  }
}

/** They trade nothing by themselves. */
const UNCOUNTED: readonly Action[] = ['sync', 'protect', 'cancel'];

const idOf = (each: Addressed | undefined): AccountId => each?.to.target.account.id ?? ('' as AccountId);

/** What protection closed stays closed: the target counts less that. */
const withoutStopped = (intent: OrderIntent, stopped: Stopped | null): OrderIntent =>
  stopped === null || !intent.target
    ? intent
    : { ...intent, target: { ...intent.target, position: lessStopped(intent.target.position, stopped) } };

/** Per account or group, and mode: a rehearsal does not use up the real signal. */
const keyOf = ({ user, lock }: Door, print: string, simulation: boolean): string =>
  `fingerprint:{${user.id}}:${lock.id}:${simulation ? 'simulated:' : ''}${print}`;
