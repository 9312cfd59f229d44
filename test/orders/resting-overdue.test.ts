// Which entries are looked at beside the queue, while a check of another account of their user is under way.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import { overdueResting } from '../../src/data/orders/resting.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { scriptedBroker } from '../worker/scripted-broker.ts';
import { openWorld, settableClock } from '../world.ts';

test('of each account one: what is stuck on one leaves room for the others, and what never rests is none', async (t) => {
  const clock = settableClock();
  const broker = scriptedBroker(t, { stopEntries: true, timeInForce: ['gtc', 'day', 'ioc', 'fok'] });
  const world = await openWorld(t, { clock, brokers: broker.brokers, wait: async () => {} });
  broker.fills = 'later';
  const trader = await world.makeTrader();
  const [stuck, healthy] = [await world.addAccount(trader), await world.addAccount(trader)];
  const rests = async (on: typeof trader, fields: object) => {
    const { body } = await world.send(on, { limit_price: 90, ...fields });
    assert.equal(body.status, 'placed', JSON.stringify(body));
    return body.order_id;
  };
  const running = await rests(trader, {});
  const fast = await rests(stuck, { time_in_force: 'ioc', symbol: 'ETHUSDT' });
  const first = await rests(stuck, { id: 'A' });
  const second = await rests(stuck, { id: 'B' });
  const other = await rests(healthy, {});
  const due = [fast, first, second, other];
  await world.db.commit([
    sql`update fill_checks set state = 'running', visible_at = ${timestamp(clock.now() + 60_000)} where order_id = ${running}`,
    ...due.map(
      (id, nth) =>
        sql`update fill_checks set next_at = ${timestamp(clock.now() - 1_000 + nth)} where order_id = ${id}`,
    ),
  ]);
  // The sweep of the world itself leaves them alone: its grace is not over.
  const found = await overdueResting(world.db, timestamp(clock.now()), 2);
  assert.deepEqual(
    found.map(({ orderId }) => orderId),
    [first, other],
  );
});
