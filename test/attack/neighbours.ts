// Item 12: one user reads as much as there is, again and again, and ten at a time: each list, CSV and what only a command
// shows, of a million rows. Measured is what a neighbour's webhook has of it, beside each and beside nothing in turns.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '../../bench/client.ts';
import type { Attack, Outcome } from './attacks.ts';
import type { Desk } from './desk.ts';
import { type Sample, sender, table } from './figures.ts';
import { writeHistory } from './million.ts';
import { type Moved, moved } from './moved.ts';
import { readElsewhere } from './reading.ts';

const ROWS = Number(process.env.ATTACK_ROWS ?? 1_000_000);
/** Only loads with this in their name. */
const ONLY = process.env.ATTACK_LOADS ?? '';
const READERS = 10;
/** For each load. Windows beside nothing and beside the load take turns: what else the machine does meets both. */
const LOAD_MS = Number(process.env.ATTACK_SECONDS ?? 45) * 1_000;
const LEAST_TURNS = 2;
const WINDOW = 250;
/** Before each window, and not measured. */
const BETWEEN = 10;
const PAUSE_MS = 5;
/** By how much the slowest in a hundred may get slower, so far as chance does not explain it; and how slow at most. */
const MOST_TIMES = 1.1;
const MOST_MS = 100;
/** A machine that is busy with other things is too slow beside nothing as well: there the processor time of a signal tells. Requests of ten readers are in it. */
const MOST_PROCESSOR = 1.5;
const WARM_SIGNALS = 400;

const CSV = { accept: 'text/csv' };
const LOADS: readonly (readonly [name: string, path: string, headers?: Record<string, string>])[] = [
  ['signals as CSV', '/trading/signals', CSV],
  ['orders as CSV', '/trading/orders', CSV],
  ['the audit log as CSV', '/settings/audit-log', CSV],
  ['attacks as CSV', '/settings/security-attacks', CSV],
  ['signals', '/trading/signals?limit=200'],
  ['signals, none of which fits', '/trading/signals?limit=200&order_status=expired'],
  ['orders', '/trading/orders?limit=200'],
  ['orders, none of which fits', '/trading/orders?limit=200&symbol=BTCUSDT&status=expired&source=webhook'],
  ['orders, searched', '/trading/orders?limit=200&search=btc'],
  ['performance', '/trading/performance'],
  ['overview', '/trading/overview'],
  ['accounts', '/trading/accounts?limit=200'],
];

/** Begins a load; what it returns ends it, and tells how many bytes were read where that is known. */
type Begin = () => Promise<() => Promise<number>>;

export const neighbours: Attack = {
  item: 12,
  title: `one user reads lists, CSV and an export of ${ROWS.toLocaleString('en')} rows, ${READERS} at a time`,
  before: 'one CSV of 20,000 signals delayed another user’s webhook by 8.4 s, ten by 20.9 s',
  modes: ['default', 'servers'],
  async run(desk) {
    const [neighbour, reader] = [await desk.person('desk'), await desk.person('desk')];
    const [account, its] = [await desk.account(neighbour), await desk.account(reader)];
    await writeHistory(desk.product, reader, its, ROWS);
    const key = await desk.apiKey(reader);
    const send = sender(desk, account);
    for (let index = 0; index < WARM_SIGNALS; index++) await send();
    const rounds: Round[] = [];
    for (const [name, path, headers = {}] of LOADS.filter(([each]) => each.includes(ONLY))) {
      const begin: Begin = async () => {
        const places = Array.from({ length: READERS }, () => desk.placeOf(desk.newAddress()));
        const { end } = await readElsewhere({
          ...{ port: desk.product.port, path, key },
          places: places.map((place) => ({ ...place, headers: { ...place.headers, ...headers } })),
        });
        return end;
      };
      rounds.push(await beside(name, send, begin));
    }
    if ('an export'.includes(ONLY)) rounds.push(await beside('an export', send, () => exporting(desk)));
    return outcomeOf(rounds);
  },
};

interface Round {
  readonly name: string;
  readonly calm: readonly (readonly Sample[])[];
  readonly busy: readonly (readonly Sample[])[];
  readonly failed: number;
  readonly bytes: number;
}

async function beside(name: string, send: () => Promise<Sample>, begin: Begin): Promise<Round> {
  const calm: Sample[][] = [];
  const busy: Sample[][] = [];
  let failed = 0;
  let bytes = 0;
  async function window(): Promise<Sample[]> {
    const samples: Sample[] = [];
    for (let index = -BETWEEN; index < WINDOW; index++) {
      try {
        const sample = await send();
        if (index >= 0) samples.push(sample);
        if (sample.isOther) failed++;
      } catch {
        failed++;
      }
      await pause(PAUSE_MS);
    }
    return samples;
  }
  // What was written before is on its way to the disk, where every commit would wait for it.
  spawnSync('sync');
  const begun = performance.now();
  while (calm.length < LEAST_TURNS || performance.now() - begun < LOAD_MS) {
    calm.push(await window());
    const end = await begin();
    busy.push(await window());
    bytes += await end();
  }
  return { name, calm, busy, failed, bytes };
}

/** By the operator's own command, beside the service, and from when it reads: a process that starts costs a moment whatever it is for. */
async function exporting({ product }: Desk): Promise<() => Promise<number>> {
  const { checkout, dataDir, databaseUrl, redisUrl } = product;
  const folder = mkdtempSync(join(dataDir, 'export-'));
  const args = [join(checkout, 'bin/fillpath.js'), 'export', 'orders', '-o', join(folder, 'orders.csv')];
  const child = spawn(process.execPath, args, {
    env: {
      PATH: process.env.PATH,
      DATA_DIR: dataDir,
      ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}),
      ...(redisUrl ? { REDIS_URL: redisUrl } : {}),
    },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  const bytes = () => readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  while (child.exitCode === null && bytes() === 0) await pause(PAUSE_MS);
  return async () => {
    const written = bytes();
    child.kill();
    await ended;
    rmSync(folder, { recursive: true });
    return written;
  };
}

function outcomeOf(rounds: readonly Round[]): Outcome {
  const all: Round = {
    name: 'all of them',
    calm: rounds.flatMap(({ calm }) => calm),
    busy: rounds.flatMap(({ busy }) => busy),
    failed: rounds.reduce((sum, { failed }) => sum + failed, 0),
    bytes: rounds.reduce((sum, { bytes }) => sum + bytes, 0),
  };
  const found = [...rounds, all].map((round) => ({ round, moved: movedBy(round) }));
  const together = found.at(-1)?.moved as Moved;
  const bad = found.filter(
    ({ round, moved: { busy, between } }) => round.failed > 0 || busy > MOST_MS || between[0] > MOST_TIMES,
  );
  const [before, meanwhile] = [all.calm, all.busy].map((windows) => mean(windows.flat(), hadMs)) as [
    number,
    number,
  ];
  const isCheap = all.failed === 0 && meanwhile < before * MOST_PROCESSOR;
  const isTooBusyToTell = together.calm > MOST_MS;
  return {
    got:
      `webhook p99 ${together.busy.toFixed(1)} ms beside them and ${together.calm.toFixed(1)} beside nothing, ${timesOf(together)}` +
      `${bad.length > 0 ? `; too slow: ${bad.map(({ round }) => round.name).join(', ')}` : ''}` +
      `${isTooBusyToTell ? `; on a machine that is busy with other things: ${meanwhile.toFixed(1)} ms of the processor for each, ${before.toFixed(1)} beside nothing` : ''}`,
    isClosed: isTooBusyToTell ? isCheap : bad.length === 0 && together.times <= MOST_TIMES,
    table: table(
      COLUMNS,
      found.map(({ round, moved: by }) => lineOf(round, by)),
    ),
  };
}

const msOf = (windows: Round['calm']) => windows.map((window) => window.map(({ ms }) => ms));
const movedBy = ({ calm, busy }: Round): Moved => moved(msOf(calm), msOf(busy));
const timesOf = ({ times, between: [from, to] }: Moved): string =>
  `${times.toFixed(2)} times (${from.toFixed(2)} to ${to.toFixed(2)})`;

const COLUMNS = [
  'beside',
  'signals each',
  'p50 ms quiet, beside',
  'p99 ms quiet',
  'p99 ms beside',
  'times (9 in 10 draws)',
  'quiet by quiet',
  'slowest ms quiet, beside',
  'processor ms a signal',
  'slowest 2 % quiet: ms = work + processor awaited + rest',
  'the same beside',
  'MB read',
];

function lineOf({ name, calm, busy, bytes, failed }: Round, by: Moved): string[] {
  const both = [calm.flat(), busy.flat()];
  const each = (make: (samples: readonly Sample[]) => number, digits = 1) =>
    both.map((samples) => make(samples).toFixed(digits)).join(', ');
  return [
    failed > 0 ? `${name}, ${failed} failed` : name,
    `${busy.flat().length}`,
    each((samples) =>
      percentile(
        samples.map(({ ms }) => ms),
        50,
      ),
    ),
    by.calm.toFixed(1),
    by.busy.toFixed(1),
    timesOf(by),
    by.byChance.toFixed(2),
    each((samples) => Math.max(...samples.map(({ ms }) => ms)), 0),
    each((samples) => mean(samples, hadMs)),
    ...both.map(tailOf),
    (bytes / 2 ** 20).toFixed(1),
  ];
}

const hadMs = (sample: Sample): number => sample.hadMs;
const mean = (samples: readonly Sample[], of: (sample: Sample) => number): number =>
  samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;

function tailOf(samples: readonly Sample[]): string {
  const slowest = samples.toSorted((a, b) => b.ms - a.ms).slice(0, Math.ceil(samples.length / 50));
  const [ms, had, awaited] = [
    mean(slowest, (each) => each.ms),
    mean(slowest, hadMs),
    mean(slowest, ({ awaitedMs }) => awaitedMs),
  ];
  return [ms, had, awaited, ms - had - awaited]
    .map((each) => each.toFixed(1))
    .join(' ')
    .replace(/ /, ' = ');
}
