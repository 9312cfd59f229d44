// A statement that is written for one row, as one for many: its values become columns of a table that is made of arrays, one row
// for each unit. Only of a few plain forms, in which that is provably the same; anything else has none.
//
//   insert into books (book, cash) values ($1, $2)
//   → insert into books (book, cash) select many.p1, many.p2 from unnest($1::text[], $2::numeric[]) … as many(p1, p2, nth)

import type { SqlValue, Statement } from './db.ts';
import { holds, withoutNul } from './group-commit.ts';
import { checked, textOf } from './postgres-statements.ts';

export interface ManyRows {
  /** As it is for one row. */
  readonly text: string;
  /** What it touches lies in these, and in no others; but for rows that are held, it is one. */
  readonly tables: readonly [string, ...string[]];
  /** Its rows are only held; are new, or it is a fault; or are found by `keys`, or made where there is none. */
  readonly does: 'hold' | 'make' | 'change';
  /** By these columns a row that it changes is found: a unique key, or more than that. */
  readonly keys: readonly string[];
  /** Whether a unique key is among them: of an insert the server would not take others. */
  readonly isKeyToBeProven: boolean;
  /** What its row has in these columns: the place of a value. */
  readonly given: ReadonlyMap<string, number>;
  /** The first so many values are a row's own; those behind them are one for all rows. */
  readonly own: number;
  /** With the server's names of the values' types. */
  textFor(types: readonly string[]): string;
}

/** What would make more of it than one plain statement. */
const MORE_THAN_PLAIN = /\b(select|returning|with|union|limit|group by|order by|lateral|or)\b/i;

const MANY = 'many';

/** null: in no form that is known. */
export function manyRowsOf(statement: Statement): ManyRows | null {
  if ((statement.rows ?? 1) !== 1 || statement.values.length === 0) return null;
  const text = textOf(statement).trim();
  const isGuarded = statement.guard !== undefined;
  if (holds(statement)) return isGuarded ? manyHolds(text, statement.values.length) : null;
  if (/^insert\b/i.test(text)) return manyInserts(text, isGuarded);
  return isGuarded ? manyUpdates(text, statement.values.length) : null;
}

/** The table that is made of the arrays. */
function manyFrom(types: readonly string[]): string {
  const arrays = types.map((type, index) => `$${index + 1}::${type}[]`).join(', ');
  const names = types.map((_type, index) => `p${index + 1}`).join(', ');
  return `unnest(${arrays}) with ordinality as ${MANY}(${names}, nth)`;
}

/** What stands in it, instead of the values of one statement. */
const ofMany = (text: string): string => text.replace(/\$(\d+)/g, `${MANY}.p$1`);

/** Every one of them has found, or changed, something of its own. */
const EACH = `count(distinct nth) = cardinality($1)`;
const ALL = `count(*) = cardinality($1)`;

function manyHolds(text: string, own: number): ManyRows | null {
  const [, from = '', where = ''] = /^select 1 from\b(.*?)\bwhere\b(.*)$/is.exec(text) ?? [];
  if (where === '' || MORE_THAN_PLAIN.test(from + where) || /\b(left|full|right)\b|,/i.test(from))
    return null;
  const tables = [...`from${from}`.matchAll(/\b(?:from|join) (\w+)/gi)].map(([, table = '']) => table);
  if (!isSome(tables)) return null;
  return {
    ...{ text, tables, does: 'hold', keys: [], isKeyToBeProven: false, given: new Map(), own },
    // Among the first, so that what is joined can be compared with it.
    textFor: (types) =>
      checked(
        `select ${MANY}.nth from ${manyFrom(types)} cross join ${ofMany(from)} where ${ofMany(where)}\nfor share`,
        EACH,
      ),
  };
}

const isSome = (tables: string[]): tables is [string, ...string[]] => tables.length > 0;

function manyUpdates(text: string, own: number): ManyRows | null {
  const [, table = '', set = '', where = ''] = /^update (\w+)\s+set\b(.*)\bwhere\b(.*)$/is.exec(text) ?? [];
  if (where === '' || MORE_THAN_PLAIN.test(where)) return null;
  if (/\b(select|from|where|returning)\b/i.test(set) || /\bfrom\b/i.test(where)) return null;
  const given = new Map(
    where.split(/\band\b/i).flatMap((condition) => {
      const [, column, value] = /^\s*(\w+) = \$(\d+)\s*$/.exec(condition) ?? [];
      return column ? [[column, Number(value) - 1] as const] : [];
    }),
  );
  // Whoever moved to another's place would be found there by that one.
  const keys = [...given.keys()].filter((column) => !new RegExp(`\\b${column}\\s*=(?!=)`).test(set));
  if (keys.length === 0) return null;
  return {
    ...{ text, tables: [table], does: 'change', keys, isKeyToBeProven: true, given, own },
    textFor: (types) =>
      checked(
        `update ${table} set${ofMany(set)}from ${manyFrom(types)} where${ofMany(where)}\nreturning 1`,
        ALL,
      ),
  };
}

function manyInserts(text: string, isGuarded: boolean): ManyRows | null {
  const [head = '', table = '', columns = ''] =
    /^insert into (\w+) \(([^()]*)\)\s*values\s*\(/i.exec(text) ?? [];
  const row = head === '' ? null : upToBrace(text.slice(head.length));
  if (row === null) return null;
  const behind = text.slice(head.length + row.length + 1).trim();
  if (MORE_THAN_PLAIN.test(row) || MORE_THAN_PLAIN.test(behind)) return null;
  const [conflict = '', target = ''] = /^on conflict \(([\w\s,]+)\)/i.exec(behind) ?? [];
  if (behind !== '' && conflict === '') return null;
  const own = row.match(/\$\d+/g)?.length ?? 0;
  if (own === 0) return null;
  // A row that is left out, or changed, without a word.
  const isChange = behind !== '' && (!isGuarded || /\bdo update\b/i.test(behind));
  return {
    ...{ text, tables: [table], does: isChange ? 'change' : 'make', keys: isChange ? namesIn(target) : [] },
    ...{ isKeyToBeProven: false, given: givenIn(columns, row), own },
    textFor(types) {
      const into = `insert into ${table} (${columns})`;
      const inserting = `${into} select ${ofMany(row)} from ${manyFrom(types.slice(0, own))} ${behind}`;
      return isGuarded ? checked(`${inserting}\nreturning 1`, ALL) : inserting;
    },
  };
}

const namesIn = (list: string): string[] => list.split(',').map((name) => name.trim());

/** Where every column has a plain value, or none but a text or a number of its own. */
function givenIn(columns: string, row: string): ReadonlyMap<string, number> {
  const names = namesIn(columns);
  const values = namesIn(row);
  if (names.length !== values.length || /[()']/.test(row.replace(/'\w*'/g, ''))) return new Map();
  return new Map(
    names.flatMap((name, index) => {
      const value = /^\$(\d+)$/.exec(values[index] ?? '')?.[1];
      return value ? [[name, Number(value) - 1] as const] : [];
    }),
  );
}

/** Up to the brace that closes what is open; null: none does. What stands between quotes does not count. */
function upToBrace(text: string): string | null {
  let depth = 1;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "'") isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (character === '(') depth++;
    else if (character === ')' && --depth === 0) return text.slice(0, at);
  }
  return null;
}

/** An array as PostgreSQL reads it. */
export function arrayOf(values: readonly SqlValue[]): string {
  let text = '{';
  for (const [index, value] of values.entries()) {
    if (index > 0) text += ',';
    if (typeof value !== 'string') text += value === null ? 'NULL' : String(value);
    else {
      const plain = withoutNul(value);
      text += `"${/["\\]/.test(plain) ? plain.replace(/["\\]/g, '\\$&') : plain}"`;
    }
  }
  return `${text}}`;
}
