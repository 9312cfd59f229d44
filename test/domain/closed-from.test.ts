// What a stop that is learnt late has closed: what was held before the strategy left and came in again, or what it holds now.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decimal } from '../../src/domain/decimal.ts';
import { type ClientOrderId, type OrderId, timestamp } from '../../src/domain/ids.ts';
import { standing } from '../../src/domain/orders/expected.ts';
import type { Order } from '../../src/domain/orders/order.ts';
import { closedFrom, closedLast } from '../../src/domain/protection/closing.ts';
import type { Direction } from '../../src/domain/side.ts';
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

describe('who closed a position that is gone', () => {
  const SYMBOL = 'BTCUSDT';
  const held: Order = { ...entry(500, 0), symbol: SYMBOL, status: 'filled' };
  const close = (status: Order['status']): Order => ({ ...entry(600, 1), status });
  const by = (closing: Order | null, traded: readonly Order[] = [held], side: Direction = 'long') =>
    closedLast({ side, instrument: held.legs[0]?.instrument ?? SYMBOL }, { closing, traded });

  it('somebody else, where it is held by our own record', () => {
    assert.equal(by(null), 'somebody else');
    assert.equal(by(null, [held], 'short'), 'an order');
  });
  it('also where a close of ours has ended long ago, and not while that is under way', () => {
    assert.equal(by(close('failed')), 'somebody else');
    assert.equal(by(close('executing')), 'an order');
    assert.equal(by(close('unknown')), 'an order');
  });

  const exitOf = (orderPart: Partial<Order>, quantity: number): Order => ({
    ...held,
    ...orderPart,
    legs: [
      {
        ...legOfThree('exit', 'filled', timestamp(700)),
        ...{ instrument: held.legs[0]?.instrument ?? null, side: 'sell', fillQuantity: decimal(quantity) },
      },
    ],
  });
  it('protection, where it closed the last of it, or what was left beside a close of ours that was learnt later', () => {
    const all = exitOf({ positionBefore: decimal(1), exitReason: 'stop_loss' }, 1);
    assert.equal(by(null, [all, held]), all);
    const ours = exitOf({ positionBefore: decimal(2) }, 1);
    const [leg] = ours.legs;
    assert.ok(leg);
    const target = {
      ...exitOf({ positionBefore: decimal(2), exitReason: 'take_profit' }, 1),
      counted: { [leg.clientOrderId]: decimal(0) },
    };
    const renamed = {
      ...target,
      legs: target.legs.map((each) => ({ ...each, clientOrderId: 'fp1' as ClientOrderId })),
    };
    assert.equal(by(null, [renamed, ours]), renamed);
    assert.equal(by(null, [{ ...renamed, counted: undefined }, ours]), 'somebody else');
  });
});

describe('who closed a position that lies in two months', () => {
  const [MARCH, APRIL] = ['TXFC7', 'TXFD7'];
  const opening = (instrument: string, before: number): Order => {
    const order = entry(500, before);
    return { ...order, symbol: 'TXF', legs: order.legs.map((leg) => ({ ...leg, instrument })) };
  };
  const exit = (nth: number, instrument: string) => ({
    ...legOfThree('exit', 'filled', timestamp(700)),
    ...{ nth, instrument, side: 'sell' as const, fillQuantity: decimal(1) },
  });
  /** One close of the strategy's own took both. */
  const close: Order = {
    ...{ ...opening(MARCH, 2), status: 'filled', positionBefore: decimal(2) },
    legs: [exit(1, MARCH), exit(2, APRIL)],
  };
  for (const instrument of [MARCH, APRIL])
    it(`an order of ours, which closed all months: ${instrument}`, () => {
      const trades = ({ legs }: Order) => legs.some((leg) => leg.instrument === instrument);
      const traded = [close, opening(APRIL, 1), opening(MARCH, 0)].filter(trades);
      assert.equal(closedLast({ side: 'long', instrument }, { closing: null, traded }), 'an order');
    });
});

describe('what is held after a fill, beside a leg of which nobody knows the end', () => {
  const exit = {
    ...legOfThree('exit', 'unknown', timestamp(700)),
    instrument: 'BTCUSDT',
    side: 'sell' as const,
  };
  const stands = (quantity: number, expected: number) =>
    standing(
      [{ instrument: 'BTCUSDT', quantity: decimal(quantity), expected: decimal(expected) }],
      [{ orderId: '1' as OrderId, leg: exit }],
      1_000,
      30_000,
    );
  it('is what is shown, where that leg is the whole difference', () => {
    assert.deepEqual(stands(0, 3), { quantity: decimal(0), counted: { [exit.clientOrderId]: decimal(3) } });
  });
  it('is what our fills come to, where it is not', () => {
    assert.deepEqual(stands(5, 3), { quantity: decimal(3), counted: { [exit.clientOrderId]: decimal(0) } });
  });
});
