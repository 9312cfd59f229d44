// What workers cost with the roles apart, over a real PostgreSQL and a real Redis on this machine: the memory of an API and
// a verifier after orders, claiming a worker, starting a host directly, and the memory of a worker that has nothing to do.
// `node bench/cluster.ts`, a minute; what an order costs there, order-path.ts tells.

import { generateKeyPairSync, randomUUIDv7 } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { readConfig } from '../src/config/config.ts';
import type { UserId } from '../src/domain/ids.ts';
import { childLauncher } from '../src/roles/launch.ts';
import { openRedisStore } from '../src/store/redis/adapter.ts';
import { createHosts } from '../src/worker/host/hosts.ts';
import { createPool } from '../src/worker/host/pool.ts';
import { announcedHosts, watchHosts } from '../src/worker/host/roster.ts';
import { APP_KEY, MESSAGES, startProgram } from '../test/orders/kill-harness.ts';
import { PostgresMissing, startPostgres } from '../test/servers/postgres.ts';
import { RedisMissing, startRedis } from '../test/servers/redis.ts';
import { HERE, load } from './checkout.ts';
import { measure, percentile } from './client.ts';
import { FILLED, ms, signalsOf } from './orders.ts';

const CLAIMS = 300;
const DIRECT_STARTS = 5;
const IDLE_USERS = 10_000;
const CLAIMED_AT_ONCE = 200;
const LOAD = { connections: 64, requests: 3_000, warmUp: 0, mostMs: 10_000, expected: FILLED };
/** The default. */
const LEASE_MS = 1_500;

const newUser = () => randomUUIDv7() as UserId;
const line = (what: string, figure: string, note: string) =>
  console.log(`  ${what.padEnd(27)} ${figure}   ${note}`);

async function run(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-bench-'));
  const postgres = await startPostgres();
  const redis = await startRedis();
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const WORKER_KEY = JSON.stringify(privateKey.export({ format: 'jwk' }));
  const WORKER_PUBLIC_KEY = JSON.stringify(publicKey.export({ format: 'jwk' }));
  const shared = {
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    JWT_SECRET: 'of the bench, and long enough for it',
  };
  const start = (role: string, env: Record<string, string> = {}) =>
    startProgram(join(dir, role), { ...shared, ROLE: role, ...env });
  const { openFreshPostgres, makeTraders } = await load(HERE);
  const db = await openFreshPostgres(postgres.url);
  const store = await openRedisStore({ url: redis.url, ...MESSAGES });
  try {
    const traders = await makeTraders(db, 64);

    const exchange = startProgram(join(dir, 'exchange'), {}, [
      'chaos/exchange.ts',
      '--file',
      join(dir, 'exchange.db'),
    ]);
    const BROKER_URLS = JSON.stringify({ paper: await exchange.ready });
    const host = start('worker', { WORKER_KEY, BROKER_URLS });
    const verifier = start('verifier');
    const api = start('api', { WORKER_PUBLIC_KEY });
    await Promise.all([host.ready, verifier.ready]);
    console.log('\nroles apart, over PostgreSQL and Redis');
    const { requests } = await measure(await api.ready, { ...LOAD, next: signalsOf(traders) });
    const megabytes = (pid: number) => `${(residentKb(pid) / 1024).toFixed(0).padStart(7)} MB`;
    line(
      `memory after ${requests} orders`,
      megabytes(api.pid),
      `API; verifier ${megabytes(verifier.pid).trim()}`,
    );
    await Promise.all([api.kill(), verifier.kill(), exchange.kill()]);

    console.log('\nworkers');
    const log = pino({ level: 'error' });
    const roster = watchHosts({ store, leaseMs: LEASE_MS, log });
    const pool = createPool({ store, roster, startTimeoutMs: 60_000, launcher: null, log });
    const claims: number[] = [];
    for (let n = 0; n < CLAIMS; n++) claims.push(await timed(() => pool.ensure(newUser())));
    line(
      'claimed from the pool',
      ms(percentile(claims, 50)),
      `median of ${CLAIMS}, p99 ${ms(percentile(claims, 99))}; target < 20 ms`,
    );
    await host.kill();

    line(
      'a host started directly',
      ms(await directStart()),
      `spawn → the user has a worker, median of ${DIRECT_STARTS}; target < 1000 ms`,
    );

    const crowded = start('worker', { WORKER_KEY, WORKER_POOL_SIZE: '64' });
    await crowded.ready;
    await Promise.all(Array.from({ length: CLAIMED_AT_ONCE }, () => pool.ensure(newUser())));
    const before = residentKb(crowded.pid);
    const begun = performance.now();
    const words = listenTo(() => announcedHosts(store));
    for (let n = 0; n < IDLE_USERS; n += CLAIMED_AT_ONCE)
      await Promise.all(Array.from({ length: CLAIMED_AT_ONCE }, () => pool.ensure(newUser())));
    const claiming = performance.now() - begun;
    await sleep(5_000);
    const leastLeft = await words.stop();
    const there = (await createHosts({ store }).list()).find(({ workers }) => workers >= IDLE_USERS);
    const each = (residentKb(crowded.pid) - before) / IDLE_USERS;
    line(
      'memory of an idle worker',
      `${each.toFixed(1).padStart(7)} KB`,
      `${there?.workers} users with a worker each in one host, claimed in ${(claiming / 1000).toFixed(1)} s; target < 200 KB; ${(before / 1024).toFixed(0)} MB before`,
    );
    line(
      'longest silence of that host',
      ms(LEASE_MS - leastLeft),
      `meanwhile; it says that it is there every ${LEASE_MS / 4} ms, and is missed after ${LEASE_MS} ms`,
    );
    await crowded.kill();
    roster.stop();

    /** No host is there: the pool launches one as a child, as an API process would. */
    async function directStart(): Promise<number> {
      const times: number[] = [];
      for (let n = 0; n < DIRECT_STARTS; n++) {
        // Until the one before is no longer announced.
        while ((await store.announced('worker-hosts')).length > 0) await sleep(100);
        const envFile = join(dir, 'worker.env');
        const settings = {
          ...shared,
          WORKER_KEY,
          DATA_DIR: join(dir, 'launched'),
          LOG_LEVEL: 'error',
          WORKER_LEASE_SECONDS: '1',
        };
        writeFileSync(
          envFile,
          Object.entries(settings)
            .map(([name, value]) => `${name}='${value}'\n`)
            .join(''),
          { mode: 0o600 },
        );
        const config = readConfig({
          ...shared,
          APP_KEY,
          ROLE: 'api',
          WORKER_PUBLIC_KEY,
          WORKER_ENV_FILE: envFile,
        });
        const launcher = childLauncher(config, process.env);
        if (!launcher) throw new Error('no launcher');
        const launching = createPool({ store, roster, startTimeoutMs: 30_000, launcher, log });
        times.push(await timed(() => launching.ensure(newUser())));
        launcher.close();
      }
      return percentile(times, 50);
    }
  } finally {
    await db.close();
    await store.close();
    await redis.stop();
    await postgres.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** For how long a host was still believed, at the least, until it is stopped. */
function listenTo(hosts: () => Promise<readonly { readonly leftMs: number }[]>) {
  let isOver = false;
  const listening = (async () => {
    let least = Number.POSITIVE_INFINITY;
    while (!isOver) {
      least = Math.min(least, ...(await hosts()).map(({ leftMs }) => leftMs));
      await sleep(10);
    }
    return least;
  })();
  return {
    stop() {
      isOver = true;
      return listening;
    },
  };
}

async function timed(task: () => Promise<boolean>): Promise<number> {
  const begun = performance.now();
  if (!(await task())) throw new Error('no worker was started');
  return performance.now() - begun;
}

const residentKb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

try {
  await run();
} catch (fault) {
  if (!(fault instanceof PostgresMissing || fault instanceof RedisMissing)) throw fault;
  console.log(`\nroles apart: not measured, ${fault.message}`);
}
