// An exchange whose answers are written down beforehand, behind the connector: what is asked of it while a connection is opened
// is answered as it should be, and everything after that as the test says.

import type { Broker } from '../../src/broker/broker.ts';
import { openCcxt } from '../../src/broker/ccxt/open.ts';
import type { PROFILES } from '../../src/broker/ccxt/profiles.ts';
import type { MarginMode } from '../../src/domain/brokers.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import { NO_HURRY } from './paper-desk.ts';

export type ExchangeName = keyof typeof PROFILES;

export interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: string;
}

export interface Answer {
  readonly status?: number;
  readonly body?: unknown;
  /** Instead of a body of JSON. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly afterMs?: number;
}

export interface Script {
  readonly environment?: string;
  readonly marginMode?: MarginMode;
  /** Raw rows of its list of markets. */
  readonly markets?: readonly object[];
  /** Of Bitget: the other kind of account, in the exchange's other language. */
  readonly isUnified?: boolean;
}

/** `answers`: one after the other; what is asked beyond them is not answered. `asked`: since the connection was opened. */
export async function scriptedExchange(
  name: ExchangeName,
  answers: readonly Answer[] = [],
  { environment = 'live', marginMode, isUnified = false, markets = [marketOf(name, isUnified)] }: Script = {},
): Promise<{ readonly broker: Broker; readonly asked: readonly Asked[] }> {
  const asked: Asked[] = [];
  const left = [...answers];
  let isOpen = false;
  const open = openCcxt(name, {
    async fetch(address, init) {
      const url = new URL(address);
      const known = opening(name, url, { markets, isUnified });
      if (known && (!isOpen || isClock(url))) return answered(known);
      const body = init.body ? await new Response(init.body as ReadableStream).text() : '';
      asked.push({ method: init.method ?? 'GET', url, headers: new Headers(init.headers), body });
      return answered(left.shift() ?? { status: 503, text: '' });
    },
  });
  const credentials = {
    api_key: 'script-key-0001',
    api_secret: 'script-secret-01',
    passphrase: 'script-phrase',
  };
  const account = {
    id: 'scripted' as AccountId,
    environment,
    ...(marginMode && { marginMode }),
    paper: null,
    credentials,
  };
  const broker = await open(account, NO_HURRY);
  isOpen = true;
  return { broker, asked };
}

async function answered({ status = 200, body, text, headers, afterMs = 0 }: Answer): Promise<Response> {
  if (afterMs > 0) await new Promise((resolve) => setTimeout(resolve, afterMs));
  const own = new Headers(headers);
  return new Response(text ?? JSON.stringify(body), { status, headers: own });
}

const isClock = ({ pathname }: URL): boolean => pathname.endsWith('/time');

export const MARKETS: Readonly<Record<ExchangeName, object>> = {
  binance: {
    symbol: 'BTCUSDT',
    contractType: 'PERPETUAL',
    status: 'TRADING',
    baseAsset: 'BTC',
    quoteAsset: 'USDT',
    marginAsset: 'USDT',
    orderTypes: ['LIMIT', 'MARKET'],
    filters: [
      { filterType: 'PRICE_FILTER', minPrice: '1', maxPrice: '1000000', tickSize: '0.10' },
      { filterType: 'LOT_SIZE', minQty: '0.001', maxQty: '1000', stepSize: '0.001' },
    ],
  },
  bybit: {
    symbol: 'BTCUSDT',
    contractType: 'LinearPerpetual',
    status: 'Trading',
    baseCoin: 'BTC',
    quoteCoin: 'USDT',
    settleCoin: 'USDT',
    priceFilter: { minPrice: '0.1', maxPrice: '1000000', tickSize: '0.10' },
    lotSizeFilter: { minOrderQty: '0.001', maxOrderQty: '1000', qtyStep: '0.001' },
  },
  okx: {
    instId: 'BTC-USDT-SWAP',
    instType: 'SWAP',
    uly: 'BTC-USDT',
    settleCcy: 'USDT',
    ctVal: '0.01',
    ctMult: '1',
    lotSz: '0.01',
    minSz: '0.01',
    tickSz: '0.1',
    state: 'live',
  },
  gate: {
    name: 'BTC_USDT',
    quanto_multiplier: '0.0001',
    order_size_min: 1,
    order_size_max: 1000000,
    order_price_round: '0.1',
    order_price_deviate: '0.5',
    mark_price: '50000',
    in_delisting: false,
  },
  bitget: {
    symbol: 'BTCUSDT',
    baseCoin: 'BTC',
    quoteCoin: 'USDT',
    supportMarginCoins: ['USDT'],
    symbolType: 'perpetual',
    symbolStatus: 'normal',
    minTradeNum: '0.0001',
    priceEndStep: '1',
    pricePlace: '1',
    volumePlace: '4',
    sizeMultiplier: '0.0001',
  },
};

/** As a unified account at Bitget is told of it. */
export const UNIFIED_MARKET = {
  symbol: 'BTCUSDT',
  category: 'USDT-FUTURES',
  baseCoin: 'BTC',
  quoteCoin: 'USDT',
  type: 'perpetual',
  status: 'online',
  minOrderQty: '0.0001',
  pricePrecision: '1',
  quantityPrecision: '4',
  quantityMultiplier: '0.0001',
  priceMultiplier: '0.1',
};

const marketOf = (name: ExchangeName, isUnified: boolean): object =>
  isUnified ? UNIFIED_MARKET : MARKETS[name];

/** The exchange's clock, who the account is, and what is traded: all that opening asks for. */
function opening(
  name: ExchangeName,
  { pathname }: URL,
  { markets: rows, isUnified }: Required<Pick<Script, 'markets' | 'isUnified'>>,
): Answer | undefined {
  const now = Date.now();
  const said: Record<ExchangeName, Record<string, unknown>> = {
    binance: {
      '/fapi/v1/time': { serverTime: now },
      '/fapi/v1/positionSide/dual': { dualSidePosition: false },
      '/fapi/v1/exchangeInfo': { symbols: rows },
    },
    bybit: {
      '/v5/market/time': { retCode: 0, result: { timeNano: `${now}000000` }, time: now },
      '/v5/user/query-api': { retCode: 0, result: { readOnly: 0, uta: 1, unified: 0 } },
      '/v5/market/instruments-info': { retCode: 0, result: { category: 'linear', list: rows } },
    },
    okx: {
      '/api/v5/public/time': { code: '0', data: [{ ts: `${now}` }] },
      '/api/v5/account/config': { code: '0', data: [{ uid: '1', acctLv: '2', posMode: 'net_mode' }] },
      '/api/v5/public/instruments': { code: '0', data: rows },
    },
    gate: {
      '/api/v4/spot/time': { server_time: now },
      '/api/v4/account/detail': { user_id: 1, key: { mode: 1 } },
      '/api/v4/futures/usdt/accounts': { total: '1', in_dual_mode: false },
      '/api/v4/futures/usdt/contracts': rows,
    },
    bitget: {
      '/api/v2/public/time': { code: '00000', data: { serverTime: `${now}` } },
      '/api/v2/mix/account/account': { code: '00000', data: { posMode: 'one_way_mode' } },
      '/api/v2/mix/market/contracts': { code: '00000', data: rows },
      '/api/v3/account/settings': { code: '00000', data: { holdMode: 'one_way_mode' } },
      '/api/v3/market/instruments': { code: '00000', data: rows },
    },
  };
  if (name === 'bitget' && !isUnified && pathname === '/api/v3/account/settings')
    return { status: 400, body: { code: '40084', msg: 'You are in Classic Account mode' } };
  const body = said[name][pathname];
  return body === undefined ? undefined : { body };
}
