// The optional second factor: an authenticator app (TOTP), with recovery codes for the day on which it is lost. Every
// code works once, by compare-and-set in the database: a store that forgets does not bring a used code back.

import { randomBytes } from 'node:crypto';
import type { Db, Statement } from '../../data/engine/db.ts';
import {
  confirmSecondFactor,
  deleteSecondFactor,
  enrolSecondFactor,
  findSecondFactor,
  insertRecoveryCode,
  useRecoveryCode,
  useTimeStep,
} from '../../data/identity/second-factors.ts';
import type { User } from '../../data/identity/users.ts';
import { type Denial, deny } from '../../domain/denial.ts';
import {
  base32,
  isTotpShaped,
  matchingStep,
  otpauthUri,
  plainRecoveryCode,
  recoveryCode,
} from '../../domain/identity/totp.ts';
import { type SessionId, timestamp, type UserId } from '../../domain/ids.ts';
import { audit, type RequestContext, writeAudit } from '../audit/audit.ts';
import type { SecretBox } from '../secret-box.ts';
import { checkAddress, type Verifying } from './addresses.ts';
import { type CheckPasswordDeps, checkOwnPassword } from './passwords.ts';
import { hashToken } from './tokens.ts';
import { bySession, takeTry } from './tries.ts';

export interface SecondFactorDeps extends CheckPasswordDeps, Verifying {
  readonly secrets: SecretBox;
}

const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;
const RECOVERY_CODE_BYTES = 10;

/** A user who acts on the own second factor, and by which request. */
export interface Owner {
  readonly user: User;
  readonly session: SessionId;
  readonly context: RequestContext;
}

export interface Enrolment {
  readonly secret: string;
  readonly otpauth_uri: string;
}

/** Nothing is asked for at login yet: first the user proves to have it. */
export async function enrolTotp(
  deps: SecondFactorDeps,
  by: Owner,
  password: string,
): Promise<Denial | Enrolment> {
  const { db, clock, secrets } = deps;
  const { user, context } = by;
  const action = 'totp_enrol';
  const unshown = checkAddress(deps, user);
  if (unshown) return refuse(deps, by, action, unshown);
  if (await hasSecondFactor(deps, user.id)) return refuse(deps, by, action, deny('totp_already_enabled'));
  const denial = await checkOwnPassword(deps, by, password);
  if (denial) return refuse(deps, by, action, denial);

  const secret = randomBytes(SECRET_BYTES);
  const now = clock.now();
  const lost = await db.commit([
    enrolSecondFactor(user.id, secrets.seal(secret.toString('base64url'), user.id), timestamp(now)),
    audit(context, { userId: user.id, action, failure: null }, now),
  ]);
  if (lost !== null) return refuse(deps, by, action, deny('totp_already_enabled'));
  return { secret: base32(secret), otpauth_uri: otpauthUri(secret, user.email) };
}

/** The recovery codes are shown here and never again. */
export async function confirmTotp(
  deps: SecondFactorDeps,
  by: Owner,
  code: string,
): Promise<Denial | { recovery_codes: readonly string[] }> {
  const { db, clock } = deps;
  const { user, context } = by;
  const action = 'totp_confirm';
  const unshown = checkAddress(deps, user);
  if (unshown) return refuse(deps, by, action, unshown);
  const factor = await findSecondFactor(db, user.id);
  if (!factor) return refuse(deps, by, action, deny('totp_not_enrolled'));
  if (factor.confirmed) return refuse(deps, by, action, deny('totp_already_enabled'));
  const locked = await takeTry(deps, bySession(by.session));
  if (locked) return refuse(deps, by, action, locked);
  const now = clock.now();
  const step = matchingStep(secretOf(deps, user.id, factor.totpSecret), code.trim(), now);
  if (step === null) return refuse(deps, by, action, deny('totp_code_wrong'));

  const codes = Array.from({ length: RECOVERY_CODES }, () => recoveryCode(randomBytes(RECOVERY_CODE_BYTES)));
  const lost = await db.commit([
    confirmSecondFactor(user.id, factor.totpSecret, step, timestamp(now)),
    ...codes.map((made) => insertRecoveryCode(user.id, hashToken(plainRecoveryCode(made)))),
    audit(context, { userId: user.id, action, failure: null }, now),
  ]);
  // Another enrolment came between.
  if (lost !== null) return refuse(deps, by, action, deny('totp_code_wrong'));
  return { recovery_codes: codes };
}

/** Null: login asks for the password alone again. */
export async function disableTotp(
  deps: SecondFactorDeps,
  by: Owner,
  password: string,
): Promise<Denial | null> {
  const { db, clock } = deps;
  const { user, context } = by;
  const action = 'totp_disable';
  // Before the password, which is work.
  if (!(await findSecondFactor(db, user.id))) return refuse(deps, by, action, deny('totp_not_enrolled'));
  const denial = await checkOwnPassword(deps, by, password);
  if (denial) return refuse(deps, by, action, denial);
  const lost = await db.commit([
    ...deleteSecondFactor(user.id),
    audit(context, { userId: user.id, action, failure: null }, clock.now()),
  ]);
  return lost === null ? null : refuse(deps, by, action, deny('totp_not_enrolled'));
}

export async function hasSecondFactor({ db }: { db: Db }, user: UserId): Promise<boolean> {
  return (await findSecondFactor(db, user))?.confirmed ?? false;
}

/** A code that may be right. */
export interface CodeProof {
  readonly kind: 'totp' | 'recovery_code';
  /** Belongs to the unit of what the code is to allow. Guarded by `code_unused`. */
  readonly use: Statement;
}

/** Null where the code is wrong for certain. */
export async function proofByCode(
  deps: Pick<SecondFactorDeps, 'db' | 'clock' | 'secrets'>,
  user: UserId,
  typed: string,
): Promise<CodeProof | null> {
  const now = deps.clock.now();
  const code = typed.replace(/\s/g, '');
  if (!isTotpShaped(code)) {
    const hash = hashToken(plainRecoveryCode(code));
    return { kind: 'recovery_code', use: useRecoveryCode(user, hash, timestamp(now)) };
  }
  const factor = await findSecondFactor(deps.db, user);
  const step = factor && matchingStep(secretOf(deps, user, factor.totpSecret), code, now);
  return factor && step !== null ? { kind: 'totp', use: useTimeStep(user, factor.totpSecret, step) } : null;
}

const secretOf = ({ secrets }: Pick<SecondFactorDeps, 'secrets'>, user: UserId, sealed: string): Buffer =>
  Buffer.from(secrets.open(sealed, user), 'base64url');

async function refuse(
  deps: Pick<SecondFactorDeps, 'db' | 'clock'>,
  { user, context }: Owner,
  action: string,
  denial: Denial,
): Promise<Denial> {
  await writeAudit(deps, context, {
    userId: user.id,
    action,
    failure: denial,
    metadata: { code: denial.code },
  });
  return denial;
}
