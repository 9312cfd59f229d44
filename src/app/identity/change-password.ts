// A new password for somebody who is logged in and knows the old one. This session goes on; every other one ends, because
// whoever has it may have got it by the old password. API keys stay: programs go on trading, and each key is listed with
// what it is for beside the form.

import { changePasswordFrom, credentialsOf, useUpPasswordResets } from '../../data/accounts/credentials.ts';
import type { Db } from '../../data/engine/db.ts';
import { revokeOtherSessions, type Session } from '../../data/identity/sessions.ts';
import type { User } from '../../data/identity/users.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import { weakness } from '../../domain/identity/password.ts';
import { timestamp } from '../../domain/ids.ts';
import type { Mailer } from '../../mail/mailer.ts';
import { audit, type RequestContext, writeAudit } from '../audit/audit.ts';
import { passwordChangedMail } from '../audit/mails.ts';
import type { Changes } from '../orders/changes.ts';
import type { SecretBox } from '../secret-box.ts';
import { deviceToken, knownDevice } from './devices.ts';
import { type CheckPasswordDeps, checkPassword } from './passwords.ts';
import { hasSecondFactor, proofByCode } from './second-factor.ts';
import type { Tokens } from './tokens.ts';
import { bySession, byStrangers, forgive } from './tries.ts';

export interface ChangePasswordDeps extends CheckPasswordDeps {
  readonly db: Db;
  readonly changes: Pick<Changes, 'ofAccess'>;
  readonly secrets: SecretBox;
  readonly tokens: Tokens;
  readonly mailer: Mailer;
  readonly baseUrl: string;
  readonly later: { begin(work: () => Promise<void>): void };
}

export interface PasswordChange {
  readonly user: User;
  readonly session: Session;
  readonly current: string;
  readonly password: string;
  /** Of the second factor, where the user has one. */
  readonly code: string | undefined;
  readonly deviceToken: string | undefined;
  readonly context: RequestContext;
}

/** The token is for the device, which the old password made known. */
export async function changePassword(
  deps: ChangePasswordDeps,
  change: PasswordChange,
): Promise<Denial | { readonly deviceToken: string }> {
  const outcome = await checkAndChange(deps, change);
  const { user, context } = change;
  if (isDenial(outcome)) {
    await writeAudit(deps, context, {
      userId: user.id,
      action: 'change_password',
      failure: outcome,
      metadata: { code: outcome.code },
    });
    return outcome;
  }
  deps.changes.ofAccess(user.id);
  tell(deps, change);
  return outcome;
}

async function checkAndChange(
  deps: ChangePasswordDeps,
  { user, session, current, password, code, context, ...shown }: PasswordChange,
): Promise<Denial | { readonly deviceToken: string }> {
  const { db, clock, hasher, turns } = deps;
  const weak = weakness(password, user.email);
  if (weak) return weak;
  if (password === current)
    return deny('password_weak', { detail: 'The new password is the current one. Choose another.' });

  const found = await credentialsOf(db, user.id);
  const tried = bySession(session.id);
  const denial = await checkPassword(deps, { who: user.id, tried, client: null, password: current, found });
  if (denial && denial.code !== 'invalid_credentials') return denial;
  if (denial || !found) return deny('password_wrong');
  // The try stays counted, also where the code is right: a known password buys no endless guessing of codes.
  const needsCode = await hasSecondFactor(deps, user.id);
  if (needsCode && code === undefined) return codeMissing();
  const proof = needsCode ? await proofByCode(deps, user.id, code ?? '') : null;
  if (needsCode && !proof) return deny('totp_code_wrong');

  const passwordHash = await turns.take(user.id, () => hasher.hash(password));
  if (typeof passwordHash !== 'string') return passwordHash;
  const now = clock.now();
  const lost = await db.commit([
    changePasswordFrom(user.id, found.passwordHash, passwordHash),
    ...(proof ? [proof.use] : []),
    revokeOtherSessions(user.id, session.id),
    useUpPasswordResets(user.id, timestamp(now)),
    forgive(byStrangers(user.email)),
    audit(
      context,
      {
        userId: user.id,
        action: 'change_password',
        failure: null,
        resource: { type: 'user', id: user.id },
        metadata: { second_factor: proof?.kind ?? null },
      },
      now,
    ),
  ]);
  if (lost === 'code_unused') return deny('totp_code_wrong');
  // Somebody else has changed it while we looked at it.
  if (lost !== null) return deny('password_wrong');
  const owner = { ...found, passwordHash };
  return { deviceToken: deviceToken(deps, owner, knownDevice(deps, shown.deviceToken, found)) };
}

const codeMissing = (): Denial =>
  deny('totp_code_wrong', {
    detail: 'The second factor is on, and no code was sent.',
    advice: 'Send "code": what the authenticator app shows now, or a recovery code.',
  });

/** Afterwards, and without anybody waiting for it: whoever did not do it has to know. */
function tell(
  { mailer, clock, baseUrl, later }: ChangePasswordDeps,
  { user, context }: PasswordChange,
): void {
  const words = passwordChangedMail({ at: timestamp(clock.now()), ip: context.ip, baseUrl });
  later.begin(() => mailer.send({ to: user.email, ...words }));
}
