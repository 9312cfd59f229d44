// The webhook, whole: the checks in the contract's order. The first denial ends the request, and one place audits
// every outcome.

import type { Account } from '../../data/accounts/accounts.ts';
import { acceptedBefore } from '../../data/orders/orders.ts';
import { insertSignal } from '../../data/orders/signals.ts';
import { findByWebhookToken, type Target } from '../../data/orders/targets.ts';
import type { Counters } from '../../domain/counters.ts';
import { toNumberOrNull } from '../../domain/decimal.ts';
import { type Denial, deny, isDenial, isOurFault, ruleOf } from '../../domain/denial.ts';
import type { OrderId } from '../../domain/ids.ts';
import { dayOf } from '../../domain/orders/entitlement.ts';
import type { Action, OrderIntent } from '../../domain/orders/order.ts';
import { type Taken, takenWith } from '../../domain/orders/sized-order.ts';
import {
  type BodyReading,
  type Mapping,
  type Proof,
  readBody,
  type Signal,
} from '../../domain/signals/signal.ts';
import { lessStopped, type Stopped } from '../../domain/signals/strategy.ts';
import { fingerprint, isGenuine, memoryMs } from '../../domain/signals/webhook.ts';
import type { Span, Tracing } from '../../domain/tracing.ts';
import { type Store, StoreUnavailable } from '../../store/store.ts';
import { type AlertDeps, alertUser } from '../audit/alerts.ts';
import { type AuditEvent, audit, type RequestContext } from '../audit/audit.ts';
import type { Strangers } from '../audit/strangers.ts';
import { checkRate, isAllowedIp, type RateLimit, type RequestCount } from '../identity/access.ts';
import { wishOf } from '../protection/wished.ts';
import { arrivedSignal, type Findings } from './arrived-signal.ts';
import { type Heard, heardAnd } from './hear-word.ts';
import {
  becameBefore,
  intentOf,
  isSecretOf,
  type JudgeDeps,
  judgeMessage,
  malformed,
  type Refused,
} from './judge-message.ts';
import { type Attempt, attemptOnce, type OnceDeps } from './once.ts';
import { type Placed, type PlaceOrderDeps, placeOrder, recordRefusal } from './place-order.ts';
import { type Synced, syncStrategy } from './sync.ts';

export interface WebhookDeps extends PlaceOrderDeps, AlertDeps, JudgeDeps {
  readonly store: OnceDeps['store'] & Pick<Store, 'countInWindow'>;
  readonly rateLimit: RateLimit;
  readonly strangers: Strangers;
  /** Of requests beyond their user's own limit: the first few of a minute are kept, the others are counted. */
  readonly overLimit: Strangers;
  readonly counters: Pick<Counters, 'failedOpen'>;
  readonly tracing: Pick<Tracing, 'during' | 'begin'>;
}

export interface WebhookRequest {
  readonly token: string;
  /** null: larger than a webhook body may be. */
  readonly body: Uint8Array | null;
  /** The query as received: `?simulation=`. */
  readonly simulation: unknown;
  /** What is wrong with the query besides: a parameter that nobody knows may be meant as a rehearsal. Null: nothing. */
  readonly queryProblem: string | null;
  readonly arrivedAt: number;
  /** The edge says that the sender showed the charting platform's client certificate. */
  readonly hasPlatformCertificate: boolean;
  readonly context: RequestContext;
  /** The header as it came. */
  readonly traceparent?: string | null;
  /** Told whose webhook it is, as soon as that is known. */
  onFound?(account: Pick<Account, 'id' | 'userId'>): void;
}

export async function receiveWebhook(
  deps: WebhookDeps,
  request: WebhookRequest,
): Promise<Denial | Placed | Synced> {
  const simulation = request.queryProblem === null && readFlag(request.simulation) === true;
  const findings: Findings = { simulation, metadata: {} };
  const checks = deps.tracing.begin('checks');
  const outcome = await checkAndPlace(deps, request, findings, checks).finally(() => checks.end());
  if (isDenial(outcome)) {
    const { user, account, isStranger, isOverLimit, metadata } = findings;
    const attempt = { code: outcome.code, target: user?.id ?? null };
    if (isStranger && !deps.strangers.count(request.context, attempt)) return outcome;
    if (isOverLimit && !deps.overLimit.count(request.context, attempt)) return outcome;
    const entry = audit(
      request.context,
      {
        userId: user?.id ?? null,
        action: ruleOf(outcome.code).audit ?? 'webhook_order',
        failure: outcome,
        ...(account ? { resource: { type: 'account', id: account.id } } : {}),
        metadata: { code: outcome.code, ...(account ? { trading_account_id: account.id } : {}), ...metadata },
      },
      deps.clock.now(),
    );
    const kept = arrivedSignal(deps, request, findings, outcome);
    await recordRefusal(deps, outcome, [entry, ...(kept ? [insertSignal(kept)] : [])]);
    if (user)
      alertUser(deps, {
        code: outcome.code,
        user,
        accountName: account?.name ?? null,
        ip: request.context.ip,
        detail: outcome.detail,
      });
  }
  return outcome;
}

async function checkAndPlace(
  deps: WebhookDeps,
  request: WebhookRequest,
  findings: Findings,
  checks: Span,
): Promise<Denial | Placed | Synced> {
  const { token, body, arrivedAt, context } = request;
  const day = dayOf(arrivedAt);
  // Level 1
  const find = async (): Promise<Target | Denial> => {
    const target = await findByWebhookToken(deps.db, token, { day });
    if (!target) {
      findings.isStranger = true;
      return deny('webhook_not_found');
    }
    Object.assign(findings, { user: target.user, account: target.account });
    request.onFound?.(target.account);
    return target.user.isActive ? target : deny('user_deactivated');
  };
  const target = await find();
  if (body === null) {
    findings.metadata = { attack_type: 'oversized_payload' };
    return deny('payload_too_large');
  }
  if (isDenial(target)) return target;
  const { user, account } = target;

  const reading = readBody(body);
  findings.reading = reading;
  const sender = senderOf(deps, account, reading.proof, arrivedAt);
  const tooMany = await checkRate(deps, user.id, sender);
  if (tooMany) {
    findings.isStranger = sender === 'other';
    findings.isOverLimit = sender === 'own';
    return tooMany;
  }

  const check = (against: Target) => {
    const checked = checkSignal(deps, request, reading, against);
    if ('denial' in checked)
      Object.assign(findings, { metadata: checked.metadata, refusedBy: checked.check });
    // What was understood is shown, also where it was refused for its symbol, its age or its secret.
    if (checked.signal) findings.signal = checked.signal;
    return checked;
  };
  const checked = check(target);
  if ('denial' in checked) return checked.denial;
  const { signal, simulation } = checked;

  // Level 4
  const print = fingerprint(user.id, signal);
  const first = async () =>
    print === null || simulation ? null : acceptedBefore(deps.db, account.id, print);
  /** For the answer alone: a replay is one, whether or not it can be read. */
  const named = () => first().catch(() => null);
  const replayOf = (order: Awaited<ReturnType<typeof first>>) => {
    findings.metadata = { attack_type: 'replay', payload_hash: print };
    return deny('webhook_replay_attack', order ? { detail: becameBefore(order) } : {});
  };
  const lifeMs = memoryMs(signal, arrivedAt, account.maxRequestAge);
  const attempt = print === null ? null : await attemptAt(deps, keyOf(account, print, simulation), lifeMs);
  if (attempt === 'decided') return replayOf(await named());
  if (attempt !== null && isDenial(attempt)) return attempt;
  checks.end();

  const keep = (order: OrderId | 'sync') => {
    const kept = arrivedSignal(deps, request, findings, order);
    return kept ? [insertSignal(kept)] : [];
  };
  /** `as`: of a report, what its account does to follow. */
  const place = ({ notes, unit, stopped = null }: Heard, as?: Mapping) => {
    const taken = (of: Target, said: Signal): Taken => {
      const asked = { ...said, intent: intentOf(deps, of, said, simulation) };
      const { intent, sizing } = takenWith(of.account.quantityMultiplier, asked);
      return { intent: as?.intent ?? withoutStopped(intent, stopped), sizing };
    };
    return placeOrder(deps, {
      ...target,
      source: 'webhook',
      simulation,
      action: signal.action,
      orderType: as ? as.orderType : signal.orderType,
      ...taken(target, signal),
      symbol: signal.symbol,
      quantity: signal.quantity,
      priced: signal.priced,
      wish: wishOf(account, signal),
      notes,
      isUncounted: UNCOUNTED.includes(signal.action),
      isUnproven: simulation && sender === 'other',
      arrivedAt,
      context,
      fingerprint: simulation ? null : print,
      async again() {
        const current = await find();
        if (isDenial(current)) return current;
        const checkedAgain = check(current);
        if ('denial' in checkedAgain) return checkedAgain.denial;
        return {
          ...current,
          ...taken(current, checkedAgain.signal),
          wish: wishOf(current.account, checkedAgain.signal),
        };
      },
      claims: (order) => [...unit, ...keep(order)],
      onAccepted: () => attempt?.decided(),
    });
  };

  try {
    const factor = account.quantityMultiplier;
    const hearing = { account, signal, simulation, factor, arrivedAt, context };
    if (signal.action === 'sync') {
      const synced = await syncStrategy(deps, { target, hearing, place });
      if (isDenial(synced) && isOurFault(synced)) await attempt?.forget();
      else attempt?.decided();
      // By the broker, after everything else: it has no such symbol.
      if (isDenial(synced) && synced.code === 'webhook_payload_invalid') findings.refusedBy = 'worker';
      // One that became an order has that order's entry.
      if (!isDenial(synced) && synced.order === null)
        await deps.db.commit([...keep('sync'), audit(context, reported(synced), deps.clock.now())]);
      return synced;
    }
    const outcome = await heardAnd(deps, hearing, place);
    // The store may have forgotten it; the order's row has not. One that is accepted was compared with it by its commit.
    const isContested = 'contested' in outcome;
    const isRefused = isDenial(outcome) && outcome.code !== 'outcome_unknown';
    const known = isContested ? await named() : isRefused ? await first() : null;
    if (isContested || known) {
      attempt?.decided();
      return replayOf(known);
    }
    if (isDenial(outcome) && isOurFault(outcome)) await attempt?.forget();
    // A real order has its fingerprint in its row: there a repeat finds it, or trades. A simulated one has it here only.
    else if (isDenial(outcome) && outcome.code === 'outcome_unknown' && !simulation) attempt?.leave();
    else attempt?.decided();
    return outcome;
  } catch (fault) {
    await attempt?.forget();
    throw fault;
  }

  function reported({ inSync, strategyPosition, brokerPosition, gap }: Synced): AuditEvent {
    return {
      userId: user.id,
      action: 'webhook_order',
      failure: null,
      resource: { type: 'account', id: account.id },
      metadata: {
        trading_account_id: account.id,
        simulation,
        sync: true,
        symbol: signal.symbol,
        in_sync: inSync,
        strategy_position: toNumberOrNull(strategyPosition),
        broker_position: toNumberOrNull(brokerPosition),
        gap,
      },
    };
  }
}

/** They trade nothing by themselves. */
const UNCOUNTED: readonly Action[] = ['sync', 'protect', 'cancel'];

/** What protection closed stays closed: the target counts less that. */
const withoutStopped = (intent: OrderIntent, stopped: Stopped | null): OrderIntent =>
  stopped === null || !intent.target
    ? intent
    : { ...intent, target: { ...intent.target, position: lessStopped(intent.target.position, stopped) } };

/** Per account and mode: a rehearsal does not use up the real signal. */
const keyOf = ({ id, userId }: Account, print: string, simulation: boolean): string =>
  `fingerprint:{${userId}}:${id}:${simulation ? 'simulated:' : ''}${print}`;

/** Decided from the body alone, before anything else of it is judged. */
function senderOf(deps: WebhookDeps, account: Account, proof: Proof, now: number): RequestCount {
  const isSecret = (given: string) => isSecretOf(deps, account, given);
  return isGenuine(proof, now, { maxRequestAge: account.maxRequestAge, isSecret }) ? 'own' : 'other';
}

/** The address, the certificate, the payload, and levels 2 and 3: a stranger learns nothing of what comes later. */
function checkSignal(
  deps: WebhookDeps,
  { simulation: flag, queryProblem, arrivedAt, context, hasPlatformCertificate }: WebhookRequest,
  reading: BodyReading,
  { account, allowedIps }: Target,
): { readonly signal: Signal; readonly simulation: boolean } | (Refused & { readonly signal?: Signal }) {
  if (!isAllowedIp(allowedIps, context.ip))
    return {
      check: 'ip',
      denial: deny('webhook_ip_blocked', {
        detail: `${context.ip} is not on the user’s list of allowed IPs.`,
      }),
      metadata: { attack_type: 'ip_not_allowed' },
    };
  if (account.requirePlatformCertificate && !hasPlatformCertificate)
    return { check: 'certificate', denial: deny('platform_certificate_missing'), metadata: {} };
  if (queryProblem !== null) return malformed(queryProblem);
  const simulation = readFlag(flag);
  if (simulation === null) return malformed('?simulation= takes true, 1, yes, false, 0 or no.');
  const { signal, refusals } = judgeMessage(deps, account, reading, { simulation, now: arrivedAt });
  const [refusal] = refusals;
  if (!signal) return refusal ?? malformed('The message could not be understood.');
  return refusal ? { ...refusal, signal } : { signal, simulation };
}

/** Closed where the store is away, unlike the rate limiter: without this check a replay could trade. */
async function attemptAt(
  deps: WebhookDeps,
  key: string,
  lifeMs: number,
): Promise<Attempt | 'decided' | Denial> {
  try {
    const attempt = await attemptOnce(deps, key, lifeMs);
    if (attempt !== 'undecided') return attempt;
    return deny('worker_unavailable', {
      detail: 'The same signal is being worked on.',
      advice: 'Send it again in a moment: it is executed once.',
    });
  } catch (fault) {
    if (fault instanceof StoreUnavailable) return deny('store_unavailable');
    throw fault;
  }
}

/** Absent is real trading; anything that is not plainly yes or no is never guessed. */
function readFlag(value: unknown): boolean | null {
  if (value === undefined) return false;
  if (typeof value !== 'string') return null;
  if (/^(?:true|1|yes)$/i.test(value)) return true;
  if (/^(?:false|0|no)$/i.test(value)) return false;
  return null;
}
