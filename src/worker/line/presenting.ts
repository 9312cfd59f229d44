// When refused credentials count as refused. Brokers answer 401 in a hiccup, and an address may change: what was good until now
// is presented twice more within seconds, by all who were refused at once together, and the third refusal is believed: in one go, or
// with nothing in between that the broker answers only to whom it knows. From then on they are not presented, but by who gets out of a position, and by a verification: a broker locks who tries too often.

import { CredentialsRejected } from '../../broker/broker.ts';
import type { AccountId } from '../../domain/ids.ts';
import { CredentialsUnreadable } from './credentials.ts';

/** Credentials as a connection was opened with them. */
export interface Presented {
  /** The account's connection version. */
  readonly version: number;
  /** They count as verified, and were not refused before: a refusal is news, and may be a hiccup. */
  readonly isTrusted: boolean;
}

/** The broker refused them just now. */
class RefusedNow extends CredentialsRejected {
  readonly presented: Presented;
  constructor(words: string, presented: Presented) {
    super(words);
    this.presented = presented;
  }
}

/** They are known to be refused, and nobody was asked. */
export class RefusedBefore extends CredentialsRejected {}

/** The fault as it is, but for a broker's word to the credentials that it was given. */
export function refusalIn(fault: unknown, presented: Presented): unknown {
  const isOurs = [RefusedNow, RefusedBefore, CredentialsUnreadable].some((kind) => fault instanceof kind);
  return fault instanceof CredentialsRejected && !isOurs ? new RefusedNow(fault.message, presented) : fault;
}

export interface Presenting {
  /** What the broker said to the credentials of this version; undefined: this worker knows of no refusal. */
  refusalOf(account: AccountId, version: number): string | undefined;
  /** Runs what ends with RefusedNow where the credentials are refused; again, where that may have been a hiccup. */
  patiently<T>(account: AccountId, work: () => Promise<T>): Promise<T>;
  /** The broker has answered something that it answers only to whom it knows. */
  answered(account: AccountId): void;
  /** They were verified. */
  forget(account: AccountId): void;
}

interface PresentingDeps {
  wait(ms: number): Promise<void>;
  refuseCredentials(account: AccountId, version: number): Promise<void>;
}

/** After the first refusal, and after the second. */
const PRESENT_AGAIN_MS = [2_000, 5_000];
/** Who may look and not trade is refused again and again, with answers in between: so soon after the last refusal, or so often, it is no hiccup. */
const IN_ONE_GO_MS = 12_000;
const MOST_HICCUPS = 6;
/** Work may go on for long once it was let in: a refusal so long after the last one is a new one. */
const FORGET_AFTER_MS = 60_000;

export function createPresenting({ wait, refuseCredentials }: PresentingDeps): Presenting {
  const refused = new Map<AccountId, { readonly version: number; readonly words: string }>();
  /** Until they are presented again. Who comes meanwhile waits too: all go over one new connection then. */
  const resting = new Map<AccountId, Promise<void>>();
  /** Accounts that were answered since they were last refused. */
  const good = new Set<AccountId>();

  function refusalOf(account: AccountId, version: number): string | undefined {
    const known = refused.get(account);
    return known?.version === version ? known.words : undefined;
  }

  function rest(account: AccountId, ms: number): void {
    if (resting.has(account)) return;
    resting.set(
      account,
      wait(ms).finally(() => resting.delete(account)),
    );
  }

  async function believe(account: AccountId, { message: words, presented }: RefusedNow): Promise<void> {
    const { version } = presented;
    // Of several that are refused at once the first marks it; and what is of old credentials is no news of new ones.
    if ((refused.get(account)?.version ?? 0) >= version) return;
    refused.set(account, { version, words });
    await refuseCredentials(account, version);
  }

  async function patiently<T>(account: AccountId, work: () => Promise<T>): Promise<T> {
    let refusals = 0;
    let hiccups = 0;
    let last = { version: 0, at: Number.NEGATIVE_INFINITY };
    for (;;)
      try {
        await resting.get(account);
        return await work();
      } catch (fault) {
        if (!(fault instanceof RefusedNow)) throw fault;
        const { version, isTrusted } = fault.presented;
        const at = performance.now();
        const isAnother = good.delete(account) && at - last.at > IN_ONE_GO_MS && ++hiccups <= MOST_HICCUPS;
        if (version !== last.version || isAnother || at - last.at > FORGET_AFTER_MS) refusals = 0;
        last = { version, at };
        const pause = isTrusted ? PRESENT_AGAIN_MS[refusals++] : undefined;
        if (pause === undefined) await believe(account, fault);
        if (pause === undefined || refusalOf(account, version) !== undefined) throw fault;
        rest(account, pause);
      }
  }

  return {
    refusalOf,
    patiently,
    answered(account) {
      good.add(account);
    },
    forget(account) {
      refused.delete(account);
    },
  };
}
