// The paper broker, and the exchange behind a simulation: two books of one engine. A connection remembers the book as
// it last wrote or read it, so that placing an order is one commit and no read; the ledger's version tells it when
// somebody else has written since.

import { BROKERS } from '../../domain/brokers.ts';
import type { Clock } from '../../domain/clock.ts';
import { decimal, rounded } from '../../domain/decimal.ts';
import { type AccountId, type ClientOrderId, millis, timestamp } from '../../domain/ids.ts';
import type { BrokerOrderState } from '../../domain/orders/fill.ts';
import { DEFAULT_PAPER_SETTINGS, readPaperSettings } from '../../domain/paper-settings.ts';
import {
  type Broker,
  type BrokerOrder,
  BrokerUnavailable,
  type OpenBroker,
  type OpenOrder,
  type OpenSimulation,
  type PlaceOutcome,
} from '../broker.ts';
import { balanceOf, held, heldListings, positionsOf, type Quotes } from './book.ts';
import { accept, cancel, invalidSymbol, isResting, type Rules, sessionOf, settle } from './engine.ts';
import type { Book, BookChange, PaperLedger, PaperOrder } from './ledger.ts';
import { describe, searchListings } from './market.ts';
import { ownVenue, type Venue, venueAt } from './venue.ts';

export interface PaperDeps {
  readonly ledger: PaperLedger;
  readonly clock: Clock;
  /** Passes that many milliseconds. */
  readonly wait: (ms: number) => Promise<void>;
  /** An exchange may acknowledge an order and fill it later. */
  readonly restsMs?: Rules['restsMs'];
  readonly partStep?: Rules['partStep'];
}

/** The paper broker: the account's own book, under the account's settings. */
export function openPaper(deps: PaperDeps): OpenBroker {
  return async ({ id, paper }, signal) => {
    checkWanted(signal);
    const reading = readPaperSettings(paper);
    if ('problems' in reading)
      throw new BrokerUnavailable(`The paper settings: ${reading.problems.join(' ')}`);
    const { settings } = reading;
    const { restsMs, partStep } = deps;
    const rules: Rules = {
      book: id,
      prefix: 'paper',
      settings,
      isUnlimited: false,
      ...(restsMs && { restsMs }),
      ...(partStep && { partStep }),
    };
    return connect(deps, rules, ownVenue(rules, deps.clock));
  };
}

/** A simulation of any account: a book beside its real one that fills at once, apart from any paper settings. */
export function openSimulated({ ledger, clock }: Pick<PaperDeps, 'ledger' | 'clock'>): OpenSimulation {
  const settings = { ...DEFAULT_PAPER_SETTINGS, latency_ms: 0 };
  const wait = () => Promise.resolve();
  return async ({ id }, market, signal) => {
    checkWanted(signal);
    const rules = { book: simulatedBook(id), prefix: 'sim', settings, isUnlimited: true };
    return connect({ ledger, clock, wait }, rules, venueAt(market, ownVenue(rules, clock)));
  };
}

export const simulatedBook = (account: AccountId): string => `sim:${account}`;

/** Each round that one writer loses, another has won; so many lost rounds are no longer bad luck. */
const MAX_ROUNDS = 100;

function connect({ ledger, clock, wait }: PaperDeps, rules: Rules, venue: Venue): Broker {
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

  function checkOpen(signal: AbortSignal): void {
    if (isClosed) throw new BrokerUnavailable('The connection to the paper broker is closed.');
    checkWanted(signal);
  }

  /** Of a question: nothing is lost where nobody waits for the answer any more. */
  async function answered<Answer>(signal: AbortSignal, ask: () => Promise<Answer>): Promise<Answer> {
    checkOpen(signal);
    return unlessAborted(signal, ask(), () => {
      throw tooSlow();
    });
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
  async function placeNow(order: BrokerOrder, quotes: Quotes, signal: AbortSignal): Promise<PlaceOutcome> {
    checkWanted(signal);
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const isFresh = remembered === null;
      const book = remembered ?? (await readBook());
      remembered = null;
      const decision = decide(book, order, quotes);
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
        return UNANSWERED;
      }
    }
    throw new BrokerUnavailable('Too many others write to this paper book.');
  }

  function decide(book: Book, order: BrokerOrder, quotes: Quotes): ReturnType<typeof accept> {
    const listing = venue.listing(order.instrument);
    if (!listing) return { rejection: invalidSymbol(order.instrument.symbol) };
    return accept(book, order, listing, rules, { now: clock.now(), quotes });
  }

  /** What an order is traded at. Nothing was sent where that cannot be found out. */
  async function pricesFor({ instrument }: BrokerOrder, signal: AbortSignal): Promise<Quotes> {
    const listing = venue.listing(instrument);
    return unlessAborted(signal, venue.prices(listing ? [listing] : [], signal), () => {
      throw tooSlow();
    });
  }

  /** Reads the book, and lets the settings decide what rests in it. */
  async function look(signal: AbortSignal): Promise<Book> {
    const quotes = await venue.prices([], signal);
    return inTurn(() => changed((book) => settle(book, rules, { now: clock.now(), quotes })));
  }

  /** The book as it is now, and what is held in it. */
  async function valued(signal: AbortSignal): Promise<{ book: Book; quotes: Quotes }> {
    const book = await look(signal);
    return { book, quotes: await venue.prices(heldListings(book), signal) };
  }

  /** The book after the change that the book as it stands asks for, if it does. */
  async function changed(decide: (book: Book) => BookChange | null): Promise<Book> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const book = await readBook();
      const change = decide(book);
      remembered = change ? null : book;
      if (!change) return book;
      if ((await reach(ledger.write(rules.book, change))) === 'written') {
        remembered = change.book;
        return change.book;
      }
    }
    throw new BrokerUnavailable('Too many others write to this paper book.');
  }

  const findNow = async (id: ClientOrderId, signal: AbortSignal): Promise<BrokerOrderState | null> => {
    const order = await findOrder(id);
    if (!order) return null;
    if (!isResting(order)) return stateOf(order);
    const book = await look(signal);
    const resting = book.resting.find((other) => other.clientOrderId === id);
    return stateOf(resting ?? (await findOrder(id)) ?? order);
  };

  return {
    capabilities: BROKERS.paper.capabilities,
    // Nobody shares a limit here.
    limits: `paper:${rules.book}`,

    async verify(signal) {
      checkOpen(signal);
      return { warnings: [] };
    },

    resolve: (symbol, signal) => answered(signal, () => venue.resolve(symbol, signal)),

    async instruments({ query, after, limit }, signal) {
      checkOpen(signal);
      return searchListings(query)
        .filter(({ symbol }) => after === null || symbol > after)
        .slice(0, limit)
        .map((listing) => describe(listing, clock.now(), sessionOf(listing, rules)));
    },

    quote: (instrument, signal) =>
      answered(signal, async () => {
        const listing = venue.listing(instrument);
        if (!listing) throw new BrokerUnavailable(invalidSymbol(instrument.symbol).message);
        return (await venue.prices([listing], signal))(listing);
      }),

    position: ({ symbol }, signal) => answered(signal, async () => held(await look(signal), symbol)),

    positions: (signal) =>
      answered(signal, async () => {
        const { book, quotes } = await valued(signal);
        return positionsOf(book, quotes);
      }),

    balance: (signal) =>
      answered(signal, async () => {
        const { book, quotes } = await valued(signal);
        return balanceOf(book, decimal(settings.starting_cash), quotes);
      }),

    async place(order, signal) {
      checkOpen(signal);
      // Before the accept: whoever dies, closes or gives up while it passes has sent nothing.
      if (settings.latency_ms > 0) await unlessAborted(signal, wait(settings.latency_ms), () => undefined);
      const quotes = await pricesFor(order, signal);
      checkOpen(signal);
      // The latency is a rehearsal: it makes an order slow, not late.
      const sendBefore = timestamp(millis(order.sendBefore) + settings.latency_ms);
      const placing = inTurn(() => placeNow({ ...order, sendBefore }, quotes, signal));
      const outcome = await unlessAborted(signal, placing, () => UNANSWERED);
      if (settings.lose_answer && outcome.outcome === 'accepted')
        return { outcome: 'unknown', reason: 'The answer of the paper broker was lost.' };
      return outcome;
    },

    // Its ids are unique in the whole book: whatever else is known of the order, the id decides.
    find: ({ clientOrderId }, signal) => answered(signal, () => findNow(clientOrderId, signal)),

    openOrders: (signal) => answered(signal, async () => (await look(signal)).resting.map(openOrderOf)),

    async cancel({ brokerRef }, signal) {
      await answered(signal, () => inTurn(() => changed((book) => cancel(book, brokerRef, clock.now()))));
    },

    async close() {
      isClosed = true;
      // What was accepted is being written: whoever closes the database next must not cut it off.
      await lastInTurn;
    },
  };
}

/** Committed or not, nobody can say; what broke may name files in its text, which stays inside. */
const UNANSWERED: PlaceOutcome = { outcome: 'unknown', reason: 'The paper broker did not answer.' };

const tooSlow = () => new BrokerUnavailable('The paper broker did not answer in time.');

function checkWanted(signal: AbortSignal): void {
  if (signal.aborted) throw tooSlow();
}

/** What has begun is not undone by it. */
async function unlessAborted<Result>(
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

const accepted = (order: PaperOrder): PlaceOutcome => ({ outcome: 'accepted', state: stateOf(order) });

const stateOf = ({
  brokerRef,
  status,
  fillQuantity,
  fillPrice,
  fee,
  reason,
}: PaperOrder): BrokerOrderState => ({
  brokerRef,
  status,
  fillQuantity,
  fillPrice,
  fee: fee && rounded(fee),
  reason,
});

const openOrderOf = (order: PaperOrder): OpenOrder => ({
  clientOrderId: order.clientOrderId,
  brokerRef: order.brokerRef,
  symbol: order.symbol,
  side: order.side,
  quantity: order.quantity,
  fillQuantity: order.fillQuantity,
  reduceOnly: order.reduceOnly,
});
