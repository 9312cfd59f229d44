// The database: reached, whole, of our schema and of our key. Read only.

import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Client, DatabaseError } from 'pg';
import packageJson from '../../../package.json' with { type: 'json' };
import { isAppKeyOf } from '../../app/operation/app-key.ts';
import type { Config } from '../../config/config.ts';
import type { Db } from '../../data/engine/db.ts';
import { foreignIn } from '../../data/engine/foreign.ts';
import { isFresh, schemaOf } from '../../data/engine/migrate.ts';
import { damageOf } from '../../data/engine/sqlite-check.ts';
import { appKeyOf, hasAppKey, openDatabase } from '../../roles/adapters.ts';
import { type Check, clockFindings, type Finding, found, whyUnreachable } from './finding.ts';

const PATIENCE_MS = 5_000;
/** Of a larger one the indexes are not compared with what they point at: that would take minutes. */
const THOROUGH_BYTES = 256 * 2 ** 20;

export const databaseChecks: readonly Check[] = [
  { area: 'database', about: 'the database', look: databaseFindings },
];

const wrong = found('database');

async function databaseFindings(config: Config): Promise<Finding[]> {
  const { databaseUrl } = config.data;
  const before = databaseUrl ? await serverFindings(databaseUrl) : fileFindings(config.data.dir);
  if (before.isUsable === false) return before.findings;
  const inside = await readingDatabase(config, (db) => contentFindings(db, config));
  return [...before.findings, ...(inside ?? [])];
}

interface Before {
  readonly findings: Finding[];
  readonly isUsable: boolean;
}

/** null: there is none yet. */
export async function readingDatabase<Result>(
  config: Config,
  work: (db: Db) => Promise<Result>,
): Promise<Result | null> {
  if (!config.data.databaseUrl && !existsSync(join(config.data.dir, 'fillpath.sqlite'))) return null;
  const closers: (() => unknown)[] = [];
  const db = await openDatabase(config, closers, { alone: false, readOnly: true });
  try {
    return (await isFresh(db)) ? null : await work(db);
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

function fileFindings(dir: string): Before {
  const file = join(dir, 'fillpath.sqlite');
  if (!existsSync(file)) return { findings: [], isUsable: false };
  const damage = damageOf(file, { thorough: statSync(file).size <= THOROUGH_BYTES });
  if (!damage) return { findings: [], isUsable: true };
  return {
    findings: [
      wrong(
        `The database ${file} is damaged: ${damage}.`,
        'Stop the service. Restore a backup into an empty folder with `npx fillpath restore FILE --into FOLDER`; keep the damaged one, to compare.',
      ),
    ],
    isUsable: false,
  };
}

async function contentFindings(db: Db, config: Config): Promise<Finding[]> {
  const { pending, refusal } = await schemaOf(db, packageJson.version);
  const findings: Finding[] = [];
  if (refusal)
    return [
      wrong(refusal, 'Start the newer program that it names, or restore a backup from before that upgrade.'),
    ];
  if (pending.length > 0)
    findings.push(
      wrong(
        `The schema lacks ${pending.join(', ')}.`,
        'Start this version once (with many processes: a verifier first): it brings the schema up to date. Take a backup first.',
      ),
    );
  const foreign = await foreignIn(db, { trusted: true });
  if (foreign.length > 0)
    findings.push(
      wrong(
        `In the database is what was not made by Fillpath: ${foreign.join(', ')}. It can act on what is written or read.`,
        'If you made it, drop it: no backup is made while it is there. If not, somebody else had the database: keep a copy, drop it, and restore a backup from before.',
      ),
    );
  if (config.role !== 'worker' && hasAppKey(config) && !(await isAppKeyOf(db, appKeyOf(config))))
    findings.push(
      wrong(
        'APP_KEY is not the one that this database was made with: the service refuses to start, and no webhook secret can be opened.',
        'Give every process the original one; if none was configured, it is in keys/APP_KEY in the DATA_DIR of the first start.',
      ),
    );
  return findings;
}

const REFUSALS: Readonly<Record<string, readonly [problem: string, remedy: string]>> = {
  '28P01': [
    'refuses the password',
    'Correct the user and the password in DATABASE_URL; in it, @ is written %40, / is %2F and : is %3A.',
  ],
  '28000': [
    'does not let this user in',
    'Create the role, or allow it in pg_hba.conf; docs/operations/install.md, "PostgreSQL", has the SQL.',
  ],
  '3D000': [
    'has no such database',
    'CREATE DATABASE fillpath OWNER fillpath; or mend the name in DATABASE_URL.',
  ],
  '53300': ['has no connection left', 'Raise max_connections: 10 for each process, and some to spare.'],
  '57P03': ['is starting or stopping', 'Wait, and look at its log.'],
};

const FIRST_VERSION = 150_000;

async function serverFindings(url: string): Promise<Before> {
  const { host } = new URL(url);
  const where = `PostgreSQL${host ? ` at ${host}` : ''}`;
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: PATIENCE_MS,
    query_timeout: PATIENCE_MS,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const asked = Date.now();
    const { rows } = await client.query(
      `select current_setting('server_version_num')::int as version, current_user as role,
         extract(epoch from clock_timestamp()) * 1000 as now, current_setting('fsync') as fsync,
         current_setting('full_page_writes') as pages, current_setting('max_connections')::int as connections,
         pg_is_in_recovery() as standby, current_schema() as schema,
         coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) as creates,
         (select string_agg(distinct tableowner, ', ') from pg_tables
          where schemaname = current_schema() and tablename = 'order_history' and not pg_has_role(tableowner, 'USAGE')) as owner`,
    );
    const answered = Date.now();
    const [server] = rows;
    const findings = clockFindings(where, Number(server.now), { asked, answered });
    if (server.version < FIRST_VERSION)
      findings.push(wrong(`${where} is version ${Math.floor(server.version / 10_000)}.`, 'Use 15 or newer.'));
    if (server.standby)
      findings.push(
        wrong(
          `${where} is a standby, and takes no writes.`,
          'Set DATABASE_URL to an address that follows the primary.',
        ),
      );
    if (!server.creates || server.owner)
      findings.push(
        wrong(
          server.owner
            ? `The tables in ${where} belong to ${server.owner}, and not to ${server.role}.`
            : `The role ${server.role} may not create tables in the schema ${server.schema ?? 'public'} of ${where}.`,
          'ALTER DATABASE fillpath OWNER TO fillpath; or, in it, GRANT CREATE ON SCHEMA public TO the role. docs/operations/install.md, "PostgreSQL", has the SQL.',
        ),
      );
    if (server.fsync !== 'on' || server.pages !== 'on')
      findings.push(
        wrong(
          `${where} runs with fsync or full_page_writes off: a power cut loses orders that were confirmed and traded.`,
          'Set both to on in postgresql.conf.',
        ),
      );
    if (server.connections < 40)
      findings.push(
        wrong(
          `${where} takes ${server.connections} connections.`,
          'Raise max_connections: 10 for each process, and some to spare.',
        ),
      );
    return { findings, isUsable: server.schema !== null };
  } catch (fault) {
    const refusal = fault instanceof DatabaseError ? REFUSALS[fault.code ?? ''] : undefined;
    const finding = refusal
      ? wrong(`${where} ${refusal[0]}.`, refusal[1])
      : wrong(
          `${where} cannot be reached: ${whyUnreachable(fault)}.`,
          'Start it, correct DATABASE_URL, or let the connection through (listen_addresses, pg_hba.conf, a firewall).',
        );
    return { findings: [finding], isUsable: false };
  } finally {
    await client.end().catch(() => {});
  }
}
