// The five exchanges on their bad days, at their stubs: each has a code, and words that tell what to do.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import {
  AccountUnfit,
  type Broker,
  BrokerUnavailable,
  CredentialsRejected,
  type Instrument,
} from '../../src/broker/broker.ts';
import { CONDITIONALS } from '../../src/broker/ccxt/conditional-words.ts';
import { connect } from '../../src/broker/ccxt/connector.ts';
import { makeExchange, newClock } from '../../src/broker/ccxt/exchange.ts';
import { createMarkets } from '../../src/broker/ccxt/markets.ts';
import { openCcxt } from '../../src/broker/ccxt/open.ts';
import { PROFILES, STOP_WORDS } from '../../src/broker/ccxt/profiles.ts';
import { type Credentials, createWire, type Send, socketAt, Unanswered } from '../../src/broker/ccxt/wire.ts';
import type { Fetch } from '../../src/broker/wire.ts';
import { BROKERS } from '../../src/domain/brokers.ts';
import { decimal } from '../../src/domain/decimal.ts';
import type { AccountId, ClientOrderId } from '../../src/domain/ids.ts';
import { stopwatch } from '../stopwatch.ts';
import type { ExchangeName } from './ccxt-script.ts';
import { NEVER, NO_HURRY } from './paper-desk.ts';
import { type PatientBroker, patient } from './patient.ts';
import { stubHarness } from './stub-harness.ts';

let orders = 0;
const orderOf = (instrument: Instrument, more: object = {}) => ({
  clientOrderId: `days${String(++orders).padStart(16, '0')}` as ClientOrderId,
  instrument,
  side: 'buy' as const,
  quantity: decimal('0.05'),
  reduceOnly: false,
  sendBefore: NEVER,
  ...more,
});

/** As by a process that looked through the markets before this one was listed. */
async function connectBefore(
  symbol: string,
  name: ExchangeName,
  url: string,
  credentials: Credentials,
): Promise<Broker> {
  const exchange = await makeExchange({
    profile: PROFILES[name],
    clock: newClock(),
    environment: 'live',
    kind: 'unified',
    send: createWire({ base: url }),
    streams: { at: socketAt(url), turn: async () => {} },
  });
  const { fresh, ...markets } = createMarkets(exchange, (fault) => fault);
  const all = async (signal: AbortSignal) => {
    const { names, byName, byId, listed } = await fresh(signal);
    const id = byName.get(symbol)?.id;
    return {
      names: names.filter((name) => name !== symbol),
      byName: new Map([...byName].filter(([name]) => name !== symbol)),
      byId: new Map([...byId].filter(([key]) => key !== id)),
      listed: new Set([...listed].filter((key) => key !== id)),
    };
  };
  // As whoever opens an account does.
  await all(NO_HURRY);
  const { capabilities } = BROKERS[name];
  const venue = { exchange, markets: { ...markets, all, fresh } };
  const words = STOP_WORDS[name](exchange.kind);
  const conditional = CONDITIONALS[name](exchange.kind);
  return connect({ venue, credentials, capabilities, words, conditional, marginMode: 'cross' });
}

/** Which kinds of accounts an exchange has. */
const KINDS = {
  binance: ['unified'],
  bybit: ['unified', 'classic'],
  okx: ['unified'],
  gate: ['unified', 'classic'],
  bitget: ['unified', 'classic'],
} as const;

/** Where the exchanges list their markets. */
const LISTS = /exchangeInfo|instruments|contracts/;
const emptied = (text: string): string =>
  JSON.stringify(JSON.parse(text), (_key, part: unknown) => (Array.isArray(part) ? [] : part));

for (const name of ['binance', 'bybit', 'okx', 'gate', 'bitget'] as const satisfies readonly ExchangeName[])
  describe(`at ${name}`, () => {
    const stub = stubHarness(name, (url) => openCcxt(name, { url }));

    async function btc(broker: PatientBroker) {
      const instrument = await broker.resolve('BTCUSDT.P');
      assert.ok(!('rejection' in instrument));
      return instrument;
    }

    test('a hedged account is told how to switch, on a flat account too', async () => {
      const account = await stub.account({ position_mode: 'hedged' });
      const broker = await account.open();
      await assert.rejects(broker.verify(), (fault: Error) => {
        assert.ok(fault instanceof AccountUnfit);
        assert.match(fault.message, /one-way mode/i);
        return true;
      });
    });

    test('a key that can withdraw, and one that is bound to no address, are warned about', async () => {
      const free = await (
        await stub.account({ permissions: ['read', 'trade', 'withdraw'], addresses: null })
      ).open();
      const { warnings } = await free.verify();
      assert.equal(
        warnings.some((words) => /withdraw/i.test(words)),
        true,
        warnings.join(),
      );
      assert.equal(
        warnings.some((words) => /not bound/i.test(words)),
        true,
        warnings.join(),
      );
      const bound = await stub.account({
        permissions: ['read', 'trade'],
        addresses: ['127.0.0.1', '::1', '::ffff:127.0.0.1'],
      });
      assert.deepEqual((await (await bound.open()).verify()).warnings, []);
    });

    test('a key that may only read is unfit, or its order is refused', async () => {
      for (const account_type of KINDS[name]) await onlyReads({ account_type });
    });

    async function onlyReads(terms: object) {
      const account = await stub.account({ permissions: ['read'], ...terms });
      const broker = await account.open();
      const verified = await broker.verify().catch((fault: unknown) => fault);
      if (verified instanceof Error) assert.ok(verified instanceof AccountUnfit, String(verified));
      if (name === 'bitget') assert.match(String(verified), /may only read/);
      await assert.rejects(broker.place(orderOf(await btc(broker))), (fault: Error) => {
        assert.ok(fault instanceof AccountUnfit || fault instanceof CredentialsRejected, String(fault));
        return true;
      });
      assert.deepEqual((await account.ledger()).orders, []);
    }

    test('a margin mode that differs from the account’s is warned about, where orders name one', async () => {
      const bound = { addresses: ['127.0.0.1', '::1', '::ffff:127.0.0.1'] };
      for (const account_type of KINDS[name]) {
        const account = await stub.account({ ...bound, account_type, margin_mode: 'isolated' });
        const broker = await account.connect();
        const symbols = ['BTCUSDT.P', 'NOPEUSDT.P'];
        const { warnings } = await broker.verify(NO_HURRY, symbols);
        const isTold = name === 'bitget' ? [/^BTCUSDT\.P is set to isolated margin at Bitget/] : [];
        assert.equal(warnings.length, isTold.length, warnings.join());
        for (const words of isTold) assert.match(warnings.join(), words);
        const instrument = await broker.resolve('BTCUSDT.P', NO_HURRY);
        assert.ok(!('rejection' in instrument));
        assert.equal((await broker.place(orderOf(instrument), NO_HURRY)).outcome, 'accepted');
        const begun = Date.now();
        while ((await broker.position(instrument, NO_HURRY)) === '0') assert.ok(Date.now() - begun < 60_000);
        const held = (await broker.verify(NO_HURRY, symbols)).warnings.join();
        if (name === 'bitget' || name === 'okx') assert.match(held, /^BTCUSDT\.P is held in isolated margin/);
        else assert.equal(held, '');
        const isolated = await account.connect({ marginMode: 'isolated' });
        assert.deepEqual((await isolated.verify(NO_HURRY, symbols)).warnings, []);
      }
    });

    test('a key that is bound to another address is told so', async () => {
      const account = await stub.account({ addresses: ['203.0.113.9'] });
      await assert.rejects(account.open(), (fault: Error) => {
        assert.ok(fault instanceof CredentialsRejected, String(fault));
        assert.match(fault.message, /allow/);
        assert.doesNotMatch(fault.message, /key-|secret-|https?:/);
        return true;
      });
    });

    test('wrong keys are refused in the exchange’s words, without the keys', async () => {
      const account = await stub.account();
      for (const wrong of [{ api_key: 'nobodys-key-00' }, { api_secret: 'nobodys-secret-00' }])
        await assert.rejects(
          account.open({ credentials: { ...account.credentials, ...wrong } }),
          (fault: Error) => {
            assert.ok(fault instanceof CredentialsRejected, String(fault));
            assert.doesNotMatch(fault.message, /nobodys|key-\w+-\d|secret-\w+-\d|https?:/);
            return true;
          },
        );
    });

    test('a symbol without .P is refused with the name of the perpetual, a wrong one with the nearest', async () => {
      const broker = await (await stub.account()).open();
      const spot = await broker.resolve('BTCUSDT');
      assert.ok('rejection' in spot);
      assert.match(spot.rejection.message, /not found in the broker contracts.*BTCUSDT\.P/);
      const wrong = await broker.resolve('BTCUDST.P');
      assert.ok('rejection' in wrong);
      assert.match(wrong.rejection.message, /Did you mean .*BTCUSDT\.P/);
      assert.deepEqual(await broker.resolve('BINANCE_DLY:btcusdt.p'), await btc(broker));
    });

    test('a quantity below the least is refused before it is sent', async () => {
      const account = await stub.account();
      const broker = await account.open();
      const instrument = await btc(broker);
      const tiny = await broker.place(orderOf(instrument, { quantity: decimal('0.0000001') }));
      assert.equal(tiny.outcome === 'rejected' && tiny.error.code, 'invalid_quantity');
      assert.deepEqual((await account.ledger()).requests, []);
    });

    test('a close finds the position in its own margin mode', async () => {
      const account = await stub.account({ margin_mode: 'isolated' });
      const broker = await account.open();
      const instrument = await btc(broker);
      const bought = orderOf(instrument);
      assert.equal((await broker.place(bought)).outcome, 'accepted');
      const begun = Date.now();
      while ((await broker.position(instrument)) === '0') assert.ok(Date.now() - begun < 60_000);
      const again = await account.open();
      const closed = await again.place(orderOf(instrument, { side: 'sell', reduceOnly: true }));
      assert.equal(closed.outcome, 'accepted', JSON.stringify(closed));
      while ((await again.position(instrument)) !== '0') assert.ok(Date.now() - begun < 60_000);
    });

    test('an order without an id, and another one’s, are not ours: unknown, and not found', async () => {
      for (const garbage of ['nameless', 'another']) {
        const account = await stub.account();
        const broker = await account.open();
        const order = orderOf(await btc(broker));
        await account.breaks('garbage', { garbage, taken: true });
        assert.equal((await broker.place(order)).outcome, 'unknown', garbage);
        await assert.rejects(broker.find(order), BrokerUnavailable, garbage);
        await account.heal();
        const found = await broker.find(order);
        assert.ok(found, 'it is there all the same');
        assert.equal((await account.ledger()).orders.length, 1);
      }
    });

    test('accounts of both kinds have a balance', async () => {
      for (const account_type of name === 'okx'
        ? (['unified'] as const)
        : (['unified', 'classic'] as const)) {
        const broker = await (await stub.account({ account_type })).open();
        assert.ok(Number((await broker.balance()).equity) > 0, account_type);
      }
    });

    test('what is held, and what rests, in a market that was listed since shows', async () => {
      const { credentials, open, set } = await stub.account({ account_type: 'unified' });
      const elsewhere = await open();
      const instrument = await btc(elsewhere);
      assert.equal((await elsewhere.place(orderOf(instrument))).outcome, 'accepted');
      const begun = Date.now();
      while ((await elsewhere.position(instrument)) === '0') assert.ok(Date.now() - begun < 60_000);
      await set({ fill: 'never' });
      const resting = orderOf(instrument);
      assert.equal((await elsewhere.place(resting)).outcome, 'accepted');

      const broker = await connectBefore('BTCUSDT.P', name, stub.url(), {
        apiKey: credentials.api_key,
        secret: credentials.api_secret,
        passphrase: credentials.passphrase,
      });
      assert.deepEqual(
        (await broker.positions(NO_HURRY)).map(({ symbol, quantity }) => [symbol, quantity]),
        [['BTCUSDT.P', '0.05']],
      );
      assert.deepEqual(
        (await broker.openOrders(NO_HURRY)).map(({ symbol, clientOrderId }) => [symbol, clientOrderId]),
        [['BTCUSDT.P', resting.clientOrderId]],
      );
    });

    test('a suspended market is closed: an entry is not sent, and of a close the exchange says so', async () => {
      const account = await stub.account();
      const broker = await account.open();
      const instrument = await broker.resolve('LUNAUSDT.P');
      assert.ok(!('rejection' in instrument));
      for (const [reduceOnly, sent] of [
        [false, 0],
        [true, 1],
      ] as const) {
        const outcome = await broker.place(orderOf(instrument, { quantity: decimal(100), reduceOnly }));
        assert.equal(outcome.outcome === 'rejected' && outcome.error.code, 'market_closed');
        assert.equal((await account.ledger()).requests.length, sent);
      }
    });

    test('a list of markets that comes empty leaves those that are known', async (t) => {
      const { id, credentials } = await stub.account();
      let isEmpty = false;
      const own = openCcxt(name, {
        url: stub.url(),
        async fetch(url, init) {
          const answer = await fetch(url, init);
          return isEmpty && LISTS.test(url) ? new Response(emptied(await answer.text())) : answer;
        },
      });
      const broker = patient(await own({ id, environment: 'live', paper: null, credentials }, NO_HURRY));
      const instrument = await btc(broker);
      isEmpty = true;
      const { now } = performance;
      // Long enough after the last look for another.
      t.mock.method(performance, 'now', () => now.call(performance) + 120_000);
      await assert.rejects(broker.resolve('NOPEUSDT.P'), BrokerUnavailable);
      const order = orderOf(instrument);
      assert.equal((await broker.place(order)).outcome, 'accepted');
      assert.ok(await broker.find(order));
    });

    test('a clock that is 40 s off is corrected for', async () => {
      const own = openCcxt(name, { url: stub.url() });
      const account = await stub.account();
      for (const ahead_ms of [40_000, -40_000]) {
        await stub.control('POST', 'clock', { ahead_ms });
        try {
          const given = {
            id: account.id,
            environment: 'live',
            paper: null,
            credentials: account.credentials,
          };
          const broker = await own(given, NO_HURRY).catch(async (fault: unknown) => {
            // One that was right before is compared anew when it is refused: the next try is good.
            assert.ok(fault instanceof BrokerUnavailable && /clock/.test(fault.message), String(fault));
            return own(given, NO_HURRY);
          });
          const instrument = await broker.resolve('BTCUSDT.P', NO_HURRY);
          assert.ok(!('rejection' in instrument));
          const soon = new Date(Date.now() + 20_000).toISOString() as ReturnType<
            typeof orderOf
          >['sendBefore'];
          const placed = await broker.place(orderOf(instrument, { sendBefore: soon }), NO_HURRY);
          assert.equal(placed.outcome, 'accepted', JSON.stringify(placed));
        } finally {
          await stub.control('POST', 'clock', { ahead_ms: 0 });
        }
      }
    });
  });

describe('keys of another environment', () => {
  for (const name of ['okx', 'bitget'] as const) {
    const stub = stubHarness(name, (url) => openCcxt(name, { url }), 'demo');
    test(`are refused at ${name}, and those of its demo are good there`, async () => {
      const account = await stub.account({ demo: true });
      assert.deepEqual((await (await account.open()).verify()).warnings.length >= 0, true);
      await assert.rejects(account.open({ environment: 'live' }), CredentialsRejected);
    });
  }
});

describe('a position that was asked for, answered with something else', () => {
  const about = (name: 'bybit' | 'okx', change: (text: string) => string) => {
    let isWrong = false;
    const stub = stubHarness(name, (url) =>
      openCcxt(name, {
        url,
        async fetch(at, init) {
          const answer = await fetch(at, init);
          const isAsked = isWrong && /positions?(?:\/list)?\?.*BTC/.test(at);
          return isAsked ? new Response(change(await answer.text())) : answer;
        },
      }),
    );
    return async () => {
      const broker = await (await stub.account()).open();
      const instrument = await broker.resolve('BTCUSDT.P');
      assert.ok(!('rejection' in instrument));
      assert.equal((await broker.place(orderOf(instrument))).outcome, 'accepted');
      const begun = Date.now();
      while ((await broker.position(instrument)) === '0') assert.ok(Date.now() - begun < 60_000);
      isWrong = true;
      await assert.rejects(broker.position(instrument), BrokerUnavailable);
    };
  };

  for (const name of ['bybit', 'okx'] as const)
    test(
      `is not flat at ${name}: another market’s`,
      about(name, (text) => text.replaceAll('BTC', 'ETH')),
    );
  // By its documents: "If symbol passed, it returns data regardless of having position or not".
  test('is not flat at bybit: nothing', about('bybit', emptied));
});

describe('a market that takes closes only', () => {
  const stub = stubHarness('bitget', (url) => openCcxt('bitget', { url }));
  // By its documents: `limit_open` restricts the opening of positions, and `limit_close`, which is another word, their closing.
  const limited: Fetch = async (url, init) => {
    const answer = await fetch(url, init);
    if (!/\/market\/(?:contracts|instruments)\?/.test(url)) return answer;
    return new Response((await answer.text()).replaceAll(/"(?:normal|online)"/g, '"limit_open"'));
  };

  for (const account_type of ['classic', 'unified'] as const)
    test(`lets nobody in, and out whoever is in it: bitget, ${account_type}`, async () => {
      const account = await stub.account({ account_type });
      const instrument = await (await account.open()).resolve('BTCUSDT.P');
      assert.ok(!('rejection' in instrument));
      const before = await account.open();
      assert.equal((await before.place(orderOf(instrument))).outcome, 'accepted');
      const begun = Date.now();
      while ((await before.position(instrument)) === '0') assert.ok(Date.now() - begun < 60_000);

      const { id, credentials } = account;
      const given = { id, environment: 'live', paper: null, credentials };
      const broker = patient(await openCcxt('bitget', { url: stub.url(), fetch: limited })(given, NO_HURRY));
      const entry = await broker.place(orderOf(instrument));
      assert.equal(entry.outcome === 'rejected' && entry.error.code, 'market_closed');
      const close = await broker.place(orderOf(instrument, { side: 'sell', reduceOnly: true }));
      assert.equal(close.outcome, 'accepted', JSON.stringify(close));
      while ((await broker.position(instrument)) !== '0') assert.ok(Date.now() - begun < 60_000);
    });
});

describe('an exchange whose answer begins and does not go on', () => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"serverTime":');
  });
  const listening = new Promise<string>((resolve) => {
    server.listen(0, '127.0.0.1', () =>
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    );
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  test('is left when the time is over', async () => {
    const open = openCcxt('binance', { url: await listening });
    const credentials = { api_key: 'some-key-0001', api_secret: 'some-secret-01' };
    const account = { id: 'stalled' as AccountId, environment: 'live', paper: null, credentials };
    const passed = stopwatch();
    await assert.rejects(open(account, AbortSignal.timeout(200)), BrokerUnavailable);
    assert.ok(passed() < 2_000);
  });
});

test('who has no time left does not wait until the clocks are compared for another', async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<never>();
  const send: Send = () => {
    asked.resolve();
    return answer.promise;
  };
  const { bybit: profile } = PROFILES;
  const clock = newClock();
  const streams = { at: (url: string) => url, turn: async () => {} };
  const exchange = await makeExchange({
    profile,
    clock,
    environment: 'live',
    kind: 'unified',
    send,
    streams,
  });
  const first = exchange.compareClocks(NO_HURRY);
  await asked.promise;
  await exchange.compareClocks(AbortSignal.abort());
  const soon = new AbortController();
  const second = exchange.knowClock(soon.signal);
  soon.abort();
  await second;
  answer.reject(new Unanswered('It broke off', false));
  await first;
});
