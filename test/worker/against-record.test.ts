// Whether an entry has something to close first, by our own record: then it has an exit's patience with a broker that is away.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decimal } from '../../src/domain/decimal.ts';
import type { UserId } from '../../src/domain/ids.ts';
import type { Order } from '../../src/domain/orders/order.ts';
import { executionOf } from '../../src/worker/host/execution.ts';

const entry = (symbol: string, side: 'buy' | 'sell', position?: number) =>
  ({
    ...{ symbol, brokerName: 'shioaji', simulation: false },
    intent: {
      operation: 'PLACE_ENTRY_ORDER',
      side,
      ...(position && { target: { position: decimal(position), opens: null } }),
    },
  }) as Order;

function recorded(held: readonly (readonly [string, number])[], months: readonly string[] = []) {
  const orders = {
    heldByRecord: async () => held.map(([name, quantity]) => [name, decimal(quantity)] as const),
    monthsUnder: async () => months,
  };
  const given = { orders } as unknown as Parameters<typeof executionOf>[0];
  const owner = {} as Parameters<typeof executionOf>[2];
  return executionOf(given, 'u' as UserId, owner);
}

test('an entry is against what is held the other way', async () => {
  const { isAgainstRecord } = recorded([['MXFL6', 7]]);
  assert.equal(await isAgainstRecord(entry('MXFL6', 'sell')), true);
  assert.equal(await isAgainstRecord(entry('MXFL6', 'buy')), false);
  assert.equal(await isAgainstRecord(entry('TXFL6', 'sell')), false);
});

test('also against more than its strategy stands at, the same way', async () => {
  const { isAgainstRecord } = recorded([['MXFL6', 7]]);
  assert.equal(await isAgainstRecord(entry('MXFL6', 'buy', 5)), true);
  assert.equal(await isAgainstRecord(entry('MXFL6', 'buy', 9)), false);
  assert.equal(await isAgainstRecord(entry('MXFL6', 'sell', -1)), true);
});

test('also under a symbol that rolls, of which a month is held', async () => {
  const { isAgainstRecord } = recorded([['MXFL6', 7]], ['MXFL6']);
  assert.equal(await isAgainstRecord(entry('MXF1!', 'sell')), true);
  assert.equal(await isAgainstRecord(entry('MXF1!', 'buy')), false);
});
