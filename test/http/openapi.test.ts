// /openapi.json: valid, complete, and true.

import assert from 'node:assert/strict';
import { before, describe, type TestContext, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import Fastify from 'fastify';
import packageJson from '../../package.json' with { type: 'json' };
import { sql } from '../../src/data/engine/db.ts';
import { detailOf } from '../../src/domain/denial.ts';
import { DENIALS } from '../../src/domain/denials.ts';
import { type OpenApi, type Operation, openApi } from '../../src/http/docs/openapi.ts';
import { guardRoutes, type Route } from '../../src/http/guards.ts';
import { makeSession, SIGNED } from '../accounts/credentials.ts';
import { inject, openWorld, PASSWORD, type World } from '../world.ts';
import { answerProblem, mismatch, resolved, target } from './documented.ts';
import { SAMPLES } from './route-samples.ts';
import { countingHasher } from './visitor.ts';

async function readDocument(t: TestContext, env: Record<string, string> = {}) {
  const world = await openWorld(t, { env });
  const answer = await world.request<OpenApi>({ method: 'GET', url: '/openapi.json' });
  return { world, answer, document: answer.body };
}

const operationsOf = ({ paths }: OpenApi): { name: string; operation: Operation }[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );

const nameOf = ({ method, url }: Pick<Route, 'method' | 'url'>): string =>
  `${method === 'HEAD' ? 'GET' : method} ${url.replace(/:(\w+)/g, '{$1}')}`;

/** Every reference in a part of the document. */
function refsIn(part: unknown): string[] {
  if (typeof part !== 'object' || part === null) return [];
  const { $ref } = part as { $ref?: unknown };
  return [...(typeof $ref === 'string' ? [$ref] : []), ...Object.values(part).flatMap(refsIn)];
}

describe('the OpenAPI document', () => {
  test('is open to everybody, and is valid OpenAPI 3.1', async (t) => {
    const { answer, document } = await readDocument(t, { BASE_URL: 'https://fillpath.example' });
    assert.equal(answer.status, 200);
    assert.match(String(answer.headers['content-type']), /^application\/json/);
    assert.match(document.openapi, /^3\.1\./);
    const verdict = await new Validator().validate(structuredClone(document) as never);
    assert.ok(verdict.valid, JSON.stringify(verdict.errors, null, 2));
    assert.equal(document.info.version, packageJson.version);
    assert.deepEqual(document.servers, [{ url: 'https://fillpath.example' }]);
  });

  test('has every route of the server, and no other', async (t) => {
    const { world, document } = await readDocument(t);
    const routes = new Set(world.server.routeTable.map(nameOf));
    assert.deepEqual(
      operationsOf(document)
        .map(({ name }) => name)
        .sort(),
      [...routes].sort(),
    );
  });

  test('names every call once, and files it under a chapter that there is', async (t) => {
    const { document } = await readDocument(t);
    const operations = operationsOf(document).map(({ operation }) => operation);
    const ids = operations.map(({ operationId }) => operationId);
    assert.deepEqual(
      ids.filter((id, index) => ids.indexOf(id) !== index),
      [],
    );
    const chapters = new Set(document.tags.map(({ name }) => name));
    for (const { operationId, tags } of operations) assert.ok(chapters.has(tags[0] ?? ''), operationId);
    for (const name of chapters)
      assert.ok(
        operations.some(({ tags }) => tags.includes(name)),
        name,
      );
  });

  test('has a target for every reference, and no component that nothing refers to', async (t) => {
    const { document } = await readDocument(t);
    const refs = new Set(refsIn(document));
    assert.ok(refs.size > 50);
    for (const ref of refs) assert.ok(target(document, ref), ref);
    const { schemas, examples } = document.components;
    const unused = [
      ...Object.keys(schemas).map((name) => `#/components/schemas/${name}`),
      ...Object.keys(examples).map((name) => `#/components/examples/${name}`),
    ].filter((ref) => !refs.has(ref));
    assert.deepEqual(unused, [], 'a denial that no route declares is one that nobody can get');
  });

  test('has every place of a path among its parameters', async (t) => {
    const { document } = await readDocument(t);
    for (const { name, operation } of operationsOf(document)) {
      const places = [...name.matchAll(/\{(\w+)\}/g)].map(([, place]) => place);
      const { parameters = [] } = operation;
      assert.deepEqual(
        parameters.filter((each) => each.in === 'path').map((each) => each.name),
        places,
        name,
      );
      for (const { description, name: parameter } of parameters)
        assert.ok(description, `${name}: ${parameter}`);
    }
  });

  test('gives examples that are what they are examples of', async (t) => {
    const { document } = await readDocument(t);
    let checked = 0;
    for (const { name, operation } of operationsOf(document)) {
      const { requestBody, responses } = operation;
      for (const { content = {} } of [...(requestBody ? [requestBody] : []), ...Object.values(responses)])
        for (const { schema, example } of Object.values(content)) {
          if (example === undefined) continue;
          assert.equal(mismatch(document, schema, example), null, `${name}: ${JSON.stringify(example)}`);
          checked++;
        }
    }
    assert.ok(checked > 80, String(checked));
    for (const [name, { value }] of Object.entries(document.components.examples))
      assert.equal(mismatch(document, { $ref: '#/components/schemas/Problem' }, value), null, name);
  });

  test('says who may call: without a login, by a session with its CSRF token, or by a key', async (t) => {
    const { document } = await readDocument(t);
    const ways = (path: string, method: string) =>
      document.paths[path]?.[method]?.security.map((each) => Object.keys(each).join(' + '));
    assert.deepEqual(ways('/webhook/{token}/order', 'post'), []);
    assert.deepEqual(ways('/auth/silent-refresh', 'post'), ['refresh_cookie']);
    assert.deepEqual(ways('/auth/session', 'get'), ['session_cookie', 'access_token']);
    assert.deepEqual(ways('/trading/orders', 'get'), ['session_cookie', 'access_token', 'api_key']);
    const acting = ['session_cookie + csrf_token', 'access_token + csrf_token', 'api_key'];
    assert.deepEqual(ways('/trading/order', 'post'), acting);
    assert.deepEqual(ways('/deployment/terms', 'put'), acting);
    const schemes = Object.keys(document.components.securitySchemes);
    for (const { name, operation } of operationsOf(document))
      for (const way of operation.security.flatMap(Object.keys)) assert.ok(schemes.includes(way), name);
  });

  test('has the errors of the spec with every call that can answer them', async (t) => {
    const { document } = await readDocument(t);
    const codes = (path: string, method: string) =>
      Object.values(document.paths[path]?.[method]?.responses ?? {}).flatMap(({ content = {} }) =>
        Object.keys(content['application/problem+json']?.examples ?? {}),
      );
    const webhook = codes('/webhook/{token}/order', 'post');
    for (const code of [
      'webhook_not_found',
      'user_deactivated',
      'webhook_ip_blocked',
      'platform_certificate_missing',
      'webhook_timestamp_expired',
      'webhook_credential_attack',
      'webhook_replay_attack',
      'webhook_payload_invalid',
      'payload_too_large',
      'rate_limited',
      'edge_rate_limited',
      'plan_simulation_only',
      'terms_not_accepted',
      'credentials_not_verified',
      'daily_limit_reached',
      'worker_unavailable',
      'store_unavailable',
    ])
      assert.ok(webhook.includes(code), code);
    assert.ok(!webhook.includes('csrf_validation_failed'));
    // A charting platform is no browser.
    assert.ok(!webhook.includes('origin_not_allowed'));
    const order = codes('/trading/order', 'post');
    for (const code of ['unauthenticated', 'csrf_validation_failed', 'rate_limited', 'ip_not_allowed'])
      assert.ok(order.includes(code), code);
    const orders = codes('/trading/orders', 'get');
    for (const code of ['rate_limited', 'ip_not_allowed', 'csrf_validation_failed'])
      assert.ok(!orders.includes(code), code);
    for (const [status, { headers = {} }] of operationsOf(document).flatMap(({ operation }) =>
      Object.entries(operation.responses),
    ))
      if (status === '429') assert.ok('Retry-After' in headers);
  });

  test('takes what the service takes: the webhook under any content type, tokens as a form or as JSON', async (t) => {
    const { document } = await readDocument(t);
    const types = (path: string) => Object.keys(document.paths[path]?.post?.requestBody?.content ?? {});
    assert.deepEqual(types('/webhook/{token}/order'), ['application/json', 'text/plain']);
    assert.deepEqual(types('/auth/token'), ['application/x-www-form-urlencoded', 'application/json']);
    assert.deepEqual(types('/auth/logout'), []);
  });

  test('is made for a route that says all it needs, and a route that does not is not registered', () => {
    const server = Fastify();
    guardRoutes(server, {} as never);
    const doc = { id: 'x', tag: 'Public', summary: 'x', answers: { 204: null } } as const;
    const add = (url: string, config: object) => () => server.get(url, { config }, async () => null);
    assert.throws(add('/a', {}), /GET \/a does not say who may call it/);
    assert.throws(add('/b', { access: 'open' }), /GET \/b does not say what its documentation is made from/);
    assert.throws(add('/c/:id', { access: 'open', doc }), /GET \/c\/:id does not say what :id is/);
    assert.doesNotThrow(add('/d', { access: 'open', doc }));
  });

  test('refuses two shapes of one name', () => {
    const route = (url: string, answers: object): Route => ({
      ...{ method: 'GET', url, access: 'open', body: undefined, query: undefined, headers: undefined },
      doc: { id: url.slice(1), tag: 'Public', summary: '', answers: answers as Route['doc']['answers'] },
    });
    const about = { version: '1', baseUrl: 'http://localhost' };
    const one = { 200: { title: 'Thing', type: 'string' } };
    const other = { 200: { title: 'Thing', type: 'number' } };
    assert.doesNotThrow(() => openApi([route('/a', one), route('/b', one)], about));
    assert.throws(
      () => openApi([route('/a', one), route('/b', other)], about),
      /two different shapes are called Thing/,
    );
  });
});

describe('the answers of the service', () => {
  const hasher = countingHasher();

  /** By whoever may call it, with the sample request of the route matrix. */
  async function ask(world: World, route: Route) {
    const trader = await world.makeTrader({ isAdmin: route.access === 'admin' });
    const passwordHash = await hasher.hash(PASSWORD);
    await world.db.commit([
      sql`update users set password_hash = ${passwordHash} where id = ${trader.user.id}`,
    ]);
    const {
      params = {},
      query = '',
      body,
      headers = {},
    } = (await SAMPLES[`${route.method} ${route.url}`]?.({ world, trader })) ?? {};
    const url = route.url.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
    const session = route.access === 'open' ? {} : (await makeSession(world, trader.user)).cookie;
    const answer = await inject(world.server, {
      method: route.method as 'GET',
      url: url + query,
      headers: {
        ...session,
        ...headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
    return {
      status: answer.statusCode,
      type: String(answer.headers['content-type'] ?? ''),
      body: answer.body,
    };
  }

  test('are as described, for every route, down to the last field', async (t) => {
    const world = await openWorld(t, { env: { ...SIGNED, VERIFY_EMAIL: 'true' }, hasher });
    await world.server.ready();
    const document = openApi(world.server.routeTable, { version: '1', baseUrl: 'http://localhost' });
    for (const route of world.server.routeTable.filter(({ method }) => method !== 'HEAD'))
      await t.test(`${route.method} ${route.url}`, async () => {
        const answer = await ask(world, route);
        assert.ok(answer.status < 300, `${answer.status} ${answer.body}`);
        assert.equal(answerProblem(document, route, answer), null);
      });
  });

  describe('would be found out', () => {
    let document: OpenApi;
    before(() => {
      const doc: Route['doc'] = {
        id: 'x',
        tag: 'Public',
        summary: 'x',
        answers: { 200: { type: 'object', required: ['a'], properties: { a: { type: 'number' } } } as never },
        denials: ['not_found'],
      };
      const route = {
        url: '/x',
        access: 'open',
        body: undefined,
        query: undefined,
        headers: undefined,
      } as const;
      document = openApi([{ ...route, method: 'GET', doc }], { version: '1', baseUrl: 'http://localhost' });
    });
    const json = (status: number, body: unknown, type = 'application/json') => ({
      status,
      type,
      body: JSON.stringify(body),
    });
    const { title, advice, status } = DENIALS.not_found;
    const problem = {
      type: 'http://localhost/docs/errors#not_found',
      title,
      status,
      detail: detailOf(DENIALS.not_found),
      advice,
      request_id: '019a8c5e-7d31-7f02-9c44-5b1e0a6f2d10',
    };
    const cases: Record<string, readonly [answer: ReturnType<typeof json>, problem: RegExp | null]> = {
      'what is described': [json(200, { a: 1 }), null],
      'a field that is missing': [json(200, {}), /another shape.*required/],
      'a field too many': [json(200, { a: 1, b: 2 }), /another shape/],
      'another type': [json(200, { a: '1' }), /another shape.*number/],
      'another status': [json(201, { a: 1 }), /answers 201, which is not described/],
      'a problem that is described': [
        json(404, { ...problem, code: 'not_found' }, 'application/problem+json; charset=utf-8'),
        null,
      ],
      'a code that is not': [
        json(404, { ...problem, code: 'webhook_not_found' }, 'application/problem+json'),
        /the code webhook_not_found, which is not described/,
      ],
    };
    for (const [name, [answer, expected]] of Object.entries(cases))
      test(name, () => {
        const found = answerProblem(document, { method: 'GET', url: '/x' }, answer);
        if (expected === null) assert.equal(found, null);
        else assert.match(found ?? '', expected);
      });
    test('a route that is not described', () => {
      assert.match(
        answerProblem(document, { method: 'GET', url: '/y' }, json(200, {})) ?? '',
        /is not described/,
      );
    });
    test('a shape without references, closed', () => {
      assert.ok(resolved(document, { $ref: '#/components/schemas/Problem' }, { closed: true }).properties);
    });
  });
});
