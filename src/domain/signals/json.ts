// A strict reading of JSON from strangers. The platform's parser decides what is JSON; on top of it numbers keep
// their source text (a double would have lost digits by then), and what two readers could read differently is
// refused: bytes that are not UTF-8, a key given twice.

import { parseDecimal, toNumber } from '../decimal.ts';
import { jsonFault, placeIn } from './json-fault.ts';

const MAX_DEPTH = 32;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

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

/** `at`: where the text stops being JSON. */
export type Reading = { readonly value: JsonValue } | { readonly problem: string; readonly at?: number };

export function readJson(bytes: Uint8Array): Reading {
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    return { problem: 'The body is not valid UTF-8.' };
  }
  if (text.trim() === '') return { problem: 'The body is empty; send a JSON object.' };
  // Before parsing: the parser's own answer to deep nesting is a stack overflow.
  const { depth, twice } = structureOf(text);
  if (depth > MAX_DEPTH) return { problem: `The body is nested deeper than ${MAX_DEPTH} levels.` };
  let value: JsonValue;
  try {
    value = JSON.parse(text, (_key, part, context?: { source?: string }) =>
      typeof part === 'number' ? new NumberText(context?.source ?? String(part)) : part,
    );
  } catch {
    return notJson(text);
  }
  if (twice !== null) return { problem: `The key ${JSON.stringify(twice.slice(0, 64))} is given twice.` };
  return { value };
}

function notJson(text: string): Reading {
  const { at, expected } = jsonFault(text);
  return { problem: `The body is not valid JSON: at ${placeIn(text, at)} there must be ${expected}.`, at };
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

/** A string that nobody closed is a token too: to try again at each of its quotes would take quadratic time. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|[{}[\]:]/gs;

/** How deep it is nested and, where it is JSON, the first key that is given twice in one object. */
function structureOf(text: string): { readonly depth: number; readonly twice: string | null } {
  const scopes: Set<string>[] = [];
  let depth = 0;
  let twice: string | null = null;
  let last = '';
  TOKENS.lastIndex = 0;
  for (let token = TOKENS.exec(text)?.[0]; token !== undefined; token = TOKENS.exec(text)?.[0]) {
    if (token === '{' || token === '[') depth = Math.max(depth, scopes.push(new Set()));
    else if (token === '}' || token === ']') scopes.pop();
    else if (token === ':') {
      const key = keyOf(last);
      const scope = scopes.at(-1);
      if (scope?.has(key)) twice ??= key;
      scope?.add(key);
    } else last = token;
  }
  return { depth, twice };
}

/** Of what stands before a colon: where that is no JSON string, the text is no JSON. */
function keyOf(token: string): string {
  if (!token.includes('\\')) return token.slice(1, -1);
  try {
    return JSON.parse(token) as string;
  } catch {
    return token;
  }
}
