import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BTC, refuses } from './stub-desk.ts';
import { stubSuite } from './stub-suite.ts';

const { open, send, ended } = stubSuite("OKX's stub", {
  broker: 'okx',
  contractSize: 0.01,
  step: 0.1,
  lookUp: (ccxt, clientOrderId) => ccxt.fetchOrder(undefined, BTC, { clientOrderId }),
  onlyAcknowledges: true,
  door: {
    signature: ['AuthenticationError', /50113/],
    key: ['ExchangeError', /50119/],
    time: ['InvalidNonce', /50102/],
    address: ['PermissionDenied', /50110.*key-account/],
    permission: ['ExchangeError', /50120/],
  },
  refusals: {
    insufficient_margin: ['InsufficientFunds', /51008/],
    market_closed: ['ContractUnavailable', /51022/],
    invalid_symbol: ['BadSymbol', /51001/],
    below_minimum: ['InvalidOrder', /51020/],
    broker_rate_limited: ['ExchangeError', /50061/],
    position_mode_mismatch: ['BadRequest', /posSide/],
    no_position: ['ExchangeError', /51169/],
  },
  busy: ['RateLimitExceeded', /50011/],
  notFound: ['OrderNotFound', /51603/],
  delayOf: () => null,
});

it("OKX tells the account's mode, and refuses what the mode cannot do", async () => {
  const hedged = await open({ position_mode: 'hedged' });
  assert.equal((await hedged.ccxt.fetchPositionMode()).hedged, true);
  const simple = await open({ account_type: 'classic' });
  assert.equal((await simple.ccxt.fetchPositionMode()).hedged, false);
  await assert.rejects(send(simple.ccxt, 'buy'), refuses('AccountNotEnabled', /51010/));
});

it('a close in the wrong margin mode finds no position at OKX', async () => {
  const { ccxt, ledger } = await open({ margin_mode: 'isolated', fills_after_ms: null });
  await send(ccxt, 'buy', { marginMode: 'isolated', clientOrderId: 'in' });
  await ended(ccxt, 'in');
  assert.equal((await ccxt.fetchPositions([BTC]))[0]?.marginMode, 'isolated');
  await assert.rejects(send(ccxt, 'sell', { reduceOnly: true }), refuses('ExchangeError', /51169/));
  await send(ccxt, 'sell', { reduceOnly: true, marginMode: 'isolated', clientOrderId: 'out' });
  await ended(ccxt, 'out');
  assert.deepEqual((await ledger()).positions, []);
});

it('OKX takes no order after its expTime, and no key of the demo', async () => {
  const { ccxt, ledger, change, breaks } = await open();
  await ccxt.loadMarkets();
  let expTime = 0;
  const fetchIt = ccxt.fetchImplementation;
  ccxt.fetchImplementation = (address, init) =>
    fetchIt(address, { ...init, headers: { ...(init?.headers as object), expTime: `${expTime}` } });
  expTime = Date.now() - 1;
  await assert.rejects(send(ccxt, 'buy'), refuses('ExchangeError', /50036/));
  assert.deepEqual((await ledger()).requests, []);
  await breaks('slow', { ms: 2_100, calls: 'orders' });
  expTime = Date.now() + 2_000;
  await assert.rejects(send(ccxt, 'buy'), refuses('ExchangeError', /50037/));
  assert.deepEqual(
    (await ledger()).requests.map(({ outcome }) => outcome),
    ['late'],
  );
  await change({ demo: true });
  await assert.rejects(ccxt.fetchPositions(), refuses('AuthenticationError', /50101/));
});
