// What stands before every route, in the spec's order: CORS, the browser-only check, CSRF; and the security headers on
// every response, whatever went wrong.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { securityHeaders } from '../../src/http/middleware.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { StoreUnavailable } from '../../src/store/store.ts';
import { scriptOf } from '../../web/pages/enter/challenge.ts';
import { makeSession, type TestSession } from '../accounts/credentials.ts';
import { openWorld, PASSWORD, type Problem, type Trader, type World } from '../world.ts';
import { countingHasher } from './visitor.ts';

/** The spec's table, letter by letter; the policy has a test of its own. */
const SPEC_HEADERS = {
  // Not the spec's: what is somebody's belongs in no cache, refusals included.
  'cache-control': 'no-store',
  'strict-transport-security': 'max-age=31536000; includeSubDomains; preload',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
  'x-xss-protection': '1; mode=block',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-embedder-policy': 'unsafe-none',
  'referrer-policy': 'strict-origin-when-cross-origin',
  'permissions-policy': 'geolocation=(), microphone=(), camera=(), payment=()',
};

const APP = 'https://app.example.com';
const DEV = 'http://localhost:5173';
const FOREIGN = 'https://evil.example.net';

type Headers = Record<string, string>;
interface Sent {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS' | 'HEAD';
  readonly url: string;
  readonly headers?: Headers;
  readonly payload?: string;
  readonly remoteAddress?: string;
}

const JSON_TYPE = { 'content-type': 'application/json' };

describe('the security headers', () => {
  interface Scene {
    readonly world: World;
    readonly trader: Trader;
    readonly session: TestSession;
    readonly cookie: string;
  }
  const bearer = ({ trader }: Scene) => ({ authorization: `Bearer ${trader.apiKey}` });
  const webhookUrl = ({ trader }: Scene) => `/webhook/${trader.account.webhookToken}/order`;

  // biome-ignore format: a table, one kind of response a line
  const RESPONSES: readonly (readonly [name: string, status: number, request: (scene: Scene) => Sent])[] = [
    ['a good answer', 200, () => ({ method: 'GET', url: '/health' })],
    ['the answer to HEAD', 200, () => ({ method: 'HEAD', url: '/health' })],
    ['an answer with a secret in it', 200, (scene) => ({ method: 'POST', url: `/trading/accounts/${scene.trader.account.id}/webhook-secret`, headers: scene.session.bearer })],
    ['a creation', 201, (scene) => ({ method: 'POST', url: '/settings/allowed-ips', headers: { ...JSON_TYPE, ...scene.session.bearer }, payload: '{"ip_address":"127.0.0.1"}' })],
    ['an answer without a body', 204, (scene) => ({ method: 'POST', url: '/settings/terms', headers: { ...JSON_TYPE, ...bearer(scene) }, payload: '{"version":"1"}' })],
    ['a preflight', 204, () => ({ method: 'OPTIONS', url: '/trading/order', headers: { origin: DEV, 'access-control-request-method': 'POST' } })],
    ['an OPTIONS that is no preflight', 204, () => ({ method: 'OPTIONS', url: '/nowhere' })],
    ['a body that is no JSON', 400, () => ({ method: 'POST', url: '/auth/login', headers: JSON_TYPE, payload: '{' })],
    ['a body that the schema refuses', 400, () => ({ method: 'POST', url: '/auth/login', headers: JSON_TYPE, payload: '{}' })],
    ['a query that the schema refuses', 400, (scene) => ({ method: 'GET', url: '/settings/audit-log?limit=0', headers: bearer(scene) })],
    ['a URL that cannot be read', 400, () => ({ method: 'GET', url: '/%zz' })],
    ['a webhook body that is no signal', 400, (scene) => ({ method: 'POST', url: webhookUrl(scene), payload: 'buy!' })],
    ['no credentials', 401, () => ({ method: 'GET', url: '/settings/subscription' })],
    ['a wrong webhook secret', 401, (scene) => ({ method: 'POST', url: webhookUrl(scene), payload: JSON.stringify(scene.world.signal(scene.trader, { secret: 'wrong' })) })],
    ['a missing CSRF token', 403, ({ cookie }) => ({ method: 'POST', url: '/auth/logout', headers: { cookie } })],
    ['an admin path from a foreign address', 403, () => ({ method: 'GET', url: '/deployment/workers', remoteAddress: '203.0.113.9' })],
    ['a path that does not exist', 404, () => ({ method: 'GET', url: '/nowhere' })],
    ['a method that a path does not have', 404, () => ({ method: 'DELETE', url: '/health' })],
    ['an unknown webhook', 404, () => ({ method: 'POST', url: '/webhook/unknown/order', payload: '{}' })],
    ['a body that is too large', 413, () => ({ method: 'POST', url: '/auth/login', headers: JSON_TYPE, payload: 'x'.repeat(65 * 1024) })],
    ['a webhook body that is too large', 413, (scene) => ({ method: 'POST', url: webhookUrl(scene), payload: 'x'.repeat(17 * 1024) })],
    ['a content type that nobody reads', 415, () => ({ method: 'POST', url: '/auth/login', headers: { 'content-type': 'image/png' }, payload: 'x' })],
    ['the user’s rate limit', 429, ({ trader }) => ({ method: 'POST', url: '/trading/order', headers: { ...JSON_TYPE, authorization: `Bearer ${trader.apiKey}` }, payload: JSON.stringify({ trading_account_id: trader.account.id, action: 'buy', symbol: 'BTCUSDT', quantity: 1 }) })],
    ['a store that is away', 503, ({ trader }) => ({ method: 'GET', url: `/trading/accounts/${trader.account.id}/positions`, headers: { authorization: `Bearer ${trader.apiKey}` } })],
  ];

  test('stand on every kind of response, with the spec’s values', async (t) => {
    const store = openMemoryStore({ clock: { now: () => Date.now() } });
    const world = await openWorld(t, {
      env: { EDGE: 'builtin', RATE_LIMIT_REQUESTS: '2' },
      hasher: countingHasher(),
      store,
    });
    const visitor = await world.login();
    const trader = await world.makeTrader();
    const session = await makeSession(world, trader.user);
    const scene = { world, trader, session, cookie: visitor.cookieHeader('/') };
    for (const [name, status, request] of RESPONSES) {
      if (status === 429) await world.as(trader, 'POST', `/trading/accounts/${trader.account.id}/resume`);
      if (status === 503) store.leaseHolder = () => Promise.reject(new StoreUnavailable('gone'));
      await t.test(`${status}: ${name}`, async () => {
        const response = await world.server.inject(request(scene));
        assert.equal(response.statusCode, status, response.body);
        assertHeaders(response.headers);
      });
    }
  });

  test('stand on what the built-in edge refuses', async (t) => {
    const world = await openWorld(t, { env: { EDGE: 'builtin', WAF_RATE_LIMIT: '1' } });
    for (const [url, status] of [
      ['/health', 200],
      ['/health', 429],
      ['/%zz', 429],
    ] as const) {
      const response = await world.server.inject({ method: 'GET', url });
      assert.equal(response.statusCode, status);
      assertHeaders(response.headers);
    }
  });

  test('stand on the answer to bytes that are no HTTP', async (t) => {
    const world = await openWorld(t);
    await world.server.listen({ port: 0, host: '127.0.0.1' });
    const { port } = world.server.server.address() as AddressInfo;
    for (const [bytes, status] of [
      ['HELLO\r\n\r\n', 400],
      [`GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
      // What the platform would answer itself, with nothing in it.
      ['GET /public/plans HTTP/1.1\r\n\r\n', 400],
      ['POST /auth/login HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}', 400],
      ['GET /nowhere HTTP/1.1\r\nhost: x\r\nexpect: a miracle\r\n\r\n', 417],
      ['POST /nowhere HTTP/1.1\r\nhost: x\r\nexpect: 200-ok\r\ncontent-length: 9\r\n\r\n', 417],
    ] as const) {
      const socket = connect(port, '127.0.0.1');
      let text = '';
      socket.setEncoding('latin1').on('data', (chunk) => {
        text += chunk;
      });
      socket.write(bytes);
      await once(socket, 'close');
      const [head = '', body = ''] = text.split('\r\n\r\n');
      const [first = '', ...lines] = head.split('\r\n');
      assert.match(first, new RegExp(`^HTTP/1.1 ${status} `));
      assertHeaders(
        Object.fromEntries(
          lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.replace(/^.*?: /, '')]),
        ),
      );
      assert.equal((JSON.parse(body) as Problem).code, 'request_invalid');
    }
  });

  test('have a restrictive policy with explicit lists and no wildcards, whatever the bot challenge', () => {
    for (const provider of [null, 'turnstile', 'recaptcha', 'hcaptcha'] as const) {
      const policy = directives(securityHeaders(provider)['content-security-policy'] ?? '');
      assert.deepEqual(policy.get('default-src'), ["'none'"]);
      for (const name of ['script-src', 'style-src', 'img-src', 'connect-src', 'frame-src'])
        assert.equal(policy.get(name)?.[0], "'self'", name);
      for (const [name, sources] of policy)
        for (const source of sources) {
          assert.ok(!/\*|unsafe|^https?:$/.test(source), `${name} ${source}`);
          const isOwn = ["'self'", "'none'"].includes(source) || (name === 'img-src' && source === 'data:');
          assert.ok(
            isOwn || (provider !== null && /^https:\/\/[a-z0-9.]+$/.test(source)),
            `${name} ${source}`,
          );
        }
    }
  });

  test('let each bot challenge load what its provider says that it needs, and the one configured alone', () => {
    const needs = {
      turnstile: [
        'script-src https://challenges.cloudflare.com',
        'frame-src https://challenges.cloudflare.com',
      ],
      recaptcha: [
        'script-src https://www.google.com',
        'script-src https://www.gstatic.com',
        'frame-src https://www.google.com',
        // The challenge of pictures.
        'frame-src https://recaptcha.google.com',
      ],
      hcaptcha: ['script-src', 'frame-src', 'style-src', 'connect-src'].flatMap((name) =>
        [
          'hcaptcha.com',
          'js.hcaptcha.com',
          'newassets.hcaptcha.com',
          'api.hcaptcha.com',
          'api2.hcaptcha.com',
        ].map((host) => `${name} https://${host}`),
      ),
    } as const;
    for (const [provider, sources] of Object.entries(needs)) {
      const policy = directives(
        securityHeaders(provider as keyof typeof needs)['content-security-policy'] ?? '',
      );
      for (const needed of sources) {
        const [name = '', host = ''] = needed.split(' ');
        assert.ok(policy.get(name)?.includes(host), `${provider}: ${needed}`);
      }
      // Its script, as the page asks for it.
      const script = new URL(scriptOf(provider as keyof typeof needs, 'ready'));
      assert.ok(policy.get('script-src')?.includes(script.origin), script.href);
    }
  });
});

function assertHeaders(headers: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(SPEC_HEADERS)) assert.equal(headers[name], value, name);
  assert.equal(headers['content-security-policy'], securityHeaders(null)['content-security-policy']);
  assert.equal(headers['x-powered-by'], undefined);
  assert.equal(headers.server, undefined);
}

const directives = (policy: string): Map<string, string[]> =>
  new Map(
    policy.split('; ').map((directive) => {
      const [name = '', ...sources] = directive.split(' ');
      return [name, sources];
    }),
  );

describe('CORS', () => {
  const open = (t: TestContext) => openWorld(t, { env: { ALLOWED_ORIGINS: `${APP}, ${DEV}` } });

  // biome-ignore format: a table
  const ANSWERS: readonly (readonly [name: string, status: number, request: Sent])[] = [
    ['a good answer', 200, { method: 'GET', url: '/public/plans' }],
    ['a refusal', 401, { method: 'GET', url: '/auth/session' }],
    ['a path that does not exist', 404, { method: 'GET', url: '/nowhere' }],
    ['a broken body', 400, { method: 'POST', url: '/auth/login', headers: JSON_TYPE, payload: '{' }],
    ['a body that is too large', 413, { method: 'POST', url: '/auth/login', headers: JSON_TYPE, payload: 'x'.repeat(65 * 1024) }],
  ];

  test('lets pages of allowed origins read every answer, with credentials', async (t) => {
    const world = await open(t);
    for (const origin of [APP, DEV])
      for (const [name, status, { headers, ...request }] of ANSWERS)
        await t.test(`${origin}: ${name}`, async () => {
          const answer = await world.server.inject({ ...request, headers: { ...headers, origin } });
          assert.equal(answer.statusCode, status);
          assert.equal(answer.headers['access-control-allow-origin'], origin);
          assert.equal(answer.headers['access-control-allow-credentials'], 'true');
          assert.equal(answer.headers.vary, 'Origin');
        });
  });

  for (const origin of [
    FOREIGN,
    'null',
    '*',
    'http://app.example.com',
    'https://app.example.com:8443',
    'https://app.example.com.evil.example.net',
    'https://evil.app.example.com',
    'https://app.example.comm',
    `${APP}/`,
    `${APP}, ${DEV}`,
  ])
    test(`does not let ${origin} read anything, nor ask`, async (t) => {
      const world = await open(t);
      const preflight: Sent = {
        method: 'OPTIONS',
        url: '/trading/order',
        headers: { 'access-control-request-method': 'POST' },
      };
      for (const { headers, ...request } of [...ANSWERS.map(([, , sent]) => sent), preflight]) {
        const answer = await world.server.inject({ ...request, headers: { ...headers, origin } });
        assert.equal(answer.headers['access-control-allow-origin'], undefined);
        // A cache must not hand this answer to a page that may read it.
        assert.equal(answer.headers.vary, 'Origin');
      }
    });

  test('answers a preflight with what a page may send', async (t) => {
    const world = await open(t);
    const answer = await world.server.inject({
      method: 'OPTIONS',
      url: '/trading/order',
      headers: {
        origin: APP,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-csrf-token',
      },
    });
    assert.equal(answer.statusCode, 204);
    assert.equal(answer.body, '');
    assert.equal(answer.headers['access-control-allow-origin'], APP);
    assert.equal(answer.headers['access-control-allow-credentials'], 'true');
    const listed = (name: string) => String(answer.headers[name]).split(', ');
    assert.deepEqual(listed('access-control-allow-methods'), ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
    for (const header of ['Content-Type', 'Authorization', 'X-CSRF-Token', 'Idempotency-Key'])
      assert.ok(listed('access-control-allow-headers').includes(header), header);
    assert.equal(answer.headers.vary, 'Origin');
  });

  test('says nothing to who names no origin, but that it would matter', async (t) => {
    const { headers } = await (await open(t)).server.inject({ method: 'GET', url: '/health' });
    assert.equal(headers['access-control-allow-origin'], undefined);
    assert.equal(headers.vary, 'Origin');
  });
});

const PRODUCTION = {
  NODE_ENV: 'production',
  JWT_SECRET: 'a secret of more than thirty-two characters',
  ALLOWED_ORIGINS: `${APP}, ${DEV}`,
};

/** Production, with somebody who is logged in. */
async function openProduction(t: TestContext) {
  const world = await openWorld(t, { env: PRODUCTION, hasher: countingHasher() });
  const visitor = world.visitor();
  const body = { email: 'someone@example.com', password: PASSWORD };
  assert.equal((await visitor.call('POST', '/auth/register', body, { origin: APP })).status, 201);
  assert.equal((await visitor.call('POST', '/auth/login', body, { origin: APP })).status, 200);
  return { world, visitor, trader: await world.makeTrader() };
}

describe('the browser-only check, in production', () => {
  const COOKIE = { cookie: 'access_token=x' };
  const BEARER = { authorization: 'Bearer x' };

  // Each sender, and whether it passes: guarded paths, open paths, paths for programs.
  // biome-ignore format: a table, one sender a line
  const SENDERS: readonly (readonly [name: string, headers: Headers, guarded: boolean, open: boolean, programs: boolean])[] = [
    ['an allowed Origin', { origin: APP }, true, true, true],
    ['the other allowed Origin, with a cookie', { origin: DEV, ...COOKIE }, true, true, true],
    ['an allowed Origin beside a foreign Referer', { origin: APP, referer: `${FOREIGN}/x` }, true, true, true],
    ['only an allowed Referer', { referer: `${APP}/accounts?x=1#y` }, true, true, true],
    ['a foreign Origin', { origin: FOREIGN }, false, false, false],
    ['a foreign Origin beside an allowed Referer', { origin: FOREIGN, referer: `${APP}/` }, false, false, false],
    ['a foreign Origin with a bearer', { origin: FOREIGN, ...BEARER }, false, false, false],
    ['the Origin of a page that hides it', { origin: 'null' }, false, false, false],
    ['that Origin with a bearer', { origin: 'null', ...BEARER }, false, false, false],
    ['an empty Origin', { origin: '' }, false, false, false],
    ['an Origin that begins like an allowed one', { origin: `${APP}.evil.example.net` }, false, false, false],
    ['only a foreign Referer', { referer: `${FOREIGN}/${APP}/` }, false, false, false],
    ['a Referer with an allowed name before the @', { referer: `${APP}@evil.example.net/` }, false, false, false],
    ['a Referer that is no address', { referer: 'app.example.com' }, false, false, false],
    ['neither', {}, false, false, true],
    ['neither, with a session cookie', COOKIE, false, false, true],
    ['a bearer without a cookie', BEARER, true, false, true],
    ['a bearer, in small letters', { authorization: 'bearer x' }, true, false, true],
    ['a bearer with an access cookie', { ...BEARER, ...COOKIE }, false, false, true],
    ['a bearer with a refresh cookie', { ...BEARER, cookie: 'refresh_token=x' }, false, false, true],
    ['a bearer with a cookie of somebody else', { ...BEARER, cookie: 'theme=dark' }, true, false, true],
    ['another scheme', { authorization: 'Basic eDp5' }, false, false, true],
  ];

  // biome-ignore format: a list
  const GUARDED = [
    'GET /auth/session', 'POST /auth/logout', 'GET /trading/orders', 'POST /trading/order',
    'GET /settings/audit-log', 'POST /settings/terms', 'GET /deployment/workers', 'POST /nowhere',
    'GET /auth/tokens', 'GET /trading/x', 'GET /settings',
  ];
  // biome-ignore format: a list
  const OPEN = [
    'POST /auth/login', 'POST /auth/register', 'POST /auth/forgot-password', 'POST /auth/reset-password',
    'POST /auth/silent-refresh',
  ];
  const PROGRAMS = ['POST /auth/token', 'GET /auth/public-key', 'GET /openapi.json'];
  // biome-ignore format: a list
  const EXCLUDED = [
    'POST /webhook/token/order', 'POST /%77ebhook/token/order', 'GET /webhook/token', 'GET /public/plans',
    'GET /public/nothing', 'POST /setup/admin', 'GET /health', 'GET /health?x=1', 'GET /static/app.js',
    'GET /docs', 'GET /docs/app.js', 'GET /metrics', 'GET /', 'GET /robots.txt', 'GET /sitemap.xml',
    'GET /favicon.ico', 'GET /nowhere', 'GET /login/', 'GET /webhooks/x', 'GET /healthy',
  ];

  test('every path and every sender', async (t) => {
    const { world } = await openProduction(t);
    const check = async (route: string, headers: Headers, passes: boolean, name: string) => {
      const [method, url] = route.split(' ') as ['GET' | 'POST', string];
      const answer = await world.server.inject({ method, url, headers });
      const isRefused = answer.statusCode === 403 && answer.json<Problem>().code === 'origin_not_allowed';
      assert.equal(!isRefused, passes, `${route} from ${name}: ${answer.statusCode} ${answer.body}`);
    };
    for (const [name, headers, guarded, open, programs] of SENDERS)
      await t.test(name, async () => {
        for (const route of GUARDED) await check(route, headers, guarded, name);
        for (const route of OPEN) await check(route, headers, open, name);
        for (const route of PROGRAMS) await check(route, headers, programs, name);
        for (const route of EXCLUDED) await check(route, headers, true, name);
      });
  });

  test('is for production only', async (t) => {
    const world = await openWorld(t, { env: { ALLOWED_ORIGINS: APP } });
    for (const headers of [{}, { origin: FOREIGN }, { referer: FOREIGN }])
      assert.equal(
        (await world.server.inject({ method: 'GET', url: '/auth/session', headers })).statusCode,
        401,
      );
  });

  test('leaves a good bearer and a good cookie to do their work', async (t) => {
    const { world, visitor, trader } = await openProduction(t);
    const key = { authorization: `Bearer ${trader.apiKey}` };
    assert.equal(
      (await world.request({ method: 'GET', url: '/settings/audit-log', headers: key })).status,
      200,
    );
    assert.equal((await visitor.call('GET', '/auth/session', undefined, { referer: `${APP}/` })).status, 200);
    assert.equal((await visitor.call('POST', '/auth/logout', undefined, { origin: APP })).status, 204);
  });
});

describe('the order', () => {
  const csrfEntries = async (world: World) =>
    (await world.db.all<{ action: string }>({ parts: ['select action from audit_logs'], values: [] })).filter(
      ({ action }) => action === 'csrf_validation_failed',
    ).length;

  test('CORS comes first: a preflight, which has neither credentials nor token, is answered', async (t) => {
    const { world } = await openProduction(t);
    const ask = (origin: string) =>
      world.server.inject({
        method: 'OPTIONS',
        url: '/trading/order',
        headers: { origin, 'access-control-request-method': 'POST' },
      });
    assert.equal((await ask(APP)).statusCode, 204);
    assert.equal((await ask(APP)).headers['access-control-allow-origin'], APP);
    assert.equal((await ask(FOREIGN)).headers['access-control-allow-origin'], undefined);
  });

  test('then the origin, before anybody is authenticated or a CSRF token is compared', async (t) => {
    const { world, visitor } = await openProduction(t);
    const cookie = visitor.cookieHeader('/auth/logout');
    for (const headers of [{ origin: FOREIGN }, { origin: FOREIGN, cookie }, { cookie }]) {
      const { status, body } = await world.request<Problem>({ method: 'POST', url: '/auth/logout', headers });
      assert.deepEqual([status, body.code], [403, 'origin_not_allowed']);
    }
    assert.equal(await csrfEntries(world), 0);
  });

  test('then the CSRF token, whose refusal an allowed page may read, before the body is', async (t) => {
    const { world, visitor } = await openProduction(t);
    const answer = await world.request<Problem>({
      method: 'POST',
      url: '/settings/terms',
      headers: { origin: APP, cookie: visitor.cookieHeader('/settings/terms'), ...JSON_TYPE },
      body: '{ this is no JSON',
    });
    assert.deepEqual([answer.status, answer.body.code], [403, 'csrf_validation_failed']);
    assert.equal(answer.headers['access-control-allow-origin'], APP);
    assertHeaders(answer.headers);
    assert.equal(await csrfEntries(world), 1);
  });
});
