// SinoPac's Shioaji: futures and shares of Taiwan, over the HTTP server that its user, or the operator of this service, runs.
// That server is logged in as one person, and its account of each kind is the one that trades.
//
// It takes no id of ours and refuses none: what was sent and not answered is known again by comparison (recognise.ts), or
// stays unknown. Nothing is ever sent twice. Orders are for now or not at all (IOC), so that none is left behind.

import { BROKERS } from '../../domain/brokers.ts';
import { compare, sign, ZERO } from '../../domain/decimal.ts';
import { millis } from '../../domain/ids.ts';
import {
  AccountUnfit,
  type Broker,
  type BrokerOrder,
  type BrokerOrderState,
  BrokerUnavailable,
  type OpenBroker,
  type OpenOrder,
  type OrderQuery,
  type PlaceOutcome,
} from '../broker.ts';
import { type Keys, readKeys } from '../keys.ts';
import { withLeftOver } from '../left-over.ts';
import { createShared } from '../shared.ts';
import {
  ACCOUNTS,
  BANK,
  futuresBalance,
  type Held,
  hedgedIn,
  INFO,
  isFutures,
  isReadable,
  isStocks,
  isTradable,
  isUndecided,
  MARGIN,
  netOf,
  type OddTrade,
  oddPositionIn,
  POSITIONS,
  positionsOf,
  price,
  quantityOf,
  SNAPSHOTS,
  sideOf,
  stateOf,
  stocksBalance,
  TRADE,
  type Trade,
} from './answers.ts';
import {
  type Answer,
  type Api,
  type ApiOptions,
  busy,
  faultOf,
  isCertain,
  openApi,
  unanswered,
} from './api.ts';
import { type Lists, marketOf, openContracts } from './contracts.ts';
import type { Market } from './hours.ts';
import { askForMany } from './long-answers.ts';
import { isOf, problemOf, termsOf, tooLate } from './placing.ts';
import { isNamed, mayBe, recognise } from './recognise.ts';
import { rejectionOf } from './refusals.ts';

export interface ShioajiOptions extends Omit<ApiOptions, 'url'> {
  /** undefined: the operator has named no server. */
  readonly url?: string | undefined;
  readonly clock: { now(): number };
}

/** Which of the person's accounts can be traded. */
type Signed = Readonly<Record<Market, boolean>>;

interface Server {
  readonly api: Api;
  readonly signed: Signed;
  /** All accounts that are signed. */
  readonly identity: string;
  readonly lists: Lists;
  now(): number;
}

export function openShioaji({ clock, url, ...options }: ShioajiOptions): OpenBroker {
  const lists: Lists = { contracts: createShared(), months: createShared() };
  return async ({ environment, credentials, meter }, signal) => {
    const keys: Keys = readKeys(credentials, { key: 'API Key', secret: 'Secret Key' });
    // Never one that merely listens on this machine: it may be anybody, and checks no keys, so that every user could trade there.
    if (url === undefined)
      throw new AccountUnfit(
        'The operator of this service has named no Shioaji server: its address has to stand in BROKER_URLS, as {"shioaji": "http://10.0.0.5:8080"}.',
      );
    const api = openApi(keys, { ...options, url, meter });
    await mustBe(environment, api, signal);
    const answer = await api.ask(signal, 'auth/accounts');
    if (answer.kind !== 'answer' || !ACCOUNTS.Check(answer.body)) {
      if (answer.kind === 'answer') api.unreadable('auth/accounts', answer.body);
      throw unanswered(answer);
    }
    const accounts = answer.body.filter((account) => account.signed);
    const signed = { futures: accounts.some(isFutures), stocks: accounts.some(isStocks) };
    const identity = accounts
      .map(({ account_id }) => account_id)
      .toSorted()
      .join(' ');
    return connection({ api, signed, identity, lists, now: () => clock.now() });
  };
}

/** A server trades in earnest or simulates, as it was started: never the one where the other is asked for. */
async function mustBe(environment: string, api: Api, signal: AbortSignal): Promise<void> {
  const answer = await api.ask(signal, 'info', undefined, null);
  if (answer.kind !== 'answer' || !INFO.Check(answer.body)) throw unanswered(answer);
  const { simulation } = answer.body;
  if (simulation !== (environment === 'simulation'))
    throw new AccountUnfit(
      simulation
        ? 'The Shioaji server simulates (SJ_PRODUCTION is not set there), and this account is a live one. Start it for production, or make an account with the environment “simulation”.'
        : 'The Shioaji server trades for real (SJ_PRODUCTION is set there), and this account is for simulation. Start the server without it, or make a live account.',
    );
}

const ACCOUNT_TYPES: Readonly<Record<Market, 'F' | 'S'>> = { futures: 'F', stocks: 'S' };

function connection({ api, signed, identity, lists, now }: Server): Broker {
  const contracts = openContracts(api, lists, now);
  const markets = (['futures', 'stocks'] as const).filter((market) => signed[market]);
  let isClosed = false;

  function checkOpen(signal: AbortSignal): void {
    if (isClosed) throw new BrokerUnavailable('The connection to the Shioaji server is closed.');
    if (signal.aborted) throw new BrokerUnavailable('The Shioaji server was not asked in time.');
  }

  /** `read` gives undefined where the answer is not one to this question; `why` then says more, where there is more to say. */
  async function question<Value>(
    signal: AbortSignal,
    path: string,
    body: object | undefined,
    read: (body: unknown) => Value | undefined,
    why: (body: unknown) => string = () => '',
  ): Promise<Value> {
    checkOpen(signal);
    const answer = await api.ask(signal, path, body);
    const value = answer.kind === 'answer' ? read(answer.body) : undefined;
    if (value !== undefined) return value;
    if (answer.kind === 'answer') api.unreadable(path, answer.body);
    throw unanswered(answer, answer.kind === 'answer' ? why(answer.body) : '');
  }

  /** Those of the day: the server asks SinoPac anew. */
  async function trades(market: Market, signal: AbortSignal): Promise<readonly (Trade | OddTrade)[]> {
    checkOpen(signal);
    const body = { account_type: ACCOUNT_TYPES[market] };
    return askForMany(api, 'shioajiTrades', { signal, path: 'order/trades', body });
  }

  async function held(signal: AbortSignal, only?: Market): Promise<Held[]> {
    checkOpen(signal);
    const rows: Held[] = [];
    for (const market of only ? [only] : markets)
      rows.push(
        ...(await question(
          signal,
          'portfolio/position_unit',
          { account_type: ACCOUNT_TYPES[market], ...(market === 'stocks' && { unit: 'Common' }) },
          (body) => (POSITIONS.Check(body) ? body : undefined),
          oddPositionIn,
        )),
      );
    return rows;
  }

  async function send(order: BrokerOrder, signal: AbortSignal): Promise<PlaceOutcome> {
    const { symbol } = order.instrument;
    const market = marketOf(symbol);
    const listed = await contracts.traded(symbol, signal);
    if (!listed) return refused(`contract ${symbol} not found`, order);
    checkOpen(signal);
    if (now() >= millis(order.sendBefore)) return { outcome: 'rejected', error: tooLate(order) };
    const { security_type, exchange, code } = listed;
    const contract = { security_type, exchange, code };
    const answer = await api.ask(signal, 'order/place_order', { contract, ...termsOf(order, market) });
    return outcomeOf(answer, order);
  }

  function outcomeOf(answer: Answer, order: BrokerOrder): PlaceOutcome {
    switch (answer.kind) {
      case 'busy':
        throw busy(answer.retryAfterMs);
      case 'silence':
        if (answer.isUnsent) throw new BrokerUnavailable(`${answer.why}.`);
        return unknown(answer.why);
      case 'fault': {
        const { status, message } = answer;
        if (!isCertain(answer)) return unknown(`SinoPac answered “${message}” (${status})`);
        // What has to do with the order is its rejection; the rest is about the account or the server.
        if (![400, 404, 406, 422].includes(status)) throw faultOf(answer);
        return refused(message, order);
      }
      case 'answer':
        if (TRADE.Check(answer.body) && isOf(answer.body, order)) return placed(answer.body, order);
        api.unreadable('order/place_order', answer.body);
        return unknown('the Shioaji server answered, and not as agreed');
    }
  }

  /** HTTP 200 does not mean accepted. */
  function placed(trade: Trade, order: BrokerOrder): PlaceOutcome {
    const words = trade.status.msg ?? '';
    if (isUndecided(trade)) return unknown(`SinoPac answered “${words}”`);
    const state = stateOf(trade);
    if (state?.status === 'failed' && sign(state.fillQuantity) === 0) return refused(words, order);
    // It is there, whatever else cannot be read of it yet.
    return { outcome: 'accepted', state: state ?? acknowledged(trade) };
  }

  const refused = (words: string, order: BrokerOrder): PlaceOutcome => ({
    outcome: 'rejected',
    error: withLeftOver(rejectionOf(words, marketOf(order.instrument.symbol), now()), order),
  });

  async function find(query: OrderQuery, signal: AbortSignal): Promise<BrokerOrderState | null> {
    const all = await trades(marketOf(query.symbol), signal);
    const listed = all.filter(isReadable);
    const odd = all.filter((trade): trade is OddTrade => !isReadable(trade));
    if (odd.some(({ id }) => id !== null && id === query.brokerRef)) throw unreadableTrade();
    if (query.brokerRef !== null) {
      const named = listed.find((trade) => isNamed(query, trade));
      if (named) return readable(named);
      // The name that it was told by may have been another's: then it is known by the rest, as one without a name is.
    }
    if (odd.some((trade) => mayBe(query, trade))) throw unreadableTrade();
    // After the list: see the port.
    const found = recognise(query, listed, (await query.rivals?.()) ?? []);
    if ('trade' in found) return readable(found.trade);
    if ('none' in found) return null;
    throw new BrokerUnavailable(`SinoPac takes no ids of ours, and ${found.doubt}. Look there which it is.`);
  }

  return {
    capabilities: BROKERS.shioaji.capabilities,
    // It counts by the person, and a server is logged in as one.
    limits: `shioaji:${api.address}`,
    listing: `shioaji:${api.address}`,

    async verify(signal) {
      checkOpen(signal);
      if (markets.length === 0)
        throw new AccountUnfit(
          'None of the accounts is signed for the API. Sign on SinoPac’s API page, finish its test, and verify again.',
        );
      const both = signed.futures ? hedgedIn((await held(signal, 'futures')).filter(isTradable)) : undefined;
      if (both !== undefined)
        throw new AccountUnfit(
          `${both} is held on both sides at once, and here a contract has one position. Close one side at SinoPac, and verify again.`,
        );
      return { identity, warnings: await warnings(signal) };
    },

    async resolve(symbol, signal) {
      checkOpen(signal);
      const found = await contracts.resolve(symbol, signal);
      return 'rejection' in found ? found : found.instrument;
    },

    positions: async (signal) => positionsOf(await held(signal)),

    async position({ symbol }, signal) {
      const rows = (await held(signal, marketOf(symbol))).filter(isTradable);
      return netOf(rows).find((position) => position.symbol === symbol)?.quantity ?? ZERO;
    },

    async instruments(wanted, signal) {
      checkOpen(signal);
      return contracts.search(wanted, signal);
    },

    balance: (signal) =>
      signed.futures || !signed.stocks
        ? question(signal, 'portfolio/margin', { account_type: 'F' }, (body) =>
            MARGIN.Check(body) ? futuresBalance(body) : undefined,
          )
        : question(signal, 'portfolio/account_balance', { account_type: 'S' }, (body) => {
            if (!BANK.Check(body)) return undefined;
            if (body.errmsg) throw new BrokerUnavailable(`SinoPac has no balance: “${body.errmsg}”.`);
            return stocksBalance(body);
          }),

    async quote({ symbol }, signal) {
      checkOpen(signal);
      const listed = await contracts.traded(symbol, signal);
      if (!listed) throw new BrokerUnavailable(`SinoPac has no quote of ${symbol}.`);
      const { security_type, exchange, code } = listed;
      const body = { contracts: [{ security_type, exchange, code }] };
      return question(signal, 'data/snapshots', body, (seen) => {
        const [row] = SNAPSHOTS.Check(seen) ? seen : [];
        if (row?.code !== symbol) return undefined;
        const [bid, ask] = [price(row.buy_price), price(row.sell_price)];
        return compare(bid, ask) <= 0 ? { bid, ask } : undefined;
      });
    },

    async place(order, signal) {
      checkOpen(signal);
      const wrong = problemOf(order);
      return wrong ? { outcome: 'rejected', error: wrong } : send(order, signal);
    },

    find,

    async openOrders(signal) {
      checkOpen(signal);
      const open: OpenOrder[] = [];
      for (const market of markets)
        for (const trade of await trades(market, signal)) {
          // Without ids of ours nobody knows whose it is.
          if (!isReadable(trade)) throw unreadableTrade();
          const state = stateOf(trade);
          if (state?.status === 'placed' || state?.status === 'partially_filled')
            open.push(openOrderOf(trade, state));
        }
      return open;
    },

    async cancel({ brokerRef, symbol }, signal) {
      checkOpen(signal);
      const answer = await api.ask(signal, 'order/cancel_order', { trade_id: brokerRef });
      if (answer.kind === 'answer' && TRADE.Check(answer.body) && answer.body.order.id === brokerRef) return;
      // "Filled already", "deleted already", "no such order": the list tells whether there is anything left of it.
      if (answer.kind !== 'fault' || ![400, 404, 406].includes(answer.status)) throw unanswered(answer);
      const listed = await trades(marketOf(symbol), signal);
      const trade = listed.find((each) => (isReadable(each) ? each.order.id : each.id) === brokerRef);
      const state = trade && (isReadable(trade) ? stateOf(trade) : null);
      if (state === null || state?.status === 'placed' || state?.status === 'partially_filled')
        throw unanswered(answer);
    },

    async close() {
      isClosed = true;
    },
  };

  async function warnings(signal: AbortSignal): Promise<string[]> {
    const missing = (['futures', 'stocks'] as const).filter((market) => !signed[market]);
    const unguarded = await api.ask(signal, 'auth/accounts', undefined, null);
    return [
      ...missing.map(
        (market) => `No account for ${market} is signed for the API: orders for them will be refused.`,
      ),
      ...(unguarded.kind === 'answer'
        ? [
            'The Shioaji server does not check keys, because it listens on a loopback address: every user of this service could trade through it. Bind it to another address unless you are the only one.',
          ]
        : []),
    ];
  }
}

const unreadableTrade = (): BrokerUnavailable =>
  new BrokerUnavailable('SinoPac lists an order that may be this one, and not in a way that could be read.');

const unknown = (why: string): PlaceOutcome => ({ outcome: 'unknown', reason: `${why}.` });

const acknowledged = ({ order }: Trade): BrokerOrderState => ({
  brokerRef: order.id,
  status: 'placed',
  fillQuantity: ZERO,
  fillPrice: null,
  fee: null,
  reason: null,
});

function readable(trade: Trade): BrokerOrderState {
  const state = stateOf(trade);
  if (!state) throw new BrokerUnavailable('SinoPac has the order, and does not yet say what became of it.');
  return state;
}

const openOrderOf = (trade: Trade, { fillQuantity }: BrokerOrderState): OpenOrder => ({
  clientOrderId: null,
  brokerRef: trade.order.id,
  symbol: trade.contract.code,
  side: sideOf(trade),
  quantity: quantityOf(trade),
  fillQuantity,
  reduceOnly: false,
});
