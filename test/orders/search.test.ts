// GET /trading/orders?search=: one box for a symbol, an order, a client id or a broker's reference.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OrderRecord } from '../../src/domain/orders/result.ts';
import { openWorld, type Problem, type Trader, type World } from '../world.ts';

interface Page {
  readonly items: readonly OrderRecord[];
  readonly next_cursor: string | null;
}

async function search(world: World, trader: Trader, text: string, more = ''): Promise<Page> {
  const url = `/trading/orders?search=${encodeURIComponent(text)}${more}`;
  const { status, body } = await world.as<Page>(trader, 'GET', url);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

test('an order is found by its id, its client ids, its broker’s references and the beginning of its symbol', async (t) => {
  const world = await openWorld(t);
  const [trader, other] = [await world.makeTrader(), await world.makeTrader()];
  const { body: first } = await world.send(trader, { quantity: 2 });
  const { body: reversal } = await world.send(trader, { action: 'sell' });
  await world.send(trader, { symbol: 'BINANCE:BTCUSDT.P' });
  await world.send(trader, { symbol: 'ETHUSDT' });
  const { body: theirs } = await world.send(other);
  const { legs } = await world.order(trader, reversal.order_id);
  const symbols = async (text: string, more?: string) =>
    (await search(world, trader, text, more)).items.map(({ symbol }) => symbol);
  const ids = async (text: string) =>
    (await search(world, trader, text)).items.map(({ order_id }) => order_id);

  assert.deepEqual(await ids(first.order_id), [first.order_id]);
  assert.deepEqual(await ids(first.order_id.toUpperCase()), [first.order_id]);
  for (const { client_order_id, broker_ref } of legs) {
    assert.deepEqual(await ids(client_order_id), [reversal.order_id]);
    assert.deepEqual(await ids(broker_ref ?? ''), [reversal.order_id]);
  }
  assert.deepEqual(await symbols('btc'), ['BINANCE:BTCUSDT.P', 'BTCUSDT', 'BTCUSDT'], 'newest first');
  assert.deepEqual(await symbols('BTCUSDT.'), ['BINANCE:BTCUSDT.P']);
  assert.deepEqual(await symbols('binance:b'), ['BINANCE:BTCUSDT.P']);
  assert.deepEqual(await symbols('eth'), ['ETHUSDT']);
  assert.deepEqual(await symbols('btc', '&symbol=BTCUSDT&status=filled'), ['BTCUSDT', 'BTCUSDT']);
  for (const nothing of ['usdt', '%', '_', 'x', theirs.order_id, theirs.broker_refs[0] ?? '', "'or'1"])
    assert.deepEqual(await ids(nothing), [], nothing);
  const page = await search(world, trader, 'btc', '&limit=2');
  assert.deepEqual(
    [
      page.items.length,
      (await search(world, trader, 'btc', `&limit=2&cursor=${page.next_cursor}`)).items.length,
    ],
    [2, 1],
  );
});

test('an instrument is found in whichever spelling it was sent, among orders and among signals', async (t) => {
  const world = await openWorld(t);
  const [trader, other] = [await world.makeTrader(), await world.makeTrader()];
  const SPELLINGS = ['BTCUSDT', 'BINANCE:BTCUSDT.P', 'btcusdt'];
  for (const symbol of [...SPELLINGS, 'ETHUSDT', 'BTCUSD']) await world.send(trader, { symbol });
  await world.send(trader, { symbol: 'BYBIT:BTCUSDT', secret: 'wrong' });
  await world.send(other);
  const symbols = async (list: string, query: string) => {
    const url = `/trading/${list}?${query}`;
    const { status, body } = await world.as<{ items: { symbol: string }[] }>(trader, 'GET', url);
    assert.equal(status, 200, JSON.stringify(body));
    return body.items.map(({ symbol }) => symbol);
  };
  for (const spelling of [...SPELLINGS, 'OKX:BTCUSDT']) {
    const query = `instrument=${encodeURIComponent(spelling)}`;
    assert.deepEqual(await symbols('orders', query), SPELLINGS.toReversed(), spelling);
    assert.deepEqual(await symbols('signals', query), ['BYBIT:BTCUSDT', ...SPELLINGS.toReversed()], spelling);
  }
  assert.deepEqual(await symbols('signals', 'instrument=BTCUSDT&outcome=refused'), ['BYBIT:BTCUSDT']);
  assert.deepEqual(await symbols('orders', 'instrument=BTCUSDT&symbol=btcusdt'), ['btcusdt']);
  assert.deepEqual(await symbols('orders', 'symbol=BTCUSDT'), ['BTCUSDT']);
  assert.deepEqual(await symbols('orders', 'instrument=NOSUCH'), []);
  const page = async (cursor: string) => {
    const url = `/trading/signals?instrument=BTCUSDT&limit=3${cursor}`;
    return (await world.as<Page>(trader, 'GET', url)).body;
  };
  const first = await page('');
  assert.deepEqual([first.items.length, (await page(`&cursor=${first.next_cursor}`)).items.length], [3, 1]);
});

test('what is no word to search for is refused', async (t) => {
  const world = await openWorld(t);
  const trader = await world.makeTrader();
  for (const text of ['', 'two words', '%00', 'x'.repeat(129)]) {
    const { status, body } = await world.as<Problem>(
      trader,
      'GET',
      `/trading/orders?search=${text.replace(' ', '%20')}`,
    );
    assert.deepEqual([text, status, body.code], [text, 400, 'request_invalid']);
  }
});
