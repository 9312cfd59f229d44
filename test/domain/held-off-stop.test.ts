// A stop that the broker refuses, or lets expire again and again: when it is tried, and when the position is closed for it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decimal } from '../../src/domain/decimal.ts';
import { type OrderId, timestamp } from '../../src/domain/ids.ts';
import { adopt } from '../../src/domain/protection/adopt.ts';
import type { Protection } from '../../src/domain/protection/protection.ts';
import { holdOff } from '../../src/domain/protection/sending.ts';
import type { Facts } from '../../src/domain/protection/step.ts';
import { whyUnprotected } from '../../src/domain/told/protection-words.ts';

const RULES = { protectMs: 10_000, sweepMs: 30_000, followMs: 2_000, lostMs: 2_000, giveUpMs: 30_000 };
const NOW = 100_000;

const expired = (times: number, lastAt = NOW): Protection =>
  ({
    ...{ side: 'long', state: 'armed', reason: null, refused: null, closing: null, restoredAt: [], legs: [] },
    stop: { price: decimal(90), kind: 'stop_loss' },
    expiredAt: Array.from({ length: times }, () => timestamp(lastAt)),
  }) as unknown as Protection;

const held = (protection: Protection, unprotected: Facts['unprotected'], isSafe = false) =>
  holdOff(
    protection,
    isSafe,
    { now: NOW, quoted: null, unprotected, closing: null, askedAt: null } as unknown as Facts,
    RULES,
  );

describe('a stop that expires at the broker', () => {
  it('is placed again', () => {
    assert.equal(held(expired(3), 'close'), null);
  });
  it('four times in an hour: the position is closed, as where the broker refuses it', () => {
    const step = held(expired(4), 'close');
    assert.deepEqual([step?.do, step?.do === 'close' && step.reason], ['close', 'unprotected']);
    assert.equal(held(expired(4), 'close', true), null, 'not while another one stands');
  });
  it('or is tried with each sweep, where its owner wants that, and is told so', () => {
    const step = held(expired(4), 'alert');
    assert.ok(step?.do === 'rest');
    assert.deepEqual([step.protection.state, step.untilMs], ['unprotected', NOW + RULES.sweepMs]);
    assert.doesNotMatch(whyUnprotected(step.protection, false), /not placed again/);
    assert.equal(held(expired(4, NOW - RULES.sweepMs), 'alert'), null);
  });
});

describe('a stop that the broker refuses', () => {
  /** So long ago: the fill, the first refusal, and the last one. */
  const refused = (times: number, filledAgo: number, firstAgo: number): Protection =>
    ({
      ...expired(0),
      unprotectedSince: timestamp(NOW - filledAgo),
      refused: {
        ...{ times, words: 'No stops today' },
        ...{ firstAt: timestamp(NOW - firstAgo), lastAt: timestamp(NOW - 200) },
      },
    }) as Protection;
  const until = (protection: Protection) => {
    const step = held(protection, 'close');
    return step?.do === 'rest' ? step.untilMs - NOW : (step?.do ?? 'try');
  };

  it('is tried after 1, 3 and 7 seconds', () => {
    assert.deepEqual([until(refused(1, 900, 900)), until(refused(1, 1_000, 1_000))], [100, 'try']);
    assert.deepEqual([until(refused(2, 2_900, 2_900)), until(refused(3, 7_000, 7_000))], [100, 'try']);
  });
  it('is tried at once where another one is set, and closed for no later than without that', () => {
    const before = { ...refused(3, 9_000, 8_900), heard: [], targets: [], trail: null, breakEven: null };
    const price = { unit: 'price', value: decimal(89) } as const;
    const ground = {
      ...{ order: 'add' as OrderId, entry: decimal(100), tick: decimal(1), filledAt: NOW },
    };
    const set = adopt(before as unknown as Protection, { stop: price }, ground);
    assert.deepEqual([set.stop?.price, until(set)], ['89', 'try']);
    const words = 'No stops today';
    const again = { ...set, refused: { ...refused(4, 0, 10_000).refused, words } } as Protection;
    assert.equal(set.refused?.firstAt, before.refused?.firstAt);
    const protectedSince = { ...before, unprotectedSince: null } as unknown as Protection;
    assert.equal(adopt(protectedSince, { stop: price }, ground).refused, null, 'that was long ago');
    assert.equal(until({ ...again, unprotectedSince: timestamp(NOW - 10_000) }), 'close');
  });
  it('ten seconds after the fill the position is closed, and not before all tries were made', () => {
    assert.deepEqual([until(refused(4, 9_900, 9_900)), until(refused(4, 10_000, 10_000))], [100, 'close']);
    // The worker died right after the fill, or the broker was away: the time that has passed counts, and so do the tries.
    assert.deepEqual([until(refused(3, 15_000, 6_900)), until(refused(4, 15_000, 7_200))], [100, 'close']);
  });
});
