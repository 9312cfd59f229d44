// One trading account at one of ccxt's exchanges. The one file of logic: what differs between the exchanges is in their
// profiles. Quantities are the user's, in the base asset; contracts are counted below this file only.

import type { MarginMode } from '../../domain/brokers.ts';
import { type Decimal, multiply } from '../../domain/decimal.ts';
import { millis } from '../../domain/ids.ts';
import { searchInstruments } from '../../domain/instrument-search.ts';
import {
  AccountUnfit,
  type Broker,
  type BrokerOrder,
  BrokerUnavailable,
  type Capabilities,
  type OpenOrder,
  type OrderQuery,
  type PlaceOutcome,
} from '../broker.ts';
import { withLeftOver } from '../left-over.ts';
import { faultOf, hedged, notAsAgreed, refusedBy, rejectionOf } from './answers.ts';
import { asker, isGood } from './asking.ts';
import { candlesAt } from './candles.ts';
import { type ConditionalWords, createWaiting, noDay, noTrigger, withCodes } from './conditional.ts';
import type { Exchange } from './exchange.ts';
import { createHoldings } from './holdings.ts';
import type { Market } from './listing.ts';
import { marginWarnings, modesToTry } from './margin.ts';
import { contractsOf, type Markets, marketOf, marketsOf, unknownSymbol } from './markets.ts';
import { stateOf } from './orders.ts';
import type { OrderToFind, OrderToSend, Page, Question, SeenOrder } from './profile.ts';
import type { StopWords } from './stop-words.ts';
import { createStops } from './stops.ts';
import { listen } from './stream.ts';
import { isLate, refuseUnsent, tooLate } from './unsent.ts';
import { type Call, type Credentials, type Heard, Unanswered } from './wire.ts';

/** An exchange's clock and ours differ a little even when they were compared. */
const A_LITTLE_MS = 60_000;
/** So many pages of a list: what goes on for ever is no list. */
const MOST_PAGES = 50;

export interface Venue {
  readonly exchange: Exchange;
  readonly markets: Markets;
}

interface Connecting {
  readonly venue: Venue;
  readonly credentials: Credentials;
  readonly capabilities: Capabilities;
  /** Of what is opened, where the exchange asks. */
  readonly marginMode: MarginMode;
  /** Of its stops. */
  readonly words: StopWords;
  /** Of entries that wait for a price; null: it takes none. */
  readonly conditional: ConditionalWords | null;
}

export function connect(connecting: Connecting): Broker {
  const { venue, credentials, capabilities, marginMode, words, conditional } = connecting;
  const { markets } = venue;
  const exchange = conditional ? withCodes(venue.exchange, conditional) : venue.exchange;
  const { profile, kind, environment } = exchange;
  const { title } = profile;
  const closing = new AbortController();

  function checkOpen(signal: AbortSignal): void {
    if (closing.signal.aborted) throw new BrokerUnavailable(`The connection to ${title} is closed.`);
    if (signal.aborted) throw new BrokerUnavailable(`${title} was not asked in time.`);
  }

  const asking = (signal: AbortSignal) => {
    checkOpen(signal);
    return asker(exchange, credentials, signal);
  };

  async function everyPage<T>(
    page: (next: string | null) => Question<Page<T>>,
    signal: AbortSignal,
  ): Promise<T[]> {
    const rows: T[] = [];
    let next: string | null = null;
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const answer: Page<T> = await asking(signal).ask(page(next));
      rows.push(...answer.rows);
      if (answer.next === null) return rows;
      next = answer.next;
    }
    throw new BrokerUnavailable(`${title} gave a list without an end.`);
  }

  const heldRows = (market: Market | null, signal: AbortSignal) =>
    everyPage((next) => profile.positions(market, kind, next), signal);
  const holdings = createHoldings({ profile, markets, rows: heldRows });

  async function listedMarket(symbol: string, signal: AbortSignal): Promise<Market> {
    checkOpen(signal);
    const market = await marketOf(markets, symbol, signal);
    if (!market) throw new BrokerUnavailable(`${title} does not list ${symbol} any more.`);
    return market;
  }

  const stops = createStops({
    ...{ exchange, words, credentials, holdings, setting: marginMode },
    ...{ checkOpen, listedMarket, everyPage },
  });

  const soughtIn = (query: OrderQuery, market: Market): OrderToFind => ({
    market,
    clientOrderId: query.clientOrderId,
    ref: query.brokerRef,
    side: query.side,
    contracts: contractsOf(query.quantity, market),
    since: millis(query.sentAt) - exchange.aheadMs() - A_LITTLE_MS,
  });

  const waiting = createWaiting({ words: conditional, title, asking, now: exchange.now });

  async function lookFor(query: OrderQuery, market: Market, signal: AbortSignal): Promise<SeenOrder | null> {
    const order = soughtIn(query, market);
    for (const question of profile.lookUps(order, kind)) {
      const reply = await asking(signal).tell(question);
      if ('refused' in reply) {
        if (reply.refused === 'not_found') continue;
        throw new BrokerUnavailable(`${title} refused to look for the order.`);
      }
      const seen = reply.answer;
      if (seen === null) continue;
      // With a wrong parameter an exchange answers with any order at all.
      if (seen.clientId !== query.clientOrderId || (query.brokerRef !== null && seen.ref !== query.brokerRef))
        throw new BrokerUnavailable(`${title} answered with another order.`);
      return seen;
    }
    return null;
  }

  async function find(query: OrderQuery, signal: AbortSignal) {
    const market = await listedMarket(query.symbol, signal);
    const seen =
      query.isConditional && waiting
        ? await waiting.find(soughtIn(query, market), signal)
        : await lookFor(query, market, signal);
    if (seen === null) return null;
    // Some look by the id alone: the order is then the one that it is, whatever it was looked for in.
    const its = (await markets.all(signal)).byId.get(seen.marketId);
    const state = its && stateOf(seen, its.contractSize);
    if (!state) throw new BrokerUnavailable(`${title} tells of the order in a way that cannot be believed.`);
    return state;
  }

  async function place(order: BrokerOrder, signal: AbortSignal): Promise<PlaceOutcome> {
    checkOpen(signal);
    const ready = await refuseUnsent({ markets, title }, order, signal);
    if ('error' in ready) return { outcome: 'rejected', error: ready.error };
    const { market, contracts } = ready;
    if (!profile.namesMarginMode) return send(order, { market, contracts, mode: null }, signal);
    const { side, reduceOnly } = order;
    const held = await holdings.marginOf(market, signal);
    const modes = modesToTry(held, { setting: marginMode, side, reduceOnly });
    for (const mode of modes) {
      const outcome = await send(order, { market, contracts, mode }, signal);
      if (outcome.outcome !== 'rejected') holdings.forgetMargin(market);
      const isElsewhere = outcome.outcome === 'rejected' && outcome.error.code === 'no_position';
      if (!isElsewhere || mode === modes.at(-1)) return outcome;
    }
    throw new Error('there is always a margin mode to try');
  }

  async function send(
    order: BrokerOrder,
    as: { readonly market: Market; readonly contracts: Decimal; readonly mode: MarginMode | null },
    signal: AbortSignal,
  ): Promise<PlaceOutcome> {
    const { clientOrderId, side, reduceOnly, limit = null, trigger, timeInForce } = order;
    const { market, contracts, mode } = as;
    // The position may have taken its time.
    if (isLate(order)) return { outcome: 'rejected', error: tooLate(order, title) };
    const atOnce: OrderToSend['atOnce'] =
      timeInForce === 'ioc' ? 'IOC' : timeInForce === 'fok' ? 'FOK' : null;
    const toSend = { market, clientOrderId, side, contracts, reduceOnly, marginMode: mode, limit, atOnce };
    // What is to wait for a price is sent as that, or not at all.
    if (trigger !== undefined && !conditional) return { outcome: 'rejected', error: noTrigger(title) };
    if (timeInForce === 'day') return { outcome: 'rejected', error: noDay(title) };
    const question =
      trigger === undefined || !conditional
        ? profile.place(toSend, kind)
        : conditional.place({ ...toSend, trigger });
    // Rather too soon than too late: by how much the clocks differ is known only so well.
    const sendBefore = millis(order.sendBefore) - exchange.doubtMs();
    const left = Math.max(1, sendBefore - Date.now());
    const call: Call = {
      signal,
      credentials,
      ...profile.deadline(left, Math.round(sendBefore - exchange.aheadMs())),
    };
    checkOpen(signal);
    let heard: Heard;
    try {
      heard = await exchange.call(question, call);
    } catch (fault) {
      if (!(fault instanceof Unanswered)) throw fault;
      if (fault.isUnsent) throw new BrokerUnavailable(`${title} was not sent the order: ${fault.message}.`);
      return { outcome: 'unknown', reason: `${title} gave no answer: ${fault.message}.` };
    }
    const refused = await refusedOutcome(order, heard, signal);
    if (refused) return refused;
    const taken = acceptedOutcome(order, heard, question, market);
    // Acknowledged by our id alone: the exchange's own may be all that it can be found by later.
    const isNameless = taken.outcome === 'accepted' && taken.state.brokerRef === null;
    const named = isNameless ? await lookedUp(order, signal) : taken;
    return named.outcome === 'accepted' ? named : taken;
  }

  async function refusedOutcome(
    order: BrokerOrder,
    heard: Heard,
    signal: AbortSignal,
  ): Promise<PlaceOutcome | null> {
    const refused = refusedBy(heard, exchange, credentials);
    if (!refused) return null;
    const error = rejectionOf(refused, exchange);
    if (error) {
      markets.refused(error.code);
      return { outcome: 'rejected', error: withLeftOver(error, order) };
    }
    switch (refused.meaning) {
      case 'clock':
        if (isLate(order)) return { outcome: 'rejected', error: tooLate(order, title) };
        await exchange.compareClocks(signal);
        throw faultOf(refused, exchange);
      case 'duplicate':
        return lookedUp(order, signal);
      case 'unsaid':
        return {
          outcome: 'unknown',
          reason: `${title} does not say whether it took the order: ${refused.words} (${refused.code}).`,
        };
      default:
        throw faultOf(refused, exchange);
    }
  }

  /** There is one under this id, and who sent it can only be us. */
  async function lookedUp(order: BrokerOrder, signal: AbortSignal): Promise<PlaceOutcome> {
    const { clientOrderId, instrument, side, quantity } = order;
    const isConditional = order.trigger !== undefined;
    const query = {
      clientOrderId,
      brokerRef: null,
      symbol: instrument.symbol,
      side,
      quantity,
      isConditional,
    };
    try {
      const state = await find(
        { ...query, sentAt: new Date().toISOString() as OrderQuery['sentAt'] },
        signal,
      );
      if (state) return { outcome: 'accepted', state };
    } catch (fault) {
      if (!(fault instanceof BrokerUnavailable)) throw fault;
    }
    return {
      outcome: 'unknown',
      reason: `${title} has an order under this id already, and does not show it.`,
    };
  }

  function acceptedOutcome(
    { clientOrderId }: BrokerOrder,
    heard: Heard,
    question: Question<SeenOrder>,
    market: Market,
  ): PlaceOutcome {
    const seen = isGood(heard) ? question.read(heard.body) : undefined;
    const isOurs = seen?.clientId === clientOrderId && seen.marketId === market.id;
    const state = seen && isOurs ? stateOf(seen, market.contractSize) : undefined;
    if (state) return { outcome: 'accepted', state };
    exchange.unreadable(heard, credentials);
    return { outcome: 'unknown', reason: `${notAsAgreed(heard, exchange)}.` };
  }

  return {
    capabilities,
    limits: `${profile.name}:${environment}`,
    listing: `${profile.name}:${environment}:${kind}`,

    async verify(signal, symbols = []) {
      const own = asking(signal);
      const standing = await profile.standing(own, kind, environment);
      const problems = [
        ...(standing.isHedged ? [hedged(title, profile.howToSwitch)] : []),
        ...standing.problems,
      ];
      if (problems.length > 0) throw new AccountUnfit(problems.join(' '));
      const told = {
        warnings: standing.warnings,
        ...(standing.identity !== undefined && { identity: standing.identity }),
      };
      if (!profile.namesMarginMode) return told;
      // Good to know, and no more.
      const held = await heldRows(null, signal).catch((fault: unknown) => {
        if (fault instanceof BrokerUnavailable) return [];
        throw fault;
      });
      const list = await markets.all(signal);
      const looking = { profile, kind, setting: marginMode, list, held, symbols, asking: own };
      return { ...told, warnings: [...standing.warnings, ...(await marginWarnings(looking))] };
    },

    async resolve(symbol, signal) {
      checkOpen(signal);
      const market = await marketOf(markets, symbol, signal);
      return market?.instrument ?? { rejection: unknownSymbol(await markets.all(signal), symbol, title) };
    },

    async instruments(search, signal) {
      checkOpen(signal);
      const { names, byName } = await markets.all(signal);
      const listed = names.flatMap((name) => byName.get(name)?.instrument ?? []);
      return searchInstruments(listed, search);
    },

    position: async ({ symbol }, signal) => holdings.of(await listedMarket(symbol, signal), signal),

    async positions(signal) {
      checkOpen(signal);
      return holdings.all(signal);
    },

    balance: async (signal) => asking(signal).ask(profile.balance(kind)),

    async quote({ symbol }, signal) {
      const market = await listedMarket(symbol, signal);
      // Anybody may ask, and is counted by address: not with the account's own.
      return asker(exchange, null, signal).ask(profile.quote(market, kind));
    },

    async candles({ symbol }, span, signal, askMore) {
      const market = await listedMarket(symbol, signal);
      return candlesAt(asker(exchange, null, signal), profile.name, { market, span, askMore });
    },

    place,
    find,
    stops,

    async openOrders(signal) {
      checkOpen(signal);
      const rows = await everyPage((next) => profile.openOrders(kind, next), signal);
      const { byId } = await marketsOf(markets, rows, signal);
      return rows.flatMap((row): OpenOrder[] => {
        const market = byId.get(row.marketId);
        if (!market || row.ref === null || row.fate !== 'open') return [];
        const { clientId, ref: brokerRef, side, reduceOnly } = row;
        return [
          {
            clientOrderId: clientId as OpenOrder['clientOrderId'],
            brokerRef,
            symbol: market.instrument.symbol,
            side,
            quantity: multiply(row.quantity, market.contractSize),
            fillQuantity: multiply(row.filled, market.contractSize),
            reduceOnly,
          },
        ];
      });
    },

    async cancel(order, signal) {
      const market = await listedMarket(order.symbol, signal);
      const apart = order.isConditional && waiting ? await waiting.cancelling(order, market, signal) : null;
      const question =
        apart && 'method' in apart ? apart : profile.cancel(apart?.ref ?? order.brokerRef, market, kind);
      const reply = await asker(exchange, credentials, signal).tell(question);
      if ('refused' in reply && reply.refused !== 'not_found')
        throw new BrokerUnavailable(`${title} refused to cancel the order.`);
    },

    async watch(tell, signal) {
      checkOpen(signal);
      await listen({ exchange, credentials, tell, signal: AbortSignal.any([signal, closing.signal]) });
      if (!signal.aborted) throw new BrokerUnavailable(`The connection to ${title} is closed.`);
    },

    aheadMs: () => (exchange.knowsClock() ? exchange.aheadMs() : null),

    async close() {
      closing.abort();
    },
  };
}
