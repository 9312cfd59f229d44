import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moved } from './moved.ts';

/** The same numbers in every run. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** Eight windows; one in fifty takes long, by chance more or less so. */
const windows = (random: () => number, slow: number): number[][] =>
  Array.from({ length: 8 }, () =>
    Array.from({ length: 250 }, () => (random() < 0.02 ? slow * (1 + random()) : 5 + random())),
  );

test('what did not move is not told from chance', () => {
  const random = chance(1);
  const { between, byChance } = moved(windows(random, 20), windows(random, 20), random);
  assert.ok(between[0] < 1 && between[1] > 1, `${between}`);
  assert.ok(byChance > 0.7 && byChance < 1.4, `${byChance}`);
});

test('twice as slow is twice as slow, and more than chance', () => {
  const random = chance(2);
  const { calm, busy, times, between } = moved(windows(random, 20), windows(random, 40), random);
  assert.ok(calm > 20 && calm < 40 && busy > 40 && busy < 80, `${calm} ${busy}`);
  assert.ok(times > 1.6 && times < 2.5, `${times}`);
  assert.ok(between[0] > 1.3 && between[0] < times && between[1] > times, `${between}`);
});
