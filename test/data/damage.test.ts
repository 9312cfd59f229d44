// An embedded database that cannot be believed is refused at the start, and left as it is.

import assert from 'node:assert/strict';
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { readConfig } from '../../src/config/config.ts';
import { migrate } from '../../src/data/engine/migrate.ts';
import { openSqlite } from '../../src/data/engine/sqlite.ts';
import { damageOf } from '../../src/data/engine/sqlite-check.ts';
import { CannotStart } from '../../src/domain/cannot-start.ts';
import { openFillpath } from '../../src/main.ts';
import { terminal } from '../cli/terminal.ts';

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-damage-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

const config = (dir: string) =>
  readConfig({ DATA_DIR: dir, PORT: '0', SEED_USER: 'false', LOG_LEVEL: 'silent' });

/** Opens with a reason, or runs and is stopped. */
async function start(dir: string): Promise<string | null> {
  try {
    const fillpath = await openFillpath(config(dir));
    await fillpath.stop();
    return null;
  } catch (fault) {
    assert.ok(fault instanceof CannotStart, String(fault));
    return fault.message;
  }
}

async function migrated(dir: string): Promise<{ db: DatabaseSync; file: string }> {
  const file = join(dir, 'fillpath.sqlite');
  const prepared = openSqlite({ file });
  await migrate(prepared, Date.now());
  await prepared.close();
  return { db: new DatabaseSync(file), file };
}

const fill = (db: DatabaseSync, from: number, to: number) => {
  const insert = db.prepare('insert into facts (name, value) values (?, ?)');
  for (let index = from; index < to; index++) insert.run(`fact ${index}`, 'x'.repeat(700));
};

/** As it is left by a process that is killed after a checkpoint; with a backup of before that in the file's place. */
async function restoredOver(t: TestContext): Promise<string> {
  const { db, file } = await migrated(folder(t));
  fill(db, 0, 200);
  const backup = join(folder(t), 'backup.sqlite');
  db.exec(`vacuum into '${backup}'`);
  fill(db, 200, 400);
  db.exec('pragma wal_checkpoint(truncate)');
  fill(db, 400, 420);
  const dir = folder(t);
  copyFileSync(backup, join(dir, 'fillpath.sqlite'));
  copyFileSync(`${file}-wal`, join(dir, 'fillpath.sqlite-wal'));
  db.close();
  return dir;
}

test('a backup put over the database of a killed process is refused, and both stay as they are', async (t) => {
  const dir = await restoredOver(t);
  const files = () => ['fillpath.sqlite', 'fillpath.sqlite-wal'].map((name) => readFileSync(join(dir, name)));
  const before = files();
  assert.match(
    (await start(dir)) ?? '',
    /^The database \S+ is damaged: .*Nothing was changed.*npx fillpath restore/,
  );
  assert.deepEqual(files(), before);
  // As the text says.
  rmSync(join(dir, 'fillpath.sqlite-wal'));
  rmSync(join(dir, 'fillpath.sqlite-shm'), { force: true });
  assert.equal(await start(dir), null);
});

for (const args of [
  ['user', 'list'],
  ['audit', 'verify'],
  ['migrate', '--check'],
])
  test(`${args.join(' ')} before the start does not hide it: the log beside the file stays, and the start is refused`, async (t) => {
    const dir = await restoredOver(t);
    const before = readFileSync(join(dir, 'fillpath.sqlite'));
    await terminal(config(dir))(...args);
    assert.deepEqual(readFileSync(join(dir, 'fillpath.sqlite')), before);
    assert.match((await start(dir)) ?? '', /is damaged/);
  });

test('a folder into which a restore was cut off is no first start', async (t) => {
  const dir = folder(t);
  writeFileSync(join(dir, 'restoring.sqlite'), '');
  assert.match((await start(dir)) ?? '', /^A restore into \S+ was interrupted\. Delete the folder/);
  assert.deepEqual(
    readdirSync(dir).filter((name) => name.startsWith('fillpath')),
    [],
  );
});

test('what a killed process left is its own, and is started on', async (t) => {
  const { db, file } = await migrated(folder(t));
  fill(db, 0, 400);
  db.exec('pragma wal_checkpoint(truncate)');
  fill(db, 400, 420);
  const dir = folder(t);
  copyFileSync(file, join(dir, 'fillpath.sqlite'));
  copyFileSync(`${file}-wal`, join(dir, 'fillpath.sqlite-wal'));
  db.close();
  assert.equal(await start(dir), null);
});

test('a file that is cut off, or none of SQLite, is refused without reading all of it', async (t) => {
  const { db, file } = await migrated(folder(t));
  fill(db, 0, 400);
  db.close();
  assert.equal(damageOf(file), null);
  const cut = join(folder(t), 'fillpath.sqlite');
  copyFileSync(file, cut);
  truncateSync(cut, 40_960);
  assert.match(damageOf(cut) ?? '', /^it has 40960 bytes of \d+$/);
  const text = join(folder(t), 'fillpath.sqlite');
  writeFileSync(text, 'this is a letter to my aunt, and no database at all, whatever its name may be');
  assert.equal(damageOf(text), 'file is not a database');
  assert.equal(damageOf(join(folder(t), 'none.sqlite')), null);
});
