// What a stop that is learnt late has closed: what was held before the strategy left and came in again, or what it holds now.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decimal } from '../../src/domain/decimal.ts';
import { timestamp } from '../../src/domain/ids.ts';
import type { Order } from '../../src/domain/orders/order.ts';
import { closedFrom, isClosedElsewhere } from '../../src/domain/protection/closing.ts';
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

describe('a position that is gone, and is held by our own record', () => {
  const held: Order = { ...entry(500, 0), status: 'filled' };
  const close = (status: Order['status']): Order => ({ ...entry(600, 1), status });
  const isElsewhere = (closing: Order | null) => isClosedElsewhere({ side: 'long' }, { closing, last: held });
  it('was closed by somebody else', () => {
    assert.equal(isElsewhere(null), true);
    assert.equal(isClosedElsewhere({ side: 'short' }, { closing: null, last: held }), false);
  });
  it('also where a close of ours has ended long ago, and not while that is under way', () => {
    assert.equal(isElsewhere(close('failed')), true);
    assert.equal(isElsewhere(close('executing')), false);
    assert.equal(isElsewhere(close('unknown')), false);
  });
});
