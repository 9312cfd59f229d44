// What orders of ours close of a position already, while they are under way.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decimal, ZERO } from '../../src/domain/decimal.ts';
import type { LegStatus, Order } from '../../src/domain/orders/order.ts';
import type { Protection } from '../../src/domain/protection/protection.ts';
import type { Facts } from '../../src/domain/protection/step.ts';
import { closingOf, isBeingClosed } from '../../src/domain/protection/under-way.ts';
import { legOfThree } from './legs.ts';

const PROTECTION = {
  ...{ instrument: 'BTCUSDT', side: 'long', closing: { order: 'close' } },
} as unknown as Protection;

const orderOf = (id: string, status: LegStatus, filled: number): Order =>
  ({
    ...{ id, status: status === 'filled' ? 'filled' : 'partially_filled', quantity: decimal(3) },
    legs: [
      {
        ...legOfThree('exit', status),
        ...{ instrument: 'BTCUSDT', side: 'sell', quantity: decimal(3), fillQuantity: decimal(filled) },
      },
    ],
  }) as unknown as Order;

describe('What is closed already', () => {
  test('is what rests at the broker, less what was filled of it', () => {
    const orders = [orderOf('close', 'partially_filled', 2), orderOf('exit', 'placed', 0)];
    assert.deepEqual(closingOf(PROTECTION, orders), { closing: decimal(1), reserved: decimal(4) });
  });

  test('is not what nobody knows to have arrived', () => {
    assert.deepEqual(closingOf(PROTECTION, [orderOf('exit', 'unknown', 0)]), {
      closing: null,
      reserved: ZERO,
    });
  });

  test('is closed once more where something was added since, and that is certain', () => {
    const beingClosed = (quantity: number, isAgreed: boolean) =>
      isBeingClosed({
        closing: decimal(3),
        held: { quantity: decimal(quantity), most: decimal(quantity), least: decimal(quantity), isAgreed },
      } as Facts);
    assert.equal(beingClosed(3, true), true);
    assert.equal(beingClosed(5, false), true);
    assert.equal(beingClosed(5, true), false);
  });
});
