// When a part of ours fails. The charting platform repeats an alert that got a 5xx: that repeat must trade, once.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { placeDashboardOrder } from '../../src/app/orders/dashboard-order.ts';
import { DatabaseUnavailable, sql } from '../../src/data/engine/db.ts';
import { noteStopped } from '../../src/data/orders/strategies.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { UNTRACED } from '../../src/domain/tracing.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { type Store, StoreUnavailable } from '../../src/store/store.ts';
import { STARTS_QUEUE } from '../../src/worker/host/pool.ts';
import { type Answer, logbook, openWorld, type Problem, type Trader, type World } from '../world.ts';

/** A store in memory whose parts a test takes away and gives back. */
function brittleStore() {
  const whole = openMemoryStore({ clock: { now: () => performance.timeOrigin + performance.now() } });
  const store: { -readonly [Call in keyof Store]: Store[Call] } = { ...whole };
  return {
    store,
    whole,
    mend: () => void Object.assign(store, whole),
  };
}

/** What never comes fails. */
const SOON = { timeout: 20_000 };

const unavailable = async (): Promise<never> => {
  throw new StoreUnavailable('the store does not answer');
};

const assertRefused = (answer: Answer<Problem>, code: string) => {
  assert.deepEqual([answer.status, answer.body.code], [503, code]);
  assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
  assert.equal(answer.headers['content-type'], 'application/problem+json; charset=utf-8');
};

/** Nothing was accepted, and the attempt has its one audit entry. */
async function assertNothingQueued(world: World, trader: Trader, code: string): Promise<void> {
  assert.deepEqual(await world.orders(trader), []);
  assert.deepEqual(await world.paperOrders(trader.account.id), []);
  const entries = await world.audits(trader);
  assert.deepEqual(
    entries.map(({ action, success, metadata }) => [action, success, JSON.parse(metadata).code]),
    [['webhook_order', 0, code]],
  );
}

/** The platform's repeat: the very same body. */
async function assertTradesOnce(world: World, trader: Trader, signal: object, query = ''): Promise<void> {
  assert.equal((await world.webhook(trader, signal, { query })).status, 200);
  assert.equal((await world.webhook(trader, signal, { query })).status, 409);
  const book = query ? `sim:${trader.account.id}` : trader.account.id;
  assert.equal((await world.paperOrders(book)).length, 1);
  assert.equal((await world.orders(trader)).length, 1);
}

describe('a refusal because of us queues nothing and forgets the signal', () => {
  for (const query of ['', '?simulation=true']) {
    const mode = query ? 'simulated' : 'real';

    test(`${mode}: a store that does not answer level 4 closes the door: 503 store_unavailable`, async (t) => {
      const { store, mend } = brittleStore();
      const world = await openWorld(t, { store });
      const trader = await world.makeTrader();
      const signal = world.signal(trader);
      store.begin = unavailable;
      assertRefused(await world.webhook<Problem>(trader, signal, { query }), 'store_unavailable');
      await assertNothingQueued(world, trader, 'store_unavailable');
      mend();
      await assertTradesOnce(world, trader, signal, query);
    });

    test(`${mode}: a worker that does not start in time is 503 worker_unavailable`, async (t) => {
      const { store, whole, mend } = brittleStore();
      const world = await openWorld(t, { store, env: { WORKER_START_TIMEOUT_SECONDS: '1' } });
      const trader = await world.makeTrader();
      const signal = world.signal(trader);
      store.push = async (queue, ...message) =>
        queue === STARTS_QUEUE ? undefined : whole.push(queue, ...message);
      assertRefused(await world.webhook<Problem>(trader, signal, { query }), 'worker_unavailable');
      await assertNothingQueued(world, trader, 'worker_unavailable');
      mend();
      await assertTradesOnce(world, trader, signal, query);
    });
  }

  test('a store that is lost between level 4 and the worker is 503 store_unavailable', async (t) => {
    const { store, mend } = brittleStore();
    const world = await openWorld(t, { store });
    const trader = await world.makeTrader();
    const signal = world.signal(trader);
    store.leaseHolder = unavailable;
    assertRefused(await world.webhook<Problem>(trader, signal), 'store_unavailable');
    await assertNothingQueued(world, trader, 'store_unavailable');
    mend();
    await assertTradesOnce(world, trader, signal);
  });

  test('a store that claimed and lost its answer has not claimed', async (t) => {
    const { store, whole, mend } = brittleStore();
    const world = await openWorld(t, { store });
    const trader = await world.makeTrader();
    const signal = world.signal(trader);
    store.begin = async (...begun) => {
      await whole.begin(...begun);
      return unavailable();
    };
    assertRefused(await world.webhook<Problem>(trader, signal), 'store_unavailable');
    mend();
    await assertTradesOnce(world, trader, signal);
  });

  test(
    'a store that is away when the signal is to be forgotten forgets it when it is back',
    SOON,
    async (t) => {
      const { store, whole, mend } = brittleStore();
      const world = await openWorld(t, { store });
      const trader = await world.makeTrader();
      const signal = world.signal(trader);
      const forgotten = Promise.withResolvers<void>();
      store.leaseHolder = unavailable;
      store.release = unavailable;
      assertRefused(await world.webhook<Problem>(trader, signal), 'store_unavailable');
      mend();
      store.release = async (claim) => {
        await whole.release(claim);
        forgotten.resolve();
      };
      await forgotten.promise;
      await assertTradesOnce(world, trader, signal);
    },
  );

  for (const [what, held, said] of [
    ['an exit', 1, { action: 'sell', market_position: 'flat', market_position_size: 0 }],
    ['an entry', 0, { action: 'buy', market_position: 'long', market_position_size: 1 }],
  ] as const)
    test(`${what}, whose repeat trades also where a report came in between`, async (t) => {
      let isAway = false;
      const world = await openWorld(t, {
        db: (db) => ({
          ...db,
          async commit(unit) {
            if (isAway && unit.some(({ parts }) => parts[0]?.includes('insert into order_history')))
              throw new DatabaseUnavailable('gone for a moment');
            return db.commit(unit);
          },
        }),
      });
      const trader = await world.makeTrader();
      const { action, ...stands } = said;
      if (held > 0) await world.send(trader, { market_position: 'long', market_position_size: held });
      const alert = world.signal(trader, { ...said, id: 'an alert' });
      isAway = true;
      assertRefused(await world.webhook<Problem>(trader, alert), 'database_unavailable');
      isAway = false;
      for (const seconds of [1, 2]) {
        const later = timestamp(world.clock.now() + seconds * 1000);
        const report = { action: 'sync', quantity: null, timestamp: later, ...stands };
        assert.equal((await world.send<{ in_sync: boolean }>(trader, report)).body.in_sync, false);
      }
      const { body } = await world.webhook(trader, alert);
      assert.deepEqual([body.action, body.status, body.error, body.gap], [action, 'filled', null, false]);
      assert.equal(Number(await world.position(trader.account.id, 'BTCUSDT')), 1 - held);
    });
});

describe('a signal that is being decided', () => {
  test('by a process that dies is decided by the one that gets the repeat', SOON, async (t) => {
    let now = 1_000_000;
    const whole = openMemoryStore({ clock: { now: () => now } });
    const begun = Promise.withResolvers<string>();
    const store: Store = {
      ...whole,
      async begin(key, ttlMs) {
        const found = await whole.begin(key, ttlMs);
        begun.resolve(key);
        if (found === 'under_way') now += 1_000;
        return found;
      },
    };
    const world = await openWorld(t, { store });
    const trader = await world.makeTrader();
    const signal = world.signal(trader);
    // Another process has begun, and is never heard of again.
    store.leaseHolder = unavailable;
    store.release = async () => {};
    assertRefused(await world.webhook<Problem>(trader, signal), 'store_unavailable');
    assert.equal(await whole.begin(await begun.promise, 1), 'under_way');
    Object.assign(store, { leaseHolder: whole.leaseHolder, release: whole.release });
    await assertTradesOnce(world, trader, signal);
  });

  test('and refused because of us lets the repeat that waits trade', SOON, async (t) => {
    const { store, whole } = brittleStore();
    const world = await openWorld(t, { store });
    const trader = await world.makeTrader();
    const signal = world.signal(trader);
    const reached = Promise.withResolvers<void>();
    const fail = Promise.withResolvers<void>();
    store.leaseHolder = async () => {
      reached.resolve();
      await fail.promise;
      store.leaseHolder = whole.leaseHolder;
      return unavailable();
    };
    const first = world.webhook<Problem>(trader, signal);
    await reached.promise;
    const looked = Promise.withResolvers<void>();
    store.begin = async (...begun) => {
      const found = await whole.begin(...begun);
      looked.resolve();
      return found;
    };
    const second = world.webhook(trader, signal);
    await looked.promise;
    fail.resolve();
    assertRefused(await first, 'store_unavailable');
    assert.equal((await second).status, 200);
    assert.equal((await world.orders(trader)).length, 1);
  });
});

describe('what does not depend on the store goes on without it', () => {
  test('the rate limiter fails open, and the log says so each time', async (t) => {
    const { store } = brittleStore();
    const { log, lines } = logbook();
    const world = await openWorld(t, { store, log, env: { RATE_LIMIT_REQUESTS: '1' } });
    const trader = await world.makeTrader();
    for (const fault of [new StoreUnavailable('gone'), new Error('anything else')]) {
      store.countInWindow = () => Promise.reject(fault);
      for (const _ of [1, 2]) assert.equal((await world.send(trader)).status, 200);
      const order = { trading_account_id: trader.account.id, action: 'buy', symbol: 'BTCUSDT', quantity: 1 };
      assert.equal((await world.as(trader, 'POST', '/trading/order', order)).status, 200);
    }
    const told = lines.filter(({ msg }) => msg === 'the rate limiter fails open: the store does not answer');
    assert.deepEqual(
      told.map(({ user_id }) => user_id),
      Array(6).fill(trader.user.id),
    );
  });

  test('an order that was accepted and could not be queued is 202, stands once, and its repeat is a replay', async (t) => {
    const { store, whole, mend } = brittleStore();
    const world = await openWorld(t, { store });
    const trader = await world.makeTrader();
    await world.send(trader);
    store.push = (queue, ...message) =>
      queue.startsWith('work:') ? unavailable() : whole.push(queue, ...message);
    const signal = world.signal(trader);
    const answer = await world.webhook(trader, signal);
    assert.equal(answer.status, 202);
    assert.equal(answer.headers.location, `/trading/orders/${answer.body.order_id}`);
    assert.deepEqual([answer.body.status, answer.body.error], ['queued', null]);
    mend();
    assert.equal((await world.webhook(trader, signal)).status, 409);
    assert.equal((await world.orders(trader)).length, 2);
  });

  test('a database that is lost after the commit does not call an accepted order refused', async (t) => {
    const world = await openWorld(t);
    const { user, account } = await world.makeTrader();
    let isLost = false;
    const outcome = await placeDashboardOrder(
      {
        db: {
          ...world.db,
          all: (query) => (isLost ? Promise.reject(new DatabaseUnavailable('lost')) : world.db.all(query)),
          async commit(unit) {
            const failed = await world.db.commit(unit);
            isLost = true;
            return failed;
          },
        },
        clock: world.clock,
        store: { ping: async () => {} },
        pool: { ensure: async () => true, allKnow: () => true },
        mailbox: { ask: async () => null },
        log: { warn: () => {} },
        changes: { ofOrder() {} },
        tracing: UNTRACED,
        plans: {
          free: { simulation_only: true, daily_orders: 1 },
          desk: { simulation_only: false, daily_orders: null },
        },
        responseWaitMs: 1,
        entryDeadlineMs: 1000,
        exitDeadlineMs: 1000,
      },
      {
        user,
        accountId: account.id,
        action: 'buy',
        orderType: null,
        symbol: 'BTCUSDT',
        quantity: decimal(1),
        simulation: false,
        fields: {},
        idempotency: null,
        arrivedAt: world.clock.now(),
        context: { requestId: '', ip: '127.0.0.1', userAgent: null, path: '/trading/order', method: 'POST' },
      },
    );
    assert.ok('order' in outcome && !outcome.answered);
    assert.equal(outcome.order.status, 'queued');
  });
});

describe('an order by hand while the store is away', () => {
  const manual = (trader: Trader, fields = {}) => ({
    ...{ trading_account_id: trader.account.id, action: 'buy', symbol: 'BTCUSDT', quantity: 1 },
    ...fields,
  });
  const place = (world: World, trader: Trader, key: string | null) =>
    world.as<Problem & { status: unknown }>(
      trader,
      'POST',
      '/trading/order',
      manual(trader),
      key === null ? {} : { 'idempotency-key': key },
    );

  /** As it is: nothing of it answers. Or only what queues an order does not, which is noticed once it is accepted. */
  const AWAY: Readonly<Record<string, readonly (keyof Store)[]>> = {
    whole: ['ping', 'push', 'leaseHolder', 'begin', 'claim', 'queueLength', 'countInWindow'],
    'as far as queues go': ['push'],
  };
  for (const [how, calls] of Object.entries(AWAY))
    for (const key of [null, 'once'])
      test(`is 503, leaves nothing behind, and its repeat trades once: ${how}, ${key ? 'with' : 'without'} a key`, async (t) => {
        const { store, mend } = brittleStore();
        const world = await openWorld(t, { store });
        const trader = await world.makeTrader({ plan: 'starter' });
        // Its worker is known to be there.
        assert.equal((await world.send(trader)).status, 200);
        for (const call of calls) Object.assign(store, { [call]: unavailable });
        assertRefused(await place(world, trader, key), 'store_unavailable');
        assert.equal(
          (await world.orders(trader)).length,
          1,
          'there is nothing that could be found and executed later',
        );
        mend();
        assert.equal((await place(world, trader, key)).status, 200);
        assert.equal((await world.paperOrders(trader.account.id)).length, 2);
        const [today] = await world.db.all<{ orders: number }>(sql`select orders from daily_order_counts`);
        assert.equal(today?.orders, 2);
        if (key === null) return;
        assert.equal((await place(world, trader, key)).status, 200);
        assert.equal((await world.paperOrders(trader.account.id)).length, 2, 'the first answer again');
      });

  test('as an alignment is 503, and leaves nothing behind', async (t) => {
    const { store, mend } = brittleStore();
    const world = await openWorld(t, { store });
    const trader = await world.makeTrader();
    await world.send(trader, { market_position: 'long', market_position_size: 1 });
    await world.as(trader, 'POST', '/trading/order', manual(trader, { quantity: 2 }));
    const align = () =>
      world.as<Problem>(trader, 'POST', `/trading/accounts/${trader.account.id}/align`, {
        symbol: 'BTCUSDT',
      });
    store.ping = unavailable;
    assertRefused(await align(), 'store_unavailable');
    assert.equal((await world.orders(trader)).length, 2);
    mend();
    assert.equal((await align()).status, 200);
    assert.equal(await world.position(trader.account.id, 'BTCUSDT'), '1');
  });

  test('as an alignment that opens anew what protection has closed is accepted, and made when the store is back', async (t) => {
    const { store, whole, mend } = brittleStore();
    const world = await openWorld(t, { store });
    const trader = await world.makeTrader();
    await world.send(trader, { market_position: 'long', market_position_size: 1 });
    await world.as(trader, 'POST', '/trading/order', manual(trader, { action: 'close_long' }));
    const key = { accountId: trader.account.id, symbol: 'BTCUSDT', simulation: false };
    const closed = { quantity: decimal(1), isAll: true };
    await world.db.commit([noteStopped(key, 'long', closed, timestamp(world.clock.now()))]);
    store.push = (queue, message, ...rest) =>
      message.includes('"execute"') ? unavailable() : whole.push(queue, message, ...rest);
    const { status, body } = await world.as<{ status: string }>(
      trader,
      'POST',
      `/trading/accounts/${trader.account.id}/align`,
      { symbol: 'BTCUSDT' },
    );
    assert.deepEqual([status, body.status], [202, 'queued'], 'it counts as stopped out no more');
    mend();
    await world.eventually(
      () => world.position(trader.account.id, 'BTCUSDT'),
      (held) => held === '1',
      15_000,
    );
  });

  test('does not hold for the kill switch’s closes: what was accepted stands, and is made when the store is back', async (t) => {
    const { store, whole, mend } = brittleStore();
    const world = await openWorld(t, { store });
    const trader = await world.makeTrader();
    await world.send(trader);
    // The positions can still be asked for; the close can no longer be queued.
    store.push = (queue, message, ...rest) =>
      message.includes('"execute"') ? unavailable() : whole.push(queue, message, ...rest);
    const { status, body } = await world.as<{ flatten_error: { code: string } | null }>(
      trader,
      'POST',
      `/trading/accounts/${trader.account.id}/halt`,
      { flatten: true },
    );
    assert.equal(status, 200);
    assert.notEqual(body.flatten_error, null, 'it does not say that all is closed');
    mend();
    await world.eventually(
      () => world.position(trader.account.id, 'BTCUSDT'),
      (held) => held === '0',
      15_000,
    );
  });
});
