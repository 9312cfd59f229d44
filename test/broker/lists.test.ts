// A broker's list of markets is megabytes. It is read by a thread of its own: the one that trades never parses it.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import type { Worker } from 'node:worker_threads';
import { openAlpaca } from '../../src/broker/alpaca/alpaca.ts';
import {
  type Broker,
  type BrokerAccount,
  BrokerUnavailable,
  type OpenBroker,
} from '../../src/broker/broker.ts';
import { openCcxt } from '../../src/broker/ccxt/open.ts';
import { readList } from '../../src/broker/lists.ts';
import { openShioaji } from '../../src/broker/shioaji/shioaji.ts';
import type { Fetch } from '../../src/broker/wire.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import { MARKETS } from './ccxt-script.ts';
import { NO_HURRY } from './paper-desk.ts';

const credentials = { api_key: 'list-key-0001', api_secret: 'list-secret-0001' };
const account = (environment: string): BrokerAccount => ({
  id: 'lists' as AccountId,
  environment,
  paper: null,
  credentials,
});

/** Stands in each list, and nowhere else. */
const MARK = 'stands-in-the-list';

type Said = Readonly<Record<string, unknown>>;

/** What anybody who opens an account there is told, and where the list is. */
interface Desk {
  readonly open: (fetch: Fetch) => OpenBroker;
  readonly environment: string;
  readonly list: RegExp;
  readonly rows: unknown;
  readonly said: () => Said;
  /** In the list, under the platform's name. */
  readonly symbol: string;
}

const DESKS: Readonly<Record<string, Desk>> = {
  binance: {
    open: (fetch) => openCcxt('binance', { fetch }),
    environment: 'live',
    list: /exchangeInfo$/,
    rows: { symbols: [{ ...MARKETS.binance, padding: MARK }] },
    said: () => ({
      '/fapi/v1/time': { serverTime: Date.now() },
      '/fapi/v1/positionSide/dual': { dualSidePosition: false },
    }),
    symbol: 'BTCUSDT.P',
  },
  bybit: {
    open: (fetch) => openCcxt('bybit', { fetch }),
    environment: 'live',
    list: /instruments-info$/,
    rows: { retCode: 0, result: { category: 'linear', list: [{ ...MARKETS.bybit, padding: MARK }] } },
    said: () => ({
      '/v5/market/time': { retCode: 0, result: { timeNano: `${Date.now()}000000` }, time: Date.now() },
      '/v5/user/query-api': { retCode: 0, result: { readOnly: 0, uta: 1, unified: 0 } },
    }),
    symbol: 'BTCUSDT.P',
  },
  alpaca: {
    open: (fetch) => openAlpaca({ fetch }),
    environment: 'paper',
    list: /\/v2\/assets$/,
    rows: [
      {
        id: MARK,
        class: 'us_equity',
        symbol: 'AAPL',
        name: 'Apple Inc.',
        status: 'active',
        tradable: true,
        fractionable: true,
      },
    ],
    said: () => ({
      '/v2/account': {
        id: 'account',
        status: 'ACTIVE',
        currency: 'USD',
        cash: '1',
        equity: '1',
        buying_power: '1',
        account_blocked: false,
        trading_blocked: false,
      },
      '/v2/clock': {
        timestamp: '2026-11-16T15:00:00Z',
        is_open: true,
        next_open: '2026-11-17T14:30:00Z',
        next_close: '2026-11-16T21:00:00Z',
      },
    }),
    symbol: 'AAPL',
  },
};

interface Served {
  readonly status?: number;
  readonly text: string;
}

/** The broker's own answers, with the list as the test says. */
const fetchAt =
  ({ list, said }: Desk, serve: () => Promise<Served> | Served): Fetch =>
  async (address) => {
    const { pathname } = new URL(address);
    if (!list.test(pathname)) return Response.json(said()[pathname]);
    const { status = 200, text } = await serve();
    return new Response(text, { status });
  };

async function resolveAt(desk: Desk, serve: () => Promise<Served> | Served) {
  const open = desk.open(fetchAt(desk, serve));
  const broker = await open(account(desk.environment), NO_HURRY);
  return broker.resolve(desk.symbol, NO_HURRY);
}

/** What is parsed here while it runs. */
function parsedHere(t: TestContext): readonly string[] {
  const texts: string[] = [];
  const { parse } = JSON;
  t.mock.method(JSON, 'parse', (text: string, reviver?: Parameters<typeof parse>[1]) => {
    texts.push(String(text));
    return parse(text, reviver);
  });
  return texts;
}

/** Those that read lists, as they were started. */
const threads: Worker[] = [];
process.on('worker', (thread) => threads.push(thread));

describe('a list of markets', () => {
  for (const [name, desk] of Object.entries(DESKS)) {
    const good = { text: JSON.stringify(desk.rows) };

    it(`of ${name} is never parsed by the thread that trades`, async (t) => {
      assert.ok(good.text.includes(MARK));
      const texts = parsedHere(t);
      const found = await resolveAt(desk, () => good);
      assert.ok('symbol' in found, JSON.stringify(found));
      assert.ok(!texts.some((text) => text.includes(MARK)), 'it was parsed here');
      // The account's own answers are: this sees what is parsed.
      assert.ok(texts.length > 0);
    });

    for (const [what, text] of [
      ['a page', '<html>maintenance</html>'],
      ['cut off', good.text.slice(0, -2)],
      ['empty', ''],
      ['another thing', '{"rows":7}'],
      ['a list of nothing', '[]'],
    ] as const)
      it(`of ${name} that is ${what} is no list, and the next one is read`, async () => {
        await assert.rejects(
          resolveAt(desk, () => ({ text })),
          BrokerUnavailable,
        );
        assert.ok('symbol' in (await resolveAt(desk, () => good)));
      });

    it(`of ${name} that is refused keeps the broker’s own words`, async () => {
      const refusals = {
        binance: { code: -1000, msg: 'An unknown trouble.' },
        bybit: { retCode: 10016, retMsg: 'An unknown trouble.' },
        alpaca: { code: 40010001, message: 'An unknown trouble.' },
      };
      const text = JSON.stringify(refusals[name as keyof typeof refusals]);
      await assert.rejects(
        resolveAt(desk, () => ({ status: 400, text })),
        (fault: Error) => fault instanceof BrokerUnavailable && /An unknown trouble/.test(fault.message),
      );
    });
  }

  it('of Shioaji is never parsed by the thread that trades either', async (t) => {
    const contracts = [{ security_type: 'STK', exchange: 'TSE', code: '2330', name: MARK }];
    const url = 'http://127.0.0.1:1';
    const fetch: Fetch = async (address) => {
      const { pathname, searchParams } = new URL(address);
      if (!pathname.endsWith('/data/contracts')) return Response.json(SHIOAJI[pathname] ?? []);
      const isStocks = searchParams.get('security_type') === 'STK';
      const futures = [{ security_type: 'FUT', exchange: 'TAIFEX', code: 'TXFR1', name: MARK }];
      return Response.json({ contracts: isStocks ? contracts : futures });
    };
    const broker: Broker = await openShioaji({ url, fetch, clock: { now: Date.now } })(
      account('simulation'),
      NO_HURRY,
    );
    const texts = parsedHere(t);
    const [found] = await broker.instruments({ query: '2330', after: null, limit: 5 }, NO_HURRY);
    assert.equal(found?.description, MARK);
    assert.ok(!texts.some((text) => text.includes(MARK)), 'it was parsed here');
  });

  it('of more than 32 MB is not taken', async () => {
    const text = JSON.stringify({ symbols: [{ ...MARKETS.binance, padding: 'x'.repeat(40_000_000) }] });
    await assert.rejects(
      resolveAt(DESKS.binance as Desk, () => ({ text })),
      (fault: Error) => fault instanceof BrokerUnavailable && /It broke off/.test(fault.message),
    );
  });
});

describe('the thread that reads lists', () => {
  const desks = [DESKS.binance, DESKS.bybit] as readonly Desk[];
  const good = ({ rows }: Desk): Served => ({ text: JSON.stringify(rows) });
  const hasEnded = (fault: unknown) => fault instanceof BrokerUnavailable && /thread/.test(fault.message);

  it('fails in the middle: all who wait are told so, and the next are served by another', async () => {
    const asked = desks.map(() => Promise.withResolvers<void>());
    const answer = Promise.withResolvers<void>();
    const waiting = desks.map((desk, index) =>
      assert.rejects(
        resolveAt(desk, async () => {
          asked[index]?.resolve();
          await answer.promise;
          return good(desk);
        }),
        hasEnded,
      ),
    );
    await Promise.all(asked.map(({ promise }) => promise));
    const started = threads.length;
    await threads.at(-1)?.terminate();
    // They are told before the broker has answered: nobody is there to read it.
    await Promise.all(waiting);
    answer.resolve();
    for (const desk of desks) assert.ok('symbol' in (await resolveAt(desk, () => good(desk))));
    assert.equal(threads.length, started + 1);
  });

  it('fails over what it was given: who gave it is told so', async () => {
    const { buffer } = new TextEncoder().encode(`[${'{"id":"x"},'.repeat(1_000_000)}0]`);
    const reading = assert.rejects(readList('alpacaAssets', buffer), hasEnded);
    assert.equal(buffer.byteLength, 0, 'it was given away, not copied');
    await threads.at(-1)?.terminate();
    await reading;
  });

  it('holds nobody back from ending: a process that has read a list is over when its work is', async () => {
    const src = new URL('../../src/broker/lists.ts', import.meta.url);
    const program = `
      const { readList } = await import(${JSON.stringify(src.href)});
      process.stdout.write(JSON.stringify(await readList('shioajiMonths', new TextEncoder().encode('[]').buffer)));
      setTimeout(() => process.stdout.write(' and is still there'), 20_000).unref();`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    assert.equal(stdout, '[]');
  });
});

const SHIOAJI: Said = {
  '/api/v1/info': { name: 'shioaji', simulation: true },
  '/api/v1/auth/accounts': [
    { account_type: 'S', account_id: '1', signed: true },
    { account_type: 'F', account_id: '2', signed: true },
  ],
};
