// A stop that the broker lets expire again and again, each time that it was placed.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decimal } from '../../src/domain/decimal.ts';
import { timestamp } from '../../src/domain/ids.ts';
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
