// `audit verify` and `audit head` as an operator runs them: a process of its own, beside the running service and after
// it, told by its exit code. 0: whole. 1: broken. 2: not carried out.

import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { type Db, sql } from '../../src/data/engine/db.ts';
import { openSqlite } from '../../src/data/engine/sqlite.ts';
import { COMPILED } from '../servers/compiled.ts';

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname;

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-cli-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

const envOf = (dir: string) => ({
  PATH: process.env.PATH,
  ...COMPILED,
  DATA_DIR: dir,
  PORT: '0',
  SEED_USER: 'false',
  LOG_LEVEL: 'silent',
});

interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly complaint: string;
}

function cli(dir: string, args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    const options = { env: { ...envOf(dir), ...env } };
    const child: ChildProcess = execFile(process.execPath, [MAIN, ...args], options, (_, out, complaint) =>
      resolve({ code: child.exitCode, out, complaint }),
    );
  });
}

async function startService(t: TestContext, dir: string) {
  const child = spawn(process.execPath, [MAIN], { env: envOf(dir), stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  let address = '';
  for await (const line of createInterface(child.stdout)) {
    address = /is ready at (\S+)/.exec(line)?.[1] ?? '';
    if (address) break;
  }
  return {
    /** Attempts at a webhook that does not exist: each one is an entry. */
    async knock(times: number): Promise<void> {
      for (let index = 0; index < times; index++) {
        const { status } = await fetch(`${address}/webhook/none/order`, { method: 'POST', body: '{}' });
        assert.equal(status, 404);
      }
    },
    async stop(): Promise<void> {
      child.kill('SIGTERM');
      const [code] = await once(child, 'exit');
      assert.equal(code, 0);
    },
  };
}

test('beside the running service, after it, and after somebody was there', async (t) => {
  const dir = folder(t);
  const service = await startService(t, dir);
  await service.knock(5);
  const beside = await cli(dir, ['audit', 'verify']);
  assert.equal(beside.code, 0, beside.complaint);
  assert.match(
    beside.out,
    /^The audit log is whole: \d entries sealed, \d not yet\.\nhead \d:[0-9a-f]{64}\n$/,
  );
  await service.knock(3);
  await service.stop();

  const whole = await cli(dir, ['audit', 'verify']);
  assert.equal(whole.code, 0);
  assert.match(whole.out, /^The audit log is whole: 8 entries sealed, 0 not yet\.\n/);
  const printed = await cli(dir, ['audit', 'head']);
  assert.equal(printed.code, 0);
  assert.match(printed.out, /^8:[0-9a-f]{64}\n$/);
  const head = printed.out.trim();
  assert.equal((await cli(dir, ['audit', 'verify', '--head', head])).code, 0);

  const db: Db = openSqlite({ file: join(dir, 'fillpath.sqlite') });
  t.after(() => db.close());

  // The end, and the head with it: only a kept head can tell. The service keeps one, and so may anybody.
  await db.commit([
    sql`delete from audit_logs where id > 5`,
    sql`delete from audit_seals where position > 5`,
    sql`update audit_chain set entries = 5, hash = (select hash from audit_seals where position = 5),
          sealed_up_to = 0`,
  ]);
  const found = /^BROKEN: the kept head has 8 entries, the chain only 5: the end is missing\n$/;
  for (const args of [[], ['--head', head]]) {
    const cut = await cli(dir, ['audit', 'verify', ...args]);
    assert.deepEqual([cut.code, cut.out], [1, '']);
    assert.match(cut.complaint, found);
  }
  const kept = join(dir, 'audit-head');
  renameSync(kept, `${kept}.aside`);
  assert.equal((await cli(dir, ['audit', 'verify'])).code, 0);
  const cut = await cli(dir, ['audit', 'verify', '--head', head]);
  assert.equal(cut.code, 1);
  assert.match(cut.complaint, found);

  await db.commit([sql`update audit_logs set ip_address = '127.0.0.2' where id = 3`]);
  const edited = await cli(dir, ['audit', 'verify']);
  assert.equal(edited.code, 1);
  assert.match(edited.complaint, /^BROKEN: entry 3 of the chain \(id 3\) was changed\n$/);
  const none = await cli(dir, ['audit', 'head']);
  assert.deepEqual([none.code, none.out], [1, '']);
  renameSync(`${kept}.aside`, kept);

  // The service starts and serves nevertheless, and what it does then is in the log.
  const again = await startService(t, dir);
  await again.knock(1);
  await again.stop();
  assert.equal((await cli(dir, ['audit', 'verify'])).code, 1);
});

test('entries that nobody has sealed for long are a finding', async (t) => {
  const dir = folder(t);
  const service = await startService(t, dir);
  await service.knock(2);
  await service.stop();
  const db: Db = openSqlite({ file: join(dir, 'fillpath.sqlite') });
  t.after(() => db.close());
  await db.commit([
    sql`insert into audit_logs (action, success, metadata, created_at)
        values ('login', 1, '{}', ${new Date(Date.now() - 7_200_000).toISOString()})`,
  ]);
  const { code, complaint } = await cli(dir, ['audit', 'verify']);
  assert.equal(code, 1);
  assert.match(complaint, /^UNSEALED: 1 entries, the oldest from /);
});

test('what is no command, or cannot be carried out, exits with 2 and leaves nothing behind', async (t) => {
  const dir = folder(t);
  for (const args of [
    ['audit'],
    ['audit', 'repair'],
    ['audit', 'verify', '--head'],
    ['audit', 'verify', '--head', 'x'],
    ['audit', 'verify', '--tail', 'x'],
    ['audit', 'head', 'x'],
    ['sell', 'everything'],
  ]) {
    const { code, complaint, out } = await cli(dir, args);
    assert.deepEqual([code, out], [2, ''], args.join(' '));
    assert.match(complaint, /Usage: fillpath audit|--help|--head takes what/);
  }
  const noKey = await cli(dir, ['audit', 'verify']);
  assert.deepEqual([noKey.code, noKey.out], [2, '']);
  assert.match(noKey.complaint, /^APP_KEY is not set, and there is none in /);
  const APP_KEY = Buffer.alloc(32).toString('base64url');
  const noDatabase = await cli(dir, ['audit', 'verify'], { APP_KEY });
  assert.deepEqual([noDatabase.code, noDatabase.out], [2, '']);
  assert.match(noDatabase.complaint, /^There is no database in /);
  assert.equal((await cli(dir, ['audit', 'verify'], { APP_KEY: 'x' })).code, 2);
  assert.equal(
    (await cli(dir, ['audit', 'verify'], { APP_KEY, DATABASE_URL: 'postgres://127.0.0.1:1/x' })).code,
    2,
  );
  for (const file of ['fillpath.sqlite', 'keys']) assert.equal(existsSync(join(dir, file)), false, file);
});
