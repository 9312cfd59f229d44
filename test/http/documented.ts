// Whatever a Fillpath answers in any test is held against what it says of itself in /openapi.json: the status, the code
// of a problem, and every field. So the description stays true without a test of its own for each sentence.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Compile } from 'typebox/schema';
import { type OpenApi, openApi } from '../../src/http/docs/openapi.ts';

interface Schema {
  readonly [key: string]: unknown;
}

/** The schema without references; `closed`: a field that is not in it is one too many. */
export function resolved(document: OpenApi, schema: unknown, { closed = false } = {}): Schema {
  const resolve = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(resolve);
    if (typeof part !== 'object' || part === null) return part;
    const { $ref } = part as { $ref?: unknown };
    if (typeof $ref === 'string') return resolve(target(document, $ref));
    const entries = Object.entries(part).map(([key, value]) => [key, DATA.has(key) ? value : resolve(value)]);
    const isOpen = 'properties' in part && !('additionalProperties' in part);
    return { ...Object.fromEntries(entries), ...(closed && isOpen ? { additionalProperties: false } : {}) };
  };
  return resolve(schema) as Schema;
}

const DATA = new Set(['examples', 'example', 'enum', 'const', 'default']);

export function target(document: OpenApi, ref: string): unknown {
  const found = ref
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], document);
  if (found === undefined) throw new Error(`${ref} leads nowhere`);
  return found;
}

/** Compiling takes longer than checking, and the same few schemas are checked all the time. */
const validators = new WeakMap<object, ReturnType<typeof Compile>>();
function validatorOf(document: OpenApi, schema: object) {
  const known = validators.get(schema);
  if (known) return known;
  const made = Compile(resolved(document, schema, { closed: true }) as never);
  validators.set(schema, made);
  return made;
}

/** Why the value is not of the schema; null: it is. */
export function mismatch(document: OpenApi, schema: unknown, value: unknown): string | null {
  const validator = validatorOf(document, schema as object);
  if (validator.Check(value)) return null;
  const [, [first]] = validator.Errors(value);
  return `${first?.instancePath || 'the answer'} ${first?.message ?? 'does not fit'}`;
}

const PROBLEM = 'application/problem+json';

/** What is wrong with an answer; null: nothing. */
export function answerProblem(
  document: OpenApi,
  call: { readonly method: string; readonly url: string },
  answer: { readonly status: number; readonly type: string; readonly body: string },
): string | null {
  const path = call.url.replace(/:(\w+)/g, '{$1}');
  const operation = document.paths[path]?.[call.method.toLowerCase()];
  if (!operation) return 'is not described';
  const response = operation.responses[answer.status];
  if (!response) return `answers ${answer.status}, which is not described: ${answer.body.slice(0, 200)}`;
  if (answer.body === '') return response.content && call.method !== 'HEAD' ? 'answers without a body' : null;
  const type = answer.type.replace(/;.*/s, '');
  const media = response.content?.[type];
  if (!media) return `answers ${answer.status} as ${type}, which is not described`;
  if (type === PROBLEM) {
    const { code } = JSON.parse(answer.body) as { code: string };
    const [, { properties } = {}] = media.schema?.allOf ?? [];
    if (!properties?.code?.enum?.includes(code))
      return `answers ${answer.status} with the code ${code}, which is not described`;
    return mismatch(document, media.schema?.allOf?.[0], JSON.parse(answer.body));
  }
  if (type !== 'application/json') return null;
  const wrong = mismatch(document, media.schema, JSON.parse(answer.body));
  return wrong && `answers ${answer.status} with another shape than described: ${wrong}`;
}

/** Servers with the same routes share it, as all the worlds of a test file do. */
const documents = new Map<string, OpenApi>();
function documentOf({ routeTable }: FastifyInstance): OpenApi {
  const routes = routeTable.map(({ method, url }) => `${method} ${url}`).join('\n');
  const document =
    documents.get(routes) ?? openApi(routeTable, { version: '0', baseUrl: 'http://localhost' });
  documents.set(routes, document);
  return document;
}

/** Of a server that is not ready yet. The list grows with every answer that is not as described. */
export function watchAnswers(server: FastifyInstance): readonly string[] {
  const found = new Set<string>();
  const list: string[] = [];
  server.addHook('onSend', async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
    const { url } = request.routeOptions;
    if (url === undefined || request.method === 'OPTIONS' || request.method === 'HEAD') return;
    if (payload !== undefined && payload !== null && typeof payload !== 'string') return;
    const document = documentOf(server);
    const call = { method: request.method, url };
    const type = String(reply.getHeader('content-type') ?? '');
    const problem =
      answerProblem(document, call, { status: reply.statusCode, type, body: payload ?? '' }) ??
      // The contract, for every route.
      ([429, 503].includes(reply.statusCode) && !reply.hasHeader('retry-after')
        ? `answers ${reply.statusCode} without Retry-After`
        : null);
    const text = problem && `${request.method} ${url} ${problem}`;
    if (!text || found.has(text)) return;
    found.add(text);
    list.push(text);
  });
  return list;
}

/** Of services in processes of their own; null: it has no API, as a worker's probe. */
const published = new Map<string, OpenApi | null>();
async function publishedBy(origin: string): Promise<OpenApi | null> {
  const known = published.get(origin);
  if (known !== undefined) return known;
  const response = await fetch(`${origin}/openapi.json`);
  const document = response.ok ? ((await response.json()) as OpenApi) : null;
  published.set(origin, document);
  return document;
}

/** An answer that came over the network, held against what the service that gave it says of itself. */
export async function assertDescribed(
  origin: string,
  { method, path }: { readonly method: string; readonly path: string },
  answer: { readonly status: number; readonly type: string; readonly body: string },
): Promise<void> {
  // One that is stopping has given its last answer.
  const document = await publishedBy(origin).catch(() => null);
  const plain = path.replace(/\?.*$/s, '');
  const urls = Object.keys(document?.paths ?? {}).filter((url) => patternOf(url).test(plain));
  const url = urls.find((one) => one === plain) ?? urls[0];
  if (!document || url === undefined || document.paths[url]?.[method.toLowerCase()] === undefined) return;
  const problem = answerProblem(document, { method, url }, answer);
  if (problem) throw new Error(`${method} ${url} ${problem}`);
}

const patternOf = (url: string): RegExp =>
  new RegExp(`^${url.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`);
