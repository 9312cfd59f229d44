// A user's history of a million rows, without trading it: a thousand orders and signals are written as the service would
// have written them, and copied a thousand times by the database itself.

import { join as joinPath } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { writePast } from '../../bench/past.ts';
import { type Db, sql } from '../../src/data/engine/db.ts';
import { openPostgres } from '../../src/data/engine/postgres.ts';
import { openSqlite } from '../../src/data/engine/sqlite.ts';
import type { Trader } from '../orders/kill-harness.ts';
import type { Person, TradingAccount } from './desk.ts';
import type { Product } from './product.ts';

const WRITTEN = 1_000;
/** All copies of so many rows, which have their time: what is written in the order of the indexes is written fast. */
const ROWS_AT_ONCE = 10;

export async function writeHistory(
  { databaseUrl, dataDir }: Product,
  owner: Person,
  account: TradingAccount,
  rows: number,
): Promise<void> {
  const db = databaseUrl
    ? await openPostgres({ url: databaseUrl })
    : openSqlite({ file: joinPath(dataDir, 'fillpath.sqlite') });
  try {
    await writePast(db, { user: owner, account } as unknown as Trader, WRITTEN);
    await holdStill(db);
    const copy = await copier(db, rows / WRITTEN - 1);
    for (let from = 0; from < WRITTEN; from += ROWS_AT_ONCE) {
      await copy(from);
      // A statement of SQLite's takes this thread: connections that the service ended meanwhile are noticed here.
      await turn();
    }
    await bringHome(db);
  } finally {
    await db.close();
  }
}

/** What is written from here on is not copied; and nobody will miss it. */
async function holdStill(db: Db): Promise<void> {
  if (db.dialect === 'sqlite') await db.script('pragma synchronous = off');
  await db.script('create table copied as select order_id from order_history where fingerprint is null');
}

/** What a database does later about so many new rows is not what is measured: it is done before. */
async function bringHome(db: Db): Promise<void> {
  if (db.dialect === 'sqlite') return db.script('pragma wal_checkpoint(truncate)');
  await db.script('vacuum (analyze)');
  await db.script('checkpoint');
}

async function columnsOf(db: Db, table: string): Promise<string[]> {
  const rows = await db.all<{ name: string }>(
    db.dialect === 'sqlite'
      ? sql`select name from pragma_table_info(${table})`
      : sql`select column_name as name from information_schema.columns
            where table_name = ${table} and is_identity = 'NO'`,
  );
  return rows.map(({ name }) => name);
}

async function copier(db: Db, copies: number) {
  const uuid = db.dialect === 'sqlite' ? 'text' : 'uuid';
  const nth = 'substr(cast(10000 + n.nth as text), 2)';
  // Its number in the place of random digits, and another version than ours: an id, and nobody else's.
  const copied = (id: string) => {
    const part = (from: number, length: number) => `substr(cast(${id} as text), ${from}, ${length})`;
    return `cast(${part(1, 14)} || '4' || ${part(16, 9)} || ${nth} || ${part(29, 8)} as ${uuid})`;
  };
  const tables: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    order_history: { order_id: copied('order_id') },
    order_legs: { order_id: copied('order_id'), client_order_id: `client_order_id || ${nth}` },
    signals: { id: copied('id'), order_id: copied('order_id') },
  };
  const statements = await Promise.all(
    Object.entries(tables).map(async ([table, own]) => {
      const columns = await columnsOf(db, table);
      const values = columns.map((name) => own[name] ?? `each.${name}`);
      return (from: number) =>
        `insert into ${table} (${columns.join(', ')})
         with recursive n (nth) as (select 1 union all select nth + 1 from n where nth < ${copies})
         select ${values.join(', ')} from (select * from ${table} where order_id in
           (select order_id from copied order by order_id limit ${ROWS_AT_ONCE} offset ${from})) as each cross join n
         order by each.order_id, n.nth`;
    }),
  );
  return async (from: number): Promise<void> => {
    for (const make of statements) await db.script(make(from));
  };
}
