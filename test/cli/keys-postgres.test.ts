// APP_KEY on PostgreSQL: no lock tells that the service runs there, its connections do.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import { replaceAppKey } from '../../src/app/operation/replace-app-key.ts';
import { createSecretBox } from '../../src/app/secret-box.ts';
import { readConfig } from '../../src/config/config.ts';
import { sql } from '../../src/data/engine/db.ts';
import { openPostgres } from '../../src/data/engine/postgres.ts';
import { openFillpath } from '../../src/main.ts';
import { openVisitor } from '../http/visitor.ts';
import { PostgresMissing, startPostgres } from '../servers/postgres.ts';
import { PASSWORD, serverOf } from '../world.ts';
import { sealedMeanwhile } from './restarted.ts';
import { terminal } from './terminal.ts';

const server = await startPostgres().catch((fault: unknown) => {
  if (fault instanceof PostgresMissing) return { missing: fault.message };
  throw fault;
});
const skip = 'missing' in server ? server.missing : false;

test('a shared database is sealed anew only where nobody else is at work', { skip }, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-keys-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const url = 'url' in server ? server.url : '';
  const [OLD, NEW] = [7, 8].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer];
  const configOf = (env: Record<string, string>) =>
    readConfig({
      DATA_DIR: dir,
      DATABASE_URL: url,
      LOG_LEVEL: 'silent',
      WORKER_POOL_SIZE: '0',
      SEED_USER: 'false',
      ...env,
    });
  const before = configOf({ APP_KEY: OLD.toString('base64url') });
  const after = configOf({
    APP_KEY: NEW.toString('base64url'),
    APP_KEY_PREVIOUS: OLD.toString('base64url'),
  });
  const rotate = () => terminal(after)('keys', 'rotate', 'APP_KEY');

  const service = await openFillpath(before, { log: pino({ level: 'silent' }) });
  const ann = openVisitor(async ({ method, url: path, body, headers = {} }) => {
    const payload = body === undefined ? {} : { payload: JSON.stringify(body) };
    const sent = {
      method,
      url: path,
      headers: { 'content-type': 'application/json', ...headers },
      ...payload,
    };
    const answer = await serverOf(service).inject(sent);
    return { status: answer.statusCode, headers: answer.headers, body: JSON.parse(answer.body) };
  });
  const login = { email: 'ann@example.com', password: PASSWORD };
  assert.equal((await ann.call('POST', '/auth/register', { ...login, accept_terms: true })).status, 201);
  assert.equal((await ann.call('POST', '/auth/login', login)).status, 200);
  assert.equal((await ann.call('POST', '/trading/accounts', { name: 'Paper', broker: 'paper' })).status, 201);
  const beside = await rotate();
  assert.deepEqual([beside.code, beside.out], [2, '']);
  assert.match(beside.err, /^The database has \d+ connections of other processes\. Stop every process/);
  await service.stop();
  const db = await openPostgres({ url });
  t.after(() => db.close());
  // Made from the old key, and left for the workers.
  await db.commit([sql`insert into facts (name, value) values ('message_key x', 'sealed')`]);
  const operator = {
    db: await sealedMeanwhile(db, OLD),
    clock: { now: () => Date.now() },
    context: { requestId: 'x', ip: 'x', userAgent: null, path: 'x', method: 'CLI' },
  };
  await assert.rejects(replaceAppKey(operator, { before: OLD, after: NEW }), /Stop every process/);
  await db.close();

  const rotated = await rotate();
  assert.deepEqual([rotated.code, rotated.err], [0, '']);
  const again = await openFillpath(after, { log: pino({ level: 'silent' }) });
  await again.stop();
  const verified = await terminal(after)('audit', 'verify');
  assert.deepEqual([verified.code, verified.err], [0, '']);
  const afterwards = await openPostgres({ url });
  t.after(() => afterwards.close());
  assert.deepEqual(await afterwards.all(sql`select name from facts where name like 'message_key%'`), []);
  const accounts = await afterwards.all<{ id: string; webhook_secret: string }>(
    sql`select id, webhook_secret from trading_accounts`,
  );
  assert.equal(accounts.length, 1);
  for (const { id, webhook_secret } of accounts) createSecretBox(NEW).open(webhook_secret, id);
});
