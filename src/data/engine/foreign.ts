// What stands in a database and was made by nobody of ours. A trigger or a view acts in the name of whoever writes or reads,
// so that one that was planted is worth a password.

import { type Db, type Reads, sql } from './db.ts';
import { MIGRATIONS } from './migrate.ts';

/** Those of every level: a table that a later migration takes away was ours. */
export const OWN_TABLES: ReadonlySet<string> = new Set([
  'migrations',
  'schema_needs',
  ...MIGRATIONS.flatMap(({ script }) =>
    [...script.matchAll(/^\s*create table (?:if not exists )?(\w+)/gim)].map(([, name = '']) => name),
  ),
]);

/** SQLite's own books: of `autoincrement`, and of what `analyze` counts. */
const OF_SQLITE = new Set(['sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4']);

interface Part {
  readonly type: string;
  readonly name: string;
  readonly tbl_name: string;
  readonly sql: string | null;
}

/**
 * Each as "trigger x on users". In an embedded database triggers, views and tables; where a newer program has been at it,
 * tables that we do not know may be that one's, and pass if the file is `trusted` otherwise. A server's database may be home
 * to others: there it is only what acts on our tables, or stands in the place of one.
 */
export async function foreignIn(db: Db, { trusted = false } = {}): Promise<string[]> {
  if (db.dialect === 'postgres') return foreignOnServer(db);
  const parts = await db.all<Part>(
    sql`select type, name, tbl_name, sql from sqlite_schema order by type, name`,
  );
  const mayBeNewer = trusted && (await knowsMoreThanWe(db, parts));
  return parts.flatMap((part) => {
    if (isOwnIndex(part)) return [];
    if (isPlainTable(part) && (mayBeNewer || OWN_TABLES.has(part.name) || OF_SQLITE.has(part.name)))
      return [];
    return [named(part)];
  });
}

const named = ({ type, name, tbl_name }: Omit<Part, 'sql'>): string =>
  name === tbl_name ? `${type} ${name}` : `${type} ${name} on ${tbl_name}`;

async function foreignOnServer(db: Reads): Promise<string[]> {
  const acting = await db.all<Omit<Part, 'sql'>>(
    sql`select 'trigger' as type, t.tgname as name, c.relname as tbl_name
        from pg_trigger t join pg_class c on c.oid = t.tgrelid
        where not t.tgisinternal and pg_table_is_visible(c.oid)
        union all
        select 'rule', r.rulename, c.relname from pg_rewrite r join pg_class c on c.oid = r.ev_class
        where c.relkind in ('r', 'p') and pg_table_is_visible(c.oid)
        union all
        select 'view', c.relname, c.relname from pg_class c
        where c.relkind in ('v', 'm', 'f') and pg_table_is_visible(c.oid)
        order by 1, 2`,
  );
  return acting.filter(({ tbl_name }) => OWN_TABLES.has(tbl_name)).map(named);
}

// By its text, too: SQLite goes by that, whatever the row says that it is.
const isPlainTable = ({ type, sql }: Part): boolean => type === 'table' && /^create table\s/i.test(sql ?? '');

/** An operator may have made one: it changes no row, and no answer. */
const isOwnIndex = ({ type, sql }: Part): boolean =>
  type === 'index' && (sql === null || /^create (?:unique )?index\s/i.test(sql));

async function knowsMoreThanWe(db: Reads, parts: readonly Part[]): Promise<boolean> {
  if (!parts.some((part) => part.name === 'migrations' && isPlainTable(part))) return false;
  const ours = new Set(MIGRATIONS.map(({ name }) => name));
  const applied = await db.all<{ name: string }>(sql`select name from migrations`);
  return applied.some(({ name }) => !ours.has(name));
}
