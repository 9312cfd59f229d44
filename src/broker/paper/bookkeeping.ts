// A connection's book. It is remembered as it was last written or read, so that placing an order is one commit and no read; the
// ledger's version tells when somebody else has written since.

import type { Clock } from '../../domain/clock.ts';
import type { ClientOrderId } from '../../domain/ids.ts';
import { type Beside, BrokerUnavailable } from '../broker.ts';
import { heldListings, waitingAbroad } from './book.ts';
import type { Book, BookChange, PaperLedger } from './ledger.ts';
import type { Listing } from './market.ts';
import type { Moment, Rules } from './rules.ts';
import { type Settled, settle } from './settle.ts';
import type { Venue } from './venue.ts';

interface Deps {
  readonly ledger: PaperLedger;
  readonly clock: Clock;
}

/** Something that is to be written, if the book as it stands allows it. */
interface Attempt<Taken, Refusal> {
  decide(
    book: Book,
    moment: Moment,
  ): { readonly refusal: Refusal } | { readonly change: BookChange; readonly taken: Taken };
  /** What was taken under the same id before. */
  known(): Promise<Taken | null>;
  /** What is to be written with it, in one unit; null: then it is not written either. */
  beside?(taken: Taken): Beside | null;
}

type Attempted<Taken, Refusal> =
  | { readonly taken: Taken }
  | { readonly refusal: Refusal }
  /** What was to be written beside it could not be, or the id is known. Nothing was written. */
  | typeof APART
  /** Written or not, nobody can say. */
  | { readonly isLost: true };

const APART = { isApart: true } as const;

/** Each round that one writer loses, another has won; so many lost rounds are no longer bad luck. */
const MAX_ROUNDS = 100;

export type Bookkeeping = ReturnType<typeof keepBook>;

export function keepBook({ ledger, clock }: Deps, rules: Rules, venue: Venue) {
  let isClosed = false;
  let remembered: Book | null = null;
  let lastInTurn: Promise<unknown> = Promise.resolve();

  /** One decision at a time: this connection need not race itself. */
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = lastInTurn.then(work);
    lastInTurn = result.catch(() => undefined);
    return result;
  }

  function checkOpen(signal: AbortSignal): void {
    if (isClosed) throw new BrokerUnavailable('The connection to the paper broker is closed.');
    checkWanted(signal);
  }

  const readBook = () => reach(ledger.read(rules.book));

  /**
   * A client id that is known never makes a second order or stop: a real broker answers "duplicate id" and one looks it up, and
   * here that is one step. It is asked for before any rejection too, for "rejected" about what was accepted before would be a
   * lie.
   */
  async function attempt<Taken, Refusal>(
    { decide, known, beside }: Attempt<Taken, Refusal>,
    prices: Omit<Moment, 'now'>,
    signal: AbortSignal,
  ): Promise<Attempted<Taken, Refusal>> {
    checkWanted(signal);
    const before = async () => {
      const taken = await known();
      return taken && (beside ? APART : { taken });
    };
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const isFresh = remembered === null;
      const book = remembered ?? (await readBook());
      remembered = null;
      const decision = decide(book, { ...prices, now: clock.now() });
      if ('refusal' in decision) {
        const taken = await before();
        if (taken) return taken;
        if (isFresh) return decision;
        // Refused by what this connection remembers; another may have traded since. Look before saying no.
        continue;
      }
      // Nobody would hear of what is recorded from now on.
      if (beside) checkWanted(signal);
      const recorded = beside?.(decision.taken);
      if (recorded === null) {
        remembered = book;
        return APART;
      }
      try {
        const written = await ledger.write(rules.book, decision.change, recorded);
        if (written === 'unrecorded') return APART;
        if (written === 'written') {
          remembered = decision.change.book;
          return { taken: decision.taken };
        }
        const taken = written === 'duplicate' ? await before() : null;
        if (taken) return taken;
      } catch {
        return { isLost: true };
      }
    }
    throw crowded();
  }

  /** The book after what the book as it stands asks for. */
  async function changed(decide: (book: Book) => Settled): Promise<Book> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const read = await readBook();
      // The same book, and it may be known of it that prices were looked at since.
      const before = remembered?.version === read.version ? remembered : read;
      remembered = null;
      const { book, change } = decide(before);
      if (!change || (await reach(ledger.write(rules.book, change))) === 'written') {
        remembered = book;
        return book;
      }
    }
    throw crowded();
  }

  const momentIn = async (listings: readonly Listing[], signal: AbortSignal): Promise<Omit<Moment, 'now'>> =>
    venue.prices(listings, signal);

  const settled = (prices: Omit<Moment, 'now'>, isLook = true): Promise<Book> =>
    inTurn(() => changed((book) => settle(book, rules, { ...prices, now: clock.now() }, isLook)));

  /** Reads the book, and lets the settings and the prices decide what waits in it. */
  async function look(signal: AbortSignal): Promise<Book> {
    const book = await settled(await momentIn([], signal));
    const abroad = waitingAbroad(book);
    return abroad.length === 0 ? book : settled(await momentIn(abroad, signal));
  }

  return {
    checkOpen,
    look,
    findOrder: (id: ClientOrderId) => reach(ledger.find(rules.book, id)),
    findStop: (id: ClientOrderId) => reach(ledger.findStop(rules.book, id)),

    /** Of a question: nothing is lost where nobody waits for the answer any more. */
    async answered<Answer>(signal: AbortSignal, ask: () => Promise<Answer>): Promise<Answer> {
      checkOpen(signal);
      return unlessAborted(signal, ask(), () => {
        throw tooSlow();
      });
    },

    /** The book as it is now, and what is held in it. */
    async valued(signal: AbortSignal): Promise<{ book: Book; quotes: Moment['quotes'] }> {
      const book = await look(signal);
      return { book, quotes: (await momentIn(heldListings(book), signal)).quotes };
    },

    /** What something is traded at. Nothing was sent where that cannot be found out. */
    pricesOf(listing: Listing | undefined, signal: AbortSignal): Promise<Omit<Moment, 'now'>> {
      return unlessAborted(signal, momentIn(listing ? [listing] : [], signal), () => {
        throw tooSlow();
      });
    },

    attempt: <Taken, Refusal>(
      what: Attempt<Taken, Refusal>,
      prices: Omit<Moment, 'now'>,
      signal: AbortSignal,
    ): Promise<Attempted<Taken, Refusal>> =>
      unlessAborted(
        signal,
        inTurn(() => attempt(what, prices, signal)),
        () => ({ isLost: true }),
      ),

    /** What cannot be refused. */
    async change(
      decide: (book: Book, moment: Moment) => BookChange | null,
      signal: AbortSignal,
    ): Promise<void> {
      const prices = await momentIn([], signal);
      await inTurn(() =>
        changed((book) => {
          const change = decide(book, { ...prices, now: clock.now() });
          return { book: change?.book ?? book, change };
        }),
      );
    },

    /** Before prices or settings are changed, and after: what waits is settled up to this moment, and at it. */
    async settle(isJump: boolean, signal: AbortSignal): Promise<void> {
      await settled({ ...(await momentIn([], signal)), isJump }, false);
    },

    async close(): Promise<void> {
      isClosed = true;
      // What was accepted is being written: whoever closes the database next must not cut it off.
      await lastInTurn;
    },
  };
}

const crowded = () => new BrokerUnavailable('Too many others write to this paper book.');
const tooSlow = () => new BrokerUnavailable('The paper broker did not answer in time.');

function checkWanted(signal: AbortSignal): void {
  if (signal.aborted) throw tooSlow();
}

/** A ledger that fails is, for the caller, a broker that does not answer. */
async function reach<Result>(answer: Promise<Result>): Promise<Result> {
  try {
    return await answer;
  } catch (cause) {
    throw new BrokerUnavailable('The paper broker does not answer.', { cause });
  }
}

/** What has begun is not undone by it. */
export async function unlessAborted<Result>(
  signal: AbortSignal,
  work: Promise<Result>,
  otherwise: () => Result,
): Promise<Result> {
  const aborted = Promise.withResolvers<void>();
  const abort = () => aborted.resolve();
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  try {
    return await Promise.race([work, aborted.promise.then(otherwise)]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
