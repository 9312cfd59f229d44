// A message as it was received, with the secret's value masked wherever it stands, whether or not it is the right one.

import { type JsonObject, NumberText } from './json.ts';
import type { BodyReading } from './signal.ts';

export const MASK = '••••••';
const MOST_CHARACTERS = 16_384;

/** In a text that is no JSON, whatever follows a name like this. */
const NAMED =
  /(["']?(?:secret|password|passphrase|api_?key|token)["']?\s*[:=]\s*)("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|\[[^\]]*\]?|[^\n,;}\]]+)/gi;

/** `known`: the right one. */
export function maskMessage(reading: BodyReading, known: string): string {
  const text = reading.text.replaceAll('\0', '\ufffd').slice(0, MOST_CHARACTERS);
  const given = 'fields' in reading ? secretIn(reading.fields) : null;
  // Mostly these are one.
  const values = new Set([known, given ?? '', escaped(known), escaped(given ?? '')]);
  values.delete('');
  const masked = [...values]
    .sort((a, b) => b.length - a.length)
    .reduce((left, value) => left.replaceAll(value, MASK), text);
  return masked.replace(NAMED, (_all, name: string, value: string) =>
    /^["']/.test(value) ? `${name}"${MASK}"` : `${name}${MASK}`,
  );
}

/** As it may stand in JSON. */
const escaped = (value: string): string => JSON.stringify(value).slice(1, -1);

/** A number can be meant as one, too. */
function secretIn({ secret }: JsonObject): string | null {
  if (secret instanceof NumberText) return secret.text;
  return typeof secret === 'string' ? secret : null;
}
