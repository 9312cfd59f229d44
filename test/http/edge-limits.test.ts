// The built-in edge: per address exact windows of 5 minutes, 100 requests on the auth paths together and 2,000
// overall; the charting platform's addresses are free on /webhook/*; admin paths are closed to foreign addresses.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { createWindows } from '../../src/http/edge.ts';
import { openWorld, PASSWORD, type Problem, settableClock, type World } from '../world.ts';
import { countingHasher } from './visitor.ts';

const WINDOW_MS = 300_000;
const CHARTING_IP = '52.89.214.238';
const MALLORY = '203.0.113.66';
const ALICE = '198.51.100.1';

function open(t: TestContext, env: Record<string, string> = {}) {
  const clock = settableClock();
  const hasher = countingHasher();
  return openWorld(t, { env: { EDGE: 'builtin', ...env }, clock, hasher }).then((world) => ({
    world,
    clock,
    hasher,
  }));
}

type Sent = readonly [method: 'GET' | 'POST', url: string];

const AUTH: readonly Sent[] = [
  ['POST', '/auth/login'],
  ['POST', '/auth/register'],
  ['POST', '/auth/forgot-password'],
];
const TOKENS: readonly Sent[] = [
  ['POST', '/auth/token'],
  ['POST', '/auth/login/totp'],
];
const ELSEWHERE: Sent = ['GET', '/nowhere'];

async function send(world: World, [method, url]: Sent, remoteAddress: string, headers = {}) {
  const answer = await world.request<Problem>({ method, url, remoteAddress, headers });
  return { ...answer, retryAfter: answer.headers['retry-after'], isLimited: answer.status === 429 };
}

async function sendMany(world: World, count: number, sent: readonly Sent[], ip: string): Promise<number> {
  let limited = 0;
  for (let index = 0; index < count; index++)
    if ((await send(world, sent[index % sent.length] ?? ELSEWHERE, ip)).isLimited) limited++;
  return limited;
}

describe('the limit of an address on the auth paths', () => {
  test('is 100 in any 5 minutes over the three of them together, to the millisecond', async (t) => {
    const { world, clock } = await open(t);
    assert.equal(await sendMany(world, 60, AUTH, MALLORY), 0);
    clock.advance(100_000);
    assert.equal(await sendMany(world, 40, AUTH, MALLORY), 0);
    for (const path of AUTH) {
      const { status, body, retryAfter } = await send(world, path, MALLORY);
      assert.deepEqual([status, body.code, retryAfter], [429, 'edge_rate_limited', '200']);
    }
    // Blocked there, and nowhere else; and nobody else is. Tokens and codes have as many of their own.
    assert.equal(await sendMany(world, 100, TOKENS, MALLORY), 0);
    assert.equal(await sendMany(world, 2, TOKENS, MALLORY), 2);
    assert.equal((await send(world, ELSEWHERE, MALLORY)).status, 404);
    assert.equal((await send(world, ['POST', '/auth/silent-refresh'], MALLORY)).isLimited, false);
    assert.equal(await sendMany(world, 3, AUTH, ALICE), 0);

    clock.advance(199_999);
    const last = await send(world, AUTH[0] as Sent, MALLORY);
    assert.deepEqual([last.status, last.retryAfter], [429, '1']);
    clock.advance(1);
    // The first 60 have left the window, the other 40 have not.
    assert.equal(await sendMany(world, 60, AUTH, MALLORY), 0);
    assert.equal((await send(world, AUTH[0] as Sent, MALLORY)).retryAfter, '100');
  });

  test('counts every spelling of the paths', async (t) => {
    const { world } = await open(t, { EDGE_AUTH_LIMIT: '4' });
    for (const url of ['/auth/login?x=1', '/auth/%6cogin', '/%61uth/register', '/auth/forgot-password#x'])
      assert.notEqual((await send(world, ['POST', url], MALLORY)).status, 404, url);
    assert.equal((await send(world, ['POST', '/auth/login'], MALLORY)).isLimited, true);
  });

  test('holds before any work is done: no body is read, no password is tried', async (t) => {
    const { world, hasher } = await open(t, { EDGE_AUTH_LIMIT: '1' });
    const login = () =>
      world.request<Problem>({
        method: 'POST',
        url: '/auth/login',
        body: { email: 'nobody@example.com', password: PASSWORD },
        remoteAddress: MALLORY,
      });
    assert.equal((await login()).status, 401);
    const { length } = hasher.verified;
    assert.equal((await login()).body.code, 'edge_rate_limited');
    assert.equal(hasher.verified.length, length);
    const broken = { method: 'POST', url: '/auth/login', body: '{', remoteAddress: MALLORY } as const;
    assert.equal((await world.request(broken)).status, 429);
  });
});

describe('the limit of an address overall', () => {
  test('is 2,000 in any 5 minutes, over everything, to the millisecond', async (t) => {
    const { world, clock } = await open(t);
    const mixed: readonly Sent[] = [['GET', '/health'], ELSEWHERE, ['GET', '/%zz'], ['GET', '/auth/session']];
    assert.equal(await sendMany(world, 1000, mixed, MALLORY), 0);
    clock.advance(1);
    assert.equal(await sendMany(world, 1000, mixed, MALLORY), 0);
    for (const sent of [...mixed, ...AUTH, ['POST', '/webhook/x/order'] as const]) {
      const { status, body, retryAfter } = await send(world, sent, MALLORY);
      assert.deepEqual([status, body.code, retryAfter], [429, 'edge_rate_limited', '300']);
    }
    assert.equal((await send(world, ELSEWHERE, ALICE)).status, 404);
    clock.advance(WINDOW_MS - 2);
    assert.equal((await send(world, ELSEWHERE, MALLORY)).retryAfter, '1');
    clock.advance(1);
    assert.equal((await send(world, ELSEWHERE, MALLORY)).status, 404);
  });

  test('follows WAF_RATE_LIMIT and EDGE_WINDOW_SECONDS', async (t) => {
    const { world, clock } = await open(t, { WAF_RATE_LIMIT: '3', EDGE_WINDOW_SECONDS: '2' });
    assert.equal(await sendMany(world, 5, [ELSEWHERE], MALLORY), 2);
    clock.advance(2000);
    assert.equal(await sendMany(world, 3, [ELSEWHERE], MALLORY), 0);
  });

  test('ends in time for who knocks on: refused requests are not counted', async (t) => {
    const { world, clock } = await open(t, { WAF_RATE_LIMIT: '3' });
    assert.equal(await sendMany(world, 3, [ELSEWHERE], MALLORY), 0);
    for (let second = 0; second < 299; second++) {
      clock.advance(1000);
      assert.equal((await send(world, ELSEWHERE, MALLORY)).retryAfter, String(299 - second));
    }
    clock.advance(1000);
    assert.equal(await sendMany(world, 3, [ELSEWHERE], MALLORY), 0);
  });

  test('counts preflights too', async (t) => {
    const { world } = await open(t, { WAF_RATE_LIMIT: '1' });
    const ask = () =>
      world.server.inject({ method: 'OPTIONS', url: '/trading/order', remoteAddress: MALLORY });
    assert.equal((await ask()).statusCode, 204);
    assert.equal((await ask()).statusCode, 429);
  });

  test('is that of the client behind the trusted proxy, which a stranger’s header does not change', async (t) => {
    const { world } = await open(t, { WAF_RATE_LIMIT: '2', TRUSTED_PROXIES: '10.0.0.1' });
    const from = (peer: string, forwarded: string) =>
      send(world, ELSEWHERE, peer, { 'x-forwarded-for': forwarded });
    await from('10.0.0.1', MALLORY);
    await from('10.0.0.1', `1.1.1.1, ${MALLORY}`);
    assert.equal((await from('10.0.0.1', `2.2.2.2, ${MALLORY}`)).isLimited, true);
    assert.equal((await from('10.0.0.1', ALICE)).isLimited, false);
    // Of a stranger with a header of its own, every request is the stranger's.
    assert.equal((await from(MALLORY, ALICE)).isLimited, true);
  });
});

describe('the charting platform', () => {
  const WEBHOOK: Sent = ['POST', '/webhook/token/order'];

  test('is free on /webhook/*, and its alerts use up nothing of its budget elsewhere', async (t) => {
    const { world } = await open(t, { WAF_RATE_LIMIT: '2' });
    for (const ip of [CHARTING_IP, '34.212.75.30', '54.218.53.128', '52.32.178.7', `::ffff:${CHARTING_IP}`])
      assert.equal(await sendMany(world, 5, [WEBHOOK, ['POST', '/webhook/x']], ip), 0, ip);
    assert.equal(await sendMany(world, 4, [ELSEWHERE], CHARTING_IP), 2);
    assert.equal(await sendMany(world, 5, [WEBHOOK], CHARTING_IP), 0);
  });

  test('is not whoever calls a webhook, says so in a header, or lives next door', async (t) => {
    const { world } = await open(t, { WAF_RATE_LIMIT: '2' });
    assert.equal(await sendMany(world, 3, [WEBHOOK], MALLORY), 1);
    assert.equal(await sendMany(world, 3, [WEBHOOK], '52.89.214.239'), 1);
    assert.equal((await send(world, WEBHOOK, MALLORY, { 'x-forwarded-for': CHARTING_IP })).isLimited, true);
  });

  test('is known behind a trusted proxy, and is whom CHARTING_IPS names', async (t) => {
    const { world } = await open(t, {
      WAF_RATE_LIMIT: '1',
      TRUSTED_PROXIES: '10.0.0.1',
      CHARTING_IPS: '192.0.2.0/24, 2001:db8::/32',
    });
    for (const forwarded of ['192.0.2.200', '2001:db8::1'])
      for (let index = 0; index < 3; index++) {
        const { status } = await send(world, WEBHOOK, '10.0.0.1', { 'x-forwarded-for': forwarded });
        assert.equal(status, 404);
      }
    assert.equal(await sendMany(world, 2, [WEBHOOK], CHARTING_IP), 1);
  });
});

describe('the admin paths', () => {
  // biome-ignore format: a table, one spelling a line
  const PATHS: readonly Sent[] = [
    ['POST', '/setup/admin'], ['GET', '/setup/admin'], ['GET', '/setup/'], ['GET', '/setup'], ['GET', '/setup/nothing'],
    ['GET', '/deployment/workers'], ['GET', '/deployment/nothing'], ['POST', '/deployment/'], ['GET', '/deployment'],
    ['POST', '//setup/admin'], ['POST', '/setup//admin'], ['POST', '///setup/admin'],
    ['POST', '/%73etup/admin'], ['POST', '/%73%65%74%75%70/admin'], ['POST', '/setup%2fadmin'], ['POST', '/%2fsetup/admin'],
    ['POST', '/setup/../setup/admin'], ['POST', '/./setup/admin'], ['POST', '/health/../setup/admin'],
    ['POST', '/health/%2e%2e/setup/admin'], ['POST', '/x/..%2fsetup/admin'], ['POST', '/setup/admin/'],
    ['POST', '/setup/admin?x=1'], ['POST', '/setup/admin#x'], ['POST', '/setup/admin;x=1'], ['POST', '/SETUP/admin'],
    ['POST', '/\\setup/admin'], ['POST', 'http://localhost/setup/admin'], ['POST', 'http://localhost//setup/admin'],
  ];

  /** Over a real connection: `inject` would tidy the paths up. The client is whom the proxy on loopback names. */
  async function listen(t: TestContext, env: Record<string, string> = {}) {
    const { world } = await open(t, { TRUSTED_PROXIES: '127.0.0.1', ...env });
    await world.server.listen({ port: 0, host: '127.0.0.1' });
    const { port } = world.server.server.address() as AddressInfo;
    return async ([method, path]: Sent, ip: string) => {
      const headers = { 'x-forwarded-for': ip };
      const sent = request({ host: '127.0.0.1', port, method, path, headers }).end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      const text = Buffer.concat(await response.toArray()).toString();
      return { status: response.statusCode, code: (JSON.parse(text) as Problem).code };
    };
  }

  for (const mode of ['builtin', 'external'])
    test(`are 403 for foreign addresses in every spelling, with the edge ${mode}`, async (t) => {
      const send = await listen(t, { EDGE: mode });
      for (const path of PATHS)
        assert.deepEqual(await send(path, MALLORY), { status: 403, code: 'ip_not_allowed' }, path.join(' '));
    });

  test('are reached by the admin IPs, and what is not there is 404 for them', async (t) => {
    const send = await listen(t, { ADMIN_IPS: '192.0.2.7, 2001:db8::/64' });
    for (const ip of ['192.0.2.7', '2001:db8::1', '::ffff:192.0.2.7']) {
      assert.equal((await send(['POST', '/setup/admin'], ip)).status, 400);
      assert.equal((await send(['POST', '/%73etup/admin'], ip)).status, 400);
      assert.equal((await send(['GET', '/deployment/workers'], ip)).status, 401);
      assert.equal((await send(['GET', '/setup/nothing'], ip)).status, 404);
      assert.equal((await send(['POST', '//setup/admin'], ip)).status, 404);
    }
    assert.equal((await send(['POST', '/setup/admin'], '127.0.0.1')).status, 403);
  });

  test('do not stretch to paths that only look like them', async (t) => {
    const send = await listen(t);
    for (const url of ['/setups', '/deployments/x', '/x/setup/admin', '/setup/../health', '/public/setup/x'])
      assert.equal((await send(['GET', url], MALLORY)).status, 404, url);
  });
});

describe('EDGE=external', () => {
  test('leaves every limit of an address to the front', async (t) => {
    const { world } = await open(t, { EDGE: 'external', WAF_RATE_LIMIT: '1', EDGE_AUTH_LIMIT: '1' });
    assert.equal(await sendMany(world, 20, [...AUTH, ELSEWHERE], MALLORY), 0);
  });
});

describe('the windows', () => {
  /** Every allowed call ever, and nothing forgotten. */
  function naiveWindows(limit: number, windowMs: number) {
    const allowed = new Map<string, number[]>();
    return (ip: string, now: number): number => {
      const calls = allowed.get(ip) ?? [];
      allowed.set(ip, calls);
      const inWindow = calls.filter((at) => at > now - windowMs);
      if (inWindow.length >= limit) return (inWindow.at(-limit) ?? 0) + windowMs - now;
      calls.push(now);
      return 0;
    };
  }

  const wait = fc.oneof(fc.constant(0), fc.nat(40), fc.double({ min: 0, max: 9, noNaN: true }));
  const calls = fc.array(fc.record({ ip: fc.nat(5).map(String), wait }), { maxLength: 200 });
  const limits = fc.integer({ min: 1, max: 12 });

  test('agree with a naive model that remembers everything', () => {
    fc.assert(
      fc.property(calls, limits, (sequence, limit) => {
        const windows = createWindows(limit, 100);
        const naive = naiveWindows(limit, 100);
        let now = 1_784_142_000_000;
        for (const call of sequence) {
          now += call.wait;
          assert.equal(windows.count(call.ip, now), naive(call.ip, now));
        }
      }),
      { numRuns: 500 },
    );
  });

  test('hold no more than their bounds; they forget nobody of half as many, and blame nobody for nothing', () => {
    const most = { addresses: 6, places: 60 };
    fc.assert(
      fc.property(calls, limits, fc.boolean(), (sequence, limit, few) => {
        const windows = createWindows(limit, 100, { ...most, ...(few ? { places: 1e6 } : {}) });
        const naive = naiveWindows(limit, 100);
        const made: { ip: string; at: number }[] = [];
        let now = 0;
        for (const call of sequence) {
          now += call.wait;
          const ip = few ? String(Number(call.ip) % 3) : call.ip;
          const [waitMs, naiveMs] = [windows.count(ip, now), naive(ip, now)];
          if (few) assert.equal(waitMs, naiveMs);
          const before = made.filter((earlier) => earlier.ip === ip && earlier.at > now - 100).length;
          assert.ok(waitMs === 0 || before >= limit);
          made.push({ ip, at: now });
          assert.ok(windows.size().addresses <= most.addresses);
          assert.ok(few || windows.size().places <= most.places + limit);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('stay within their bounds under a flood of addresses, while who knocks on stays blocked', () => {
    const windows = createWindows(5, WINDOW_MS);
    for (let call = 0; call < 5; call++) assert.equal(windows.count(MALLORY, 0), 0);
    let most = 0;
    for (let address = 0; address < 250_000; address++) {
      windows.count(`flood ${address}`, address / 1000);
      if (address % 40_000 === 0) assert.ok(windows.count(MALLORY, address / 1000) > 0);
      most = Math.max(most, windows.size().addresses);
    }
    assert.ok(most > 90_000 && most <= 100_000, `${most} addresses`);
    assert.ok(windows.size().places <= 8_000_000);
  });

  test('stay within their bounds when addresses use up their whole limit', () => {
    const windows = createWindows(2000, WINDOW_MS, { addresses: 100_000, places: 80_000 });
    for (let address = 0; address < 60; address++)
      for (let call = 0; call < 2000; call++) windows.count(String(address), call);
    const { addresses, places } = windows.size();
    assert.ok(places <= 82_000, `${places} places`);
    assert.ok(addresses >= 20, `${addresses} addresses`);
  });
});
