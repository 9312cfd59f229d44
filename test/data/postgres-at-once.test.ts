// Statements that PostgreSQL answers for at once: what was done and what was not is known, and what failed leaves nothing behind,
// neither in the tables nor on the connection.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { Client, type PoolClient } from 'pg';
import { isSaid, rollBack, sendAtOnce } from '../../src/data/engine/postgres-at-once.ts';
import { PostgresMissing, startPostgres } from '../servers/postgres.ts';

const MS = 10_000;
const BEGIN = { text: 'begin', name: 'begin' };
const COMMIT = { text: 'commit', name: 'commit' };
const insert = (...values: (string | number | boolean | null)[]) => ({
  text: 'insert into things (id, note, flag) values ($1, $2, $3)',
  name: 'insert',
  values,
});
const later = (id: number) => ({
  text: 'update things set note = $1 where id = $2',
  name: 'later',
  values: ['later', id],
});

try {
  const server = await startPostgres();
  describe('statements that are answered for at once', () => {
    after(() => server.stop());
    suite(server.url);
  });
} catch (error) {
  if (!(error instanceof PostgresMissing)) throw error;
  test('statements that are answered for at once', { skip: error.message });
}

function suite(url: string): void {
  let client: PoolClient;
  const connect = async () => {
    const opened = new Client({ connectionString: url, pipeline: true } as object);
    opened.on('error', () => {});
    await opened.connect();
    return opened as unknown as PoolClient & Client;
  };
  const things = async () =>
    (await client.query<{ id: number; note: string | null }>('select id, note from things order by id')).rows;

  before(async () => {
    client = await connect();
    await client.query('create table things (id int primary key, note text, flag boolean)');
  });
  after(() => (client as unknown as Client).end());
  beforeEach(() => client.query('truncate things'));

  test('all are done, in their order, whatever their values are', async () => {
    const queries = [
      BEGIN,
      insert(1, 'it’s "quoted"', true),
      insert(2, null, false),
      later(1),
      insert(3, '', null),
      COMMIT,
    ];
    assert.deepEqual(await sendAtOnce(client, queries, MS), { completed: 6, error: null, inDoubt: [] });
    assert.deepEqual(await things(), [
      { id: 1, note: 'later' },
      { id: 2, note: null },
      { id: 3, note: '' },
    ]);
  });

  test('behind a failure nothing is done, and the connection is as good as before', async () => {
    const fresh = await connect();
    for (let round = 0; round < 3; round++) {
      const failed = await sendAtOnce(
        fresh,
        [BEGIN, insert(1, null, null), insert(1, null, null), later(1), COMMIT],
        MS,
      );
      assert.deepEqual([failed.completed, isSaid(failed.error) && failed.error.code], [2, '23505']);
      assert.equal(await rollBack(fresh, failed, MS), true);
      assert.equal(fresh.getTransactionStatus(), 'I');
      assert.deepEqual(await things(), []);
    }
    // By the driver's own way, and by this one: what was prepared before the failure, and what came behind it.
    await fresh.query(insert(7, 'driver', null));
    const done = await sendAtOnce(fresh, [BEGIN, insert(8, null, null), later(8), COMMIT], MS);
    assert.equal(done.error, null);
    await fresh.query(later(7));
    assert.deepEqual(await things(), [
      { id: 7, note: 'later' },
      { id: 8, note: 'later' },
    ]);
    await fresh.end();
  });

  test('a statement that the server does not understand is a failure like any other', async () => {
    const failed = await sendAtOnce(
      client,
      [BEGIN, { text: 'insert into nothing values ($1)', values: [1] }, COMMIT],
      MS,
    );
    assert.deepEqual([failed.completed, isSaid(failed.error) && failed.error.code], [1, '42P01']);
    assert.equal(await rollBack(client, failed, MS), true);
    assert.equal((await sendAtOnce(client, [BEGIN, insert(1, null, null), COMMIT], MS)).error, null);
  });

  test('of a connection that is lost nobody claims to know anything', async () => {
    const lost = await connect();
    const { rows } = await lost.query<{ pid: number }>('select pg_backend_pid() as pid');
    const sent = sendAtOnce(
      lost,
      [BEGIN, insert(1, null, null), { text: 'select pg_sleep(60)' }, COMMIT],
      MS,
    );
    const waits = 'select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and wait_event = $2';
    while ((await client.query(waits, [rows[0]?.pid, 'PgSleep'])).rowCount === 0);
    const { error } = await sent;
    assert.ok(error);
    if (isSaid(error)) assert.equal(await rollBack(lost, { completed: 0, error, inDoubt: [] }, MS), false);
    assert.deepEqual(await things(), []);
  });

  test('what takes too long ends with its connection', async () => {
    const slow = await connect();
    const { error } = await sendAtOnce(slow, [BEGIN, { text: 'select pg_sleep(60)' }, COMMIT], 20);
    assert.equal(error?.message, 'Query read timeout');
    await assert.rejects(slow.query('select 1'));
  });
}
