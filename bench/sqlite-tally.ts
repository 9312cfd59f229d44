// Loaded before a program whose statements are to be counted: TALLY_DIR=folder NODE_OPTIONS='--import ./bench/sqlite-tally.ts' node program.ts
// Every thread tells in a file of its own in that folder, a few times a second, what it has asked of SQLite so far.

import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StatementSync } from 'node:sqlite';
import { threadId } from 'node:worker_threads';

const TOLD_EVERY_MS = 100;

/** By a statement's text: how often, and the rows that were changed, or returned by one that changes. */
export type Tally = Record<string, { times: number; rows: number }>;

const tally: Tally = {};
let hasChanged = false;

function count(text: string, rows: number): void {
  tally[text] ??= { times: 0, rows: 0 };
  const entry = tally[text];
  entry.times++;
  entry.rows += rows;
  hasChanged = true;
}

const { run, get, all } = StatementSync.prototype;
Object.assign(StatementSync.prototype, {
  run(this: StatementSync, ...values: Parameters<typeof run>) {
    const result = run.apply(this, values);
    count(this.sourceSQL, Number(result.changes));
    return result;
  },
  get(this: StatementSync, ...values: Parameters<typeof get>) {
    const row = get.apply(this, values);
    count(this.sourceSQL, row ? 1 : 0);
    return row;
  },
  all(this: StatementSync, ...values: Parameters<typeof all>) {
    const rows = all.apply(this, values);
    count(this.sourceSQL, rows.length);
    return rows;
  },
});

const file = join(process.env.TALLY_DIR ?? '.', `${threadId}.json`);
setInterval(() => {
  if (!hasChanged) return;
  hasChanged = false;
  // Whole, whenever somebody reads it.
  writeFileSync(`${file}.new`, JSON.stringify(tally));
  renameSync(`${file}.new`, file);
}, TOLD_EVERY_MS).unref();
