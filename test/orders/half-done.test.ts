// A reversal that closed and did not open: it says so, in every list, and Today has it until the account trades the symbol again.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Overview } from '../../src/app/orders/read-overview.ts';
import type { OrderSummary } from '../../src/domain/orders/result.ts';
import { scriptedWorld } from '../worker/scripted-broker.ts';
import { settableClock, type Trader, type World } from '../world.ts';

const todo = async (world: World, trader: Trader) =>
  (await world.as<Overview>(trader, 'GET', '/trading/overview')).body.todo;

describe('A reversal that got half way', () => {
  for (const how of ['rejected', 'cancelled'] as const)
    test(`because its entry is ${how} is half done, and stands on Today until the next order`, async (t) => {
      const clock = settableClock();
      const { broker, world, trader } = await scriptedWorld(t, { clock });
      broker.give(trader.account.id, 3);
      broker.script('place', (good) => good(), 1);
      broker.script(
        'place',
        async (good) => {
          if (how === 'rejected')
            return {
              outcome: 'rejected',
              error: { code: 'insufficient_margin', message: 'too little margin' },
            };
          broker.fills = 'later';
          const answer = await good();
          const entry = broker.ledger.at(-1);
          broker.settle(entry, 'cancelled');
          return { ...answer, ...(entry ? { state: entry.state } : {}) } as typeof answer;
        },
        1,
      );
      const { body } = await world.send(trader, { action: 'short_entry' });
      assert.deepEqual([body.status, body.half_done, body.settled_by], [how, true, null]);
      assert.equal((await world.order(trader, body.order_id)).half_done, true);
      const { items } = (await world.as<{ items: OrderSummary[] }>(trader, 'GET', '/trading/orders')).body;
      assert.equal(items[0]?.half_done, true);
      const [trouble, ...others] = await todo(world, trader);
      assert.deepEqual(
        [trouble?.kind, trouble?.severity, trouble?.order_id, trouble?.title, others],
        ['failed_reversal', 'risk', body.order_id, 'BTCUSDT on Paper was closed, but not reversed.', []],
      );
      assert.match(
        trouble?.detail ?? '',
        /^The close, sell 3, is filled at \S+\. The entry, sell 1, is not\. \S/,
      );
      clock.advance(1_000);
      broker.fills = 'at once';
      const next = await world.send(trader, {
        action: 'long_exit',
        symbol: 'BINANCE:BTCUSDT',
      });
      assert.deepEqual([next.body.status, next.body.half_done], ['rejected', false]);
      assert.deepEqual(await todo(world, trader), []);
    });

  test('is told of where its close is filled only after the reversal was given up', async (t) => {
    const clock = settableClock();
    const { broker, world, trader } = await scriptedWorld(t, {
      clock,
      env: { REVERSAL_POLLS: '1', REVERSAL_POLL_MS: '1' },
    });
    await world.send(trader, { quantity: 1 });
    broker.fills = 'later';
    const { body } = await world.send(trader, { action: 'sell', quantity: 2 });
    assert.deepEqual([body.status, body.half_done], ['failed', false]);
    broker.settle(broker.ledger.at(-1), 'filled');
    clock.advance(2_500);
    const record = await world.eventually(
      () => world.order(trader, body.order_id),
      ({ half_done }) => half_done,
    );
    assert.equal(record.status, 'failed');
    assert.equal((await todo(world, trader))[0]?.title, 'BTCUSDT on Paper was closed, but not reversed.');
  });

  test('is a matter of its own account and of real orders: others end nothing, and a rehearsal is none', async (t) => {
    const clock = settableClock();
    const { broker, world, trader } = await scriptedWorld(t, { clock });
    broker.give(trader.account.id, 3);
    broker.script('place', (good) => good(), 1);
    const refusal = { code: 'insufficient_margin', message: 'too little margin' } as const;
    broker.script('place', async () => ({ outcome: 'rejected', error: refusal }), 1);
    await world.send(trader, { action: 'short_entry' });
    clock.advance(1_000);
    await world.send(trader, { symbol: 'ETHUSDT' });
    await world.send(trader, {}, { query: '?simulation=true' });
    assert.deepEqual(
      (await todo(world, trader)).map(({ kind }) => kind),
      ['failed_reversal'],
    );
  });
});
