// Groups of units on one connection to SQLite. A group runs from BEGIN to COMMIT without a break, so no read ever sees a
// half-written unit, and the wait is that for the disk alone.

import { NotCommitted, type SqlValue } from './db.ts';
import { type Outcome, withoutNul } from './group-commit.ts';
import type { SqliteFile } from './sqlite-file.ts';

/** A statement of a unit, as it is run. */
export interface Act {
  /** Its values stand for the question marks. */
  readonly text: string;
  readonly values: readonly SqlValue[];
  readonly guard: string | undefined;
  /** So many must be changed or found. */
  readonly rows: number;
  /** It only looks. What is found is held anyhow: there is one writer. */
  readonly holds: boolean;
}

export type Acts = readonly (readonly Act[])[];

/** Of a unit. */
const DONE: Outcome = { guard: null };

/** Each unit is written whole or not at all. Throws what befell all of them. */
export function openUnits({ db, prepared }: SqliteFile): (group: Acts) => readonly Outcome[] {
  const begin = db.prepare('begin immediate');
  const commit = db.prepare('commit');
  const savepoint = db.prepare('savepoint unit');
  const rollback = db.prepare('rollback');
  const undo = db.prepare('rollback to unit');
  const release = db.prepare('release unit');

  /** Whether it changed, or found, as many rows as it must. */
  function touch({ text, values, holds, rows }: Act): boolean {
    const statement = prepared(text);
    const encoded = values.map(encode);
    if (!holds) return statement.run(...encoded).changes >= rows;
    return rows === 1 ? statement.get(...encoded) !== undefined : statement.all(...encoded).length >= rows;
  }

  /** What it wrote before it failed is still there. */
  function attempt(unit: readonly Act[]): Outcome {
    for (const act of unit) {
      const { guard } = act;
      try {
        if (!touch(act) && guard !== undefined) return { guard };
      } catch (error) {
        // A full disk, for one, makes SQLite roll back the whole transaction: the neighbours are lost as well.
        if (!db.isTransaction) throw error;
        return guard !== undefined && isDuplicate(error) ? { guard } : { fault: fault(error) };
      }
    }
    return DONE;
  }

  /** One that fails leaves nothing. */
  function attemptAlone(unit: readonly Act[]): Outcome {
    savepoint.run();
    const outcome = attempt(unit);
    if (outcome !== DONE) undo.run();
    release.run();
    return outcome;
  }

  /** null: one of them failed, and nothing is written. */
  function attemptTogether(group: Acts): readonly Outcome[] | null {
    if (group.every((unit) => attempt(unit) === DONE)) return group.map(() => DONE);
    rollback.run();
    return null;
  }

  /** Most groups hold none that fails: only where one did, each is kept apart from its neighbours. */
  return (group) => {
    try {
      begin.run();
      let outcomes = attemptTogether(group);
      if (!outcomes) {
        begin.run();
        outcomes = group.map(attemptAlone);
      }
      commit.run();
      return outcomes;
    } catch (error) {
      if (db.isTransaction) rollback.run();
      throw fault(error);
    }
  };
}

export function encode(value: SqlValue): string | number | bigint | null {
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

export function fault(error: unknown): Error {
  const { code, errcode, message } = error as Error & { code?: string; errcode?: number };
  const unavailable =
    // extended codes carry the plain one in their low byte
    (errcode !== undefined && UNAVAILABLE.has(errcode & 0xff)) ||
    // "database is not open", "statement has been finalized"
    code === 'ERR_INVALID_STATE';
  // There is no way on which an answer could be lost.
  return unavailable ? new NotCommitted(message, { cause: error }) : (error as Error);
}
