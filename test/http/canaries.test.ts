// Secrets are planted by using the service as people do, and then looked for wherever none may be: in the logs, in
// error answers, in answers after the first showing, in the mails, and in every byte of the data folder.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { CompactEncrypt, importJWK } from 'jose';
import { BrokerUnavailable, CredentialsRejected } from '../../src/broker/broker.ts';
import { sql } from '../../src/data/engine/db.ts';
import { stepAt, totpCode } from '../../src/domain/identity/totp.ts';
import { timestamp, type UserId } from '../../src/domain/ids.ts';
import { openLog } from '../../src/log.ts';
import { makeApiKey } from '../accounts/credentials.ts';
import { scriptedBroker } from '../worker/scripted-broker.ts';
import { type Answer, openWorld } from '../world.ts';
import { openVisitor } from './visitor.ts';

/** Where the documents say that a secret stands in the clear, and the only places where one may. */
const DOCUMENTED = new Set([
  // The webhook is looked up by it; whoever has the database still lacks the secret that goes with it.
  'trading_accounts.webhook_token holds the new webhook token',
  // Worth nothing without the session's own token, which is not stored at all.
  'user_sessions.csrf_token holds the CSRF token',
]);

type Request = Parameters<typeof openVisitor>[0];

const secret = (name: string): string => `${name}-${randomBytes(24).toString('base64url')}`;

/** What a secret may look like when somebody has written it down. */
function spellings(value: string): string[] {
  // Of a JWT the signature is what nobody else's has; of anything long a good part is as bad as the whole.
  const core = /^[\w-]+\.[\w-]+\.([\w-]+)$/.exec(value)?.[1] ?? value;
  const parts = [core, core.slice(0, 20), core.slice(-20)];
  const bytes = Buffer.from(core);
  return [
    ...new Set([
      ...parts,
      encodeURIComponent(core),
      bytes.toString('base64').replace(/=+$/, ''),
      bytes.toString('base64url'),
      bytes.toString('hex'),
    ]),
  ];
}

class Canaries {
  readonly #planted = new Map<string, string[]>();

  plant(name: string, value: string | undefined, spell = spellings): string {
    assert.ok(value && value.length >= 6, `there is no ${name} to plant`);
    this.#planted.set(name, spell(value));
    return value;
  }

  get names(): string[] {
    return [...this.#planted.keys()];
  }

  /** The names of those that the text, or the bytes, hold. */
  in(text: string | Buffer): string[] {
    return [...this.#planted].flatMap(([name, forms]) =>
      forms.some((form) => text.includes(form)) ? [name] : [],
    );
  }
}

/** The provider of the bot challenge: lets everybody pass. */
async function siteverify(t: TestContext): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    response.end('{"success":true}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

async function aviary(t: TestContext) {
  const canaries = new Canaries();
  const JWT_SECRET = canaries.plant('JWT_SECRET', secret('jwt'));
  const CAPTCHA_SECRET = canaries.plant('CAPTCHA_SECRET', secret('captcha'));
  const lines: string[] = [];
  const broker = scriptedBroker(t);
  const world = await openWorld(t, {
    env: {
      JWT_SECRET,
      CAPTCHA_SECRET,
      CAPTCHA_ENABLED: 'true',
      CAPTCHA_PROVIDER: 'turnstile',
      CAPTCHA_SITE_KEY: 'site',
      CAPTCHA_VERIFY_URL: await siteverify(t),
      LOG_LEVEL: 'trace',
      RATE_LIMIT_REQUESTS: '100000',
      // The flatten's close waits for an entry of which nobody knows whether it was taken.
      RESPONSE_WAIT_SECONDS: '5',
      EDGE: 'external',
    },
    log: openLog('trace', { write: (line: string) => void lines.push(line) }),
    brokers: broker.brokers,
    wait: async () => {},
  });
  canaries.plant('APP_KEY', Buffer.alloc(32, 7).toString('base64url'));
  const workerKey = JSON.parse(readFileSync(join(world.dir, 'keys', 'WORKER_KEY'), 'utf8')) as { d: string };
  canaries.plant('WORKER_KEY', workerKey.d);

  const answers: { what: string; shows: readonly string[]; text: string }[] = [];
  let shows: readonly string[] = [];
  const request: Request = async <Body>(options: Parameters<Request>[0]) => {
    const answer = await world.request<Body>(options);
    const { method, url } = options;
    answers.push({ what: `${method} ${url} → ${answer.status}`, shows, text: JSON.stringify(answer) });
    return answer;
  };
  return {
    world,
    broker,
    canaries,
    lines,
    answers,
    request,
    /** The answers to this may show these: for the first time, or because the contract says so. */
    async showing<T>(names: readonly string[], work: () => Promise<T>): Promise<T> {
      shows = names;
      try {
        return await work();
      } finally {
        shows = [];
      }
    },
  };
}

type Aviary = Awaited<ReturnType<typeof aviary>>;

const ok = <Body>(answer: Answer<Body>, status = 200): Body => {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  return answer.body;
};
const refused = (answer: Answer<unknown>): void =>
  assert.ok(answer.status >= 400, `${answer.status} ${JSON.stringify(answer.body)}`);

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** Registering, logging in by every door, and being turned away at every one. */
async function comeIn({ canaries, request, showing, world }: Aviary) {
  const email = 'ann@example.com';
  const password = canaries.plant('password', secret('password'));
  const wrong = canaries.plant('wrong password', secret('wrong'));
  const captcha_token = () => canaries.plant(`captcha token ${canaries.names.length}`, secret('challenge'));
  const post = <Body>(url: string, body: unknown, headers = {}) =>
    request<Body>({ method: 'POST', url, body, headers });

  const adminPassword = canaries.plant('admin password', secret('admin'));
  ok(await post('/setup/admin', { email: 'root@example.com', password: adminPassword }), 201);
  refused(await post('/setup/admin', { email: 'root@example.com', password: adminPassword }));
  ok(
    await post('/auth/register', { email, password, captcha_token: captcha_token(), accept_terms: true }),
    201,
  );
  refused(await post('/auth/register', { email, password, captcha_token: captcha_token() }));
  refused(await post('/auth/login', { email, password: wrong, captcha_token: captcha_token() }));
  refused(
    await post('/auth/login', { email: 'nobody@example.com', password, captcha_token: captcha_token() }),
  );
  refused(await post('/auth/login', { email: wrong, password: [password], captcha_token: 1 }));

  const visitor = openVisitor(request);
  const entered = await showing(['CSRF token', 'access token', 'refresh token'], async () => {
    const answer = await visitor.call('POST', '/auth/login', {
      email,
      password,
      captcha_token: captcha_token(),
    });
    canaries.plant('CSRF token', visitor.csrf);
    canaries.plant('access token', visitor.cookie('access_token'));
    canaries.plant('refresh token', visitor.cookie('refresh_token'));
    return answer;
  });
  ok(entered);
  await showing(['CSRF token'], async () => ok(await visitor.call('GET', '/auth/session')));
  refused(await visitor.call('POST', '/settings/api-keys', { name: 'x' }, { 'x-csrf-token': wrong }));

  await showing(['CSRF token', 'second access token', 'second refresh token'], async () => {
    ok(await visitor.call('POST', '/auth/silent-refresh'));
    canaries.plant('second access token', visitor.cookie('access_token'));
    canaries.plant('second refresh token', visitor.cookie('refresh_token'));
  });
  refused(await post('/auth/silent-refresh', undefined, { cookie: `refresh_token=${wrong}` }));

  await showing(['granted access token', 'granted refresh token', 'granted CSRF token'], async () => {
    const form = new URLSearchParams({ grant_type: 'password', username: email, password });
    const granted = ok(await post<Record<string, string>>('/auth/token', form.toString(), FORM));
    canaries.plant('granted access token', granted.access_token);
    canaries.plant('granted refresh token', granted.refresh_token);
    await world.db.commit([
      sql`update user_sessions set is_active = ${false} where csrf_token = ${granted.csrf_token ?? ''}`,
    ]);
    refused(await post('/auth/token', { grant_type: 'refresh_token', refresh_token: granted.refresh_token }));
    refused(
      await request({
        method: 'GET',
        url: '/trading/orders',
        headers: { authorization: `Bearer ${granted.access_token}` },
      }),
    );
  });
  refused(await post('/auth/token', { grant_type: 'password', username: email, password: wrong }));
  refused(await post('/auth/token', { grant_type: wrong, username: email, password }));
  refused(await post('/auth/token', `grant_type=password&password=${password}&password=${wrong}`, FORM));
  refused(await post('/auth/token', `grant_type=password&username=%ff&password=${password}`, FORM));
  return { email, password, visitor, captcha_token, post };
}

type Door = Awaited<ReturnType<typeof comeIn>>;

async function secondFactor({ canaries, request, showing, world }: Aviary, door: Door) {
  const { visitor, email, password, captcha_token, post } = door;
  refused(await visitor.call('POST', '/auth/totp/enrol', { password: `${password}x` }));
  const { secret: shared } = await showing(['TOTP secret'], async () => {
    const enrolled = ok(await visitor.call<{ secret: string }>('POST', '/auth/totp/enrol', { password }));
    canaries.plant('TOTP secret', enrolled.secret);
    return enrolled;
  });
  const bytes = fromBase32(shared);
  canaries.plant('TOTP secret, its bytes', bytes.toString('latin1'));
  canaries.plant('TOTP secret in hex', bytes.toString('hex'));
  canaries.plant('TOTP secret in base64url', bytes.toString('base64url'));
  const code = totpCode(bytes, stepAt(world.clock.now()));
  refused(await visitor.call('POST', '/auth/totp/confirm', { code: '12345x' }));
  const codes = await showing(['recovery code', 'second recovery code'], async () => {
    const { recovery_codes } = ok(
      await visitor.call<{ recovery_codes: string[] }>('POST', '/auth/totp/confirm', { code }),
    );
    canaries.plant('recovery code', recovery_codes[0]);
    canaries.plant('second recovery code', recovery_codes[1]);
    canaries.plant('second recovery code, as stored', recovery_codes[1]?.replaceAll('-', ''));
    return recovery_codes;
  });
  const login = { email, password, captcha_token: captcha_token() };
  const login_token = await showing(['login token'], async () => {
    const asked = ok(await post<{ login_token: string }>('/auth/login', login));
    return canaries.plant('login token', asked.login_token);
  });
  refused(await post('/auth/login/totp', { login_token, code: codes[0]?.toLowerCase().slice(1) }));
  refused(await post('/auth/login/totp', { login_token: `${login_token}x`, code: codes[0] }));
  await showing(['third access token', 'third refresh token', 'CSRF token of the third'], async () => {
    const another = openVisitor(request);
    ok(await another.call('POST', '/auth/login/totp', { login_token, code: codes[0] }));
    canaries.plant('third access token', another.cookie('access_token'));
    canaries.plant('third refresh token', another.cookie('refresh_token'));
  });
  refused(await post('/auth/login/totp', { login_token, code: codes[0] }));
  ok(await visitor.call('POST', '/auth/totp/disable', { password }), 204);
}

async function apiKeys({ canaries, request, showing }: Aviary, { visitor }: Door) {
  const made = await showing(['API key'], async () => {
    const key = ok(
      await visitor.call<{ id: string; key: string }>('POST', '/settings/api-keys', { name: 'bot' }),
      201,
    );
    canaries.plant('API key', key.key);
    return key;
  });
  const headers = { authorization: `Bearer ${made.key}` };
  ok(await request({ method: 'GET', url: '/trading/orders', headers }));
  refused(await request({ method: 'GET', url: '/settings/api-keys', headers }));
  refused(await request({ method: 'GET', url: '/deployment/users', headers }));
  refused(
    await request({
      method: 'GET',
      url: '/trading/orders',
      headers: { authorization: `Bearer ${made.key}x` },
    }),
  );
  ok(await visitor.call('GET', '/settings/api-keys'));
  ok(await visitor.call('DELETE', `/settings/api-keys/${made.id}`), 204);
  refused(await request({ method: 'GET', url: '/trading/orders', headers }));
}

async function webhooks({ canaries, request, showing, world }: Aviary, { visitor, email }: Door) {
  await world.db.commit([sql`update users set plan = 'desk' where email = ${email}`]);
  interface Account {
    id: string;
    webhook_token: string;
    webhook_secret: string;
  }
  const account = await showing(['webhook token', 'webhook secret'], async () => {
    const made = ok(
      await visitor.call<Account>('POST', '/trading/accounts', { name: 'Paper', broker: 'paper' }),
      201,
    );
    canaries.plant('webhook token', made.webhook_token);
    canaries.plant('webhook secret', made.webhook_secret);
    return made;
  });
  const wrong = canaries.plant('wrong webhook secret', secret('guess'));
  const signal = (fields: object = {}) => ({
    action: 'buy',
    symbol: 'BTCUSDT',
    quantity: 1,
    timestamp: timestamp(world.clock.now()),
    secret: account.webhook_secret,
    ...fields,
  });
  const send = (body: unknown, more = '') =>
    request<{ order_id: string }>({
      method: 'POST',
      url: `/webhook/${account.webhook_token}/order${more}`,
      body,
      headers: { 'content-type': 'text/plain' },
    });
  const genuine = signal();
  const { order_id } = ok(await send(genuine));
  refused(await send(genuine));
  refused(await send(signal({ secret: wrong })));
  refused(await send(signal({ timestamp: '2020-01-01T00:00:00Z' })));
  refused(await send(signal({ action: account.webhook_secret })));
  refused(await send(signal({ quantity: account.webhook_secret })));
  refused(await send(signal({ symbol: 'x'.repeat(100) })));
  refused(await send(JSON.stringify(signal()).slice(0, -1)));
  refused(await send(JSON.stringify(signal()).replace('{', '{"secret":"x",')));
  refused(await send(JSON.stringify(signal({ padding: 'x'.repeat(20_000) }))));
  refused(await send(signal(), '?simulation=maybe'));
  refused(await send(signal(), '/nothing'));
  refused(await request({ method: 'GET', url: `/webhook/${account.webhook_token}/order` }));
  refused(await request({ method: 'POST', url: `/webhook/${account.webhook_token}x/order`, body: signal() }));
  ok(await send(signal({ timestamp: undefined }), '?simulation=true'));
  ok(await visitor.call('GET', `/trading/orders/${order_id}`));
  ok(await visitor.call('GET', '/trading/orders'));

  const url = `/trading/accounts/${account.id}`;
  await showing(['webhook token'], async () => {
    ok(await visitor.call('GET', '/trading/accounts'));
    ok(await visitor.call('GET', url));
    ok(await visitor.call('PATCH', url, { name: 'Renamed' }));
    refused(await visitor.call('PATCH', url, { max_request_age: 1 }));
  });
  await showing(['webhook secret'], async () => ok(await visitor.call('GET', `${url}/webhook-secret`)));
  await showing(['webhook token', 'new webhook secret'], async () => {
    const { webhook_secret } = ok(await visitor.call<Account>('POST', `${url}/webhook-secret`));
    canaries.plant('new webhook secret', webhook_secret);
  });
  refused(await send(signal()));
  await showing(['new webhook token'], async () => {
    const { webhook_token } = ok(await visitor.call<Account>('POST', `${url}/webhook-token`));
    canaries.plant('new webhook token', webhook_token);
  });
  refused(await send(signal()));
  return account.id;
}

/** Broker credentials, and brokers that repeat them in their own words. */
async function credentials(aviary: Aviary, { visitor }: Door, account: string) {
  const { canaries, request, showing, broker } = aviary;
  const api_secret = canaries.plant('broker credentials', secret('broker'));
  const key = ok(await request<Record<string, string>>({ method: 'GET', url: '/auth/public-key' }));
  const { user } = await showing(['CSRF token'], async () =>
    ok(await visitor.call<{ user: { id: string } }>('GET', '/auth/session')),
  );
  const content = { user_id: user.id, trading_account_id: account, credentials: { api_secret } };
  const sealed = await new CompactEncrypt(new TextEncoder().encode(JSON.stringify(content)))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: key.kid ?? '' })
    .encrypt(await importJWK(key, 'ECDH-ES'));
  const url = `/trading/accounts/${account}`;
  refused(await visitor.call('PUT', `${url}/credentials`, { sealed: api_secret }));
  refused(await visitor.call('PUT', `${url}/credentials`, { credentials: { api_secret } }));
  const orderOf = (symbol: string) => ({ trading_account_id: account, action: 'buy', symbol, quantity: 1 });
  await showing(['new webhook token'], async () => {
    ok(await visitor.call('PUT', `${url}/credentials`, { sealed }));
    ok(await visitor.call('POST', `${url}/verify`));
    const opened = broker.calls.filter(({ call }) => call === 'open').at(-1)?.asked as {
      credentials: unknown;
    };
    assert.deepEqual(opened.credentials, { api_secret }, 'the worker has opened what was sealed');
    ok(await visitor.call('POST', '/trading/order', orderOf('BTCUSDT')));
  });

  const words = `wrong signature for ${api_secret}`;
  for (const fault of [new Error(words), new BrokerUnavailable(words), new CredentialsRejected(words)]) {
    for (const call of ['open', 'resolve', 'position', 'place', 'find'] as const) {
      broker.forgetScripts();
      broker.script(call, async () => {
        throw fault;
      });
      await showing(['new webhook token'], async () => {
        await visitor.call('POST', `${url}/verify`);
        await visitor.call('GET', `${url}/positions`);
        await visitor.call('POST', '/trading/order', orderOf('ETHUSDT'));
      });
    }
  }
  broker.forgetScripts();
  await showing(['new webhook token'], async () => {
    await visitor.call('POST', `${url}/halt`, { flatten: true });
    ok(await visitor.call('POST', `${url}/resume`));
  });
}

async function forgottenPassword({ canaries, world }: Aviary, { post, email, password }: Door) {
  ok(await post('/auth/forgot-password', { email }), 202);
  // Among the alerts about all that was tried with the webhook.
  const link = /token=(?:3D)?([\w-]{43})(?![\w-])/;
  const token = await world.eventually(
    async () =>
      globSync(join(world.dir, 'outbox', '*.eml'))
        .map((file) => readFileSync(file, 'utf8').replace(/=\r?\n/g, ''))
        .flatMap((text) => link.exec(text)?.[1] ?? [])[0],
    (found) => found !== undefined,
  );
  canaries.plant('reset token', token);
  const fresh = canaries.plant('new password', secret('fresh'));
  refused(await post('/auth/reset-password', { token, password: 'short' }));
  refused(await post('/auth/reset-password', { token: `${token}x`, password: fresh }));
  refused(await post('/auth/reset-password', { token: [token], password: fresh }));
  ok(await post('/auth/reset-password', { token, password: fresh }), 204);
  refused(await post('/auth/reset-password', { token, password: fresh }));
  refused(await post('/auth/token', { grant_type: 'password', username: email, password }));
}

/** Every route that takes a body, with a secret in every field where it does not belong. */
async function badBodies({ canaries, request, world }: Aviary) {
  const trader = await world.makeTrader({ isAdmin: true });
  const headers = { authorization: `Bearer ${trader.apiKey}` };
  const misplaced = secret('misplaced');
  /** Where it was refused; where it was taken, it was a name or a text that may be read again. */
  const send = async (method: string, url: string, body: (value: string) => string | undefined) => {
    const value = secret('misplaced');
    const text = body(value);
    const answer = await request({
      method: method as 'POST',
      url: url.replace(misplaced, value).replace(misplaced, value),
      ...(text === undefined ? {} : { body: text }),
      headers: { ...headers, ...(text === undefined ? {} : { 'content-type': 'application/json' }) },
    });
    if (answer.status >= 400)
      canaries.plant(`secret in ${method} ${url}: ${text?.slice(0, 60)}`, value, (each) => [each]);
  };
  for (const { method, url, body } of world.server.routeTable) {
    const path = url.replace(/:(\w+)/g, trader.account.id);
    await send(method, `${path}?cursor=${misplaced}&limit=${misplaced}`, () => undefined);
    if (body === undefined) continue;
    const fields = Object.keys((body as { properties?: object }).properties ?? {});
    await send(method, path, (value) => `{"password":"${value}`);
    await send(method, path, (value) => JSON.stringify(value));
    await send(method, path, (value) => JSON.stringify([value]));
    await send(method, path, (value) =>
      JSON.stringify(Object.fromEntries(fields.map((field) => [field, value]))),
    );
    for (const field of fields)
      for (const spoil of [
        (value: string) => [value],
        (value: string) => ({ of: value }),
        (value: string) => value,
        (value: string) => value.repeat(400),
      ])
        await send(method, path, (value) => JSON.stringify({ [field]: spoil(value) }));
  }
}

/** Whatever can be read, by the user and by an admin. */
async function readAll({ request, showing, world }: Aviary, email: string) {
  const user = await world.db.get<{ id: string }>(sql`select id from users where email = ${email}`);
  const admin = await world.makeTrader({ isAdmin: true });
  const { key } = await makeApiKey(world, { id: user?.id as UserId });
  const ids = await world.db.all<{ id: string }>(
    sql`select id from trading_accounts where user_id = ${user?.id ?? ''}
        union all select order_id from order_history where user_id = ${user?.id ?? ''}
        union all select id from users where id = ${user?.id ?? ''}`,
  );
  const reads = world.server.routeTable.filter(({ method }) => method === 'GET');
  for (const { url } of reads)
    for (const { id } of url.includes(':') ? ids : [{ id: '' }])
      for (const apiKey of [key, admin.apiKey])
        await showing(['new webhook token'], () =>
          request({
            method: 'GET',
            url: url.replace(/:(\w+)/g, id),
            headers: { authorization: `Bearer ${apiKey}` },
          }),
        );
}

async function inTables({ world, canaries }: Aviary): Promise<string[]> {
  const tables = await world.db.all<{ name: string }>(
    sql`select name from sqlite_master where type = 'table' and name not like 'sqlite_%'`,
  );
  const found = new Set<string>();
  for (const { name } of tables) {
    const rows = await world.db.all<Record<string, unknown>>({
      parts: [`select * from ${name}`],
      values: [],
    });
    for (const row of rows)
      for (const [column, value] of Object.entries(row))
        for (const canary of canaries.in(String(value))) found.add(`${name}.${column} holds the ${canary}`);
  }
  return [...found];
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile());
}

test('no secret is found where none may be', { timeout: 120_000 }, async (t) => {
  const birds = await aviary(t);
  const { world, canaries, lines, answers } = birds;
  const door = await comeIn(birds);
  await secondFactor(birds, door);
  await apiKeys(birds, door);
  const account = await webhooks(birds, door);
  await credentials(birds, door, account);
  await forgottenPassword(birds, door);
  await badBodies(birds);
  await readAll(birds, door.email);
  assert.ok(canaries.names.length > 30);

  await t.test('in the logs', () => {
    assert.ok(lines.length > 500, `the log has ${lines.length} lines`);
    const found = lines.flatMap((line) => canaries.in(line).map((name) => `${name} in ${line}`));
    assert.deepEqual(found, []);
  });

  await t.test('in the answers, but where they are shown', () => {
    const found = answers.flatMap(({ what, shows, text }) =>
      canaries
        .in(text)
        .filter((name) => !shows.includes(name))
        .map((name) => `${name} in ${what}: ${text.slice(0, 400)}`),
    );
    assert.deepEqual(found, []);
    const errors = answers.filter(({ what }) => / → [45]/.test(what));
    assert.ok(errors.length > 200, `there were ${errors.length} errors`);
    assert.ok(!errors.some(({ what }) => / → 500/.test(what)));
  });

  await t.test('in the tables, but where the documents say so', async () => {
    const found = await inTables(birds);
    assert.deepEqual(new Set(found), DOCUMENTED);
  });

  await t.test('in the bytes of the data folder, also after a stop', async () => {
    const inClear = new Set([...DOCUMENTED].map((text) => text.replace(/.* holds the /, '')));
    // It was replaced by the new one, and stood there before.
    inClear.add('webhook token');
    const look = () =>
      filesUnder(world.dir).flatMap((file) => {
        if (file.startsWith(join(world.dir, 'keys'))) return [];
        const isMail = file.startsWith(join(world.dir, 'outbox'));
        return canaries
          .in(readFileSync(file))
          .filter((name) => (isMail ? name !== 'reset token' : !inClear.has(name)))
          .map((name) => `${name} in ${file}`);
      });
    assert.deepEqual(look(), []);
    await world.stop();
    assert.deepEqual(look(), []);
  });
});

test('a planted secret would be found: in each spelling, in part, in a file', () => {
  const canaries = new Canaries();
  const value = canaries.plant('secret', secret('x'));
  const bytes = Buffer.from(value);
  for (const text of [
    value,
    `{"url":"/webhook/${value}/order"}`,
    value.slice(0, 20),
    bytes.toString('hex'),
    bytes.toString('base64'),
  ]) {
    assert.deepEqual(canaries.in(text), ['secret'], text);
    assert.deepEqual(canaries.in(Buffer.from(`before\0${text}\0after`)), ['secret'], text);
  }
  assert.deepEqual(canaries.in(value.slice(0, 6)), []);
});

function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  );
  return Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
