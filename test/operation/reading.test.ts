// What somebody looks at is read by a thread of its own, and is the same as if it were read where orders are traded.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, renameSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { writePast } from '../../bench/past.ts';
import { Written } from '../../src/app/reading.ts';
import { DatabaseUnavailable, ListTooSlow } from '../../src/data/engine/db.ts';
import type { UserId } from '../../src/domain/ids.ts';
import { openReading } from '../../src/roles/reading.ts';
import { logbook, openWorld, type World } from '../world.ts';

const PAGE = { filter: {}, cursor: null, limit: 50 };

function readingOf(t: TestContext, world: World, { db }: { db?: boolean } = {}) {
  const closers: (() => unknown)[] = [];
  t.after(() => Promise.all(closers.map((close) => close())));
  const { log } = logbook();
  const { config, clock } = world;
  return openReading(
    { config, db: world.db, clock, log, closers, parts: db ? { db: (opened) => opened } : {} },
    {
      ...config.timings,
      ...{ plans: config.plans, fillRetries: 3, baseUrl: 'http://localhost', sealer: null },
    },
  );
}

test('every list is the same, whichever thread reads it', async (t) => {
  const world = await openWorld(t);
  const trader = await world.makeTrader({ isAdmin: true });
  for (let sent = 0; sent < 3; sent++) await world.send(trader, { quantity: 0.01 });
  await world.send(trader, { secret: 'wrong' });
  const { user } = trader;
  const [there, here] = [readingOf(t, world), readingOf(t, world, { db: true })];
  const page = { cursor: null, limit: 50 };
  for (const reading of [there, here])
    assert.ok((await reading.orders.asJson(user.id, PAGE)) instanceof Written);
  for (const read of [
    (reading: typeof there) => reading.orders.asJson(user.id, PAGE),
    (reading: typeof there) => reading.orders.asCsv(user.id, PAGE),
    (reading: typeof there) => reading.signals.asJson(user.id, PAGE),
    (reading: typeof there) => reading.signals.asCsv(user.id, PAGE),
    (reading: typeof there) => reading.performance.asValue(user.id, { simulation: false }),
    (reading: typeof there) => reading.trades.asCsv(user.id, { filter: { simulation: false }, ...page }),
    (reading: typeof there) => reading.tradesSummary.asJson(user.id, { simulation: false, zone: 'UTC' }),
    (reading: typeof there) => reading.accounts.asJson(user.id, page),
    (reading: typeof there) => reading.attacks.asCsv(user.id, { type: null, ...page }),
    (reading: typeof there) => reading.auditLog.asJson(user.id, { action: null, order: null, ...page }),
    (reading: typeof there) => reading.users.asJson({ email: null, ...page }),
    (reading: typeof there) => reading.deadLetters.asJson(page),
  ])
    assert.deepEqual(await read(there), await read(here));
  const { json } = await there.orders.asJson(user.id, PAGE);
  assert.equal((JSON.parse(json) as { items: unknown[] }).items.length, 3);
  assert.match((await there.signals.asCsv(user.id, PAGE)).lines, /webhook_credential_attack/);
});

test('what was committed a moment ago is read', async (t) => {
  const world = await openWorld(t);
  const trader = await world.makeTrader();
  const reading = readingOf(t, world);
  for (let sent = 1; sent <= 5; sent++) {
    await world.send(trader, { quantity: 0.01 });
    const { json } = await reading.orders.asJson(trader.user.id, PAGE);
    assert.equal((JSON.parse(json) as { items: unknown[] }).items.length, sent);
  }
});

test('a thread that cannot read says so, and the next who asks has another', async (t) => {
  const world = await openWorld(t);
  const reading = readingOf(t, world);
  const [file, elsewhere] = ['fillpath.sqlite', 'elsewhere'].map((name) => join(world.dir, name)) as [
    string,
    string,
  ];
  const nobody = '0197f2a0-0000-7000-8000-000000000000' as UserId;
  renameSync(file, elsewhere);
  await assert.rejects(reading.orders.asJson(nobody, PAGE), DatabaseUnavailable);
  renameSync(elsewhere, file);
  assert.equal((await reading.orders.asJson(nobody, PAGE)).json, '{"items":[],"next_cursor":null}');
});

test('its faults are those of who asks', async (t) => {
  const world = await openWorld(t);
  const reading = readingOf(t, world);
  const nobody = '0197f2a0-0000-7000-8000-000000000000' as UserId;
  // No columns: a fault of ours, which is neither a slow list nor a database that is away.
  await assert.rejects(reading.users.asCsv({ email: null, cursor: null, limit: 1 }), (fault: Error) => {
    assert.ok(!(fault instanceof ListTooSlow) && !(fault instanceof DatabaseUnavailable));
    return /no columns/.test(fault.message);
  });
  // The thread lives on.
  assert.equal((await reading.orders.asJson(nobody, PAGE)).json, '{"items":[],"next_cursor":null}');
});

test('who trades comes before who reads, also where the whole service gives way to others', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const world = await openWorld(t);
  const before = getPriority(0);
  setPriority(0, 12);
  try {
    const reading = readingOf(t, world);
    const nobody = '0197f2a0-0000-7000-8000-000000000000' as UserId;
    await reading.orders.asJson(nobody, PAGE);
    assert.equal(Math.max(...threads().map(({ priority }) => priority)), 19);
  } finally {
    // Only who may can have it back.
    try {
      setPriority(0, before);
    } catch {}
  }
});

// A thread is not to be taken off a processor in the middle of its work: who waits for it waits until the system's clock ticks.
test('who reads leaves the processor again and again', { skip: process.platform !== 'linux' }, async (t) => {
  const world = await openWorld(t);
  const trader = await world.makeTrader();
  await writePast(world.db, trader, 400);
  const reading = readingOf(t, world);
  const read = (form: 'asJson' | 'asCsv') => reading.orders[form](trader.user.id, { ...PAGE, limit: 200 });
  await read('asJson');
  const reader = threads().toSorted((a, b) => b.priority - a.priority)[0]?.thread as string;
  const usage = () => {
    const [had = ''] = readFileSync(`/proc/self/task/${reader}/schedstat`, 'utf8').split(' ');
    const status = readFileSync(`/proc/self/task/${reader}/status`, 'utf8');
    return { ms: Number(had) / 1e6, left: Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1]) };
  };
  const before = usage();
  for (let nth = 0; nth < 10; nth++) for (const form of ['asJson', 'asCsv'] as const) await read(form);
  const after = usage();
  const [ms, left] = [after.ms - before.ms, after.left - before.left];
  assert.ok(left > ms / 2, `${left} times in ${ms.toFixed(0)} ms of work`);
});

/** Of this process. The more its priority is, the less it has of a busy processor. */
const threads = () =>
  readdirSync('/proc/self/task').map((thread) => {
    const [, fields = ''] = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8').split(') ');
    return { thread, priority: Number(fields.split(' ')[16]) };
  });
