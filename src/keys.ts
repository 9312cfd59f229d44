// Keys that nobody configured, outside production: made once, kept in DATA_DIR/keys, readable by their owner alone.

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

export function keptKey(dataDir: string, name: string): string {
  const folder = join(dataDir, 'keys');
  const file = join(folder, name);
  try {
    return readFileSync(file, 'utf8');
  } catch (fault) {
    if (!hasCode(fault, 'ENOENT')) throw fault;
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Whole or not at all, whatever dies when: written aside, then linked, which never overwrites another start's key.
  const draft = `${file}.${process.pid}`;
  const handle = openSync(draft, 'w', 0o600);
  writeSync(handle, randomBytes(32).toString('base64url'));
  fsyncSync(handle);
  closeSync(handle);
  try {
    linkSync(draft, file);
  } catch (fault) {
    if (!hasCode(fault, 'EEXIST')) throw fault;
  }
  rmSync(draft);
  return readFileSync(file, 'utf8');
}

const hasCode = (fault: unknown, code: string): boolean => (fault as NodeJS.ErrnoException).code === code;
