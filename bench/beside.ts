// This checkout beside another one, in one run: node bench/beside.ts ../another-checkout
// A plain entry and a plain exit, one at a time and sixteen at once, embedded. The two take turns, so that what else the machine does
// meets both. Times differ from machine to machine: the ratios are what counts.

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Trader } from '../test/orders/kill-harness.ts';
import { load } from './checkout.ts';
import { openConnection, percentile } from './client.ts';
import { cpuMs, FILLED, signalsOf } from './orders.ts';

const ROUNDS = 4;
const PER_ROUND = 320;
const PAPER = { latency_ms: 0, starting_cash: 1e12 };

const other = process.argv[2];
if (other === undefined || !existsSync(join(other, 'src/main.ts'))) {
  console.error('node bench/beside.ts PATH: the path of another checkout, with its packages installed');
  process.exit(2);
}

/** A program of one checkout, with a database that its own code made. */
async function start(checkout: string) {
  const { openFresh, makeTrader, startProgram } = await load(checkout);
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-beside-'));
  const db = await openFresh(dir);
  const traders: Trader[] = [];
  for (let n = 0; n < 16; n++) traders.push(await makeTrader(db, PAPER));
  await db.close();
  const program = startProgram(dir, {});
  const address = await program.ready;
  const next = signalsOf(traders);
  let connections: Awaited<ReturnType<typeof openConnection>>[] = [];
  const times = { entry: [] as number[], exit: [] as number[] };
  const cpu = { one: 0, sixteen: 0 };

  async function send(index: number): Promise<void> {
    const { path, body } = next(index);
    const begun = performance.now();
    const answer = await connections[index]?.post(path, body);
    if (!FILLED.test(answer ?? '')) throw new Error(`not filled: ${answer}`);
    times[body.includes('"exit"') ? 'exit' : 'entry'].push(performance.now() - begun);
  }

  return {
    times,
    cpu,
    async round(isMeasured: boolean): Promise<void> {
      // A server hangs up on who says nothing for a while: each part opens what it uses.
      connections = [await openConnection(address)];
      const before = cpuMs(program.pid);
      for (let n = 0; n < PER_ROUND; n++) await send(0);
      connections[0]?.close();
      connections = await Promise.all(traders.map(() => openConnection(address)));
      const between = cpuMs(program.pid);
      const kept = { entry: times.entry.length, exit: times.exit.length };
      await Promise.all(
        connections.map(async (_, index) => {
          for (let n = 0; n < PER_ROUND / 16; n++) await send(index);
        }),
      );
      for (const connection of connections) connection.close();
      // Of many at once the processor's time counts, and not the latency.
      times.entry.length = isMeasured ? kept.entry : 0;
      times.exit.length = isMeasured ? kept.exit : 0;
      if (!isMeasured) return;
      cpu.one += between - before;
      cpu.sixteen += cpuMs(program.pid) - between;
    },
    async stop(): Promise<void> {
      await program.kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

const here = await start(resolve(import.meta.dirname, '..'));
const there = await start(resolve(other));
try {
  for (const each of [there, here]) await each.round(false);
  for (let round = 0; round < ROUNDS; round++)
    for (const each of round % 2 === 0 ? [there, here] : [here, there]) await each.round(true);
  const line = (what: string, before: number, after: number) =>
    console.log(
      `${what.padEnd(48)} ${before.toFixed(3).padStart(8)} ${after.toFixed(3).padStart(8)} ${(after / before).toFixed(2).padStart(6)}`,
    );
  console.log(`${'ms'.padEnd(48)}    there     here  ratio`);
  for (const kind of ['entry', 'exit'] as const)
    for (const part of [0.5, 0.99])
      line(
        `a plain ${kind}, one connection, p${part * 100}`,
        percentile(there.times[kind], part * 100),
        percentile(here.times[kind], part * 100),
      );
  const orders = ROUNDS * PER_ROUND;
  line('processor time an order, one connection', there.cpu.one / orders, here.cpu.one / orders);
  line(
    'processor time an order, sixteen connections',
    there.cpu.sixteen / (ROUNDS * Math.floor(PER_ROUND / 16 + 1) * 16),
    here.cpu.sixteen / (ROUNDS * Math.floor(PER_ROUND / 16 + 1) * 16),
  );
} finally {
  await here.stop();
  await there.stop();
}
