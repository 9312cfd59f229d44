// Keys that nobody configured, outside production: made once, kept in DATA_DIR/keys, readable by their owner alone.

import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { type PrivateJwk, type SealingKey, sealingKey } from '../domain/identity/sealed.ts';
import type { Config } from './config.ts';
import { privateJwks, Wrong } from './values.ts';

export const randomKey = (): string => randomBytes(32).toString('base64url');

export const isKept = (dataDir: string, name: string): boolean => existsSync(join(dataDir, 'keys', name));

export function keptKey(dataDir: string, name: string, make = randomKey): string {
  const folder = join(dataDir, 'keys');
  const file = join(folder, name);
  try {
    return readFileSync(file, 'utf8');
  } catch (fault) {
    if (!hasCode(fault, 'ENOENT')) throw fault;
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Whole or not at all, whatever dies when: written aside, then linked, which never overwrites another start's key.
  const draft = writeAside(file, make());
  try {
    linkSync(draft, file);
  } catch (fault) {
    if (!hasCode(fault, 'EEXIST')) throw fault;
  }
  rmSync(draft);
  keepNames(folder);
  return readFileSync(file, 'utf8');
}

function writeAside(file: string, value: string): string {
  const draft = `${file}.${process.pid}`;
  const handle = openSync(draft, 'w', 0o600);
  writeSync(handle, value);
  fsyncSync(handle);
  closeSync(handle);
  return draft;
}

/** A file is on the disk with its name only: what is sealed under a key must not outlive it. */
function keepNames(folder: string): void {
  // There it needs no asking.
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

/** Without making it. */
export function readKeptKey(dataDir: string, name: string): string | null {
  try {
    return readFileSync(join(dataDir, 'keys', name), 'utf8');
  } catch (fault) {
    if (hasCode(fault, 'ENOENT')) return null;
    throw fault;
  }
}

/** At once, whatever dies when. Returns where what was there is kept, if it is to be: backups from before need it. */
export function replaceKeptKey(dataDir: string, name: string, value: string, { keep = true } = {}): string {
  const folder = join(dataDir, 'keys');
  const file = join(folder, name);
  const before = readFileSync(file, 'utf8');
  const kept = `${file}.${createHash('sha256').update(before).digest('hex').slice(0, 8)}`;
  if (keep && before !== value && !existsSync(kept)) linkSync(file, kept);
  renameSync(writeAside(file, value), file);
  keepNames(folder);
  return kept;
}

export function forgetKeptKey(dataDir: string, name: string): void {
  rmSync(join(dataDir, 'keys', name), { force: true });
}

type Keyed = Pick<Config, 'role' | 'keys' | 'data'>;

/** What opens broker credentials: for workers alone. Whatever lies in DATA_DIR, an API process has none of these. */
export function openingKeys({ role, keys, data }: Keyed): readonly PrivateJwk[] {
  return keys.worker ?? (role === 'all' ? keptWorkerKeys(data.dir) : []);
}

/** What seals them, for everybody. */
export function sealingKeyOf(config: Keyed): SealingKey {
  const current = config.keys.workerPublic ?? openingKeys(config)[0];
  // The configuration demands it wherever an API runs.
  if (!current) throw new Error(`ROLE=${config.role} has neither WORKER_KEY nor WORKER_PUBLIC_KEY`);
  return sealingKey(current);
}

/** In the form of WORKER_KEY, so that it can be rotated in place, or moved into the environment. */
function keptWorkerKeys(dataDir: string): readonly [PrivateJwk, ...PrivateJwk[]] {
  const keys = privateJwks(keptKey(dataDir, 'WORKER_KEY', workerKey));
  if (keys instanceof Wrong)
    throw new Error(
      `The file keys/WORKER_KEY in DATA_DIR ${keys.faults.map(({ right }) => right).join(', ')}`,
    );
  return keys;
}

export const workerKey = (): string =>
  JSON.stringify(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }));

const hasCode = (fault: unknown, code: string): boolean => (fault as NodeJS.ErrnoException).code === code;
