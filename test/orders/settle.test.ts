// POST /trading/orders/{id}/settle: the owner says what became of an order of which nobody else knows it.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Overview } from '../../src/app/orders/read-overview.ts';
import { sql } from '../../src/data/engine/db.ts';
import { oldOrders } from '../../src/data/engine/pruning.ts';
import { earliestId, type OrderId, timestamp } from '../../src/domain/ids.ts';
import type { OrderRecord } from '../../src/domain/orders/result.ts';
import { logbook, type Problem, type Trader, type World } from '../world.ts';
import { FIRST_POLL, restingBroker } from './fill-desk.ts';

const TEN_MINUTES = 600_000;
const DAY = 86_400_000;
const FILLED = { outcome: 'filled', price: 60_000.5, quantity: 1 } as const;

const settle = (world: World, trader: Trader, id: string, body: object) =>
  world.inSession<Omit<Problem, 'status'> & OrderRecord>(
    trader,
    'POST',
    `/trading/orders/${id}/settle`,
    body,
  );

const deadLetter = (world: World, trader: Trader, id: string) =>
  world.eventually(
    () => world.order(trader, id),
    ({ verification }) => verification.state === 'dead_letter',
  );

/** An order of 2 that rests at the broker, and that fill verification has given up. */
async function givenUp(t: TestContext) {
  const { log, line } = logbook();
  const desk = { ...(await restingBroker(t, { env: { FILL_RETRIES: '0' }, log })), line };
  const { body } = await desk.world.send(desk.trader, { quantity: 2 });
  desk.clock.advance(FIRST_POLL);
  await deadLetter(desk.world, desk.trader, body.order_id);
  return { ...desk, id: body.order_id };
}

const entries = async (world: World, id: string) =>
  (
    await world.db.all<{ action: string; success: number | boolean; metadata: string }>(
      sql`select action, success, metadata from audit_logs where resource_id = ${id} order by id`,
    )
  ).map(({ action, success, metadata }) => ({
    action,
    success: Boolean(success),
    metadata: JSON.parse(metadata),
  }));

const overview = async (world: World, trader: Trader) =>
  (await world.as<Overview>(trader, 'GET', '/trading/overview')).body;

describe('A dead letter that its owner settles', () => {
  test('as filled is filled at that price, and its alarm has ended; nothing is sent', async (t) => {
    const { broker, clock, world, trader, id } = await givenUp(t);
    assert.equal((await overview(world, trader)).todo[0]?.kind, 'dead_letter');
    const [placed, found] = [broker.ledger.length, broker.count('find')];
    const { status, body } = await settle(world, trader, id, { ...FILLED, quantity: 2 });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(
      [
        body.status,
        body.settled_by,
        body.fill_price,
        body.fill_quantity,
        body.verification.state,
        body.error,
      ],
      ['filled', 'user', 60_000.5, 2, 'done', null],
    );
    assert.deepEqual(
      body.legs.map((leg) => [leg.status, leg.fill_price, leg.fill_quantity]),
      [['filled', 60_000.5, 2]],
    );
    const { todo, last_trouble } = await overview(world, trader);
    assert.deepEqual([todo, last_trouble?.order_id], [[], id]);
    const settled = (await entries(world, id)).filter(({ action }) => action === 'order_settled');
    assert.deepEqual(
      settled.map(({ success, metadata: { status, outcome, price, quantity } }) => [
        success,
        status,
        outcome,
        price,
        quantity,
      ]),
      [[true, 'filled', 'filled', 60_000.5, 2]],
    );
    clock.advance(TEN_MINUTES);
    assert.deepEqual([broker.ledger.length, broker.count('find')], [placed, found]);
  });

  test('as filled in part is filled with that', async (t) => {
    const { world, trader, id } = await givenUp(t);
    const { body } = await settle(world, trader, id, { ...FILLED, quantity: 0.5 });
    assert.deepEqual([body.status, body.fill_quantity, body.legs[0]?.quantity], ['filled', 0.5, 2]);
  });

  test('as not filled is cancelled, and cannot be settled again', async (t) => {
    const { world, trader, id } = await givenUp(t);
    const { body } = await settle(world, trader, id, { outcome: 'not_filled' });
    assert.deepEqual(
      [body.status, body.settled_by, body.fill_price, body.legs[0]?.status, body.verification.state],
      ['cancelled', 'user', null, 'cancelled', 'done'],
    );
    const again = await settle(world, trader, id, FILLED);
    assert.deepEqual([again.status, again.body.code], [409, 'not_settleable']);
    assert.equal((await world.order(trader, id)).status, 'cancelled');
  });

  test('long after it was sent is kept from then on for as long as any order', async (t) => {
    const { clock, world, trader, id } = await givenUp(t);
    const sent = timestamp(clock.now() - 40 * DAY);
    await world.db.commit([
      sql`update order_history set submitted_at = ${sent} where order_id = ${id}`,
      sql`update fill_checks set next_at = ${sent} where order_id = ${id}`,
    ]);
    assert.equal((await settle(world, trader, id, { outcome: 'not_filled' })).status, 200);
    const endedBefore = async (now: number) => {
      const ids = {
        after: earliestId(0) as OrderId,
        beforeId: 'ffffffff-ffff-7fff-bfff-ffffffffffff' as OrderId,
      };
      return (await oldOrders(world.db, { ...ids, before: timestamp(now - 30 * DAY), limit: 10 })).rows;
    };
    assert.equal(await endedBefore(clock.now()), 0);
    assert.equal(await endedBefore(clock.now() + 31 * DAY), 1);
  });

  test('is refused what cannot be, and is left as it was', async (t) => {
    const { world, trader, id } = await givenUp(t);
    const wrong = [
      {},
      { outcome: 'lost' },
      { outcome: 'filled' },
      { outcome: 'filled', price: 1 },
      { ...FILLED, price: 0 },
      { ...FILLED, quantity: -1 },
      { ...FILLED, quantity: '1' },
      { ...FILLED, quantity: 2.000001 },
      { ...FILLED, note: 'I saw it' },
      { outcome: 'not_filled', price: 1 },
    ];
    for (const body of wrong) {
      const refused = await settle(world, trader, id, body);
      assert.deepEqual([refused.status, refused.body.code], [400, 'request_invalid'], JSON.stringify(body));
    }
    const record = await world.order(trader, id);
    assert.deepEqual([record.status, record.settled_by], ['placed', null]);
  });

  test('is its owner’s, and only in a session', async (t) => {
    const { world, trader, id } = await givenUp(t);
    const path = `/trading/orders/${id}/settle`;
    const byKey = await world.as<Problem>(trader, 'POST', path, FILLED);
    assert.deepEqual([byKey.status, byKey.body.code], [403, 'session_required']);
    const stranger = await world.makeTrader({ email: 'stranger@example.com' });
    assert.equal((await settle(world, stranger, id, FILLED)).status, 404);
    assert.equal((await settle(world, trader, 'nothing', FILLED)).status, 404);
    assert.equal((await world.order(trader, id)).status, 'placed');
  });
});

describe('An order that is not a dead letter', () => {
  test('is settled once it has been unknown for ten minutes, and not before', async (t) => {
    const { broker, clock, world, trader } = await restingBroker(t, { env: { FILL_RETRIES: '1000' } });
    broker.script('place', async () => ({ outcome: 'unknown', reason: 'the line was cut' }), 1);
    broker.script('find', async () => {
      throw new Error('the line is cut');
    });
    const { body } = await world.send(trader);
    assert.equal(body.status, 'unknown');
    clock.advance(TEN_MINUTES - 1_000);
    const early = await settle(world, trader, body.order_id, FILLED);
    assert.deepEqual([early.status, early.body.code], [409, 'not_settleable']);
    clock.advance(1_000);
    const { status, body: settled } = await settle(world, trader, body.order_id, FILLED);
    assert.deepEqual([status, settled.status, settled.verification.state], [200, 'filled', 'done']);
    assert.deepEqual(
      (await entries(world, body.order_id))
        .filter(({ action }) => action === 'order_settled')
        .map(({ success }) => success),
      [false, true],
    );
  });

  test('is not settled while it rests at the broker, or after its end', async (t) => {
    const { broker, clock, world, trader } = await restingBroker(t);
    const { body } = await world.send(trader);
    clock.advance(TEN_MINUTES);
    assert.equal((await settle(world, trader, body.order_id, FILLED)).body.code, 'not_settleable');
    broker.fills = 'at once';
    const filled = await world.send(trader, { quantity: 3 });
    assert.equal((await settle(world, trader, filled.body.order_id, FILLED)).body.code, 'not_settleable');
  });

  test('that failed as a reversal stays failed: what is settled is the close that it left', async (t) => {
    const { broker, clock, world, trader } = await restingBroker(t, {
      env: { FILL_RETRIES: '0', REVERSAL_POLLS: '1', REVERSAL_POLL_MS: '1' },
    });
    broker.give(trader.account.id, 1);
    const { body } = await world.send(trader, { action: 'sell', quantity: 2 });
    assert.equal(body.status, 'failed');
    clock.advance(FIRST_POLL);
    await deadLetter(world, trader, body.order_id);
    const settled = (await settle(world, trader, body.order_id, FILLED)).body;
    assert.deepEqual(
      [settled.status, settled.exit_order_result?.status, settled.half_done, settled.error?.code],
      ['failed', 'filled', true, 'reversal_timeout'],
    );
  });
});

test('a look that is under way when the order is settled concludes nothing', async (t) => {
  const { broker, world, trader, id, line } = await givenUp(t);
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  broker.script(
    'find',
    async (good) => {
      ask();
      await answered;
      return good();
    },
    1,
  );
  broker.settle(broker.ledger[0], 'filled');
  await world.as(trader, 'POST', `/trading/orders/${id}/look`);
  await asked;
  assert.equal((await settle(world, trader, id, { outcome: 'not_filled' })).status, 200);
  answer();
  await line('a look was overtaken by a fill check, which decides');
  const again = await world.as<Problem>(trader, 'POST', `/trading/orders/${id}/look`);
  assert.equal(again.body.code, 'nothing_to_look_for');
  const { status, settled_by, fill_quantity } = await world.order(trader, id);
  assert.deepEqual([status, settled_by, fill_quantity], ['cancelled', 'user', 0]);
});
