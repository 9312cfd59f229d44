// Contract sizes, steps and the ends of contracts: what an order is scaled by is never older than some minutes.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BrokerOrder } from '../../src/broker/broker.ts';
import { BrokerUnavailable } from '../../src/broker/broker.ts';
import type { Market } from '../../src/broker/ccxt/listing.ts';
import { createMarkets } from '../../src/broker/ccxt/markets.ts';
import { openCcxt } from '../../src/broker/ccxt/open.ts';
import { createShared } from '../../src/broker/shared.ts';
import { decimal } from '../../src/domain/decimal.ts';
import type { AccountId, ClientOrderId } from '../../src/domain/ids.ts';
import { MARKETS, scriptedExchange, UNIFIED_MARKET } from './ccxt-script.ts';
import { NEVER, NO_HURRY } from './paper-desk.ts';

const ID = 'fe0000000000000000000001' as ClientOrderId;

const marketOf = (contractSize: string): Market => ({
  ...{ id: 'BTC-USDT-SWAP', symbol: 'BTC/USDT:USDT', contractSize: decimal(contractSize) },
  instrument: {
    ...{ symbol: 'BTCUSDT.P', description: '', contractSize: decimal(1), open: true, nextOpen: null },
    ...{ quantityStep: decimal('0.01'), minQuantity: decimal('0.01'), tickSize: decimal('0.1') },
  },
});

/** An exchange that lists its one contract with the size that it has by then. */
function exchange() {
  let size = '0.01';
  let listed = 0;
  let isDown = false;
  let told = Promise.withResolvers<void>();
  return {
    change(to: string) {
      size = to;
      told = Promise.withResolvers<void>();
    },
    fail: () => {
      isDown = true;
    },
    listed: () => listed,
    /** Ends when it was listed again since the change. */
    seen: () => told.promise,
    async listMarkets() {
      if (isDown) throw new BrokerUnavailable('down');
      listed++;
      // Whoever waits for it goes on when it is known.
      setImmediate(told.resolve);
      return { markets: [marketOf(size)], ids: ['BTC-USDT-SWAP'] };
    },
  };
}

describe('what is known of contracts', () => {
  test('is read anew while somebody is connected, and no longer', async () => {
    const there = exchange();
    const markets = createMarkets(there, (fault) => fault, 20);
    const sizeNow = async () => (await markets.all(NO_HURRY)).byId.get('BTC-USDT-SWAP')?.contractSize;
    const leave = markets.keepYoung();
    const leaveToo = markets.keepYoung();
    assert.equal(await sizeNow(), '0.01');
    there.change('0.1');
    await there.seen();
    assert.equal(await sizeNow(), '0.1', 'nobody asked for it anew');
    leave();
    leave();
    there.change('1');
    await there.seen();
    assert.equal(await sizeNow(), '1', 'the other one is still connected');
    leaveToo();
    const asked = there.listed();
    await new Promise((resolve) => setTimeout(resolve, 60));
    assert.ok(there.listed() <= asked + 1, 'nobody is connected');
  });

  test('is that of the last minutes for whoever connects, and that of before where the exchange lists nothing', async () => {
    const there = exchange();
    const markets = createMarkets(there, (fault) => fault, 0);
    const sizeFor = async () => (await markets.young(NO_HURRY)).byId.get('BTC-USDT-SWAP')?.contractSize;
    assert.equal(await sizeFor(), '0.01');
    there.change('0.1');
    await new Promise((resolve) => setTimeout(resolve, 2));
    assert.equal(await sizeFor(), '0.1');
    there.fail();
    await new Promise((resolve) => setTimeout(resolve, 2));
    assert.equal(await sizeFor(), '0.1');
  });

  test('is given meanwhile by what accounts share, and read anew behind it', async () => {
    let now = 0;
    const shared = createShared<string>(() => now);
    const get = (load: () => Promise<string>) =>
      shared.get('a', load, { signal: NO_HURRY, maxAgeMs: 1_000, renewMs: 100 });
    assert.equal(await get(async () => 'old'), 'old');
    now = 100;
    assert.equal(await get(() => assert.fail('it is young')), 'old');
    now = 101;
    assert.equal(await get(async () => 'new'), 'old');
    await new Promise(setImmediate);
    assert.equal(await get(() => assert.fail('it is young again')), 'new');
  });
});

test('an order that is refused for its contract has the contracts read anew, and the next one is scaled by them', async (t) => {
  let size = '0.01';
  const sizes: string[] = [];
  const said = (data: unknown) => Response.json({ code: '0', data });
  const open = openCcxt('okx', {
    async fetch(address, init) {
      switch (new URL(address).pathname) {
        case '/api/v5/public/time':
          return said([{ ts: `${Date.now()}` }]);
        case '/api/v5/account/config':
          return said([{ uid: '1', acctLv: '2', posMode: 'net_mode' }]);
        case '/api/v5/public/instruments':
          return said([{ ...MARKETS.okx, ctVal: size, lotSz: '1', minSz: '1' }]);
        case '/api/v5/account/positions':
          return said([]);
        default: {
          const body = await new Response(init.body as ReadableStream).text();
          const [{ sz }] = JSON.parse(body) as [{ sz: string }];
          sizes.push(sz);
          const sCode = sizes.length === 1 ? '51121' : '0';
          return said([{ clOrdId: ID, ordId: '7', sCode, sMsg: 'Order quantity must be a multiple' }]);
        }
      }
    },
  });
  const credentials = { api_key: 'script-key-0001', api_secret: 'script-secret-01', passphrase: 'phrase' };
  const account = { id: 'sizes' as AccountId, environment: 'live', paper: null, credentials };
  const broker = await open(account, NO_HURRY);
  t.after(() => broker.close());
  const instrument = async () => {
    const found = await broker.resolve('BTCUSDT.P', NO_HURRY);
    assert.ok(!('rejection' in found));
    return found;
  };
  const place = async () => {
    const order: BrokerOrder = {
      ...{ clientOrderId: ID, instrument: await instrument(), side: 'buy', quantity: decimal('0.1') },
      ...{ reduceOnly: false, sendBefore: NEVER },
    };
    return (await broker.place(order, NO_HURRY)).outcome;
  };
  // What was read a moment ago is not read again.
  const { now } = performance;
  t.mock.method(performance, 'now', () => now.call(performance) + 61_000);
  size = '0.1';
  assert.equal(await place(), 'rejected');
  for (const start = Date.now(); (await instrument()).quantityStep !== '0.1'; await new Promise(setImmediate))
    assert.ok(Date.now() - start < 60_000, 'the contracts were not read anew');
  assert.equal(await place(), 'accepted');
  assert.deepEqual(sizes, ['10', '1']);
});

describe('steps and ticks at Bitget are multiples, and not only digits', () => {
  for (const [kind, isUnified, market] of [
    ['classic', false, { ...MARKETS.bitget, priceEndStep: '5', sizeMultiplier: '0.0005' }],
    ['unified', true, { ...UNIFIED_MARKET, priceMultiplier: '0.5', quantityMultiplier: '0.0005' }],
  ] as const)
    test(`of a ${kind} account`, async () => {
      const { broker } = await scriptedExchange('bitget', [], { isUnified, markets: [market] });
      const found = await broker.resolve('BTCUSDT.P', NO_HURRY);
      assert.ok(!('rejection' in found));
      assert.deepEqual([found.tickSize, found.quantityStep], ['0.5', '0.0005']);
    });
});
