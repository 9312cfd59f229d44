// What a schema has against a request, in words for a person: which field, and what it should be. The words are made from
// the schema, so that they are those of the documentation, and not the validator's.

import { didYouMean, nearest } from '../domain/nearest.ts';
import type { Schema } from './schemas/named.ts';

/** As much of the validator's error as is used. */
interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: object;
}

/** `"limit" must be a whole number from 1 to 200.` `part`: as Fastify calls it. */
export function explain(schema: object, error: SchemaError | undefined, part: string): string {
  const whole = PARTS[part] ?? 'The request';
  if (!error) return `${whole} is not in the form that this call takes.`;
  const path = error.instancePath.split('/').slice(1).map(unescaped);
  const said = path.length > 0 ? named(path, part) : whole;
  const at = path.reduce<Schema | undefined>(inside, schema as Schema);
  switch (error.keyword) {
    case 'required': {
      const { requiredProperties: names = [] } = error.params as { requiredProperties?: readonly string[] };
      return missing(
        names.map((name) => [...path, name]),
        at ?? {},
        part,
      );
    }
    case 'boolean':
    case 'additionalProperties': {
      const name = path.at(-1) ?? '';
      const holder = path.slice(0, -1).reduce<Schema | undefined>(inside, schema as Schema) ?? {};
      return notAField(said, name, Object.keys(holder.properties ?? {}));
    }
    case 'minProperties':
      return `${said} must have at least one field: ${Object.keys(at?.properties ?? {}).join(', ')}.`;
    case 'type':
      if (at?.type === 'string') return `${said} must be a string, in double quotes.`;
      break;
    case 'pattern':
      // Of a text whose length is given, the description says what it is for and not how it is spelled.
      if (at?.maxLength !== undefined) return `${said} must not contain a NUL or half a character.`;
      break;
  }
  return `${said} must be ${wanted(at ?? {})}.`;
}

const PARTS: Readonly<Record<string, string>> = {
  body: 'The body',
  querystring: 'The query',
  headers: 'The headers',
};

const unescaped = (key: string): string => key.replaceAll('~1', '/').replaceAll('~0', '~');

/** "guards.hours", "allowed_symbols" or, of a header, its name as it is written. */
const named = (path: readonly string[], part: string): string =>
  part === 'headers'
    ? `The header ${path.join('.').replace(/(^|-)[a-z]/g, (start) => start.toUpperCase())}`
    : JSON.stringify(path.join('.').slice(0, 64));

/** Names come from strangers: nothing that an object inherits is a field. */
const inside = (schema: Schema | undefined, key: string): Schema | undefined =>
  Object.hasOwn(schema?.properties ?? {}, key) ? schema?.properties?.[key] : schema?.items;

function missing(paths: readonly (readonly string[])[], schema: Schema, part: string): string {
  const [first = []] = paths;
  const what = schema.properties?.[first.at(-1) ?? '']?.description;
  if (paths.length === 1) return `${named(first, part)} is missing${what ? `: ${what}` : ''}.`;
  return `${listed(paths.map((path) => named(path, part)))} are missing.`;
}

function notAField(said: string, name: string, known: readonly string[]): string {
  const takes = known.length > 0 ? `It takes ${listed(known)}.` : 'It takes none.';
  return `${said} is not a field of this request.${didYouMean(nearest(name, known).slice(0, 1))} ${takes}`;
}

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

function wanted(schema: Schema): string {
  if (schema.anyOf) return schema.anyOf.map(wanted).join(' or ');
  if (schema.enum) return `one of ${schema.enum.join(', ')}`;
  switch (schema.type) {
    case 'string':
      return textOf(schema);
    case 'integer':
      return `a whole number${range(schema)}`;
    case 'number':
      return `a number${range(schema)}`;
    case 'boolean':
      return 'true or false';
    case 'null':
      return 'null';
    case 'array':
      return schema.maxItems === undefined ? 'a list' : `a list of at most ${schema.maxItems} entries`;
    default:
      return 'an object: {…}';
  }
}

function textOf({ format, pattern, description, minLength = 0, maxLength }: Schema): string {
  if (format === 'date-time') return 'a point in time in RFC 3339, such as 2026-11-16T14:30:00Z';
  if (pattern !== undefined && maxLength === undefined) return description ?? 'spelled as /docs says';
  if (maxLength === undefined)
    return minLength > 0 ? 'a string that is not empty' : 'a string, in double quotes';
  return minLength > 0
    ? `a string of ${minLength} to ${maxLength} characters`
    : `a string of at most ${maxLength} characters`;
}

function range({ minimum, exclusiveMinimum, maximum }: Schema): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  const least =
    minimum !== undefined
      ? ` of at least ${minimum}`
      : exclusiveMinimum !== undefined
        ? ` above ${exclusiveMinimum}`
        : '';
  if (maximum === undefined) return least;
  return least ? `${least} and at most ${maximum}` : ` of at most ${maximum}`;
}
