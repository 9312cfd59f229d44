// A simulated book as it was at first: nothing held, nothing resting, no profit. Its orders stay in the ledger.

import type { Clock } from '../../domain/clock.ts';
import { ZERO } from '../../domain/decimal.ts';
import { type AccountId, timestamp } from '../../domain/ids.ts';
import { BrokerUnavailable } from '../broker.ts';
import type { Book, BookChange, PaperLedger } from './ledger.ts';
import { simulatedBook } from './paper.ts';

/** Each round that one writer loses, another has won; so many lost rounds are no longer bad luck. */
const MAX_ROUNDS = 100;

export const flattenSimulated =
  ({ ledger, clock }: { readonly ledger: PaperLedger; readonly clock: Clock }) =>
  async (account: AccountId): Promise<void> => {
    const name = simulatedBook(account);
    try {
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const book = await ledger.read(name);
        if (book.version === 0) return;
        if ((await ledger.write(name, flattened(book, clock.now()))) === 'written') return;
      }
    } catch (cause) {
      throw new BrokerUnavailable('The simulated book does not answer.', { cause });
    }
    throw new BrokerUnavailable('Too many others write to this simulated book.');
  };

const flattened = (book: Book, now: number): BookChange => ({
  book: {
    ...book,
    version: book.version + 1,
    profit: ZERO,
    holdings: {},
    ...{ resting: [], stops: [], walkedTo: null },
  },
  placed: null,
  changed: book.resting.map((order) => ({ ...order, ...endedAt(now) })),
  stops: { placed: null, changed: book.stops.map((stop) => ({ ...stop, ...endedAt(now) })), orders: [] },
});

const endedAt = (now: number) =>
  ({ status: 'cancelled', reason: 'the simulated book was reset', updatedAt: timestamp(now) }) as const;
