// Broker credentials: sealed by the client, opened by a worker, by nobody else, and only for their own account.

import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync, randomBytes, randomUUIDv7 } from 'node:crypto';
import { existsSync, globSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { CompactEncrypt, calculateJwkThumbprint, compactDecrypt } from 'jose';
import { pino } from 'pino';
import type { ShownAccount } from '../../src/app/accounts/accounts.ts';
import { AccountUnfit, BrokerBusy, BrokerUnavailable, CredentialsRejected } from '../../src/broker/broker.ts';
import { readConfig } from '../../src/config/config.ts';
import { sql } from '../../src/data/engine/db.ts';
import {
  type PrivateJwk,
  type PublicJwk,
  type SealingKey,
  sealingKey,
} from '../../src/domain/identity/sealed.ts';
import type { AccountId, UserId } from '../../src/domain/ids.ts';
import { openFillpath } from '../../src/main.ts';
import { CredentialsUnreadable, credentialsOpener } from '../../src/worker/line/credentials.ts';
import { scriptedBroker } from '../worker/scripted-broker.ts';
import { logbook, openWorld, type Problem, serverOf, type Trader, type World } from '../world.ts';

const CANARY = 'canary-9f27c1-api-secret';
const CREDENTIALS = { api_key: 'k-1', api_secret: CANARY };

const newKey = (namedCurve = 'P-256') =>
  generateKeyPairSync('ec', { namedCurve }).privateKey.export({ format: 'jwk' }) as unknown as PrivateJwk;

const publicKey = async (world: World) =>
  (await world.request<SealingKey>({ method: 'GET', url: '/auth/public-key' })).body;

/** As a client does it. */
function seal(
  key: PublicJwk & { kid?: string },
  content: unknown,
  {
    alg = 'ECDH-ES',
    enc = 'A256GCM',
    ...header
  }: Record<string, unknown> & { alg?: string; enc?: string } = {},
): Promise<string> {
  const { kty, crv, x, y, kid } = key;
  const isRaw = typeof content === 'string' || content instanceof Uint8Array;
  return new CompactEncrypt(Buffer.from(isRaw ? content : JSON.stringify(content)))
    .setProtectedHeader({ alg, enc, ...(kid === undefined ? {} : { kid }), ...header } as never)
    .encrypt(createPublicKey({ key: { kty, crv, x, y }, format: 'jwk' }));
}

const contentFor = ({ user, account }: Trader, credentials: unknown = CREDENTIALS) => ({
  user_id: user.id,
  trading_account_id: account.id,
  credentials,
});

const urlOf = ({ account }: Trader, rest = '') => `/trading/accounts/${account.id}${rest}`;
const put = <Body = ShownAccount>(world: World, trader: Trader, sealed: unknown) =>
  world.as<Body>(trader, 'PUT', urlOf(trader, '/credentials'), { sealed });
const verify = <Body = ShownAccount>(world: World, trader: Trader) =>
  world.as<Body>(trader, 'POST', urlOf(trader, '/verify'));
const isVerified = async (world: World, trader: Trader) =>
  (await world.as<ShownAccount>(trader, 'GET', urlOf(trader))).body.broker_credentials_verified;

async function opened(t: TestContext, env: Record<string, string> = {}) {
  const broker = scriptedBroker(t);
  const book = logbook();
  const world = await openWorld(t, { brokers: broker.brokers, wait: async () => {}, log: book.log, env });
  const trader = await world.makeTrader();
  const credentialsSeen = () =>
    broker.calls.flatMap(({ call, asked }) =>
      call === 'open' ? [(asked as { credentials?: unknown }).credentials] : [],
    );
  return { broker, book, world, trader, credentialsSeen };
}

describe('the public key', () => {
  test('is a P-256 JWK with its thumbprint as kid, the same after a restart, and its private half is only its owner’s to read', async (t) => {
    const world = await openWorld(t);
    const key = await publicKey(world);
    assert.deepEqual(Object.keys(key).toSorted(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    assert.deepEqual([key.kty, key.crv, key.use, key.alg], ['EC', 'P-256', 'enc', 'ECDH-ES']);
    assert.equal(key.kid, await calculateJwkThumbprint({ ...key }, 'sha256'));
    await world.restart();
    assert.deepEqual(await publicKey(world), key);
    const folder = join(world.dir, 'keys');
    assert.equal(statSync(join(folder, 'WORKER_KEY')).mode & 0o777, 0o600);
    const kept = JSON.parse(readFileSync(join(folder, 'WORKER_KEY'), 'utf8'));
    assert.deepEqual([kept.x, kept.y, kept.kty], [key.x, key.y, 'EC']);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.includes('.')),
      [],
      'no drafts are left',
    );
  });

  test('is that of WORKER_KEY, where it is given, and nothing is generated', async (t) => {
    const key = newKey();
    const world = await openWorld(t, { env: { WORKER_KEY: JSON.stringify(key) } });
    assert.deepEqual(await publicKey(world), sealingKey(key));
    assert.ok(!existsSync(join(world.dir, 'keys', 'WORKER_KEY')));
  });
});

describe('credentials that are put', () => {
  test('clear the verified flag; verified, they reach the broker, and orders trade with them', async (t) => {
    const { world, trader, credentialsSeen } = await opened(t);
    assert.equal((await world.send(trader)).status, 200);
    const stored = await put(world, trader, await seal(await publicKey(world), contentFor(trader)));
    assert.equal(stored.status, 200);
    assert.deepEqual([stored.body.has_credentials, stored.body.broker_credentials_verified], [true, false]);
    const refused = await world.send<Problem>(trader);
    assert.deepEqual([refused.status, refused.body.code], [400, 'credentials_not_verified']);

    const verified = await verify(world, trader);
    assert.deepEqual([verified.status, verified.body.broker_credentials_verified], [200, true]);
    assert.equal((await world.send(trader)).body.status, 'filled');
    assert.deepEqual(
      credentialsSeen(),
      [null, CREDENTIALS],
      'the order used the connection that was verified',
    );
    assert.deepEqual(
      (await world.audits(trader)).map(({ action, success }) => `${action} ${success}`),
      [
        'webhook_order 1',
        'credentials_stored 1',
        'webhook_order 0',
        'credentials_verified 1',
        'webhook_order 1',
      ],
    );
  });

  test('need not name the key that they are sealed to, be it the current one or one from before a rotation', async (t) => {
    const keys = [newKey(), newKey()];
    const { world, trader, credentialsSeen } = await opened(t, { WORKER_KEY: JSON.stringify({ keys }) });
    for (const key of keys) {
      assert.equal((await put(world, trader, await seal(key, contentFor(trader)))).status, 200);
      assert.equal((await verify(world, trader)).status, 200);
    }
    assert.deepEqual(credentialsSeen(), [CREDENTIALS, CREDENTIALS]);
  });

  test('on a paper account need not be there: it is verified from its creation, and by verify again', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader({}, { credentialsVerified: false });
    assert.equal((await verify(world, trader)).body.broker_credentials_verified, true);
    await put(world, trader, await seal(await publicKey(world), contentFor(trader)));
    assert.equal(await isVerified(world, trader), false);
    assert.equal((await verify(world, trader)).body.broker_credentials_verified, true);
  });

  test('are in no answer, no log line, no file and no audit entry in the clear', async (t) => {
    const { broker, book, world, trader } = await opened(t);
    const sealed = await seal(await publicKey(world), contentFor(trader));
    const answers = [await put(world, trader, sealed), await verify(world, trader)];
    broker.script('open', () => Promise.reject(new CredentialsRejected('no')));
    answers.push(await verify(world, trader));
    broker.forgetScripts();
    broker.script('open', () => Promise.reject(new TypeError(`unexpected ${CANARY}`)));
    answers.push(await verify(world, trader));
    answers.push(
      await world.as(trader, 'GET', urlOf(trader)),
      await world.as(trader, 'GET', '/trading/accounts'),
    );
    const said = JSON.stringify([answers.map(({ body }) => body), book.lines, await world.audits(trader)]);
    assert.ok(!said.includes(CANARY));
    assert.ok(!said.includes(sealed.slice(-40)), 'nor is the sealed text handed around');
    for (const file of globSync('**/*', { cwd: world.dir, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    ))
      assert.ok(!readFileSync(join(file.parentPath, file.name)).includes(CANARY), file.name);
  });
});

describe('what is no sealed text for a worker is 400 credentials_invalid, without being opened', () => {
  const wrong: Record<string, (key: SealingKey, trader: Trader) => Promise<unknown>> = {
    'plain JSON': async (_, trader) => JSON.stringify(contentFor(trader)),
    'an empty text': async () => '',
    'four parts': async (key, trader) => (await seal(key, contentFor(trader))).split('.').slice(1).join('.'),
    'another kid': (key, trader) => seal({ ...key, kid: 'x' }, contentFor(trader)),
    'another key': (_, trader) => seal(sealingKey(newKey()), contentFor(trader)),
    'ECDH-ES with key wrapping': (key, trader) => seal(key, contentFor(trader), { alg: 'ECDH-ES+A256KW' }),
    'a weaker content encryption': (key, trader) => seal(key, contentFor(trader), { enc: 'A128GCM' }),
    'A256CBC-HS512': (key, trader) => seal(key, contentFor(trader), { enc: 'A256CBC-HS512' }),
    'a compressed text': (key, trader) => withHeader(key, trader, { zip: 'DEF' }),
    'a critical extension': (key, trader) => withHeader(key, trader, { crit: ['b64'], b64: true }),
    'no ephemeral key': (key, trader) => withHeader(key, trader, { epk: undefined }),
    'an ephemeral key on another curve': (key, trader) =>
      withHeader(key, trader, { epk: { ...newKey('P-384'), d: undefined } }),
    'an ephemeral key with its private part': (key, trader) => withHeader(key, trader, { epk: newKey() }),
    'a header that is no JSON': async (key, trader) =>
      (await seal(key, contentFor(trader))).replace(/^[^.]+/, Buffer.from('{').toString('base64url')),
    'a header that is an array': async (key, trader) =>
      (await seal(key, contentFor(trader))).replace(/^[^.]+/, Buffer.from('[]').toString('base64url')),
    'the alg none': (key, trader) => withHeader(key, trader, { alg: 'none' }),
    'the alg dir': (key, trader) => withHeader(key, trader, { alg: 'dir' }),
    'a short tag': async (key, trader) => (await seal(key, contentFor(trader))).slice(0, -6),
    'a padded part': async (key, trader) => `${await seal(key, contentFor(trader))}==`,
    'a line break': async (key, trader) => `${await seal(key, contentFor(trader))}\n`,
  };

  /** A good seal whose header says something else. */
  async function withHeader(key: SealingKey, trader: Trader, change: object): Promise<string> {
    const [header = '', ...rest] = (await seal(key, contentFor(trader))).split('.');
    const changed = { ...JSON.parse(Buffer.from(header, 'base64url').toString()), ...change };
    return [Buffer.from(JSON.stringify(changed)).toString('base64url'), ...rest].join('.');
  }

  for (const [name, make] of Object.entries(wrong))
    test(name, async (t) => {
      const { world, trader } = await opened(t);
      const answer = await put<Problem>(world, trader, await make(await publicKey(world), trader));
      assert.deepEqual([answer.status, answer.body.code], [400, 'credentials_invalid']);
      assert.ok(answer.body.detail.length > 20);
      const shown = await world.as<ShownAccount>(trader, 'GET', urlOf(trader));
      assert.deepEqual([shown.body.has_credentials, shown.body.broker_credentials_verified], [false, true]);
    });

  test('a body of another shape is 400 request_invalid', async (t) => {
    const { world, trader } = await opened(t, { RATE_LIMIT_REQUESTS: '1000' });
    const sealed = await seal(await publicKey(world), contentFor(trader));
    const bodies = [
      {},
      { sealed: 5 },
      { sealed: null },
      { sealed: [sealed] },
      { sealed, credentials: CREDENTIALS },
      { sealed: `a\0${sealed}` },
      { sealed: 'x'.repeat(32 * 1024 + 1) },
      [],
      { credentials: sealed },
    ];
    for (const body of bodies) {
      const answer = await world.as<Problem>(trader, 'PUT', urlOf(trader, '/credentials'), body);
      assert.deepEqual(
        [answer.status, answer.body.code],
        [400, 'request_invalid'],
        JSON.stringify(body).slice(0, 60),
      );
    }
    const large = await world.as(trader, 'PUT', urlOf(trader, '/credentials'), {
      sealed: 'x'.repeat(70_000),
    });
    assert.equal(large.status, 413);
  });

  test('another user’s account is 404', async (t) => {
    const { world, trader } = await opened(t);
    const stranger = await world.makeTrader();
    const sealed = await seal(await publicKey(world), contentFor(trader));
    const { status } = await put(
      { ...world, as: (_, ...rest) => world.as(stranger, ...rest) } as World,
      trader,
      sealed,
    );
    assert.equal(status, 404);
    assert.equal((await world.as<ShownAccount>(trader, 'GET', urlOf(trader))).body.has_credentials, false);
  });
});

describe('what a worker cannot open, or not for this account, is 400 credentials_unreadable in the same words', () => {
  const foreign: Record<string, (trader: Trader, other: Trader) => unknown> = {
    'sealed for another user': (trader, other) => ({ ...contentFor(trader), user_id: other.user.id }),
    'sealed for another account of the same user': (trader) => ({
      ...contentFor(trader),
      trading_account_id: randomUUIDv7(),
    }),
    'sealed for another user and account, to the same key': (_, other) => contentFor(other),
    'without ids': () => ({ credentials: CREDENTIALS }),
    'with ids of another type': (trader) => ({ ...contentFor(trader), user_id: [trader.user.id] }),
    'without credentials': (trader) => ({ ...contentFor(trader), credentials: undefined }),
    'with credentials that are no object': (trader) => contentFor(trader, 'text'),
    'with credentials that are a list': (trader) => contentFor(trader, [CANARY]),
    'no JSON': () => '{',
    'JSON null': () => 'null',
    'not UTF-8': (trader) => Buffer.from(JSON.stringify(contentFor(trader, { pin: '\xff' })), 'latin1'),
  };
  const words = new Set<string>();

  for (const [name, make] of Object.entries(foreign))
    test(name, async (t) => {
      const { world, trader, credentialsSeen } = await opened(t);
      const sealed = await seal(await publicKey(world), make(trader, await world.makeTrader()));
      assert.equal((await put(world, trader, sealed)).status, 200);
      const answer = await verify<Problem>(world, trader);
      assert.deepEqual([answer.status, answer.body.code], [400, 'credentials_unreadable']);
      words.add(answer.body.detail);
      assert.equal(words.size, 1);
      assert.equal(await isVerified(world, trader), false);
      assert.deepEqual(credentialsSeen(), [], 'the broker was not even asked');
    });

  test('a text that was tampered with', async (t) => {
    const { world, trader } = await opened(t);
    const parts = (await seal(await publicKey(world), contentFor(trader))).split('.');
    const text = Buffer.from(parts[3] ?? '', 'base64url');
    text[5] = (text[5] ?? 0) ^ 1;
    await put(world, trader, parts.with(3, text.toString('base64url')).join('.'));
    assert.equal((await verify<Problem>(world, trader)).body.code, 'credentials_unreadable');
  });

  test('moved in the database to another account, it trades nothing there, even where the flag says verified', async (t) => {
    const { broker, world, trader } = await opened(t);
    const thief = await world.makeTrader();
    await put(world, trader, await seal(await publicKey(world), contentFor(trader)));
    await world.db.commit([
      sql`update trading_accounts set broker_credentials_verified = ${true}, connection_version = 7, sealed_credentials =
            (select sealed_credentials from trading_accounts where id = ${trader.account.id})
          where id = ${thief.account.id}`,
    ]);
    const { status, body } = await world.send(thief);
    assert.deepEqual([status, body.status, body.error?.code], [200, 'failed', 'broker_unavailable']);
    assert.match(body.error?.message ?? '', /cannot be opened/);
    assert.deepEqual([broker.count('open'), broker.trades()], [0, []]);
  });
});

describe('verification', () => {
  test('refused by the broker: 400 credentials_rejected in its words, and no longer verified; asked three times where they were good until now', async (t) => {
    const { broker, world, trader } = await opened(t);
    await put(world, trader, await seal(await publicKey(world), contentFor(trader)));
    await verify(world, trader);
    assert.equal(await isVerified(world, trader), true);
    const before = broker.count('open');
    broker.script('open', () =>
      Promise.reject(new CredentialsRejected('Invalid API-key, IP, or permissions.')),
    );
    const answer = await verify<Problem>(world, trader);
    assert.deepEqual([answer.status, answer.body.code], [400, 'credentials_rejected']);
    assert.match(answer.body.detail, /Invalid API-key, IP, or permissions\./);
    assert.equal(broker.count('open') - before, 3, 'what was good until now may be refused in a hiccup');
    assert.equal(await isVerified(world, trader), false);
    await verify(world, trader);
    assert.equal(
      broker.count('open') - before,
      4,
      'but what is refused is not: a second try can lock a login',
    );
    const entry = (await world.audits(trader)).at(-1);
    assert.deepEqual(
      [entry?.action, entry?.success, entry?.error_message],
      ['credentials_verified', 0, 'The broker refuses the credentials'],
    );
  });

  test('of an account that cannot be traded: 409 account_unfit with what to change, asked once, and not verified', async (t) => {
    const { broker, world, trader } = await opened(t);
    await put(world, trader, await seal(await publicKey(world), contentFor(trader)));
    const words = `Switch the account of ${CANARY} to one-way mode.`;
    broker.script('verify', () => Promise.reject(new AccountUnfit(words)));
    const answer = await verify<Problem>(world, trader);
    assert.deepEqual([answer.status, answer.body.code], [409, 'account_unfit']);
    assert.equal(answer.body.detail, 'Switch the account of … to one-way mode.');
    assert.equal(broker.count('verify'), 1);
    assert.equal(await isVerified(world, trader), false);
    const entry = (await world.audits(trader)).at(-1);
    assert.deepEqual(
      [entry?.action, entry?.success, entry?.error_message],
      ['credentials_verified', 0, 'The account cannot be traded as it is'],
    );
  });

  test('tells what the owner should know besides, and nothing of the credentials', async (t) => {
    const { broker, world, trader } = await opened(t);
    await put(world, trader, await seal(await publicKey(world), contentFor(trader)));
    type Verified = ShownAccount & { warnings: string[] };
    assert.deepEqual((await verify<Verified>(world, trader)).body.warnings, []);
    broker.script('verify', async () => ({ warnings: [`The key ${CANARY} can withdraw.`] }));
    const { body } = await verify<Verified>(world, trader);
    assert.deepEqual(body.warnings, ['The key … can withdraw.']);
    assert.equal(body.broker_credentials_verified, true);
  });

  test('of a broker that limits the rate is 503 broker_unavailable, and changes nothing', async (t) => {
    const { broker, world, trader } = await opened(t);
    broker.script('verify', () => Promise.reject(new BrokerBusy('too many requests', 2_000)));
    const answer = await verify<Problem>(world, trader);
    assert.deepEqual([answer.status, answer.body.code], [503, 'broker_unavailable']);
    assert.equal(answer.headers['retry-after'], '2');
    assert.equal(await isVerified(world, trader), true);
  });

  test('of a broker that is away changes nothing', async (t) => {
    const { broker, world, trader } = await opened(t);
    broker.script('open', () => Promise.reject(new BrokerUnavailable('maintenance')));
    assert.equal((await verify<Problem>(world, trader)).body.code, 'broker_unavailable');
    assert.equal(await isVerified(world, trader), true);
    broker.forgetScripts();
    assert.equal((await verify(world, trader)).status, 200);
  });

  test('is of the credentials that the broker was asked about: others, put meanwhile, stay unverified', async (t) => {
    const { broker, world, trader } = await opened(t);
    const key = await publicKey(world);
    await put(world, trader, await seal(key, contentFor(trader)));
    const held = broker.hold('open');
    const verifying = verify<Problem>(world, trader);
    await held.reached;
    await put(world, trader, await seal(key, contentFor(trader, { api_key: 'other' })));
    held.release();
    const answer = await verifying;
    assert.deepEqual([answer.status, answer.body.code], [409, 'account_changed']);
    assert.equal(await isVerified(world, trader), false);
    assert.equal((await verify(world, trader)).body.broker_credentials_verified, true);
  });

  test('a refusal of old credentials does not touch new ones', async (t) => {
    const { broker, world, trader } = await opened(t);
    const key = await publicKey(world);
    await put(world, trader, await seal(key, contentFor(trader)));
    const reached = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    broker.script(
      'open',
      async () => {
        reached.resolve();
        await released.promise;
        throw new CredentialsRejected('old');
      },
      1,
    );
    const verifying = verify<Problem>(world, trader);
    await reached.promise;
    await put(world, trader, await seal(key, contentFor(trader, { api_key: 'new' })));
    // As if another worker had verified the new ones already.
    await world.db.commit([
      sql`update trading_accounts set broker_credentials_verified = ${true} where id = ${trader.account.id}`,
    ]);
    released.resolve();
    assert.equal((await verifying).body.code, 'credentials_rejected');
    assert.equal(await isVerified(world, trader), true);
  });

  test('opens the connection anew, whatever is open', async (t) => {
    const { broker, world, trader } = await opened(t);
    await verify(world, trader);
    await verify(world, trader);
    assert.deepEqual([broker.count('open'), broker.count('close')], [2, 1]);
  });
});

describe('rotation', () => {
  test('seals to the new key, opens what was sealed to the old one, and no longer once that is gone', async (t) => {
    const [old, current] = [newKey(), newKey()];
    const first = await openWorld(t, { env: { WORKER_KEY: JSON.stringify(old) } });
    const trader = await first.makeTrader();
    const oldKey = await publicKey(first);
    await put(first, trader, await seal(oldKey, contentFor(trader)));
    await first.stop();

    const keys = JSON.stringify({ keys: [current, old] });
    const second = await openWorld(t, { dataDir: first.dir, env: { WORKER_KEY: keys } });
    assert.deepEqual(await publicKey(second), sealingKey(current));
    assert.equal((await verify(second, trader)).body.broker_credentials_verified, true);
    const late = await put<Problem>(second, trader, await seal(oldKey, contentFor(trader)));
    assert.deepEqual([late.status, late.body.code], [400, 'credentials_invalid']);
    assert.match(late.body.detail, /not the current one/);
    const other = await second.addAccount(trader);
    await put(second, other, await seal(sealingKey(current), contentFor(other)));
    assert.equal((await verify(second, other)).status, 200);
    await second.stop();

    const third = await openWorld(t, { dataDir: first.dir, env: { WORKER_KEY: JSON.stringify(current) } });
    assert.equal((await verify<Problem>(third, trader)).body.code, 'credentials_unreadable');
    assert.equal((await verify(third, other)).status, 200);
  });
});

describe('an API process', () => {
  test('that has the public key alone takes credentials and cannot open them; a worker’s process then can', async (t) => {
    const key = newKey();
    const whole = await openWorld(t, { env: { WORKER_KEY: JSON.stringify(key) } });
    const trader = await whole.makeTrader();
    await whole.stop();

    // As the configuration of ROLE=api: the public half, and nothing kept in DATA_DIR that could help.
    const base = readConfig({
      DATA_DIR: whole.dir,
      APP_KEY: Buffer.alloc(32, 7).toString('base64url'),
      SEED_USER: 'false',
      WORKER_START_TIMEOUT_SECONDS: '0.2',
    });
    const { d: _, ...workerPublic } = key;
    const config = { ...base, role: 'api', keys: { ...base.keys, worker: undefined, workerPublic } } as const;
    const api = await openFillpath(config, { log: pino({ level: 'silent' }) });
    t.after(() => api.stop());
    const call = async (method: 'GET' | 'POST' | 'PUT', url: string, payload?: object) => {
      const headers = { authorization: `Bearer ${trader.apiKey}` };
      const response = await serverOf(api).inject({ method, url, headers, ...(payload ? { payload } : {}) });
      return { status: response.statusCode, body: response.json() };
    };
    const { body: shown } = await call('GET', '/auth/public-key');
    assert.deepEqual(shown, sealingKey(key));
    const sealed = await seal(shown, contentFor(trader));
    assert.equal((await call('PUT', urlOf(trader, '/credentials'), { sealed })).status, 200);
    // Only a worker could, and this process has none.
    const answer = await call('POST', urlOf(trader, '/verify'));
    assert.deepEqual([answer.status, answer.body.code], [503, 'worker_unavailable']);
    assert.ok(!readdirSync(join(whole.dir, 'keys')).includes('WORKER_KEY'), 'it has made no key of its own');
    await api.stop();

    const again = await openWorld(t, { dataDir: whole.dir, env: { WORKER_KEY: JSON.stringify(key) } });
    assert.equal((await verify(again, trader)).body.broker_credentials_verified, true);
  });

  test('does not take the key that lies in its DATA_DIR', async (t) => {
    const world = await openWorld(t);
    const { x, y } = await publicKey(world);
    await world.stop();
    const base = readConfig({ DATA_DIR: world.dir });
    const workerPublic = { kty: 'EC', crv: 'P-256', x, y } as const;
    const { openingKeys, sealingKeyOf } = await import('../../src/config/keys.ts');
    const config = { ...base, role: 'api', keys: { ...base.keys, workerPublic } } as const;
    assert.deepEqual([openingKeys(config), sealingKeyOf(config).x], [[], x]);
  });

  test('opens nothing with what it has: the public key, APP_KEY, JWT_SECRET, or a key of its own', async () => {
    const key = newKey();
    const owner = { id: randomUUIDv7() as AccountId, userId: randomUUIDv7() as UserId };
    const content = { user_id: owner.userId, trading_account_id: owner.id, credentials: CREDENTIALS };
    const sealed = await seal(sealingKey(key), content);
    const { d: _, ...open } = key;
    for (const tried of [
      open,
      sealingKey(key),
      randomBytes(32),
      Buffer.alloc(32, 7),
      createPublicKey({ key: open, format: 'jwk' }),
    ])
      await assert.rejects(compactDecrypt(sealed, tried as never));
    assert.throws(() => credentialsOpener([open as PrivateJwk]));
    for (const keys of [[], [newKey()]])
      await assert.rejects(credentialsOpener(keys)(sealed, owner), CredentialsUnreadable);
    assert.deepEqual(await credentialsOpener([key])(sealed, owner), CREDENTIALS);
  });

  test('has no code that opens: only worker/line/credentials.ts decrypts, and only a worker host, or a command that replaces its key or tries a broker, hands the key to it', () => {
    const root = new URL('../../src/', import.meta.url);
    const files = globSync('**/*.ts', { cwd: root }).map((file) => file.replaceAll('\\', '/'));
    const naming = (pattern: RegExp) =>
      files.filter((file) => pattern.test(readFileSync(new URL(file, root), 'utf8'))).toSorted();
    // Of commands, and of nothing that serves: one replaces the key, one looks whether a backup's credentials have theirs, one tries a
    // broker with an account's.
    const commands = [
      'cli/keys.ts',
      'roles/reseal-credentials.ts',
      'roles/restore-keys.ts',
      'roles/trial.ts',
    ];
    assert.deepEqual(naming(/roles\/trial\.ts/), ['cli/broker.ts', 'cli/trial-words.ts']);
    assert.deepEqual(naming(/reseal-credentials/), ['cli/keys.ts']);
    assert.deepEqual(naming(/restore-keys/), ['cli/backup.ts', 'roles/backup-proof.ts', 'roles/backup.ts']);
    assert.deepEqual(naming(/roles\/backup\.ts|from '\.\/backup\.ts'/), ['cli/backup.ts']);
    const besides = (pattern: RegExp) => naming(pattern).filter((file) => !commands.includes(file));
    assert.deepEqual(besides(/compactDecrypt|from 'jose'/), ['worker/line/credentials.ts']);
    assert.deepEqual(besides(/credentialsOpener/), ['roles/worker.ts', 'worker/line/credentials.ts']);
    // launch.ts: a process that has the key may start a worker host that needs it; message-key.ts: that host opens what
    // an API process has left for it.
    const holders = ['config/keys.ts', 'roles/launch.ts', 'roles/message-key.ts', 'roles/worker.ts'];
    assert.deepEqual(besides(/keptWorkerKeys|openingKeys/), holders);
    assert.deepEqual(
      besides(/PrivateJwk/).filter(
        (file) => !/^(config\/(config|values|keys)|domain\/identity\/sealed)\.ts$/.test(file),
      ),
      ['worker/line/credentials.ts'],
    );
  });
});

test('a kept key that cannot be read stops the start with what is wrong, and shows nothing of it', async (t) => {
  const world = await openWorld(t);
  await world.stop();
  const file = join(world.dir, 'keys', 'WORKER_KEY');
  writeFileSync(file, 'hunter2-hunter2');
  await assert.rejects(openWorld(t, { dataDir: world.dir }), (fault: Error) => {
    assert.match(fault.message, /^The file keys\/WORKER_KEY in DATA_DIR must be a private P-256 JWK/);
    return !fault.message.includes('hunter2');
  });
});
