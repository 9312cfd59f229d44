// Bybit's stop, a part of the position: what goes out for each call, and what each answer is to us.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BrokerUnavailable } from '../../src/broker/broker.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { timestamp } from '../../src/domain/ids.ts';
import type { Answer } from './ccxt-script.ts';
import { type Expected, NONSENSE, placedAs, STOP_ID, stopDesk, told } from './ccxt-stops-desk.ts';
import { NO_HURRY } from './paper-desk.ts';

const said = (result: object): Answer => ({
  body: { retCode: 0, retMsg: 'OK', result, retExtInfo: {}, time: Date.now() },
});
const refused = (retCode: number, retMsg: string): Answer => ({
  body: { retCode, retMsg, result: {}, retExtInfo: {}, time: Date.now() },
});
const listed = (...list: readonly object[]): Answer => said({ category: 'linear', list, nextPageCursor: '' });

const HELD = {
  positionIdx: 0,
  symbol: 'BTCUSDT',
  side: 'Buy',
  size: '0.01',
  avgPrice: '66000',
  tpslMode: 'Full',
  takeProfit: '70000.00',
  stopLoss: '64000.50',
};
const UNSTOPPED = { ...HELD, stopLoss: '' };
const FLAT = { ...HELD, side: '', size: '0', avgPrice: '0', takeProfit: '', stopLoss: '' };

/** Of the stop that fired, as lists of orders have it. */
const fired = (more: object = {}) => ({
  orderId: 'f1a0',
  orderLinkId: '',
  symbol: 'BTCUSDT',
  side: 'Sell',
  orderStatus: 'Filled',
  qty: '0.010',
  cumExecQty: '0.010',
  cumExecFee: '0.35',
  avgPrice: '63990.1',
  rejectReason: 'EC_NoError',
  stopOrderType: 'StopLoss',
  createType: 'CreateByStopLoss',
  triggerPrice: '64000.50',
  reduceOnly: true,
  closeOnTrigger: true,
  createdTime: '1788530654000',
  // After it was sent, however long the test has waited.
  updatedTime: `${Date.now() + 60_000}`,
  ...more,
});

describe('Bybit’s stop, as it goes out', () => {
  test('set for the position, without an id, and without a word about the target', async () => {
    const { stops, stop, asked } = await stopDesk('bybit', [listed(UNSTOPPED), said({})]);
    assert.deepEqual(await stops.place(stop(), NO_HURRY), {
      outcome: 'accepted',
      clientOrderId: STOP_ID,
      brokerRef: null,
    });
    assert.deepEqual(asked.map(told), [
      { route: 'GET /v5/position/list', fields: { category: 'linear', symbol: 'BTCUSDT' } },
      {
        route: 'POST /v5/position/trading-stop',
        fields: {
          category: 'linear',
          symbol: 'BTCUSDT',
          positionIdx: 0,
          tpslMode: 'Full',
          stopLoss: '64000.5',
          slTriggerBy: 'LastPrice',
          slOrderType: 'Market',
        },
      },
    ]);
    assert.equal(stops.move, undefined);
  });

  test('moved by the same call, by the mark price where that is wanted', async () => {
    const { stops, stop, asked } = await stopDesk('bybit', [listed(HELD), said({})]);
    const moved = stop({ price: decimal('65000'), triggerBy: 'mark' });
    assert.equal(await placedAs(stops.place(moved, NO_HURRY)), 'accepted');
    const { stopLoss, slTriggerBy } = told(asked[1] ?? assert.fail()).fields as Record<string, string>;
    assert.deepEqual([stopLoss, slTriggerBy], ['65000', 'MarkPrice']);
  });

  test('nothing is set where the position was turned around; one that is not shown yet is tried', async () => {
    const turned = await stopDesk('bybit', [listed({ ...HELD, side: 'Sell' })]);
    assert.equal(await placedAs(turned.stops.place(turned.stop(), NO_HURRY)), 'no_position');
    assert.equal(turned.asked.length, 1);
    const early = await stopDesk('bybit', [listed(FLAT), said({})]);
    assert.equal(await placedAs(early.stops.place(early.stop(), NO_HURRY)), 'accepted');
  });

  test('removed with a 0, where the one that stands is the one that was set', async () => {
    const { stops, sent, asked } = await stopDesk('bybit', [listed(HELD), said({})]);
    await stops.remove(sent(), NO_HURRY);
    assert.deepEqual(asked.map(told), [
      { route: 'GET /v5/position/list', fields: { category: 'linear', symbol: 'BTCUSDT' } },
      {
        route: 'POST /v5/position/trading-stop',
        fields: { category: 'linear', symbol: 'BTCUSDT', positionIdx: 0, tpslMode: 'Full', stopLoss: '0' },
      },
    ]);
  });

  test('what has taken its place since is left there', async () => {
    for (const row of [{ ...HELD, stopLoss: '65000' }, { ...HELD, side: 'Sell' }, UNSTOPPED, FLAT]) {
      const { stops, sent, asked } = await stopDesk('bybit', [listed(row)]);
      await stops.remove(sent(), NO_HURRY);
      assert.equal(asked.length, 1);
    }
    for (const answer of [
      refused(34040, 'not modified'),
      refused(10001, 'can not set tp/sl/ts for zero position'),
    ]) {
      const { stops, sent } = await stopDesk('bybit', [listed(HELD), answer]);
      await stops.remove(sent(), NO_HURRY);
    }
    const { stops, sent } = await stopDesk('bybit', [listed(HELD), refused(10001, 'StopLoss invalid')]);
    await assert.rejects(stops.remove(sent(), NO_HURRY), BrokerUnavailable);
  });

  test('it stands where the position’s row says so', async () => {
    for (const [row, expected] of [
      [HELD, [{ side: 'sell', price: '64000.5' }]],
      [{ ...HELD, side: 'Sell', stopLoss: '70000.10' }, [{ side: 'buy', price: '70000.1' }]],
      [UNSTOPPED, []],
      [{ ...HELD, stopLoss: '0.00' }, []],
      [FLAT, []],
    ] as const) {
      const { stops, stop } = await stopDesk('bybit', [listed(row)]);
      const standing = await stops.standing(stop().instrument, NO_HURRY);
      const ofNobody = { clientOrderId: null, brokerRef: null, quantity: null };
      assert.deepEqual(
        standing,
        expected.map((each) => ({ ...ofNobody, ...each })),
      );
    }
  });

  test('found in the position’s row while it stands', async () => {
    const { stops, sent, asked } = await stopDesk('bybit', [listed(HELD)]);
    assert.deepEqual(await stops.find(sent(), NO_HURRY), {
      brokerRef: null,
      status: 'standing',
      order: null,
      reason: null,
    });
    assert.equal(asked.length, 1);
  });

  test('found among what has just ended once it fired', async () => {
    const other = fired({ orderId: 'x', stopOrderType: '', triggerPrice: '' });
    const { stops, sent, asked } = await stopDesk('bybit', [listed(FLAT), listed(other, fired())]);
    assert.deepEqual(await stops.find(sent(), NO_HURRY), {
      brokerRef: 'f1a0',
      status: 'triggered',
      order: {
        brokerRef: 'f1a0',
        status: 'filled',
        fillQuantity: '0.01',
        fillPrice: '63990.1',
        fee: '0.35',
        reason: null,
      },
      reason: null,
    });
    assert.deepEqual(told(asked[1] ?? assert.fail()), {
      route: 'GET /v5/order/realtime',
      fields: { category: 'linear', symbol: 'BTCUSDT', limit: '50', openOnly: '1' },
    });
  });

  test('then in the history, then by what was traded since it was set', async () => {
    const inHistory = await stopDesk('bybit', [listed(FLAT), listed(), listed(fired())]);
    const found = await inHistory.stops.find(inHistory.sent(), NO_HURRY);
    assert.deepEqual([found?.status, found?.order?.status], ['triggered', 'filled']);
    assert.equal(told(inHistory.asked[2] ?? assert.fail()).route, 'GET /v5/order/history');

    const execution = {
      orderId: 'f1a0',
      symbol: 'BTCUSDT',
      side: 'Sell',
      stopOrderType: 'StopLoss',
      execQty: '0.005',
      execTime: `${Date.now()}`,
    };
    const target = { ...execution, orderId: 't1', stopOrderType: 'UNKNOWN' };
    const { stops, sent, asked } = await stopDesk('bybit', [
      ...[listed(FLAT), listed(), listed(), listed(execution, execution, target)],
      // Moved since it was first set: in the lists it stands where it was then.
      listed(fired()),
    ]);
    const traded = await stops.find(sent(), NO_HURRY);
    assert.deepEqual([traded?.status, traded?.order?.fillPrice], ['triggered', '63990.1']);
    const { startTime, ...rest } = told(asked[3] ?? assert.fail()).fields as Record<string, string>;
    assert.deepEqual(rest, { category: 'linear', symbol: 'BTCUSDT', limit: '50' });
    assert.ok(Math.abs(Date.now() - Number(startTime)) < 60_000);
    assert.deepEqual(told(asked[4] ?? assert.fail()), {
      route: 'GET /v5/order/history',
      fields: { category: 'linear', symbol: 'BTCUSDT', orderId: 'f1a0' },
    });
  });

  test('what was traded is asked for by its last week, however long the stop has stood', async () => {
    const [day, now] = [86_400_000, Date.now()];
    for (const [sentAt, replacedAt, from] of [
      [now - 9 * day, null, now - 7 * day],
      [now - 2 * day, null, now - 2 * day],
      // Of one in whose place another was set it is the week before that.
      [now - 20 * day, now - 3 * day, now - 10 * day],
    ] as const) {
      const { stops, sent, asked } = await stopDesk('bybit', [
        ...(replacedAt === null ? [listed(FLAT)] : []),
        ...[listed(), listed(), listed()],
      ]);
      const of = sent({
        sentAt: timestamp(sentAt),
        ...(replacedAt !== null && { replacedAt: timestamp(replacedAt) }),
      });
      assert.equal(await stops.find(of, NO_HURRY), null);
      const { route, fields } = told(asked.at(-1) ?? assert.fail());
      assert.equal(route, 'GET /v5/execution/list');
      const startTime = Number((fields as Record<string, string>).startTime);
      assert.ok(Math.abs(startTime - from) < 120_000, `${(startTime - from) / 1000} s beside it`);
    }
  });

  test('one in whose place another was set does not stand, whatever stands at its price', async () => {
    const later = fired({ updatedTime: `${Date.now() + 60_000}` });
    const { stops, sent, asked } = await stopDesk('bybit', [listed(later), listed(later), listed()]);
    const replaced = sent({ replacedAt: timestamp(Date.now()) });
    assert.equal(await stops.find(replaced, NO_HURRY), null);
    assert.equal(told(asked[0] ?? assert.fail()).route, 'GET /v5/order/realtime');
  });

  test('what fired before it was set, at another price, or for the other side, was another', async () => {
    const [before, elsewhere, other] = [
      fired({ updatedTime: `${Date.now() - 3_600_000}` }),
      fired({ triggerPrice: '63000' }),
      fired({ side: 'Buy' }),
    ];
    const rows = listed(before, elsewhere, other, fired({ orderStatus: 'Untriggered' }));
    const { stops, sent } = await stopDesk('bybit', [listed(FLAT), rows, rows, listed()]);
    assert.equal(await stops.find(sent(), NO_HURRY), null);
  });

  test('one that was taken away, and one that was cut short when it fired', async () => {
    const gone = fired({ orderStatus: 'Deactivated', cumExecQty: '0', avgPrice: '' });
    const taken = await stopDesk('bybit', [listed(FLAT), listed(gone)]);
    const ended = await taken.stops.find(taken.sent(), NO_HURRY);
    assert.deepEqual(
      [ended?.status, ended?.order, ended?.reason],
      ['ended', null, 'the order is Deactivated'],
    );
    const part = fired({ orderStatus: 'PartiallyFilledCanceled', cumExecQty: '0.004' });
    const cut = await stopDesk('bybit', [listed(UNSTOPPED), listed(part)]);
    const found = await cut.stops.find(cut.sent(), NO_HURRY);
    assert.deepEqual(
      [found?.status, found?.order?.status, found?.order?.fillQuantity],
      ['triggered', 'cancelled', '0.004'],
    );
  });

  test('several orders that one stop became are told as one', async () => {
    const rows = listed(
      fired({ cumExecQty: '0.006', qty: '0.006', avgPrice: '64000', cumExecFee: '0.2' }),
      fired({ orderId: 'f1a1', cumExecQty: '0.004', qty: '0.004', avgPrice: '63000', cumExecFee: '0.1' }),
    );
    const { stops, sent } = await stopDesk('bybit', [listed(FLAT), rows]);
    const order = (await stops.find(sent(), NO_HURRY))?.order;
    assert.deepEqual(
      [order?.status, order?.fillQuantity, order?.fillPrice, order?.fee],
      ['filled', '0.01', '63600', '0.3'],
    );
  });
});

describe('what Bybit may answer to a stop', () => {
  const cases: readonly (readonly [string, Answer, Expected])[] = [
    [
      'the price is below a long’s stop',
      refused(
        10001,
        'StopLoss:324000000 set for Buy position should lower than base_price:161600000??LastPrice',
      ),
      'passed',
    ],
    [
      'the price is above a short’s stop',
      refused(10001, 'StopLoss:17686000 set for Sell position should greater base_price:18334000??LastPrice'),
      'passed',
    ],
    [
      'the stop is beyond the liquidation',
      refused(
        10001,
        'StopLoss:211.5 set for Buy position should be between liq_price:212 and base_price:214.1??LastPrice',
      ),
      'refused',
    ],
    [
      'the price is beyond it, said with the liquidation',
      refused(
        10001,
        'StopLoss:215 set for Buy position should be between liq_price:212 and base_price:214.1??LastPrice',
      ),
      'passed',
    ],
    ['nothing is held', refused(10001, 'can not set tp/sl/ts for zero position'), 'no_position'],
    ['it stands there already', refused(34040, 'not modified'), 'accepted'],
    ['a hedged account', refused(10001, 'position idx not match position mode'), 'refused'],
    ['whatever else is wrong with it', refused(10001, 'StopLoss invalid'), 'refused'],
    ['too many of them', refused(110061, 'TP/SL set more than 20'), 'refused'],
    ['too many requests of the account', refused(10006, 'Too many visits.'), 'busy'],
    ['too many requests from the address', { status: 403, text: 'access too frequent' }, 'busy'],
    [
      'it settles',
      refused(110063, 'Settlement in progress! BTCUSDT not available for trading.'),
      'unavailable',
    ],
    ['another clock', refused(10002, 'invalid request, please check your timestamp'), 'unavailable'],
    ['no word whether it was taken', refused(10016, 'Internal server error'), 'unknown'],
    ['a gateway that gave up', { status: 502, text: '<html></html>' }, 'unknown'],
    ['no result', { body: { retCode: 0, retMsg: 'OK' } }, 'unknown'],
    ['no code', { body: { retMsg: 'OK', result: {} } }, 'unknown'],
  ];
  for (const [title, answer, expected] of cases)
    test(`${title}: ${expected}`, async () => {
      const { stops, stop } = await stopDesk('bybit', [listed(HELD), answer]);
      assert.equal(await placedAs(stops.place(stop(), NO_HURRY)), expected);
    });

  test('nonsense is never believed', async () => {
    const torn: readonly Answer[] = [
      ...NONSENSE,
      listed(),
      listed({}),
      listed({ ...HELD, symbol: 'ETHUSDT' }),
      listed({ ...HELD, stopLoss: undefined }),
      listed({ ...HELD, stopLoss: 64000 }),
      listed({ ...HELD, side: '' }),
      listed({ ...HELD, size: undefined }),
    ];
    for (const answer of torn) {
      const looking = await stopDesk('bybit', [answer]);
      await assert.rejects(looking.stops.standing(looking.stop().instrument, NO_HURRY), BrokerUnavailable);
      const finding = await stopDesk('bybit', [answer]);
      await assert.rejects(finding.stops.find(finding.sent(), NO_HURRY), BrokerUnavailable);
      const removing = await stopDesk('bybit', [answer]);
      await assert.rejects(removing.stops.remove(removing.sent(), NO_HURRY), BrokerUnavailable);
      assert.equal(removing.asked.length, 1);
    }
    for (const answer of [
      ...NONSENSE,
      listed({}),
      listed(fired({ symbol: 'ETHUSDT' })),
      listed(fired({ qty: 1 })),
    ]) {
      const { stops, sent } = await stopDesk('bybit', [listed(FLAT), answer]);
      await assert.rejects(stops.find(sent(), NO_HURRY), BrokerUnavailable);
    }
    for (const answer of NONSENSE) {
      const { stops, stop } = await stopDesk('bybit', [listed(HELD), answer]);
      assert.equal(await placedAs(stops.place(stop(), NO_HURRY)), 'unknown');
      const unsent = await stopDesk('bybit', [answer]);
      assert.equal(await placedAs(unsent.stops.place(unsent.stop(), NO_HURRY)), 'unavailable');
      assert.equal(unsent.asked.length, 1);
    }
  });
});
