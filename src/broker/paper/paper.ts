// The paper broker, and the exchange behind a simulation: two books of one engine.

import { BROKERS } from '../../domain/brokers.ts';
import type { Clock } from '../../domain/clock.ts';
import { type Decimal, decimal } from '../../domain/decimal.ts';
import { type AccountId, type ClientOrderId, millis, timestamp } from '../../domain/ids.ts';
import type { BrokerOrderState } from '../../domain/orders/fill.ts';
import type { OrderError } from '../../domain/orders/order.ts';
import {
  DEFAULT_PAPER_SETTINGS,
  type PaperSettings,
  readPaperSettings,
} from '../../domain/paper-settings.ts';
import { canonicalSymbol } from '../../domain/signals/symbol.ts';
import {
  type Beside,
  type Broker,
  type BrokerAccount,
  type BrokerOrder,
  BrokerUnavailable,
  type FillOutcome,
  type OpenSimulation,
  type PlaceOutcome,
} from '../broker.ts';
import { balanceOf, held, isResting, positionsOf } from './book.ts';
import { keepBook, unlessAborted } from './bookkeeping.ts';
import { accept, cancel } from './engine.ts';
import type { PaperLedger, PaperOrder } from './ledger.ts';
import { candlesOf, describe, searchListings } from './market.ts';
import { invalidSymbol } from './rejections.ts';
import { type Rules, sessionOf } from './rules.ts';
import { openOrderOf, stateOf } from './state.ts';
import { type PaperStops, stopCalls } from './stop-calls.ts';
import { ownVenue, type Venue, venueAt } from './venue.ts';

export interface PaperDeps {
  readonly ledger: PaperLedger;
  readonly clock: Clock;
  /** Passes that many milliseconds. */
  readonly wait: (ms: number) => Promise<void>;
  /** An exchange may acknowledge an order and fill it later. */
  readonly restsMs?: Rules['restsMs'];
  readonly partStep?: Rules['partStep'];
  readonly manners?: Rules['manners'];
  /** What a symbol's price was set to for everybody; an account's own setting comes first. */
  readonly lastPrice?: (symbol: string) => Decimal | undefined;
}

export interface PaperBroker extends Broker {
  readonly stops: PaperStops;
  /** Before prices or settings are changed, and with `isJump` after: what waits is settled up to this moment, and at it. */
  settle(isJump: boolean, signal: AbortSignal): Promise<void>;
}

/** The paper broker: the account's own book, under the account's settings. */
export function openPaper(deps: PaperDeps) {
  return async (
    { id, paper }: Pick<BrokerAccount, 'id' | 'paper'>,
    signal: AbortSignal,
  ): Promise<PaperBroker> => {
    if (signal.aborted) throw new BrokerUnavailable('The paper broker did not answer in time.');
    const reading = readPaperSettings(paper);
    if ('problems' in reading)
      throw new BrokerUnavailable(`The paper settings: ${reading.problems.join(' ')}`);
    const { settings } = reading;
    const { restsMs, partStep, manners, lastPrice } = deps;
    const rules: Rules = {
      book: id,
      prefix: 'paper',
      settings,
      isUnlimited: false,
      ...(restsMs && { restsMs }),
      ...(partStep && { partStep }),
      ...(manners && { manners }),
    };
    const own = pricesIn(settings);
    return connect(
      deps,
      rules,
      ownVenue(rules, deps.clock, (symbol) => own.get(symbol) ?? lastPrice?.(symbol)),
    );
  };
}

/** A map: whatever a symbol is called, it finds nothing else. */
const pricesIn = ({ price }: PaperSettings): ReadonlyMap<string, Decimal> =>
  new Map(
    Object.entries(price ?? {}).map(([symbol, last]) => [canonicalSymbol('paper', symbol), decimal(last)]),
  );

/** A simulation of any account: a book beside its real one that fills at once, apart from any paper settings. */
export function openSimulated({ ledger, clock }: Pick<PaperDeps, 'ledger' | 'clock'>): OpenSimulation {
  const settings = { ...DEFAULT_PAPER_SETTINGS, latency_ms: 0 };
  const wait = () => Promise.resolve();
  return async ({ id }, market, signal) => {
    if (signal.aborted) throw new BrokerUnavailable('The paper broker did not answer in time.');
    const rules = { book: simulatedBook(id), prefix: 'sim', settings, isUnlimited: true };
    return connect({ ledger, clock, wait }, rules, venueAt(market, ownVenue(rules, clock)));
  };
}

export const simulatedBook = (account: AccountId): string => `sim:${account}`;

function connect({ ledger, clock, wait }: PaperDeps, rules: Rules, venue: Venue): PaperBroker {
  const { settings } = rules;
  const book = keepBook({ ledger, clock }, rules, venue);
  const { checkOpen, answered, look } = book;

  /** Before the accept: whoever dies, closes or gives up while it passes has sent nothing. */
  async function pause(signal: AbortSignal): Promise<void> {
    if (settings.latency_ms > 0) await unlessAborted(signal, wait(settings.latency_ms), () => undefined);
  }

  /** The latency is a rehearsal: it makes an order slow, not late. */
  const notLate = (order: BrokerOrder): BrokerOrder => ({
    ...order,
    sendBefore: timestamp(millis(order.sendBefore) + settings.latency_ms),
  });

  async function taken(
    order: BrokerOrder,
    signal: AbortSignal,
    beside?: (taken: PaperOrder) => Beside | null,
  ) {
    const listing = venue.listing(order.instrument);
    const prices = await book.pricesOf(listing, signal);
    checkOpen(signal);
    return book.attempt<PaperOrder, OrderError>(
      {
        decide(now, moment) {
          if (!listing) return { refusal: invalidSymbol(order.instrument.symbol) };
          const decision = accept(now, order, listing, rules, moment);
          if ('rejection' in decision) return { refusal: decision.rejection };
          return { change: decision.change, taken: decision.order };
        },
        known: () => book.findOrder(order.clientOrderId),
        ...(beside && { beside }),
      },
      prices,
      signal,
    );
  }

  const findNow = async (id: ClientOrderId, signal: AbortSignal): Promise<BrokerOrderState | null> => {
    const order = await book.findOrder(id);
    if (!order) return null;
    if (!isResting(order)) return stateOf(order);
    const { resting } = await look(signal);
    const same = resting.find((other) => other.clientOrderId === id);
    return stateOf(same ?? (await book.findOrder(id)) ?? order);
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

    async instruments(search, signal) {
      checkOpen(signal);
      return searchListings(search).map((listing) =>
        describe(listing, clock.now(), sessionOf(listing, rules)),
      );
    },

    quote: (instrument, signal) =>
      answered(signal, async () => {
        const listing = venue.listing(instrument);
        if (!listing) throw new BrokerUnavailable(invalidSymbol(instrument.symbol).message);
        return (await venue.prices([listing], signal)).quotes(listing);
      }),

    candles: (instrument, span, signal) =>
      answered(signal, async () => {
        const listing = venue.listing(instrument);
        const path = listing && (await venue.prices([], signal)).path(listing);
        return path ? candlesOf(listing, path, span, clock.now()) : [];
      }),

    position: ({ symbol }, signal) => answered(signal, async () => held(await look(signal), symbol)),

    positions: (signal) =>
      answered(signal, async () => {
        const { book: now, quotes } = await book.valued(signal);
        return positionsOf(now, quotes);
      }),

    balance: (signal) =>
      answered(signal, async () => {
        const { book: now, quotes } = await book.valued(signal);
        return balanceOf(now, decimal(settings.starting_cash), quotes);
      }),

    async place(order, signal) {
      checkOpen(signal);
      await pause(signal);
      const attempted = await taken(notLate(order), signal);
      if ('refusal' in attempted) return { outcome: 'rejected', error: attempted.refusal };
      if (!('taken' in attempted)) return UNANSWERED;
      const isLost =
        settings.lose_answer || (order.stop !== undefined && settings.protection === 'lose_answer');
      return isLost ? LOST : { outcome: 'accepted', state: stateOf(attempted.taken) };
    },

    ...(fillsAtOnce(settings) && {
      async fill(order, record, signal) {
        checkOpen(signal);
        if (order.limit !== undefined || order.trigger !== undefined) return APART;
        await pause(signal);
        const attempted = await taken(notLate(order), signal, (filled) =>
          filled.status === 'filled' ? record(stateOf(filled)) : null,
        );
        if ('taken' in attempted) return { outcome: 'filled' };
        return 'isLost' in attempted ? UNANSWERED : APART;
      },
    }),

    // Its ids are unique in the whole book: whatever else is known of the order, the id decides.
    find: ({ clientOrderId }, signal) => answered(signal, () => findNow(clientOrderId, signal)),

    openOrders: (signal) => answered(signal, async () => (await look(signal)).resting.map(openOrderOf)),

    stops: stopCalls(book, rules, venue, pause),

    cancel: ({ brokerRef }, signal) =>
      answered(signal, () => book.change((now, moment) => cancel(now, brokerRef, rules, moment), signal)),

    settle: (isJump, signal) => answered(signal, () => book.settle(isJump, signal)),

    close: book.close,
  };
}

/** Who rehearses a slow broker, or one that does not fill, is to see the order at it. */
const fillsAtOnce = ({ latency_ms, fill, lose_answer }: PaperSettings): boolean =>
  latency_ms <= DEFAULT_PAPER_SETTINGS.latency_ms && fill === 'full' && !lose_answer;

/** Committed or not, nobody can say; what broke may name files in its text, which stays inside. */
const UNANSWERED: FillOutcome & PlaceOutcome = {
  outcome: 'unknown',
  reason: 'The paper broker did not answer.',
};
const APART: FillOutcome = { outcome: 'apart' };
const LOST: PlaceOutcome = { outcome: 'unknown', reason: 'The answer of the paper broker was lost.' };
