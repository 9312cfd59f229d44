// Alpaca: American shares, whole and in fractions, live and on paper. Its own ids of ours are unique for an account: a
// second order under one is refused, whatever became of the first.
//
// A closed market is no error there: an order at the market would wait until morning. So the market's clock is asked before it.

import { BROKERS } from '../../domain/brokers.ts';
import { ZERO } from '../../domain/decimal.ts';
import { millis } from '../../domain/ids.ts';
import {
  AccountUnfit,
  type Broker,
  type BrokerOrder,
  BrokerUnavailable,
  type OpenBroker,
  type OrderQuery,
  type PlaceOutcome,
} from '../broker.ts';
import { type Keys, readKeys } from '../keys.ts';
import { createShared } from '../shared.ts';
import { talkTo } from '../stream.ts';
import {
  ACCOUNT,
  type Account,
  balanceOf,
  isShares,
  LAST_TRADE,
  openOrderOf,
  openOrdersIn,
  positionOf,
  priceOf,
  QUOTE,
  signed,
  stateOf,
} from './answers.ts';
import {
  type AlpacaOptions,
  type Api,
  ask,
  busy,
  isAboutKeys,
  keysRefused,
  loadAssets,
  notAsAgreed,
  openApi,
  unanswered,
} from './api.ts';
import { type Assets, findAsset, instrumentOf, search } from './assets.ts';
import { candlesAt } from './candles.ts';
import { acceptedAs, closedProblem, problemOf, refused, requestOf, tooLate } from './placing.ts';
import { listOf, MOST_ORDERS, openQuestions } from './questions.ts';
import { DUPLICATE, isAboutTheId, type Refusal } from './refusals.ts';
import { openStops } from './stops.ts';
import { updatesOf } from './updates.ts';

/** Which shares are traded, and whether in fractions, may change by the day. */
const HOUR_MS = 3_600_000;
/** A symbol that is missing may be new, but not twice in a minute. */
const MINUTE_MS = 60_000;

export function openAlpaca(options: AlpacaOptions): OpenBroker {
  const lists = createShared<Assets>();
  return async ({ environment, credentials, meter }, signal) => {
    const keys = readKeys(credentials, { key: 'API Key ID', secret: 'Secret Key' });
    const api = openApi(keys, environment, { ...options, meter });
    const answer = await ask((init) => api.accounts.getAccountRaw(init), signal);
    if (answer.kind !== 'answer' || !ACCOUNT.Check(answer.body)) {
      api.unreadable(answer);
      throw unanswered(answer, environment);
    }
    const own = { id: answer.body.id, environment, keys };
    return connection(api, own, (maxAgeMs, until) =>
      lists.get(api.market, (shared) => loadAssets(api, environment, shared), {
        ...{ signal: until, maxAgeMs },
        orOlder: maxAgeMs === HOUR_MS,
      }),
    );
  };
}

type AssetList = (maxAgeMs: number, signal: AbortSignal) => Promise<Assets>;

function connection(
  api: Api,
  { id, environment, keys }: { readonly id: string; readonly environment: string; readonly keys: Keys },
  assets: AssetList,
): Broker {
  const questions = openQuestions(api, environment);
  const { checkOpen, question, marketClock, held, account, orderById, orderByClientId } = questions;

  /** Where the list of assets cannot be had, a share is taken for one that is traded: to ask costs nothing. */
  async function tradedShares(signal: AbortSignal): Promise<(symbol: string) => boolean> {
    const list = await assets(HOUR_MS, signal).catch((fault: unknown) => {
      if (fault instanceof BrokerUnavailable) return null;
      throw fault;
    });
    return (symbol) => list === null || list.get(symbol)?.tradable === true;
  }

  async function find(
    { clientOrderId, brokerRef }: Pick<OrderQuery, 'clientOrderId' | 'brokerRef'>,
    signal: AbortSignal,
  ) {
    const named = brokerRef === null ? null : await orderById(brokerRef, signal);
    if (named?.client_order_id === clientOrderId) return stateOf(named);
    const order = await orderByClientId(clientOrderId, signal);
    if (!order) return null;
    // The name that we know is that of another order, or of none: then ours has to have that one.
    if (brokerRef !== null && named === null && order.id !== brokerRef)
      throw new BrokerUnavailable('Alpaca told of another order than the one that it was asked about.');
    return stateOf(order);
  }

  async function send(order: BrokerOrder, signal: AbortSignal): Promise<PlaceOutcome> {
    const postOrderRequest = requestOf(order);
    const answer = await ask((init) => api.orders.postOrderRaw({ postOrderRequest }, init), signal);
    switch (answer.kind) {
      case 'busy':
        throw busy(answer.retryAfterMs);
      case 'silence':
        if (answer.isUnsent) throw new BrokerUnavailable(`${answer.why}.`);
        return { outcome: 'unknown', reason: `${answer.why}.` };
      case 'refusal':
        if (isAboutKeys(answer)) throw keysRefused(answer, environment);
        return answer.code === DUPLICATE ? afterDuplicate(order, answer, signal) : refused(answer, order);
      case 'answer': {
        const state = acceptedAs(answer.body, order);
        if (state) return { outcome: 'accepted', state };
        api.unreadable(answer);
        return { outcome: 'unknown', reason: `${notAsAgreed(answer.status)}.` };
      }
    }
  }

  /** The code stands for any wrong input. Where there is an order under the id, that is the answer. */
  async function afterDuplicate(
    order: BrokerOrder,
    refusal: Refusal,
    signal: AbortSignal,
  ): Promise<PlaceOutcome> {
    try {
      const state = await find({ clientOrderId: order.clientOrderId, brokerRef: null }, signal);
      if (state) return { outcome: 'accepted', state };
    } catch (fault) {
      if (!(fault instanceof BrokerUnavailable)) throw fault;
    }
    if (!isAboutTheId(refusal)) return refused(refusal, order);
    return {
      outcome: 'unknown',
      reason: `Alpaca has an order under the id ${order.clientOrderId}, and does not show it.`,
    };
  }

  return {
    capabilities: BROKERS.alpaca.capabilities,
    // It counts by the account.
    limits: `alpaca:${environment}:${id}`,
    listing: `alpaca ${api.market}`,

    async verify(signal) {
      const seen = await account(signal);
      mustBeFit(seen, environment);
      return {
        identity: id,
        warnings:
          seen.shorting_enabled === false
            ? [
                'The account cannot sell short: short entries will be refused. Alpaca allows it from 2,000 dollars of equity on.',
              ]
            : [],
      };
    },

    async resolve(symbol, signal) {
      checkOpen(signal);
      const clock = await marketClock(signal);
      let found = findAsset(symbol, await assets(HOUR_MS, signal));
      if ('rejection' in found) found = findAsset(symbol, await assets(MINUTE_MS, signal));
      return 'rejection' in found ? found : instrumentOf(found.asset, clock);
    },

    async positions(signal) {
      const rows = await held(signal);
      const isListed = rows.length > 0 ? await tradedShares(signal) : () => true;
      return rows.map((row) => positionOf(row, isListed));
    },

    async position({ symbol }, signal) {
      const row = (await held(signal)).find((each) => each.symbol === symbol && isShares(each));
      return row ? signed(row) : ZERO;
    },

    async instruments(wanted, signal) {
      const clock = await marketClock(signal);
      return search(await assets(HOUR_MS, signal), wanted).map((asset) => instrumentOf(asset, clock));
    },

    balance: async (signal) => balanceOf(await account(signal)),

    async quote({ symbol }, signal) {
      checkOpen(signal);
      let answer = await ask((init) => api.stocks.stockLatestQuoteSingleRaw({ symbol }, init), signal);
      if (answer.kind === 'answer' && QUOTE.Check(answer.body) && answer.body.symbol === symbol) {
        const { bp, ap } = answer.body.quote;
        if (bp > 0 && bp <= ap) return { bid: priceOf(bp), ask: priceOf(ap) };
        // Nobody bids, or asks, while the market is closed: the last price is what there is.
        answer = await ask((init) => api.stocks.stockLatestTradeSingleRaw({ symbol }, init), signal);
        if (answer.kind === 'answer' && LAST_TRADE.Check(answer.body) && answer.body.symbol === symbol) {
          const last = priceOf(answer.body.trade.p);
          return { bid: last, ask: last };
        }
      }
      // The key of an account without market data is a good one all the same.
      if (answer.kind === 'refusal')
        throw new BrokerUnavailable(`Alpaca has no quote of ${symbol}: “${answer.message}”.`);
      throw unanswered(answer, environment);
    },

    async candles({ symbol }, span, signal) {
      checkOpen(signal);
      return candlesAt(api, symbol, span, signal);
    },

    async place(order, signal) {
      checkOpen(signal);
      const wrong = problemOf(order);
      if (wrong) return { outcome: 'rejected', error: wrong };
      // What rests may wait for the morning.
      const closed =
        order.limit === undefined && order.trigger === undefined
          ? closedProblem(await marketClock(signal))
          : null;
      if (closed) return { outcome: 'rejected', error: closed };
      checkOpen(signal);
      if (Date.now() >= millis(order.sendBefore)) return { outcome: 'rejected', error: tooLate(order) };
      return send(order, signal);
    },

    find,

    async openOrders(signal) {
      const orders = await question(
        signal,
        (init) => api.orders.getAllOrdersRaw({ status: 'open', limit: MOST_ORDERS, direction: 'asc' }, init),
        listOf(openOrdersIn),
      );
      return orders.map(openOrderOf).filter((order) => order !== null);
    },

    stops: openStops(questions),

    cancel: ({ brokerRef }, signal) => questions.cancel(brokerRef, signal),

    async watch(tell, signal) {
      checkOpen(signal);
      const until = AbortSignal.any([signal, questions.closed]);
      await talkTo({ ...updatesOf(keys), url: api.stream, openSocket: api.openSocket, tell, signal: until });
      if (!signal.aborted) throw new BrokerUnavailable('The connection to Alpaca is closed.');
    },

    aheadMs: questions.aheadMs,

    async close() {
      questions.close();
    },
  };
}

function mustBeFit(account: Account, environment: string): void {
  const { status, account_blocked, trading_blocked, trade_suspended_by_user } = account;
  const unfit = (what: string) => new AccountUnfit(`Alpaca does not let this account trade: ${what}`);
  if (account_blocked) throw unfit('it is blocked. Ask Alpaca’s support why.');
  if (trading_blocked) throw unfit('its trading is blocked. Ask Alpaca’s support why.');
  if (trade_suspended_by_user)
    throw unfit('its trading is suspended by its own settings. Switch “suspend trade” off at Alpaca.');
  if (status !== 'ACTIVE' && !(status === 'PAPER_ONLY' && environment === 'paper'))
    throw unfit(`its status is ${status}, and must be ACTIVE. Finish what Alpaca asks for on its pages.`);
}
