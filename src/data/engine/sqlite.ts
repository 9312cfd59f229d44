// SQLite, in one file and in this process. Everything here is synchronous: a group runs from BEGIN to COMMIT without
// a break, so no read ever sees a half-written unit, and the wait is that for the disk alone.

import { chmodSync, closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { CannotStart } from '../../domain/cannot-start.ts';
import { type Counters, UNCOUNTED } from '../../domain/counters.ts';
import { type Db, NotCommitted, type Reads, type SqlValue, type Statement } from './db.ts';
import { groupCommit, holds, type Outcome, type Unit, type Waiting, withoutNul } from './group-commit.ts';

const MOST_UNITS = 256;
/** Of a unit. */
const DONE: Outcome = { guard: null };
/** Only a backup or a curious shell can hold the file: lockDataDir keeps other servers out. The wait blocks us whole. */
const BUSY_MS = 1_000;
/** Texts put together by `join` are few; lists of changing length could make them many. */
const MOST_TEXTS = 500;

/** `readOnly`: for who only looks. What a killed process left beside the file stays there. */
export function openSqlite({
  file,
  readOnly = false,
  counters = UNCOUNTED,
}: {
  file: string;
  readOnly?: boolean;
  counters?: Counters;
}): Db {
  // Created by us, because SQLite would let everybody on the machine read it. WAL files take over the mode.
  if (file !== ':memory:' && !readOnly) closeSync(openSync(file, 'a', 0o600));
  const db = new DatabaseSync(file, { timeout: BUSY_MS, enableForeignKeyConstraints: true, readOnly });
  if (!readOnly) db.exec('pragma journal_mode = wal; pragma synchronous = full');
  db.exec('pragma cache_size = -32768');
  // Savepoints keep what they may have to undo in memory and not in a file: a third faster in large groups.
  db.exec('pragma temp_store = memory');

  const byParts = new WeakMap<readonly string[], StatementSync>();
  const byText = new Map<string, StatementSync>();

  function prepared({ parts }: Statement): StatementSync {
    const known = byParts.get(parts);
    if (known) return known;
    const text = parts.join('?');
    let statement = byText.get(text);
    if (!statement) {
      statement = db.prepare(text);
      const [oldest] = byText.keys();
      if (byText.size === MOST_TEXTS && oldest !== undefined) byText.delete(oldest);
      byText.set(text, statement);
    }
    byParts.set(parts, statement);
    return statement;
  }

  const begin = db.prepare('begin immediate');
  const commit = db.prepare('commit');
  const savepoint = db.prepare('savepoint unit');
  const rollback = db.prepare('rollback');
  const undo = db.prepare('rollback to unit');
  const release = db.prepare('release unit');

  /** Whether it changed, or found, a row. What is found is held anyhow: there is one writer. */
  function touch(statement: Statement): boolean {
    const values = statement.values.map(encode);
    if (holds(statement)) return prepared(statement).get(...values) !== undefined;
    return prepared(statement).run(...values).changes > 0;
  }

  /** What it wrote before it failed is still there. */
  function attempt(unit: Unit): Outcome {
    for (const statement of unit) {
      const { guard } = statement;
      try {
        if (!touch(statement) && guard !== undefined) return { guard };
      } catch (error) {
        // A full disk, for one, makes SQLite roll back the whole transaction: the neighbours are lost as well.
        if (!db.isTransaction) throw error;
        return guard !== undefined && isDuplicate(error) ? { guard } : { fault: fault(error) };
      }
    }
    return DONE;
  }

  /** One that fails leaves nothing. */
  function attemptAlone(unit: Unit): Outcome {
    savepoint.run();
    const outcome = attempt(unit);
    if (outcome !== DONE) undo.run();
    release.run();
    return outcome;
  }

  /** null: one of them failed, and nothing is written. */
  function attemptTogether(group: readonly Waiting[]): readonly Outcome[] | null {
    for (const { unit } of group)
      if (attempt(unit) !== DONE) {
        rollback.run();
        return null;
      }
    return group.map(() => DONE);
  }

  /** Most groups hold none that fails: only where one did, each is kept apart from its neighbours. */
  function runGroup(group: readonly Waiting[]): void {
    let outcomes: readonly Outcome[] | null;
    try {
      begin.run();
      outcomes = attemptTogether(group);
      if (!outcomes) {
        begin.run();
        outcomes = group.map(({ unit }) => attemptAlone(unit));
      }
      commit.run();
    } catch (error) {
      if (db.isTransaction) rollback.run();
      throw fault(error);
    }
    for (const [index, outcome] of outcomes.entries()) group[index]?.settle(outcome);
  }

  const groups = groupCommit({ most: MOST_UNITS, lanes: 1, run: runGroup, counters });

  const reads: Reads = {
    async all<Row>(query: Statement): Promise<Row[]> {
      try {
        const rows = prepared(query).all(...query.values.map(encode));
        // node:sqlite gives objects without a prototype
        return rows.map((row) => ({ ...row })) as Row[];
      } catch (error) {
        throw fault(error);
      }
    },
    async get<Row>(query: Statement): Promise<Row | undefined> {
      try {
        const row = prepared(query).get(...query.values.map(encode));
        return row && ({ ...row } as Row);
      } catch (error) {
        throw fault(error);
      }
    },
  };

  async function script(text: string): Promise<void> {
    try {
      db.exec(text);
    } catch (error) {
      if (db.isTransaction) db.exec('rollback');
      throw fault(error);
    }
  }

  return {
    dialect: 'sqlite',
    ...reads,
    // In the same thread: what keeps a list short here is its index.
    lists: reads,
    commit: groups.commit,
    // Nobody else is there: lockDataDir has seen to that.
    scripts: (_waitMs, work) => work({ ...reads, script }),
    script,
    async close() {
      await groups.close();
      if (db.isOpen) db.close();
    },
  };
}

function encode(value: SqlValue): string | number | bigint | null {
  switch (typeof value) {
    case 'string':
      return withoutNul(value);
    case 'boolean':
      return value ? 1 : 0;
    case 'number':
      // A number is bound as a double, and a double that meets a text column becomes "5.0".
      return Number.isSafeInteger(value) ? BigInt(value) : value;
    default:
      return value;
  }
}

/** Of a unique index or a primary key. */
const isDuplicate = (error: unknown): boolean =>
  [2067, 1555].includes((error as { errcode?: number }).errcode ?? 0);

/** Result codes that speak of the file or the disk and not of the statement. */
const UNAVAILABLE = new Set([
  5, // busy
  6, // locked
  7, // out of memory
  8, // read-only
  10, // input or output
  11, // corrupt
  13, // full
  14, // cannot open
  15, // locking protocol
  26, // not a database
]);

function fault(error: unknown): Error {
  const { code, errcode, message } = error as Error & { code?: string; errcode?: number };
  const unavailable =
    // extended codes carry the plain one in their low byte
    (errcode !== undefined && UNAVAILABLE.has(errcode & 0xff)) ||
    // "database is not open", "statement has been finalized"
    code === 'ERR_INVALID_STATE';
  // There is no way on which an answer could be lost.
  return unavailable ? new NotCommitted(message, { cause: error }) : (error as Error);
}

/** Referred to from here until released: a handle that nobody holds would be closed by the garbage collector. */
const held = new Set<DatabaseSync>();

/**
 * Keeps the folder to one process. The lock is that of an open transaction on a file of its own: the operating system
 * takes it back with the process, however that ends, so there is no stale lock to clean up.
 */
export function lockDataDir(dir: string): { release(): void } {
  const file = join(dir, 'lock');
  // Whoever can open it can hold it: in a shared folder that is nobody but us. One that is there is not opened to see to
  // that: closing it again would free the lock, where this very process holds it.
  if (existsSync(file)) chmodSync(file, 0o600);
  else closeSync(openSync(file, 'a', 0o600));
  const db = new DatabaseSync(file, { timeout: 0 });
  try {
    db.exec('begin exclusive');
  } catch (error) {
    db.close();
    if ((error as { errcode?: number }).errcode !== 5) throw error;
    throw new CannotStart(
      `The data folder ${dir} is in use by another process. Stop that one, or use another DATA_DIR.`,
    );
  }
  held.add(db);
  return {
    release() {
      if (held.delete(db)) db.close();
    },
  };
}
