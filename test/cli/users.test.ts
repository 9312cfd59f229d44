// Users and their keys, by the operator at the machine, beside the running service.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import { openWorld, PASSWORD } from '../world.ts';
import { terminal } from './terminal.ts';

const whoami = '/auth/session';

test('a deactivation holds from the next request on, and the log says that it came from the machine', async (t) => {
  const world = await openWorld(t);
  const run = terminal(world.config);
  const ann = await world.login();
  assert.equal((await ann.call('GET', whoami)).status, 200);

  const off = await run('user', 'deactivate', ann.user.email);
  assert.deepEqual([off.code, off.err], [0, '']);
  assert.match(off.out, /is deactivated/);
  assert.equal((await ann.call('GET', whoami)).status, 403);
  const entry = await world.db.get<Record<string, unknown>>(
    sql`select user_id, action, ip_address, user_agent, request_path, request_method, resource_id from audit_logs
        where action = 'user_change'`,
  );
  assert.match(String(entry?.user_agent), /^fillpath\/\S+ \(operator \S+\)$/);
  assert.deepEqual(
    { ...entry, user_agent: null },
    {
      user_id: null,
      action: 'user_change',
      ip_address: 'command line',
      user_agent: null,
      request_path: 'user deactivate',
      request_method: 'CLI',
      resource_id: ann.user.id,
    },
  );

  const shown = await run('user', 'show', ann.user.id, '--json');
  assert.equal(JSON.parse(shown.out).is_active, false);
  assert.equal((await run('user', 'activate', ann.user.email)).code, 0);
  assert.equal((await ann.call('GET', whoami)).status, 200);
});

test('who deactivates a user is told what rests and stands at brokers', async (t) => {
  const world = await openWorld(t);
  const trader = await world.makeTrader({}, { paper: { latency_ms: 0 } });
  await world.send(trader, { symbol: 'ETHUSDT', quantity: 1, stop_loss: '2%' });
  await world.eventually(
    () => world.db.get(sql`select 1 from protections where state = 'standing'`),
    (found) => found !== undefined,
  );
  await world.send(trader, { symbol: 'BTCUSDT', quantity: 1, limit_price: 1000 });
  const off = await terminal(world.config)('user', 'deactivate', trader.user.email);
  assert.equal(off.code, 0, off.err);
  assert.match(off.out, /stays at brokers, and is looked after: a stop at \d\S* \(ETHUSDT\)\./);
  assert.match(off.out, /are being taken back: an entry at 1000 \(BTCUSDT\)\./);
});

test('the plan is changed and shown, and a plan that nobody knows is a refusal', async (t) => {
  const world = await openWorld(t);
  const run = terminal(world.config);
  const { email } = await world.register();
  assert.equal((await run('user', 'plan', email, 'desk', '--expires', '2099-01-01')).code, 0);
  const listed = JSON.parse((await run('user', 'list', '--email', email, '--json')).out);
  assert.deepEqual(
    listed.map(({ plan, plan_expires_at }: Record<string, string>) => [plan, plan_expires_at]),
    [['desk', '2099-01-01T00:00:00.000Z']],
  );
  const none = await run('user', 'list', '--email', 'nobody@');
  assert.deepEqual([none.code, none.out, none.err], [0, '', 'No address has nobody@ in it.\n']);
  const table = await run('user', 'list', '--email', email);
  assert.match(table.out, /^ID +EMAIL +PLAN .*\n[0-9a-f-]{36} {2}\S+@example\.com {2}desk /);

  const unknown = await run('user', 'plan', email, 'gold');
  assert.deepEqual([unknown.code, unknown.out], [1, '']);
  assert.match(unknown.err, /must be one of/);
  assert.equal((await run('user', 'plan', email, 'desk', '--expires', 'tomorrow')).code, 2);
  const nobody = await run('user', 'show', 'nobody@example.com');
  assert.deepEqual([nobody.code, nobody.err], [1, 'There is no such user.\n']);
});

test('a user who was added logs in with the password that was printed, or with the one that was piped in', async (t) => {
  const world = await openWorld(t);
  const run = terminal(world.config);
  const added = await run('user', 'add', 'Bob@Example.com', '--admin', '--plan', 'desk');
  assert.equal(added.code, 0, added.err);
  const password = /^password (\S+)$/m.exec(added.out)?.[1];
  const bob = await world.login({ email: 'bob@example.com', password: password ?? '' });
  assert.equal(bob.user.is_admin, true);
  const again = await run('user', 'add', 'bob@example.com');
  assert.deepEqual([again.code, again.out], [1, '']);

  const piping = terminal(world.config, { stdin: PASSWORD });
  const piped = await piping('user', 'add', 'eve@example.com', '--password-stdin');
  assert.equal(piped.code, 0);
  assert.equal(piped.out.includes(PASSWORD), false);
  await world.login({ email: 'eve@example.com' });
  const weak = await terminal(world.config, { stdin: 'short' })(
    'user',
    'add',
    'x@example.com',
    '--password-stdin',
  );
  assert.equal(weak.code, 1);
});

test('a new password ends every session and every API key, as one by mail does', async (t) => {
  const world = await openWorld(t);
  const run = terminal(world.config);
  const ann = await world.login();
  const key = JSON.parse((await run('key', 'add', ann.user.email, 'the bot', '--json')).out).key as string;
  const withKey = () =>
    world.request({ method: 'GET', url: '/trading/orders', headers: { authorization: `Bearer ${key}` } });
  assert.equal((await withKey()).status, 200);

  const reset = await run('user', 'reset-password', ann.user.email);
  assert.equal(reset.code, 0, reset.err);
  assert.equal((await ann.call('GET', whoami)).status, 401);
  assert.equal((await withKey()).status, 401);
  await assert.rejects(world.login({ email: ann.user.email }), /401/);
  const password = /^password (\S+)$/m.exec(reset.out)?.[1] ?? '';
  await world.login({ email: ann.user.email, password });
});

test('without the second factor the password alone is enough, and there is none to remove twice', async (t) => {
  const world = await openWorld(t);
  const run = terminal(world.config);
  const { email, id } = await world.register();
  await world.db.commit([
    sql`insert into second_factors (user_id, totp_secret, created_at, last_step, confirmed_at)
        values (${id}, ${world.secrets.seal('x', id)}, '2026-01-01T00:00:00.000Z', 0, '2026-01-01T00:00:00.000Z')`,
  ]);
  const login = () => world.visitor().call<object>('POST', '/auth/login', { email, password: PASSWORD });
  assert.equal('user' in (await login()).body, false);
  assert.equal((await run('user', 'remove-second-factor', email)).code, 0);
  assert.equal('user' in (await login()).body, true);
  const none = await run('user', 'remove-second-factor', email);
  assert.deepEqual([none.code, none.err], [1, 'There is no second factor.\n']);
});

test('keys are listed and revoked, and one of somebody else is none', async (t) => {
  const world = await openWorld(t);
  const run = terminal(world.config);
  const [ann, bob] = [await world.register(), await world.register()];
  const made = await run('key', 'add', ann.email, 'a bot', '--days', '90');
  assert.equal(made.code, 0, made.err);
  const [, id = '', key = ''] = /^id {2}(\S+)\nkey (\S+)\n$/.exec(made.out) ?? [];
  const use = () =>
    world.request({ method: 'GET', url: '/trading/orders', headers: { authorization: `Bearer ${key}` } });
  assert.equal((await use()).status, 200);
  const [listed] = JSON.parse((await run('key', 'list', ann.email, '--json')).out);
  const none = await run('key', 'list', bob.email);
  assert.deepEqual([none.code, none.out, none.err], [0, '', `${bob.email} has no API keys.\n`]);
  assert.deepEqual([listed.id, listed.name, listed.expires_at !== null], [id, 'a bot', true]);
  assert.equal((await run('key', 'revoke', bob.email, id)).code, 1);
  assert.equal((await use()).status, 200);
  assert.equal((await run('key', 'revoke', ann.email, id)).code, 0);
  assert.equal((await use()).status, 401);
  assert.equal((await run('key', 'revoke', ann.email, id)).code, 1);
  assert.equal((await run('key', 'add', ann.email, 'a bot', '--days', 'many')).code, 2);
});
