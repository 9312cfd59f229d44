// Whether the account holds what the strategy holds: compared after whichever order, read and never guessed, and told as it is.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { BrokerBusy, BrokerUnavailable } from '../../src/broker/broker.ts';
import { sql } from '../../src/data/engine/db.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { timestamp } from '../../src/domain/ids.ts';
import type { OrderResult } from '../../src/domain/orders/result.ts';
import { scriptedBroker } from '../worker/scripted-broker.ts';
import { openWorld, type Problem, settableClock, type Trader, type World } from '../world.ts';

const SYMBOL = 'BTCUSDT';

interface Synced {
  in_sync: boolean;
  strategy_position: number | null;
  broker_position: number;
  gap: boolean;
  order: { status: string } | null;
}

interface Positions {
  items: {
    symbol: string;
    quantity: number;
    strategy_position: number | null;
    in_sync: boolean | null;
    last_signal_at: string | null;
  }[];
}

const standing = (position: number, prefix = '') => ({
  [`${prefix}market_position`]: position > 0 ? 'long' : position < 0 ? 'short' : 'flat',
  [`${prefix}market_position_size`]: Math.abs(position),
});

async function desk(
  t: TestContext,
  {
    account = {},
    user = {},
    able = {},
    env = {},
  }: {
    account?: Parameters<World['makeTrader']>[1];
    user?: Parameters<World['makeTrader']>[0];
    able?: Parameters<typeof scriptedBroker>[1];
    env?: Record<string, string>;
  } = {},
) {
  const clock = settableClock();
  const broker = scriptedBroker(t, able);
  const world = await openWorld(t, { brokers: broker.brokers, clock, wait: async () => {}, env });
  const trader = await world.makeTrader(user, account);
  /** A second later than the last one. */
  const send = async <Body = OrderResult>(fields: object) => {
    clock.advance(1000);
    return world.send<Body>(trader, { ...fields });
  };
  const at = `/trading/accounts/${trader.account.id}`;
  const post = <Body = Problem>(path: string, body: object) => {
    clock.advance(1000);
    return world.as<Body>(trader, 'POST', path, body);
  };
  return {
    clock,
    broker,
    world,
    trader,
    send,
    say: (action: string, to: number) => send({ action, quantity: 1, ...standing(to) }),
    sync: (to: number, fields = {}) =>
      send<Synced & Problem>({ action: 'sync', quantity: null, ...standing(to), ...fields }),
    order: (action: string, quantity = 1) =>
      post<{ status: string }>('/trading/order', {
        trading_account_id: trader.account.id,
        action,
        symbol: SYMBOL,
        quantity,
      }),
    halt: (flatten = false) => post(`${at}/halt`, { flatten }),
    align: () => post<{ status: string; fill_quantity: number } & Problem>(`${at}/align`, { symbol: SYMBOL }),
    positions: async () => (await world.as<Positions>(trader, 'GET', `${at}/positions`)).body.items,
    drifts: () => driftsOf(world, trader),
    /** After the time in which the alert of a sync may yet come. */
    async told(action: string) {
      clock.advance(6000);
      await world.eventually(
        () => world.audits(trader),
        (entries) => entries.some((entry) => entry.action === action),
      );
    },
    mailed: async () =>
      (await world.db.all<{ kind: string }>(sql`select kind from notices order by id`)).map(
        ({ kind }) => kind,
      ),
    owed: async () =>
      (
        await world.db.all<{ compare_at: string | null }>(sql`select compare_at from strategy_positions`)
      ).filter(({ compare_at }) => compare_at !== null).length,
    notices: async () =>
      (await world.as<{ todo: { kind: string }[] }>(trader, 'GET', '/trading/overview')).body.todo
        .map(({ kind }) => kind)
        .filter((kind) => kind.startsWith('drift')),
  };
}

const driftsOf = async (world: World, trader: Trader) =>
  (await world.audits(trader)).map(({ action }) => action).filter((action) => action.includes('drift'));

/** All that the plan allows. */
const useUp = ({ user }: Trader, day: string) =>
  sql`insert into daily_order_counts (user_id, day, orders, simulated) values (${user.id}, ${day}, 200, 0)
      on conflict (user_id, day) do update set orders = 200`;

describe('After whichever order', () => {
  test('a close that fills ends the drift: both are flat', async (t) => {
    const { broker, trader, say, send, sync, told, drifts, notices } = await desk(t);
    await say('buy', 1);
    await sync(0);
    await told('position_drift');
    assert.deepEqual([await drifts(), await notices()], [['position_drift'], ['drift_excess']]);
    assert.equal((await send({ action: 'close', quantity: null })).body.status, 'filled');
    assert.equal(broker.position(trader.account.id), '0');
    assert.deepEqual([await drifts(), await notices()], [['position_drift', 'position_drift_ended'], []]);
  });

  for (const action of ['long_exit', 'close_long'])
    test(`${action} by hand begins one: the strategy still holds what the account sold`, async (t) => {
      const { say, order, drifts, notices } = await desk(t);
      await say('buy', 1);
      assert.equal((await order(action)).body.status, 'filled');
      assert.deepEqual([await drifts(), await notices()], [['position_drift'], ['drift_missing']]);
    });

  test('the kill switch begins one, and an entry by hand ends it', async (t) => {
    const { trader, world, say, halt, order, drifts, notices } = await desk(t);
    await say('buy', 1);
    await halt(true);
    assert.deepEqual(
      [await drifts(), await notices()],
      [['position_drift'], []],
      'nobody is asked to buy again',
    );
    await world.as(trader, 'POST', `/trading/accounts/${trader.account.id}/resume`);
    assert.deepEqual(await notices(), ['drift_missing']);
    await order('buy');
    assert.deepEqual(await drifts(), ['position_drift', 'position_drift_ended']);
  });

  test('an alert that the strategy has gone beyond, and that says only where it began, is traded, and is a drift', async (t) => {
    const { clock, broker, trader, say, send, drifts } = await desk(t);
    const early = timestamp(clock.now());
    await say('buy', 2);
    const late = await send({ action: 'buy', quantity: 1, timestamp: early, ...standing(0, 'prev_') });
    assert.equal(late.body.status, 'filled');
    assert.equal(broker.position(trader.account.id), '3');
    assert.deepEqual(await drifts(), ['position_drift']);
  });

  for (const [first, second] of [
    [0, 1],
    [1, 0],
  ] as const)
    test(`two closes that rest side by side and are filled are none: ${first ? 'the later' : 'the earlier'} one first`, async (t) => {
      const { world, broker, trader, say, sync, drifts } = await desk(t);
      broker.give(trader.account.id, 5);
      broker.fills = 'later';
      const ids = [(await say('sell', 3)).body.order_id, (await say('sell', 1)).body.order_id] as const;
      assert.deepEqual(broker.trades(), ['sell 2', 'sell 2']);
      for (const index of [first, second]) {
        broker.settle(broker.ledger[index], 'filled');
        await world.as(trader, 'POST', `/trading/orders/${ids[index]}/look`);
        await world.eventually(
          () => world.order(trader, ids[index]),
          ({ status }) => status === 'filled',
        );
      }
      assert.equal((await sync(1)).body.in_sync, true);
      assert.deepEqual(await drifts(), [], 'none was told of, and none has ended');
    });

  test('the rest of an entry that is filled while the way out waits for it is none: it is sold too', async (t) => {
    const { world, broker, trader, say, drifts } = await desk(t, { env: { RESPONSE_WAIT_SECONDS: '0.3' } });
    broker.fills = 'later';
    await say('buy', 5);
    broker.settle(broker.ledger[0], 'partially_filled', '2');
    broker.fills = 'at once';
    const { status, body } = await say('sell', 0);
    assert.deepEqual([status, body.status], [202, 'executing']);
    await world.eventually(
      async () => broker.trades(),
      ({ length }) => length === 2,
    );
    assert.deepEqual(broker.trades(), ['buy 5', 'sell 2'], 'what is held is sold at once');
    broker.settle(broker.ledger[0], 'filled');
    const done = await world.eventually(
      () => world.order(trader, body.order_id),
      (order) => order.status !== 'executing',
    );
    assert.equal(done.status, 'filled');
    assert.deepEqual([broker.trades(), await drifts()], [['buy 5', 'sell 2', 'sell 3'], []]);
    assert.equal(broker.position(trader.account.id), '0');
  });

  test('the rest of an entry that is filled after the way out has expired is one: the broker is asked what is held', async (t) => {
    const { world, broker, trader, say, drifts, notices } = await desk(t, {
      env: { EXIT_DEADLINE_SECONDS: '1' },
    });
    broker.fills = 'later';
    const { order_id } = (await say('buy', 5)).body;
    broker.settle(broker.ledger[0], 'partially_filled', '2');
    broker.fills = 'at once';
    const { body } = await say('sell', 0);
    assert.equal(body.status, 'expired');
    assert.ok(body.error?.message.includes(order_id), 'what it waited for is named');
    assert.deepEqual([broker.trades(), await drifts()], [['buy 5', 'sell 2'], []]);
    broker.settle(broker.ledger[0], 'filled');
    await world.as(trader, 'POST', `/trading/orders/${order_id}/look`);
    await world.eventually(drifts, ([first]) => first === 'position_drift');
    assert.deepEqual(await notices(), ['drift_excess']);
    assert.equal(broker.position(trader.account.id), '3');
  });

  test('an order that rested, and is filled behind a later alert, ends one', async (t) => {
    const { world, broker, trader, say, drifts } = await desk(t);
    broker.fills = 'later';
    const { order_id } = (await say('buy', 2)).body;
    assert.equal((await say('buy', 2)).body.status, 'rejected', 'the first one may be what is missing');
    assert.deepEqual(await drifts(), ['position_drift']);
    broker.settle(broker.ledger[0], 'filled');
    await world.as(trader, 'POST', `/trading/orders/${order_id}/look`);
    await world.eventually(drifts, ({ length }) => length === 2);
    assert.deepEqual(await drifts(), ['position_drift', 'position_drift_ended']);
  });

  test('what is asked of the broker for that is not believed while it lags behind a fill of a moment ago', async (t) => {
    const { world, broker, trader, say, drifts } = await desk(t);
    broker.fills = 'later';
    const { order_id } = (await say('buy', 2)).body;
    broker.settle(broker.ledger[0], 'filled');
    broker.fills = 'at once';
    assert.equal((await say('buy', 3)).body.status, 'filled');
    const before = broker.count('position');
    broker.script('position', async () => decimal(2), 1);
    await world.as(trader, 'POST', `/trading/orders/${order_id}/look`);
    await world.eventually(
      async () => broker.count('position') - before,
      (reads) => reads >= 2,
    );
    assert.equal((await say('buy', 3)).body.status, 'done');
    assert.deepEqual([broker.position(trader.account.id), await drifts()], ['3', []]);
  });

  test('a close that the strategy has gone beyond is made, and is a drift', async (t) => {
    const { clock, broker, trader, say, send, drifts } = await desk(t);
    const early = timestamp(clock.now());
    await say('buy', 2);
    await send({ action: 'close', quantity: null, timestamp: early });
    assert.equal(broker.position(trader.account.id), '0');
    assert.deepEqual(await drifts(), ['position_drift']);
  });

  test('an alert that came while it was executed is not its to judge', async (t) => {
    const { broker, clock, world, trader, say, order, drifts } = await desk(t);
    await say('buy', 1);
    const held = broker.hold('place', 'after');
    const exit = order('long_exit');
    await held.reached;
    clock.advance(1000);
    const next = world.send(trader, { action: 'buy', quantity: 1, ...standing(2) });
    await world.eventually(
      () => world.orders(trader),
      (orders) => orders.length === 3,
    );
    held.release();
    await Promise.all([exit, next]);
    assert.equal(broker.position(trader.account.id), '2');
    assert.deepEqual(await drifts(), []);
  });

  test('an alert that came while it was executed, and was refused, leaves it to judge', async (t) => {
    const { broker, trader, world, say, halt, drifts, mailed } = await desk(t);
    const held = broker.hold('place', 'after');
    const first = world.send(trader, { action: 'buy', quantity: 1, ...standing(1) });
    await held.reached;
    await halt();
    assert.equal((await say('buy', 2)).status, 403);
    held.release();
    assert.equal((await first).body.status, 'filled');
    assert.equal(broker.position(trader.account.id), '1');
    assert.deepEqual([await drifts(), await mailed()], [['position_drift'], ['drift']]);
  });

  test('an order that rested, and is cancelled behind an alert that was refused, is one: the broker is asked what is held', async (t) => {
    const { world, broker, trader, say, halt, drifts } = await desk(t);
    broker.fills = 'later';
    const { order_id } = (await say('buy', 1)).body;
    await halt();
    assert.equal((await say('buy', 2)).status, 403);
    broker.settle(broker.ledger[0], 'cancelled');
    broker.give(trader.account.id, 1);
    await world.as(trader, 'POST', `/trading/orders/${order_id}/look`);
    await world.eventually(drifts, ({ length }) => length > 0);
    assert.deepEqual(await drifts(), ['position_drift']);
    const [said] = (await world.audits(trader)).filter(({ action }) => action === 'position_drift');
    assert.equal(JSON.parse(said?.metadata ?? '').broker_position, 1);
  });

  test('an order of which the position was not read says nothing of it', async (t) => {
    const { broker, say, order, drifts } = await desk(t, { env: { EXIT_DEADLINE_SECONDS: '1' } });
    await say('buy', 1);
    broker.script('position', async () => {
      throw new BrokerBusy('slow down', 60_000);
    });
    assert.equal((await order('long_exit')).body.status, 'expired');
    assert.deepEqual(await drifts(), []);
  });

  test('where no strategy speaks nothing is noted', async (t) => {
    const { send, order, drifts } = await desk(t);
    await send({ action: 'buy', quantity: 1 });
    await order('long_exit');
    assert.deepEqual(await drifts(), []);
  });
});

describe('The positions', () => {
  test('of a continuous month say what the two figures say', async (t) => {
    const { send, halt, positions } = await desk(t);
    await halt();
    await send({ action: 'buy', symbol: 'ES1!', quantity: 1, ...standing(1) });
    const [shown] = await positions();
    assert.deepEqual(
      [shown?.symbol, shown?.quantity, shown?.strategy_position, shown?.in_sync],
      ['ES1!', 0, 1, false],
    );
  });

  test('of a continuous month say what was last compared, beside the month that is held', async (t) => {
    const { broker, send, positions } = await desk(t);
    broker.script('resolve', async (goodAnswer) => ({ ...(await goodAnswer()), symbol: 'ESZ6' }) as never);
    await send({ action: 'buy', symbol: 'ES1!', quantity: 1, ...standing(1) });
    assert.deepEqual(
      (await positions()).map(({ symbol, quantity, strategy_position, in_sync }) => [
        symbol,
        quantity,
        strategy_position,
        in_sync,
      ]),
      [
        ['ESZ6', 1, null, null],
        ['ES1!', 0, 1, true],
      ],
    );
  });

  test('have the arrival of the last genuine signal, whatever it said', async (t) => {
    const { clock, send, say, positions } = await desk(t);
    const last = async () => (await positions())[0]?.last_signal_at;
    await send({ action: 'buy', quantity: 1 });
    assert.equal(await last(), timestamp(clock.now()));
    await say('buy', 2);
    for (let times = 0; times < 2; times++) {
      await send({ action: 'buy', quantity: 1 });
      assert.equal(await last(), timestamp(clock.now()));
    }
    await send({ action: 'buy', quantity: 1, ...standing(4, 'prev_') });
    assert.equal(await last(), timestamp(clock.now()));
  });
});

describe('A sync', () => {
  test('that the broker cannot be asked for is no report, and no drift', async (t) => {
    const { broker, say, sync, drifts } = await desk(t);
    await say('buy', 1);
    broker.script(
      'position',
      async () => {
        throw new BrokerBusy('slow down', 60_000);
      },
      1,
    );
    for (const expected of ['at the call', 'at the closed gate']) {
      const { status, body, headers } = await sync(1);
      assert.deepEqual([status, body.code], [503, 'broker_unavailable'], expected);
      assert.ok(Number(headers['retry-after']) > 30, expected);
    }
    assert.deepEqual(await drifts(), []);
  });

  test('of a part, at a broker of whole quantities, finds what is held', async (t) => {
    const { broker, trader, sync } = await desk(t, { able: { fractionalQuantities: false } });
    broker.give(trader.account.id, 1);
    const { status, body } = await sync(0.5);
    assert.deepEqual(
      [status, body.in_sync, body.strategy_position, body.broker_position],
      [200, false, 0.5, 1],
    );
  });

  test('of a symbol that the broker does not have is refused in the broker’s words', async (t) => {
    const { broker, sync, drifts } = await desk(t);
    broker.script('resolve', async () => ({
      rejection: { code: 'invalid_symbol', message: 'There is no NOPE here.' },
    }));
    const { status, body } = await sync(1, { symbol: 'NOPE' });
    assert.deepEqual([status, body.code], [400, 'webhook_payload_invalid']);
    assert.match(body.detail, /There is no NOPE here/);
    assert.deepEqual(await drifts(), []);
  });

  test('that aligns is outside the daily limit, and uses up none of it', async (t) => {
    const { broker, trader, world, sync, order } = await desk(t, {
      user: { plan: 'starter' },
      account: { outOfSync: 'follow' },
    });
    assert.equal((await sync(1)).body.order?.status, 'filled');
    const today = async () =>
      (await world.as<{ limit: { orders_today: number } }>(trader, 'GET', '/trading/overview')).body.limit
        .orders_today;
    assert.equal(await today(), 0);
    await world.db.commit([useUp(trader, timestamp(world.clock.now()).slice(0, 10))]);
    assert.equal((await order('buy')).status, 429);
    assert.equal((await sync(3)).body.order?.status, 'filled');
    assert.equal(broker.position(trader.account.id), '3');
    assert.equal(await today(), 200);
  });
});

describe('A sync beside an order of its symbol', () => {
  test('says what it found, and is compared when that order has ended: there is no drift', async (t) => {
    const { broker, world, trader, sync, drifts, mailed, owed } = await desk(t);
    const held = broker.hold('place');
    const order = world.send(trader, { action: 'buy', quantity: 1, ...standing(1), ...standing(0, 'prev_') });
    await held.reached;
    const { status, body } = await sync(1);
    assert.deepEqual(
      [status, body.in_sync, body.strategy_position, body.broker_position],
      [200, false, 1, 0],
    );
    assert.equal(await owed(), 1);
    held.release();
    assert.equal((await order).body.status, 'filled');
    assert.deepEqual([await drifts(), await mailed(), await owed()], [[], [], 0]);
  });

  test('is told of, once that order has ended and the position is another one', async (t) => {
    const { broker, world, trader, say, sync, drifts, mailed, owed } = await desk(t);
    await say('buy', 1);
    const held = broker.hold('place');
    const byHand = world.as(trader, 'POST', '/trading/order', {
      ...{ trading_account_id: trader.account.id, action: 'buy', symbol: SYMBOL, quantity: 2 },
    });
    await held.reached;
    assert.equal((await sync(1)).body.in_sync, true);
    assert.deepEqual(await drifts(), []);
    held.release();
    await byHand;
    assert.deepEqual([await drifts(), await mailed(), await owed()], [['position_drift'], ['drift'], 0]);
  });

  test('is compared by the broker’s word where that order does not say what is held', async (t) => {
    const { broker, world, trader, send, sync, told, drifts } = await desk(t);
    await send({ action: 'buy', quantity: 1, ...standing(1) });
    const held = broker.hold('place');
    // It says nothing of the strategy, and so nobody compares at its end.
    const plain = world.send(trader, { action: 'buy', quantity: 1 });
    await held.reached;
    await sync(3);
    held.release();
    await plain;
    await told('position_drift');
    assert.deepEqual(await drifts(), ['position_drift']);
  });
});

describe('A sync whose position cannot be read', () => {
  test('while an order is under way is compared when that has ended', async (t) => {
    const { broker, world, trader, sync, drifts, mailed, owed } = await desk(t);
    const sent = Promise.withResolvers<void>();
    const refused = Promise.withResolvers<void>();
    broker.script('place', async () => {
      sent.resolve();
      await refused.promise;
      return { outcome: 'rejected', error: { code: 'insufficient_margin', message: 'Too little.' } };
    });
    const order = world.send(trader, { action: 'buy', quantity: 1, ...standing(1) });
    await sent.promise;
    broker.script(
      'position',
      async () => {
        throw new BrokerBusy('slow down', 60_000);
      },
      1,
    );
    assert.deepEqual([(await sync(1)).status, await owed()], [503, 1]);
    refused.resolve();
    assert.equal((await order).body.status, 'rejected');
    assert.deepEqual([await drifts(), await mailed(), await owed()], [['position_drift'], ['drift'], 0]);
  });
});

describe('A sync that comes a moment before its own alert', () => {
  const together = async (t: TestContext) => {
    const made = await desk(t);
    const { clock, world, trader, sync } = made;
    await sync(0);
    clock.advance(60_000);
    const timestamp = new Date(clock.now()).toISOString();
    const first = await world.send<Synced>(trader, {
      ...{ action: 'sync', quantity: null, timestamp },
      ...standing(1),
    });
    assert.deepEqual([first.status, first.body.in_sync], [200, false]);
    return { ...made, timestamp };
  };

  for (const [how, began] of [
    ['says where it began', standing(0, 'prev_')],
    ['does not say where it began', {}],
  ] as const)
    test(`is neither a gap nor a drift, where the alert ${how}`, async (t) => {
      const { clock, world, trader, timestamp, drifts, mailed, owed } = await together(t);
      const order = await world.send(trader, {
        ...{ action: 'buy', quantity: 1, timestamp },
        ...standing(1),
        ...began,
      });
      assert.deepEqual([order.body.status, order.body.gap], ['filled', false]);
      clock.advance(6000);
      assert.deepEqual([await drifts(), await mailed(), await owed()], [[], [], 0]);
    });

  test('is both, a little later, where no alert comes; also after a restart', async (t) => {
    const { world, told, drifts, mailed, owed } = await together(t);
    assert.deepEqual([await drifts(), await mailed(), await owed()], [[], [], 1]);
    await world.restart();
    await told('position_drift');
    assert.deepEqual(
      [await drifts(), await mailed(), await owed()],
      [['position_drift'], ['gap', 'drift'], 0],
    );
  });

  test('does not keep an exit’s alert, however late it comes, from being made', async (t) => {
    const { clock, broker, world, trader, say, sync, told, drifts, owed } = await desk(t);
    await say('buy', 1);
    const sent = timestamp(clock.now() + 500);
    await sync(0);
    await told('position_drift');
    assert.equal(await owed(), 0);
    await sync(0);
    const { body } = await world.send(trader, {
      ...{ action: 'sell', quantity: 1, timestamp: sent },
      ...standing(0),
      ...standing(1, 'prev_'),
    });
    assert.deepEqual([body.status, body.error], ['filled', null]);
    assert.equal(broker.position(trader.account.id), '0');
    assert.deepEqual(await drifts(), ['position_drift', 'position_drift_ended']);
  });

  test('keeps one that a later alert has overtaken as superseded as it is', async (t) => {
    const { clock, broker, world, trader, say, sync } = await desk(t);
    await say('buy', 2);
    const sent = timestamp(clock.now() + 500);
    await say('sell', 1);
    await sync(1);
    const { body } = await world.send(trader, {
      ...{ action: 'sell', quantity: 1, timestamp: sent, id: 'another' },
      ...standing(1),
    });
    assert.deepEqual([body.status, body.error?.code], ['rejected', 'superseded']);
    assert.equal(broker.position(trader.account.id), '1');
  });

  test('is both where another alert comes that does not explain it', async (t) => {
    const { clock, world, trader, mailed } = await together(t);
    clock.advance(2000);
    const next = await world.send(trader, { action: 'sell', ...standing(0), ...standing(1, 'prev_') });
    assert.equal(next.body.status, 'done');
    assert.deepEqual(await mailed(), ['gap']);
  });
});

describe('A drift that ends', () => {
  for (const [why, silent] of [
    ['an alert says nothing of the position', { action: 'close_long' }],
    ['an alert says its side alone', { action: 'buy', market_position: 'long' }],
    ['an alert says only where it began', { action: 'long_exit', ...standing(2, 'prev_') }],
  ] as const)
    test(`because ${why} forgets when it began: the next one is told of too`, async (t) => {
      const { clock, send, say, order, sync, drifts, mailed } = await desk(t);
      await say('buy', 2);
      await order('long_exit');
      assert.deepEqual(await drifts(), ['position_drift']);
      await send({ quantity: 1, ...silent });
      assert.deepEqual(await drifts(), ['position_drift', 'position_drift_ended']);
      clock.advance(14 * 86_400_000);
      await send({ action: 'long_entry', quantity: 1 });
      await sync(7);
      assert.deepEqual(await drifts(), ['position_drift', 'position_drift_ended', 'position_drift']);
      assert.deepEqual(await mailed(), ['drift', 'drift']);
    });
});

describe('What is kept of a strategy', () => {
  const stance = { market_position: 'long', market_position_size: 1 };
  for (const query of ['', '?simulation=true'])
    test(`is of symbols that the broker has: ${query ? 'simulated' : 'real'}`, async (t) => {
      const world = await openWorld(t);
      const trader = await world.makeTrader();
      const kept = async () =>
        (await world.db.all<{ symbol: string }>(sql`select symbol from strategy_positions`)).map(
          ({ symbol }) => symbol,
        );
      const order = await world.send(trader, { symbol: 'NOSUCH', ...stance }, { query });
      assert.equal(order.body.error?.code, 'invalid_symbol');
      assert.equal(
        (await world.send(trader, { symbol: 'NEITHER' }, { query })).body.error?.code,
        'invalid_symbol',
      );
      const sync = { action: 'sync', symbol: 'NOR', quantity: null, ...stance };
      assert.equal((await world.send(trader, sync, { query })).status, 400);
      await world.send(trader, stance, { query });
      assert.deepEqual(await kept(), [SYMBOL]);
    });

  test('is nothing of a rehearsal that was refused: whoever knows the address can send those', async (t) => {
    const { world, trader, halt } = await desk(t);
    await halt();
    const refused = await world.send<Problem>(trader, stance, { query: '?simulation=true' });
    assert.equal(refused.body.code, 'account_halted');
    assert.deepEqual(await world.db.all(sql`select symbol from strategy_positions`), []);
  });
});

describe('A gap', () => {
  test('is not what follows an alert that did not say where it ended', async (t) => {
    const { say, send } = await desk(t);
    await say('buy', 1);
    const { body: silent } = await send({ action: 'buy', quantity: 1, ...standing(1, 'prev_') });
    assert.equal(silent.gap, false);
    const next = await send({ action: 'buy', quantity: 1, ...standing(3), ...standing(2, 'prev_') });
    assert.equal(next.body.gap, false);
  });

  test('is still found by an alert that says only where it began', async (t) => {
    const { say, send } = await desk(t);
    await say('buy', 1);
    assert.equal((await send({ action: 'buy', quantity: 1, ...standing(2, 'prev_') })).body.gap, true);
  });
});

describe('Aligning a halted account', () => {
  test('sells what is too much: a halt holds nobody in a position', async (t) => {
    const { broker, trader, say, order, halt, align, drifts } = await desk(t);
    await say('buy', 1);
    await order('buy', 2);
    await halt();
    const { status, body } = await align();
    assert.deepEqual([status, body.status, body.fill_quantity], [200, 'filled', 2]);
    assert.equal(broker.position(trader.account.id), '1');
    assert.deepEqual(await drifts(), ['position_drift', 'position_drift_ended']);
  });

  test('closes what contradicts, and opens nothing', async (t) => {
    const { broker, trader, say, order, halt, align } = await desk(t);
    await say('buy', 1);
    await order('sell', 2);
    await halt();
    const { status, body } = await align();
    assert.deepEqual([status, body.status], [200, 'filled']);
    assert.equal(broker.position(trader.account.id), '0');
  });

  test('is accepted while the broker is away, and made when it is back', async (t) => {
    const { broker, trader, say, order, halt, align } = await desk(t);
    await say('buy', 1);
    await order('buy', 2);
    await halt();
    broker.script(
      'position',
      async () => {
        throw new BrokerUnavailable('maintenance');
      },
      6,
    );
    const { status, body } = await align();
    assert.deepEqual([status, body.status, body.fill_quantity], [200, 'filled', 2]);
    assert.equal(broker.position(trader.account.id), '1');
  });

  test('is done by a report too, where the account follows its strategy', async (t) => {
    for (const sold of [false, true]) {
      const { broker, trader, say, order, halt, sync } = await desk(t, { account: { outOfSync: 'follow' } });
      await say('buy', 1);
      await order(sold ? 'sell' : 'buy', 2);
      await halt();
      const { body } = await sync(1);
      assert.deepEqual([body.in_sync, body.order?.status], [false, 'filled']);
      assert.equal(broker.position(trader.account.id), sold ? '0' : '1');
    }
  });

  test('is refused where something would have to be opened, or nothing is to be done', async (t) => {
    const { broker, trader, say, order, halt, align } = await desk(t);
    await say('buy', 2);
    await order('long_exit');
    await halt();
    const { status, body } = await align();
    assert.deepEqual([status, body.code], [403, 'account_halted']);
    assert.equal(broker.position(trader.account.id), '1');
  });
});

describe('Aligning towards less', () => {
  test('is an exit: it has an exit’s deadline, by hand and by a report that is followed', async (t) => {
    for (const isReport of [false, true]) {
      const { trader, world, say, order, align, sync } = await desk(t, { account: { outOfSync: 'follow' } });
      await say('buy', 1);
      await order('buy', 2);
      await (isReport ? sync(1) : align());
      const [last] = await world.db.all<{ order_type: string; submitted_at: string; deadline_at: string }>(
        sql`select order_type, submitted_at, deadline_at from order_history where trading_account_id = ${trader.account.id}
            order by submitted_at desc limit 1`,
      );
      assert.ok(last);
      const life = Date.parse(last.deadline_at) - Date.parse(last.submitted_at);
      assert.deepEqual([last.order_type, Math.round(life / 1000)], ['exit', 300]);
    }
  });
});

describe('Which order is the last', () => {
  const drifts = (world: World) =>
    world.db.all<{ drift_since: string | null }>(sql`select drift_since from strategy_positions`);

  test('is told by their acceptance: an alert that was overtaken is compared, and nobody while it waits', async (t) => {
    const clock = settableClock();
    const broker = scriptedBroker(t);
    const late = { reached: Promise.withResolvers<void>(), may: Promise.withResolvers<void>() };
    let isLate = false;
    const world = await openWorld(t, {
      ...{ brokers: broker.brokers, clock, wait: async () => {} },
      db: (db) => ({
        ...db,
        async commit(unit) {
          const texts = JSON.stringify(unit);
          if (isLate && /insert into order_history/.test(texts) && /strategy_positions/.test(texts)) {
            isLate = false;
            late.reached.resolve();
            await late.may.promise;
          }
          return db.commit(unit);
        },
      }),
    });
    const trader = await world.makeTrader();
    await world.send(trader, { action: 'buy', quantity: 1, ...standing(1) });
    clock.advance(1000);
    isLate = true;
    const alert = world.send(trader, { action: 'buy', quantity: 1, ...standing(2), ...standing(1, 'prev_') });
    await late.reached.promise;
    clock.advance(30);
    const held = broker.hold('position');
    const byHand = world.as(trader, 'POST', '/trading/order', {
      trading_account_id: trader.account.id,
      ...{ action: 'buy', symbol: SYMBOL, quantity: 3 },
    });
    await held.reached;
    late.may.resolve();
    await world.eventually(
      () => world.db.all(sql`select order_id from order_history`),
      (orders) => orders.length === 3,
    );
    held.release();
    await Promise.all([alert, byHand]);
    assert.equal(broker.position(trader.account.id), '2');
    assert.deepEqual(await drifts(world), [{ drift_since: null }]);
    assert.ok((await world.audits(trader)).every(({ action }) => action !== 'position_drift'));
  });

  test('is told by every spelling of the symbol', async (t) => {
    const clock = settableClock();
    const broker = scriptedBroker(t);
    broker.script('resolve', async (goodAnswer) => ({ ...(await goodAnswer()), symbol: SYMBOL }) as never);
    const world = await openWorld(t, { brokers: broker.brokers, clock, wait: async () => {} });
    const trader = await world.makeTrader();
    broker.fills = 'later';
    const alert = { action: 'buy', symbol: `BINANCE:${SYMBOL}`, quantity: 1, ...standing(1) };
    const { body } = await world.send(trader, alert);
    broker.settle(broker.ledger[0], 'filled');
    broker.fills = 'at once';
    clock.advance(1000);
    await world.as(trader, 'POST', '/trading/order', {
      trading_account_id: trader.account.id,
      ...{ action: 'close_long', symbol: SYMBOL, quantity: 1 },
    });
    const [{ drift_since: since } = { drift_since: null }] = await drifts(world);
    assert.ok(since);
    clock.advance(2500);
    await world.eventually(
      () => world.order(trader, body.order_id),
      ({ verification }) => verification.state === 'done',
    );
    // What it does after that is done when it has stopped.
    await world.restart();
    assert.deepEqual(await drifts(world), [{ drift_since: since }]);
  });
});
