// What a bench needs of a checkout, of this one or of another: its own code makes its database and starts its program.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Db } from '../src/data/engine/db.ts';
import type * as Migrate from '../src/data/engine/migrate.ts';
import type * as Sqlite from '../src/data/engine/sqlite.ts';
import type * as Harness from '../test/orders/kill-harness.ts';

export async function load(checkout: string) {
  const module = <Module>(...paths: string[]) => {
    const path = paths.map((each) => join(checkout, each)).find((each) => existsSync(each)) ?? '';
    return import(pathToFileURL(path).href) as Promise<Module>;
  };
  const { openSqlite } = await module<typeof Sqlite>('src/data/engine/sqlite.ts', 'src/data/sqlite.ts');
  const { migrate } = await module<typeof Migrate>('src/data/engine/migrate.ts', 'src/data/migrate.ts');
  const { makeTrader, startProgram } = await module<typeof Harness>('test/orders/kill-harness.ts');
  return {
    makeTrader,
    startProgram,
    async openFresh(dir: string): Promise<Db> {
      const db = openSqlite({ file: join(dir, 'fillpath.sqlite') });
      await migrate(db, Date.now());
      return db;
    },
  };
}
