import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTokens } from '../../src/app/identity/tokens.ts';
import { type Db, NotCommitted, sql } from '../../src/data/engine/db.ts';
import type { SessionId, UserId } from '../../src/domain/ids.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { StoreUnavailable } from '../../src/store/store.ts';
import { countingHasher, type LoggedIn, setCookies, type Visitor } from '../http/visitor.ts';
import { openWorld, PASSWORD, type Problem, settableClock, type World } from '../world.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const JWT_SECRET = 'a secret for signing, of 32 characters and up';

const open = (t: Parameters<typeof openWorld>[0], parts: Parameters<typeof openWorld>[1] = {}) =>
  openWorld(t, { hasher: countingHasher(), ...parts });

interface OwnSession {
  readonly user: {
    id: string;
    email: string;
    plan: string;
    effective_plan: string;
    plan_expires_at: string | null;
  };
  readonly session: { id: string; created_at: string; ip_address: string; user_agent: string };
  readonly csrf_token: string;
  readonly terms: { current_version: string; accepted_version: string | null };
  readonly totp_enabled: boolean;
}

interface TokenAnswer {
  readonly access_token: string;
  readonly refresh_token?: string;
  readonly token_type: string;
  readonly expires_in: number;
  readonly csrf_token: string;
}

interface OAuthProblem {
  readonly error: string;
  readonly error_description: string;
}

const ownSession = (visitor: Visitor) => visitor.call<OwnSession>('GET', '/auth/session');

const audits = ({ db }: World, user: string, action?: string) =>
  db
    .all<{ action: string; success: number; error_message: string | null; metadata: string }>(
      sql`select * from audit_logs where user_id = ${user} order by id`,
    )
    .then((rows) => rows.filter((row) => !action || row.action === action));

/** A browser that holds this refresh cookie and nothing else. */
function holding(world: World, refreshToken: string | undefined) {
  const visitor = world.visitor();
  if (refreshToken !== undefined)
    visitor.cookies.set('refresh_token', { value: refreshToken, path: '/auth' });
  return visitor;
}

const tokenCall = <Body = TokenAnswer>(world: World, fields: Record<string, unknown>) =>
  world.request<Body>({ method: 'POST', url: '/auth/token', body: fields });

const formCall = <Body = TokenAnswer>(world: World, form: string) =>
  world.request<Body>({
    method: 'POST',
    url: '/auth/token',
    body: form,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });

describe('login', () => {
  test('gives both cookies with the flags of the spec, the CSRF token and the user', async (t) => {
    const world = await open(t, { env: { COOKIE_DOMAIN: 'example.com' } });
    const user = await world.register();
    const answer = await world.request<LoggedIn>({
      method: 'POST',
      url: '/auth/login',
      body: { email: `  ${user.email.toUpperCase()} `, password: PASSWORD },
    });
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body.user, { ...user, plan: 'free', plan_expires_at: null });
    assert.equal(answer.body.expires_in, 1800);
    assert.equal(Buffer.from(answer.body.csrf_token, 'base64url').length, 32);
    assert.equal(answer.headers['cache-control'], 'no-store');
    const [access = '', refresh = '', device = '', ...more] = setCookies(answer);
    assert.deepEqual(more, []);
    assert.match(
      access,
      /^access_token=[\w.-]+; Max-Age=1800; Domain=example\.com; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    assert.match(
      refresh,
      /^refresh_token=[\w.-]+; Max-Age=2592000; Path=\/auth; HttpOnly; Secure; SameSite=Strict$/,
    );
    assert.match(
      device,
      /^known_device=[\w.-]+; Max-Age=15552000; Path=\/auth; HttpOnly; Secure; SameSite=Strict$/,
    );
  });

  test('makes a session record with address, User-Agent and a CSRF token of its own, and an audit entry', async (t) => {
    const world = await open(t);
    const user = await world.register();
    const userAgent = `Browser/1.0 \u00e9${'x'.repeat(600)}`;
    for (const remoteAddress of ['203.0.113.7', '::ffff:203.0.113.8'])
      await world.request({
        method: 'POST',
        url: '/auth/login',
        body: { email: user.email, password: PASSWORD },
        headers: { 'user-agent': userAgent },
        remoteAddress,
      });
    const rows = await world.db.all<Record<string, unknown>>(
      sql`select * from user_sessions where user_id = ${user.id} order by id`,
    );
    assert.deepEqual(
      rows.map((row) => row.ip_address),
      ['203.0.113.7', '203.0.113.8'],
    );
    assert.equal(new Set(rows.map((row) => row.csrf_token)).size, 2);
    assert.ok(rows.every((row) => row.is_active === 1 && String(row.user_agent).startsWith('Browser/1.0')));
    const entries = await audits(world, user.id, 'login');
    assert.deepEqual(
      entries.map((entry) => entry.success),
      [1, 1],
    );
  });

  test('a deactivated user is told so with the right password only', async (t) => {
    const world = await open(t);
    const { email, id } = await world.register();
    await world.db.commit([sql`update users set is_active = ${false} where id = ${id}`]);
    const answers = [];
    for (const password of [PASSWORD, 'something else']) {
      const body = { email, password };
      answers.push((await world.request<Problem>({ method: 'POST', url: '/auth/login', body })).body.code);
    }
    assert.deepEqual(answers, ['user_deactivated', 'invalid_credentials']);
    assert.equal((await world.db.all(sql`select id from user_sessions`)).length, 0);
  });

  test('a password that is changed while it is verified opens nothing', async (t) => {
    const hasher = countingHasher();
    const world = await openWorld(t, { hasher });
    const { email, id } = await world.register();
    const { verify } = hasher;
    hasher.verify = async (passwordHash, password) => {
      const isRight = await verify(passwordHash, password);
      await world.db.commit([sql`update users set password_hash = 'another' where id = ${id}`]);
      return isRight;
    };
    const body = { email, password: PASSWORD };
    const answer = await world.request<Problem>({ method: 'POST', url: '/auth/login', body });
    assert.deepEqual([answer.status, answer.body.code], [401, 'invalid_credentials']);
    assert.deepEqual(setCookies(answer), []);
    assert.equal((await world.db.all(sql`select id from user_sessions`)).length, 0);
  });

  const bad: Record<string, unknown> = {
    'no body': undefined,
    'no password': { email: 'a@example.com' },
    'an unknown field': { email: 'a@example.com', password: PASSWORD, remember: true },
    'an email that is no text': { email: { $ne: null }, password: PASSWORD },
    'a password that is no text': { email: 'a@example.com', password: 12345678 },
    'an email with NUL': { email: 'a\0@example.com', password: PASSWORD },
    'a password with NUL': { email: 'a@example.com', password: `${PASSWORD}\0` },
    'a password with half a character': { email: 'a@example.com', password: `${PASSWORD}\ud800` },
    'an email that is too long': { email: `${'a'.repeat(250)}@example.com`, password: PASSWORD },
    'a password that is too long': { email: 'a@example.com', password: 'x'.repeat(257) },
    'bytes that are no UTF-8': Buffer.from('7b22656d61696c223a22ff227d', 'hex'),
  };
  for (const [what, body] of Object.entries(bad))
    test(`${what} is a 400 and costs no verification`, async (t) => {
      const hasher = countingHasher();
      const world = await openWorld(t, { hasher });
      const headers = { 'content-type': 'application/json' };
      const answer = await world.request<Problem>({
        method: 'POST',
        url: '/auth/login',
        headers,
        ...(body === undefined ? {} : { body }),
      });
      assert.deepEqual([answer.status, answer.body.code], [400, 'request_invalid']);
      assert.equal(hasher.verified.length, 0);
    });
});

describe('a session', () => {
  test('tells who it is, with its CSRF token, after a reload', async (t) => {
    const world = await open(t);
    const visitor = await world.login();
    const { body, status } = await ownSession(visitor);
    assert.equal(status, 200);
    assert.deepEqual(body.user, { ...visitor.user, effective_plan: 'free' });
    assert.equal(body.csrf_token, visitor.csrf);
    assert.deepEqual(body.terms, { current_version: '1', accepted_version: '1' });
    assert.equal(body.totp_enabled, false);
    assert.deepEqual(Object.keys(body.session), ['id', 'created_at', 'ip_address', 'user_agent']);
  });

  test('shows a plan that has expired, and what is left of it', async (t) => {
    const clock = settableClock();
    const world = await open(t, { clock });
    const visitor = await world.login();
    const ends = new Date(clock.now() + 10 * MINUTE).toISOString();
    await world.db.commit([
      sql`update users set plan = 'pro', plan_expires_at = ${ends} where id = ${visitor.user.id}`,
    ]);
    const plan = async () => {
      const { user } = (await ownSession(visitor)).body;
      return [user.plan, user.plan_expires_at, user.effective_plan];
    };
    assert.deepEqual(await plan(), ['pro', ends, 'pro']);
    clock.advance(10 * MINUTE);
    assert.deepEqual(await plan(), ['pro', ends, 'free']);
  });

  test('ends with its access token after 30 minutes, and goes on by its refresh token', async (t) => {
    const clock = settableClock();
    const world = await open(t, { clock });
    const visitor = await world.login();
    clock.advance(30 * MINUTE - 1000);
    assert.equal((await ownSession(visitor)).status, 200);
    clock.advance(1000);
    assert.equal((await ownSession(visitor)).status, 401);
    const { status, body } = await visitor.call<LoggedIn>('POST', '/auth/silent-refresh');
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body).sort(), ['csrf_token', 'expires_in']);
    assert.equal((await ownSession(visitor)).status, 200);
  });

  test('a cookie decides where there is one: a bad one beside a good bearer is 401', async (t) => {
    const world = await open(t);
    const visitor = await world.login();
    const authorization = `Bearer ${visitor.cookie('access_token')}`;
    const get = (headers: Record<string, string>) =>
      world.request({ method: 'GET', url: '/auth/session', headers }).then(({ status }) => status);
    assert.equal(await get({ authorization }), 200);
    assert.equal(await get({ authorization, cookie: 'access_token=bad' }), 401);
  });

  test('ends at once by logout, for its cookies, its bearer and its refresh token', async (t) => {
    const world = await open(t);
    const visitor = await world.login();
    const stolen = { access: visitor.cookie('access_token'), refresh: visitor.cookie('refresh_token') };
    const answer = await visitor.call('POST', '/auth/logout');
    assert.equal(answer.status, 204);
    // The device is known for the next login.
    assert.deepEqual([...visitor.cookies.keys()], ['known_device']);
    const authorization = `Bearer ${stolen.access}`;
    const session = await world.request({ method: 'GET', url: '/auth/session', headers: { authorization } });
    assert.equal(session.status, 401);
    const refresh = await holding(world, stolen.refresh).call('POST', '/auth/silent-refresh');
    assert.equal(refresh.status, 401);
    assert.equal((await audits(world, visitor.user.id, 'logout')).length, 1);
  });

  test('does not log out without its CSRF token', async (t) => {
    const world = await open(t);
    const visitor = await world.login();
    const answer = await visitor.call<Problem>('POST', '/auth/logout', undefined, {
      'x-csrf-token': 'wrong',
    });
    assert.deepEqual([answer.status, answer.body.code], [403, 'csrf_validation_failed']);
    assert.equal((await ownSession(visitor)).status, 200);
  });

  test('is listed to its user with the others, and each can be revoked', async (t) => {
    const world = await open(t);
    const first = await world.login();
    const { email } = first.user;
    const second = await world.login({ email });
    const stranger = await world.login();
    interface List {
      items: { id: string; current: boolean; ip_address: string }[];
      next_cursor: string | null;
    }
    const list = async (query = '') => (await second.call<List>('GET', `/auth/sessions${query}`)).body;
    const all = await list();
    assert.deepEqual(
      all.items.map(({ current }) => current),
      [true, false],
    );
    assert.equal(all.next_cursor, null);
    const page = await list('?limit=1');
    assert.deepEqual(page, { items: [all.items[0]], next_cursor: all.items[0]?.id });
    assert.deepEqual(await list(`?limit=1&cursor=${page.next_cursor}`), {
      items: [all.items[1]],
      next_cursor: null,
    });
    assert.equal((await second.call('GET', '/auth/sessions?cursor=nonsense')).status, 400);

    const other = all.items[1]?.id;
    assert.equal((await stranger.call('DELETE', `/auth/sessions/${other}`)).status, 404);
    assert.equal((await ownSession(first)).status, 200);
    assert.equal((await second.call('DELETE', `/auth/sessions/${other}`)).status, 204);
    assert.equal((await ownSession(first)).status, 401);
    for (const id of [other, 'nonsense', '0198c0de-0000-7000-8000-000000000000'])
      assert.equal((await second.call('DELETE', `/auth/sessions/${id}`)).status, 404);
    assert.equal((await list()).items.length, 1);
    assert.equal((await second.call('DELETE', `/auth/sessions/${all.items[0]?.id}`)).status, 204);
    assert.deepEqual([...second.cookies.keys()], ['known_device']);
  });

  test('that nobody can refresh any more is not listed', async (t) => {
    const clock = settableClock();
    const world = await open(t, { clock });
    const { email } = (await world.login()).user;
    clock.advance(30 * DAY);
    const visitor = await world.login({ email });
    const { items } = (await visitor.call<{ items: unknown[] }>('GET', '/auth/sessions')).body;
    assert.equal(items.length, 1);
  });

  test('is not managed by an API key', async (t) => {
    const world = await open(t);
    const trader = await world.makeTrader();
    const calls = [
      ['GET', '/auth/session'],
      ['GET', '/auth/sessions'],
      ['DELETE', '/auth/sessions/0198c0de-0000-7000-8000-000000000000'],
      ['POST', '/auth/logout'],
      ['POST', '/auth/totp/enrol'],
      ['POST', '/auth/totp/confirm'],
      ['POST', '/auth/totp/disable'],
    ] as const;
    for (const [method, url] of calls) {
      const answer = await world.as<Problem>(trader, method, url);
      assert.deepEqual([url, answer.status, answer.body.code], [url, 403, 'session_required']);
    }
  });
});

describe('the silent refresh', () => {
  const refresh = (visitor: Visitor) => visitor.call<LoggedIn & Problem>('POST', '/auth/silent-refresh');

  test('rotates the refresh token and keeps the CSRF token', async (t) => {
    const world = await open(t);
    const visitor = await world.login();
    const [before, csrf] = [visitor.cookie('refresh_token'), visitor.csrf];
    const answer = await refresh(visitor);
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body as object, { csrf_token: csrf, expires_in: 1800 });
    assert.notEqual(visitor.cookie('refresh_token'), before);
    assert.equal(setCookies(answer).length, 2);
  });

  test('with a token used less than 10 seconds ago gives an access cookie and leaves the refresh cookie alone', async (t) => {
    const clock = settableClock();
    const world = await open(t, { clock });
    const visitor = await world.login();
    const used = visitor.cookie('refresh_token');
    await refresh(visitor);
    clock.advance(10_000);
    const tab = holding(world, used);
    const answer = await refresh(tab);
    assert.equal(answer.status, 200);
    assert.deepEqual(
      setCookies(answer).map((header) => header.slice(0, 13)),
      ['access_token='],
    );
    assert.equal((await ownSession(tab)).status, 200);
    assert.equal((await refresh(visitor)).status, 200);
  });

  test('with a token used longer ago revokes the session, everywhere, and says so in the audit log', async (t) => {
    const clock = settableClock();
    const world = await open(t, { clock });
    const visitor = await world.login();
    const other = await world.login({ email: visitor.user.email });
    const used = visitor.cookie('refresh_token');
    await refresh(visitor);
    clock.advance(10_001);
    const answer = await refresh(holding(world, used));
    assert.deepEqual([answer.status, answer.body.code, setCookies(answer)], [401, 'unauthenticated', []]);
    assert.equal((await ownSession(visitor)).status, 401);
    assert.equal((await refresh(visitor)).status, 401);
    assert.equal((await ownSession(other)).status, 200);
    const [entry, ...more] = await audits(world, visitor.user.id, 'refresh_token_reuse');
    assert.equal(entry?.success, 0);
    assert.deepEqual(more, []);
  });

  test('fifty at once with one token leave one family', async (t) => {
    const world = await open(t);
    const visitor = await world.login();
    const token = visitor.cookie('refresh_token');
    const tabs = Array.from({ length: 50 }, () => holding(world, token));
    const answers = await Promise.all(tabs.map(refresh));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.equal(answers.filter((answer) => setCookies(answer).length === 2).length, 1);
    const unused = await world.db.all(sql`select token_hash from refresh_tokens where used_at is null`);
    assert.equal(unused.length, 1);
  });

  test('fifty at once with a token used long ago revoke the session once, and none gets in', async (t) => {
    const clock = settableClock();
    const world = await open(t, { clock });
    const visitor = await world.login();
    const used = visitor.cookie('refresh_token');
    await refresh(visitor);
    clock.advance(MINUTE);
    const answers = await Promise.all(Array.from({ length: 50 }, () => refresh(holding(world, used))));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([401]));
    assert.equal((await audits(world, visitor.user.id, 'refresh_token_reuse')).length, 1);
  });

  test('is refused to a deactivated user, after 30 days, and without a refresh token of ours', async (t) => {
    const clock = settableClock();
    const world = await open(t, { clock, env: { JWT_SECRET } });
    const visitor = await world.login();
    const token = visitor.cookie('refresh_token');
    const { id } = visitor.user;
    const setActive = (isActive: boolean) =>
      world.db.commit([sql`update users set is_active = ${isActive} where id = ${id}`]);
    await setActive(false);
    const refused = await refresh(visitor);
    assert.deepEqual([refused.status, refused.body.code], [403, 'user_deactivated']);
    await setActive(true);

    const session = (await ownSession(visitor)).body.session.id as SessionId;
    const forged = createTokens({ secret: JWT_SECRET, clock });
    const claims = { user: id as UserId, session };
    const unknown = forged.issue('refresh', claims, DAY);
    for (const bad of [undefined, 'nonsense', visitor.cookie('access_token'), unknown])
      assert.equal((await refresh(holding(world, bad))).status, 401);

    clock.advance(30 * DAY - 1000);
    assert.equal((await refresh(visitor)).status, 200, 'the refusals above have used up nothing');
    const next = visitor.cookie('refresh_token');
    clock.advance(30 * DAY);
    assert.equal((await refresh(holding(world, next))).status, 401);
    assert.equal((await refresh(holding(world, token))).status, 401);
  });

  test('forgets tokens that have expired', async (t) => {
    const clock = settableClock();
    const world = await open(t, { clock });
    const visitor = await world.login();
    for (let day = 0; day < 40; day++) {
      clock.advance(DAY);
      assert.equal((await refresh(visitor)).status, 200);
    }
    assert.equal((await world.db.all(sql`select token_hash from refresh_tokens`)).length, 30);
  });
});

describe('the token endpoint', () => {
  test('gives tokens for a password, by form or JSON, and ignores what it does not know', async (t) => {
    const world = await open(t);
    const { email: username } = await world.register();
    const fields = { grant_type: 'password', username, password: PASSWORD, scope: 'all', client_id: 'cli' };
    const form = new URLSearchParams(fields).toString();
    for (const answer of [await tokenCall(world, { ...fields, extra: [1] }), await formCall(world, form)]) {
      assert.equal(answer.status, 200);
      const { access_token, refresh_token, ...rest } = answer.body;
      assert.ok(access_token && refresh_token);
      assert.deepEqual([rest.token_type, rest.expires_in], ['bearer', 1800]);
      assert.deepEqual(setCookies(answer), []);
      assert.equal(answer.headers['cache-control'], 'no-store');
      const headers = { authorization: `Bearer ${access_token}` };
      const session = await world.request<OwnSession>({ method: 'GET', url: '/auth/session', headers });
      assert.equal(session.body.csrf_token, rest.csrf_token);
      const logout = { method: 'POST', url: '/auth/logout' } as const;
      assert.equal((await world.request({ ...logout, headers })).status, 403);
      const proven = { ...headers, 'x-csrf-token': rest.csrf_token };
      assert.equal((await world.request({ ...logout, headers: proven })).status, 204);
    }
  });

  test('rotates a refresh token; shown again at once it gives no new one, later it ends the session', async (t) => {
    const clock = settableClock();
    const world = await open(t, { clock });
    const { email: username } = await world.register();
    const first = await tokenCall(world, { grant_type: 'password', username, password: PASSWORD });
    const refresh = <Body = TokenAnswer>(refresh_token: string | undefined) =>
      tokenCall<Body>(world, { grant_type: 'refresh_token', refresh_token });
    const second = await refresh(first.body.refresh_token);
    assert.equal(second.status, 200);
    const again = await refresh(first.body.refresh_token);
    assert.deepEqual([again.status, again.body.refresh_token], [200, undefined]);
    clock.advance(MINUTE);
    const late = await refresh<OAuthProblem>(first.body.refresh_token);
    assert.deepEqual([late.status, late.body.error], [400, 'invalid_grant']);
    assert.equal((await refresh(second.body.refresh_token)).status, 400);
  });

  const refused: Record<string, readonly [Record<string, unknown> | string, number, string]> = {
    'no grant type': [{}, 400, 'invalid_request'],
    'an empty grant type': [{ grant_type: '' }, 400, 'invalid_request'],
    'another grant type': [{ grant_type: 'client_credentials' }, 400, 'unsupported_grant_type'],
    'no password': [{ grant_type: 'password', username: 'a@example.com' }, 400, 'invalid_request'],
    'a wrong password': [
      { grant_type: 'password', username: 'a@example.com', password: 'wrong' },
      400,
      'invalid_grant',
    ],
    'no refresh token': [{ grant_type: 'refresh_token' }, 400, 'invalid_request'],
    'a bad refresh token': [{ grant_type: 'refresh_token', refresh_token: 'bad' }, 400, 'invalid_grant'],
    'a password that is no text': [
      { grant_type: 'password', username: 'a@example.com', password: 1 },
      400,
      'invalid_request',
    ],
    'a password with NUL': [
      'grant_type=password&username=a%40example.com&password=%00',
      400,
      'invalid_request',
    ],
    'bytes that are no UTF-8': ['grant_type=password&username=%ff&password=x', 400, 'invalid_request'],
    'a parameter given twice': [
      'grant_type=password&username=a%40example.com&password=x&password=y',
      400,
      'invalid_request',
    ],
    'a body that is too large': [`grant_type=${'x'.repeat(70_000)}`, 413, 'invalid_request'],
  };
  for (const [what, [body, status, error]] of Object.entries(refused))
    test(`${what} is ${error}, in OAuth2's shape`, async (t) => {
      const world = await open(t);
      const call = typeof body === 'string' ? formCall<OAuthProblem> : tokenCall<OAuthProblem>;
      const answer = await call(world, body as never);
      assert.deepEqual([answer.status, answer.body.error], [status, error]);
      assert.deepEqual(Object.keys(answer.body), ['error', 'error_description']);
      assert.match(answer.body.error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
      assert.equal(answer.headers['cache-control'], 'no-store');
    });

  test('no other route reads a form', async (t) => {
    const world = await open(t);
    const answer = await world.request<Problem>({
      method: 'POST',
      url: '/auth/login',
      body: 'email=a%40example.com&password=x',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    assert.equal(answer.status, 415);
  });

  test('is closed while the database does not count tries, as login is; the store is not asked', async (t) => {
    const store = openMemoryStore({ clock: { now: () => Date.now() } });
    let isAway = false;
    const db = (opened: Db): Db => ({
      ...opened,
      lists: opened.lists,
      commit: (unit) =>
        isAway && unit.some(({ parts }) => parts.join('').includes('into tries'))
          ? Promise.reject(new NotCommitted('gone'))
          : opened.commit(unit),
    });
    const world = await open(t, { store, db });
    const { email } = await world.register();
    store.countInWindow = () => Promise.reject(new StoreUnavailable('gone'));
    const form = { grant_type: 'password', username: email, password: PASSWORD };
    const body = { email, password: PASSWORD };
    isAway = true;
    const token = await tokenCall<OAuthProblem>(world, form);
    assert.deepEqual([token.status, token.body.error], [503, 'temporarily_unavailable']);
    assert.ok(token.headers['retry-after']);
    const login = await world.request<Problem>({ method: 'POST', url: '/auth/login', body });
    assert.deepEqual([login.status, login.body.code], [503, 'database_unavailable']);
    assert.ok(login.headers['retry-after']);
    assert.equal((await world.db.all(sql`select id from user_sessions`)).length, 0);
    isAway = false;
    assert.equal((await tokenCall(world, form)).status, 200);
    assert.equal((await world.request({ method: 'POST', url: '/auth/login', body })).status, 200);
  });
});
