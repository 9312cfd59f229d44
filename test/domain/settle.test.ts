import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decimal } from '../../src/domain/decimal.ts';
import { type OrderId, timestamp } from '../../src/domain/ids.ts';
import type { Leg, Order } from '../../src/domain/orders/order.ts';
import { isSettleable, type Settlement, settle } from '../../src/domain/orders/settle.ts';
import { legOfThree } from './legs.ts';

const NOW = 1_000_000;
const order = (given: Partial<Order>): Order =>
  ({
    id: 'order' as OrderId,
    status: 'unknown',
    intent: { operation: 'PLACE_ENTRY_ORDER', side: 'buy' },
    quantity: decimal(3),
    submittedAt: timestamp(0),
    filledAt: null,
    error: null,
    trace: {},
    legs: [],
    ...given,
  }) as Order;
const filled = (quantity: number): Settlement => ({
  outcome: 'filled',
  price: decimal(100),
  quantity: decimal(quantity),
});
const settled = (given: Partial<Order>, settlement: Settlement): Order => {
  const after = settle(order(given), settlement, NOW);
  assert.ok(!('problem' in after), JSON.stringify(after));
  return after;
};
const problem = (given: Partial<Order>, settlement: Settlement): string => {
  const after = settle(order(given), settlement, NOW);
  return 'problem' in after ? after.problem : 'none';
};

test('what is known to be filled is not taken back', () => {
  const part: Leg = { ...legOfThree('entry', 'partially_filled'), fillQuantity: decimal(2) };
  const legs = [part];
  assert.match(problem({ status: 'partially_filled', legs }, filled(1)), /at least 2/);
  assert.match(problem({ status: 'partially_filled', legs }, filled(4)), /at most 3/);
  const after = settled({ status: 'partially_filled', legs }, { outcome: 'not_filled' });
  assert.deepEqual([after.status, after.legs[0]?.fillQuantity], ['cancelled', decimal(2)]);
});

test('of two legs that may have been sent the first is settled first, and the order with the last', () => {
  const legs = [legOfThree('exit', 'unknown'), legOfThree('entry', 'unknown')];
  const first = settled({ legs }, filled(3));
  assert.deepEqual(
    [first.status, ...first.legs.map(({ status }) => status)],
    ['unknown', 'filled', 'unknown'],
  );
  const last = settled(first, { outcome: 'not_filled' });
  assert.deepEqual(
    [last.status, ...last.legs.map(({ status }) => status)],
    ['cancelled', 'filled', 'cancelled'],
  );
});

test('an order that waited in a restored backup has what its owner found as its leg', () => {
  const after = settled({}, filled(2));
  const [leg] = after.legs;
  assert.deepEqual([after.status, leg?.leg, leg?.side, leg?.status], ['filled', 'entry', 'buy', 'filled']);
  assert.equal(settled({}, { outcome: 'not_filled' }).status, 'cancelled');
  const close = { operation: 'CLOSE_POSITION', direction: null } as const;
  assert.match(problem({ intent: close }, filled(2)), /not_filled only/);
});

test('it has been unknown since its sender was told so', () => {
  const told = order({ trace: { answered: 10_000 } });
  assert.ok(!isSettleable(told, { isDeadLetter: false }, 609_999));
  assert.ok(isSettleable(told, { isDeadLetter: false }, 610_000));
  for (const status of ['queued', 'executing'] as const)
    assert.ok(
      !isSettleable(order({ status, legs: [legOfThree('exit', 'unknown')] }), { isDeadLetter: true }, NOW),
    );
});
