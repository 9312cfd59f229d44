// The stops of a unified account at Bitget: what goes out for each call, and what each answer is to us.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BrokerUnavailable } from '../../src/broker/broker.ts';
import { decimal } from '../../src/domain/decimal.ts';
import type { ClientOrderId } from '../../src/domain/ids.ts';
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

const desk = (...answers: readonly Answer[]): Promise<StopDesk> =>
  stopDesk('bitget', answers, { isUnified: true });

/** As strategy orders are listed. */
const STRATEGY = {
  orderId: REF,
  clientOid: STOP_ID,
  category: 'USDT-FUTURES',
  symbol: 'BTCUSDT',
  qty: '',
  posSide: 'long',
  status: 'pending',
  slTriggerBy: 'market',
  takeProfit: '',
  stopLoss: '64000.5',
  slOrderType: 'market',
};
const TAKEN = said({ orderId: REF, clientOid: STOP_ID });
const FULL = {
  category: 'USDT-FUTURES',
  type: 'tpsl',
  symbol: 'BTCUSDT',
  tpslMode: 'full',
  posSide: 'long',
  stopLoss: '64000.5',
  slTriggerBy: 'market',
  slOrderType: 'market',
  clientOid: STOP_ID,
};
const UNFILLED = {
  route: 'GET /api/v3/trade/unfilled-strategy-orders',
  fields: { category: 'USDT-FUTURES', type: 'tpsl' },
};

describe('the stop of a unified account at Bitget, as it goes out', () => {
  test('placed for the whole position, under our id', async () => {
    const { broker, stops, stop, asked } = await desk(TAKEN);
    assert.deepEqual(await stops.place(stop(), NO_HURRY), {
      outcome: 'accepted',
      clientOrderId: STOP_ID,
      brokerRef: REF,
    });
    assert.deepEqual(asked.map(told), [{ route: 'POST /api/v3/trade/place-strategy-order', fields: FULL }]);
    assert.equal(broker.capabilities.moves, 'amend');
  });

  test('of a short position, by the mark price', async () => {
    const short = { side: 'buy', triggerBy: 'mark', price: decimal('70000.1') } as const;
    const { stops, stop, asked } = await desk(TAKEN);
    assert.equal(await placedAs(stops.place(stop(short), NO_HURRY)), 'accepted');
    assert.deepEqual(told(asked[0] ?? assert.fail()).fields, {
      ...FULL,
      posSide: 'short',
      stopLoss: '70000.1',
      slTriggerBy: 'mark',
    });
  });

  test('beside another one for the whole position: of a quantity', async () => {
    const second = refused('25594', 'Only one TP/SL can be set for all positions of the current symbol');
    const { stops, stop, asked } = await desk(second, TAKEN);
    assert.equal(await placedAs(stops.place(stop(), NO_HURRY)), 'accepted');
    assert.deepEqual(
      asked.map((each) => told(each).fields),
      [FULL, { ...FULL, tpslMode: 'partial', qty: '0.01' }],
    );
  });

  test('modified with its quantity, and keeps its id; what is so already is a success', async () => {
    const same = refused('25600', 'No changes made to the TP/SL order; please modify before submitting');
    for (const answer of [TAKEN, same]) {
      const { stops, stop, sent, asked } = await desk(answer);
      const to = stop({ clientOrderId: 'fs2' as ClientOrderId, price: decimal('65200') });
      assert.deepEqual(await stops.move?.(sent({ brokerRef: REF }), to, NO_HURRY), {
        outcome: 'accepted',
        clientOrderId: STOP_ID,
        brokerRef: REF,
      });
      assert.deepEqual(told(asked[0] ?? assert.fail()), {
        route: 'POST /api/v3/trade/modify-strategy-order',
        fields: {
          orderId: REF,
          qty: '0.01',
          stopLoss: '65200',
          slTriggerBy: 'market',
          slOrderType: 'market',
        },
      });
    }
  });

  test('by our id where the exchange’s is not known', async () => {
    const { stops, stop, sent, asked } = await desk(TAKEN, said(null));
    assert.equal(await placedAs(stops.move?.(sent(), stop(), NO_HURRY) ?? assert.fail()), 'accepted');
    await stops.remove(sent(), NO_HURRY);
    assert.deepEqual(asked.map(told), [
      {
        route: 'POST /api/v3/trade/modify-strategy-order',
        fields: {
          clientOid: STOP_ID,
          qty: '0.01',
          stopLoss: '64000.5',
          slTriggerBy: 'market',
          slOrderType: 'market',
        },
      },
      { route: 'POST /api/v3/trade/cancel-strategy-order', fields: { clientOid: STOP_ID } },
    ]);
  });

  test('removed, which is answered with nothing; one that is gone is no error', async () => {
    const gone = refused('25597', 'Strategy does not exist or has already been stopped');
    const { stops, sent, asked } = await desk(
      said(null),
      gone,
      refused('25653', 'The order has been changed.'),
    );
    await stops.remove(sent({ brokerRef: REF }), NO_HURRY);
    await stops.remove(sent({ brokerRef: REF }), NO_HURRY);
    await assert.rejects(stops.remove(sent(), NO_HURRY), BrokerUnavailable);
    assert.deepEqual(told(asked[0] ?? assert.fail()), {
      route: 'POST /api/v3/trade/cancel-strategy-order',
      fields: { orderId: REF },
    });
  });
});

describe('what stands, and what became of it, for a unified account at Bitget', () => {
  test('those of the market, whoever set them; targets are none', async () => {
    const { stops, stop, asked } = await desk(
      said([
        STRATEGY,
        { ...STRATEGY, orderId: '2', clientOid: 'theirs', qty: '0.004', posSide: 'short', status: undefined },
        { ...STRATEGY, orderId: '3', takeProfit: '71000', stopLoss: '' },
        { ...STRATEGY, orderId: '4', symbol: 'ETHUSDT' },
      ]),
      said(null),
    );
    assert.deepEqual(await stops.standing(stop().instrument, NO_HURRY), [
      { clientOrderId: STOP_ID, brokerRef: REF, side: 'sell', price: '64000.5', quantity: null },
      { clientOrderId: 'theirs', brokerRef: '2', side: 'buy', price: '64000.5', quantity: '0.004' },
    ]);
    assert.deepEqual(await stops.standing(stop().instrument, NO_HURRY), []);
    assert.deepEqual(told(asked[0] ?? assert.fail()), UNFILLED);
  });

  test('it stands, or it ended, or nobody knows it', async () => {
    const history = (...list: readonly object[]) => said({ list, cursor: null });
    for (const [answers, expected] of [
      [[said([STRATEGY])], 'standing'],
      [[said([]), history({ ...STRATEGY, status: 'cancelled' })], 'ended'],
      [[said([]), history({ ...STRATEGY, status: 'failed' })], 'triggered'],
      [[said([]), history()], undefined],
    ] as const) {
      const { stops, sent } = await desk(...answers);
      assert.equal((await stops.find(sent(), NO_HURRY))?.status, expected);
    }
  });

  test('it has triggered: its sub-order tells the fill, as soon as there is one', async () => {
    const fired = said({ list: [{ ...STRATEGY, status: 'success', triggerType: 'stopLoss' }], cursor: null });
    const order = {
      orderId: ORDER_REF,
      clientOid: '1',
      symbol: 'BTCUSDT',
      side: 'sell',
      qty: '0.01',
      cumExecQty: '0.01',
      avgPrice: '63990.1',
      orderStatus: 'filled',
      reduceOnly: 'yes',
      feeDetail: [{ feeCoin: 'USDT', fee: '0.32' }],
    };
    const subs = said({ list: [{ subOrderId: ORDER_REF, symbol: 'BTCUSDT' }], cursor: null });
    const { stops, sent, asked } = await desk(said([]), fired, subs, said(order));
    const found = await stops.find(sent({ brokerRef: REF }), NO_HURRY);
    assert.deepEqual(
      [found?.status, found?.order?.fillQuantity, found?.order?.fillPrice, found?.order?.fee],
      ['triggered', '0.01', '63990.1', '0.32'],
    );
    assert.deepEqual(asked.map(told), [
      UNFILLED,
      {
        route: 'GET /api/v3/trade/history-strategy-orders',
        fields: { category: 'USDT-FUTURES', type: 'tpsl' },
      },
      { route: 'GET /api/v3/trade/strategy-sub-orders', fields: { orderId: REF } },
      { route: 'GET /api/v3/trade/order-info', fields: { orderId: ORDER_REF } },
    ]);
    const none = await desk(said([]), fired, said({ list: [], cursor: null }));
    const early = await none.stops.find(none.sent(), NO_HURRY);
    assert.deepEqual([early?.status, early?.order], ['triggered', null]);
  });
});

const TO_PLACE: readonly (readonly [string, string, Expected])[] = [
  ['25586', 'the stop-loss trigger price must be less than the latest price', 'passed'],
  ['25588', 'the stop-loss trigger price must be greater than the latest price', 'passed'],
  ['25590', 'the stop-loss trigger price must be less than the mark price', 'passed'],
  ['25592', 'the stop-loss trigger price must be greater than the mark price', 'passed'],
  ['25580', 'the stop-loss trigger price must be less than the average entry price', 'refused'],
  ['25582', 'the stop-loss trigger price must be greater than the average entry price', 'refused'],
  ['25595', 'The total TP/SL quantity for partial positions exceeds the position amount', 'refused'],
  ['25601', 'Position does not exist; cannot set TP/SL', 'no_position'],
  ['25004', 'Operation too frequent, please try again later', 'busy'],
  ['25001', 'Operation timed out', 'unknown'],
];
const TO_MODIFY: readonly (readonly [string, string, Expected])[] = [
  ['25596', 'Cannot modify strategy in triggered or error state', 'gone'],
  ['25597', 'Strategy does not exist or has already been stopped', 'gone'],
  ['25598', 'Current strategy status does not support modification', 'gone'],
  ['25586', 'the stop-loss trigger price must be less than the latest price', 'passed'],
  ['25600', 'No changes made to the TP/SL order; please modify before submitting', 'accepted'],
];

describe('what Bitget refuses to a unified account', () => {
  for (const [code, words, expected] of TO_PLACE)
    test(`to place, ${code}: ${expected}`, async () => {
      const { stops, stop } = await desk(refused(code, words));
      assert.equal(await placedAs(stops.place(stop(), NO_HURRY)), expected);
    });

  for (const [code, words, expected] of TO_MODIFY)
    test(`to modify, ${code}: ${expected}`, async () => {
      const { stops, stop, sent } = await desk(refused(code, words));
      const moved = stops.move?.(sent(), stop({ price: decimal('65200') }), NO_HURRY) ?? assert.fail();
      assert.equal(await placedAs(moved), expected);
    });

  test('an id that it has: the stop under it is ours', async () => {
    const { stops, stop } = await desk(refused('25212', 'Duplicate clientOid'), said([STRATEGY]));
    assert.equal(await placedAs(stops.place(stop(), NO_HURRY)), 'accepted');
  });

  test('nothing by talking nonsense: a stop is unknown then, and a question unanswered', async () => {
    for (const answer of [...NONSENSE, said(null), said({ orderId: REF, clientOid: 'another' })]) {
      const { stops, stop } = await desk(answer);
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
