// What only the operator at the machine does: there nobody proves to be somebody, because who is there has the database.
// Every deed leaves its audit entry, and a password that is set ends what the old one opened, as a reset by mail does.

import { credentialsByEmail, credentialsOf } from '../../data/accounts/credentials.ts';
import type { Db } from '../../data/engine/db.ts';
import { markVerified } from '../../data/identity/email-claims.ts';
import { deleteSecondFactor } from '../../data/identity/second-factors.ts';
import type { User } from '../../data/identity/users.ts';
import { type Denial, deny } from '../../domain/denial.ts';
import { isEmail, normalEmail } from '../../domain/identity/email.ts';
import { weakness } from '../../domain/identity/password.ts';
import { isUuid, type Timestamp, type UserId } from '../../domain/ids.ts';
import type { Plans } from '../../domain/orders/entitlement.ts';
import { audit, type RequestContext } from '../audit/audit.ts';
import { keepUser, type PasswordHasher, passwordReplaced } from '../identity/passwords.ts';
import { newId } from '../new-id.ts';
import type { Changes } from '../orders/changes.ts';

interface OperatorDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly context: RequestContext;
}

/** By address or id. */
export async function findUser({ db }: Pick<OperatorDeps, 'db'>, name: string): Promise<User | Denial> {
  const found = isUuid(name)
    ? await credentialsOf(db, name as UserId)
    : await credentialsByEmail(db, normalEmail(name));
  return found?.user ?? deny('not_found', { detail: 'There is no such user.' });
}

export interface NewUser {
  readonly email: string;
  readonly password: string;
  readonly isAdmin: boolean;
  readonly plan: string;
  readonly planExpiresAt: Timestamp | null;
}

/** Accepts the terms at the first login, like anybody. */
export async function addUser(
  deps: OperatorDeps & { readonly hasher: PasswordHasher; readonly plans: Plans },
  { password, ...given }: NewUser,
): Promise<Denial | User> {
  const { db, clock, context, hasher, plans } = deps;
  const user: User = {
    ...given,
    id: newId() as UserId,
    email: normalEmail(given.email),
    isActive: true,
    termsVersion: null,
    emailVerified: true,
  };
  if (!isEmail(user.email)) return deny('request_invalid', { detail: 'This is not an email address.' });
  const weak = weakness(password, user.email);
  if (weak) return weak;
  if (!Object.hasOwn(plans, user.plan))
    return deny('request_invalid', { detail: `The plans are ${Object.keys(plans).join(', ')}.` });
  const passwordHash = await hasher.hash(password);
  return keepUser({ db, clock, context }, user, passwordHash, { is_admin: user.isAdmin, plan: user.plan });
}

/** Where no mail reaches the user: the operator knows whose the address is. Null: done. */
export async function confirmAddress(
  { db, clock, context }: OperatorDeps,
  user: User,
): Promise<Denial | null> {
  const resource = { type: 'user', id: user.id };
  const lost = await db.commit([
    markVerified(user.id),
    audit(context, { userId: user.id, action: 'verify_email', failure: null, resource }, clock.now()),
  ]);
  return lost === null ? null : deny('email_already_verified');
}

/** Null: it holds. */
export async function replacePassword(
  deps: OperatorDeps & { readonly hasher: PasswordHasher; readonly changes: Pick<Changes, 'ofAccess'> },
  user: User,
  password: string,
): Promise<Denial | null> {
  const { db, clock, context, hasher, changes } = deps;
  const weak = weakness(password, user.email);
  if (weak) return weak;
  const passwordHash = await hasher.hash(password);
  const now = clock.now();
  await db.commit(passwordReplaced(user, passwordHash, context, now));
  changes.ofAccess(user.id);
  return null;
}

/** Null: login asks for the password alone again. */
export async function removeSecondFactor(
  { db, clock, context }: OperatorDeps,
  user: User,
): Promise<Denial | null> {
  const lost = await db.commit([
    ...deleteSecondFactor(user.id),
    audit(context, { userId: user.id, action: 'totp_disable', failure: null }, clock.now()),
  ]);
  return lost === null ? null : deny('totp_not_enrolled');
}
