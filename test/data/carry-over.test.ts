// What was committed is carried over from SQLite's log into its file by a thread of its own, and never by an order's commit.

import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import { openSqlite } from '../../src/data/engine/sqlite.ts';

const TEXT = 'x'.repeat(2_000);
const MOST_UNITS = 20_000;

async function opened(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-log-'));
  const file = join(dir, 'a.sqlite');
  const db = openSqlite({ file, ownThread: true });
  t.after(async () => {
    await db.close();
    rmSync(dir, { recursive: true, force: true });
  });
  await db.script('create table words (id integer primary key, text text not null)');
  /** What is in the file itself, without the log beside it. */
  const carriedOver = (): number => {
    const copy = join(dir, 'copy.sqlite');
    copyFileSync(file, copy);
    const seen = new DatabaseSync(copy, { readOnly: true });
    try {
      const tables = seen.prepare("select count(*) as n from sqlite_master where name = 'words'").get();
      return tables?.n === 0 ? 0 : Number(seen.prepare('select count(*) as n from words').get()?.n);
    } finally {
      seen.close();
    }
  };
  const write = () => db.commit([sql`insert into words (text) values (${TEXT})`]);
  return { file, db, write, carriedOver };
}

test('one unit after the other, or many at once: what they wrote gets into the file while more is written', async (t) => {
  const { write, carriedOver } = await opened(t);
  for (const atOnce of [1, 20]) {
    const before = carriedOver();
    let units = 0;
    do {
      await Promise.all(Array.from({ length: atOnce }, write));
      units += atOnce;
      assert.ok(units < MOST_UNITS, `${units} units stayed in the log`);
    } while (units % 100 !== 0 || carriedOver() <= before);
  }
});

test('the log does not grow with what is written', async (t) => {
  const { file, write, db } = await opened(t);
  for (let unit = 0; unit < 6_000; unit++) await write();
  // Each of them alone is a page or two: all of them would be more than 24 MB.
  assert.ok(statSync(`${file}-wal`).size < 16e6, `${statSync(`${file}-wal`).size} bytes`);
  assert.equal((await db.get<{ n: number }>(sql`select count(*) as n from words`))?.n, 6_000);
});
