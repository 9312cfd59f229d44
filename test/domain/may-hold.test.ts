// What an account may hold while the end of an order is not known.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decimal } from '../../src/domain/decimal.ts';
import { mayHold } from '../../src/domain/orders/may-hold.ts';
import type { Leg, LegStatus } from '../../src/domain/orders/order.ts';

function order(
  side: 'buy' | 'sell',
  quantity: string,
  { before = '0', status = 'unknown', filled = '0' } = {},
) {
  const leg: Partial<Leg> = {
    side,
    quantity: decimal(quantity),
    fillQuantity: decimal(filled),
    status: status as LegStatus,
  };
  return { legs: [leg as Leg], positionBefore: decimal(before) };
}
const of = (read: string, ...orders: ReturnType<typeof order>[]) => mayHold(decimal(read), orders);

test('it holds what was read, or that with the order', () => {
  assert.deepEqual(of('0', order('sell', '0.2')), ['0', '-0.2']);
  assert.deepEqual(of('0.5', order('buy', '0.2', { before: '0.5' })), ['0.5', '0.7']);
  assert.deepEqual(of('0', order('buy', '1', { filled: '0.4' })), ['0', '0.6']);
});

test('what was read may have the order in it already', () => {
  assert.deepEqual(of('-0.2', order('sell', '0.2')), ['-0.2', '0']);
  assert.deepEqual(of('0', order('sell', '3', { before: '3' })), ['0', '3']);
});

test('several orders are each in it or not, and many are all or none', () => {
  assert.deepEqual(of('0', order('buy', '1'), order('buy', '2')), ['0', '1', '2', '3']);
  assert.deepEqual(of('0', order('buy', '1'), order('buy', '2'), order('sell', '4')), ['0', '-1']);
});

test('an order that has ended changes nothing any more', () => {
  assert.deepEqual(of('2', order('buy', '2', { status: 'filled' })), ['2']);
  assert.deepEqual(of('2'), ['2']);
});
