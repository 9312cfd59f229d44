// What a symbol was traded at, over the API: the broker's own candles, asked for once for all, and never at an order's expense.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BrokerBusy, BrokerUnavailable } from '../../src/broker/broker.ts';
import { type Candle, INTERVAL_MS, inOrder, partsOf, wholeCandles } from '../../src/domain/candles.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { createYoung } from '../../src/worker/line/young.ts';
import { scriptedWorld } from '../worker/scripted-broker.ts';
import { openWorld, type Problem, type Trader, type World } from '../world.ts';

const HOUR = INTERVAL_MS['1h'];
const NOON = Date.parse('2026-11-10T12:00:00Z');

interface Charted {
  readonly symbol: string;
  readonly interval: string;
  readonly source: string;
  readonly candles: readonly Readonly<Record<'open' | 'high' | 'low' | 'close', number> & { at: string }>[];
}

const read = (world: World, trader: Trader, query: Record<string, string>) =>
  world.as<Charted & Problem>(
    trader,
    'GET',
    `/trading/accounts/${trader.account.id}/candles?${new URLSearchParams(query)}`,
  );
const ofDay = { symbol: 'BTCUSDT', interval: '1h', from: '2026-11-10T00:10:00Z', to: '2026-11-10T12:00:00Z' };

const candle = (at: number): Candle => ({
  at,
  open: decimal('100.1'),
  high: decimal('100.3'),
  low: decimal(100),
  close: decimal('100.2'),
});

describe('Candles of an account’s broker', () => {
  test('are its own, whole ones, the oldest first; the paper broker has those of its own prices', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const { status, body } = await read(world, trader, ofDay);
    assert.equal(status, 200);
    assert.deepEqual([body.symbol, body.interval, body.source], ['BTCUSDT', '1h', 'broker']);
    assert.deepEqual(
      body.candles.map(({ at }) => Date.parse(at)),
      Array.from({ length: 12 }, (_, hour) => NOON - (12 - hour) * HOUR),
    );
    for (const [index, { open, high, low, close }] of body.candles.entries()) {
      assert.ok(low <= Math.min(open, close) && Math.max(open, close) <= high, `candle ${index}`);
      const next = body.candles[index + 1];
      if (next) assert.equal(close, next.open, 'its price has no gaps');
    }
    assert.ok(new Set(body.candles.map(({ close }) => close)).size > 6, 'the price moves');
    const spelled = await read(world, trader, { ...ofDay, symbol: 'BINANCE:BTCUSDT.P' });
    assert.deepEqual(spelled.body, body, 'as an alert may spell it');
  });

  test('end now, and begin 200 before that where nobody says since when', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const { body } = await read(world, trader, { symbol: 'BTCUSDT', interval: '5m' });
    assert.ok([200, 201].includes(body.candles.length), `${body.candles.length}`);
    const last = Date.parse(body.candles.at(-1)?.at ?? '');
    assert.ok(last <= Date.now() && last > Date.now() - 2 * INTERVAL_MS['5m']);
  });

  test('a broker without any is an answer', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    const { status, body } = await read(world, trader, ofDay);
    assert.equal(status, 200);
    assert.deepEqual(body, { symbol: 'BTCUSDT', interval: '1h', source: 'none', candles: [] });
    assert.equal(broker.count('candles'), 0);
  });

  test('what cannot be answered is 400 with what to do; a symbol that is not there is 404', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const wrong: readonly (readonly [Record<string, string>, RegExp])[] = [
      [{ interval: '1h' }, /symbol/],
      [{ symbol: 'BTCUSDT' }, /interval/],
      [{ ...ofDay, interval: '2h' }, /interval/],
      [{ ...ofDay, from: 'yesterday' }, /from/],
      [{ ...ofDay, from: ofDay.to, to: ofDay.from }, /must be before/],
      [
        { symbol: 'BTCUSDT', interval: '1h', from: '2999-01-01T00:00:00Z', to: '2999-01-02T00:00:00Z' },
        /past/,
      ],
      [{ ...ofDay, from: '2026-01-01T00:00:00Z' }, /more than 500 candles of 1h.*longer candles/],
      [{ ...ofDay, limit: '5' }, /limit/],
    ];
    for (const [query, words] of wrong) {
      const { status, body } = await read(world, trader, query);
      assert.deepEqual([status, body.code], [400, 'request_invalid'], JSON.stringify(query));
      assert.match(body.detail, words);
    }
    const none = await read(world, trader, { ...ofDay, symbol: 'BTCUSTD' });
    assert.deepEqual([none.status, none.body.code], [404, 'not_found']);
    const most = await read(world, trader, { ...ofDay, interval: '1m', from: '2026-11-10T03:40:00Z' });
    assert.deepEqual([most.status, most.body.candles.length], [200, 500]);
  });

  test('are asked for once for all users of a broker', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    broker.listing = 'the same for all';
    broker.hasCandles = true;
    broker.script('candles', async () => [candle(NOON - HOUR)]);
    const other = await world.makeTrader();
    const [one, another] = [await read(world, trader, ofDay), await read(world, other, ofDay)];
    assert.deepEqual(one.body.candles, [
      { at: '2026-11-10T11:00:00.000Z', open: 100.1, high: 100.3, low: 100, close: 100.2 },
    ]);
    assert.deepEqual(another.body, one.body);
    assert.equal(broker.count('candles'), 1);
    await read(world, other, { ...ofDay, interval: '4h' });
    assert.equal(broker.count('candles'), 2);
  });

  test('that hang, or are refused, delay no order and cost it no connection', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    broker.hasCandles = true;
    const held = broker.hold('candles');
    const reading = read(world, trader, ofDay);
    await held.reached;
    const order = { trading_account_id: trader.account.id, action: 'buy', symbol: 'BTCUSDT', quantity: 1 };
    const placed = await world.as<{ status: string }>(trader, 'POST', '/trading/order', order);
    assert.deepEqual([placed.status, placed.body.status], [200, 'filled'], 'while the candles hang');
    const plan = await world.as(trader, 'POST', '/trading/order/plan', order);
    assert.equal(plan.status, 200, 'and what is foreseen, or compared by a sync, is told');
    held.release();
    assert.equal((await reading).status, 200);
    broker.script('candles', () => Promise.reject(new BrokerUnavailable('no subscription')), 1);
    const refused = await read(world, trader, { ...ofDay, interval: '15m' });
    assert.deepEqual([refused.status, refused.body.code], [503, 'broker_unavailable']);
    assert.match(refused.body.detail, /no subscription/);
    assert.equal((await world.as<{ status: string }>(trader, 'POST', '/trading/order', order)).status, 200);
    assert.equal(broker.count('open'), 1);
  });

  for (const [scope, ordered, asked] of [
    ['question', 'filled', 1],
    ['address', 'rejected', 1],
    ['account', 'filled', 2],
  ] as const)
    test(`whose ${scope} is refused for the rate leave others’ orders ${ordered}`, async (t) => {
      const { broker, world, trader } = await scriptedWorld(t);
      broker.hasCandles = true;
      const other = await world.makeTrader();
      broker.script('candles', () => Promise.reject(new BrokerBusy('too many candles', 60_000, scope)), 1);
      assert.equal((await read(world, trader, ofDay)).status, 503);
      assert.equal((await world.send(other, { action: 'long_entry' })).body.status, ordered);
      const own = await world.send(trader, { action: 'long_entry' });
      assert.equal(own.body.status, scope === 'question' ? 'filled' : 'rejected');
      await read(world, other, ofDay);
      assert.equal(broker.count('candles'), asked, 'nobody who is meant asks for candles again');
    });
});

describe('A span of candles', () => {
  test('is widened to whole ones, and parted for a broker that gives fewer at once', () => {
    const span = wholeCandles({ interval: '1h', from: NOON + 1, to: NOON + 2 * HOUR + 1 });
    assert.deepEqual(span, { interval: '1h', from: NOON, to: NOON + 3 * HOUR });
    assert.deepEqual(
      partsOf(span, 2).map(({ from, to }) => [(from - NOON) / HOUR, (to - NOON) / HOUR]),
      [
        [0, 2],
        [2, 3],
      ],
    );
    const listed = [2, 1, 3, 0, 1, -1].map((hour) => candle(NOON + hour * HOUR));
    assert.deepEqual(
      inOrder(listed, span).map(({ at }) => (at - NOON) / HOUR),
      [0, 1, 2],
    );
  });
});

test('what is kept of charts is bounded: those that were asked for first go', async () => {
  const young = createYoung(() => 0, { youngMs: 1000, most: 2 });
  let asked = 0;
  const ask = async () => ++asked;
  for (const key of ['a', 'b', 'c', 'd']) await young.get(key, ask);
  await young.get('d', ask);
  assert.equal(asked, 4, 'the last is known');
  await young.get('a', ask);
  assert.equal(asked, 5);
});
