// Ways in that somebody found once, and that stay closed.

import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { test } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { scriptedBroker } from '../worker/scripted-broker.ts';
import { openWorld, type Problem, settableClock } from '../world.ts';

const PRODUCTION = {
  NODE_ENV: 'production',
  JWT_SECRET: 'x'.repeat(32),
  ALLOWED_ORIGINS: 'https://app.example.com',
  BASE_URL: 'https://app.example.com',
};
const firstAdmin = { email: 'admin@example.com', password: 'correct horse battery' };

test('in production, a request that an unknown proxy forwarded does not administer as that proxy', async (t) => {
  const world = await openWorld(t, { env: PRODUCTION });
  for (const headers of [{ 'x-forwarded-for': '203.0.113.9' }, { forwarded: 'for=203.0.113.9' }]) {
    const answer = await world.request<Problem>({
      method: 'POST',
      url: '/setup/admin',
      body: firstAdmin,
      headers,
    });
    assert.equal(answer.status, 403);
    assert.match(answer.body.detail, /TRUSTED_PROXIES/);
  }
  const direct = await world.request({ method: 'POST', url: '/setup/admin', body: firstAdmin });
  assert.equal(direct.status, 201);
});

test('a trusted proxy that names no valid client makes nobody an admin, and nobody one of an allowed list', async (t) => {
  for (const env of [PRODUCTION, {}]) {
    const world = await openWorld(t, { env: { ...env, TRUSTED_PROXIES: '127.0.0.1, ::1' } });
    const trader = await world.makeTrader();
    await world.allowIps(trader, '127.0.0.1', '::1', '0.0.0.0/0', '::/0');
    const names = (forwarded: Record<string, string>) => ({
      setup: () =>
        world.request<Problem>({ method: 'POST', url: '/setup/admin', body: firstAdmin, headers: forwarded }),
      metrics: () => world.request<Problem>({ method: 'GET', url: '/metrics', headers: forwarded }),
      webhook: () => world.send<Problem>(trader, {}, { headers: forwarded }),
    });
    const invalid: Record<string, string>[] = [
      ...['unknown', '', ' ', ',', '127.0.0.1, unknown', '203.0.113.7,', 'localhost', '_hidden', '::1::'],
    ].map((text) => ({ 'x-forwarded-for': text }));
    invalid.push({ forwarded: 'for=127.0.0.1' });
    if ('NODE_ENV' in env) invalid.push({}, { 'x-real-ip': '127.0.0.1' });
    for (const headers of invalid) {
      const { setup, metrics, webhook } = names(headers);
      const said = JSON.stringify(headers);
      const admin = await setup();
      assert.deepEqual([admin.status, admin.body.code], [403, 'ip_not_allowed'], said);
      assert.match(admin.body.detail, /X-Forwarded-For/, said);
      assert.equal((await metrics()).status, 403, said);
      const blocked = await webhook();
      assert.deepEqual([blocked.status, blocked.body.code], [403, 'webhook_ip_blocked'], said);
    }
    const entries = await world.audits(trader);
    assert.deepEqual([...new Set(entries.map(({ ip_address }) => ip_address))], ['unknown via 127.0.0.1']);
    // Whoever sits at the proxy itself, and says so, is who he says.
    const { setup, webhook } = names({ 'x-forwarded-for': '127.0.0.1' });
    assert.equal((await webhook()).status, 200);
    assert.equal((await setup()).status, 201);
  }
});

test('a rehearsal said in the wrong place is refused, never traded in earnest', async (t) => {
  const world = await openWorld(t);
  const trader = await world.makeTrader();
  const wrong: [Record<string, unknown>, string][] = [
    [{ simulation: true }, ''],
    [{ simulation: 'true' }, ''],
    [{ simulation: false }, '?simulation=true'],
    [{}, '?Simulation=true'],
    [{}, '?simulation[]=true'],
    [{}, '?simulation=true&SIMULATION=false'],
  ];
  for (const [fields, query] of wrong) {
    const answer = await world.webhook<Problem>(trader, world.signal(trader, fields), { query });
    assert.deepEqual(
      [answer.status, answer.body.code],
      [400, 'webhook_payload_invalid'],
      `${query} ${JSON.stringify(fields)}`,
    );
  }
  assert.deepEqual(await world.paperOrders(trader.account.id), []);
  const agreed = await world.webhook(trader, world.signal(trader, { simulation: true }), {
    query: '?simulation=true',
  });
  assert.equal(agreed.body.simulation, true);
});

test('a refused signal from the future stays refused for as long as it is fresh', async (t) => {
  const clock = settableClock();
  const world = await openWorld(t, { clock });
  const trader = await world.makeTrader({}, { maxRequestAge: 10, halted: true });
  const body = world.signal(trader, { timestamp: timestamp(clock.now() + 8_000) });
  assert.equal((await world.webhook(trader, body)).status, 403);
  await world.db.commit([sql`update trading_accounts set halted = ${false} where id = ${trader.account.id}`]);
  clock.advance(12_000);
  assert.equal((await world.webhook<Problem>(trader, body)).status, 409);
});

test('an entry that waits while its user is deactivated is not sent', async (t) => {
  const broker = scriptedBroker(t);
  const world = await openWorld(t, { brokers: broker.brokers });
  const trader = await world.makeTrader();
  const held = broker.hold('place');
  const first = world.send(trader, { quantity: 1 });
  await held.reached;
  const second = world.send(trader, { quantity: 2 });
  await world.eventually(
    () => world.orders(trader),
    (orders) => orders.length === 2,
  );
  await world.db.commit([sql`update users set is_active = ${false} where id = ${trader.user.id}`]);
  held.release();
  assert.equal((await first).body.status, 'filled', 'what was sent was sent');
  const { body } = await second;
  assert.deepEqual([body.status, body.error?.code], ['rejected', 'account_halted']);
  assert.deepEqual(broker.trades(), ['buy 1']);
});

test('a user’s list of allowed IPs has an end', async (t) => {
  const world = await openWorld(t);
  const trader = await world.makeTrader();
  const now = timestamp(world.clock.now());
  await world.db.commit(
    Array.from(
      { length: 199 },
      (_, index) => sql`insert into user_allowed_ips (id, user_id, ip_address, created_at)
        values (${randomUUIDv7()}, ${trader.user.id}, ${`10.0.0.${index}`}, ${now})`,
    ),
  );
  const add = (ip_address: string) =>
    world.inSession<Problem>(trader, 'POST', '/settings/allowed-ips', { ip_address });
  assert.equal((await add('127.0.0.1')).status, 201);
  const refused = await add('127.0.0.2');
  assert.deepEqual([refused.status, refused.body.code], [409, 'too_many']);
});

test('the edge counts one client of IPv6 by its /64, whichever of its addresses it uses', async (t) => {
  const env = { EDGE: 'builtin', EDGE_AUTH_LIMIT: '3' };
  const world = await openWorld(t, { env });
  const login = (remoteAddress: string) =>
    world.request({
      method: 'POST',
      url: '/auth/login',
      body: { email: 'a@example.com', password: 'wrong password' },
      remoteAddress,
    });
  const statuses: number[] = [];
  for (const host of ['1', '2', '3:4', 'ffff:1']) statuses.push((await login(`2001:db8::${host}`)).status);
  assert.deepEqual(statuses, [401, 401, 401, 429]);
  assert.equal((await login('2001:db8:0:1::1')).status, 401);
});

test('the edge counts a network of IPv6 by its /48 too: 65,536 networks of one customer are not 65,536 clients', async (t) => {
  const env = { EDGE: 'builtin', EDGE_AUTH_LIMIT: '3', WAF_RATE_LIMIT: '5' };
  const world = await openWorld(t, { env });
  const ask = async (method: 'GET' | 'POST', url: string, remoteAddress: string) =>
    (await world.request({ method, url, remoteAddress })).status;
  // Four times what one of its clients may: several people may live in one /48.
  for (const [method, url, limit, open] of [
    ['POST', '/auth/token', 12, 400],
    ['GET', '/nowhere', 20, 404],
  ] as const) {
    const network = `2001:db8:${limit}`;
    for (let index = 0; index < limit; index++)
      assert.equal(await ask(method, url, `${network}:${index.toString(16)}::1`), open, `${url} ${index}`);
    assert.equal(await ask(method, url, `${network}:ffff::1`), 429, url);
    assert.equal(await ask(method, url, '2001:db8:aaaa::1'), open, 'the next network is another one');
  }
  // One client that is refused uses up nothing of its neighbours.
  for (let index = 0; index < 40; index++) await ask('GET', '/nowhere', '2001:db8:bbbb::1');
  assert.equal(await ask('GET', '/nowhere', '2001:db8:bbbb:1::1'), 404);
});
