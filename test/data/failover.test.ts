// A PostgreSQL that is not the one that it should be, or not yet: a standby, one that takes no writes for a while, and a pooler
// that has taken a connection and is silent.

import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { DatabaseUnavailable, NotCommitted, sql } from '../../src/data/engine/db.ts';
import { openPostgres } from '../../src/data/engine/postgres.ts';
import { findServer, PostgresMissing, postgresUser, startPostgres } from '../servers/postgres.ts';

const server = await startPostgres().catch((error) => {
  if (error instanceof PostgresMissing) return { missing: error.message };
  throw error;
});

if ('missing' in server) test('PostgreSQL during a failover', { skip: server.missing }, () => {});
else {
  after(server.stop);
  describe('PostgreSQL during a failover', () => failovers(server.url));
}

function failovers(url: string): void {
  test('a standby is no database of ours until it is promoted; who only looks may look there', async (t) => {
    const standby = await startStandby(t);
    await assert.rejects(openPostgres({ url: standby.url }), (fault: Error) => {
      assert.ok(fault instanceof DatabaseUnavailable);
      assert.match(fault.message, /standby/);
      return true;
    });
    const looking = await openPostgres({ url: standby.url, readOnly: true });
    assert.deepEqual(await looking.all(sql`select 1 as one`), [{ one: 1 }]);
    assert.deepEqual(await looking.lists.all(sql`select 1 as one`), [{ one: 1 }]);
    await looking.close();
    await standby.promote();
    const db = await openPostgres({ url: standby.url });
    t.after(() => db.close());
    await db.script('create table shelves (book text primary key)');
    assert.equal(await db.commit([sql`insert into shelves (book) values ('one')`]), null);
  });

  test('a session that began while nothing could be written is not kept beyond that', async (t) => {
    const admin = new Client(url);
    await admin.connect();
    const { rows } = await admin.query('select current_database() as name');
    await admin.query('create table diaries (day text primary key)');
    const readOnly = (how: string) =>
      admin.query(`set transaction_read_only = off; alter database ${rows[0].name} ${how}`);
    await readOnly('set default_transaction_read_only = on');
    const db = await openPostgres({ url });
    t.after(async () => {
      await db.close();
      await admin.end();
    });
    const write = () => db.commit([sql`insert into diaries (day) values (${randomUUID()})`]);
    await assert.rejects(write(), NotCommitted);
    for (const { status } of await Promise.allSettled([write(), write(), write()]))
      assert.equal(status, 'rejected');
    await readOnly('reset default_transaction_read_only');
    assert.equal(await write(), null);
  });

  // As long as the connection stands, if it is not given up.
  const patience = { timeout: 60_000 };
  test(
    'a server that is silent from the first question on is unavailable, and nobody waits for it for long',
    patience,
    async (t) => {
      const socket = join(new URL(url).searchParams.get('host') ?? '', '.s.PGSQL.5432');
      const silent = createServer((client) => {
        const upstream = connect({ path: socket });
        let isReady = false;
        for (const each of [client, upstream]) each.on('error', () => {});
        client.on('data', (bytes) => !isReady && upstream.write(bytes));
        client.on('close', () => upstream.destroy());
        upstream.on('data', (bytes: Buffer) => {
          // "Ready for query" is the last word of a login.
          isReady ||= bytes.subarray(-6).equals(Buffer.from([0x5a, 0, 0, 0, 5, 0x49]));
          client.write(bytes);
        });
      });
      silent.listen(0, '127.0.0.1');
      await once(silent, 'listening');
      t.after(() => silent.close());
      const { port } = silent.address() as AddressInfo;
      const opening = openPostgres({ url: `postgres://postgres@127.0.0.1:${port}${new URL(url).pathname}` });
      await assert.rejects(opening, DatabaseUnavailable);
    },
  );
}

/** A server of its own: it follows nobody, and has nothing to catch up with. */
async function startStandby(t: TestContext) {
  const bin = findServer();
  assert.ok(bin);
  const owner = process.getuid?.() === 0 ? postgresUser() : null;
  const folder = mkdtempSync(join(tmpdir(), 'fillpath-standby-'));
  if (owner) chownSync(folder, owner.uid, owner.gid);
  const options = { cwd: folder, env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' }, ...owner } as const;
  const data = join(folder, 'data');
  const initdb = ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--no-sync'];
  execFileSync(join(bin, 'initdb'), initdb, { ...options, stdio: 'pipe' });
  const signal = join(data, 'standby.signal');
  writeFileSync(signal, '');
  if (owner) chownSync(signal, owner.uid, owner.gid);
  const settings = ['-c', 'listen_addresses=', '-c', 'fsync=off'];
  const running: ChildProcess = spawn(join(bin, 'postgres'), ['-D', data, '-k', folder, ...settings], {
    ...options,
    stdio: 'ignore',
  });
  const ended = once(running, 'exit');
  t.after(async () => {
    running.kill('SIGQUIT');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  const url = `postgres://postgres@localhost/postgres?host=${encodeURIComponent(folder)}`;
  const ask = async (text: string) => {
    const client = new Client(url);
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  };
  while (!(await ask('select 1').catch(() => null))) {
    assert.equal(running.exitCode, null, 'the standby has ended');
    await pause(20);
  }
  return { url, promote: () => ask('select pg_promote()') };
}
