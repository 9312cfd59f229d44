// What begins: the program in an empty folder and with a past behind it, the first order of a user, and the memory that
// trading takes, in one process. `node bench/starts.ts`, half a minute.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Program, startProgram, type Trader } from '../test/orders/kill-harness.ts';
import { HERE, load } from './checkout.ts';
import { type Measured, measure, openConnection, percentile, summary } from './client.ts';
import { FILLED, ms, signalsOf } from './orders.ts';
import { writePast } from './past.ts';

const COLD_USERS = 60;
const USERS = 64;
const STARTS = 5;
const STARTS_MS = 6_000;
/** Those of the past, which a start has to find its way through. */
const ORDERS = 10_000;
const LOAD = { connections: USERS, requests: 3_000, warmUp: 0, mostMs: 5_000, expected: FILLED };

const dir = mkdtempSync(join(tmpdir(), 'fillpath-bench-'));

/** Runs the task on a server, and ends that. */
async function on<T>(server: Program, task: (address: string, pid: number) => Promise<T>): Promise<T> {
  try {
    return await task(await server.ready, server.pid);
  } finally {
    await server.kill();
  }
}

async function run(): Promise<void> {
  const { openFresh, makeTraders } = await load(HERE);
  const db = await openFresh(dir);
  const traders = await makeTraders(db, USERS);
  const newcomers = await makeTraders(db, COLD_USERS);
  await writePast(db, traders[0] as Trader, ORDERS);
  await db.close();

  const empty = await startTimes((n) => join(dir, `empty-${n}`), { SEED_USER: 'true' });
  const existing = await startTimes(() => dir, {});
  const traded = await on(startProgram(dir, { LOG_LEVEL: 'info' }), async (address, pid) => {
    const freshMb = residentMb(pid);
    const { requests } = await measure(address, { ...LOAD, next: signalsOf(traders) });
    const residentAfter = residentMb(pid);
    return { freshMb, residentAfter, orders: requests, first: await firstOrders(address, newcomers) };
  });

  const line = (what: string, figure: string, note: string) =>
    console.log(`${what.padEnd(27)} ${figure}   ${note}`);
  const megabytes = (value: number) => `${value.toFixed(0).padStart(7)} MB`;
  line('start, empty folder', ms(empty), 'spawn → ready line, median; target < 3000 ms');
  line(`start, ${ORDERS} orders`, ms(existing), 'the same');
  line('first order of a user', ms(traded.first.p50), `p99 ${ms(traded.first.p99)}; target < 50 ms`);
  line(
    'resident memory',
    megabytes(traded.residentAfter),
    `after ${traded.orders} orders; ${megabytes(traded.freshMb).trim()} before`,
  );
}

async function startTimes(folderOf: (n: number) => string, env: Record<string, string>): Promise<number> {
  const times: number[] = [];
  const giveUp = performance.now() + STARTS_MS;
  for (let n = 0; n < STARTS && performance.now() < giveUp; n++) {
    const begun = performance.now();
    await on(startProgram(folderOf(n), env), async () => times.push(performance.now() - begun));
  }
  return percentile(times, 50);
}

async function firstOrders(address: string, newcomers: readonly Trader[]): Promise<Measured> {
  const connection = await openConnection(address);
  const nextOf = signalsOf(newcomers);
  const times: number[] = [];
  const begun = performance.now();
  for (const index of newcomers.keys()) {
    const { path, body } = nextOf(index);
    const sent = performance.now();
    const answer = await connection.post(path, body);
    times.push(performance.now() - sent);
    if (!FILLED.test(answer)) throw new Error(`not what was expected:\n${answer}`);
  }
  connection.close();
  return summary(times, performance.now() - begun);
}

function residentMb(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  } catch {
    return Number.NaN;
  }
}

try {
  await run();
} finally {
  rmSync(dir, { recursive: true, force: true });
}
