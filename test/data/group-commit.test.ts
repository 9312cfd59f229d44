// Which units go together, and when: those of one turn, and then those that came while these were written.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import { sql } from '../../src/data/engine/db.ts';
import { groupCommit } from '../../src/data/engine/group-commit.ts';

const counters = { commitWaited() {}, committed() {} };
const UNIT = [sql`delete from books`];

/** Whoever writes is done when the test says so. */
function slowly() {
  const sizes: number[] = [];
  const writing: (() => void)[] = [];
  const commits = groupCommit({
    most: 100,
    lanes: 1,
    async run(group) {
      sizes.push(group.length);
      await new Promise<void>((resolve) => writing.push(resolve));
      for (const { settle } of group) settle({ guard: null });
    },
    counters,
  });
  return { commits, sizes, finish: () => writing.shift()?.() };
}

test('the units of one turn go together', async () => {
  const { commits, sizes, finish } = slowly();
  const all = Promise.all(Array.from({ length: 20 }, () => commits.commit(UNIT)));
  assert.deepEqual(sizes, []);
  await immediate();
  assert.deepEqual(sizes, [20]);
  finish();
  await all;
});

test('what comes while others are written goes after them, and none is left behind when it closes', async () => {
  const { commits, sizes, finish } = slowly();
  const few = Promise.all([commits.commit(UNIT), commits.commit(UNIT)]);
  assert.deepEqual(sizes, []);
  await immediate();
  assert.deepEqual(sizes, [2]);
  const late = commits.commit(UNIT);
  const closed = commits.close();
  finish();
  await few;
  await immediate();
  assert.deepEqual(sizes, [2, 1]);
  finish();
  await Promise.all([late, closed]);
});
