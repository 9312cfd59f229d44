// What a schema has against a request, in words for a person.

/** As much of the validator's error as is told. */
interface SchemaError {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
}

/** "name: must be 1 to 100 characters." Where the request has no better name, `part` is it. */
export function explain(schema: object, error: SchemaError | undefined, part: string): string {
  const where = error?.instancePath.slice(1).replaceAll('/', '.') || part;
  return `${where}: ${error ? reason(schema, error) : 'is invalid'}.`;
}

function reason(schema: object, { keyword, schemaPath, params, message }: SchemaError): string {
  switch (keyword) {
    case 'boolean':
      return 'is not a field of this request';
    case 'enum': {
      const { allowedValues = [] } = params as { allowedValues?: readonly unknown[] };
      return `must be one of ${allowedValues.join(', ')}`;
    }
    case 'pattern': {
      const description = descriptionAt(schema, schemaPath);
      return description === null ? message : `must be ${description}`;
    }
    default:
      return message;
  }
}

/** A pattern is described where it stands, for the documentation too. */
function descriptionAt(schema: object, path: string): string | null {
  const found = path
    .split('/')
    .slice(1)
    .reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], schema);
  const { description } = (found ?? {}) as { description?: unknown };
  return typeof description === 'string' ? description : null;
}
