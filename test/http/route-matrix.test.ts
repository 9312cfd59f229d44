// Every route against every kind of caller. The routes are the server's own table, so a new one cannot be forgotten;
// what each cell must answer follows from the access that the route declares.

import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { describe, type TestContext, test } from 'node:test';
import { Compile } from 'typebox/schema';
import { createTokens } from '../../src/app/identity/tokens.ts';
import { randomToken } from '../../src/app/secret-box.ts';
import { sql } from '../../src/data/engine/db.ts';
import { type DenialCode, ruleOf } from '../../src/domain/denial.ts';
import { timestamp } from '../../src/domain/ids.ts';
import type { Access, Route } from '../../src/http/guards.ts';
import { type Headers, makeApiKey, makeSession, SIGNED } from '../accounts/credentials.ts';
import { inject, openWorld, PASSWORD, type Trader, type World } from '../world.ts';
import { type MakeSample, SAMPLES, type Sample } from './route-samples.ts';
import { countingHasher } from './visitor.ts';

/** What the contract says of who may call what, whatever the routes say of themselves. The first that fits decides. */
const CONTRACT: readonly (readonly [pattern: RegExp, access: Access])[] = [
  [/^POST \/setup\/admin$/, 'admin_ip'],
  [/^GET \/metrics$/, 'admin_ip'],
  [/^\w+ \/(setup|deployment)\//, 'admin'],
  [/^POST \/webhook\//, 'open'],
  [/^GET \/(public\/.+|health(\/live)?|docs.*|openapi\.json|static\/.+)$/, 'open'],
  [
    /^POST \/auth\/(register|login|login\/totp|token|silent-refresh|forgot-password|reset-password|verify-email)$/,
    'open',
  ],
  [/^GET \/auth\/public-key$/, 'open'],
  // An API key manages neither sessions nor keys nor passwords, and what would outlive it or undo its limits.
  [/^\w+ \/auth\//, 'session'],
  [/^\w+ \/settings\/(api-keys|after-theft)/, 'session'],
  [/^\w+ \/trading\/(accounts|groups)\/:id\/webhook-(secret|token)$/, 'session'],
  [/^POST \/trading\/orders\/:id\/settle$/, 'session'],
  [/^(POST|DELETE) \/settings\/allowed-ips/, 'session'],
  [/^(POST|PATCH|DELETE) \/settings\/notifications/, 'session'],
  [/^\w+ \/(trading|settings)\//, 'user'],
];

interface Actor {
  /** How the guard sees the credentials. */
  readonly as: 'nobody' | 'session' | 'api_key';
  readonly csrf?: true;
  readonly deactivated?: true;
  readonly ordinary?: true;
  readonly abroad?: true;
  headers(world: World, trader: Trader): Promise<Headers>;
}

const FOREIGN_IP = '198.51.100.77';

const signed = (world: World, secret: string = SIGNED.JWT_SECRET) =>
  createTokens({ secret, clock: world.clock });
const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });
const without = (headers: Headers, name: string): Headers =>
  Object.fromEntries(Object.entries(headers).filter(([each]) => each !== name));

const byCookie = async (world: World, { user }: Trader) => (await makeSession(world, user)).cookie;
const byBearer = async (world: World, { user }: Trader) => (await makeSession(world, user)).bearer;
const byKey = async (_: World, { apiKey }: Trader) => bearer(apiKey);

const ACTORS: Readonly<Record<string, Actor>> = {
  'no credentials': { as: 'nobody', headers: async () => ({}) },
  'an unreadable bearer': { as: 'nobody', headers: async () => bearer('a.b.c') },
  'an unknown API key': { as: 'nobody', headers: async () => bearer(randomToken()) },
  'another scheme': {
    as: 'nobody',
    headers: async (_, { apiKey }) => ({ authorization: `Basic ${apiKey}` }),
  },
  'cookie without CSRF': {
    as: 'session',
    headers: async (world, trader) => without(await byCookie(world, trader), 'x-csrf-token'),
  },
  'cookie with the CSRF token of another session': {
    as: 'session',
    headers: async (world, trader) => ({
      ...(await byCookie(world, trader)),
      'x-csrf-token': (await makeSession(world, trader.user)).csrf,
    }),
  },
  'cookie with CSRF': { as: 'session', csrf: true, headers: byCookie },
  'bearer JWT without CSRF': {
    as: 'session',
    headers: async (world, trader) => without(await byBearer(world, trader), 'x-csrf-token'),
  },
  'bearer JWT with CSRF': { as: 'session', csrf: true, headers: byBearer },
  'API key': { as: 'api_key', headers: byKey },
  'API key as a cookie': {
    as: 'nobody',
    headers: async (_, { apiKey }) => ({ cookie: `access_token=${apiKey}` }),
  },
  'a bad cookie beside a good API key': {
    as: 'nobody',
    headers: async (_, { apiKey }) => ({ ...bearer(apiKey), cookie: 'access_token=a.b.c' }),
  },
  'an empty cookie beside a good bearer': {
    as: 'nobody',
    headers: async (world, trader) => ({ ...(await byBearer(world, trader)), cookie: 'access_token=' }),
  },
  'revoked session, cookie': {
    as: 'nobody',
    headers: async (world, { user }) => (await makeSession(world, user, { isActive: false })).cookie,
  },
  'revoked session, bearer': {
    as: 'nobody',
    headers: async (world, { user }) => (await makeSession(world, user, { isActive: false })).bearer,
  },
  'expired access token, cookie': {
    as: 'nobody',
    headers: async (world, { user }) => (await makeSession(world, user, { lifetimeMs: -1_000 })).cookie,
  },
  'expired access token, bearer': {
    as: 'nobody',
    headers: async (world, { user }) => (await makeSession(world, user, { lifetimeMs: -1_000 })).bearer,
  },
  'revoked API key': {
    as: 'nobody',
    async headers(world, { user }) {
      const { id, headers } = await makeApiKey(world, user);
      await world.db.commit([
        sql`update api_keys set revoked_at = ${timestamp(world.clock.now())} where id = ${id}`,
      ]);
      return headers;
    },
  },
  'expired API key': {
    as: 'nobody',
    headers: async (world, { user }) => (await makeApiKey(world, user, { expiresInMs: -1 })).headers,
  },
  'refresh token for an access token': {
    as: 'nobody',
    async headers(world, { user }) {
      const { id, cookie } = await makeSession(world, user);
      const token = signed(world).issue('refresh', { user: user.id, session: id }, 60_000);
      return { ...cookie, cookie: `access_token=${token}` };
    },
  },
  'login token for an access token': {
    as: 'nobody',
    async headers(world, { user }) {
      const { id, bearer: good } = await makeSession(world, user);
      return { ...good, ...bearer(signed(world).issue('login', { user: user.id, session: id }, 60_000)) };
    },
  },
  'JWT signed with another key': {
    as: 'nobody',
    async headers(world, { user }) {
      const { id, bearer: good } = await makeSession(world, user);
      const forged = signed(world, 'x'.repeat(48)).issue('access', { user: user.id, session: id }, 60_000);
      return { ...good, ...bearer(forged) };
    },
  },
  'JWT that is not signed': {
    as: 'nobody',
    async headers(world, { user }) {
      const { token, bearer: good } = await makeSession(world, user);
      const header = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
      return { ...good, ...bearer(`${header}.${token.split('.')[1]}.`) };
    },
  },
  'JWT of one user for the session of another': {
    as: 'nobody',
    async headers(world, { user }) {
      const { id, bearer: good } = await makeSession(world, (await world.makeTrader()).user);
      return { ...good, ...bearer(signed(world).issue('access', { user: user.id, session: id }, 60_000)) };
    },
  },
  'deactivated user, cookie': { as: 'session', csrf: true, deactivated: true, headers: byCookie },
  'deactivated user, bearer': { as: 'session', csrf: true, deactivated: true, headers: byBearer },
  'deactivated user, API key': { as: 'api_key', deactivated: true, headers: byKey },
  'ordinary user, cookie': { as: 'session', csrf: true, ordinary: true, headers: byCookie },
  'ordinary user, API key': { as: 'api_key', ordinary: true, headers: byKey },
  'admin from a foreign IP, cookie': { as: 'session', csrf: true, abroad: true, headers: byCookie },
  'admin from a foreign IP, API key': { as: 'api_key', abroad: true, headers: byKey },
  'nobody from a foreign IP': { as: 'nobody', abroad: true, headers: async () => ({}) },
  'admin from a foreign IP who says otherwise': {
    as: 'api_key',
    abroad: true,
    headers: async (_, { apiKey }) => ({ ...bearer(apiKey), 'x-forwarded-for': '127.0.0.1' }),
  },
};

const CHANGING = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** The guard's answer; null: it lets the request pass. */
function refusal({ access, method }: Route, actor: Actor): DenialCode | null {
  if (access === 'open') return null;
  if (access === 'admin' || access === 'admin_ip') {
    if (actor.abroad) return 'ip_not_allowed';
    if (access === 'admin_ip') return null;
  }
  if (actor.as === 'nobody') return 'unauthenticated';
  if (actor.deactivated) return 'user_deactivated';
  if (actor.as === 'api_key' && access === 'session') return 'session_required';
  if (actor.as === 'session' && !actor.csrf && CHANGING.has(method)) return 'csrf_validation_failed';
  if (access === 'admin' && actor.ordinary) return 'admin_required';
  return null;
}

const nameOf = ({ method, url }: Route): string => `${method === 'HEAD' ? 'GET' : method} ${url}`;

/** A body that may be empty may also be missing. */
const needsSample = ({ url, body }: Route): boolean =>
  /[:*]/.test(url) || (body !== undefined && !Compile(body as never).Check({}));

function sampleOf(route: Route): MakeSample {
  const made = SAMPLES[nameOf(route)];
  if (!made && needsSample(route))
    assert.fail(
      `the matrix has no sample request for ${nameOf(route)}: add one to test/http/route-samples.ts`,
    );
  return made ?? (() => ({}));
}

function urlOf({ url }: Route, { params = {}, query = '' }: Sample): string {
  const path = url.replace(/:(\w+)/g, (_, name: string) => {
    const value = params[name];
    assert.ok(value !== undefined, `the sample request for ${url} has no ${name}`);
    return encodeURIComponent(value);
  });
  return path + query;
}

async function ask(world: World, route: Route, sample: Sample, { headers = {}, ip = '127.0.0.1' } = {}) {
  const own = sample.headers ?? {};
  const cookie = [own.cookie, (headers as Headers).cookie].filter(Boolean).join('; ');
  const response = await inject(world.server, {
    method: route.method as 'GET',
    url: urlOf(route, sample),
    remoteAddress: ip,
    headers: {
      ...own,
      ...headers,
      ...(cookie === '' ? {} : { cookie }),
      ...(sample.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(sample.body === undefined ? {} : { payload: JSON.stringify(sample.body) }),
  });
  const isProblem = String(response.headers['content-type']).includes('problem+json');
  const code =
    isProblem && response.body !== '' ? (JSON.parse(response.body) as { code: string }).code : null;
  return { status: response.statusCode, code, body: response.body };
}

const hasher = countingHasher();

/** Somebody new for every cell: nobody's rate limit, session or account is in the way of another's. */
async function newTrader(world: World, isAdmin: boolean): Promise<Trader> {
  const passwordHash = await hasher.hash(PASSWORD);
  const trader = await world.makeTrader({ isAdmin });
  await world.db.commit([sql`update users set password_hash = ${passwordHash} where id = ${trader.user.id}`]);
  return trader;
}

async function checkCell(world: World, route: Route, name: string, actor: Actor): Promise<void> {
  const trader = await newTrader(world, route.access === 'admin' && !actor.ordinary);
  // An open route is called about somebody else: the caller's credentials must make no difference.
  const owner = route.access === 'open' ? await newTrader(world, false) : trader;
  const sample = await sampleOf(route)({ world, trader: owner });
  const headers = await actor.headers(world, trader);
  if (actor.deactivated)
    await world.db.commit([sql`update users set is_active = ${false} where id = ${trader.user.id}`]);
  const answer = await ask(world, route, sample, { headers, ...(actor.abroad ? { ip: FOREIGN_IP } : {}) });

  const where = `${route.method} ${route.url} by ${name}: ${answer.status} ${answer.body.slice(0, 200)}`;
  const expected = refusal(route, actor);
  if (expected !== null) {
    assert.equal(answer.status, ruleOf(expected).status, where);
    if (route.method !== 'HEAD') assert.equal(answer.code, expected, where);
  } else if (sample.status !== undefined) assert.equal(answer.status, sample.status, where);
  else assert.ok(answer.status < 400, where);

  if (expected === 'csrf_validation_failed') {
    const entries = await world.audits(trader);
    assert.ok(
      entries.some(({ action, success }) => action === expected && !success),
      `${where}, not audited`,
    );
  }
}

/** What is another's does not exist, and what exists nowhere looks the same. */
async function checkStrangers(world: World, route: Route): Promise<void> {
  const { access, method, url } = route;
  const makeSample = sampleOf(route);
  const isAdmin = access === 'admin';
  const owner = await newTrader(world, isAdmin);
  const sample = await makeSample({ world, trader: owner });
  const stranger = await newTrader(world, isAdmin);
  const ways = [await byCookie(world, stranger), await byBearer(world, stranger)];
  if (access !== 'session') ways.push(bearer(stranger.apiKey));

  const isOwned = (sample.owned ?? url.includes(':')) && (access === 'user' || access === 'session');
  for (const headers of isOwned ? ways : []) {
    const answer = await ask(world, route, sample, { headers });
    const where = `${method} ${url} of another user: ${answer.status} ${answer.body.slice(0, 200)}`;
    assert.equal(answer.status, 404, where);
    const missing = url.startsWith('/trading/groups/:id') ? 'group_not_found' : 'not_found';
    if (method !== 'HEAD') assert.equal(answer.code, missing, where);
  }
  if (!url.includes(':')) return;
  const headers = ways.at(-1) ?? {};
  for (const garbage of ['x', randomUUIDv7(), '0', '..', "' or 1=1 --", 'a\0b', 'é', 'a'.repeat(3000)]) {
    const params = Object.fromEntries(Object.keys(sample.params ?? {}).map((name) => [name, garbage]));
    const answer = await ask(world, route, { ...sample, params }, { headers });
    assert.equal(answer.status, 404, `${method} ${url} with the id ${garbage.slice(0, 20)}: ${answer.body}`);
  }
}

async function openMatrix(t: TestContext) {
  const env = { ...SIGNED, EDGE: 'external', WORKER_POOL_SIZE: '8', VERIFY_EMAIL: 'true' };
  const world = await openWorld(t, { env, hasher });
  await world.makeTrader({ isAdmin: true });
  await world.server.ready();
  return { world, routes: world.server.routeTable };
}

describe('the route matrix', () => {
  test('holds for every route and every caller', async (t) => {
    const { world, routes } = await openMatrix(t);
    assert.ok(routes.length > 20);
    for (const route of routes)
      await t.test(`${route.method} ${route.url} (${route.access})`, async () => {
        const cells = Object.entries(ACTORS).map(
          ([name, actor]) =>
            () =>
              checkCell(world, route, name, actor),
        );
        // Only so many passwords are checked at once.
        if (route.url.startsWith('/auth/')) for (const check of cells) await check();
        else await Promise.all(cells.map((check) => check()));
        await checkStrangers(world, route);
      });
  });

  test('knows every route of the server', async (t) => {
    const { world, routes } = await openMatrix(t);
    const printed = world.server.printRoutes({ commonPrefix: false });
    const methods = [...printed.matchAll(/\(([A-Z, ]+)\)/g)].flatMap(([, list]) => (list ?? '').split(', '));
    // The preflight of CORS is no route of ours: it answers with headers alone, before the guard.
    const preflights = methods.filter((method) => method === 'OPTIONS');
    assert.ok(preflights.length <= 1 && !/[^*] \(.*OPTIONS/.test(printed), printed);
    assert.equal(methods.length - preflights.length, routes.length, printed);
  });

  test('has a sample request wherever one is needed, and none for what is gone', async (t) => {
    const { routes } = await openMatrix(t);
    for (const route of routes) sampleOf(route);
    const names = new Set(routes.map(nameOf));
    const stale = Object.keys(SAMPLES).filter((name) => !names.has(name));
    assert.deepEqual(stale, []);
  });

  test('would name a route that nobody made a sample request for', () => {
    const forgotten = {
      method: 'GET',
      url: '/trading/secrets/:id',
      access: 'user',
      body: undefined,
    } as Route;
    assert.throws(() => sampleOf(forgotten), /no sample request for GET \/trading\/secrets\/:id/);
  });

  test('begins with the access that the contract gives each route', async (t) => {
    const { routes } = await openMatrix(t);
    for (const route of routes) {
      const contract = CONTRACT.find(([pattern]) => pattern.test(nameOf(route)));
      assert.ok(contract, `${nameOf(route)} stands nowhere in CONTRACT: say who may call it`);
      assert.equal(route.access, contract[1], nameOf(route));
    }
  });
});
