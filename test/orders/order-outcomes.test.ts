// How an order can end: the broker's rejections, the deadline, and the trace of its way.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import { timestamp } from '../../src/domain/ids.ts';
import type { OrderError } from '../../src/domain/orders/order.ts';
import { REJECTIONS } from '../../src/domain/orders/rejection.ts';
import type { OrderResult } from '../../src/domain/orders/result.ts';
import { scriptedBroker } from '../worker/scripted-broker.ts';
import { type Answer, openWorld, settableClock, type Trader, type World } from '../world.ts';

/** Inside the OrderResult with 200, the same in order_history, and nothing in the broker's ledger. */
async function assertRejected(
  world: World,
  trader: Trader,
  { status, body }: Answer,
  expected: { code: string; message: RegExp } & Omit<OrderError, 'code' | 'message'>,
): Promise<void> {
  assert.equal(status, 200);
  assert.equal(body.status, 'rejected');
  const { message, advice, ...rest } = body.error ?? assert.fail('no error');
  assert.equal(advice, REJECTIONS[rest.code].advice);
  const { message: text, ...extras } = expected;
  assert.match(message, text);
  assert.deepEqual(rest, extras);
  assert.deepEqual(body.broker_refs, []);
  const kept = await world.db.get<{ status: string; error: string }>(
    sql`select status, error from order_history where order_id = ${body.order_id}`,
  );
  assert.deepEqual(
    { status: kept?.status, error: JSON.parse(kept?.error ?? '') },
    { status: 'rejected', error: { ...rest, message } },
  );
  const record = await world.order(trader, body.order_id);
  assert.deepEqual(record.error, body.error);
  assert.equal(record.verification.state, 'none');
  assert.deepEqual(await world.paperOrders(trader.account.id), []);
}

const market_hours = {
  timezone: 'UTC',
  session: 'around the clock',
  next_open: timestamp(Date.parse('2026-07-15T20:00:00Z')),
};

describe('Broker rejections', () => {
  // biome-ignore format: a table, one row a line
  const rows: [string, Parameters<typeof assertRejected>[3]][] = [
    ['insufficient margin: error', { code: 'insufficient_margin', message: /Insufficient margin/ }],
    ['market closed: error with market hours information', { code: 'market_closed', message: /is closed .* opens next at 2026-07-15T20:00/, market_hours }],
    ['invalid symbol: error that the symbol is not found in the broker contracts', { code: 'invalid_symbol', message: /BTCUSDT is not found in the broker contracts/ }],
    ['broker rate limit: retry after the delay the broker gives', { code: 'broker_rate_limited', message: /in 2 seconds/, retry_after: 2 }],
    ['position mode mismatch: error telling the user to switch to one-way mode', { code: 'position_mode_mismatch', message: /one-way mode/ }],
  ];
  for (const [name, expected] of rows)
    test(name, async (t) => {
      const world = await openWorld(t, { clock: settableClock() });
      const trader = await world.makeTrader({}, { paper: { latency_ms: 0, reject: expected.code } });
      await assertRejected(world, trader, await world.send(trader), expected);
      const manual = await world.as<OrderResult>(trader, 'POST', '/trading/order', {
        trading_account_id: trader.account.id,
        action: 'sell',
        symbol: 'BTCUSDT',
        quantity: 1,
      });
      await assertRejected(world, trader, manual, expected);
      await world.setPaper(trader, { reject: null });
      assert.equal((await world.send(trader)).body.status, 'filled', 'a later signal trades');
    });

  const SUNDAY = Date.parse('2026-07-19T15:00:00Z');
  // biome-ignore format: a table, one row a line
  const found: [string, Record<string, unknown>, Parameters<typeof assertRejected>[3]][] = [
    ['more than the margin allows: insufficient_margin', { quantity: 1000 }, { code: 'insufficient_margin', message: /needs \d+\.\d\d and 100000\.00 is available/ }],
    ['a stock on a Sunday: market_closed, open again on Monday', { symbol: 'NASDAQ:AAPL' }, {
      code: 'market_closed',
      message: /AAPL is closed/,
      market_hours: { timezone: 'America/New_York', session: 'Monday-Friday 09:30-16:00', next_open: timestamp(Date.parse('2026-07-20T13:30:00Z')) },
    }],
    ['a symbol that the broker does not have: invalid_symbol', { symbol: 'NOPE' }, { code: 'invalid_symbol', message: /NOPE is not found in the broker contracts/ }],
    ['half a contract: invalid_quantity', { symbol: 'ES1!', quantity: 0.5 }, { code: 'invalid_quantity', message: /ES1! must be a multiple of 1/ }],
    ['an exit with nothing held: no_position', { action: 'long_exit' }, { code: 'no_position', message: /no position in BTCUSDT for long_exit to close/ }],
    ['a close with nothing held: no_position', { action: 'close_short' }, { code: 'no_position', message: /no position in BTCUSDT for close_short to close/ }],
  ];
  for (const [name, fields, expected] of found)
    test(name, async (t) => {
      const world = await openWorld(t, { clock: settableClock(SUNDAY) });
      const trader = await world.makeTrader();
      await assertRejected(world, trader, await world.send(trader, fields), expected);
    });

  test('a close of the other side: no_position, and the position stays', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await world.send(trader, { action: 'long_entry', quantity: 2 });
    for (const fields of [{ action: 'close_short' }, { action: 'buy', order_type: 'exit' }]) {
      const { body } = await world.send(trader, fields);
      assert.equal(body.error?.code, 'no_position');
      assert.equal(body.position_before, 2);
    }
    assert.equal(await world.position(trader.account.id, 'BTCUSDT'), '2');
  });
});

describe('The deadline', () => {
  /** A worker in the middle of one order, and another order behind it that is taken so much later. */
  async function takenLater(t: TestContext, fields: Record<string, unknown>, laterMs: number) {
    const clock = settableClock();
    const broker = scriptedBroker(t);
    const env = { RESPONSE_WAIT_SECONDS: '0.05' };
    const world = await openWorld(t, { clock, brokers: broker.brokers, env });
    const trader = await world.makeTrader();
    broker.give(trader.account.id, 5);
    const place = broker.hold('place');
    const [, { status, body }] = await Promise.all([
      world.send(trader, { quantity: 9 }),
      place.reached.then(() => world.send(trader, fields)),
    ]);
    assert.equal(status, 202);
    assert.equal(body.status, 'queued');
    clock.advance(laterMs);
    place.release();
    const record = await world.eventually(
      () => world.order(trader, body.order_id),
      (each) => each.status !== 'queued' && each.status !== 'executing',
    );
    assert.equal(Date.parse(record.deadline_at) - Date.parse(record.submitted_at), deadlineOf(fields));
    return { record, trades: broker.trades().slice(1) };
  }
  const deadlineOf = ({ action }: Record<string, unknown>) => (action === 'long_entry' ? 60_000 : 300_000);

  for (const [action, trade] of [
    ['long_entry', 'buy 1'],
    ['long_exit', 'sell 1'],
    ['close_long', 'sell 14'],
  ]) {
    const deadline = deadlineOf({ action });
    test(`${action} taken ${deadline / 1000} s after its acceptance: executed`, async (t) => {
      const { record, trades } = await takenLater(t, { action }, deadline);
      assert.equal(record.status, 'filled');
      assert.deepEqual(trades, [trade]);
    });

    test(`${action} taken a millisecond later: expired, and nothing sent`, async (t) => {
      const { record, trades } = await takenLater(t, { action }, deadline + 1);
      assert.equal(record.status, 'expired');
      assert.equal(record.error?.code, 'expired');
      assert.ok(record.error?.message.includes(record.deadline_at));
      assert.deepEqual(record.legs, []);
      assert.deepEqual(Object.keys(record.trace), ['validated', 'queued', 'taken', 'answered']);
      assert.equal(record.verification.state, 'none');
      assert.deepEqual(trades, []);
    });
  }

  test('taken in time, and the deadline passes before it is sent: expired, and nothing sent', async (t) => {
    const clock = settableClock();
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { clock, brokers: broker.brokers });
    const trader = await world.makeTrader();
    broker.script('position', async (goodAnswer) => {
      clock.advance(60_001);
      return goodAnswer();
    });
    const { body } = await world.send(trader);
    assert.equal(body.status, 'expired');
    assert.equal(body.error?.code, 'expired');
    assert.equal(broker.count('place'), 0);
  });

  test('is ENTRY_DEADLINE_SECONDS and EXIT_DEADLINE_SECONDS after the acceptance', async (t) => {
    const world = await openWorld(t, { env: { ENTRY_DEADLINE_SECONDS: '7', EXIT_DEADLINE_SECONDS: '11' } });
    const trader = await world.makeTrader();
    const lifeOf = async (action: string) => {
      const { body } = await world.send(trader, { action });
      const { deadline_at, submitted_at, trace } = await world.order(trader, body.order_id);
      return Date.parse(deadline_at) - Date.parse(submitted_at) - (trace.validated ?? 0);
    };
    assert.equal(await lifeOf('sell'), 7_000);
    assert.equal(await lifeOf('short_exit'), 11_000);
  });
});

describe('The trace', () => {
  /** Every look at this clock is a millisecond later than the one before. */
  function tickingClock() {
    let now = Date.parse('2026-07-15T19:00:00Z');
    return { now: () => ++now };
  }
  const HOPS = ['validated', 'queued', 'taken', 'sent', 'acked', 'answered'];

  test('has every hop in milliseconds since arrival, each after the one before', async (t) => {
    const world = await openWorld(t, { clock: tickingClock() });
    const trader = await world.makeTrader();
    const { body } = await world.send(trader);
    assert.deepEqual(Object.keys(body.trace), HOPS);
    const times = Object.values(body.trace);
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
    const { validated = -1, taken = -1, sent = -1, acked = -1, answered = -1 } = body.trace;
    assert.ok(0 < validated && validated < taken && taken < sent && sent < acked && acked < answered);
    assert.deepEqual((await world.order(trader, body.order_id)).trace, body.trace);
  });

  test('has the first sending of a reversal', async (t) => {
    const world = await openWorld(t, { clock: tickingClock() });
    const trader = await world.makeTrader();
    await world.send(trader, { action: 'short_entry' });
    const { body } = await world.send(trader, { action: 'long_entry' });
    assert.deepEqual(Object.keys(body.trace), HOPS);
    const record = await world.order(trader, body.order_id);
    const [exit, entry] = record.legs.map(({ sent_at }) => Date.parse(sent_at ?? ''));
    assert.ok(exit && entry && exit < entry);
    const sentAt = Date.parse(record.submitted_at) + (record.trace.sent ?? 0);
    assert.ok(Math.abs(sentAt - exit) <= 1);
  });

  test('lacks the hops of what was not sent', async (t) => {
    const world = await openWorld(t);
    const { body } = await world.send(await world.makeTrader(), { action: 'long_exit' });
    assert.deepEqual(Object.keys(body.trace), ['validated', 'queued', 'taken', 'answered']);
  });
});
