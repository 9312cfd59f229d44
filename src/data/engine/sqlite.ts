// SQLite, in one file. Reads are synchronous and in this thread: none ever sees a half-written unit. A service has its units
// written by a thread of their own where several wait, so that nobody waits for the disk who has something else to do.

import { chmodSync, closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { CannotStart } from '../../domain/cannot-start.ts';
import { type Counters, UNCOUNTED } from '../../domain/counters.ts';
import type { Db, Reads, Statement } from './db.ts';
import { giveWay } from './give-way.ts';
import { groupCommit, holds, type Unit } from './group-commit.ts';
import { openFile, type SqliteFile } from './sqlite-file.ts';
import { type Act, encode, fault, openUnits } from './sqlite-units.ts';
import { openWriter, type Writer, type WriterApart } from './sqlite-writer.ts';

const MOST_UNITS = 256;

/** `readOnly`: for who only looks. What a killed process left beside the file stays there. `ownThread`: that of the units. */
export function openSqlite({
  file,
  readOnly = false,
  ownThread = false,
  counters = UNCOUNTED,
}: {
  file: string;
  readOnly?: boolean;
  ownThread?: boolean;
  counters?: Counters;
}): Db {
  // Created by us, because SQLite would let everybody on the machine read it. WAL files take over the mode.
  if (file !== ':memory:' && !readOnly) closeSync(openSync(file, 'a', 0o600));
  const here = openFile(file, { readOnly, carriesOver: !ownThread });
  const { db } = here;
  const byParts = new WeakMap<readonly string[], StatementSync>();
  function prepared({ parts }: Statement): StatementSync {
    let statement = byParts.get(parts);
    if (!statement) {
      statement = here.prepared(parts.join('?'));
      byParts.set(parts, statement);
    }
    return statement;
  }

  /** Of the statements that were read with so far; a script may change the schema under them. */
  let shapes = new WeakMap<StatementSync, Shape>();
  function rowOf<Row>(statement: StatementSync, values: readonly unknown[]): Row {
    let shape = shapes.get(statement);
    if (shape?.columns !== values.length) {
      shape = shapeOf(statement.columns().map(({ name }) => name));
      shapes.set(statement, shape);
    }
    return shape.make(values) as Row;
  }

  function inPieces<Row>(statement: StatementSync, values: readonly SQLInputValue[]): Row[] {
    const rows: Row[] = [];
    for (const row of statement.iterate(...values)) {
      rows.push(rowOf<Row>(statement, row as unknown as readonly unknown[]));
      giveWay();
    }
    return rows;
  }

  const writer = ownThread ? besideOthers(here, openWriter(file)) : writerHere(here);
  const groups = groupCommit({
    most: MOST_UNITS,
    lanes: 1,
    async run(group) {
      const outcomes = await writer.write(group.map(({ unit }) => actsOf(unit)));
      for (const [index, outcome] of outcomes.entries()) group[index]?.settle(outcome);
    },
    counters,
  });

  const reads: Reads = {
    async all<Row>(query: Statement): Promise<Row[]> {
      try {
        const statement = prepared(query);
        const values = query.values.map(encode);
        if (readOnly) return inPieces<Row>(statement, values);
        return (statement.all(...values) as unknown as readonly unknown[][]).map((row) =>
          rowOf<Row>(statement, row),
        );
      } catch (error) {
        throw fault(error);
      }
    },
    async get<Row>(query: Statement): Promise<Row | undefined> {
      try {
        const statement = prepared(query);
        const row = statement.get(...query.values.map(encode));
        return row && rowOf<Row>(statement, row as unknown as readonly unknown[]);
      } catch (error) {
        throw fault(error);
      }
    },
  };

  async function script(text: string): Promise<void> {
    shapes = new WeakMap();
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
      await writer.close();
      if (db.isOpen) db.close();
    },
  };
}

/** How a list of values becomes a row. */
interface Shape {
  readonly columns: number;
  make(values: readonly unknown[]): unknown;
}

/** By the names of the columns, of which our own statements have not many. */
const known = new Map<string, Shape>();

/**
 * A function that is written for these names: all its rows are of one form. An object that is filled name by name, as node:sqlite's own are
 * too, is a table to itself, which takes many times as long to make and to read.
 */
function shapeOf(names: readonly string[]): Shape {
  const fields = names.map((name, index) => `${JSON.stringify(name)}: values[${index}]`).join(', ');
  const shape = known.get(fields) ?? {
    columns: names.length,
    make: new Function('values', `return { ${fields} };`) as Shape['make'],
  };
  known.set(fields, shape);
  return shape;
}

const writerHere = (file: SqliteFile): Writer => ({ write: openUnits(file), async close() {} });

/** Some fifteen megabytes of the log, of orders one at a time: with more, those who commit meanwhile wait longer for the disk. */
const UNITS_TO_CARRY_OVER = 250;

/** So long after several units waited at once, others are likely to come while one is written. */
const BUSY_MS = 10;

/**
 * A unit alone is written here, where nobody else was at it just now: the way to the thread and back would take it up to a millisecond. So are all
 * while the thread carries the log over: that takes as long as many commits, and no order is to wait for it. What came meanwhile is little. All that
 * is written then waits for that: only where nothing is added to the log, it begins anew.
 */
function besideOthers(file: SqliteFile, apart: WriterApart): Writer {
  const alone = writerHere(file);
  let written = 0;
  let severalAt = Number.NEGATIVE_INFINITY;
  return {
    write(group) {
      written += group.length;
      if (written >= UNITS_TO_CARRY_OVER && apart.carryOver()) written = 0;
      const now = performance.now();
      if (group.length > 1) severalAt = now;
      const isBusy = now - severalAt < BUSY_MS;
      const carrying = apart.carrying();
      const isHere = carrying === 'most' || (!isBusy && carrying === 'nothing');
      return (isHere ? alone : apart).write(group);
    },
    close: apart.close,
  };
}

const forms = new WeakMap<readonly string[], Pick<Act, 'text' | 'holds'>>();

function actsOf(unit: Unit): Act[] {
  return unit.map(({ parts, values, guard, rows = 1 }) => {
    let form = forms.get(parts);
    if (!form) {
      form = { text: parts.join('?'), holds: holds({ parts }) };
      forms.set(parts, form);
    }
    return { text: form.text, values, guard, rows, holds: form.holds };
  });
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
