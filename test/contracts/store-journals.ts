// Journals: those parts of the store's contract.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import type { Store } from '../../src/store/store.ts';
import type { Shared } from './store-shared.ts';

const LONG = 60_000;
const SHORT = 40;
const DEADLINE = 30_000;
/** More than a journal has room for. */
const FLOOD = 4_500;

const textsOf = async (store: Store, journal: string, after: string) =>
  (await store.readJournal(journal, after))?.map(({ text }) => text) ?? null;

/** Fails where it is not soon so. */
async function soon(holds: () => Promise<boolean>): Promise<void> {
  const giveUp = performance.now() + DEADLINE;
  while (!(await holds())) {
    assert.ok(performance.now() < giveUp, 'not in time');
    await pause(5);
  }
}

export function journalContract({ store, newKey, holdsAfter }: Shared): void {
  describe('journals', () => {
    test('what is noted while a journal is kept is read, in its order, behind any place', async () => {
      const [journal, other] = [newKey(), newKey()];
      const begin = await store().keepJournal(journal, LONG);
      assert.deepEqual(await store().readJournal(journal, begin), []);
      await store().note(journal, ['a', 'b']);
      await store().note(journal, ['c c\n{c}']);
      const lines = (await store().readJournal(journal, begin)) ?? [];
      assert.deepEqual(
        lines.map(({ text }) => text),
        ['a', 'b', 'c c\n{c}'],
      );
      for (const [index, { place }] of lines.entries())
        assert.deepEqual(await store().readJournal(journal, place), lines.slice(index + 1));
      assert.equal(await store().keepJournal(journal, LONG), lines.at(-1)?.place);
      assert.equal(await store().readJournal(other, begin), null);
    });

    test('what is noted while nobody keeps it is kept for nobody', async () => {
      const journal = newKey();
      await store().note(journal, ['early']);
      const begin = await store().keepJournal(journal, LONG);
      assert.deepEqual(await store().readJournal(journal, begin), []);
    });

    test('a place that nobody gave out has been lost', async () => {
      const journal = newKey();
      const begin = await store().keepJournal(journal, LONG);
      const [name] = begin.split('-');
      for (const made of ['', 'x', '0', `${name}-`, `${name}-99999999999999999`, `${name}-9999999999999999`])
        assert.equal(await store().readJournal(journal, made), null, made);
      assert.equal(await store().readJournal(journal, `000000000000-${begin.split('-')[1]}`), null);
      assert.deepEqual(await store().readJournal(journal, begin), []);
    });

    test('one that nobody keeps any more ends, and the next one knows none of its places', async () => {
      const journal = newKey();
      let place = '';
      const isGone = async () => (await store().readJournal(journal, place)) === null;
      await holdsAfter(
        SHORT,
        async () => {
          place = await store().keepJournal(journal, SHORT);
        },
        isGone,
      );
      const begin = await store().keepJournal(journal, LONG);
      await store().note(journal, ['new']);
      assert.equal(await store().readJournal(journal, place), null);
      assert.deepEqual(await textsOf(store(), journal, begin), ['new']);
    });

    test('a line is kept for its time; a place with nothing lost behind it is good for as long as the journal', async () => {
      const journal = newKey();
      let begin = '';
      await holdsAfter(
        SHORT,
        async () => {
          begin = await store().keepJournal(journal, LONG);
          await store().note(journal, ['old', 'older than the next']);
        },
        async () => {
          // Keeps it for long again: only what it drops is looked at.
          await store().keepJournal(journal, SHORT);
          await store().keepJournal(journal, LONG);
          return (await store().readJournal(journal, begin)) === null;
        },
      );
      const end = await store().keepJournal(journal, LONG);
      await store().note(journal, ['young']);
      assert.deepEqual(await textsOf(store(), journal, end), ['young']);
    });

    test('one that is flooded loses its beginning, and says so', async () => {
      const journal = newKey();
      const begin = await store().keepJournal(journal, LONG);
      const texts = Array.from({ length: FLOOD }, (_, index) => `${index}`);
      for (let at = 0; at < FLOOD; at += 100) await store().note(journal, texts.slice(at, at + 100));
      assert.equal(await store().readJournal(journal, begin), null);
      const end = await store().keepJournal(journal, LONG);
      await store().note(journal, ['last']);
      assert.deepEqual(await textsOf(store(), journal, end), ['last']);
    });

    test('who watches is told of what is noted, until the end of watching', async () => {
      const journal = newKey();
      let looks = 0;
      const begin = await store().keepJournal(journal, LONG);
      let seen: string[] | null = [];
      const stop = store().watchJournal(journal, () => {
        looks++;
        void textsOf(store(), journal, begin).then((texts) => {
          seen = texts;
        });
      });
      await store().note(journal, ['a']);
      await soon(async () => seen?.[0] === 'a');
      stop();
      stop();
      const before = looks;
      await store().note(journal, ['b']);
      assert.deepEqual(await textsOf(store(), journal, begin), ['a', 'b']);
      assert.equal(looks, before);
    });

    test('whatever is noted and wherever is read: nothing is missing, doubled or out of order', () =>
      fc.assert(
        fc.asyncProperty(
          fc.array(fc.oneof(fc.array(fc.string(), { minLength: 1, maxLength: 90 }), fc.constant('read')), {
            maxLength: 12,
          }),
          async (steps) => {
            const journal = newKey();
            let place = await store().keepJournal(journal, LONG);
            const [noted, read]: [string[], string[]] = [[], []];
            for (const step of [...steps, 'read']) {
              if (typeof step !== 'string') {
                await store().note(journal, step);
                noted.push(...step);
                continue;
              }
              const lines = (await store().readJournal(journal, place)) ?? assert.fail('lost');
              read.push(...lines.map(({ text }) => text));
              place = lines.at(-1)?.place ?? place;
            }
            assert.deepEqual(read, noted);
          },
        ),
        { numRuns: 40 },
      ));
  });
}

/** A process notes in what another one keeps. */
export function sharedJournalContract(store: () => Store, another: () => Store, newKey: () => string): void {
  test('a journal that one process keeps is noted in by another, and its reader is told', async () => {
    const journal = newKey();
    const begin = await store().keepJournal(journal, LONG);
    let looks = 0;
    const stop = store().watchJournal(journal, () => looks++);
    // Another process hears of it a moment later than who keeps it.
    await soon(async () => {
      await another().note(journal, ['from elsewhere']);
      return (await textsOf(store(), journal, begin))?.[0] === 'from elsewhere';
    });
    const before = looks;
    await another().note(journal, ['more']);
    await soon(async () => looks > before);
    stop();
    assert.deepEqual(await another().readJournal(journal, begin), await store().readJournal(journal, begin));
  });
}
