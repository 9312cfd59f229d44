// Which keys go with a backup: those kept apart, those of the environment, those from before a rotation. Nothing that was
// readable becomes unreadable without somebody having said so.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { CompactEncrypt, importJWK } from 'jose';
import { agreeOnAppKey } from '../../src/app/operation/app-key.ts';
import { readConfig } from '../../src/config/config.ts';
import { openingKeys, workerKey } from '../../src/config/keys.ts';
import { sql } from '../../src/data/engine/db.ts';
import { migrate } from '../../src/data/engine/migrate.ts';
import { openSqlite } from '../../src/data/engine/sqlite.ts';
import {
  type PrivateJwk,
  SEAL_ALGORITHM,
  SEAL_ENCRYPTION,
  sealingKey,
} from '../../src/domain/identity/sealed.ts';
import { sealOpener } from '../../src/worker/line/credentials.ts';
import { terminal } from '../cli/terminal.ts';
import { APP_KEY, makeTrader } from '../orders/kill-harness.ts';

const JWT_SECRET = 'j'.repeat(40);
const NEWER = Buffer.alloc(32, 9).toString('base64url');

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-restore-keys-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function sealedTo(key: string): Promise<string> {
  const { kid, ...publicKey } = sealingKey(JSON.parse(key) as PrivateJwk);
  return new CompactEncrypt(Buffer.from('{"credentials":{}}'))
    .setProtectedHeader({ alg: SEAL_ALGORITHM, enc: SEAL_ENCRYPTION, kid })
    .encrypt(await importJWK({ ...publicKey }, SEAL_ALGORITHM));
}

interface Kept {
  /** In DATA_DIR/keys, by name. */
  readonly keys: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** What the trader's credentials are sealed to. */
  readonly worker?: string;
}

/** An instance with these keys, and its backup. */
async function backedUp(t: TestContext, { keys, env = {}, worker }: Kept) {
  const dir = folder(t);
  const keysDir = join(dir, 'keys');
  mkdirSync(keysDir, { mode: 0o700 });
  for (const [name, value] of Object.entries(keys))
    writeFileSync(join(keysDir, name), value, { mode: 0o600 });
  const sealed = worker === undefined ? null : await sealedTo(worker);
  const db = openSqlite({ file: join(dir, 'fillpath.sqlite') });
  await migrate(db, Date.now());
  await makeTrader(db, {});
  await agreeOnAppKey({ db }, Buffer.from(APP_KEY, 'base64url'));
  await db.commit([sql`update trading_accounts set sealed_credentials = ${sealed}`]);
  await db.close();
  const file = join(folder(t), 'copy.sqlite');
  const made = await terminal(readConfig({ DATA_DIR: dir, ...env }))('backup', file);
  assert.equal(made.code, 0, made.err);
  const into = join(folder(t), 'new');
  return {
    made: made.out,
    keysDir,
    into,
    restore: (around: Readonly<Record<string, string>>, ...more: readonly string[]) =>
      terminal(readConfig({ DATA_DIR: dir, ...around }))('restore', file, '--into', into, ...more),
    /** A start with these settings opens the credentials. */
    opens: async (around: Readonly<Record<string, string>>) => {
      await sealOpener(openingKeys(readConfig({ DATA_DIR: into, ...around })))(sealed ?? '');
    },
  };
}

test('keys of the environment and generated ones are each named where they are, and go together again', async (t) => {
  const worker = workerKey();
  const env = { APP_KEY, JWT_SECRET };
  const { made, keysDir, into, restore, opens } = await backedUp(t, {
    keys: { WORKER_KEY: worker },
    env,
    worker,
  });
  assert.match(
    made,
    new RegExp(
      `\\nThe keys are not in it\\. Keep these apart from it: ${keysDir} \\(WORKER_KEY\\), and APP_KEY and JWT_SECRET from the environment`,
    ),
  );

  const without = await restore(env);
  assert.deepEqual([without.code, without.out], [2, '']);
  assert.match(without.err, /^1 account has broker credentials .* WORKER_KEY.* --keys .*\n$/);
  assert.equal(existsSync(into), false, 'nothing is left behind');

  const restored = await restore(env, '--keys', keysDir);
  assert.deepEqual([restored.code, restored.err], [0, '']);
  assert.equal(readFileSync(join(into, 'keys/WORKER_KEY'), 'utf8'), worker);
  await opens(env);
});

test('another WORKER_KEY is refused, unless somebody says that the credentials are lost', async (t) => {
  const worker = workerKey();
  const { restore, into } = await backedUp(t, { keys: {}, env: { APP_KEY }, worker });
  const other = { APP_KEY, WORKER_KEY: workerKey() };
  assert.equal((await restore(other)).code, 2);
  assert.equal(existsSync(into), false);
  const lost = await restore(other, '--lose-credentials');
  assert.equal(lost.code, 0, lost.err);
  assert.match(lost.err, /1 account .* must send them again/);
});

test('the right WORKER_KEY in the environment is enough', async (t) => {
  const worker = workerKey();
  const { restore, opens } = await backedUp(t, { keys: {}, env: { APP_KEY, WORKER_KEY: worker }, worker });
  const env = { APP_KEY, WORKER_KEY: worker };
  const restored = await restore(env);
  assert.deepEqual([restored.code, restored.err], [0, '']);
  await opens(env);
});

test('where nothing is sealed to it, a missing WORKER_KEY is a warning', async (t) => {
  const { restore } = await backedUp(t, { keys: {}, env: { APP_KEY } });
  const restored = await restore({ APP_KEY });
  assert.equal(restored.code, 0);
  assert.match(restored.err, /^No WORKER_KEY was given.*\n$/);
});

test('a backup from before a rotation takes the keys from before it, which lie beside the new ones', async (t) => {
  const [worker, newer] = [workerKey(), workerKey()];
  const { keysDir, into, restore, opens } = await backedUp(t, {
    keys: { APP_KEY, WORKER_KEY: worker },
    worker,
  });
  writeFileSync(join(keysDir, 'APP_KEY'), NEWER);
  writeFileSync(join(keysDir, 'APP_KEY.39a1d419'), APP_KEY);
  writeFileSync(join(keysDir, 'WORKER_KEY'), newer);
  writeFileSync(join(keysDir, 'WORKER_KEY.0badcafe'), worker);
  const restored = await restore({}, '--keys', keysDir);
  assert.equal(restored.code, 0, restored.err);
  assert.match(restored.out, /APP_KEY is the one from \S+APP_KEY\.39a1d419/);
  assert.match(restored.out, /WORKER_KEY .*\S+WORKER_KEY\.0badcafe/);
  assert.equal(readFileSync(join(into, 'keys/APP_KEY'), 'utf8'), APP_KEY);
  await opens({});
});

test('a key of the environment that would count at the start instead is told', async (t) => {
  const { keysDir, restore } = await backedUp(t, { keys: { APP_KEY, WORKER_KEY: workerKey() } });
  const restored = await restore({ APP_KEY: NEWER, WORKER_KEY: workerKey() }, '--keys', keysDir);
  assert.equal(restored.code, 0, restored.err);
  assert.match(
    restored.err,
    /^APP_KEY in the environment differs .*\nWORKER_KEY in the environment differs .*\n$/,
  );
});

test('where no key fits, those that were tried are named', async (t) => {
  const { keysDir, into, restore } = await backedUp(t, { keys: { APP_KEY } });
  writeFileSync(join(keysDir, 'APP_KEY'), NEWER);
  const wrong = await restore({ APP_KEY: Buffer.alloc(32, 3).toString('base64url') }, '--keys', keysDir);
  assert.equal(wrong.code, 1);
  assert.match(wrong.err, /Tried: \S+keys\/APP_KEY, the one in the environment\.\n$/);
  rmSync(join(keysDir, 'APP_KEY'));
  const none = await restore({}, '--keys', keysDir);
  assert.equal(none.code, 1);
  assert.match(none.err, /^There is no APP_KEY in \S+keys, and none in the environment\. /);
  assert.match((await restore({ APP_KEY }, '--keys', join(keysDir, 'none'))).err, /^There is no folder /);
  assert.equal(existsSync(into), false);
});
