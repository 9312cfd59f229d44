import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../src/app/new-id.ts';
import { isUuid } from '../../src/domain/ids.ts';

test('ids sort in the order in which they were made, also within one millisecond', () => {
  const ids = Array.from({ length: 50_000 }, newId);
  assert.deepEqual(ids.toSorted(), ids);
  assert.equal(new Set(ids).size, ids.length);
  assert.ok(ids.every((id) => isUuid(id) && id[14] === '7' && '89ab'.includes(id[19] ?? '')));
});
