import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, type TestContext, test } from 'node:test';
import { Client } from 'pg';
import {
  DatabaseUnavailable,
  type Db,
  must,
  NotCommitted,
  type Statement,
  sql,
  join as together,
} from '../../src/data/engine/db.ts';
import { migrate } from '../../src/data/engine/migrate.ts';
import { openPostgres } from '../../src/data/engine/postgres.ts';
import { lockDataDir, openSqlite } from '../../src/data/engine/sqlite.ts';
import { unsettledOrders } from '../../src/data/orders/unsettled.ts';
import type { AccountId, UserId } from '../../src/domain/ids.ts';
import { dbContract } from '../contracts/db.ts';
import { PostgresMissing, startPostgres } from '../servers/postgres.ts';
import { startProxy } from '../servers/proxy.ts';

const folder = mkdtempSync(join(tmpdir(), 'fillpath-data-'));
after(() => rmSync(folder, { recursive: true, force: true }));

dbContract('SQLite', async () => openSqlite({ file: join(folder, 'contract.db') }));
dbContract('SQLite, written by a thread of its own', async () =>
  openSqlite({ file: join(folder, 'contract-apart.db'), ownThread: true }),
);

describe('SQLite, beyond the contract', () => {
  /** Runs a module in a process of its own; `lines` are what it prints. */
  function child(
    t: TestContext,
    code: string,
  ): { process: ChildProcess; lines: AsyncIterableIterator<string> } {
    const source = JSON.stringify(new URL('../../src/data/engine/sqlite.ts', import.meta.url).href);
    const running = spawn(
      process.execPath,
      [
        '--expose-gc',
        '--input-type=module',
        '-e',
        `import { openSqlite, lockDataDir } from ${source};\n${code}`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    t.after(() => running.kill('SIGKILL'));
    const lines = createInterface({ input: running.stdout })[Symbol.asyncIterator]();
    return { process: running, lines };
  }

  async function kill(process: ChildProcess): Promise<void> {
    const gone = once(process, 'exit');
    process.kill('SIGKILL');
    await gone;
  }

  test('what a script has changed of a table is read by its new names', async () => {
    const file = join(folder, 'changed.db');
    const db = openSqlite({ file });
    const beside = openSqlite({ file, readOnly: true });
    const read = (from: Db) => from.get(sql`select * from changing`);
    await db.script("create table changing (id text, old text); insert into changing values ('a', 'b')");
    assert.deepEqual(await read(db), { id: 'a', old: 'b' });
    assert.deepEqual(await read(beside), { id: 'a', old: 'b' });
    await db.script('alter table changing add column more text');
    assert.deepEqual(await read(db), { id: 'a', old: 'b', more: null });
    // By another connection, too.
    assert.deepEqual(await read(beside), { id: 'a', old: 'b', more: null });
    await db.script('alter table changing rename column old to new');
    assert.deepEqual(await read(db), { id: 'a', new: 'b', more: null });
    await beside.close();
    await db.close();
  });

  test('what was committed is there after a reopening', async () => {
    const file = join(folder, 'reopened.db');
    const first = openSqlite({ file });
    await first.script('create table kept (id text)');
    await first.commit([sql`insert into kept (id) values (${'a'})`]);
    await first.close();
    const second = openSqlite({ file });
    assert.deepEqual(await second.all(sql`select id from kept`), [{ id: 'a' }]);
    await second.close();
  });

  test('only we may read the file, which holds secrets', async () => {
    const file = join(folder, 'private.db');
    const db = openSqlite({ file });
    await db.script('create table secrets (id text)');
    for (const path of [file, `${file}-wal`]) assert.equal(statSync(path).mode & 0o077, 0);
    await db.close();
  });

  test('only we may open the lock, so that nobody else in a shared folder keeps us from starting', () => {
    const dir = mkdtempSync(join(folder, 'shared-'));
    chmodSync(dir, 0o755);
    const mode = () => statSync(join(dir, 'lock')).mode & 0o777;
    lockDataDir(dir).release();
    assert.equal(mode(), 0o600);
    // One from before.
    chmodSync(join(dir, 'lock'), 0o644);
    lockDataDir(dir).release();
    assert.equal(mode(), 0o600);
  });

  test('every commit is flushed to the disk, and the settings say so', async () => {
    const db = openSqlite({ file: join(folder, 'settings.db') });
    assert.deepEqual(await db.get(sql`pragma journal_mode`), { journal_mode: 'wal' });
    assert.deepEqual(await db.get(sql`pragma synchronous`), { synchronous: 2 });
    assert.deepEqual(await db.get(sql`pragma foreign_keys`), { foreign_keys: 1 });
    await db.close();
  });

  for (const ownThread of [false, true]) {
    const how = ownThread ? ', with a thread that writes' : '';

    test(`a unit that reaches a file held by someone else rejects as unavailable, and later ones commit${how}`, async () => {
      const file = join(folder, `held-${ownThread}.db`);
      const db = openSqlite({ file, ownThread });
      await db.script('create table kept (id text)');
      const holder = openSqlite({ file });
      await holder.script('begin immediate');
      await assert.rejects(db.commit([sql`insert into kept (id) values ('a')`]), NotCommitted);
      await holder.script('rollback');
      assert.equal(await db.commit([sql`insert into kept (id) values ('b')`]), null);
      assert.deepEqual(await db.all(sql`select id from kept`), [{ id: 'b' }]);
      await Promise.all([db.close(), holder.close()]);
    });
  }

  test('a thread that cannot start has written nothing, and the next unit starts another', async () => {
    const dir = mkdtempSync(join(folder, 'moved-'));
    const [file, away] = [join(dir, 'kept.db'), join(dir, 'away.db')];
    const db = openSqlite({ file, ownThread: true });
    await db.script('create table kept (id text)');
    // Of several at once: one alone needs no thread.
    const keep = (...ids: string[]) =>
      Promise.all(ids.map((id) => db.commit([sql`insert into kept (id) values (${id})`])));
    renameSync(file, away);
    mkdirSync(file);
    await assert.rejects(keep('a', 'b'), NotCommitted);
    rmdirSync(file);
    // Nor does it write to one that has the file's name since.
    closeSync(openSync(file, 'a'));
    await assert.rejects(keep('a', 'b'), NotCommitted);
    renameSync(away, file);
    assert.deepEqual(await keep('c', 'd'), [null, null]);
    assert.deepEqual(await db.all(sql`select id from kept`), [{ id: 'c' }, { id: 'd' }]);
    await db.close();
  });

  test('a thread that writes keeps up with statements of whatever text, however many there were', async () => {
    const db = openSqlite({ file: join(folder, 'texts.db'), ownThread: true });
    await db.script('create table kept (id integer)');
    const insert = (text: string): Statement => ({ parts: [text], values: [] });
    const commit = (n: number) => db.commit([insert(`insert into kept (id) values (${n % 2_100})`)]);
    for (let n = 0; n < 2_500; n += 2)
      assert.deepEqual(await Promise.all([commit(n), commit(n + 1)]), [null, null]);
    const [found] = await db.all(sql`select count(*) as count, count(distinct id) as ids from kept`);
    assert.deepEqual(found, { count: 2_500, ids: 2_100 });
    await db.close();
  });

  test('a thread that writes holds nobody’s process: one that is done ends by itself', async (t) => {
    const file = join(folder, 'done.db');
    const { process: running, lines } = child(
      t,
      `const db = openSqlite({ file: ${JSON.stringify(file)}, ownThread: true });
       await db.script('create table kept (id text)');
       const commit = () => db.commit([{ parts: ["insert into kept (id) values ('a')"], values: [] }]);
       await Promise.all([commit(), commit()]);
       console.log('committed');`,
    );
    const ended = once(running, 'exit');
    assert.equal((await lines.next()).value, 'committed');
    assert.deepEqual(await ended, [0, null]);
  });

  test('a data folder has one process, until that one ends, even by SIGKILL', async (t) => {
    const dir = mkdtempSync(join(folder, 'locked-'));
    const holder = child(
      t,
      `lockDataDir(${JSON.stringify(dir)});
       // what nobody holds on to goes, but not the lock
       globalThis.gc(); globalThis.gc(); console.log('held'); setInterval(() => {}, 1e6);`,
    );
    assert.equal((await holder.lines.next()).value, 'held');
    assert.throws(() => lockDataDir(dir), /in use by another process/);
    await kill(holder.process);
    const lock = lockDataDir(dir);
    assert.throws(() => lockDataDir(dir), /in use/);
    const refused = child(
      t,
      `try { lockDataDir(${JSON.stringify(dir)}); } catch (error) { console.log(error.message); }`,
    );
    assert.match((await refused.lines.next()).value, /in use by another process/);
    lock.release();
    lockDataDir(dir).release();
  });

  for (const ownThread of [false, true])
    test(`a process that is killed while it commits has lost no unit that it acknowledged, and left no half of one${ownThread ? ', with a thread that writes' : ''}`, async (t) => {
      const file = join(folder, `killed-${ownThread}.db`);
      const db = openSqlite({ file });
      await db.script('create table halves (unit integer, half text)');
      const writer = child(
        t,
        `
      const db = openSqlite({ file: ${JSON.stringify(file)}, ownThread: ${ownThread} });
      let next = 0;
      const write = async () => {
        for (;;) {
          const unit = next++;
          const half = (name) => ({ parts: ['insert into halves (unit, half) values (', ', ', ')'], values: [unit, name] });
          await db.commit([half('first'), half('second')]);
          process.stdout.write(unit + '\\n');
        }
      };
      for (let parallel = 0; parallel < 16; parallel++) write();`,
      );
      const acknowledged: number[] = [];
      for await (const line of writer.lines) {
        acknowledged.push(Number(line));
        if (acknowledged.length === 1_000) void kill(writer.process);
      }
      const rows = await db.all<{ unit: number; halves: number }>(
        sql`select unit, count(*) as halves from halves group by unit`,
      );
      const kept = new Map(rows.map(({ unit, halves }) => [unit, halves]));
      assert.ok(acknowledged.length >= 1_000);
      for (const unit of acknowledged) assert.equal(kept.get(unit), 2);
      assert.ok([...kept.values()].every((halves) => halves === 2));
      await db.close();
    });
});

const server = await startPostgres().catch((error) => {
  if (error instanceof PostgresMissing) return { missing: error.message };
  throw error;
});

if ('missing' in server) {
  test('the database contract on PostgreSQL', { skip: server.missing }, () => {});
} else {
  const { url, stop } = server;
  after(stop);
  dbContract('PostgreSQL', () => openPostgres({ url }));
  describe('PostgreSQL, beyond the contract', () => postgresTests(url));
}

function postgresTests(url: string): void {
  let db: Db;
  let other: Client;

  before(async () => {
    db = await openPostgres({ url });
    await db.script('create table shelves (book text primary key, version integer not null)');
    other = new Client(url);
    await other.connect();
  });
  after(async () => {
    await db.close();
    await other.end();
  });

  const book = (id: string) => sql`insert into shelves (book, version) values (${id}, 0)`;
  const grow = (id: string) =>
    must('there', sql`update shelves set version = version + 1 where book = ${id}`);
  const versionOf = async (id: string) =>
    (await db.get<{ version: number }>(sql`select version from shelves where book = ${id}`))?.version;

  /** Asks again and again until a session of ours has waited so long for a row lock: there is no event for it. */
  async function lockWaiter(milliseconds: number): Promise<number> {
    for (;;) {
      const { rows } = await other.query(
        `select pid from pg_stat_activity where application_name = 'fillpath' and wait_event_type = 'Lock'
           and clock_timestamp() - query_start >= $1 * interval '1 millisecond'`,
        [milliseconds],
      );
      if (rows.length) return rows[0].pid;
    }
  }
  // longer than a group waits: the unit is alone now
  const ALONE = 200;

  test('a session is durable and in UTC, whatever the server prefers', async () => {
    assert.deepEqual(await db.get(sql`show synchronous_commit`), { synchronous_commit: 'on' });
    assert.deepEqual(await db.get(sql`show timezone`), { TimeZone: 'UTC' });
    assert.equal((await other.query('show timezone')).rows[0].TimeZone, 'Asia/Taipei');
  });

  test('the parsers are ours alone: another pool in the process still reads as the driver does', async () => {
    const read = 'select 1.50::numeric as decimal, 7::int8 as big';
    assert.deepEqual((await other.query(read)).rows, [{ decimal: '1.50', big: '7' }]);
    assert.deepEqual(await db.all(sql`select 1.50::numeric as decimal, 7::int8 as big`), [
      { decimal: '1.5', big: 7 },
    ]);
  });

  test('a unit that meets a row lock waits apart, while others commit', async () => {
    const [locked, free] = [randomUUID(), randomUUID()];
    await db.commit([book(locked), book(free)]);
    await other.query('begin');
    await other.query('update shelves set version = 10 where book = $1', [locked]);
    const waiting = db.commit([grow(locked)]);
    await lockWaiter(ALONE);
    assert.equal(await db.commit([grow(free)]), null);
    await other.query('commit');
    assert.equal(await waiting, null);
    assert.equal(await versionOf(locked), 11);
  });

  test('a deadlock ends with our unit undone, and tried again', async () => {
    const [a, b] = [randomUUID(), randomUUID()];
    await db.commit([book(a), book(b)]);
    const lock = (id: string) =>
      other.query('update shelves set version = version + 10 where book = $1', [id]);
    await other.query(`begin; set local deadlock_timeout = '1min'`);
    await lock(b);
    const ours = db.commit([grow(a), grow(b)]);
    await lockWaiter(0);
    // waits for our lock on a, while we wait for this one on b
    await lock(a);
    await other.query('commit');
    assert.equal(await ours, null);
    assert.deepEqual([await versionOf(a), await versionOf(b)], [11, 11]);
  });

  test('units of two processes that lock the same rows in opposite order all commit', async () => {
    const second = await openPostgres({ url });
    const [a, b] = [randomUUID(), randomUUID()];
    await db.commit([book(a), book(b)]);
    const units = Array.from({ length: 30 }, (_, index) =>
      index % 2 ? db.commit([grow(a), grow(b)]) : second.commit([grow(b), grow(a)]),
    );
    assert.ok((await Promise.all(units)).every((answer) => answer === null));
    assert.deepEqual([await versionOf(a), await versionOf(b)], [30, 30]);
    await second.close();
  });

  const held = (id: string) => must('held', sql`select 1 from shelves where book = ${id} and version = 0`);

  test('a guard that selects waits for another’s change, and sees it', async () => {
    const [id, kept] = [randomUUID(), randomUUID()];
    await db.commit([book(id), book(kept)]);
    for (const end of ['rollback', 'commit']) {
      await other.query('begin');
      await other.query('update shelves set version = 10 where book = $1', [id]);
      const ours = db.commit([held(id), grow(kept)]);
      await lockWaiter(ALONE);
      await other.query(end);
      assert.equal(await ours, end === 'commit' ? 'held' : null);
    }
    assert.equal(await versionOf(kept), 1);
  });

  test('another’s change waits for the commit of a unit that holds the row; another’s hold does not', async () => {
    const [id, locked] = [randomUUID(), randomUUID()];
    await db.commit([book(id), book(locked)]);
    await other.query('begin');
    await other.query('select 1 from shelves where book = $1 for share', [id]);
    await other.query('update shelves set version = 10 where book = $1', [locked]);
    // holds the one row beside the other session, and waits with it in its hands for the other row
    const ours = db.commit([held(id), grow(locked)]);
    await lockWaiter(ALONE);
    const third = new Client(url);
    await third.connect();
    await third.query(`set lock_timeout = '50ms'`);
    await assert.rejects(third.query('update shelves set version = 1 where book = $1', [id]), /lock timeout/);
    await other.query('commit');
    assert.equal(await ours, null);
    await third.query('update shelves set version = 1 where book = $1', [id]);
    assert.equal(await db.commit([held(id)]), 'held');
    await third.end();
  });

  // As orders do: the account is held and the user's day counted. As halts do: the account is changed.
  const order = (handle: Db, account: string, day: string) =>
    handle.commit([must('account', sql`select 1 from shelves where book = ${account}`), grow(day)]);
  const halt = (handle: Db, account: string) => handle.commit([grow(account)]);

  test('a group that would change what another process holds, while that one waits for the group, comes apart and commits', async () => {
    const [account, day] = [randomUUID(), randomUUID()];
    await db.commit([book(account), book(day)]);
    // As our processes begin: where our order came alone meanwhile, it is added to.
    await other.query(`begin isolation level read committed; set local deadlock_timeout = '1min'`);
    await other.query('select 1 from shelves where book = $1 for share', [account]);
    const ours = Promise.all([order(db, account, day), halt(db, account)]);
    await lockWaiter(0);
    await other.query('update shelves set version = version + 10 where book = $1', [day]);
    await other.query('commit');
    assert.deepEqual(await ours, [null, null]);
    assert.deepEqual([await versionOf(account), await versionOf(day)], [1, 11]);
  });

  test('orders and halts of one account, at once from two processes, all commit', async () => {
    const second = await openPostgres({ url });
    const [account, day] = [randomUUID(), randomUUID()];
    await db.commit([book(account), book(day)]);
    const trade = async (handle: Db) => {
      for (let round = 0; round < 30; round++) {
        const outcomes = [order, halt, order, order].map((act) => act(handle, account, day));
        assert.deepEqual(await Promise.all(outcomes), [null, null, null, null]);
      }
    };
    await Promise.all([db, second, db, second].map(trade));
    assert.deepEqual([await versionOf(account), await versionOf(day)], [120, 360]);
    await second.close();
  });

  test('an upgrade builds its indexes beside those who write, and those that an earlier one left half built', async () => {
    await migrate(db, Date.now());
    const entry = `insert into audit_logs (action, success, metadata, created_at) values ('upgrade', true, '{}', now())`;
    await other.query(`delete from migrations where name = '013-standing-indexes'`);
    await other.query('drop index audit_logs_of_orders');
    const index = `indexrelid = 'order_legs_by_broker_ref'::regclass`;
    await other.query(`update pg_index set indisvalid = false where ${index}`);
    const second = await openPostgres({ url });
    await other.query(`begin isolation level read committed; ${entry}`);
    const upgrades = Promise.all([db, second].map((each) => migrate(each, Date.now())));
    const waiting = sql`select 1 from pg_stat_activity where query like '%create index%audit_logs_of_orders%'
      and wait_event_type = 'Lock'`;
    while (!(await db.get(waiting)));
    assert.equal(await db.commit([{ parts: [entry], values: [] }]), null);
    await other.query('commit');
    await upgrades;
    await second.close();
    assert.deepEqual((await other.query(`select indisvalid from pg_index where ${index}`)).rows, [
      { indisvalid: true },
    ]);
  });

  test('what comes again is prepared once, also where `join` put it together; what never comes again is not', async () => {
    const alone = await openPostgres({ url, poolSize: 1 });
    const prepared = (like: string) =>
      alone.all(sql`select name from pg_prepared_statements where statement like ${`%${like}`}`);
    const joined = (marks: string) =>
      together([sql`select version from shelves where`, sql`book = ${marks}`], ' ');
    for (const [times, names] of [
      [1, 0],
      [2, 1],
    ] as const) {
      await alone.all(joined('a'));
      assert.equal((await prepared('select version from shelves where book = $1')).length, names, `${times}`);
    }
    for (const length of [1, 2, 3]) {
      const list = together(
        Array.from({ length }, () => sql`${'a'}`),
        ', ',
      );
      await alone.all(together([sql`select version from shelves where book in (`, list, sql`)`], ''));
    }
    assert.deepEqual(await prepared('shelves where book in (%'), []);
    await alone.close();
  });

  test('what was planned while its table was empty goes by indexes, and will when there are many rows', async () => {
    await migrate(db, Date.now());
    const alone = await openPostgres({ url, poolSize: 1 });
    const [user, account] = [randomUUID() as UserId, randomUUID() as AccountId];
    // Planned for the values at first, and then once and for all.
    for (let times = 0; times < 8; times++) await unsettledOrders(alone, user, [account]);
    const [read] = await alone.all<{ name: string }>(
      sql`select name from pg_prepared_statements where statement like 'select o.*%unsettled = true%'`,
    );
    const values = [account, user, account, user].map((id) => `'${id}'`).join();
    const plan = JSON.stringify(
      await alone.all({ parts: [`explain execute ${read?.name}(${values})`], values: [] }),
    );
    assert.match(plan, /Index/);
    assert.doesNotMatch(plan, /Seq Scan/);
    await alone.close();
  });

  test('a text first used after a failure in its unit is still there for the neighbour', async () => {
    const fresh = await openPostgres({ url });
    const id = randomUUID();
    const first = (name: string) => sql`insert into shelves (version, book) values (0, ${name})`;
    const none = must('none', sql`delete from shelves where book = ${'nobody at all'}`);
    const answers = await Promise.all([fresh.commit([none, first(randomUUID())]), fresh.commit([first(id)])]);
    assert.deepEqual(answers, ['none', null]);
    assert.equal(await versionOf(id), 0);
    await fresh.close();
  });

  test('a connection lost under a unit makes it unavailable, and the next one has a new connection', async () => {
    const id = randomUUID();
    await db.commit([book(id)]);
    await other.query('begin');
    await other.query('update shelves set version = 10 where book = $1', [id]);
    const lost = assert.rejects(db.commit([grow(id)]), DatabaseUnavailable);
    await other.query('select pg_terminate_backend($1)', [await lockWaiter(ALONE)]);
    await lost;
    await other.query('commit');
    assert.equal(await db.commit([grow(id)]), null);
    assert.equal(await versionOf(id), 11);
  });

  test('a unit whose answer is lost may stand; one that could not be sent, or was undone by the server’s word, does not', async (t) => {
    const { searchParams, pathname } = new URL(url);
    const proxy = await startProxy(join(searchParams.get('host') ?? '', '.s.PGSQL.5432'));
    const far = await openPostgres({ url: `postgres://postgres@127.0.0.1:${proxy.port}${pathname}` });
    t.after(() => Promise.all([far.close(), proxy.close()]));
    const rejection = (unit: Statement[]) => far.commit(unit).catch((fault: unknown) => fault);
    const [stands, unsent, undone] = [randomUUID(), randomUUID(), randomUUID()];
    const cut = proxy.cutAtAnswer(/COMMIT/);
    const lost = await rejection([book(stands)]);
    await cut;
    assert.ok(lost instanceof DatabaseUnavailable && !(lost instanceof NotCommitted));
    assert.equal(await versionOf(stands), 0);
    assert.ok(
      (await rejection([book(undone), sql`select pg_cancel_backend(pg_backend_pid())`])) instanceof
        NotCommitted,
    );
    proxy.cut({ closed: true });
    // It may have to find out first that its connection is gone.
    while (!((await rejection([book(unsent)])) instanceof NotCommitted));
    assert.deepEqual([await versionOf(unsent), await versionOf(undone)], [undefined, undefined]);
  });

  test('connections that are lost while idle harm nobody', async () => {
    await Promise.all(Array.from({ length: 5 }, () => db.all(sql`select 1`)));
    await other.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'fillpath'`,
    );
    const id = randomUUID();
    // The news may arrive after the unit was sent; then it is unavailable and can be repeated.
    while ((await db.commit([book(id)]).catch((error) => error)) instanceof DatabaseUnavailable);
    assert.equal(await versionOf(id), 0);
  });

  test('a server that cannot be reached is unavailable', async () => {
    await assert.rejects(openPostgres({ url: 'postgres://postgres@127.0.0.1:1/none' }), DatabaseUnavailable);
  });
}
