// What a user reads of a broker. It is asked once for all who want the same at once, and answered from what is younger than a second.
// An order of the account, or its fill, empties that: orders and readings of an account have the same worker.

import type { WindowCount } from '../../domain/call-log.ts';
import type { AccountId, UserId } from '../../domain/ids.ts';
import { onBehalfOf, type Reader, ReadsLimited } from '../line/reader.ts';
import { createYoung, type Young } from '../line/young.ts';

/** Takes one call out of what the user has for a minute, wherever it is counted. */
export type TakeRead = (user: UserId) => Promise<WindowCount>;

export interface Readings {
  /**
   * `question`: what is asked, in whatever words; what was asked in the same is answered with the same. An answer that is not good
   * is given to all who wait for it, and is not kept.
   */
  answer<T>(
    account: AccountId,
    question: string,
    ask: () => Promise<T>,
    isGood: (answer: T) => boolean,
  ): Promise<T>;
  /** As a reader, and always asked anew. */
  asReader<T>(ask: () => Promise<T>): Promise<T>;
  /** The same of one who has paid. */
  asPaid<T>(ask: () => Promise<T>): Promise<T>;
  /** Something was ordered or filled there. */
  forget(account: AccountId): void;
}

export function createReadings(user: UserId, takeRead: TakeRead): Readings {
  const accounts = new Map<AccountId, Young>();
  const paid: Reader = { user, pay: async () => {} };
  const paying: Reader = {
    user,
    async pay() {
      const { allowed, retryAfterMs } = await takeRead(user);
      if (!allowed) throw new ReadsLimited('You have asked brokers too often within a minute', retryAfterMs);
    },
  };
  return {
    answer(account, question, ask, isGood) {
      const young = accounts.get(account) ?? createYoung();
      accounts.set(account, young);
      return young.get(question, () => onBehalfOf(paying, ask), { isGood });
    },
    asReader: (ask) => onBehalfOf(paying, ask),
    asPaid: (ask) => onBehalfOf(paid, ask),
    forget: (account) => void accounts.delete(account),
  };
}
