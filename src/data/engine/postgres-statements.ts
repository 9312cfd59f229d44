// A statement as PostgreSQL's driver takes it: placeholders numbered, a guard wrapped, what comes again prepared once.

import type { QueryConfig } from 'pg';
import type { Statement } from './db.ts';
import { holds, withoutNul } from './group-commit.ts';

/** query_timeout is missing in the driver's types. */
export type Query = QueryConfig & { query_timeout?: number };

export const GUARD_FAILED = 'guard failed, unit undone';

/** Texts put together by `join` that are prepared. */
const MOST_JOINED = 200;

export interface Statements {
  queryOf(statement: Statement): Query;
  /** For another statement that is prepared on every connection that meets it. */
  name(): string;
}

export const textOf = ({ parts }: Pick<Statement, 'parts'>): string =>
  parts.reduce((start, part, index) => `${start}$${index}${part}`);

export function statementQueries(): Statements {
  const named = new WeakMap<readonly string[], Query>();
  const namedGuards = new WeakMap<readonly string[], Query>();
  let names = 0;
  const name = () => `fillpath_${++names}`;

  // A text put together by `join` may never come again. One that does is named from its second time on, while there are
  // few: every connection keeps what it has prepared.
  const seen = new Set<string>();
  const namedTexts = new Map<string, string>();
  function nameOf(text: string): string | undefined {
    const known = namedTexts.get(text);
    if (known !== undefined || namedTexts.size === MOST_JOINED) return known;
    if (seen.has(text)) {
      seen.delete(text);
      namedTexts.set(text, name());
    } else {
      if (seen.size === MOST_JOINED) seen.clear();
      seen.add(text);
    }
    return namedTexts.get(text);
  }

  function textAndName(statement: Statement): Query {
    const { parts, guard, rows = 1 } = statement;
    const cache = guard === undefined ? named : namedGuards;
    const known = cache.get(parts);
    if (known) return known;
    const plain = textOf(statement);
    const text = guard === undefined ? plain : guarded(plain, holds({ parts }), rows);
    // Only a template's own text is constant.
    const isConstant = 'raw' in parts;
    const query: Query = { text, name: isConstant ? name() : nameOf(text) };
    if (isConstant) cache.set(parts, query);
    return query;
  }

  return {
    name,
    queryOf: (statement) => ({
      ...textAndName(statement),
      values: statement.values.map((value) => (typeof value === 'string' ? withoutNul(value) : value)),
    }),
  };
}

function guarded(text: string, isHeld: boolean, rows: number): string {
  // After a wait for another's change it looks again at the row as it is then.
  const returning = /\breturning\b/i.test(text) ? '' : 'returning 1';
  return checked(`${text}\n${isHeld ? 'for share' : returning}`, `count(*) >= ${rows}`);
}

/** The cast fails exactly where too few rows were touched; the text shows up in the server's log. */
export const checked = (touching: string, enough: string): string =>
  `with touched as (${touching})
    select cast(case when ${enough} then '1' else '${GUARD_FAILED}' end as integer) from touched`;
