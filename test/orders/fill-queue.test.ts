// The fill-verification queue: who polls when, what a verifier's death leaves behind, and what survives a restart.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { verifyDueFills } from '../../src/app/orders/verify-fills.ts';
import type { OrderQuery } from '../../src/broker/broker.ts';
import { DatabaseUnavailable, NotCommitted, sql } from '../../src/data/engine/db.ts';
import { workerOrders } from '../../src/data/orders/for-workers.ts';
import { findOrder } from '../../src/data/orders/orders.ts';
import { UNCOUNTED } from '../../src/domain/counters.ts';
import { timestamp, type UserId } from '../../src/domain/ids.ts';
import type { Look } from '../../src/domain/orders/fill.ts';
import type { Order } from '../../src/domain/orders/order.ts';
import { logbook, type World } from '../world.ts';
import { FIRST_POLL, polled, REQUEUE, restingBroker, restingOrder } from './fill-desk.ts';

describe('A check whose verifier died', { concurrency: true }, () => {
  test('is free after the 180 s visibility timeout, and not before; the lost poll has used up a try', async (t) => {
    const { clock, broker, world, trader } = await restingBroker(t);
    const { body } = await world.send(trader);
    broker.calls.length = 0;
    // The clock of another verifier is a little ahead: it claims the check, and is not heard of for long.
    const ahead = { now: () => clock.now() + FIRST_POLL };
    const claimed = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<Look>();
    const { log, line } = logbook();
    const zombie = verifyDueFills({
      db: world.db,
      clock: ahead,
      pool: { ensure: async () => true, allKnow: () => true },
      mailbox: {
        tell: async () => {},
        ask: <Answer>() => {
          claimed.resolve();
          return answer.promise as Promise<Answer>;
        },
      },
      log,
      rules: { retries: 3, requeueMs: REQUEUE, giveUpMs: REQUEUE },
      visibilityMs: 180_000,
      changes: { ofOrder() {} },
      counters: UNCOUNTED,
    });
    await claimed.promise;
    const other = await world.makeTrader();
    const { body: live } = await world.send(other);

    clock.advance(FIRST_POLL + 180_000 - 1);
    await polled(world, other, live.order_id, 1);
    assert.deepEqual(await checkOf(world, body.order_id), { state: 'running', attempts: 1 });
    assert.ok(broker.calls.every(({ call, account }) => call !== 'find' || account === other.account.id));

    clock.advance(1);
    const { verification } = await polled(world, trader, body.order_id, 2);
    assert.equal(verification.next_at, timestamp(clock.now() + REQUEUE));

    // It was only away: what it brings now is out of date, and changes nothing.
    const before = await world.order(trader, body.order_id);
    const { state } = broker.ledger[0] ?? assert.fail('nothing was placed');
    answer.resolve({ seen: 'state', state: { ...state, status: 'cancelled' } });
    await zombie;
    assert.equal((await line('a fill check was overtaken; it will be made again')).order_id, body.order_id);
    assert.deepEqual(await world.order(trader, body.order_id), before);
  });

  test('is a dead letter where that was its last try', async (t) => {
    const { clock, world, trader } = await restingBroker(t);
    const { body } = await world.send(trader);
    const visibleAt = timestamp(clock.now() + 1);
    await world.db.commit([
      sql`update fill_checks set state = 'running', attempts = 4, visible_at = ${visibleAt}
          where order_id = ${body.order_id}`,
    ]);
    clock.advance(1);
    const record = await world.eventually(
      () => world.order(trader, body.order_id),
      ({ verification }) => verification.state === 'dead_letter',
    );
    assert.equal(record.verification.attempts, 4);
    assert.equal(record.status, 'placed');
  });
});

describe('A check that could not be saved', { concurrency: true }, () => {
  /**
   * Of one user's order: the commits that `fails` names are not answered, whether they are made or not. Of those that it is said to be
   * overtaken at, somebody has saved the order a moment before.
   */
  async function verifier(t: TestContext, fails: (nth: number) => 'before' | 'after' | 'overtaken' | null) {
    const { clock, broker, world, trader } = await restingBroker(t);
    const { body } = await world.send(trader);
    let commits = 0;
    const db: typeof world.db = {
      ...world.db,
      async commit(unit) {
        const fault = fails(++commits);
        if (fault === 'before') throw new NotCommitted('no connection');
        if (fault === 'overtaken')
          await world.db.commit([
            sql`update order_history set version = version + 1 where order_id = ${body.order_id}`,
          ]);
        const outcome = await world.db.commit(unit);
        if (fault === 'after') throw new DatabaseUnavailable('no answer');
        return outcome;
      },
    };
    const { state } = broker.ledger[0] ?? assert.fail('nothing was placed');
    const asked: string[] = [];
    const { log } = logbook();
    const ahead = { now: () => clock.now() + FIRST_POLL };
    const verify = () =>
      verifyDueFills({
        ...{ db, log, counters: UNCOUNTED, clock: ahead, visibilityMs: 180_000 },
        pool: { ensure: async () => true, allKnow: () => true },
        mailbox: {
          tell: async () => {},
          ask: async <Answer>(user: UserId) => {
            asked.push(user);
            return { seen: 'state', state: { ...state, status: 'cancelled' } } as Answer;
          },
        },
        rules: { retries: 3, requeueMs: REQUEUE, giveUpMs: REQUEUE },
        changes: { ofOrder() {} },
      });
    return { world, trader, id: body.order_id, verify, asked, check: () => checkOf(world, body.order_id) };
  }

  for (const [what, nth, how] of [
    ['as it was taken, and the answer was lost', 1, 'after'],
    ['after the look', 2, 'before'],
  ] as const)
    test(`${what}: it is free as soon as the database answers, and has used up no try`, async (t) => {
      let isAway = true;
      const { world, trader, id, verify, asked, check } = await verifier(t, (commit) => {
        if (commit === nth) return how;
        return commit > nth && isAway ? 'before' : null;
      });
      await assert.rejects(verify(), DatabaseUnavailable);
      assert.deepEqual(await check(), { state: 'running', attempts: 1 });
      assert.equal(await verify(), 0);
      isAway = false;
      await world.eventually(check, (found) => found?.state === 'scheduled');
      assert.deepEqual(await check(), { state: 'scheduled', attempts: 0 });
      assert.equal(await verify(), 1);
      assert.equal(asked.length, nth);
      assert.equal((await world.order(trader, id)).status, 'cancelled');
    });

  test('because somebody saved the order at that moment: it is free at once, and has used up no try', async (t) => {
    const { world, trader, id, verify, asked, check } = await verifier(t, (commit) =>
      commit === 2 ? 'overtaken' : null,
    );
    assert.equal(await verify(), 1);
    await world.eventually(check, (found) => found?.state === 'scheduled');
    assert.deepEqual(await check(), { state: 'scheduled', attempts: 0 });
    assert.equal(await verify(), 1);
    assert.equal(asked.length, 2);
    assert.equal((await world.order(trader, id)).status, 'cancelled');
  });
});

const checkOf = (world: World, order: string) =>
  world.db.get<{ state: string; attempts: number }>(
    sql`select state, attempts from fill_checks where order_id = ${order}`,
  );

describe('The order of checks', { concurrency: true }, () => {
  test('one check of a user at a time, in the order in which they fall due', async (t) => {
    const { clock, broker, world, trader } = await restingBroker(t);
    const place = async () => (await world.send(trader)).body.order_id;
    const requeued = await place();
    clock.advance(FIRST_POLL);
    await polled(world, trader, requeued, 1); // due again at 32.5 s
    clock.advance(27_000);
    const sooner = await place(); // placed at 29.5 s, due at 32 s
    clock.advance(1_000);
    const later = await place(); // placed at 30.5 s, due at 33 s
    broker.calls.length = 0;
    const find = broker.hold('find');
    clock.advance(FIRST_POLL);
    await find.reached;
    const running = await world.db.all<{ order_id: string }>(
      sql`select order_id from fill_checks where user_id = ${trader.user.id} and state = 'running'`,
    );
    assert.deepEqual(running, [{ order_id: sooner }]);
    find.release();
    await polled(world, trader, later, 1);
    const legs = await Promise.all(
      [sooner, requeued, later].map(async (id) => (await world.order(trader, id)).legs[0]?.client_order_id),
    );
    const asked = broker.calls
      .filter(({ call }) => call === 'find')
      .map((each) => (each.asked as OrderQuery).clientOrderId);
    assert.deepEqual(asked, legs);
    assert.equal(broker.mostOfOneAccount, 1);
  });

  test("an earlier order's 30 s wait does not hold back the first poll of a later one", async (t) => {
    const { clock, world, trader } = await restingBroker(t);
    const { body: earlier } = await world.send(trader);
    clock.advance(FIRST_POLL);
    await polled(world, trader, earlier.order_id, 1);
    const { body: later } = await world.send(trader);
    clock.advance(FIRST_POLL);
    await polled(world, trader, later.order_id, 1);
    assert.equal((await world.order(trader, earlier.order_id)).verification.attempts, 1);
  });

  test("one user's broker hangs: the other users' orders are verified all the same", async (t) => {
    const { clock, broker, world, trader } = await restingBroker(t);
    const other = await world.makeTrader();
    const { body: stuck } = await world.send(trader);
    const { body: free } = await world.send(other);
    for (const order of broker.ledger) broker.settle(order, 'filled');
    broker.script('find', async (goodAnswer, { clientOrderId }) => {
      const isStuck = broker.ledger[0]?.clientOrderId === clientOrderId;
      if (isStuck) await find.promise;
      return goodAnswer();
    });
    const find = Promise.withResolvers<void>();
    clock.advance(FIRST_POLL);
    const record = await polled(world, other, free.order_id, 1);
    assert.equal(record.status, 'filled');
    assert.equal((await world.order(trader, stuck.order_id)).status, 'placed');
    find.resolve();
    await polled(world, trader, stuck.order_id, 1);
    assert.equal((await world.order(trader, stuck.order_id)).status, 'filled');
  });
});

describe('The check and what it is about', { concurrency: true }, () => {
  /** An order that rests at the broker, as a worker has it in hand, without its check. */
  const NOBODY = '00000000-0000-7000-8000-000000000000' as UserId;
  async function inHand(t: TestContext) {
    const { clock, world, trader } = await restingBroker(t);
    const { body } = await world.send(trader);
    const { body: other } = await world.send(trader);
    await world.db.commit([sql`delete from fill_checks`]);
    const order = await findOrder(world.db, body.order_id);
    const foreignLeg = (await findOrder(world.db, other.order_id))?.legs[0];
    assert.ok(order && foreignLeg);
    const orders = workerOrders({ db: world.db, clock, firstPollMs: FIRST_POLL });
    await orders.begin(trader.user.id, 'me');
    const save = (changed: Order) => orders.save(changed, 'me', { settled: true });
    return { world, order, foreignLeg, save };
  }

  test('are one unit: an order that another worker has taken over is neither saved nor scheduled', async (t) => {
    const { world, order, save } = await inHand(t);
    const stale = { ...order, version: order.version - 1, status: 'unknown' as const };
    assert.equal(await save(stale), 'taken');
    assert.equal(await checkOf(world, order.id), undefined);
    assert.deepEqual(await findOrder(world.db, order.id), order);
  });

  test('are one unit: where the order cannot be written, no check is scheduled', async (t) => {
    const { world, order, foreignLeg, save } = await inHand(t);
    const broken = { ...order, legs: [...order.legs, { ...foreignLeg, leg: 'exit' as const }] };
    await assert.rejects(save(broken));
    assert.equal(await checkOf(world, order.id), undefined);
    assert.deepEqual(await findOrder(world.db, order.id), order);
  });

  test('are one unit: where no check can be scheduled, the order is not written', async (t) => {
    const { world, order, save } = await inHand(t);
    await world.db.commit([sql`insert into worker_owners (user_id, token) values (${NOBODY}, 'me')`]);
    await assert.rejects(save({ ...order, userId: NOBODY, status: 'unknown' }));
    assert.deepEqual(await findOrder(world.db, order.id), order);
  });

  test('survive a restart', async (t) => {
    const { clock, world, trader, body } = await restingOrder(t);
    const before = await world.order(trader, body.order_id);
    await world.restart();
    assert.deepEqual(await world.order(trader, body.order_id), before);
    await world.setPaper(trader, { fill: 'full' });
    clock.advance(FIRST_POLL);
    const record = await polled(world, trader, body.order_id, 1);
    assert.equal(record.status, 'filled');
  });
});
