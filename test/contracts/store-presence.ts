// Who is there: that part of the store's contract.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Shared } from './store.ts';

const LONG = 60_000;
const SHORT = 40;

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
}
