// What protects a position in something that the broker does not know any more: it ends with the position, not before.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ZERO } from '../../src/domain/decimal.ts';
import { openProtecting } from './protecting-desk.ts';

const SWEEP_MS = 30_000;

describe('The protection of a position whose name the broker does not know any more', () => {
  test('goes on while the position is shown, and is looked after again when the name is back', async (t) => {
    const desk = openProtecting(t);
    await desk.begin();
    desk.isGone = true;
    await desk.pass(4 * SWEEP_MS);
    const { state, reason } = desk.wanted();
    assert.deepEqual([state, reason], ['unwatched', 'It is not found.']);
    desk.isGone = false;
    await desk.pass(SWEEP_MS);
    assert.deepEqual([desk.wanted().state, desk.wanted().reason], ['standing', null]);
    desk.held = ZERO;
    await desk.pass(SWEEP_MS);
    assert.deepEqual([desk.wanted().state, desk.covered()], ['ended', []]);
  });

  test('ends, and says so, where nothing is held of it', async (t) => {
    const desk = openProtecting(t);
    await desk.begin();
    desk.isGone = true;
    desk.held = ZERO;
    await desk.pass(SWEEP_MS);
    const { state, reason } = desk.wanted();
    assert.deepEqual([state, reason], ['ended', 'It is not found.']);
  });
});
