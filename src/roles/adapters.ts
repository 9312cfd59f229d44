// Which adapters the configuration asks for. What must be closed is pushed on `closers`.

import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { isKept, keptKey } from '../config/keys.ts';
import type { Db } from '../data/engine/db.ts';
import { openPostgres } from '../data/engine/postgres.ts';
import { lockDataDir, openSqlite } from '../data/engine/sqlite.ts';
import { damageOf } from '../data/engine/sqlite-check.ts';
import { CannotStart } from '../domain/cannot-start.ts';
import type { Clock } from '../domain/clock.ts';
import type { Counters } from '../domain/counters.ts';
import { openMemoryStore } from '../store/memory.ts';
import type { Store } from '../store/store.ts';

type Closers = (() => unknown)[];

/** `alone`: the embedded database is for one server at a time; a command may look at it beside that one, if it is there. */
export async function openDatabase(
  { data }: Config,
  closers: Closers,
  {
    alone = true,
    readOnly = false,
    counters,
  }: { readonly alone?: boolean; readonly readOnly?: boolean; readonly counters?: Counters } = {},
): Promise<Db> {
  const counted = counters ? { counters } : {};
  const file = join(data.dir, 'fillpath.sqlite');
  if (!alone && !data.databaseUrl && !existsSync(file))
    throw new Error(`There is no database in ${data.dir}.`);
  if (!readOnly) mkdirSync(data.dir, { recursive: true, mode: 0o700 });
  if (data.databaseUrl) {
    const db = await openPostgres({ url: data.databaseUrl, readOnly, ...counted });
    closers.push(() => db.close());
    return db;
  }
  if (alone) {
    const lock = lockDataDir(data.dir);
    closers.push(() => lock.release());
    refuseDamaged(file);
  } else if (!readOnly) refuseDamagedUnlessServed(data.dir, file);
  const db = openSqlite({ file, readOnly, ownThread: alone, ...counted });
  closers.push(() => db.close());
  return db;
}

/**
 * A command that opens the database of a killed process writes its log into the file, and takes it away: a start could see no
 * more that the two did not belong together. Where a service runs, its start has looked.
 */
function refuseDamagedUnlessServed(dir: string, file: string): void {
  let lock: { release(): void };
  try {
    lock = lockDataDir(dir);
  } catch {
    return;
  }
  try {
    refuseDamaged(file);
  } finally {
    lock.release();
  }
}

/** Under this name until it is safe to start on. */
export const HALF_RESTORED = 'restoring.sqlite';

/** A service that trades on a database that is none would do so on what never was. */
function refuseDamaged(file: string): void {
  if (existsSync(join(dirname(file), HALF_RESTORED)))
    throw new CannotStart(
      `A restore into ${dirname(file)} was interrupted. Delete the folder, and restore the backup again.`,
    );
  const damage = damageOf(file);
  if (damage)
    throw new CannotStart(
      `The database ${file} is damaged: ${damage}. Nothing was changed. ` +
        'Restore a backup into an empty folder with `npx fillpath restore FILE --into FOLDER`, and set DATA_DIR to that. ' +
        'If you have put a backup into this very folder: the files beside it (-wal, -shm) belong to the database that was there before, not to the backup.',
    );
}

/** Redis only where it is asked for: a start without it need not load it. */
export async function openStore(
  { data }: Config,
  deps: { clock: Clock; ticking: Clock; log: Logger; messageKey(): Promise<Buffer> },
): Promise<Store> {
  const { clock, ticking, log, messageKey } = deps;
  if (!data.redisUrl) return openMemoryStore({ clock: ticking });
  const { openRedisStore } = await import('../store/redis/adapter.ts');
  return openRedisStore({ url: data.redisUrl, key: await messageKey(), clock, log });
}

/** Whether there is one without making it. */
export const hasAppKey = ({ keys, data }: Config): boolean =>
  keys.app !== undefined || isKept(data.dir, 'APP_KEY');

export const appKeyOf = ({ keys, data }: Config): Buffer =>
  Buffer.from(keys.app ?? keptKey(data.dir, 'APP_KEY'), 'base64url');
