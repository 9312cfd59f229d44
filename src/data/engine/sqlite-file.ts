// A connection to SQLite's file, and the statements that are prepared on it.

import { DatabaseSync, type StatementSync } from 'node:sqlite';

/**
 * Only a backup, a command of ours or a curious shell can hold the file: lockDataDir keeps other servers out. The wait blocks
 * its thread whole, which in a service is the one that writes: a disk that is slow for a moment refuses nobody.
 */
const BUSY_MS = 3_000;
/** Texts put together by `join` are few; lists of changing length could make them many. */
const MOST_TEXTS = 500;

export interface SqliteFile {
  readonly db: DatabaseSync;
  /** What it finds is a list of values. */
  prepared(text: string): StatementSync;
  /** From the log into the file, so far as nobody reads what was there before. One that fails is made up for by the next: the log is as safe. */
  carryOver(): void;
}

/** Pages of the log, 160 MB: by then whoever carries it over elsewhere is stuck. */
const MOST_PAGES = 40_000;

/** `carriesOver`: a commit of its own carries the log over into the file now and then, which takes as long as many commits. */
export function openFile(file: string, { readOnly = false, carriesOver = true } = {}): SqliteFile {
  const db = new DatabaseSync(file, { timeout: BUSY_MS, enableForeignKeyConstraints: true, readOnly });
  if (!readOnly) db.exec('pragma journal_mode = wal; pragma synchronous = full');
  if (!carriesOver) db.exec(`pragma wal_autocheckpoint = ${MOST_PAGES}`);
  db.exec('pragma cache_size = -32768');
  // Savepoints keep what they may have to undo in memory and not in a file: a third faster in large groups.
  db.exec('pragma temp_store = memory');
  const known = new Map<string, StatementSync>();
  return {
    db,
    carryOver() {
      try {
        db.exec('pragma wal_checkpoint(passive)');
      } catch {}
    },
    prepared(text) {
      let statement = known.get(text);
      if (!statement) {
        statement = db.prepare(text);
        statement.setReturnArrays(true);
        const [oldest] = known.keys();
        if (known.size === MOST_TEXTS && oldest !== undefined) known.delete(oldest);
        known.set(text, statement);
      }
      return statement;
    },
  };
}
