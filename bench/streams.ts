// What open streams cost those who trade: the order path's throughput with 200 of them, of the very users whose orders
// arrive, beside the one with none, in turns on the same server. Under half a minute.

import { randomUUIDv7 } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashToken } from '../src/app/identity/tokens.ts';
import { randomToken } from '../src/app/secret-box.ts';
import { insertApiKey } from '../src/data/api-keys.ts';
import { migrate } from '../src/data/migrate.ts';
import { openSqlite } from '../src/data/sqlite.ts';
import { timestamp } from '../src/domain/ids.ts';
import { makeTrader, startProgram, type Trader } from '../test/orders/kill-harness.ts';
import { measure, percentile } from './client.ts';
import { cpuMs, FILLED, ms, signalsOf } from './orders.ts';

const STREAMS = 200;
const ROUNDS = 3;
const LOAD = { connections: 64, requests: 2_500, warmUp: 200, mostMs: 2_000, expected: FILLED };

interface Run {
  readonly perSecond: number;
  readonly orders: number;
  /** Of the server's processor, in ms, for an order. */
  readonly cpu: number;
}

interface Heard {
  events: number;
  bytes: number;
}

/** Reads and throws away; counted are the events, as they begin. */
function openStream(address: string, apiKey: string, heard: Heard): Promise<Socket> {
  const { hostname, port, host } = new URL(address);
  const socket = connect(Number(port), hostname);
  socket.write(
    `GET /trading/orders/stream HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`,
  );
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('a stream ended')));
    socket.once('data', (head: Buffer) => {
      if (!head.toString('latin1').startsWith('HTTP/1.1 200 ')) reject(new Error(String(head)));
      socket.on('data', (chunk: Buffer) => {
        heard.bytes += chunk.length;
        for (let at = chunk.indexOf('event: order'); at >= 0; at = chunk.indexOf('event: order', at + 1))
          heard.events++;
      });
      resolve(socket);
    });
  });
}

const dir = mkdtempSync(join(tmpdir(), 'fillpath-bench-'));
try {
  const db = openSqlite({ file: join(dir, 'fillpath.sqlite') });
  await migrate(db, Date.now());
  const traders: Trader[] = [];
  const keys: string[] = [];
  for (let n = 0; n < LOAD.connections; n++) {
    const trader = await makeTrader(db, { latency_ms: 0, starting_cash: 1e12 });
    const key = randomToken();
    const now = timestamp(Date.now());
    const userId = trader.user.id;
    await db.commit([
      insertApiKey({
        ...{ id: randomUUIDv7(), userId, name: 'bench', keyHash: hashToken(key) },
        ...{ expiresAt: null, createdAt: now },
      }),
    ]);
    traders.push(trader);
    keys.push(key);
  }
  await db.close();

  const server = startProgram(dir, {});
  const address = await server.ready;
  const next = signalsOf(traders);
  const without: Run[] = [];
  const beside: Run[] = [];
  const run = async (): Promise<Run> => {
    const before = cpuMs(server.pid);
    const { perSecond, requests } = await measure(address, { ...LOAD, next });
    const orders = requests + LOAD.warmUp;
    return { perSecond, orders, cpu: (cpuMs(server.pid) - before) / orders };
  };
  const heard: Heard = { events: 0, bytes: 0 };
  // The first is for warming up.
  await run();
  for (let round = 0; round < ROUNDS; round++) {
    without.push(await run());
    const streams = await Promise.all(
      Array.from({ length: STREAMS }, (_, n) => openStream(address, keys[n % keys.length] as string, heard)),
    );
    beside.push(await run());
    for (const socket of streams) socket.destroy();
  }
  await server.kill();

  const median = (runs: readonly Run[], of: (run: Run) => number) => percentile(runs.map(of), 50);
  const line = (what: string, figure: string, note: string) =>
    console.log(`${what.padEnd(27)} ${figure.padStart(14)}   ${note}`);
  const [none, many] = [without, beside].map((runs) => median(runs, ({ perSecond }) => perSecond));
  const [cpuNone, cpuMany] = [without, beside].map((runs) => median(runs, ({ cpu }) => cpu));
  line(
    'without a stream',
    `${none?.toFixed(0)} orders/s`,
    `${ms(cpuNone ?? 0).trim()} of the processor each`,
  );
  line(
    `${STREAMS} streams`,
    `${many?.toFixed(0)} orders/s`,
    `${ms(cpuMany ?? 0).trim()} of the processor each`,
  );
  const left = ((many ?? 0) / (none ?? 1)) * 100;
  const leftByCpu = ((cpuNone ?? 0) / (cpuMany ?? 1)) * 100;
  line(
    'left of the throughput',
    `${left.toFixed(1)} %`,
    `${leftByCpu.toFixed(1)} % by the processor; target > 90 %`,
  );
  const orders = beside.reduce((sum, each) => sum + each.orders, 0);
  const heardOfEach = heard.events / orders / (STREAMS / keys.length);
  line(
    'events of an order',
    heardOfEach.toFixed(2),
    `by each stream of its user; ${(heard.bytes / 1e6).toFixed(0)} MB in all`,
  );
} finally {
  rmSync(dir, { recursive: true, force: true });
}
