// The close that a failed reversal left at the broker ends after the order has: that is told of too, once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settableClock } from '../world.ts';
import { openDesk } from './desk.ts';

const ENDS = [
  { end: 'filled', paper: 'full', state: 'done', told: 'fill' },
  { end: 'given up', paper: 'never', state: 'dead_letter', told: 'dead_letter' },
] as const;

for (const { end, paper, state, told } of ENDS)
  test(`the close of a failed reversal is told of when it is ${end}, once`, async (t) => {
    const clock = settableClock();
    const { world, add, until, settled, kinds } = await openDesk(t, {
      clock,
      wait: async () => {},
      env: { FILL_RETRIES: '0', REVERSAL_POLL_MS: '50', REVERSAL_POLLS: '2' },
    });
    const trader = await world.makeTrader();
    await add(trader);
    await world.send(trader, { action: 'short_entry', quantity: 2 });
    await until(() => kinds().includes('fill'));
    await world.setPaper(trader, { fill: 'never' });
    const { body } = await world.send(trader, { action: 'long_entry' });
    await until(() => kinds().includes('order_failed'));
    await world.setPaper(trader, { fill: paper });
    clock.advance(2_500);
    const record = await world.eventually(
      () => world.order(trader, body.order_id),
      ({ verification }) => verification.state === state,
    );
    assert.deepEqual([record.status, record.half_done], ['failed', end === 'filled']);
    await until(() => kinds().length === 3);
    await settled();
    assert.deepEqual(kinds(), ['fill', 'order_failed', told]);
  });
