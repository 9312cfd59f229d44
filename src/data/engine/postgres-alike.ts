// Units of one group that do the same, each to rows of its own, are sent as if they were one unit: each of their statements once,
// for all of them. Sixty orders that are accepted at one moment are five statements, and not three hundred.
//
// That this is the same as one unit after the other, in the order in which they came, is proven before it is done:
//   - Each statement of such a unit touches tables that no other one of it touches. So what one unit does with its second statement
//     is nothing to another's first one, and all first ones may come before all second ones.
//   - A row that is made for each unit, or found by a unique key, is one for each unit. Two that mean one row are fewer rows than
//     units, or a row that is written twice, and both is a fault.
//   - Units may change places where they meet in no row. Of two that may meet, of one kind or of two, the later one is sent later. What
//     is in no known form changes places with nobody.
//   - All statements of a group are one transaction. Where anything fails, nothing of it stands, and all its units are made one
//     after the other, each with a fate of its own.

import { DatabaseError } from 'pg';
import type { SqlValue, Statement } from './db.ts';
import type { Unit } from './group-commit.ts';
import { arrayOf, type ManyRows, manyRowsOf } from './postgres-rows.ts';
import type { Query, Statements } from './postgres-statements.ts';

/** Asks the server, outside of any transaction. */
export type AskServer = (text: string, values?: readonly string[]) => Promise<Record<string, string>[]>;

interface Form {
  readonly number: number;
  readonly many: ManyRows;
  /** For many rows; null: it cannot be. undefined: the server was not asked yet. */
  query: Pick<Query, 'text' | 'name'> | null | undefined;
  /** Of what it changes: no two rows have the same in these. null: nobody knows. */
  keys: readonly string[] | null;
}

/** Units that are made of the same statements. */
interface Kind {
  readonly key: string;
  readonly forms: readonly Form[];
  /** No two of its statements touch one table. */
  readonly isApart: boolean;
}

/** Units of one kind, in the order in which they came. */
interface Alike {
  /** null: in no known form. */
  readonly kind: Kind | null;
  readonly units: Unit[];
  /** Their rows, where somebody has asked: by the place of a statement, and the columns that tell its rows apart. */
  readonly rows: Map<string, { readonly at: Whereabouts; readonly known: Set<string> | null }>;
}

/** A statement's place in its units, and which of its columns tell its rows apart. */
interface Whereabouts {
  readonly place: number;
  readonly form: Form;
  readonly keys: readonly string[];
}

/** Where units of two kinds can meet; 'always': nobody can tell that they do not. */
type Meeting = 'always' | readonly (readonly [one: Whereabouts, other: Whereabouts])[];

export interface AlikeUnits {
  /** Asks what has to be known of these units' statements, once for each text. Nothing of them is sent. */
  learn(units: readonly Unit[], ask: AskServer): Promise<void>;
  /** What is to be sent for all of them. */
  queriesOf(units: readonly Unit[]): Query[];
}

/** What is wrong with a statement itself, and will be: its syntax, names or types. */
const WRONG_FOR_GOOD = /^42/;

export function alikeUnits({ queryOf, name }: Statements): AlikeUnits {
  const plain = new WeakMap<readonly string[], Form | null>();
  const guarded = new WeakMap<readonly string[], Form | null>();
  const kinds = new Map<string, Kind>();
  const meetings = new Map<string, Meeting>();
  let numbers = 0;

  function formOf(statement: Statement): Form | null {
    const { parts, guard } = statement;
    // Only a template's own text comes again.
    if (!('raw' in parts)) return null;
    const forms = guard === undefined ? plain : guarded;
    let form = forms.get(parts);
    if (form === undefined) {
      const many = manyRowsOf(statement);
      form = many && {
        number: ++numbers,
        many,
        query: undefined,
        keys: many.isKeyToBeProven ? null : many.keys,
      };
      forms.set(parts, form);
    }
    return form?.query === null ? null : form;
  }

  /** null: one of them has no form, or two of them touch one table. `key`: of units that can be one, with the values that they have in common. */
  function kindOf(unit: Unit): { readonly kind: Kind; readonly key: string } | null {
    const forms: Form[] = [];
    for (const statement of unit) {
      const form = formOf(statement);
      if (!form) return null;
      forms.push(form);
    }
    const key = forms.map(({ number }) => number).join();
    let kind = kinds.get(key);
    if (!kind) {
      const tables = forms.flatMap(({ many }) => many.tables);
      kind = { key, forms, isApart: new Set(tables).size === tables.length };
      kinds.set(key, kind);
    }
    return kind.isApart ? { kind, key: key + common(unit, kind) } : null;
  }

  function meetingOf(one: Kind, other: Kind): Meeting {
    const key = `${one.key} ${other.key}`;
    let meeting = meetings.get(key);
    if (!meeting) {
      meeting = meetingPlaces(one, other);
      // Before the server was asked for its keys, nothing is for ever.
      if ([...one.forms, ...other.forms].every(({ query }) => query !== undefined))
        meetings.set(key, meeting);
    }
    return meeting;
  }

  /** Whether the unit can find a row otherwise after these than before. */
  function meets(alike: Alike, kind: Kind, unit: Unit): boolean {
    if (!alike.kind) return true;
    const meeting = meetingOf(alike.kind, kind);
    if (meeting === 'always') return true;
    return meeting.some(([theirs, own]) => {
      const row = rowOf(unit, own);
      const known = rowsOf(alike, theirs);
      return row === null || known === null || known.has(row);
    });
  }

  /**
   * In the order in which they are sent. A unit goes to those that do the same, past all that it does not meet: two orders of one user
   * are sent one after the other, and each of them together with those of others.
   */
  function sorted(units: readonly Unit[]): readonly Alike[] {
    const sent: Alike[] = [];
    let levels: Map<string, Alike>[] = [];
    const send = () => {
      sent.push(...levels.flatMap((level) => [...level.values()]));
      levels = [];
    };
    for (const unit of units) {
      const known = kindOf(unit);
      if (!known) {
        send();
        sent.push({ kind: null, units: [unit], rows: new Map() });
        continue;
      }
      const { kind, key } = known;
      const last = levels.findLastIndex((level) =>
        [...level.values()].some((alike) => meets(alike, kind, unit)),
      );
      const level = levels[last + 1] ?? new Map<string, Alike>();
      levels[last + 1] = level;
      const alike = level.get(key);
      if (alike) join(alike, unit);
      else level.set(key, { kind, units: [unit], rows: new Map() });
    }
    send();
    return sent;
  }

  function queriesFor({ kind, units }: Alike): Query[] {
    if (units.length === 1 || !kind?.forms.every(({ query }) => query))
      return units.flatMap((unit) => unit.map(queryOf));
    return kind.forms.map((form, place) => {
      const { own } = form.many;
      const rows = inOrder(units, place, form);
      const columns = Array.from({ length: own }, (_, column) =>
        arrayOf(rows.map((row) => row[column] ?? null)),
      );
      return {
        ...form.query,
        values: [...columns, ...(units[0]?.[place]?.values.slice(own) ?? [])],
      } as Query;
    });
  }

  async function learnOf(form: Form, ask: AskServer): Promise<void> {
    const { many } = form;
    try {
      const text = many.textFor(await typesIn(many.text, ask));
      if (many.isKeyToBeProven) form.keys = await uniqueAmong(many, ask);
      if (form.keys) await prepared(text, ask, async () => {});
      form.query = form.keys && { text, name: name() };
    } catch (fault) {
      if (!(fault instanceof DatabaseError)) throw fault;
      if (WRONG_FOR_GOOD.test(fault.code ?? '')) form.query = null;
    }
  }

  async function prepared<T>(text: string, ask: AskServer, use: (name: string) => Promise<T>): Promise<T> {
    const probe = name();
    await ask(`prepare ${probe} as ${text}`);
    try {
      return await use(probe);
    } finally {
      await ask(`deallocate ${probe}`);
    }
  }

  /** Of its values, as the server has understood them. */
  const typesIn = (text: string, ask: AskServer): Promise<string[]> =>
    prepared(text, ask, async (probe) => {
      const [row] = await ask(
        `select cast(array_to_json(array(select cast(each as text) from unnest(parameter_types) as each)) as text) as types
         from pg_prepared_statements where name = '${probe}'`,
      );
      return JSON.parse(row?.types ?? '[]');
    });

  return {
    async learn(units, ask) {
      const met = new Set<string>();
      for (const unit of units) {
        const { key, kind } = kindOf(unit) ?? { key: '', kind: null };
        if (met.has(key))
          for (const form of kind?.forms ?? []) if (form.query === undefined) await learnOf(form, ask);
        met.add(key);
      }
    },
    queriesOf: (units) => sorted(units).flatMap(queriesFor),
  };
}

/**
 * The rows of what was there before are locked in one order by everybody: two processes that need the same ones do not each
 * wait for the other. What is made is made in the order in which it came.
 */
function inOrder(units: readonly Unit[], place: number, form: Form): readonly (readonly SqlValue[])[] {
  const rows = units.map((unit) => unit[place]?.values ?? []);
  if (form.many.does === 'make') return rows;
  const columns = form.keys?.flatMap((key) => form.many.given.get(key) ?? []) ?? [];
  const nameOf = (row: readonly SqlValue[]) =>
    (columns.length > 0 ? columns.map((column) => row[column]) : row).join('\n');
  const named = rows.map((row) => ({ row, name: nameOf(row) }));
  return named.sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name))).map(({ row }) => row);
}

/** The values that are one for all rows are the same in all units of a kind. */
function common(unit: Unit, { forms }: Kind): string {
  let text = '';
  for (const [place, { values }] of unit.entries()) {
    const own = forms[place]?.many.own ?? 0;
    if (own < values.length) text += ` ${place}${JSON.stringify(values.slice(own))}`;
  }
  return text;
}

function meetingPlaces(one: Kind, other: Kind): Meeting {
  const places: [Whereabouts, Whereabouts][] = [];
  for (const [place, form] of one.forms.entries())
    for (const [otherPlace, otherForm] of other.forms.entries()) {
      if (!form.many.tables.some((table) => otherForm.many.tables.includes(table))) continue;
      const does = [form.many.does, otherForm.many.does];
      if (does[0] === 'hold' && does[1] === 'hold') continue;
      if (does.includes('hold')) return 'always';
      // A row that is there already is a fault, whoever made it.
      if (!does.includes('change')) continue;
      const { keys } = form.many.does === 'change' ? form : otherForm;
      if (!keys) return 'always';
      places.push([
        { place, form, keys },
        { place: otherPlace, form: otherForm, keys },
      ]);
    }
  return places;
}

/** By what it has in these columns; null: nobody knows. An id in capitals is the same id. */
function rowOf(unit: Unit, { place, form, keys }: Whereabouts): string | null {
  let row = '';
  for (const key of keys) {
    const column = form.many.given.get(key);
    if (column === undefined) return null;
    row += `${String(unit[place]?.values[column]).toLowerCase()}\n`;
  }
  return row;
}

function rowsOf({ units, rows }: Alike, at: Whereabouts): ReadonlySet<string> | null {
  const name = `${at.place} ${at.keys.join()}`;
  let found = rows.get(name);
  if (!found) {
    const all = units.map((unit) => rowOf(unit, at));
    found = { at, known: all.includes(null) ? null : new Set(all as string[]) };
    rows.set(name, found);
  }
  return found.known;
}

function join({ units, rows }: Alike, unit: Unit): void {
  units.push(unit);
  // Of one kind: where one has a known row, all have.
  for (const { at, known } of rows.values()) known?.add(rowOf(unit, at) ?? '');
}

/** Those of the columns in which no two rows of the table have the same; null: there are none. */
async function uniqueAmong({ tables, keys }: ManyRows, ask: AskServer): Promise<readonly string[] | null> {
  const rows = await ask(
    `select cast(array_to_json(array(
       select a.attname from unnest((i.indkey::int2[])[0:i.indnkeyatts - 1]) as key
         join pg_attribute a on a.attrelid = i.indrelid and a.attnum = key)) as text) as columns
     from pg_index i
     where i.indrelid = to_regclass($1) and i.indisunique and i.indisvalid and i.indimmediate
       and i.indpred is null and i.indexprs is null`,
    [tables[0]],
  );
  const unique = rows.map(({ columns }) => JSON.parse(columns ?? '[]') as string[]);
  return unique.find((columns) => columns.every((column) => keys.includes(column))) ?? null;
}
