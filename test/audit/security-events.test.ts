// The classified events of the spec: each one's status, its audit entry with every field, its mail or none, and its
// place in the list that the user sees.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, type TestContext, test } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import { SECURITY_EVENTS, type SecurityEvent } from '../../src/domain/denial.ts';
import type { Mail } from '../../src/mail/mailer.ts';
import { countingHasher, type Visitor } from '../http/visitor.ts';
import {
  type Answer,
  openWorld,
  PASSWORD,
  type Problem,
  settableClock,
  type Trader,
  type World,
} from '../world.ts';

const AGENT = 'Mozilla/5.0 (a test)';
const IP = '203.0.113.66';

interface Entry {
  readonly id: number;
  readonly user_id: string;
  readonly action: string;
  readonly success: boolean;
  readonly ip_address: string;
  readonly user_agent: string;
  readonly request_path: string;
  readonly request_method: string;
  readonly error_message: string | null;
  readonly resource_type: string | null;
  readonly resource_id: string | null;
  readonly metadata: Record<string, unknown>;
  readonly created_at: string;
  readonly type?: string;
}
interface List {
  readonly items: readonly Entry[];
  readonly next_cursor: string | null;
}

async function open(t: TestContext) {
  const clock = settableClock();
  const mails: Mail[] = [];
  const mailer = {
    send: async (mail: Mail) => {
      mails.push(mail);
    },
  };
  const world = await openWorld(t, { clock, mailer, hasher: countingHasher() });
  return { world, clock, mails };
}

interface Scene {
  readonly world: World;
  readonly trader: Trader;
  /** The same user with a browser, for what only sessions meet. */
  readonly visitor: Visitor;
}

/** A trader who can also log in. */
async function openScene(world: World): Promise<Scene> {
  const trader = await world.makeTrader();
  const passwordHash = await countingHasher().hash(PASSWORD);
  await world.db.commit([sql`update users set password_hash = ${passwordHash} where id = ${trader.user.id}`]);
  return { world, trader, visitor: await world.login({ email: trader.user.email }) };
}

const webhook = (scene: Scene, fields: Record<string, unknown> | string, query = '') =>
  scene.world.webhook<Problem>(
    scene.trader,
    typeof fields === 'string' ? fields : scene.world.signal(scene.trader, fields),
    { query, headers: { 'user-agent': AGENT }, remoteAddress: IP },
  );

const trade = ({ world, trader }: Scene, headers: Record<string, string>) =>
  world.request<Problem>({
    method: 'POST',
    url: '/trading/order',
    body: { trading_account_id: trader.account.id, action: 'buy', symbol: 'BTCUSDT', quantity: 1 },
    headers: { 'user-agent': AGENT, ...headers },
    remoteAddress: IP,
  });

const ago = ({ world }: Scene, seconds: number) => new Date(world.clock.now() - seconds * 1000).toISOString();

async function twice(scene: Scene) {
  assert.equal((await webhook(scene, {})).status, 200);
  return webhook(scene, {});
}

function payloadHash({ world, trader }: Scene): string {
  const { action, symbol, quantity, timestamp, secret } = world.signal(trader);
  const text = [trader.user.id, action, symbol, quantity, timestamp, secret].join(':');
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

interface Event {
  readonly name: string;
  readonly type: SecurityEvent;
  readonly send: (scene: Scene) => Promise<Answer<Problem>>;
  readonly status: number;
  /** Where it is not the event's name. */
  readonly code?: string;
  /** Besides the code and the request's id. */
  readonly metadata: (scene: Scene) => Record<string, unknown>;
  readonly mail: boolean;
  readonly path: string;
  readonly resource: 'account' | 'session';
}

const WEBHOOK = { path: '/webhook/', resource: 'account' } as const;
const of = (scene: Scene, attack_type: string) => ({
  attack_type,
  trading_account_id: scene.trader.account.id,
});
const blocked = async (scene: Scene) => scene.world.allowIps(scene.trader, '198.51.100.7');
const invalid = { ...WEBHOOK, type: 'webhook_payload_invalid', status: 400, mail: false } as const;
const malformed = (scene: Scene) => of(scene, 'malformed_payload');
const csrf = {
  type: 'csrf_validation_failed',
  status: 403,
  mail: false,
  path: '/trading/order',
  resource: 'session',
} as const;
const cookie = ({ visitor }: Scene) => ({ cookie: visitor.cookieHeader('/trading/order') });

// biome-ignore format: a table, one event a line
const EVENTS: readonly Event[] = [
  { ...WEBHOOK, name: 'a webhook from an address that is not allowed', type: 'webhook_ip_blocked', status: 403, mail: true,
    send: (scene) => blocked(scene).then(() => webhook(scene, {})), metadata: (scene) => of(scene, 'ip_not_allowed') },
  { ...WEBHOOK, name: 'an order by API key from an address that is not allowed', type: 'webhook_ip_blocked', code: 'ip_not_allowed', status: 403, mail: true, path: '/trading/order',
    send: (scene) => blocked(scene).then(() => trade(scene, { authorization: `Bearer ${scene.trader.apiKey}` })), metadata: (scene) => of(scene, 'ip_not_allowed') },
  { ...WEBHOOK, name: 'an order by session from an address that is not allowed', type: 'webhook_ip_blocked', code: 'ip_not_allowed', status: 403, mail: true, path: '/trading/order',
    send: (scene) => blocked(scene).then(() => trade(scene, { ...cookie(scene), 'x-csrf-token': scene.visitor.csrf ?? '' })), metadata: (scene) => of(scene, 'ip_not_allowed') },
  { ...WEBHOOK, name: 'a signal that is too old', type: 'webhook_timestamp_expired', status: 401, mail: true,
    send: (scene) => webhook(scene, { timestamp: ago(scene, 300) }), metadata: (scene) => ({ ...of(scene, 'expired_timestamp'), request_age_seconds: 300 }) },
  { ...WEBHOOK, name: 'a signal from the future', type: 'webhook_timestamp_expired', status: 401, mail: true,
    send: (scene) => webhook(scene, { timestamp: ago(scene, -1000.5) }), metadata: (scene) => ({ ...of(scene, 'expired_timestamp'), request_age_seconds: -1000.5 }) },
  { ...WEBHOOK, name: 'a wrong secret', type: 'webhook_credential_attack', status: 401, mail: true,
    send: (scene) => webhook(scene, { secret: 'guessed' }), metadata: (scene) => of(scene, 'wrong_secret') },
  { ...WEBHOOK, name: 'the same signal again', type: 'webhook_replay_attack', status: 409, mail: true,
    send: twice, metadata: (scene) => ({ ...of(scene, 'replay'), payload_hash: payloadHash(scene) }) },
  { ...invalid, name: 'a body that is no JSON', send: (scene) => webhook(scene, 'buy!'), metadata: malformed },
  { ...invalid, name: 'a body without a required field', send: (scene) => webhook(scene, { quantity: undefined }), metadata: malformed },
  { ...invalid, name: 'a signal without its secret', send: (scene) => webhook(scene, { secret: undefined }), metadata: malformed },
  { ...invalid, name: 'a flag that is neither yes nor no', send: (scene) => webhook(scene, {}, '?simulation=perhaps'), metadata: malformed },
  { ...invalid, name: 'a body that is too large', code: 'payload_too_large', status: 413,
    send: (scene) => webhook(scene, ' '.repeat(16 * 1024 + 1)), metadata: (scene) => of(scene, 'oversized_payload') },
  { ...invalid, name: 'a symbol that is not on the account’s list', metadata: (scene) => of(scene, 'symbol_not_allowed'),
    send: (scene) => scene.world.db.commit([sql`update trading_accounts set allowed_symbols = '["ETHUSDT"]' where id = ${scene.trader.account.id}`]).then(() => webhook(scene, {})) },
  { ...csrf, name: 'a session’s change without its CSRF token', send: (scene) => trade(scene, cookie(scene)), metadata: () => ({ attack_type: 'missing_csrf_token' }) },
  { ...csrf, name: 'a session’s change with a wrong CSRF token', send: (scene) => trade(scene, { ...cookie(scene), 'x-csrf-token': 'guessed' }), metadata: () => ({ attack_type: 'wrong_csrf_token' }) },
];

test('every classified event: its status, its audit entry, its mail or none, its place in the user’s list', async (t) => {
  assert.deepEqual([...new Set(EVENTS.map(({ type }) => type))], [...SECURITY_EVENTS]);
  for (const event of EVENTS)
    await t.test(`${event.type}: ${event.name}`, async (t) => {
      const { world, mails } = await open(t);
      const scene = await openScene(world);
      const { user, account } = scene.trader;
      const answer = await event.send(scene);
      assert.equal(answer.status, event.status, JSON.stringify(answer.body));
      const { code, title, detail, request_id } = answer.body;
      assert.equal(code, event.code ?? event.type);

      const rows = await world.db.all<Entry & { metadata: string }>(
        sql`select id, user_id, action, success, ip_address, user_agent, request_path, request_method, error_message,
              resource_type, resource_id, metadata, created_at
            from audit_logs where action = ${event.type}`,
      );
      const [{ id, request_path } = { id: 0, request_path: '' }] = rows;
      const entry = {
        id,
        user_id: user.id,
        action: event.type,
        success: false,
        ip_address: IP,
        user_agent: AGENT,
        request_path,
        request_method: 'POST',
        error_message: title === detail ? detail : `${title}. ${detail}`,
        resource_type: event.resource,
        resource_id: event.resource === 'account' ? account.id : sessionOf(scene),
        metadata: { request_id, code, ...event.metadata(scene) },
        created_at: new Date(world.clock.now()).toISOString(),
      };
      assert.deepEqual(
        rows.map((row) => ({ ...row, success: Boolean(row.success), metadata: JSON.parse(row.metadata) })),
        [entry],
      );
      assert.ok(request_path.startsWith(event.path), request_path);
      assert.ok(!request_path.includes(account.webhookToken), request_path);

      const listed = await world.as<List>(scene.trader, 'GET', '/settings/security-attacks');
      assert.equal(listed.status, 200);
      assert.deepEqual(listed.body, { items: [{ ...entry, type: event.type }], next_cursor: null });

      // After a stop there is no mail under way any more.
      await world.stop();
      assert.deepEqual(
        mails.map(({ to, subject }) => [to, subject]),
        event.mail ? [[user.email, `Security alert: ${event.type}`]] : [],
      );
      const [mail] = mails;
      if (mail)
        for (const text of [mail.text, mail.html])
          for (const fact of [event.type, IP, new Date(world.clock.now()).toISOString(), account.name])
            assert.ok(text.includes(fact), `${fact} in ${text}`);
    });
});

const sessionOf = ({ visitor }: Scene): string => {
  const [, claims = ''] = visitor.cookie('access_token')?.split('.') ?? [];
  return (JSON.parse(Buffer.from(claims, 'base64url').toString()) as { sid: string }).sid;
};

describe('the lists', () => {
  // Each with its filter's name, and a value of it that the entries below have.
  const LISTS = [
    { url: '/settings/security-attacks', filter: 'type' },
    { url: '/settings/audit-log', filter: 'action' },
  ];

  /** Six attacks of two kinds on one user, and one on another. */
  async function openLists(t: TestContext) {
    const { world, clock } = await open(t);
    const scene = await openScene(world);
    const stranger = await openScene(world);
    for (let round = 0; round < 3; round++) {
      clock.advance(1000);
      assert.equal((await webhook(scene, { secret: 'guessed' })).status, 401);
      assert.equal((await webhook(scene, 'buy!')).status, 400);
      if (round === 1) assert.equal((await webhook(stranger, 'sell!')).status, 400);
    }
    const read = (url: string, { trader } = scene) => world.as<List>(trader, 'GET', url);
    return { world, scene, stranger, read };
  }

  for (const { url, filter } of LISTS) {
    test(`${url} shows the user’s own entries, newest first`, async (t) => {
      const { scene, stranger, read } = await openLists(t);
      for (const { trader } of [scene, stranger]) {
        const { items } = (await read(url, { ...scene, trader })).body;
        assert.ok(items.every(({ user_id }) => user_id === trader.user.id));
        const ids = items.map(({ id }) => id);
        assert.deepEqual(
          ids,
          ids.toSorted((a, b) => b - a),
        );
      }
      const actions = (await read(url)).body.items.map(({ action }) => action);
      const attack = ['webhook_payload_invalid', 'webhook_credential_attack'];
      assert.deepEqual(actions.slice(0, 6), [...attack, ...attack, ...attack]);
      // The login is no attack.
      assert.deepEqual(actions.slice(6), filter === 'type' ? [] : ['login']);
      assert.equal((await read(url, stranger)).body.items.length, filter === 'type' ? 1 : 2);
    });

    test(`${url} is filtered by ${filter}`, async (t) => {
      const { read } = await openLists(t);
      const { items } = (await read(`${url}?${filter}=webhook_credential_attack`)).body;
      assert.deepEqual(
        items.map(({ action }) => action),
        Array(3).fill('webhook_credential_attack'),
      );
      assert.deepEqual((await read(`${url}?${filter}=csrf_validation_failed`)).body, {
        items: [],
        next_cursor: null,
      });
    });

    test(`${url} comes page by page, and what is new does not shift the pages`, async (t) => {
      const { scene, read } = await openLists(t);
      const query = `${url}?${filter}=webhook_credential_attack&limit=1`;
      const all = (await read(`${url}?${filter}=webhook_credential_attack`)).body.items;
      const seen: Entry[] = [];
      let cursor: string | null = null;
      do {
        const page: List = (await read(cursor === null ? query : `${query}&cursor=${cursor}`)).body;
        assert.equal(page.items.length, 1);
        seen.push(...page.items);
        cursor = page.next_cursor;
        await webhook(scene, { secret: 'guessed again' });
      } while (cursor !== null);
      assert.deepEqual(seen, all);
    });

    for (const bad of [
      'limit=0',
      'limit=201',
      'limit=ten',
      'cursor=x',
      'cursor=',
      'cursor=-1',
      'cursor=1e3',
      'cursor=99999999999999999999',
      'cursor=019a8c5e-7d31-7f02-9c44-5b1e0a6f2d10',
      `${filter}=Robert'); drop table audit_logs;--`,
      `${filter}=`,
      'color=red',
    ])
      test(`${url}?${bad} is a 400`, async (t) => {
        const { world } = await open(t);
        const answer = await world.as<Problem>(await world.makeTrader(), 'GET', `${url}?${encodeURI(bad)}`);
        assert.deepEqual([answer.status, answer.body.code], [400, 'request_invalid'], answer.body.detail);
      });

    test(`${url} needs a login`, async (t) => {
      const { world } = await open(t);
      assert.equal((await world.request({ method: 'GET', url })).status, 401);
    });
  }

  test('/settings/security-attacks?type= takes the six classified events, and nothing else', async (t) => {
    const { world } = await open(t);
    const trader = await world.makeTrader();
    const statusOf = async (type: string) =>
      (await world.as(trader, 'GET', `/settings/security-attacks?type=${type}`)).status;
    for (const type of SECURITY_EVENTS) assert.equal(await statusOf(type), 200, type);
    for (const type of ['login', 'webhook_order', 'x']) assert.equal(await statusOf(type), 400, type);
  });
});

describe('every other deed', () => {
  test('leaves an entry with where it came from and what it was about', async (t) => {
    const { world } = await open(t);
    const { trader, visitor } = await openScene(world);
    const { account, user } = trader;
    const origin = { 'user-agent': AGENT };
    const call = async <Body>(method: 'POST' | 'PATCH' | 'DELETE' | 'GET', url: string, body?: unknown) =>
      (await visitor.call<Body>(method, url, body, origin)).body;
    const wrong = { email: user.email, password: 'not the password' };
    await world.request({ method: 'POST', url: '/auth/login', body: wrong, headers: origin });
    await call('POST', '/auth/login', { email: user.email, password: PASSWORD });
    const key = await call<{ id: string }>('POST', '/settings/api-keys', { name: 'x' });
    await call('DELETE', `/settings/api-keys/${key.id}`);
    const ip = await call<{ id: string }>('POST', '/settings/allowed-ips', { ip_address: '127.0.0.1' });
    await call('DELETE', `/settings/allowed-ips/${ip.id}`);
    await call('POST', '/settings/terms', { version: '1' });
    await call('PATCH', `/trading/accounts/${account.id}`, { name: 'Renamed' });
    await call('GET', `/trading/accounts/${account.id}/webhook-secret`);
    await call('POST', `/trading/accounts/${account.id}/webhook-secret`);
    await call('POST', `/trading/accounts/${account.id}/webhook-token`);
    await call('POST', `/trading/accounts/${account.id}/halt`);
    await call('POST', `/trading/accounts/${account.id}/resume`);
    const order = { trading_account_id: account.id, action: 'buy', symbol: 'BTCUSDT', quantity: 1 };
    await call('POST', '/trading/order', order);
    const unknown = { ...order, trading_account_id: key.id };
    await call('POST', '/trading/order', unknown);
    const made = await call<{ id: string }>('POST', '/trading/accounts', { name: 'Second', broker: 'paper' });
    await call('DELETE', `/trading/accounts/${made.id}`);
    await call('GET', '/deployment/workers');
    await call('POST', '/auth/logout');

    // biome-ignore format: a table, one deed a line
    const DEEDS: readonly (readonly [action: string, success: boolean, resource: string | null])[] = [
      ['login', true, 'session'], ['login', false, null], ['login', true, 'session'],
      ['api_key_created', true, 'api_key'], ['api_key_revoked', true, 'api_key'],
      ['allowed_ip_added', true, 'allowed_ip'], ['allowed_ip_removed', true, 'allowed_ip'], ['terms_accepted', true, 'terms'],
      ['account_updated', true, 'account'], ['webhook_secret_shown', true, 'account'],
      ['webhook_secret_regenerated', true, 'account'], ['webhook_token_regenerated', true, 'account'],
      ['account_halted', true, 'account'], ['account_resumed', true, 'account'],
      ['dashboard_order', true, 'order'], ['dashboard_order', false, 'account'],
      ['account_created', true, 'account'], ['account_deleted', true, 'account'],
      ['admin_access', false, null], ['logout', true, 'session'],
    ];
    const { items } = (await world.as<List>(trader, 'GET', '/settings/audit-log')).body;
    const entries = items.toReversed();
    assert.deepEqual(
      entries.map(({ action, success, resource_type }) => [action, success, resource_type]),
      DEEDS,
    );
    for (const entry of entries.slice(1)) {
      assert.equal(entry.error_message === null, entry.success, entry.action);
      assert.equal(entry.resource_id === null, entry.resource_type === null, entry.action);
      const { user_id, ip_address, user_agent, metadata, created_at } = entry;
      assert.deepEqual([user_id, ip_address, user_agent], [user.id, '127.0.0.1', AGENT], entry.action);
      assert.match(String(metadata.request_id), /^[0-9a-f-]{36}$/);
      assert.equal(created_at, new Date(world.clock.now()).toISOString());
      assert.match(`${entry.request_method} ${entry.request_path}`, /^[A-Z]+ \/[a-z]+\/[\w/-]+$/);
    }
  });
});
