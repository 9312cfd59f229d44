// A strict reading of JSON from strangers, in one pass: numbers keep their source text (a double would have lost digits by then),
// what two readers could read differently is refused (bytes that are not UTF-8, a key given twice), and where the text stops being
// JSON is told, with nothing of the text itself, which may be a secret. The platform's parser with a function for each value takes
// ten times as long.

import { parseDecimal, toNumber } from '../decimal.ts';

const MAX_DEPTH = 32;
const UTF8 = new TextDecoder('utf-8', { fatal: true });
const WHATEVER = new TextDecoder();

/** A JSON number as it was written. */
export class NumberText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type JsonValue = null | boolean | string | NumberText | JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** With the text as it was received, so far as it can be read. `at`: where it stops being JSON. */
export type Reading = { readonly text: string } & (
  | { readonly value: JsonValue }
  | { readonly problem: string; readonly at?: number }
);

export function readJson(bytes: Uint8Array): Reading {
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    return { text: WHATEVER.decode(bytes), problem: 'The body is not valid UTF-8.' };
  }
  if (text.trim() === '') return { text, problem: 'The body is empty; send a JSON object.' };
  try {
    const { value, twice } = readText(text);
    if (twice === null) return { text, value };
    return { text, problem: `The key ${JSON.stringify(twice.slice(0, 64))} is given twice.` };
  } catch (fault) {
    if (!(fault instanceof NoJson)) throw fault;
    const { at, problem } = fault;
    return { text, problem, ...(at !== null && { at }) };
  }
}

/** `at`: in characters of the text; null: it may be JSON, and is not read. */
class NoJson extends Error {
  readonly problem: string;
  readonly at: number | null;
  constructor(problem: string, at: number | null = null) {
    super(problem);
    this.problem = problem;
    this.at = at;
  }
}

/** Every database keeps its texts as they are: none has a NUL or half of a surrogate pair. */
export function isStorable(value: JsonValue): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (value === null || typeof value !== 'object' || value instanceof NumberText) return true;
  return Object.values(value).every(isStorable);
}

/** With plain numbers, for schemas; null where a number has more digits than a double carries. */
export function plainJson(value: JsonValue): { readonly plain: unknown } | null {
  if (value instanceof NumberText) {
    const exact = parseDecimal(value.text);
    return exact === null ? null : { plain: toNumber(exact) };
  }
  if (value === null || typeof value !== 'object') return { plain: value };
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
  const plain: [string | number, unknown][] = [];
  for (const [key, part] of entries) {
    const inner = plainJson(part);
    if (!inner) return null;
    plain.push([key, inner.plain]);
  }
  return { plain: Array.isArray(value) ? plain.map(([, part]) => part) : Object.fromEntries(plain) };
}

const SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;
/** What is to be read as the platform reads it: an escape, or a character that may not stand there. */
const SPECIAL = /[^ -[\]-\uffff]/;
const [TAB, LINE_FEED, RETURN, SPACE] = [9, 10, 13, 32];

const VALUE = 'a value: a number, true, false, null, or a string in double quotes';
const KEY = 'a name in double quotes';
const STRING = 'a string that ends with a double quote on the same line';

/** `twice`: the first key that is given twice in one object. Throws NoJson. */
function readText(text: string): { readonly value: JsonValue; readonly twice: string | null } {
  let at = 0;
  let depth = 0;
  let twice: string | null = null;

  const missing = (expected: string): NoJson =>
    new NoJson(`The body is not valid JSON: at ${placeIn(text, at)} there must be ${expected}.`, at);

  function skipSpace(): void {
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code !== SPACE && code !== LINE_FEED && code !== RETURN && code !== TAB) return;
    }
  }

  function takes(character: string): boolean {
    skipSpace();
    if (text[at] !== character) return false;
    at++;
    return true;
  }

  function value(): JsonValue {
    skipSpace();
    if (text[at] === '"') return string();
    if (takes('{')) return object();
    if (takes('[')) return array();
    SCALAR.lastIndex = at;
    const word = SCALAR.exec(text)?.[0];
    if (word === undefined) throw missing(VALUE);
    at += word.length;
    if (word === 'null') return null;
    return word === 'true' || word === 'false' ? word === 'true' : new NumberText(word);
  }

  function string(): string {
    let end = text.indexOf('"', at + 1);
    while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
    if (end < 0) throw missing(STRING);
    const inside = text.slice(at + 1, end);
    const read = SPECIAL.test(inside) ? unescaped(inside) : inside;
    if (read === null) throw missing(STRING);
    at = end + 1;
    return read;
  }

  function object(): JsonObject {
    const fields: Record<string, JsonValue> = {};
    items('}', () => {
      skipSpace();
      if (text[at] !== '"') throw missing(KEY);
      const key = string();
      if (Object.hasOwn(fields, key)) twice ??= key;
      if (!takes(':')) throw missing('a colon');
      const read = value();
      // Of this name an assignment would set something else.
      if (key === '__proto__') Object.defineProperty(fields, key, { value: read, ...PLAIN });
      else fields[key] = read;
    });
    return fields;
  }

  function array(): JsonValue[] {
    const list: JsonValue[] = [];
    items(']', () => list.push(value()));
    return list;
  }

  function items(end: '}' | ']', item: () => void): void {
    if (++depth > MAX_DEPTH) throw new NoJson(`The body is nested deeper than ${MAX_DEPTH} levels.`);
    if (!takes(end)) {
      do item();
      while (takes(','));
      if (!takes(end)) throw missing(`a comma or ${end}`);
    }
    depth--;
  }

  const read = value();
  skipSpace();
  if (at < text.length) throw missing('the end of the body');
  return { value: read, twice };
}

const PLAIN = { enumerable: true, configurable: true, writable: true };

/** Whether an odd number of backslashes stands before it. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === '\\') first--;
  return (at - first) % 2 === 1;
}

/** null: it may not stand between quotes. */
function unescaped(inside: string): string | null {
  try {
    return JSON.parse(`"${inside}"`) as string;
  } catch {
    return null;
  }
}

/** "line 2, column 14", as an editor counts. */
export function placeIn(text: string, at: number): string {
  const before = text.slice(0, at).split(/\r\n|\n|\r/);
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}
