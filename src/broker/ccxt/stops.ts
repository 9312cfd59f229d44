// The stops of one trading account at one of ccxt's exchanges. The one file of logic about them: what differs between the
// exchanges is in their words (stop-words.ts). No call here makes an order at the market; a stop can only reduce, so one that may
// or may not have been taken is `unknown`, and whoever wants it may place another.

import type { MarginMode } from '../../domain/brokers.ts';
import { multiply, sign, ZERO } from '../../domain/decimal.ts';
import { millis, timestamp } from '../../domain/ids.ts';
import type { Side } from '../../domain/orders/order.ts';
import {
  type BrokerOrderState,
  BrokerUnavailable,
  type SentStop,
  type StandingStop,
  type StopOrder,
  type StopOutcome,
  type StopState,
  type Stops,
} from '../broker.ts';
import { faultOf, notAsAgreed, quoted, type Refused, refusedBy } from './answers.ts';
import { asker, isGood } from './asking.ts';
import type { Exchange } from './exchange.ts';
import type { Holdings } from './holdings.ts';
import type { Market } from './listing.ts';
import { modesToTry } from './margin.ts';
import { contractsOf } from './markets.ts';
import { asOne, stateOf } from './orders.ts';
import type { Asking, Page, Question, SeenOrder } from './profile.ts';
import type { SeenStop, StopQuestion, StopToFind, StopToSend, StopWords, TakenStop } from './stop-words.ts';
import { type Credentials, type Heard, Unanswered } from './wire.ts';

/** A stop that comes later than this after it was signed may have been followed by another. */
const TAKEN_WITHIN_MS = 5_000;
/** Clocks differ a little even when they were compared. No more: what fired before it was set was another stop. */
const A_LITTLE_MS = 5_000;

interface Keeping {
  readonly exchange: Exchange;
  readonly words: StopWords;
  readonly credentials: Credentials;
  /** The account's margin mode, where the exchange asks. */
  readonly setting: MarginMode;
  readonly holdings: Pick<Holdings, 'marginOf'>;
  /** Throws where the connection is closed, or there is no time left. */
  checkOpen(signal: AbortSignal): void;
  listedMarket(symbol: string, signal: AbortSignal): Promise<Market>;
  everyPage<T>(page: (next: string | null) => Question<Page<T>>, signal: AbortSignal): Promise<T[]>;
}

/** `second`: there is one of the whole position already, and no other is taken. */
type Sent = StopOutcome | 'second';

export function createStops({ words, credentials, setting, holdings, ...keeping }: Keeping): Stops {
  const { checkOpen, listedMarket, everyPage } = keeping;
  const { title } = keeping.exchange.profile;
  const exchange = withCodes(keeping.exchange, words);

  function asking(signal: AbortSignal): Asking {
    checkOpen(signal);
    return asker(exchange, credentials, signal);
  }

  const toFind = (stop: SentStop, market: Market): StopToFind => ({
    market,
    clientOrderId: stop.clientOrderId,
    ref: stop.brokerRef,
    side: stop.side,
    contracts: contractsOf(stop.quantity, market),
    price: stop.price,
    since: millis(stop.sentAt) - exchange.aheadMs() - A_LITTLE_MS,
    until: stop.replacedAt
      ? millis(stop.replacedAt) - exchange.aheadMs() + A_LITTLE_MS
      : Number.POSITIVE_INFINITY,
    now: exchange.now(),
  });

  const toSend = (
    { clientOrderId, side, quantity, price, triggerBy }: StopOrder,
    market: Market,
    as: Pick<StopToSend, 'marginMode' | 'isSecond'>,
  ): StopToSend => ({
    ...{ market, clientOrderId, side, price, triggerBy, ...as },
    contracts: contractsOf(quantity, market),
  });

  async function place(stop: StopOrder, signal: AbortSignal): Promise<StopOutcome> {
    const market = await listedMarket(stop.instrument.symbol, signal);
    const modes = words.namesMarginMode
      ? modesToTry(await holdings.marginOf(market, signal), { setting, side: stop.side, reduceOnly: true })
      : [null];
    for (const marginMode of modes) {
      const outcome = await placeIn(stop, { market, marginMode }, signal);
      const isElsewhere = outcome.outcome === 'rejected' && outcome.why === 'no_position';
      if (!isElsewhere || marginMode === modes.at(-1)) return outcome;
    }
    throw new Error('there is always a margin mode to try');
  }

  async function placeIn(
    stop: StopOrder,
    { market, marginMode }: { readonly market: Market; readonly marginMode: MarginMode | null },
    signal: AbortSignal,
  ): Promise<StopOutcome> {
    const send = async (isSecond: boolean): Promise<Sent> => {
      const question = await words.place(toSend(stop, market, { marginMode, isSecond }), asking(signal));
      return 'why' in question ? { outcome: 'rejected', ...question } : sent(question, stop, signal);
    };
    const whole = await send(false);
    if (whole !== 'second' && !(words.hidesSecond && isRefused(whole))) return whole;
    const beside = await send(true);
    // It was refused for something else, and that is to be told.
    if (whole !== 'second' && (beside === 'second' || isRefused(beside))) return whole;
    return beside === 'second' ? refusedFor(`${title} takes no second stop`) : beside;
  }

  async function move(stop: SentStop, to: StopOrder, signal: AbortSignal): Promise<StopOutcome> {
    if (!words.move) throw new Error(`${title} has no stops that can be moved`);
    const market = await listedMarket(stop.symbol, signal);
    const marginMode = words.namesMarginMode
      ? ((await holdings.marginOf(market, signal))?.mode ?? setting)
      : null;
    const wanted = toSend(to, market, { marginMode, isSecond: false });
    const question = await words.move(toFind(stop, market), wanted, asking(signal));
    const outcome = await sent(question, to, signal);
    return outcome === 'second' ? refusedFor(`${title} takes no second stop`) : outcome;
  }

  async function sent(question: StopQuestion, stop: StopOrder, signal: AbortSignal): Promise<Sent> {
    checkOpen(signal);
    const { profile } = exchange;
    const until = Math.round(exchange.now() + TAKEN_WITHIN_MS);
    let heard: Heard;
    try {
      const deadline = profile.deadline(TAKEN_WITHIN_MS, until);
      heard = await exchange.call(question, { signal, credentials, ...deadline });
    } catch (fault) {
      if (!(fault instanceof Unanswered)) throw fault;
      if (fault.isUnsent) throw new BrokerUnavailable(`${title} was not sent the stop: ${fault.message}.`);
      return { outcome: 'unknown', reason: `${title} gave no answer: ${fault.message}.` };
    }
    const refused = refusedBy(heard, exchange, credentials);
    if (refused?.meaning === 'unchanged')
      return acceptedAs(question.standing ?? { ref: null, clientId: stop.clientOrderId });
    if (refused) return refusedOutcome(refused, stop, signal);
    const taken = isGood(heard) ? question.read(heard.body) : undefined;
    if (taken) return acceptedAs(taken);
    exchange.unreadable(heard, credentials);
    return { outcome: 'unknown', reason: `${notAsAgreed(heard, exchange)}.` };
  }

  async function refusedOutcome(refused: Refused, stop: StopOrder, signal: AbortSignal): Promise<Sent> {
    const said = quoted(refused);
    switch (refused.meaning) {
      case 'second':
        return 'second';
      case 'duplicate':
        return lookedUp(stop, signal);
      case 'passed':
      case 'no_position':
        return { outcome: 'rejected', why: refused.meaning, words: said };
      case 'not_found':
        return { outcome: 'rejected', why: 'gone', words: said };
      case 'insufficient_margin':
      case 'market_closed':
      case 'invalid_symbol':
      case 'invalid_quantity':
      case 'position_mode_mismatch':
      case 'refused':
        return refusedFor(said);
      case 'unsaid':
        return { outcome: 'unknown', reason: `${title} does not say whether it took the stop: ${said}.` };
      case 'clock':
        await exchange.compareClocks(signal);
        throw faultOf(refused, exchange);
      default:
        throw faultOf(refused, exchange);
    }
  }

  /** There is one under this id, and who sent it can only be us. */
  async function lookedUp(stop: StopOrder, signal: AbortSignal): Promise<StopOutcome> {
    const { clientOrderId, instrument, side, quantity, price } = stop;
    const sentAt = timestamp(Date.now());
    const query = {
      clientOrderId,
      brokerRef: null,
      symbol: instrument.symbol,
      side,
      quantity,
      price,
      sentAt,
    };
    const found = await find(query, signal).catch((fault: unknown) => {
      if (fault instanceof BrokerUnavailable) return null;
      throw fault;
    });
    if (found) return { outcome: 'accepted', clientOrderId, brokerRef: found.brokerRef };
    return { outcome: 'unknown', reason: `${title} has a stop under this id already, and does not show it.` };
  }

  async function find(stop: SentStop, signal: AbortSignal): Promise<StopState | null> {
    const market = await listedMarket(stop.symbol, signal);
    const sought = toFind(stop, market);
    for (const question of words.lookUps(sought)) {
      const reply = await asking(signal).tell(question);
      if ('refused' in reply) {
        if (reply.refused === 'not_found') continue;
        throw new BrokerUnavailable(`${title} refused to look for the stop.`);
      }
      if (reply.answer === null) continue;
      if (!isIt(reply.answer, sought)) throw new BrokerUnavailable(`${title} answered with another stop.`);
      const seen = unrecorded(reply.answer, stop.recorded);
      if (seen) return stopState(seen, market, signal);
    }
    return null;
  }

  async function stopState(seen: SeenStop, market: Market, signal: AbortSignal): Promise<StopState> {
    const isAsked = seen.fate === 'triggered' && words.became;
    const became = isAsked ? await asking(signal).ask(isAsked(seen)) : seen.became;
    const orders = await ordersOf({ ...seen, became }, market, signal);
    const order = orders.length === 0 ? null : believed(asOne(orders), market);
    const { ref: brokerRef, fate, reason } = seen;
    if (fate !== 'failed')
      return {
        ...{ brokerRef, status: fate === 'expired' ? 'ended' : fate, order, reason },
        ...(fate === 'expired' && { hasExpired: true }),
        ...(orders.length > 1 && { orders: orders.map((each) => believed(each, market)) }),
      };
    const dead = order ?? { ...UNTAKEN, reason: seen.reason };
    return { brokerRef: seen.ref, status: 'triggered', order: dead, reason: seen.reason };
  }

  /** None, as long as one of them is not shown yet. */
  async function ordersOf(
    { became, side }: SeenStop,
    market: Market,
    signal: AbortSignal,
  ): Promise<readonly SeenOrder[]> {
    const orders: SeenOrder[] = [];
    for (const one of became) {
      const order = typeof one === 'string' ? await orderNamed(one, { market, side }, signal) : one;
      if (order === null) return [];
      if (order.marketId !== market.id || order.side !== side)
        throw new BrokerUnavailable(`${title} answered with another order.`);
      orders.push(order);
    }
    return orders;
  }

  function believed(order: SeenOrder | undefined, { contractSize }: Market): BrokerOrderState {
    const state = order && stateOf(order, contractSize);
    if (!state) throw new BrokerUnavailable(`${title} tells of the order in a way that cannot be believed.`);
    return state;
  }

  async function orderNamed(
    ref: string,
    { market, side }: { readonly market: Market; readonly side: Side },
    signal: AbortSignal,
  ): Promise<SeenOrder | null> {
    const reply = await asking(signal).tell(words.order(ref, market, side));
    if ('refused' in reply) {
      if (reply.refused === 'not_found') return null;
      throw new BrokerUnavailable(`${title} refused to look for the order.`);
    }
    const order = reply.answer;
    if (order.ref !== ref) throw new BrokerUnavailable(`${title} answered with another order.`);
    const { fills } = words;
    if (sign(order.quantity) !== 0 || !fills) return order;
    return fills.added(order, await everyPage((page) => fills.of(order, market, page), signal));
  }

  return {
    ...(words.names && { names: words.names }),
    place,
    ...(words.move && { move }),
    find,

    async remove(stop, signal) {
      const market = await listedMarket(stop.symbol, signal);
      const question = await words.remove(toFind(stop, market), asking(signal));
      if (question === null) return;
      const reply = await asking(signal).tell(question);
      // What has ended, went with its position, or was never there is no error.
      if ('refused' in reply && !['not_found', 'no_position', 'unchanged'].includes(reply.refused))
        throw new BrokerUnavailable(`${title} refused to remove the stop.`);
    },

    async standing({ symbol }, signal) {
      const market = await listedMarket(symbol, signal);
      const rows = await everyPage((next) => words.standing(market, next), signal);
      if (rows.some(({ marketId }) => marketId !== market.id))
        throw new BrokerUnavailable(`${title} answered with stops of another instrument.`);
      return rows
        .filter(({ fate }) => fate === 'standing')
        .map(
          ({ clientId, ref, side, price, contracts }): StandingStop => ({
            clientOrderId: clientId as StandingStop['clientOrderId'],
            brokerRef: ref,
            side,
            price,
            quantity: contracts && multiply(contracts, market.contractSize),
          }),
        );
    },
  };
}

/** What a stop became whose order the exchange refused when it triggered. */
const UNTAKEN = {
  brokerRef: null,
  status: 'failed',
  fillQuantity: ZERO,
  fillPrice: null,
  fee: null,
} as const satisfies Partial<BrokerOrderState>;

const acceptedAs = ({ clientId, ref }: TakenStop): StopOutcome => ({
  outcome: 'accepted',
  clientOrderId: clientId,
  brokerRef: ref,
});

const isRefused = (outcome: StopOutcome): boolean =>
  outcome.outcome === 'rejected' && outcome.why === 'refused';

const refusedFor = (words: string): StopOutcome => ({ outcome: 'rejected', why: 'refused', words });

/** What a code means for a stop goes before what it means for an order. */
const withCodes = (exchange: Exchange, { codes }: StopWords): Exchange => ({
  ...exchange,
  profile: { ...exchange.profile, codes: { ...exchange.profile.codes, ...codes } },
});

/** With a wrong parameter an exchange answers with any stop at all. */
const isIt = (seen: SeenStop, { market, clientOrderId, ref, side }: StopToFind): boolean =>
  seen.marketId === market.id &&
  seen.side === side &&
  (seen.clientId === null || seen.clientId === clientOrderId) &&
  (seen.ref === null || ref === null || seen.ref === ref);

/** Without the orders that were another stop's. null: it was wholly that one. */
function unrecorded(seen: SeenStop, recorded: SentStop['recorded'] = []): SeenStop | null {
  const isAnothers = (ref: string | null) => ref !== null && recorded.includes(ref);
  const became = seen.became.filter((one) => !isAnothers(typeof one === 'string' ? one : one.ref));
  if (became.length === seen.became.length) return seen;
  return became.length === 0 ? null : { ...seen, became };
}
