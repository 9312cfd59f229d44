// The spec's auto-reversal, end to end: signals through the webhook, positions from the broker's own ledger.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { BrokerBusy } from '../../src/broker/broker.ts';
import { ACTIONS } from '../../src/domain/orders/order.ts';
import { scriptedBroker } from '../worker/scripted-broker.ts';
import { openWorld, settableClock, type Trader, type World } from '../world.ts';
import { verified } from './fill-desk.ts';

const held = (world: World, trader: Trader) => world.position(trader.account.id, 'BTCUSDT');
const trades = async (world: World, trader: Trader) =>
  (await world.paperOrders(trader.account.id)).map(({ side, quantity }) => `${side} ${quantity}`);

/** A trader of the paper broker who holds this much. */
async function traderWith(world: World, position: number): Promise<Trader> {
  const trader = await world.makeTrader();
  const action = position > 0 ? 'long_entry' : 'short_entry';
  if (position !== 0) await world.send(trader, { action, quantity: Math.abs(position) });
  return trader;
}

describe('Auto-reversal on the paper broker', () => {
  // biome-ignore format: a table, one row a line
  const rows: [string, number, string, string[], string][] = [
    ['none, then long_entry (buy 1): buy 1, ends +1', 0, 'long_entry', ['buy 1'], '1'],
    ['+1, then long_entry (buy 1): buy 1, ends +2', 1, 'long_entry', ['buy 1'], '2'],
    ['-2, then long_entry (buy 1): close short (buy 2), buy 1, ends +1', -2, 'long_entry', ['buy 2', 'buy 1'], '1'],
    ['none, then short_entry (sell 1): sell 1, ends -1', 0, 'short_entry', ['sell 1'], '-1'],
    ['+3, then short_entry (sell 1): close long (sell 3), sell 1, ends -1', 3, 'short_entry', ['sell 3', 'sell 1'], '-1'],
    ['-1, then short_entry (sell 1): sell 1, ends -2', -1, 'short_entry', ['sell 1'], '-2'],
  ];
  for (const [name, position, action, steps, final] of rows)
    test(name, async (t) => {
      const world = await openWorld(t);
      const trader = await traderWith(world, position);
      const before = await trades(world, trader);

      const { status, body } = await world.send(trader, { action });

      assert.equal(status, 200);
      assert.deepEqual((await trades(world, trader)).slice(before.length), steps);
      assert.equal(await held(world, trader), final);
      const isReversal = steps.length === 2;
      assert.equal(body.status, 'filled');
      assert.equal(body.error, null);
      assert.equal(body.position_before, position);
      assert.equal(body.auto_exit, isReversal);
      assert.equal(body.exit_quantity, isReversal ? Math.abs(position) : null);
      assert.equal(body.fill_quantity, 1);
      assert.equal(body.broker_refs.length, steps.length);
      const record = await world.order(trader, body.order_id);
      if (isReversal) {
        const [exit] = record.legs;
        assert.deepEqual(body.exit_order_result, {
          status: 'filled',
          client_order_id: exit?.client_order_id,
          broker_ref: body.broker_refs[0],
          quantity: Math.abs(position),
          fill_price: exit?.fill_price,
          fill_quantity: Math.abs(position),
          error: null,
        });
        assert.ok((exit?.fill_price ?? 0) > 0);
      } else assert.equal(body.exit_order_result, null);
      assert.deepEqual(
        record.legs.map(({ leg, side, quantity }) => `${leg} ${side} ${quantity}`),
        isReversal ? [`exit ${steps[0]}`, `entry ${steps[1]}`] : [`entry ${steps[0]}`],
      );
      const { trace: _, ...result } = body;
      const { trace: _trace, legs: _legs, user_id, deadline_at: _deadline, ...more } = record;
      const { verification, guards, real_money, ...others } = more;
      // Of protection and of its size a record always speaks, an answer only where there is something to say.
      const { exit_reason, caused_by, unprotected_ms, protection, quantity_type, sizing, ...besides } =
        others;
      const { group_id, limit_price, stop_price, time_in_force, expires_at, entry_id, ...kept } = besides;
      assert.deepEqual(
        [group_id, limit_price, stop_price, time_in_force, expires_at, entry_id],
        [null, null, null, null, null, null],
      );
      assert.deepEqual([exit_reason, caused_by, unprotected_ms, protection], [null, null, null, null]);
      assert.deepEqual([quantity_type, sizing], ['units', null]);
      assert.deepEqual(kept, result, 'the record says what the answer said');
      assert.deepEqual(guards, []);
      assert.equal(user_id, trader.user.id);
      assert.equal(real_money, false);
      assert.deepEqual(verification, { state: 'none', attempts: 0, next_at: null });
    });

  test('after any sequence of signals the ledger holds what the table says', async (t) => {
    const world = await openWorld(t, { env: { RATE_LIMIT_REQUESTS: '1000' } });
    const signal = fc.record(
      {
        action: fc.constantFrom(
          ...ACTIONS.filter((action) => !['close', 'sync', 'protect', 'cancel'].includes(action)),
        ),
        quantity: fc.integer({ min: 1, max: 3 }),
        order_type: fc.constantFrom('exit'),
      },
      { requiredKeys: ['action', 'quantity'] },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(signal, { minLength: 1, maxLength: 10 }), async (signals) => {
        // Enough cash for the largest of these positions.
        const trader = await world.makeTrader({}, { paper: { latency_ms: 0, starting_cash: 1_000_000 } });
        let position = 0;
        for (const { action, quantity, order_type } of signals) {
          const isTrade = action === 'buy' || action === 'sell';
          const fields = { action, quantity, ...(isTrade && order_type ? { order_type } : {}) };
          const expected = afterSignal(position, fields);
          const { body } = await world.send(trader, fields);
          assert.equal(body.position_before, position);
          assert.equal(body.status, expected === null ? 'rejected' : 'filled');
          assert.equal(body.error?.code, expected === null ? 'no_position' : undefined);
          position = expected ?? position;
          assert.equal(await held(world, trader), String(position));
        }
      }),
      { numRuns: 20 },
    );
  });
});

/** The table once more, in numbers: the new position, or null where there is nothing to close. */
function afterSignal(
  position: number,
  { action, quantity, order_type }: { action: string; quantity: number; order_type?: string },
): number | null {
  const long = Math.max(position, 0);
  const short = Math.max(-position, 0);
  const is = (...actions: string[]) => actions.includes(action);
  if (is('close_long')) return long > 0 ? 0 : null;
  if (is('close_short')) return short > 0 ? 0 : null;
  if (is('long_exit') || (is('sell') && order_type === 'exit'))
    return long > 0 ? long - Math.min(long, quantity) : null;
  if (is('short_exit') || (is('buy') && order_type === 'exit'))
    return short > 0 ? Math.min(short, quantity) - short : null;
  return is('buy', 'long_entry') ? long + quantity : -(short + quantity);
}

/** A world of a scripted broker where someone is short 2, with a clock that stands still and waits that pass at once. */
async function shortTwo(t: TestContext, env: Record<string, string> = {}) {
  const broker = scriptedBroker(t);
  const clock = settableClock();
  const waits: number[] = [];
  const onWait: (() => void)[] = [];
  const wait = async (ms: number) => {
    waits.push(ms);
    onWait.shift()?.();
  };
  const world = await openWorld(t, { brokers: broker.brokers, clock, wait, env });
  const trader = await world.makeTrader();
  broker.give(trader.account.id, -2);
  const reverse = () => world.send(trader, { action: 'long_entry', quantity: 1 });
  return { broker, clock, waits, onWait, world, trader, reverse };
}

describe("The poll for a reversal's close", () => {
  test('lasts 5 s: soon at first, then 0.5 s apart', async (t) => {
    const { broker, waits, reverse } = await shortTwo(t);
    broker.fills = 'later';
    const { body } = await reverse();
    assert.equal(body.error?.code, 'reversal_timeout');
    assert.deepEqual(waits, [50, 100, 200, 400, ...Array(8).fill(500), 250]);
    assert.equal(broker.count('find'), waits.length);
  });

  test('lasts REVERSAL_POLLS times REVERSAL_POLL_MS where they are set', async (t) => {
    const { broker, waits, reverse } = await shortTwo(t, { REVERSAL_POLLS: '3', REVERSAL_POLL_MS: '20' });
    broker.fills = 'later';
    const { body } = await reverse();
    assert.equal(body.error?.code, 'reversal_timeout');
    assert.deepEqual(waits, [20, 20, 20]);
    assert.equal(broker.count('find'), 3);
  });

  test('ends with the poll that finds the close filled, and the entry follows', async (t) => {
    const { broker, waits, onWait, trader, reverse } = await shortTwo(t);
    broker.fills = 'later';
    onWait.push(
      () => {},
      () => {},
      () => {
        broker.fills = 'at once';
        broker.settle(broker.ledger[0], 'filled');
      },
    );
    const { body } = await reverse();
    assert.equal(body.status, 'filled');
    assert.equal(waits.length, 3);
    assert.equal(broker.count('find'), 3);
    assert.deepEqual(broker.trades(), ['buy 2', 'buy 1']);
    assert.equal(broker.position(trader.account.id), '1');
  });

  test('is not made where the close fills at once', async (t) => {
    const { broker, waits, reverse } = await shortTwo(t);
    const { body } = await reverse();
    assert.equal(body.status, 'filled');
    assert.deepEqual(waits, []);
    assert.equal(broker.count('find'), 0);
  });

  test('counts a broker that cannot be reached as a poll without an answer', async (t) => {
    const { broker, onWait, reverse } = await shortTwo(t);
    broker.fills = 'later';
    broker.script('find', () => Promise.reject(new Error('connection reset')), 9);
    onWait.push(() => {
      broker.fills = 'at once';
      broker.settle(broker.ledger[0], 'filled');
    });
    const { body } = await reverse();
    assert.equal(body.status, 'filled');
    assert.equal(broker.count('find'), 10);
    assert.equal(broker.count('open'), 2, 'the connection is tried anew once');
    assert.deepEqual(broker.trades(), ['buy 2', 'buy 1']);
  });
});

describe('A reversal whose close does not fill in time', () => {
  test('has failed with reversal_timeout that names what is open; the entry is not sent', async (t) => {
    const { broker, world, trader, reverse } = await shortTwo(t);
    broker.fills = 'later';
    const { status, body } = await reverse();
    assert.equal(status, 200);
    assert.equal(body.status, 'failed');
    assert.equal(body.error?.code, 'reversal_timeout');
    const close = broker.ledger[0]?.clientOrderId ?? 'none';
    for (const part of ['buy 2 BTCUSDT', close, '0 of 2', 'within 5 s', 'still open', 'by hand'])
      assert.ok(body.error?.message.includes(part), `${body.error?.message} has no ${part}`);
    assert.equal(body.auto_exit, true);
    assert.equal(body.exit_quantity, 2);
    assert.equal(body.exit_order_result?.status, 'placed');
    assert.equal(body.exit_order_result?.error?.code, 'reversal_timeout');
    assert.equal(body.fill_quantity, null);
    assert.deepEqual(broker.trades(), ['buy 2']);
    const record = await world.order(trader, body.order_id);
    assert.deepEqual(
      record.legs.map(({ leg, status }) => `${leg} ${status}`),
      ['exit placed', 'entry planned'],
    );
  });

  test('leaves the close at the broker, and fill verification follows it until it is done', async (t) => {
    const { broker, clock, world, trader, reverse } = await shortTwo(t);
    broker.fills = 'later';
    const { body } = await reverse();
    const seen = (state: string, attempts: number) =>
      world.eventually(
        () => world.order(trader, body.order_id),
        ({ verification }) => verification.state === state && verification.attempts === attempts,
      );
    await seen('scheduled', 0);
    broker.settle(broker.ledger[0], 'partially_filled', '1');
    clock.advance(2_500);
    const partly = await seen('scheduled', 1);
    assert.equal(partly.exit_order_result?.status, 'partially_filled');
    assert.equal(partly.exit_order_result?.fill_quantity, 1);
    broker.settle(broker.ledger[0], 'filled');
    clock.advance(30_000);
    const done = await seen('done', 2);
    assert.equal(done.exit_order_result?.status, 'filled');
    assert.equal(done.exit_order_result?.fill_quantity, 2);
    assert.equal(done.status, 'failed');
    assert.equal(done.error?.code, 'reversal_timeout');
    assert.deepEqual(broker.trades(), ['buy 2'], 'the entry was not sent later either');
  });

  test('goes on where the answer to the close was lost and a poll finds it filled', async (t) => {
    const { broker, trader, reverse } = await shortTwo(t);
    broker.script(
      'place',
      async (goodAnswer) => {
        await goodAnswer();
        return { outcome: 'unknown', reason: 'no answer' };
      },
      1,
    );
    const { body } = await reverse();
    assert.equal(body.status, 'filled');
    assert.equal(body.exit_order_result?.status, 'filled');
    assert.deepEqual(broker.trades(), ['buy 2', 'buy 1']);
    assert.equal(broker.position(trader.account.id), '1');
  });

  test('sends the close again, under the next id, where the first one never arrived', async (t) => {
    const { broker, world, trader, reverse } = await shortTwo(t, {
      RESPONSE_WAIT_SECONDS: '0.1',
      FILL_REQUEUE_SECONDS: '1',
      BROKER_TIMEOUT_SECONDS: '0.1',
    });
    broker.script('place', async () => ({ outcome: 'unknown', reason: 'no answer' }), 1);
    const { status, body } = await reverse();
    assert.equal(status, 202);
    const done = await world.eventually(
      () => world.order(trader, body.order_id),
      ({ status }) => status !== 'executing',
      15_000,
    );
    assert.equal(done.status, 'filled');
    assert.deepEqual(
      done.legs.map(({ leg, status, quantity }) => `${leg} ${status} ${quantity}`),
      ['exit expired 2', 'exit filled 2', 'entry filled 1'],
    );
    assert.equal(new Set(done.legs.map(({ client_order_id }) => client_order_id)).size, 3);
    assert.deepEqual(broker.trades(), ['buy 2', 'buy 1']);
    assert.equal(broker.position(trader.account.id), '1');
  });

  test('has failed where nobody knows at its deadline that the close arrived, and fill verification finds out', async (t) => {
    const { broker, clock, world, trader, reverse } = await shortTwo(t, { ENTRY_DEADLINE_SECONDS: '1' });
    broker.script('place', async () => ({ outcome: 'unknown', reason: 'no answer' }), 1);
    const { body } = await reverse();
    assert.ok(broker.count('find') > 4, 'it was looked for until then');
    assert.equal(body.status, 'failed');
    assert.equal(body.error?.code, 'reversal_timeout');
    assert.match(body.error?.message ?? '', /not known to have reached the broker/);
    assert.equal(body.exit_order_result?.status, 'unknown');
    const record = await verified(world, trader, body.order_id, clock);
    assert.equal(record.exit_order_result?.status, 'expired');
    assert.equal(record.status, 'failed');
    assert.deepEqual(broker.trades(), []);
    assert.equal(broker.count('place'), 1, 'nothing was sent again');
  });
});

describe('A reversal whose close comes to another end', () => {
  test('close rejected: the order is rejected with that error, and the entry is not sent', async (t) => {
    const world = await openWorld(t);
    const trader = await traderWith(world, -2);
    await world.setPaper(trader, { reject: 'market_closed' });
    const { status, body } = await world.send(trader, { action: 'long_entry' });
    assert.equal(status, 200);
    assert.equal(body.status, 'rejected');
    assert.equal(body.error?.code, 'market_closed');
    assert.equal(body.auto_exit, true);
    assert.equal(body.exit_order_result?.status, 'rejected');
    assert.deepEqual(body.exit_order_result?.error, body.error);
    assert.deepEqual(await trades(world, trader), ['sell 2']);
    assert.equal(await held(world, trader), '-2');
  });

  test('close refused because a stop had closed it meanwhile: the entry is made, and the record says what stood before it', async (t) => {
    const { broker, world, trader, reverse } = await shortTwo(t);
    broker.script(
      'place',
      async () => {
        broker.give(trader.account.id, 0);
        return { outcome: 'rejected', error: { code: 'no_position', message: 'Nothing to reduce.' } };
      },
      1,
    );
    const { body } = await reverse();
    assert.equal(body.status, 'filled');
    assert.deepEqual(broker.trades(), ['buy 1']);
    assert.equal((await world.order(trader, body.order_id)).position_before, 0);
    assert.equal(broker.position(trader.account.id), '1');
  });

  test('close turned away for the rate: it waits for the broker, and then closes and opens', async (t) => {
    const { broker, world, trader, reverse } = await shortTwo(t, { RESPONSE_WAIT_SECONDS: '0.1' });
    broker.script('place', () => Promise.reject(new BrokerBusy('slow down', 300)), 2);
    const { status, body } = await reverse();
    assert.equal(status, 202);
    const isUnderWay = (now: string) => now === 'queued' || now === 'executing';
    assert.ok(isUnderWay(body.status), body.status);
    const done = await world.eventually(
      () => world.order(trader, body.order_id),
      (order) => !isUnderWay(order.status),
    );
    assert.equal(done.status, 'filled');
    assert.equal(broker.count('place'), 4);
    assert.deepEqual(broker.trades(), ['buy 2', 'buy 1']);
    assert.equal(broker.position(trader.account.id), '1');
  });

  test('close turned away for the rate until the deadline: expired, and nothing was sent', async (t) => {
    const world = await openWorld(t, { env: { ENTRY_DEADLINE_SECONDS: '1' } });
    const trader = await traderWith(world, -2);
    await world.setPaper(trader, { reject: 'broker_rate_limited' });
    const { status, body } = await world.send(trader, { action: 'long_entry' });
    assert.equal(status, 200);
    assert.equal(body.status, 'expired');
    assert.equal(body.error?.code, 'expired');
    assert.equal(body.exit_order_result, null);
    assert.deepEqual(await trades(world, trader), ['sell 2']);
    assert.equal(await held(world, trader), '-2');
  });

  for (const [fill, close, code] of [
    ['cancel', 'cancelled', 'cancelled_by_broker'],
    ['fail', 'failed', 'failed_at_broker'],
  ])
    test(`close ${close} by the broker: the order has failed with ${code}, and the entry is not sent`, async (t) => {
      const world = await openWorld(t, { env: { REVERSAL_POLL_MS: '200' } });
      const trader = await traderWith(world, -2);
      await world.setPaper(trader, { fill });
      const { body } = await world.send(trader, { action: 'long_entry' });
      assert.equal(body.status, 'failed');
      assert.equal(body.error?.code, code);
      assert.equal(body.exit_order_result?.status, close);
      assert.equal(body.exit_order_result?.error?.code, code);
      assert.deepEqual(await trades(world, trader), ['sell 2', 'buy 2']);
      assert.equal(await held(world, trader), '-2');
      const { verification } = await world.order(trader, body.order_id);
      assert.equal(verification.state, 'none', 'there is nothing left to follow');
    });

  test('close filled and the entry rejected: rejected, and the result of the close is kept', async (t) => {
    const { broker, reverse } = await shortTwo(t);
    broker.script('place', (goodAnswer) => goodAnswer(), 1);
    broker.script('place', async () => ({
      outcome: 'rejected',
      error: { code: 'insufficient_margin', message: 'Insufficient margin.' },
    }));
    const { body } = await reverse();
    assert.equal(body.status, 'rejected');
    assert.equal(body.error?.code, 'insufficient_margin');
    assert.equal(body.exit_order_result?.status, 'filled');
    assert.equal(body.exit_order_result?.error, null);
    assert.deepEqual(broker.trades(), ['buy 2']);
  });

  test('close filled after the deadline: failed with error expired, no entry, the result of the close kept', async (t) => {
    const { broker, clock, onWait, reverse } = await shortTwo(t);
    broker.fills = 'later';
    onWait.push(() => {
      clock.advance(60_001);
      broker.settle(broker.ledger[0], 'filled');
    });
    const { body } = await reverse();
    assert.equal(body.status, 'failed');
    assert.equal(body.error?.code, 'expired');
    assert.equal(body.auto_exit, true);
    assert.equal(body.exit_quantity, 2);
    assert.equal(body.exit_order_result?.status, 'filled');
    assert.equal(body.exit_order_result?.fill_quantity, 2);
    assert.deepEqual(broker.trades(), ['buy 2']);
  });

  test('close filled at the last moment of the deadline: the entry is still sent', async (t) => {
    const { broker, clock, onWait, reverse } = await shortTwo(t);
    broker.fills = 'later';
    onWait.push(() => {
      clock.advance(60_000);
      broker.settle(broker.ledger[0], 'filled');
      broker.fills = 'at once';
    });
    const { body } = await reverse();
    assert.equal(body.status, 'filled');
    assert.deepEqual(broker.trades(), ['buy 2', 'buy 1']);
  });

  test('every leg that closes is reduce-only, and no entry is', async (t) => {
    const { broker, world, trader, reverse } = await shortTwo(t);
    await reverse();
    await world.send(trader, { action: 'long_exit' });
    assert.deepEqual(
      broker.ledger.map(({ side, reduceOnly }) => [side, reduceOnly]),
      [
        ['buy', true],
        ['buy', false],
        ['sell', true],
      ],
    );
  });
});
