// What counting costs an order: everything that is counted of one, many times over, beside the processor time that an order
// takes on the same machine in the same run. `node bench/counting.ts`, a few seconds.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../src/data/engine/migrate.ts';
import { openSqlite } from '../src/data/engine/sqlite.ts';
import { type Counters, UNCOUNTED } from '../src/domain/counters.ts';
import { openPrometheus } from '../src/telemetry/prometheus.ts';
import { makeTrader, startProgram } from '../test/orders/kill-harness.ts';
import { measure } from './client.ts';
import { FILLED, signalsOf } from './orders.ts';
import { cpuMs } from './usage.ts';

const TIMES = 100_000;
const MOST_PERCENT = 3;

/** As one entry at a broker is counted, in all roles together. */
function countOrder(counters: Counters, ms: number): void {
  for (let commit = 0; commit < 3; commit++) {
    counters.commitWaited(ms / 10);
    counters.committed(1, ms / 2);
  }
  for (let read = 0; read < 8; read++) counters.poolWaited('reads', 0.01);
  counters.orderTaken(ms);
  counters.orderSent('paper', ms);
  for (const call of ['ask', 'ask', 'place'] as const) counters.brokerCalled('paper', call, 'answered', ms);
  counters.orderEnded('paper', 'filled');
  counters.webhookAnswered('result', ms);
}

/** Microseconds of processor time for one order. */
function costOf(counters: Counters): number {
  for (let n = 0; n < TIMES / 10; n++) countOrder(counters, n % 100);
  const before = process.cpuUsage();
  for (let n = 0; n < TIMES; n++) countOrder(counters, n % 100);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / TIMES;
}

async function orderCost(): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-counting-'));
  const db = openSqlite({ file: join(dir, 'fillpath.sqlite') });
  await migrate(db, Date.now());
  const traders = await Promise.all(
    Array.from({ length: 16 }, () => makeTrader(db, { latency_ms: 0, starting_cash: 1e12 })),
  );
  await db.close();
  const program = startProgram(dir);
  try {
    const address = await program.ready;
    const load = { connections: 16, mostMs: 5_000, next: signalsOf(traders), expected: FILLED };
    await measure(address, { ...load, requests: 500, warmUp: 0 });
    const before = cpuMs(program.pid);
    await measure(address, { ...load, requests: 2_000, warmUp: 0 });
    return ((cpuMs(program.pid) - before) * 1000) / 2_000;
  } finally {
    await program.kill();
    rmSync(dir, { recursive: true, force: true });
  }
}

const counting = costOf(openPrometheus()) - costOf(UNCOUNTED);
const order = await orderCost();
const percent = (100 * counting) / order;
console.log(
  `counting an order ${counting.toFixed(1)} µs, an order ${order.toFixed(0)} µs: ${percent.toFixed(2)} %, at most ${MOST_PERCENT} %`,
);
if (percent > MOST_PERCENT) process.exitCode = 1;
