// Nobody looks after a protection that was left, after a restore or at another account, until its owner says so.

import type { Db } from '../../data/engine/db.ts';
import { noteProtection } from '../../data/orders/protections.ts';
import { resumeProtection } from '../../data/orders/protections-left.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import { timestamp } from '../../domain/ids.ts';
import type { Protection } from '../../domain/protection/protection.ts';
import { resumed } from '../../domain/protection/resume.ts';
import type { Mailbox } from '../../worker/host/mailbox.ts';
import type { Owner } from '../accounts/accounts.ts';
import { type AuditEvent, audit, writeAudit } from '../audit/audit.ts';
import { ownProtection, shown } from './read-protections.ts';

interface ResumeDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly mailbox: Pick<Mailbox, 'tell'>;
}

/** From then on it is kept: what stands at the broker is looked at first. The answer does not wait for that. */
export async function resumeProtectionOf(deps: ResumeDeps, owner: Owner, id: string) {
  const { db, clock, mailbox } = deps;
  const found = await ownProtection(deps, owner.id, id);
  if (isDenial(found)) return found;
  const { protection } = found;
  const now = clock.now();
  const entry = (failure: Denial | null): AuditEvent => ({
    userId: owner.id,
    action: 'protection_resumed',
    failure,
    resource: { type: 'protection', id: protection.id },
    metadata: {
      trading_account_id: protection.accountId,
      symbol: protection.symbol,
      ...(failure ? { code: failure.code } : {}),
    },
  });
  const isLeft = protection.state === 'left';
  const kept = resumed(protection, now);
  const lost = isLeft
    ? await db.commit([
        ...resumeProtection(kept, timestamp(now)),
        noteProtection(protection.id, timestamp(now), { what: 'resumed', from: null, to: null, by: null }),
        audit(owner.context, entry(null), now),
      ])
    : 'protection';
  if (lost !== null) {
    const denial = notResumable(protection);
    await writeAudit(deps, owner.context, entry(denial));
    return denial;
  }
  // Where nobody hears it, the sweep finds what is due.
  await mailbox.tell(owner.id, { kind: 'recover' }).catch(() => undefined);
  return shown({ ...found, endedAt: null, protection: kept });
}

const notResumable = ({ state }: Protection): Denial =>
  deny('not_resumable', {
    detail:
      state === 'left'
        ? 'Another protection is kept for this position, or its account is gone.'
        : `This protection is ${state}, not left.`,
  });
