// A user has one worker at a time, whatever leases say; and what was sent once can only be found, never ruled out.

import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BrokerUnavailable } from '../../src/broker/broker.ts';
import { sql } from '../../src/data/db.ts';
import { workerOrders } from '../../src/data/worker-orders.ts';
import { millis, timestamp, type UserId } from '../../src/domain/ids.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { startHost } from '../../src/worker/host.ts';
import { createMailbox } from '../../src/worker/mailbox.ts';
import { createPool, leaseOf, STARTS_QUEUE } from '../../src/worker/pool.ts';
import type { Worker } from '../../src/worker/worker.ts';
import { verified } from '../orders/fill-desk.ts';
import { die } from '../orders/recovery-desk.ts';
import { logbook } from '../world.ts';
import { scriptedWorld } from './scripted-broker.ts';

const steady = { now: () => performance.timeOrigin + performance.now() };

describe('A host', () => {
  /** A host whose workers do nothing until they are ended. */
  function idleHost(leaseMs = 10_000) {
    const store = openMemoryStore({ clock: steady });
    const { log } = logbook();
    const started: { user: UserId; end(): void }[] = [];
    const startWorker = (user: UserId): Worker => {
      const ended = Promise.withResolvers<void>();
      started.push({ user, end: ended.resolve });
      return {
        ready: Promise.resolve(),
        ended: ended.promise,
        stop() {
          ended.resolve();
          return ended.promise;
        },
        state: () => ({ busy: false, lastActiveAt: 0, connections: 0 }),
      };
    };
    const mailbox = createMailbox({ store, log });
    const host = startHost({ store, mailbox, startWorker, poolSize: 4, leaseMs, clock: steady, log });
    return { store, host, started, log };
  }
  const newUser = () => randomUUIDv7() as UserId;

  test('that gets several starts of one user at once starts one worker, and answers all', async (t) => {
    const { store, host, started } = idleHost();
    t.after(() => host.stop());
    for (let round = 0; round < 50; round++) {
      const user = newUser();
      const replies = ['a', 'b', 'c'].map((name) => `reply:{${user}}:${name}`);
      await Promise.all(
        replies.map((replyTo) => store.push(STARTS_QUEUE, JSON.stringify({ user, replyTo }), 10_000)),
      );
      for (const reply of replies) assert.equal(await store.take(reply, { timeoutMs: 5_000 }), 'started');
      assert.equal(started.filter((worker) => worker.user === user).length, 1);
    }
    assert.equal(host.users(), 50);
  });

  test('drops what is no start, and goes on', async (t) => {
    const { store, host, log } = idleHost();
    t.after(() => host.stop());
    for (const junk of ['not json', 'null', '[]', '{}', '{"user":"x","replyTo":"y"}', '7'])
      await store.push(STARTS_QUEUE, junk, 10_000);
    const pool = createPool({ store, startTimeoutMs: 5_000, launcher: null, log });
    assert.equal(await pool.ensure(newUser()), true);
    assert.equal(host.users(), 1);
  });

  test('that lost its leases to nobody takes them again; one that lost a user to another ends that worker', async (t) => {
    const { store, host, started } = idleHost(150);
    t.after(() => host.stop());
    const { log } = logbook();
    const pool = createPool({ store, startTimeoutMs: 5_000, launcher: null, log });
    const [mine, others] = [newUser(), newUser()];
    await pool.ensure(mine);
    await pool.ensure(others);
    for (const user of [mine, others]) {
      const lease = await store.leaseHolder(leaseOf(user));
      if (lease) await store.releaseLease(leaseOf(user), lease);
    }
    assert.ok(await store.acquireLease(leaseOf(others), 'another host', 10_000));
    while (host.users() !== 1) await nextTurn();
    while ((await store.leaseHolder(leaseOf(mine))) === null) await nextTurn();
    assert.equal((await store.leaseHolder(leaseOf(others)))?.holder, 'another host');
    assert.equal(started.length, 2);
  });

  test('is asked for a user once, however many processes want one while no host is there', async () => {
    const store = openMemoryStore({ clock: steady });
    const { log } = logbook();
    const user = newUser();
    const pools = Array.from({ length: 5 }, () =>
      createPool({ store, startTimeoutMs: 300, launcher: null, log }),
    );
    // One that finds an empty queue asks too; five at the same moment may.
    for (let round = 0; round < 3; round++)
      assert.deepEqual(await Promise.all(pools.map((pool) => pool.ensure(user))), Array(5).fill(false));
    assert.ok((await store.queueLength(STARTS_QUEUE)) <= 5);
  });
});

describe('A worker', () => {
  test('that another one has followed sends nothing more, and the order is executed once by the next', async (t) => {
    const { log, line } = logbook();
    const { broker, world, trader } = await scriptedWorld(t, { log });
    const held = broker.hold('position');
    const answer = world.send(trader);
    await held.reached;
    await workerOrders({ db: world.db, clock: world.clock, firstPollMs: 1 }).begin(trader.user.id, 'another');
    held.release();
    await line('another worker has taken the order over');
    const { status, body } = await answer;
    assert.deepEqual([status, body.status], [200, 'filled']);
    assert.deepEqual(broker.trades(), ['buy 1']);
    assert.equal(broker.count('open'), 2);
  });

  test('works off what was accepted before, in the order of acceptance, whatever clocks said', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    const held = broker.hold('place');
    const answers = [];
    for (const quantity of [1, 2, 3]) {
      answers.push(world.send(trader, { quantity }));
      await world.eventually(
        () => world.orders(trader),
        (orders) => orders.length === quantity,
      );
      // As if each had come by an API whose clock is further behind.
      const submitted = timestamp(world.clock.now() - quantity * 1000);
      await world.db.commit([
        sql`update order_history set submitted_at = ${submitted} where user_id = ${trader.user.id} and quantity = ${String(quantity)}`,
      ]);
    }
    held.release();
    for (const answer of answers) assert.equal((await answer).body.status, 'filled');
    assert.deepEqual(broker.trades(), ['buy 1', 'buy 2', 'buy 3']);
  });

  test('tells the broker to refuse what would come after it was given up', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t, { env: { ENTRY_DEADLINE_SECONDS: '600' } });
    await world.send(trader);
    const [sent] = broker.ledger;
    const [leg] = (await world.order(trader, String((await world.orders(trader))[0]?.order_id))).legs;
    assert.ok(sent && leg?.sent_at);
    assert.equal(millis(sent.sendBefore) - millis(leg.sent_at), 25_000);
  });
});

describe('A leg that may have been sent, and is sent again', () => {
  const REFUSED = { code: 'insufficient_margin', message: 'Too little.' } as const;

  for (const [what, script] of [
    ['the broker refuses it', async () => ({ outcome: 'rejected', error: REFUSED }) as const],
    ['the broker is out of reach', () => Promise.reject(new BrokerUnavailable('down'))],
  ] as const)
    test(`${what}: unknown, until it is found that the first one traded`, async (t) => {
      const { broker, trader, nextProcess } = await die(t, (death) => death.broker.hold('place', 'after'));
      // It has arrived, and nobody can be told of it yet.
      broker.script('find', async () => null);
      broker.script('place', script);
      const { second, clock, order } = await nextProcess();
      assert.equal(order.status, 'unknown');
      assert.equal(order.verification.state, 'scheduled');
      broker.forgetScripts();
      const found = await verified(second, trader, order.order_id, clock);
      assert.equal(found.status, 'filled');
      assert.deepEqual(broker.trades(), ['buy 1']);
    });
});
