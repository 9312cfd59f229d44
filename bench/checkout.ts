// What a bench needs of a checkout, of this one or of another: its own code makes its database and starts its program.

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Db, Statement } from '../src/data/engine/db.ts';
import type * as Migrate from '../src/data/engine/migrate.ts';
import type * as Postgres from '../src/data/engine/postgres.ts';
import type * as Sqlite from '../src/data/engine/sqlite.ts';
import type * as Harness from '../test/orders/kill-harness.ts';
import type { Program, Trader } from '../test/orders/kill-harness.ts';

/** Each transaction ends well before a busy database would be given up. */
const AT_ONCE = 256;
export const PAPER = { latency_ms: 0, starting_cash: 1e12 };

/** Where an account trades that is no paper account. */
type Elsewhere = Parameters<typeof Harness.makeTrader>[3];

export const HERE = resolve(import.meta.dirname, '..');

export interface Checkout {
  startProgram: typeof Harness.startProgram;
  makeTrader: typeof Harness.makeTrader;
  /** So many users with a paper account each, or one elsewhere, hundreds in one transaction. */
  makeTraders(db: Db, users: number, elsewhere?: Elsewhere): Promise<Trader[]>;
  /** In a folder. */
  openFresh(dir: string): Promise<Db>;
  openFreshPostgres(url: string): Promise<Db>;
}

export async function load(checkout: string): Promise<Checkout> {
  const module = <Module>(...paths: string[]) => {
    const path = paths.map((each) => join(checkout, each)).find((each) => existsSync(each)) ?? '';
    return import(pathToFileURL(path).href) as Promise<Module>;
  };
  const { openSqlite } = await module<typeof Sqlite>('src/data/engine/sqlite.ts', 'src/data/sqlite.ts');
  const { openPostgres } = await module<typeof Postgres>(
    'src/data/engine/postgres.ts',
    'src/data/postgres.ts',
  );
  const { migrate } = await module<typeof Migrate>('src/data/engine/migrate.ts', 'src/data/migrate.ts');
  const { makeTrader, startProgram } = await module<typeof Harness>('test/orders/kill-harness.ts');
  const migrated = async (db: Db): Promise<Db> => {
    await migrate(db, Date.now());
    return db;
  };
  return {
    makeTrader,
    startProgram,
    async makeTraders(db, users, elsewhere) {
      let unit: Statement[] = [];
      const gathering: Db = {
        ...db,
        async commit(statements) {
          unit.push(...statements);
          return null;
        },
      };
      const traders: Trader[] = [];
      while (traders.length < users) {
        traders.push(await makeTrader(gathering, PAPER, undefined, elsewhere));
        if (traders.length % AT_ONCE !== 0 && traders.length < users) continue;
        await db.commit(unit);
        unit = [];
      }
      return traders;
    },
    openFresh: (dir) => migrated(openSqlite({ file: join(dir, 'fillpath.sqlite') })),
    openFreshPostgres: async (url) => migrated(await openPostgres({ url })),
  };
}

/** The path of another checkout, as it was given; ends this process where there is none. */
export function otherCheckout(path: string | undefined, usage: string): string {
  if (path === undefined || !existsSync(join(path, 'src/main.ts'))) {
    console.error(`${usage}: the path of another checkout, with its packages installed`);
    process.exit(2);
  }
  return resolve(path);
}

/** Stops them all, whatever becomes of one. */
export async function killAll(programs: readonly Program[]): Promise<void> {
  await Promise.allSettled(programs.map((program) => program.kill()));
}
