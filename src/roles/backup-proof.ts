// What a backup proves itself by: one line behind the database, which SQLite does not read, with a MAC over every byte before
// it. Its key is derived from APP_KEY for this alone, so that nothing else that is made with APP_KEY can stand in for it.
//
//   Fillpath backup 1, key <which APP_KEY it was>, HMAC-SHA256 <of all before this word's value>

import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { CannotStart } from '../domain/cannot-start.ts';
import type { GivenKey } from './restore-keys.ts';

const LINE = /^\nFillpath backup 1, key ([0-9a-f]{16}), HMAC-SHA256 ([0-9a-f]{64})\n$/;
const MAC_CHARACTERS = 64;
const lineBefore = (mark: string): string => `\nFillpath backup 1, key ${mark}, HMAC-SHA256 `;

/** The whole line. */
export const PROOF_BYTES = lineBefore('0'.repeat(16)).length + MAC_CHARACTERS + 1;

const AT_ONCE = 2 ** 20;

const derived = ({ value }: Pick<GivenKey, 'value'>, label: string, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', Buffer.from(value, 'base64url'), '', label, bytes));

const macKeyOf = (key: Pick<GivenKey, 'value'>): Buffer => derived(key, 'fillpath backup mac', 32);
/** Tells a wrong key from a changed file, and nothing about the key. */
const markOf = (key: Pick<GivenKey, 'value'>): string =>
  derived(key, 'fillpath backup key mark', 8).toString('hex');

/** Of a file that nobody writes to any more. */
export function addProof(file: string, key: Pick<GivenKey, 'value'>): void {
  const handle = openSync(file, 'r+');
  try {
    const { size } = fstatSync(handle);
    const mac = createHmac('sha256', macKeyOf(key));
    for (const bytes of bytesOf(handle, size)) mac.update(bytes);
    const before = lineBefore(markOf(key));
    writeSync(handle, `${before}${mac.update(before).digest('hex')}\n`, size);
  } finally {
    closeSync(handle);
  }
}

/**
 * Copies the database that is in the file, and says which of the keys proves it; null: it carries no proof, and is copied as
 * it is. What was proven is what was copied, whatever becomes of the file meanwhile. `to` must not exist.
 */
export function copyProven(file: string, to: string, keys: readonly GivenKey[]): GivenKey | null {
  const from = openSync(file, 'r');
  try {
    const { size } = fstatSync(from);
    const line = lineAt(from, size);
    const [, mark, claimed = ''] = line ?? [];
    const key = keys.find((each) => markOf(each) === mark) ?? null;
    if (line && !key) throw new CannotStart(otherKey(file, keys));
    const mac = key && createHmac('sha256', macKeyOf(key));
    const into = openSync(to, 'wx', 0o600);
    try {
      for (const bytes of bytesOf(from, line ? size - PROOF_BYTES : size)) {
        mac?.update(bytes);
        writeSync(into, bytes);
      }
    } finally {
      closeSync(into);
    }
    if (!key || !mac) return null;
    const made = mac.update(lineBefore(markOf(key))).digest();
    if (!timingSafeEqual(made, Buffer.from(claimed, 'hex'))) throw new CannotStart(changed(file));
    return key;
  } finally {
    closeSync(from);
  }
}

function lineAt(handle: number, size: number): RegExpExecArray | null {
  if (size < PROOF_BYTES) return null;
  const bytes = Buffer.alloc(PROOF_BYTES);
  readSync(handle, bytes, 0, PROOF_BYTES, size - PROOF_BYTES);
  return LINE.exec(bytes.toString('latin1'));
}

function* bytesOf(handle: number, size: number): Generator<Buffer> {
  const buffer = Buffer.alloc(AT_ONCE);
  for (let place = 0; place < size; ) {
    const read = readSync(handle, buffer, 0, Math.min(AT_ONCE, size - place), place);
    if (read === 0) throw new CannotStart('The file became shorter while it was read.');
    place += read;
    yield buffer.subarray(0, read);
  }
}

export const otherKey = (file: string, tried: readonly GivenKey[]): string =>
  `APP_KEY is not the one that ${file} was made with. Take the one that was kept with it. Tried: ${tried.map(({ place }) => place).join(', ')}.`;

const changed = (file: string): string =>
  `${file} was changed since it was made: its proof does not fit, so nothing of it was restored. Take another backup, and keep this one, to find out who changed it.`;

export const unproven = (file: string): string =>
  `${file} carries no proof of what it was when it was made. Either it is from a release before backups had one: then give --unsigned, if you know where it has been since. Or its end was cut off or changed: then take another backup.`;
