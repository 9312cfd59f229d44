import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWorld } from './world.ts';
test('a genuine signal becomes a filled order', async (t) => {
  const world = await openWorld(t);
  const trader = await world.makeTrader();
  const a = await world.webhook(trader, world.signal(trader));
  assert.equal(a.status, 200, JSON.stringify(a.body));
  assert.equal(a.body.status, 'filled');
  const b = await world.webhook(trader, world.signal(trader, {action:'sell', quantity: 2}));
  assert.equal(b.body.auto_exit, true, JSON.stringify(b.body));
  console.log(b.body, await world.position(trader.account.id,'BTCUSDT'), await world.audits(trader));
});
