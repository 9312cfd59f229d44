// node web/api/generate.ts: writes schema.ts, the types of the API, from its own /openapi.json, in the shape that
// openapi-fetch reads. test/web/schema.test.ts fails where it is stale. It knows what our schemas are made of, and throws at
// anything else.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly required?: readonly string[];
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: Schema;
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const SIMPLE: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

export function typesOf({ paths, components }: OpenApi): string {
  return [
    '// Made from /openapi.json by `npm run api-types`. Not to be edited.',
    '',
    `export interface paths ${members(
      Object.entries(paths).map(([path, methods]) => [
        JSON.stringify(path),
        members(Object.entries(methods).map(([method, operation]) => [method, operationType(operation)])),
      ]),
    )}`,
    '',
    `export interface components { schemas: ${members(
      Object.entries(components.schemas).map(([name, schema]) => [JSON.stringify(name), typeOf(schema)]),
    )} }`,
    '',
  ].join('\n');
}

function operationType({ parameters = [], requestBody, responses }: Operation): string {
  const placed = ['query', 'path', 'header', 'cookie'].map((place): [string, string] => {
    const here = parameters.filter((parameter) => parameter.in === place);
    const isNeeded = here.some(({ required }) => required);
    const types = here.map(({ name, required, schema }): [string, string] => [
      key(name, required),
      typeOf(schema),
    ]);
    return [key(place, isNeeded), types.length > 0 ? members(types) : 'never'];
  });
  const bodies = Object.entries(responses).map(([status, { content }]): [string, string] => [
    status,
    `{ headers: Record<string, unknown>; content: ${content ? contentType(content) : 'never'} }`,
  ]);
  return members([
    ['parameters', members(placed)],
    requestBody
      ? [
          key('requestBody', requestBody.required ?? false),
          `{ content: ${contentType(requestBody.content)} }`,
        ]
      : ['requestBody?', 'never'],
    ['responses', members(bodies)],
  ]);
}

const contentType = (content: Content): string =>
  members(Object.entries(content).map(([type, { schema }]) => [JSON.stringify(type), typeOf(schema)]));

function typeOf(schema: Schema): string {
  if (schema.$ref) return `components['schemas'][${JSON.stringify(schema.$ref.split('/').at(-1))}]`;
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ');
  if (schema.allOf) return schema.allOf.map((part) => `(${typeOf(part)})`).join(' & ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ');
  // A tuple's `items` are a list, which OpenAPI 3.1 does not know.
  if (Array.isArray(schema.items)) throw new Error(`what is a ${JSON.stringify(schema)}?`);
  if (schema.type === 'array') return `(${schema.items ? typeOf(schema.items) : 'unknown'})[]`;
  if (schema.type === 'object' || schema.properties) return objectType(schema);
  if (schema.type === undefined) return 'unknown';
  const simple = SIMPLE[schema.type as string];
  if (!simple) throw new Error(`what is a ${JSON.stringify(schema)}?`);
  return simple;
}

function objectType({
  properties = {},
  patternProperties,
  additionalProperties,
  required = [],
}: Schema): string {
  const named = Object.entries(properties).map(([name, schema]): [string, string] => [
    key(name, required.includes(name)),
    typeOf(schema),
  ]);
  if (named.length > 0) return members(named);
  const [pattern] = Object.values(patternProperties ?? {});
  const rest = pattern ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
  return `Record<string, ${rest ? typeOf(rest) : 'unknown'}>`;
}

const key = (name: string, required: boolean): string => JSON.stringify(name) + (required ? '' : '?');
const members = (entries: readonly (readonly [string, string])[]): string =>
  `{ ${entries.map(([name, type]) => `${name}: ${type};`).join('\n')} }`;

/** The document, from a service that nobody can reach. */
export async function readOpenApi(): Promise<OpenApi> {
  const { openFillpath } = await import('../../src/main.ts');
  const { readConfig } = await import('../../src/config/config.ts');
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-api-types-'));
  const fillpath = await openFillpath(readConfig({ DATA_DIR: dir, PORT: '0', LOG_LEVEL: 'silent' }));
  try {
    if (!fillpath.server) throw new Error('this role has no API');
    return (await fillpath.server.inject('/openapi.json')).json();
  } finally {
    await fillpath.stop();
    rmSync(dir, { recursive: true });
  }
}

if (import.meta.main) writeFileSync(join(import.meta.dirname, 'schema.ts'), typesOf(await readOpenApi()));
