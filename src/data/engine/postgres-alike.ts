// Units of one group that do the same, each to rows of its own, are sent as if they were one unit: each of their statements once,
// for all of them. Sixty orders that are accepted at one moment are five statements, and not three hundred.
//
// That this is the same as one unit after the other, in the order in which they came, is proven before it is done:
//   - Each statement of such a unit touches tables that no other one of it touches. So what one unit does with its second statement
//     is nothing to another's first one, and all first ones may come before all second ones.
//   - A row that is made for each unit, or found by a unique key, is one for each unit. Two that mean one row are fewer rows than
//     units, or a row that is written twice, and both is a fault.
//   - Units of different kinds may change places where they meet in no row. What is in no known form changes places with nobody.
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

/** Units of one kind, in the order in which they came. */
interface Alike {
  /** null: in no known form. */
  readonly forms: readonly Form[] | null;
  readonly units: Unit[];
}

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
  const apart = new Map<string, boolean>();
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

  /** null: one of them has none, or two of them touch one table. */
  function formsOf(unit: Unit): { readonly forms: readonly Form[]; readonly key: string } | null {
    const forms: Form[] = [];
    for (const statement of unit) {
      const form = formOf(statement);
      if (!form) return null;
      forms.push(form);
    }
    const key = forms.map(({ number }) => number).join();
    let areApart = apart.get(key);
    if (areApart === undefined) {
      const tables = forms.flatMap(({ many }) => many.tables);
      areApart = new Set(tables).size === tables.length;
      apart.set(key, areApart);
    }
    return areApart ? { forms, key: key + common(unit, forms) } : null;
  }

  /** In the order in which they are sent. */
  function sorted(units: readonly Unit[]): readonly Alike[] {
    const sent: Alike[] = [];
    let kinds = new Map<string, Alike>();
    let asTheyCame: Alike[] = [];
    const send = () => {
      const of = [...kinds.values()];
      const doMeet = of.some((one, index) => of.slice(index + 1).some((other) => meet(one, other)));
      sent.push(...(doMeet ? asTheyCame : of));
      kinds = new Map();
      asTheyCame = [];
    };
    for (const unit of units) {
      const known = formsOf(unit);
      if (!known) {
        send();
        sent.push({ forms: null, units: [unit] });
        continue;
      }
      const { key, forms } = known;
      asTheyCame.push({ forms, units: [unit] });
      const kind = kinds.get(key);
      if (kind) kind.units.push(unit);
      else kinds.set(key, { forms, units: [unit] });
    }
    send();
    return sent;
  }

  function queriesFor({ forms, units }: Alike): Query[] {
    if (units.length === 1 || !forms?.every(({ query }) => query))
      return units.flatMap((unit) => unit.map(queryOf));
    return forms.map(({ many: { own }, query }, place) => {
      const columns = Array.from({ length: own }, (_, column) => arrayOf(valuesAt(units, place, column)));
      return { ...query, values: [...columns, ...(units[0]?.[place]?.values.slice(own) ?? [])] } as Query;
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
        const { key, forms } = formsOf(unit) ?? { key: '', forms: [] };
        if (met.has(key)) for (const form of forms) if (form.query === undefined) await learnOf(form, ask);
        met.add(key);
      }
    },
    queriesOf: (units) => sorted(units).flatMap(queriesFor),
  };
}

const valuesAt = (units: readonly Unit[], place: number, column: number): SqlValue[] =>
  units.map((unit) => unit[place]?.values[column] as SqlValue);

/** The values that are one for all rows are the same in all units of a kind. */
function common(unit: Unit, forms: readonly Form[]): string {
  let text = '';
  for (const [place, { values }] of unit.entries()) {
    const own = forms[place]?.many.own ?? 0;
    if (own < values.length) text += ` ${place}${JSON.stringify(values.slice(own))}`;
  }
  return text;
}

/** Whether who comes first of the two can make a difference, as far as can be seen. */
function meet(one: Alike, other: Alike): boolean {
  return (one.forms ?? []).some((ofOne, place) =>
    (other.forms ?? []).some((ofOther, otherPlace) => {
      if (!ofOne.many.tables.some((table) => ofOther.many.tables.includes(table))) return false;
      const does = [ofOne.many.does, ofOther.many.does];
      if (does.includes('hold')) return does[0] !== does[1];
      // A row that is there already is a fault, whoever made it.
      if (!does.includes('change')) return false;
      const { keys } = ofOne.many.does === 'change' ? ofOne : ofOther;
      const rows = rowsOf(one.units, place, ofOne.many, keys);
      const others = rowsOf(other.units, otherPlace, ofOther.many, keys);
      return !rows || !others || rows.some((row) => others.includes(row));
    }),
  );
}

/** By what they have in these columns; null: nobody knows. */
function rowsOf(
  units: readonly Unit[],
  place: number,
  { given }: ManyRows,
  keys: readonly string[] | null,
): readonly string[] | null {
  const columns = keys?.flatMap((key) => given.get(key) ?? []) ?? [];
  if (!keys || columns.length < keys.length) return null;
  // An id in capitals is the same id.
  return units.map((unit) =>
    columns.map((column) => String(unit[place]?.values[column]).toLowerCase()).join('\n'),
  );
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
