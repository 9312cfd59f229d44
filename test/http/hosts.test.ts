// Under which names the service is administered, and what a browser is made to say with cookies: a page elsewhere must
// neither administer over DNS rebinding nor put a cookie of its own before ours.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { request as ask } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { readConfig } from '../../src/config/config.ts';
import { isAddress, ownHosts } from '../../src/http/hosts.ts';
import { openFillpath } from '../../src/main.ts';
import { logbook, openWorld, type Problem, type World } from '../world.ts';

const REBOUND = 'rebind.attacker.example';

const deployment = async (t: TestContext, env: Record<string, string> = {}) =>
  openWorld(t, { env: { BASE_URL: 'https://fillpath.example.com', ...env } });

const called = (world: World, host: string, url: string, body?: object) =>
  world.request<Problem>({
    method: body ? 'POST' : 'GET',
    url,
    headers: { host },
    ...(body ? { body } : {}),
  });

describe('under a name that is not ours', () => {
  test('nobody becomes the first admin, administers or reads the metrics', async (t) => {
    const world = await deployment(t);
    const admin = { email: 'mallory@example.com', password: 'a horse, a staple, a thief' };
    for (const answer of [
      await called(world, REBOUND, '/setup/admin', admin),
      await called(world, `${REBOUND}:8080`, '/metrics'),
      await called(world, REBOUND, '/deployment/queues'),
      await called(world, REBOUND, '/deployment/nothing'),
      await called(world, '192.0.2.7', '/metrics'),
    ])
      assert.deepEqual([answer.status, answer.body.code], [421, 'wrong_host']);
    assert.equal((await called(world, 'localhost', '/setup/admin', admin)).status, 201);
  });

  test('everything else is served', async (t) => {
    const world = await deployment(t);
    const trader = await world.makeTrader();
    assert.equal((await called(world, REBOUND, '/health')).status, 200);
    const sent = await world.send(trader, {}, { headers: { host: REBOUND } });
    assert.equal(sent.status, 200);
  });
});

test('the host of BASE_URL, loopback names and ALLOWED_HOSTS are ours, at any port and in any spelling', async (t) => {
  const world = await deployment(t, { ALLOWED_HOSTS: 'admin.internal, 192.0.2.7, 2001:db8::7' });
  for (const host of [
    'fillpath.example.com',
    'FILLPATH.example.com.:8443',
    'localhost',
    'localhost:8080',
    'app.localhost',
    '127.0.0.1:8080',
    '127.7.0.1',
    '[::1]:8080',
    'admin.internal',
    '192.0.2.7:9000',
    '[2001:db8::7]:9000',
  ])
    assert.equal((await called(world, host, '/metrics')).status, 200, host);
  for (const host of ['example.com', 'xfillpath.example.com', 'localhost.attacker.example', '128.0.0.1'])
    assert.equal((await called(world, host, '/metrics')).status, 421, host);
});

test('a host is told apart from an address', () => {
  const isOwn = ownHosts({ baseUrl: 'http://[2001:db8::1]:8080', allowedHosts: [] });
  assert.deepEqual([isOwn('[2001:db8::1]'), isOwn('[2001:db8::2]'), isOwn(undefined)], [true, false, false]);
  for (const host of ['10.0.0.1', '10.0.0.1:80', '[::2]', '[::2]:80']) assert.ok(isAddress(host), host);
  for (const host of ['', undefined, 'a.example', '10.0.0.1.example', '10.0.0'])
    assert.ok(!isAddress(host), String(host));
});

test('at METRICS_PORT monitoring reads by an address too, and no page by a name of its own', async (t) => {
  const { log, line } = logbook();
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-hosts-'));
  const env = { DATA_DIR: dir, SEED_USER: 'false', PORT: '0', METRICS_PORT: '0' };
  const fillpath = await openFillpath(readConfig(env), { log });
  t.after(async () => {
    await fillpath.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  await fillpath.listen();
  const { port } = await line('metrics are read at this port');
  const statusUnder = (host: string) =>
    new Promise<number>((resolve, reject) => {
      const asked = ask({ host: '127.0.0.1', port: Number(port), path: '/metrics', headers: { host } });
      asked.once('error', reject);
      asked.once('response', (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      asked.end();
    });
  assert.equal(await statusUnder('10.244.3.4:9464'), 200);
  assert.equal(await statusUnder('localhost'), 200);
  assert.equal(await statusUnder(REBOUND), 421);
});

describe('two cookies of one of our names', () => {
  test('are refused: nobody can tell which of them is ours', async (t) => {
    const world = await openWorld(t);
    const visitor = await world.login();
    const own = visitor.cookieHeader('/auth/session');
    const read = (cookie: string) =>
      world.request<Problem>({ method: 'GET', url: '/auth/session', headers: { cookie } });
    assert.equal((await read(own)).status, 200);
    for (const name of ['access_token', 'refresh_token', 'known_device'])
      for (const cookie of [`${name}=x; ${own}`, `${own};${name}=x`, `${own}; ${name} =`]) {
        const answer = await read(cookie);
        assert.deepEqual([answer.status, answer.body.code], [400, 'request_invalid'], cookie);
        assert.match(answer.body.detail, new RegExp(name));
      }
    assert.equal((await read(`theme=dark; theme=light; ${own}; my_access_token=1`)).status, 200);
  });
});
