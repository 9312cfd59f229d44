// Bringing the schema up to date: by one process at a time, to be finished by the next one after a crash, refused where the
// database is too new, and without holding up those who trade meanwhile.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { Client } from 'pg';
import { type Db, sql } from '../../src/data/engine/db.ts';
import {
  CannotMigrate,
  isFresh,
  MIGRATIONS,
  type Migration,
  migrate,
} from '../../src/data/engine/migrate.ts';
import { openPostgres } from '../../src/data/engine/postgres.ts';
import { openSqlite } from '../../src/data/engine/sqlite.ts';
import { startProgram } from '../orders/kill-harness.ts';
import { PostgresMissing, startPostgres } from '../servers/postgres.ts';
import { SCHEMA } from '../upgrade/last-release.ts';

const NOW = Date.parse('2026-11-05T09:30:00.120Z');
const LEVEL = Math.max(...MIGRATIONS.map(({ name }) => Number.parseInt(name, 10)));

const folder = mkdtempSync(join(tmpdir(), 'fillpath-migrate-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const adds: Migration = {
  name: '901-adds',
  script: 'create table shelves (id text primary key, size integer)',
};
const takesAway: Migration = { name: '902-takes-away', script: 'drop table shelves', needs: 901 };

const numberOf = ({ name }: Migration) => Number.parseInt(name, 10);

test('what came after the last release only adds, or says which programs can do without what it takes away', () => {
  const takes = /\b(drop (table|column)|rename|alter column|set not null|truncate|delete from)\b/i;
  const demands = /add column (?!.*\bdefault\b)[^;]*\bnot null\b/i;
  for (const migration of MIGRATIONS.filter((each) => numberOf(each) > SCHEMA)) {
    const { name, script, needs } = migration;
    const isAdditive = !takes.test(script) && !demands.test(script);
    assert.ok(isAdditive || needs !== undefined, `${name}: see "Upgrades" in docs/architecture/data.md`);
    assert.ok((needs ?? 0) < numberOf(migration), `${name}: the program that brings it must know it`);
  }
});

test('migrations are numbered, and stand in their order', () => {
  const numbers = MIGRATIONS.map(numberOf);
  assert.deepEqual(
    numbers,
    [...new Set(numbers)].sort((a, b) => a - b),
  );
});

function refusals(open: () => Promise<Db>): void {
  const apply = (db: Db, migrations: readonly Migration[], program = '0.1.0') =>
    migrate(db, NOW, { migrations, program });

  test('a program starts on what later ones have added, and not on what they have taken from it', async (t) => {
    const db = await open();
    t.after(() => db.close());
    await apply(db, MIGRATIONS);
    await apply(db, [...MIGRATIONS, adds], '0.2.0');
    await apply(db, MIGRATIONS);
    await apply(db, [...MIGRATIONS, adds, takesAway], '0.3.0');
    await assert.rejects(apply(db, MIGRATIONS), (fault: Error) => {
      assert.ok(fault instanceof CannotMigrate);
      assert.match(fault.message, /^The database is newer than this program/);
      assert.match(
        fault.message,
        /is at schema 902; 902-takes-away, applied by Fillpath 0\.3\.0, needs a program/,
      );
      assert.match(fault.message, new RegExp(`This is Fillpath 0\\.1\\.0, which knows schema ${LEVEL}\\.`));
      assert.match(fault.message, /Start Fillpath 0\.3\.0 or a newer one; or go back to a backup/);
      return true;
    });
    await apply(db, [...MIGRATIONS, adds], '0.2.0');
  });

  test('a new database is made whole, or not at all', async (t) => {
    const db = await open();
    t.after(() => db.close());
    const broken: Migration = { name: '902-broken', script: 'create table shelves (id text)' };
    await assert.rejects(apply(db, [...MIGRATIONS, adds, broken]), /shelves/);
    assert.ok(await isFresh(db));
    await apply(db, [...MIGRATIONS, adds]);
    assert.ok(!(await isFresh(db)));
  });
}

/** As a later version would have left it. */
async function takeAway(db: Db): Promise<void> {
  await migrate(db, NOW, {
    migrations: [...MIGRATIONS, adds, { ...takesAway, needs: 901 }],
    program: '0.3.0',
  });
}

async function refusesToStart(dataDir: string, env: Record<string, string> = {}): Promise<void> {
  const program = startProgram(dataDir, { LOG_LEVEL: 'info', ...env }, [
    '--import',
    'data:text/javascript,process.once("exit",(code)=>console.log("exit code "+code))',
    'src/main.ts',
  ]);
  await assert.rejects(program.ready);
  const printed = await program.ended;
  assert.match(printed, /^The database is newer than this program[^\n]*\nexit code 1\n$/, printed);
}

describe('on SQLite', () => {
  let files = 0;
  refusals(async () => openSqlite({ file: join(folder, `${++files}.sqlite`) }));

  test('the program says so in one line, and ends with 1', async () => {
    const dir = mkdtempSync(join(folder, 'data-'));
    const db = openSqlite({ file: join(dir, 'fillpath.sqlite') });
    await takeAway(db);
    await db.close();
    await refusesToStart(dir);
  });
});

const server = await startPostgres().catch((error) => {
  if (error instanceof PostgresMissing) return { missing: error.message };
  throw error;
});

describe('on PostgreSQL', 'missing' in server ? { skip: server.missing } : {}, () => {
  refusals(async () => openPostgres({ url: (await startPostgres()).url }));

  async function openTwo() {
    const { url } = await startPostgres();
    const [db, second, other] = [await openPostgres({ url }), await openPostgres({ url }), new Client(url)];
    await other.connect();
    after(() => Promise.all([db.close(), second.close(), other.end()]));
    return { url, db, second, other };
  }

  /** Asked again and again: there is no event for it. Not by who holds the lock: a transaction sees the same all the time. */
  async function until(db: Db, query: string): Promise<void> {
    while ((await db.all({ parts: [query], values: [] })).length === 0);
  }
  const waits = (what: string) =>
    `select 1 from pg_stat_activity where query like '%${what}%' and wait_event_type = 'Lock' and pid <> pg_backend_pid()`;

  const upTo = (number: number) => MIGRATIONS.filter((each) => numberOf(each) <= number);
  const HALF_BUILT = sql`select indexrelid::regclass::text as name from pg_index where not indisvalid`;

  test('the program says so in one line, and ends with 1', async () => {
    const { url, db } = await openTwo();
    await takeAway(db);
    await refusesToStart(mkdtempSync(join(folder, 'data-')), { DATABASE_URL: url });
  });

  test('while one migrates the others wait, and go on when it is done; who waits for too long is told what to do', async () => {
    const { db, second, other } = await openTwo();
    await migrate(db, NOW, { migrations: upTo(7) });
    await other.query(`begin isolation level read committed; lock table order_history in row exclusive mode`);
    const first = migrate(db, NOW);
    await until(db, waits('order_history_by_time'));
    await assert.rejects(migrate(second, NOW, { waitMs: 100 }), /for more than 0\.1 s.*start this one again/);
    const behind = migrate(second, NOW + 1);
    await other.query('commit');
    await Promise.all([first, behind]);
    const marks = await db.all<{ applied_at: string }>(sql`select applied_at from migrations`);
    assert.equal(marks.length, MIGRATIONS.length);
    assert.equal(new Set(marks.map(({ applied_at }) => applied_at)).size, 1);
  });

  test('a program that is killed while it builds an index leaves what the next one finishes', async () => {
    const { url, db, other } = await openTwo();
    await migrate(db, NOW, { migrations: upTo(7) });
    await other.query(`begin isolation level read committed; lock table order_history in row exclusive mode`);
    const program = startProgram(mkdtempSync(join(folder, 'data-')), { DATABASE_URL: url });
    await until(db, waits('create index concurrently if not exists order_history_by_time'));
    await program.kill('SIGKILL');
    // The server sees within seconds that nobody is there, and gives the lock back with the session.
    const next = migrate(db, NOW);
    await until(db, waits('drop index concurrently if exists order_history_by_time'));
    assert.deepEqual(await db.all(HALF_BUILT), [{ name: 'order_history_by_time' }]);
    await other.query('commit');
    await next;
    assert.deepEqual(await db.all(HALF_BUILT), []);
  });

  test('an old database that is brought up beside others has the schema of a fresh one', async () => {
    const schemaOf = async (reads: Db) => [
      await reads.all(sql`select indexdef from pg_indexes where schemaname = 'public' order by indexname`),
      await reads.all(
        sql`select table_name, column_name, data_type, is_nullable, column_default from information_schema.columns
            where table_schema = 'public' order by table_name, column_name`,
      ),
    ];
    const [old, fresh] = [await openTwo(), await openTwo()];
    for (const number of [7, 10, LEVEL]) await migrate(old.db, NOW, { migrations: upTo(number) });
    await migrate(fresh.db, NOW);
    assert.deepEqual(await schemaOf(old.db), await schemaOf(fresh.db));
  });

  test('a table that is held for a moment is waited for, without anybody standing behind for long', async () => {
    const { db, other } = await openTwo();
    await migrate(db, NOW, { migrations: upTo(11) });
    await other.query(`begin isolation level read committed; select 1 from trading_accounts`);
    const upgrade = migrate(db, NOW);
    const waiting = waits('credentials_checked_at');
    await until(db, waiting);
    await until(db, `select 1 where not exists (${waiting})`);
    await other.query('commit');
    await upgrade;
    assert.ok((await db.all(sql`select name from migrations`)).length === MIGRATIONS.length);
  });
});
