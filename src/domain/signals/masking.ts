// A message as it was received, with the secret's value masked wherever it stands, whether or not it is the right one.

import { type JsonObject, NumberText } from './json.ts';
import type { BodyReading } from './signal.ts';

export const MASK = '••••••';
const MOST_CHARACTERS = 16_384;

/** In a text that is no JSON, whatever follows a name like this: a list or an object with all that is behind it, but not a placeholder. */
const NAMED =
  /(["']?(?:secret|password|passphrase|api_?key|token)["']?\s*[:=]\s*)("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|(?:\[|\{(?!\{)).*|[^\n,;}\]]+)/gis;
/** One that nobody closed too: to try again at each of its quotes would take quadratic time. */
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)/gs;

/** `known`: the right one. */
export function maskMessage(reading: BodyReading, known: string): string {
  const text = reading.text.replaceAll('\0', '\ufffd').slice(0, MOST_CHARACTERS);
  const given = 'fields' in reading ? secretIn(reading.fields) : null;
  // Mostly these are one.
  const values = new Set([known, given ?? '', escaped(known), escaped(given ?? '')]);
  values.delete('');
  const hides = (token: string) => {
    const meant = token.includes('\\') ? meantBy(token) : '';
    return [...values].some((value) => meant.includes(value));
  };
  // A letter may be written as its number.
  const readable = text.includes('\\')
    ? text.replace(STRING, (token) => (hides(token) ? `"${MASK}"` : token))
    : text;
  const masked = [...values]
    .sort((a, b) => b.length - a.length)
    .reduce((left, value) => left.replaceAll(value, MASK), readable);
  return masked.replace(NAMED, (_all, name: string, value: string) =>
    /^["']/.test(value) ? `${name}"${MASK}"` : `${name}${MASK}`,
  );
}

const meantBy = (token: string): string =>
  token.replace(/\\(?:u([\da-f]{4})|(.))/gis, (_all, code?: string, letter = '') =>
    code === undefined ? (LETTERS[letter] ?? letter) : String.fromCharCode(Number.parseInt(code, 16)),
  );
const LETTERS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** As it may stand in JSON. */
const escaped = (value: string): string => JSON.stringify(value).slice(1, -1);

/** A number can be meant as one, too. */
function secretIn({ secret }: JsonObject): string | null {
  if (secret instanceof NumberText) return secret.text;
  return typeof secret === 'string' ? secret : null;
}
