import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { pino } from 'pino';
import type { RequestContext } from '../../src/app/audit/audit.ts';
import { createCaptcha } from '../../src/app/identity/captcha.ts';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import { sql } from '../../src/data/engine/db.ts';
import { countingHasher } from '../http/visitor.ts';
import { openWorld, PASSWORD, type Problem, type World } from '../world.ts';

type Provider = 'turnstile' | 'recaptcha' | 'hcaptcha';

const SECRET = 'the secret of this site';

/** A provider on loopback: remembers what it was asked, and answers as it is told. */
async function openProvider(t: TestContext) {
  const asked: { headers: IncomingMessage['headers']; fields: Record<string, string> }[] = [];
  let answer = (reply: ServerResponse): unknown => reply.end('{"success":true}');
  const server = createServer(async (request, reply) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    asked.push({ headers: request.headers, fields: Object.fromEntries(form) });
    answer(reply);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  t.after(() => (server.listening ? close() : undefined));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/siteverify`,
    asked,
    close,
    says(verdict: object | string, status = 200) {
      const text = typeof verdict === 'string' ? verdict : JSON.stringify(verdict);
      answer = (reply) => reply.writeHead(status, { 'content-type': 'application/json' }).end(text);
    },
    does(act: (reply: ServerResponse) => unknown) {
      answer = act;
    },
  };
}

async function open(t: TestContext, provider: Provider = 'turnstile', env: Record<string, string> = {}) {
  const site = await openProvider(t);
  const hasher = countingHasher();
  const world = await openWorld(t, {
    hasher,
    env: {
      BASE_URL: 'https://fillpath.example',
      ALLOWED_ORIGINS: 'https://app.fillpath.example,http://localhost:5173',
      CAPTCHA_ENABLED: 'true',
      CAPTCHA_PROVIDER: provider,
      CAPTCHA_SECRET: SECRET,
      CAPTCHA_SITE_KEY: 'site key',
      CAPTCHA_VERIFY_URL: site.url,
      ...env,
    },
  });
  let tokens = 0;
  return { site, world, hasher, newToken: () => `token ${++tokens}` };
}

let users = 0;
const register = (world: World, captcha_token?: string, headers: Record<string, string> = {}) =>
  world.request<Problem>({
    method: 'POST',
    url: '/auth/register',
    body: {
      email: `${++users}@example.com`,
      password: PASSWORD,
      ...(captcha_token === undefined ? {} : { captcha_token }),
    },
    headers,
    remoteAddress: '203.0.113.7',
  });

const login = (world: World, captcha_token?: string) =>
  world.request<Problem>({
    method: 'POST',
    url: '/auth/login',
    body: {
      email: 'nobody@example.com',
      password: PASSWORD,
      ...(captcha_token === undefined ? {} : { captcha_token }),
    },
  });

describe('the bot challenge', () => {
  test('is asked for at login and registration, and nowhere else', async (t) => {
    const { site, world, hasher } = await open(t);
    for (const attempt of [login, register])
      for (const token of [undefined, '']) {
        const answer = await attempt(world, token);
        assert.deepEqual([answer.status, answer.body.code], [403, 'captcha_failed']);
      }
    assert.deepEqual([site.asked.length, hasher.verified.length], [0, 0]);
    const grant = { grant_type: 'password', username: 'nobody@example.com', password: PASSWORD };
    assert.equal((await world.request({ method: 'POST', url: '/auth/token', body: grant })).status, 400);
    const body = { email: 'nobody@example.com' };
    assert.equal((await world.request({ method: 'POST', url: '/auth/forgot-password', body })).status, 202);
    assert.equal(site.asked.length, 0);
  });

  test('is verified by a form with secret, response and remoteip', async (t) => {
    const { site, world } = await open(t);
    assert.equal((await register(world, 'a token & more')).status, 201);
    assert.deepEqual(site.asked[0]?.fields, {
      secret: SECRET,
      response: 'a token & more',
      remoteip: '203.0.113.7',
    });
    assert.match(site.asked[0]?.headers['content-type'] ?? '', /^application\/x-www-form-urlencoded/);
    assert.equal((await login(world, 'another token')).body.code, 'invalid_credentials');
  });

  const verdicts: readonly (readonly [what: string, Provider, object, admitted: boolean])[] = [
    ['success', 'hcaptcha', { success: true }, true],
    ['no success', 'turnstile', { success: false, 'error-codes': ['invalid-input-response'] }, false],
    ['a token used before', 'turnstile', { success: false, 'error-codes': ['timeout-or-duplicate'] }, false],
    ['the host of BASE_URL', 'turnstile', { success: true, hostname: 'fillpath.example' }, true],
    ['the host of an allowed origin', 'turnstile', { success: true, hostname: 'APP.fillpath.example' }, true],
    ['the host of a local page', 'recaptcha', { success: true, hostname: 'localhost' }, true],
    ['another host', 'turnstile', { success: true, hostname: 'evil.example' }, false],
    ['a host that is no text', 'turnstile', { success: true, hostname: 7 }, false],
    ['its own action', 'turnstile', { success: true, action: 'register' }, true],
    ['no action', 'turnstile', { success: true, action: '' }, true],
    ['the action of the other form', 'turnstile', { success: true, action: 'login' }, false],
    ['a high score', 'recaptcha', { success: true, score: 0.5 }, true],
    ['a low score', 'recaptcha', { success: true, score: 0.4 }, false],
    ['a score that is no number', 'recaptcha', { success: true, score: '0.9' }, false],
    ['a high risk', 'hcaptcha', { success: true, score: 0.9 }, false],
    ['a low risk', 'hcaptcha', { success: true, score: 0.1 }, true],
  ];
  for (const [what, provider, verdict, admitted] of verdicts)
    test(`${provider}: ${what} is ${admitted ? 'admitted' : 'refused'}`, async (t) => {
      const { site, world, newToken } = await open(t, provider);
      site.says(verdict);
      const answer = await register(world, newToken());
      if (admitted) assert.equal(answer.status, 201);
      else assert.deepEqual([answer.status, answer.body.code], [403, 'captcha_failed']);
    });

  const silences: Record<string, (site: Awaited<ReturnType<typeof openProvider>>) => unknown> = {
    'answers 500': (site) => site.says({ success: true }, 500),
    'answers 500 and no': (site) => site.says({ success: false }, 500),
    'answers 503 with a page': (site) => site.says('<html>busy</html>', 503),
    'answers garbage': (site) => site.says('<html>hello</html>'),
    'answers an empty body': (site) => site.says(''),
    'answers JSON without success': (site) => site.says({ ok: true }),
    'answers JSON that is no object': (site) => site.says('null'),
    'answers success as text': (site) => site.says({ success: 'true' }),
    'answers success with a 400': (site) => site.says({ success: true }, 400),
    'sends us elsewhere': (site) =>
      site.does((reply) =>
        reply.req.url === '/elsewhere'
          ? reply.end('{"success":true}')
          : reply.writeHead(307, { location: '/elsewhere' }).end(),
      ),
    'does not know our secret': (site) =>
      site.says({ success: false, 'error-codes': ['invalid-input-secret'] }),
    'has a fault of its own': (site) => site.says({ success: false, 'error-codes': ['internal-error'] }),
    'hangs up': (site) => site.does((reply) => reply.destroy()),
    'hangs up half-way': (site) =>
      site.does((reply) => {
        reply.writeHead(200, { 'content-length': '100' }).write('{"success":true', () => reply.destroy());
      }),
    'is not there': (site) => site.close(),
  };
  for (const [what, silence] of Object.entries(silences))
    test(`a provider that ${what} admits nobody: 503`, async (t) => {
      const { site, world, hasher, newToken } = await open(t);
      await silence(site);
      for (const attempt of [register, login]) {
        const answer = await attempt(world, newToken());
        assert.deepEqual([answer.status, answer.body.code], [503, 'captcha_unavailable']);
        assert.ok(answer.headers['retry-after']);
      }
      assert.equal(hasher.verified.length, 0);
      assert.equal((await world.db.all(sql`select id from users`)).length, 0);
    });

  test('a provider that does not answer in time admits nobody', async (t) => {
    const site = await openProvider(t);
    site.does(() => {});
    const captcha = createCaptcha({
      settings: { provider: 'turnstile', secret: SECRET, verifyUrl: site.url, bypassUserAgents: [] },
      hosts: new Set(),
      log: pino({ level: 'silent' }),
      timeoutMs: 20,
    });
    const context: RequestContext = {
      requestId: '1',
      ip: '127.0.0.1',
      userAgent: null,
      path: '/auth/login',
      method: 'POST',
    };
    const denial = await captcha.verify({ token: 'token', action: 'login', context });
    assert.equal(denial?.code, 'captcha_unavailable');
  });

  test('whether an answer was used before is for the provider to say, and it is asked each time', async (t) => {
    const { site, world } = await open(t);
    assert.equal((await register(world, 'one token')).status, 201);
    site.says({ success: false, 'error-codes': ['timeout-or-duplicate'] });
    assert.equal((await login(world, 'one token')).body.code, 'captcha_failed');
    assert.equal(site.asked.length, 2);
  });

  test('a token that could not be verified may be shown again', async (t) => {
    const { site, world } = await open(t);
    site.says('busy', 503);
    assert.equal((await register(world, 'one token')).status, 503);
    site.says({ success: true });
    assert.equal((await register(world, 'one token')).status, 201);
  });

  test('is skipped by the configured User-Agents, in any case, and by no other', async (t) => {
    const { site, world } = await open(t, 'turnstile', { CAPTCHA_BYPASS_USER_AGENTS: 'ZAP/2, Nikto' });
    for (const [userAgent, status] of [
      ['Mozilla/5.0 zap/2.14', 201],
      ['NIKTO', 201],
      ['Mozilla/5.0 ZAP/3', 403],
      ['', 403],
    ] as const)
      assert.equal((await register(world, undefined, { 'user-agent': userAgent })).status, status, userAgent);
    assert.equal(site.asked.length, 0);
  });

  test('by default no User-Agent skips it', async (t) => {
    const { world } = await open(t);
    assert.equal((await register(world, undefined, { 'user-agent': 'ZAP' })).status, 403);
  });

  test('where it is off, nothing is asked for and a token is ignored', async (t) => {
    const world = await openWorld(t, { hasher: countingHasher() });
    for (const token of [undefined, 'token']) assert.equal((await register(world, token)).status, 201);
  });

  const secrets = [
    '1x0000000000000000000000000000000AA',
    '2x0000000000000000000000000000000AA',
    '3x0000000000000000000000000000000AA',
    '6LeIxAcTAAAAAGG-vFI1TnRWxMZNFuojJ4WifJWe',
    '0x0000000000000000000000000000000000000000',
  ];
  for (const secret of secrets)
    test(`the test secret ${secret.slice(0, 6)}… is refused in production, and never shown`, () => {
      const env = {
        CAPTCHA_ENABLED: 'true',
        CAPTCHA_PROVIDER: 'turnstile',
        CAPTCHA_SECRET: secret,
        CAPTCHA_SITE_KEY: 'k',
        APP_KEY: Buffer.alloc(32, 1).toString('base64url'),
        JWT_SECRET: 'x'.repeat(32),
        ALLOWED_ORIGINS: 'https://fillpath.example',
      };
      assert.equal(readConfig(env).captcha?.secret, secret);
      assert.throws(
        () => readConfig({ ...env, NODE_ENV: 'production' }),
        (fault: unknown) =>
          fault instanceof ConfigError &&
          fault.problems.some((problem) => problem.startsWith('CAPTCHA_SECRET')) &&
          !fault.message.includes(secret),
      );
    });
});
