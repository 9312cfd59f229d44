import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readOpenApi, typesOf } from '../../web/api/generate.ts';

test('the pages’ types of the API are those of its description: else run `npm run api-types`', async () => {
  const kept = readFileSync(new URL('../../web/api/schema.ts', import.meta.url), 'utf8');
  // Not as a diff of 100,000 characters.
  assert.ok(kept === typesOf(await readOpenApi()), 'web/api/schema.ts is stale: run `npm run api-types`');
});

test('a schema of a kind that it does not know is a fault, not `any`', () => {
  const components = { schemas: { Odd: { type: 'tuple' } } };
  assert.throws(() => typesOf({ paths: {}, components }), /what is a/);
});
