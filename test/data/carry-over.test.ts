// What was committed is carried over from SQLite's log into its file by a thread of its own, and never by an order's commit.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import { openSqlite } from '../../src/data/engine/sqlite.ts';

const TEXT = 'x'.repeat(2_000);
/** By then a commit would have carried it over by itself. */
const MOST_UNITS = 9_000;

async function opened(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-log-'));
  const file = join(dir, 'a.sqlite');
  const db = openSqlite({ file, ownThread: true });
  t.after(async () => {
    await db.close();
    rmSync(dir, { recursive: true, force: true });
  });
  await db.script('create table words (id integer primary key, text text not null)');
  const write = () => db.commit([sql`insert into words (text) values (${TEXT})`]);
  return { file, db, write };
}

test('one unit after the other, or many at once: what they wrote gets into the file while more is written', async (t) => {
  const { file, write } = await opened(t);
  // Of the file itself, without the log beside it.
  const size = () => statSync(file).size;
  for (const atOnce of [1, 20]) {
    const before = size();
    for (let units = 0; size() === before; units += atOnce) {
      assert.ok(units < MOST_UNITS, `${units} units stayed in the log`);
      await Promise.all(Array.from({ length: atOnce }, write));
    }
  }
});

test('the log begins anew: it stays as large as it is while more is written', async (t) => {
  const { file, write, db } = await opened(t);
  const size = () => statSync(`${file}-wal`).size;
  let [units, before] = [0, 0];
  do {
    before = size();
    for (let unit = 0; unit < 200; unit++) await write();
    units += 200;
    assert.ok(units < MOST_UNITS, `${size()} bytes, and growing`);
  } while (size() > before);
  assert.equal((await db.get<{ n: number }>(sql`select count(*) as n from words`))?.n, units);
});
