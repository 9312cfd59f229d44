// What is revoked at one API process does not hold at the other from its very next request on: nobody remembers it.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CompactEncrypt, importJWK } from 'jose';
import type { ShownAccount, WithSecret } from '../../src/app/accounts/accounts.ts';
import type { LoggedIn, ShownUser, Visitor } from '../http/visitor.ts';
import { type Cluster, type Member, openCluster, type Problem, startServers, type Trader } from './desk.ts';

const servers = await startServers();
const skip = servers.missing === undefined ? {} : { skip: servers.missing };
const PASSWORD = 'a horse, a staple, a battery';

describe('revoked at one API, refused by the next request at the other', skip, () => {
  let cluster: Cluster;
  let one: Member;
  let two: Member;
  let admin: Trader;

  before(async () => {
    if (servers.missing !== undefined) return;
    cluster = await openCluster(servers);
    [one, two] = await cluster.startFive();
    admin = await cluster.admin();
  });
  after(async () => {
    await cluster?.close();
    if (servers.missing === undefined) await servers.redis.stop();
  });

  async function register(): Promise<ShownUser> {
    const body = { email: `${crypto.randomUUID()}@example.com`, password: PASSWORD, accept_terms: true };
    const made = await cluster.call<{ user: ShownUser }>(one, 'POST', '/auth/register', { body });
    assert.equal(made.status, 201);
    return made.body.user;
  }

  async function login(at: Member, { email }: ShownUser): Promise<Visitor> {
    const visitor = cluster.visitor(at);
    const { status } = await visitor.call<LoggedIn>('POST', '/auth/login', { email, password: PASSWORD });
    assert.equal(status, 200);
    return visitor;
  }

  /** The same browser, at the other process. */
  async function carry(from: Visitor, to: Member): Promise<Visitor> {
    const visitor = cluster.visitor(to);
    for (const [name, cookie] of from.cookies) visitor.cookies.set(name, cookie);
    assert.equal((await visitor.call('GET', '/auth/session')).status, 200);
    return visitor;
  }

  /** A user who trades: registered, on a plan with real trading, with an account made by its own session. */
  async function openAccount() {
    const user = await register();
    const change = { plan: 'desk' };
    await cluster.as(one, admin, 'PATCH', `/deployment/users/${user.id}`, change);
    const session = await login(one, user);
    const made = await session.call<WithSecret>('POST', '/trading/accounts', {
      name: 'Paper',
      broker: 'paper',
      paper: { latency_ms: 0 },
    });
    assert.equal(made.status, 201);
    const { id, webhook_token: webhookToken, webhook_secret: secret } = made.body;
    const path = `/trading/accounts/${id}`;
    /** A new signal at the other process, which has served this account before. */
    const send = async ({ token = webhookToken, key = secret } = {}) => {
      const signal = cluster.signal({ secret: key });
      const { status, body } = await cluster.deliver<Problem>(two, { webhookToken: token }, signal);
      return status === 200 ? status : body.code;
    };
    assert.equal(await send(), 200);
    return { user, session, id, path, send };
  }

  test('a session that logs out', async () => {
    const here = await login(one, await register());
    const there = await carry(here, two);
    assert.equal((await here.call('POST', '/auth/logout')).status, 204);
    assert.equal((await there.call('GET', '/auth/session')).status, 401);
    assert.equal((await there.call('POST', '/auth/silent-refresh')).status, 401);
  });

  test('a session that another one ends', async () => {
    const user = await register();
    const lost = await login(two, user);
    const { body } = await lost.call<{ session: { id: string } }>('GET', '/auth/session');
    const ended = await (await login(one, user)).call('DELETE', `/auth/sessions/${body.session.id}`);
    assert.equal(ended.status, 204);
    assert.equal((await lost.call('GET', '/auth/session')).status, 401);
  });

  test('a session that an admin ends', async () => {
    const lost = await login(two, await register());
    const { body } = await lost.call<{ session: { id: string } }>('GET', '/auth/session');
    const ended = await cluster.as(one, admin, 'DELETE', `/deployment/sessions/${body.session.id}`);
    assert.equal(ended.status, 204);
    assert.equal((await lost.call('GET', '/auth/session')).status, 401);
  });

  test('an API key', async () => {
    const session = await login(one, await register());
    const { body } = await session.call<{ id: string; key: string }>('POST', '/settings/api-keys', {
      name: 'a robot',
    });
    const headers = { authorization: `Bearer ${body.key}` };
    const use = async () => (await cluster.call(two, 'GET', '/trading/accounts', { headers })).status;
    assert.equal(await use(), 200);
    assert.equal((await session.call('DELETE', `/settings/api-keys/${body.id}`)).status, 204);
    assert.equal(await use(), 401);
  });

  test('a webhook secret', async () => {
    const { session, path, send } = await openAccount();
    const { body } = await session.call<WithSecret>('POST', `${path}/webhook-secret`);
    assert.equal(await send(), 'webhook_credential_attack');
    assert.equal(await send({ key: body.webhook_secret }), 200);
  });

  test('a webhook token', async () => {
    const { session, path, send } = await openAccount();
    const { body } = await session.call<ShownAccount>('POST', `${path}/webhook-token`);
    assert.equal(await send(), 'webhook_not_found');
    assert.equal(await send({ token: body.webhook_token }), 200);
  });

  test('an account that is halted, until it is resumed', async () => {
    const { session, path, send } = await openAccount();
    assert.equal((await session.call('POST', `${path}/halt`, {})).status, 200);
    assert.equal(await send(), 'account_halted');
    assert.equal((await session.call('POST', `${path}/resume`)).status, 200);
    assert.equal(await send(), 200);
  });

  test('addresses that are no longer on the list', async () => {
    const { session, path, send } = await openAccount();
    const there = await carry(session, two);
    const rename = async () => {
      // The token of the session proves itself at either process.
      const headers = { 'x-csrf-token': session.csrf ?? '' };
      const { status, body } = await there.call<Problem>('PATCH', path, { name: 'Renamed' }, headers);
      return status === 200 ? status : body.code;
    };
    assert.equal(await rename(), 200);
    const { body } = await session.call<{ id: string }>('POST', '/settings/allowed-ips', {
      ip_address: '203.0.113.7',
    });
    assert.equal(await send(), 'webhook_ip_blocked');
    assert.equal(await rename(), 'ip_not_allowed');
    assert.equal((await session.call('DELETE', `/settings/allowed-ips/${body.id}`)).status, 204);
    assert.equal(await send(), 200);
    assert.equal(await rename(), 200);
  });

  test('credentials that are replaced, until they are verified', async () => {
    const { user, session, id, path, send } = await openAccount();
    const there = await carry(session, two);
    const isVerified = async () =>
      (await there.call<ShownAccount>('GET', path)).body.broker_credentials_verified;
    assert.equal(await isVerified(), true);
    const { body: key } = await cluster.call<Record<string, string>>(one, 'GET', '/auth/public-key');
    const content = { user_id: user.id, trading_account_id: id, credentials: { api_key: 'a new one' } };
    const sealed = await new CompactEncrypt(new TextEncoder().encode(JSON.stringify(content)))
      .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: key.kid ?? '' })
      .encrypt(await importJWK(key, 'ECDH-ES'));
    assert.equal((await session.call('PUT', `${path}/credentials`, { sealed })).status, 200);
    assert.equal(await send(), 'credentials_not_verified');
    assert.equal(await isVerified(), false);
    // A worker opens them, in a third process.
    assert.equal((await session.call('POST', `${path}/verify`)).status, 200);
    assert.equal(await isVerified(), true);
    assert.equal(await send(), 200);
  });

  test('a user whom an admin deactivates, until the user is active again', async () => {
    const { user, session, send } = await openAccount();
    const there = await carry(session, two);
    const activate = (is_active: boolean) =>
      cluster.as(one, admin, 'PATCH', `/deployment/users/${user.id}`, { is_active });
    assert.equal((await activate(false)).status, 200);
    assert.equal(await send(), 'user_deactivated');
    const refused = await there.call<Problem>('GET', '/auth/session');
    assert.equal(refused.status, 403);
    assert.equal(refused.body.code, 'user_deactivated');
    assert.equal((await activate(true)).status, 200);
    assert.equal(await send(), 200);
  });
});
