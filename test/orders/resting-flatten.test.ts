// What a flatten says of the entries that it has taken back.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { restingDesk } from './resting-desk.ts';

test('the entry of a reversal is one that was taken back, and its close is none', async (t) => {
  const { world, trader, entry } = await restingDesk(t);
  await world.send(trader, { quantity: 2 });
  const { body } = await entry({ action: 'sell', limit_price: 61_000, quantity: 1 });
  assert.deepEqual([body.status, body.auto_exit], ['placed', true]);
  const url = `/trading/accounts/${trader.account.id}/halt`;
  const halted = await world.as<{ flatten: { cancelled: number } }>(trader, 'POST', url, { flatten: true });
  assert.equal(halted.body.flatten.cancelled, 1, JSON.stringify(halted.body));
});
