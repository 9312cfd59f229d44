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
  const found = await dueNotices(deps.db, timestamp(now), AT_ONCE);
  // Who was deactivated could do nothing about it, and may not have that address any more; and on the day of an activation it is old.
  const untold = found.filter(({ isActive }) => !isActive);
  if (untold.length > 0) await deps.db.commit(untold.map(endNotice));
  const due = found.filter(({ isActive }) => isActive);
  // An alert that a group never got is missing at each of its members, in one moment: that is one mail.
  const together = Map.groupBy(due, ({ id, kind, userId, createdAt, attempts }) =>
    kind === 'gap' ? `${userId} ${createdAt} ${attempts}` : id,
  );
  await Promise.all([...together.values()].map((notices) => tell(deps, notices, now)));
  return due.length;
}

async function tell(
  { db, mailer, baseUrl, log }: NoticeDeps,
  notices: readonly DueNotice[],
  now: number,
): Promise<void> {
  const [first] = notices;
  if (!first) return;
  const nextAt = timestamp(now + FIRST_PAUSE_MS * 2 ** first.attempts);
  if ((await db.commit(notices.map((notice) => claimNotice(notice, nextAt)))) !== null) return;
  const accountName = notices.map((notice) => notice.accountName).join(', ');
  const detail = [...new Set(notices.map((notice) => notice.detail))].join(' ');
  try {
    await mailer.send({ to: first.email, ...noticeMail({ ...first, accountName, detail, baseUrl }) });
    await db.commit(notices.map(endNotice));
  } catch (fault) {
    log.warn({ fault, notice: first.id }, 'a notice could not be sent');
    if (first.attempts + 1 >= MOST_ATTEMPTS) await db.commit(notices.map(endNotice));
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
