// A worker host dies or stands still, with the timings of production: its users trade again in seconds, and never twice.
// How many seconds exactly is what `npm run bench` measures; here the machine may be busy with other tests.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startProgram } from '../orders/kill-harness.ts';
import { startProxy } from '../servers/proxy.ts';
import { stopwatch } from '../stopwatch.ts';
import {
  assertFilled,
  type Cluster,
  KEYS,
  type Member,
  openCluster,
  startServers,
  type Trader,
  until,
  type WorkerHost,
} from './desk.ts';

const servers = await startServers();
const skip = servers.missing === undefined ? {} : { skip: servers.missing };
/** The leases that were held until now lasted for ten seconds. */
const SOON_MS = 6_000;

after(async () => {
  if (servers.missing === undefined) await servers.redis.stop();
});

describe('a worker host that is gone', skip, () => {
  let cluster: Cluster;
  let api: Member;
  let others: Member[];
  let heir: WorkerHost;
  let there: WorkerHost[];

  before(async () => {
    if (servers.missing !== undefined) return;
    cluster = await openCluster(servers, { WORKER_LEASE_SECONDS: '1.5', LOG_LEVEL: 'warn' });
    [api, ...others] = await Promise.all([
      cluster.start('api'),
      cluster.start('api'),
      cluster.start('verifier'),
    ]);
  });
  after(() => cluster?.close());

  /** A host with these users, and another one without any. */
  async function hostOf(traders: readonly Trader[]): Promise<WorkerHost> {
    const host = await cluster.startHost();
    for (const trader of traders) await cluster.wake(api, trader);
    heir = await cluster.startHost();
    there = [host, heir];
    for (const { user } of traders) assert.equal(await cluster.hosts.hostOf(user.id), host.id);
    return host;
  }

  const positions = (at: Member, trader: Trader) =>
    cluster.as(at, trader, 'GET', `/trading/accounts/${trader.account.id}/positions`);

  test('is followed soon, for orders and questions that were under way and for those that come; it is told of once', async () => {
    const slow = await cluster.trader({ latency_ms: 1_000 });
    const quick = await cluster.trader();
    const host = await hostOf([slow, quick]);
    const first = cluster.order(api, slow, { quantity: 0.01 });
    await cluster.sending(slow, 0.01);
    const asked = positions(api, slow);
    const watch = stopwatch();
    await host.end('SIGKILL');
    const answers = await Promise.all([first, cluster.order(others[0] as Member, quick)]);
    const { status } = await asked;
    const passed = watch();
    assertFilled(answers);
    assert.equal(status, 200);
    assert.ok(passed < SOON_MS, `it took ${passed} ms`);
    assert.equal((await cluster.ledger(slow)).length, 1);
    assert.equal((await cluster.ledger(quick)).length, 1);
    for (const { user } of [slow, quick]) assert.equal(await cluster.hosts.hostOf(user.id), heir.id);

    for (const member of [api, ...others, heir]) {
      const metrics = await until(
        'the count of lost hosts',
        async () => (await cluster.call<string>(member, 'GET', '/metrics')).body,
        (body) => /^fillpath_hosts_lost_total [1-9]/m.test(body),
      );
      assert.match(metrics, /^fillpath_hosts_lost_total 1$/m);
      assert.match(metrics, /^fillpath_hosts 1$/m);
    }
    // The heir alone knows what it took over.
    const { body: counted } = await cluster.call<string>(heir, 'GET', '/metrics');
    assert.match(counted, /^fillpath_takeovers_total\{what="user"\} 2$/m);
    assert.match(counted, /^fillpath_takeovers_total\{what="order"\} 1$/m);
    const printed: string[] = [];
    for (const member of [api, ...others, heir]) {
      await member.end('SIGTERM');
      printed.push(await member.printed);
    }
    const told = printed.join('').match(/.*a worker host fell silent.*/g) ?? [];
    assert.equal(told.length, 1, told.join('\n'));
    assert.equal(JSON.parse(told[0] ?? '').host, host.name);
    assert.match(host.name, new RegExp(`:${host.pid}$`));
    [api, ...others] = await Promise.all([cluster.start('api'), cluster.start('verifier')]);
  });

  test('and was only frozen finds its users with another when it wakes, and trades for none of them', async () => {
    const trader = await cluster.trader({ latency_ms: 500 });
    const frozen = await hostOf([trader]);
    const first = cluster.order(api, trader, { quantity: 0.01 });
    await cluster.sending(trader, 0.01);
    process.kill(frozen.pid, 'SIGSTOP');
    const passed = stopwatch();
    const second = cluster.order(api, trader, { quantity: 0.02 });
    assertFilled(await Promise.all([first, second]));
    assert.ok(passed() < SOON_MS);
    assert.equal(await cluster.hosts.hostOf(trader.user.id), heir.id);
    process.kill(frozen.pid, 'SIGCONT');
    const workersThere = async () =>
      (await cluster.hosts.list()).find(({ id }) => id === frozen.id)?.workers ?? null;
    await until('the end of its worker', workersThere, (workers) => workers === 0);
    assertFilled([await cluster.order(api, trader, { quantity: 0.03 })]);
    assert.equal(await cluster.hosts.hostOf(trader.user.id), heir.id);
    const traded = (await cluster.ledger(trader)).map(({ quantity }) => quantity);
    assert.deepEqual(traded, ['0.01', '0.02', '0.03']);
  });

  test('or is there, and does not reach the database, leaves its users to another that does', async (t) => {
    const trader = await cluster.trader();
    const { searchParams, pathname } = new URL(cluster.env.DATABASE_URL ?? '');
    const proxy = await startProxy(join(searchParams.get('host') ?? '', '.s.PGSQL.5432'));
    t.after(() => proxy.close());
    // Nobody else is to have the user first.
    await Promise.all(there.map((host) => host.end('SIGTERM')));
    const far = `postgres://postgres@127.0.0.1:${proxy.port}${pathname}`;
    const cut = await cluster.startHost({ DATABASE_URL: far });
    await cluster.wake(api, trader);
    heir = await cluster.startHost();
    assert.equal(await cluster.hosts.hostOf(trader.user.id), cut.id);
    proxy.cut({ closed: true });
    const holder = () => cluster.hosts.hostOf(trader.user.id);
    await until('another host for the user', holder, (id) => id === heir.id);
    assertFilled([await cluster.order(api, trader, { quantity: 0.01 })]);
    assert.equal((await cluster.ledger(trader)).length, 1);
    proxy.open();
    const takesUsers = async () =>
      (await cluster.hosts.list()).some(({ id, draining }) => id === cut.id && !draining);
    await until('the host that was cut off', takesUsers, Boolean);
  });
});

describe('the only process', skip, () => {
  test('is killed and started again: what is asked of a worker is answered soon, and never with 503', async (t) => {
    assert.ok(servers.missing === undefined);
    const cluster = await openCluster(servers);
    const { WORKER_LEASE_SECONDS: _, ...env } = cluster.env;
    const start = () => startProgram(join(cluster.folder, 'all'), { ...env, ...KEYS.worker });
    const programs = [start()];
    t.after(async () => {
      await Promise.all(programs.map((program) => program.kill()));
      await cluster.close();
    });
    const newest = async () => ({ url: await programs.at(-1)?.ready }) as Member;
    const first = await newest();
    const trader = await cluster.trader();
    assertFilled([await cluster.order(first, trader)]);
    await programs[0]?.kill('SIGKILL');
    programs.push(start());
    const next = await newest();
    const passed = stopwatch();
    // A fault, and not a matter of time: this fails with any other status.
    await cluster.wake(next, trader);
    assertFilled([await cluster.order(next, trader)]);
    assert.ok(passed() < SOON_MS);
    assert.equal((await cluster.ledger(trader)).length, 2);
  });
});
