// In which order the wishes of orders become what is wanted: as they were sent, whenever their fills are known.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decimal } from '../../src/domain/decimal.ts';
import { type OrderId, timestamp } from '../../src/domain/ids.ts';
import type { Order } from '../../src/domain/orders/order.ts';
import { beginsAnew, toTakeIn } from '../../src/domain/protection/adopt.ts';

const order = (id: string, sentAt: number, status: Order['status'] = 'filled'): Order =>
  ({
    ...{ id, status, submittedAt: timestamp(0), filledAt: timestamp(sentAt + 1_000) },
    legs: [{ leg: 'entry', side: 'buy', sentAt: timestamp(sentAt) }],
  }) as unknown as Order;

const OPENING = order('opening', 1_000);
const ADD = order('add', 2_000);

const taken = (wantedBy: readonly string[], last: string | null, orders: readonly Order[]): string[] =>
  toTakeIn(
    {
      wantedBy: wantedBy as OrderId[],
      adopted: last === null ? null : { order: last as OrderId, entry: decimal(1) },
    },
    orders,
  ).map(({ id }) => id);

describe('an order that found nothing held', () => {
  const flat = (each: Order): Order => ({ ...each, positionBefore: decimal(0) });
  it('begins anew where another position was closed before it', () => {
    assert.equal(beginsAnew(flat(order('next', 9_000)), OPENING), true);
    assert.equal(beginsAnew(flat(order('first', 9_000)), undefined), true);
  });
  it('adds to what was filled only after it had been sent: that stays protected', () => {
    assert.equal(beginsAnew(flat(order('beside', 1_500)), OPENING), false);
  });
});

describe('wishes are taken in', () => {
  it('as they were sent, whichever fill is known first', () => {
    assert.deepEqual(taken(['add', 'opening'], null, [ADD, OPENING]), ['opening', 'add']);
  });
  it('with the last one once more, where what was sent before it is known later', () => {
    assert.deepEqual(taken(['opening'], 'add', [OPENING, ADD]), ['opening', 'add']);
  });
  it('and what was sent after it alone', () => {
    assert.deepEqual(taken(['add'], 'opening', [ADD, OPENING]), ['add']);
  });
  it('and not of one that was sent before it, as long as its end is not known', () => {
    assert.deepEqual(taken(['opening'], 'add', [order('opening', 1_000, 'unknown'), ADD]), []);
  });
  it('of one whose end is not known, where nothing was taken in since', () => {
    const lost = order('opening', 1_000, 'unknown');
    assert.deepEqual(taken(['opening'], null, [lost]), ['opening']);
    assert.deepEqual(taken(['opening'], 'opening', [lost]), ['opening']);
  });
});
