// The keys that go with a backup: where each is while it is made, and which of those given open what is restored. A key is
// taken from the folder that was kept apart, or else from the environment; one from before a rotation where it is the one
// that fits.

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { isKept, keptKey, replaceKeptKey } from '../config/keys.ts';
import { privateJwks, Wrong } from '../config/values.ts';
import type { Db } from '../data/engine/db.ts';
import { sealedCredentials } from '../data/orders/restored.ts';
import { CannotStart } from '../domain/cannot-start.ts';
import { type PrivateJwk, sealedTo, sealingKey } from '../domain/identity/sealed.ts';
import { sealOpener } from '../worker/line/credentials.ts';

export interface KeyPlaces {
  /** The folder of DATA_DIR, where keys lie in it that count. */
  readonly folder: string | null;
  readonly in_folder: readonly string[];
  readonly in_environment: readonly string[];
}

/** A key of the environment counts, whatever lies in DATA_DIR. One that is in neither was not needed yet. */
export function placesOfKeys({ keys, data: { dir } }: Config): KeyPlaces {
  const set = { APP_KEY: keys.app, WORKER_KEY: keys.worker, JWT_SECRET: keys.jwt };
  const unset = Object.entries(set).flatMap(([name, value]) => (value === undefined ? [name] : []));
  const kept = unset.filter((name) => isKept(dir, name));
  return {
    folder: kept.length > 0 ? join(dir, 'keys') : null,
    in_folder: kept,
    in_environment: Object.keys(set).filter((name) => !unset.includes(name)),
  };
}

export interface GivenKey {
  readonly value: string;
  /** For a person. */
  readonly place: string;
}

export const OF_ENVIRONMENT = 'the one in the environment';

/** In the order in which they are tried. */
export function givenAppKeys({ keys: { app } }: Config, folder: string | null): GivenKey[] {
  if (folder !== null && !statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new CannotStart(`There is no folder ${folder}.`);
  const given = [
    ...(folder === null ? [] : [...keyIn(folder, 'APP_KEY'), ...olderIn(folder, 'APP_KEY')]),
    ...(app === undefined ? [] : [{ value: app, place: OF_ENVIRONMENT }]),
  ];
  if (given.length > 0) return given;
  throw new CannotStart(
    folder === null
      ? 'APP_KEY is not set: without it nobody can tell whether the audit log is whole. Set it, or name the folder of the keys with --keys.'
      : `There is no APP_KEY in ${folder}, and none in the environment. Set it as it was, or name with --keys the folder \`keys\` of the old DATA_DIR, if it was generated there.`,
  );
}

const readKey = (place: string): GivenKey => ({ value: readFileSync(place, 'utf8').trim(), place });

const keyIn = (folder: string, name: string): GivenKey[] =>
  existsSync(join(folder, name)) ? [readKey(join(folder, name))] : [];

/** What `keys rotate` left there. */
const olderIn = (folder: string, name: string): GivenKey[] =>
  readdirSync(folder)
    .filter((file) => file.startsWith(`${name}.`) && /\.[0-9a-f]{8}$/.test(file))
    .map((file) => readKey(join(folder, file)));

export interface WorkerKeys {
  /** The current one first; empty: none was given. */
  readonly keys: readonly PrivateJwk[];
  /** Those from before a rotation that are needed, and lie in the folder. */
  readonly older: readonly GivenKey[];
  /** Accounts whose credentials none of them opens. */
  readonly lost: number;
}

/** Refuses where credentials would be lost of which nobody said that they may be. */
export async function chooseWorkerKeys(
  db: Db,
  { keys: { worker } }: Config,
  { keys: folder, loseCredentials }: { keys: string | null; loseCredentials: boolean },
): Promise<WorkerKeys> {
  const kept = folder === null ? undefined : keyIn(folder, 'WORKER_KEY')[0];
  const current = kept ? jwksOf(kept) : (worker ?? []);
  const sealed = await sealedCredentials(db);
  const missing = await unopened(sealed, current);
  const older: GivenKey[] = [];
  // What is in the environment is not ours to add to.
  if (folder !== null && (kept || !worker))
    for (const key of olderIn(folder, 'WORKER_KEY'))
      if ((await unopened(missing, jwksOf(key))).length < missing.length) older.push(key);
  const keys = distinct([...current, ...older.flatMap(jwksOf)]);
  const lost = (await unopened(missing, keys)).length;
  if (lost > 0 && !loseCredentials)
    throw new Error(
      `${accountsHave(lost)} broker credentials that no WORKER_KEY given here can open. ` +
        'Name with --keys the folder `keys` of the old DATA_DIR, in which it was generated, or set WORKER_KEY as it was; several are {"keys": […]}. ' +
        'Only if it is lost: --lose-credentials, and their owners must send them again.',
    );
  return { keys, older, lost };
}

/** By the key that it names; one that names none is tried. */
async function unopened(sealed: readonly string[], keys: readonly PrivateJwk[]): Promise<string[]> {
  const known = new Set(keys.map((key) => sealingKey(key).kid));
  const open = sealOpener(keys);
  const isOpened = await Promise.all(
    sealed.map((each) => {
      const kid = sealedTo(each);
      if (kid !== null) return known.has(kid);
      return open(each).then(
        () => true,
        () => false,
      );
    }),
  );
  return sealed.filter((_, n) => !isOpened[n]);
}

const accountsHave = (count: number): string => (count === 1 ? '1 account has' : `${count} accounts have`);

function jwksOf({ value, place }: GivenKey): readonly PrivateJwk[] {
  const keys = privateJwks(value);
  if (keys instanceof Wrong)
    throw new CannotStart(`${place} ${keys.faults.map(({ right }) => right).join(', ')}.`);
  return keys;
}

const distinct = (keys: readonly PrivateJwk[]): PrivateJwk[] => [
  ...new Map(keys.map((key) => [sealingKey(key).kid, key])).values(),
];

interface Taken {
  readonly app: GivenKey;
  readonly worker: WorkerKeys;
}

/** So that a start in that folder finds those that were taken; all others lie beside them. */
export function layKeys(from: string, into: string, { app, worker }: Taken): void {
  const folder = join(into, 'keys');
  mkdirSync(folder, { mode: 0o700 });
  for (const { name } of readdirSync(from, { withFileTypes: true }).filter((entry) => entry.isFile()))
    writeFileSync(join(folder, name), readFileSync(join(from, name)), { mode: 0o600 });
  if (app.place !== OF_ENVIRONMENT) putKey(into, 'APP_KEY', app.value);
  if (worker.older.length > 0) putKey(into, 'WORKER_KEY', JSON.stringify({ keys: worker.keys }));
}

function putKey(into: string, name: string, value: string): void {
  if (keptKey(into, name, () => value).trim() !== value) replaceKeptKey(into, name, value);
}

/** Which keys from before a rotation were taken. */
export function notesOn({ app, worker: { older } }: Taken, folder: string | null): string[] {
  const isOlder = folder !== null && app.place !== OF_ENVIRONMENT && app.place !== join(folder, 'APP_KEY');
  return [
    ...(isOlder ? [`APP_KEY is the one from ${app.place}, with which this backup was made.`] : []),
    ...(older.length > 0
      ? [`WORKER_KEY also contains the key from ${older.map(({ place }) => place).join(', ')}.`]
      : []),
  ];
}

/** What somebody has to know, or to do, before the start. */
export function warningsOn({ app, worker }: Taken, { keys }: Config): string[] {
  const another = (name: string) =>
    `${name} in the environment differs from the one in --keys, and would be used at the start: take it out of the environment.`;
  const kids = (jwks: readonly PrivateJwk[]) => jwks.map((key) => sealingKey(key).kid).join();
  const isOtherWorker = keys.worker && worker.keys.length > 0 && kids(keys.worker) !== kids(worker.keys);
  return [
    ...(keys.app !== undefined && keys.app !== app.value ? [another('APP_KEY')] : []),
    ...(isOtherWorker ? [another('WORKER_KEY')] : []),
    ...(worker.lost > 0
      ? [
          `${accountsHave(worker.lost)} broker credentials that nothing can open any more: their owners must send them again.`,
        ]
      : worker.keys.length === 0
        ? [
            'No WORKER_KEY was given. Nothing in the backup is sealed to one, so the one that the next start makes will do.',
          ]
        : []),
  ];
}
