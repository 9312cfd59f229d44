// Background fill verification: the spec's table and its timings, end to end.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BrokerUnavailable, type Instrument, type OrderQuery } from '../../src/broker/broker.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { scriptedBroker } from '../worker/scripted-broker.ts';
import { openWorld, settableClock } from '../world.ts';
import { FIRST_POLL, polled, REQUEUE, restingBroker, restingOrder } from './fill-desk.ts';

describe('Order fill verification', { concurrency: true }, () => {
  test('placed, the broker reports filled: filled, with price and quantity', async (t) => {
    const { clock, world, trader, body } = await restingOrder(t);
    assert.equal(body.status, 'placed');
    await world.setPaper(trader, { fill: 'full' });
    clock.advance(FIRST_POLL);
    const record = await polled(world, trader, body.order_id, 1);
    assert.equal(record.status, 'filled');
    assert.equal(record.fill_quantity, 4);
    assert.ok((record.fill_price ?? 0) > 0);
    assert.equal(record.filled_at, timestamp(clock.now()));
    const [leg] = record.legs;
    assert.deepEqual(
      [leg?.acked_at, leg?.filled_at],
      [timestamp(clock.now() - FIRST_POLL), timestamp(clock.now())],
    );
    assert.ok((leg?.fee ?? 0) > 0);
    assert.deepEqual(record.verification, { state: 'done', attempts: 1, next_at: null });
    assert.equal(await world.position(trader.account.id, 'BTCUSDT'), '4');
  });

  test('placed, the broker reports a partial fill: partially filled with its quantity, and the check re-queued', async (t) => {
    const { clock, world, trader, body } = await restingOrder(t);
    await world.setPaper(trader, { fill: 'partial' });
    clock.advance(FIRST_POLL);
    const partly = await polled(world, trader, body.order_id, 1);
    assert.equal(partly.status, 'partially_filled');
    assert.ok((partly.fill_quantity ?? 0) > 0 && (partly.fill_quantity ?? 4) < 4);
    assert.equal(partly.filled_at, null);
    assert.equal(partly.verification.next_at, timestamp(clock.now() + REQUEUE));
    await world.setPaper(trader, { fill: 'full' });
    clock.advance(REQUEUE);
    const record = await polled(world, trader, body.order_id, 2);
    assert.equal(record.status, 'filled');
    assert.equal(record.fill_quantity, 4);
  });

  for (const [fill, status, code] of [
    ['cancel', 'cancelled', 'cancelled_by_broker'],
    ['fail', 'failed', 'failed_at_broker'],
  ])
    test(`placed, the broker reports ${status}: ${status}, and the reason logged`, async (t) => {
      const { clock, line, world, trader, body } = await restingOrder(t);
      await world.setPaper(trader, { fill });
      clock.advance(FIRST_POLL);
      const record = await polled(world, trader, body.order_id, 1);
      assert.equal(record.status, status);
      assert.equal(record.error?.code, code);
      assert.equal(record.verification.state, 'done');
      const logged = await line('fill verification found an end');
      assert.equal(logged.order_id, body.order_id);
      assert.match(JSON.stringify(logged.error), new RegExp(`${status} (by|at) the paper exchange`));
    });

  test('a month that rolled meanwhile: the order is looked up as the month that was sent', async (t) => {
    const { clock, broker, world, trader } = await restingBroker(t);
    const front = (month: string) =>
      broker.script(
        'resolve',
        async (goodAnswer) => ({ ...(await goodAnswer()), symbol: month }) as Instrument,
      );
    front('TXFA7');
    const { body } = await world.send(trader, { symbol: 'TXF1!' });
    broker.forgetScripts();
    broker.calls.length = 0;
    front('TXFB7');
    clock.advance(FIRST_POLL);
    await polled(world, trader, body.order_id, 1);
    const asked = broker.calls.filter(({ call }) => call === 'find').map((each) => each.asked as OrderQuery);
    assert.deepEqual(
      asked.map(({ symbol, side, quantity, sentAt }) => [symbol, side, quantity, sentAt]),
      [['TXFA7', 'buy', '1', timestamp(clock.now() - FIRST_POLL)]],
    );
  });

  test('placed, the broker reports pending: placed, and re-queued with 30 s', async (t) => {
    const { clock, world, trader, body } = await restingOrder(t);
    clock.advance(FIRST_POLL);
    const record = await polled(world, trader, body.order_id, 1);
    assert.equal(record.status, 'placed');
    assert.deepEqual(record.verification, {
      state: 'scheduled',
      attempts: 1,
      next_at: timestamp(clock.now() + REQUEUE),
    });
  });

  test('any unresolved, after 3 retries: the dead-letter queue, with its last status, and no further poll', async (t) => {
    const { clock, line, world, trader, body } = await restingOrder(t, { fill: 'partial' });
    assert.equal(body.status, 'partially_filled');
    clock.advance(FIRST_POLL);
    for (const attempts of [1, 2, 3]) {
      const { verification } = await polled(world, trader, body.order_id, attempts);
      assert.equal(verification.state, 'scheduled');
      clock.advance(REQUEUE);
    }
    const dead = await polled(world, trader, body.order_id, 4);
    assert.equal(dead.status, 'partially_filled');
    assert.deepEqual(dead.verification, { state: 'dead_letter', attempts: 4, next_at: null });
    assert.equal((await line('fill verification gave up: dead letter')).order_id, body.order_id);

    // The polls of another order show that the time for one more has come and gone.
    await world.setPaper(trader, { fill: 'never' });
    const { body: later } = await world.send(trader);
    clock.advance(FIRST_POLL);
    await polled(world, trader, later.order_id, 1);
    clock.advance(REQUEUE);
    await polled(world, trader, later.order_id, 2);
    assert.deepEqual((await world.order(trader, body.order_id)).verification, dead.verification);
  });
});

describe('The first poll', { concurrency: true }, () => {
  for (const paper of [{ fill: 'never' }, { fill: 'partial' }, { lose_answer: true }])
    test(`is due 2-3 s after placement: ${JSON.stringify(paper)}`, async (t) => {
      const { clock, world, trader, body } = await restingOrder(t, paper);
      const { verification } = await world.order(trader, body.order_id);
      assert.equal(verification.state, 'scheduled');
      assert.equal(verification.attempts, 0);
      const seconds = (Date.parse(verification.next_at ?? '') - clock.now()) / 1000;
      assert.ok(seconds >= 2 && seconds <= 3, `${seconds} s`);
    });

  test('is not made a millisecond sooner', async (t) => {
    const { clock, world, trader } = await restingBroker(t);
    const { body } = await world.send(trader);
    clock.advance(1);
    const other = await world.makeTrader();
    const { body: later } = await world.send(other);
    clock.advance(FIRST_POLL - 1);
    await polled(world, trader, body.order_id, 1);
    const { verification } = await world.order(other, later.order_id);
    assert.deepEqual(verification, { state: 'scheduled', attempts: 0, next_at: timestamp(clock.now() + 1) });
  });

  test('is scheduled for nothing that has ended', async (t) => {
    const { world, trader, body } = await restingOrder(t, {});
    assert.equal(body.status, 'filled');
    const { body: rejected } = await world.send(trader, { symbol: 'NOPE' });
    assert.equal(rejected.status, 'rejected');
    for (const { order_id } of [body, rejected])
      assert.equal((await world.order(trader, order_id)).verification.state, 'none');
  });
});

describe('Every poll that ends unresolved uses up a try', { concurrency: true }, () => {
  const rows: [string, (desk: Awaited<ReturnType<typeof restingBroker>>) => void, string][] = [
    ['pending', () => {}, 'placed'],
    [
      'a partial fill',
      ({ broker }) => broker.settle(broker.ledger[0], 'partially_filled', '1'),
      'partially_filled',
    ],
    [
      'an error of the connector',
      ({ broker }) => broker.script('find', () => Promise.reject(new TypeError('x'))),
      'placed',
    ],
    [
      'a broker that cannot be reached',
      ({ broker }) => broker.script('find', () => Promise.reject(new BrokerUnavailable('down'))),
      'placed',
    ],
    [
      'a broker that has forgotten the order',
      ({ broker }) => broker.script('find', async () => null),
      'placed',
    ],
  ];
  for (const [name, prepare, status] of rows)
    test(`${name}: the order keeps its status, and is looked at again after 30 s`, async (t) => {
      const desk = await restingBroker(t);
      const { clock, world, trader } = desk;
      const { body } = await world.send(trader, { quantity: 2 });
      prepare(desk);
      clock.advance(FIRST_POLL);
      const record = await polled(world, trader, body.order_id, 1);
      assert.equal(record.status, status);
      const next_at = timestamp(clock.now() + REQUEUE);
      assert.deepEqual(record.verification, { state: 'scheduled', attempts: 1, next_at });
    });

  test('a worker that does not answer: the try is used up, and the check is not held for ever', async (t) => {
    const { clock, broker, world, trader } = await restingBroker(t, {
      env: { FILL_VISIBILITY_SECONDS: '0.2' },
    });
    const { body } = await world.send(trader);
    const find = broker.hold('find');
    clock.advance(FIRST_POLL);
    await find.reached;
    const { verification } = await world.eventually(
      () => world.order(trader, body.order_id),
      (record) => record.verification.next_at === timestamp(clock.now() + REQUEUE),
    );
    assert.equal(verification.attempts, 1);
  });

  test('a word that is older than what is known changes nothing', async (t) => {
    const { clock, broker, world, trader } = await restingBroker(t);
    const { body } = await world.send(trader, { quantity: 2 });
    broker.settle(broker.ledger[0], 'partially_filled', '1');
    clock.advance(FIRST_POLL);
    await polled(world, trader, body.order_id, 1);
    broker.settle(broker.ledger[0], 'placed');
    clock.advance(REQUEUE);
    const record = await polled(world, trader, body.order_id, 2);
    assert.equal(record.status, 'partially_filled');
    assert.equal(record.fill_quantity, 1);
    assert.equal(record.verification.state, 'scheduled');
  });
});

describe('An order whose answer was lost', { concurrency: true }, () => {
  test('is unknown in the answer and filled by verification, with one order in the ledger', async (t) => {
    const { clock, world, trader, body } = await restingOrder(t, { lose_answer: true });
    assert.equal(body.status, 'unknown');
    assert.equal(body.error, null);
    assert.deepEqual(body.broker_refs, []);
    clock.advance(FIRST_POLL);
    const record = await polled(world, trader, body.order_id, 1);
    assert.equal(record.status, 'filled');
    assert.equal(record.fill_quantity, 4);
    assert.equal(record.broker_refs.length, 1);
    assert.equal((await world.paperOrders(trader.account.id)).length, 1);
    assert.equal(await world.position(trader.account.id, 'BTCUSDT'), '4');
  });

  test('and that never arrived stays unknown at first, expires after the re-queue delay and is never sent again', async (t) => {
    const { clock, broker, world, trader } = await restingBroker(t);
    broker.script('place', async () => ({ outcome: 'unknown', reason: 'timeout' }));
    const { body } = await world.send(trader);
    assert.equal(body.status, 'unknown');
    clock.advance(FIRST_POLL);
    const soon = await polled(world, trader, body.order_id, 1);
    assert.equal(soon.status, 'unknown', 'it may still be on its way');
    clock.advance(REQUEUE);
    const record = await polled(world, trader, body.order_id, 2);
    assert.equal(record.status, 'expired');
    assert.equal(record.error?.code, 'expired');
    assert.equal(record.legs[0]?.status, 'expired');
    assert.equal(record.verification.state, 'done');
    assert.equal(broker.count('place'), 1);
    assert.deepEqual(broker.trades(), []);
  });

  test('at a broker that cannot be asked by our id stays unknown, and ends in the dead-letter queue', async (t) => {
    const clock = settableClock();
    const broker = scriptedBroker(t, { findsByClientIdMs: 0, refusesDuplicateIds: false });
    broker.script('place', async () => ({ outcome: 'unknown', reason: 'timeout' }));
    broker.script('find', async () => null);
    const env = { FILL_RETRIES: '1' };
    const world = await openWorld(t, { clock, brokers: broker.brokers, env });
    const trader = await world.makeTrader();
    const { body } = await world.send(trader);
    clock.advance(FIRST_POLL);
    await polled(world, trader, body.order_id, 1);
    clock.advance(REQUEUE);
    const record = await polled(world, trader, body.order_id, 2);
    assert.equal(record.status, 'unknown');
    assert.equal(record.verification.state, 'dead_letter');
    assert.equal(broker.count('place'), 1);
  });
});
