// Tells owners what they are to be told of, after it was committed: never in the way of an order, tried again where the mail
// server is away, and once, however many processes look.

import type { Db } from '../../data/engine/db.ts';
import {
  claimNotice,
  type DueNotice,
  dueNotices,
  endNotice,
  insertNotice,
  noteSilence,
  watchedAccounts,
} from '../../data/notifications/notices.ts';
import { millis, timestamp } from '../../domain/ids.ts';
import type { Mailer } from '../../mail/mailer.ts';
import { noticeMail } from '../audit/mails.ts';
import { newId } from '../new-id.ts';

export interface NoticeDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly mailer: Mailer;
  readonly baseUrl: string;
  readonly log: { warn(context: object, text: string): void };
}

const AT_ONCE = 20;
const MOST_ATTEMPTS = 6;
/** Doubled with every attempt: about half an hour in all. */
const FIRST_PAUSE_MS = 30_000;

export async function tellNotices(deps: NoticeDeps): Promise<number> {
  const now = deps.clock.now();
  const due = await dueNotices(deps.db, timestamp(now), AT_ONCE);
  await Promise.all(due.map((notice) => tell(deps, notice, now)));
  return due.length;
}

async function tell({ db, mailer, baseUrl, log }: NoticeDeps, notice: DueNotice, now: number): Promise<void> {
  const nextAt = timestamp(now + FIRST_PAUSE_MS * 2 ** notice.attempts);
  if ((await db.commit([claimNotice(notice, nextAt)])) !== null) return;
  try {
    await mailer.send({ to: notice.email, ...noticeMail({ ...notice, baseUrl }) });
    await db.commit([endNotice(notice)]);
  } catch (fault) {
    log.warn({ fault, notice: notice.id }, 'a notice could not be sent');
    if (notice.attempts + 1 >= MOST_ATTEMPTS) await db.commit([endNotice(notice)]);
  }
}

/** Accounts whose last genuine signal is longer ago than their owner finds right. */
export async function watchSilence({ db, clock }: Pick<NoticeDeps, 'db' | 'clock'>): Promise<void> {
  const now = clock.now();
  for (const account of await watchedAccounts(db)) {
    const silentMs = now - millis(account.lastAt);
    if (silentMs < account.silenceAfter * 1000) continue;
    const detail = `The last genuine signal came at ${account.lastAt}, more than ${account.silenceAfter} seconds ago. Check whether the alert is still active on the charting platform.`;
    const notice = {
      id: newId(),
      userId: account.userId,
      accountId: account.id,
      kind: 'silence',
      detail,
      createdAt: timestamp(now),
    } as const;
    await db.commit([noteSilence(account, timestamp(now)), insertNotice(notice)]);
  }
}
