import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decimal } from '../../src/domain/decimal.ts';
import { heldAfter } from '../../src/domain/orders/expected.ts';
import type { Order } from '../../src/domain/orders/order.ts';
import { legOfThree } from './legs.ts';

const SYMBOL = 'BTCUSDT';
const traded = (before: number, change: number, exitReason?: Order['exitReason']): Order =>
  ({
    symbol: SYMBOL,
    positionBefore: decimal(before),
    legs: [
      {
        ...legOfThree(change * before < 0 ? 'exit' : 'entry', 'filled'),
        side: change < 0 ? 'sell' : 'buy',
        fillQuantity: decimal(Math.abs(change)),
      },
    ],
    ...(exitReason && { exitReason }),
  }) as unknown as Order;
const held = (...newestFirst: readonly Order[]) => Number(heldAfter(newestFirst).get(SYMBOL));

describe('What is held by our own record', () => {
  test('is what the last order left', () => {
    assert.equal(held(traded(2, 1), traded(0, 2)), 3);
    assert.equal(held(traded(2, -2, 'stop_loss'), traded(0, 2)), 0);
    assert.equal(held(traded(3, -1, 'take_profit'), traded(3, -1, 'take_profit'), traded(0, 3)), 2);
  });

  test('is not what a close left that was learnt late, after an order that stood on the other side already', () => {
    assert.equal(held(traded(5, -5, 'take_profit'), traded(0, -14)), -14);
    assert.equal(held(traded(1, -1, 'stop_loss'), traded(5, -4, 'take_profit'), traded(0, -14)), -14);
    assert.equal(held(traded(-2, 2, 'stop_loss'), traded(0, -2), traded(0, 5)), 0);
  });
});
