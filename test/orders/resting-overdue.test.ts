// Which entries are looked at beside the queue: while a check of another account of their user is under way, or one is stuck.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import {
  claimCheck,
  concludeCheck,
  concludeLook,
  findOpenCheck,
  takeTurn,
} from '../../src/data/orders/fill-checks.ts';
import { overdueResting } from '../../src/data/orders/resting.ts';
import { type OrderId, timestamp } from '../../src/domain/ids.ts';
import { scriptedBroker } from '../worker/scripted-broker.ts';
import { openWorld, settableClock } from '../world.ts';

async function overdueDesk(t: TestContext) {
  const clock = settableClock();
  const broker = scriptedBroker(t, { stopEntries: true, timeInForce: ['gtc', 'day', 'ioc', 'fok'] });
  const world = await openWorld(t, { clock, brokers: broker.brokers, wait: async () => {} });
  broker.fills = 'later';
  const trader = await world.makeTrader();
  const rests = async (on: typeof trader, fields: object) => {
    const { body } = await world.send(on, { limit_price: 90, ...fields });
    assert.equal(body.status, 'placed', JSON.stringify(body));
    return body.order_id as OrderId;
  };
  return { clock, broker, world, trader, rests };
}

test('of each account one: what is stuck on one leaves room for the others, and what never rests is none', async (t) => {
  const { clock, world, trader, rests } = await overdueDesk(t);
  const [stuck, healthy] = [await world.addAccount(trader), await world.addAccount(trader)];
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
  const found = await overdueResting(world.db, {
    ...{ before: timestamp(clock.now()), stuckUntil: timestamp(clock.now()), limit: 2 },
  });
  assert.deepEqual(
    found.map(({ orderId }) => orderId),
    [first, other],
  );
});

test('a verifier that died over a check holds nothing up: neither that entry nor those behind it outlive their time', async (t) => {
  const { clock, broker, world, trader, rests } = await overdueDesk(t);
  const first = await rests(trader, { id: 'A', expires_in: 60 });
  const second = await rests(trader, { id: 'B', expires_in: 60 });
  const check = (await findOpenCheck(world.db, first)) ?? assert.fail();
  // Its claim is good for three minutes.
  const until = clock.now() + world.config.timings.fillVisibilityMs;
  assert.equal(await world.db.commit([claimCheck(check, timestamp(until))]), null);
  clock.advance(75_000);
  for (const id of [first, second]) {
    const { error } = await world.eventually(
      () => world.order(trader, id),
      ({ status }) => {
        // The one waits for the turn of the other.
        clock.advance(100);
        return status === 'cancelled';
      },
    );
    assert.equal(error?.code, 'lapsed');
  }
  assert.ok(clock.now() < until, 'not before the claim was over');
  assert.deepEqual(
    broker.ledger.map(({ state }) => state.status),
    ['cancelled', 'cancelled'],
  );
});

test('a claim that was taken over is over, however many tries the next one counts', async (t) => {
  const { clock, world, trader, rests } = await overdueDesk(t);
  const id = await rests(trader, {});
  const read = async () => (await findOpenCheck(world.db, id)) ?? assert.fail();
  const [mine, next] = [timestamp(clock.now() + 1), timestamp(clock.now() + 2)];
  const { db } = world;
  const before = await read();
  assert.equal(await db.commit([claimCheck(before, mine)]), null);
  const seen = { check: 'scheduled', nextAt: before.nextAt, reason: 'it rests', rests: 'seen' } as const;
  assert.equal(await db.commit([concludeLook({ orderId: id }, seen, null)]), 'idle', 'it is under way');
  assert.equal(await db.commit([concludeLook({ orderId: id, stuckUntil: mine }, seen, null)]), null);
  assert.equal(await db.commit([claimCheck(await read(), next)]), null);
  const claimed = { ...before, attempts: before.attempts + 1 };
  assert.equal(
    await db.commit([concludeCheck({ ...claimed, visibleAt: mine }, { check: 'done' })]),
    'claimed',
  );
  assert.equal(await db.commit([concludeCheck({ ...claimed, visibleAt: next }, { check: 'done' })]), null);
});

test('of all who would look beside the queue one does, and what is due after it comes before it the next time', async (t) => {
  const { clock, world, trader, rests } = await overdueDesk(t);
  const check = (await findOpenCheck(world.db, await rests(trader, {}))) ?? assert.fail();
  const later = timestamp(clock.now() + 20_000);
  assert.equal(await world.db.commit([takeTurn(check, later)]), null);
  assert.equal(await world.db.commit([takeTurn(check, later)]), 'turn');
  assert.equal((await findOpenCheck(world.db, check.orderId))?.nextAt, later);
});
