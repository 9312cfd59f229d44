// The OpenAPI document, made from the route table: what validates, guards and answers is what is described. Answers are not
// serialised by their schemas: that would cost time on every order. Instead every test that runs a whole Fillpath fails where an
// answer is not as described (test/http/documented.ts).

import { STATUS_CODES } from 'node:http';
import { type Access, CHANGING, type Route } from '../guards.ts';
import { errorsPageOf } from '../problem.ts';
import { exampleOf, hoist, noShapes, type Schema, type Shapes } from '../schemas/named.ts';
import { Problem } from '../schemas/parts.ts';
import { CONVENTIONS } from './openapi-conventions.ts';
import { FAILURES, type Failure, failuresOf } from './openapi-errors.ts';
import { type Answer, placesIn, TAGS } from './route-doc.ts';

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Media {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly $ref: string }>>;
}
export type Content = Readonly<Record<string, Media>>;

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly schema: Schema }>>;
  readonly content?: Content;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly 'x-access': Access;
}

interface ProblemExample {
  readonly summary: string;
  readonly value: Readonly<Record<string, unknown>>;
}

export interface OpenApi {
  readonly openapi: string;
  readonly info: Readonly<Record<'title' | 'version' | 'summary' | 'description', string>> & {
    readonly license: Readonly<Record<'name' | 'identifier', string>>;
  };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  /** By path, then by method in lower case. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly examples: Readonly<Record<string, ProblemExample>>;
    readonly securitySchemes: typeof SECURITY_SCHEMES;
  };
}

export interface About {
  readonly version: string;
  /** Where the service is reached from outside. */
  readonly baseUrl: string;
}

const SECURITY_SCHEMES = {
  session_cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'access_token',
    description: 'Set by POST /auth/login. HttpOnly: a browser sends it by itself.',
  },
  refresh_cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'refresh_token',
    description:
      'Set by POST /auth/login; opens POST /auth/silent-refresh alone, and rotates with every use.',
  },
  access_token: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The access_token of POST /auth/token. It is a session too: changes need X-CSRF-Token.',
  },
  api_key: {
    type: 'http',
    scheme: 'bearer',
    description: 'A key of POST /settings/api-keys. It needs no CSRF token.',
  },
  csrf_token: {
    type: 'apiKey',
    in: 'header',
    name: 'X-CSRF-Token',
    description: 'The csrf_token of the session, with every POST, PUT, PATCH and DELETE.',
  },
} as const;

export function openApi(routes: readonly Route[], { version, baseUrl }: About): OpenApi {
  const shapes = noShapes();
  const paths: Record<string, Record<string, Operation>> = {};
  // HEAD is what GET is, without the body; the conventions say so once.
  for (const route of routes.filter(({ method }) => method !== 'HEAD')) {
    const path = route.url.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, shapes) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Fillpath',
      version,
      summary: 'Executes trading signals on broker accounts, exactly once, with proof.',
      description: CONVENTIONS,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: Object.fromEntries([...shapes.byName].sort(([a], [b]) => (a < b ? -1 : 1))),
      examples: Object.fromEntries(
        FAILURES.map((failure) => [failure.name, problemExample(failure, baseUrl)]),
      ),
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

function operation(route: Route, shapes: Shapes): Operation {
  const { doc, access } = route;
  const parameters = parametersOf(route, shapes);
  const requestBody = requestBodyOf(route, shapes);
  return {
    operationId: doc.id,
    tags: [doc.tag],
    summary: doc.summary,
    ...(doc.description ? { description: doc.description } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody ? { requestBody } : {}),
    responses: responsesOf(route, shapes),
    security: securityOf(route),
    'x-access': access,
  };
}

function parametersOf({ url, doc, query, headers }: Route, shapes: Shapes): Parameter[] {
  const path = placesIn(url).map((name) => ({
    name,
    in: 'path' as const,
    required: true,
    description: doc.params?.[name] ?? '',
    schema: { type: 'string', ...(/id$/.test(name) ? { format: 'uuid' } : {}) },
  }));
  return [
    ...path,
    ...fieldsOf(query ?? doc.reads?.query, 'query', shapes),
    ...fieldsOf(headers, 'header', shapes),
  ];
}

function fieldsOf(schema: Schema | undefined, where: 'query' | 'header', shapes: Shapes): Parameter[] {
  return Object.entries(schema?.properties ?? {}).map(([name, field]) => {
    const { description, ...rest } = hoist(field, shapes);
    return {
      // Header names are read in any case; this is how they are written.
      name: where === 'header' ? name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase()) : name,
      in: where,
      required: schema?.required?.includes(name) ?? false,
      ...(description ? { description } : {}),
      schema: rest,
    };
  });
}

function requestBodyOf({ doc, body: read }: Route, shapes: Shapes): Operation['requestBody'] {
  const body = read ?? (doc.reads?.body as Schema | undefined);
  // An action without fields: no body is asked for.
  if (!body || Object.keys(body.properties ?? {}).length === 0) return undefined;
  const types = doc.bodyTypes ?? ['application/json'];
  const media = { schema: hoist(body, shapes), example: exampleOf(body) };
  const isNeeded = doc.needsBody ?? ((body.required ?? []).length > 0 || (body.minProperties ?? 0) > 0);
  return { required: isNeeded, content: Object.fromEntries(types.map((type) => [type, media])) };
}

function responsesOf(route: Route, shapes: Shapes): Operation['responses'] {
  const { answers, answerType = 'application/json', csv } = route.doc;
  const responses: Record<string, Response> = {};
  for (const [status, answer] of Object.entries(answers))
    responses[status] = answerResponse(Number(status), answer, answerType, shapes);
  if (csv && responses[200])
    responses[200] = { ...responses[200], content: { ...responses[200].content, 'text/csv': CSV } };
  for (const [status, failures] of Map.groupBy(failuresOf(route), (failure) => failure.status)) {
    const own = responses[status];
    const problem = problemResponse(failures, shapes);
    responses[status] = { ...problem, ...own, content: { ...own?.content, ...problem.content } };
  }
  return responses;
}

const CSV: Media = { schema: { type: 'string' } };

const DONE: Readonly<Record<number, string>> = {
  201: 'Made.',
  202: 'Accepted.',
  204: 'Done; there is no body.',
};

function answerResponse(status: number, answer: Answer, type: string, shapes: Shapes): Response {
  const { text, schema, headers, example } = explained(status, answer);
  return {
    description: text,
    ...(headers ? { headers: Object.fromEntries(Object.entries(headers).map(header)) } : {}),
    ...(status === 429 || status === 503 ? { headers: RETRY_AFTER } : {}),
    ...(schema
      ? { content: { [type]: { schema: hoist(schema, shapes), example: exampled(schema, example) } } }
      : {}),
  };
}

const explained = (status: number, answer: Answer): Extract<Answer, { readonly text: string }> =>
  answer && 'text' in answer
    ? (answer as Extract<Answer, { readonly text: string }>)
    : { text: DONE[status] ?? STATUS_CODES[status] ?? '', schema: answer };

const exampled = (schema: Schema, values: object | undefined): unknown =>
  values ? { ...(exampleOf(schema) as object), ...values } : exampleOf(schema);

const header = ([name, description]: [string, string]) =>
  [name, { description, schema: { type: 'string' } }] as const;

const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds to wait before the next try.', schema: { type: 'integer' } },
} as const;

/** All that share a status: the code tells which one it is. */
function problemResponse(failures: readonly Failure[], shapes: Shapes): Response {
  const [{ status } = { status: 0 }] = failures;
  const codes = [...new Set(failures.map(({ code }) => code))];
  const lines = failures.map(({ code, title }) => `- \`${code}\`: ${title}`);
  return {
    description: `${STATUS_CODES[status]}\n\n${lines.join('\n')}`,
    ...(status === 429 || status === 503 ? { headers: RETRY_AFTER } : {}),
    content: {
      'application/problem+json': {
        schema: { allOf: [hoist(Problem, shapes), { properties: { code: { enum: codes } } }] },
        examples: Object.fromEntries(
          failures.map(({ name }) => [name, { $ref: `#/components/examples/${name}` }]),
        ),
      },
    },
  };
}

function problemExample({ status, code, title, detail, advice }: Failure, baseUrl: string): ProblemExample {
  const type = `${errorsPageOf(baseUrl)}#${code}`;
  const request_id = '019a8c5e-7d31-7f02-9c44-5b1e0a6f2d10';
  return { summary: title, value: { type, title, status, detail, code, advice, request_id } };
}

function securityOf({ access, method, doc }: Route): Operation['security'] {
  if (doc.opensWith) return [{ [doc.opensWith]: [] }];
  if (access === 'open' || access === 'admin_ip') return [];
  const proof = CHANGING.has(method) ? { csrf_token: [] } : {};
  return [
    { session_cookie: [], ...proof },
    { access_token: [], ...proof },
    ...(access === 'session' ? [] : [{ api_key: [] }]),
  ];
}
