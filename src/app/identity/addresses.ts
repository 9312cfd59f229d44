// An address is its user's once a link that was mailed to it has been followed. Until then nothing is made under it that
// could keep its real owner out or write to them, and whoever else registers it gets a link as well: the first one that is
// followed decides, and what was made under the address before is gone.

import type { Db, Statement } from '../../data/engine/db.ts';
import { endDoors } from '../../data/identity/after-theft.ts';
import {
  type EmailClaim,
  findEmailClaim,
  insertEmailClaim,
  markVerified,
  useEmailClaim,
  vacateAddress,
} from '../../data/identity/email-claims.ts';
import { findUserByEmail, insertUser, type User } from '../../data/identity/users.ts';
import { type Denial, deny } from '../../domain/denial.ts';
import { timestamp } from '../../domain/ids.ts';
import type { Mailer } from '../../mail/mailer.ts';
import { audit, type RequestContext, writeAudit } from '../audit/audit.ts';
import { verificationMail } from '../audit/mails.ts';
import type { Strangers } from '../audit/strangers.ts';
import type { Afterwards } from '../background.ts';
import { leaving } from '../operation/leaving.ts';
import type { Changes } from '../orders/changes.ts';
import { randomToken } from '../secret-box.ts';
import { hashToken } from './tokens.ts';

/** Whether addresses are to be shown at all: not where nobody can be mailed. */
export interface Verifying {
  readonly verifyEmail: boolean;
}

export const isAddressShown = ({ verifyEmail }: Verifying, user: Pick<User, 'emailVerified'>): boolean =>
  user.emailVerified || !verifyEmail;

/** Before what an address has to be shown for. */
export const checkAddress = (deps: Verifying, user: Pick<User, 'emailVerified'>): Denial | null =>
  isAddressShown(deps, user) ? null : deny('email_not_verified');

const LIFE_HOURS = 24;

export interface ClaimDeps {
  readonly clock: { now(): number };
  readonly mailer: Mailer;
  readonly baseUrl: string;
  readonly later: Afterwards;
}

/** A link for the address. It is mailed after the claim was kept, and nobody waits for it. */
export function newClaim(
  { clock, mailer, baseUrl, later }: ClaimDeps,
  { id: userId, email }: Pick<User, 'id' | 'email'>,
  newcomer: EmailClaim['newcomer'],
): { readonly keep: Statement; mail(): void } {
  const token = randomToken();
  const link = `${baseUrl}/verify-email?token=${token}`;
  const expiresAt = timestamp(clock.now() + LIFE_HOURS * 3_600_000);
  return {
    keep: insertEmailClaim({ tokenHash: hashToken(token), email, userId, newcomer, expiresAt }),
    mail: () =>
      later.begin(() =>
        mailer.send({
          to: email,
          purpose: 'verification',
          ...verificationMail({ link, email, hours: LIFE_HOURS, isTaken: newcomer !== null }),
        }),
      ),
  };
}

/** Another link, for the user who is logged in. Null: it is on its way, unless the address has had enough of them. */
export async function resendVerification(
  deps: ClaimDeps & Verifying & { readonly db: Db },
  user: User,
  context: RequestContext,
): Promise<Denial | null> {
  if (isAddressShown(deps, user)) return deny('email_already_verified');
  const claim = newClaim(deps, user, null);
  await deps.db.commit([
    claim.keep,
    audit(context, { userId: user.id, action: 'verify_email_resend', failure: null }, deps.clock.now()),
  ]);
  claim.mail();
  return null;
}

export interface VerifyDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly changes: Pick<Changes, 'ofAccess'>;
  readonly strangers: Strangers;
}

/** Null: the address is theirs whose link it was. */
export async function verifyEmail(
  deps: VerifyDeps,
  { token, context }: { token: string; context: RequestContext },
): Promise<Denial | null> {
  const { db, clock, strangers } = deps;
  const now = clock.now();
  const claim = await findEmailClaim(db, hashToken(token), timestamp(now));
  const verified =
    claim && (claim.newcomer ? await handOver(deps, claim, context) : await verifyOwn(deps, claim, context));
  if (verified) return null;
  const denial = deny('verify_token_invalid');
  if (strangers.count(context, { code: denial.code, target: null }))
    await writeAudit(deps, context, { userId: null, action: 'verify_email', failure: denial });
  return denial;
}

const entryOf = ({ userId }: EmailClaim, context: RequestContext, now: number): Statement =>
  audit(
    context,
    { userId, action: 'verify_email', failure: null, resource: { type: 'user', id: userId } },
    now,
  );

async function verifyOwn({ db, clock }: VerifyDeps, claim: EmailClaim, context: RequestContext) {
  const unit = [...useEmailClaim(claim), markVerified(claim.userId), entryOf(claim, context, clock.now())];
  return (await db.commit(unit)) === null;
}

/** To who registered the address later than somebody else, and has followed a link first. */
async function handOver({ db, clock, changes }: VerifyDeps, claim: EmailClaim, context: RequestContext) {
  const before = await findUserByEmail(db, claim.email);
  if (!before || !claim.newcomer) return false;
  const now = clock.now();
  const at = timestamp(now);
  const user: User = {
    id: claim.userId,
    email: claim.email,
    isAdmin: false,
    isActive: true,
    plan: 'free',
    planExpiresAt: null,
    termsVersion: claim.newcomer.termsVersion,
    emailVerified: true,
  };
  const { left, unit } = await leaving({ db, clock }, before.id);
  const lost = await db.commit([
    ...useEmailClaim(claim),
    ...vacateAddress(before.id, at),
    ...unit,
    ...endDoors(before.id, at),
    audit(
      context,
      {
        ...{ userId: before.id, action: 'address_lost', failure: null },
        resource: { type: 'user', id: before.id },
        ...(left.length > 0 && { metadata: { left } }),
      },
      now,
    ),
    insertUser(user, claim.newcomer.passwordHash, at),
    entryOf(claim, context, now),
  ]);
  if (lost !== null) return false;
  changes.ofAccess(before.id);
  return true;
}
