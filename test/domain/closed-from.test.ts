// What a stop that is learnt late has closed: what was held before the strategy left and came in again, or what it holds now.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decimal } from '../../src/domain/decimal.ts';
import { timestamp } from '../../src/domain/ids.ts';
import type { Order } from '../../src/domain/orders/order.ts';
import { closedFrom } from '../../src/domain/protection/closing.ts';
import { legOfThree } from './legs.ts';

const PLACED = timestamp(1_000);
const NOW = 9_000;

const entry = (sentAt: number, positionBefore: number): Order =>
  ({
    positionBefore: decimal(positionBefore),
    legs: [{ ...legOfThree('entry', 'filled', timestamp(sentAt)), side: 'buy', fillQuantity: decimal(1) }],
  }) as unknown as Order;

const from = (last: Order | null, left: number) =>
  closedFrom(last, { leg: { sentAt: PLACED }, left: decimal(left), side: 'long', now: NOW });

describe('what a stop has closed, which is learnt late', () => {
  it('was held before an entry that found nothing there, and of which all is held', () => {
    assert.equal(from(entry(5_000, 0), 1), PLACED);
  });
  it('was held until now, where the entry found the position that the stop protects', () => {
    assert.equal(from(entry(5_000, 2), 1), timestamp(NOW));
  });
  it('was what that entry brought, where that is not held any more: the stop of before has closed it', () => {
    assert.equal(from(entry(5_000, 0), 0), timestamp(NOW));
  });
  it('was held until now, where the stop was placed after the entry, or nobody traded', () => {
    assert.equal(from(entry(500, 0), 1), timestamp(NOW));
    assert.equal(from(null, 0), timestamp(NOW));
  });
});
