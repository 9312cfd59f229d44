// In which order the wishes of orders become what is wanted: as they were sent, whenever their fills are known.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Instrument, Position } from '../../src/broker/broker.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { type OrderId, timestamp } from '../../src/domain/ids.ts';
import type { Order } from '../../src/domain/orders/order.ts';
import { beginsAnew, toTakeIn } from '../../src/domain/protection/adopt.ts';
import type { Protection } from '../../src/domain/protection/protection.ts';
import { takenIn } from '../../src/worker/lane/taken-in.ts';

const order = (id: string, sentAt: number, status: Order['status'] = 'filled'): Order =>
  ({
    ...{ id, status, submittedAt: timestamp(0), filledAt: timestamp(sentAt + 1_000) },
    legs: [{ leg: 'entry', side: 'buy', sentAt: timestamp(sentAt), fillQuantity: null, fillPrice: null }],
  }) as unknown as Order;

const filledAt = (price: number, each: Order): Order => ({
  ...each,
  legs: each.legs.map((leg) => ({ ...leg, fillQuantity: decimal(1), fillPrice: decimal(price) })),
});

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

describe('an entry without a wish that found nothing held', () => {
  const asks = { stop: { unit: 'price', value: decimal(90) } } as const;
  const flat = { positionBefore: decimal(0) };
  const unfilled = { ...order('lost', 1_000, 'unknown'), ...flat, filledAt: null };
  const lost: Order = { ...unfilled, wish: { own: asks, fromFlat: asks } };
  const plain = filledAt(100, { ...order('plain', 2_000), ...flat });
  const held = { symbol: 'BTCUSDT', quantity: decimal(2), averagePrice: decimal(100) } as Position;
  const before = {
    ...{ side: 'long', wantedBy: ['lost'], adopted: null, stop: null, targets: [], trail: null },
    ...{ breakEven: null, timeStopAt: null, legs: [] },
  } as unknown as Protection;

  const takeIn = (protection: Protection, orders: readonly Order[], wantedBy = protection.wantedBy) =>
    takenIn(
      { orders: async (ids) => orders.filter(({ id }) => ids.includes(id)) },
      { positions: async () => [held] },
      { symbol: 'BTCUSDT', tickSize: decimal(1) } as Instrument,
      { ...protection, wantedBy },
    );
  const both = ['lost', 'plain'] as OrderId[];

  it('leaves the stop of one before it, of which nobody knows whether it was filled since', async () => {
    const first = await takeIn(before, [lost]);
    assert.equal(first.stop?.price, '90');
    const then = await takeIn(first, [lost, plain], both);
    assert.equal(then.stop?.price, '90');
    assert.deepEqual(then.wantedBy, both);
    assert.deepEqual(await takeIn(then, [lost, plain]), then);
  });
  it('takes it away once that one is known never to have been filled', async () => {
    const then = await takeIn(await takeIn(before, [lost]), [lost, plain], both);
    const known = await takeIn(then, [{ ...lost, status: 'failed' }, plain]);
    assert.equal(known.stop, null);
    assert.deepEqual(known.wantedBy, []);
  });
  it('and leaves it for good where that one was filled after it had been sent', async () => {
    const then = await takeIn(await takeIn(before, [lost]), [lost, plain], both);
    const known = await takeIn(then, [
      filledAt(99, { ...lost, status: 'filled', filledAt: timestamp(9_000) }),
      plain,
    ]);
    assert.equal(known.stop?.price, '90');
    assert.deepEqual(known.wantedBy, []);
  });
});

describe('an entry that was never filled', () => {
  it('asks for nothing of what somebody else holds', async () => {
    const asks = { stop: { unit: 'price', value: decimal(90) } } as const;
    const never = {
      ...order('never', 1_000, 'rejected'),
      positionBefore: decimal(0),
      filledAt: null,
      wish: { own: asks, fromFlat: asks },
    };
    const taken = await takenIn(
      { orders: async () => [never] },
      {
        positions: async () => [
          { symbol: 'X', quantity: decimal(2), averagePrice: decimal(100) } as Position,
        ],
      },
      { symbol: 'X', tickSize: decimal(1) } as Instrument,
      { side: 'long', wantedBy: ['never'], adopted: null, stop: null, legs: [] } as unknown as Protection,
    );
    assert.equal(taken.stop, null);
    assert.deepEqual(taken.wantedBy, []);
  });
});
