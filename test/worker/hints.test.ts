// What is heard of an account makes somebody look at what protects its positions: soon, not too often, and never in vain.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decimal } from '../../src/domain/decimal.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { openProtecting } from './protecting-desk.ts';

const START = Date.parse('2026-11-17T12:00:00Z');
const HEARD_MS = 500;

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
