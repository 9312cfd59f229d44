// Whoever guesses has ten tries in a quarter of an hour. They stand in the database: a store that forgets, or is made to
// forget, gives nobody another one. Those who proved something before try apart, so that a stranger who uses up tries
// locks out strangers: a device that the user has logged in with, and whoever has a session.

import type { Db, Statement } from '../../data/engine/db.ts';
import {
  decidingTry,
  forgetTries,
  giveBackTry,
  type Tried,
  takeTry as takeOne,
} from '../../data/identity/tries.ts';
import { type Denial, deny } from '../../domain/denial.ts';
import { millis, type SessionId, timestamp, type UserId } from '../../domain/ids.ts';
import { canonicalBlock } from '../accounts/ip-block.ts';
import { hashToken } from './tokens.ts';

export interface TryDeps {
  readonly db: Db;
  readonly clock: { now(): number };
}

const WINDOW_MS = 15 * 60_000;
/** Tells nothing about anybody once they are this old. */
export const TRIES_LIFE_MS = WINDOW_MS;

/** Of a password, or of the code after it. */
const guesses = (subject: string): Tried => ({ subject, most: 10 });

/** Of anybody, on an address that may or may not be somebody's. */
export const byStrangers = (email: string): Tried => guesses(`password ${hashToken(email)}`);
export const byDevice = (device: string): Tried => guesses(`device ${device}`);
/** Right ones too, and never forgiven: whoever proves to be the same over and over keeps others' passwords waiting. */
export const bySession = (session: SessionId): Tried => guesses(`session ${session}`);
/** Whoever has one IPv6 address has a whole /64 of them. */
export const clientOf = (ip: string): string =>
  `client ${(ip.includes(':') ? canonicalBlock(`${ip}/64`) : null) ?? ip}`;
/** Over all accounts, where no bot challenge stands before the password. */
export const byClient = (ip: string): Tried => guesses(clientOf(ip));
/** Nobody's mailbox is to be flooded by strangers. */
export const resetMails = (user: UserId): Tried => ({ subject: `reset mail ${user}`, most: 3 });

/** Counted before the work is done, so that guesses in parallel are no way around it. 0: taken; else the wait for the next. */
export async function takeIfFree({ db, clock }: TryDeps, tried: Tried): Promise<number> {
  const now = clock.now();
  const waitMs = async () => {
    const deciding = await decidingTry(db, tried);
    return deciding === null ? 0 : Math.max(0, millis(deciding) + WINDOW_MS - now);
  };
  // Who is locked out for long writes nothing.
  const locked = await waitMs();
  if (locked > 0) return locked;
  const lost = await db.commit([takeOne(tried, timestamp(now), timestamp(now - WINDOW_MS))]);
  return lost === null ? 0 : Math.max(1, await waitMs());
}

export async function takeTry(deps: TryDeps, tried: Tried): Promise<Denial | null> {
  const waitMs = await takeIfFree(deps, tried);
  return waitMs === 0 ? null : deny('login_locked', { retryAfter: Math.max(1, Math.ceil(waitMs / 1000)) });
}

/** After a success: earlier mistakes no longer count. */
export const forgive = ({ subject }: Tried): Statement => forgetTries(subject);

/** It was no guess: the others go on counting, so that one's own right password buys no more guesses at others'. */
export const giveBack = ({ subject }: Tried): Statement[] => giveBackTry(subject);
