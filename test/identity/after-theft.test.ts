// Somebody else may have been in: whichever way it was noticed, the same ends, the same pauses, and the same is offered.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { createApiKey } from '../../src/app/accounts/settings.ts';
import { secureEverybody } from '../../src/app/identity/after-theft.ts';
import { addDestination, changeUserDestination } from '../../src/app/notifications/destinations.ts';
import { readConfig } from '../../src/config/config.ts';
import { sql } from '../../src/data/engine/db.ts';
import { findUserRecord } from '../../src/data/identity/users.ts';
import { timestamp, type UserId } from '../../src/domain/ids.ts';
import type { Mail } from '../../src/mail/mailer.ts';
import { makeBackup } from '../../src/roles/backup.ts';
import { makeSession } from '../accounts/credentials.ts';
import { terminal } from '../cli/terminal.ts';
import { countingHasher } from '../http/visitor.ts';
import { channelsDouble } from '../notify/desk.ts';
import { openWorld, PASSWORD, type Problem, settableClock } from '../world.ts';

const NEW_PASSWORD = 'another horse, another staple';
const DESTINATION = { kind: 'webhook', name: 'Mine', events: ['fill'], url: 'https://example.com/hook' };

interface AfterTheft {
  readonly secured_at: string | null;
  readonly because: string | null;
  readonly exposed_since: string | null;
  readonly replace: readonly {
    kind: string;
    trading_account_id: string;
    shown_at: string | null;
    change_there: string;
  }[];
  readonly destinations: readonly { id: string; name: string }[];
  readonly accounts: readonly { name: string }[];
  readonly api_keys: readonly { name: string }[];
  readonly deeds: readonly { action: string; ip_address: string }[];
  readonly sign_ins: readonly { success: boolean; user_agent: string | null }[];
}

interface Account {
  readonly id: string;
  readonly webhook_token: string;
  readonly webhook_secret: string;
}

/** A user with all that a thief may have got at. */
async function openHouse(t: TestContext, dataDir?: string) {
  const mails: Mail[] = [];
  const clock = settableClock();
  const { channels, sent } = channelsDouble();
  const world = await openWorld(t, {
    hasher: countingHasher(),
    clock,
    channels,
    mailer: { send: async (mail) => void mails.push(mail) },
    ...(dataDir ? { dataDir } : {}),
  });
  const owner = await world.login();
  const { email } = owner.user;
  await world.db.commit([sql`update users set plan = 'desk' where email = ${email}`]);
  const made = async <Body>(url: string, body: object) => {
    const answer = await owner.call<Body>('POST', url, body);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
  };
  const account = await made<Account>('/trading/accounts', {
    name: 'Paper',
    broker: 'paper',
    paper: { latency_ms: 0 },
  });
  const destination = await made<{ id: string }>('/settings/notifications', DESTINATION);
  const { key } = await made<{ key: string }>('/settings/api-keys', { name: 'robot' });
  const thief = world.visitor();
  await thief.call('POST', '/auth/login', { email, password: PASSWORD });
  assert.equal((await thief.call('GET', `/trading/accounts/${account.id}/webhook-secret`)).status, 200);
  const again = async (password = PASSWORD) => {
    clock.advance(1);
    const entered = await owner.call<Problem>('POST', '/auth/login', { email, password });
    assert.equal(entered.status, 200, JSON.stringify(entered.body));
  };
  return {
    ...{ world, clock, mails, sent, owner, thief, email, account, destination, again },
    read: async () => (await owner.call<AfterTheft>('GET', '/settings/after-theft')).body,
    byKey: async () =>
      (
        await world.request({
          method: 'GET',
          url: '/trading/accounts',
          headers: { authorization: `Bearer ${key}` },
        })
      ).status,
    signal: async (fields: object) => {
      const body = {
        symbol: 'BTCUSDT',
        quantity: 1,
        timestamp: timestamp(clock.now()),
        secret: account.webhook_secret,
        ...fields,
      };
      const url = `/webhook/${account.webhook_token}/order`;
      return (await world.request<{ status: string }>({ method: 'POST', url, body })).body.status;
    },
  };
}

type House = Awaited<ReturnType<typeof openHouse>>;

/** Each way in which it is noticed; afterwards the owner is logged in again. */
const WAYS: Readonly<Record<string, (house: House) => Promise<void>>> = {
  async password_reset({ world, email, mails, again }) {
    await world.request({ method: 'POST', url: '/auth/forgot-password', body: { email } });
    while (mails.length === 0) await new Promise(setImmediate);
    const token = /token=([\w-]{43})/.exec(mails[0]?.text ?? '')?.[1];
    const body = { token, password: NEW_PASSWORD };
    assert.equal((await world.request({ method: 'POST', url: '/auth/reset-password', body })).status, 204);
    await again(NEW_PASSWORD);
  },
  async logout_everywhere({ owner, again }) {
    const answer = await owner.call('POST', '/auth/logout-everywhere');
    assert.deepEqual(
      [answer.status, owner.cookie('access_token'), owner.cookie('refresh_token')],
      [204, undefined, undefined],
    );
    await again();
  },
  async administrator({ world, owner, again }) {
    const admin = await world.makeTrader({ isAdmin: true });
    const { cookie: headers } = await makeSession(world, admin.user);
    const url = `/deployment/users/${owner.user.id}/secure`;
    assert.equal((await world.request({ method: 'POST', url, headers })).status, 204);
    assert.equal(
      (await world.request({ method: 'POST', url: '/deployment/users/x/secure', headers })).status,
      404,
    );
    await again();
  },
};

for (const [because, secure] of Object.entries(WAYS))
  test(`${because}: doors end, destinations pause, webhooks go on, and the rest is offered`, async (t) => {
    const house = await openHouse(t);
    const { world, clock, owner, thief, account, destination, read } = house;
    assert.deepEqual(await read(), {
      ...{ secured_at: null, because: null, exposed_since: null },
      ...{
        replace: [],
        replace_groups: [],
        destinations: [],
        accounts: [],
        api_keys: [],
        deeds: [],
        sign_ins: [],
      },
    });
    assert.equal(await house.signal({ action: 'buy' }), 'filled');
    const began = timestamp(clock.now());
    clock.advance(60_000);
    await secure(house);

    assert.equal((await thief.call('GET', '/auth/session')).status, 401);
    assert.equal((await thief.call('POST', '/auth/silent-refresh')).status, 401);
    assert.equal(await house.byKey(), 401);
    // Nobody is kept in a position.
    clock.advance(1_000);
    assert.equal(await house.signal({ action: 'sell', order_type: 'exit' }), 'filled');

    const found = await read();
    assert.equal(found.because, because);
    assert.ok(found.exposed_since !== null && found.exposed_since <= began);
    assert.deepEqual(
      found.replace.map(({ kind, trading_account_id, shown_at }) => [
        kind,
        trading_account_id,
        shown_at !== null,
      ]),
      [
        ['webhook_secret', account.id, true],
        ['webhook_token', account.id, false],
      ],
    );
    assert.match(found.replace[0]?.change_there ?? '', /In every alert .* new secret/);
    assert.deepEqual(
      found.destinations.map(({ id }) => id),
      [destination.id],
    );
    assert.deepEqual(
      found.accounts.map(({ name }) => name),
      ['Paper'],
    );
    assert.deepEqual(
      found.api_keys.map(({ name }) => name),
      ['robot'],
    );
    assert.deepEqual(
      found.deeds.map(({ action }) => action),
      ['webhook_secret_shown', 'api_key_created', 'notification_destination_added', 'account_created'],
    );
    assert.equal(found.sign_ins.length, 2);

    const url = `/settings/notifications/${destination.id}`;
    const paused = await owner.call<{ state: string; paused_because: string }>('GET', url);
    assert.deepEqual([paused.body.state, paused.body.paused_because], ['paused', because]);
    const trial = await owner.call<{ delivered: boolean; error: string }>('POST', `${url}/test`);
    assert.deepEqual([trial.body.delivered, house.sent.length], [false, 0]);
    assert.match(trial.body.error, /until you confirm it/);
    const confirmed = await owner.call<{ state: string; paused_because: null }>('PATCH', url, {
      paused: false,
    });
    assert.deepEqual([confirmed.body.state, confirmed.body.paused_because], ['new', null]);
    for (const what of ['webhook-secret', 'webhook-token'])
      assert.equal((await owner.call('POST', `/trading/accounts/${account.id}/${what}`)).status, 200);
    const left = await read();
    assert.deepEqual([left.replace, left.destinations], [[], []]);
    assert.equal(
      (
        await world.db.all(
          sql`select 1 from api_keys where revoked_at is null and user_id = ${owner.user.id}`,
        )
      ).length,
      0,
    );
  });

test('what was changed is listed, and nothing that came since takes its place', async (t) => {
  const { world, clock, thief, owner, account, read } = await openHouse(t);
  const change = { quantity_multiplier: 50 };
  assert.equal((await thief.call('PATCH', `/trading/accounts/${account.id}`, change)).status, 200);
  clock.advance(1_000);
  assert.equal((await owner.call('POST', '/auth/logout-everywhere')).status, 204);
  const entry = (action: string) =>
    sql`insert into audit_logs (user_id, action, success, metadata, created_at)
        values (${owner.user.id}, ${action}, ${false}, '{}', ${timestamp(clock.now())})`;
  for (const laterMs of [1_000, 60_000]) {
    clock.advance(laterMs);
    const later = Array.from({ length: 120 }, () => [entry('login'), entry('account_updated')]).flat();
    await world.db.commit(later);
  }
  const { email } = owner.user;
  await owner.call('POST', '/auth/login', { email, password: PASSWORD });
  const found = await read();
  assert.equal(found.sign_ins.length, 2);
  assert.deepEqual(
    found.deeds.map(({ action }) => action),
    [
      ...['account_updated', 'webhook_secret_shown', 'api_key_created'],
      ...['notification_destination_added', 'account_created'],
    ],
  );
});

test('a known device is a stranger afterwards, and one that logs in then is known', async (t) => {
  const { world, owner, email, again } = await openHouse(t);
  const guess = () =>
    world.request({ method: 'POST', url: '/auth/login', body: { email, password: 'a stranger’s guess' } });
  const device = owner.cookie('known_device') ?? '';
  await owner.call('POST', '/auth/logout-everywhere');
  for (let guesses = 0; guesses < 11; guesses++) await guess();
  const body = { email, password: PASSWORD };
  const old = await world.request({
    method: 'POST',
    url: '/auth/login',
    body,
    headers: { cookie: `known_device=${device}` },
  });
  assert.equal(old.status, 429);
  await world.db.commit([sql`delete from tries`]);
  await again();
  for (let guesses = 0; guesses < 11; guesses++) await guess();
  await again();
});

test('what was under way in a session that has ended makes no key, and neither adds nor confirms a destination', async (t) => {
  const { world, owner, destination } = await openHouse(t);
  const found = await findUserRecord(world.db, owner.user.id as UserId);
  assert.ok(found);
  // Let in before the session ended, and at work after it.
  const { id: sessionId } = await makeSession(world, found, { isActive: false });
  const context = { requestId: '1', ip: '127.0.0.1', userAgent: null, path: '/', method: 'POST' };
  const late = { id: found.id, user: found, sessionId, context };
  const deps = { ...world, plans: world.config.plans, privateNetworks: [], verifyEmail: false };
  const spy = { kind: 'webhook', name: 'Spy', events: [], accountIds: null, summaryHour: 7 } as const;
  for (const outcome of [
    await createApiKey(deps, late, { name: 'last', expiresInDays: null }),
    await addDestination(deps, late, { ...spy, url: 'https://example.com/spy' }),
    await changeUserDestination(deps, late, destination.id, { paused: false }),
  ])
    assert.ok('code' in outcome && outcome.code === 'unauthenticated', JSON.stringify(outcome));
});

test('an API key can neither log out everywhere nor read what is left to do, and a user secures nobody else', async (t) => {
  const { world, owner } = await openHouse(t);
  const { apiKey } = await world.makeTrader();
  const headers = { authorization: `Bearer ${apiKey}` };
  for (const [method, url] of [
    ['POST', '/auth/logout-everywhere'],
    ['GET', '/settings/after-theft'],
  ] as const)
    assert.equal((await world.request<Problem>({ method, url, headers })).body.code, 'session_required');
  assert.equal(
    (await owner.call<Problem>('POST', `/deployment/users/${owner.user.id}/secure`)).body.code,
    'admin_required',
  );
});

describe('a restore', () => {
  test('revives no revoked key and no old password, and says what to do', async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'fillpath-theft-'));
    t.after(() => rmSync(dir, { recursive: true, force: true }));
    mkdirSync(join(dir, 'old'));
    const house = await openHouse(t, join(dir, 'old'));
    const { world, email, account } = house;
    if (world.db.dialect !== 'sqlite') return t.skip('PostgreSQL is backed up by its own tools');
    const { file } = await makeBackup(world.config, join(dir, 'copy.sqlite'));
    const into = join(dir, 'new');
    const config = readConfig({ DATA_DIR: into, APP_KEY: Buffer.alloc(32, 7).toString('base64url') });
    const restored = await terminal(config)('restore', file, '--into', into, '--lose-credentials');
    assert.equal(restored.code, 0, restored.err);
    assert.match(restored.out, /every session, API key and password has ended.*\n.*user password EMAIL/);

    const after = await openWorld(t, { dataDir: into });
    const login = (body: object) => after.request<Problem>({ method: 'POST', url: '/auth/login', body });
    const right = await login({ email, password: PASSWORD });
    const unknown = await login({ email: 'nobody@example.com', password: PASSWORD });
    assert.deepEqual([right.status, right.body.code], [401, 'invalid_credentials']);
    assert.match(right.body.detail, /restored from a backup.*\/auth\/forgot-password.*user password/);
    assert.equal(unknown.body.detail, right.body.detail, 'a stranger learns nothing');
    const token = { grant_type: 'password', username: email, password: PASSWORD };
    assert.equal((await after.request({ method: 'POST', url: '/auth/token', body: token })).status, 400);
    const keys = await after.db.all(
      sql`select 1 from api_keys k join users u on u.id = k.user_id where u.email = ${email} and k.revoked_at is null`,
    );
    assert.deepEqual(keys, []);

    const set = await terminal(after.config, { stdin: NEW_PASSWORD })(
      'user',
      'password',
      email,
      '--password-stdin',
    );
    assert.equal(set.code, 0, set.err);
    const back = await after.login({ email, password: NEW_PASSWORD });
    const { body } = await back.call<AfterTheft>('GET', '/settings/after-theft');
    assert.deepEqual([body.replace[0]?.trading_account_id, body.destinations.length], [account.id, 1]);
  });

  test('of PostgreSQL is made up for by the same, as a command', async (t) => {
    const { world, email, thief, byKey } = await openHouse(t);
    const context = { requestId: '1', ip: 'command line', userAgent: null, path: '', method: 'CLI' };
    await secureEverybody({ ...world, context, hasher: countingHasher() });
    assert.equal((await thief.call('GET', '/auth/session')).status, 401);
    assert.equal(await byKey(), 401);
    const login = await world.request<Problem>({
      method: 'POST',
      url: '/auth/login',
      body: { email, password: PASSWORD },
    });
    assert.match(login.body.detail, /restored from a backup/);
    const run = terminal(world.config);
    assert.equal((await run('user', 'secure')).code, 2);
    assert.equal((await run('user', 'secure', email, '--after-restore')).code, 2);
    assert.match((await run('user', 'secure', email)).out, /has ended\. The password stays/);
    assert.match((await run('user', 'secure', '--after-restore')).out, /and password has ended/);
  });
});
