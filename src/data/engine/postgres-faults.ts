// What PostgreSQL's errors mean for a unit, a read, and the connection that they came on.

import { DatabaseError } from 'pg';
import { DatabaseUnavailable, NotCommitted } from './db.ts';
import { GUARD_FAILED } from './postgres-statements.ts';

export const codeOf = (error: unknown): string => (error instanceof DatabaseError ? (error.code ?? '') : '');

const DUPLICATE = '23505';

export const isGuardFailure = (error: Error): boolean =>
  (codeOf(error) === '22P02' && error.message.includes(GUARD_FAILED)) || codeOf(error) === DUPLICATE;

/** The plan of a prepared read no longer fits the table after a migration, or the statement is gone. */
export const STALE = new Set(['0A000', '26000']);

/** The connection is lost, or would fail the same way again. */
export const spoils = (error: unknown): boolean =>
  !(error instanceof DatabaseError) || STALE.has(codeOf(error));

/** Not the unit's own fault; alone, or a moment later, it can succeed. */
export const COLLISIONS = new Set([
  '40001', // serialization failure
  '40P01', // deadlock
  '55P03', // lock timeout
  // The driver prepares a text with its first use. When that use comes after its unit failed, nothing is prepared,
  // and the same text in a later unit, already sent, meets one of these.
  '26000', // no such prepared statement
  '25P02', // transaction aborted
]);

/** A session that may write nothing: the server has become a standby, or takes no writes for a while, as on a full disk. */
export const READ_ONLY = '25006';

/** Connection, resources, shutdown and timeouts, system. */
const UNAVAILABLE = new RegExp(`^(08|53|57|58|${READ_ONLY})`);

export function fault(error: unknown): Error {
  const told = error as Error;
  if (told instanceof DatabaseError && !UNAVAILABLE.test(codeOf(told))) return told;
  return new DatabaseUnavailable(told.message, { cause: told });
}

/** Of a unit of which the server said, or of which it is clear, that it was not committed. */
export function undone(error: unknown): Error {
  const told = fault(error);
  return told instanceof DatabaseUnavailable ? new NotCommitted(told.message, { cause: told.cause }) : told;
}

/** The server stopped it, others hold what it reads, or no connection became free in time. */
export const isTooSlow = (error: Error): boolean =>
  error instanceof DatabaseError
    ? ['57014', '55P03'].includes(codeOf(error))
    : ['timeout exceeded when trying to connect', 'Query read timeout'].includes(error.message);
