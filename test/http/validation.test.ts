// What is wrong with a request is said in words that name the field and what it should be, whatever is sent.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Compile } from 'typebox/schema';
import { readJson } from '../../src/domain/signals/json.ts';
import { AccountBody } from '../../src/http/schemas/account-requests.ts';
import { LoginBody } from '../../src/http/schemas/auth.ts';
import type { Schema } from '../../src/http/schemas/named.ts';
import { NewOrderHeaders } from '../../src/http/schemas/order-requests.ts';
import { PageQuery, UserChangeBody } from '../../src/http/schemas/requests.ts';
import { explain } from '../../src/http/validation.ts';
import { openWorld, type Problem } from '../world.ts';

/** Words of validators, of their libraries and of schemas: none of them means anything to whoever sent the request. */
const JARGON =
  /schema|anyOf|oneOf|allOf|required propert|additional propert|propert(?:y|ies)|pattern|constant|keyword|instance|instancePath|ajv|typebox|undefined|\bNaN\b|\[object|fewer than|format "/i;

function said(schema: object, value: unknown, part = 'body'): string | null {
  const validator = Compile(schema as never);
  if (validator.Check(value)) return null;
  return explain(schema, validator.Errors(value)[1][0] as never, part);
}

test('each kind of mistake is named with its field', () => {
  // biome-ignore format: a table, one row a line
  const rows: readonly [object, unknown, string, string?][] = [
    [LoginBody, { email: 'a@b.c' }, '"password" is missing: your password.'],
    [LoginBody, {}, '"email" and "password" are missing.'],
    [LoginBody, [], 'The body must be an object: {…}.'],
    [LoginBody, { email: 1, password: 'x' }, '"email" must be a string, in double quotes.'],
    [LoginBody, { email: '', password: 'x' }, '"email" must be a string of 1 to 254 characters.'],
    [LoginBody, { email: 'a\0', password: 'x' }, '"email" must not contain a NUL or half a character.'],
    [LoginBody, { email: 'a', password: 'x', pasword: 'y' }, '"pasword" is not a field of this request. Did you mean password? It takes email, password and captcha_token.'],
    [LoginBody, { email: 'a', password: 'x', constructor: 'y' }, '"constructor" is not a field of this request. It takes email, password and captcha_token.'],
    [PageQuery, { limit: 0 }, '"limit" must be a whole number from 1 to 200.', 'querystring'],
    [PageQuery, { limit: 'many' }, '"limit" must be a whole number from 1 to 200.', 'querystring'],
    [AccountBody, { name: '\n', broker: 'paper' }, '"name" must be 1 to 100 characters, not all of them blanks.'],
    [AccountBody, { name: 'a', broker: 'papers' }, '"broker" must be one of paper, binance, bybit, okx, gate, bitget, alpaca, shioaji.'],
    [AccountBody, { name: 'a', broker: 'paper', allowed_symbols: ['A B'] }, '"allowed_symbols.0" must be 1 to 64 characters without white space.'],
    [AccountBody, { name: 'a', broker: 'paper', silence_after: 0 }, '"silence_after" must be a whole number from 1 to 31536000 or null.'],
    [UserChangeBody, {}, 'The body must have at least one field: is_active, plan, plan_expires_at.'],
    [UserChangeBody, { plan_expires_at: 'soon' }, '"plan_expires_at" must be a point in time in RFC 3339, such as 2026-11-16T14:30:00Z or null.'],
    [NewOrderHeaders, { 'idempotency-key': '' }, 'The header Idempotency-Key must be 1 to 255 visible ASCII characters.', 'headers'],
  ];
  for (const [schema, value, expected, part] of rows) assert.equal(said(schema, value, part), expected);
});

test('whatever is sent to whatever call, the words name a field and have no jargon in them', async (t) => {
  const world = await openWorld(t);
  await world.server.ready();
  const schemas = world.server.routeTable.flatMap(({ method, url, body, query }) =>
    [
      { part: 'body', schema: body },
      { part: 'querystring', schema: query },
    ].flatMap(({ part, schema }) => (schema ? [{ call: `${method} ${url}`, part, schema }] : [])),
  );
  assert.ok(schemas.length > 50);
  const strange = fc.oneof(
    fc.constantFrom(
      '',
      'x'.repeat(2000),
      -1,
      0,
      1e9,
      0.5,
      true,
      null,
      [],
      {},
      ['x'],
      { x: 1 },
      '\0',
      '2026-13-01',
    ),
    fc.jsonValue(),
  );
  for (const { call, part, schema } of schemas)
    fc.assert(
      fc.property(bodiesFor(schema, strange), (value) => {
        const words = said(schema, value, part);
        if (words === null) return;
        assert.match(words, /^(?:The (?:body|query) |").*\.$/s, call);
        assert.ok(words.length < 1000, call);
        // What somebody called a field is repeated, and may be anything.
        const ours = words.replace(/"(?:[^"\\]|\\.)*"/g, '');
        assert.doesNotMatch(ours, JARGON, `${call}: ${words}`);
      }),
      { numRuns: 60 },
    );
});

function bodiesFor({ properties = {} }: Schema, strange: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, { examples = [] }]) => [
      name,
      examples.length > 0 ? fc.oneof(fc.constantFrom(...examples), strange) : strange,
    ]),
  );
  const known = fc.record(fields, { requiredKeys: [] });
  return fc.oneof(
    known,
    fc.tuple(known, fc.string(), strange).map(([body, name, value]) => ({ ...body, [name]: value })),
    strange,
  );
}

test('a text that is not JSON is told where, whatever it is, and nothing of it is repeated', () => {
  // biome-ignore format: a table, one row a line
  const rows: readonly [string, string, RegExp][] = [
    ['{"a": 1,}', 'line 1, column 9', /a name in double quotes/],
    ['{"a": 1', 'line 1, column 8', /a comma or \}/],
    ['{"a" 1}', 'line 1, column 6', /a colon/],
    ['{\n  "a": yes\n}', 'line 2, column 8', /a value/],
    ["{'a': 1}", 'line 1, column 2', /a name in double quotes/],
    ['{"a": "x\ny"}', 'line 1, column 7', /ends with a double quote on the same line/],
    ['[1 2]', 'line 1, column 4', /a comma or \]/],
    ['{} {}', 'line 1, column 4', /the end of the body/],
    ['{"a": 01}', 'line 1, column 7', /a value/],
    ['buy BTCUSDT', 'line 1, column 1', /a value/],
  ];
  for (const [text, place, expected] of rows) {
    const reading = readJson(Buffer.from(text));
    const told = 'problem' in reading ? reading.problem : '';
    assert.ok(told.startsWith(`The body is not valid JSON: at ${place} there must be `), told);
    assert.match(told, expected, text);
  }
  fc.assert(
    fc.property(fc.json(), fc.nat(), fc.string({ maxLength: 3 }), (json, where, put) => {
      const at = where % (json.length + 1);
      const text = json.slice(0, at) + put + json.slice(at);
      let isJson = true;
      try {
        JSON.parse(text);
      } catch {
        isJson = false;
      }
      const reading = readJson(new TextEncoder().encode(text));
      const isRefused = 'problem' in reading && reading.problem.startsWith('The body is not valid JSON');
      assert.equal(!isRefused, isJson, text);
    }),
    { numRuns: 1000 },
  );
});

test('what is no request of ours says which type, which method and which place', async (t) => {
  const world = await openWorld(t);
  const ask = (
    method: 'GET' | 'POST' | 'DELETE',
    url: string,
    body?: string,
    headers: Record<string, string> = {},
  ) => world.request<Problem>({ method, url, headers, ...(body === undefined ? {} : { body }) });
  // biome-ignore format: a table, one row a line
  const rows: readonly [Awaited<ReturnType<typeof ask>>, number, RegExp, RegExp][] = [
    [await ask('POST', '/auth/login', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }), 415, /application\/x-www-form-urlencoded/, /Content-Type: application\/json/],
    [await ask('POST', '/auth/login', '{"email": "a@b.c",\n "password": }', { 'content-type': 'application/json' }), 400, /line 2, column 14/, /send it again/],
    [await ask('DELETE', '/auth/login'), 404, /it takes POST/, /Use POST/],
    [await ask('GET', '/webhook/some-token/order'), 404, /nothing for GET.*it takes POST/, /Use POST/],
    [await ask('GET', '/trading/nothing'), 404, /nothing at this address/, /\/docs/],
    [await ask('GET', '/trading/%zz'), 400, /% in its path/, /%25/],
    [await ask('POST', '/auth/login', `{"email": "${'x'.repeat(70_000)}"}`, { 'content-type': 'application/json' }), 413, /64 KiB/, /64 KiB/],
  ];
  for (const [{ status, body }, expected, detail, advice] of rows) {
    assert.equal(status, expected, body.detail);
    assert.match(body.detail, detail);
    assert.match(body.advice, advice);
  }
});
