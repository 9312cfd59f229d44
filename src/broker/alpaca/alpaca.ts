// Alpaca: American shares, whole and in fractions, live and on paper. Its own ids of ours are unique for an account: a
// second order under one is refused, whatever became of the first.
//
// A closed market is no error there: the order would wait until morning. So the market's clock is asked before every order.

import { BROKERS } from '../../domain/brokers.ts';
import { compare, decimal, isOnStep, sign, ZERO } from '../../domain/decimal.ts';
import { millis } from '../../domain/ids.ts';
import type { OrderError } from '../../domain/orders/order.ts';
import {
  AccountUnfit,
  type Broker,
  type BrokerOrder,
  type BrokerOrderState,
  BrokerUnavailable,
  type OpenBroker,
  type OrderQuery,
  type PlaceOutcome,
  withLeftOver,
} from '../broker.ts';
import { type Keys, readKeys } from '../keys.ts';
import { createShared } from '../shared.ts';
import { talkTo } from '../stream.ts';
import {
  ACCOUNT,
  type Account,
  balanceOf,
  CLOCK,
  type Clock,
  type Held,
  hoursOf,
  isShares,
  LAST_TRADE,
  OPEN_ORDERS,
  ORDER,
  openOrderOf,
  POSITIONS,
  positionOf,
  priceOf,
  QUOTE,
  signed,
  stateOf,
} from './answers.ts';
import {
  type AlpacaOptions,
  type Answer,
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
import { DUPLICATE, isAboutTheId, type Refusal, rejectionOf } from './refusals.ts';
import { updatesOf } from './updates.ts';

const DAY_MS = 24 * 3_600_000;
/** A symbol that is missing may be new, but not twice in a minute. */
const MINUTE_MS = 60_000;
/** So long before the close nothing is sent: longer than a call takes. */
const CLOSING_MS = 15_000;

export function openAlpaca(options: AlpacaOptions): OpenBroker {
  const lists = createShared<Assets>();
  return async ({ environment, credentials, meter }, signal) => {
    const keys = readKeys(credentials, { key: 'API Key ID', secret: 'Secret Key' });
    const api = openApi(keys, environment, { ...options, meter });
    const answer = await ask((init) => api.accounts.getAccountRaw(init), signal);
    if (answer.kind !== 'answer' || !ACCOUNT.Check(answer.body)) throw unanswered(answer, environment);
    const own = { id: answer.body.id, environment, keys };
    return connection(api, own, (maxAgeMs, until) =>
      lists.get(api.market, (shared) => loadAssets(api, environment, shared), {
        ...{ signal: until, maxAgeMs },
        orOlder: maxAgeMs === DAY_MS,
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
  const closing = new AbortController();

  function checkOpen(signal: AbortSignal): void {
    if (closing.signal.aborted) throw new BrokerUnavailable('The connection to Alpaca is closed.');
    if (signal.aborted) throw new BrokerUnavailable('Alpaca was not asked in time.');
  }

  /** `read` gives undefined where the answer is not one to this question. */
  async function question<Value>(
    signal: AbortSignal,
    call: Parameters<typeof ask>[0],
    read: (answer: Answer) => Value | undefined,
  ): Promise<Value> {
    checkOpen(signal);
    const answer = await ask(call, signal);
    const value = read(answer);
    if (value === undefined) throw unanswered(answer, environment);
    return value;
  }

  const account = (signal: AbortSignal): Promise<Account> =>
    question(
      signal,
      (init) => api.accounts.getAccountRaw(init),
      (answer) => (answer.kind === 'answer' && ACCOUNT.Check(answer.body) ? answer.body : undefined),
    );

  const marketClock = (signal: AbortSignal): Promise<Clock> =>
    question(
      signal,
      (init) => api.clock.legacyClockRaw(init),
      (answer) => (answer.kind === 'answer' && CLOCK.Check(answer.body) ? answer.body : undefined),
    );

  const held = (signal: AbortSignal): Promise<readonly Held[]> =>
    question(
      signal,
      (init) => api.positions.getAllOpenPositionsRaw(init),
      (answer) => (answer.kind === 'answer' && POSITIONS.Check(answer.body) ? answer.body : undefined),
    );

  /** Where the list of assets cannot be had, a share is taken for one that is traded: to ask costs nothing. */
  async function tradedShares(signal: AbortSignal): Promise<(symbol: string) => boolean> {
    const list = await assets(DAY_MS, signal).catch((fault: unknown) => {
      if (fault instanceof BrokerUnavailable) return null;
      throw fault;
    });
    return (symbol) => list === null || list.get(symbol)?.tradable === true;
  }

  /** That very order, or nobody's: null is Alpaca's own word that it has none. */
  function readOrder(answer: Answer, query: Pick<OrderQuery, 'clientOrderId' | 'brokerRef'>) {
    if (answer.kind === 'refusal') return answer.status === 404 && answer.code !== null ? null : undefined;
    if (answer.kind !== 'answer' || !ORDER.Check(answer.body)) return undefined;
    const { body } = answer;
    const isIt =
      body.client_order_id === query.clientOrderId &&
      (query.brokerRef === null || body.id === query.brokerRef);
    return isIt ? stateOf(body) : undefined;
  }

  async function find(query: Pick<OrderQuery, 'clientOrderId' | 'brokerRef'>, signal: AbortSignal) {
    const { clientOrderId, brokerRef } = query;
    const named =
      brokerRef === null
        ? null
        : await question(
            signal,
            (init) => api.orders.getOrderByOrderIDRaw({ orderId: brokerRef }, init),
            (answer) => readOrder(answer, query),
          );
    if (named) return named;
    return question(
      signal,
      (init) => api.orders.getOrderByClientOrderIdRaw({ clientOrderId }, init),
      (answer) => readOrder(answer, query),
    );
  }

  async function send(order: BrokerOrder, signal: AbortSignal): Promise<PlaceOutcome> {
    const { clientOrderId, instrument, side, quantity } = order;
    const postOrderRequest = {
      symbol: instrument.symbol,
      qty: quantity,
      side,
      type: 'market',
      timeInForce: 'day',
      clientOrderId,
    } as const;
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
        return state
          ? { outcome: 'accepted', state }
          : { outcome: 'unknown', reason: `${notAsAgreed(answer.status)}.` };
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
      let found = findAsset(symbol, await assets(DAY_MS, signal));
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

    async instruments({ query, after, limit }, signal) {
      const clock = await marketClock(signal);
      return search(await assets(DAY_MS, signal), query, after, limit).map((asset) =>
        instrumentOf(asset, clock),
      );
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

    async place(order, signal) {
      checkOpen(signal);
      const wrong = quantityProblem(order);
      if (wrong) return { outcome: 'rejected', error: wrong };
      const clock = await marketClock(signal);
      if (!clock.is_open || isClosing(clock)) return { outcome: 'rejected', error: marketClosed(clock) };
      checkOpen(signal);
      if (Date.now() >= millis(order.sendBefore)) return { outcome: 'rejected', error: tooLate(order) };
      return send(order, signal);
    },

    find,

    async openOrders(signal) {
      const orders = await question(
        signal,
        (init) => api.orders.getAllOrdersRaw({ status: 'open', limit: MOST_ORDERS, direction: 'asc' }, init),
        (answer) => (answer.kind === 'answer' && OPEN_ORDERS.Check(answer.body) ? answer.body : undefined),
      );
      if (orders.length >= MOST_ORDERS)
        throw new BrokerUnavailable(
          `There are more open orders at Alpaca than it lists at once (${MOST_ORDERS}).`,
        );
      return orders.map(openOrderOf).filter((order) => order !== null);
    },

    async cancel({ brokerRef }, signal) {
      await question(
        signal,
        (init) => api.orders.deleteOrderByOrderIDRaw({ orderId: brokerRef }, init),
        (answer) => {
          if (answer.kind === 'answer') return answer.status === 204 ? true : undefined;
          // "Not cancelable", "not found": it has ended.
          const hasEnded =
            answer.kind === 'refusal' && answer.code !== null && [404, 422].includes(answer.status);
          return hasEnded ? true : undefined;
        },
      );
    },

    async watch(tell, signal) {
      checkOpen(signal);
      const until = AbortSignal.any([signal, closing.signal]);
      await talkTo({ ...updatesOf(keys), url: api.stream, tell, signal: until });
      if (!signal.aborted) throw new BrokerUnavailable('The connection to Alpaca is closed.');
    },

    async close() {
      closing.abort();
    },
  };
}

const MOST_ORDERS = 500;

const refused = (refusal: Refusal, order: BrokerOrder): PlaceOutcome => ({
  outcome: 'rejected',
  error: withLeftOver(rejectionOf(refusal), order),
});

/** null: this is not the order that was sent. */
function acceptedAs(body: unknown, order: BrokerOrder): BrokerOrderState | null {
  if (!ORDER.Check(body)) return null;
  const isIt =
    body.client_order_id === order.clientOrderId &&
    body.symbol === order.instrument.symbol &&
    body.side === order.side &&
    compare(decimal(body.qty), order.quantity) === 0;
  return isIt ? stateOf(body) : null;
}

function quantityProblem({ instrument, quantity, reduceOnly }: BrokerOrder): OrderError | null {
  const { symbol, quantityStep } = instrument;
  if (sign(quantity) > 0 && (reduceOnly || isOnStep(quantity, quantityStep))) return null;
  return {
    code: 'invalid_quantity',
    message: `Alpaca trades ${symbol} in steps of ${quantityStep}, and ${quantity} is no multiple of that. Nothing was sent; send a quantity that is.`,
  };
}

const tooLate = ({ sendBefore }: BrokerOrder): OrderError => ({
  code: 'expired',
  message: `The order was not sent: it had to be at Alpaca before ${sendBefore}.`,
});

/** By its own clock: what arrives after the close waits until morning. */
const isClosing = ({ timestamp, next_close }: Clock): boolean =>
  Date.parse(next_close) - Date.parse(timestamp) < CLOSING_MS;

function marketClosed(clock: Clock): OrderError {
  const hours = hoursOf(clock);
  const state = clock.is_open ? 'closes in a few seconds' : 'is closed';
  return {
    code: 'market_closed',
    message: `The American market ${state}, and Alpaca would keep the order until it opens: it was not sent. It opens at ${hours.next_open}; send it again then.`,
    market_hours: hours,
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
