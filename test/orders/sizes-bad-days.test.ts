// Sizes on bad days: what they are computed by is not there, makes no sense, or changes between computing and sending.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BrokerBusy, BrokerUnavailable, type Instrument } from '../../src/broker/broker.ts';
import { decimal } from '../../src/domain/decimal.ts';
import type { OrderRecord } from '../../src/domain/orders/result.ts';
import { QUANTITY_TYPES } from '../../src/domain/orders/sizing.ts';
import { type ScriptedBroker, scriptedBroker, scriptedWorld } from '../worker/scripted-broker.ts';
import { openWorld, type World } from '../world.ts';
import { die } from './recovery-desk.ts';

const away = () => Promise.reject(new BrokerUnavailable('the line is cut'));
const costs = (broker: ScriptedBroker, price: number) =>
  broker.script('quote', async () => ({ bid: decimal(price), ask: decimal(price) }));

const sizingOf = async (world: World, trader: Parameters<World['order']>[0], id: string) =>
  (await world.order(trader, id)).sizing;

describe('what cannot be read', () => {
  for (const [what, call, quantity_type, says] of [
    ['the price', 'quote', 'cash', /nobody could tell the price of BTCUSDT/],
    ['the price', 'quote', 'percent_of_equity', /nobody could tell the price of BTCUSDT/],
    ['the equity', 'balance', 'percent_of_equity', /the broker did not tell the equity/],
  ] as const)
    test(`is named, and nothing is sent: ${what} of ${quantity_type}`, async (t) => {
      const { broker, world, trader } = await scriptedWorld(t);
      broker.script(call, away);
      const { body } = await world.send(trader, { quantity: 50, quantity_type });
      assert.deepEqual([body.status, body.error?.code], ['rejected', 'sizing_failed'], JSON.stringify(body));
      assert.match(body.error?.message ?? '', says);
      assert.deepEqual(broker.trades(), []);
    });

  test('an empty book has no price', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    costs(broker, 0);
    const { body } = await world.send(trader, { quantity: 50, quantity_type: 'cash' });
    assert.deepEqual([body.status, body.error?.code], ['rejected', 'sizing_failed']);
  });

  test('is waited for by an exit, which is not given up for it', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    broker.give(trader.account.id, 9);
    broker.script('quote', away, 3);
    const { body } = await world.send(trader, { action: 'long_exit', quantity: 450, quantity_type: 'cash' });
    assert.equal(body.status, 'filled', JSON.stringify(body));
    assert.deepEqual(broker.trades(), ['sell 4']);
  });

  test('where the broker only asks to wait, an entry waits', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    broker.script('balance', () => Promise.reject(new BrokerBusy('slowly', 100)), 1);
    const { body } = await world.send(trader, { quantity: 30, quantity_type: 'percent_of_equity' });
    assert.deepEqual([body.status, broker.trades()], ['filled', ['buy 3']], JSON.stringify(body));
  });

  test('is asked for only where it counts: a part of the position needs neither price nor equity', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    broker.give(trader.account.id, 9);
    broker.script('quote', away);
    broker.script('balance', away);
    const exit = { action: 'long_exit', quantity: 50, quantity_type: 'percent_of_position' };
    assert.equal((await world.send(trader, exit)).body.status, 'filled');
    assert.deepEqual(broker.trades(), ['sell 4']);
    assert.equal((await world.send(trader, { quantity: 1 })).body.status, 'filled');
    assert.equal(broker.count('quote') + broker.count('balance'), 0);
  });
});

describe('a crash between computing and sending', () => {
  const says = { quantity: 350, quantity_type: 'cash' };

  test('the saved size is sent by the next process, whatever the price is by then', async (t) => {
    const death = await die(t, ({ broker }) => broker.hold('place', 'before'), { says });
    const { broker, trader, left } = death;
    costs(broker, 10);
    const { second, order } = await death.nextProcess();
    assert.deepEqual([order.status, order.fill_quantity], ['filled', 3]);
    assert.deepEqual(broker.trades(), ['buy 3']);
    const sizing = await sizingOf(second, trader, left.order_id);
    assert.deepEqual([sizing?.price, sizing?.units], [100, 3]);
    await death.wakeUp();
    assert.deepEqual(broker.trades(), ['buy 3']);
  });

  test('one that arrived is found, and nothing is computed', async (t) => {
    const death = await die(t, ({ broker }) => broker.hold('place', 'after'), { says });
    const { broker } = death;
    broker.script('quote', away);
    const { order } = await death.nextProcess();
    assert.deepEqual([order.status, order.fill_quantity, broker.trades()], ['filled', 3, ['buy 3']]);
  });

  test('a part of the position is of what was held then', async (t) => {
    const half = { action: 'long_exit', quantity: 50, quantity_type: 'percent_of_position' };
    const death = await die(t, ({ broker }) => broker.hold('place', 'before'), { says: half, position: 8 });
    const { broker, trader } = death;
    broker.give(trader.account.id, 20);
    const { order } = await death.nextProcess();
    assert.deepEqual([order.status, broker.trades()], ['filled', ['sell 4']]);
  });

  test('before that nothing is saved, and the next process computes it', async (t) => {
    const death = await die(t, ({ broker }) => broker.hold('position', 'before'), { says });
    const { broker } = death;
    costs(broker, 50);
    const { order } = await death.nextProcess();
    assert.deepEqual([order.status, broker.trades()], ['filled', ['buy 7']]);
  });
});

describe('steps', () => {
  async function tradedIn(t: Parameters<typeof scriptedWorld>[0], instrument: Partial<Instrument>) {
    const desk = await scriptedWorld(t);
    desk.broker.script('resolve', async (good) => ({ ...((await good()) as Instrument), ...instrument }));
    return desk;
  }

  test('that are no power of ten: 0.25 of a thing that is worth 50 each', async (t) => {
    const { broker, world, trader } = await tradedIn(t, {
      quantityStep: decimal('0.25'),
      minQuantity: decimal('0.5'),
      contractSize: decimal(50),
    });
    await world.send(trader, { quantity: 6_000, quantity_type: 'cash' });
    await world.send(trader, { quantity: 6_300, quantity_type: 'cash' });
    assert.deepEqual(broker.trades(), ['buy 1', 'buy 1.25']);
    const { body } = await world.send(trader, { quantity: 2_000, quantity_type: 'cash' });
    assert.match(body.error?.message ?? '', /is 0\.4 BTC at 100; the least is 0\.5\.$/);
  });

  test('larger than one, quoted in another currency', async (t) => {
    const { broker, world, trader } = await tradedIn(t, {
      quantityStep: decimal(25),
      minQuantity: decimal(25),
      currencyRate: decimal('0.03'),
    });
    await world.send(trader, { quantity: 299, quantity_type: 'cash' });
    assert.deepEqual(broker.trades(), ['buy 75']);
  });
});

test('where stops are kept for whole shares only, an entry with a stop is rounded to whole ones, and one without is not', async (t) => {
  const broker = scriptedBroker(t, { wholeStops: true });
  const world = await openWorld(t, { brokers: broker.brokers });
  const trader = await world.makeTrader();
  const step = decimal('0.001');
  broker.script('resolve', async (good) => ({
    ...((await good()) as Instrument),
    quantityStep: step,
    minQuantity: step,
  }));
  interface Plan {
    readonly legs: readonly { readonly quantity: number }[];
    readonly error: { readonly message: string } | null;
  }
  const planned = async (quantity: number, fields: object) => {
    const order = { trading_account_id: trader.account.id, action: 'buy', symbol: 'SHARE', quantity };
    const { body } = await world.as<Plan>(trader, 'POST', '/trading/order/plan', { ...order, ...fields });
    return body.legs[0]?.quantity ?? body.error?.message;
  };
  assert.equal(await planned(355, { quantity_type: 'cash' }), 3.55);
  assert.equal(await planned(355, { quantity_type: 'cash', stop_loss: '5%' }), 3);
  assert.equal(await planned(18, { quantity_type: 'risk_cash', stop_loss: '5%' }), 3);
  assert.equal(
    await planned(55, { quantity_type: 'cash', stop_loss: '5%' }),
    '55 in cash is 0.5 SHARE at 100; the least is 1.',
  );
});

describe('at paper', () => {
  async function openDesk(t: Parameters<typeof openWorld>[0], account = {}) {
    const world = await openWorld(t);
    const paper = { latency_ms: 0, starting_cash: 100_000, price: { BTCUSDT: 60_000 } };
    return { world, trader: await world.makeTrader({}, { paper, ...account }) };
  }

  for (const [what, fields, code, says] of [
    [
      'a stop on the wrong side',
      { quantity: 1, quantity_type: 'risk_percent', stop_loss: 61_000 },
      'invalid_protection',
      /stop_loss/,
    ],
    [
      'a stop in the spread',
      { quantity: 1, quantity_type: 'risk_cash', stop_loss: 60_000 },
      'invalid_protection',
      /stop_loss/,
    ],
    [
      'a target on the wrong side',
      { quantity: 500, quantity_type: 'cash', take_profit: [{ at: 59_000, percent: 1 }] },
      'invalid_protection',
      /take_profit/,
    ],
  ] as const)
    test(`${what} is refused, and nothing is sent`, async (t) => {
      const { world, trader } = await openDesk(t);
      const { body } = await world.send(trader, fields);
      assert.deepEqual([body.status, body.error?.code], ['rejected', code], JSON.stringify(body.error));
      assert.match(body.error?.message ?? '', says);
      assert.equal((await world.order(trader, body.order_id)).legs.length, 0);
    });

  test('what adds to a position counts to its own stop: the account’s is for who enters from flat', async (t) => {
    const defaults = { '*': { stop_loss: '1%' } };
    const { world, trader } = await openDesk(t, { protectionDefaults: defaults });
    const risk = { quantity: 60, quantity_type: 'risk_cash' };
    assert.equal((await world.send(trader, risk)).body.fill_quantity, 0.1);
    const more = await world.send(trader, risk);
    assert.equal(more.body.error?.code, 'sizing_failed');
    assert.match(more.body.error?.message ?? '', /needs a stop to count from/);
    const own = await world.send(trader, { ...risk, trailing_stop: '2%' });
    assert.equal(own.body.fill_quantity, 0.05, JSON.stringify(own.body));
  });

  test('an equity of nothing buys nothing', async (t) => {
    const { world, trader } = await openDesk(t, {
      paper: { latency_ms: 0, starting_cash: 0, price: { BTCUSDT: 60_000 } },
    });
    const { body } = await world.send(trader, { quantity: 1, quantity_type: 'percent_of_equity' });
    assert.equal(body.error?.code, 'sizing_failed', JSON.stringify(body));
  });

  test('guards judge the units', async (t) => {
    const guards = { max_order_quantity: { '*': decimal('0.01') } };
    const { world, trader } = await openDesk(t, { guards });
    const cash = (quantity: number) => world.send(trader, { quantity, quantity_type: 'cash' });
    assert.equal((await cash(500)).body.status, 'filled');
    const { body } = await cash(700);
    assert.equal(body.error?.code, 'guard_refused', JSON.stringify(body));
  });

  test('every spelling, in any case and with blanks around it', async (t) => {
    const { world, trader } = await openDesk(t);
    const spelled = async (quantity_type: string, fields: object = {}) => {
      const { body } = await world.send(trader, { quantity: 5, quantity_type, ...fields });
      assert.ok(!body.error, `${quantity_type}: ${JSON.stringify(body.error)}`);
      return (await world.order(trader, body.order_id)).quantity_type;
    };
    const exit = { action: 'long_exit' };
    for (const type of QUANTITY_TYPES) {
      const fields =
        type === 'percent_of_position' ? exit : type.startsWith('risk') ? { stop_loss: '9%' } : {};
      assert.equal(await spelled(` ${type.toUpperCase()} `, fields), type);
    }
    for (const [word, type] of [
      ['fixed_quantity', 'units'],
      ['Contracts', 'units'],
      ['base', 'units'],
      ['dollar_amount', 'cash'],
      ['quote', 'cash'],
      ['Notional', 'cash'],
    ] as const)
      assert.equal(await spelled(word), type);
    assert.equal(await spelled('risk_dollar_amount', { stop_loss: '9%' }), 'risk_cash');
    for (const nothing of [null, '', undefined]) {
      const { body } = await world.send<OrderRecord>(trader, { quantity: 1, quantity_type: nothing });
      assert.deepEqual([body.status, body.ignored.length], ['filled', 0], JSON.stringify(body));
    }
  });
});
