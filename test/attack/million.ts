// A user's history of a million rows, without trading it: a thousand orders and signals are written as the service would
// have written them, and copied a thousand times by the database itself.

import { join as joinPath } from 'node:path';
import { writePast } from '../../bench/past.ts';
import { type Db, sql } from '../../src/data/engine/db.ts';
import { openPostgres } from '../../src/data/engine/postgres.ts';
import { openSqlite } from '../../src/data/engine/sqlite.ts';
import type { Trader } from '../orders/kill-harness.ts';
import type { Person, TradingAccount } from './desk.ts';
import type { Product } from './product.ts';

/** Of a thousand rows each. Copies of one row have its time: lists are by time and id. */
const COPIES_AT_ONCE = 5;
const WRITTEN = 1_000;

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
    const copy = await copier(db, owner.id);
    for (let nth = 1; nth < rows / WRITTEN; nth += COPIES_AT_ONCE)
      await copy(nth, Math.min(nth + COPIES_AT_ONCE, rows / WRITTEN) - 1);
  } finally {
    await db.close();
  }
}

/** What is written from here on is not copied. */
async function holdStill(db: Db): Promise<void> {
  await db.script(`
    create table copied_orders as select order_id from order_history where fingerprint is null;
    create table copied_signals as select id from signals where order_id in (select order_id from copied_orders)`);
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

async function copier(db: Db, owner: string) {
  const uuid = db.dialect === 'sqlite' ? 'text' : 'uuid';
  const nth = `substr(cast(10000 + n.nth as text), 2)`;
  // Its number in the place of random digits, and another version than ours: an id, and nobody else's.
  const copied = (id: string) => {
    const part = (from: number, length: number) => `substr(cast(${id} as text), ${from}, ${length})`;
    return `cast(${part(1, 14)} || '4' || ${part(16, 9)} || ${nth} || ${part(29, 8)} as ${uuid})`;
  };
  const tables: Readonly<Record<string, { own: Record<string, string>; of: string }>> = {
    order_history: {
      own: { order_id: copied('order_id') },
      of: 'order_id in (select order_id from copied_orders)',
    },
    order_legs: {
      own: { order_id: copied('order_id'), client_order_id: `client_order_id || ${nth}` },
      of: 'order_id in (select order_id from copied_orders)',
    },
    signals: {
      own: { id: copied('id'), order_id: copied('order_id') },
      of: `user_id = '${owner}' and id in (select id from copied_signals)`,
    },
  };
  const statements = await Promise.all(
    Object.entries(tables).map(async ([table, { own, of }]) => {
      const columns = await columnsOf(db, table);
      const values = columns.map((name) => own[name] ?? `each.${name}`);
      return (from: number, to: number) =>
        `insert into ${table} (${columns.join(', ')})
         with recursive n (nth) as (select ${from} union all select nth + 1 from n where nth < ${to})
         select ${values.join(', ')} from n cross join (select * from ${table} where ${of}) as each`;
    }),
  );
  return (from: number, to: number): Promise<void> =>
    db.script(statements.map((make) => make(from, to)).join(';\n'));
}
