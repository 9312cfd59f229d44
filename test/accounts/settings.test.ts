// API keys, allowed IPs, terms and subscription of a user, and what is open to everybody.

import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { describe, type TestContext, test } from 'node:test';
import { canonicalBlock } from '../../src/app/accounts/ip-block.ts';
import { sql } from '../../src/data/engine/db.ts';
import { BROKER_NAMES, BROKERS, type BrokerName } from '../../src/domain/brokers.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { type Answer, openWorld, type Problem, settableClock, type Trader, type World } from '../world.ts';
import { makeSession, SIGNED } from './credentials.ts';

type Method = 'GET' | 'POST' | 'DELETE';
const DAY_MS = 86_400_000;

interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

/** A trader with a session: `call` is by the session, `world.as` by an API key. */
async function opened(t: TestContext, env: Record<string, string> = {}) {
  const clock = settableClock();
  const world = await openWorld(t, { clock, env: { ...SIGNED, ...env } });
  const trader = await world.makeTrader();
  const sessionOf = async ({ user }: Trader) => {
    const { cookie } = await makeSession(world, user, { lifetimeMs: 1000 * DAY_MS });
    return <Body>(method: Method, url: string, body?: unknown): Promise<Answer<Body>> =>
      world.request<Body>({ method, url, body, headers: cookie });
  };
  return { clock, world, trader, call: await sessionOf(trader), sessionOf };
}

const actionsOf = async (world: World, trader: Trader) =>
  (await world.audits(trader)).map(({ action, success }) => `${action} ${success}`);

async function assertInvalid(answer: Promise<Answer<Problem>>, what: unknown): Promise<void> {
  const { status, body } = await answer;
  assert.deepEqual([status, body?.code], [400, 'request_invalid'], JSON.stringify(what)?.slice(0, 80));
}

describe('API keys', () => {
  interface Key {
    readonly id: string;
    readonly name: string;
    readonly key: string;
    readonly expires_at: string | null;
    readonly last_used_at?: string | null;
    readonly created_at: string;
  }
  const using = (world: World, key: string) =>
    world.request({ method: 'GET', url: '/trading/orders', headers: { authorization: `Bearer ${key}` } });

  test('a key is in the answer that makes it, and nowhere else', async (t) => {
    const { world, trader, call } = await opened(t);
    const made = await call<Key>('POST', '/settings/api-keys', { name: 'bot' });
    assert.deepEqual([made.status, made.headers['cache-control']], [201, 'no-store']);
    assert.match(made.body.key, /^[\w-]{43}$/);
    assert.deepEqual(Object.keys(made.body).toSorted(), ['created_at', 'expires_at', 'id', 'key', 'name']);
    assert.equal(made.body.expires_at, null);
    const list = await call<Page<Key>>('GET', '/settings/api-keys');
    const listed = list.body.items.at(-1);
    const { key, ...shown } = made.body;
    assert.deepEqual(listed, { ...shown, last_used_at: null });
    assert.ok(!JSON.stringify(list.body).includes(key));
    assert.ok(!JSON.stringify(await world.db.all(sql`select * from api_keys`)).includes(key));
    assert.deepEqual(await actionsOf(world, trader), ['api_key_created 1']);
    assert.ok(!JSON.stringify(await world.audits(trader)).includes(key));
  });

  test('it works at once, and its last use is shown', async (t) => {
    const { clock, world, call } = await opened(t);
    const { body } = await call<Key>('POST', '/settings/api-keys', { name: 'bot' });
    clock.advance(5000);
    assert.equal((await using(world, body.key)).status, 200);
    const { items } = (await call<Page<Key>>('GET', '/settings/api-keys')).body;
    assert.equal(items.find(({ id }) => id === body.id)?.last_used_at, timestamp(clock.now()));
  });

  test('it expires to the moment, after half a day too, and stays on the list', async (t) => {
    const { clock, world, call } = await opened(t);
    const made = await call<Key>('POST', '/settings/api-keys', { name: 'half', expires_in_days: 0.5 });
    assert.equal(made.body.expires_at, timestamp(clock.now() + DAY_MS / 2));
    clock.advance(DAY_MS / 2 - 1);
    assert.equal((await using(world, made.body.key)).status, 200);
    clock.advance(1);
    assert.equal((await using(world, made.body.key)).status, 401);
    const { items } = (await call<Page<Key>>('GET', '/settings/api-keys')).body;
    assert.ok(items.some(({ id }) => id === made.body.id));
  });

  test('revoked, it is 401 from the very next request on, and off the list', async (t) => {
    const { world, trader, call } = await opened(t);
    const { body } = await call<Key>('POST', '/settings/api-keys', { name: 'bot' });
    assert.equal((await using(world, body.key)).status, 200);
    const revoked = await call('DELETE', `/settings/api-keys/${body.id}`);
    assert.deepEqual([revoked.status, revoked.body], [204, null]);
    assert.equal((await using(world, body.key)).status, 401);
    const { items } = (await call<Page<Key>>('GET', '/settings/api-keys')).body;
    assert.ok(!items.some(({ id }) => id === body.id));
    assert.equal((await call('DELETE', `/settings/api-keys/${body.id}`)).status, 404);
    assert.deepEqual(await actionsOf(world, trader), ['api_key_created 1', 'api_key_revoked 1']);
  });

  test('an API key manages no keys: 403 session_required', async (t) => {
    const { world, trader } = await opened(t);
    const calls: readonly (readonly [Method, string, object?])[] = [
      ['GET', ''],
      ['POST', '', { name: 'bot' }],
      ['DELETE', `/${randomUUIDv7()}`],
    ];
    for (const [method, path, body] of calls) {
      const answer = await world.as<Problem>(trader, method, `/settings/api-keys${path}`, body);
      assert.deepEqual([answer.status, answer.body.code], [403, 'session_required']);
    }
  });

  test('another user’s keys are not listed, and 404', async (t) => {
    const { world, call, sessionOf } = await opened(t);
    const stranger = await sessionOf(await world.makeTrader());
    const { body } = await call<Key>('POST', '/settings/api-keys', { name: 'mine' });
    for (const id of [body.id, randomUUIDv7(), 'x', '%00', body.id.toUpperCase()])
      assert.equal((await stranger('DELETE', `/settings/api-keys/${id}`)).status, 404, id);
    assert.equal((await using(world, body.key)).status, 200);
    const { items } = (await stranger<Page<Key>>('GET', '/settings/api-keys')).body;
    assert.deepEqual(
      items.map(({ name }) => name),
      ['test'],
    );
  });

  test('the list comes page by page', async (t) => {
    const { call } = await opened(t);
    for (const name of ['a', 'b', 'c']) await call('POST', '/settings/api-keys', { name });
    const first = (await call<Page<Key>>('GET', '/settings/api-keys?limit=3')).body;
    assert.deepEqual(
      first.items.map(({ name }) => name),
      ['test', 'a', 'b'],
    );
    const rest = (await call<Page<Key>>('GET', `/settings/api-keys?limit=3&cursor=${first.next_cursor}`))
      .body;
    assert.deepEqual([rest.items.map(({ name }) => name), rest.next_cursor], [['c'], null]);
  });

  test('bad input is 400 and makes nothing', async (t) => {
    const { world, trader, call } = await opened(t);
    const bodies: readonly unknown[] = [
      undefined,
      {},
      [],
      { name: '' },
      { name: ' ' },
      { name: 'x'.repeat(101) },
      { name: 'a\0' },
      { name: 7 },
      { expires_in_days: 1 },
      ...[0, -1, '1', null, true, 36_501, 1e308, -0.0001].map((expires_in_days) => ({
        name: 'a',
        expires_in_days,
      })),
      { name: 'a', key: 'mine' },
      { name: 'a', expires_at: '2030-01-01T00:00:00Z' },
      { name: 'a', scopes: ['all'] },
    ];
    for (const body of bodies) await assertInvalid(call('POST', '/settings/api-keys', body), body);
    for (const query of ['limit=0', 'limit=201', 'limit=1.5', 'cursor=x', 'q=1'])
      await assertInvalid(call('GET', `/settings/api-keys?${query}`), query);
    await assertInvalid(call('DELETE', `/settings/api-keys/${randomUUIDv7()}`, { force: true }), 'a body');
    assert.deepEqual(await world.audits(trader), []);
  });
});

describe('allowed IPs', () => {
  interface Ip {
    readonly id: string;
    readonly ip_address: string;
    readonly label: string | null;
    readonly created_at: string;
  }
  const URL = '/settings/allowed-ips';

  // biome-ignore format: a table, one row a line
  const spellings: readonly (readonly [string, string])[] = [
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7/32', '203.0.113.7'],
    ['203.0.113.7/24', '203.0.113.0/24'],
    ['10.255.255.255/9', '10.128.0.0/9'],
    ['1.2.3.4/0', '0.0.0.0/0'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8::1/128', '2001:db8::1'],
    ['2001:db8:ffff::/33', '2001:db8:8000::/33'],
    ['2001:db8::ff/121', '2001:db8::80/121'],
    ['::/0', '::/0'],
    ['::1', '::1'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::ffff:cb00:7107', '203.0.113.7'],
    ['::ffff:203.0.113.7/120', '203.0.113.0/24'],
    ['::ffff:0:0/96', '0.0.0.0/0'],
    ['::ffff:0:0/95', '::fffe:0:0/95'],
    ['64:ff9b::1.2.3.4', '64:ff9b::102:304'],
  ];
  for (const [given, expected] of spellings)
    test(`${given} is kept as ${expected}`, () => {
      assert.equal(canonicalBlock(given), expected);
      assert.equal(canonicalBlock(expected), expected);
    });

  test('what is neither an address nor a block is none', () => {
    // biome-ignore format: a list
    const wrong = [
      '', ' ', 'localhost', '1.2.3', '1.2.3.4.5', '256.1.1.1', '01.2.3.4', '1.2.3.4/33', '1.2.3.4/-1', '1.2.3.4/', '1.2.3.4/08',
      '1.2.3.4/8/8', '1.2.3.4/a', ' 1.2.3.4', '1.2.3.4 ', '::1/129', ':::', 'fe80::1%eth0', '[::1]', '1::2::3', '*', '1.2.3.4,5.6.7.8',
      '1.2.3.4\n', '1.2.3.4/2 ', '0x7f.1', '2130706433', '::ffff:1.2.3.4/129', '1.2.3.4/1e1', '１.2.3.4',
    ];
    for (const text of wrong) assert.equal(canonicalBlock(text), null, JSON.stringify(text));
  });

  test('one that is added holds at once, and so does its removal', async (t) => {
    const { world, trader } = await opened(t);
    const add = (ip_address: string) =>
      world.inSession<Ip>(trader, 'POST', URL, { ip_address, label: 'Office' });
    const made = await add('203.0.113.200/25');
    assert.equal(made.status, 201);
    assert.deepEqual(made.body, { ...made.body, ip_address: '203.0.113.128/25', label: 'Office' });
    const from = (remoteAddress: string) => world.send(trader, {}, { remoteAddress });
    assert.equal((await from('203.0.113.130')).status, 200);
    assert.equal((await from('203.0.113.1')).status, 403);
    assert.equal((await from('::ffff:203.0.113.130')).status, 200);
    assert.deepEqual((await world.as<Page<Ip>>(trader, 'GET', URL)).body, {
      items: [made.body],
      next_cursor: null,
    });
    // The list itself is no trading request: nobody locks themselves out.
    assert.equal((await world.inSession(trader, 'DELETE', `${URL}/${made.body.id}`)).status, 204);
    assert.equal((await from('203.0.113.1')).status, 200);
    const actions = (await actionsOf(world, trader)).filter((action) => action.startsWith('allowed_ip'));
    assert.deepEqual(actions, ['allowed_ip_added 1', 'allowed_ip_removed 1']);
  });

  test('an API key changes nothing of the list that holds it back, and may read it', async (t) => {
    const { world, trader } = await opened(t);
    const { body: made } = await world.inSession<Ip>(trader, 'POST', URL, { ip_address: '203.0.113.7' });
    const add = await world.as<Problem>(trader, 'POST', URL, { ip_address: '127.0.0.1' });
    const remove = await world.as<Problem>(trader, 'DELETE', `${URL}/${made.id}`);
    for (const { status, body } of [add, remove])
      assert.deepEqual([status, body.code], [403, 'session_required']);
    assert.deepEqual((await world.as<Page<Ip>>(trader, 'GET', URL)).body.items, [made]);
    assert.equal(
      (await world.as(trader, 'POST', `/trading/accounts/${trader.account.id}/resume`)).status,
      403,
    );
  });

  test('the same one in another spelling is 409; another user may have it too', async (t) => {
    const { world, trader } = await opened(t);
    await world.inSession(trader, 'POST', URL, { ip_address: '2001:db8::1' });
    for (const ip_address of ['2001:db8::1', '2001:0DB8::0001', '2001:db8::1/128']) {
      const again = await world.inSession<Problem>(trader, 'POST', URL, { ip_address });
      assert.deepEqual([again.status, again.body.code], [409, 'allowed_ip_exists'], ip_address);
    }
    const other = await world.makeTrader();
    assert.equal(
      (await world.inSession<Ip>(other, 'POST', URL, { ip_address: '2001:db8::1' })).body.label,
      null,
    );
    const both = await Promise.all(
      [1, 2, 3].map(() => world.inSession(trader, 'POST', URL, { ip_address: '1.1.1.1' })),
    );
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [201, 409, 409]);
  });

  test('another user’s are not listed, and 404', async (t) => {
    const { world, trader } = await opened(t);
    const stranger = await world.makeTrader();
    const { body } = await world.inSession<Ip>(trader, 'POST', URL, { ip_address: '1.2.3.4' });
    for (const id of [body.id, randomUUIDv7(), 'x', '%00'])
      assert.equal((await world.inSession(stranger, 'DELETE', `${URL}/${id}`)).status, 404);
    assert.deepEqual((await world.as<Page<Ip>>(stranger, 'GET', URL)).body.items, []);
    assert.equal((await world.as<Page<Ip>>(trader, 'GET', URL)).body.items.length, 1);
  });

  test('bad input is 400 and adds nothing', async (t) => {
    const { world, trader } = await opened(t);
    const bodies: readonly unknown[] = [
      undefined,
      {},
      [],
      { ip_address: 16909060 },
      { ip_address: null },
      { ip_address: ['1.2.3.4'] },
      { ip_address: 'example.com' },
      { ip_address: '1.2.3.4/33' },
      { ip_address: '1.2.3.4\0' },
      { ip_address: '1'.repeat(65) },
      { ip_address: '1.2.3.4', label: '' },
      { ip_address: '1.2.3.4', label: 'x'.repeat(101) },
      { ip_address: '1.2.3.4', label: 'a\0' },
      { ip_address: '1.2.3.4', label: 1 },
      { ip_address: '1.2.3.4', user_id: randomUUIDv7() },
    ];
    for (const body of bodies) await assertInvalid(world.inSession(trader, 'POST', URL, body), body);
    await assertInvalid(world.as(trader, 'GET', `${URL}?cursor=1`), 'cursor');
    assert.deepEqual((await world.as<Page<Ip>>(trader, 'GET', URL)).body.items, []);
    assert.deepEqual(await world.audits(trader), []);
  });
});

describe('terms', () => {
  const publish = (world: World, version: string, at: number) =>
    world.db.commit([
      sql`insert into terms (version, text, published_at) values (${version}, ${`Terms ${version}`}, ${timestamp(at)})`,
    ]);
  const accepted = (world: World, { user }: Trader) =>
    world.db.get(sql`select terms_version, terms_accepted_at from users where id = ${user.id}`);

  test('the current version is accepted, and trading goes on', async (t) => {
    const { clock, world, trader } = await opened(t);
    clock.advance(DAY_MS);
    await publish(world, '2', clock.now());
    assert.equal((await world.send<Problem>(trader)).body.code, 'terms_not_accepted');
    clock.advance(1000);
    const answer = await world.as(trader, 'POST', '/settings/terms', { version: '2' });
    assert.deepEqual([answer.status, answer.body], [204, null]);
    const at = timestamp(clock.now());
    assert.equal((await world.send(trader)).status, 200);
    assert.deepEqual(await accepted(world, trader), { terms_version: '2', terms_accepted_at: at });
    clock.advance(1000);
    assert.equal((await world.as(trader, 'POST', '/settings/terms', { version: '2' })).status, 204);
    assert.deepEqual(
      await accepted(world, trader),
      { terms_version: '2', terms_accepted_at: at },
      'the first time counts',
    );
    const entry = (await world.audits(trader)).find(({ action }) => action === 'terms_accepted');
    assert.equal(entry?.resource_id, '2');
  });

  test('another version is 409, and what was accepted stays', async (t) => {
    const { clock, world, trader } = await opened(t);
    await publish(world, '2', clock.now() + 1);
    for (const version of ['1', '3', '2.0']) {
      const answer = await world.as<Problem>(trader, 'POST', '/settings/terms', { version });
      assert.deepEqual([answer.status, answer.body.code], [409, 'terms_version_outdated'], version);
    }
    const row = (await accepted(world, trader)) as { terms_version: string };
    assert.equal(row.terms_version, '1');
    assert.deepEqual(await world.audits(trader), []);
  });

  test('bad input is 400', async (t) => {
    const { world, trader } = await opened(t);
    for (const body of [
      undefined,
      {},
      { version: 1 },
      { version: '' },
      { version: 'x'.repeat(65) },
      { version: '1\0' },
      { version: null },
      { version: '1', accept: true },
    ])
      await assertInvalid(world.as(trader, 'POST', '/settings/terms', body), body);
  });
});

describe('the subscription', () => {
  const read = async (world: World, trader: Trader) =>
    (await world.as(trader, 'GET', '/settings/subscription')).body;

  test('shows the plan, its limits and the orders of this UTC day', async (t) => {
    const { clock, world } = await opened(t);
    const trader = await world.makeTrader({ plan: 'starter' });
    await world.send(trader);
    for (const _ of [1, 2]) await world.send(trader, {}, { query: '?simulation=true' });
    const shown = {
      plan: 'starter',
      effective_plan: 'starter',
      expires_at: null,
      simulation_only: false,
      daily_orders: 200,
      orders_today: 1,
      simulated_today: 2,
    };
    assert.deepEqual(await read(world, trader), shown);
    clock.advance(DAY_MS);
    assert.deepEqual(await read(world, trader), { ...shown, orders_today: 0, simulated_today: 0 });
  });

  test('an expired plan, or one that no longer exists, behaves as free', async (t) => {
    const { clock, world } = await opened(t);
    const expires_at = timestamp(clock.now() + 1000);
    const trader = await world.makeTrader({ plan: 'pro', planExpiresAt: expires_at });
    const none = { orders_today: 0, simulated_today: 0 };
    const free = { simulation_only: true, daily_orders: 100, effective_plan: 'free', ...none };
    const pro = {
      plan: 'pro',
      expires_at,
      effective_plan: 'pro',
      simulation_only: false,
      daily_orders: 2000,
      ...none,
    };
    assert.deepEqual(await read(world, trader), pro);
    clock.advance(1000);
    assert.deepEqual(await read(world, trader), { ...pro, ...free });
    const gone = await world.makeTrader({ plan: 'gold' });
    assert.deepEqual(await read(world, gone), { plan: 'gold', expires_at: null, ...free });
    const desk = (await read(world, await world.makeTrader())) as { daily_orders: unknown };
    assert.equal(desk.daily_orders, null);
  });
});

describe('open to everybody', () => {
  const get = <B>(world: World, url: string) => world.request<B>({ method: 'GET', url });

  test('the plans, from the configuration', async (t) => {
    const plans = {
      free: { simulation_only: true, daily_orders: 5 },
      all: { simulation_only: false, daily_orders: null },
    };
    const world = await openWorld(t, { env: { PLANS: JSON.stringify(plans) } });
    const { status, body } = await get(world, '/public/plans');
    const items = [
      { name: 'free', ...plans.free },
      { name: 'all', ...plans.all },
    ];
    assert.deepEqual([status, body], [200, { items, next_cursor: null }]);
  });

  test('the brokers, each with what it needs and can promise', async (t) => {
    const { status, body } = await get(await openWorld(t), '/public/brokers');
    const [{ symbols_help, ...paper }, ...others] = (body as { items: [Record<string, unknown>] }).items;
    assert.equal(status, 200);
    assert.deepEqual(
      others.map(({ name }) => name),
      BROKER_NAMES.slice(1),
    );
    for (const { name, credentials, environments } of others) {
      const described = BROKERS[name as BrokerName];
      assert.deepEqual([credentials, environments], [described.credentials, described.environments]);
    }
    assert.match(String(symbols_help), /BINANCE:BTCUSDT.P is BTCUSDT/);
    assert.deepEqual(paper, {
      name: 'paper',
      title: 'Paper',
      currency: 'USD',
      environments: ['live'],
      credentials: [],
      capabilities: {
        refuses_duplicate_ids: true,
        finds_by_client_id_ms: null,
        reduce_only: true,
        fractional_quantities: true,
        margin_mode: false,
        stop: 'position',
        moves: 'amend',
        reserves: false,
        stop_entries: true,
        time_in_force: ['gtc', 'day', 'ioc', 'fok'],
      },
      margin_help: null,
    });
  });

  test('the current terms', async (t) => {
    const { clock, world } = await opened(t);
    const first = (await get(world, '/public/terms')).body as { version: string; text: string };
    assert.equal(first.version, '1');
    const published_at = timestamp(clock.now() + 1);
    await world.db.commit([
      sql`insert into terms (version, text, published_at) values ('2', 'New', ${published_at})`,
    ]);
    assert.deepEqual((await get(world, '/public/terms')).body, { version: '2', text: 'New', published_at });
  });

  test('the bot challenge: its provider and site key, and never its secret', async (t) => {
    const env = {
      CAPTCHA_ENABLED: 'true',
      CAPTCHA_PROVIDER: 'turnstile',
      CAPTCHA_SECRET: 'hidden-1',
      CAPTCHA_SITE_KEY: 'site-1',
    };
    const world = await openWorld(t, { env });
    const { body } = await get(world, '/public/config');
    assert.deepEqual(body, {
      captcha: { provider: 'turnstile', site_key: 'site-1' },
      demo: null,
      mail: false,
      verify_email: false,
    });
    const without = await openWorld(t);
    assert.deepEqual((await get(without, '/public/config')).body, {
      captcha: null,
      demo: null,
      mail: false,
      verify_email: false,
    });
  });

  test('whether the service can send mail: without a server for it, nobody is promised one', async (t) => {
    const world = await openWorld(t, { env: { SMTP_URL: 'smtp://127.0.0.1:9' } });
    assert.equal((await get<{ mail: boolean }>(world, '/public/config')).body.mail, true);
  });
});
