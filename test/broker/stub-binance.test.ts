import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BTC, refuses, stubDesk } from './stub-desk.ts';

const desk = stubDesk('binance', 'binanceusdm');

describe("Binance's stub", () => {
  it('lists markets that ccxt reads as they are', async () => {
    const { ccxt } = await desk.open();
    const markets = await ccxt.loadMarkets();
    assert.equal(markets[BTC]?.id, 'BTCUSDT');
    assert.deepEqual([markets[BTC]?.precision.amount, markets[BTC]?.contractSize], [0.001, 1]);
    assert.equal(markets['LUNA/USDT:USDT']?.active, false);
    assert.equal(markets['DOGE/USDT:USDT']?.limits.cost.min, 5);
    ccxt.options.fetchMarkets = { types: ['spot', 'linear', 'inverse'] };
    const all = await (
      await desk.client({ options: { fetchMarkets: { types: ['spot', 'linear', 'inverse'] } } })
    ).loadMarkets();
    assert.ok(all['BTC/USDT'] && all['BTC/USD:BTC'] && all[BTC]);
  });

  it('places, finds, shows and closes', async () => {
    const { ccxt, ledger } = await desk.open();
    const order = await ccxt.createOrder(BTC, 'market', 'buy', 0.01, undefined, { clientOrderId: 'one' });
    assert.deepEqual([order.clientOrderId, order.status, order.filled], ['one', 'closed', 0.01]);
    for (const found of [
      await ccxt.fetchOrder(undefined, BTC, { clientOrderId: 'one' }),
      await ccxt.fetchOrder(order.id, BTC),
      ...(await ccxt.fetchClosedOrders(BTC)),
    ])
      assert.deepEqual([found.id, found.filled, found.average], [order.id, 0.01, order.average]);
    assert.deepEqual(
      (await ccxt.fetchMyTrades(BTC)).map((trade) => [trade.order, trade.amount]),
      [[order.id, 0.01]],
    );
    const [position] = await ccxt.fetchPositions();
    assert.deepEqual(
      [position?.symbol, position?.side, position?.contracts, position?.marginMode],
      [BTC, 'long', 0.01, 'cross'],
    );
    await ccxt.createOrder(BTC, 'market', 'sell', 5, undefined, { reduceOnly: true });
    assert.deepEqual(await ccxt.fetchPositions(), []);
    const { orders } = await ledger();
    assert.deepEqual(
      orders.map((row) => [row.symbol, row.side, row.fill_quantity]),
      [
        ['BTCUSDT', 'buy', '0.01'],
        ['BTCUSDT', 'sell', '0.01'],
      ],
    );
    assert.equal(orders[0]?.broker_ref, order.id);
  });

  it('tells the mode, the balance, the time and the price', async () => {
    const { ccxt } = await desk.open({ position_mode: 'hedged' });
    assert.equal((await ccxt.fetchPositionMode()).hedged, true);
    assert.equal((await ccxt.fetchBalance()).USDT?.total, 100_000);
    assert.ok(Math.abs((await ccxt.fetchTime()) - Date.now()) < 5_000);
    const quote = (await ccxt.fetchBidsAsks([BTC]))[BTC];
    assert.ok(quote && quote.bid > 0 && quote.ask > quote.bid);
    await assert.rejects(ccxt.createOrder(BTC, 'market', 'buy', 0.01), refuses('OperationRejected', /-4061/));
  });

  it('tells klines from a time on, or the last ones, and refuses an interval that it has not', async () => {
    const { ccxt } = await desk.open();
    const since = Date.parse('2026-11-10T12:00:00Z');
    const klines = await ccxt.fetchOHLCV(BTC, '1m', since, 3);
    assert.deepEqual(
      klines.map(([at]) => at),
      [since, since + 60_000, since + 120_000],
    );
    const last = await ccxt.fetchOHLCV(BTC, '1h', undefined, 2);
    assert.equal(last.length, 2);
    assert.ok(Date.now() - (last[1]?.[0] ?? 0) <= 3_600_000 + 5_000, 'the one that runs');
    await assert.rejects(ccxt.fetchOHLCV(BTC, '7m', since, 3), refuses('BadRequest', /-1120/));
  });

  it('lets nobody in with a wrong signature, key, time, address or permission', async () => {
    const { ccxt, keys } = await desk.open();
    const with_ = (change: object) => desk.client({ ...keys, ...change });
    await ccxt.fetchPositions();
    await assert.rejects(
      (await with_({ secret: 'no' })).fetchPositions(),
      refuses('AuthenticationError', /-1022/),
    );
    await assert.rejects(
      (await with_({ apiKey: 'no' })).fetchPositions(),
      refuses('AuthenticationError', /-2015/),
    );
    const slow = await with_({ nonce: () => Date.now() - 40_000 });
    await assert.rejects(slow.fetchPositions(), refuses('InvalidNonce', /-1021/));
    const fast = await with_({ nonce: () => Date.now() + 40_000 });
    await assert.rejects(fast.fetchPositions(), refuses('InvalidNonce', /-1021/));
    const elsewhere = await desk.open({ addresses: ['203.0.113.7'] });
    await assert.rejects(elsewhere.ccxt.fetchPositions(), refuses('AuthenticationError', /-2015/));
    const reader = await desk.open({ permissions: ['read'] });
    await reader.ccxt.fetchPositions();
    await assert.rejects(
      reader.ccxt.createOrder(BTC, 'market', 'buy', 0.01),
      refuses('AuthenticationError', /-2015/),
    );
    assert.deepEqual((await reader.ledger()).requests, []);
  });

  it('refuses in its own words', async () => {
    const { ccxt, change } = await desk.open();
    const buy = (amount: number, symbol = BTC, params = {}) =>
      ccxt.createOrder(symbol, 'market', 'buy', amount, undefined, params);
    await assert.rejects(buy(100), refuses('InsufficientFunds', /-2019/));
    await assert.rejects(buy(1, 'LUNA/USDT:USDT'), refuses('OperationRejected', /-4141/));
    await assert.rejects(buy(1, 'DOGE/USDT:USDT'), refuses('InvalidOrder', /-4164/));
    await assert.rejects(buy(1, BTC, { reduceOnly: true }), refuses('InvalidOrder', /-2022/));
    await assert.rejects(buy(1, BTC, { quantity: '0.00001' }), refuses('BadRequest', /-1111/));
    await assert.rejects(
      ccxt.fetchOrder(undefined, BTC, { clientOrderId: 'none' }),
      refuses('OrderNotFound', /-2013/),
    );
    await change({ paper: { latency_ms: 0, reject: 'broker_rate_limited' } });
    await assert.rejects(buy(0.01), refuses('DDoSProtection', /-1003/));
    assert.equal(ccxt.last_response_headers['Retry-After'], '2');
  });

  it('refuses a second order under an id while the first is open, and takes it afterwards', async () => {
    const { ccxt, change, ledger } = await desk.open({ paper: { latency_ms: 0, fill: 'never' } });
    const send = () => ccxt.createOrder(BTC, 'market', 'buy', 0.01, undefined, { clientOrderId: 'twice' });
    const first = await send();
    assert.equal(first.status, 'open');
    await assert.rejects(send(), refuses('InvalidOrder', /-4116/));
    assert.deepEqual(
      (await ccxt.fetchOpenOrders(BTC)).map(({ id }) => id),
      [first.id],
    );
    await ccxt.cancelOrder(first.id, BTC);
    assert.equal((await ccxt.fetchOrder(first.id, BTC)).status, 'canceled');
    await assert.rejects(ccxt.cancelOrder(first.id, BTC), refuses('OrderNotFound', /-2011/));
    await change({ paper: { latency_ms: 0 } });
    assert.equal((await send()).status, 'closed');
    assert.equal((await ledger()).orders.length, 2);
  });

  it('takes no order that comes to its turn too late', async () => {
    const { ccxt, breaks, ledger } = await desk.open();
    await ccxt.loadMarkets();
    await breaks('slow', { ms: 2_100, calls: 'orders' });
    const late = ccxt.createOrder(BTC, 'market', 'buy', 0.01, undefined, { recvWindow: 2_000 });
    await assert.rejects(late, refuses('BadRequest', /-5028/));
    assert.equal((await ledger()).requests[0]?.outcome, 'late');
  });

  it('loses answers, and talks nonsense, as it is told to', async () => {
    const { ccxt, breaks, ledger } = await desk.open();
    await ccxt.loadMarkets();
    await breaks('lose', { calls: 'orders' });
    await assert.rejects(ccxt.createOrder(BTC, 'market', 'buy', 0.01, undefined, { clientOrderId: 'lost' }));
    assert.equal((await ccxt.fetchOrder(undefined, BTC, { clientOrderId: 'lost' })).filled, 0.01);
    assert.equal((await ledger()).orders.length, 1);
    await desk.heal();
    await breaks('garbage', { garbage: 'page', taken: true });
    assert.deepEqual(await ccxt.fetchPositions(), [], 'the trap: a page reads as flat');
    await desk.heal();
    await breaks('garbage', { garbage: 'another', taken: true });
    const other = await ccxt.fetchOrder(undefined, BTC, { clientOrderId: 'lost' });
    assert.equal(other.clientOrderId, 'lostx');
    await desk.heal();
    await breaks('refuse', { retry_after_ms: 3_000 });
    await assert.rejects(ccxt.fetchPositions(), refuses('DDoSProtection', /429/));
    assert.equal(ccxt.last_response_headers['Retry-After'], '3');
    await desk.heal();
  });

  it('knows by the path who asks', async () => {
    const { keys, ledger } = await desk.open();
    const w1 = await desk.client(keys, '/w1');
    await w1.createOrder(BTC, 'market', 'buy', 0.01);
    assert.deepEqual(
      (await ledger()).requests.map(({ asker }) => asker),
      ['w1'],
    );
  });
});
