// A leg that the broker takes, and ends before it was once seen to stand.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Decimal, decimal } from '../../src/domain/decimal.ts';
import { type ClientOrderId, timestamp } from '../../src/domain/ids.ts';
import type { Protection, ProtectiveLeg } from '../../src/domain/protection/protection.ts';
import { recognise } from '../../src/domain/protection/recognise.ts';
import type { Facts } from '../../src/domain/protection/step.ts';

const RULES = { protectMs: 10_000, sweepMs: 30_000, followMs: 2_000, lostMs: 2_000, giveUpMs: 30_000 };
const NOW = 100_000;

const leg = (revision: number, more: Partial<ProtectiveLeg> = {}): ProtectiveLeg =>
  ({
    ...{
      level: 0,
      revision,
      clientOrderId: `leg-${revision}`,
      formerIds: [],
      brokerRef: null,
      status: 'taken',
    },
    ...{ kind: 'stop_loss', stop: decimal(90), limit: null, quantity: decimal(1), filled: decimal(0) },
    ...{ isLeaving: false, missingSince: null, triggeredAt: null, sentAt: timestamp(NOW - 500), ...more },
  }) as unknown as ProtectiveLeg;

function seen(legs: readonly ProtectiveLeg[], held: Decimal = decimal(1)): Protection {
  const before = {
    ...{
      id: 'p',
      side: 'long',
      revision: 9,
      legs,
      refused: null,
      targets: [],
      restoredAt: [],
      expiredAt: [],
    },
    ...{ targetsRestoredAt: [], targetsAgainAt: null, closesFor: null, reason: null },
  } as unknown as Protection;
  const ended = { brokerRef: null, status: 'ended', isOrdered: false, fills: [], hasDied: false };
  const facts = {
    ...{ now: NOW, waits: 9, names: 'ours', able: { moves: 'amend', reserves: false } },
    held: { quantity: held, isAgreed: true },
    fates: new Map(legs.map(({ clientOrderId }) => [clientOrderId as ClientOrderId, ended])),
  } as unknown as Facts;
  const recognised = recognise(before, [], facts, RULES);
  assert.ok('protection' in recognised, JSON.stringify(recognised));
  return recognised.protection;
}

describe('what the broker takes, and ends before it was seen to stand', () => {
  it('counts as taken away: it is put back, and not for ever', () => {
    const stop = seen([leg(1)]);
    assert.deepEqual([stop.legs, stop.refused, stop.restoredAt.length], [[], null, 1]);
    const target = seen([leg(1, { level: 1, limit: decimal(110), stop: null })]);
    assert.deepEqual([target.restoredAt.length, target.targetsRestoredAt.length], [0, 1]);
  });
  it('is nothing, where we have asked for its end, another was sent for it, or nothing is held', () => {
    assert.deepEqual(seen([leg(1, { isLeaving: true })]).restoredAt, []);
    assert.deepEqual(seen([leg(1), leg(2, { isLeaving: true })]).restoredAt, []);
    assert.deepEqual(seen([leg(1)], decimal(0)).restoredAt, []);
  });
});
