// The stubs of Binance, Bybit and Gate keep stops and limit orders as the exchanges' documents say, seen through ccxt itself, and
// refuse what the exchange would refuse, by its own code.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BTC, type Ccxt, stubDesk } from './stub-desk.ts';

type Row = Readonly<Record<string, unknown>>;
/** ccxt's endpoint methods, by name. */
type Calls = Ccxt & Record<string, (params: object) => Promise<Row & readonly Row[]>>;

const binance = stubDesk('binance', 'binanceusdm');
const bybit = stubDesk('bybit');
const gate = stubDesk('gate');
const SWAP = { options: { defaultType: 'swap', unifiedAccount: false } };

/** Long at 50,000. */
async function long(desk: typeof binance, contracts: number, terms: object = {}) {
  await desk.control('POST', 'prices', { BTCUSDT: 50_000 });
  const { ccxt } = await desk.open({ fills_after_ms: null, ...terms }, SWAP);
  await ccxt.createOrder(BTC, 'market', 'buy', contracts);
  const calls = ccxt as Calls;
  return { ccxt, call: (name: string, params: object) => (calls[name] as Calls[string])(params) };
}

const refuses = (answer: Promise<unknown>, code: string | number): Promise<void> =>
  assert.rejects(answer, (fault: Error) => {
    assert.match(fault.message, new RegExp(`[":]${code}[",]`));
    return true;
  });

describe('Binance’s stub', () => {
  const STOP = {
    algoType: 'CONDITIONAL',
    symbol: 'BTCUSDT',
    side: 'SELL',
    type: 'STOP_MARKET',
    quantity: '0.01',
    reduceOnly: 'true',
    triggerPrice: '49000',
    workingType: 'CONTRACT_PRICE',
    clientAlgoId: 'fs1',
  };

  for (const [what, stop, code] of [
    ['no word that it is conditional', { ...STOP, algoType: undefined }, -1102],
    ['a type that is not conditional', { ...STOP, type: 'MARKET' }, -1116],
    ['no trigger price', { ...STOP, triggerPrice: undefined }, -1102],
    ['no quantity', { ...STOP, quantity: undefined }, -1102],
    ['a quantity for the whole position', { ...STOP, closePosition: 'true' }, -1106],
    ['a price to watch that there is not', { ...STOP, workingType: 'LAST' }, -1130],
    ['an id that is none', { ...STOP, clientAlgoId: 'no id' }, -4015],
    ['a price between ticks', { ...STOP, triggerPrice: '49000.05' }, -4014],
    ['a quantity between steps', { ...STOP, quantity: '0.0105' }, -1111],
    ['a symbol that there is not', { ...STOP, symbol: 'NOUSDT' }, -1121],
    ['one side of a hedged account', { ...STOP, positionSide: 'LONG' }, -4061],
    ['a stop above the price', { ...STOP, triggerPrice: '51000' }, -2021],
  ] as const)
    it(`refuses ${what}`, async () => {
      const { call } = await long(binance, 0.01);
      await refuses(call('fapiPrivatePostAlgoOrder', stop), code);
    });

  it('takes stops at the Algo Service alone, each under an id of its own while it stands', async () => {
    const { call } = await long(binance, 0.01);
    const { algoType: _algo, clientAlgoId: _id, triggerPrice: stopPrice, ...plain } = STOP;
    await refuses(call('fapiPrivatePostOrder', { ...plain, stopPrice }), -4120);
    await call('fapiPrivatePostAlgoOrder', STOP);
    await refuses(call('fapiPrivatePostAlgoOrder', STOP), -4116);
    await call('fapiPrivatePostAlgoOrder', { ...STOP, clientAlgoId: 'fs2', triggerPrice: '48000' });
    const open = await call('fapiPrivateGetOpenAlgoOrders', { symbol: 'BTCUSDT' });
    assert.deepEqual(
      open.map(({ clientAlgoId, triggerPrice, algoStatus }) => [clientAlgoId, triggerPrice, algoStatus]),
      [
        ['fs2', '48000', 'NEW'],
        ['fs1', '49000', 'NEW'],
      ],
    );
    await call('fapiPrivateDeleteAlgoOrder', { clientAlgoId: 'fs1' });
    await refuses(call('fapiPrivateDeleteAlgoOrder', { clientAlgoId: 'fs1' }), -2011);
    await refuses(call('fapiPrivateGetAlgoOrder', { clientAlgoId: 'none' }), -2013);
    await refuses(call('fapiPrivateGetAlgoOrder', {}), -1102);
    assert.equal((await call('fapiPrivateGetAlgoOrder', { clientAlgoId: 'fs1' })).algoStatus, 'CANCELED');
  });

  it('makes a plain order of one that triggers, and names it', async () => {
    const { ccxt, call } = await long(binance, 0.01);
    await call('fapiPrivatePostAlgoOrder', STOP);
    await binance.control('POST', 'prices', { BTCUSDT: 48_900 });
    const { algoStatus, actualOrderId } = await call('fapiPrivateGetAlgoOrder', { clientAlgoId: 'fs1' });
    assert.equal(algoStatus, 'FINISHED');
    const order = await ccxt.fetchOrder(String(actualOrderId), BTC);
    assert.deepEqual([order.status, order.filled], ['closed', 0.01]);
    assert.deepEqual(await ccxt.fetchPositions(), []);
  });
});

describe('Bybit’s stub', () => {
  const STOP = {
    category: 'linear',
    symbol: 'BTCUSDT',
    positionIdx: 0,
    tpslMode: 'Full',
    stopLoss: '49000',
    slTriggerBy: 'LastPrice',
    slOrderType: 'Market',
  };
  const CALL = 'privatePostV5PositionTradingStop';

  for (const [what, stop, code] of [
    ['another category', { ...STOP, category: 'spot' }, 10001],
    ['a symbol that there is not', { ...STOP, symbol: 'NOUSDT' }, 10001],
    ['no mode', { ...STOP, tpslMode: undefined }, 10001],
    ['no place of the position', { ...STOP, positionIdx: undefined }, 10001],
    ['a side of a hedged account', { ...STOP, positionIdx: 1 }, 10001],
    ['a price below nothing', { ...STOP, stopLoss: '-1' }, 10001],
    ['a price between ticks', { ...STOP, stopLoss: '49000.05' }, 10001],
    ['a limit for the whole position', { ...STOP, slOrderType: 'Limit' }, 10001],
    ['a stop above the price', { ...STOP, stopLoss: '51000' }, 10001],
  ] as const)
    it(`refuses ${what}`, async () => {
      const { call } = await long(bybit, 0.01);
      await refuses(call(CALL, stop), code);
    });

  it('has one stop of the position, which the same call sets, moves and removes', async () => {
    const { ccxt, call } = await long(bybit, 0.01);
    const priceOf = async (): Promise<unknown> => {
      const { result } = await call('privateGetV5PositionList', { category: 'linear', symbol: 'BTCUSDT' });
      return (result as { list: readonly Row[] }).list[0]?.stopLoss;
    };
    assert.equal(await priceOf(), '');
    await call(CALL, STOP);
    assert.equal(await priceOf(), '49000');
    await refuses(call(CALL, STOP), 34040);
    await call(CALL, { ...STOP, stopLoss: '48000' });
    assert.equal(await priceOf(), '48000');
    // It is among what is live, as large as the position, and nobody's id is on it.
    const { result } = await call('privateGetV5OrderRealtime', { category: 'linear', symbol: 'BTCUSDT' });
    const rows = (result as { list: readonly Row[] }).list;
    assert.deepEqual(
      rows.map((row) => [row.orderStatus, row.stopOrderType, row.qty, row.orderLinkId]),
      [['Untriggered', 'StopLoss', '0.01', '']],
    );
    await call(CALL, { ...STOP, stopLoss: '0' });
    assert.equal(await priceOf(), '');
    await ccxt.createOrder(BTC, 'market', 'sell', 0.01, undefined, { reduceOnly: true });
    await assert.rejects(call(CALL, STOP), /zero position/);
  });

  it('tells in its lists of orders and executions what was a stop', async () => {
    const { call } = await long(bybit, 0.01);
    await call(CALL, STOP);
    await bybit.control('POST', 'prices', { BTCUSDT: 48_900 });
    for (const [name, more] of [
      ['privateGetV5OrderRealtime', { openOnly: 1 }],
      ['privateGetV5OrderHistory', {}],
      ['privateGetV5ExecutionList', {}],
    ] as const) {
      const { result } = await call(name, { category: 'linear', symbol: 'BTCUSDT', ...more });
      const rows = (result as { list: readonly Row[] }).list;
      const own = rows.filter((row) => row.stopOrderType === 'StopLoss');
      assert.deepEqual(
        own.map((row) => [row.side, row.createType, row.orderLinkId]),
        [['Sell', 'CreateByStopLoss', '']],
        name,
      );
    }
  });
});

describe('Gate’s stub', () => {
  const STOP = {
    settle: 'usdt',
    initial: {
      contract: 'BTC_USDT',
      size: 0,
      close: true,
      price: '0',
      tif: 'ioc',
      reduce_only: true,
      text: 't-fs1',
    },
    trigger: { strategy_type: 0, price_type: 0, price: '49000', rule: 2 },
    order_type: 'close-long-position',
  };
  const CALL = 'privateFuturesPostSettlePriceOrders';
  const initially = (more: object) => ({ ...STOP, initial: { ...STOP.initial, ...more } });
  const triggered = (more: object) => ({ ...STOP, trigger: { ...STOP.trigger, ...more } });
  const PART = { ...initially({ size: -40, close: undefined }), order_type: 'plan-close-long-position' };

  for (const [what, stop, label] of [
    ['a kind that only it itself makes', { ...STOP, order_type: 'close-long-order' }, 'INVALID_PARAM_VALUE'],
    ['the whole without the word for it', initially({ close: false }), 'INVALID_PARAM_VALUE'],
    ['the whole with a size', initially({ size: -100 }), 'INVALID_PARAM_VALUE'],
    ['what could open', initially({ reduce_only: false }), 'INVALID_PARAM_VALUE'],
    ['at the market, and to rest', initially({ tif: 'gtc' }), 'INVALID_PARAM_VALUE'],
    ['a part of the wrong sign', { ...PART, initial: { ...PART.initial, size: 40 } }, 'INVALID_PARAM_VALUE'],
    ['a contract that there is not', initially({ contract: 'NO_USDT' }), 'CONTRACT_NOT_FOUND'],
    ['a rule that there is not', triggered({ rule: 3 }), 'INVALID_PARAM_VALUE'],
    ['a price that is a number', triggered({ price: 49_000 }), 'INVALID_PARAM_VALUE'],
    ['a price between ticks', triggered({ price: '49000.05' }), 'INVALID_PARAM_VALUE'],
    ['a stop above the price', triggered({ price: '51000' }), 'AUTO_TRIGGER_PRICE_LESS_LAST'],
  ] as const)
    it(`refuses ${what}`, async () => {
      const { call } = await long(gate, 100);
      await refuses(call(CALL, stop), label);
    });

  it('keeps one of the whole position, and parts beside it, by the exchange’s own ids', async () => {
    const { call } = await long(gate, 100);
    const { id } = await call(CALL, STOP);
    await refuses(call(CALL, STOP), 'AUTO_POSITION_ORDER_EXISTS');
    const { id: part } = await call(CALL, PART);
    const open = await call('privateFuturesGetSettlePriceOrders', {
      settle: 'usdt',
      status: 'open',
      contract: 'BTC_USDT',
    });
    assert.deepEqual(
      open.map((row) => [row.id, row.order_type, (row.initial as Row).size]),
      [
        [part, 'plan-close-long-position', -40],
        [id, 'close-long-position', 0],
      ],
    );
    const named = { settle: 'usdt', order_id: id };
    await call('privateFuturesDeleteSettlePriceOrdersOrderId', named);
    await refuses(call('privateFuturesDeleteSettlePriceOrdersOrderId', named), 'AUTO_ORDER_NOT_FOUND');
    const ended = await call('privateFuturesGetSettlePriceOrdersOrderId', named);
    assert.deepEqual([ended.status, ended.finish_as], ['finished', 'cancelled']);
    await refuses(
      call('privateFuturesGetSettlePriceOrders', { settle: 'usdt', contract: 'BTC_USDT' }),
      'INVALID_PARAM_VALUE',
    );
  });

  it('names the order that one became, which has no size, and its trades', async () => {
    const { call } = await long(gate, 100);
    const { id } = await call(CALL, STOP);
    await gate.control('POST', 'prices', { BTCUSDT: 48_900 });
    const fired = await call('privateFuturesGetSettlePriceOrdersOrderId', { settle: 'usdt', order_id: id });
    assert.equal(fired.finish_as, 'succeeded');
    const order_id = String(fired.trade_id);
    const order = await call('privateFuturesGetSettleOrdersOrderId', { settle: 'usdt', order_id });
    assert.deepEqual([order.size, order.is_close, order.finish_as], [0, true, 'filled']);
    const trades = await call('privateFuturesGetSettleMyTrades', {
      settle: 'usdt',
      contract: 'BTC_USDT',
      order: order_id,
    });
    assert.deepEqual(
      trades.map(({ size }) => size),
      [-100],
    );
  });
});

describe('a limit order', () => {
  for (const [name, desk, contracts] of [
    ['Binance', binance, 0.01],
    ['Bybit', bybit, 0.01],
    ['Gate', gate, 100],
  ] as const)
    it(`rests at ${name}’s stub until the price is there, or it is cancelled`, async () => {
      const { ccxt } = await long(desk, contracts);
      const place = (price: number) =>
        ccxt.createOrder(BTC, 'limit', 'sell', contracts, price as never, { reduceOnly: true });
      const first = await place(60_000);
      const listed = async () => (await ccxt.fetchOpenOrders(BTC)).map(({ id }) => id);
      assert.deepEqual(await listed(), [first.id]);
      await ccxt.cancelOrder(first.id, BTC);
      assert.deepEqual(await listed(), []);
      const second = await place(51_000);
      await desk.control('POST', 'prices', { BTCUSDT: 51_100 });
      assert.deepEqual(await listed(), []);
      assert.notEqual(second.id, first.id);
      const held = (await ccxt.fetchPositions([BTC])).filter((row) => row.contracts > 0);
      assert.deepEqual(held, []);
    });
});
