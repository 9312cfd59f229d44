// Schemas on their way into the document: named shapes move to its components, and every shape can show an example.

import { isDeepStrictEqual } from 'node:util';

/** As much of JSON Schema as our schemas use. */
export interface Schema {
  readonly $ref?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
}

/** Values, not schemas: an example may have a title of its own. */
const VALUES = new Set(['examples', 'enum', 'const', 'default']);

/** The named shapes of a document. */
export interface Shapes {
  readonly byName: Map<string, Schema>;
  /** What became of a schema that was met before: most are used by many routes. */
  readonly known: WeakMap<object, Schema>;
}

export const noShapes = (): Shapes => ({ byName: new Map(), known: new WeakMap() });

/** The schema with a reference in the place of every shape that has a title; the shapes go into `shapes`. */
export function hoist(schema: object, shapes: Shapes): Schema {
  const known = shapes.known.get(schema);
  if (known) return known;
  const made = named(copied(schema, shapes) as Schema, shapes);
  shapes.known.set(schema, made);
  return made;
}

function named(copy: Schema, { byName }: Shapes): Schema {
  const { title, ...shape } = copy;
  if (typeof title !== 'string') return copy;
  const earlier = byName.get(title);
  if (earlier && !isDeepStrictEqual(earlier, shape))
    throw new Error(`two different shapes are called ${title}`);
  byName.set(title, shape);
  return { $ref: `#/components/schemas/${title}` };
}

function copied(part: unknown, shapes: Shapes): unknown {
  if (Array.isArray(part)) return part.map((each) => hoisted(each, shapes));
  const entries = Object.entries(part as object);
  return Object.fromEntries(
    entries.map(([key, value]) => [key, VALUES.has(key) ? value : hoisted(value, shapes)]),
  );
}

const hoisted = (part: unknown, shapes: Shapes): unknown =>
  typeof part === 'object' && part !== null ? hoist(part, shapes) : part;

const EXAMPLES: Readonly<Record<string, unknown>> = {
  'date-time': '2026-11-16T14:30:00.250Z',
  uuid: '019a8c5e-7d31-7f02-9c44-5b1e0a6f2d10',
  string: '…',
  integer: 1,
  number: 1,
  boolean: false,
  null: null,
};

/** Of a schema that is not hoisted yet. Of optional fields only those that bring an example of their own. */
export function exampleOf(schema: Schema): unknown {
  if (schema.examples) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf?.[0]) return exampleOf(schema.anyOf[0]);
  if (schema.type === 'array') return schema.items ? [exampleOf(schema.items)] : [];
  if (schema.type === 'object') {
    const { properties = {}, required = [] } = schema;
    const shown = Object.entries(properties).filter(
      ([name, field]) => required.includes(name) || field.examples,
    );
    return Object.fromEntries(shown.map(([name, field]) => [name, exampleOf(field)]));
  }
  return EXAMPLES[schema.format ?? ''] ?? EXAMPLES[schema.type ?? ''] ?? null;
}
