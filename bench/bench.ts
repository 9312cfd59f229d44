// What the order path costs on this machine: webhook → 200 with the order durable and the paper broker's fill in it,
// over the loopback, beside a floor that does the least a durable order can do. `npm run bench`, under a minute.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from '../src/data/engine/db.ts';
import { migrate } from '../src/data/engine/migrate.ts';
import { openSqlite } from '../src/data/engine/sqlite.ts';
import { makeTrader, type Program, startProgram, type Trader } from '../test/orders/kill-harness.ts';
import { type Measured, measure, openConnection, percentile, summary } from './client.ts';
import { cpuMs, FILLED, LOADS, ms, signalsOf } from './orders.ts';

const COLD_USERS = 60;
const STARTS = 5;
const STARTS_MS = 6_000;
/** The second start has this many to find its way through. */
const LEAST_ORDERS = 10_000;
const PAPER = { latency_ms: 0, starting_cash: 1e12 };

const dir = mkdtempSync(join(tmpdir(), 'fillpath-bench-'));

/** Runs the task on a server, and ends that. */
async function on<T>(server: Program, task: (address: string, pid: number) => Promise<T>): Promise<T> {
  try {
    return await task(await server.ready, server.pid);
  } finally {
    await server.kill();
  }
}

interface Row {
  readonly what: string;
  readonly measured: Measured;
  readonly floor: Measured | null;
  readonly target: string;
}

async function run(): Promise<void> {
  const db = openSqlite({ file: join(dir, 'fillpath.sqlite') });
  await migrate(db, Date.now());
  const traders: Trader[] = [];
  for (let n = 0; n < 64; n++) traders.push(await makeTrader(db, PAPER));
  const newcomers: Trader[] = [];
  for (let n = 0; n < COLD_USERS; n++) newcomers.push(await makeTrader(db, PAPER));

  const floors: Measured[] = [];
  await on(startProgram(dir, {}, ['bench/floor.ts', join(dir, 'floor.sqlite')]), async (address) => {
    const next = () => ({ path: '/', body: JSON.stringify({ action: 'buy', quantity: 0.01 }) });
    for (const load of LOADS)
      floors.push(await measure(address, { ...load, mostMs: 1_500, next, expected: FILLED }));
  });

  const rows: Row[] = [];
  const usage = await on(startProgram(dir, { LOG_LEVEL: 'info' }), async (address, pid) => {
    const next = signalsOf(traders);
    const before = { cpu: cpuMs(pid), residentMb: residentMb(pid) };
    for (const [index, load] of LOADS.entries())
      rows.push({
        what: `${load.connections} connection${load.connections > 1 ? 's' : ''}`,
        measured: await measure(address, { ...load, next, expected: FILLED }),
        floor: floors[index] ?? null,
        target: index === 0 ? 'p50 < 10 ms, p99 < 50 ms' : '',
      });
    const cpu = cpuMs(pid) - before.cpu;
    const orders = await countOrders();
    rows.push({
      what: 'first order of a user',
      measured: await firstOrders(address),
      floor: null,
      target: '< 50 ms',
    });
    // What a run that was cut short by its time has left out.
    const missing = LEAST_ORDERS - (await countOrders());
    if (missing > 0)
      await measure(address, {
        connections: 64,
        requests: missing,
        warmUp: 0,
        mostMs: 15_000,
        next,
        expected: FILLED,
      });
    return { cpuPerOrder: cpu / orders, freshMb: before.residentMb, residentMb: residentMb(pid) };
  });

  async function firstOrders(address: string): Promise<Measured> {
    const connection = await openConnection(address);
    const nextOf = signalsOf(newcomers);
    const times: number[] = [];
    for (const index of newcomers.keys()) {
      const { path, body } = nextOf(index);
      const sent = performance.now();
      const answer = await connection.post(path, body);
      times.push(performance.now() - sent);
      if (!FILLED.test(answer)) throw new Error(`not what was expected:\n${answer}`);
    }
    connection.close();
    return summary(
      times,
      times.reduce((sum, time) => sum + time, 0),
    );
  }

  async function countOrders(): Promise<number> {
    return (await db.get<{ orders: number }>(sql`select count(*) as orders from order_history`))?.orders ?? 0;
  }

  const orders = await countOrders();
  await db.close();
  const existing = await startTimes(() => dir, {});
  const empty = await startTimes((n) => join(dir, `empty-${n}`), { SEED_USER: 'true' });

  print(rows);
  const line = (what: string, figure: string, note: string) =>
    console.log(`${what.padEnd(27)} ${figure}   ${note}`);
  console.log('');
  line('start, empty folder', ms(empty), 'spawn → ready line, median; target < 3000 ms');
  line(`start, ${orders} orders`, ms(existing), 'the same');
  line('processor time per order', ms(usage.cpuPerOrder), "the server's own, over all three loads");
  line(
    'resident memory',
    `${usage.residentMb.toFixed(0).padStart(7)} MB`,
    `after all of them; ${usage.freshMb.toFixed(0)} MB before`,
  );
  const [load = 0] = loadavg();
  if (load > availableParallelism() * 1.5)
    console.log(
      `\nOthers were using the machine (load ${load.toFixed(1)}): believe the ratios, not the times.`,
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

function print(rows: readonly Row[]): void {
  const [processor] = cpus();
  console.log(
    `Fillpath on Node ${process.version}, ${availableParallelism()} × ${processor?.model.trim()}\n`,
  );
  console.log(
    'webhook → 200, durable             p50          p99   orders/s    floor p50   × floor   target',
  );
  for (const { what, measured, floor, target } of rows) {
    const ratio = floor ? `${ms(floor.p50)}   ${(measured.p50 / floor.p50).toFixed(1).padStart(7)}` : '';
    console.log(
      `  ${what.padEnd(25)} ${ms(measured.p50)}   ${ms(measured.p99)}   ` +
        `${measured.perSecond.toFixed(0).padStart(8)}   ${ratio.padEnd(20)}   ${target}`,
    );
  }
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
