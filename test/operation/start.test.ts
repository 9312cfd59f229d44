// What a start refuses, as an operator sees it: the real program, one sentence, and nothing left behind.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startProgram } from '../orders/kill-harness.ts';

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-start-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

test('a taken port is told in one sentence with the way out, and the first start is still to come', async (t) => {
  const dir = folder(t);
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const env = { PORT: String(port), SEED_USER: 'true' };
  const refused = startProgram(dir, env);
  const said = await refused.ended;
  assert.equal(refused.exitCode(), 1);
  assert.match(
    said,
    new RegExp(`^Port ${port} on 127\\.0\\.0\\.1 is taken by another program\\. .*PORT.*\\n$`),
  );
  assert.deepEqual(readdirSync(dir), []);

  other.close();
  await once(other, 'close');
  const started = startProgram(dir, env);
  await started.ready;
  await started.kill('SIGTERM');
  assert.match(await started.ended, /password {2}\S+/, 'the first start that succeeds tells the password');
});

test('an address that is not of this machine is told in one sentence', async (t) => {
  const dir = folder(t);
  const refused = startProgram(dir, { PORT: '8080', HOST: '192.0.2.1' });
  assert.match(await refused.ended, /^192\.0\.2\.1 is not an address of this machine\. .*HOST.*\n$/);
  assert.equal(refused.exitCode(), 1);
  assert.deepEqual(readdirSync(dir), []);
});

test('a folder in use, and a key that is another, are sentences too', async (t) => {
  const dir = folder(t);
  const first = startProgram(dir);
  await first.ready;
  const second = startProgram(dir);
  assert.match(await second.ended, /^The data folder \S+ is in use by another process\. [^\n]+\n$/);
  await first.kill('SIGTERM');
  const stranger = startProgram(dir, { APP_KEY: Buffer.alloc(32, 8).toString('base64url') });
  assert.match(await stranger.ended, /^APP_KEY is not the one that this database was made with\. [^\n]+\n$/);
  assert.equal(stranger.exitCode(), 1);
});
