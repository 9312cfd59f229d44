// What an order costs the servers, by their own count: transactions and rows from PostgreSQL's statistics, commands as
// Redis tells them to whoever listens. What they do while nothing is asked of the service is measured first, and taken off.

import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { openMonitor } from '../test/servers/monitor.ts';

/** A session of PostgreSQL reports what it has done after so long without work, at the latest. */
const REPORTED_MS = 11_000;

/** By its name; what nobody did is not there. */
type Counts = ReadonlyMap<string, number>;

export interface Cost {
  readonly transactions: number;
  /** Those that wrote, or held rows: each has a number of its own. */
  readonly commits: number;
  readonly reads: number;
  readonly inserts: number;
  readonly updates: number;
  readonly deletes: number;
  readonly redis: number;
  /** The largest parts of these, as text. */
  readonly tables: readonly string[];
  readonly commands: readonly string[];
}

/** Before anybody counted. Two of the commits, an insert and an update were the paper broker's own. */
export const BEFORE = { transactions: 14, reads: 8, commits: 6, inserts: 4, updates: 9.5, redis: 12 };

/** Of one of the orders that are placed; `place` says how many they were. */
export async function costOfOrder(
  urls: { readonly postgres: string; readonly redis: string },
  place: () => Promise<number>,
): Promise<Cost> {
  const database = new Client(urls.postgres);
  await database.connect();
  const redis = new Redis(urls.redis, { protocol: 2 });
  const monitor = await openMonitor(redis);
  const commands = new Map<string, number>();
  monitor.on('monitor', (_time: string, [name = '']: string[], source: string) => {
    // What a script does is the script's: it was sent once.
    const counted = `redis ${name.toLowerCase()}`;
    if (source !== 'lua') commands.set(counted, (commands.get(counted) ?? 0) + 1);
  });
  const snapshot = async () => ({
    at: performance.now(),
    counts: new Map([...(await databaseCounts(database)), ...commands]),
  });
  try {
    await sleep(REPORTED_MS);
    const first = await snapshot();
    await sleep(REPORTED_MS);
    const idle = await snapshot();
    const orders = await place();
    await sleep(REPORTED_MS);
    const last = await snapshot();

    const share = (last.at - idle.at) / (idle.at - first.at);
    const perOrder = new Map<string, number>();
    for (const [name, count] of last.counts) {
      const before = idle.counts.get(name) ?? 0;
      const byItself = (before - (first.counts.get(name) ?? 0)) * share;
      perOrder.set(name, Math.max(0, count - before - byItself) / orders);
    }
    return summed(perOrder);
  } finally {
    await database.end();
    monitor.disconnect();
    redis.disconnect();
  }
}

async function databaseCounts(database: Client): Promise<Counts> {
  const counts = new Map<string, number>();
  const { rows: totals } = await database.query<{ transactions: string; numbers: string }>(
    `select xact_commit + xact_rollback as transactions, pg_snapshot_xmax(pg_current_snapshot()) as numbers
     from pg_stat_database where datname = current_database()`,
  );
  counts.set('transactions', Number(totals[0]?.transactions));
  counts.set('commits', Number(totals[0]?.numbers));
  const { rows: tables } = await database.query<Record<'name' | 'ins' | 'upd' | 'del', string>>(
    `select relname as name, n_tup_ins as ins, n_tup_upd as upd, n_tup_del as del from pg_stat_user_tables`,
  );
  for (const { name, ins, upd, del } of tables) {
    counts.set(`insert ${name}`, Number(ins));
    counts.set(`update ${name}`, Number(upd));
    counts.set(`delete ${name}`, Number(del));
  }
  return counts;
}

function summed(perOrder: Counts): Cost {
  const of = (kind: string) => [...perOrder].filter(([name]) => name.startsWith(`${kind} `));
  const sum = (kind: string) => of(kind).reduce((total, [, count]) => total + count, 0);
  const parts = (...kinds: string[]) =>
    kinds
      .flatMap(of)
      .filter(([, count]) => count >= 0.05)
      .sort(([, a], [, b]) => b - a)
      .map(([name, count]) => `${name.replace('redis ', '')} ${count.toFixed(1)}`);
  const transactions = perOrder.get('transactions') ?? 0;
  const commits = perOrder.get('commits') ?? 0;
  return {
    transactions,
    commits,
    reads: transactions - commits,
    inserts: sum('insert'),
    updates: sum('update'),
    deletes: sum('delete'),
    redis: sum('redis'),
    tables: parts('insert', 'update', 'delete'),
    commands: parts('redis'),
  };
}
