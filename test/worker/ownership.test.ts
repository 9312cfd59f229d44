// A user has one worker at a time, whatever leases say; and what was sent once can only be found, never ruled out.

import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BrokerUnavailable } from '../../src/broker/broker.ts';
import { sql } from '../../src/data/engine/db.ts';
import { workerOrders } from '../../src/data/orders/for-workers.ts';
import { millis, timestamp, type UserId } from '../../src/domain/ids.ts';
import { leaseOf, STARTS_QUEUE } from '../../src/worker/host/pool.ts';
import { HOSTS } from '../../src/worker/host/roster.ts';
import { verified } from '../orders/fill-desk.ts';
import { die } from '../orders/recovery-desk.ts';
import { logbook } from '../world.ts';
import { openHost, openWays, sharedStore } from './hosts-desk.ts';
import { scriptedWorld } from './scripted-broker.ts';

describe('A host', () => {
  const newUser = () => randomUUIDv7() as UserId;

  test('that gets several starts of one user at once starts one worker, and answers all', async (t) => {
    const store = sharedStore();
    const { host, workers } = openHost(t, store);
    for (let round = 0; round < 50; round++) {
      const user = newUser();
      const replies = [1, 2, 3].map(() => store.expectReply({ timeoutMs: 5_000 }));
      await Promise.all(
        replies.map(({ address: replyTo }) =>
          store.push(STARTS_QUEUE, JSON.stringify({ user, replyTo }), 10_000),
        ),
      );
      for (const { reply } of replies) assert.equal(await reply, 'started');
      assert.equal(workers.filter((worker) => worker.user === user).length, 1);
    }
    assert.equal(host.users(), 50);
  });

  test('drops what is no start, and goes on', async (t) => {
    const store = sharedStore();
    const { host } = openHost(t, store);
    const { pool } = openWays(t, store);
    for (const junk of ['not json', 'null', '[]', '{}', '{"user":"x","replyTo":"y"}', '7'])
      await store.push(STARTS_QUEUE, junk, 10_000);
    assert.equal(await pool.ensure(newUser()), true);
    assert.equal(host.users(), 1);
  });

  test('that lost its leases to nobody takes them again; one that lost a user to another ends that worker', async (t) => {
    const store = sharedStore();
    const { host, workers } = openHost(t, store, { leaseMs: 150 });
    const { pool } = openWays(t, store);
    const [mine, others] = [newUser(), newUser()];
    await pool.ensure(mine);
    await pool.ensure(others);
    for (const user of [mine, others]) {
      const lease = await store.leaseHolder(leaseOf(user));
      if (lease) await store.releaseLease(leaseOf(user), lease);
    }
    assert.ok(await store.acquireLease(leaseOf(others), 'another host', 10_000));
    // As after a silence, or where the store has lost everything.
    for (const { name } of await store.announced(HOSTS)) await store.withdraw(HOSTS, name);
    while (host.users() !== 1) await nextTurn();
    while ((await store.leaseHolder(leaseOf(mine))) === null) await nextTurn();
    assert.equal((await store.leaseHolder(leaseOf(others)))?.holder, 'another host');
    assert.equal(workers.length, 2);
  });

  test('that is asked for a user whom it has takes the lease again: the store has forgotten that, and nothing else', async (t) => {
    const store = sharedStore();
    const { host, workers } = openHost(t, store);
    const { pool } = openWays(t, store);
    const user = newUser();
    await pool.ensure(user);
    const lease = (await store.leaseHolder(leaseOf(user))) ?? assert.fail('nobody has the user');
    await store.releaseLease(leaseOf(user), lease);
    assert.equal(await pool.hostOf(user), null);
    assert.equal(await pool.ensure(user), true);
    assert.equal(await pool.hostOf(user), lease.holder);
    assert.deepEqual([host.users(), workers.length], [1, 1]);
    // It is given back as any other.
    workers[0]?.end();
    while ((await store.leaseHolder(leaseOf(user))) !== null) await nextTurn();
  });

  test('that is asked for a user whose worker ends at that moment begins with it anew', async (t) => {
    const store = sharedStore();
    const asked = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    let claims = 0;
    const slow: typeof store = {
      ...store,
      async acquireLease(...given) {
        if (++claims === 2) {
          asked.resolve();
          await held.promise;
        }
        return store.acquireLease(...given);
      },
    };
    const { host, workers } = openHost(t, slow);
    const { pool } = openWays(t, store);
    const user = newUser();
    await pool.ensure(user);
    const { address: replyTo, reply } = store.expectReply({ timeoutMs: 60_000 });
    await store.push(STARTS_QUEUE, JSON.stringify({ user, replyTo }), 10_000);
    await asked.promise;
    workers[0]?.end();
    while (host.users() > 0) await nextTurn();
    held.resolve();
    assert.equal(await reply, 'started');
    assert.deepEqual([host.users(), workers.length], [1, 2]);
    assert.ok(await pool.hostOf(user));
  });

  test('is asked for a user once, however many processes want one while no host is there', async (t) => {
    const store = sharedStore();
    const user = newUser();
    const pools = Array.from({ length: 5 }, () => openWays(t, store, { startTimeoutMs: 300 }).pool);
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
