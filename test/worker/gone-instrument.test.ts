// What protects a position in something that the broker does not know any more: it ends with the position, not before.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ZERO } from '../../src/domain/decimal.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import { protectionTrouble } from '../../src/domain/told/protection-trouble.ts';
import type { TroubledAccount } from '../../src/domain/told/trouble.ts';
import { openProtecting } from './protecting-desk.ts';

const SWEEP_MS = 30_000;
const ACCOUNT: TroubledAccount = { id: 'account' as AccountId, name: 'Main', brokerName: 'alpaca' };

describe('The protection of a position whose name the broker does not know any more', () => {
  test('goes on while the position is shown, and is looked after again when the name is back', async (t) => {
    const desk = openProtecting(t);
    await desk.begin();
    desk.isGone = true;
    await desk.pass(4 * SWEEP_MS);
    const { state, reason } = desk.wanted();
    assert.deepEqual(
      [state, reason],
      ['unwatched', 'The broker does not list the instrument any more: It is not found.'],
    );
    const trouble = protectionTrouble(desk.wanted(), ACCOUNT, Date.now());
    assert.match(trouble?.detail ?? '', /^The broker does not list .* stands there as it was last seen/);
    assert.doesNotMatch(trouble?.detail ?? '', /credentials/);
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

  test('goes on where what is held is shown by another name', async (t) => {
    const desk = openProtecting(t);
    await desk.begin();
    Object.assign(desk, { isGone: true, isRenamed: true });
    await desk.pass(4 * SWEEP_MS);
    assert.equal(desk.wanted().state, 'unwatched');
  });
});

test('What is not traded at present is not closed for want of a stop: that is tried with each sweep', async (t) => {
  const desk = openProtecting(t);
  Object.assign(desk, { isSuspended: true, refusesStops: true });
  await desk.begin();
  await desk.pass(4 * SWEEP_MS);
  assert.deepEqual([desk.closes, desk.wanted().state], [[], 'unprotected']);
  // The list is read again later.
  desk.refusesStops = false;
  await desk.pass(SWEEP_MS);
  assert.deepEqual([desk.wanted().state, desk.covered()], ['standing', [1]]);
});
