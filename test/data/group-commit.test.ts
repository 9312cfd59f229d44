// Which units go together, and when: those of one turn, or as many as are enough.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import { sql } from '../../src/data/engine/db.ts';
import { groupCommit } from '../../src/data/engine/group-commit.ts';

const counters = { commitWaited() {}, committed() {} };
const UNIT = [sql`delete from books`];

/** Whoever writes is done when the test says so. */
function slowly(withinMs?: number) {
  const sizes: number[] = [];
  const writing: (() => void)[] = [];
  const commits = groupCommit({
    most: 100,
    lanes: 1,
    ...(withinMs !== undefined && { enough: { units: 8, withinMs } }),
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

test('where some are enough they go at once, and the rest of the turn follows them, one group at a time', async () => {
  const { commits, sizes, finish } = slowly(Number.POSITIVE_INFINITY);
  const all = Promise.all(Array.from({ length: 20 }, () => commits.commit(UNIT)));
  assert.deepEqual(sizes, [8]);
  for (let turn = 0; turn < 3; turn++) await immediate();
  assert.deepEqual(sizes, [8]);
  finish();
  await immediate();
  assert.deepEqual(sizes, [8, 12]);
  finish();
  assert.deepEqual(await all, Array(20).fill(null));
});

test('… but where the last group took too long, all of a turn go together', async () => {
  const { commits, sizes, finish } = slowly(0);
  const turn = () => Promise.all(Array.from({ length: 10 }, () => commits.commit(UNIT)));
  const first = turn();
  assert.deepEqual(sizes, [8]);
  finish();
  await immediate();
  assert.deepEqual(sizes, [8, 2]);
  finish();
  await first;
  const second = turn();
  assert.deepEqual(sizes, [8, 2]);
  await immediate();
  assert.deepEqual(sizes, [8, 2, 10]);
  finish();
  await second;
});

test('fewer than enough wait for their turn to end, and none is left behind when it closes', async () => {
  const { commits, sizes, finish } = slowly(Number.POSITIVE_INFINITY);
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
