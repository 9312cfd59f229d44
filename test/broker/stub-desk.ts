// What the tests of the stubs share: the exchange in a broker's language on a real socket, and ccxt itself as its client.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { pathToFileURL } from 'node:url';
import { openExchange } from '../../chaos/exchange.ts';
import type { ExchangeLedger } from '../../chaos/exchange-client.ts';
import { withTables } from '../data/backend.ts';
import { stubOf } from '../stubs/stubs.ts';

/** As much of ccxt's exchanges as the tests use. */
export interface Ccxt {
  options: Record<string, unknown>;
  markets: Record<string, CcxtMarket>;
  fetchImplementation: typeof fetch;
  last_response_headers: Record<string, string>;
  loadMarkets(): Promise<Record<string, CcxtMarket>>;
  createOrder(
    symbol: string,
    type: string,
    side: string,
    amount: number,
    price?: undefined,
    params?: object,
  ): Promise<CcxtOrder>;
  fetchOrder(id: string | undefined, symbol: string, params?: object): Promise<CcxtOrder>;
  cancelOrder(id: string | undefined, symbol: string, params?: object): Promise<CcxtOrder>;
  fetchOpenOrders(symbol?: string): Promise<CcxtOrder[]>;
  fetchClosedOrders(symbol?: string, since?: number, limit?: number, params?: object): Promise<CcxtOrder[]>;
  fetchCanceledAndClosedOrders(
    symbol?: string,
    since?: number,
    limit?: number,
    params?: object,
  ): Promise<CcxtOrder[]>;
  fetchMyTrades(
    symbol: string,
    since?: number,
    limit?: number,
    params?: object,
  ): Promise<{ order: string; amount: number }[]>;
  fetchPositions(symbols?: string[], params?: object): Promise<CcxtPosition[]>;
  fetchPositionMode(symbol?: string): Promise<{ hedged: boolean }>;
  fetchBalance(params?: object): Promise<Record<string, { free: number; total: number }>>;
  fetchBidsAsks(symbols?: string[]): Promise<Record<string, { bid: number; ask: number }>>;
  fetchTicker(symbol: string): Promise<{ bid: number; ask: number }>;
  fetchOHLCV(symbol: string, interval: string, since?: number, limit?: number): Promise<number[][]>;
  fetchTime(): Promise<number>;
  loadTimeDifference(): Promise<number>;
}

interface CcxtMarket {
  readonly id: string;
  readonly symbol: string;
  readonly active: boolean;
  readonly linear?: boolean;
  readonly contractSize?: number;
  readonly precision: { readonly amount: number; readonly price: number };
  readonly limits: { readonly amount: { readonly min?: number }; readonly cost: { readonly min?: number } };
}

export interface CcxtOrder {
  readonly id: string;
  readonly clientOrderId: string;
  readonly status: string;
  readonly amount: number;
  readonly filled: number;
  readonly average?: number;
}

interface CcxtPosition {
  readonly symbol: string;
  readonly side: string;
  readonly contracts: number;
  readonly contractSize?: number;
  readonly hedged?: boolean;
  readonly marginMode?: string;
}

export const BTC = 'BTC/USDT:USDT';

/** Call it at the top of a test file. */
export function stubDesk(broker: string, ccxtId = broker) {
  let dir = '';
  let exchange: Awaited<ReturnType<typeof openExchange>>;
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), `fillpath-${broker}-`));
    exchange = await openExchange({
      file: await withTables(join(dir, 'exchange.db')),
      dialect: await stubOf(broker),
    });
  });
  after(async () => {
    await exchange.close();
    await rm(dir, { recursive: true });
  });
  let accounts = 0;

  async function control<Body>(method: string, path: string, body?: object): Promise<Body> {
    const response = await fetch(`${exchange.url}/control/${path}`, {
      method,
      body: body ? JSON.stringify(body) : null,
    });
    assert.equal(response.status, 200, `${method} ${path}: ${await response.clone().text()}`);
    return (await response.json()) as Body;
  }

  /** ccxt at the stub: paths, queries, headers and signatures are its own. */
  async function client(keys: object, asker = ''): Promise<Ccxt> {
    const file = join(import.meta.dirname, `../../node_modules/ccxt/js/src/${ccxtId}.js`);
    const { default: Exchange } = (await import(pathToFileURL(file).href)) as {
      default: new (settings: object) => Ccxt;
    };
    const ccxt = new Exchange({ enableRateLimit: false, ...keys });
    ccxt.fetchImplementation = (address, init) => {
      const { pathname, search } = new URL(String(address));
      return fetch(`${exchange.url}${asker}${pathname}${search}`, init);
    };
    return ccxt;
  }

  return {
    control,
    client,
    url: () => exchange.url,

    /** An account, and ccxt with its keys. */
    async open(terms: object = {}, settings: object = {}) {
      const id = `account-${++accounts}`;
      const keys = { apiKey: `key-${id}`, secret: `secret-${id}`, password: `pass-${id}` };
      await control('POST', `accounts/${id}`, {
        paper: { latency_ms: 0 },
        credentials: { api_key: keys.apiKey, api_secret: keys.secret, passphrase: keys.password },
        ...terms,
      });
      const ledger = async () => {
        const { orders, positions, requests } = await control<ExchangeLedger>('GET', 'ledger');
        const own = (row: { account: string }) => row.account === id;
        return {
          orders: orders.filter(own),
          positions: positions.filter(own),
          requests: requests.filter(own),
        };
      };
      return {
        id,
        keys,
        ledger,
        ccxt: await client({ ...keys, ...settings }),
        change: (more: object) => control('PATCH', `accounts/${id}`, more),
        breaks: (kind: string, more: object = {}) =>
          control('POST', 'faults', { kind, ttl_ms: 60_000, accounts: [id], ...more }),
      };
    },
    heal: () => control('DELETE', 'faults'),
  };
}

/** That it is refused by ccxt's class of that name, with words of the broker. */
export const refuses = (name: string, words: RegExp) => (fault: Error) => {
  assert.equal(fault.constructor.name, name, fault.message);
  assert.match(fault.message, words);
  return true;
};

export async function until<Value>(
  ask: () => Promise<Value>,
  isSo: (value: Value) => boolean,
): Promise<Value> {
  const start = Date.now();
  for (;;) {
    const value = await ask();
    if (isSo(value)) return value;
    assert.ok(Date.now() - start < 60_000, `it does not happen: ${JSON.stringify(value)}`);
  }
}
