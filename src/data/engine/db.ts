// The port to the database. A query is written once, in SQL that SQLite and PostgreSQL both speak, as a template:
//
//   db.all<Row>(sql`select * from users where email = ${email}`)
//   db.commit([sql`insert into …`, must('version', sql`update … where version = ${version}`)])
//   db.commit([must('owner', sql`select 1 from worker_owners where user_id = ${user} and token = ${token}`), …])
//
// Every write is a unit: statements that are committed together or not at all. A unit does not read and then decide;
// it compares and sets. A `must` that changes no row undoes its whole unit and names itself in the answer. So units
// never wait for anything but the database, and all units waiting at one moment share one commit.
//
// A `must` that selects changes nothing and holds what it found until the commit: whoever changes one of these rows
// comes before it, and is seen, or after it. Many can hold one row at a time. For that very reason a unit never changes
// a row that it holds: two that hold it would each wait for the other to let go.

export type SqlValue = string | number | boolean | null;

export interface Statement {
  /** The constant parts; the values stand between them. */
  readonly parts: readonly string[];
  readonly values: readonly SqlValue[];
  /** Must change, or find, its rows and repeat no unique value, else the unit fails with this name. */
  readonly guard?: string;
  /** So many rows at least; one, where nothing is said. */
  readonly rows?: number;
}

export function sql(parts: TemplateStringsArray, ...values: SqlValue[]): Statement {
  return { parts, values };
}

/** On an insert, update or delete, or on a plain `select 1 from …` of the rows that are to be held: so many at least. */
export const must = (guard: string, statement: Statement, rows?: number): Statement => ({
  ...statement,
  guard,
  ...(rows !== undefined && { rows }),
});

/** Joins statements' texts: for filters that are there or not. */
export function join(statements: readonly Statement[], separator: string): Statement {
  const parts = [''];
  const values: SqlValue[] = [];
  const append = (text: string) => {
    parts[parts.length - 1] += text;
  };
  for (const [index, statement] of statements.entries()) {
    if (index > 0) append(separator);
    append(statement.parts[0] ?? '');
    for (const [position, value] of statement.values.entries()) {
      values.push(value);
      parts.push(statement.parts[position + 1] ?? '');
    }
  }
  return { parts, values };
}

/** A query with a list in it. Its text is made once for each length, so that an adapter knows it again. */
export function listQuery<Given>(
  make: (list: Statement, given: Given) => Statement,
): (values: readonly SqlValue[], given: Given) => Statement {
  const texts = new Map<number, readonly string[]>();
  return (values, given) => {
    const list = values.map((value) => sql`${value}`);
    const made = make(join(list, ', '), given);
    const parts = texts.get(values.length) ?? made.parts;
    texts.set(values.length, parts);
    return { ...made, parts };
  };
}

const manyRows = new WeakMap<readonly string[], Map<number, readonly string[]>>();

/**
 * Inserts that one template made, as one statement for all their rows. Where they have a guard, it is for each of them: one row that
 * is not written fails them all.
 */
export function inOne(inserts: readonly Statement[]): Statement {
  const [first] = inserts;
  if (!first || inserts.some(({ parts }) => parts !== first.parts))
    throw new TypeError('These are no inserts of one form.');
  if (inserts.length === 1) return first;
  const known = manyRows.get(first.parts) ?? new Map<number, readonly string[]>();
  manyRows.set(first.parts, known);
  const parts = known.get(inserts.length) ?? repeated(first.parts, inserts.length);
  known.set(inserts.length, parts);
  const values = inserts.flatMap((insert) => insert.values);
  return first.guard === undefined ? { parts, values } : must(first.guard, { parts, values }, inserts.length);
}

/** `insert into … values (?, ?) on conflict …` with so many rows. */
function repeated(parts: readonly string[], rows: number): readonly string[] {
  const [begin = '', ...others] = parts;
  const end = others.pop() ?? '';
  const between = `${end.slice(0, end.indexOf(')') + 1)}, ${begin.slice(begin.lastIndexOf('('))}`;
  const next = [...others, between];
  return [begin, ...Array.from({ length: rows - 1 }, () => next).flat(), ...others, end];
}

/** The database did not answer. Whether a unit was committed is not known; its guards make a repeat safe. */
export class DatabaseUnavailable extends Error {
  override readonly name: string = 'DatabaseUnavailable';
}

/** Nor did it write anything: the unit never reached it, or it said itself that it was undone. */
export class NotCommitted extends DatabaseUnavailable {
  override readonly name = 'NotCommitted';
}

/** A list may take so long, the wait for its turn not counted. */
export const LIST_MS = 2_500;

/** A list took longer than that. Nobody else waited for it. */
export class ListTooSlow extends Error {
  override readonly name = 'ListTooSlow';
}

export interface Reads {
  all<Row>(query: Statement): Promise<Row[]>;
  get<Row>(query: Statement): Promise<Row | undefined>;
}

/** Another process has been running scripts for longer than one was willing to wait. */
export class ScriptsUnderWay extends DatabaseUnavailable {
  override readonly name = 'ScriptsUnderWay';
}

/** One connection, while no other process runs scripts. */
export interface Scripts extends Reads {
  /** What it began and did not end is undone where it fails. */
  script(text: string): Promise<void>;
}

export interface Db extends Reads {
  readonly dialect: 'sqlite' | 'postgres';
  /** What somebody merely looks at is read by this one: however slow it is, it holds up no order. Throws ListTooSlow. */
  readonly lists: Reads;
  /** null: committed and durable. A name: that guard failed and nothing was written. Throws for a fault. */
  commit(unit: readonly Statement[]): Promise<string | null>;
  /** Outside any unit; for migrations only. Waits for others who do so, and throws ScriptsUnderWay where that takes too long. */
  scripts<T>(waitMs: number, work: (scripts: Scripts) => Promise<T>): Promise<T>;
  /** One script, however long others take with theirs. */
  script(text: string): Promise<void>;
  close(): Promise<void>;
}

// Both adapters return: text, ids, decimals, JSON and times (RFC 3339, milliseconds, Z) as strings, integers as
// numbers, booleans as 0/1 or false/true (read them with `Boolean`), null as null.
