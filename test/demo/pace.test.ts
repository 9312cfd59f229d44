// The demo's pace: within the limit at any moment, with room left for the visitor.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChance } from '../../src/demo/chance.ts';
import { createPace } from '../../src/demo/pace.ts';

test('never more than its share in any window', async () => {
  let now = 0;
  const pace = createPace({
    limit: { requests: 8, windowMs: 1_000 },
    now: () => now,
    wait: async (ms) => {
      assert.ok(ms > 0);
      now += ms;
    },
  });
  const chance = createChance(1);
  const taken: number[] = [];
  for (let index = 0; index < 200; index++) {
    now += chance.between(0, 100);
    await pace.turn();
    taken.push(now);
    assert.ok(taken.filter((at) => at > now - 1_000).length <= 6);
  }
  assert.ok(now < 40_000, 'and it is no slower than it must be');
});

test('the same seed is the same luck', () => {
  const drawn = (seed: number) => {
    const chance = createChance(seed);
    return Array.from({ length: 50 }, () => chance.unit());
  };
  assert.deepEqual(drawn(7), drawn(7));
  assert.notDeepEqual(drawn(7), drawn(8));
  assert.ok(drawn(7).every((luck) => luck >= 0 && luck < 1));
});
