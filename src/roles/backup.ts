// A backup of the embedded data while the service runs, and its restoration elsewhere. A backup is one file: the database,
// without the keys that open what is sealed in it, and the proof that it is as it was made. Either is read whole before it is
// called good.

import {
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { auditKeyOf, type ChainReport, verifyAuditLog } from '../app/audit/chain.ts';
import { argon2id } from '../app/identity/passwords.ts';
import { isAppKeyOf } from '../app/operation/app-key.ts';
import { type Settled, settleRestored } from '../app/operation/settle-restored.ts';
import type { Config } from '../config/config.ts';
import { keptHead } from '../data/audit/kept-head.ts';
import type { Db } from '../data/engine/db.ts';
import { foreignIn } from '../data/engine/foreign.ts';
import { isFresh, migrate } from '../data/engine/migrate.ts';
import { openSqlite } from '../data/engine/sqlite.ts';
import { damageOf } from '../data/engine/sqlite-check.ts';
import { copySqlite, finishSqlite, toDisk } from '../data/engine/sqlite-copy.ts';
import { adminEmails } from '../data/identity/users.ts';
import { backupMadeAt, type Counts, countRecords, markBackup } from '../data/orders/restored.ts';
import { type ChainHead, headText } from '../domain/audit-chain.ts';
import { CannotStart } from '../domain/cannot-start.ts';
import { type Timestamp, timestamp } from '../domain/ids.ts';
import type { Order } from '../domain/orders/order.ts';
import { appKeyOf, HALF_RESTORED, hasAppKey } from './adapters.ts';
import { addProof, copyProven, otherKey, unproven } from './backup-proof.ts';
import {
  chooseWorkerKeys,
  type GivenKey,
  givenAppKeys,
  type KeyPlaces,
  layKeys,
  notesOn,
  OF_ENVIRONMENT,
  placesOfKeys,
  warningsOn,
} from './restore-keys.ts';

export interface BackupReport {
  readonly file: string;
  readonly bytes: number;
  readonly made_at: Timestamp;
  readonly counts: Counts;
  /** Of the audit log. */
  readonly head: string;
  /** Where the keys are, which are not in the backup. */
  readonly keys: KeyPlaces;
}

export async function makeBackup(config: Config, to: string): Promise<BackupReport> {
  const { dir, databaseUrl } = config.data;
  if (databaseUrl)
    throw new CannotStart(
      'The data is in PostgreSQL, which its own tools back up: pg_dump for a copy, pg_basebackup and an archive of the WAL for any moment in time. docs/operations/backup.md, "PostgreSQL", says how.',
    );
  const source = join(dir, 'fillpath.sqlite');
  if (!existsSync(source))
    throw new CannotStart(`There is no database in ${dir}. Set DATA_DIR to where it is.`);
  if (!hasAppKey(config))
    throw new CannotStart(
      `APP_KEY is not set, and there is none in ${dir}: without it nobody can tell whether the audit log is whole.`,
    );
  const now = Date.now();
  const file = isFolder(to) ? join(to, `fillpath-${timestamp(now).replace(/[-:]|\.\d+/g, '')}.sqlite`) : to;
  if (existsSync(file))
    throw new CannotStart(`${file} already exists. A backup overwrites nothing: name another file.`);
  // Before the copy: whatever was sealed by then must be in it.
  const head = await keptHead(dir, undefined).recall();
  const draft = `${file}.${process.pid}`;
  const appKey = ownAppKey(config);
  try {
    await copySqlite(source, draft);
    const { counts, chain } = await examined(
      draft,
      { named: source, appKeys: [appKey], heads: head ? [head] : [], isOwn: true },
      async (db) => {
        await db.commit([markBackup(timestamp(now))]);
      },
    );
    finishSqlite(draft);
    addProof(draft, appKey);
    putInPlace(draft, file);
    return {
      file,
      bytes: statSync(file).size,
      made_at: timestamp(now),
      counts,
      head: headText(chain.head),
      keys: placesOfKeys(config),
    };
  } finally {
    removeDatabase(draft);
  }
}

const ownAppKey = (config: Config): GivenKey => ({
  value: appKeyOf(config).toString('base64url'),
  place: config.keys.app === undefined ? join(config.data.dir, 'keys', 'APP_KEY') : OF_ENVIRONMENT,
});

/** Not by renaming, which would overwrite. Where the disk knows no second names (FAT, some shares) it is copied. */
function putInPlace(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'EEXIST') throw fault;
    copyFileSync(draft, file, constants.COPYFILE_EXCL);
  }
  toDisk(file);
}

export interface RestoreReport {
  readonly folder: string;
  readonly backed_up_at: Timestamp;
  readonly counts: Counts;
  readonly settled: Settled;
  readonly halted: boolean;
  readonly head: string;
  /** Whether APP_KEY lies in it. */
  readonly has_keys: boolean;
  /** Which keys from before a rotation were taken. */
  readonly notes: readonly string[];
  readonly warnings: readonly string[];
}

interface RestoreOptions {
  readonly file: string;
  readonly into: string;
  /** The folder of the keys, kept apart; what is not in it, and null, is in the environment. */
  readonly keys: string | null;
  readonly halt: boolean;
  /** Although no key given opens them. */
  readonly loseCredentials?: boolean;
  /** Although it carries no proof. One that does not fit is refused all the same. */
  readonly unsigned?: boolean;
}

export async function restoreBackup(
  config: Config,
  { file, into, keys, halt, loseCredentials = false, unsigned = false }: RestoreOptions,
): Promise<RestoreReport> {
  if (!existsSync(file)) throw new CannotStart(`There is no file ${file}.`);
  if (existsSync(`${file}-wal`) && statSync(`${file}-wal`).size > 0)
    throw new CannotStart(
      `${file} is not a backup: a write-ahead log lies beside it. Make one with \`npx fillpath backup\`.`,
    );
  const wasThere = existsSync(into);
  if (wasThere && (!isFolder(into) || readdirSync(into).length > 0))
    throw new CannotStart(
      `${into} is not empty. A backup is restored into an empty folder only: name another one.`,
    );
  const appKeys = givenAppKeys(config, keys);
  const damage = damageOf(file);
  if (damage) throw new CannotStart(`${file} is damaged: ${damage}. Take another backup.`);
  mkdirSync(into, { recursive: true, mode: 0o700 });
  // Under another name until it is safe to start on: whoever is killed here leaves no database.
  const draft = join(into, HALF_RESTORED);
  try {
    const prover = copyProven(file, draft, appKeys);
    if (!prover && !unsigned) throw new CannotStart(unproven(file));
    const { appKey, counts, chain, result } = await examined(
      draft,
      { named: file, appKeys: prover ? [prover] : appKeys, heads: [], isOwn: prover !== null },
      async (db) => {
        const worker = await chooseWorkerKeys(db, config, { keys, loseCredentials });
        const madeAt = (await backupMadeAt(db)) ?? timestamp(statSync(file).mtimeMs);
        const settled = await settleRestored(
          { db, clock: { now: () => Date.now() }, hasher: argon2id },
          { madeAt, halt, hasLedger: hasOwnLedger(config) },
        );
        return { madeAt, settled, worker, admins: await adminEmails(db) };
      },
    );
    finishSqlite(draft);
    const { madeAt, settled, worker, admins } = result;
    const taken = { app: appKey, worker };
    if (keys !== null) layKeys(keys, into, taken);
    await keptHead(into, undefined).keep(chain.head);
    const database = join(into, 'fillpath.sqlite');
    renameSync(draft, database);
    toDisk(database);
    return {
      ...{ folder: into, backed_up_at: madeAt, counts, settled, halted: halt, head: headText(chain.head) },
      has_keys: appKey.place !== OF_ENVIRONMENT,
      notes: notesOn(taken, keys),
      warnings: [...(prover ? [] : notProven(file, admins)), ...warningsOn(taken, config)],
    };
  } catch (fault) {
    for (const name of readdirSync(into)) rmSync(join(into, name), { recursive: true });
    if (!wasThere) rmSync(into, { recursive: true });
    throw fault;
  }
}

/** Simulated orders, and paper ones without an exchange of their own, are traded in the database itself. */
const hasOwnLedger =
  ({ brokers }: Config) =>
  ({ simulation, brokerName }: Order): boolean =>
    simulation || (brokerName === 'paper' && brokers.urls.paper === undefined);

/** For whoever restores one without a proof: what to look at, since nobody else can. */
const notProven = (file: string, admins: readonly string[]): string[] => [
  `NOT PROVEN: ${file} carries no proof (--unsigned). Nobody can tell whether a user, an administrator, an allowed address, an account or a setting was put into it or changed since it was made. Proven is only that its audit log was sealed under this APP_KEY, and that it has no trigger, view or table that is not ours.`,
  `Administrators in it: ${admins.join(', ') || 'none'}. Start it only if you know each of them.`,
];

interface Origin {
  /** What it is called in what is said about it. */
  readonly named: string;
  readonly appKeys: readonly GivenKey[];
  readonly heads: readonly ChainHead[];
  /** Our own database, or proven to be a copy of it. */
  readonly isOwn: boolean;
}

/** The database of the file is sound, has nothing in it that acts by itself, is ours by one of the keys, and its audit log whole; then it is changed. */
async function examined<Result>(
  file: string,
  { named, appKeys, heads, isOwn }: Origin,
  change: (db: Db) => Promise<Result>,
): Promise<{ appKey: GivenKey; counts: Counts; chain: ChainReport; result: Result }> {
  const damage = damageOf(file, { thorough: true });
  if (damage) throw new CannotStart(`${named} is damaged: ${damage}. Take another backup.`);
  await refuseForeign(file, named, isOwn);
  const db = openSqlite({ file });
  try {
    if (await isFresh(db)) throw new CannotStart('It does not hold a Fillpath database.');
    await migrate(db, Date.now(), { program: packageJson.version });
    const appKey = await keyOf(db, appKeys, named);
    const chain = await verifyAuditLog({ db, auditKey: auditKeyOf(bytesOf(appKey)) }, heads);
    if (chain.problems.length > 0)
      throw new CannotStart(`The audit log in it is not whole: ${chain.problems.join('; ')}.`);
    const counts = await countRecords(db);
    return { appKey, counts, chain, result: await change(db) };
  } finally {
    await db.close();
  }
}

/** Before anything is written: a trigger would act on the first word. */
async function refuseForeign(file: string, named: string, trusted: boolean): Promise<void> {
  const db = openSqlite({ file, readOnly: true });
  try {
    const foreign = await foreignIn(db, { trusted });
    if (foreign.length > 0)
      throw new CannotStart(
        `${named} has in it what was not made by Fillpath: ${foreign.join(', ')}. It could act on what is written or read, so it is neither backed up nor restored. If you made them, remove them from the database (drop trigger, view, table) and make another backup; if not, somebody else had the database.`,
      );
  } finally {
    await db.close();
  }
}

const bytesOf = ({ value }: GivenKey): Buffer => Buffer.from(value, 'base64url');

async function keyOf(db: Db, given: readonly GivenKey[], named: string): Promise<GivenKey> {
  for (const key of given) if (await isAppKeyOf(db, bytesOf(key))) return key;
  throw new CannotStart(otherKey(named, given));
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

const removeDatabase = (file: string) => {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(file + suffix, { force: true });
};
