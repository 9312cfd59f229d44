// What happens once: the claims' part of the store's contract.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Shared } from './store-shared.ts';

const LONG = 60_000;
const SHORT = 40;

export function onceContract({ store, newKey, holdsAfter }: Shared): void {
  describe('claims', () => {
    test('the first to claim wins, everybody else loses', async () => {
      const key = newKey();
      assert.equal(await store().claim(key, LONG), true);
      assert.equal(await store().claim(key, LONG), false);
      assert.equal(await store().claim(newKey(), LONG), true);
    });

    test('a thousand at once: exactly one wins', async () => {
      const key = newKey();
      const answers = await Promise.all(Array.from({ length: 1000 }, () => store().claim(key, LONG)));
      assert.equal(answers.filter(Boolean).length, 1);
    });

    test('a released claim is free again, and releasing what nobody claimed does nothing', async () => {
      const key = newKey();
      await store().release(key);
      await store().claim(key, LONG);
      await store().release(key);
      assert.equal(await store().claim(key, LONG), true);
      assert.equal(await store().claim(key, LONG), false);
    });

    test('a claim ends with its time, which losers do not prolong', async () => {
      const key = newKey();
      const claim = () => store().claim(key, SHORT);
      assert.equal(await holdsAfter(SHORT, claim, claim), true);
    });
  });

  describe('what happens once and takes a while', () => {
    test('a thousand at once: exactly one begins, for all others it is under way', async () => {
      const key = newKey();
      const answers = await Promise.all(Array.from({ length: 1000 }, () => store().begin(key, LONG)));
      assert.equal(answers.filter((answer) => answer === 'begun').length, 1);
      assert.equal(answers.filter((answer) => answer === 'under_way').length, 999);
    });

    test('once it is finished it is done', async () => {
      const key = newKey();
      assert.equal(await store().begin(key, LONG), 'begun');
      await store().finish(key, LONG);
      assert.equal(await store().begin(key, LONG), 'done');
      assert.equal(await store().begin(newKey(), LONG), 'begun');
    });

    test('released, under way or done, it is as if it had never begun', async () => {
      const key = newKey();
      await store().begin(key, LONG);
      await store().release(key);
      assert.equal(await store().begin(key, LONG), 'begun');
      await store().finish(key, LONG);
      await store().release(key);
      assert.equal(await store().begin(key, LONG), 'begun');
    });

    test('who does not prolong it in time is followed by the next', async () => {
      const key = newKey();
      const begins = async () => (await store().begin(key, SHORT)) === 'begun';
      assert.equal(await holdsAfter(SHORT, begins, begins), true);
    });

    test('prolonged, it lasts for the new time', async () => {
      const key = newKey();
      await store().begin(key, LONG);
      await holdsAfter(
        SHORT,
        () => store().prolong(key, SHORT),
        async () => (await store().begin(key, LONG)) === 'begun',
      );
      // On a slow machine it may have ended between the two.
      let since: number;
      do {
        await store().begin(key, LONG);
        since = performance.now();
        await store().prolong(key, SHORT);
        await store().prolong(key, LONG);
      } while (performance.now() - since >= SHORT);
      // By now the shorter time has passed, and what had only that has ended.
      const other = newKey();
      await holdsAfter(
        SHORT,
        () => store().begin(other, SHORT),
        async () => (await store().begin(other, SHORT)) === 'begun',
      );
      assert.equal(await store().begin(key, LONG), 'under_way');
    });

    test('prolonging what nobody began does nothing', async () => {
      const key = newKey();
      await store().prolong(key, LONG);
      assert.equal(await store().begin(key, LONG), 'begun');
    });

    test('done lasts for its own time, whether it had begun or not', async () => {
      for (const begins of [true, false]) {
        const key = newKey();
        if (begins) await store().begin(key, LONG);
        await holdsAfter(
          SHORT,
          () => store().finish(key, SHORT),
          async () => {
            const answer = await store().begin(key, LONG);
            assert.notEqual(answer, 'under_way');
            return answer === 'begun';
          },
        );
      }
    });
  });
}
