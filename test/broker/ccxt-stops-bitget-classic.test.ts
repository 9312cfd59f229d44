// The stop of a classic account at Bitget: what goes out for each call, and what each answer is to us.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BrokerUnavailable } from '../../src/broker/broker.ts';
import { decimal } from '../../src/domain/decimal.ts';
import type { Answer } from './ccxt-script.ts';
import {
  type Expected,
  NONSENSE,
  placedAs,
  STOP_ID,
  type StopDesk,
  stopDesk,
  told,
} from './ccxt-stops-desk.ts';
import { NO_HURRY } from './paper-desk.ts';

const said = (data: unknown): Answer => ({ body: { code: '00000', msg: 'success', requestTime: 1, data } });
const refused = (code: string, msg: string): Answer => ({
  status: 400,
  body: { code, msg, requestTime: 1, data: null },
});
const REF = '1330984742276198400';
const ORDER_REF = '1330984742276198999';

const desk = (...answers: readonly Answer[]): Promise<StopDesk> => stopDesk('bitget', answers);

/** What a stop of the position is in lists of plans. */
const LOSS = {
  planType: 'pos_loss',
  symbol: 'BTCUSDT',
  size: '',
  orderId: REF,
  clientOid: STOP_ID,
  executePrice: '0',
  triggerPrice: '64000.5',
  triggerType: 'fill_price',
  planStatus: 'live',
  side: 'sell',
  posSide: 'net',
  posMode: 'one_way_mode',
  orderType: 'market',
  cTime: `${Date.now()}`,
  // After anything that is sent here.
  uTime: `${Date.now() + 3_600_000}`,
};
const PROFIT = {
  ...LOSS,
  planType: 'pos_profit',
  orderId: '77',
  clientOid: 'theirs',
  triggerPrice: '71000',
  triggerType: 'mark_price',
};
const plans = (...entrustedList: readonly object[]): Answer =>
  said({ entrustedList: entrustedList.length > 0 ? entrustedList : null, endId: null });
const SET = said([{ orderId: REF, stopSurplusClientOid: '', stopLossClientOid: STOP_ID }]);
const BOTH = said(
  ['77', REF].map((orderId) => ({ orderId, stopSurplusClientOid: '', stopLossClientOid: STOP_ID })),
);
const LISTED = {
  route: 'GET /api/v2/mix/order/orders-plan-pending',
  fields: { planType: 'profit_loss', productType: 'USDT-FUTURES', symbol: 'BTCUSDT' },
};
const PLACED = {
  productType: 'USDT-FUTURES',
  marginCoin: 'USDT',
  symbol: 'BTCUSDT',
  holdSide: 'buy',
  stopLossTriggerPrice: '64000.5',
  stopLossTriggerType: 'fill_price',
  stopLossClientOid: STOP_ID,
};

describe('the stop of a classic account at Bitget, as it goes out', () => {
  test('set for the position, after a look at what the call would overwrite', async () => {
    const { broker, stops, stop, asked } = await desk(plans(), SET);
    assert.deepEqual(await stops.place(stop(), NO_HURRY), {
      outcome: 'accepted',
      clientOrderId: STOP_ID,
      brokerRef: REF,
    });
    assert.deepEqual(asked.map(told), [
      LISTED,
      { route: 'POST /api/v2/mix/order/place-pos-tpsl', fields: PLACED },
    ]);
    assert.deepEqual([broker.capabilities.moves, stops.move], ['set', undefined]);
  });

  test('of a short position, by the mark price', async () => {
    const short = { side: 'buy', triggerBy: 'mark', price: decimal('70000.1') } as const;
    const { stops, stop, asked } = await desk(plans(), SET);
    assert.equal(await placedAs(stops.place(stop(short), NO_HURRY)), 'accepted');
    assert.deepEqual(told(asked[1] ?? assert.fail()).fields, {
      ...PLACED,
      holdSide: 'sell',
      stopLossTriggerPrice: '70000.1',
      stopLossTriggerType: 'mark_price',
    });
  });

  test('the user’s own target goes along as it is; which of the two ids is the stop’s is not guessed', async () => {
    const limited = { ...PROFIT, executePrice: '70950' };
    const { stops, stop, asked } = await desk(plans(LOSS, limited), BOTH);
    assert.deepEqual(await stops.place(stop({ price: decimal('65200') }), NO_HURRY), {
      outcome: 'accepted',
      clientOrderId: STOP_ID,
      brokerRef: null,
    });
    assert.deepEqual(told(asked[1] ?? assert.fail()).fields, {
      ...PLACED,
      stopLossTriggerPrice: '65200',
      stopSurplusTriggerPrice: '71000',
      stopSurplusTriggerType: 'mark_price',
      stopSurplusExecutePrice: '70950',
    });
  });

  test('a target of the other side, and one of a size, are not overwritten, and not sent', async () => {
    const others = [
      { ...PROFIT, side: 'buy' },
      { ...PROFIT, planType: 'profit_plan', size: '0.005' },
    ];
    const { stops, stop, asked } = await desk(plans(...others), SET);
    assert.equal(await placedAs(stops.place(stop(), NO_HURRY)), 'accepted');
    assert.deepEqual(told(asked[1] ?? assert.fail()).fields, PLACED);
  });

  test('where the targets are not told nothing is sent: it could take one away', async () => {
    for (const answer of [...NONSENSE, plans({ ...PROFIT, triggerPrice: '' })]) {
      const { stops, stop, asked } = await desk(answer);
      assert.equal(await placedAs(stops.place(stop(), NO_HURRY)), 'unavailable');
      assert.equal(asked.length, 1);
    }
  });

  test('removed with its type, by the id that it has there', async () => {
    const done = said({ successList: [{ orderId: REF, clientOid: 'kept' }], failureList: [] });
    const { stops, sent, asked } = await desk(plans({ ...LOSS, clientOid: 'kept' }, PROFIT), done);
    await stops.remove(sent(), NO_HURRY);
    assert.deepEqual(asked.map(told), [
      LISTED,
      {
        route: 'POST /api/v2/mix/order/cancel-plan-order',
        fields: {
          productType: 'USDT-FUTURES',
          marginCoin: 'USDT',
          symbol: 'BTCUSDT',
          planType: 'pos_loss',
          orderIdList: [{ orderId: REF }],
        },
      },
    ]);
  });

  test('what has its place by now is not removed, and one that is gone is no error', async () => {
    for (const list of [
      plans(),
      plans({ ...LOSS, triggerPrice: '65200' }),
      plans({ ...LOSS, side: 'buy' }),
      plans({ ...LOSS, planType: 'loss_plan', size: '0.01' }),
    ]) {
      const { stops, sent, asked } = await desk(list);
      await stops.remove(sent({ brokerRef: REF }), NO_HURRY);
      assert.equal(asked.length, 1);
    }
    const notDone = said({ successList: [], failureList: [{ orderId: REF, errorMsg: 'notExistend' }] });
    const { stops, sent } = await desk(plans(LOSS), notDone);
    await assert.rejects(stops.remove(sent(), NO_HURRY), BrokerUnavailable);
  });
});

describe('what stands, and what became of it, for a classic account at Bitget', () => {
  test('stops of the position have no id of ours, whoever’s it was; others are of a quantity', async () => {
    const part = { ...LOSS, planType: 'loss_plan', orderId: '5', clientOid: 'theirs', size: '0.004' };
    const { stops, stop, asked } = await desk(plans(LOSS, part, PROFIT));
    assert.deepEqual(await stops.standing(stop().instrument, NO_HURRY), [
      { clientOrderId: null, brokerRef: REF, side: 'sell', price: '64000.5', quantity: null },
      { clientOrderId: 'theirs', brokerRef: '5', side: 'sell', price: '64000.5', quantity: '0.004' },
    ]);
    assert.deepEqual(asked.map(told), [LISTED]);
  });

  test('a long list comes in pages', async () => {
    const full = Array.from({ length: 100 }, () => ({ ...LOSS, planType: 'loss_plan', size: '0.001' }));
    const { stops, stop, asked } = await desk(said({ entrustedList: full, endId: '9' }), plans(LOSS));
    assert.equal((await stops.standing(stop().instrument, NO_HURRY)).length, 101);
    assert.equal(asked[1]?.url.searchParams.get('idLessThan'), '9');
  });

  test('it stands: by the exchange’s id, by ours, and by its price where it kept another’s', async () => {
    for (const [row, brokerRef] of [
      [{ ...LOSS, clientOid: 'kept', triggerPrice: '65200' }, REF],
      [{ ...LOSS, triggerPrice: '65200' }, null],
      [{ ...LOSS, clientOid: 'kept' }, null],
    ] as const) {
      const { stops, sent } = await desk(plans(PROFIT, row));
      assert.equal((await stops.find(sent({ brokerRef }), NO_HURRY))?.status, 'standing');
    }
  });

  test('it has triggered, and its order tells the fill', async () => {
    const fired = { ...LOSS, planStatus: 'executed', executeOrderId: ORDER_REF };
    const order = {
      symbol: 'BTCUSDT',
      size: '0.01',
      orderId: ORDER_REF,
      clientOid: '1',
      baseVolume: '0.01',
      fee: '-0.32',
      priceAvg: '63990.1',
      state: 'filled',
      side: 'sell',
      reduceOnly: 'YES',
    };
    const { stops, sent, asked } = await desk(plans(), plans(fired), said(order));
    const found = await stops.find(sent({ brokerRef: REF }), NO_HURRY);
    assert.deepEqual(
      [found?.status, found?.order?.fillQuantity, found?.order?.fillPrice, found?.order?.fee],
      ['triggered', '0.01', '63990.1', '0.32'],
    );
    assert.deepEqual(asked.slice(1).map(told), [
      {
        route: 'GET /api/v2/mix/order/orders-plan-history',
        fields: { planType: 'profit_loss', productType: 'USDT-FUTURES', symbol: 'BTCUSDT', orderId: REF },
      },
      {
        route: 'GET /api/v2/mix/order/detail',
        fields: { symbol: 'BTCUSDT', productType: 'USDT-FUTURES', orderId: ORDER_REF },
      },
    ]);
  });

  test('it ended, without an order; one of before, of the same price, was another', async () => {
    const kept = { ...LOSS, clientOid: 'kept' };
    for (const [row, expected] of [
      [{ ...kept, planStatus: 'cancelled' }, 'ended'],
      [{ ...kept, planStatus: 'fail_execute' }, 'triggered'],
      [{ ...kept, planStatus: 'executed', executeOrderId: '' }, 'triggered'],
      [{ ...kept, planStatus: 'cancelled', uTime: `${Date.now() - 3_600_000}` }, undefined],
    ] as const) {
      const { stops, sent, asked } = await desk(plans(), plans(row));
      assert.equal((await stops.find(sent(), NO_HURRY))?.status, expected);
      assert.ok(Number(asked[1]?.url.searchParams.get('startTime')) > 0);
    }
  });
});

const REFUSALS: readonly (readonly [string, string, Expected])[] = [
  ['40834', 'The stop loss price of the long position should be less than the current price', 'passed'],
  ['40836', 'The stop loss price of the short position should be greater than the current price', 'passed'],
  ['40917', 'Stop price for long positions please < mark price 106.86', 'passed'],
  ['45122', 'Short position stop loss price please > mark price 106.86', 'passed'],
  ['45062', 'SL price of long position < Current price', 'passed'],
  ['45068', 'There is no position temporarily', 'no_position'],
  ['43023', 'Insufficient position, can not set profit or stop loss', 'busy'],
  ['40891', 'Insufficient position, can not set take profit or stop loss', 'busy'],
  [
    '40833',
    'The stop loss price of a long position should be less than the average opening price',
    'refused',
  ],
  [
    '40890',
    'The order of stop-profit and stop-loss for this contract has reached the upper limit',
    'refused',
  ],
  ['40200', 'Server upgrade, please try again later', 'unavailable'],
  ['40010', 'Request timed out', 'unknown'],
  ['429', 'Too Many Requests', 'busy'],
];
describe('what Bitget refuses to a classic account', () => {
  for (const [code, words, expected] of REFUSALS)
    test(`${code}: ${expected}`, async () => {
      const { stops, stop } = await desk(plans(), refused(code, words));
      assert.equal(await placedAs(stops.place(stop(), NO_HURRY)), expected);
    });

  test('nothing by talking nonsense: a stop is unknown then, and a question unanswered', async () => {
    for (const answer of [...NONSENSE, said([]), said([{ orderId: REF, stopLossClientOid: 'another' }])]) {
      const { stops, stop } = await desk(plans(), answer);
      assert.equal(await placedAs(stops.place(stop(), NO_HURRY)), 'unknown');
    }
    for (const answer of NONSENSE) {
      const { stops, stop, sent } = await desk(answer, answer, answer);
      await assert.rejects(stops.standing(stop().instrument, NO_HURRY), BrokerUnavailable);
      await assert.rejects(stops.find(sent(), NO_HURRY), BrokerUnavailable);
      await assert.rejects(stops.remove(sent(), NO_HURRY), BrokerUnavailable);
    }
  });
});
