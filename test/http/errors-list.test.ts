// ERRORS.md is made from the tables in code, and stays what they say.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { DENIALS } from '../../src/domain/denial.ts';
import { REJECTION_CODES } from '../../src/domain/order.ts';
import { errorsList } from '../../src/http/docs/errors-list.ts';

test('ERRORS.md is what the code says', () => {
  const file = readFileSync(new URL('../../ERRORS.md', import.meta.url), 'utf8');
  assert.equal(file, errorsList(), 'write it anew: npm run --silent cli -- errors > ERRORS.md');
});

test('every denial and every rejection is in the list, each in one row', () => {
  const rows = errorsList()
    .split('\n')
    .filter((row) => row.startsWith('| `'));
  const [refusals, rejections] = [
    rows.filter((row) => / \| \d{3} \| /.test(row)),
    rows.filter((row) => !/ \| \d{3} \| /.test(row)),
  ];
  for (const [code, { status }] of Object.entries(DENIALS))
    assert.equal(refusals.filter((row) => row.startsWith(`| \`${code}\` | ${status} |`)).length, 1, code);
  for (const code of REJECTION_CODES)
    assert.equal(rejections.filter((row) => row.startsWith(`| \`${code}\` |`)).length, 1, code);
});
