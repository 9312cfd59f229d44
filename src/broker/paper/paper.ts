// The paper broker, and the exchange behind a simulation: two books of one engine. A connection remembers the book as
// it last wrote or read it, so that placing an order is one commit and no read; the ledger's version tells it when
// somebody else has written since.

import type { Clock } from '../../domain/clock.ts';
import type { BrokerOrderState } from '../../domain/fill.ts';
import { type AccountId, type ClientOrderId, millis, timestamp } from '../../domain/ids.ts';
import { DEFAULT_PAPER_SETTINGS, readPaperSettings } from '../../domain/paper-settings.ts';
import {
  type Broker,
  type BrokerOrder,
  BrokerUnavailable,
  type OpenBroker,
  type PlaceOutcome,
} from '../broker.ts';
import { held, positionsOf } from './book.ts';
import { accept, invalidSymbol, isResting, type Rules, sessionOf, settle } from './engine.ts';
import type { Book, PaperLedger, PaperOrder } from './ledger.ts';
import { describe, findListing, searchListings } from './market.ts';

export interface PaperDeps {
  readonly ledger: PaperLedger;
  readonly clock: Clock;
  /** Passes that many milliseconds. */
  readonly wait: (ms: number) => Promise<void>;
}

/** The paper broker: the account's own book, under the account's settings. */
export function openPaper(deps: PaperDeps): OpenBroker {
  return async ({ id, paper }) => {
    const reading = readPaperSettings(paper);
    if ('problems' in reading)
      throw new BrokerUnavailable(`The paper settings: ${reading.problems.join(' ')}`);
    return connect(deps, { book: id, prefix: 'paper', settings: reading.settings, isUnlimited: false });
  };
}

/** A simulation of any account: a book beside its real one that fills at once, apart from any paper settings. */
export function openSimulated({ ledger, clock }: Omit<PaperDeps, 'wait'>): OpenBroker {
  const settings = { ...DEFAULT_PAPER_SETTINGS, latency_ms: 0 };
  const wait = () => Promise.resolve();
  return async ({ id }) =>
    connect({ ledger, clock, wait }, { book: simulatedBook(id), prefix: 'sim', settings, isUnlimited: true });
}

export const simulatedBook = (account: AccountId): string => `sim:${account}`;

/** Each round that one writer loses, another has won; so many lost rounds are no longer bad luck. */
const MAX_ROUNDS = 100;

function connect({ ledger, clock, wait }: PaperDeps, rules: Rules): Broker {
  const { settings } = rules;
  let isClosed = false;
  let remembered: Book | null = null;
  let lastInTurn: Promise<unknown> = Promise.resolve();

  /** One decision at a time: this connection need not race itself. */
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = lastInTurn.then(work);
    lastInTurn = result.catch(() => undefined);
    return result;
  }

  function checkOpen(): void {
    if (isClosed) throw new BrokerUnavailable('The connection to the paper broker is closed.');
  }

  /** A ledger that fails is, for the caller, a broker that does not answer. */
  async function reach<Result>(answer: Promise<Result>): Promise<Result> {
    try {
      return await answer;
    } catch (cause) {
      throw new BrokerUnavailable('The paper broker does not answer.', { cause });
    }
  }

  const readBook = () => reach(ledger.read(rules.book));
  const findOrder = (id: ClientOrderId) => reach(ledger.find(rules.book, id));

  /**
   * A client id that is known never makes a second order: a real broker answers "duplicate id" and one looks the
   * order up, and here that is one step. It is asked for before any rejection too, for "rejected" about an order
   * that was accepted before would be a lie.
   */
  async function placeNow(order: BrokerOrder): Promise<PlaceOutcome> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const isFresh = remembered === null;
      const book = remembered ?? (await readBook());
      remembered = null;
      const decision = accept(book, order, rules, clock.now());
      if ('rejection' in decision) {
        const known = await findOrder(order.clientOrderId);
        if (known) return accepted(known);
        if (isFresh) return { outcome: 'rejected', error: decision.rejection };
        // Rejected by what this connection remembers; another may have traded since. Look before saying no.
        continue;
      }
      try {
        const written = await ledger.write(rules.book, decision.change);
        if (written === 'written') {
          remembered = decision.change.book;
          return accepted(decision.order);
        }
        const known = written === 'duplicate' ? await findOrder(order.clientOrderId) : null;
        if (known) return accepted(known);
      } catch {
        // Committed or not, nobody can say; its text may name files and stays inside.
        return { outcome: 'unknown', reason: 'The paper broker did not answer.' };
      }
    }
    throw new BrokerUnavailable('Too many others write to this paper book.');
  }

  /** Reads the book, and lets the settings decide what rests in it. */
  async function look(): Promise<Book> {
    checkOpen();
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const book = await readBook();
      const change = settle(book, rules, clock.now());
      remembered = change ? null : book;
      if (!change) return book;
      if ((await reach(ledger.write(rules.book, change))) === 'written') {
        remembered = change.book;
        return change.book;
      }
    }
    throw new BrokerUnavailable('Too many others write to this paper book.');
  }

  return {
    capabilities: {
      refusesDuplicateIds: true,
      findsByClientId: true,
      reduceOnly: true,
      fractionalQuantities: true,
    },

    async resolve(symbol) {
      checkOpen();
      const listing = findListing(symbol);
      if (!listing) return { rejection: invalidSymbol(symbol) };
      return describe(listing, clock.now(), sessionOf(listing, rules));
    },

    async instruments(query) {
      checkOpen();
      const now = clock.now();
      return searchListings(query).map((listing) => describe(listing, now, sessionOf(listing, rules)));
    },

    position: async (instrument) => held(await inTurn(look), instrument.symbol),

    positions: async () => positionsOf(await inTurn(look)),

    async place(order) {
      checkOpen();
      // Before the accept: whoever dies or closes while it passes has sent nothing.
      if (settings.latency_ms > 0) await wait(settings.latency_ms);
      checkOpen();
      // The latency is a rehearsal: it makes an order slow, not late.
      const sendBefore = timestamp(millis(order.sendBefore) + settings.latency_ms);
      const outcome = await inTurn(() => placeNow({ ...order, sendBefore }));
      if (settings.lose_answer && outcome.outcome === 'accepted')
        return { outcome: 'unknown', reason: 'The answer of the paper broker was lost.' };
      return outcome;
    },

    async find(clientOrderId) {
      checkOpen();
      const order = await findOrder(clientOrderId);
      if (!order) return null;
      if (!isResting(order)) return stateOf(order);
      const book = await inTurn(look);
      const resting = book.resting.find((other) => other.clientOrderId === clientOrderId);
      return stateOf(resting ?? (await findOrder(clientOrderId)) ?? order);
    },

    async close() {
      isClosed = true;
      // What was accepted is being written: whoever closes the database next must not cut it off.
      await lastInTurn;
    },
  };
}

const accepted = (order: PaperOrder): PlaceOutcome => ({ outcome: 'accepted', state: stateOf(order) });

const stateOf = ({ brokerRef, status, fillQuantity, fillPrice, reason }: PaperOrder): BrokerOrderState => ({
  brokerRef,
  status,
  fillQuantity,
  fillPrice,
  reason,
});
