// /openapi.json before a public linter, with its strictest set of rules and none of them turned off.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { openWorld } from '../world.ts';

/** As a deployment has it; a linter rightly refuses localhost and example.com. */
const BASE_URL = 'https://fillpath.example.org';

async function findings(document: unknown): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended-strict'] });
  const found = await lintFromString({
    source: JSON.stringify(document),
    absoluteRef: 'openapi.json',
    config,
  });
  return found.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer})`);
}

test('the OpenAPI document passes the linter without a word', async (t) => {
  const world = await openWorld(t, { env: { BASE_URL } });
  const { body } = await world.request<{ paths: object }>({ method: 'GET', url: '/openapi.json' });
  assert.ok(Object.keys(body.paths).length > 50);
  assert.deepEqual(await findings(body), []);
});

test('the linter would have found mistakes', async () => {
  const broken = {
    openapi: '3.1.1',
    info: { title: 'x', version: '1', license: { name: 'x', identifier: 'x' } },
    servers: [{ url: BASE_URL }],
    paths: {
      '/a/{id}': { get: { responses: { 200: { description: 'OK' } } } },
      '/b': { get: { operationId: 'b', responses: { 200: { $ref: '#/components/responses/gone' } } } },
    },
  };
  const rules = new Set((await findings(broken)).map((text) => text.split(':')[0]));
  for (const rule of ['path-parameters-defined', 'operation-operationId', 'no-unresolved-refs'])
    assert.ok(rules.has(rule), `${rule} in ${[...rules]}`);
});
