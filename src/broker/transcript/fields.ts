// Which fields the replies to a call have. What is known of a broker is written down in known/: a reply with another field, or without one,
// is told by its call and name.

import { callOf } from '../unreadable.ts';
import { jsonOf } from '../wire.ts';

/** By call: each field's path; with a question mark at its end where it is not in every reply that has the rest. */
export type Known = Readonly<Record<string, readonly string[]>>;

export interface Reply {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly text: string;
}

/** A refusal has other fields than an answer. */
const nameOf = ({ method, url, status }: Pick<Reply, 'method' | 'url' | 'status'>): string =>
  `${callOf(method, url)}${status >= 400 ? ' (refused)' : ''}`;

/** What each object in a reply has, by where the object is. */
type Shapes = ReadonlyMap<string, readonly ReadonlySet<string>[]>;

/** Names that are values: of a currency, a symbol, an id. */
const IS_VALUE = /^(?:[A-Z0-9][A-Z0-9_.:-]*|\d.*)$/;
const SHORT_NAMES = 2;

const partOf = (name: string): string => (IS_VALUE.test(name) && name.length > SHORT_NAMES ? '*' : name);

function shapesOf(value: unknown): Shapes {
  const shapes = new Map<string, ReadonlySet<string>[]>();
  const walk = (part: unknown, path: string): void => {
    if (Array.isArray(part)) for (const row of part) walk(row, `${path}[]`);
    else if (typeof part === 'object' && part !== null) {
      const entries = Object.entries(part).map(([name, field]) => [partOf(name), field] as const);
      shapes.set(path, [...(shapes.get(path) ?? []), new Set(entries.map(([name]) => name))]);
      for (const [name, field] of entries) walk(field, path === '' ? name : `${path}.${name}`);
    }
  };
  walk(value, '');
  return shapes;
}

const fieldAt = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

/** What is known after these replies. `others`: what is there now and then. */
export function learnFields(replies: readonly Reply[], others: readonly Reply[] = []): Known {
  const calls = new Map<string, Map<string, boolean>>();
  const told = (reply: Reply, isUsual: boolean) => {
    const body = jsonOf(reply.text);
    if (body === undefined) return;
    const name = nameOf(reply);
    const fields = calls.get(name) ?? new Map<string, boolean>();
    for (const [path, objects] of shapesOf(body))
      for (const field of new Set(objects.flatMap((object) => [...object]))) {
        const at = fieldAt(path, field);
        const isAlways = objects.every((object) => object.has(field));
        fields.set(at, isUsual ? isAlways && (fields.get(at) ?? true) : (fields.get(at) ?? false));
      }
    calls.set(name, fields);
  };
  for (const reply of replies) told(reply, true);
  // A field that is in one reply and not in another of the same shape is there now and then.
  for (const reply of replies) {
    const body = jsonOf(reply.text);
    const fields = calls.get(nameOf(reply));
    if (body === undefined || !fields) continue;
    const shapes = shapesOf(body);
    for (const [at] of fields)
      for (const [path, objects] of shapes) {
        const field = at.startsWith(path === '' ? '' : `${path}.`)
          ? at.slice(path === '' ? 0 : path.length + 1)
          : '';
        if (field !== '' && !/[.[]/.test(field) && objects.some((object) => !object.has(field)))
          fields.set(at, false);
      }
  }
  for (const reply of others) told(reply, false);
  return Object.fromEntries(
    [...calls]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([call, fields]) => [
        call,
        [...fields].map(([at, isAlways]) => (isAlways ? at : `${at}?`)).toSorted(),
      ]),
  );
}

export interface Difference {
  readonly call: string;
  readonly field: string;
  readonly what: 'new' | 'missing';
}

/** A reply to a call that nobody has written down is new as a whole. */
export function differencesIn(reply: Reply, known: Known): Difference[] {
  const body = jsonOf(reply.text);
  const call = nameOf(reply);
  if (typeof body !== 'object' || body === null) return [];
  const fields = known[call];
  if (!fields) return [{ call, field: '(the whole reply)', what: 'new' }];
  const always = new Set(fields.filter((field) => !field.endsWith('?')));
  const all = new Set(fields.map((field) => field.replace(/\?$/, '')));
  const found: Difference[] = [];
  for (const [path, objects] of shapesOf(body)) {
    // What is in a field that is new is new with it.
    if (path !== '' && !isKnown(path, all)) continue;
    for (const field of new Set(objects.flatMap((object) => [...object])))
      if (!all.has(fieldAt(path, field))) found.push({ call, field: fieldAt(path, field), what: 'new' });
    for (const at of always) {
      const name = path === '' ? at : at.startsWith(`${path}.`) ? at.slice(path.length + 1) : '';
      if (name === '' || /[.[]/.test(name)) continue;
      if (objects.some((object) => !object.has(name))) found.push({ call, field: at, what: 'missing' });
    }
  }
  return found;
}

/** A list of lists, or of rows, is where its field is. */
const isKnown = (path: string, all: ReadonlySet<string>): boolean => {
  const bare = path.replace(/(?:\[\])+$/, '');
  return bare === '' || all.has(bare);
};

/** Each once. */
export const distinct = (differences: readonly Difference[]): Difference[] => [
  ...new Map(differences.map((each) => [`${each.what} ${each.call} ${each.field}`, each])).values(),
];
