import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BTC, refuses, until } from './stub-desk.ts';
import { stubSuite } from './stub-suite.ts';

const { desk, open, send } = stubSuite("Bitget's stub", {
  broker: 'bitget',
  settings: { options: { defaultType: 'swap', uta: false } },
  terms: { account_type: 'classic' },
  contractSize: 1,
  step: 0.001,
  lookUp: (ccxt, clientOrderId) => ccxt.fetchOrder(undefined, BTC, { clientOrderId }),
  onlyAcknowledges: true,
  door: {
    signature: ['AuthenticationError', /40009/],
    key: ['AuthenticationError', /40037/],
    time: ['InvalidNonce', /40008/],
    address: ['PermissionDenied', /40018/],
    permission: ['PermissionDenied', /40014/],
  },
  refusals: {
    insufficient_margin: ['InsufficientFunds', /40762/],
    market_closed: ['ExchangeError', /45043/],
    invalid_symbol: ['ExchangeError', /40034/],
    below_minimum: ['InvalidOrder', /45110/],
    broker_rate_limited: ['DDoSProtection', /429/],
    position_mode_mismatch: ['InvalidOrder', /40774/],
    no_position: ['ExchangeError', /22002/],
  },
  notFound: ['OrderNotFound', /40109/],
  delayOf: () => null,
});

const unified = { options: { defaultType: 'swap', uta: true } };

it('a close in the wrong margin mode finds no position at Bitget', async () => {
  const { ccxt } = await open({ margin_mode: 'isolated', fills_after_ms: null });
  await send(ccxt, 'buy', { marginMode: 'isolated' });
  assert.equal((await ccxt.fetchPositions([BTC]))[0]?.marginMode, 'isolated');
  await assert.rejects(send(ccxt, 'sell', { reduceOnly: true }), refuses('ExchangeError', /22002/));
  await send(ccxt, 'sell', { reduceOnly: true, marginMode: 'isolated' });
  assert.deepEqual(await ccxt.fetchPositions([BTC]), []);
});

it('a unified account at Bitget trades by its own API, and a classic one cannot', async () => {
  const { ccxt, ledger } = await desk.open({ account_type: 'unified' }, unified);
  const order = await send(ccxt, 'buy', { clientOrderId: 'one' });
  const find = () => ccxt.fetchOrder(undefined, BTC, { clientOrderId: 'one' });
  const filled = await until(find, ({ status }) => status === 'closed');
  assert.deepEqual(
    [filled.id, filled.filled, filled.average],
    [order.id, 0.01, undefined],
    'no price: the trap',
  );
  assert.equal(ccxt.markets[BTC]?.precision.amount, 0.0001, 'finer than the step: the trap');
  assert.equal((await ccxt.fetchPositions([BTC]))[0]?.contracts, 0.01);
  const close = await send(ccxt, 'sell', { clientOrderId: 'out', reduceOnly: true });
  assert.equal(close.id || undefined, undefined, 'acknowledged without an id: the trap');
  await until(
    () => ccxt.fetchPositions([BTC]),
    (held) => held.length === 0,
  );
  assert.deepEqual((await ledger()).positions, []);
  await assert.rejects(
    ccxt.fetchOrder(undefined, BTC, { clientOrderId: 'none' }),
    refuses('ExchangeError', /25204/),
  );
  const wrong = await desk.open({ account_type: 'classic' }, unified);
  await assert.rejects(wrong.ccxt.fetchPositions([BTC]), refuses('ExchangeError', /40084/));
  const other = await desk.open(
    { account_type: 'unified' },
    { options: { defaultType: 'swap', uta: false } },
  );
  await assert.rejects(other.ccxt.fetchPositions([BTC]), refuses('ExchangeError', /40085/));
});
