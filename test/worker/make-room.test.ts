// A stop that the broker does not take beside an entry of ours: what makes room for it, and what does not.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decimal } from '../../src/domain/decimal.ts';
import { type ClientOrderId, timestamp } from '../../src/domain/ids.ts';
import type { BrokerOrderState } from '../../src/domain/orders/fill.ts';
import type { Leg, Order } from '../../src/domain/orders/order.ts';
import { makeRoom } from '../../src/worker/lane/make-room.ts';
import type { Line } from '../../src/worker/line/line.ts';
import { order as made } from '../domain/traded.ts';

const NOW = Date.UTC(2026, 0, 5, 12);

const ENTRY = {
  ...{ leg: 'entry', nth: 1, clientOrderId: 'fe' as ClientOrderId, instrument: 'AAPL', side: 'buy' },
  ...{ quantity: decimal(10), fillQuantity: decimal(4), brokerRef: 'ref', status: 'partially_filled' },
  sentAt: timestamp(NOW - 10_000),
} as unknown as Leg;

const entry = (more: Partial<Leg> = {}): Order =>
  made(0, [], {
    ...{
      status: 'partially_filled',
      intent: { operation: 'PLACE_ENTRY_ORDER', side: 'buy' },
      symbol: 'AAPL',
    },
    ...{ legs: [{ ...ENTRY, ...more }], credentialsVersion: 1 },
  });

/** `becomes`: what the broker says of the entry when it is asked to end it. `saved`: as the entry stands by now. */
function roomFor(listed: Order, { saved = listed, credentialsVersion = 1 } = {}) {
  const state: BrokerOrderState = {
    ...{ brokerRef: 'ref', status: 'cancelled', fillQuantity: decimal(4), fillPrice: decimal(100) },
  } as BrokerOrderState;
  const line = {
    ...{ credentialsVersion, capabilities: {} },
    find: async () => (credentialsVersion === 1 ? state : null),
    cancel: async () => {},
  } as unknown as Line;
  const deps = {
    ...{ clock: { now: () => NOW }, wait: async () => {}, rules: { giveUpMs: 5_000 } },
    endEntry: async () => saved,
    saveSeen: async (seen: Order) => seen,
  };
  return makeRoom(deps, line, [listed], { instrument: 'AAPL', side: 'sell' });
}

describe('Room for a stop', () => {
  test('is made by an entry that is taken back', async () => assert.equal(await roomFor(entry()), 'made'));

  test('is not made by one that had ended before: the stop was refused without it', async () =>
    assert.equal(await roomFor(entry(), { saved: entry({ status: 'filled' }) }), 'none'));

  test('is not waited for where the entry is of another login, which nobody reaches from here', async () =>
    assert.equal(await roomFor(entry(), { credentialsVersion: 2 }), 'none'));

  test('is waited for while an entry at the market was sent a moment ago', async () =>
    assert.equal(await roomFor(entry({ sentAt: timestamp(NOW - 1_000) })), 'awaited'));
});
