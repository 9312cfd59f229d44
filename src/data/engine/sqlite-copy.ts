// A copy of an embedded database in one file, readable by its owner alone.

import { closeSync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';

/** All pages in one step: it reads one state of the database, and whoever writes meanwhile neither waits nor makes it begin anew. */
const ALL_PAGES = 2 ** 31 - 1;

/** Beside a running service too. `to` must not exist. */
export async function copySqlite(from: string, to: string): Promise<void> {
  closeSync(openSync(to, 'wx', 0o600));
  const source = new DatabaseSync(from, { readOnly: true });
  try {
    await backup(source, to, { rate: ALL_PAGES });
  } finally {
    source.close();
  }
}

/** Nothing beside the file belongs to it any more, and it is on the disk. */
export function finishSqlite(file: string): void {
  const db = new DatabaseSync(file);
  try {
    db.exec('pragma journal_mode = delete');
  } finally {
    db.close();
  }
  toDisk(file);
}

/** It and its name outlive a power cut. */
export function toDisk(file: string): void {
  for (const path of [file, dirname(file)]) {
    const handle = openSync(path, 'r');
    fsyncSync(handle);
    closeSync(handle);
  }
}
