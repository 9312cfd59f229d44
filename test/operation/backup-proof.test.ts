// A backup proves that it is as it was made: whoever can write to the place where backups lie, and has no APP_KEY, plants
// nothing by it.

import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { hashToken } from '../../src/app/identity/tokens.ts';
import { readConfig } from '../../src/config/config.ts';
import { foreignIn, OWN_TABLES } from '../../src/data/engine/foreign.ts';
import { migrate } from '../../src/data/engine/migrate.ts';
import { openSqlite } from '../../src/data/engine/sqlite.ts';
import { CannotStart } from '../../src/domain/cannot-start.ts';
import { makeBackup, restoreBackup } from '../../src/roles/backup.ts';
import { PROOF_BYTES } from '../../src/roles/backup-proof.ts';
import { terminal } from '../cli/terminal.ts';
import { APP_KEY, makeTrader } from '../orders/kill-harness.ts';

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-proof-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

const configOf = (dir: string, key = APP_KEY) =>
  readConfig({ DATA_DIR: dir, APP_KEY: key, LOG_LEVEL: 'silent' });

async function instance(t: TestContext): Promise<string> {
  const dir = folder(t);
  const db = openSqlite({ file: join(dir, 'fillpath.sqlite') });
  await migrate(db, Date.now());
  await makeTrader(db, {});
  await db.close();
  return dir;
}

/** A backup of a new instance, and what becomes of it. */
async function backedUp(t: TestContext) {
  const dir = await instance(t);
  const { file } = await makeBackup(configOf(dir), join(folder(t), 'copy.sqlite'));
  return {
    dir,
    file,
    changed(change: (copy: string) => void): string {
      const copy = join(folder(t), 'changed.sqlite');
      copyFileSync(file, copy);
      change(copy);
      return copy;
    },
    async refuses(copy: string, words: RegExp, { key = APP_KEY, unsigned = false } = {}): Promise<void> {
      const into = join(folder(t), 'new');
      await assert.rejects(
        restoreBackup(configOf(dir, key), { file: copy, into, keys: null, halt: true, unsigned }),
        (fault: Error) => {
          assert.match(fault.message, words);
          return fault instanceof CannotStart;
        },
      );
      assert.equal(existsSync(into), false, 'nothing is left behind');
    },
  };
}

const plant = (copy: string, ...statements: readonly string[]): void => {
  const db = new DatabaseSync(copy);
  for (const statement of statements) db.exec(statement);
  db.close();
};

/** As one from before backups proved themselves. */
const withoutProof = (copy: string): void => truncateSync(copy, readFileSync(copy).length - PROOF_BYTES);

const KEY = 'a key that the thief knows';
const PLANTED_KEY = `insert into api_keys (id, user_id, name, key_hash, created_at)
  select '01900000-0000-7000-8000-000000000001', id, 'planted', '${hashToken(KEY)}', created_at from users`;
const PLANTED_TRIGGER = `create trigger planted after insert on user_sessions
  begin update users set is_admin = 1 where id = new.user_id; end`;

test('a backup with a planted key, or a planted administrator, is refused', async (t) => {
  const { changed, refuses } = await backedUp(t);
  await refuses(
    changed((copy) => plant(copy, PLANTED_KEY)),
    /was changed since it was made.* Take another backup/,
  );
  await refuses(
    changed((copy) => plant(copy, 'update users set is_admin = 1')),
    /was changed since it was made/,
  );
});

test('a changed byte anywhere, a missing end and bytes at the end are refused', async (t) => {
  const { file, changed, refuses } = await backedUp(t);
  const whole = readFileSync(file);
  const places = [18, 100, 5_000, whole.length >> 1, whole.length - PROOF_BYTES - 1];
  for (const place of [...places, ...[1, 40, 70, PROOF_BYTES].map((back) => whole.length - back)]) {
    const copy = changed((to) => {
      const bytes = Buffer.from(whole);
      bytes[place] = (bytes[place] ?? 0) ^ 1;
      writeFileSync(to, bytes);
    });
    await refuses(copy, /was changed since it was made|carries no proof|is damaged|APP_KEY is not the one/);
  }
  await refuses(
    changed((copy) => truncateSync(copy, whole.length - 10)),
    /carries no proof.*cut off/,
  );
  await refuses(
    changed((copy) => truncateSync(copy, whole.length - PROOF_BYTES - 4_096)),
    /is damaged: it has \d+ bytes of \d+\. Take another backup/,
  );
  await refuses(
    changed((copy) => writeFileSync(copy, Buffer.concat([whole, Buffer.from('x')]))),
    /carries no proof/,
  );
});

test('under another APP_KEY it says so, and what to do', async (t) => {
  const { file, refuses } = await backedUp(t);
  await refuses(
    file,
    /APP_KEY is not the one that .* was made with\. Take the one that was kept with it\. Tried: the one in the environment/,
    { key: Buffer.alloc(32, 9).toString('base64url') },
  );
});

test('one from before needs --unsigned, which says loudly what is not proven', async (t) => {
  const { dir, changed, refuses } = await backedUp(t);
  const old = changed(withoutProof);
  await refuses(old, /carries no proof.*--unsigned/);
  const into = join(folder(t), 'new');
  const restored = await terminal(configOf(dir))('restore', old, '--into', into, '--unsigned');
  assert.equal(restored.code, 0, restored.err);
  assert.match(restored.err, /NOT PROVEN: .* carries no proof.*\nAdministrators in it: none\./);
});

test('--unsigned is no way around a proof that does not fit', async (t) => {
  const { changed, refuses } = await backedUp(t);
  const copy = changed((to) => plant(to, PLANTED_KEY));
  await refuses(copy, /was changed since it was made/, { unsigned: true });
});

test('triggers, views and tables that are not ours are refused by name, unsigned too', async (t) => {
  const { changed, refuses } = await backedUp(t);
  const old = (...statements: string[]) =>
    changed((copy) => {
      withoutProof(copy);
      plant(copy, ...statements);
    });
  const unsigned = { unsigned: true };
  await refuses(
    old(PLANTED_TRIGGER, 'create view looks as select 1', 'create table notes (text text)'),
    /not made by Fillpath: table notes, trigger planted on user_sessions, view looks\. /,
    unsigned,
  );
  await refuses(
    old('drop table tries', 'create view tries as select 1 as subject'),
    /not made by Fillpath: view tries\. /,
    unsigned,
  );
  await refuses(
    old('drop table tries', 'create virtual table tries using fts5(subject)'),
    /not made by Fillpath: .*table tries/,
    unsigned,
  );
  // SQLite reads the text of a definition, and not what it is said to be.
  const disguised = `insert into sqlite_schema (type, name, tbl_name, rootpage, sql)
    values ('index', 'planted', 'user_sessions', 0, '${PLANTED_TRIGGER.replaceAll("'", "''")}')`;
  const copy = old();
  const db = new DatabaseSync(copy);
  db.enableDefensive?.(false);
  db.exec('pragma writable_schema = on');
  db.exec(disguised);
  db.close();
  await refuses(copy, /not made by Fillpath: .*planted|is damaged/, unsigned);
});

test('a database with a trigger in it is not backed up: no backup of it could be restored', async (t) => {
  const dir = await instance(t);
  plant(join(dir, 'fillpath.sqlite'), PLANTED_TRIGGER);
  const to = join(folder(t), 'copy.sqlite');
  await assert.rejects(
    makeBackup(configOf(dir), to),
    /not made by Fillpath: trigger planted on user_sessions/,
  );
  assert.equal(existsSync(to), false);
});

test('our tables are those of the migrations, and a database knows no others', async () => {
  const db = openSqlite({ file: ':memory:' });
  await migrate(db, Date.now());
  const rows = await db.all<{ name: string }>({
    parts: ["select name from sqlite_schema where type = 'table' and name not like 'sqlite~_%' escape '~'"],
    values: [],
  });
  assert.deepEqual(rows.map(({ name }) => name).toSorted(), [...OWN_TABLES].toSorted());
  assert.deepEqual(await foreignIn(db), []);
  await db.close();
});
