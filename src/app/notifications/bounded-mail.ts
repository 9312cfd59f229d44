// What stands before every mail, whoever wrote it: an address that nobody has shown to be theirs gets the link that shows
// it and nothing else, and no address gets more than a few. What exceeds that is dropped and counted: who waits for a mail
// that was dropped asks again later.

import type { Db } from '../../data/engine/db.ts';
import { isUnverified } from '../../data/identity/users.ts';
import { readMailed, writeMailed } from '../../data/notifications/mailed.ts';
import type { Counters } from '../../domain/counters.ts';
import { timestamp } from '../../domain/ids.ts';
import { withAnother } from '../../domain/told/mail-bound.ts';
import type { Mailer } from '../../mail/mailer.ts';
import { hashToken } from '../identity/tokens.ts';

export interface BoundedMailDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly counters: Pick<Counters, 'notified'>;
  readonly verifyEmail: boolean;
  readonly mailer: Mailer;
}

/** Many at one moment change one row after the other. */
const ATTEMPTS = 10;

export function boundMails({ mailer, ...deps }: BoundedMailDeps): Mailer {
  return {
    async send(mail) {
      if (await mayGo(deps, mail)) await mailer.send(mail);
      else deps.counters.notified('mail', 'dropped');
    },
  };
}

async function mayGo(
  { db, clock, verifyEmail }: Omit<BoundedMailDeps, 'mailer'>,
  { to, purpose }: Parameters<Mailer['send']>[0],
): Promise<boolean> {
  if (verifyEmail && purpose !== 'verification' && (await isUnverified(db, to))) return false;
  if (purpose === 'alert') return true;
  const address = hashToken(to);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const now = clock.now();
    const before = await readMailed(db, address);
    const times = withAnother(before?.times ?? [], now);
    if (times === null) return false;
    if ((await db.commit([writeMailed(address, { before, times, at: timestamp(now) })])) === null)
      return true;
  }
  return false;
}
