// Health writes: a database that can only be read accepts no order.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createWriteProbe } from '../../src/app/operation/write-probe.ts';
import { type Db, NotCommitted, sql } from '../../src/data/engine/db.ts';
import { migrate } from '../../src/data/engine/migrate.ts';
import { openPostgres } from '../../src/data/engine/postgres.ts';
import { openSqlite } from '../../src/data/engine/sqlite.ts';
import { startProgram } from '../orders/kill-harness.ts';
import { PostgresMissing, startPostgres } from '../servers/postgres.ts';
import { openWorld } from '../world.ts';

async function writesOnceASecond(opened: Db): Promise<void> {
  await migrate(opened, Date.now());
  let commits = 0;
  const db: Db = {
    ...opened,
    commit(unit) {
      commits++;
      return opened.commit(unit);
    },
  };
  let now = 5_000;
  const probe = createWriteProbe({ db, clock: { now: () => now } }, { now: () => now });
  await Promise.all(Array.from({ length: 50 }, () => probe.write()));
  now += 999;
  await probe.write();
  assert.equal(commits, 1);
  now += 1;
  await probe.write();
  assert.equal(commits, 2);
  const { value } = (await opened.get<{ value: string }>(
    sql`select value from facts where name = 'last_probe'`,
  )) ?? { value: null };
  assert.equal(value, '1970-01-01T00:00:06.000Z', 'what it writes is there');
}

test('whoever asks, SQLite is written to once a second', async (t) => {
  const db = openSqlite({ file: ':memory:' });
  t.after(() => db.close());
  await writesOnceASecond(db);
});

test('whoever asks, PostgreSQL is written to once a second', async (t) => {
  const server = await startPostgres().catch((fault: unknown) => {
    if (!(fault instanceof PostgresMissing)) throw fault;
    return null;
  });
  if (!server) return t.skip('PostgreSQL is not installed');
  t.after(() => server.stop());
  const db = await openPostgres({ url: server.url, poolSize: 3 });
  t.after(() => db.close());
  await writesOnceASecond(db);
});

test('a database that cannot be written to is down, and so is the whole', async (t) => {
  let isFull = false;
  const world = await openWorld(t, {
    db: (opened) => ({
      ...opened,
      commit: (unit) =>
        isFull ? Promise.reject(new NotCommitted('database or disk is full')) : opened.commit(unit),
    }),
  });
  const health = () => world.server.inject({ url: '/health' });
  isFull = true;
  const full = await health();
  assert.equal(full.statusCode, 503);
  assert.equal(full.json().database.status, 'down');
});

/** A disk of its own, as small as that; null where we may not mount one. */
function smallDisk(t: TestContext, megabytes: number): string | null {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', dir], { stdio: 'ignore' });
  } catch {
    rmSync(dir, { recursive: true });
    return null;
  }
  t.after(() => {
    execFileSync('umount', ['-l', dir]);
    rmSync(dir, { recursive: true });
  });
  return dir;
}

test('on a full disk /health says so, and is well again once there is room', async (t) => {
  const dir = smallDisk(t, 48);
  if (dir === null) return t.skip('needs the right to mount a disk');
  const program = startProgram(dir);
  t.after(() => program.kill());
  const address = await program.ready;
  const healthy = async () => (await fetch(`${address}/health`)).status;
  const until = async (status: number) => {
    while ((await healthy()) !== status) await new Promise((resolve) => setTimeout(resolve, 200));
  };
  await until(200);
  const filler = join(dir, 'filler');
  assert.throws(() => writeFileSync(filler, Buffer.alloc(64 * 2 ** 20)), { code: 'ENOSPC' });
  await until(503);
  rmSync(filler);
  await until(200);
});
