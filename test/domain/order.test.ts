import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { UserId } from '../../src/domain/ids.ts';
import { type OrderId, timestamp } from '../../src/domain/ids.ts';
import {
  canMove,
  clientOrderId,
  hasEnded,
  moveTo,
  ORDER_STATUSES,
  type Order,
  type OrderStatus,
} from '../../src/domain/orders/order.ts';
import { isSameSecret } from '../../src/domain/signals/secret-digest.ts';
import { readBody, readSignal } from '../../src/domain/signals/signal.ts';
import { fingerprint, isFresh } from '../../src/domain/signals/webhook.ts';

describe('Order statuses', () => {
  const ends = ['filled', 'done', 'cancelled', 'failed', 'rejected', 'expired'];
  test('the way of an order: queued → executing → placed → partially_filled → filled', () => {
    const way: OrderStatus[] = ['queued', 'executing', 'placed', 'partially_filled', 'filled'];
    for (const [index, status] of way.slice(1).entries())
      assert.ok(canMove(way[index] as OrderStatus, status));
  });
  test('the ends are filled, done, cancelled, failed, rejected and expired, and nothing leaves an end', () => {
    assert.deepEqual(ORDER_STATUSES.filter(hasEnded).sort(), [...ends].sort());
    for (const from of ends)
      for (const to of ORDER_STATUSES) assert.equal(canMove(from as OrderStatus, to), false);
  });
  test('unknown can become everything that a broker can say, and never queued or executing again', () => {
    for (const to of ORDER_STATUSES)
      assert.equal(canMove('unknown', to), !['queued', 'executing', 'done'].includes(to));
  });
  test('nothing goes back to queued', () => {
    for (const from of ORDER_STATUSES) assert.equal(canMove(from, 'queued'), false);
  });
  test('for any sequence of moves, an order is only ever where the table leads', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...ORDER_STATUSES), { maxLength: 30 }), (wishes) => {
        let order = { id: 'x', status: 'queued' } as unknown as Order;
        for (const wish of wishes) {
          const allowed = canMove(order.status, wish);
          if (allowed) order = moveTo(order, wish);
          else assert.throws(() => moveTo(order, wish));
          if (allowed) assert.equal(order.status, wish);
        }
      }),
    );
  });
});

describe('Client order ids', () => {
  test('are derived from order and leg, 24 characters of [a-z0-9] that do not start with t', () => {
    fc.assert(
      fc.property(fc.uuid(), (id) => {
        const exit = clientOrderId(id as OrderId, 'exit');
        assert.match(exit, /^[a-su-z0-9][a-z0-9]{23}$/);
        assert.equal(exit, clientOrderId(id as OrderId, 'exit'));
        assert.notEqual(exit, clientOrderId(id as OrderId, 'entry'));
      }),
    );
  });
});

describe('Webhook levels 2 to 4', () => {
  test('level 2: the age must be below the limit, in either direction', () => {
    assert.ok(isFresh(0, 299_999, 300));
    assert.ok(!isFresh(0, 300_000, 300));
    assert.ok(isFresh(299_999, 0, 300));
    assert.ok(!isFresh(300_000, 0, 300));
  });
  test('level 3: only the very secret is the secret', () => {
    fc.assert(fc.property(fc.string(), fc.string(), (a, b) => isSameSecret(a, b) === (a === b)));
  });
  test('level 4: SHA-256 of user_id:action:symbol:quantity:timestamp:secret, truncated to 32 hex characters', async () => {
    const body =
      '{"action":"buy","symbol":"ES1!","quantity":"1.0","timestamp":"2026-11-15T10:00:00Z","secret":"s"}';
    const reading = readSignal(readBody(new TextEncoder().encode(body)), { simulation: false });
    assert.ok('signal' in reading);
    const digest = await crypto.subtle.digest('SHA-256', Buffer.from('u:buy:ES1!:1:2026-11-15T10:00:00Z:s'));
    assert.equal(
      fingerprint('u' as UserId, reading.signal),
      Buffer.from(digest).toString('hex').slice(0, 32),
    );
  });
});

test('a time is written as the platform writes it, whenever it is and whatever was asked for before', () => {
  const times = fc.oneof(
    fc.integer({ min: -8.64e15, max: 8.64e15 }),
    fc.integer({ min: 1.7e12, max: 1.7e12 + 40_000 }),
    fc.double({ min: -1e6, max: 1e6, noNaN: true }),
  );
  fc.assert(
    fc.property(times, (ms) => timestamp(ms) === new Date(ms).toISOString()),
    { numRuns: 3_000, examples: [[0], [-1], [-1.5], [999.9], [253_402_300_800_000]] },
  );
  assert.throws(() => timestamp(Number.NaN), RangeError);
});
