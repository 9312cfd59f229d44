// Who is there, and how many of a kind there have been: those parts of the store's contract.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Shared } from './store-shared.ts';

const LONG = 60_000;
const SHORT = 40;
const DEADLINE = 5_000;

export function presenceContract({ store, newKey, holdsAfter }: Shared): void {
  describe('presence', () => {
    /** Name and what it says, in the order of the names. */
    const announced = async (group: string) =>
      (await store().announced(group))
        .map(({ name, says }) => [name, says])
        .sort(([left = ''], [right = '']) => (left < right ? -1 : 1));

    test('who is announced is seen, in that group and no other', async () => {
      const [group, other] = [newKey(), newKey()];
      assert.deepEqual(await store().announced(group), []);
      await store().announce(group, 'a', 'one', LONG);
      await store().announce(group, 'b', '', LONG);
      await store().announce(other, 'a', 'elsewhere', LONG);
      assert.deepEqual(await announced(group), [
        ['a', 'one'],
        ['b', ''],
      ]);
      assert.deepEqual(await announced(other), [['a', 'elsewhere']]);
    });

    test('whatever it says arrives as it is', async () => {
      const group = newKey();
      const says = `${JSON.stringify({ workers: 3, busy: [1, 2], text: 'ü"\\/\n\u0000' })} 台北 🙂`;
      await store().announce(group, 'näme with "quotes"', says, LONG);
      assert.deepEqual(await announced(group), [['näme with "quotes"', says]]);
    });

    test('announced again, it says something else', async () => {
      const group = newKey();
      for (const says of ['one', 'two']) await store().announce(group, 'a', says, LONG);
      assert.deepEqual(await announced(group), [['a', 'two']]);
    });

    test('who withdraws is gone, the others are not', async () => {
      const group = newKey();
      for (const name of ['a', 'b']) await store().announce(group, name, 'here', LONG);
      await store().withdraw(group, 'a');
      await store().withdraw(group, 'nobody');
      await store().withdraw(newKey(), 'a');
      assert.deepEqual(await announced(group), [['b', 'here']]);
    });

    test('who is not announced again is gone after its time, the others are not', async () => {
      const group = newKey();
      await store().announce(group, 'stays', 'here', LONG);
      await store().announce(group, 'refreshed', 'here', SHORT);
      await store().announce(group, 'refreshed', 'here', LONG);
      await holdsAfter(
        SHORT,
        () => store().announce(group, 'leaves', 'here', SHORT),
        async () => (await store().announced(group)).length < 3,
      );
      assert.deepEqual(await announced(group), [
        ['refreshed', 'here'],
        ['stays', 'here'],
      ]);
    });

    test('who announces itself is told whether it was there without a gap', async () => {
      const group = newKey();
      assert.equal(await store().announce(group, 'a', 'one', LONG), false);
      assert.equal(await store().announce(group, 'b', 'one', SHORT), false);
      assert.equal(await store().announce(group, 'a', 'two', LONG), true);
      await holdsAfter(
        SHORT,
        () => store().announce(group, 'b', 'two', SHORT),
        async () => (await store().announced(group)).length === 1,
      );
      assert.equal(await store().announce(group, 'b', 'three', LONG), false);
      await store().withdraw(group, 'a');
      assert.equal(await store().announce(group, 'a', 'three', LONG), false);
    });

    test('for how long each is believed can be seen', async () => {
      const group = newKey();
      await store().announce(group, 'a', '', LONG);
      await store().announce(group, 'b', '', 2 * LONG);
      const left = new Map((await store().announced(group)).map(({ name, leftMs }) => [name, leftMs]));
      for (const [name, ms] of [
        ['a', LONG],
        ['b', 2 * LONG],
      ] as const) {
        const leftMs = left.get(name) ?? 0;
        assert.ok(leftMs > ms - DEADLINE && leftMs <= ms, `${name} has ${leftMs} ms left`);
      }
    });

    test('a group that all have left is empty, and can be entered again', async () => {
      const group = newKey();
      await holdsAfter(
        SHORT,
        () => store().announce(group, 'a', 'here', SHORT),
        async () => (await store().announced(group)).length === 0,
      );
      await store().announce(group, 'b', 'here', LONG);
      await store().withdraw(group, 'b');
      assert.deepEqual(await announced(group), []);
      await store().announce(group, 'c', 'here', LONG);
      assert.deepEqual(await announced(group), [['c', 'here']]);
    });
  });

  describe('tallies', () => {
    const tallied = async (group: string) =>
      Object.fromEntries((await store().tallied(group)).map(({ name, count }) => [name, count]));

    test('each name has its own count, in each group', async () => {
      const [group, other] = [newKey(), newKey()];
      assert.deepEqual(await tallied(group), {});
      for (const name of ['a', 'b', 'a']) await store().tally(group, name, LONG);
      await store().tally(other, 'a', LONG);
      assert.deepEqual(await tallied(group), { a: 2, b: 1 });
      assert.deepEqual(await tallied(other), { a: 1 });
    });

    test('many at once are all counted', async () => {
      const group = newKey();
      await Promise.all(Array.from({ length: 500 }, () => store().tally(group, 'a', LONG)));
      assert.deepEqual(await tallied(group), { a: 500 });
    });

    test('a group is forgotten as a whole, its time after the last addition', async () => {
      const group = newKey();
      // Long enough to be there still, however slow the second one is.
      await store().tally(group, 'a', LONG);
      await holdsAfter(
        SHORT,
        () => store().tally(group, 'b', SHORT),
        async () => {
          const counts = await tallied(group);
          if (counts.a === undefined) assert.equal(counts.b, undefined);
          return counts.b === undefined;
        },
      );
    });
  });
}
