// Passwords: registering with one, checking one, setting a new one by mail. Whoever guesses gets no word on whether the
// account exists.

import { hash, verify } from '@node-rs/argon2';
import {
  credentialsByEmail,
  credentialsOf,
  insertPasswordReset,
  setPassword,
  type UserCredentials,
  usePasswordReset,
  userOfPasswordReset,
} from '../../data/accounts/credentials.ts';
import type { Db, Statement } from '../../data/engine/db.ts';
import { findSecondFactor } from '../../data/identity/second-factors.ts';
import type { Tried } from '../../data/identity/tries.ts';
import { currentTermsVersion, findUserByEmail, insertUser, type User } from '../../data/identity/users.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import { isEmail, normalEmail } from '../../domain/identity/email.ts';
import { weakness } from '../../domain/identity/password.ts';
import { type SessionId, timestamp, type UserId } from '../../domain/ids.ts';
import type { Mailer } from '../../mail/mailer.ts';
import { audit, type RequestContext, writeAudit } from '../audit/audit.ts';
import { resetMail } from '../audit/mails.ts';
import type { Strangers } from '../audit/strangers.ts';
import { newId } from '../new-id.ts';
import type { Changes } from '../orders/changes.ts';
import { randomToken } from '../secret-box.ts';
import { type ClaimDeps, checkAddress, newClaim, type Verifying } from './addresses.ts';
import { secured } from './after-theft.ts';
import type { Captcha } from './captcha.ts';
import { deviceToken } from './devices.ts';
import { hashToken, type Tokens } from './tokens.ts';
import {
  bySession,
  byStrangers,
  clientOf,
  forgive,
  giveBack,
  resetMails,
  type TryDeps,
  takeIfFree,
  takeTry,
} from './tries.ts';
import type { Turns } from './turns.ts';

/** A port, so that a test can count the work. */
export interface PasswordHasher {
  hash(password: string): Promise<string>;
  verify(passwordHash: string, password: string): Promise<boolean>;
}

/** Argon2id with the library's own parameters. */
export const argon2id: PasswordHasher = {
  hash: (password) => hash(password),
  // What is no hash at all fits no password.
  verify: (passwordHash, password) => verify(passwordHash, password).catch(() => false),
};

interface Log {
  error(context: object, text: string): void;
}

export interface CheckPasswordDeps extends TryDeps {
  readonly hasher: PasswordHasher;
  readonly turns: Turns;
  /** The hash of a password that nobody knows: what an unknown address is checked against. */
  readonly decoyHash: string;
}

export interface PasswordCheck {
  readonly who: string;
  /** The try stays counted until forgiven. */
  readonly tried: Tried;
  /** Counts besides, and wrong passwords only; null: from where it comes does not matter. */
  readonly client: Tried | null;
  readonly password: string;
  readonly found: UserCredentials | null;
}

/** The same work, one verification, whether or not there is such a user. */
export async function checkPassword(
  deps: CheckPasswordDeps,
  { who, tried, client, password, found }: PasswordCheck,
): Promise<Denial | null> {
  const check = async () => {
    const locked = await takeTry(deps, tried);
    if (locked) return locked;
    const isRight = await deps.hasher.verify(found?.passwordHash ?? deps.decoyHash, password);
    return found && isRight ? null : deny('invalid_credentials');
  };
  // In its turn: who is sent away without a check has used up no try, and nobody is locked out by passwords that wait to be found right.
  return deps.turns.take(who, () => (client ? countedFor(deps, client, check) : check()));
}

/** Counted before it is known to be wrong, so that guesses in parallel are no way around it. */
async function countedFor(
  deps: TryDeps,
  client: Tried,
  check: () => Promise<Denial | null>,
): Promise<Denial | null> {
  const locked = await takeTry(deps, client);
  if (locked) return deny('login_locked', { ...FROM_HERE, retryAfter: locked.retryAfter ?? 1 });
  const denial = await check();
  if (denial?.code !== 'invalid_credentials') await deps.db.commit(giveBack(client));
  return denial;
}

const FROM_HERE = {
  detail: 'Too many wrong passwords came from your address.',
  advice: 'Wait for the time given in Retry-After; an API key needs no password.',
};

/** Of somebody who has a session and must prove once more to be the one who began it. */
export async function checkOwnPassword(
  deps: CheckPasswordDeps,
  { user: { id }, session }: { readonly user: User; readonly session: SessionId },
  password: string,
): Promise<Denial | null> {
  const found = await credentialsOf(deps.db, id);
  const tried = bySession(session);
  const denial = await checkPassword(deps, { who: id, tried, client: null, password, found });
  return denial?.code === 'invalid_credentials' ? deny('password_wrong') : denial;
}

export interface RegisterDeps extends ClaimDeps, Verifying {
  readonly db: Db;
  readonly hasher: PasswordHasher;
  readonly turns: Turns;
  readonly captcha: Captcha;
}

export interface Registration {
  readonly email: string;
  readonly password: string;
  readonly captchaToken: string | undefined;
  readonly acceptTerms: boolean;
  readonly context: RequestContext;
}

export async function register(deps: RegisterDeps, registration: Registration): Promise<Denial | User> {
  const outcome = await checkAndRegister(deps, registration);
  if (isDenial(outcome))
    await writeAudit(deps, registration.context, {
      userId: null,
      action: 'register',
      failure: outcome,
      metadata: { code: outcome.code },
    });
  return outcome;
}

async function checkAndRegister(
  deps: RegisterDeps,
  { password, captchaToken, acceptTerms, context, ...given }: Registration,
): Promise<Denial | User> {
  const { db, hasher, turns, captcha } = deps;
  const email = normalEmail(given.email);
  if (!isEmail(email)) return deny('request_invalid', { detail: '"email" must be an email address.' });
  const weak = weakness(password, email);
  if (weak) return weak;
  // After what the client can mend itself: an answer to the challenge works once.
  const bot = await captcha.verify({ token: captchaToken, action: 'register', context });
  if (bot) return bot;

  const passwordHash = await turns.take(clientOf(context.ip), () => hasher.hash(password));
  if (typeof passwordHash !== 'string') return passwordHash;
  const user: User = {
    id: newId() as UserId,
    email,
    isAdmin: false,
    isActive: true,
    plan: 'free',
    planExpiresAt: null,
    termsVersion: acceptTerms ? await currentTermsVersion(db) : null,
    // Where nobody is asked to show it, nobody is asked later either.
    emailVerified: !deps.verifyEmail,
  };
  const kept = { ...deps, context };
  const metadata = { terms_version: user.termsVersion };
  if (!deps.verifyEmail) return keepUser(kept, user, passwordHash, metadata);
  const own = newClaim(deps, user, null);
  const outcome = await keepUser(kept, user, passwordHash, metadata, [own.keep]);
  if (isDenial(outcome)) return claimTaken(deps, user, passwordHash, context);
  own.mail();
  return outcome;
}

/** Of an address that is registered: whoever has shown that it is theirs keeps it; else the first link that is followed decides. */
async function claimTaken(
  deps: RegisterDeps,
  user: User,
  passwordHash: string,
  context: RequestContext,
): Promise<Denial | User> {
  const registered = await findUserByEmail(deps.db, user.email);
  if (!registered || registered.emailVerified || !registered.isActive) return deny('email_taken');
  const claim = newClaim(deps, user, { passwordHash, termsVersion: user.termsVersion });
  const event = { userId: null, action: 'register', failure: null, metadata: { claims: registered.id } };
  await deps.db.commit([claim.keep, audit(context, event, deps.clock.now())]);
  claim.mail();
  return user;
}

/** What is noted of a user besides is what whoever made it decided. */
export async function keepUser(
  { db, clock, context }: { db: Db; clock: { now(): number }; context: RequestContext },
  user: User,
  passwordHash: string,
  metadata: Readonly<Record<string, unknown>>,
  along: readonly Statement[] = [],
): Promise<Denial | User> {
  const now = clock.now();
  const resource = { type: 'user', id: user.id };
  const lost = await db.commit([
    insertUser(user, passwordHash, timestamp(now)),
    ...along,
    audit(context, { userId: user.id, action: 'register', failure: null, resource, metadata }, now),
  ]);
  return lost === null ? user : deny('email_taken');
}

export interface ForgotPasswordDeps extends Verifying {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly mailer: Mailer;
  readonly baseUrl: string;
  readonly log: Log;
}

const RESET_LIFE_MS = 30 * 60_000;

/** Mails a link for a new password. It answers nothing: whether there is such a user is nobody's business. */
export async function forgotPassword(
  deps: ForgotPasswordDeps,
  { email, context }: { email: string; context: RequestContext },
): Promise<void> {
  const { db, clock, mailer, log } = deps;
  const found = await credentialsByEmail(db, normalEmail(email));
  const user = found?.user ?? null;
  const refuse = (failure: string) =>
    writeAudit(deps, context, { userId: user?.id ?? null, action: 'forgot_password', failure });
  if (!user) return refuse('There is no user with this address.');
  if (!user.isActive) return refuse('The user is deactivated.');
  // Who has forgotten the password of one registers it again.
  if (checkAddress(deps, user)) return refuse('The address is not confirmed.');
  if ((await takeIfFree(deps, resetMails(user.id))) > 0)
    return refuse('The user was sent enough mails for now.');

  const token = randomToken();
  const now = clock.now();
  const expiresAt = timestamp(now + RESET_LIFE_MS);
  const link = `${deps.baseUrl}/reset-password?token=${token}`;
  await db.commit([
    insertPasswordReset({ tokenHash: hashToken(token), userId: user.id, expiresAt }),
    audit(context, { userId: user.id, action: 'forgot_password', failure: null }, now),
  ]);
  try {
    await mailer.send({ to: user.email, ...resetMail({ link, minutes: RESET_LIFE_MS / 60_000 }) });
  } catch (fault) {
    log.error(
      { fault, request_id: context.requestId, user_id: user.id },
      'the mail with the link for a new password could not be sent',
    );
    await refuse('The mail could not be sent.');
  }
}

export interface ResetPasswordDeps {
  readonly db: Db;
  readonly changes: Pick<Changes, 'ofAccess'>;
  readonly clock: { now(): number };
  readonly strangers: Strangers;
  readonly hasher: PasswordHasher;
  readonly turns: Turns;
  readonly tokens: Tokens;
}

/** The token is for the device: whoever goes on guessing does not keep its user out, who has shown whose the address is. */
export async function resetPassword(
  deps: ResetPasswordDeps,
  { token, password, context }: { token: string; password: string; context: RequestContext },
): Promise<Denial | { readonly deviceToken: string }> {
  const { db, clock, hasher, turns } = deps;
  const tokenHash = hashToken(token);
  const user = await userOfPasswordReset(db, tokenHash, timestamp(clock.now()));
  const refuse = async (denial: Denial): Promise<Denial> => {
    await writeAudit(deps, context, {
      userId: user?.id ?? null,
      action: 'reset_password',
      failure: denial,
      metadata: { code: denial.code },
    });
    return denial;
  };
  if (!user) {
    const denial = deny('reset_token_invalid');
    const isTold = deps.strangers.count(context, { code: denial.code, target: null });
    return isTold ? refuse(denial) : denial;
  }
  const weak = weakness(password, user.email);
  if (weak) return refuse(weak);

  // Where a code is asked for, too, it is one device for all: else whoever can read the mails would have ten more tries at the code
  // with each password that they set.
  const device = (await findSecondFactor(db, user.id))?.confirmed ? user.id : null;
  const passwordHash = await turns.take(user.id, () => hasher.hash(password));
  if (typeof passwordHash !== 'string') return refuse(passwordHash);
  const now = clock.now();
  const lost = await db.commit([
    ...usePasswordReset(tokenHash, user.id, timestamp(now)),
    ...passwordReplaced(user, passwordHash, context, now),
  ]);
  if (lost !== null) return refuse(deny('reset_token_invalid'));
  deps.changes.ofAccess(user.id);
  // Of what was just set, and of nothing that came since.
  const owner = { user, passwordHash, securedAt: timestamp(now) };
  return { deviceToken: deviceToken(deps, owner, device) };
}

/** Everything else that opens a door ends with it: whoever knew the old one may have made it. */
export const passwordReplaced = (
  { id, email }: User,
  passwordHash: string,
  context: RequestContext,
  now: number,
): Statement[] => [
  setPassword(id, passwordHash),
  ...secured(id, 'password_reset', now),
  forgive(byStrangers(email)),
  audit(
    context,
    { userId: id, action: 'reset_password', failure: null, resource: { type: 'user', id } },
    now,
  ),
];
