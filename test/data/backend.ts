// What a world stands on: the embedded database and store, or a real PostgreSQL and a real Redis. A suite runs on the
// second by a file that names it: see distributed.ts.

import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db } from '../../src/data/engine/db.ts';
import { migrate } from '../../src/data/engine/migrate.ts';
import { openPostgres } from '../../src/data/engine/postgres.ts';
import { openSqlite } from '../../src/data/engine/sqlite.ts';
import { startPostgres } from '../servers/postgres.ts';
import { startRedis } from '../servers/redis.ts';

export interface Backend {
  readonly env: Readonly<Record<string, string>>;
  /** A connection of the test's own: what it reads is what is durable. */
  openDb(): Promise<Db>;
}

let isDistributed = false;
let redis: ReturnType<typeof startRedis> | undefined;
let redisDatabases = 0;
// A world that continues an earlier one's data folder continues its databases too.
const known = new Map<string, Backend>();

/** From here on, in this process. */
export async function distribute(): Promise<void> {
  isDistributed = true;
  redis ??= startRedis();
  await redis;
}

export async function backendOf(dir: string): Promise<Backend> {
  const backend = known.get(dir) ?? (await (isDistributed ? distributed() : embedded(dir)));
  known.set(dir, backend);
  return backend;
}

// Each world would make the same tables anew, which takes longer than most tests: they begin with a copy.
let sqliteTables: Promise<string> | undefined;
let postgresTables: Promise<string> | undefined;

async function embedded(dir: string): Promise<Backend> {
  const file = await withTables(join(dir, 'fillpath.sqlite'));
  return { env: {}, openDb: async () => openSqlite({ file }) };
}

/** The same file, with the tables in it where it is new; for everybody who opens a database that `migrate` would make. */
export async function withTables(file: string): Promise<string> {
  sqliteTables ??= makeSqliteTables();
  const made = await sqliteTables;
  if (!existsSync(file)) copyFileSync(made, file);
  return file;
}

async function makeSqliteTables(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'fillpath-tables-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'fillpath.sqlite');
  await migrated(openSqlite({ file }));
  return file;
}

async function migrated(db: Db): Promise<void> {
  await migrate(db, Date.now());
  await db.close();
}

async function distributed(): Promise<Backend> {
  postgresTables ??= makeTables();
  const { url } = await startPostgres({ template: await postgresTables });
  const server = await (redis ?? startRedis());
  return {
    // Each world has its own of both; the servers end with this process.
    env: { DATABASE_URL: url, REDIS_URL: `${server.url}/${redisDatabases++}` },
    openDb: () => openPostgres({ url, poolSize: 3 }),
  };

  async function makeTables(): Promise<string> {
    const made = await startPostgres();
    await migrated(await openPostgres({ url: made.url, poolSize: 1 }));
    return made.name;
  }
}
