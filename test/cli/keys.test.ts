// Replacing the service's own keys: nothing that was readable is unreadable afterwards, also where it was cut off.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { CompactEncrypt, importJWK } from 'jose';
import { auditKeyOf, verifyAuditLog } from '../../src/app/audit/chain.ts';
import { replaceAppKey } from '../../src/app/operation/replace-app-key.ts';
import { createSecretBox } from '../../src/app/secret-box.ts';
import { readConfig } from '../../src/config/config.ts';
import { openingKeys, workerKey } from '../../src/config/keys.ts';
import { cutChain } from '../../src/data/audit/chain.ts';
import { sql } from '../../src/data/engine/db.ts';
import { type ChainedEntry, checkpointMac, nextHead } from '../../src/domain/audit-chain.ts';
import {
  type PrivateJwk,
  SEAL_ALGORITHM,
  SEAL_ENCRYPTION,
  sealingKey,
} from '../../src/domain/identity/sealed.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { credentialsOpener } from '../../src/worker/line/credentials.ts';
import { openWorld, type Trader, type World } from '../world.ts';
import { sealedMeanwhile } from './restarted.ts';
import { terminal } from './terminal.ts';

/** What the world seals with. */
const OLD = Buffer.alloc(32, 7).toString('base64url');
const MAIN = new URL('../../src/main.ts', import.meta.url).pathname;

/** A world whose keys lie in its folder, with a trader who has a second factor. */
async function openKept(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-keys-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, 'keys'));
  writeFileSync(join(dir, 'keys', 'APP_KEY'), OLD, { mode: 0o600 });
  const world = await openWorld(t, { dataDir: dir, env: { APP_KEY: '', JWT_SECRET: '' } });
  const trader = await world.makeTrader();
  const { id } = trader.user;
  await world.db.commit([
    sql`insert into second_factors (user_id, totp_secret, created_at, last_step)
        values (${id}, ${world.secrets.seal('the seed', id)}, '2026-01-01T00:00:00.000Z', 0)`,
  ]);
  assert.equal((await world.send(trader)).body.status, 'filled');
  return {
    dir,
    world,
    trader,
    run: terminal(world.config),
    key: () => readFileSync(join(dir, 'keys/APP_KEY'), 'utf8'),
  };
}

/** The service starts, takes the trader's secret, and everything is under this key. */
async function worksWith(world: World, trader: Trader, key: string): Promise<void> {
  await world.restart();
  assert.equal((await world.send(trader)).body.status, 'filled');
  const box = createSecretBox(Buffer.from(key, 'base64url'));
  const factor = await world.db.get<{ totp_secret: string }>(
    sql`select totp_secret from second_factors where user_id = ${trader.user.id}`,
  );
  assert.equal(box.open(factor?.totp_secret ?? '', trader.user.id), 'the seed');
  await world.stop();
}

test('APP_KEY is replaced while the service stands: secrets open, and heads kept before stay good', async (t) => {
  const { dir, world, trader, run, key } = await openKept(t);
  const beside = await run('keys', 'rotate', 'APP_KEY');
  assert.deepEqual([beside.code, beside.out], [2, '']);
  assert.match(beside.err, /in use by another process/);
  assert.equal(key(), OLD);

  await world.stop();
  const head = (await run('audit', 'head')).out.trim();
  const rotated = await run('keys', 'rotate', 'APP_KEY');
  assert.deepEqual([rotated.code, rotated.err], [0, '']);
  assert.match(rotated.out, /2 secrets are sealed anew/);
  assert.notEqual(key(), OLD);
  assert.equal(statSync(join(dir, 'keys/APP_KEY')).mode & 0o777, 0o600);
  const old = readdirSync(join(dir, 'keys')).filter((name) => /^APP_KEY\.[0-9a-f]{8}$/.test(name));
  assert.deepEqual(
    old.map((name) => readFileSync(join(dir, 'keys', name), 'utf8')),
    [OLD],
  );
  assert.equal(existsSync(join(dir, 'keys/APP_KEY.next')), false);
  await worksWith(world, trader, key());
  const verified = await run('audit', 'verify', '--head', head);
  assert.deepEqual([verified.code, verified.err], [0, '']);
  assert.match(verified.out, new RegExp(`\nIt contains the head given, ${head}\\.\n`));

  // A second one, behind the first.
  const between = (await run('audit', 'head')).out.trim();
  assert.equal((await run('keys', 'rotate', 'APP_KEY')).code, 0);
  await worksWith(world, trader, key());
  for (const kept of [head, between])
    assert.equal((await run('audit', 'verify', '--head', kept)).code, 0, kept);

  // Who has the key that was replaced cannot have what was sealed with it sealed otherwise.
  const entries = await world.db.all<Omit<ChainedEntry, 'success'> & { success: number }>(
    sql`select a.* from audit_seals s join audit_logs a on a.id = s.entry_id
        where s.position <= ${Number(head.split(':')[0])} order by s.position`,
  );
  let forged = { entries: 0, hash: '0'.repeat(64) };
  for (const entry of entries) {
    const changed = { ...entry, success: Boolean(entry.success), ip_address: '192.0.2.1' };
    forged = nextHead(auditKeyOf(Buffer.from(OLD, 'base64url')), forged, changed);
    await world.db.commit([
      sql`update audit_logs set ip_address = '192.0.2.1' where id = ${entry.id}`,
      sql`update audit_seals set hash = ${forged.hash} where entry_id = ${entry.id}`,
    ]);
  }
  const found = await run('audit', 'verify');
  assert.equal(found.code, 1);
  assert.match(found.err, /is not the one at which APP_KEY was replaced/);
});

test('a log whose beginning was pruned stays whole, and is pruned on, under a new APP_KEY', async (t) => {
  const { world, trader, run, key } = await openKept(t);
  await world.stop();
  /** As retention does it. */
  const cut = async (entries: number, appKey: string) => {
    const seals = await world.db.all<{ position: number; entry_id: number; hash: string }>(
      sql`select * from audit_seals where position <= ${entries} order by position`,
    );
    const head = { entries, hash: seals.at(-1)?.hash ?? '' };
    const mac = checkpointMac(auditKeyOf(Buffer.from(appKey, 'base64url')), head);
    const ids = seals.map(({ entry_id }) => entry_id);
    assert.equal(await world.db.commit(cutChain({ ...head, mac }, ids, timestamp(0))), null);
  };
  await cut(1, OLD);
  const head = (await run('audit', 'head')).out.trim();
  assert.equal((await run('keys', 'rotate', 'APP_KEY')).code, 0);
  const whole = await run('audit', 'verify', '--head', head);
  assert.deepEqual([whole.code, whole.err], [0, '']);
  await worksWith(world, trader, key());
  // Past the entry at which the key was replaced.
  await cut(Number(head.split(':')[0]) + 1, key());
  const pruned = await run('audit', 'verify');
  assert.deepEqual([pruned.code, pruned.err], [0, '']);
});

test('a rotation of APP_KEY that was cut off is finished by the next run, wherever it was', async (t) => {
  const { dir, world, trader, run, key } = await openKept(t);
  await world.stop();
  const next = join(dir, 'keys/APP_KEY.next');
  const NEW = Buffer.alloc(32, 8).toString('base64url');
  writeFileSync(next, NEW, { mode: 0o600 });

  // Before the database was touched: the service runs on under the old key.
  await worksWith(world, trader, OLD);
  // After it was: it refuses to start, and says what to do.
  const operator = {
    db: world.db,
    clock: world.clock,
    context: { requestId: 'x', ip: 'x', userAgent: null, path: 'x', method: 'CLI' },
  };
  const [before, after] = [Buffer.from(OLD, 'base64url'), Buffer.from(NEW, 'base64url')];
  assert.equal((await replaceAppKey(operator, { before, after }))?.isNew, true);
  await assert.rejects(world.restart(), /run `fillpath keys rotate APP_KEY` again/);
  const finished = await run('keys', 'rotate', 'APP_KEY');
  assert.equal(finished.code, 0, finished.err);
  assert.equal(key(), NEW);
  assert.equal(existsSync(next), false);
  await worksWith(world, trader, NEW);
  assert.equal((await run('audit', 'verify')).code, 0);
});

test('a rotation of APP_KEY that was cut off as its last file was to go does not take the next one for itself', async (t) => {
  const { dir, world, trader, run, key } = await openKept(t);
  await world.stop();
  assert.equal((await run('keys', 'rotate', 'APP_KEY')).code, 0);
  const second = key();
  writeFileSync(join(dir, 'keys/APP_KEY.next'), second, { mode: 0o600 });
  // Months later, perhaps because the key has leaked.
  const rotated = await run('keys', 'rotate', 'APP_KEY');
  assert.equal(rotated.code, 0, rotated.err);
  assert.match(rotated.out, /^2 secrets are sealed anew/m);
  assert.notEqual(key(), second);
  const kept = /^The old key is kept in (.+): a backup/m.exec(rotated.out)?.[1] ?? '';
  assert.equal(readFileSync(kept, 'utf8'), second);
  assert.equal(existsSync(join(dir, 'keys/APP_KEY.next')), false);
  await worksWith(world, trader, key());
  assert.equal((await run('audit', 'verify')).code, 0);
});

for (const [words, begin] of [
  ['goes on', ''],
  ['begins', 'delete from audit_seals; delete from audit_logs; delete from audit_chain'],
] as const)
  test(`APP_KEY is not replaced where the audit log ${words} under the old one meanwhile`, async (t) => {
    const { world } = await openKept(t);
    await world.stop();
    await world.db.script(begin);
    const operator = {
      db: await sealedMeanwhile(world.db, Buffer.from(OLD, 'base64url')),
      clock: world.clock,
      context: { requestId: 'x', ip: 'x', userAgent: null, path: 'x', method: 'CLI' },
    };
    const keys = { before: Buffer.from(OLD, 'base64url'), after: Buffer.alloc(32, 8) };
    await assert.rejects(replaceAppKey(operator, keys), /nothing was replaced\. Stop every process/);
    // Under the one key, or under the other.
    const auditKey = auditKeyOf(keys.before);
    assert.deepEqual((await verifyAuditLog({ db: world.db, auditKey }, [])).problems, []);
    assert.equal((await replaceAppKey({ ...operator, db: world.db }, keys))?.isNew, true);
    const verified = await verifyAuditLog({ db: world.db, auditKey: auditKeyOf(keys.after) }, []);
    assert.deepEqual(verified.problems, []);
  });

test('an audit log without a single seal begins under the new APP_KEY', async (t) => {
  const { dir, world, trader, run, key } = await openKept(t);
  await world.stop();
  await world.db.script('delete from audit_seals; delete from audit_logs; delete from audit_chain');
  rmSync(join(dir, 'audit-head'));
  assert.equal((await run('keys', 'rotate', 'APP_KEY')).code, 0);
  await worksWith(world, trader, key());
  const verified = await run('audit', 'verify');
  assert.deepEqual([verified.code, verified.err], [0, '']);
});

test('a process that is killed in the middle leaves nothing that the next run does not mend', async (t) => {
  const { dir, world, trader, run, key } = await openKept(t);
  for (let index = 0; index < 150; index++) await world.addAccount(trader);
  await world.stop();
  const env = { PATH: process.env.PATH, DATA_DIR: dir, LOG_LEVEL: 'silent' };
  const child = spawn(process.execPath, [MAIN, 'keys', 'rotate', 'APP_KEY'], { env, stdio: 'ignore' });
  // From the moment on in which the new key is there.
  const watching = watch(join(dir, 'keys'), (_kind, name) => {
    if (name === 'APP_KEY.next') child.kill('SIGKILL');
  });
  const [, signal] = await once(child, 'exit');
  watching.close();
  assert.equal(signal, 'SIGKILL');
  const again = await run('keys', 'rotate', 'APP_KEY');
  assert.equal(again.code, 0, again.err);
  assert.notEqual(key(), OLD);
  await worksWith(world, trader, key());
  const box = createSecretBox(Buffer.from(key(), 'base64url'));
  const accounts = await world.db.all<{ id: string; webhook_secret: string }>(
    sql`select id, webhook_secret from trading_accounts`,
  );
  assert.equal(accounts.length, 151);
  for (const { id, webhook_secret } of accounts) assert.equal(box.open(webhook_secret, id), trader.secret);
  assert.equal((await run('audit', 'verify')).code, 0);
});

test('an APP_KEY of the environment is replaced by the operator, with the previous one beside it', async (t) => {
  const world = await openWorld(t);
  const trader = await world.makeTrader();
  await world.stop();
  const NEW = Buffer.alloc(32, 9).toString('base64url');
  const configured = (env: Record<string, string>) =>
    terminal(readConfig({ DATA_DIR: world.dir, LOG_LEVEL: 'silent', ...env }));
  const asked = await configured({ APP_KEY: OLD })('keys', 'rotate', 'APP_KEY');
  assert.equal(asked.code, 1);
  assert.match(asked.out, /^ {2}APP_KEY=[\w-]{43}$/m);
  assert.equal(asked.out.includes(OLD), false);
  const wrong = await configured({ APP_KEY: NEW, APP_KEY_PREVIOUS: NEW })('keys', 'rotate', 'APP_KEY');
  assert.equal(wrong.code, 2);
  const same = await configured({ APP_KEY: OLD, APP_KEY_PREVIOUS: OLD })('keys', 'rotate', 'APP_KEY');
  assert.deepEqual([same.code, same.out], [2, '']);
  assert.match(same.err, /APP_KEY_PREVIOUS is the same key as APP_KEY: nothing was replaced/);
  const both = configured({ APP_KEY: NEW, APP_KEY_PREVIOUS: OLD });
  assert.match((await both('keys', 'rotate', 'APP_KEY')).out, /1 secret is sealed anew/);
  const again = await both('keys', 'rotate', 'APP_KEY');
  assert.equal(again.code, 0);
  assert.match(again.out, /^0 secrets are sealed anew/m);
  const account = await world.db.get<{ webhook_secret: string }>(
    sql`select webhook_secret from trading_accounts where id = ${trader.account.id}`,
  );
  const box = createSecretBox(Buffer.from(NEW, 'base64url'));
  assert.equal(box.open(account?.webhook_secret ?? '', trader.account.id), trader.secret);
});

async function sealTo(key: PrivateJwk, { user, account }: Trader): Promise<string> {
  const { kid, ...publicKey } = sealingKey(key);
  const content = { user_id: user.id, trading_account_id: account.id, credentials: { secret: account.id } };
  return new CompactEncrypt(Buffer.from(JSON.stringify(content)))
    .setProtectedHeader({ alg: SEAL_ALGORITHM, enc: SEAL_ENCRYPTION, kid })
    .encrypt(await importJWK({ ...publicKey }, SEAL_ALGORITHM));
}

const credentialsIn = async (world: World, { account, user }: Trader) => {
  const row = await world.db.get<{ sealed_credentials: string; credentials_version: number }>(
    sql`select sealed_credentials, credentials_version from trading_accounts where id = ${account.id}`,
  );
  const opened = await credentialsOpener(openingKeys(world.config))(row?.sealed_credentials ?? '', {
    id: account.id,
    userId: user.id,
  });
  return { opened, version: row?.credentials_version };
};

test('WORKER_KEY is replaced: nobody sends credentials again, and one that nobody can open is named', async (t) => {
  const { world, trader, run } = await openKept(t);
  const [first] = openingKeys(world.config);
  assert.ok(first);
  const other = await world.addAccount(trader);
  const traders = [trader, other];
  for (const each of traders)
    await world.db.commit([
      sql`update trading_accounts set sealed_credentials = ${await sealTo(first, each)} where id = ${each.account.id}`,
    ]);
  await world.stop();
  const rotated = await run('keys', 'rotate', 'WORKER_KEY');
  assert.equal(rotated.code, 0, rotated.err);
  assert.match(rotated.out, /2 broker credentials are sealed to the new key/);
  const second = openingKeys(world.config);
  assert.equal(second.length, 1);
  assert.notEqual(second[0]?.d, first.d);
  for (const each of traders)
    assert.deepEqual(await credentialsIn(world, each), { opened: { secret: each.account.id }, version: 1 });

  // Cut off with both keys in the file and one account done: it goes on with the same new key.
  const third = JSON.parse(workerKey()) as PrivateJwk;
  writeFileSync(join(world.dir, 'keys/WORKER_KEY'), JSON.stringify({ keys: [third, ...second] }));
  await world.db.commit([
    sql`update trading_accounts set sealed_credentials = ${await sealTo(third, other)} where id = ${other.account.id}`,
  ]);
  assert.match((await run('keys', 'rotate', 'WORKER_KEY')).out, /^1 broker credentials/m);
  assert.deepEqual(
    openingKeys(world.config).map(({ d }) => d),
    [third.d],
  );
  for (const each of traders)
    assert.deepEqual((await credentialsIn(world, each)).opened, { secret: each.account.id });

  // Sealed to a key that is gone: the others are done, and the old key is not dropped.
  const lost = await sealTo(first, trader);
  await world.db.commit([
    sql`update trading_accounts set sealed_credentials = ${lost} where id = ${trader.account.id}`,
  ]);
  const some = await run('keys', 'rotate', 'WORKER_KEY');
  assert.equal(some.code, 1);
  assert.match(some.err, new RegExp(trader.account.id));
  assert.equal(openingKeys(world.config).length, 2);
});

test('a WORKER_KEY of the environment is replaced beside the running service', async (t) => {
  const [before, after] = [JSON.parse(workerKey()), JSON.parse(workerKey())] as [PrivateJwk, PrivateJwk];
  const world = await openWorld(t, { env: { WORKER_KEY: JSON.stringify({ keys: [after, before] }) } });
  const trader = await world.makeTrader();
  await world.db.commit([
    sql`update trading_accounts set sealed_credentials = ${await sealTo(before, trader)} where id = ${trader.account.id}`,
  ]);
  const alone = readConfig({ DATA_DIR: world.dir, WORKER_KEY: JSON.stringify(before) });
  const asked = await terminal(alone)('keys', 'rotate', 'WORKER_KEY');
  assert.equal(asked.code, 1);
  assert.match(asked.out, /^ {2}WORKER_KEY=\{"keys":\[.*\]\}$/m);
  assert.match(asked.out, /^ {2}WORKER_PUBLIC_KEY=\{[^d]*"x":/m);
  const rotated = await terminal(world.config)('keys', 'rotate', 'WORKER_KEY');
  assert.equal(rotated.code, 0, rotated.err);
  const row = await world.db.get<{ sealed_credentials: string }>(
    sql`select sealed_credentials from trading_accounts where id = ${trader.account.id}`,
  );
  const { id, userId } = trader.account;
  assert.deepEqual(await credentialsOpener([after])(row?.sealed_credentials ?? '', { id, userId }), {
    secret: id,
  });
});

test('no key is called dispensable while credentials are sealed to it, whoever sealed them and when', async (t) => {
  const [before, after] = [JSON.parse(workerKey()), JSON.parse(workerKey())] as [PrivateJwk, PrivateJwk];
  const world = await openWorld(t, { env: { WORKER_KEY: JSON.stringify({ keys: [after, before] }) } });
  const trader = await world.makeTrader();
  await world.db.commit([
    sql`update trading_accounts set sealed_credentials = ${await sealTo(before, trader)} where id = ${trader.account.id}`,
  ]);
  const rotate = () => terminal(world.config)('keys', 'rotate', 'WORKER_KEY');
  // As where its owner replaces them at the same moment, through a process that has the old public key.
  await world.db.script(`create trigger overtaken before update of sealed_credentials on trading_accounts
    begin select raise(ignore); end`);
  const overtaken = await rotate();
  assert.equal(overtaken.code, 1);
  assert.doesNotMatch(overtaken.out, /may be cut down to its first key/);
  assert.match(overtaken.err, /^1 broker credentials are still sealed to another key/);
  assert.match(overtaken.err, /WORKER_PUBLIC_KEY.*run this again/s);
  await world.db.script('drop trigger overtaken');
  const done = await rotate();
  assert.deepEqual([done.code, done.err], [0, '']);
  assert.match(done.out, /may be cut down to its first key/);
});

test('a kept WORKER_KEY is not dropped while credentials are sealed to it', async (t) => {
  const { world, trader, run } = await openKept(t);
  const [first] = openingKeys(world.config);
  assert.ok(first);
  await world.db.commit([
    sql`update trading_accounts set sealed_credentials = ${await sealTo(first, trader)} where id = ${trader.account.id}`,
  ]);
  await world.stop();
  await world.db.script(`create trigger overtaken before update of sealed_credentials on trading_accounts
    begin select raise(ignore); end`);
  assert.equal((await run('keys', 'rotate', 'WORKER_KEY')).code, 1);
  assert.equal(openingKeys(world.config).length, 2);
  await world.db.script('drop trigger overtaken');
  assert.equal((await run('keys', 'rotate', 'WORKER_KEY')).code, 0);
  assert.equal(openingKeys(world.config).length, 1);
  assert.deepEqual((await credentialsIn(world, trader)).opened, { secret: trader.account.id });
});

test('a new JWT_SECRET ends every session, and no API key', async (t) => {
  const { world, trader, run } = await openKept(t);
  const ann = await world.login();
  const cookies = () => ann.call('GET', '/auth/session');
  assert.equal((await cookies()).status, 200);
  await world.stop();
  assert.equal((await run('keys', 'rotate', 'JWT_SECRET')).code, 0);
  await world.restart();
  assert.equal((await cookies()).status, 401);
  assert.equal((await world.as(trader, 'GET', '/trading/orders')).status, 200);
  assert.equal((await run('keys', 'rotate', 'PASSWORD')).code, 2);
});
