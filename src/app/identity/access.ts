// Who may act, how often and from where. The same checks stand before the webhook and the trading routes.

import { findAccount } from '../../data/accounts/accounts.ts';
import type { Db } from '../../data/engine/db.ts';
import { isApiKeyGood, ownerOfApiKey, touchApiKey } from '../../data/identity/api-keys.ts';
import { findSession, isSessionLive, type Session } from '../../data/identity/sessions.ts';
import { allowedIps, type User } from '../../data/identity/users.ts';
import type { Counters } from '../../domain/counters.ts';
import { type Denial, deny, ruleOf } from '../../domain/denial.ts';
import { type AccountId, timestamp, type UserId } from '../../domain/ids.ts';
import { isSameSecret } from '../../domain/signals/secret-digest.ts';
import type { Store } from '../../store/store.ts';
import { ipList } from '../accounts/ip-list.ts';
import { type AlertDeps, alertUser } from '../audit/alerts.ts';
import { type RequestContext, writeAudit } from '../audit/audit.ts';
import type { Strangers } from '../audit/strangers.ts';
import { hashToken, type Tokens } from './tokens.ts';

export type { Session, User };

export interface RateLimit {
  readonly requests: number;
  readonly windowMs: number;
}

interface RateDeps {
  readonly store: Pick<Store, 'countInWindow'>;
  readonly rateLimit: RateLimit;
  readonly log: { warn(context: object, text: string): void };
  readonly counters: Pick<Counters, 'failedOpen'>;
}

/**
 * `own`: a user's trading requests, whichever way they come. `other`: what arrives at the user's webhooks and is not shown
 * to be the user's; counted apart, so that a stranger with the URL cannot keep the owner out.
 */
export type RequestCount = 'own' | 'other';

const COUNTS: Record<RequestCount, (user: UserId) => string> = {
  own: (user) => `rate:{${user}}`,
  other: (user) => `rate:{${user}}:other`,
};

/** Fails open, as the spec says: a store that does not answer must not stop anybody from trading. */
export async function checkRate(
  { store, rateLimit, log, counters }: RateDeps,
  user: UserId,
  count: RequestCount,
): Promise<Denial | null> {
  try {
    const { allowed, retryAfterMs } = await store.countInWindow(
      COUNTS[count](user),
      rateLimit.requests,
      rateLimit.windowMs,
    );
    return allowed ? null : deny('rate_limited', { retryAfter: Math.max(1, Math.ceil(retryAfterMs / 1000)) });
  } catch (fault) {
    counters.failedOpen('rate_limit');
    log.warn({ fault, user_id: user }, 'the rate limiter fails open: the store does not answer');
    return null;
  }
}

/** Without a list, from anywhere. */
export const isAllowedIp = (allowed: readonly string[], ip: string): boolean =>
  allowed.length === 0 || ipList(allowed).has(ip);

export interface AdmitDeps extends RateDeps, AlertDeps {
  /** Of requests beyond the limit: the first few of a minute have an entry, the others are counted. */
  readonly overLimit: Strangers;
}

export interface TradingRequest {
  readonly user: User;
  /** As the request names it. */
  readonly accountId: AccountId | null;
  /** What the attempt is called in the audit log, where its refusal has no action of its own. */
  readonly action: string;
  readonly context: RequestContext;
}

/** Before every trading request of a user that acts. The webhook makes the same two checks among its own. */
export async function admitTradingRequest(deps: AdmitDeps, request: TradingRequest): Promise<Denial | null> {
  const tooMany = await checkRate(deps, request.user.id, 'own');
  if (!tooMany) return admitAddress(deps, request);
  if (deps.overLimit.count(request.context, { code: tooMany.code, target: request.user.id }))
    await noteRefusal(deps, request, tooMany);
  return tooMany;
}

/** The second of them alone, for what no rate limit holds back. */
export async function admitAddress(deps: AlertDeps, request: TradingRequest): Promise<Denial | null> {
  if (isAllowedIp(await allowedIps(deps.db, request.user.id), request.context.ip)) return null;
  const denial = deny('ip_not_allowed', {
    detail: `${request.context.ip} is not on your list of allowed IPs.`,
  });
  await noteRefusal(deps, request, denial);
  return denial;
}

async function noteRefusal(
  deps: AlertDeps,
  { user, accountId, action, context }: TradingRequest,
  denial: Denial,
): Promise<void> {
  await writeAudit(deps, context, {
    userId: user.id,
    action: ruleOf(denial.code).audit ?? action,
    failure: denial,
    ...(accountId ? { resource: { type: 'account', id: accountId } } : {}),
    metadata: {
      code: denial.code,
      ...(denial.code === 'ip_not_allowed' ? { attack_type: 'ip_not_allowed' } : {}),
      ...(accountId ? { trading_account_id: accountId } : {}),
    },
  });
  const account = accountId ? await findAccount(deps.db, accountId) : null;
  const accountName = account?.userId === user.id ? account.name : null;
  alertUser(deps, { code: denial.code, user, accountName, ip: context.ip, detail: denial.detail });
}

/** Who is asking, and by what. */
export type Caller =
  | { readonly via: 'session'; readonly user: User; readonly session: Session }
  | { readonly via: 'api_key'; readonly user: User; readonly keyId: string };

export interface Credentials {
  /** The access_token cookie; it decides where it is present, however bad it is. */
  readonly cookie: string | undefined;
  /** The Authorization header. */
  readonly authorization: string | undefined;
}

export interface AuthenticateDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly tokens: Pick<Tokens, 'read'>;
}

export async function authenticate(
  deps: AuthenticateDeps,
  credentials: Credentials,
): Promise<Caller | Denial> {
  const { cookie, authorization } = credentials;
  const token = cookie ?? /^Bearer +([\w~+/.-]{1,2048}=*)$/i.exec(authorization ?? '')?.[1];
  if (!token) return deny('unauthenticated');
  // A JWT has dots; an API key has none, and a browser never sends one as a cookie.
  const caller =
    cookie !== undefined || token.includes('.') ? await bySession(deps, token) : await byApiKey(deps, token);
  if (!caller) return deny('unauthenticated');
  return caller.user.isActive ? caller : deny('user_deactivated');
}

async function bySession({ db, tokens }: AuthenticateDeps, token: string): Promise<Caller | null> {
  const claims = tokens.read('access', token);
  const found = claims?.session ? await findSession(db, claims.session) : null;
  if (!found?.session.isActive || found.user.id !== claims?.user) return null;
  return { via: 'session', ...found };
}

async function byApiKey({ db, clock }: AuthenticateDeps, key: string): Promise<Caller | null> {
  const now = timestamp(clock.now());
  const owner = await ownerOfApiKey(db, hashToken(key), now);
  if (!owner) return null;
  await db.commit([touchApiKey(owner.keyId, now)]);
  return { via: 'api_key', ...owner };
}

/**
 * Whether who was let in some time ago still may be in, with a long answer that is not asked for again. A session goes on
 * beyond its access token for as long as it can be refreshed.
 */
export async function isStillIn(
  { db, clock, tokens }: AuthenticateDeps,
  caller: Caller,
  { cookie, authorization }: Credentials,
): Promise<boolean> {
  const now = timestamp(clock.now());
  if (caller.via === 'api_key') return isApiKeyGood(db, caller.keyId, now);
  if (await isSessionLive(db, caller.session.id, now)) return true;
  if (!tokens.read('access', cookie ?? authorization?.replace(/^Bearer +/i, '') ?? '')) return false;
  const found = await findSession(db, caller.session.id);
  return Boolean(found?.session.isActive && found.user.isActive);
}

/** Sessions, by cookie or bearer, prove with every change that the request is the client's own. */
export function isCsrfProven(session: Session, header: string | undefined): boolean {
  return isSameSecret(header ?? '', session.csrfToken);
}
