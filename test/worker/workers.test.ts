// The trading worker: the spec's table of it, its order of work, and how it ends.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { sql } from '../../src/data/engine/db.ts';
import type { OrderResult } from '../../src/domain/orders/result.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { type Store, StoreUnavailable } from '../../src/store/store.ts';
import { leaseOf, STARTS_QUEUE } from '../../src/worker/host/pool.ts';
import type { Answer, Problem, Trader, World } from '../world.ts';
import { scriptedWorld } from './scripted-broker.ts';

const memoryStore = () => openMemoryStore({ clock: { now: () => Date.now() } });

/** The same order by either path. */
const dashboard = <Body = OrderResult>(world: World, trader: Trader) =>
  world.as<Body>(trader, 'POST', '/trading/order', {
    trading_account_id: trader.account.id,
    action: 'buy',
    symbol: 'BTCUSDT',
    quantity: 1,
  });

const IDLE_100_MS = { WORKER_IDLE_HOURS: '0.0000278' };

/** A worker that has stopped gives its user back only when it is let. */
function slowToLeave(store: Store) {
  const stopped = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const slow: Store = {
    ...store,
    async releaseLease(...lease) {
      stopped.resolve();
      await goOn.promise;
      await store.releaseLease(...lease);
    },
  };
  return { slow, stopped: stopped.promise, goOn: goOn.resolve };
}

describe('Trading worker', () => {
  test('no active worker, an order request: a worker starts, and the order is queued to it', async (t) => {
    const store = memoryStore();
    const { world, trader } = await scriptedWorld(t, { store });
    assert.equal(await store.leaseHolder(leaseOf(trader.user.id)), null);
    const { status, body } = await world.send(trader);
    assert.equal(status, 200);
    assert.equal(body.status, 'filled');
    assert.ok(await store.leaseHolder(leaseOf(trader.user.id)));
  });

  test('active, another order request: the same worker, on the same connection', async (t) => {
    const store = memoryStore();
    const { broker, world, trader } = await scriptedWorld(t, { store });
    await world.send(trader);
    const lease = await store.leaseHolder(leaseOf(trader.user.id));
    await world.send(trader);
    await dashboard(world, trader);
    assert.deepEqual(await store.leaseHolder(leaseOf(trader.user.id)), lease);
    assert.equal(broker.count('open'), 1);
  });

  test('no active worker, the start does not complete in time: 503, nothing queued, and the repeat trades', async (t) => {
    const { store, start } = storeThatStartsNobody();
    t.after(() => start());
    const env = { WORKER_START_TIMEOUT_SECONDS: '0.5' };
    const { broker, world, trader } = await scriptedWorld(t, { store, env });
    const signal = world.signal(trader);
    const refused = await world.webhook<Problem>(trader, signal);
    assert.equal(refused.status, 503);
    assert.equal(refused.body.code, 'worker_unavailable');
    assert.ok(Number(refused.headers['retry-after']) > 0);
    const manual = await dashboard<Problem>(world, trader);
    assert.equal(manual.status, 503);
    assert.equal(manual.body.code, 'worker_unavailable');
    assert.deepEqual(await world.db.all(sql`select order_id from order_history`), []);
    assert.equal(await store.leaseHolder(leaseOf(trader.user.id)), null);

    start();
    const repeated = await world.webhook(trader, signal);
    assert.equal(repeated.status, 200);
    assert.equal(repeated.body.status, 'filled');
    assert.deepEqual(broker.trades(), ['buy 1']);
  });

  test('active, idle for WORKER_IDLE_HOURS: stopped and disconnected; the next request starts a new one', async (t) => {
    const store = memoryStore();
    const { broker, world, trader } = await scriptedWorld(t, { store, env: IDLE_100_MS });
    await world.send(trader);
    await world.eventually(
      () => store.leaseHolder(leaseOf(trader.user.id)),
      (lease) => lease === null,
    );
    assert.equal(broker.count('close'), 1);
    const { body } = await world.send(trader);
    assert.equal(body.status, 'filled');
    assert.equal(broker.count('open'), 2);
    assert.deepEqual(broker.trades(), ['buy 1', 'buy 1']);
  });

  test('active, about to stop: an order that comes in that moment is served by the next one', async (t) => {
    const store = memoryStore();
    const { slow, stopped, goOn } = slowToLeave(store);
    const env = { ...IDLE_100_MS, RESPONSE_WAIT_SECONDS: '2' };
    const { broker, world, trader } = await scriptedWorld(t, { store: slow, env });
    await world.send(trader);
    await stopped;
    const answer = world.send(trader);
    await world.eventually(
      () => store.queueLength(`work:{${trader.user.id}}`),
      (messages) => messages === 1,
    );
    goOn();
    const { status, body } = await answer;
    assert.equal(status, 200);
    assert.equal(body.status, 'filled');
    assert.equal(broker.count('open'), 2);
  });

  test('about to stop, and the start of the next one gets lost: the order that waits is rescued', async (t) => {
    const store = memoryStore();
    let losesStarts = false;
    const { slow, stopped, goOn } = slowToLeave(store);
    const lossy: Store = {
      ...slow,
      push: (queue, message, ttlMs) =>
        losesStarts && queue === STARTS_QUEUE
          ? Promise.reject(new StoreUnavailable())
          : store.push(queue, message, ttlMs),
    };
    const env = { ...IDLE_100_MS, RESPONSE_WAIT_SECONDS: '0.3' };
    const { broker, world, trader } = await scriptedWorld(t, { store: lossy, env });
    await world.send(trader);
    await stopped;
    const { status, body } = await world.send(trader);
    assert.equal(status, 202);
    losesStarts = true;
    goOn();
    await world.eventually(
      () => store.leaseHolder(leaseOf(trader.user.id)),
      (lease) => lease === null,
    );
    losesStarts = false;
    await world.eventually(
      () => world.order(trader, body.order_id),
      (order) => order.status === 'filled',
      15_000,
    );
    assert.deepEqual(broker.trades(), ['buy 1', 'buy 1']);
  });

  test('stopped since it was last heard of: the order that was accepted for it starts a new one', async (t) => {
    const store = memoryStore();
    let looks = 0;
    const counted: Store = {
      ...store,
      leaseHolder(key) {
        looks++;
        return store.leaseHolder(key);
      },
    };
    const env = { ...IDLE_100_MS, RESPONSE_WAIT_SECONDS: '2' };
    const { broker, world, trader } = await scriptedWorld(t, { store: counted, env });
    await world.send(trader);
    await world.eventually(
      () => store.leaseHolder(leaseOf(trader.user.id)),
      (lease) => lease === null,
    );
    looks = 0;
    const { status, body } = await world.send(trader);
    assert.equal(status, 200);
    assert.equal(body.status, 'filled');
    assert.ok(looks > 0, 'whoever asks a worker looks whether it is there');
    assert.deepEqual(broker.trades(), ['buy 1', 'buy 1']);
  });
});

/** Warm workers stand still until `start`. */
function storeThatStartsNobody() {
  const store = memoryStore();
  const gate = Promise.withResolvers<void>();
  const gated: Store = {
    ...store,
    async acquireLease(...lease) {
      await gate.promise;
      return store.acquireLease(...lease);
    },
  };
  return { store: gated, start: gate.resolve };
}

describe('The order of work', () => {
  test("a user's orders run one at a time, in the order of their acceptance", async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    const held = broker.hold('place');
    const sent: Promise<Answer>[] = [];
    for (let index = 0; index < 20; index++) {
      sent.push(index % 2 === 0 ? world.send(trader, { quantity: index + 1 }) : dashboard(world, trader));
      // Accepted, before the next one is sent.
      await world.eventually(
        () => world.orders(trader),
        (orders) => orders.length === index + 1,
      );
    }
    held.release();
    const answers = await Promise.all(sent);
    assert.ok(answers.every(({ status, body }) => status === 200 && body.status === 'filled'));
    assert.equal(broker.mostOfAll, 1, 'never two calls at once');
    const accepted = await world.db.all<{ client_order_id: string }>(
      sql`select legs.client_order_id from order_history orders
          join order_legs legs on legs.order_id = orders.order_id order by orders.order_id`,
    );
    assert.equal(accepted.length, 20);
    assert.deepEqual(
      broker.ledger.map(({ clientOrderId }) => clientOrderId),
      accepted.map((leg) => leg.client_order_id),
    );
  });

  test('users run in parallel: one whose broker hangs holds back no other', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t, { env: { WORKER_POOL_SIZE: '1' } });
    const place = broker.hold('place');
    const stuck = world.send(trader);
    await place.reached;
    const others = await Promise.all([1, 2, 3].map(async () => world.send(await world.makeTrader())));
    assert.ok(others.every(({ body }) => body.status === 'filled'));
    assert.ok(broker.mostOfAll >= 2);
    place.release();
    assert.equal((await stuck).body.status, 'filled');
  });

  test('a simulated and a real order of one user run one after the other too', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    const place = broker.hold('place');
    const real = world.send(trader);
    await place.reached;
    const simulated = world.send(trader, {}, { query: '?simulation=true' });
    const waiting = await world.eventually(
      () => world.as<{ items: OrderResult[] }>(trader, 'GET', '/trading/orders'),
      ({ body }) => body.items.length === 2,
    );
    assert.deepEqual(
      waiting.body.items.map(({ simulation, status }) => [simulation, status]),
      [
        [true, 'queued'],
        [false, 'executing'],
      ],
    );
    place.release();
    assert.equal((await real).body.status, 'filled');
    assert.equal((await simulated).body.status, 'filled');
  });
});

describe("A worker's answer that does not come within RESPONSE_WAIT_SECONDS", () => {
  const env = { RESPONSE_WAIT_SECONDS: '1' };

  for (const [path, place] of [
    ['the webhook', (world: World, trader: Trader) => world.send(trader)],
    ['/trading/order', (world: World, trader: Trader) => dashboard(world, trader)],
  ] as const)
    test(`${path}: 202 with the order as known so far and its Location, where the end is found later`, async (t) => {
      const { broker, world, trader } = await scriptedWorld(t, { env });
      const held = broker.hold('place');
      const first = place(world, trader);
      await held.reached;
      const [executing, queued] = await Promise.all([first, place(world, trader)]);
      assert.equal(executing.status, 202);
      assert.equal(executing.body.status, 'executing');
      assert.equal(executing.headers.location, `/trading/orders/${executing.body.order_id}`);
      assert.equal(queued.status, 202);
      assert.equal(queued.body.status, 'queued');
      held.release();
      for (const answer of [executing, queued]) {
        const end = await world.eventually(
          () => world.as<OrderResult>(trader, 'GET', String(answer.headers.location)),
          ({ body }) => body.status === 'filled',
        );
        assert.equal(end.status, 200);
        assert.equal(end.body.order_id, answer.body.order_id);
      }
      assert.deepEqual(broker.trades(), ['buy 1', 'buy 1']);
    });
});

describe('A worker that ends', () => {
  test('with a fault of the store has closed its connections, and the next request starts a new one', async (t) => {
    const store = memoryStore();
    let isBroken = false;
    const faulty: Store = {
      ...store,
      take: (queue, options) =>
        isBroken && queue.startsWith('work:')
          ? Promise.reject(new StoreUnavailable())
          : store.take(queue, options),
    };
    const { broker, world, trader } = await scriptedWorld(t, { store: faulty });
    const place = broker.hold('place');
    const first = world.send(trader);
    await place.reached;
    isBroken = true;
    // It is taken by who waits for it already; the next look into the queue fails.
    const second = world.send(trader);
    await world.eventually(
      () => store.queueLength(`work:{${trader.user.id}}`),
      (messages) => messages === 0,
    );
    place.release();
    for (const answer of [first, second]) assert.equal((await answer).body.status, 'filled');
    await world.eventually(
      () => store.leaseHolder(leaseOf(trader.user.id)),
      (lease) => lease === null,
    );
    assert.equal(broker.count('close'), 1);
    isBroken = false;
    assert.equal((await world.send(trader)).body.status, 'filled');
    assert.equal(broker.count('open'), 2);
  });
});

describe('A stop', () => {
  test('gives the leases back before it is done', async (t) => {
    const store = memoryStore();
    const events: string[] = [];
    const slow: Store = {
      ...store,
      async releaseLease(...lease) {
        await setImmediate();
        await store.releaseLease(...lease);
        events.push('released');
      },
      async close() {
        events.push('closed');
        await store.close();
      },
    };
    const { world, trader } = await scriptedWorld(t, { store: slow });
    await world.send(trader);
    await world.send(await world.makeTrader());
    await world.stop();
    assert.deepEqual(events, ['released', 'released', 'closed']);
  });

  test('in the middle of an order: the order is finished and its request answered first', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    const place = broker.hold('place');
    const answer = world.send(trader);
    await place.reached;
    const stopped = world.stop();
    place.release();
    await stopped;
    assert.equal((await answer).body.status, 'filled');
    assert.deepEqual(broker.trades(), ['buy 1']);
    assert.equal(broker.count('close'), 1);
    assert.deepEqual(await world.db.all(sql`select status from order_history`), [{ status: 'filled' }]);
  });

  test('with an order still waiting for its worker: it is executed once, before the end or after the next start', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    const place = broker.hold('place');
    const first = world.send(trader, { quantity: 1 });
    await place.reached;
    const second = world.send(trader, { quantity: 2 });
    await world.eventually(
      () => world.db.all(sql`select order_id from order_history`),
      (orders) => orders.length === 2,
    );
    const restarted = world.restart();
    place.release();
    await restarted;
    assert.equal((await first).body.status, 'filled');
    const { status, body } = await second;
    // By which of them is up to how far the stop has come when the first one ends.
    assert.ok(status === 200 || status === 202, `${status}`);
    await world.eventually(
      () => world.order(trader, body.order_id),
      (record) => record.status === 'filled',
    );
    assert.deepEqual(broker.trades(), ['buy 1', 'buy 2']);
  });
});
