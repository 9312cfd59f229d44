// Reads that go together: each gets its own answer, whoever else asked at that moment.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Db } from '../../src/data/engine/db.ts';
import { inOneTurn } from '../../src/data/engine/in-one-turn.ts';
import { openUnsettled } from '../../src/data/orders/unsettled.ts';
import type { AccountId, UserId } from '../../src/domain/ids.ts';

test('what is asked at one moment is read once, and each gets his own answer', async () => {
  const reads: (readonly number[])[] = [];
  const squared = inOneTurn(async (asked: readonly number[]) => {
    reads.push(asked);
    return asked.map((number) => number * number);
  });
  const later = async (number: number) => {
    // As many steps as it takes a message to get to its lane.
    for (let step = 0; step < number * 10; step++) await null;
    return squared(number);
  };
  assert.deepEqual(await Promise.all([squared(1), later(2), later(3), squared(1)]), [1, 4, 9, 1]);
  assert.equal(reads.length, 1);
  assert.equal(await squared(4), 16);
  assert.deepEqual(reads[1], [4]);
});

test('a read that fails fails for all who asked, and the next one is made', async () => {
  let isAway = true;
  const read = inOneTurn(async (asked: readonly number[]) => {
    if (isAway) throw new Error('away');
    return asked;
  });
  const outcomes = await Promise.allSettled([read(1), read(2)]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  isAway = false;
  assert.equal(await read(3), 3);
});

test('what is asked while a read is under way is read after it', async () => {
  const held = Promise.withResolvers<void>();
  const read = inOneTurn(async (asked: readonly number[]) => {
    if (asked.includes(1)) await held.promise;
    return asked;
  });
  const first = read(1);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(await read(2), 2);
  held.resolve();
  assert.equal(await first, 1);
});

test('of more than are read together, those who are read are answered without the others', async () => {
  const held = Promise.withResolvers<void>();
  const reads: (readonly number[])[] = [];
  const read = inOneTurn(
    async (asked: readonly number[]) => {
      reads.push(asked);
      if (asked.includes(1)) await held.promise;
      return asked;
    },
    { most: 2 },
  );
  const [first, second, ...others] = [1, 2, 3, 4, 5].map(read);
  assert.deepEqual(await Promise.all(others), [3, 4, 5]);
  assert.deepEqual(reads, [[1, 2], [3, 4], [5]]);
  held.resolve();
  assert.deepEqual(await Promise.all([first, second]), [1, 2]);
});

test("what a user's orders are is told without another's, whose are slow to read, or cannot be", async () => {
  const held = Promise.withResolvers<void>();
  const db = {
    dialect: 'postgres',
    async all({ values }: { values: readonly unknown[] }) {
      if (values.includes('broken')) throw new Error('no such order');
      if (values.includes('slow')) await held.promise;
      return [];
    },
  } as unknown as Db;
  const unsettled = openUnsettled(db);
  const of = (user: string) => unsettled(user as UserId, 'an account' as AccountId);
  const [broken, slow, well] = [of('broken'), of('slow'), of('well')];
  await assert.rejects(broken, /no such order/);
  assert.deepEqual((await well).orders, []);
  held.resolve();
  assert.deepEqual((await slow).orders, []);
});
