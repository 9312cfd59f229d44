// What a world stands on: the embedded database and store, or a real PostgreSQL and a real Redis. A suite runs on the
// second by a file that names it: see distributed.ts.

import { join } from 'node:path';
import type { Db } from '../../src/data/db.ts';
import { migrate } from '../../src/data/migrate.ts';
import { openPostgres } from '../../src/data/postgres.ts';
import { openSqlite } from '../../src/data/sqlite.ts';
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

const embedded = async (dir: string): Promise<Backend> => ({
  env: {},
  openDb: async () => openSqlite({ file: join(dir, 'fillpath.sqlite') }),
});

/** Each world would make the same tables anew, which takes longer than most tests. */
let template: Promise<string> | undefined;
async function makeTemplate(): Promise<string> {
  const { url, name } = await startPostgres();
  const db = await openPostgres({ url, poolSize: 1 });
  await migrate(db, Date.now());
  await db.close();
  return name;
}

async function distributed(): Promise<Backend> {
  template ??= makeTemplate();
  const { url } = await startPostgres({ template: await template });
  const server = await (redis ?? startRedis());
  return {
    // Each world has its own of both; the servers end with this process.
    env: { DATABASE_URL: url, REDIS_URL: `${server.url}/${redisDatabases++}` },
    openDb: () => openPostgres({ url, poolSize: 3 }),
  };
}
