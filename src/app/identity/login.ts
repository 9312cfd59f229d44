// Logging in: a right password, and a code where the user has a second factor, begin a session.

import { credentialsByEmail, credentialsOf, type UserCredentials } from '../../data/accounts/credentials.ts';
import { passwordsEndedAt } from '../../data/identity/after-theft.ts';
import { insertSession, type Session } from '../../data/identity/sessions.ts';
import type { Tried } from '../../data/identity/tries.ts';
import type { User } from '../../data/identity/users.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import { normalEmail } from '../../domain/identity/email.ts';
import { type SessionId, timestamp } from '../../domain/ids.ts';
import { audit, type RequestContext, storable, writeAudit } from '../audit/audit.ts';
import { newId } from '../new-id.ts';
import { randomToken, type SecretBox } from '../secret-box.ts';
import type { Captcha } from './captcha.ts';
import { deviceToken, knownDevice, stampOf } from './devices.ts';
import { type CheckPasswordDeps, checkPassword, type PasswordCheck } from './passwords.ts';
import { type CodeProof, hasSecondFactor, proofByCode } from './second-factor.ts';
import { newAccessToken, newRefreshToken, type SessionDeps } from './sessions.ts';
import { byClient, byDevice, byStrangers, clientOf, forgive, takeTry } from './tries.ts';

export interface LoginDeps extends SessionDeps, CheckPasswordDeps {
  readonly secrets: SecretBox;
  readonly captcha: Captcha;
}

/** A session that has just begun. */
export interface Entered {
  readonly user: User;
  readonly session: Session;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** For the device that it began on. */
  readonly deviceToken: string;
}

/** The password was right; the second factor is asked for. */
export interface CodeAsked {
  readonly loginToken: string;
  readonly expiresInMs: number;
}

const LOGIN_TOKEN_MS = 5 * 60_000;

/** What is known of an attempt by the time it is denied; it goes into the audit entry. */
interface Findings {
  user?: User;
}

async function audited<Outcome extends object>(
  deps: SessionDeps,
  context: RequestContext,
  attempt: (findings: Findings) => Promise<Denial | Outcome>,
): Promise<Denial | Outcome> {
  const findings: Findings = {};
  const outcome = await attempt(findings);
  if (isDenial(outcome))
    await writeAudit(deps, context, {
      userId: findings.user?.id ?? null,
      action: 'login',
      failure: outcome,
      metadata: { code: outcome.code },
    });
  return outcome;
}

export interface LoginAttempt {
  readonly email: string;
  readonly password: string;
  readonly captchaToken: string | undefined;
  /** As the device shows it, if it shows one. */
  readonly deviceToken: string | undefined;
  readonly context: RequestContext;
}

export function login(
  deps: LoginDeps,
  { captchaToken, context, ...typed }: LoginAttempt,
): Promise<Denial | Entered | CodeAsked> {
  return audited(deps, context, async (findings) => {
    const bot = await deps.captcha.verify({ token: captchaToken, action: 'login', context });
    if (bot) return bot;
    const proven = await provePassword(deps, { ...typed, client: null, context }, findings);
    if (isDenial(proven)) return proven;
    if (!(await hasSecondFactor(deps, proven.user.id))) return enter(deps, proven, null, context);

    // The try stays counted: it is forgiven with the code, so that a known password buys no endless guessing of codes.
    const { id } = proven.user;
    await writeAudit(deps, context, { userId: id, action: 'login_password', failure: null });
    const claims = { user: id, session: null, stamp: stampOf(proven) };
    return {
      loginToken: deps.tokens.issue('login', claims, LOGIN_TOKEN_MS),
      expiresInMs: LOGIN_TOKEN_MS,
    };
  });
}

export interface LoginCode extends Pick<LoginAttempt, 'deviceToken' | 'context'> {
  readonly loginToken: string;
  readonly code: string;
}

/** The second step, with the code. */
export function completeLogin(
  deps: LoginDeps,
  { loginToken, code, deviceToken, context }: LoginCode,
): Promise<Denial | Entered> {
  return audited(deps, context, async (findings) => {
    const claims = deps.tokens.read('login', loginToken);
    const found = claims && (await credentialsOf(deps.db, claims.user));
    if (!found || stampOf(found) !== claims.stamp) return deny('login_token_invalid');
    findings.user = found.user;
    if (!found.user.isActive) return deny('user_deactivated');
    const from = cameFrom(deps, found.user.email, { found, deviceToken });
    const locked = await takeTry(deps, from.tried);
    if (locked) return locked;
    return enterByCode(deps, { ...found, ...from }, code, context);
  });
}

export interface PasswordGrant {
  readonly email: string;
  readonly password: string;
  readonly code: string | undefined;
  readonly context: RequestContext;
}

/** For a program: the password and, where there is a second factor, the code in one step. `codeMissing`: it is asked for. */
export function loginAtOnce(
  deps: LoginDeps,
  { email, password, code, context }: PasswordGrant,
): Promise<Denial | Entered | { codeMissing: true }> {
  return audited<Entered | { codeMissing: true }>(deps, context, async (findings) => {
    // Programs keep no cookies: they try with the strangers. No bot challenge stands before them, so that wrong passwords count against
    // the client too, whosever accounts they are tried on.
    const typed = { email, password, deviceToken: undefined, client: byClient(context.ip), context };
    const proven = await provePassword(deps, typed, findings);
    if (isDenial(proven)) return proven;
    if (!(await hasSecondFactor(deps, proven.user.id))) return enter(deps, proven, null, context);
    if (code !== undefined) return enterByCode(deps, proven, code, context);
    await writeAudit(deps, context, { userId: proven.user.id, action: 'login_password', failure: null });
    return { codeMissing: true };
  });
}

/** From where a try is made, and with which others it counts. */
interface From {
  /** The device's id; null: not known to the user. */
  readonly device: string | null;
  readonly tried: Tried;
}

function cameFrom(
  deps: LoginDeps,
  email: string,
  { found, deviceToken }: { found: UserCredentials | null; deviceToken: string | undefined },
): From {
  const device = knownDevice(deps, deviceToken, found);
  return { device, tried: device === null ? byStrangers(email) : byDevice(device) };
}

type Proven = UserCredentials & From;

async function provePassword(
  deps: LoginDeps,
  typed: Pick<LoginAttempt, 'email' | 'password' | 'deviceToken' | 'context'> & Pick<PasswordCheck, 'client'>,
  findings: Findings,
): Promise<Denial | Proven> {
  const { password, deviceToken, client } = typed;
  const email = normalEmail(typed.email);
  const found = await credentialsByEmail(deps.db, email);
  if (found) findings.user = found.user;
  const from = cameFrom(deps, email, { found, deviceToken });
  const who = clientOf(typed.context.ip);
  const denial = await checkPassword(deps, { who, tried: from.tried, client, password, found });
  if (denial?.code === 'invalid_credentials') return wrongPassword(deps);
  if (denial) return denial;
  // Only now: a stranger does not learn that the user exists.
  return found?.user.isActive ? { ...found, ...from } : deny('user_deactivated');
}

/** After a restore the same words for everybody, whether or not there is such a user: every password has ended with it. */
async function wrongPassword({ db }: LoginDeps): Promise<Denial> {
  const endedAt = await passwordsEndedAt(db);
  if (endedAt === null) return deny('invalid_credentials');
  return deny('invalid_credentials', {
    detail: `The email address or the password is wrong, or the password is from before ${endedAt}: then this service was restored from a backup, and every password ended.`,
    advice:
      'If you have not set a new password since then, ask for one under /auth/forgot-password, or ask the operator, who sets one with `npx fillpath user password`.',
  });
}

const wrongCode = (): Denial => deny('login_code_wrong');

async function enterByCode(
  deps: LoginDeps,
  proven: Proven,
  code: string,
  context: RequestContext,
): Promise<Denial | Entered> {
  const proof = await proofByCode(deps, proven.user.id, code);
  return proof ? enter(deps, proven, proof, context) : wrongCode();
}

/** The session, its first refresh token, the use of the code, the tries forgiven and the audit entry are one unit. */
async function enter(
  deps: LoginDeps,
  proven: Proven,
  proof: CodeProof | null,
  context: RequestContext,
): Promise<Denial | Entered> {
  const { db, clock } = deps;
  const { user, passwordHash } = proven;
  const now = clock.now();
  const session: Session = {
    id: newId() as SessionId,
    userId: user.id,
    csrfToken: randomToken(),
    ipAddress: context.ip,
    userAgent: storable(context.userAgent ?? '', 512),
    createdAt: timestamp(now),
    isActive: true,
  };
  const { refreshToken, insert } = newRefreshToken(deps, session, now);
  const lost = await db.commit([
    insertSession(session, passwordHash),
    ...(proof ? [proof.use] : []),
    insert,
    forgive(proven.tried),
    audit(
      context,
      {
        userId: user.id,
        action: 'login',
        failure: null,
        resource: { type: 'session', id: session.id },
        metadata: { second_factor: proof?.kind ?? null },
      },
      now,
    ),
  ]);
  if (lost === 'code_unused') return wrongCode();
  // The password was changed, or the user deactivated, while we looked at it.
  if (lost !== null) return deny('invalid_credentials');
  return {
    user,
    session,
    accessToken: newAccessToken(deps, session),
    refreshToken,
    deviceToken: deviceToken(deps, proven, proven.device),
  };
}
