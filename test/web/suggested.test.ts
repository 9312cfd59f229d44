// What the search offers while somebody types.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { components } from '../../web/api/schema.ts';
import { suggestedFor } from '../../web/parts/suggested.ts';

type Order = components['schemas']['OrderSummary'];

const accounts = [
  { id: 'a', name: 'Bybit main', broker: 'bybit' as const },
  { id: 'b', name: 'Ether lab', broker: 'paper' as const },
];
const order = (order_id: string, symbol: string, more: Partial<Order> = {}): Order =>
  ({
    order_id,
    symbol,
    broker_name: 'bybit',
    trading_account_id: 'a',
    action: 'buy',
    quantity: 0.5,
    quantity_type: 'units',
    status: 'filled',
    submitted_at: '2026-11-17T15:42:17.000Z',
    ...more,
  }) as Order;
const held = new Map([
  [
    'a',
    [
      { symbol: 'ETHUSDT.P', quantity: 1.5 },
      { symbol: 'BTCUSDT.P', quantity: 0 },
    ],
  ],
]);
const orders = [
  order('1', 'BYBIT:ETHUSDT.P'),
  order('2', 'ETHUSDT', { broker_name: 'paper', trading_account_id: 'b', action: 'close_long' }),
];
const offered = (text: string) =>
  suggestedFor(text, { accounts, held, orders }).map(({ name, says, kind }) => `${name} | ${says} | ${kind}`);

test('first all that is found, then what is held before what was traded, accounts, and the latest orders', () => {
  assert.deepEqual(offered(' eth '), [
    'eth | orders and signals | all',
    'ETHUSDT.P | held: long 1.5 on Bybit main | position',
    'ETHUSDT | last traded on Ether lab | signals',
    'Ether lab | paper | account',
    'buy 0.5 | ETHUSDT.P, filled | order',
    'close long 0.5 | ETHUSDT, filled | order',
  ]);
});

test('nothing is offered for nothing, and Enter alone still searches for what nobody knows', () => {
  assert.deepEqual(offered('  '), []);
  const none = suggestedFor('XYZ', { accounts, held, orders: [] });
  assert.deepEqual(
    none.map(({ to, search }) => [to, search]),
    [['/signals', { search: 'XYZ' }]],
  );
});

test('what is not held any more is not offered as held, and what is not known is said so', () => {
  const doubted = new Map([['a', [{ symbol: 'BTCUSDT.P', quantity: 0, may_be: [0, 1] }]]]);
  const [, first] = suggestedFor('BTC', { accounts, held: doubted, orders: [] });
  assert.equal(first?.says, 'not known on Bybit main');
  assert.equal(suggestedFor('BTC', { accounts, held, orders: [] }).length, 1);
});
