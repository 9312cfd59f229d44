// The webhook, whole: the checks in the contract's order. The first denial ends the request, and one place audits
// every outcome.

import { type Account, findByWebhookToken } from '../../data/accounts.ts';
import { hasFingerprint } from '../../data/orders.ts';
import type { User } from '../../data/users.ts';
import { type Denial, deny, isDenial, isOurFault, ruleOf } from '../../domain/denial.ts';
import { readSignal, type Signal } from '../../domain/signal.ts';
import { isAllowedSymbol } from '../../domain/symbol.ts';
import { fingerprint, isFresh, isSameSecret } from '../../domain/webhook.ts';
import { type Store, StoreUnavailable } from '../../store/store.ts';
import { type AlertDeps, alertUser } from '../audit/alerts.ts';
import { audit, type RequestContext } from '../audit/audit.ts';
import { checkRate, isAllowedIp, type RateLimit } from '../identity/access.ts';
import type { SecretBox } from '../secret-box.ts';
import { type Attempt, attemptOnce, type OnceDeps } from './once.ts';
import { type Placed, type PlaceOrderDeps, placeOrder } from './place-order.ts';

export interface WebhookDeps extends PlaceOrderDeps, AlertDeps {
  readonly store: OnceDeps['store'] & Pick<Store, 'countInWindow'>;
  readonly secrets: SecretBox;
  readonly rateLimit: RateLimit;
}

export interface WebhookRequest {
  readonly token: string;
  /** null: larger than a webhook body may be. */
  readonly body: Uint8Array | null;
  /** The query as received: `?simulation=`. */
  readonly simulation: unknown;
  readonly arrivedAt: number;
  readonly context: RequestContext;
}

/** What is known of a request by the time it is denied; it goes into the audit entry. */
interface Findings {
  user?: User;
  account?: Account;
  metadata: Record<string, unknown>;
}

export async function receiveWebhook(deps: WebhookDeps, request: WebhookRequest): Promise<Denial | Placed> {
  const findings: Findings = { metadata: {} };
  const outcome = await checkAndPlace(deps, request, findings);
  if (isDenial(outcome)) {
    const { user, account, metadata } = findings;
    const entry = audit(
      request.context,
      {
        userId: user?.id ?? null,
        action: ruleOf(outcome.code).audit ?? 'webhook_order',
        failure: outcome.detail,
        ...(account ? { resource: { type: 'account', id: account.id } } : {}),
        metadata: { code: outcome.code, ...(account ? { trading_account_id: account.id } : {}), ...metadata },
      },
      deps.clock.now(),
    );
    await deps.db.commit([entry]);
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
  { token, body, simulation: flag, arrivedAt, context }: WebhookRequest,
  findings: Findings,
): Promise<Denial | Placed> {
  // Level 1
  const target = await findByWebhookToken(deps.db, token);
  if (target) Object.assign(findings, target);
  if (body === null) {
    findings.metadata = { attack_type: 'oversized_payload' };
    return deny('payload_too_large');
  }
  if (!target) return deny('webhook_not_found');
  const { user, account } = target;
  if (!user.isActive) return deny('user_deactivated');

  const tooMany = await checkRate(deps, user.id);
  if (tooMany) return tooMany;

  if (!(await isAllowedIp(deps, user.id, context.ip))) {
    findings.metadata = { attack_type: 'ip_not_allowed' };
    return deny('webhook_ip_blocked');
  }

  const refusePayload = (attackType: string, detail: string) => {
    findings.metadata = { attack_type: attackType };
    return deny('webhook_payload_invalid', { detail });
  };
  const simulation = readFlag(flag);
  if (simulation === null)
    return refusePayload('malformed_payload', '?simulation= takes true, 1, yes, false, 0 or no.');
  const reading = readSignal(body, { simulation });
  if ('problem' in reading) return refusePayload('malformed_payload', reading.problem);
  const { signal } = reading;
  if (!isAllowedSymbol(account.brokerName, account.allowedSymbols, signal.symbol))
    return refusePayload(
      'symbol_not_allowed',
      `The symbol ${signal.symbol} is not in the account's allowed list.`,
    );

  if (!simulation) {
    const attack = proveGenuine(deps, account, signal, arrivedAt);
    if (attack) {
      findings.metadata = attack.metadata;
      return attack.denial;
    }
  }

  // Level 4
  const print = fingerprint(user.id, signal);
  // For as long as the signal would still be fresh, and longer for one from the future.
  const lifeMs = account.maxRequestAge * 1000 + Math.max(0, (signal.timestamp ?? 0) - arrivedAt);
  const replay = () => {
    findings.metadata = { attack_type: 'replay', payload_hash: print };
    return deny('webhook_replay_attack');
  };
  const attempt =
    print === null ? null : await attemptAt(deps, `fingerprint:{${user.id}}:${account.id}:${print}`, lifeMs);
  if (attempt === 'decided') return replay();
  if (attempt !== null && isDenial(attempt)) return attempt;

  try {
    // The store may have forgotten it; the order's row has not.
    if (print && (await hasFingerprint(deps.db, account.id, print))) {
      attempt?.decided();
      return replay();
    }
    const outcome = await placeOrder(deps, {
      user,
      account,
      source: 'webhook',
      simulation,
      action: signal.action,
      orderType: signal.orderType,
      intent: signal.intent,
      symbol: signal.symbol,
      quantity: signal.quantity,
      arrivedAt,
      context,
      fingerprint: simulation ? null : print,
      claims: () => [],
      onAccepted: () => attempt?.decided(),
    });
    if (isDenial(outcome) && isOurFault(outcome)) await attempt?.forget();
    else attempt?.decided();
    // Of two that came at once where the store forgot, one was committed.
    return 'contested' in outcome ? replay() : outcome;
  } catch (fault) {
    await attempt?.forget();
    throw fault;
  }
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
    return deny('worker_unavailable', { detail: 'The same signal is being worked on. Send it again.' });
  } catch (fault) {
    if (fault instanceof StoreUnavailable) return deny('store_unavailable');
    throw fault;
  }
}

/** Levels 2 and 3. */
function proveGenuine({ secrets }: WebhookDeps, account: Account, signal: Signal, now: number) {
  const age = now - (signal.timestamp ?? 0);
  if (!isFresh(signal.timestamp ?? 0, now, account.maxRequestAge)) {
    const metadata = { attack_type: 'expired_timestamp', request_age_seconds: age / 1000 };
    return { denial: deny('webhook_timestamp_expired'), metadata };
  }
  if (!isSameSecret(signal.secret ?? '', secrets.open(account.webhookSecret)))
    return { denial: deny('webhook_credential_attack'), metadata: { attack_type: 'wrong_secret' } };
  return null;
}

/** Absent is real trading; anything that is not plainly yes or no is never guessed. */
function readFlag(value: unknown): boolean | null {
  if (value === undefined) return false;
  if (typeof value !== 'string') return null;
  if (/^(?:true|1|yes)$/i.test(value)) return true;
  if (/^(?:false|0|no)$/i.test(value)) return false;
  return null;
}
