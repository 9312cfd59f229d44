// Whether an entry has something to close first, by our own record: then it has an exit's patience with a broker that is away.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decimal } from '../../src/domain/decimal.ts';
import type { UserId } from '../../src/domain/ids.ts';
import type { Order } from '../../src/domain/orders/order.ts';
import { executionOf } from '../../src/worker/host/execution.ts';

const of = (symbol: string) => ({ symbol, brokerName: 'shioaji', simulation: false }) as Order;

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
  assert.equal(await isAgainstRecord(of('MXFL6'), 'sell'), true);
  assert.equal(await isAgainstRecord(of('MXFL6'), 'buy'), false);
  assert.equal(await isAgainstRecord(of('TXFL6'), 'sell'), false);
});

test('also under a symbol that rolls, of which a month is held', async () => {
  const { isAgainstRecord } = recorded([['MXFL6', 7]], ['MXFL6']);
  assert.equal(await isAgainstRecord(of('MXF1!'), 'sell'), true);
  assert.equal(await isAgainstRecord(of('MXF1!'), 'buy'), false);
});
