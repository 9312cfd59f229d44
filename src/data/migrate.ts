// Brings the database to the newest schema: each migration once, in order, its effects and its mark in one transaction;
// or, where others are not to wait for it, the mark after its effects.

import { timestamp } from '../domain/ids.ts';
import { type Db, sql } from './db.ts';
import { records } from './migrations/001-records.ts';
import { identity } from './migrations/002-identity.ts';
import { security } from './migrations/003-security.ts';
import { deployment } from './migrations/004-deployment.ts';
import { brokers } from './migrations/005-brokers.ts';
import { counts } from './migrations/006-counts.ts';
import { seals } from './migrations/007-seals.ts';
import { indexes } from './migrations/008-indexes.ts';
import { tries } from './migrations/009-tries.ts';
import { strategies } from './migrations/010-strategies.ts';
import { unitValues } from './migrations/011-unit-values.ts';
import { standing } from './migrations/012-standing.ts';
import { standingIndexes } from './migrations/013-standing-indexes.ts';
import { notifications } from './migrations/014-notifications.ts';

interface Migration {
  readonly name: string;
  readonly script: string;
  /** In no transaction, statement by statement, each harmless to repeat: others write to the tables meanwhile. */
  readonly besideOthers?: true;
}

const MIGRATIONS: readonly Migration[] = [
  { name: '001-records', script: records },
  { name: '002-identity', script: identity },
  { name: '003-security', script: security },
  { name: '004-deployment', script: deployment },
  { name: '005-brokers', script: brokers },
  { name: '006-counts', script: counts },
  { name: '007-seals', script: seals },
  { name: '008-indexes', script: indexes },
  { name: '009-tries', script: tries },
  { name: '010-strategies', script: strategies },
  { name: '011-unit-values', script: unitValues },
  { name: '012-standing', script: standing },
  { name: '013-standing-indexes', script: standingIndexes, besideOthers: true },
  { name: '014-notifications', script: notifications },
];

const TYPES: Record<Db['dialect'], Record<string, string>> = {
  sqlite: {
    uuid: 'text',
    boolean: 'integer',
    time: 'text',
    decimal: 'text',
    json: 'text',
    serial: 'integer primary key autoincrement',
    bigint: 'integer',
    true: '1',
    false: '0',
    // SQLite numbers the rows of a table itself, as rowid.
    acceptance: '',
    concurrently: '',
  },
  postgres: {
    uuid: 'uuid',
    boolean: 'boolean',
    time: 'timestamptz(3)',
    decimal: 'numeric',
    // json, not jsonb: the text comes back as it was written
    json: 'json',
    serial: 'bigint generated always as identity primary key',
    bigint: 'bigint',
    true: 'true',
    false: 'false',
    acceptance: 'alter table order_history add column rowid bigint generated always as identity;',
    concurrently: 'concurrently',
  },
};

/** Whoever waits for a table holds up all that come after: rather not for long. The process that migrates is started again. */
const BEGIN: Record<Db['dialect'], string> = {
  sqlite: 'begin',
  postgres: "begin; set local lock_timeout = '3s'",
};

/** No start has prepared it yet. */
export async function isFresh(db: Db): Promise<boolean> {
  const table = await db.get<{ name: string | null }>(
    db.dialect === 'sqlite'
      ? sql`select name from sqlite_schema where name = 'users'`
      : sql`select to_regclass('users') as name`,
  );
  return (table?.name ?? null) === null;
}

export async function migrate(db: Db, now: number): Promise<void> {
  await db.script('create table if not exists migrations (name text primary key, applied_at text not null)');
  const isApplied = async (name: string) =>
    (await db.get(sql`select name from migrations where name = ${name}`)) !== undefined;
  for (const { name, script, besideOthers } of MIGRATIONS) {
    if (await isApplied(name)) continue;
    const text = script.replace(/\{(\w+)\}/g, (_brace, type: string) => {
      const known = TYPES[db.dialect][type];
      if (known === undefined) throw new Error(`migration ${name}: no type {${type}} for ${db.dialect}`);
      return known;
    });
    const mark = `insert into migrations (name, applied_at) values ('${name}', '${timestamp(now)}')`;
    if (besideOthers) {
      await dropHalfBuilt(db, text);
      for (const statement of text.split(/;$/m).filter((part) => part.trim() !== ''))
        await db.script(statement);
      await db.script(`${mark} on conflict do nothing`);
      continue;
    }
    // The mark comes first: of two processes that start at once, the later one fails at it and finds the work done.
    await db.script(`${BEGIN[db.dialect]};\n${mark};\n${text};\ncommit;`).catch(async (error) => {
      if (!(await isApplied(name))) throw error;
    });
  }
}

/** PostgreSQL leaves an index that it could not finish: of no use to anybody, and in the way of another of its name. */
async function dropHalfBuilt(db: Db, text: string): Promise<void> {
  if (db.dialect !== 'postgres') return;
  const halfBuilt = await db.all<{ name: string }>(
    sql`select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
        where not i.indisvalid and pg_table_is_visible(c.oid)`,
  );
  for (const { name } of halfBuilt)
    if (text.includes(` ${name} on `)) await db.script(`drop index concurrently if exists ${name}`);
}
