// Binance's stops: what goes out for each call, and what each answer is to us.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BrokerUnavailable } from '../../src/broker/broker.ts';
import { PROFILES } from '../../src/broker/ccxt/profiles.ts';
import { parseExactly } from '../../src/broker/ccxt/wire.ts';
import { decimal } from '../../src/domain/decimal.ts';
import type { ClientOrderId } from '../../src/domain/ids.ts';
import type { Answer } from './ccxt-script.ts';
import { type Expected, NONSENSE, placedAs, STOP_ID, stopDesk, told } from './ccxt-stops-desk.ts';
import { NO_HURRY } from './paper-desk.ts';

/** As the Algo Service tells of it. */
const ALGO = {
  algoId: 2148719,
  clientAlgoId: STOP_ID,
  algoType: 'CONDITIONAL',
  orderType: 'STOP_MARKET',
  symbol: 'BTCUSDT',
  side: 'SELL',
  positionSide: 'BOTH',
  timeInForce: 'GTC',
  quantity: '0.010',
  algoStatus: 'NEW',
  triggerPrice: '64000.50',
  price: '0.00',
  workingType: 'CONTRACT_PRICE',
  closePosition: false,
  priceProtect: false,
  reduceOnly: true,
  createTime: 1763458576201,
  updateTime: 1763458576201,
  triggerTime: 0,
  goodTillDate: 0,
};
const SEEN = { ...ALGO, actualOrderId: '', actualPrice: '0.00000' };
const ORDER = {
  orderId: 8389765519993908,
  symbol: 'BTCUSDT',
  status: 'FILLED',
  clientOrderId: 'whatever',
  avgPrice: '63990.10000',
  origQty: '0.010',
  executedQty: '0.010',
  side: 'SELL',
  reduceOnly: true,
};
const NOT_FOUND: Answer = { status: 400, body: { code: -2013, msg: 'Order does not exist.' } };

describe('Binance’s stops, as they go out', () => {
  test('placed at the Algo Service, of a quantity, reduce-only, under our id', async () => {
    const { stops, stop, asked } = await stopDesk('binance', [{ body: ALGO }, { body: ALGO }]);
    assert.deepEqual(await stops.place(stop(), NO_HURRY), {
      outcome: 'accepted',
      clientOrderId: STOP_ID,
      brokerRef: '2148719',
    });
    assert.deepEqual(asked.map(told), [
      {
        route: 'POST /fapi/v1/algoOrder',
        fields: {
          algoType: 'CONDITIONAL',
          symbol: 'BTCUSDT',
          side: 'SELL',
          type: 'STOP_MARKET',
          quantity: '0.01',
          reduceOnly: 'true',
          triggerPrice: '64000.5',
          workingType: 'CONTRACT_PRICE',
          clientAlgoId: STOP_ID,
        },
      },
    ]);
    assert.equal(stops.move, undefined);
  });

  test('of a short position, by the mark price', async () => {
    const short = { side: 'buy', triggerBy: 'mark', price: decimal('70000.1') } as const;
    const answer = { ...ALGO, side: 'BUY', triggerPrice: '70000.10', workingType: 'MARK_PRICE' };
    const { stops, stop, asked } = await stopDesk('binance', [{ body: answer }]);
    assert.equal(await placedAs(stops.place(stop(short), NO_HURRY)), 'accepted');
    const { side, workingType, triggerPrice } = told(asked[0] ?? assert.fail()).fields as typeof answer;
    assert.deepEqual([side, workingType, triggerPrice], ['BUY', 'MARK_PRICE', '70000.1']);
  });

  test('removed by our id; one that has ended is no error', async () => {
    const done = { algoId: 2148719, clientAlgoId: STOP_ID, code: '200', msg: 'success' };
    const gone = { status: 400, body: { code: -2011, msg: 'Unknown order sent.' } };
    const { stops, sent, asked } = await stopDesk('binance', [
      { body: done },
      gone,
      { body: { ...done, clientAlgoId: 'another' } },
      { status: 400, body: { code: -4117, msg: 'Stop order in triggering process' } },
    ]);
    await stops.remove(sent(), NO_HURRY);
    await stops.remove(sent(), NO_HURRY);
    await assert.rejects(stops.remove(sent(), NO_HURRY), BrokerUnavailable);
    await assert.rejects(stops.remove(sent(), NO_HURRY), BrokerUnavailable);
    assert.deepEqual(told(asked[0] ?? assert.fail()), {
      route: 'DELETE /fapi/v1/algoOrder',
      fields: { clientAlgoId: STOP_ID },
    });
  });

  test('those that stand are asked for by symbol, whoever set them; targets and entries are none', async () => {
    const list = [
      SEEN,
      {
        ...SEEN,
        algoId: 2,
        clientAlgoId: 'android_1',
        closePosition: true,
        quantity: '0.000',
        reduceOnly: true,
      },
      { ...SEEN, algoId: 3, clientAlgoId: 'android_2', orderType: 'TAKE_PROFIT_MARKET' },
      { ...SEEN, algoId: 4, clientAlgoId: 'android_3', orderType: 'TRAILING_STOP_MARKET', triggerPrice: '' },
      { ...SEEN, algoId: 5, clientAlgoId: 'android_4', reduceOnly: false },
      { ...SEEN, algoId: 6, clientAlgoId: 'android_5', algoStatus: 'TRIGGERING' },
    ];
    const { stops, stop, asked } = await stopDesk('binance', [{ body: list }, { body: [] }]);
    const { instrument } = stop();
    assert.deepEqual(await stops.standing(instrument, NO_HURRY), [
      {
        clientOrderId: STOP_ID,
        brokerRef: '2148719',
        side: 'sell',
        price: '64000.5',
        quantity: '0.01',
      },
      { clientOrderId: 'android_1', brokerRef: '2', side: 'sell', price: '64000.5', quantity: null },
    ]);
    assert.deepEqual(await stops.standing(instrument, NO_HURRY), []);
    assert.deepEqual(told(asked[0] ?? assert.fail()), {
      route: 'GET /fapi/v1/openAlgoOrders',
      fields: { symbol: 'BTCUSDT' },
    });
  });

  test('what it became is found by the id of the order that it made', async () => {
    const fired = { ...SEEN, algoStatus: 'FINISHED', actualOrderId: '8389765519993908' };
    const { stops, sent, asked } = await stopDesk('binance', [{ body: fired }, { body: ORDER }]);
    assert.deepEqual(await stops.find(sent(), NO_HURRY), {
      brokerRef: '2148719',
      status: 'triggered',
      order: {
        brokerRef: '8389765519993908',
        status: 'filled',
        fillQuantity: '0.01',
        fillPrice: '63990.1',
        fee: null,
        reason: null,
      },
      reason: null,
    });
    assert.deepEqual(
      asked.map((one) => [told(one).route, told(one).fields]),
      [
        ['GET /fapi/v1/algoOrder', { clientAlgoId: STOP_ID }],
        ['GET /fapi/v1/order', { symbol: 'BTCUSDT', orderId: '8389765519993908' }],
      ],
    );
  });

  test('one that triggers, one whose order is not shown yet, one that was refused when it triggered', async () => {
    for (const [algo, then, expected] of [
      [{ algoStatus: 'NEW' }, [], ['standing', null]],
      [{ algoStatus: 'TRIGGERING' }, [], ['triggered', null]],
      [{ algoStatus: 'TRIGGERED', actualOrderId: '77' }, [NOT_FOUND], ['triggered', null]],
      [{ algoStatus: 'REJECTED' }, [], ['triggered', 'the stop is REJECTED']],
      [{ algoStatus: 'EXPIRED' }, [], ['ended', 'the stop is EXPIRED']],
      [{ algoStatus: 'CANCELED' }, [], ['ended', 'the stop is CANCELED']],
    ] as const) {
      const { stops, sent } = await stopDesk('binance', [{ body: { ...SEEN, ...algo } }, ...then]);
      const found = await stops.find(sent(), NO_HURRY);
      const order = algo.algoStatus === 'REJECTED' ? 'failed' : undefined;
      assert.deepEqual([found?.status, found?.reason], expected, algo.algoStatus);
      assert.equal(found?.order?.status, order, algo.algoStatus);
      assert.equal(found?.hasExpired ?? false, algo.algoStatus === 'EXPIRED', algo.algoStatus);
    }
  });

  test('one that is not found by its id is looked for among those that stand', async () => {
    const first = await stopDesk('binance', [NOT_FOUND, { body: [SEEN] }]);
    assert.equal((await first.stops.find(first.sent(), NO_HURRY))?.status, 'standing');
    const second = await stopDesk('binance', [NOT_FOUND, { body: [] }]);
    assert.equal(await second.stops.find(second.sent(), NO_HURRY), null);
  });
});

test('what Binance tells by itself of a stop names it, and no more', () => {
  const update = { e: 'ALGO_UPDATE', o: { caid: STOP_ID, aid: 2148719, at: 'CONDITIONAL', X: 'TRIGGERED' } };
  assert.deepEqual(PROFILES.binance.feed.read(parseExactly(JSON.stringify(update))), {
    orders: [{ clientOrderId: STOP_ID, brokerRef: '2148719' }],
  });
});

describe('what Binance may answer to a stop', () => {
  const refused = (code: number, msg: string, status = 400): Answer => ({ status, body: { code, msg } });
  const cases: readonly (readonly [string, Answer, Expected])[] = [
    ['the price is beyond it', refused(-2021, 'Order would immediately trigger.'), 'passed'],
    ['nothing is held', refused(-2022, 'ReduceOnly Order is rejected.'), 'no_position'],
    ['nothing is held, said otherwise', refused(-4112, 'ReduceOnly Order Failed.'), 'no_position'],
    ['a second one of the whole position', refused(-4130, 'An open stop order exists.'), 'refused'],
    ['just after a fill', refused(-4509, 'TIF GTE can only be used with open positions'), 'refused'],
    ['the old endpoint', refused(-4120, 'Please use the Algo Order API endpoints instead.'), 'refused'],
    ['too many of them', refused(-4045, 'Reach max stop order limit.'), 'refused'],
    ['between ticks', refused(-4014, 'Price not increased by tick size.'), 'refused'],
    ['a hedged account', refused(-4061, "Order's position side does not match user's setting."), 'refused'],
    ['the market is shut', refused(-4141, 'Symbol is closed.'), 'refused'],
    ['too many requests', refused(-1003, 'Too many requests', 429), 'busy'],
    ['too many orders', refused(-1015, 'Too many new orders', 400), 'busy'],
    ['overloaded', { status: 503, body: { msg: 'Service Unavailable.' } }, 'busy'],
    [
      'another clock',
      refused(-1021, 'Timestamp for this request is outside of the recvWindow.'),
      'unavailable',
    ],
    [
      'no word whether it was taken',
      refused(-1007, 'Timeout waiting for response from backend server.', 408),
      'unknown',
    ],
    ['a gateway that gave up', { status: 504, text: '<html></html>' }, 'unknown'],
    ['another one’s answer', { body: { ...ALGO, clientAlgoId: 'another' } }, 'unknown'],
    ['of another market', { body: { ...ALGO, symbol: 'ETHUSDT' } }, 'unknown'],
    ['at another price', { body: { ...ALGO, triggerPrice: '1.00' } }, 'unknown'],
    ['without its id', { body: { ...ALGO, algoId: undefined } }, 'unknown'],
  ];
  for (const [title, answer, expected] of cases)
    test(`${title}: ${expected}`, async () => {
      const { stops, stop } = await stopDesk('binance', [answer]);
      assert.equal(await placedAs(stops.place(stop(), NO_HURRY)), expected);
    });

  test('the broker’s words are told', async () => {
    const { stops, stop } = await stopDesk('binance', [refused(-2021, 'Order would immediately trigger.')]);
    assert.deepEqual(await stops.place(stop(), NO_HURRY), {
      outcome: 'rejected',
      why: 'passed',
      words: 'Order would immediately trigger (-2021)',
    });
  });

  test('an id that is known there is ours: it is looked up', async () => {
    const known = refused(-4116, 'ClientOrderId is duplicated.');
    const found = await stopDesk('binance', [known, { body: SEEN }]);
    assert.deepEqual(await found.stops.place(found.stop(), NO_HURRY), {
      outcome: 'accepted',
      clientOrderId: STOP_ID,
      brokerRef: '2148719',
    });
    const hidden = await stopDesk('binance', [known, NOT_FOUND, { body: [] }]);
    assert.equal(await placedAs(hidden.stops.place(hidden.stop(), NO_HURRY)), 'unknown');
  });

  test('nonsense is never believed', async () => {
    for (const answer of NONSENSE) {
      const placing = await stopDesk('binance', [answer]);
      assert.equal(await placedAs(placing.stops.place(placing.stop(), NO_HURRY)), 'unknown');
      const removing = await stopDesk('binance', [answer]);
      await assert.rejects(removing.stops.remove(removing.sent(), NO_HURRY), BrokerUnavailable);
      const finding = await stopDesk('binance', [answer]);
      await assert.rejects(finding.stops.find(finding.sent(), NO_HURRY), BrokerUnavailable);
      if (Array.isArray(answer.body)) continue;
      const looking = await stopDesk('binance', [answer]);
      await assert.rejects(looking.stops.standing(looking.stop().instrument, NO_HURRY), BrokerUnavailable);
    }
    for (const body of [[{}], [{ ...SEEN, symbol: 'ETHUSDT' }], [SEEN, { ...SEEN, triggerPrice: 1 }]]) {
      const { stops, stop } = await stopDesk('binance', [{ body }]);
      await assert.rejects(stops.standing(stop().instrument, NO_HURRY), BrokerUnavailable);
    }
  });

  test('another stop, or another order, is never taken for ours', async () => {
    for (const answers of [
      [{ body: { ...SEEN, clientAlgoId: 'another' } }],
      [{ body: { ...SEEN, side: 'BUY' } }],
      [{ body: { ...SEEN, symbol: 'ETHUSDT' } }],
      [{ body: { ...SEEN, algoStatus: 'FINISHED', actualOrderId: '5' } }, { body: ORDER }],
      [
        { body: { ...SEEN, algoStatus: 'FINISHED', actualOrderId: `${ORDER.orderId}` } },
        { body: { ...ORDER, side: 'BUY' } },
      ],
    ]) {
      const { stops, sent } = await stopDesk('binance', answers);
      await assert.rejects(stops.find(sent(), NO_HURRY), BrokerUnavailable);
    }
    const { stops, sent } = await stopDesk('binance', [{ body: SEEN }]);
    const other = { clientOrderId: STOP_ID as ClientOrderId, brokerRef: '1' };
    await assert.rejects(stops.find(sent(other), NO_HURRY), BrokerUnavailable);
  });
});
