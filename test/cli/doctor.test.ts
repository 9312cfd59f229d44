// The doctor finds what was planted, each with its way out, and nothing where nothing is wrong. It changes nothing.

import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { generateKeyPairSync, randomUUIDv7 } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, type TestContext, test } from 'node:test';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { agreeOnAppKey } from '../../src/app/operation/app-key.ts';
import { examine } from '../../src/cli/doctor/examine.ts';
import { clockFindings } from '../../src/cli/doctor/finding.ts';
import { envFileFindings, handleFindings, roomFindings } from '../../src/cli/doctor/machine.ts';
import { readConfig } from '../../src/config/config.ts';
import { keepUnreadable } from '../../src/data/accounts/unreadable-replies.ts';
import { type Db, sql } from '../../src/data/engine/db.ts';
import { foreignIn } from '../../src/data/engine/foreign.ts';
import { migrate } from '../../src/data/engine/migrate.ts';
import { openPostgres } from '../../src/data/engine/postgres.ts';
import { openSqlite } from '../../src/data/engine/sqlite.ts';
import { type Timestamp, timestamp } from '../../src/domain/ids.ts';
import { APP_KEY, makeTrader, startProgram } from '../orders/kill-harness.ts';
import { closedPort, startBadServer, startMailServer } from '../servers/mail.ts';
import { PostgresMissing, startPostgres } from '../servers/postgres.ts';
import { RedisMissing, startRedis } from '../servers/redis.ts';

type Env = Record<string, string>;

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-doctor-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

const healthy = (t: TestContext): Env => ({ DATA_DIR: folder(t), APP_KEY, PORT: '0' });

const PRODUCTION: Env = {
  NODE_ENV: 'production',
  JWT_SECRET: 'j'.repeat(40),
  BASE_URL: 'https://trade.example.com',
  ALLOWED_ORIGINS: 'https://trade.example.com',
  TRUSTED_PROXIES: '127.0.0.1',
};

const look = (env: Env) => examine(() => readConfig(env), { allBrokers: false });

/** Exactly this one, with this way out. */
async function finds(env: Env, problem: RegExp, remedy: RegExp): Promise<void> {
  const { findings } = await look(env);
  const found = findings.filter((finding) => problem.test(finding.problem));
  assert.equal(found.length, 1, JSON.stringify(findings, null, 2));
  assert.match(found[0]?.remedy ?? '', remedy);
}

async function prepared(dir: string, work: (db: Db) => Promise<unknown> = async () => {}): Promise<void> {
  const db = openSqlite({ file: join(dir, 'fillpath.sqlite') });
  await migrate(db, Date.now());
  await work(db);
  await db.close();
}

const orNull = <Server>(
  started: Promise<Server>,
  Missing: new (...args: never[]) => Error,
): Promise<Server | null> =>
  started.catch((fault: unknown) => {
    if (!(fault instanceof Missing)) throw fault;
    return null;
  });

test('where nothing is wrong nothing is found, before the first start and after it', async (t) => {
  const env = healthy(t);
  assert.deepEqual((await look(env)).findings, []);
  assert.deepEqual(readdirSync(env.DATA_DIR ?? ''), [], 'nothing was made');
  await prepared(env.DATA_DIR ?? '', (db) => makeTrader(db, {}));
  assert.deepEqual((await look(env)).findings, []);
});

describe('settings', () => {
  const jwk = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
  const { d: _, ...stranger } = jwk();
  const planted: readonly (readonly [name: string, env: Env, problem: RegExp, remedy: RegExp])[] = [
    ['a malformed setting', { PORT: 'eighty' }, /^PORT must be/, /fillpath config/],
    ['a key that is none', { APP_KEY: 'short' }, /^APP_KEY /, /fillpath config/],
    ['a role without its keys', { ROLE: 'api' }, /^WORKER_PUBLIC_KEY is needed with ROLE=api/, /environment/],
    [
      'a public key of another',
      { WORKER_KEY: JSON.stringify(jwk()), WORKER_PUBLIC_KEY: JSON.stringify(stranger) },
      /^WORKER_PUBLIC_KEY must be the public half/,
      /environment/,
    ],
    [
      'production without TLS',
      { ...PRODUCTION, BASE_URL: 'http://trade.example.com', ALLOWED_ORIGINS: 'http://trade.example.com' },
      /without TLS/,
      /deploy\/edge/,
    ],
    [
      'production at localhost',
      { ...PRODUCTION, BASE_URL: 'http://localhost:8080', ALLOWED_ORIGINS: 'http://localhost:8080' },
      /lead nowhere/,
      /Set BASE_URL/,
    ],
    [
      'the world without production',
      { BASE_URL: 'https://trade.example.com', ALLOWED_ORIGINS: 'https://trade.example.com' },
      /NODE_ENV is not production/,
      /NODE_ENV=production/,
    ],
    [
      'origins without its own',
      { ...PRODUCTION, ALLOWED_ORIGINS: 'https://other.example.com' },
      /does not contain the origin of BASE_URL/,
      /ALLOWED_ORIGINS=https:\/\/trade\.example\.com,/,
    ],
    [
      'cookies of another domain',
      { ...PRODUCTION, COOKIE_DOMAIN: 'example.org' },
      /nobody stays logged in/,
      /Unset COOKIE_DOMAIN/,
    ],
    ['production without mail', PRODUCTION, /SMTP_URL is not set in production/, /Set SMTP_URL/],
    [
      'proxies of the whole world',
      { TRUSTED_PROXIES: '0.0.0.0/0' },
      /TRUSTED_PROXIES contains 0\.0\.0\.0\/0/,
      /your own proxies/,
    ],
    [
      'admins of the whole world',
      { ADMIN_IPS: '::/0' },
      /ADMIN_IPS contains ::\/0/,
      /that you administer from/,
    ],
    [
      'a proxy that is not named',
      { ...PRODUCTION, TRUSTED_PROXIES: '' },
      /TRUSTED_PROXIES is not set/,
      /Set TRUSTED_PROXIES/,
    ],
    ['an edge that is not named', { EDGE: 'external' }, /TRUSTED_PROXIES is not set/, /X-Forwarded-For/],
  ];
  for (const [name, env, problem, remedy] of planted)
    test(name, (t) => finds({ ...healthy(t), ...env }, problem, remedy));
});

describe('the machine', () => {
  test('a folder that others can read', async (t) => {
    const env = healthy(t);
    chmodSync(env.DATA_DIR ?? '', 0o755);
    await finds(env, /can be entered by others/, /^chmod -R go= /);
  });

  test('keys that others can read', async (t) => {
    const env = healthy(t);
    const keys = join(env.DATA_DIR ?? '', 'keys');
    mkdirSync(keys);
    writeFileSync(join(keys, 'APP_KEY'), APP_KEY, { mode: 0o644 });
    chmodSync(join(keys, 'APP_KEY'), 0o644);
    await finds(env, /could read \S+APP_KEY/, /^chmod go= \S+APP_KEY/);
  });

  test('a .env that others can read, where it holds a secret', async (t) => {
    const file = join(folder(t), '.env');
    const findings = async (content: string, mode: number) => {
      writeFileSync(file, content);
      chmodSync(file, mode);
      return envFileFindings(file);
    };
    const [found, ...more] = await findings(`PORT=8080\nAPP_KEY=${APP_KEY}\nJWT_SECRET="x"\n`, 0o644);
    assert.deepEqual(
      [found?.area, found?.problem, found?.remedy, more],
      [
        'permissions',
        `Users other than its owner could read ${file}, which holds APP_KEY, JWT_SECRET.`,
        `chmod go= ${file}`,
        [],
      ],
    );
    assert.equal((await findings('FILLPATH_KEY=x', 0o640)).length, 1, 'of a command');
    assert.deepEqual(await findings(`APP_KEY=${APP_KEY}`, 0o600), []);
    assert.deepEqual(await findings('PORT=8080\nAPP_KEY=\n# JWT_SECRET=x', 0o644), []);
    assert.deepEqual(await envFileFindings(join(folder(t), '.env')), []);
  });

  test('a .env beside the program is looked at', async (t) => {
    const dir = folder(t);
    writeFileSync(join(dir, '.env'), `DATA_DIR=${join(dir, 'data')}\nPORT=0\nAPP_KEY=${APP_KEY}\n`);
    chmodSync(join(dir, '.env'), 0o644);
    const main = new URL('../../src/main.ts', import.meta.url).pathname;
    const child = execFile(process.execPath, [main, 'doctor'], { cwd: dir, env: { PATH: process.env.PATH } });
    let said = '';
    child.stdout?.on('data', (part) => {
      said += part;
    });
    const [code] = await once(child, 'close');
    assert.equal(code, 1);
    assert.match(said, /could read \.env, which holds APP_KEY\.\n.*chmod go= \.env\n/);
  });

  test('a folder that is none', async (t) => {
    const file = join(folder(t), 'data');
    writeFileSync(file, '');
    await finds({ ...healthy(t), DATA_DIR: file }, /is not a folder/, /Set DATA_DIR/);
  });

  test('a folder that cannot be written to', async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'fillpath-doctor-'));
    const isRoot = process.getuid?.() === 0;
    if (!isRoot) chmodSync(dir, 0o500);
    // Root may write to anything but a disk that is read-only.
    else
      try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro,mode=700', 'tmpfs', dir], { stdio: 'ignore' });
        t.after(() => execFileSync('umount', [dir]));
      } catch {
        return t.skip('needs the right to mount a disk');
      }
    t.after(() => rmSync(dir, { recursive: true }));
    await finds({ ...healthy(t), DATA_DIR: dir }, /cannot be written to/, /chown/);
  });

  test('a disk that is nearly full', () => {
    const [finding] = roomFindings('/data', { free: 20 * 2 ** 20, all: 10 * 2 ** 30 });
    assert.match(finding?.problem ?? '', /has 20 MB of 10240 MB left/);
    assert.match(finding?.remedy ?? '', /AUDIT_DAYS/);
    assert.deepEqual(roomFindings('/data', { free: 5 * 2 ** 30, all: 10 * 2 ** 30 }), []);
  });

  test('more connections than file handles', () => {
    const [finding] = handleFindings(900, 256);
    assert.match(finding?.problem ?? '', /may open 256 files/);
    assert.match(finding?.remedy ?? '', /ulimit -n/);
    assert.deepEqual(handleFindings(900, 1_024), []);
  });

  test('a port that something else has', async (t) => {
    const other = createTcpServer((socket) => socket.end('hello\r\n')).listen(0, '127.0.0.1');
    await once(other, 'listening');
    t.after(() => other.close());
    const { port } = other.address() as AddressInfo;
    await finds({ ...healthy(t), PORT: String(port) }, /is taken by another program/, /set PORT/);
  });
});

describe('the embedded database', () => {
  test('another APP_KEY', async (t) => {
    const env = healthy(t);
    await prepared(env.DATA_DIR ?? '', (db) => agreeOnAppKey({ db }, Buffer.alloc(32, 1)));
    await finds(env, /APP_KEY is not the one/, /keys\/APP_KEY/);
  });

  test('migrations that are still to come, and a schema that is too new', async (t) => {
    const env = healthy(t);
    await prepared(env.DATA_DIR ?? '', (db) =>
      db.commit([sql`delete from migrations where name = '013-standing-indexes'`]),
    );
    await finds(env, /The schema lacks 013-standing-indexes/, /Start this version once/);
    const newer = healthy(t);
    await prepared(newer.DATA_DIR ?? '', (db) =>
      db.commit([
        sql`insert into migrations (name, applied_at) values ('900-future', '')`,
        sql`insert into schema_needs (migration, level, program) values ('900-future', 900, '9.0.0')`,
      ]),
    );
    await finds(newer, /The database is newer than this program/, /newer program/);
  });

  test('a trigger that is not ours', async (t) => {
    const env = healthy(t);
    await prepared(env.DATA_DIR ?? '', (db) =>
      db.script('create trigger planted after insert on users begin select 1; end'),
    );
    await finds(env, /not made by Fillpath: trigger planted on users/, /no backup is made/);
  });

  test('a damaged one', async (t) => {
    const env = healthy(t);
    await prepared(env.DATA_DIR ?? '');
    truncateSync(join(env.DATA_DIR ?? '', 'fillpath.sqlite'), 20_480);
    await finds(env, /is damaged: it has 20480 bytes/, /fillpath restore/);
  });

  test('what a killed process left is looked at, and left', async (t) => {
    const env = healthy(t);
    const program = startProgram(env.DATA_DIR ?? '');
    await program.ready;
    await program.kill();
    const wal = join(env.DATA_DIR ?? '', 'fillpath.sqlite-wal');
    const left = readFileSync(wal);
    assert.deepEqual((await look(env)).findings, []);
    assert.ok(existsSync(wal));
    assert.deepEqual(readFileSync(wal), left);
  });
});

describe('PostgreSQL', () => {
  let server: Awaited<ReturnType<typeof startPostgres>> | null = null;
  before(async () => {
    server = await orNull(startPostgres(), PostgresMissing);
  });
  const elsewhere = (change: (url: URL) => void): string => {
    const url = new URL(server?.url ?? '');
    change(url);
    return url.href;
  };

  test('one that cannot be reached', async (t) => {
    const env = {
      ...healthy(t),
      DATABASE_URL: `postgres://fillpath@127.0.0.1:${await closedPort()}/fillpath`,
    };
    await finds(env, /cannot be reached: nothing listens there/, /correct DATABASE_URL/);
  });

  test('a wrong password', async (t) => {
    const words = Buffer.from('SFATAL\0C28P01\0Mpassword authentication failed\0\0');
    const { port } = await startBadServer(t, (socket) =>
      socket.once('data', () => {
        const head = Buffer.from('E\0\0\0\0');
        head.writeInt32BE(words.length + 4, 1);
        socket.end(Buffer.concat([head, words]));
      }),
    );
    const env = { ...healthy(t), DATABASE_URL: `postgres://fillpath:no@127.0.0.1:${port}/fillpath` };
    await finds(env, /refuses the password/, /%40/);
  });

  test('a database that is missing, and a role that is', async (t) => {
    if (!server) return t.skip('PostgreSQL is not installed');
    const missing = elsewhere((url) => {
      url.pathname = '/nowhere';
    });
    await finds({ ...healthy(t), DATABASE_URL: missing }, /has no such database/, /CREATE DATABASE/);
    const nobody = elsewhere((url) => {
      url.username = 'nobody';
    });
    await finds(
      { ...healthy(t), DATABASE_URL: nobody },
      /does not let this user in/,
      /docs\/operations\/install\.md/,
    );
  });

  test('a role without the right to make tables', async (t) => {
    if (!server) return t.skip('PostgreSQL is not installed');
    const admin = new Client(server.url);
    await admin.connect();
    await admin.query('drop role if exists weak');
    await admin.query('create role weak login');
    await admin.end();
    const weak = elsewhere((url) => {
      url.username = 'weak';
    });
    await finds(
      { ...healthy(t), DATABASE_URL: weak },
      /weak may not create tables/,
      /GRANT CREATE ON SCHEMA/,
    );
  });

  test('one that does not wait for its disk', async (t) => {
    if (!server) return t.skip('PostgreSQL is not installed');
    await finds({ ...healthy(t), DATABASE_URL: server.url }, /fsync or full_page_writes off/, /both to on/);
  });

  test('nothing, where all is well', async (t) => {
    if (!server) return t.skip('PostgreSQL is not installed');
    const admin = new Client(server.url);
    await admin.connect();
    for (const setting of ['fsync', 'full_page_writes'])
      await admin.query(`alter system set ${setting} = on`);
    await admin.query('select pg_reload_conf()');
    // The server tells its sessions after it has heard itself.
    const isHeard = async () =>
      (await admin.query('show full_page_writes')).rows[0].full_page_writes === 'on';
    while (!(await isHeard()));
    await admin.end();
    const { findings } = await look({ ...healthy(t), DATABASE_URL: server.url });
    assert.deepEqual(findings, []);
  });

  test('triggers, rules and views in the place of our tables; other views are the operator’s', async (t) => {
    if (!server) return t.skip('PostgreSQL is not installed');
    const admin = new Client(server.url);
    await admin.connect();
    t.after(() => admin.end());
    await admin.query('create schema if not exists beside');
    const url = elsewhere((address) => {
      address.searchParams.set('options', '-c search_path=beside');
    });
    const db = await openPostgres({ url });
    await migrate(db, Date.now());
    assert.deepEqual(await foreignIn(db), []);
    await db.script(`
      create view reports as select 1;
      create rule planted as on update to tries do instead nothing;
      alter table once rename to once_before;
      create view once as select * from once_before;
      create function shout() returns trigger language plpgsql as 'begin return new; end';
      create trigger heard before insert on users for each row execute function shout()`);
    assert.deepEqual(await foreignIn(db), ['rule planted on tries', 'trigger heard on users', 'view once']);
    await db.close();
  });
});
describe('Redis', () => {
  test('one that cannot be reached', async (t) => {
    const env = { ...healthy(t), REDIS_URL: `redis://127.0.0.1:${await closedPort()}` };
    await finds(env, /Redis at \S+ cannot be reached: nothing listens there/, /correct REDIS_URL/);
  });

  test('one that evicts, and one that refuses the login', async (t) => {
    const server = await orNull(startRedis(), RedisMissing);
    if (!server) return t.skip('Redis is not installed');
    t.after(() => server.stop());
    const env = { ...healthy(t), REDIS_URL: server.url };
    assert.deepEqual((await look(env)).findings, []);
    const redis = new Redis(server.url);
    await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await finds(env, /maxmemory-policy allkeys-lru/, /noeviction/);
    await redis.config('SET', 'requirepass', 'secret');
    redis.disconnect();
    await finds(env, /refuses the login/, /REDIS_URL/);
  });
});

describe('mail', () => {
  test('a server that cannot be reached', async (t) => {
    const env = { ...healthy(t), SMTP_URL: `smtp://127.0.0.1:${await closedPort()}` };
    await finds(env, /mail server \S+ cannot be used/, /Correct SMTP_URL/);
  });

  test('a refused login, and a login without TLS', async (t) => {
    let isRight = false;
    const { port, mails } = await startMailServer(t, {
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: (_auth, _session, done) => (isRight ? done(null, { user: 'me' }) : done(new Error('no'))),
    });
    const env = { ...healthy(t), SMTP_URL: `smtp://me:no@127.0.0.1:${port}` };
    await finds(env, /refuses the login as me/, /%40/);
    isRight = true;
    await finds(env, /offers no STARTTLS/, /smtps:\/\//);
    assert.equal(mails.length, 0, 'no mail was sent');
  });
});

describe('brokers and clocks', () => {
  const ofBinance = { brokerName: 'binance', seal: async () => null } as const;

  test('a broker that an account uses and nobody can reach', async (t) => {
    const env = healthy(t);
    await prepared(env.DATA_DIR ?? '', (db) => makeTrader(db, {}, undefined, ofBinance));
    const urls = { binance: `http://127.0.0.1:${await closedPort()}` };
    await finds(
      { ...env, BROKER_URLS: JSON.stringify(urls) },
      /Binance.* cannot be reached at 127\.0\.0\.1/,
      /BROKER_URLS/,
    );
  });

  test('a broker whose answers nobody could read lately, and not what is long over', async (t) => {
    const env = healthy(t);
    const told = (call: string, seen_at: Timestamp) =>
      keepUnreadable({ id: randomUUIDv7(), broker: 'binance', call, status: 200, reply: '{}', seen_at }, 3);
    await prepared(env.DATA_DIR ?? '', (db) =>
      db.commit([
        ...told('GET /fapi/v3/positionRisk', timestamp(Date.now() - 60_000)),
        ...told('GET /fapi/v1/order', timestamp(Date.now() - 8 * 24 * 3_600_000)),
      ]),
    );
    await finds(env, /Binance.* answered “GET \/fapi\/v3\/positionRisk” .* 3 times/, /unreadable-replies/);
    const { findings } = await look(env);
    assert.equal(findings.length, 1, JSON.stringify(findings));
  });

  test('a clock that is not that of a broker', async (t) => {
    const env = healthy(t);
    await prepared(env.DATA_DIR ?? '', (db) => makeTrader(db, {}, undefined, ofBinance));
    const broker = createServer((_, response) =>
      response.writeHead(200, { date: new Date(Date.now() - 60_000).toUTCString() }).end(),
    ).listen(0, '127.0.0.1');
    await once(broker, 'listening');
    t.after(() => broker.close());
    const urls = { binance: `http://127.0.0.1:${(broker.address() as AddressInfo).port}` };
    await finds(
      { ...env, BROKER_URLS: JSON.stringify(urls) },
      /clock is (5\d(\.\d)?|6[0-5](\.\d)?) s ahead of that of Binance/,
      /NTP/,
    );
  });

  test('clocks are compared by when was asked and answered', () => {
    const at = { asked: 10_000, answered: 14_000 };
    assert.deepEqual(clockFindings('it', 12_000, at), []);
    assert.deepEqual(clockFindings('it', 8_500, at), []);
    assert.match(clockFindings('it', 5_000, at)[0]?.problem ?? '', /5 s ahead of that of it/);
    assert.match(clockFindings('it', 20_000, at)[0]?.problem ?? '', /6 s behind that of it/);
  });

  test('Shioaji without a server', async (t) => {
    const env = healthy(t);
    await prepared(env.DATA_DIR ?? '', (db) =>
      makeTrader(db, {}, undefined, { brokerName: 'shioaji', seal: async () => null }),
    );
    await finds(env, /has no address/, /BROKER_URLS/);
  });
});

test('as a command: 1 with findings, 0 without, and the same beside the running service', async (t) => {
  const dir = folder(t);
  const program = startProgram(dir);
  t.after(() => program.kill());
  const { port } = new URL(await program.ready);
  const run = (env: Env, ...args: string[]) =>
    new Promise<{ code: number | null; out: string }>((resolve) => {
      const child = execFile(
        process.execPath,
        ['src/main.ts', 'doctor', ...args],
        {
          cwd: join(import.meta.dirname, '../..'),
          env: { PATH: process.env.PATH, DATA_DIR: dir, APP_KEY, PORT: port, ...env },
        },
        (_, out) => resolve({ code: child.exitCode, out }),
      );
    });
  const well = await run({}, '--json');
  assert.deepEqual([well.code, JSON.parse(well.out).findings], [0, []]);
  const ill = await run({ ADMIN_IPS: '0.0.0.0/0' });
  assert.equal(ill.code, 1);
  assert.match(
    ill.out,
    /^proxies: ADMIN_IPS contains .*\n {2}→ List the addresses .*\n\n1 thing is wrong\.\n$/,
  );
});
