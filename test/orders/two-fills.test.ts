// A target whose stop stands beside it under the same id may be filled in part before the stop comes: two closes, told as two.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { workerProtections } from '../../src/app/protection/for-workers.ts';
import { sql } from '../../src/data/engine/db.ts';
import { decimal } from '../../src/domain/decimal.ts';
import type { BrokerOrderState } from '../../src/domain/orders/fill.ts';
import { openWorld } from '../world.ts';

const fill = (brokerRef: string, quantity: number, price: number, status: 'filled' | 'cancelled') =>
  ({
    ...{ brokerRef, status, reason: null, fee: null },
    fillQuantity: decimal(quantity),
    fillPrice: decimal(price),
  }) as BrokerOrderState;

test('what a target and the stop beside it have closed stands in the history, each once', async (t) => {
  const world = await openWorld(t);
  const trader = await world.makeTrader();
  await world.webhook(trader, world.signal(trader, { quantity: 3, stop_loss: '5%' }));
  const protections = workerProtections({ db: world.db, clock: { now: Date.now }, exitDeadlineMs: 300_000 });
  const { id: user } = trader.user;
  const kept = () => protections.kept(user);
  const [protection] = await world.eventually(kept, ([one]) => one?.state === 'standing');
  const [leg] = protection?.legs ?? [];
  const owner = await world.db.get<{ token: string }>(
    sql`select token from worker_owners where user_id = ${user}`,
  );
  assert.ok(protection && leg && owner);
  const ended = { ...protection, legs: [] };
  const saved = await protections.record(ended, protection, owner.token, {
    leg: { ...leg, limit: decimal(90_000) },
    fills: [
      { by: 'target', reason: 'take_profit', order: fill('one', 1, 90_000, 'cancelled') },
      { by: 'stop', reason: 'stop_loss', order: fill('two', 1, 50_000, 'filled') },
      { by: 'stop', reason: 'stop_loss', order: fill('three', 1, 49_000, 'filled') },
    ],
    left: decimal(0),
    counted: undefined,
    unitValue: decimal(1),
  });
  assert.equal(typeof saved, 'object');
  const made = await world.db.all<Record<'exit_reason' | 'fill_price' | 'position_before', string>>(
    sql`select exit_reason, fill_price, position_before from order_history where source = 'protection' order by order_id`,
  );
  assert.deepEqual(
    made.map((row) => [row.exit_reason, Number(row.fill_price), Number(row.position_before)]),
    [
      ['take_profit', 90_000, 3],
      ['stop_loss', 50_000, 2],
      ['stop_loss', 49_000, 1],
    ],
  );

  // Nothing is left of it, and nobody else has traded.
  assert.equal(typeof saved, 'object');
  const after = saved as Exclude<typeof saved, string>;
  const over = await protections.save({ ...after, state: 'ended', dueAt: null }, after, owner.token);
  assert.equal(typeof over === 'object' && over.reason, null);
});
