// Guards: what holds an entry back, at its bound; never an exit.

import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { describe, test } from 'node:test';
import { BrokerUnavailable, type Instrument } from '../../src/broker/broker.ts';
import { sql } from '../../src/data/engine/db.ts';
import { insertOrder, saveOrder } from '../../src/data/orders/orders.ts';
import type { BrokerName } from '../../src/domain/brokers.ts';
import { type Decimal, decimal } from '../../src/domain/decimal.ts';
import { type GuardFacts, type Guards, judgeEntry } from '../../src/domain/guards/guards.ts';
import { mergeGuards } from '../../src/domain/guards/settings.ts';
import { type OrderId, type Timestamp, timestamp } from '../../src/domain/ids.ts';
import { type Leg, NO_NOTES, type Order } from '../../src/domain/orders/order.ts';
import { judgeGuards } from '../../src/worker/lane/guarding.ts';
import type { Line } from '../../src/worker/line/line.ts';
import type { WorkerOrders } from '../../src/worker/orders.ts';
import { order, START, sell } from '../domain/traded.ts';
import { scriptedBroker } from '../worker/scripted-broker.ts';
import { openWorld, type Problem, settableClock, type Trader, type World } from '../world.ts';

const NOW = Date.parse('2026-11-16T15:00:00Z');
const FACTS: GuardFacts = {
  now: NOW,
  source: 'webhook',
  side: 'buy',
  quantity: decimal(1),
  positionAfter: decimal(1),
  isSymbol: (name) => name === 'BTCUSDT.P',
  entriesInLastMinute: 0,
  lastEntry: { at: null },
  equity: { now: decimal(1000), first: decimal(1000) },
  price: decimal(100),
  brokerPrice: decimal(100),
};

const passes = (guards: Guards, facts: Partial<GuardFacts> = {}): boolean =>
  judgeEntry(guards, { ...FACTS, ...facts }).every(({ outcome }) => outcome === 'passed');
const ago = (seconds: number): Timestamp => timestamp(NOW - seconds * 1000);
const amount = (value: number | string): Decimal => decimal(value);

describe('A guard at its bound', () => {
  // biome-ignore format: a table, one row a line
  const rows: [string, Guards, Partial<GuardFacts>, Partial<GuardFacts>][] = [
    ['max_order_quantity', { max_order_quantity: 1 }, { quantity: amount(1) }, { quantity: amount('1.00000001') }],
    ['max_order_quantity of its symbol', { max_order_quantity: { 'BTCUSDT.P': 1, '*': 9 } }, { quantity: amount(1) }, { quantity: amount(2) }],
    ['max_order_quantity of the others', { max_order_quantity: { ETH: 1, '*': 2 } }, { quantity: amount(2) }, { quantity: amount(3) }],
    ['max_position, long', { max_position: 5 }, { positionAfter: amount(5) }, { positionAfter: amount('5.1') }],
    ['max_position, short', { max_position: 5 }, { positionAfter: amount(-5) }, { positionAfter: amount(-6) }],
    ['max_orders_per_minute', { max_orders_per_minute: 3 }, { entriesInLastMinute: 2 }, { entriesInLastMinute: 3 }],
    ['cooldown_seconds', { cooldown_seconds: 60 }, { lastEntry: { at: ago(60) } }, { lastEntry: { at: ago(59.999) } }],
    ['max_daily_loss', { max_daily_loss: 50 }, { equity: { now: amount(950), first: amount(1000) } }, { equity: { now: amount('949.99'), first: amount(1000) } }],
    ['max_price_deviation_percent', { max_price_deviation_percent: 1 }, { brokerPrice: amount(101) }, { brokerPrice: amount('98.99') }],
  ];
  for (const [what, guards, inside, outside] of rows)
    test(`${what} passes, and is refused right beyond it`, () => {
      assert.equal(passes(guards, inside), true);
      assert.equal(passes(guards, outside), false);
    });

  test('of several spellings of one symbol the strictest holds', () => {
    const isSymbol = (name: string) => name.endsWith('BTCUSDT.P');
    for (const most of [
      { 'BINANCE:BTCUSDT.P': 5, 'BTCUSDT.P': 1, '*': 9 },
      { 'BTCUSDT.P': 1, 'BINANCE:BTCUSDT.P': 5, '*': 9 },
    ])
      assert.equal(passes({ max_order_quantity: most }, { isSymbol, quantity: amount(3) }), false);
  });

  test('a symbol that is not named, without "*", is not limited', () => {
    assert.equal(passes({ max_position: { ETH: 1 } }, { positionAfter: amount(99) }), true);
  });

  test('what cannot be verified is refused', () => {
    for (const [guards, facts] of [
      [{ max_orders_per_minute: 3 }, { entriesInLastMinute: null }],
      [{ cooldown_seconds: 3 }, { lastEntry: null }],
      [{ max_daily_loss: 3 }, { equity: null }],
      [{ max_daily_loss: 3 }, { equity: { now: amount(1000), first: null } }],
      [{ max_price_deviation_percent: 3 }, { brokerPrice: null }],
      [{ max_price_deviation_percent: 3 }, { price: null }],
    ] as [Guards, Partial<GuardFacts>][])
      assert.equal(passes(guards, facts), false, JSON.stringify(guards));
  });

  test("a dashboard's entry brings no price, and is not concerned", () => {
    const guards = { max_price_deviation_percent: 1 };
    assert.deepEqual(judgeEntry(guards, { ...FACTS, source: 'dashboard', price: null }), []);
  });

  test('a pause begins with its first moment and ends before its last', () => {
    const pauses = [{ from: ago(60), to: ago(-60), label: 'FOMC' }];
    for (const [seconds, isFree] of [
      [60.001, true],
      [60, false],
      [-59.999, false],
      [-60, true],
    ] as const)
      assert.equal(passes({ pauses }, { now: NOW - seconds * 1000 }), isFree, `${seconds}`);
  });
});

describe('A guard of a symbol', () => {
  const at = (brokerName: BrokerName, symbol: string, resolve: Line['resolve']) => {
    const instrument = { symbol: 'TXFL6' } as Instrument;
    const entry = { leg: 'entry', side: 'buy', quantity: decimal(5) } as Leg;
    const order = { brokerName, symbol, legs: [entry], notes: NO_NOTES } as unknown as Order;
    return async (most: Record<string, number>) => {
      const kept = async () => [];
      const deps = { orders: {} as WorkerOrders, clock: { now: () => NOW }, protections: { kept } };
      const guards = { max_position: most };
      const line = { resolve } as Line;
      const verdicts = await judgeGuards(deps, {
        order,
        positionAfter: decimal(5),
        guards,
        line,
        instrument,
      });
      return verdicts.map(({ outcome }) => outcome);
    };
  };
  /** A month by its own name, by that of the front month in two spellings, and as the platform spells it. */
  const NAMES = ['TXFL6', 'TXF1!', 'TXFR1', 'TXFZ2026'];
  const resolve = async (name: string) =>
    ({ symbol: NAMES.includes(name) ? 'TXFL6' : name }) as Awaited<ReturnType<Line['resolve']>>;

  for (const named of NAMES)
    for (const ordered of NAMES)
      test(`holds it under its other names: ${named} for ${ordered}`, async () => {
        assert.deepEqual(await at('shioaji', ordered, resolve)({ [named]: 1, '*': 100 }), ['refused']);
      });

  test('holds no other', async () => {
    assert.deepEqual(await at('shioaji', 'TXF1!', resolve)({ MXFL6: 1, '*': 100 }), ['passed']);
  });

  test('holds it where the broker cannot be asked whether it is that one', async () => {
    const away = () => Promise.reject(new BrokerUnavailable('away'));
    assert.deepEqual(await at('shioaji', 'TXF1!', away)({ TXFR1: 1, '*': 100 }), ['refused']);
  });

  test('asks no broker whose symbols can be told by their spelling', async () => {
    const never = () => Promise.reject(new Error('asked'));
    assert.deepEqual(await at('binance', 'BTCUSDT.P', never)({ 'ETHUSDT.P': 1 }), []);
  });
});

describe('Trading hours', () => {
  const isOpen = (hours: Guards['trading_hours'], at: string): boolean =>
    passes({ trading_hours: hours } as Guards, { now: Date.parse(at) });
  const NEW_YORK = {
    timezone: 'America/New_York',
    windows: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '09:30', to: '16:00' }],
  } as const;

  test('from is inside and to is not', () => {
    // A Monday in November: five hours behind.
    assert.equal(isOpen(NEW_YORK, '2026-11-16T14:29:59.999Z'), false);
    assert.equal(isOpen(NEW_YORK, '2026-11-16T14:30:00Z'), true);
    assert.equal(isOpen(NEW_YORK, '2026-11-16T20:59:59.999Z'), true);
    assert.equal(isOpen(NEW_YORK, '2026-11-16T21:00:00Z'), false);
    assert.equal(isOpen(NEW_YORK, '2026-11-15T15:00:00Z'), false, 'a Sunday');
  });

  test('the place decides, also on the days on which its clocks are set', () => {
    // The Fridays before and the Mondays after the changes of 2026: 8 March and 1 November.
    assert.equal(isOpen(NEW_YORK, '2026-03-06T14:30:00Z'), true);
    assert.equal(isOpen(NEW_YORK, '2026-03-06T14:29:00Z'), false);
    assert.equal(isOpen(NEW_YORK, '2026-03-09T13:30:00Z'), true);
    assert.equal(isOpen(NEW_YORK, '2026-03-09T13:29:00Z'), false);
    assert.equal(isOpen(NEW_YORK, '2026-10-30T13:30:00Z'), true);
    assert.equal(isOpen(NEW_YORK, '2026-11-02T13:30:00Z'), false);
    assert.equal(isOpen(NEW_YORK, '2026-11-02T14:30:00Z'), true);
  });

  test('a window that passes midnight belongs to the day it begins on', () => {
    const nights = {
      timezone: 'Asia/Taipei',
      windows: [{ days: ['fri'], from: '15:00', to: '05:00' }],
    } as const;
    assert.equal(isOpen(nights, '2026-11-20T06:59:00Z'), false, 'Friday 14:59');
    assert.equal(isOpen(nights, '2026-11-20T07:00:00Z'), true, 'Friday 15:00');
    assert.equal(isOpen(nights, '2026-11-20T20:59:00Z'), true, 'Saturday 04:59');
    assert.equal(isOpen(nights, '2026-11-20T21:00:00Z'), false, 'Saturday 05:00');
    assert.equal(isOpen(nights, '2026-11-19T20:00:00Z'), false, 'Friday 04:00 is the night of Thursday');
  });

  test('a whole day ends at 24:00', () => {
    const all = { timezone: 'UTC', windows: [{ days: ['mon'], from: '00:00', to: '24:00' }] } as const;
    assert.equal(isOpen(all, '2026-11-16T23:59:59Z'), true);
    assert.equal(isOpen(all, '2026-11-17T00:00:00Z'), false);
  });
});

describe('Guards that make no sense', () => {
  // biome-ignore format: a table, one row a line
  const rows: [string, unknown][] = [
    ['a guard that nobody knows', { max_fun: 1 }],
    ['a negative quantity', { max_order_quantity: -1 }],
    ['a limit of nothing', { max_position: 0 }],
    ['a limit by no symbol', { max_position: {} }],
    ['a limit by a name that is no symbol', { max_position: { 'a b': 1 } }],
    ['half an order a minute', { max_orders_per_minute: 0.5 }],
    ['a place that does not exist', { trading_hours: { timezone: 'Mars/Base', windows: [{ days: ['mon'], from: '09:00', to: '10:00' }] } }],
    ['an offset, which knows no daylight saving', { trading_hours: { timezone: '+02:00', windows: [{ days: ['mon'], from: '09:00', to: '10:00' }] } }],
    ['hours without windows', { trading_hours: { timezone: 'UTC', windows: [] } }],
    ['a window of no time', { trading_hours: { timezone: 'UTC', windows: [{ days: ['mon'], from: '09:00', to: '09:00' }] } }],
    ['a window on no day', { trading_hours: { timezone: 'UTC', windows: [{ days: [], from: '09:00', to: '10:00' }] } }],
    ['an hour that is none', { trading_hours: { timezone: 'UTC', windows: [{ days: ['mon'], from: '9:00', to: '25:00' }] } }],
    ['a pause that ends before it begins', { pauses: [{ from: '2026-11-18T19:00:00Z', to: '2026-11-18T18:00:00Z', label: '' }] }],
    ['a pause without an offset', { pauses: [{ from: '2026-11-18T18:00:00', to: '2026-11-18T19:00:00', label: '' }] }],
    ['a list', []],
  ];
  for (const [what, guards] of rows)
    test(`${what} is refused in words`, () => {
      const reading = mergeGuards({}, guards);
      assert.ok('problems' in reading && reading.problems.every((problem) => problem.startsWith('guards')));
    });
});

describe('An account with guards', () => {
  const change = (world: World, trader: Trader, guards: object) =>
    world.as<{ guards: Record<string, unknown> } & Problem>(
      trader,
      'PATCH',
      `/trading/accounts/${trader.account.id}`,
      { guards },
    );
  const held = async (world: World, trader: Trader) =>
    Number(await world.position(trader.account.id, 'BTCUSDT'));

  test('refuses the entry, keeps every verdict with it, and lets exits pass', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await change(world, trader, { max_order_quantity: 2, max_position: { 'BTCUSDT.P': 3 } });
    assert.equal((await world.send(trader, { quantity: 2 })).body.status, 'filled');
    const { body } = await world.send(trader, { quantity: 2 });
    assert.deepEqual(
      [body.status, body.error?.code, body.error?.guard],
      ['rejected', 'guard_refused', 'max_position'],
    );
    const { guards } = await world.order(trader, body.order_id);
    assert.deepEqual(
      guards.map(({ guard, outcome }) => [guard, outcome]),
      [
        ['max_order_quantity', 'passed'],
        ['max_position', 'refused'],
      ],
    );
    assert.equal(await held(world, trader), 2);
    assert.equal((await world.send(trader, { action: 'close_long', quantity: 9 })).body.status, 'filled');
    assert.equal(await held(world, trader), 0);
  });

  test('in a reversal the close is made, and the entry is not', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await world.send(trader, { action: 'short_entry', quantity: 2 });
    await change(world, trader, { max_order_quantity: 1 });
    const { body } = await world.send(trader, { action: 'long_entry', quantity: 3 });
    assert.deepEqual([body.status, body.error?.guard], ['failed', 'max_order_quantity']);
    assert.equal(body.exit_order_result?.status, 'filled');
    assert.equal(await held(world, trader), 0);
  });

  test('counts its entries by the minute, and waits between two of one symbol', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await change(world, trader, { max_orders_per_minute: 2 });
    for (const status of ['filled', 'filled', 'rejected'])
      assert.equal((await world.send(trader)).body.status, status);
    await change(world, trader, { max_orders_per_minute: null, cooldown_seconds: 60 });
    assert.equal((await world.send(trader)).body.error?.guard, 'cooldown_seconds');
    assert.equal((await world.send(trader, { symbol: 'ETHUSDT' })).body.status, 'filled');
  });

  test('compares with the equity of the first order of the day, and with the broker’s price', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await change(world, trader, { max_daily_loss: 0.01 });
    assert.equal((await world.send(trader)).body.status, 'filled', 'the first of the day');
    assert.equal((await world.send(trader)).body.error?.guard, 'max_daily_loss', 'it has cost its spread');
    await change(world, trader, { max_daily_loss: null, max_price_deviation_percent: 1 });
    assert.equal((await world.send(trader)).body.error?.guard, 'max_price_deviation_percent', 'no price');
    const { body } = await world.send(trader, { action: 'short_entry', price: 1 });
    assert.equal(body.error?.guard, 'max_price_deviation_percent');
  });

  const kept = async (world: World, { account }: Trader) =>
    (
      await world.db.all<{ equity: string }>(
        sql`select equity from day_equity where trading_account_id = ${account.id}`,
      )
    ).map(({ equity }) => Number(equity));

  test('a day begins with its first order, whatever it is, and a plan is none', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader({}, { guards: { max_daily_loss: 0.01 } });
    const order = { trading_account_id: trader.account.id, action: 'buy', symbol: 'BTCUSDT', quantity: 1 };
    await world.as(trader, 'POST', '/trading/order/plan', order);
    assert.deepEqual(await kept(world, trader), []);
    await world.send(trader, { action: 'long_exit', quantity: 0.5 });
    while ((await kept(world, trader)).length === 0);
    const [first = 0] = await kept(world, trader);
    assert.equal((await world.send(trader, { quantity: 1 })).body.status, 'filled');
    const { body } = await world.send(trader);
    assert.equal(body.error?.guard, 'max_daily_loss', 'the entry has cost its spread');
    assert.ok(body.error?.message.includes(`it was ${first} at the day's first order`), body.error?.message);
    assert.deepEqual(await kept(world, trader), [first]);
  });

  test('what the day began with, and nobody noted, cannot be verified: until the next day', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader();
    await world.send(trader);
    // As one of before has it, that was set while nobody read the equity.
    await world.db.commit([
      sql`update trading_accounts set guards = '{"max_daily_loss": 1000000}', revision = revision + 1
          where id = ${trader.account.id}`,
    ]);
    clock.advance(1_000);
    const { body } = await world.send(trader);
    assert.deepEqual([body.status, body.error?.guard], ['rejected', 'max_daily_loss']);
    assert.match(body.error?.message ?? '', /was not noted; it will be from 2026-07-16T00:00:00\.000Z on/);
    // Another mode is another book, and another day another one.
    assert.equal((await world.send(trader, {}, { query: '?simulation=true' })).body.status, 'filled');
    clock.advance(6 * 3_600_000);
    assert.equal((await world.send(trader)).body.status, 'filled');
  });

  test('a day does not begin with what a stop closed at the broker, but with the first order that is sent', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader({}, { guards: { max_daily_loss: 1_000_000 } });
    clock.advance(8 * 3_600_000);
    const now = clock.now() - START;
    const [leg] = order(now - 1_000, [sell(1, 96)]).legs;
    const stopped = order(now, [], {
      ...{ id: randomUUIDv7() as OrderId, userId: trader.user.id, accountId: trader.account.id },
      ...{ source: 'protection', exitReason: 'trailing_stop', legs: leg ? [{ ...leg, leg: 'exit' }] : [] },
    });
    await world.db.commit([insertOrder(stopped, null), ...saveOrder(stopped)]);
    clock.advance(3_600_000);
    const { body } = await world.send(trader);
    assert.equal(body.status, 'filled', JSON.stringify(body));
    assert.equal((await kept(world, trader)).length, 1);
  });

  for (const query of ['', '?simulation=true'])
    test(`a loss is counted from when its guard is set, on that day: ${query ? 'simulated' : 'real'}`, async (t) => {
      const world = await openWorld(t, { clock: settableClock() });
      const trader = await world.makeTrader();
      const send = async (fields = {}) => (await world.send(trader, fields, { query })).body;
      await send({ quantity: 5 });
      await send({ action: 'close_long' });
      await change(world, trader, { max_daily_loss: 0.01 });
      assert.equal((await send()).status, 'filled', 'what was lost before does not count');
      assert.equal((await send()).error?.guard, 'max_daily_loss', 'the entry has cost its spread');
      const before = await kept(world, trader);
      await change(world, trader, { max_daily_loss: 0.02 });
      assert.deepEqual(await kept(world, trader), before, 'another number counts from the same moment');
    });

  test('a loss whose beginning cannot be read is not guarded: 503, and nothing is changed', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, wait: async () => {} });
    const trader = await world.makeTrader();
    const at = `/trading/accounts/${trader.account.id}`;
    const set = (guards: object) =>
      world.as<{ code?: string; guards: { max_daily_loss: number | null } }>(trader, 'PATCH', at, { guards });
    broker.script('balance', async () => {
      throw new BrokerUnavailable('It does not answer.');
    });
    const { status, body, headers } = await set({ max_daily_loss: 5, max_order_quantity: 1 });
    assert.deepEqual([status, body.code], [503, 'broker_unavailable']);
    assert.ok(headers['retry-after']);
    const { guards } = (await world.as<typeof body>(trader, 'GET', at)).body;
    assert.deepEqual(
      Object.values(guards).filter((guard) => guard !== null),
      [],
    );
    assert.equal((await set({ max_order_quantity: 1 })).status, 200, 'the others ask for nothing');
  });

  test('merges them guard by guard, null removes one, and nonsense changes nothing', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await change(world, trader, { max_position: 5, cooldown_seconds: 10 });
    assert.equal((await change(world, trader, { max_position: 'much' })).status, 400);
    const { body } = await change(world, trader, { cooldown_seconds: null });
    assert.deepEqual([body.guards.max_position, body.guards.cooldown_seconds], [5, null]);
  });
});
