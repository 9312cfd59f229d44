// What an order costs the databases and Redis, by their own count. What they do while nothing is asked of the service is
// counted first, and taken off. PostgreSQL: its write-ahead log, record by record, and its log of statements. SQLite: the
// frames of its write-ahead log, and the statements that a process tells of itself (sqlite-tally.ts). Redis: commands as
// it tells them to whoever listens. Counting costs time: a load that is counted is not timed.

import {
  closeSync,
  existsSync,
  globSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { openMonitor } from '../test/servers/monitor.ts';
import type { Tally } from './sqlite-tally.ts';
import type { Servers } from './systems.ts';

const IDLE_MS = 2_000;
/** What a process tells of itself, and what Redis and the log tell, is here by then. */
const TOLD_MS = 400;

/** So far, by name; what nobody did is not there. */
type Counts = ReadonlyMap<string, number>;

/** Of one order. What a database has no word for is null. */
export interface Cost {
  readonly orders: number;
  readonly statements: number;
  readonly commits: number;
  readonly inserts: number | null;
  readonly updates: number | null;
  /** Those of the updates that touched no index. */
  readonly hotUpdates: number | null;
  /** SQLite: by the plans of its statements, at the most. */
  readonly indexInsertions: number;
  readonly logBytes: number;
  readonly redisCommands: number | null;
  /** The largest parts of these, each with its count. */
  readonly parts: Readonly<Record<string, number>>;
}

interface Source {
  counts(): Promise<Counts>;
  close(): Promise<void>;
}

async function perOrder(
  source: Source,
  place: () => Promise<number>,
): Promise<{ orders: number; of: Counts }> {
  const look = async () => {
    await sleep(TOLD_MS);
    return { at: performance.now(), counts: await source.counts() };
  };
  const first = await look();
  await sleep(IDLE_MS);
  const idle = await look();
  const orders = await place();
  const last = await look();
  const share = (last.at - idle.at) / (idle.at - first.at);
  const of = new Map<string, number>();
  for (const [name, count] of last.counts) {
    const before = idle.counts.get(name) ?? 0;
    const byItself = (before - (first.counts.get(name) ?? 0)) * share;
    of.set(name, Math.max(0, count - before - byItself) / orders);
  }
  return { orders, of };
}

const sumOf = (counts: Counts, name: RegExp): number =>
  [...counts].reduce((sum, [key, count]) => (name.test(key) ? sum + count : sum), 0);

function partsOf(counts: Counts, name: RegExp): Record<string, number> {
  const large = [...counts].filter(([key, count]) => name.test(key) && count >= 0.05);
  return Object.fromEntries(large.sort(([, a], [, b]) => b - a));
}

/** Of one of the orders that `place` places; it says how many they were. */
export async function costAtServers(urls: Servers, place: () => Promise<number>): Promise<Cost> {
  const source = await watchServers(urls);
  try {
    const { orders, of } = await perOrder(source, place);
    const hotUpdates = of.get('Heap/HOT_UPDATE') ?? 0;
    return {
      orders,
      statements: sumOf(of, /^statement /),
      commits: of.get('Transaction/COMMIT') ?? 0,
      inserts: of.get('Heap/INSERT') ?? 0,
      updates: (of.get('Heap/UPDATE') ?? 0) + hotUpdates,
      hotUpdates,
      // Each puts one entry in; a page that is full is split on the way.
      indexInsertions: sumOf(of, /^Btree\/(INSERT_LEAF|INSERT_POST|SPLIT_[LR])$/),
      logBytes: of.get('log bytes') ?? 0,
      redisCommands: sumOf(of, /^redis /),
      parts: partsOf(of, /^(statement|redis|Heap\/|Btree\/)/),
    };
  } finally {
    await source.close();
  }
}

async function watchServers(urls: Servers): Promise<Source> {
  const database = new Client(urls.postgres);
  await database.connect();
  const redis = new Redis(urls.redis, { protocol: 2 });
  const monitor = await openMonitor(redis);
  const commands = new Map<string, number>();
  monitor.on('monitor', (_time: string, [name = '']: string[], source: string) => {
    const counted = `redis ${name.toLowerCase()}`;
    // What a script does is the script's: it was sent once.
    if (source !== 'lua') commands.set(counted, (commands.get(counted) ?? 0) + 1);
  });
  const logFile = join(new URL(urls.postgres).searchParams.get('host') ?? '', 'log');
  const logFrom = statSync(logFile).size;
  const ask = async (text: string, values: unknown[] = []) =>
    (await database.query<Record<string, string>>(text, values)).rows;
  const log = async (level: string) => {
    await ask(`alter system set log_statement = '${level}'`);
    await ask('alter system set log_parameter_max_length = 0');
    await ask('select pg_reload_conf()');
  };
  await ask('create extension if not exists pg_walinspect');
  const [{ at: begun } = { at: '' }] = await ask('select pg_current_wal_flush_lsn() as at');
  await log('all');
  return {
    async counts() {
      // What is logged of this very session is the same at every look, and so is taken off with what is idle.
      const [end] = await ask(
        'select pg_current_wal_flush_lsn() as at, pg_current_wal_flush_lsn() - $1::pg_lsn as bytes',
        [begun],
      );
      const records =
        Number(end?.bytes) > 0
          ? await ask(
              `select "resource_manager/record_type" as name, count from pg_get_wal_stats($1, $2, true) where count > 0`,
              [begun, end?.at],
            )
          : [];
      return new Map([
        ...summed(records.map(({ name = '', count }) => [name.replace('+INIT', ''), Number(count)])),
        ['log bytes', Number(end?.bytes)] as const,
        ...statementsIn(readFrom(logFile, logFrom)),
        ...commands,
      ]);
    },
    async close() {
      await log('none');
      await database.end();
      monitor.disconnect();
      redis.disconnect();
    },
  };
}

export interface TableUpdates {
  readonly table: string;
  readonly updates: number;
  readonly hot: number;
}

/** Since there is a database. A session tells of its last seconds later: the shares are right, the sums are a little low. */
export async function tableUpdates(url: string): Promise<TableUpdates[]> {
  const database = new Client(url);
  await database.connect();
  try {
    const { rows } = await database.query<Record<'name' | 'updates' | 'hot', string>>(
      `select relname as name, n_tup_upd as updates, n_tup_hot_upd as hot from pg_stat_user_tables
       where n_tup_upd > 0 order by n_tup_upd desc, relname`,
    );
    return rows.map(({ name, updates, hot }) => ({
      table: name,
      updates: Number(updates),
      hot: Number(hot),
    }));
  } finally {
    await database.end();
  }
}

/** By their first word. */
export const statementsIn = (log: string): Counts =>
  summed(
    [...log.matchAll(/LOG: {2}(?:statement|execute [^:\n]*): *(\w+)/g)].map(([, word = '']) => [
      `statement ${word.toLowerCase()}`,
      1,
    ]),
  );

function summed(counted: readonly (readonly [name: string, count: number])[]): Counts {
  const counts = new Map<string, number>();
  for (const [name, count] of counted) counts.set(name, (counts.get(name) ?? 0) + count);
  return counts;
}

function readFrom(file: string, offset: number): string {
  return readFileSync(file).subarray(offset).toString('utf8');
}

export interface TallyPlace {
  /** For the process that is to be counted. */
  readonly env: Record<string, string>;
  costInFile(file: string, place: () => Promise<number>): Promise<Cost>;
  close(): void;
}

/** For one process with its database in a file. */
export function openTally(): TallyPlace {
  // In memory, where there is such a place: what is told several times a second must not keep the database from its disk.
  const dir = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'fillpath-tally-'));
  return {
    // Its threads are counted too: they do not have the options of its command line.
    env: { TALLY_DIR: dir, NODE_OPTIONS: `--import ${join(import.meta.dirname, 'sqlite-tally.ts')}` },
    async costInFile(file, place) {
      const source = watchFile(file, dir);
      try {
        const { orders, of } = await perOrder(source, place);
        return {
          orders,
          statements: sumOf(of, /^statement /),
          commits: of.get('statement commit') ?? 0,
          inserts: sumOf(of, /^rows insert$/),
          updates: sumOf(of, /^rows update$/),
          hotUpdates: null,
          indexInsertions: of.get('index insertions') ?? 0,
          logBytes: of.get('log bytes') ?? 0,
          redisCommands: null,
          parts: partsOf(of, /^(statement|rows) /),
        };
      } finally {
        await source.close();
      }
    },
    close: () => rmSync(dir, { recursive: true, force: true }),
  };
}

function watchFile(file: string, tallies: string): Source {
  const db = new DatabaseSync(file, { readOnly: true });
  // A reader who stays keeps the log from beginning anew: what is written adds up. Once it may still, where everything in it
  // was in the database already.
  db.exec('begin');
  db.prepare('select count(*) from sqlite_schema').get();
  // Open as long as the reader is: to close a file frees all locks that this process has on it.
  const index = openSync(`${file}-shm`, 'r');
  const begun = logState(index);
  const pageBytes = Number(db.prepare('pragma page_size').get()?.page_size);
  const planned = new Map<string, number>();
  const insertionsOf = (text: string): number => {
    const known = planned.get(text) ?? indexInsertions(db, text);
    planned.set(text, known);
    return known;
  };
  return {
    async counts() {
      const counts = new Map<string, number>();
      const add = (name: string, count: number) => counts.set(name, (counts.get(name) ?? 0) + count);
      for (const thread of globSync('*.json', { cwd: tallies })) {
        const tally = JSON.parse(readFileSync(join(tallies, thread), 'utf8')) as Tally;
        for (const [text, { times, rows }] of Object.entries(tally)) {
          const word = /\w+/.exec(text)?.[0]?.toLowerCase() ?? '';
          add(`statement ${word}`, times);
          if (!['insert', 'update', 'delete'].includes(word)) continue;
          add(`rows ${word}`, rows);
          add('index insertions', rows * insertionsOf(text));
        }
      }
      const { frames, salt } = logState(index);
      // Each page with a head of 24 bytes.
      add('log bytes', (salt === begun.salt ? frames : begun.frames + frames) * (pageBytes + 24));
      return counts;
    },
    async close() {
      db.close();
      closeSync(index);
    },
  };
}

/** Of one row, by the plan: what is put into an index that is one of the database's own. */
function indexInsertions(db: DatabaseSync, text: string): number {
  const steps = db.prepare(`explain ${text}`).all() as { opcode: string; p1: number }[];
  const written = new Set(steps.filter(({ opcode }) => opcode === 'OpenWrite').map(({ p1 }) => p1));
  return steps.filter(({ opcode, p1 }) => opcode === 'IdxInsert' && written.has(p1)).length;
}

interface LogState {
  /** Of the last valid frame. */
  readonly frames: number;
  /** Another one when the log has begun anew. */
  readonly salt: number;
}

/** As the index beside the log says. */
function logState(index: number): LogState {
  const head = Buffer.alloc(36);
  readSync(index, head, 0, head.length, 0);
  return { frames: head.readUInt32LE(16), salt: head.readUInt32LE(32) };
}
