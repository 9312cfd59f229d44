// Whether the embedded database can be believed, found out without changing anything of it.
//
// After a clean end there is nothing beside the file, and its header tells whether it is whole: that takes no time. What
// lies beside it otherwise is the write-ahead log of a process that was killed; SQLite replays it whatever file it finds
// there. Over a backup that somebody has put into the folder that makes a mixture of two databases. So then all of it
// is read.

import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';

/**
 * null: nothing is wrong that can be seen. `thorough`: indexes are compared with what they point at, whatever the end was;
 * that takes eight times as long (a killed process wants to trade again, and a mixture is found without it).
 */
export function damageOf(file: string, { thorough = false } = {}): string | null {
  const wasKilled = sizeOf(`${file}-wal`) > 0;
  const damage = damagedHeader(file, !wasKilled);
  if (damage || sizeOf(file) === 0 || !(wasKilled || thorough)) return damage;
  try {
    // Read-only: on closing, another connection would write the log into the file.
    const db = new DatabaseSync(file, { readOnly: true });
    try {
      const check = thorough ? 'integrity_check' : 'quick_check';
      const finding = db.prepare(`pragma ${check}(1)`).get()?.[check];
      if (finding !== 'ok') return String(finding).replace(/\s+/g, ' ');
      return null;
    } finally {
      db.close();
    }
  } catch (fault) {
    return (fault as Error).message;
  }
}

function damagedHeader(file: string, isAlone: boolean): string | null {
  if (sizeOf(file) === 0) return null;
  const header = Buffer.alloc(HEADER_BYTES);
  const handle = openSync(file, 'r');
  let size: number;
  try {
    readSync(handle, header, 0, HEADER_BYTES, 0);
    size = fstatSync(handle).size;
  } finally {
    closeSync(handle);
  }
  if (header.toString('latin1', 0, MAGIC.length) !== MAGIC) return 'file is not a database';
  // 1 stands for 65,536, which has no room in two bytes.
  const pageBytes = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  const pages = header.readUInt32BE(28);
  if (isAlone && size < pages * pageBytes) return `it has ${size} bytes of ${pages * pageBytes}`;
  return null;
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
