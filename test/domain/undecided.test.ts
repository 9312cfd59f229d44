// Which orders may yet want the stop that stands.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decimal } from '../../src/domain/decimal.ts';
import type { LegStatus, Order } from '../../src/domain/orders/order.ts';
import { mayWantStop } from '../../src/domain/protection/undecided.ts';
import { legOfThree } from './legs.ts';

const STOP = { stop: { unit: 'price', value: decimal(90) } } as const;

const entry = (status: LegStatus, more: Partial<Order> = {}): Order =>
  ({
    legs: [{ ...legOfThree('entry', status), instrument: 'BTCUSDT' }],
    wish: { own: STOP, fromFlat: STOP },
    ...more,
  }) as unknown as Order;

const AT_ITS_PRICE = { priced: { limit: decimal(95) } } as unknown as Partial<Order>;

test('an entry that is on its way, or at the market and not known to be filled, may want a stop', () => {
  for (const status of ['sending', 'unknown', 'placed', 'partially_filled'] as const)
    assert.equal(mayWantStop(entry(status), 'BTCUSDT'), true, status);
});

test('one that waits for its price does where nobody knows whether it does', () => {
  assert.equal(mayWantStop(entry('placed', AT_ITS_PRICE), 'BTCUSDT'), false);
  assert.equal(mayWantStop(entry('unknown', AT_ITS_PRICE), 'BTCUSDT'), true);
});

test('nothing else does', () => {
  assert.equal(mayWantStop(entry('filled'), 'BTCUSDT'), false);
  assert.equal(mayWantStop(entry('placed'), 'ETHUSDT'), false);
  const none = { wish: { own: {}, fromFlat: {} } } as unknown as Partial<Order>;
  assert.equal(mayWantStop(entry('placed', none), 'BTCUSDT'), false);
});
