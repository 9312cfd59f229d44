import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BTC, refuses } from './stub-desk.ts';
import { stubSuite } from './stub-suite.ts';

const { open, send, ended } = stubSuite("Bybit's stub", {
  broker: 'bybit',
  settings: { options: { defaultType: 'swap', defaultSubType: 'linear' } },
  contractSize: 1,
  step: 0.001,
  lookUp: (ccxt, orderLinkId) => ccxt.fetchOrder('', BTC, { orderLinkId, acknowledged: true }),
  onlyAcknowledges: true,
  door: {
    signature: ['AuthenticationError', /10004/],
    key: ['AuthenticationError', /10003/],
    time: ['InvalidNonce', /10002/],
    address: ['PermissionDenied', /10010/],
    permission: ['PermissionDenied', /10005/],
  },
  refusals: {
    insufficient_margin: ['InsufficientFunds', /110007/],
    market_closed: ['ExchangeError', /110074/],
    invalid_symbol: ['BadRequest', /10001.*symbol invalid/],
    below_minimum: ['InvalidOrder', /110094/],
    broker_rate_limited: ['RateLimitExceeded', /10006/],
    position_mode_mismatch: ['BadRequest', /position idx not match position mode/],
    no_position: ['InvalidOrder', /110017/],
  },
  notFound: ['OrderNotFound', /none|order/i],
  delayOf: (headers) => Number(headers['X-Bapi-Limit-Reset-Timestamp']) - Date.now(),
});

it('a flat symbol of Bybit shows by its rows whether the account is hedged', async () => {
  for (const [position_mode, hedged] of [
    ['one_way', [false]],
    ['hedged', [true, true]],
  ] as const) {
    const { ccxt } = await open({ position_mode });
    assert.deepEqual(
      (await ccxt.fetchPositions([BTC])).map((row) => row.hedged),
      hedged,
    );
  }
});

it('what Bybit cancels after a part of it was filled has nothing left, and is not filled', async () => {
  const { ccxt } = await open({ paper: { latency_ms: 0, fill: 'partial' }, fills_after_ms: null });
  const { id } = await send(ccxt, 'buy', { clientOrderId: 'part' });
  await ccxt.cancelOrder(id, BTC);
  const order = await ended(ccxt, 'part');
  assert.equal(order.status, 'closed', 'the trap');
  assert.ok(order.filled > 0 && order.filled < order.amount);
});

it('Bybit forgets a list of what is live, and not its history', async () => {
  const { ccxt } = await open({ forgets_ids_after_ms: { least: 0, most: 0 }, fills_after_ms: null });
  await send(ccxt, 'buy', { clientOrderId: 'gone' });
  const find = () => ccxt.fetchOrder('', BTC, { orderLinkId: 'gone', acknowledged: true });
  await assert.rejects(
    async () => {
      for (;;) await find();
    },
    refuses('OrderNotFound', /order/i),
  );
  const [old] = await ccxt.fetchCanceledAndClosedOrders(BTC, undefined, undefined, { orderLinkId: 'gone' });
  assert.equal(old?.clientOrderId, 'gone');
});
