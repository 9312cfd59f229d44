import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isFresh } from '../../web/api/fresh.ts';

describe('an answer by which somebody decides', () => {
  test('is young, and followed by no silence', () => {
    assert.equal(isFresh({ isSuccess: true, dataUpdatedAt: 1_000 }, 15_000), true);
    assert.equal(isFresh({ isSuccess: true, dataUpdatedAt: 1_000 }, 16_000), false);
    assert.equal(
      isFresh({ isSuccess: false, dataUpdatedAt: 1_000 }, 2_000),
      false,
      'the next question failed',
    );
  });

  test('is none where there never was one, or where the clock was set back', () => {
    assert.equal(isFresh({ isSuccess: false, dataUpdatedAt: 0 }, 1_000), false);
    assert.equal(isFresh({ isSuccess: true, dataUpdatedAt: 9_000_000 }, 1_000), false);
  });
});
