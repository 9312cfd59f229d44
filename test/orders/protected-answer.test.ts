// The answer to an entry with a stop: what was made with its fill is told without reading it, and is what is read a moment later.

import assert from 'node:assert/strict';
import { StatementSync } from 'node:sqlite';
import { test } from 'node:test';
import { withProtection } from '../../src/app/orders/place-order.ts';
import { type Db, type Statement, sql } from '../../src/data/engine/db.ts';
import { workerOrders } from '../../src/data/orders/for-workers.ts';
import { findOrder } from '../../src/data/orders/orders.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { type OrderId, timestamp } from '../../src/domain/ids.ts';
import type { Leg, Order } from '../../src/domain/orders/order.ts';
import { showProtection } from '../../src/domain/protection/shown.ts';
import { openWorld } from '../world.ts';

const NOT_READ = { db: {} as Db };
const TOKEN = 'a-worker';

/** Two orders that were accepted, and nobody has executed: their worker is this test. */
async function accepted(t: Parameters<typeof openWorld>[0]) {
  const world = await openWorld(t);
  const trader = await world.makeTrader({}, { paper: { latency_ms: 0, price: { BTCUSDT: 65_000 } } });
  const ids: OrderId[] = [];
  for (const stop_loss of [64_000, 64_100])
    ids.push((await world.send(trader, { stop_loss })).body.order_id as OrderId);
  await world.stop();
  await world.db.commit([sql`delete from protection_history`, sql`delete from protections`]);
  const orders = workerOrders({ db: world.db, clock: { now: Date.now }, firstPollMs: 1_000 });
  const begun = (ids[0] && (await findOrder(world.db, ids[0]))) || assert.fail('it was accepted');
  await orders.begin(begun.userId, TOKEN);
  const filled = async (id: OrderId | undefined): Promise<Order> => {
    const order = (id && (await findOrder(world.db, id))) || assert.fail('it was accepted');
    const at = timestamp(Date.now());
    const legs = order.legs.map((leg): Leg => ({ ...leg, fillQuantity: decimal(1), filledAt: at }));
    return { ...order, legs };
  };
  const save = async (order: Order, isProtected = false): Promise<Order> => {
    const saved = await orders.save(order, TOKEN, { settled: true, isProtected });
    return saved === 'taken' ? assert.fail('it is ours') : saved;
  };
  return { world, ids, filled, save, orders };
}

test('what an entry makes is told as it is read, and nobody reads it for that', async (t) => {
  const { world, ids, filled, save } = await accepted(t);
  const order = await save(await filled(ids[0]));
  const { protection: told } = await withProtection(NOT_READ, order, true);
  const { protectedAs: _, ...unmarked } = order;
  const { protection: read } = await withProtection(world, unmarked, true);
  assert.ok(told && read);
  assert.deepEqual(told, read);
  assert.equal(showProtection(told).state, 'armed');
});

test('where one is kept for the position already, though its worker did not know, it is that one', async (t) => {
  const { world, ids, filled, save } = await accepted(t);
  const first = await save(await filled(ids[0]));
  const second = await save(await filled(ids[1]));
  assert.equal(second.protectedAs, undefined);
  const { protection } = await withProtection(world, second, true);
  assert.equal(protection?.id, first.protectedAs?.id);
  assert.deepEqual(protection?.wantedBy, ids);
  assert.equal((await world.db.all(sql`select id from protections`)).length, 1);
});

test('saved once more, an order makes no other one', async (t) => {
  const { world, ids, filled, save } = await accepted(t);
  const once = await save(await filled(ids[0]));
  const twice = await save(once);
  assert.deepEqual(twice.protectedAs, once.protectedAs);
  assert.equal((await world.db.all(sql`select id from protections`)).length, 1);
});

test('its fill, its end and what protects it are written in one unit at the paper broker, as an entry without a stop is', async (t) => {
  const world = await openWorld(t);
  const trader = await world.makeTrader({}, { paper: { latency_ms: 0, price: { BTCUSDT: 65_000 } } });
  // Whatever is written with a fill is written before it: who saves the order comes first in the unit.
  await world.db.script(`create table filled (wanted_by text);
    create trigger fills before insert on paper_orders begin
      insert into filled values ((select wanted_by from protections where ended_at is null)); end`);
  const enter = async (stop_loss: number) => (await world.send(trader, { stop_loss })).body;
  const first = await enter(64_000);
  await world.eventually(
    () => world.db.all(sql`select id from protections where state = 'standing'`),
    ({ length }) => length === 1,
  );
  const second = await enter(64_100);
  assert.equal(second.protection?.id, first.protection?.id);
  assert.deepEqual(await world.db.all(sql`select wanted_by from filled`), [
    { wanted_by: first.order_id },
    { wanted_by: second.order_id },
  ]);
});

test('recorded with its fill, it is told as it is saved; where nobody heard whether it was, it is read', async (t) => {
  const { world, ids, filled, orders } = await accepted(t);
  const options = { settled: true, isProtected: false };
  const order = await filled(ids[0]);
  const recording = orders.recording(order, TOKEN, options, { order, revision: null });
  assert.equal(await recording.saved(false), null);
  assert.equal(await world.db.commit(recording.unit as readonly Statement[]), null);
  const unheard = await recording.saved(false);
  assert.equal(unheard?.version, order.version + 1);
  assert.equal(unheard?.protectedAs, undefined);
  const told = (await recording.saved(true))?.protectedAs;
  const rows = await world.db.all<{ id: string; since: string }>(
    sql`select id, unprotected_since as since from protections`,
  );
  assert.deepEqual(rows, [told]);
  // Of a second whose worker does not know of it nothing is written: its fill stands alone, and `save` adds it to what is kept.
  const other = await filled(ids[1]);
  const beside = orders.recording(other, TOKEN, options, { order: other, revision: null });
  assert.equal(await world.db.commit(beside.unit as readonly Statement[]), 'protection');
  assert.equal((await findOrder(world.db, other.id))?.version, other.version);
  const saved = await orders.save(other, TOKEN, options);
  assert.ok(saved !== 'taken' && saved.protectedAs === undefined);
  const [kept] = await world.db.all<{ wanted_by: string }>(sql`select wanted_by from protections`);
  assert.equal(kept?.wanted_by, ids.join(' '));
});

test('once a protected position is closed, the next entry is told of its own without reading it', async (t) => {
  const world = await openWorld(t);
  const trader = await world.makeTrader({}, { paper: { latency_ms: 0, price: { BTCUSDT: 65_000 } } });
  const standing = () => world.db.all(sql`select id from protections where ended_at is null`);
  const enter = () => world.send(trader, { stop_loss: 64_000 });
  assert.equal((await enter()).body.status, 'filled');
  await world.send(trader, { action: 'sell', order_type: 'exit' });
  await world.eventually(standing, ({ length }) => length === 0);
  const reads: string[] = [];
  const { all } = StatementSync.prototype;
  t.mock.method(
    StatementSync.prototype,
    'all',
    function (this: StatementSync, ...values: Parameters<typeof all>) {
      reads.push(this.sourceSQL);
      return all.apply(this, values);
    },
  );
  const { body } = await enter();
  assert.equal(body.protection?.state, 'armed');
  assert.deepEqual(
    reads.filter((text) => /from protections where trading_account_id/.test(text)),
    [],
  );
});

test('an entry that rests tells its stop and its targets where they were asked for as prices; a distance counts from its fill', async (t) => {
  const world = await openWorld(t);
  const trader = await world.makeTrader({}, { paper: { latency_ms: 0, price: { BTCUSDT: 65_000 } } });
  const rests = async (asked: object) => {
    const { body } = await world.send(trader, { limit_price: 60_000, ...asked });
    assert.equal(body.status, 'placed');
    const { id, state, stop_loss, take_profit } = body.protection ?? {};
    assert.deepEqual([id, state], [null, 'armed']);
    return { stop_loss, take_profit };
  };
  const target = { price: 70_000, percent: 100, quantity: 0, filled: 0 };
  assert.deepEqual(await rests({ stop_loss: 58_000, take_profit: 70_000 }), {
    stop_loss: 58_000,
    take_profit: [target],
  });
  assert.deepEqual(await rests({ stop_loss: '2%', take_profit: '5%' }), { stop_loss: null, take_profit: [] });
});
