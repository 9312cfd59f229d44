// No worker host is there: an API process that may starts one, and one that may not says so. Nothing is lost by either.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { stopwatch } from '../stopwatch.ts';
import {
  assertFilled,
  type Cluster,
  KEYS,
  type Member,
  openCluster,
  type Problem,
  startServers,
  until,
} from './desk.ts';

const servers = await startServers();
const skip = servers.missing === undefined ? {} : { skip: servers.missing };

describe('no worker host at all', skip, () => {
  let cluster: Cluster;
  let patient: Member;
  let plain: Member;

  before(async () => {
    if (servers.missing !== undefined) return;
    cluster = await openCluster(servers);
    [patient, plain] = await Promise.all([
      cluster.start('api'),
      cluster.start('api', { WORKER_START_TIMEOUT_SECONDS: '1' }),
    ]);
  });
  after(async () => {
    await cluster?.close();
    if (servers.missing === undefined) await servers.redis.stop();
  });

  test('an API process with WORKER_ENV_FILE starts one as its child, which ends when its parent is killed', async () => {
    const WORKER_ENV_FILE = join(cluster.folder, 'worker.env');
    const settings = { ...cluster.env, ...KEYS.worker, DATA_DIR: join(cluster.folder, 'child') };
    const lines = Object.entries(settings).map(([name, value]) => `${name}='${value}'\n`);
    writeFileSync(WORKER_ENV_FILE, lines.join(''), { mode: 0o600 });
    const parent = await cluster.start('api', { WORKER_ENV_FILE });
    assert.deepEqual(childrenOf(parent.pid), []);
    const trader = await cluster.trader();
    assertFilled([await cluster.order(parent, trader), await cluster.order(plain, trader)]);
    assert.equal((await cluster.ledger(trader)).length, 2);
    assert.equal((await cluster.hosts.list()).length, 1);

    const [child, ...more] = childrenOf(parent.pid);
    assert.ok(child !== undefined && more.length === 0, `children: ${[child, ...more]}`);
    const gone = parent.end('SIGKILL');
    try {
      await until('the end of the child', () => !isAlive(child));
    } finally {
      if (isAlive(child)) process.kill(child, 'SIGKILL');
      await gone;
    }
    await until('the end of its announcement', async () => (await cluster.hosts.list()).length === 0);
  });

  test('without it: 503 after the start timeout, nothing is queued, and the same signal trades once there is one', async () => {
    const trader = await cluster.trader();
    const signal = cluster.signal(trader);
    const begun = performance.now();
    const refused = await cluster.deliver<Problem>(plain, trader, signal);
    assert.ok(performance.now() - begun >= 1_000);
    assert.equal(refused.status, 503);
    assert.equal(refused.body.code, 'worker_unavailable');
    assert.ok(Number(refused.headers['retry-after']) > 0);
    assert.deepEqual(await cluster.orders(trader), []);
    await cluster.waiting(trader, 0);

    const host = await cluster.startHost();
    assertFilled([await cluster.deliver(plain, trader, signal)]);
    assert.equal((await cluster.deliver(patient, trader, signal)).status, 409);
    assert.equal((await cluster.ledger(trader)).length, 1);
    assert.equal(await host.end('SIGTERM'), 0);
  });

  test('an API process that dies over a signal does not make its repeat a replay', async () => {
    const trader = await cluster.trader();
    const signal = cluster.signal(trader);
    // It waits for a host, and has not committed anything.
    const cut = assert.rejects(cluster.deliver(patient, trader, signal));
    const claims = () =>
      cluster.redis.keys(`fillpath:once:fingerprint:{${trader.user.id}}:${trader.account.id}:*`);
    const [claim] = await until('the claim', claims, ({ length }) => length === 1);
    await patient.end('SIGKILL');
    await cut;
    assert.equal(await cluster.redis.get(claim ?? ''), 'under_way');
    assert.deepEqual(await cluster.orders(trader), []);

    await cluster.startHost();
    const passed = stopwatch();
    const repeats = await Promise.all(
      Array.from({ length: 4 }, () => cluster.deliver(plain, trader, signal)),
    );
    assert.ok(passed() < 6_000);
    assert.deepEqual(repeats.map(({ status }) => status).sort(), [200, 409, 409, 409]);
    assertFilled(repeats.filter(({ status }) => status === 200));
    assert.equal((await cluster.ledger(trader)).length, 1);
  });
});

/** By each process's own word: the kernel's list of a process's children may leave some out while others come and go. */
const childrenOf = (parent: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isAlive(pid) && new RegExp(`^\\d+ \\(.*\\) \\S ${parent} `, 's').test(statOf(pid)));

/** A process that has ended and that nobody has asked about is a zombie. */
const isAlive = (pid: number): boolean => /^\d+ \(.*\) [^Z]/s.test(statOf(pid));

function statOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return '';
  }
}
