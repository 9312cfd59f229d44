// When each account of a user is looked at next. However much is heard of one, it is one look in so long; what is heard puts off nothing
// that is due earlier, and what is heard during a look is not forgotten when that look says when the next one is due.

import type { AccountId } from '../../domain/ids.ts';

interface Deps {
  readonly clock: { now(): number };
  /** No account is left alone for longer. */
  readonly longestMs: number;
  /** The account is to be looked at as soon as it is its turn. Whoever looks says so (`begin`). */
  look(account: AccountId): Promise<unknown>;
}

export interface LookTimes {
  now(account: AccountId): void;
  /** Then, or sooner where something was heard since the last look was begun. */
  at(account: AccountId, ms: number): void;
  /** Something has happened, or may have. */
  hear(account: AccountId): void;
  /** false: none was to be begun. */
  begin(account: AccountId): boolean;
  /** What was heard so far is seen to from here on. */
  heed(account: AccountId): void;
  /** Nothing is kept of it any more, unless something was heard meanwhile. */
  leave(account: AccountId): void;
  /** Something of the account is kept, as far as is known. */
  has(account: AccountId): boolean;
  isAny(): boolean;
  close(): void;
}

/** A stream may tell of every fill of an order. */
const HEARD_MS = 500;

export function createLookTimes({ clock, longestMs, look }: Deps): LookTimes {
  const next = new Map<AccountId, { readonly ms: number; readonly timer?: NodeJS.Timeout }>();
  /** Those that are to be looked at, and whose turn has not come. */
  const waiting = new Set<AccountId>();
  /** Where something was heard that no look has seen to. */
  const heard = new Set<AccountId>();
  /** When a look was begun for what was heard. */
  const heededAt = new Map<AccountId, number>();
  let isClosed = false;

  const restedAt = (account: AccountId): number =>
    (heededAt.get(account) ?? Number.NEGATIVE_INFINITY) + HEARD_MS;

  function now(account: AccountId): void {
    if (isClosed || waiting.has(account)) return;
    clearTimeout(next.get(account)?.timer);
    // It counts as kept until it is known that nothing is.
    next.set(account, { ms: Number.POSITIVE_INFINITY });
    waiting.add(account);
    void look(account).catch(() => waiting.delete(account));
  }

  function at(account: AccountId, wanted: number): void {
    // The look that is to come says when the one after it is due.
    if (isClosed || waiting.has(account)) return;
    clearTimeout(next.get(account)?.timer);
    const latest = Math.min(wanted, clock.now() + longestMs);
    const ms = heard.has(account) ? Math.min(latest, restedAt(account)) : latest;
    next.set(account, { ms, timer: setTimeout(now, Math.max(0, ms - clock.now()), account) });
  }

  function heed(account: AccountId): void {
    if (heard.delete(account)) heededAt.set(account, clock.now());
  }

  return {
    now,
    at,
    heed,
    hear(account) {
      heard.add(account);
      if (clock.now() >= restedAt(account)) now(account);
      else at(account, next.get(account)?.ms ?? Number.POSITIVE_INFINITY);
    },
    begin(account) {
      if (!waiting.delete(account)) return false;
      heed(account);
      return true;
    },
    leave(account) {
      if (waiting.has(account)) return;
      if (heard.has(account)) return at(account, Number.POSITIVE_INFINITY);
      clearTimeout(next.get(account)?.timer);
      next.delete(account);
    },
    has: (account) => next.has(account),
    isAny: () => next.size > 0,
    close() {
      isClosed = true;
      for (const { timer } of next.values()) clearTimeout(timer);
    },
  };
}
