// Sessions: how they are kept up, shown and ended. The refresh token rotates with every use, so that a stolen one
// betrays itself.

import type { Db } from '../../data/engine/db.ts';
import {
  findRefreshToken,
  findSession,
  forgetExpiredRefreshTokens,
  insertRefreshToken,
  liveSessions,
  revokeOwnSession,
  revokeSession,
  type Session,
  useRefreshToken,
} from '../../data/identity/sessions.ts';
import { currentTermsVersion, type User } from '../../data/identity/users.ts';
import { type Denial, deny } from '../../domain/denial.ts';
import { isUuid, millis, type SessionId, timestamp, type UserId } from '../../domain/ids.ts';
import { effectivePlan, type Plans } from '../../domain/orders/entitlement.ts';
import { audit, type RequestContext, writeAudit } from '../audit/audit.ts';
import type { Changes } from '../orders/changes.ts';
import { onePage, type Page, type PageRequest, pageOf } from '../pages.ts';
import { isAddressShown, type Verifying } from './addresses.ts';
import { hasSecondFactor } from './second-factor.ts';
import { hashToken, type Tokens } from './tokens.ts';

interface Lifetimes {
  readonly accessTokenMs: number;
  readonly refreshTokenMs: number;
}

export interface SessionDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly tokens: Tokens;
  readonly lifetimes: Lifetimes;
  readonly changes: Pick<Changes, 'ofAccess'>;
}

/** Two tabs may refresh at one moment; whoever comes later with a used token has stolen it, or was stolen from. */
const REUSE_GRACE_MS = 10_000;

export const newAccessToken = ({ tokens, lifetimes }: SessionDeps, { id, userId }: Session): string =>
  tokens.issue('access', { user: userId, session: id }, lifetimes.accessTokenMs);

export function newRefreshToken({ tokens, lifetimes }: SessionDeps, { id, userId }: Session, now: number) {
  const refreshToken = tokens.issue('refresh', { user: userId, session: id }, lifetimes.refreshTokenMs);
  const expiresAt = timestamp(now + lifetimes.refreshTokenMs);
  return {
    refreshToken,
    insert: insertRefreshToken({ tokenHash: hashToken(refreshToken), sessionId: id, expiresAt }),
  };
}

export interface Refreshed {
  readonly session: Session;
  readonly accessToken: string;
  /** null: the client has, or is about to have, a newer one than it showed. */
  readonly refreshToken: string | null;
}

export async function refreshSession(
  deps: SessionDeps,
  { refreshToken, context }: { refreshToken: string | undefined; context: RequestContext },
): Promise<Denial | Refreshed> {
  const { db, clock, tokens } = deps;
  const claims = refreshToken ? tokens.read('refresh', refreshToken) : null;
  if (!refreshToken || !claims) return deny('unauthenticated');
  const tokenHash = hashToken(refreshToken);
  const now = clock.now();
  let token = await findRefreshToken(db, tokenHash);
  const found = token && (await findSession(db, token.sessionId));
  if (!token || !found?.session.isActive || found.user.id !== claims.user) return deny('unauthenticated');
  if (millis(token.expiresAt) <= now) return deny('unauthenticated');
  if (!found.user.isActive) return deny('user_deactivated');
  const { session } = found;

  if (token.usedAt === null) {
    const next = newRefreshToken(deps, session, now);
    const lost = await db.commit([
      useRefreshToken(tokenHash, timestamp(now)),
      next.insert,
      forgetExpiredRefreshTokens(session.id, timestamp(now)),
    ]);
    if (lost === null)
      return { session, accessToken: newAccessToken(deps, session), refreshToken: next.refreshToken };
    // Another request was faster with the same token.
    token = await findRefreshToken(db, tokenHash);
  }
  if (token?.usedAt && now - millis(token.usedAt) <= REUSE_GRACE_MS)
    return { session, accessToken: newAccessToken(deps, session), refreshToken: null };
  await revokeForReuse(deps, session, context);
  deps.changes.ofAccess(session.userId);
  return deny('unauthenticated');
}

/** A used token shown again: either this client or the one before is a thief, and we cannot tell which. */
async function revokeForReuse({ db, clock }: SessionDeps, session: Session, context: RequestContext) {
  await db.commit([
    revokeSession(session.id),
    audit(
      context,
      {
        userId: session.userId,
        action: 'refresh_token_reuse',
        failure: 'A refresh token was shown again after its use. The session is revoked.',
        resource: { type: 'session', id: session.id },
      },
      clock.now(),
    ),
  ]);
}

export async function logout(
  { db, clock, changes }: Pick<SessionDeps, 'db' | 'clock' | 'changes'>,
  session: Session,
  context: RequestContext,
): Promise<void> {
  const resource = { type: 'session', id: session.id };
  // A session that something else has ended in the meantime has ended all the same.
  await db.commit([
    revokeSession(session.id),
    audit(context, { userId: session.userId, action: 'logout', failure: null, resource }, clock.now()),
  ]);
  changes.ofAccess(session.userId);
}

/** Null: revoked. Of somebody else, unknown and already ended are one answer. */
export async function revokeUserSession(
  deps: Pick<SessionDeps, 'db' | 'clock' | 'changes'>,
  user: UserId,
  id: string,
  context: RequestContext,
): Promise<Denial | null> {
  const event = { userId: user, action: 'session_revoke' } as const;
  if (isUuid(id)) {
    const resource = { type: 'session', id };
    const entry = audit(context, { ...event, failure: null, resource }, deps.clock.now());
    if ((await deps.db.commit([revokeOwnSession(id as SessionId, user), entry])) === null) {
      deps.changes.ofAccess(user);
      return null;
    }
  }
  const denial = deny('not_found', { detail: 'You have no such active session.' });
  await writeAudit(deps, context, { ...event, failure: denial });
  return denial;
}

export async function readSessions(
  { db, clock }: Pick<SessionDeps, 'db' | 'clock'>,
  current: Session,
  page: PageRequest,
): Promise<Page<object>> {
  const { after, limit } = onePage(page);
  const now = timestamp(clock.now());
  const found = await liveSessions(db.lists, current.userId, {
    before: after as SessionId | null,
    limit,
    now,
  });
  return pageOf(found, page, (session) => ({
    ...shownSession(session),
    current: session.id === current.id,
  }));
}

/** What a client asks after a reload: who am I, and with which CSRF token? */
export async function readOwnSession(
  deps: Verifying & { readonly db: Db; readonly clock: { now(): number }; readonly plans: Plans },
  user: User,
  session: Session,
): Promise<object> {
  const planExpiresAt = user.planExpiresAt === null ? null : millis(user.planExpiresAt);
  const [termsVersion, totpEnabled] = await Promise.all([
    currentTermsVersion(deps.db),
    hasSecondFactor(deps, user.id),
  ]);
  return {
    user: {
      ...shownUser(user),
      effective_plan: effectivePlan(deps.plans, { plan: user.plan, planExpiresAt }, deps.clock.now()),
    },
    session: shownSession(session),
    csrf_token: session.csrfToken,
    terms: { current_version: termsVersion, accepted_version: user.termsVersion },
    totp_enabled: totpEnabled,
    email_verified: isAddressShown(deps, user),
  };
}

export const shownUser = (user: User) => ({
  id: user.id,
  email: user.email,
  is_admin: user.isAdmin,
  plan: user.plan,
  plan_expires_at: user.planExpiresAt,
});

const shownSession = (session: Session) => ({
  id: session.id,
  created_at: session.createdAt,
  ip_address: session.ipAddress,
  user_agent: session.userAgent,
});
