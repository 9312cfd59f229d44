// Simulation: the same queue and worker, on a simulated book of the account.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  BrokerBusy,
  BrokerUnavailable,
  CredentialsRejected,
  type Instrument,
} from '../../src/broker/broker.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { scriptedBroker, scriptedWorld } from '../worker/scripted-broker.ts';
import { openWorld, type Problem, settableClock, type Trader, type World } from '../world.ts';

const simulated = { query: '?simulation=true' };
const simulatedBook = (trader: Trader) => `sim:${trader.account.id}`;

const instrument = (description: string): Instrument => ({
  symbol: 'PEPE-PERP',
  description,
  contractSize: decimal(1000),
  quantityStep: decimal('0.5'),
  minQuantity: decimal('0.5'),
  tickSize: decimal('0.1'),
  open: true,
  nextOpen: null,
});

describe('A simulated order', () => {
  test('trades on a book of its own, flat at first, apart from the real one', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await world.send(trader, { action: 'long_entry', quantity: 3 });

    const { status, body } = await world.send(trader, { action: 'short_entry' }, simulated);

    assert.equal(status, 200);
    assert.equal(body.status, 'filled');
    assert.equal(body.simulation, true);
    assert.equal(body.position_before, 0);
    assert.equal(body.auto_exit, false);
    assert.equal(await world.position(simulatedBook(trader), 'BTCUSDT'), '-1');
    assert.equal(await world.position(trader.account.id, 'BTCUSDT'), '3');
    const { body: real } = await world.send(trader, { action: 'close_long' });
    assert.equal(real.position_before, 3);
    assert.equal(await world.position(simulatedBook(trader), 'BTCUSDT'), '-1');
  });

  test('reverses, exits and is kept in order_history as in earnest', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await world.send(trader, { action: 'short_entry', quantity: 2 }, simulated);
    const { body } = await world.send(trader, { action: 'long_entry' }, simulated);
    assert.equal(body.auto_exit, true);
    assert.equal(body.exit_quantity, 2);
    assert.equal(body.exit_order_result?.status, 'filled');
    const record = await world.order(trader, body.order_id);
    assert.equal(record.simulation, true);
    assert.equal(record.status, 'filled');
    assert.equal(record.legs.length, 2);
    await world.send(trader, { action: 'long_exit', quantity: 9 }, simulated);
    assert.equal(await world.position(simulatedBook(trader), 'BTCUSDT'), '0');
    const { body: nothing } = await world.send(trader, { action: 'long_exit' }, simulated);
    assert.equal(nothing.error?.code, 'no_position');
    assert.deepEqual(await world.paperOrders(trader.account.id), []);
  });

  test('takes whatever the account’s broker has, by its terms and at its prices, and sends it nothing', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    broker.script('resolve', async (_goodAnswer, symbol) => instrument(symbol));
    broker.script('quote', async () => ({ bid: decimal('0.5'), ask: decimal('0.6') }));
    const symbol = 'BINANCE:1000PEPEUSDT.P';
    const { body: bought } = await world.send(
      trader,
      { action: 'long_entry', quantity: 1.5, symbol },
      simulated,
    );
    assert.deepEqual([bought.status, bought.fill_price], ['filled', 0.6]);
    const { body: turned } = await world.send(
      trader,
      { action: 'short_entry', quantity: 0.5, symbol },
      simulated,
    );
    assert.deepEqual([turned.status, turned.exit_quantity, turned.fill_price], ['filled', 1.5, 0.5]);
    const { body: beside } = await world.send(trader, { action: 'sell', quantity: 0.7, symbol }, simulated);
    assert.equal(beside.error?.code, 'invalid_quantity');
    assert.equal(await world.position(simulatedBook(trader), 'PEPE-PERP'), '-0.5');
    assert.deepEqual(
      [...new Set(broker.calls.map(({ call }) => call))].toSorted(),
      ['open', 'quote', 'resolve'],
      'it is looked at, and nothing more',
    );
  });

  test('of a symbol that only other brokers have is rejected', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    const rejection = { code: 'invalid_symbol', message: 'No such thing here.' } as const;
    broker.script('resolve', async () => ({ rejection }));
    const { body } = await world.send(trader, {}, simulated);
    const { advice, ...error } = body.error ?? assert.fail('no error');
    assert.deepEqual([body.status, error], ['rejected', rejection]);
    assert.match(advice, /a symbol that this broker has/);
  });

  test('fails where the broker cannot be asked, as in earnest', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    broker.script('quote', () => Promise.reject(new BrokerUnavailable('down')));
    const { body } = await world.send(trader, {}, simulated);
    assert.deepEqual([body.status, body.error?.code], ['failed', 'broker_unavailable']);
    assert.equal(await world.position(simulatedBook(trader), 'BTCUSDT'), '0');
  });

  test('does not wait for long where the broker tells no price, and costs real orders neither time nor the connection', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    await world.send(trader, { action: 'long_entry' });
    broker.script('quote', () => new Promise(() => {}));
    const begun = performance.now();
    const rehearsed = Array.from({ length: 3 }, () => world.send(trader, {}, simulated));
    await world.eventually(
      async () => broker.count('quote'),
      (asked) => asked > 0,
    );
    const exit = world.send(trader, { action: 'close_long' });
    const isOut = world.eventually(
      async () => broker.position(trader.account.id),
      (held) => held === '0',
    );
    await isOut;
    const ms = performance.now() - begun;
    assert.ok(ms < 6_000, `out after ${ms} ms`);
    assert.equal((await exit).body.status, 'filled');
    for (const { body } of await Promise.all(rehearsed))
      assert.deepEqual([body.status, body.error?.code], ['failed', 'broker_unavailable']);
    assert.deepEqual([broker.count('quote'), broker.count('open')], [1, 1]);
  });

  test('at another broker goes on where one limits the rate', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    const elsewhere = await world.makeTrader({}, { environment: 'elsewhere' });
    broker.script('quote', () => Promise.reject(new BrokerBusy('too many', 60_000, 'address')), 1);
    const { body } = await world.send(trader, {}, simulated);
    assert.deepEqual([body.status, body.error?.code], ['rejected', 'broker_rate_limited']);
    assert.equal((await world.send(trader, {}, simulated)).body.status, 'rejected');
    assert.equal((await world.send(elsewhere, {}, simulated)).body.status, 'filled');
  });

  test('trades on the list of the paper exchange where the broker refuses the credentials', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    broker.script('open', () => Promise.reject(new CredentialsRejected('wrong key')));
    const { body } = await world.send(trader, {}, simulated);
    assert.equal(body.status, 'filled');
    assert.ok((body.fill_price ?? 0) > 10_000);
  });

  // biome-ignore format: a table, one row a line
  const without: [string, Parameters<Awaited<ReturnType<typeof openWorld>>['makeTrader']>, number, string][] = [
    ['verified credentials', [{}, { credentialsVerified: false }], 400, 'credentials_not_verified'],
    ['accepted terms', [{ termsVersion: null }], 403, 'terms_not_accepted'],
    ['a plan with real trading', [{ plan: 'free' }], 403, 'plan_simulation_only'],
  ];
  for (const [what, trader, status, code] of without)
    test(`needs no ${what}, unlike a real one`, async (t) => {
      const world = await openWorld(t);
      const newcomer = await world.makeTrader(...trader);
      const { body } = await world.send(newcomer, {}, simulated);
      assert.equal(body.status, 'filled');
      const refused = await world.send<Problem>(newcomer);
      assert.equal(refused.status, status);
      assert.equal(refused.body.code, code);
    });

  test('needs no timestamp and no secret', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const signal = { action: 'buy', symbol: 'BTCUSDT', quantity: 1 };
    for (const position of ['1', '2']) {
      const { status } = await world.webhook(trader, signal, simulated);
      assert.equal(status, 200);
      assert.equal(await world.position(simulatedBook(trader), 'BTCUSDT'), position);
    }
  });

  for (const paper of [
    { fill: 'never' },
    { fill: 'cancel' },
    { reject: 'insufficient_margin' },
    { lose_answer: true },
    { starting_cash: 0 },
    { latency_ms: 60_000 },
  ])
    test(`fills at once, whatever the paper settings: ${JSON.stringify(paper)}`, async (t) => {
      const world = await openWorld(t);
      const trader = await world.makeTrader({}, { paper });
      const { status, body } = await world.send(trader, { action: 'long_entry', quantity: 5 }, simulated);
      assert.equal(status, 200);
      assert.equal(body.status, 'filled');
      assert.equal(body.fill_quantity, 5);
      assert.ok((body.fill_price ?? 0) > 0);
    });

  test('fills at once where the market is closed: a stock on a Sunday', async (t) => {
    const world = await openWorld(t, { clock: settableClock(Date.parse('2026-07-19T15:00:00Z')) });
    const trader = await world.makeTrader();
    const { body } = await world.send(trader, { symbol: 'AAPL' }, simulated);
    assert.equal(body.status, 'filled');
    const { body: real } = await world.send(trader, { symbol: 'AAPL' });
    assert.equal(real.error?.code, 'market_closed');
  });

  test('of a symbol that the broker does not have is rejected as in earnest', async (t) => {
    const world = await openWorld(t);
    const { body } = await world.send(await world.makeTrader(), { symbol: 'NOPE' }, simulated);
    assert.equal(body.status, 'rejected');
    assert.equal(body.error?.code, 'invalid_symbol');
  });

  test('by the dashboard trades on the same simulated book', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await world.send(trader, {}, simulated);
    const order = { trading_account_id: trader.account.id, action: 'buy', symbol: 'BTCUSDT', quantity: 2 };
    const { status } = await world.as(trader, 'POST', '/trading/order', { ...order, simulation: true });
    assert.equal(status, 200);
    assert.equal(await world.position(simulatedBook(trader), 'BTCUSDT'), '3');
    assert.equal(await world.position(trader.account.id, 'BTCUSDT'), '0');
  });
});

interface Positions {
  readonly items: readonly { readonly symbol: string; readonly quantity: number }[];
}

const positions = (world: World, trader: Trader, path = '') =>
  world.as<Positions>(trader, 'GET', `/trading/accounts/${trader.account.id}${path}/positions`);
const held = async (...asked: Parameters<typeof positions>) =>
  (await positions(...asked)).body.items.map(({ symbol, quantity }) => [symbol, quantity]);
const reset = <Body = null>(world: World, trader: Trader) =>
  world.as<Body>(trader, 'POST', `/trading/accounts/${trader.account.id}/simulation/reset`);

describe('The simulated book', () => {
  test('is shown by a call of its own, and the positions of the broker never pass for it', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await world.send(trader, { quantity: 3 });
    assert.deepEqual(await held(world, trader, '/simulation'), []);
    await world.send(trader, { action: 'sell', symbol: 'ETHUSDT', quantity: 2 }, simulated);
    assert.deepEqual(await held(world, trader, '/simulation'), [['ETHUSDT', -2]]);
    assert.deepEqual(await held(world, trader), [['BTCUSDT', 3]]);
    const url = `/trading/accounts/${trader.account.id}/positions?simulation=true`;
    assert.equal((await world.as(trader, 'GET', url)).status, 400);
  });

  test('is flat again after a reset, and only that one; the next simulated order begins from nothing', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const other = await world.addAccount(trader);
    for (const each of [trader, other]) await world.send(each, { quantity: 2 }, simulated);
    await world.send(trader, { quantity: 5 });
    assert.equal((await reset(world, trader)).status, 204);
    assert.deepEqual(await held(world, trader, '/simulation'), []);
    assert.deepEqual(await held(world, other, '/simulation'), [['BTCUSDT', 2]]);
    assert.deepEqual(await held(world, trader), [['BTCUSDT', 5]]);
    const { body } = await world.send(trader, { action: 'short_entry' }, simulated);
    assert.deepEqual([body.position_before, body.auto_exit, body.status], [0, false, 'filled']);
    const entry = (await world.audits(trader)).find(({ action }) => action === 'simulation_reset');
    assert.deepEqual([entry?.success, entry?.resource_id], [1, trader.account.id]);
  });

  test('can be reset while it is flat, and before it was ever used', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    for (const _ of [1, 2]) assert.equal((await reset(world, trader)).status, 204);
    assert.equal((await world.send(trader, {}, simulated)).body.status, 'filled');
  });

  test('is not reset under a simulated order of the account that is under way', async (t) => {
    const broker = scriptedBroker(t);
    const store = openMemoryStore({ clock: { now: () => performance.timeOrigin + performance.now() } });
    const asked = Promise.withResolvers<void>();
    const push: typeof store.push = async (queue, message, ...life) => {
      await store.push(queue, message, ...life);
      if (message.includes('resetSimulation')) asked.resolve();
    };
    const world = await openWorld(t, { brokers: broker.brokers, store: { ...store, push } });
    const trader = await world.makeTrader();
    await world.send(trader, { quantity: 2 }, simulated);
    // The worker is busy with another order until the reset and a simulated order wait for it, in this order.
    const busy = broker.hold('place');
    const real = world.send(trader);
    await busy.reached;
    const refused = reset<Problem>(world, trader);
    await asked.promise;
    const order = world.send(trader, {}, simulated);
    await world.eventually(
      () => world.orders(trader),
      (orders) => orders.length === 3,
    );
    busy.release();
    const { status, body } = await refused;
    assert.deepEqual([status, body.code], [409, 'orders_under_way']);
    assert.equal((await order).body.position_before, 2);
    assert.equal((await real).body.status, 'filled');
    const entry = (await world.audits(trader)).find(({ action }) => action === 'simulation_reset');
    assert.equal(entry?.success, 0);
    assert.equal((await reset(world, trader)).status, 204);
    assert.deepEqual(await held(world, trader, '/simulation'), []);
  });

  test('of another user is not there', async (t) => {
    const world = await openWorld(t);
    const { account } = await world.makeTrader();
    const stranger = { ...(await world.makeTrader()), account };
    assert.equal((await positions(world, stranger, '/simulation')).status, 404);
    assert.equal((await reset(world, stranger)).status, 404);
  });
});

describe('The list of orders', () => {
  test('shows the simulated or the real ones alone, where it is asked to', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await world.send(trader);
    await world.send(trader, {}, simulated);
    const listed = async (query: string) =>
      (
        await world.as<{ items: { simulation: boolean }[] }>(trader, 'GET', `/trading/orders${query}`)
      ).body.items.map(({ simulation }) => simulation);
    assert.deepEqual(await listed(''), [true, false]);
    assert.deepEqual(await listed('?simulation=true'), [true]);
    assert.deepEqual(await listed('?simulation=false'), [false]);
    for (const value of ['', '1', 'yes', 'TRUE', 'maybe'])
      assert.equal((await world.as(trader, 'GET', `/trading/orders?simulation=${value}`)).status, 400, value);
  });
});
