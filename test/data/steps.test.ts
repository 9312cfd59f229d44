// What is read in steps leaves room for everybody else between any two of them.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type PageRequest, pagesOf } from '../../src/app/pages.ts';
import { inSteps, untilDone } from '../../src/data/engine/steps.ts';
import type { UserId } from '../../src/domain/ids.ts';
import { createListTurns, createTrading } from '../../src/http/list-turns.ts';

const counted = (last: number | null): number | null => {
  const next = (last ?? 0) + 1;
  return next > 3 ? null : next;
};

describe('steps', () => {
  test('go on from the one before until there is nothing more', async () => {
    assert.deepEqual(await Array.fromAsync(inSteps(async (last: number | null) => counted(last))), [1, 2, 3]);
  });

  test('are read after whatever else there is to do, each of them', async () => {
    const told: string[] = [];
    const others = () => {
      told.push('others');
      if (told.length < 8) setImmediate(others);
    };
    setImmediate(others);
    for await (const step of inSteps(async (last: number | null) => counted(last))) told.push(`step ${step}`);
    const steps = told.flatMap((each, index) => (each.startsWith('step') ? [index] : []));
    assert.equal(steps.length, 3);
    for (const at of steps) assert.equal(told[at - 1], 'others', told.join(', '));
  });

  test('of work end when it says that nothing is left', async () => {
    let left = 3;
    await untilDone(async () => --left > 0);
    assert.equal(left, 0);
  });

  test('take a turn each, and hold none while nobody asks for the next', async () => {
    const told: string[] = [];
    const steps = inSteps(
      async (last: number | null) => counted(last),
      async (work) => {
        told.push('begun');
        const result = await work();
        told.push('ended');
        return result;
      },
    );
    await steps.next();
    assert.deepEqual(told, ['begun', 'ended']);
    await steps.next();
    assert.deepEqual(told, ['begun', 'ended', 'begun', 'ended']);
  });
});

test('ten downloads of one user count as one: another’s pages come in between, page by page', async () => {
  const turns = createListTurns(createTrading(), { atOnce: 1, pauseMs: 0 });
  const read: UserId[] = [];
  const download = async (user: UserId, pages: number) => {
    const page = async ({ cursor }: PageRequest) => {
      read.push(user);
      const next = Number(cursor ?? 0) + 1;
      return { next_cursor: next < pages ? String(next) : null };
    };
    const inTurn = async <Result>(work: () => Promise<Result>): Promise<Result> => {
      const end = await turns.take(user);
      try {
        return await work();
      } finally {
        end();
      }
    };
    await Array.fromAsync(pagesOf(page, inTurn));
  };
  const [eve, ada] = ['eve', 'ada'] as [UserId, UserId];
  const greedy = Array.from({ length: 10 }, () => download(eve, 5));
  await download(ada, 5);
  // Ada waits for one page of Eve's at a time, however many downloads Eve has.
  assert.ok(read.filter((user) => user === eve).length <= 6, read.join(' '));
  await Promise.all(greedy);
  assert.equal(read.length, 55);
});
