// How long the users of a worker host that is killed cannot trade: roles apart, over a real PostgreSQL and a real Redis,
// with orders under way. `node bench/takeover.ts`, a minute and a half.

import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrate } from '../src/data/engine/migrate.ts';
import { openPostgres } from '../src/data/engine/postgres.ts';
import { openRedisStore } from '../src/store/redis/adapter.ts';
import { createHosts } from '../src/worker/host/hosts.ts';
import { watchHosts } from '../src/worker/host/roster.ts';
import {
  MESSAGES,
  makeTrader,
  type Program,
  startProgram,
  type Trader,
} from '../test/orders/kill-harness.ts';
import { PostgresMissing, startPostgres } from '../test/servers/postgres.ts';
import { RedisMissing, startRedis } from '../test/servers/redis.ts';
import { openConnection, percentile } from './client.ts';
import { FILLED, signalsOf } from './orders.ts';

const KILLS = 10;
const USERS = 16;
const BETWEEN_ORDERS_MS = 50;
/** A fresh host is up, and everybody trades again, before the next kill. */
const PEACE_MS = 1_500;

async function run(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-bench-'));
  const postgres = await startPostgres();
  const redis = await startRedis();
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const shared = {
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    JWT_SECRET: 'of the bench, and long enough for it',
  };
  const start = (role: string, env: Record<string, string> = {}) =>
    startProgram(join(dir, role), { ...shared, ROLE: role, ...env });
  const db = await openPostgres({ url: postgres.url });
  const store = await openRedisStore({ url: redis.url, ...MESSAGES });
  const hosts = createHosts({ store });
  const roster = watchHosts({ store, leaseMs: 1_500, log: { warn() {} } });
  const programs = new Set<Program>();
  let isOver = false;

  async function startHost() {
    const known = new Set((await hosts.list()).map(({ id }) => id));
    const program = start('worker', { WORKER_KEY: JSON.stringify(privateKey.export({ format: 'jwk' })) });
    programs.add(program);
    await program.ready;
    for (;;) {
      const found = (await hosts.list()).find(({ id }) => !known.has(id));
      if (found) return { id: found.id, program };
      await sleep(20);
    }
  }

  try {
    await migrate(db, Date.now());
    const traders: Trader[] = [];
    for (let n = 0; n < USERS; n++)
      traders.push(await makeTrader(db, { latency_ms: 20, starting_cash: 1e12 }));
    const verifier = start('verifier');
    const api = start('api', { WORKER_PUBLIC_KEY: JSON.stringify(publicKey.export({ format: 'jwk' })) });
    programs.add(verifier).add(api);
    let alive = [await startHost(), await startHost()];
    const [address] = await Promise.all([api.ready, verifier.ready]);

    const next = signalsOf(traders);
    const trading = traders.map(async (_, index) => {
      const connection = await openConnection(address);
      // Whatever becomes of these: they are there to be under way.
      const trade = async () => {
        const { path, body } = next(index);
        await connection.post(path, body);
        await sleep(BETWEEN_ORDERS_MS);
      };
      while (!isOver) await trade().catch(() => {});
      connection.close();
    });
    /** Until it is answered with its fill. */
    const ordered = async (trader: Trader): Promise<void> => {
      const connection = await openConnection(address);
      const { path, body } = next(traders.indexOf(trader));
      // An entry: an exit could overtake the entry that is under way.
      const entry = JSON.stringify({ ...JSON.parse(body), action: 'buy', order_type: 'entry' });
      const answer = await connection.post(path, entry);
      connection.close();
      if (!FILLED.test(answer)) throw new Error(`not what was expected:\n${answer}`);
    };
    await sleep(PEACE_MS);

    const usual: number[] = [];
    const noticed: number[] = [];
    const worst: number[] = [];
    const all: number[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      const served = await Promise.all(
        traders.map(async (trader) => ({ trader, host: await hosts.hostOf(trader.user.id) })),
      );
      const usersOf = ({ id }: { id: string }) => served.filter(({ host }) => host === id);
      const [victim] = alive.toSorted((a, b) => usersOf(b).length - usersOf(a).length);
      if (!victim) throw new Error('there is no host to kill');
      const sent = performance.now();
      await Promise.all(usersOf(victim).map(({ trader }) => ordered(trader)));
      usual.push(performance.now() - sent);
      await sleep(Math.random() * 500);
      const killed = performance.now();
      const forget = roster.onGone(() => noticed.push(performance.now() - killed));
      const gone = victim.program.kill('SIGKILL');
      const times = await Promise.all(
        usersOf(victim).map(async ({ trader }) => {
          await ordered(trader);
          return performance.now() - killed;
        }),
      );
      await gone;
      forget();
      programs.delete(victim.program);
      all.push(...times);
      worst.push(Math.max(...times));
      alive = [...alive.filter((host) => host !== victim), await startHost()];
      await sleep(PEACE_MS);
    }
    isOver = true;
    await Promise.all(trading);
    const s = (ms: number) => `${(ms / 1000).toFixed(2)} s`;
    console.log(`\na worker host is killed (${KILLS} times, orders of ${USERS} users under way)`);
    const line = (what: string, times: readonly number[], note = '') =>
      console.log(
        `  ${what.padEnd(43)} median ${s(percentile(times, 50))}   worst ${s(percentile(times, 100))}   ${note}`,
      );
    line('orders of all its users, at other times', usual);
    line('kill → its silence is noticed', noticed);
    line('kill → a user of it trades again', all);
    line('kill → the last of them trades again', worst, 'target < 3 s');
  } finally {
    isOver = true;
    await Promise.all([...programs].map((program) => program.kill()));
    await db.close();
    roster.stop();
    await store.close();
    await redis.stop();
    await postgres.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

try {
  await run();
} catch (fault) {
  if (!(fault instanceof PostgresMissing || fault instanceof RedisMissing)) throw fault;
  console.log(`\ntakeover: not measured, ${fault.message}`);
}
