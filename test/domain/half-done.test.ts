import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decimal } from '../../src/domain/decimal.ts';
import type { ClientOrderId } from '../../src/domain/ids.ts';
import { isHalfDone } from '../../src/domain/orders/half-done.ts';
import { hasEnded, type Leg, ORDER_STATUSES, type Order } from '../../src/domain/orders/order.ts';
import { legOfThree } from './legs.ts';

const order = (status: Order['status'], ...legs: readonly Leg[]): Order => ({ status, legs }) as Order;
const CLOSED: Leg = { ...legOfThree('exit', 'filled'), fillQuantity: decimal(3) };
const attempt = (status: Leg['status'], quantity: number, filled: number, instrument = 'BTCUSDT'): Leg => ({
  ...legOfThree('exit', status),
  clientOrderId: `${instrument} ${status} ${quantity}` as ClientOrderId,
  quantity: decimal(quantity),
  fillQuantity: decimal(filled),
  instrument,
});

describe('A reversal got half way', () => {
  test('where its close was filled and its entry was not, whatever it is called, once it has ended', () => {
    for (const status of ORDER_STATUSES)
      assert.equal(
        isHalfDone(order(status, CLOSED, legOfThree('entry', 'rejected'))),
        hasEnded(status),
        status,
      );
    for (const status of ['planned', 'cancelled', 'failed', 'expired'] as const)
      assert.ok(isHalfDone(order('failed', CLOSED, legOfThree('entry', status))), status);
  });

  test('also where a part of its entry was filled before it was cancelled', () => {
    const part: Leg = { ...legOfThree('entry', 'cancelled'), fillQuantity: decimal(1) };
    assert.ok(isHalfDone(order('cancelled', CLOSED, part)));
  });

  test('but not where it went all the way, or did not close', () => {
    assert.ok(!isHalfDone(order('filled', CLOSED, legOfThree('entry', 'filled'))));
    for (const status of ['placed', 'unknown', 'cancelled', 'rejected', 'expired'] as const)
      assert.ok(!isHalfDone(order('failed', legOfThree('exit', status), legOfThree('entry', 'planned'))));
    const part: Leg = { ...legOfThree('exit', 'cancelled'), fillQuantity: decimal(2) };
    assert.ok(!isHalfDone(order('failed', part, legOfThree('entry', 'planned'))));
  });

  test('and is a reversal: an entry alone, an exit alone and an order without legs are not', () => {
    assert.ok(!isHalfDone(order('rejected', legOfThree('entry', 'rejected'))));
    assert.ok(!isHalfDone(order('filled', CLOSED)));
    assert.ok(!isHalfDone(order('expired')));
  });

  test('by as many attempts at its close as it took', () => {
    const entry = legOfThree('entry', 'rejected');
    assert.ok(isHalfDone(order('rejected', attempt('cancelled', 3, 1), attempt('filled', 2, 2), entry)));
    assert.ok(isHalfDone(order('rejected', attempt('expired', 3, 0), attempt('filled', 3, 3), entry)));
    assert.ok(isHalfDone(order('rejected', attempt('filled', 3, 3), attempt('rejected', 3, 0), entry)));
    assert.ok(!isHalfDone(order('rejected', attempt('cancelled', 3, 1), attempt('cancelled', 2, 1), entry)));
  });

  test('in every month that it was to close', () => {
    const entry = legOfThree('entry', 'rejected');
    const [old, next] = [attempt('filled', 1, 1, 'TXFK6'), attempt('filled', 2, 2, 'TXFL6')];
    assert.ok(isHalfDone(order('rejected', old, next, entry)));
    assert.ok(!isHalfDone(order('rejected', attempt('rejected', 1, 0, 'TXFK6'), next, entry)));
    assert.ok(!isHalfDone(order('rejected', old, attempt('cancelled', 2, 0, 'TXFL6'), entry)));
  });
});
