// Item 12: one user reads as much as there is, again and again, and ten at a time: each list, CSV and what only a command
// shows, of a million rows. Measured is what a neighbour's webhook has of it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { percentile } from '../../bench/client.ts';
import type { Attack, Outcome } from './attacks.ts';
import type { Desk, TradingAccount } from './desk.ts';
import { type Figures, observe } from './figures.ts';
import { writeHistory } from './million.ts';
import { readInThread } from './reading.ts';

const ROWS = Number(process.env.ATTACK_ROWS ?? 1_000_000);
const PHASE_MS = 8_000;
const READERS = 10;
/** By how much the slowest in a hundred may get slower, where they are not fast all the same. */
const MOST_TIMES = 1.1;
const ALWAYS_GOOD_MS = 100;

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
    await observe(desk, 'warming up', account, PHASE_MS);
    const rounds: Round[] = [];
    for (const [name, path, headers = {}] of LOADS) {
      const places = Array.from({ length: READERS }, () => desk.placeOf(desk.newAddress()));
      rounds.push(
        await beside(desk, account, name, () => {
          const reading = readInThread({
            ...{ port: desk.product.port, path, key },
            places: places.map((place) => ({ ...place, headers: { ...place.headers, ...headers } })),
          });
          return () => reading.end();
        }),
      );
    }
    rounds.push(await beside(desk, account, 'an export', () => exporting(desk)));
    return outcomeOf(rounds);
  },
};

interface Round {
  readonly calm: readonly Figures[];
  readonly busy: Figures;
}

async function beside(
  desk: Desk,
  account: TradingAccount,
  name: string,
  begin: () => () => Promise<unknown>,
): Promise<Round> {
  const before = await observe(desk, 'nothing', account, PHASE_MS);
  const end = begin();
  const busy = await observe(desk, name, account, PHASE_MS);
  await end();
  return { calm: [before, await observe(desk, 'nothing', account, PHASE_MS)], busy };
}

/** By the operator's own command, beside the service. */
function exporting({ product }: Desk): () => Promise<unknown> {
  const { checkout, dataDir, databaseUrl, redisUrl } = product;
  const args = [join(checkout, 'src/main.ts'), 'export', 'orders', '-o', join(dataDir, 'orders.csv')];
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
  return async () => {
    child.kill();
    await ended;
  };
}

/** Of the processor, for a signal: the requests of ten readers are in it. */
const MOST_PROCESSOR = 1.5;

/**
 * A busy machine is slow beside nothing too: there the time that the thread that trades has of the processor tells. Of one load there are too few signals for the slowest in a hundred to be more than
 * chance: it is held against the slowest of all beside nothing, and all loads together against all that was beside nothing.
 */
function outcomeOf(rounds: readonly Round[]): Outcome {
  const calm = together(
    'nothing',
    rounds.flatMap((round) => round.calm),
  );
  const busy = together(
    'all of them',
    rounds.map((round) => round.busy),
  );
  // What chance alone moves.
  const halves = [0, 1].map((half) =>
    together(
      half === 0 ? '… before each' : '… after each',
      rounds.flatMap((round) => round.calm.slice(half, half + 1)),
    ),
  );
  const slowest = Math.max(...calm.times);
  const [before, beside] = [calm, busy].map((each) => each.processorMs / each.signals) as [number, number];
  const isCheap = busy.failed === 0 && beside < before * MOST_PROCESSOR;
  const isGood = (each: Figures, than: number) =>
    each.failed === 0 && (each.p99 <= than * MOST_TIMES || each.p99 < ALWAYS_GOOD_MS);
  const bad = rounds.flatMap((round) => (isGood(round.busy, slowest) ? [] : [round.busy.when]));
  return {
    got:
      `webhook p50 ${busy.p50.toFixed(0)}, p99 ${busy.p99.toFixed(0)} ms beside them, ${calm.p50.toFixed(0)} and ` +
      `${calm.p99.toFixed(0)} ms beside nothing; the trading thread has ${beside.toFixed(1)} ms of the processor for each, ` +
      `${before.toFixed(1)} ms beside nothing${bad.length > 0 ? `; too slow: ${bad.join(', ')}` : ''}`,
    isClosed: (bad.length === 0 && isGood(busy, calm.p99)) || (calm.p99 > ALWAYS_GOOD_MS && isCheap),
    figures: [calm, ...halves, busy, ...rounds.map((round) => round.busy)],
  };
}

function together(when: string, figures: readonly Figures[]): Figures {
  const times = figures.flatMap((each) => each.times);
  return {
    ...{ when, times, signals: times.length },
    ...{ p50: percentile(times, 50), p99: percentile(times, 99) },
    failed: figures.reduce((sum, each) => sum + each.failed, 0),
    memory: Math.max(...figures.map((each) => each.memory)),
    processorMs: figures.reduce((sum, each) => sum + each.processorMs, 0),
  };
}
