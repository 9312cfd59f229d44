import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BTC, refuses, until } from './stub-desk.ts';
import { stubSuite } from './stub-suite.ts';

const { open, send } = stubSuite("Gate's stub", {
  broker: 'gate',
  settings: { options: { defaultType: 'swap', unifiedAccount: false } },
  terms: { account_type: 'classic' },
  contractSize: 0.0001,
  step: 1,
  lookUp: (ccxt, clientOrderId) => ccxt.fetchOrder(undefined, BTC, { clientOrderId }),
  onlyAcknowledges: false,
  door: {
    signature: ['AuthenticationError', /INVALID_SIGNATURE/],
    key: ['AuthenticationError', /INVALID_KEY/],
    time: ['AuthenticationError', /REQUEST_EXPIRED/],
    address: ['AuthenticationError', /IP_FORBIDDEN/],
    permission: ['PermissionDenied', /READ_ONLY/],
  },
  refusals: {
    insufficient_margin: ['InsufficientFunds', /INSUFFICIENT_AVAILABLE/],
    market_closed: ['ExchangeError', /CONTRACT_IN_DELISTING/],
    invalid_symbol: ['BadSymbol', /CONTRACT_NOT_FOUND/],
    below_minimum: ['InvalidOrder', /SIZE_TOO_SMALL/],
    broker_rate_limited: ['RateLimitExceeded', /TOO_MANY_REQUESTS/],
    position_mode_mismatch: ['ExchangeError', /POSITION_DUAL_MODE/],
    no_position: ['InvalidOrder', /POSITION_EMPTY/],
  },
  notFound: ['OrderNotFound', /ORDER_NOT_FOUND/],
  delayOf: (headers) => Number(headers['X-Gate-Ratelimit-Reset-Timestamp']) * 1000 - Date.now(),
});

it('Gate tells of a flat account whether it is hedged', async () => {
  const { ccxt } = await open({ position_mode: 'hedged' });
  assert.deepEqual(await ccxt.fetchPositions(), []);
  const { info } = (await ccxt.fetchBalance()) as unknown as { info: { in_dual_mode: boolean }[] };
  assert.equal([info].flat()[0]?.in_dual_mode, true);
});

it('Gate forgets the text of an order in a minute, takes a second order under it, and never forgets its own id', async () => {
  const { ccxt, ledger } = await open({ forgets_ids_after_ms: { least: 0, most: 0 } });
  const first = await send(ccxt, 'buy', { clientOrderId: 'gone' });
  assert.equal(first.clientOrderId, 't-gone');
  const find = () => ccxt.fetchOrder(undefined, BTC, { clientOrderId: 'gone' });
  const isGone = await until(
    () => find().catch((fault: Error) => fault),
    (found) => found instanceof Error,
  );
  assert.ok(refuses('OrderNotFound', /ORDER_NOT_FOUND/)(isGone as Error));
  const second = await send(ccxt, 'buy', { clientOrderId: 'gone' });
  assert.notEqual(second.id, first.id);
  assert.equal((await ccxt.fetchOrder(first.id, BTC)).filled, first.filled);
  const finished = await ccxt.fetchClosedOrders(BTC);
  assert.deepEqual(finished.map(({ id }) => id).toSorted(), [first.id, second.id].toSorted());
  assert.equal((await ledger()).orders.length, 2);
});
