// Brings the database to the newest schema: each migration once, in order, by one process at a time, its effects and its
// mark in one transaction; or, where others are not to wait for it, the mark after its effects. A new database is made by
// all of them in one.
//
// A schema's level is the number of its newest migration, a program's that of the newest one that it knows. Migrations
// add (expand), so that a program of an earlier level goes on beside them, and starts on them: an upgrade is rolled back by
// starting the old program. What takes away (contract) names the earliest level that can do without it; that stands in
// `schema_needs` from then on, and a program of an earlier level does not start.

import { setTimeout as sleep } from 'node:timers/promises';
import { CannotStart } from '../../domain/cannot-start.ts';
import { timestamp } from '../../domain/ids.ts';
import { records } from '../migrations/001-records.ts';
import { identity } from '../migrations/002-identity.ts';
import { security } from '../migrations/003-security.ts';
import { deployment } from '../migrations/004-deployment.ts';
import { brokers } from '../migrations/005-brokers.ts';
import { counts } from '../migrations/006-counts.ts';
import { seals } from '../migrations/007-seals.ts';
import { indexes } from '../migrations/008-indexes.ts';
import { tries } from '../migrations/009-tries.ts';
import { strategies } from '../migrations/010-strategies.ts';
import { unitValues } from '../migrations/011-unit-values.ts';
import { standing } from '../migrations/012-standing.ts';
import { standingIndexes } from '../migrations/013-standing-indexes.ts';
import { notifications } from '../migrations/014-notifications.ts';
import { platformCertificate } from '../migrations/015-platform-certificate.ts';
import { requestIds } from '../migrations/016-request-ids.ts';
import { unknownOrders } from '../migrations/017-unknown-orders.ts';
import { gettingOut } from '../migrations/018-getting-out.ts';
import { openedMonths } from '../migrations/019-opened-months.ts';
import { halfDone } from '../migrations/021-half-done.ts';
import { owedComparisons } from '../migrations/022-owed-comparisons.ts';
import { afterTheft } from '../migrations/023-after-theft.ts';
import { addresses } from '../migrations/025-addresses.ts';
import { paperStops } from '../migrations/026-paper-stops.ts';
import { protections } from '../migrations/027-protections.ts';
import { causedOrders } from '../migrations/028-caused-orders.ts';
import { sizes } from '../migrations/029-sizes.ts';
import { resting } from '../migrations/030-resting.ts';
import { groups } from '../migrations/031-groups.ts';
import { groupIndexes } from '../migrations/032-group-indexes.ts';
import { unreadableReplies } from '../migrations/033-unreadable-replies.ts';
import { lateFills } from '../migrations/034-late-fills.ts';
import { lateFillIndex } from '../migrations/035-late-fill-index.ts';
import { groupLists } from '../migrations/036-group-lists.ts';
import { newestTerms } from '../migrations/037-newest-terms.ts';
import { type Db, type Reads, type Scripts, ScriptsUnderWay, sql } from './db.ts';

export interface Migration {
  /** It begins with its number, and is what the database remembers it by. */
  readonly name: string;
  readonly script: string;
  /**
   * Where somebody may be writing to the tables: in no transaction, statement by statement, each harmless to repeat. A
   * crash leaves what the next start finishes.
   */
  readonly besideOthers?: true;
  /** It takes away what programs of an earlier level than this use. */
  readonly needs?: number;
}

/** Another process may be building the indexes of large tables. */
const WAIT_MS = 600_000;
/** A table that others hold is waited for, shortly, so often. */
const LOCK_ATTEMPTS = 5;
const LOCK_PAUSE_MS = 2_000;

export class CannotMigrate extends CannotStart {
  override readonly name = 'CannotMigrate';
}

export const MIGRATIONS: readonly Migration[] = [
  { name: '001-records', script: records },
  { name: '002-identity', script: identity },
  { name: '003-security', script: security },
  { name: '004-deployment', script: deployment },
  { name: '005-brokers', script: brokers },
  { name: '006-counts', script: counts },
  { name: '007-seals', script: seals },
  { name: '008-indexes', script: indexes, besideOthers: true },
  { name: '009-tries', script: tries },
  { name: '010-strategies', script: strategies },
  { name: '011-unit-values', script: unitValues },
  { name: '012-standing', script: standing },
  { name: '013-standing-indexes', script: standingIndexes, besideOthers: true },
  { name: '014-notifications', script: notifications },
  { name: '015-platform-certificate', script: platformCertificate },
  { name: '016-request-ids', script: requestIds },
  { name: '017-unknown-orders', script: unknownOrders, besideOthers: true },
  { name: '018-getting-out', script: gettingOut },
  { name: '019-opened-months', script: openedMonths, besideOthers: true },
  { name: '021-half-done', script: halfDone, besideOthers: true },
  { name: '022-owed-comparisons', script: owedComparisons },
  { name: '023-after-theft', script: afterTheft },
  { name: '025-addresses', script: addresses },
  { name: '026-paper-stops', script: paperStops },
  { name: '027-protections', script: protections },
  { name: '028-caused-orders', script: causedOrders, besideOthers: true },
  { name: '029-sizes', script: sizes },
  { name: '030-resting', script: resting },
  { name: '031-groups', script: groups },
  { name: '032-group-indexes', script: groupIndexes, besideOthers: true },
  { name: '033-unreadable-replies', script: unreadableReplies },
  { name: '034-late-fills', script: lateFills },
  { name: '035-late-fill-index', script: lateFillIndex, besideOthers: true },
  { name: '036-group-lists', script: groupLists, besideOthers: true },
  { name: '037-newest-terms', script: newestTerms },
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
  },
};

/** Whoever waits for a table holds up all that come after: rather not for long. */
const BEGIN: Record<Db['dialect'], string> = {
  sqlite: 'begin',
  postgres: "begin; set local lock_timeout = '1s'",
};

/** No start has prepared it yet. */
export async function isFresh(db: Db): Promise<boolean> {
  return !(await hasTable(db, db.dialect, 'users'));
}

async function hasTable(reads: Reads, dialect: Db['dialect'], table: string): Promise<boolean> {
  const found = await reads.get<{ name: string | null }>(
    dialect === 'sqlite'
      ? sql`select name from sqlite_schema where name = ${table}`
      : sql`select to_regclass(${table}) as name`,
  );
  return (found?.name ?? null) !== null;
}

export async function migrate(
  db: Db,
  now: number,
  {
    migrations = MIGRATIONS,
    program = 'a program without a version',
    waitMs = WAIT_MS,
  }: { migrations?: readonly Migration[]; program?: string; waitMs?: number } = {},
): Promise<void> {
  const applied = await appliedOn(db, db.dialect);
  await refuseNewer(db, db.dialect, { applied, migrations, program });
  // Most starts: they wait for nobody.
  if (migrations.every(({ name }) => applied.has(name))) return;
  try {
    await db.scripts(waitMs, (scripts) => bringUp(scripts, db.dialect, { migrations, program, now }));
  } catch (fault) {
    if (!(fault instanceof ScriptsUnderWay)) throw fault;
    throw new CannotMigrate(
      `Another process has been bringing the database up to date for more than ${waitMs / 1_000} s. Nothing is wrong if it builds the indexes of large tables (pg_stat_progress_create_index shows how far it is): start this one again when it is done.`,
      { cause: fault },
    );
  }
}

export interface SchemaState {
  /** What the next start will bring. */
  readonly pending: readonly string[];
  /** Why this program cannot use it; null: it can. */
  readonly refusal: string | null;
}

/** Without changing anything. */
export async function schemaOf(db: Db, program: string): Promise<SchemaState> {
  const applied = await appliedOn(db, db.dialect);
  const pending = MIGRATIONS.map(({ name }) => name).filter((name) => !applied.has(name));
  try {
    await refuseNewer(db, db.dialect, { applied, migrations: MIGRATIONS, program });
    return { pending, refusal: null };
  } catch (fault) {
    if (!(fault instanceof CannotMigrate)) throw fault;
    return { pending, refusal: fault.message };
  }
}

async function bringUp(
  scripts: Scripts,
  dialect: Db['dialect'],
  { migrations, program, now }: { migrations: readonly Migration[]; program: string; now: number },
): Promise<void> {
  await scripts.script(`
    create table if not exists migrations (name text primary key, applied_at text not null);
    create table if not exists schema_needs (migration text primary key, level integer not null, program text not null)`);
  // Whoever had the lock before us may have left nothing to do, or more than we know.
  const applied = await appliedOn(scripts, dialect);
  await refuseNewer(scripts, dialect, { applied, migrations, program });
  const pending = migrations.filter(({ name }) => !applied.has(name));
  const markOf = ({ name, needs = 0 }: Migration) => `
    insert into migrations (name, applied_at) values ('${name}', '${timestamp(now)}');
    insert into schema_needs (migration, level, program) values ('${name}', ${needs}, '${program.replaceAll("'", "''")}')
      on conflict do nothing`;
  // The mark comes first: a second handle on the same file, which no lock keeps apart, fails at it and finds the work done.
  const whole = (migration: Migration) => `${markOf(migration)};\n${inDialect(migration, dialect, false)};`;
  const apply = (unit: readonly Migration[]) =>
    applyWhole(scripts, `${BEGIN[dialect]};${unit.map(whole).join('\n')}\ncommit;`).catch(
      async (fault: unknown) => {
        const found = await appliedOn(scripts, dialect);
        if (!unit.every(({ name }) => found.has(name))) throw fault;
      },
    );
  // In one go: there is nobody beside us, and every commit waits for the disk.
  if (applied.size === 0) return apply(pending);
  for (const migration of pending)
    if (migration.besideOthers && dialect === 'postgres')
      await applyApart(scripts, inDialect(migration, dialect, true), markOf(migration));
    else await apply([migration]);
}

function inDialect({ name, script }: Migration, dialect: Db['dialect'], isApart: boolean): string {
  const words: Record<string, string> = { ...TYPES[dialect], concurrently: isApart ? 'concurrently' : '' };
  return script.replace(/\{(\w+)\}/g, (_brace, word: string) => {
    const known = words[word];
    if (known === undefined) throw new Error(`migration ${name}: no type {${word}} for ${dialect}`);
    return known;
  });
}

async function applyWhole(scripts: Scripts, text: string): Promise<void> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await scripts.script(text);
    } catch (fault) {
      if ((fault as { code?: string }).code !== LOCK_TIMEOUT) throw fault;
      if (attempts === LOCK_ATTEMPTS)
        throw new CannotMigrate(
          'The database could not be brought up to date: something holds a table that changes (pg_dump, a long query, a forgotten transaction: pg_stat_activity shows it). Nothing was changed by this attempt. Start again when it is done.',
          { cause: fault },
        );
      await sleep(LOCK_PAUSE_MS);
    }
  }
}

/** Of PostgreSQL. */
const LOCK_TIMEOUT = '55P03';

async function applyApart(scripts: Scripts, text: string, mark: string): Promise<void> {
  await dropHalfBuilt(scripts, text);
  for (const statement of text.split(/;$/m).filter((part) => part.trim() !== ''))
    await scripts.script(statement);
  await scripts.script(`begin;${mark};commit`);
}

/** PostgreSQL leaves an index that it could not finish: of no use to anybody, and in the way of another of its name. */
async function dropHalfBuilt(scripts: Scripts, text: string): Promise<void> {
  const halfBuilt = await scripts.all<{ name: string }>(
    sql`select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
        where not i.indisvalid and pg_table_is_visible(c.oid)`,
  );
  for (const { name } of halfBuilt)
    if (text.includes(` ${name} on `)) await scripts.script(`drop index concurrently if exists ${name}`);
}

async function appliedOn(reads: Reads, dialect: Db['dialect']): Promise<ReadonlySet<string>> {
  if (!(await hasTable(reads, dialect, 'migrations'))) return new Set();
  const rows = await reads.all<{ name: string }>(sql`select name from migrations`);
  return new Set(rows.map(({ name }) => name));
}

async function refuseNewer(
  reads: Reads,
  dialect: Db['dialect'],
  {
    applied,
    migrations,
    program,
  }: { applied: ReadonlySet<string>; migrations: readonly Migration[]; program: string },
): Promise<void> {
  const known = new Set(migrations.map(({ name }) => name));
  if ([...applied].every((name) => known.has(name))) return;
  if (!(await hasTable(reads, dialect, 'schema_needs'))) return;
  const level = levelOf(known);
  const needs = await reads.all<{ migration: string; level: number; program: string }>(
    sql`select migration, level, program from schema_needs where level > ${level} order by level desc, migration desc`,
  );
  const [need] = needs;
  if (!need) return;
  throw new CannotMigrate(
    `The database is newer than this program and cannot be used by it. The database is at schema ${levelOf(applied)}; ${need.migration}, applied by Fillpath ${need.program}, needs a program that knows schema ${need.level}. This is Fillpath ${program}, which knows schema ${level}. Start Fillpath ${need.program} or a newer one; or go back to a backup from before that upgrade (docs/operations/backup.md), without what happened since.`,
  );
}

const levelOf = (names: Iterable<string>): number =>
  Math.max(0, ...[...names].map((name) => Number.parseInt(name, 10)));
