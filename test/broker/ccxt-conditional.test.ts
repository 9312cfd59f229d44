// Entries that wait for a price, as they go out: never through a call that would trade at the market. Where the exchange keeps them in
// another place they are found there, what they became tells of their fill, and that is what is cancelled then.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BrokerOrder, OrderQuery } from '../../src/broker/broker.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { type ClientOrderId, timestamp } from '../../src/domain/ids.ts';
import { type Answer, type ExchangeName, type Script, scriptedExchange } from './ccxt-script.ts';
import { told } from './ccxt-stops-desk.ts';
import { NEVER, NO_HURRY } from './paper-desk.ts';

const ID = 'fe0000000000000000000001' as ClientOrderId;

async function desk(name: ExchangeName, answers: readonly Answer[], script: Script = {}) {
  const { broker, asked } = await scriptedExchange(name, answers, script);
  const instrument = await broker.resolve('BTCUSDT.P', NO_HURRY);
  assert.ok(!('rejection' in instrument));
  const order = (more: Partial<BrokerOrder> = {}): BrokerOrder => ({
    ...{ clientOrderId: ID, instrument, side: 'buy', quantity: decimal('0.01'), reduceOnly: false },
    ...{ sendBefore: NEVER, trigger: decimal('61000.5'), timeInForce: 'gtc' },
    ...more,
  });
  const query: OrderQuery = {
    ...{ clientOrderId: ID, brokerRef: null, symbol: instrument.symbol, side: 'buy', isConditional: true },
    ...{ quantity: decimal('0.01'), sentAt: timestamp(Date.now()) },
  };
  const cancelled = { clientOrderId: ID, symbol: instrument.symbol, isConditional: true };
  return { broker, asked, order, query, cancelled, last: () => told(asked.at(-1) ?? assert.fail()) };
}

const ALGO = {
  ...{
    algoId: 2146760,
    clientAlgoId: ID,
    algoType: 'CONDITIONAL',
    orderType: 'STOP_MARKET',
    symbol: 'BTCUSDT',
  },
  ...{ side: 'BUY', quantity: '0.010', algoStatus: 'NEW', triggerPrice: '61000.50', actualOrderId: '' },
};
const FILLED = {
  ...{
    orderId: 99,
    symbol: 'BTCUSDT',
    status: 'FILLED',
    clientOrderId: 'x-1',
    price: '0',
    avgPrice: '61010.00',
  },
  ...{ origQty: '0.010', executedQty: '0.010', type: 'MARKET', side: 'BUY', reduceOnly: false },
};

describe('at Binance', () => {
  test('it goes to the Algo Service, at the market or with its limit', async () => {
    const { broker, order, last } = await desk('binance', [
      { body: ALGO },
      { body: { ...ALGO, orderType: 'STOP' } },
    ]);
    const placed = await broker.place(order(), NO_HURRY);
    assert.ok(placed.outcome === 'accepted', JSON.stringify(placed));
    assert.deepEqual([placed.state.status, placed.state.brokerRef], ['placed', '2146760']);
    const fields = {
      ...{ algoType: 'CONDITIONAL', symbol: 'BTCUSDT', side: 'BUY', type: 'STOP_MARKET', quantity: '0.01' },
      ...{ triggerPrice: '61000.5', workingType: 'CONTRACT_PRICE', clientAlgoId: ID },
    };
    assert.deepEqual(last(), { route: 'POST /fapi/v1/algoOrder', fields });
    await broker.place(order({ limit: decimal('61100') }), NO_HURRY);
    assert.deepEqual(last(), {
      route: 'POST /fapi/v1/algoOrder',
      fields: { ...fields, type: 'STOP', price: '61100', timeInForce: 'GTC' },
    });
  });

  test('it is found there, then as what it became, and is cancelled as that', async () => {
    const became = { ...ALGO, algoStatus: 'FINISHED', actualOrderId: '99' };
    const { broker, query, cancelled, last, asked } = await desk('binance', [
      { body: ALGO },
      { body: became },
      { body: FILLED },
      { body: ALGO },
      { body: { algoId: 2146760, clientAlgoId: ID, code: '200', msg: 'success' } },
      { body: { ...became, algoStatus: 'TRIGGERED' } },
      { body: { ...FILLED, status: 'CANCELED' } },
    ]);
    assert.equal((await broker.find(query, NO_HURRY))?.status, 'placed');
    const filled = await broker.find(query, NO_HURRY);
    assert.deepEqual([filled?.status, filled?.fillPrice, filled?.brokerRef], ['filled', '61010', '2146760']);
    await broker.cancel({ ...cancelled, brokerRef: '2146760' }, NO_HURRY);
    assert.deepEqual(last(), { route: 'DELETE /fapi/v1/algoOrder', fields: { algoId: '2146760' } });
    await broker.cancel({ ...cancelled, brokerRef: '2146760' }, NO_HURRY);
    assert.deepEqual(last(), {
      route: 'DELETE /fapi/v1/order',
      fields: { symbol: 'BTCUSDT', orderId: '99' },
    });
    assert.equal(asked.length, 7);
  });

  test('a price that was passed is refused as that', async () => {
    const { broker, order } = await desk('binance', [
      { status: 400, body: { code: -2021, msg: 'Order would immediately trigger.' } },
    ]);
    const placed = await broker.place(order(), NO_HURRY);
    assert.ok(placed.outcome === 'rejected');
    assert.equal(placed.error.code, 'invalid_price');
  });
});

describe('at Bybit', () => {
  test('it is an order with a trigger, which rises to it or falls to it, under our id', async () => {
    const taken = { body: { retCode: 0, result: { orderId: 'b1', orderLinkId: ID } } };
    const { broker, order, last } = await desk('bybit', [taken, taken]);
    const placed = await broker.place(order(), NO_HURRY);
    assert.ok(placed.outcome === 'accepted', JSON.stringify(placed));
    const { fields, route } = last();
    assert.equal(route, 'POST /v5/order/create');
    assert.deepEqual(fields, {
      ...{
        category: 'linear',
        symbol: 'BTCUSDT',
        side: 'Buy',
        orderType: 'Market',
        qty: '0.01',
        positionIdx: 0,
      },
      ...{ triggerPrice: '61000.5', triggerDirection: 1, triggerBy: 'LastPrice', orderLinkId: ID },
    });
    await broker.place(order({ side: 'sell', limit: decimal('60900') }), NO_HURRY);
    const second = last().fields as Record<string, unknown>;
    assert.deepEqual(
      [second.side, second.orderType, second.triggerDirection, second.price, second.timeInForce],
      ['Sell', 'Limit', 2, '60900', 'GTC'],
    );
  });
});

describe('at OKX', () => {
  const row = {
    ...{
      algoId: '77',
      algoClOrdId: ID,
      instId: 'BTC-USDT-SWAP',
      side: 'buy',
      sz: '1',
      state: 'live',
      ordIdList: [],
    },
  };
  test('it is an algo order of the type trigger, found and cancelled as one', async () => {
    const ok = (...data: object[]) => ({ body: { code: '0', msg: '', data } });
    const { broker, order, query, cancelled, last, asked } = await desk('okx', [
      ok(),
      ok({ algoId: '77', algoClOrdId: ID, sCode: '0', sMsg: '' }),
      ok(row),
      ok(row),
      ok({ algoId: '77', sCode: '0', sMsg: '' }),
    ]);
    const placed = await broker.place(order(), NO_HURRY);
    assert.ok(placed.outcome === 'accepted', JSON.stringify(placed));
    assert.deepEqual(last(), {
      route: 'POST /api/v5/trade/order-algo',
      fields: {
        ...{ instId: 'BTC-USDT-SWAP', tdMode: 'cross', side: 'buy', ordType: 'trigger', sz: '1' },
        ...{ triggerPx: '61000.5', triggerPxType: 'last', orderPx: '-1', algoClOrdId: ID },
      },
    });
    assert.equal((await broker.find(query, NO_HURRY))?.status, 'placed');
    await broker.cancel({ ...cancelled, brokerRef: '77' }, NO_HURRY);
    assert.equal(last().route, 'POST /api/v5/trade/cancel-algos');
    assert.equal(asked.length, 5);
  });
});

describe('at Bitget', () => {
  const ok = (data: object | null) => ({ body: { code: '00000', msg: 'success', data } });
  const row = {
    ...{ planType: 'normal_plan', symbol: 'BTCUSDT', size: '0.01', orderId: '5', clientOid: ID, side: 'buy' },
    ...{ planStatus: 'live', triggerPrice: '61000.5', executeOrderId: '' },
  };

  test('a classic account has a plan order, found among those that wait, then among those of before', async () => {
    const { broker, order, query, cancelled, last, asked } = await desk(
      'bitget',
      [
        ok([]),
        ok({ orderId: '5', clientOid: ID }),
        ok({ entrustedList: [row], endId: null }),
        ok({ entrustedList: null, endId: null }),
        ok({ entrustedList: [{ ...row, planStatus: 'cancelled' }], endId: null }),
        ok({ entrustedList: [row], endId: null }),
        ok({ successList: [{ orderId: '5', clientOid: ID }], failureList: [] }),
      ],
      {},
    );
    const placed = await broker.place(order(), NO_HURRY);
    assert.ok(placed.outcome === 'accepted', JSON.stringify(placed));
    assert.deepEqual(last(), {
      route: 'POST /api/v2/mix/order/place-plan-order',
      fields: {
        ...{ planType: 'normal_plan', productType: 'USDT-FUTURES', symbol: 'BTCUSDT', marginMode: 'crossed' },
        ...{
          marginCoin: 'USDT',
          size: '0.01',
          triggerPrice: '61000.5',
          triggerType: 'fill_price',
          side: 'buy',
        },
        ...{ orderType: 'market', clientOid: ID, reduceOnly: 'NO' },
      },
    });
    assert.equal((await broker.find(query, NO_HURRY))?.status, 'placed');
    assert.equal((await broker.find(query, NO_HURRY))?.status, 'cancelled');
    await broker.cancel({ ...cancelled, brokerRef: '5' }, NO_HURRY);
    assert.equal(last().route, 'POST /api/v2/mix/order/cancel-plan-order');
    assert.equal(asked.length, 7);
  });

  test('a unified one takes none, and nothing is sent', async () => {
    const { broker, order, asked } = await desk('bitget', [ok({ list: [] })], { isUnified: true });
    assert.equal(broker.capabilities.stopEntries, false);
    const placed = await broker.place(order(), NO_HURRY);
    assert.ok(placed.outcome === 'rejected');
    assert.ok(asked.every(({ method }) => method !== 'POST'));
  });
});

describe('at Gate', () => {
  test('nothing is sent, rather than an order at the market', async () => {
    const { broker, order, asked } = await desk('gate', []);
    const placed = await broker.place(order(), NO_HURRY);
    assert.ok(placed.outcome === 'rejected');
    assert.equal(placed.error.code, 'failed_at_broker');
    assert.deepEqual(asked, []);
  });
});

describe('what it became is not found', () => {
  const okx = (...data: object[]): Answer => ({ body: { code: '0', msg: '', data } });
  const bitget = (data: object): Answer => ({ body: { code: '00000', msg: 'success', data } });
  /** The row of one that has triggered, and the word that its order is not there. */
  const AT: Readonly<
    Record<
      'binance' | 'okx' | 'bitget',
      { readonly row: (at?: number, became?: string) => Answer; readonly gone: Answer }
    >
  > = {
    binance: {
      row: (at, became = '99') => ({
        body: {
          ...{ ...ALGO, orderType: 'STOP', algoStatus: 'FINISHED', actualOrderId: became },
          ...(at && { createTime: at - 86_400_000, updateTime: at, triggerTime: at - 1_000 }),
        },
      }),
      gone: { status: 400, body: { code: -2013, msg: 'Order does not exist.' } },
    },
    okx: {
      row: (at, became = '99') =>
        okx({
          ...{ algoId: '77', algoClOrdId: ID, instId: 'BTC-USDT-SWAP', side: 'buy', sz: '1' },
          ...{ state: 'effective', ordIdList: became === '' ? [] : [became] },
          ...(at && { cTime: `${at - 86_400_000}`, uTime: `${at}`, triggerTime: `${at - 1_000}` }),
        }),
      gone: { body: { code: '51603', msg: 'Order does not exist', data: [] } },
    },
    bitget: {
      row: (at, became = '99') =>
        bitget({
          entrustedList: [
            {
              ...{ planType: 'normal_plan', symbol: 'BTCUSDT', size: '0.01', orderId: '5', clientOid: ID },
              ...{ side: 'buy', planStatus: 'executed', triggerPrice: '61000.5', executeOrderId: became },
              ...(at && { cTime: `${at - 86_400_000}`, uTime: `${at}` }),
            },
          ],
        }),
      gone: { status: 400, body: { code: '40109', msg: 'The data of the order cannot be found' } },
    },
  };
  for (const name of ['binance', 'okx', 'bitget'] as const)
    test(`at ${name} it waits for a minute after it has triggered, and is not there after that`, async () => {
      const { row, gone } = AT[name];
      const lately = await desk(name, [row(Date.now() - 20_000), gone]);
      assert.equal((await lately.broker.find(lately.query, NO_HURRY))?.status, 'placed');
      for (const at of [Date.now() - 120_000, Date.now() - 5 * 86_400_000, undefined]) {
        const { broker, query, asked } = await desk(name, [row(at), gone]);
        assert.equal(await broker.find(query, NO_HURRY), null, `${at}`);
        assert.equal(asked.length, 2);
      }
    });

  for (const name of ['binance', 'okx', 'bitget'] as const)
    test(`at ${name} one that has triggered, and does not name its order yet, was not cancelled`, async () => {
      const { row } = AT[name];
      const lately = await desk(name, [row(Date.now() - 20_000, '')]);
      assert.equal((await lately.broker.find(lately.query, NO_HURRY))?.status, 'placed');
      for (const at of [Date.now() - 120_000, undefined]) {
        const { broker, query } = await desk(name, [row(at, '')]);
        assert.equal(await broker.find(query, NO_HURRY), null, `${at}`);
      }
    });

  test('one that is triggered, of which nobody says when, waits', async () => {
    const row = { ...ALGO, algoStatus: 'TRIGGERED', actualOrderId: '99', triggerTime: 0 };
    const { broker, query } = await desk('binance', [{ body: row }, AT.binance.gone]);
    assert.equal((await broker.find(query, NO_HURRY))?.status, 'placed');
  });
});

describe('a limit that is over at once', () => {
  for (const [name, key, word, before] of [
    ['binance', 'timeInForce', 'IOC', []],
    ['bybit', 'timeInForce', 'IOC', []],
    ['okx', 'ordType', 'ioc', [{ body: { code: '0', data: [] } }]],
    ['gate', 'tif', 'ioc', []],
    ['bitget', 'force', 'IOC', [{ body: { code: '00000', data: [] } }]],
  ] as const)
    test(`is one at ${name}`, async () => {
      const { broker, asked, order } = await desk(name, before);
      const { trigger: _, ...limited } = order({ limit: decimal('60000'), timeInForce: 'ioc' });
      await broker.place(limited, NO_HURRY).catch(() => null);
      const sent = asked.map(told).find(({ route }) => route.startsWith('POST'));
      // OKX takes them in a list.
      const [fields] = [sent?.fields].flat() as (Record<string, unknown> | undefined)[];
      assert.equal(fields?.[key], word, `${JSON.stringify(sent)}`);
    });
});
