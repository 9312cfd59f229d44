// Orders with a limit, as they go out: reduce-only, good until they are cancelled, under our id, with quantity and price to the
// last digit as they were given. They are found and cancelled as any other.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BrokerOrder } from '../../src/broker/broker.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { type ClientOrderId, timestamp } from '../../src/domain/ids.ts';
import { type Answer, type ExchangeName, type Script, scriptedExchange } from './ccxt-script.ts';
import { told } from './ccxt-stops-desk.ts';
import { NEVER, NO_HURRY } from './paper-desk.ts';

const ID = 'fp0000000000000000000001' as ClientOrderId;

async function desk(name: ExchangeName, answers: readonly Answer[], script: Script = {}) {
  const { broker, asked } = await scriptedExchange(name, answers, script);
  const instrument = await broker.resolve('BTCUSDT.P', NO_HURRY);
  assert.ok(!('rejection' in instrument));
  const order = (more: Partial<BrokerOrder> = {}): BrokerOrder => ({
    clientOrderId: ID,
    instrument,
    side: 'sell',
    quantity: decimal('0.0123'),
    reduceOnly: true,
    sendBefore: NEVER,
    limit: decimal('68123.4'),
    ...more,
  });
  const query = {
    clientOrderId: ID,
    brokerRef: null,
    symbol: instrument.symbol,
    side: 'sell',
    quantity: decimal('0.0123'),
    sentAt: timestamp(Date.now()),
  } as const;
  return { broker, asked, order, query, instrument };
}

const BINANCE = {
  orderId: 22542179,
  symbol: 'BTCUSDT',
  status: 'NEW',
  clientOrderId: ID,
  price: '68123.40',
  avgPrice: '0.00',
  origQty: '0.0123',
  executedQty: '0',
  type: 'LIMIT',
  side: 'SELL',
  reduceOnly: true,
};

describe('a limit order at Binance', () => {
  test('as it goes out, and what it is then', async () => {
    const { broker, asked, order } = await desk('binance', [{ body: BINANCE }]);
    assert.deepEqual(await broker.place(order(), NO_HURRY), {
      outcome: 'accepted',
      state: {
        brokerRef: '22542179',
        status: 'placed',
        fillQuantity: '0',
        fillPrice: null,
        fee: null,
        reason: null,
      },
    });
    assert.deepEqual(asked.map(told), [
      {
        route: 'POST /fapi/v1/order',
        fields: {
          symbol: 'BTCUSDT',
          side: 'SELL',
          type: 'LIMIT',
          timeInForce: 'GTC',
          quantity: '0.0123',
          price: '68123.4',
          reduceOnly: 'true',
          newClientOrderId: ID,
          newOrderRespType: 'RESULT',
        },
      },
    ]);
  });

  test('quantity and price as they were given, beyond what is listed', async () => {
    const { broker, asked, order } = await desk('binance', []);
    const fine = order({ quantity: decimal('0.0123456789'), limit: decimal('0.0000000012345') });
    await broker.place(fine, NO_HURRY);
    const { quantity, price } = told(asked[0] ?? assert.fail()).fields as Record<string, string>;
    assert.deepEqual([quantity, price], ['0.0123456789', '0.0000000012345']);
  });

  test('found while it rests, and cancelled', async () => {
    const gone = { status: 400, body: { code: -2011, msg: 'Unknown order sent.' } };
    const { broker, asked, query, instrument } = await desk('binance', [
      { body: { ...BINANCE, status: 'PARTIALLY_FILLED', executedQty: '0.004', avgPrice: '68123.40' } },
      { body: { ...BINANCE, status: 'CANCELED' } },
      gone,
    ]);
    const found = await broker.find(query, NO_HURRY);
    assert.deepEqual(
      [found?.status, found?.fillQuantity, found?.fillPrice],
      ['partially_filled', '0.004', '68123.4'],
    );
    const resting = { clientOrderId: ID, brokerRef: '22542179', symbol: instrument.symbol };
    await broker.cancel(resting, NO_HURRY);
    await broker.cancel(resting, NO_HURRY);
    assert.deepEqual(told(asked[1] ?? assert.fail()), {
      route: 'DELETE /fapi/v1/order',
      fields: { symbol: 'BTCUSDT', orderId: '22542179' },
    });
  });
});

describe('a limit order at Bybit', () => {
  const taken = { retCode: 0, retMsg: 'OK', result: { orderId: 'a1', orderLinkId: ID } };

  test('as it goes out', async () => {
    const { broker, asked, order } = await desk('bybit', [{ body: taken }]);
    assert.equal((await broker.place(order(), NO_HURRY)).outcome, 'accepted');
    assert.deepEqual(asked.map(told), [
      {
        route: 'POST /v5/order/create',
        // Without a word about it, it is GTC.
        fields: {
          category: 'linear',
          symbol: 'BTCUSDT',
          side: 'Sell',
          orderType: 'Limit',
          qty: '0.0123',
          price: '68123.4',
          reduceOnly: true,
          orderLinkId: ID,
        },
      },
    ]);
  });

  test('quantity and price as they were given, beyond what is listed', async () => {
    const { broker, asked, order } = await desk('bybit', []);
    const fine = order({ quantity: decimal('0.0123456789'), limit: decimal('0.0000000012345') });
    await broker.place(fine, NO_HURRY);
    const { qty, price } = told(asked[0] ?? assert.fail()).fields as Record<string, string>;
    assert.deepEqual([qty, price], ['0.0123456789', '0.0000000012345']);
  });

  test('found while it rests, and cancelled', async () => {
    const row = {
      orderId: 'a1',
      orderLinkId: ID,
      symbol: 'BTCUSDT',
      side: 'Sell',
      orderStatus: 'New',
      qty: '0.0123',
      cumExecQty: '0',
      price: '68123.4',
      avgPrice: '',
      reduceOnly: true,
    };
    const listed = { retCode: 0, result: { category: 'linear', list: [row], nextPageCursor: '' } };
    const { broker, asked, query, instrument } = await desk('bybit', [{ body: listed }, { body: taken }]);
    assert.equal((await broker.find(query, NO_HURRY))?.status, 'placed');
    await broker.cancel({ clientOrderId: ID, brokerRef: 'a1', symbol: instrument.symbol }, NO_HURRY);
    assert.deepEqual(told(asked[1] ?? assert.fail()), {
      route: 'POST /v5/order/cancel',
      fields: { category: 'linear', symbol: 'BTCUSDT', orderId: 'a1' },
    });
  });
});

describe('a limit order at Gate', () => {
  const row = {
    id: 77,
    contract: 'BTC_USDT',
    status: 'open',
    size: -123,
    left: -123,
    price: '68123.4',
    fill_price: '0',
    tif: 'gtc',
    is_reduce_only: true,
    text: `t-${ID}`,
  };

  test('as it goes out', async () => {
    const { broker, asked, order } = await desk('gate', [{ status: 201, body: row }]);
    assert.equal((await broker.place(order(), NO_HURRY)).outcome, 'accepted');
    assert.deepEqual(asked.map(told), [
      {
        route: 'POST /api/v4/futures/usdt/orders',
        // Without a word about it, it is GTC.
        fields: {
          contract: 'BTC_USDT',
          size: -123,
          price: '68123.4',
          reduce_only: true,
          text: `t-${ID}`,
        },
      },
    ]);
  });

  test('what is held in parts of a contract, and a price beyond what is listed, go as they stand', async () => {
    const { broker, asked, order } = await desk('gate', []);
    await broker.place(order({ quantity: decimal('0.01234'), limit: decimal('0.0000000012345') }), NO_HURRY);
    const { size, price } = told(asked[0] ?? assert.fail()).fields as Record<string, unknown>;
    assert.deepEqual([size, price], ['-123.4', '0.0000000012345']);
  });

  test('found while it rests, and cancelled', async () => {
    const { broker, asked, query, instrument } = await desk('gate', [
      { body: { ...row, left: -100, fill_price: '68123.4' } },
      { body: { ...row, status: 'finished', finish_as: 'cancelled' } },
    ]);
    const found = await broker.find(query, NO_HURRY);
    assert.deepEqual(
      [found?.status, found?.fillQuantity, found?.fillPrice],
      ['partially_filled', '0.0023', '68123.4'],
    );
    await broker.cancel({ clientOrderId: ID, brokerRef: '77', symbol: instrument.symbol }, NO_HURRY);
    assert.equal(told(asked[1] ?? assert.fail()).route, 'DELETE /api/v4/futures/usdt/orders/77');
  });
});

describe('a limit order at OKX', () => {
  const held = {
    ...{ instType: 'SWAP', instId: 'BTC-USDT-SWAP', posSide: 'net', pos: '1.23', avgPx: '66000' },
    mgnMode: 'isolated',
  };
  const holding = { body: { code: '0', data: [held] } };
  const taken = { body: { code: '0', data: [{ ordId: '88', clOrdId: ID, sCode: '0', sMsg: '' }] } };

  test('as it goes out, in the margin mode of the position', async () => {
    const { broker, asked, order } = await desk('okx', [holding, taken]);
    assert.equal((await broker.place(order(), NO_HURRY)).outcome, 'accepted');
    assert.deepEqual(told(asked[1] ?? assert.fail()), {
      route: 'POST /api/v5/trade/batch-orders',
      // It has no other time in force.
      fields: [
        {
          instId: 'BTC-USDT-SWAP',
          tdMode: 'isolated',
          side: 'sell',
          ordType: 'limit',
          sz: '1.23',
          px: '68123.4',
          reduceOnly: true,
          clOrdId: ID,
        },
      ],
    });
  });

  test('quantity and price as they were given, beyond what is listed', async () => {
    const { broker, asked, order } = await desk('okx', [holding]);
    await broker.place(
      order({ quantity: decimal('0.0123456789'), limit: decimal('0.0000000012345') }),
      NO_HURRY,
    );
    const [{ sz, px }] = told(asked[1] ?? assert.fail()).fields as [Record<string, string>];
    assert.deepEqual([sz, px], ['1.23456789', '0.0000000012345']);
  });

  test('found while it rests, and cancelled', async () => {
    const row = {
      ...{ instId: 'BTC-USDT-SWAP', ordId: '88', clOrdId: ID, side: 'sell', reduceOnly: 'true' },
      ...{ state: 'partially_filled', sz: '1.23', accFillSz: '0.4', avgPx: '68123.4' },
    };
    const { broker, asked, query, instrument } = await desk('okx', [
      { body: { code: '0', data: [row] } },
      taken,
    ]);
    const found = await broker.find(query, NO_HURRY);
    assert.deepEqual(
      [found?.status, found?.fillQuantity, found?.fillPrice],
      ['partially_filled', '0.004', '68123.4'],
    );
    await broker.cancel({ clientOrderId: ID, brokerRef: '88', symbol: instrument.symbol }, NO_HURRY);
    assert.deepEqual(told(asked[1] ?? assert.fail()), {
      route: 'POST /api/v5/trade/cancel-order',
      fields: { instId: 'BTC-USDT-SWAP', ordId: '88' },
    });
  });
});

describe('a limit order at Bitget', () => {
  const said = (data: unknown): Answer => ({ body: { code: '00000', data } });
  const taken = said({ orderId: '99', clientOid: ID });
  const fine = { quantity: decimal('0.0123456789'), limit: decimal('0.0000000012345') };

  test('of a classic account, as it goes out', async () => {
    const { broker, asked, order } = await desk('bitget', [said([]), taken]);
    assert.equal((await broker.place(order(), NO_HURRY)).outcome, 'accepted');
    assert.deepEqual(told(asked[1] ?? assert.fail()), {
      route: 'POST /api/v2/mix/order/place-order',
      fields: {
        symbol: 'BTCUSDT',
        productType: 'USDT-FUTURES',
        marginCoin: 'USDT',
        marginMode: 'crossed',
        side: 'sell',
        orderType: 'limit',
        force: 'GTC',
        size: '0.0123',
        price: '68123.4',
        reduceOnly: 'YES',
        clientOid: ID,
      },
    });
  });

  test('of a unified account, as it goes out', async () => {
    const { broker, asked, order } = await desk('bitget', [said({ list: [] }), taken], { isUnified: true });
    assert.equal((await broker.place(order(), NO_HURRY)).outcome, 'accepted');
    assert.deepEqual(told(asked[1] ?? assert.fail()), {
      route: 'POST /api/v3/trade/place-order',
      fields: {
        category: 'USDT-FUTURES',
        symbol: 'BTCUSDT',
        marginMode: 'crossed',
        side: 'sell',
        orderType: 'limit',
        timeInForce: 'gtc',
        qty: '0.0123',
        price: '68123.4',
        reduceOnly: 'yes',
        clientOid: ID,
      },
    });
  });

  test('quantity and price as they were given, beyond what is listed', async () => {
    for (const [isUnified, flat] of [
      [false, []],
      [true, { list: [] }],
    ] as const) {
      const { broker, asked, order } = await desk('bitget', [said(flat)], { isUnified });
      await broker.place(order(fine), NO_HURRY);
      const { size, qty, price } = told(asked[1] ?? assert.fail()).fields as Record<string, string>;
      assert.deepEqual([size ?? qty, price], ['0.0123456789', '0.0000000012345']);
    }
  });
});
