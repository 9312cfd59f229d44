// Today says which positions have no stop, which stop is fought over, and which nobody can look after; and when that is over.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Overview } from '../../src/app/orders/read-overview.ts';
import { sql } from '../../src/data/engine/db.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { openWorld, type Trader, type World } from '../world.ts';

const QUICK = { PROTECT_SECONDS: '1', PROTECTION_SWEEP_SECONDS: '1' };
const PAPER = { latency_ms: 0, price: { BTCUSDT: 65_000 } };

const overview = async (world: World, trader: Trader): Promise<Overview> =>
  (await world.as<Overview>(trader, 'GET', '/trading/overview')).body;

const seen = (world: World, trader: Trader, is: (overview: Overview) => boolean): Promise<Overview> =>
  world.eventually(() => overview(world, trader), is);

/** A position whose stop stands, and no worker any more that looks after it. */
async function withStoppedWorker(t: TestContext) {
  const world = await openWorld(t);
  const trader = await world.makeTrader({}, { paper: PAPER });
  await world.send(trader, { stop_loss: 64_000 });
  await world.eventually(
    () => world.db.all(sql`select id from protections where state = 'standing'`),
    (rows) => rows.length === 1,
  );
  await world.stop();
  return { world, trader };
}

test('a position whose stop the broker refuses is a risk until it has one', async (t) => {
  const world = await openWorld(t, { env: QUICK });
  const trader = await world.makeTrader(
    {},
    { unprotected: 'alert', paper: { ...PAPER, protection: 'refuse' } },
  );
  const { body } = await world.send(trader, { stop_loss: 64_000 });
  const { todo, in_order } = await seen(world, trader, (each) => each.todo.length > 0);
  assert.equal(in_order, false);
  const [only, ...others] = todo;
  assert.deepEqual(others, []);
  assert.deepEqual(
    [only?.kind, only?.severity, only?.title, only?.order_id, only?.symbol],
    ['unprotected', 'risk', 'The long position in BTCUSDT on Paper has no stop.', body.order_id, 'BTCUSDT'],
  );
  assert.match(only?.detail ?? '', /The paper exchange refuses every stop.*close the position/);
  assert.ok(only?.since && only.protection_id);
  await world.setPaper(trader, PAPER);
  const after = await seen(world, trader, (each) => each.in_order);
  assert.deepEqual(
    [after.last_trouble?.kind, after.last_trouble?.title],
    ['unprotected', 'BTCUSDT had no stop on Paper'],
  );
});

test('a stop that was put back three times within an hour is not put back again, and its owner is to find out who takes it away', async (t) => {
  const world = await openWorld(t, { env: QUICK });
  const trader = await world.makeTrader({}, { paper: PAPER });
  await world.send(trader, { stop_loss: 64_000 });
  const standing = () => world.db.all(sql`select client_order_id from paper_stops where status = 'standing'`);
  for (let time = 1; time <= 4; time++) {
    await world.eventually(standing, (stops) => stops.length === 1);
    // It is seen to stand before somebody takes it away.
    await world.eventually(
      () =>
        world.db.all<{ body: string }>(
          sql`select body from protections where state = 'standing' and ended_at is null`,
        ),
      ([row]) => row !== undefined && JSON.parse(row.body).legs[0]?.status === 'standing',
    );
    await world.db.commit([sql`update paper_stops set status = 'cancelled' where status = 'standing'`]);
    // The broker's book is read anew.
    await world.setPaper(trader, PAPER);
  }
  const { todo } = await seen(world, trader, (each) => each.todo.length > 0);
  assert.deepEqual(
    todo.map(({ kind, severity }) => [kind, severity]),
    [['protection_not_restored', 'risk']],
  );
  assert.match(todo[0]?.detail ?? '', /put back three times within an hour.*send "protect" with the stop/);
  const texts = (await world.audits(trader)).flatMap(({ action, metadata }) =>
    action === 'protection_restored' ? [String(JSON.parse(metadata).text)] : [],
  );
  assert.deepEqual(
    texts.map((text) => /That was the (\w+) time/.exec(text)?.[1]),
    ['first', 'second', 'third'],
  );
  assert.deepEqual(await standing(), []);
  // Whoever sets it anew has seen what there was.
  await world.send(trader, { action: 'protect', quantity: undefined, stop_loss: 63_000 });
  await seen(world, trader, (each) => each.in_order);
});

test('a stop that nobody can look after, because the credentials are refused, is to be acted upon', async (t) => {
  const { world, trader } = await withStoppedWorker(t);
  // Nobody looks before the test has.
  const later = timestamp(Date.now() + 600_000);
  await world.db.commit([
    sql`update protections set state = 'unwatched', reason = 'key revoked', due_at = ${later}`,
  ]);
  await world.restart();
  const { todo } = await overview(world, trader);
  assert.deepEqual(
    todo.map(({ kind, severity, title }) => [kind, severity, title]),
    [
      [
        'protection_unwatched',
        'act',
        'The stop of the long position in BTCUSDT on Paper is not being watched.',
      ],
    ],
  );
  assert.match(
    todo[0]?.detail ?? '',
    /The stop at 64000 stands there as it was last seen;.*Enter new credentials/,
  );
});

test('a position whose stop nobody has placed, since its host died and no other took its user, is a risk', async (t) => {
  const world = await openWorld(t);
  const trader = await world.makeTrader({}, { paper: PAPER });
  const { body } = await world.send(trader, { stop_loss: 64_000 });
  await world.eventually(
    () => world.db.all(sql`select id from protections where state = 'standing'`),
    (rows) => rows.length === 1,
  );
  await world.stop();
  const ago = (ms: number) => timestamp(Date.now() - ms);
  // As it was born with the fill. Nobody looks before the test has.
  const born = (
    since: string,
    seen: { body: string | null; at: string | null; waitsFor?: string | undefined },
  ) =>
    world.db.commit([
      sql`update protections set state = 'armed', body = ${seen.body}, unprotected_since = ${since}, seen_at = ${seen.at},
            wanted_by = ${seen.waitsFor ?? null}, due_at = ${ago(-600_000)}`,
    ]);
  const noStopFor = async () => {
    const { body: figures } = await world.request<string>({ method: 'GET', url: '/metrics' });
    return Number(/^fillpath_oldest_unprotected_seconds\{broker="paper"\} ([\d.]+)$/m.exec(figures)?.[1]);
  };
  const [row] = await world.db.all<{ body: string }>(sql`select body from protections`);
  const looked = row?.body ?? null;
  await born(ago(120_000), { body: null, at: null });
  await world.restart();
  const { in_order, todo } = await overview(world, trader);
  assert.equal(in_order, false);
  assert.deepEqual(
    todo.map(({ kind, severity, title, order_id }) => [kind, severity, title, order_id]),
    [['unprotected', 'risk', 'The long position in BTCUSDT on Paper may have no stop.', body.order_id]],
  );
  assert.match(todo[0]?.detail ?? '', /no worker .* has looked after it since then.*close the position/);
  assert.ok((await noStopFor()) >= 120);
  // One that was looked at, and that nobody has come back to.
  await born(ago(180_000), { body: looked, at: ago(120_000) });
  assert.equal((await overview(world, trader)).in_order, false);
  // One of which something was saved before its position was shown, and then nothing.
  await born(ago(120_000), { body: looked, at: null });
  assert.equal((await overview(world, trader)).in_order, false);
  // One that somebody looks at, that waits for an order of which nobody knows the end, or that has just been opened.
  await born(ago(120_000), { body: looked, at: ago(1_000) });
  assert.equal((await overview(world, trader)).in_order, true);
  await born(ago(120_000), { body: looked, at: null, waitsFor: body.order_id });
  assert.equal((await overview(world, trader)).in_order, true);
  await born(ago(5_000), { body: null, at: null });
  assert.equal((await overview(world, trader)).in_order, true);
});

test('a position whose stop was taken away for an order, and that nobody has come back to, is a risk', async (t) => {
  const { world, trader } = await withStoppedWorker(t);
  const ago = (ms: number) => timestamp(Date.now() - ms);
  const suspended = (seenAt: string) =>
    world.db.commit([
      sql`update protections set state = 'suspended', seen_at = ${seenAt}, due_at = ${ago(-600_000)}`,
    ]);
  await suspended(ago(120_000));
  await world.restart();
  const { todo } = await overview(world, trader);
  assert.deepEqual(
    todo.map(({ kind, title }) => [kind, title]),
    [['unprotected', 'The long position in BTCUSDT on Paper may have no stop.']],
  );
  assert.ok(todo[0]?.since);
  assert.match(todo[0]?.detail ?? '', /^Its stop was taken away for an order, .* placed again is not known/);
  const { body: figures } = await world.request<string>({ method: 'GET', url: '/metrics' });
  const [, seconds] = /^fillpath_oldest_unprotected_seconds\{broker="paper"\} ([\d.]+)$/m.exec(figures) ?? [];
  assert.ok(Number(seconds) >= 120, figures);
  await suspended(ago(1_000));
  assert.equal((await overview(world, trader)).in_order, true);
});

test('of a rehearsal nothing is to be done', async (t) => {
  const world = await openWorld(t);
  const trader = await world.makeTrader({}, { paper: PAPER });
  await world.send(trader, { stop_loss: '5%' }, { query: '?simulation=true' });
  await world.eventually(
    () => world.db.all(sql`select id from protections`),
    (rows) => rows.length === 1,
  );
  await world.db.commit([sql`update protections set state = 'unprotected'`]);
  assert.deepEqual((await overview(world, trader)).todo, []);
});
