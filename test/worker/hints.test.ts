// What is heard of an account makes somebody look at what protects its positions: soon, not too often, and never in vain.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decimal } from '../../src/domain/decimal.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { openProtecting } from './protecting-desk.ts';

const START = Date.parse('2026-11-17T12:00:00Z');
const HEARD_MS = 500;
const SWEEP_MS = 30_000;

describe('Hints in quick succession', () => {
  test('put off no look: what was added meanwhile has its stop half a second later', async (t) => {
    const desk = openProtecting(t);
    await desk.begin();
    assert.deepEqual(desk.covered(), [1]);
    for (let hints = 0; hints < 10; hints++) {
      desk.hear();
      await desk.pass(300);
      if (hints === 5) desk.held = decimal(3);
    }
    assert.deepEqual(desk.covered(), [3]);
  });

  test('are one look in half a second', async (t) => {
    const desk = openProtecting(t);
    await desk.begin();
    await desk.pass(1_000);
    const before = desk.looks.length;
    for (let hints = 0; hints < 60; hints++) {
      desk.hear();
      await desk.pass(50);
    }
    const looks = desk.looks.slice(before);
    assert.deepEqual(
      looks,
      [0, 1, 2, 3, 4, 5, 6].map((nth) => 1_000 + nth * HEARD_MS),
    );
  });

  test('put off nothing that is due earlier', async (t) => {
    const desk = openProtecting(t, { timeStopAt: timestamp(START + 1_200) });
    await desk.begin();
    await desk.pass(1_000);
    desk.hear();
    await desk.pass(100);
    desk.hear();
    await desk.pass(400);
    assert.deepEqual(desk.closes, [1_200]);
  });
});

test('While its broker is away, a position without a stop is tried for every two seconds', async (t) => {
  const desk = openProtecting(t);
  const tried: number[] = [];
  Object.defineProperty(desk, 'isAway', {
    get() {
      tried.push(desk.at());
      return desk.at() < 10_000;
    },
  });
  await desk.begin();
  await desk.pass(12_000);
  assert.deepEqual(
    [...new Set(tried)].filter((at) => at <= 11_000),
    [0, 1_000, 3_000, 5_000, 7_000, 9_000, 11_000],
  );
  assert.deepEqual(desk.covered(), [1]);
});

describe('What is heard during a look', () => {
  test('is seen to half a second after the look was begun, not with the next sweep', async (t) => {
    const desk = openProtecting(t);
    await desk.begin();
    await desk.pass(1_000);
    desk.held = decimal(2);
    desk.onPosition = async () => {
      desk.onPosition = async () => {};
      desk.held = decimal(3);
      desk.hear();
    };
    desk.hear();
    await desk.pass(HEARD_MS + 50);
    assert.deepEqual(desk.covered(), [3]);
  });

  test('because of what the look has done is one look more, and then there is rest', async (t) => {
    const desk = openProtecting(t);
    desk.onPlaced = () => desk.hear();
    await desk.begin();
    await desk.pass(5_000);
    assert.ok(desk.looks.length <= 3, `looked at ${desk.looks}`);
    const before = desk.looks.length;
    await desk.pass(SWEEP_MS - 5_000 - HEARD_MS);
    assert.equal(desk.looks.length, before);
  });
  test('that joins the line of sweeps is seen to as soon, where it is certain', async (t) => {
    const desk = openProtecting(t);
    await desk.begin();
    await desk.pass(1_000);
    desk.isBusy = true;
    desk.onWait = () => {
      desk.onWait = () => {};
      desk.held = decimal(3);
      desk.hear('certainly');
    };
    desk.hear('perhaps');
    await desk.pass(HEARD_MS + 50);
    assert.deepEqual(desk.covered(), [3]);
  });

  test('that nobody answered is seen to with the next try, and does not wait in the line of sweeps', async (t) => {
    const desk = openProtecting(t);
    await desk.begin();
    await desk.pass(1_000);
    desk.held = decimal(3);
    desk.isBusy = true;
    desk.isAway = true;
    desk.hear('certainly');
    await desk.pass(500);
    desk.isAway = false;
    await desk.pass(600);
    assert.deepEqual(desk.covered(), [3]);
  });
});

describe('What has only perhaps happened', () => {
  test('is seen to when its turn in the line has come, and makes nobody ask again and again', async (t) => {
    const desk = openProtecting(t);
    await desk.begin();
    await desk.pass(1_000);
    desk.held = decimal(3);
    desk.isBusy = true;
    const before = desk.looks.length;
    desk.hear('perhaps');
    await desk.pass(10_000);
    assert.deepEqual([desk.looks.length - before, desk.covered()], [1, [1]]);
    desk.isBusy = false;
    desk.come();
    await desk.pass(50);
    assert.deepEqual(desk.covered(), [3]);
  });
});

test('A time stop does not wait in the line of sweeps', async (t) => {
  const desk = openProtecting(t, { timeStopAt: timestamp(START + 35_000) });
  await desk.begin();
  desk.isBusy = true;
  await desk.pass(36_000);
  assert.deepEqual(desk.closes, [35_000]);
});
