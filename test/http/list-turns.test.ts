// Lists take turns, so that who reads as fast as he can delays nobody's order.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { UserId } from '../../src/domain/ids.ts';
import { createListTurns, createTrading } from '../../src/http/list-turns.ts';
import { openWorld } from '../world.ts';

const [ADA, BOB, EVE] = ['ada', 'bob', 'eve'] as [UserId, UserId, UserId];

/** Whose turn has come, in that order; each is ended by its name's next end. */
function desk(settings: Parameters<typeof createListTurns>[1], calmAfterMs?: number) {
  const trading = createTrading(calmAfterMs);
  const turns = createListTurns(trading, settings);
  const begun: UserId[] = [];
  const endings: (() => void)[] = [];
  return {
    trading,
    begun,
    async ask(...users: UserId[]) {
      for (const user of users)
        void turns.take(user).then((end) => {
          begun.push(user);
          endings.push(end);
        });
      await pause(0);
    },
    async endFirst() {
      endings.shift()?.();
      await pause(5);
    },
  };
}

describe('lists', () => {
  test('of one user come one after the other; users take turns, and few are worked on at once', async () => {
    const { begun, ask, endFirst } = desk({ atOnce: 2, pauseMs: 0 });
    await ask(EVE, EVE, EVE, ADA, BOB);
    assert.deepEqual(begun, [EVE, ADA]);
    await endFirst();
    assert.deepEqual(begun, [EVE, ADA, EVE]);
    await endFirst();
    assert.deepEqual(begun, [EVE, ADA, EVE, BOB]);
    await endFirst();
    assert.deepEqual(begun, [EVE, ADA, EVE, BOB, EVE]);
  });

  test('of one user come as they are asked for, some of them, and no more of them while somebody trades', async () => {
    const settings = { atOnce: 2, pauseMs: 0, rhythmMs: 60_000, spare: 2 };
    const { trading, begun, ask, endFirst } = desk(settings, 60_000);
    trading.begins()();
    await ask(EVE, EVE, EVE, EVE, EVE);
    for (let index = 0; index < 3; index++) await endFirst();
    assert.deepEqual(begun, [EVE, EVE, EVE]);
    // The first of another user does not wait.
    await ask(ADA);
    assert.deepEqual(begun, [EVE, EVE, EVE, ADA]);
  });

  test('of one user come in a rhythm while somebody trades', async () => {
    const { trading, begun, ask, endFirst } = desk({ pauseMs: 0, rhythmMs: 20, spare: 0 }, 60_000);
    trading.begins()();
    await ask(EVE, EVE, EVE);
    for (let served = 1; served <= 3; served++) {
      while (begun.length < served) await pause(5);
      await endFirst();
    }
    assert.deepEqual(begun, [EVE, EVE, EVE]);
  });

  test('that are much work come more seldom while somebody trades', async () => {
    const settings = { atOnce: 2, pauseMs: 0, rhythmMs: 1, spare: 1, share: 60_000, mostMs: 60_000 };
    const { trading, begun, ask, endFirst } = desk(settings, 60_000);
    trading.begins()();
    await ask(EVE, EVE);
    // It took some milliseconds; in the rhythm of those that take nothing the next one would come at once.
    await pause(5);
    await endFirst();
    await pause(20);
    assert.deepEqual(begun, [EVE]);
    await ask(ADA);
    assert.deepEqual(begun, [EVE, ADA]);
  });

  test('that were read fast while nobody traded are soon forgotten, and nobody is slowed down for long after a trade', async () => {
    const settings = { atOnce: 2, pauseMs: 0, rhythmMs: 60_000, spare: 1 };
    const { trading, begun, ask, endFirst } = desk(settings, 50);
    await ask(...Array.from({ length: 20 }, () => EVE));
    for (let index = 0; index < 10; index++) await endFirst();
    assert.equal(begun.length, 11);
    const done = trading.begins();
    await endFirst();
    assert.equal(begun.length, 11);
    done();
    await pause(60);
    await ask(ADA);
    assert.deepEqual(begun.slice(11), [EVE, ADA]);
  });

  test('that are ended twice, or given up, hold up nobody', async () => {
    const turns = createListTurns(createTrading(), { atOnce: 1, pauseMs: 0 });
    const end = await turns.take(ADA);
    const next = turns.take(BOB);
    end();
    end();
    (await next)();
    (await turns.take(EVE))();
  });
});

test('twenty readers of one user’s list leave the orders of another as they were, but for a few milliseconds', async (t) => {
  const world = await openWorld(t, { env: { RATE_LIMIT_REQUESTS: '100000' } });
  const [owner, reader] = [await world.makeTrader(), await world.makeTrader()];
  const allowedSymbols = Array.from({ length: 100 }, (_, index) => `${index}`.padStart(64, 'X'));
  for (let index = 0; index < 60; index++) await world.addAccount(reader, { allowedSymbols });
  const median = async () => {
    const times: number[] = [];
    for (let index = 0; index < 15; index++) {
      const begun = performance.now();
      assert.equal((await world.send(owner, { quantity: 0.01 })).body.status, 'filled');
      times.push(performance.now() - begun);
    }
    return times.sort((a, b) => a - b)[7] as number;
  };
  await median();
  const calm = await median();
  let isOver = false;
  let lists = 0;
  const reading = Array.from({ length: 20 }, async () => {
    while (!isOver) {
      const { status } = await world.as(reader, 'GET', '/trading/accounts?limit=200');
      assert.equal(status, 200);
      lists++;
    }
  });
  const busy = await median();
  isOver = true;
  await Promise.all(reading);
  t.diagnostic(`${calm.toFixed(1)} ms before, ${busy.toFixed(1)} ms beside ${lists} lists`);
  assert.ok(busy < calm * 5 + 50, `${calm} ms before, ${busy} ms beside the readers`);
});
