// POST /trading/orders/{id}/look: the broker is asked now, beside the queue of fill checks.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { foundOrders } from '../../src/app/orders/read-orders.ts';
import { type Reads, type Statement, sql } from '../../src/data/engine/db.ts';
import type { OrderId } from '../../src/domain/ids.ts';
import type { OrderRecord } from '../../src/domain/orders/result.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { type Store, StoreUnavailable } from '../../src/store/store.ts';
import type { Problem, Trader, World } from '../world.ts';
import { FIRST_POLL, polled, REQUEUE, restingBroker } from './fill-desk.ts';

const look = (world: World, trader: Trader, id: string) =>
  world.as<Problem & Pick<OrderRecord, 'verification'>>(trader, 'POST', `/trading/orders/${id}/look`);

/** Orders that rest at a broker; and when this many looks have ended. Of the first claim, or release, no answer may come. */
async function openLooking(
  t: TestContext,
  { loses, ...options }: { env?: Record<string, string>; loses?: 'claim' | 'release' } = {},
) {
  const kept = openMemoryStore({ clock: { now: () => performance.now() } });
  let begun = 0;
  let ended = 0;
  let isLost = false;
  const lose = (what: typeof loses) => {
    if (isLost || what !== loses) return;
    isLost = true;
    throw new StoreUnavailable('Redis did not answer in time');
  };
  const store: Store = {
    ...kept,
    async claim(key, ttlMs) {
      const isClaimed = await kept.claim(key, ttlMs);
      if (key.startsWith('look:')) {
        begun++;
        lose('claim');
      }
      return isClaimed;
    },
    async release(key) {
      if (key.startsWith('look:')) lose('release');
      await kept.release(key);
      if (key.startsWith('look:')) ended++;
    },
  };
  const desk = await restingBroker(t, { ...options, store });
  const haveEnded = (looks: number) =>
    desk.world.eventually(
      async () => ended,
      (count) => count === looks,
    );
  /** Or were turned away, because there was one. */
  const haveBegun = (looks: number) =>
    desk.world.eventually(
      async () => begun,
      (count) => count === looks,
    );
  return { ...desk, haveBegun, haveEnded };
}

const actions = async (world: World, trader: Trader, id: string) =>
  (
    await world.db.all<{ action: string; success: number | boolean }>(
      sql`select action, success from audit_logs where user_id = ${trader.user.id} and resource_id = ${id} order by id`,
    )
  ).map(({ action, success }) => `${action} ${success ? 'done' : 'refused'}`);

describe('POST /trading/orders/{id}/look', () => {
  test('a placed order that was filled meanwhile is seen at once, and no try is used up', async (t) => {
    const { broker, world, trader, haveEnded } = await openLooking(t);
    const { body } = await world.send(trader);
    assert.equal(body.status, 'placed');
    const first = await look(world, trader, body.order_id);
    assert.deepEqual(
      [first.status, first.body.verification.state, first.body.verification.attempts],
      [202, 'scheduled', 0],
    );
    await haveEnded(1);
    broker.settle(broker.ledger[0], 'filled');
    assert.equal((await look(world, trader, body.order_id)).status, 202);
    const record = await world.eventually(
      () => world.order(trader, body.order_id),
      ({ status }) => status === 'filled',
    );
    assert.deepEqual(record.verification, { state: 'done', attempts: 0, next_at: null });
    assert.equal(broker.ledger.length, 1, 'nothing was sent');
    assert.deepEqual(await actions(world, trader, body.order_id), [
      'webhook_order done',
      'order_look done',
      'order_look done',
    ]);
  });

  test('a look that finds no end leaves the tries and the next one as they are', async (t) => {
    const { clock, broker, world, trader, haveEnded } = await openLooking(t);
    const { body } = await world.send(trader);
    clock.advance(FIRST_POLL);
    const { verification } = await polled(world, trader, body.order_id, 1);
    const asked = broker.count('find');
    for (let each = 1; each <= 6; each++) {
      await look(world, trader, body.order_id);
      await haveEnded(each);
    }
    assert.equal(broker.count('find'), asked + 6);
    const record = await world.order(trader, body.order_id);
    assert.deepEqual([record.status, record.verification], ['placed', verification]);
  });

  test('a dead letter is looked at, stays one while nothing is found, and ends when its fill is', async (t) => {
    const { clock, broker, world, trader, haveEnded } = await openLooking(t, { env: { FILL_RETRIES: '0' } });
    const { body } = await world.send(trader);
    clock.advance(FIRST_POLL);
    await world.eventually(
      () => world.order(trader, body.order_id),
      ({ verification }) => verification.state === 'dead_letter',
    );
    const asked = broker.count('find');
    assert.equal((await look(world, trader, body.order_id)).status, 202);
    await haveEnded(1);
    assert.equal(broker.count('find'), asked + 1);
    assert.equal((await world.order(trader, body.order_id)).verification.state, 'dead_letter');
    broker.settle(broker.ledger[0], 'filled');
    await look(world, trader, body.order_id);
    const record = await world.eventually(
      () => world.order(trader, body.order_id),
      ({ status }) => status === 'filled',
    );
    assert.equal(record.verification.state, 'done');
    assert.ok((await actions(world, trader, body.order_id)).includes('order_resolved done'));
  });

  test('that ends the order while its record is read is read in full: no end stands beside a search', async (t) => {
    const { broker, world, trader, haveEnded } = await openLooking(t);
    const { body } = await world.send(trader);
    broker.settle(broker.ledger[0], 'filled');
    let reads = 0;
    const inTheMiddle: Reads = {
      get: (query) => world.db.get(query),
      async all<Row>(query: Statement) {
        const rows = await world.db.all<Row>(query);
        if (reads++ === 0) {
          await look(world, trader, body.order_id);
          await haveEnded(1);
        }
        return rows;
      },
    };
    const id = body.order_id as OrderId;
    const record = (await foundOrders({ db: inTheMiddle }, [id])).get(id)?.record;
    assert.deepEqual([record?.status, record?.verification.state], ['filled', 'done']);
  });

  for (const [what, later, end] of [
    ['an order was sent since', 'buy', 'cancelled'],
    ['the strategy has spoken since', 'sync', 'filled'],
  ] as const)
    test(`an old dead letter says nothing of a drift where ${what}`, async (t) => {
      const { clock, broker, world, trader } = await restingBroker(t, { env: { FILL_RETRIES: '0' } });
      const long = { market_position: 'long', market_position_size: 1 };
      const { body } = await world.send(trader, { quantity: 1, ...long, prev_market_position: 'flat' });
      clock.advance(FIRST_POLL);
      await world.eventually(
        () => world.order(trader, body.order_id),
        ({ verification }) => verification.state === 'dead_letter',
      );
      clock.advance(60_000);
      broker.fills = 'at once';
      if (later === 'buy') {
        const order = {
          trading_account_id: trader.account.id,
          action: 'buy',
          symbol: 'BTCUSDT',
          quantity: 1,
        };
        assert.equal((await world.as(trader, 'POST', '/trading/order', order)).status, 200);
      } else {
        // By hand, at the broker.
        broker.give(trader.account.id, -1);
        await world.send(trader, { action: 'sync', quantity: undefined, ...long });
      }
      const drifts = async () =>
        (await world.db.all<{ action: string }>(sql`select action from audit_logs order by id`))
          .map(({ action }) => action)
          .filter((action) => action.includes('drift'));
      const before = await drifts();
      assert.deepEqual(before, later === 'sync' ? ['position_drift'] : []);
      broker.settle(broker.ledger[0], end);
      await look(world, trader, body.order_id);
      await world.eventually(
        () => world.order(trader, body.order_id),
        ({ verification }) => verification.state === 'done',
      );
      await world.stop();
      assert.deepEqual(await drifts(), before);
    });

  test('an unknown order that the broker never got is found to be expired, as by a poll', async (t) => {
    const { clock, broker, world, trader } = await restingBroker(t);
    broker.script(
      'place',
      async () => {
        throw new Error('lost on the way');
      },
      1,
    );
    broker.script('find', async () => {
      throw new Error('away');
    });
    const { body } = await world.send(trader);
    assert.equal(body.status, 'unknown');
    clock.advance(FIRST_POLL);
    await polled(world, trader, body.order_id, 1);
    clock.advance(REQUEUE - 1);
    broker.forgetScripts();
    await look(world, trader, body.order_id);
    const record = await world.eventually(
      () => world.order(trader, body.order_id),
      ({ verification }) => verification.state === 'done',
    );
    assert.equal(record.status, 'expired');
    assert.equal(broker.ledger.length, 0);
  });

  test('an account has one at a time, however often and for whatever order it is asked for', async (t) => {
    const { clock, broker, world, trader, haveBegun, haveEnded } = await openLooking(t);
    const [first, second] = [await world.send(trader), await world.send(trader, { symbol: 'ETHUSDT' })];
    const asked = broker.count('find');
    const held = broker.hold('find');
    await look(world, trader, first.body.order_id);
    await held.reached;
    for (const { body } of [first, first, second, second])
      assert.equal((await look(world, trader, body.order_id)).status, 202);
    await haveBegun(5);
    held.release();
    await haveEnded(1);
    clock.advance(FIRST_POLL);
    await Promise.all([first, second].map(({ body }) => polled(world, trader, body.order_id, 1)));
    assert.equal(broker.count('find'), asked + 1 + 2);
    await look(world, trader, second.body.order_id);
    await haveEnded(2);
    assert.equal(broker.count('find'), asked + 1 + 2 + 1);
  });

  for (const loses of ['claim', 'release'] as const)
    test(`an account can be looked at again soon where the store did not answer the ${loses} of a look`, async (t) => {
      const { broker, world, trader, haveEnded } = await openLooking(t, { loses });
      const { body } = await world.send(trader);
      await look(world, trader, body.order_id);
      await haveEnded(1);
      broker.settle(broker.ledger[0], 'filled');
      await look(world, trader, body.order_id);
      const { status } = await world.eventually(
        () => world.order(trader, body.order_id),
        ({ verification }) => verification.state === 'done',
      );
      assert.equal(status, 'filled');
    });

  test('what has ended, others’ orders and garbage are refused', async (t) => {
    const { broker, world, trader } = await restingBroker(t);
    const other = await world.makeTrader();
    const resting = await world.send(trader);
    broker.fills = 'at once';
    const { body } = await world.send(trader, { symbol: 'ETHUSDT' });
    assert.equal(body.status, 'filled');
    const ended = await look(world, trader, body.order_id);
    assert.deepEqual([ended.status, ended.body.code], [409, 'nothing_to_look_for']);
    assert.deepEqual(await actions(world, trader, body.order_id), [
      'webhook_order done',
      'order_look refused',
    ]);
    for (const id of [resting.body.order_id, '01a1dd1d-b050-763c-8a06-602f97467e1f', 'x']) {
      const answer = await look(world, other, id);
      assert.deepEqual([id, answer.status, answer.body.code], [id, 404, 'not_found']);
    }
  });

  test('is a trading request: it is counted, and comes from an allowed address', async (t) => {
    const { world, trader } = await restingBroker(t, { env: { RATE_LIMIT_REQUESTS: '3' } });
    const { body } = await world.send(trader);
    for (const status of [202, 202, 429])
      assert.equal((await look(world, trader, body.order_id)).status, status);
    const guarded = await world.makeTrader();
    await world.allowIps(guarded, '203.0.113.7');
    const answer = await look(world, guarded, body.order_id);
    assert.deepEqual([answer.status, answer.body.code], [403, 'ip_not_allowed']);
  });
});
