// A backup under load, restored elsewhere: nothing that was accepted before it is lost, the audit log verifies, and no
// order is sent again. The exchange is a third party that outlives both, and its ledger is the judge.

import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeAudit } from '../../src/app/audit/audit.ts';
import { auditKeyOf, verifyAuditLog } from '../../src/app/audit/chain.ts';
import { openSealer } from '../../src/app/audit/sealing.ts';
import { agreeOnAppKey } from '../../src/app/operation/app-key.ts';
import { readConfig } from '../../src/config/config.ts';
import { keptHead } from '../../src/data/audit/kept-head.ts';
import { type Db, sql } from '../../src/data/engine/db.ts';
import { migrate } from '../../src/data/engine/migrate.ts';
import { openSqlite } from '../../src/data/engine/sqlite.ts';
import { CannotStart } from '../../src/domain/cannot-start.ts';
import { makeBackup, restoreBackup } from '../../src/roles/backup.ts';
import { PROOF_BYTES } from '../../src/roles/backup-proof.ts';
import { exchangeDesk } from '../broker/exchange-desk.ts';
import { terminal } from '../cli/terminal.ts';
import { APP_KEY, makeTrader, startProgram, type Trader, webhookPath } from '../orders/kill-harness.ts';

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-backup-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

const configOf = (dir: string, env: Record<string, string> = {}) =>
  readConfig({ DATA_DIR: dir, APP_KEY, LOG_LEVEL: 'silent', ...env });

async function opened<Result>(dir: string, work: (db: Db) => Promise<Result>): Promise<Result> {
  const db = openSqlite({ file: join(dir, 'fillpath.sqlite') });
  try {
    await migrate(db, Date.now());
    return await work(db);
  } finally {
    await db.close();
  }
}

interface Sent {
  readonly trader: Trader;
  readonly body: string;
  readonly orderId: string;
}

async function send(address: string, trader: Trader): Promise<Sent | null> {
  const body = JSON.stringify({
    action: 'buy',
    symbol: 'BTCUSDT',
    quantity: 0.01,
    timestamp: new Date().toISOString(),
    secret: trader.secret,
    comment: crypto.randomUUID(),
  });
  const response = await fetch(address + webhookPath(trader), { method: 'POST', body }).catch(() => null);
  if (!response?.ok) return null;
  const { order_id: orderId } = (await response.json()) as { order_id: string };
  return { trader, body, orderId };
}

test('a backup under load, restored elsewhere, loses nothing and sends nothing again', async (t) => {
  const exchange = await exchangeDesk();
  t.after(() => exchange.end());
  const at = (name: string) => ({
    BROKER_URLS: JSON.stringify({ paper: `${exchange.url}/${name}` }),
    RESPONSE_WAIT_SECONDS: '0.2',
  });
  const dir = folder(t);
  // Slow enough that orders wait, some of them sent, most not.
  const traders = await opened(dir, (db) =>
    Promise.all([1, 2, 3].map(() => makeTrader(db, { latency_ms: 150 }))),
  );
  const old = startProgram(dir, at('old'));
  t.after(() => old.kill());
  const address = await old.ready;

  const accepted: Sent[] = [];
  let isOver = false;
  const enough = Promise.withResolvers<void>();
  const senders = traders.flatMap((trader) =>
    Array.from({ length: 3 }, async () => {
      while (!isOver) {
        const sent = await send(address, trader);
        if (sent) accepted.push(sent);
        if (accepted.length === 40) enough.resolve();
      }
    }),
  );
  await enough.promise;
  const before = accepted.map(({ orderId }) => orderId);
  const backups = folder(t);
  const report = await makeBackup(configOf(dir), backups);
  const after = accepted.length;
  assert.ok(report.counts.under_way > 0, 'some orders were under way');
  assert.equal(statSync(report.file).mode & 0o777, 0o600);
  assert.deepEqual(
    readdirSync(backups).map((name) => join(backups, name)),
    [report.file],
    'one file, and nothing beside it',
  );
  // The instance goes on, and sends what waited.
  while (accepted.length < after + 10) await sleep(50);
  isOver = true;
  await Promise.all(senders);
  await old.kill();

  const into = join(folder(t), 'restored');
  const config = configOf(into, at('new'));
  // Nobody is halted: what keeps orders from being sent again must not be that.
  const restored = await restoreBackup(config, { file: report.file, into, keys: null, halt: false });
  assert.equal(restored.settled.unknown + restored.settled.expired, report.counts.under_way);

  const again = startProgram(into, {
    ...at('new'),
    FILL_REQUEUE_SECONDS: '1',
    FILL_FIRST_POLL_SECONDS: '0.1',
  });
  t.after(() => again.kill());
  const elsewhere = await again.ready;

  const between = accepted.at(-1);
  assert.ok(between && !before.includes(between.orderId));
  const replay = await fetch(elsewhere + webhookPath(between.trader), { method: 'POST', body: between.body });
  assert.equal(
    ((await replay.json()) as { code: string }).code,
    'webhook_timestamp_expired',
    'a signal of before is not taken',
  );

  const looked = async () =>
    (
      await fetch(`${elsewhere}/health`).then(
        (answer) => answer.json() as Promise<{ queues: { fill_checks: number } }>,
      )
    ).queues.fill_checks === 0;
  while (!(await looked())) await sleep(200);
  await again.kill('SIGTERM');

  const { requests } = await exchange.control<{
    requests: readonly { asker: string | null; client_order_id: string }[];
  }>('GET', 'ledger');
  assert.ok(requests.some(({ asker }) => asker === 'old'));
  assert.deepEqual(
    requests.filter(({ asker }) => asker === 'new'),
    [],
    'the restored instance sent nothing',
  );

  await opened(into, async (db) => {
    const rows = await db.all<{ order_id: string; status: string }>(
      sql`select order_id, status from order_history`,
    );
    const known = new Map(rows.map(({ order_id, status }) => [order_id, status]));
    assert.deepEqual(
      before.filter((id) => !known.has(id)),
      [],
      'everything accepted before the backup is there',
    );
    assert.deepEqual(
      rows.filter(({ status }) => ['queued', 'executing'].includes(status)),
      [],
    );
    const chain = await verifyAuditLog({ db, auditKey: auditKeyOf(Buffer.from(APP_KEY, 'base64url')) }, []);
    assert.deepEqual(chain.problems, []);
    assert.equal(chain.unsealed, 0);
  });
});

test('what is broken, not empty or of another key is not restored, and leaves nothing behind', async (t) => {
  const dir = folder(t);
  await opened(dir, (db) => makeTrader(db, {}));
  const config = configOf(dir);
  const { file } = await makeBackup(config, join(folder(t), 'copy.sqlite'));
  const refuses = async (
    { unsigned = false, ...change }: { file?: string; into?: string; key?: string; unsigned?: boolean },
    words: RegExp,
  ) => {
    const into = change.into ?? join(folder(t), 'new');
    const was = existsSync(into) ? readdirSync(into) : null;
    const other = configOf(dir, { APP_KEY: change.key ?? APP_KEY });
    await assert.rejects(
      restoreBackup(other, { file: change.file ?? file, into, keys: null, halt: true, unsigned }),
      (fault: Error) => fault instanceof CannotStart && words.test(fault.message),
    );
    assert.deepEqual(existsSync(into) ? readdirSync(into) : null, was);
  };
  await refuses({ into: dir }, /is not empty/);
  await refuses({ file: join(dir, 'none') }, /There is no file/);
  const cut = join(folder(t), 'cut.sqlite');
  writeFileSync(cut, readFileSync(file));
  truncateSync(cut, 8_192);
  await refuses({ file: cut }, /is damaged/);

  const agreed = join(folder(t), 'agreed');
  mkdirSync(agreed);
  await opened(agreed, async (db) => {
    await agreeOnAppKey({ db }, Buffer.from(APP_KEY, 'base64url'));
    const context = { requestId: '1', ip: '127.0.0.1', userAgent: null, path: '/', method: 'GET' };
    await writeAudit({ db, clock: { now: Date.now } }, context, {
      userId: null,
      action: 'first',
      failure: null,
    });
    const log = { info() {}, error() {} };
    const sealer = await openSealer({
      db,
      auditKey: auditKeyOf(Buffer.from(APP_KEY, 'base64url')),
      memory: keptHead(agreed, undefined),
      log,
    });
    await sealer.seal();
  });
  const sealed = await makeBackup(configOf(agreed), join(folder(t), 'sealed.sqlite'));
  assert.equal(sealed.counts.audit_entries, 1);
  await refuses(
    { file: sealed.file, key: Buffer.alloc(32, 9).toString('base64url') },
    /APP_KEY is not the one/,
  );
  chmodSync(sealed.file, 0o600);
  truncateSync(sealed.file, statSync(sealed.file).size - PROOF_BYTES);
  const forger = openSqlite({ file: sealed.file });
  await forger.commit([sql`update audit_logs set action = 'second'`]);
  await forger.close();
  await refuses({ file: sealed.file }, /carries no proof/);
  await refuses({ file: sealed.file, unsigned: true }, /audit log in it is not whole/);
});

test('keys that were kept apart come along, and nothing else opens what is sealed', async (t) => {
  const dir = folder(t);
  mkdirSync(join(dir, 'keys'), { mode: 0o700 });
  writeFileSync(join(dir, 'keys', 'APP_KEY'), APP_KEY, { mode: 0o600 });
  await opened(dir, (db) => makeTrader(db, {}));
  const config = readConfig({ DATA_DIR: dir });
  const {
    file,
    keys: { folder: keys },
  } = await makeBackup(config, join(folder(t), 'copy.sqlite'));
  assert.equal(keys, join(dir, 'keys'));
  const into = join(folder(t), 'new');
  await assert.rejects(restoreBackup(config, { file, into, keys: null, halt: true }), /APP_KEY is not set/);
  const report = await restoreBackup(config, { file, into, keys, halt: true });
  assert.equal(report.has_keys, true);
  assert.equal(statSync(join(into, 'keys', 'APP_KEY')).mode & 0o777, 0o600);
  assert.equal(readFileSync(join(into, 'keys', 'APP_KEY'), 'utf8'), APP_KEY);
  const halted = await opened(into, (db) =>
    db.all(sql`select 1 from trading_accounts where halted = ${false}`),
  );
  assert.deepEqual(halted, []);
});

test('as commands: what was done is told, and a refusal is one sentence and exit code 1', async (t) => {
  const dir = folder(t);
  await opened(dir, (db) => makeTrader(db, {}));
  const run = terminal(configOf(dir));
  const file = join(folder(t), 'copy.sqlite');
  const made = await run('backup', file);
  assert.equal(made.code, 0, made.err);
  assert.match(
    made.out,
    /MB, read back and found sound\.\nusers: 1, accounts: 1, orders: 0 .*\naudit head 0:\w+\nThe keys are not in it/,
  );
  const again = await run('backup', file);
  assert.deepEqual([again.code, again.out], [1, '']);
  assert.match(again.err, /^\S+ already exists\. .*\n$/);
  const into = join(folder(t), 'new');
  const restored = await run('restore', file, '--into', into, '--json');
  assert.equal(restored.code, 0, restored.err);
  assert.deepEqual(JSON.parse(restored.out).settled, { unknown: 0, expired: 0 });
  assert.equal((await run('restore', file, '--into', into)).code, 1);
});

test('with PostgreSQL its own tools are named', async (t) => {
  const config = readConfig({ DATA_DIR: folder(t), DATABASE_URL: 'postgres://localhost/none' });
  await assert.rejects(makeBackup(config, 'copy'), /pg_dump.*docs\/operations\/backup\.md/);
});
