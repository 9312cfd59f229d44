// Whether the embedded database can be believed, found out without changing anything of it.
//
// After a clean end there is nothing beside the file, and its header tells whether it is whole: that takes no time. What
// lies beside it otherwise is the write-ahead log of a process that was killed; SQLite replays it whatever file it finds
// there. Over a backup that somebody has put into the folder that makes a mixture of two databases. So then all of it
// is read.

import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { ChainHead } from '../domain/audit-chain.ts';

const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';

/**
 * null: nothing is wrong that can be seen. `thorough`: indexes are compared with what they point at, whatever the end was;
 * that takes eight times as long (a killed process wants to trade again, and a mixture is found without it).
 * `remembered`: the last seal of the audit log that this folder knows of.
 */
export function damageOf(
  file: string,
  { thorough = false, remembered = null }: { thorough?: boolean; remembered?: ChainHead | null } = {},
): string | null {
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
      return wasKilled && remembered ? forgotten(db, remembered) : null;
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

/** The sealer keeps a head after it is durable: whatever dies when, the database has it. */
function forgotten(db: DatabaseSync, { entries, hash }: ChainHead): string | null {
  const hasSeals = db.prepare("select 1 from sqlite_schema where name = 'audit_seals'").get();
  const head = hasSeals && db.prepare("select entries from audit_chain where name = 'audit_seals'").get();
  if (Number(head?.entries ?? 0) < entries)
    return `the audit log ends at entry ${head?.entries ?? 0}, and this folder remembers entry ${entries}`;
  const seal = db.prepare('select hash from audit_seals where position = ?').get(entries);
  // Pruned, where it is missing.
  if (seal && seal.hash !== hash)
    return `entry ${entries} of the audit log is not the one that this folder remembers`;
  return null;
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
