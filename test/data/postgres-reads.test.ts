// Reads that are asked for at one moment go out together, on few connections: each is answered, or fails, by itself.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Client } from 'pg';
import { DatabaseUnavailable, type Db, sql } from '../../src/data/engine/db.ts';
import { openPostgres } from '../../src/data/engine/postgres.ts';
import { UNCOUNTED } from '../../src/domain/counters.ts';
import { PostgresMissing, startPostgres } from '../servers/postgres.ts';

const server = await startPostgres().catch((fault: unknown) => {
  if (!(fault instanceof PostgresMissing)) throw fault;
  return null;
});

describe('reads of one moment', server ? {} : { skip: 'there is no PostgreSQL' }, async () => {
  if (!server) return;
  const { url } = server;
  let taken = 0;
  const poolWaited = (pool: string) => {
    if (pool === 'reads') taken++;
  };
  const db = await openPostgres({ url, counters: { ...UNCOUNTED, poolWaited } });
  const admin = new Client({ connectionString: url });
  await admin.connect();
  after(async () => {
    await admin.end();
    await db.close();
    await server.stop();
  });
  await db.script('create table things (id integer primary key, note text not null)');
  for (let id = 0; id < 40; id++)
    await db.commit([sql`insert into things (id, note) values (${id}, ${`note ${id}`})`]);
  const ids = Array.from({ length: 40 }, (_, id) => id);
  const noteOf = (of: Db, id: number) =>
    of.get<{ note: string }>(sql`select note from things where id = ${id}`).then((row) => row?.note);
  const notes = ids.map((id) => `note ${id}`);

  test('each gets its own answer, and eight of them go out on one connection', async () => {
    taken = 0;
    assert.deepEqual(await Promise.all(ids.map((id) => noteOf(db, id))), notes);
    assert.equal(taken, 5);
  });

  test('one that fails fails alone', async () => {
    const outcomes = await Promise.allSettled([
      noteOf(db, 1),
      db.all(sql`select 1 / (${0}::integer) as nothing`),
      noteOf(db, 2),
    ]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.equal(await noteOf(db, 3), 'note 3');
  });

  test('where a table has changed since they were prepared, all are answered', async () => {
    const all = () =>
      Promise.all(ids.map((id) => db.get<object>(sql`select * from things where id = ${id}`)));
    await all();
    await admin.query("alter table things add column more text not null default 'more'");
    assert.deepEqual(
      await all(),
      ids.map((id) => ({ id, note: `note ${id}`, more: 'more' })),
    );
  });

  test('of a connection that is lost none is answered wrongly, and the next ones are', async () => {
    const lost = ids.map((id) =>
      db.get<{ note: string }>(sql`select note, pg_sleep(0.2) from things where id = ${id}`),
    );
    const outcomes = Promise.allSettled(lost);
    for (let ended = 0; ended === 0; ) {
      const { rows } = await admin.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep%' and application_name = 'fillpath'",
      );
      ended = rows.length;
    }
    for (const outcome of await outcomes)
      if (outcome.status === 'rejected') assert.ok(outcome.reason instanceof DatabaseUnavailable);
      else assert.ok(notes.includes(outcome.value?.note ?? ''));
    assert.ok((await outcomes).some(({ status }) => status === 'rejected'));
    assert.deepEqual(await Promise.all(ids.map((id) => noteOf(db, id))), notes);
  });
});
