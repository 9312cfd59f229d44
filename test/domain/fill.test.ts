import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decimal } from '../../src/domain/decimal.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { afterLook, type BrokerOrderState, type Look } from '../../src/domain/orders/fill.ts';
import { type LegName, type LegStatus, legOf, type Order } from '../../src/domain/orders/order.ts';
import { legOfThree } from './legs.ts';

const NOW = Date.parse('2026-07-15T19:00:00Z');
const RULES = { retries: 3, requeueMs: 30_000, giveUpMs: 30_000 };

const leg = (name: LegName, status: LegStatus) => legOfThree(name, status, timestamp(NOW - 60_000));

/** Restored from a backup, both legs of a reversal may be at the broker; somebody has just saved the end of its close. */
const restored = {
  id: 'order',
  status: 'unknown',
  legs: [leg('exit', 'filled'), leg('entry', 'unknown')],
  positionBefore: decimal(3),
  intent: { operation: 'PLACE_ENTRY_ORDER', side: 'sell' },
} as unknown as Order;

const filled: BrokerOrderState = {
  brokerRef: 'the close',
  status: 'filled',
  fillQuantity: decimal(3),
  fillPrice: decimal(100),
  fee: null,
  reason: null,
};

const looks: Record<string, Look> = {
  'its fill': { seen: 'state', leg: 'exit', state: filled },
  'that the broker never got it': { seen: 'nothing', leg: 'exit' },
};
for (const [what, look] of Object.entries(looks))
  test(`a late look at the close of a reversal says nothing of its entry: ${what}`, () => {
    const { order, verdict } = afterLook(restored, look, 2, RULES, NOW);
    assert.deepEqual([order.status, legOf(order, 'entry')?.status], ['unknown', 'unknown']);
    assert.equal(verdict.check, 'scheduled');
  });

test('a look at the entry does', () => {
  const { order } = afterLook(restored, { seen: 'state', leg: 'entry', state: filled }, 2, RULES, NOW);
  assert.equal(order.status, 'filled');
});

/** Nobody has heard of it since it was sent to rest. */
const silent = {
  id: 'order',
  status: 'unknown',
  legs: [leg('entry', 'unknown')],
  positionBefore: decimal(0),
  intent: { operation: 'PLACE_ENTRY_ORDER', side: 'sell' },
  priced: {
    limit: decimal(100),
    stop: null,
    timeInForce: 'gtc',
    expiresAt: timestamp(NOW - 10_000),
    id: null,
  },
} as unknown as Order;

test('an entry that may rest is asked for on and on while the broker gives no answer', () => {
  const { verdict } = afterLook(silent, { seen: 'failure', reason: 'the broker is away' }, 9, RULES, NOW);
  assert.equal(verdict.check, 'scheduled');
});

test('one that the broker does not know any more, by any name that we have for it, is told of as any order is', () => {
  const look: Look = { seen: 'failure', reason: 'the broker forgets ids', isForgotten: true };
  assert.equal(afterLook(silent, look, 3, RULES, NOW).verdict.check, 'scheduled');
  assert.equal(afterLook(silent, look, 4, RULES, NOW).verdict.check, 'dead_letter');
});

test('by the broker’s own id an entry that rests is not given up', () => {
  const legs = [{ ...leg('entry', 'placed'), brokerRef: 'its own' }];
  const look: Look = { seen: 'failure', reason: 'the broker forgets ids', isForgotten: true };
  const { verdict } = afterLook({ ...silent, status: 'placed', legs } as Order, look, 9, RULES, NOW);
  assert.equal(verdict.check, 'scheduled');
});
