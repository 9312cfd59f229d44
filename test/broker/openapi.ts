// A broker's own description of its API, as a yardstick for a stub and for those who speak to it: every exchange of
// request and answer is held against it.

import assert from 'node:assert/strict';
import { Compile } from 'typebox/schema';

interface Operation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
  }[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
}

interface Body {
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

export interface Spoken {
  readonly method: string;
  readonly path: string;
  readonly asked: Readonly<Record<string, string>>;
  readonly status: number;
  readonly answer: unknown;
}

/** What does not fit, in words. */
export function breaches(api: OpenApi, { method, path, asked, status, answer }: Spoken): string[] {
  const operation = api.paths[path]?.[method.toLowerCase()];
  if (!operation) return [`${method} ${path} is not described`];
  const missing = (operation.parameters ?? [])
    .filter(({ name, required }) => required && !(name in asked))
    .map(({ name }) => `${method} ${path} was asked without ${name}`);
  const form = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  const { responses } = operation;
  const response = responses[status] ?? responses[`${Math.floor(status / 100)}XX`] ?? responses.default;
  const said = Object.values(response?.content ?? {})[0]?.schema;
  return [
    ...missing,
    ...(form ? misfits(api, form, numbered(asked), `what ${method} ${path} was asked with`) : []),
    ...(said ? misfits(api, said, answer, `the answer to ${method} ${path}`) : []),
  ];
}

/** A form has only texts. */
const numbered = (asked: Spoken['asked']) =>
  Object.fromEntries(
    Object.entries(asked).map(([name, text]) => [
      name,
      name === 'timestamp' || name === 'recvWindow' ? Number(text) : text,
    ]),
  );

function misfits(api: OpenApi, schema: object, value: unknown, what: string): string[] {
  const [fits, errors] = Compile({ ...schema, components: api.components } as never).Errors(value);
  return fits ? [] : errors.map(({ instancePath, message }) => `${what}: ${instancePath} ${message}`);
}

/** What the description has and no answer ever said. */
export function neverSaid(api: OpenApi, name: string, answers: readonly object[]): string[] {
  const schema = api.components.schemas[name] as { properties?: object } | undefined;
  assert.ok(schema?.properties, `${name} is not described`);
  return Object.keys(schema.properties).filter((field) => !answers.some((answer) => field in answer));
}
