// What open streams cost those who trade: the order path's throughput with 200 of them, of the very users whose orders
// arrive, beside the one with none, on the same server. In short turns, now the one first and now the other, each compared
// with its neighbour alone: what others do to the machine meanwhile they do to both. Under half a minute.

import { randomUUIDv7 } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashToken } from '../src/app/identity/tokens.ts';
import { randomToken } from '../src/app/secret-box.ts';
import { migrate } from '../src/data/engine/migrate.ts';
import { openSqlite } from '../src/data/engine/sqlite.ts';
import { insertApiKey } from '../src/data/identity/api-keys.ts';
import { timestamp } from '../src/domain/ids.ts';
import { makeTrader, startProgram, type Trader } from '../test/orders/kill-harness.ts';
import { measure, percentile } from './client.ts';
import { FILLED, ms, signalsOf } from './orders.ts';
import { cpuMs } from './usage.ts';

const STREAMS = 200;
const ROUNDS = 8;
const LOAD = { connections: 64, requests: 1_000, warmUp: 100, mostMs: 1_500, expected: FILLED };
const LEAST_LEFT = 90;

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
  const runBeside = async (): Promise<Run> => {
    const streams = await Promise.all(
      Array.from({ length: STREAMS }, (_, n) => openStream(address, keys[n % keys.length] as string, heard)),
    );
    const measured = await run();
    for (const socket of streams) socket.destroy();
    return measured;
  };
  for (let round = 0; round < ROUNDS; round++) {
    const isFirst = round % 2 === 0;
    if (isFirst) without.push(await run());
    beside.push(await runBeside());
    if (!isFirst) without.push(await run());
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
  const ofRounds = (left: (none: Run, many: Run) => number) =>
    without.map((none, round) => left(none, beside[round] as Run) * 100);
  const left = ofRounds((none, many) => many.perSecond / none.perSecond);
  const leftByCpu = ofRounds((none, many) => none.cpu / many.cpu);
  const spread = (rounds: readonly number[]) =>
    `${percentile(rounds, 25).toFixed(0)} to ${percentile(rounds, 75).toFixed(0)} % in half of the rounds`;
  const verdict = (rounds: readonly number[]) =>
    `${percentile(rounds, 50) > LEAST_LEFT ? 'ok' : 'over'}, target > ${LEAST_LEFT} %`;
  line('left of the throughput', `${percentile(left, 50).toFixed(1)} %`, `${spread(left)}; ${verdict(left)}`);
  line(
    'the same by the processor',
    `${percentile(leftByCpu, 50).toFixed(1)} %`,
    `${spread(leftByCpu)}; ${verdict(leftByCpu)}. Believe this one where others use the machine`,
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
