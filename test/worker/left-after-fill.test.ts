// What a protective fill leaves, beside orders of ours whose end nobody knows, as its record says it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decimal } from '../../src/domain/decimal.ts';
import { type ClientOrderId, type OrderId, timestamp } from '../../src/domain/ids.ts';
import type { Leg } from '../../src/domain/orders/order.ts';
import { openTrades } from '../../src/worker/lane/trades.ts';
import { legOfThree } from '../domain/legs.ts';

const SYMBOL = 'BTCUSDT';
const LAG_MS = 30_000;
const NOW = 1_000_000;

/** 3 were held while this leg was in doubt; then a stop sold so many of them, and so many are shown. */
function after(sold: number, shown: number, doubtful: Leg, agreedAt: number) {
  let now = agreedAt;
  const trades = openTrades({ now: () => now, lagMs: LAG_MS });
  const others = [{ orderId: 'other' as OrderId, leg: doubtful }];
  trades.agreed(SYMBOL, decimal(3), others);
  now = NOW;
  trades.seen({
    ...{ clientOrderId: 'stop' as ClientOrderId, instrument: SYMBOL, side: 'sell' },
    fillQuantity: decimal(sold),
  });
  return trades.standing(SYMBOL, decimal(shown), others);
}

describe('what a stop leaves', () => {
  it('is nothing, where the position lags behind its fill and an entry of the same size is in doubt', () => {
    const entry: Leg = { ...legOfThree('entry', 'unknown', timestamp(NOW - 1_000)), side: 'buy' };
    const { quantity, counted } = after(3, 3, entry, NOW - 500);
    assert.deepEqual([quantity, counted?.[entry.clientOrderId]], [decimal(0), decimal(0)]);
  });

  it('has nothing in it of a close in doubt that our own fills know nothing of, however long ago that was sent', () => {
    const close: Leg = legOfThree('exit', 'unknown', timestamp(NOW - LAG_MS - 5_000));
    // It had taken 1, as turns out later: the stop found 2.
    const { quantity, counted } = after(2, 0, close, NOW - 10_000);
    assert.deepEqual([quantity, counted?.[close.clientOrderId]], [decimal(1), decimal(0)]);
  });
});
