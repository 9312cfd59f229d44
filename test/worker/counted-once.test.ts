// A fill is in what an account is expected to hold once: whether it came before the position was read, while it was read or after
// that, and whoever saw it. Each of these tests failed once.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import { decimal, ZERO } from '../../src/domain/decimal.ts';
import { type ClientOrderId, type OrderId, timestamp } from '../../src/domain/ids.ts';
import { heldAfter } from '../../src/domain/orders/expected.ts';
import type { Leg, LegStatus, Order } from '../../src/domain/orders/order.ts';
import { onWhatStands } from '../../src/domain/orders/planning.ts';
import type { Facts } from '../../src/domain/orders/step.ts';
import { openTrades } from '../../src/worker/lane/trades.ts';
import { legOfThree } from '../domain/legs.ts';
import { openWorld, type Trader, type World } from '../world.ts';
import { type ScriptedBroker, scriptedBroker } from './scripted-broker.ts';

const pass = async () => {};

async function openDesk(
  t: test.TestContext,
): Promise<{ broker: ScriptedBroker; world: World; trader: Trader }> {
  const broker = scriptedBroker(t);
  const world = await openWorld(t, {
    brokers: broker.brokers,
    wait: pass,
    // Nobody looks at what rests but the orders themselves.
    env: { RESPONSE_WAIT_SECONDS: '0.2', FILL_REQUEUE_SECONDS: '3600' },
  });
  return { broker, world, trader: await world.makeTrader() };
}

/** An entry of 1 that rests at the broker. */
async function resting({ broker, world, trader }: Awaited<ReturnType<typeof openDesk>>): Promise<string> {
  broker.fills = 'later';
  const { body } = await world.send(trader, { action: 'long_entry', quantity: 1 });
  const placed = await world.eventually(
    () => world.order(trader, body.order_id),
    ({ status }) => status === 'placed',
  );
  broker.fills = 'at once';
  return placed.order_id;
}

const before = async (world: World, trader: Trader, id: string): Promise<unknown> =>
  (
    await world.eventually(
      () => world.order(trader, id),
      ({ status }) => status === 'filled',
    )
  ).position_before;

describe('What an account is expected to hold', () => {
  test('a fill that comes while the position is read is counted once', async (t) => {
    const desk = await openDesk(t);
    const { broker, world, trader } = desk;
    await resting(desk);
    broker.script(
      'position',
      async (goodAnswer) => {
        broker.settle(broker.ledger[0], 'filled');
        return goodAnswer();
      },
      1,
    );
    const second = await world.send(trader, { action: 'long_entry', quantity: 1 });
    await before(world, trader, second.body.order_id);
    const third = await world.send(trader, { action: 'long_entry', quantity: 1 });
    assert.equal(await before(world, trader, third.body.order_id), 2);
    assert.equal(broker.position(trader.account.id), '3');
  });

  test('a fill that comes after it is, and a successor knows it as its predecessor did', async (t) => {
    const desk = await openDesk(t);
    const { broker, world, trader } = desk;
    const first = await resting(desk);
    // Planned beside the first, of which nothing is filled.
    const second = await world.send(trader, { action: 'long_entry', quantity: 1 });
    assert.equal(await before(world, trader, second.body.order_id), 0);
    broker.settle(broker.ledger[0], 'filled');
    await world.as(trader, 'GET', `/trading/orders/${first}`);
    await world.restart();
    const third = await world.send(trader, { action: 'long_entry', quantity: 1 });
    assert.equal(await before(world, trader, third.body.order_id), 2);
    await world.restart();
    // The position lags: shown is what was held before the third.
    broker.script('position', async () => decimal(2), 2);
    const fourth = await world.send(trader, { action: 'long_entry', quantity: 1 });
    assert.equal(await before(world, trader, fourth.body.order_id), 3);
  });

  test('an end that another process has saved meanwhile is', async (t) => {
    const desk = await openDesk(t);
    const { broker, world, trader } = desk;
    broker.give(trader.account.id, 0);
    const filled = await world.send(trader, { action: 'long_entry', quantity: 1 });
    assert.equal(await before(world, trader, filled.body.order_id), 0);
    const rests = await resting(desk);
    await world.restart();
    // The new worker makes its own picture while the order rests …
    await world.send(trader, { action: 'long_entry', quantity: 1 }, { query: '?simulation=true' });
    await world.as(trader, 'GET', `/trading/accounts/${trader.account.id}/positions`);
    const planned = await world.as(trader, 'POST', '/trading/order/plan', {
      trading_account_id: trader.account.id,
      symbol: 'BTCUSDT',
      action: 'long_entry',
      quantity: 1,
    });
    assert.ok(planned.status < 300, JSON.stringify(planned.body));
    // … and what the old one saw of it is saved only then.
    broker.settle(broker.ledger[1], 'filled');
    await world.db.commit([
      sql`update order_legs set status = 'filled', fill_quantity = '1', fill_price = '100' where order_id = ${rests}`,
      sql`update order_history set status = 'filled', unsettled = ${false}, version = version + 1 where order_id = ${rests}`,
    ]);
    const last = await world.send(trader, { action: 'long_entry', quantity: 1 });
    assert.equal(await before(world, trader, last.body.order_id), 2);
  });

  describe('of what went to the market and is in doubt for longer than positions lag', () => {
    const lagMs = 30_000;
    const start = Date.parse('2026-07-15T19:00:00Z');
    const legAt = (name: string, side: 'buy' | 'sell', status: LegStatus, filled: number | null) => ({
      ...legOfThree(side === 'buy' ? 'entry' : 'exit', status),
      clientOrderId: name as ClientOrderId,
      side,
      quantity: decimal(1),
      fillQuantity: filled === null ? null : decimal(filled),
      sentAt: timestamp(start),
      filledAt: null,
    });
    const symbol = legAt('', 'buy', 'planned', null).instrument ?? '';

    test('is counted once, however late it is learnt', () => {
      let now = start;
      const trades = openTrades({ now: () => now, lagMs });
      trades.agreed(symbol, ZERO, []);
      trades.seen(legAt('first', 'buy', 'filled', 1));
      now += 60_000;
      trades.agreed(symbol, ZERO, [{ leg: legAt('doubtful', 'sell', 'unknown', null) }]);
      trades.seen(legAt('second', 'buy', 'filled', 1));
      trades.seen(legAt('doubtful', 'sell', 'filled', 1));
      assert.equal(trades.expected(symbol), decimal(1));
    });

    test('is a fill of now, where it may have waited for its price', () => {
      const trades = openTrades({ now: () => start + 60_000, lagMs });
      const waits = { priced: {} } as Order;
      trades.agreed(symbol, ZERO, [{ leg: legAt('waits', 'buy', 'unknown', null), order: waits }]);
      trades.seen(legAt('waits', 'buy', 'filled', 1));
      assert.equal(trades.expected(symbol), decimal(1));
    });

    test('is in what an order is planned on, where it makes the whole difference to what is shown', () => {
      const doubtful = legAt('doubtful', 'buy', 'unknown', null);
      const planned = (shown: number) => {
        const held = [{ instrument: symbol, quantity: decimal(shown), expected: decimal(2) }];
        const position = { held, readAt: start };
        const others = [{ orderId: 'o' as OrderId, leg: doubtful }];
        const facts = { position, others, now: start + 1_000 } as unknown as Facts;
        const order = { legs: [] as Leg[] } as unknown as Order;
        const { positionBefore, counted } = onWhatStands(order, facts, { lagMs });
        return [positionBefore, counted?.[doubtful.clientOrderId]];
      };
      assert.deepEqual(planned(3), [decimal(3), decimal(1)]);
      assert.deepEqual(planned(2), [decimal(2), decimal(0)]);
      assert.deepEqual(planned(5), [decimal(2), decimal(0)], 'somebody else was there too');
    });

    test('is nothing, where it ended without a fill', () => {
      const doubtful = legAt('doubtful', 'sell', 'expired', null);
      const planned = { symbol, positionBefore: decimal(1), legs: [legAt('next', 'buy', 'filled', 1)] };
      const next = { ...planned, counted: { doubtful: decimal(1) } } as unknown as Order;
      const earlier = { symbol, positionBefore: decimal(1), legs: [doubtful] } as unknown as Order;
      assert.equal(heldAfter([next, earlier]).get(symbol), decimal(2));
    });
  });
});

describe('What a target has closed, of which nobody knew when the position was read', () => {
  const lagMs = 30_000;
  const symbol = 'BTCUSDT';
  const fill = (name: string, side: 'buy' | 'sell', quantity: number) => ({
    ...legOfThree(side === 'sell' ? 'entry' : 'exit', 'filled'),
    ...{ clientOrderId: name as ClientOrderId, side, fillQuantity: decimal(quantity) },
  });
  /** So many were sold long ago; the next order reads so much, and trades nothing. */
  function read(position: number, sold = 14) {
    let now = 1_000_000;
    const trades = openTrades({ now: () => now, lagMs });
    trades.agreed(symbol, ZERO, []);
    trades.seen(fill('entry', 'sell', sold));
    now += lagMs;
    trades.agreed(symbol, decimal(position), []);
    return trades;
  }
  const left = (trades: ReturnType<typeof read>, shown: number) =>
    trades.standing(symbol, decimal(shown), []).quantity;

  test('is in what was believed, where it is missing there', () => {
    const trades = read(-7);
    trades.closed([fill('target', 'buy', 7)]);
    assert.equal(left(trades, -7), decimal(-7));
    // Once: the next one closes what is left.
    trades.closed([fill('target', 'buy', 7)]);
    trades.closed([fill('stop', 'buy', 7)]);
    assert.equal(left(trades, -7), ZERO, 'a position that lags');
  });

  test('is in it with what an order has traded since', () => {
    const trades = read(-7);
    trades.seen(fill('added', 'sell', 3));
    trades.closed([fill('target', 'buy', 7)]);
    assert.equal(trades.expected(symbol), decimal(-10));
  });

  test('is not in it, where nothing is missing there, or less', () => {
    for (const believed of [-14, -10, -20]) {
      const trades = read(believed);
      trades.closed([fill('target', 'buy', 7)]);
      assert.equal(left(trades, believed), decimal(believed + 7), `${believed}`);
    }
  });

  test('is in it in part, where its first part alone was there: what is held by now says so', () => {
    for (const [shown, expected] of [
      [-72, -72],
      [-56, -56],
      [-74, -56],
    ] as const) {
      // Of 18 that the stop closes, 16 are closed, and its order rests.
      const trades = read(-2, 18);
      const added = { ...fill('added', 'sell', 62), status: 'partially_filled' as const };
      trades.seen(added);
      // The next order reads what our fills say, beside one that is open.
      trades.agreed(symbol, decimal(-2 - 62), [{ leg: { ...added, quantity: decimal(72) } }]);
      trades.seen({ ...added, fillQuantity: decimal(72) });
      trades.closed([fill('stop', 'buy', 18)], decimal(shown));
      assert.equal(trades.expected(symbol), decimal(expected), `${shown}`);
    }
  });

  test('is in it in part, where all of it would turn the position, or one of its two orders is that part', () => {
    for (const fills of [
      [fill('stop', 'buy', 18)],
      [fill('stop', 'buy', 16), fill('its second order', 'buy', 2)],
    ]) {
      const trades = read(-2, 18);
      trades.seen(fill('added', 'sell', 10));
      trades.closed(fills);
      assert.equal(trades.expected(symbol), decimal(-10), String(fills.length));
    }
    const trades = read(-2, 18);
    trades.seen(fill('added', 'sell', 70));
    trades.closed([fill('stop', 'buy', 16), fill('its second order', 'buy', 2)]);
    assert.equal(trades.expected(symbol), decimal(-70));
  });

  test('is not in it, where all that protects was looked at since', () => {
    const trades = read(-7);
    trades.explained(symbol);
    trades.closed([fill('target', 'buy', 7)]);
    assert.equal(left(trades, -7), ZERO);
  });
});

describe('What a successor expects to be held after a target', () => {
  const sell = (nth: number, quantity: number, sentAt: number): Leg => ({
    ...legOfThree('exit', 'filled', timestamp(sentAt)),
    ...{ clientOrderId: `leg${nth}` as ClientOrderId, quantity: decimal(quantity) },
    ...{ fillQuantity: decimal(quantity), filledAt: timestamp(sentAt) },
  });
  const made = (submittedAt: number, positionBefore: number, leg: Leg): Order =>
    ({
      submittedAt: timestamp(submittedAt),
      positionBefore: decimal(positionBefore),
      legs: [leg],
    }) as Partial<Order> as Order;

  test('is less what it closed, also where it was given to the broker long before an order that did not know of its fill', () => {
    const entry = made(100, 0, { ...sell(1, 14, 110), leg: 'entry', side: 'buy' });
    // Its target was placed at 120 and sold 4 before the exit was planned; that was learnt at 500.
    const exit = made(300, 14, sell(2, 7, 310));
    const target = made(500, 7, sell(3, 4, 120));
    const trades = openTrades({ now: () => 1_000, lagMs: 30_000 }, [entry, exit, target]);
    assert.equal(trades.expected('BTCUSDT'), decimal(3));
  });

  /** Made by the broker: what it closed was learnt, and written down, long after it had been given to the broker. */
  const learnt = (at: number, positionBefore: number, leg: Leg): Order => ({
    ...made(at, positionBefore, leg),
    exitReason: 'stop_loss',
  });
  const bought = (nth: number, quantity: number, sentAt: number): Leg => ({
    ...sell(nth, quantity, sentAt),
    ...{ leg: 'entry', side: 'buy' },
  });
  const sold = (nth: number, quantity: number, sentAt: number): Leg => ({
    ...sell(nth, quantity, sentAt),
    leg: 'entry',
  });
  const expected = (...saved: readonly Order[]) =>
    openTrades({ now: () => 1_000, lagMs: 30_000 }, saved).expected('BTCUSDT');

  test('is what an order has opened on the other side, where the stop was hit before that and learnt after it', () => {
    const long = made(100, 0, bought(1, 14, 110));
    const short = made(300, 0, sold(2, 14, 310));
    const stop = learnt(400, 14, sell(3, 14, 120));
    assert.equal(expected(long, short, stop), decimal(-14));
    const target = learnt(500, -14, { ...sell(4, 7, 320), side: 'buy' });
    assert.equal(expected(long, short, stop, target), decimal(-7));
  });

  test('is less what the stop closed, where an order turned round without knowing of it', () => {
    const long = made(100, 0, bought(1, 14, 110));
    // Its close of 14 was not filled: the stop had been.
    const turned = made(300, 14, sold(2, 14, 310));
    assert.equal(expected(long, turned, learnt(400, 14, sell(3, 14, 120))), decimal(-14));
  });

  test('is nothing after a stop, whatever else had been in the position', () => {
    const long = made(100, 0, bought(1, 14, 110));
    assert.equal(expected(long, learnt(400, 20, sell(3, 20, 120))), ZERO);
  });

  test('is nothing, where the stop closed what somebody else had opened after our own close', () => {
    const long = made(100, 0, bought(1, 14, 110));
    const closed = made(200, 14, sell(2, 14, 210));
    assert.equal(expected(long, closed, learnt(400, 20, sell(3, 20, 320))), ZERO);
  });

  const lags = { now: () => 1_000, lagMs: 30_000 };

  test('is less what it closed, where an order in doubt was counted whole and never came', () => {
    const doubtful = made(200, 14, { ...bought(2, 20, 210), status: 'expired', fillQuantity: null });
    const counted = { leg1: decimal(14), leg2: decimal(20) } as Order['counted'];
    const added = { ...made(300, 14, bought(3, 7, 310)), counted };
    const trades = openTrades(lags, [made(100, 0, bought(1, 14, 110)), doubtful, added]);
    trades.closed([sell(4, 7, 120)]);
    assert.equal(trades.expected('BTCUSDT'), decimal(14));
  });

  test('is less what it closed, where an order that was open when the last one read the position was the difference', () => {
    const open = { ...sold(1, 14, 110), status: 'placed' as const, fillQuantity: ZERO };
    const trades = openTrades(lags);
    trades.agreed('BTCUSDT', ZERO, []);
    // It was filled a moment ago, and nobody has heard of that; then the position is turned.
    trades.agreed('BTCUSDT', decimal(-14), [{ leg: { ...open, quantity: decimal(14) } }]);
    trades.seen({ ...bought(2, 28, 310) });
    trades.closed([sell(3, 5, 120)]);
    assert.equal(trades.expected('BTCUSDT'), decimal(9));
  });

  test('is less what it closed, where the order before is so old that others since are not read', () => {
    const rests = made(100, 20, { ...bought(1, 1, 110), status: 'placed', fillQuantity: null });
    const added = { ...made(300, 10, bought(2, 1, 310)), counted: { leg1: ZERO } as Order['counted'] };
    const trades = openTrades(lags, [rests, added], 200);
    trades.closed([sell(4, 5, 120)]);
    assert.equal(trades.expected('BTCUSDT'), decimal(6));
  });

  test('is nothing after a stop, where the order before is so old that others since are not read', () => {
    const forgotten = made(100, -5, {
      ...bought(1, 5, 110),
      status: 'unknown',
      fillQuantity: null,
      leg: 'exit',
    });
    const trades = openTrades(lags, [forgotten, learnt(400, 14, sell(3, 14, 120))], 200);
    assert.equal(trades.expected('BTCUSDT'), ZERO);
  });

  test('knows what nobody had seen before an order that was open when the last one read the position', () => {
    const short = made(100, 0, sold(1, 18, 110));
    const added = made(300, -2, sold(2, 72, 310));
    const last = { ...made(400, -64, sold(3, 88, 410)), counted: { leg2: decimal(62) } as Order['counted'] };
    const trades = openTrades({ now: () => 1_000, lagMs: 30_000 }, [short, added, last]);
    trades.closed([{ ...sell(4, 18, 120), side: 'buy' }], decimal(-160));
    assert.equal(trades.expected('BTCUSDT'), decimal(-160));
  });

  test('knows what nobody had seen when the last order read the position: a target of that size is in it', () => {
    const short = made(100, 0, sold(1, 14, 110));
    // It found 7 less than our fills came to, and added 1.
    const added = made(300, -7, sold(2, 1, 310));
    const trades = openTrades({ now: () => 1_000, lagMs: 30_000 }, [short, added]);
    trades.closed([{ ...sell(4, 7, 120), side: 'buy' }]);
    assert.equal(trades.expected('BTCUSDT'), decimal(-8));
  });
});
