// The values of a message, one by one: what stands in a field, a number in whichever form it came, and how it is shown to
// whoever sent it. They come as readJson gives them, or, from a body that was validated already, as plain JSON.

import { type Decimal, isNumeral, parseDecimal } from '../decimal.ts';
import { type JsonObject, type JsonValue, NumberText } from './json.ts';

export interface Problem {
  readonly problem: string;
}

export const isProblem = (value: unknown): value is Problem =>
  typeof value === 'object' && value !== null && 'problem' in value;

/** Of JSON, read either way. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberText);

export const isObject = (value: JsonValue): value is JsonObject => isRecord(value);

/** Own fields only; null and absent are the same. */
export const field = <Value>(fields: Readonly<Record<string, Value>>, name: string): Value | null =>
  Object.hasOwn(fields, name) ? (fields[name] ?? null) : null;

/** Of a field that may be left out; an empty text is the same as none. */
export function optional<Value>(fields: Readonly<Record<string, Value>>, name: string): Value | null {
  const value = field(fields, name);
  return typeof value === 'string' && value.trim() === '' ? null : value;
}

const MOST_SHOWN = 40;

export const shown = (value: unknown): string =>
  value instanceof NumberText
    ? value.text.slice(0, MOST_SHOWN)
    : (JSON.stringify(value, (_key, part) => (part instanceof NumberText ? Number(part.text) : part))?.slice(
        0,
        MOST_SHOWN,
      ) ?? '');

export const missing = (name: string, what: string): Problem => ({
  problem: `"${name}" is missing: ${what}.`,
});

/** What may be a number: it, or a text; empty where it is neither. */
export function numberText(value: unknown): string {
  if (value instanceof NumberText) return value.text;
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value.trim() : '';
}

/** A number, or a text that is one. */
export const readNumber = (value: unknown): Decimal | null => parseDecimal(numberText(value));

/** What is wrong with a number that we cannot carry as it is; null: that is not it. */
export const inexact = (name: string, value: unknown, text = numberText(value)): Problem | null =>
  isNumeral(text) && parseDecimal(text) === null
    ? {
        problem: `"${name}" is ${shown(value)}: a number has at most 15 significant digits here, and lies between 1e-15 and 1e16. Send it rounded.`,
      }
    : null;
