// Administration, route by route: what an operator gets, and what nobody else does.

import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { describe, type TestContext, test } from 'node:test';
import { verify } from '@node-rs/argon2';
import { sql } from '../../src/data/engine/db.ts';
import { timestamp, type UserId } from '../../src/domain/ids.ts';
import { makeSession, SIGNED } from '../accounts/credentials.ts';
import { scriptedBroker } from '../worker/scripted-broker.ts';
import { type Answer, openWorld, type Problem, settableClock, type Trader, type World } from '../world.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
}

const GARBAGE_IDS = [
  'x',
  '1',
  "' or 1=1 --",
  '%00',
  'a'.repeat(5000),
  '018F0000-0000-7000-8000-000000000000',
];
const codeOf = ({ body }: Answer<unknown>) => (body as Partial<Problem> | null)?.code;

async function deployment(t: TestContext, options: Parameters<typeof openWorld>[1] = {}) {
  const world = await openWorld(t, { ...options, env: { ...SIGNED, ...options.env } });
  const admin = await world.makeTrader({ isAdmin: true });
  const call = <Body = Problem>(method: Method, url: string, body?: unknown) =>
    world.as<Body>(admin, method, url, body);
  return { world, admin, call };
}

async function lastAudit(world: World, trader: Trader) {
  const entry = (await world.audits(trader)).at(-1);
  assert.ok(entry, 'there is an audit entry');
  const { action, success, resource_type, resource_id, error_message } = entry;
  return { action, success: Boolean(success), resource_type, resource_id, error_message };
}

interface Queues {
  orders: { under_way: number; oldest_seconds: number | null };
  fill_checks: Record<string, number>;
  worker_starts: { waiting: number };
  hosts: { workers: number; busy: number; draining: boolean }[];
  mailboxes: { user_id: string; waiting: number }[];
}

describe('POST /setup/admin', () => {
  const NEW = { email: 'Root@Example.com', password: 'a long enough password' };
  const setup = (world: World, body: unknown = NEW, more: object = {}) =>
    world.request<Problem & { user: Record<string, unknown> }>({
      method: 'POST',
      url: '/setup/admin',
      body,
      ...more,
    });
  const admins = (world: World) =>
    world.db.all<Record<string, unknown>>(sql`select * from users where is_admin = ${true}`);

  test('makes the first admin, with the plan desk and no terms accepted, and is closed from then on', async (t) => {
    const world = await openWorld(t);
    const made = await setup(world);
    assert.equal(made.status, 201);
    const { id, ...user } = made.body.user;
    assert.deepEqual(user, {
      email: 'root@example.com',
      is_admin: true,
      plan: 'desk',
      plan_expires_at: null,
    });
    const [row, ...others] = await admins(world);
    assert.deepEqual(others, []);
    assert.equal(row?.id, id);
    assert.equal(row?.plan, 'desk');
    assert.equal(row?.terms_version, null);
    assert.equal(row?.terms_accepted_at, null);
    assert.ok(await verify(String(row?.password_hash), NEW.password));

    for (const body of [NEW, { ...NEW, email: 'other@example.com' }]) {
      const again = await setup(world, body);
      assert.equal(again.status, 409);
      assert.equal(again.body.code, 'admin_exists');
    }
    assert.equal((await admins(world)).length, 1);
    const entries = await world.db.all<Record<string, unknown>>(sql`select * from audit_logs order by id`);
    assert.deepEqual(
      entries.map(({ action, success, user_id }) => ({ action, success, user_id })),
      [
        { action: 'first_admin', success: 1, user_id: id },
        { action: 'first_admin', success: 0, user_id: null },
        { action: 'first_admin', success: 0, user_id: null },
      ],
    );
  });

  test('of many calls at once exactly one wins', async (t) => {
    const world = await openWorld(t);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => setup(world, { ...NEW, email: `root${index}@example.com` })),
    );
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    assert.equal(answers.filter((answer) => codeOf(answer) === 'admin_exists').length, 11);
    assert.equal((await admins(world)).length, 1);
  });

  test('is closed where the first start, or anybody else, has made an admin', async (t) => {
    const seeded = await openWorld(t, { env: { SEED_USER: 'true' } });
    assert.equal(codeOf(await setup(seeded)), 'admin_exists');
    const { world } = await deployment(t);
    assert.equal(codeOf(await setup(world)), 'admin_exists');
  });

  test('does not take over the address of a user, and stays open then', async (t) => {
    const world = await openWorld(t);
    await world.makeTrader({ email: 'root@example.com' });
    const taken = await setup(world);
    assert.equal(taken.status, 409);
    assert.equal(taken.body.code, 'email_taken');
    assert.deepEqual(await admins(world), []);
    assert.equal((await setup(world, { ...NEW, email: 'other@example.com' })).status, 201);
  });

  test('refuses what is no email address and password', async (t) => {
    const world = await openWorld(t);
    for (const body of [
      null,
      [],
      'text',
      {},
      { email: NEW.email },
      { password: NEW.password },
      { ...NEW, is_admin: true },
      { ...NEW, email: 1 },
      { ...NEW, email: 'no address' },
      { ...NEW, email: `${'x'.repeat(250)}@example.com` },
      { ...NEW, email: 'ro\u0000ot@example.com' },
      { ...NEW, password: 12_345_678 },
      { ...NEW, password: 'short' },
      { ...NEW, password: 'x'.repeat(257) },
      { ...NEW, password: null },
    ]) {
      const answer = await setup(world, typeof body === 'string' ? { text: body } : body);
      assert.equal(answer.status, 400, String(JSON.stringify(body)));
      assert.match(String(answer.body.code), /^(request_invalid|password_weak)$/);
    }
    assert.deepEqual(await admins(world), []);
  });
});

describe('the admin IPs', () => {
  const reach = (world: World, admin: Trader, remoteAddress: string, headers: Record<string, string> = {}) =>
    world.request<Problem>({
      method: 'GET',
      url: '/deployment/queues',
      remoteAddress,
      headers: { authorization: `Bearer ${admin.apiKey}`, ...headers },
    });

  test('are loopback where nothing else is said, over IPv4, IPv6 and IPv4 in IPv6', async (t) => {
    const { world, admin } = await deployment(t);
    for (const ip of ['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1', '0:0:0:0:0:0:0:1'])
      assert.equal((await reach(world, admin, ip)).status, 200, ip);
    for (const ip of ['128.0.0.1', '10.0.0.1', '::2', '::ffff:10.0.0.1', 'fe80::1', '::ffff:0:127.0.0.1']) {
      const answer = await reach(world, admin, ip);
      assert.equal(answer.status, 403, ip);
      assert.equal(answer.body.code, 'ip_not_allowed', ip);
    }
  });

  test('are those of ADMIN_IPS, in every spelling', async (t) => {
    const ADMIN_IPS = '10.1.0.0/16, 203.0.113.7, 2001:db8:1::/48, ::ffff:198.51.100.4';
    const { world, admin } = await deployment(t, { env: { ADMIN_IPS } });
    for (const ip of [
      '10.1.255.1',
      '::ffff:10.1.0.9',
      '::FFFF:10.1.0.9',
      '203.0.113.7',
      '::ffff:cb00:7107',
      '2001:db8:1::1',
      '2001:0DB8:0001:0000::0009',
      '198.51.100.4',
      '::ffff:198.51.100.4',
    ])
      assert.equal((await reach(world, admin, ip)).status, 200, ip);
    for (const ip of ['127.0.0.1', '::1', '10.2.0.1', '203.0.113.8', '2001:db8:2::1', '198.51.100.5'])
      assert.equal((await reach(world, admin, ip)).status, 403, ip);
  });

  test('are not what a stranger writes into X-Forwarded-For', async (t) => {
    const { world, admin } = await deployment(t);
    for (const forwarded of ['127.0.0.1', '::1', '127.0.0.1, 127.0.0.1', 'for=127.0.0.1', ', 127.0.0.1,'])
      for (const name of ['x-forwarded-for', 'x-real-ip', 'forwarded', 'client-ip', 'true-client-ip']) {
        const answer = await reach(world, admin, '198.51.100.1', { [name]: forwarded });
        assert.equal(answer.body.code, 'ip_not_allowed', `${name}: ${forwarded}`);
      }
    // Nor does it take an admin's own address away.
    assert.equal((await reach(world, admin, '127.0.0.1', { 'x-forwarded-for': '198.51.100.1' })).status, 200);
  });

  test('are read through the trusted proxies, from the right', async (t) => {
    const env = { TRUSTED_PROXIES: '10.0.0.0/8', ADMIN_IPS: '203.0.113.7' };
    const { world, admin } = await deployment(t, { env });
    const through = async (forwarded: string) =>
      (await reach(world, admin, '10.0.0.1', { 'x-forwarded-for': forwarded })).status;
    assert.equal(await through('203.0.113.7'), 200);
    assert.equal(await through('198.51.100.1, 203.0.113.7, 10.9.9.9'), 200);
    assert.equal(await through('203.0.113.7, 198.51.100.1'), 403);
    assert.equal(await through('203.0.113.7, garbage'), 403);
    assert.equal(await through(''), 403);
    assert.equal((await reach(world, admin, '203.0.113.7')).status, 200);
  });

  test('come before everything else: credentials, the body, whether the thing exists', async (t) => {
    const { world } = await deployment(t);
    for (const [method, url] of [
      ['POST', '/setup/admin'],
      ['GET', '/deployment/workers'],
      ['PATCH', '/deployment/users/x'],
      ['PUT', '/deployment/terms'],
    ] as const) {
      const body =
        method === 'GET' ? {} : { body: 'no JSON', headers: { 'content-type': 'application/json' } };
      const answer = await world.request({ method, url, remoteAddress: '198.51.100.1', ...body });
      assert.equal(answer.status, 403, url);
      assert.equal(codeOf(answer), 'ip_not_allowed', url);
    }
  });
});

describe('workers', () => {
  interface Worker {
    user_id: string;
    started_at: string;
    busy: boolean;
    last_active_at: string;
    connections: number;
  }

  test('are listed with what they do, page by page', async (t) => {
    const { world, call } = await deployment(t);
    assert.deepEqual((await call<Page<Worker>>('GET', '/deployment/workers')).body, {
      items: [],
      next_cursor: null,
    });
    const before = Date.now();
    const traders = await Promise.all(Array.from({ length: 5 }, () => world.makeTrader()));
    for (const trader of traders) assert.equal((await world.send(trader)).status, 200);
    const all = await call<Page<Worker>>('GET', '/deployment/workers');
    assert.deepEqual(
      all.body.items.map(({ user_id }) => user_id).sort(),
      traders.map(({ user }) => user.id).sort(),
    );
    for (const worker of all.body.items) {
      assert.deepEqual(Object.keys(worker), [
        'user_id',
        'host',
        'started_at',
        'busy',
        'last_active_at',
        'connections',
      ]);
      assert.equal(worker.connections, 1);
      for (const time of [worker.started_at, worker.last_active_at]) {
        assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        assert.ok(Date.parse(time) >= before && Date.parse(time) <= Date.now());
      }
    }
    const first = await call<Page<Worker>>('GET', '/deployment/workers?limit=3');
    const second = await call<Page<Worker>>(
      'GET',
      `/deployment/workers?limit=3&cursor=${first.body.next_cursor}`,
    );
    assert.equal(second.body.next_cursor, null);
    assert.deepEqual([...first.body.items, ...second.body.items], all.body.items);
  });

  test('stop on demand, and the next signal starts a new one', async (t) => {
    const { world, admin, call } = await deployment(t);
    const trader = await world.makeTrader();
    await world.send(trader);
    const stop = () => call('POST', `/deployment/workers/${trader.user.id}/stop`);
    assert.equal((await stop()).status, 204);
    assert.deepEqual(await lastAudit(world, admin), {
      action: 'worker_stop',
      success: true,
      resource_type: 'worker',
      resource_id: trader.user.id,
      error_message: null,
    });
    assert.deepEqual((await call<Page<Worker>>('GET', '/deployment/workers')).body.items, []);
    const again = await stop();
    assert.equal(again.status, 404);
    assert.equal((await lastAudit(world, admin)).success, false);
    const { status, body } = await world.send(trader);
    assert.equal(status, 200);
    assert.equal(body.status, 'filled');
    assert.equal(await world.position(trader.account.id, 'BTCUSDT'), '2');
  });

  test('finish what is in flight before they stop, and what waited is served by the next', async (t) => {
    const broker = scriptedBroker(t);
    const { world, call } = await deployment(t, { brokers: broker.brokers });
    const trader = await world.makeTrader();
    const held = broker.hold('place');
    const inFlight = world.send(trader);
    await held.reached;
    const waiting = world.send(trader, { quantity: 2 });
    await world.eventually(
      () => world.orders(trader),
      (orders) => orders.length === 2,
    );
    const busy = await call<Page<Worker>>('GET', '/deployment/workers');
    assert.equal(busy.body.items[0]?.busy, true);
    const stopped = call('POST', `/deployment/workers/${trader.user.id}/stop`);
    const early = await Promise.race([stopped, call('GET', '/deployment/queues')]);
    assert.equal(early.status, 200, 'the stop is not answered while an order is at the broker');
    held.release();
    assert.equal((await inFlight).body.status, 'filled');
    assert.equal((await stopped).status, 204);
    assert.equal((await waiting).body.status, 'filled');
    assert.deepEqual(broker.trades(), ['buy 1', 'buy 2']);
  });

  test('that do not exist are 404', async (t) => {
    const { call } = await deployment(t);
    for (const id of [...GARBAGE_IDS, randomUUIDv7()]) {
      const answer = await call('POST', `/deployment/workers/${encodeURIComponent(id)}/stop`);
      assert.equal(answer.status, 404, id);
      assert.equal(answer.body.code, 'not_found');
    }
    const withBody = await call('POST', `/deployment/workers/${randomUUIDv7()}/stop`, { force: true });
    assert.equal(withBody.status, 400);
  });
});

describe('queues', () => {
  test('are counted: fill checks by state, starts, hosts, and the mailboxes of users with orders under way', async (t) => {
    const broker = scriptedBroker(t);
    const { world, call } = await deployment(t, { brokers: broker.brokers });
    const empty = await call<Queues>('GET', '/deployment/queues');
    assert.equal(empty.status, 200);
    const [host, ...others] = empty.body.hosts;
    assert.deepEqual(others, []);
    assert.deepEqual([host?.workers, host?.busy, host?.draining], [0, 0, false]);
    assert.deepEqual(
      { ...empty.body, hosts: [] },
      {
        orders: { under_way: 0, oldest_seconds: null },
        fill_checks: { scheduled: 0, running: 0, dead_letter: 0, overdue_seconds: 0 },
        worker_starts: { waiting: 0 },
        hosts: [],
        mailboxes: [],
      },
    );
    const trader = await world.makeTrader();
    const held = broker.hold('place');
    const answer = world.send(trader);
    await held.reached;
    const { body } = await world.eventually(
      () => call<Queues>('GET', '/deployment/queues'),
      (queues) => queues.body.hosts[0]?.workers === 1,
    );
    assert.deepEqual(body.mailboxes, [{ user_id: trader.user.id, waiting: 0 }]);
    assert.equal(body.orders.under_way, 1);
    assert.ok((body.orders.oldest_seconds ?? -1) >= 0, 'the order that is held has an age');
    held.release();
    await answer;
  });
});

describe('dead letters', () => {
  interface DeadLetter {
    order_id: string;
    attempts: number;
  }
  /** Orders that rest at the broker and whose polls are used up. */
  async function unresolved(t: TestContext, orders: number) {
    const clock = settableClock();
    const env = { FILL_RETRIES: '0', FILL_FIRST_POLL_SECONDS: '1' };
    const { world, admin, call } = await deployment(t, { clock, env });
    const trader = await world.makeTrader({}, { paper: { latency_ms: 0, fill: 'never' } });
    const ids: string[] = [];
    for (let index = 0; index < orders; index++) ids.push((await world.send(trader)).body.order_id);
    ids.sort();
    clock.advance(1_000);
    const letters = async (query = '') =>
      (await call<Page<DeadLetter>>('GET', `/deployment/dead-letters${query}`)).body;
    await world.eventually(letters, ({ items }) => items.length === orders);
    return { clock, world, admin, call, trader, ids, letters };
  }

  test('are listed with what an operator needs, newest first, page by page', async (t) => {
    const { clock, trader, ids, letters } = await unresolved(t, 3);
    const { items, next_cursor } = await letters();
    assert.equal(next_cursor, null);
    assert.deepEqual(items[0], {
      order_id: ids[2],
      user_id: trader.user.id,
      trading_account_id: trader.account.id,
      simulation: false,
      real_money: false,
      symbol: 'BTCUSDT',
      status: 'placed',
      attempts: 1,
      last_error: 'the broker reports placed',
      next_at: timestamp(clock.now()),
    });
    const first = await letters('?limit=2');
    const second = await letters(`?limit=2&cursor=${first.next_cursor}`);
    assert.deepEqual([...first.items, ...second.items], items);
    assert.equal(second.next_cursor, null);
    assert.deepEqual(
      items.map(({ order_id }) => order_id),
      ids.toReversed(),
    );
  });

  test('are retried with all their tries, once', async (t) => {
    const { world, admin, call, trader, ids, letters } = await unresolved(t, 1);
    const retry = () => call('POST', `/deployment/dead-letters/${ids[0]}/retry`);
    await world.setPaper(trader, { fill: 'full' });
    const answers = await Promise.all([retry(), retry(), retry()]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 409, 409]);
    assert.equal(answers.find(({ status }) => status === 409)?.body.code, 'not_a_dead_letter');
    const entries = (await world.audits(admin)).filter(({ action }) => action === 'dead_letter_retry');
    assert.deepEqual(
      entries.map(({ resource_type, resource_id, success }) => [resource_type, resource_id, success]).sort(),
      [
        ['order', ids[0], 0],
        ['order', ids[0], 0],
        ['order', ids[0], 1],
      ],
    );
    const order = await world.eventually(
      () => world.order(trader, String(ids[0])),
      ({ status }) => status === 'filled',
    );
    assert.deepEqual(order.verification, { state: 'done', attempts: 1, next_at: null });
    assert.deepEqual((await letters()).items, []);
    assert.equal((await retry()).status, 409);
  });

  test('that do not exist are 404', async (t) => {
    const { world, call } = await deployment(t);
    const simulated = await world.send(await world.makeTrader(), {}, { query: '?simulation=true' });
    for (const id of [...GARBAGE_IDS, randomUUIDv7(), simulated.body.order_id]) {
      const answer = await call('POST', `/deployment/dead-letters/${encodeURIComponent(id)}/retry`);
      assert.equal(answer.status, 404, id);
    }
    const url = `/deployment/dead-letters/${randomUUIDv7()}/retry`;
    assert.equal((await call('POST', url, { attempts: 3 })).status, 400);
  });
});

describe('users', () => {
  interface User {
    id: string;
    email: string;
    is_active: boolean;
    plan: string;
    effective_plan: string;
    plan_expires_at: string | null;
    sessions: Record<string, unknown>[];
  }

  test('are listed, newest first, page by page, and found by any part of their address', async (t) => {
    const { world, admin, call } = await deployment(t);
    const emails = ['ann@example.com', 'ann_b@example.com', 'annxb@example.com', 'bob%@example.org'];
    // Ids of one millisecond are in no order of their own.
    for (const [index, email] of emails.entries())
      await world.makeTrader({ email, id: `ffffffff-ffff-7fff-8fff-fffffffffff${index}` as UserId });
    const list = async (query: string) => (await call<Page<User>>('GET', `/deployment/users${query}`)).body;
    const found = async (part: string) =>
      (await list(`?email=${encodeURIComponent(part)}`)).items.map(({ email }) => email);
    const all = await list('');
    assert.deepEqual(
      all.items.map(({ email }) => email),
      [...emails.toReversed(), admin.user.email],
    );
    assert.deepEqual(await found('ann@example.com'), ['ann@example.com']);
    assert.deepEqual(await found('ANN'), ['annxb@example.com', 'ann_b@example.com', 'ann@example.com']);
    assert.deepEqual(await found('n_b'), ['ann_b@example.com']);
    assert.deepEqual(await found('%'), ['bob%@example.org']);
    assert.deepEqual(await found('!'), []);
    assert.deepEqual(await found("' or 1=1 --"), []);
    const first = await list('?limit=3');
    const second = await list(`?limit=3&cursor=${first.next_cursor}`);
    assert.deepEqual([...first.items, ...second.items], all.items);
    assert.equal(second.next_cursor, null);
    for (const query of [
      '?limit=0',
      '?limit=201',
      '?limit=x',
      '?cursor=x',
      '?email=',
      '?mail=x',
      '?email=a&email=b',
    ])
      assert.equal((await call('GET', `/deployment/users${query}`)).status, 400, query);
  });

  test('are shown with their sessions, and with no secret', async (t) => {
    const { world, call } = await deployment(t);
    const trader = await world.makeTrader({ plan: 'pro', planExpiresAt: timestamp(Date.now() - 1) });
    const session = await makeSession(world, trader.user);
    await makeSession(world, trader.user, { isActive: false });
    const { status, body } = await call<User>('GET', `/deployment/users/${trader.user.id}`);
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), [
      'id',
      'email',
      'is_admin',
      'is_active',
      'plan',
      'effective_plan',
      'plan_expires_at',
      'terms_version',
      'email_verified',
      'terms_accepted_at',
      'created_at',
      'sessions',
    ]);
    assert.equal(body.plan, 'pro');
    assert.equal(body.effective_plan, 'free');
    assert.deepEqual(
      body.sessions.map(({ id }) => id),
      [session.id],
    );
    assert.deepEqual(Object.keys(body.sessions[0] ?? {}), ['id', 'created_at', 'ip_address', 'user_agent']);
  });

  test('change plan and expiry, which holds from the next request on', async (t) => {
    const { world, admin, call } = await deployment(t);
    const trader = await world.makeTrader({ plan: 'free' });
    const change = (body: unknown) => call<User>('PATCH', `/deployment/users/${trader.user.id}`, body);
    assert.equal((await world.send(trader)).status, 403);
    const changed = await change({ plan: 'pro', plan_expires_at: '2999-01-01T01:00:00+01:00' });
    assert.equal(changed.status, 200);
    assert.equal(changed.body.plan, 'pro');
    assert.equal(changed.body.plan_expires_at, '2999-01-01T00:00:00.000Z');
    assert.equal(changed.body.effective_plan, 'pro');
    const entry = (await world.audits(admin)).at(-1);
    assert.deepEqual(
      [entry?.action, entry?.success, entry?.resource_type, entry?.resource_id],
      ['user_change', 1, 'user', trader.user.id],
    );
    const { request_id: _, ...metadata } = JSON.parse(entry?.metadata ?? '{}');
    assert.deepEqual(metadata, { plan: 'pro', plan_expires_at: '2999-01-01T00:00:00.000Z' });
    assert.equal((await world.send(trader)).status, 200);
    // What is not named stays as it is.
    assert.equal((await change({ plan_expires_at: '2001-01-01T00:00:00Z' })).body.plan, 'pro');
    assert.equal((await world.send(trader)).status, 403);
    assert.equal((await change({ plan_expires_at: null })).body.effective_plan, 'pro');
    assert.equal((await world.send(trader)).status, 200);
  });

  test('are deactivated from the next request on, by webhook, key and session alike, and activated again', async (t) => {
    const { world, call } = await deployment(t);
    const trader = await world.makeTrader();
    const session = await makeSession(world, trader.user);
    const ways = async () => {
      const url = '/trading/orders';
      return [
        await world.send(trader),
        await world.as(trader, 'GET', url),
        await world.request({ method: 'GET', url, headers: session.cookie }),
        await world.request({ method: 'GET', url, headers: session.bearer }),
      ];
    };
    const change = (is_active: boolean) =>
      call<User>('PATCH', `/deployment/users/${trader.user.id}`, { is_active });
    assert.deepEqual(
      (await ways()).map(({ status }) => status),
      [200, 200, 200, 200],
    );
    assert.equal((await change(false)).body.is_active, false);
    const refused = await ways();
    assert.deepEqual(
      refused.map(({ status }) => status),
      [403, 403, 403, 403],
    );
    assert.deepEqual(new Set(refused.map(codeOf)), new Set(['user_deactivated']));
    assert.equal((await change(true)).body.is_active, true);
    assert.deepEqual(
      (await ways()).map(({ status }) => status),
      [200, 200, 200, 200],
    );
  });

  test('cannot deactivate themselves, nor two admins each other at one moment', async (t) => {
    const { world, admin, call } = await deployment(t);
    const own = await call('PATCH', `/deployment/users/${admin.user.id}`, { is_active: false, plan: 'free' });
    assert.equal(own.status, 409);
    assert.equal(own.body.code, 'own_deactivation');
    assert.deepEqual(await lastAudit(world, admin), {
      action: 'user_change',
      success: false,
      resource_type: 'user',
      resource_id: admin.user.id,
      error_message: `${own.body.title}. ${own.body.detail}`,
    });
    assert.equal((await call<User>('GET', `/deployment/users/${admin.user.id}`)).body.plan, 'desk');
    // To change one's own plan, or to say that one is active, is no deactivation.
    assert.equal(
      (await call('PATCH', `/deployment/users/${admin.user.id}`, { is_active: true })).status,
      200,
    );
    for (let round = 0; round < 5; round++) {
      const other = await world.makeTrader({ isAdmin: true });
      const third = await world.makeTrader({ isAdmin: true });
      const deactivate = (by: Trader, whom: Trader) =>
        world.as(by, 'PATCH', `/deployment/users/${whom.user.id}`, { is_active: false });
      const answers = await Promise.all([deactivate(other, third), deactivate(third, other)]);
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 403]);
    }
  });

  test('that do not exist are 404, and a change that is none is 400', async (t) => {
    const { world, call } = await deployment(t);
    for (const id of [...GARBAGE_IDS, randomUUIDv7()]) {
      const url = `/deployment/users/${encodeURIComponent(id)}`;
      assert.equal((await call('GET', url)).status, 404, id);
      assert.equal((await call('PATCH', url, { plan: 'pro' })).status, 404, id);
    }
    const trader = await world.makeTrader({ plan: 'free' });
    const url = `/deployment/users/${trader.user.id}`;
    const before = (await call('GET', url)).body;
    for (const body of [
      undefined,
      null,
      [],
      {},
      { is_admin: true },
      { is_active: false, email: 'x@example.com' },
      { is_active: 'false' },
      { is_active: 0 },
      { is_active: null },
      { plan: 'gold' },
      { plan: 'toString' },
      { plan: '__proto__' },
      { plan: null },
      { plan: 1 },
      { plan_expires_at: 'tomorrow' },
      { plan_expires_at: '2026-01-01' },
      { plan_expires_at: '2026-13-01T00:00:00Z' },
      { plan_expires_at: '2026-02-30T00:00:00Z' },
      { plan_expires_at: '0000-01-01T00:00:00Z' },
      { plan_expires_at: '9999-12-31T23:59:59-01:00' },
      { plan_expires_at: 1_800_000_000 },
      { plan_expires_at: '' },
    ])
      assert.equal((await call('PATCH', url, body)).status, 400, String(JSON.stringify(body)));
    assert.deepEqual((await call('GET', url)).body, before);
  });
});

describe('sessions', () => {
  test('end at once, once', async (t) => {
    const { world, admin, call } = await deployment(t);
    const { user } = await world.makeTrader();
    const [ended, kept] = [await makeSession(world, user), await makeSession(world, user)];
    const url = `/deployment/sessions/${ended.id}`;
    const orders = (headers: Record<string, string>) =>
      world.request({ method: 'GET', url: '/trading/orders', headers });
    assert.equal((await orders(ended.cookie)).status, 200);
    assert.equal((await call('DELETE', url)).status, 204);
    assert.equal((await orders(ended.cookie)).status, 401);
    assert.equal((await orders(ended.bearer)).status, 401);
    assert.equal((await orders(kept.cookie)).status, 200);
    assert.deepEqual(await lastAudit(world, admin), {
      action: 'session_revoke',
      success: true,
      resource_type: 'session',
      resource_id: ended.id,
      error_message: null,
    });
    assert.equal((await call('DELETE', url)).status, 404);
    assert.equal((await lastAudit(world, admin)).success, false);
    for (const id of [...GARBAGE_IDS, randomUUIDv7()])
      assert.equal((await call('DELETE', `/deployment/sessions/${encodeURIComponent(id)}`)).status, 404, id);
  });
});

describe('terms', () => {
  interface Terms {
    version: string;
    text: string;
    published_at: string;
  }

  test('are published once per version, and must be accepted before the next real order', async (t) => {
    const { world, admin, call } = await deployment(t);
    const trader = await world.makeTrader();
    assert.equal((await world.send(trader)).status, 200);
    const publish = (body: unknown) => call<Terms & Problem>('PUT', '/deployment/terms', body);
    const made = await publish({ version: '2026-10', text: 'New terms.' });
    assert.equal(made.status, 200);
    const { published_at, ...terms } = made.body;
    assert.deepEqual(terms, { version: '2026-10', text: 'New terms.' });
    assert.ok(Date.parse(published_at) <= Date.now());
    assert.deepEqual(await lastAudit(world, admin), {
      action: 'terms_publish',
      success: true,
      resource_type: 'terms',
      resource_id: '2026-10',
      error_message: null,
    });
    assert.equal(codeOf(await world.send(trader)), 'terms_not_accepted');
    for (const version of ['2026-10', '1']) {
      const again = await publish({ version, text: 'Other words.' });
      assert.equal(again.status, 409);
      assert.equal(again.body.code, 'terms_version_exists');
    }
    const rows = await world.db.all<Terms>(sql`select text from terms where version = '2026-10'`);
    assert.deepEqual(rows, [{ text: 'New terms.' }]);
  });

  test('published at one moment are one after the other: the last one is the current one', async (t) => {
    const clock = settableClock();
    const { world, call } = await deployment(t, { clock });
    const publish = (version: string) => call<Terms>('PUT', '/deployment/terms', { version, text: 'x' });
    // By its text '10' is before '9'; by its time it must not be.
    await publish('9');
    await publish('10');
    const current = () =>
      world.db.get<Terms>(sql`select version from terms order by published_at desc, version desc limit 1`);
    assert.equal((await current())?.version, '10');
    const answers = await Promise.all(['a', 'b', 'c', 'd', 'd'].map(publish));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 200, 200, 409]);
    const times = await world.db.all<Terms>(sql`select distinct published_at from terms`);
    assert.equal(times.length, 7);
  });

  test('are a version and a text, and nothing else', async (t) => {
    const { call } = await deployment(t);
    for (const body of [
      undefined,
      [],
      {},
      { version: '2' },
      { text: 'x' },
      { version: 2, text: 'x' },
      { version: '', text: 'x' },
      { version: 'a b', text: 'x' },
      { version: 'x'.repeat(65), text: 'x' },
      { version: '2', text: '' },
      { version: '2', text: 'a\u0000b' },
      { version: '2', text: 'a\ud800b' },
      { version: '2', text: ['x'] },
      { version: '2', text: 'x', published_at: '2026-01-01T00:00:00Z' },
    ])
      assert.equal((await call('PUT', '/deployment/terms', body)).status, 400, String(JSON.stringify(body)));
    const long = await call('PUT', '/deployment/terms', { version: '2', text: 'x'.repeat(70_000) });
    assert.equal(long.status, 413);
  });
});
