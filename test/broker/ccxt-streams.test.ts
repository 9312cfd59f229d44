// The exchanges' private streams: where they are in each environment, that ccxt's own listener understands our stubs of them,
// and that whatever goes wrong with one is told in words without a secret.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { WebSocketServer } from 'ws';
import { BrokerUnavailable } from '../../src/broker/broker.ts';
import { makeExchange, newClock } from '../../src/broker/ccxt/exchange.ts';
import { openCcxt } from '../../src/broker/ccxt/open.ts';
import { PROFILES } from '../../src/broker/ccxt/profiles.ts';
import { createTurns, listen } from '../../src/broker/ccxt/stream.ts';
import { Answered, parseExactly } from '../../src/broker/ccxt/wire.ts';
import { BROKERS } from '../../src/domain/brokers.ts';
import { type ExchangeName, scriptedExchange } from './ccxt-script.ts';
import { NO_HURRY } from './paper-desk.ts';
import { BTC, type Ccxt, stubDesk } from './stub-desk.ts';
import { stubHarness } from './stub-harness.ts';

const NAMES = ['binance', 'bybit', 'okx', 'gate', 'bitget'] as const satisfies readonly ExchangeName[];

interface Pro extends Ccxt {
  urls: { api: Record<string, unknown> };
  hostname?: string;
  setSandboxMode(on: boolean): void;
  enableDemoTrading(on: boolean): void;
  watchOrders(symbol?: string): Promise<readonly { readonly clientOrderId: string }[]>;
  delay: unknown;
  loadHttpProxyAgent(): Promise<unknown>;
  close(): Promise<void>;
}

async function proClass(id: string): Promise<new (settings: object) => Pro> {
  const file = new URL(`../../node_modules/ccxt/js/src/pro/${id}.js`, import.meta.url);
  return ((await import(pathToFileURL(file.pathname).href)) as { default: new (settings: object) => Pro })
    .default;
}

/** Where ccxt's own listener would go. */
function privateStreamOf(name: ExchangeName, ccxt: Pro): string {
  const found = (...path: readonly string[]): string => {
    const value = path.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], ccxt.urls.api);
    return String(value).replace('{hostname}', ccxt.hostname ?? '');
  };
  switch (name) {
    case 'binance':
      return found('ws', 'future').replace(/\/ws$/, '/private/ws');
    case 'bybit':
      return found('ws', 'private', 'contract');
    case 'okx':
      return `${found('ws')}/private`;
    case 'gate':
      return found('swap', 'usdt');
    case 'bitget':
      return found('ws', 'private');
  }
}

/** Where orders go. The hosts of ccxt 4.5; Bitget and OKX play on the same ones, and say so in a header. */
const HOSTS: Readonly<Record<ExchangeName, Readonly<Record<string, string>>>> = {
  binance: { live: 'fapi.binance.com', testnet: 'testnet.binancefuture.com', demo: 'demo-fapi.binance.com' },
  bybit: { live: 'api.bybit.com', testnet: 'api-testnet.bybit.com', demo: 'api-demo.bybit.com' },
  okx: { live: 'www.okx.com', demo: 'www.okx.com', live_eea: 'eea.okx.com', demo_eea: 'eea.okx.com' },
  gate: { live: 'api.gateio.ws', testnet: 'api-testnet.gateapi.io' },
  bitget: { live: 'api.bitget.com', demo: 'api.bitget.com' },
};
const PLAYING: Readonly<Partial<Record<ExchangeName, string>>> = {
  okx: 'x-simulated-trading',
  bitget: 'paptrading',
};

/** Where ccxt does not know better: Binance's demo tells on a host of its own, as its REST interface is on one. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'binance demo': 'wss://demo-fstream.binance.com/private/ws',
};

/** Bybit's demo is asked for it when it is opened. */
const EMPTY = { body: { retCode: 0, result: { list: [{ coin: [] }] } } };

describe('Each environment', () => {
  for (const name of NAMES)
    for (const environment of BROKERS[name].environments)
      test(`${name} ${environment}: orders and streams go to its own hosts`, async () => {
        const { exchange: id, mode, stream } = PROFILES[name].environments[environment] ?? assert.fail();
        const ccxt = new (await proClass(id))({});
        // Bitget's and Binance's demo have entries of their own, which ccxt looks up when it listens.
        if (mode === 'sandbox' && name !== 'bitget') ccxt.setSandboxMode(true);
        if (mode === 'demo') ccxt.enableDemoTrading(true);
        if (mode === 'sandbox' && name === 'bitget') ccxt.urls.api.ws = ccxt.urls.api.demo;
        assert.equal(stream, ELSEWHERE[`${name} ${environment}`] ?? privateStreamOf(name, ccxt));

        const { broker, asked } = await scriptedExchange(name, [EMPTY], { environment });
        await broker.balance(NO_HURRY).catch(() => {});
        const [{ url, headers } = assert.fail('nothing was asked')] = asked;
        assert.equal(url.hostname, HOSTS[name][environment]);
        const playing = PLAYING[name];
        if (playing) assert.equal(headers.get(playing), environment.startsWith('live') ? null : '1');
      });
});

for (const name of NAMES)
  describe(`ccxt's own listener at the stub of ${name}`, () => {
    const id = PROFILES[name].environments.live?.exchange ?? name;
    const desk = stubDesk(name, id);

    test('logs in, subscribes and hears of an order', async (t) => {
      const { keys, ccxt: rest } = await desk.open({ account_type: name === 'okx' ? 'unified' : 'classic' });
      const pro = new (await proClass(id))({
        ...{ enableRateLimit: false, ...keys, uid: '100000' },
        options: { defaultType: 'swap', defaultSubType: 'linear', uta: false },
      });
      pro.fetchImplementation = rest.fetchImplementation;
      const here = desk.url().replace('http', 'ws');
      pro.urls = JSON.parse(JSON.stringify(pro.urls).replace(/wss:\/\/[^/"]+/g, here));
      rest.options = { ...rest.options, defaultType: 'swap', defaultSubType: 'linear', uta: false };
      await Promise.all([pro.loadMarkets(), rest.loadMarkets()]);
      // It would keep a listen key alive for as long as the process lives.
      pro.delay = () => {};
      // It asks for one wherever there is no TLS.
      await pro.loadHttpProxyAgent();
      t.after(() => pro.close());
      const heard = pro.watchOrders(BTC);
      heard.catch(() => {});
      for (let listening = 0; listening === 0; )
        ({ listening } = await desk.control<{ listening: number }>('GET', 'streams/account-1'));
      await rest.createOrder(BTC, 'market', 'buy', 10, undefined, { clientOrderId: 'heard' });
      const [order] = await heard;
      assert.match(order?.clientOrderId ?? '', /^(t-)?heard$/);
    });
  });

describe('A stream that goes wrong', () => {
  for (const name of NAMES) {
    const stub = stubHarness(name, (url) => openCcxt(name, { url }));
    test(`${name} refuses a login that is not signed with the account’s secret, and no secret is told`, async () => {
      const account = await stub.account();
      const broker = await account.connect();
      const { api_key, api_secret } = account.credentials;
      await account.change({
        credentials: { ...account.credentials, api_secret: 'another', api_key: 'other' },
      });
      const fault: unknown = await broker.watch?.(() => {}, NO_HURRY).catch((reason: unknown) => reason);
      assert.ok(fault instanceof BrokerUnavailable, String(fault));
      for (const secret of [api_key, api_secret, 'listenKey', 'ws://'])
        assert.ok(!fault.message.includes(secret), fault.message);
      await broker.close();
    });

    test(`closing the connection to ${name} ends its stream at once`, async () => {
      const account = await stub.account();
      const broker = await account.connect();
      const begun = Promise.withResolvers<void>();
      const ended = broker.watch?.(() => begun.resolve(), NO_HURRY);
      await begun.promise;
      await broker.close();
      await assert.rejects(ended ?? assert.fail(), BrokerUnavailable);
      for (let listening = 1; listening > 0; )
        ({ listening } = await stub.control<{ listening: number }>('GET', `streams/${account.id}`));
    });
  }

  const credentials = { apiKey: 'key-0001', secret: 'secret-0001', passphrase: '' };

  /** Bybit's, or another's, at a server that does as the test says. */
  async function listenAt(
    url: string,
    { tell = () => {}, signal = NO_HURRY, times = {} }: Partial<Parameters<typeof listen>[0]> = {},
    name: ExchangeName = 'bybit',
  ): Promise<string> {
    const streams = { at: () => url, turn: async () => {} };
    const heard = {
      status: 200,
      headers: new Headers(),
      body: parseExactly('{"user":1}'),
      text: '',
      method: 'GET',
      url: '',
    };
    const send = () => Promise.reject(new Answered(heard));
    const making = { profile: PROFILES[name], clock: newClock(), environment: 'live' } as const;
    const exchange = await makeExchange({ ...making, kind: 'unified', send, streams });
    return listen({ exchange, credentials, tell, signal, times }).then(
      () => 'left',
      (fault: Error) => {
        assert.ok(fault instanceof BrokerUnavailable, String(fault));
        assert.doesNotMatch(fault.message, /secret-0001|key-0001/);
        return fault.message;
      },
    );
  }

  test('nobody there, a door that is shut, and no answer to the login are each its end', async (t) => {
    const server = createServer((_request, response) => response.writeHead(403).end());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    assert.match(await listenAt(`ws://127.0.0.1:${port}`), /403/);
    server.close();
    await once(server, 'close');
    assert.match(await listenAt(`ws://127.0.0.1:${port}`), /cannot be reached/);
    const mute = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    t.after(() => mute.close());
    await once(mute, 'listening');
    const at = `ws://127.0.0.1:${(mute.address() as AddressInfo).port}`;
    assert.match(await listenAt(at, { times: { agreedWithinMs: 30 } }), /not agreed to in time/);
    for (const client of mute.clients) client.terminate();
  });

  test('Gate is asked for decimals when its stream is opened', async (t) => {
    const server = createServer();
    t.after(() => server.close());
    const knocked = once(server, 'upgrade') as Promise<[IncomingMessage, Duplex]>;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const left = listenAt(`ws://127.0.0.1:${port}`, {}, 'gate');
    const [{ headers }, socket] = await knocked;
    socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
    await left;
    assert.equal(headers['x-gate-size-decimal'], '1');
  });

  test('one that has fallen silent is left, one that answers pings is not, and an old one is opened anew', async (t) => {
    let answersPings = false;
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    t.after(() => {
      for (const client of server.clients) client.terminate();
      server.close();
    });
    server.on('connection', (socket) =>
      socket.on('message', (data) => {
        const { op } = JSON.parse(String(data)) as { op: string };
        if (op !== 'ping') socket.send(JSON.stringify({ success: true, op }));
        else if (answersPings) socket.send(JSON.stringify({ op: 'pong' }));
      }),
    );
    await once(server, 'listening');
    const at = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
    assert.match(await listenAt(at, { times: { pingEveryMs: 10, silentMs: 100 } }), /silent/);
    answersPings = true;
    // Longer than a busy machine lets this one wait.
    const times = { pingEveryMs: 10, silentMs: 2_000, oldestMs: 2_500 };
    assert.match(await listenAt(at, { times }), /long enough/);
  });

  test('who leaves before his turn has come opens none', async () => {
    const turn = createTurns(60_000, 1);
    await turn(NO_HURRY);
    const leaving = new AbortController();
    const waiting = turn(leaving.signal);
    leaving.abort();
    await waiting;
  });
});

test('OKX’s word of an order names the entry that waited for a price and became it', () => {
  const row = { instId: 'BTC-USDT-SWAP', ordId: '99', clOrdId: '', state: 'filled' };
  const told = (more: object) => {
    const message = { arg: { channel: 'orders', instType: 'SWAP' }, data: [{ ...row, ...more }] };
    const said = PROFILES.okx.feed.read(message);
    assert.ok(said && 'orders' in said);
    return said.orders;
  };
  const made = { clientOrderId: null, brokerRef: '99' };
  assert.deepEqual(told({ algoClOrdId: 'fe1', algoId: '77' }), [
    made,
    { clientOrderId: 'fe1', brokerRef: '77' },
  ]);
  assert.deepEqual(told({ algoClOrdId: '', algoId: '' }), [made]);
});
