// again: what stands at the broker by then counts, and nothing is doubled.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { settleRestored } from '../../src/app/operation/settle-restored.ts';
import type { Overview } from '../../src/app/orders/read-overview.ts';
import { sql } from '../../src/data/engine/db.ts';
import { leaveProtections } from '../../src/data/orders/protections-left.ts';
import { timestamp } from '../../src/domain/ids.ts';
import type { ShownProtection } from '../../src/domain/protection/shown.ts';
import { openWorld, type Problem } from '../world.ts';

const PAPER = { latency_ms: 0, price: { BTCUSDT: 65_000 } };
const RESTORED = 'The service was restored from a backup.';

async function openDesk(t: TestContext) {
  const world = await openWorld(t, { env: { PROTECTION_SWEEP_SECONDS: '1' } });
  const trader = await world.makeTrader({}, { paper: PAPER });
  const stops = () =>
    world.db.all<{ price: string }>(sql`select price from paper_stops where status = 'standing'`);
  const targets = () =>
    world.db.all<{ limit_price: string; quantity: string }>(
      sql`select limit_price, quantity from paper_orders where status = 'placed' and limit_price is not null`,
    );
  const row = () =>
    world.db.get<{ id: string; body: string; version: number; state: string }>(
      sql`select id, body, version, state from protections order by created_at limit 1`,
    );
  const shown = async (id: string) =>
    (await world.as<ShownProtection>(trader, 'GET', `/trading/protections/${id}`)).body;
  const standing = (id: string, is: (one: ShownProtection) => boolean = () => true) =>
    world.eventually(
      () => shown(id),
      (one) => one.state === 'standing' && is(one),
    );
  return {
    ...{ world, trader, stops, targets, row, shown, standing },
    todo: async () => (await world.as<Overview>(trader, 'GET', '/trading/overview')).body.todo,
    resume: (id: string) =>
      world.as<ShownProtection & Problem>(trader, 'POST', `/trading/protections/${id}/resume`),
    price: (price: number) =>
      world.as(trader, 'PATCH', `/trading/accounts/${trader.account.id}`, {
        paper: { price: { BTCUSDT: price } },
      }),
    /** The row as it was then, left as a restore leaves it; what stands at the broker is newer. */
    async restore(then: { body: string } | undefined) {
      await world.stop();
      await world.db.commit([
        sql`update protections set body = ${then?.body ?? null}`,
        leaveProtections(RESTORED, timestamp(Date.now())),
      ]);
      await world.restart();
    },
  };
}

test('what was restored is left alone until its owner resumes it, and then kept where its stop stands by now', async (t) => {
  const desk = await openDesk(t);
  const { world, trader } = desk;
  const { body: entry } = await world.send(trader, {
    ...{ stop_loss: 64_000, take_profit: [{ at: 66_000, percent: 50 }] },
  });
  const id = entry.protection?.id ?? '';
  await desk.standing(id);
  await world.eventually(desk.targets, ({ length }) => length === 1);
  const backup = await desk.row();
  await world.send(trader, { action: 'protect', quantity: undefined, stop_loss: 64_200 });
  await desk.standing(id, ({ stop_loss }) => stop_loss === 64_200);
  await world.eventually(desk.stops, ([stop, more]) => stop?.price === '64200' && more === undefined);
  await desk.restore(backup);

  const [item, ...others] = await desk.todo();
  assert.deepEqual(
    [item?.kind, item?.severity, item?.protection_id, others.length],
    ['protection_left', 'act', id, 0],
  );
  assert.match(
    item?.title ?? '',
    /^The protection of the long position in BTCUSDT on Paper is not being watched/,
  );
  assert.match(item?.detail ?? '', /restored from a backup\. Check at .* then resume it/);
  // An order of the account has its worker look at everything that it keeps.
  await world.send(trader, { symbol: 'ETHUSDT' });
  assert.equal((await desk.shown(id)).state, 'left');
  assert.deepEqual(await desk.stops(), [{ price: '64200' }]);
  const held = await world.as<{ items: { symbol: string; protection: ShownProtection | null }[] }>(
    ...([trader, 'GET', `/trading/accounts/${trader.account.id}/positions`] as const),
  );
  assert.deepEqual(
    held.body.items.map(({ symbol, protection }) => [symbol, protection?.state]),
    [
      ['BTCUSDT', 'left'],
      ['ETHUSDT', undefined],
    ],
  );

  const said = await desk.resume(id);
  assert.deepEqual([said.status, said.body.id, said.body.state], [202, id, 'armed']);
  const kept = await desk.standing(id);
  assert.equal(kept.stop_loss, 64_200, 'where it stood');
  assert.deepEqual(await desk.stops(), [{ price: '64200' }]);
  assert.deepEqual(await desk.targets(), [{ limit_price: '66000', quantity: '0.5' }]);
  assert.deepEqual(await desk.todo(), []);
  const audits = await world.audits(trader);
  assert.equal(audits.filter(({ action }) => action === 'protection_resumed').length, 1);
  assert.equal(
    audits.some(({ action }) => action === 'protection_restored'),
    false,
    'nobody took anything away',
  );

  await desk.price(66_100);
  await desk.price(64_100);
  await world.eventually(
    () => desk.shown(id),
    ({ state }) => state === 'ended',
  );
  const closes = (await world.orders(trader)).filter(({ source }) => source === 'protection');
  assert.equal(closes.length, 2);
  assert.deepEqual([await desk.stops(), await desk.targets()], [[], []]);
});

test('targets that were set since the backup leave for those that are kept: none stands twice', async (t) => {
  const desk = await openDesk(t);
  const { world, trader } = desk;
  const { body: entry } = await world.send(trader, { stop_loss: 64_000, take_profit: 66_000 });
  const id = entry.protection?.id ?? '';
  await desk.standing(id);
  await world.eventually(desk.targets, ({ length }) => length === 1);
  const backup = await desk.row();
  await world.send(trader, { action: 'protect', quantity: undefined, take_profit: 67_000 });
  await world.eventually(desk.targets, ([only, more]) => only?.limit_price === '67000' && !more);
  await desk.restore(backup);
  assert.equal((await desk.resume(id)).status, 202);
  await world.eventually(desk.targets, ([only, more]) => only?.limit_price === '66000' && !more);
  assert.deepEqual(await desk.stops(), [{ price: '64000' }]);
});

test('where nothing is held any more, what is left of it is taken away, and it ends', async (t) => {
  const desk = await openDesk(t);
  const { world, trader } = desk;
  const { body: entry } = await world.send(trader, { stop_loss: 64_000, take_profit: 66_000 });
  const id = entry.protection?.id ?? '';
  await desk.standing(id);
  await world.eventually(desk.targets, ({ length }) => length === 1);
  await desk.restore(await desk.row());
  await world.send(trader, { action: 'sell', order_type: 'exit' });
  await desk.resume(id);
  await world.eventually(
    () => desk.shown(id),
    ({ state }) => state === 'ended',
  );
  assert.deepEqual([await desk.stops(), await desk.targets()], [[], []]);
});

test('only one that is left is resumed, and none beside another of its position', async (t) => {
  const desk = await openDesk(t);
  const { world, trader } = desk;
  const { body: entry } = await world.send(trader, { stop_loss: 64_000 });
  const id = entry.protection?.id ?? '';
  await desk.standing(id);
  const kept = await desk.resume(id);
  assert.deepEqual([kept.status, kept.body.code], [409, 'not_resumable']);
  assert.match(kept.body.detail, /is standing, not left/);
  await desk.restore(await desk.row());
  await world.send(trader, { stop_loss: 64_500 });
  const beside = await desk.resume(id);
  assert.deepEqual([beside.status, beside.body.code], [409, 'not_resumable']);
  assert.match(beside.body.detail, /Another protection is kept for this position/);
  assert.equal((await desk.shown(id)).state, 'left');
  const stranger = await world.makeTrader();
  const asked = await world.as(stranger, 'POST', `/trading/protections/${id}/resume`);
  assert.equal(asked.status, 404);
  const refused = (await world.audits(trader)).filter(({ action }) => action === 'protection_resumed');
  assert.deepEqual(
    refused.map(({ success }) => success),
    [0, 0],
  );
});

test('a protect about a position whose protection was left keeps that one again: nothing stands twice', async (t) => {
  const desk = await openDesk(t);
  const { world, trader } = desk;
  const { body: entry } = await world.send(trader, {
    ...{ stop_loss: 64_000, take_profit: [{ at: 66_000, percent: 50 }] },
  });
  const id = entry.protection?.id ?? '';
  await desk.standing(id);
  await world.eventually(desk.targets, ({ length }) => length === 1);
  await desk.restore(await desk.row());
  await world.send(trader, { action: 'protect', quantity: undefined, stop_loss: 64_500 });
  await desk.standing(id, ({ stop_loss }) => stop_loss === 64_500);
  await world.eventually(desk.stops, ([only, more]) => only?.price === '64500' && more === undefined);
  assert.deepEqual(await desk.targets(), [{ limit_price: '66000', quantity: '0.5' }]);
  assert.equal((await world.db.all(sql`select id from protections`)).length, 1);
  assert.deepEqual(await desk.todo(), []);
});

test('of one that was left and of which nothing stands any more, a protect takes nothing over', async (t) => {
  const desk = await openDesk(t);
  const { world, trader } = desk;
  const { body: entry } = await world.send(trader, { stop_loss: 64_000, take_profit: 66_000 });
  const id = entry.protection?.id ?? '';
  await desk.standing(id);
  await world.eventually(desk.targets, ({ length }) => length === 1);
  await desk.restore(await desk.row());
  // Closed and opened again meanwhile, by hand.
  await world.db.commit([
    sql`update paper_stops set status = 'cancelled' where status = 'standing'`,
    sql`update paper_orders set status = 'cancelled' where status = 'placed'`,
  ]);
  await world.send(trader, { action: 'protect', quantity: undefined, stop_loss: 64_500 });
  await desk.standing(id, ({ stop_loss }) => stop_loss === 64_500);
  assert.deepEqual(await desk.targets(), []);
  assert.deepEqual((await desk.shown(id)).take_profit, []);
});

test('a protect at another account at the broker is none of what was left at the former one', async (t) => {
  const desk = await openDesk(t);
  const { world, trader } = desk;
  const { body: entry } = await world.send(trader, { stop_loss: 64_000 });
  const id = entry.protection?.id ?? '';
  await desk.standing(id);
  const { body = '' } = (await desk.row()) ?? {};
  // It was seen there last with credentials that are no longer those of the account.
  await desk.restore({ body: JSON.stringify({ ...JSON.parse(body), credentialsVersion: 7 }) });
  await world.send(trader, { action: 'protect', quantity: undefined, stop_loss: 64_500 });
  assert.equal((await desk.shown(id)).state, 'left');
  assert.equal((await world.db.all(sql`select id from protections`)).length, 2);
});

test('a restore leaves all that is kept, and sends nothing for it', async (t) => {
  const desk = await openDesk(t);
  const { world, trader } = desk;
  const { body: entry } = await world.send(trader, { stop_loss: 64_000 });
  await desk.standing(entry.protection?.id ?? '');
  await world.stop();
  const now = Date.now();
  const hasher = { hash: async () => 'none' };
  await settleRestored(
    { db: world.db, clock: { now: () => now }, hasher },
    { madeAt: timestamp(now), hasLedger: () => true, halt: false },
  );
  const left = await world.db.all(sql`select state, reason, due_at from protections`);
  assert.deepEqual(left, [
    {
      state: 'left',
      reason:
        'The service was restored from a backup: what stands at the broker stands, and nobody looks after it until you say so.',
      due_at: null,
    },
  ]);
  // Its stop is taken away meanwhile: whoever looked would put it back.
  await world.db.commit([sql`update paper_stops set status = 'cancelled'`]);
  await world.restart();
  assert.equal((await world.send(trader, { symbol: 'ETHUSDT' })).body.status, 'filled');
  assert.deepEqual(await desk.stops(), []);
});
