// Gate's stops: what goes out for each call, and what each answer is to us.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BrokerUnavailable } from '../../src/broker/broker.ts';
import { decimal } from '../../src/domain/decimal.ts';
import type { Answer } from './ccxt-script.ts';
import { type Expected, NONSENSE, placedAs, STOP_ID, stopDesk, told } from './ccxt-stops-desk.ts';
import { NO_HURRY } from './paper-desk.ts';

/** Longer than a double carries. */
const REF = '2007047737421336577';
const PRICE_ORDERS = '/api/v4/futures/usdt/price_orders';

/** Its ids are numbers on the wire. */
const wire = (body: unknown): Answer => ({ text: JSON.stringify(body).replaceAll(`"#${REF}"`, REF) });

const row = (more: object = {}, initial: object = {}, trigger: object = {}) => ({
  user: 1,
  trigger: { strategy_type: 0, price_type: 0, price: '64000.5', rule: 2, expiration: 0, ...trigger },
  initial: {
    contract: 'BTC_USDT',
    size: 0,
    price: '0',
    tif: 'ioc',
    text: 'api',
    is_close: true,
    is_reduce_only: true,
    auto_size: '',
    ...initial,
  },
  id: `#${REF}`,
  trade_id: 0,
  status: 'open',
  reason: '',
  // After it was sent, however long the test has waited.
  create_time: Math.floor(Date.now() / 1000) + 60,
  finish_time: 0,
  me_order_id: 0,
  order_type: 'close-long-position',
  ...more,
});

const refused = (label: string, detail = '', status = 400): Answer => ({ status, body: { label, detail } });
const NOT_FOUND = refused('AUTO_ORDER_NOT_FOUND', 'No order found with the given ID');
const TAKEN = wire({ id: `#${REF}` });

describe('Gate’s stops, as they go out', () => {
  test('placed for the whole position, reduce-only, without an end', async () => {
    const { stops, stop, asked } = await stopDesk('gate', [{ ...TAKEN, status: 201 }]);
    assert.deepEqual(await stops.place(stop(), NO_HURRY), {
      outcome: 'accepted',
      clientOrderId: STOP_ID,
      brokerRef: REF,
    });
    assert.deepEqual(asked.map(told), [
      {
        route: `POST ${PRICE_ORDERS}`,
        fields: {
          initial: {
            contract: 'BTC_USDT',
            size: 0,
            close: true,
            price: '0',
            tif: 'ioc',
            reduce_only: true,
            text: `t-${STOP_ID}`,
          },
          trigger: { strategy_type: 0, price_type: 0, price: '64000.5', rule: 2 },
          order_type: 'close-long-position',
        },
      },
    ]);
    assert.equal(stops.move, undefined);
  });

  test('of a short position, by the mark price', async () => {
    const { stops, stop, asked } = await stopDesk('gate', [TAKEN]);
    const short = stop({ side: 'buy', triggerBy: 'mark', price: decimal('70000.1') });
    assert.equal(await placedAs(stops.place(short, NO_HURRY)), 'accepted');
    const { trigger, order_type } = told(asked[0] ?? assert.fail()).fields as Record<string, object>;
    assert.deepEqual(trigger, { strategy_type: 0, price_type: 1, price: '70000.1', rule: 1 });
    assert.equal(order_type, 'close-short-position');
  });

  test('where one of the whole position is refused, one of the quantity stands beside it', async () => {
    const { stops, stop, asked } = await stopDesk('gate', [refused('WHATEVER', 'there is one'), TAKEN]);
    assert.equal(await placedAs(stops.place(stop(), NO_HURRY)), 'accepted');
    const { initial, order_type } = told(asked[1] ?? assert.fail()).fields as Record<string, object>;
    assert.deepEqual(initial, {
      contract: 'BTC_USDT',
      size: -100,
      price: '0',
      tif: 'ioc',
      reduce_only: true,
      text: `t-${STOP_ID}`,
    });
    assert.equal(order_type, 'plan-close-long-position');

    const neither = await stopDesk('gate', [
      refused('WHATEVER', 'there is one'),
      refused('ELSE', 'not that'),
    ]);
    assert.deepEqual(await neither.stops.place(neither.stop(), NO_HURRY), {
      outcome: 'rejected',
      why: 'refused',
      words: 'there is one (WHATEVER)',
    });
  });

  test('removed by the exchange’s id, to the last digit; one that has ended is no error', async () => {
    const done = wire(row({ status: 'finished', finish_as: 'cancelled' }));
    const other = wire({ ...row(), id: 5 });
    const { stops, sent, asked } = await stopDesk('gate', [done, NOT_FOUND, other]);
    await stops.remove(sent({ brokerRef: REF }), NO_HURRY);
    await stops.remove(sent({ brokerRef: REF }), NO_HURRY);
    await assert.rejects(stops.remove(sent({ brokerRef: REF }), NO_HURRY), BrokerUnavailable);
    assert.deepEqual(told(asked[0] ?? assert.fail()), {
      route: `DELETE ${PRICE_ORDERS}/${REF}`,
      fields: {},
    });
  });

  test('one whose id was lost is removed where one of that shape stands', async () => {
    const { stops, sent, asked } = await stopDesk('gate', [
      wire([row({ id: 7 }, {}, { price: '63000' }), row()]),
      wire(row({ status: 'finished', finish_as: 'cancelled' })),
      wire([row({ create_time: 1_700_000_000 }), row({ id: 8 }, { text: 't-anothers' })]),
    ]);
    await stops.remove(sent(), NO_HURRY);
    assert.deepEqual(
      asked.map((one) => told(one)),
      [
        {
          route: `GET ${PRICE_ORDERS}`,
          fields: { contract: 'BTC_USDT', limit: '100', status: 'open' },
        },
        { route: `DELETE ${PRICE_ORDERS}/${REF}`, fields: {} },
      ],
    );
    // Placed long ago, or under another id: not this one.
    await stops.remove(sent(), NO_HURRY);
    assert.equal(asked.length, 3);
  });

  test('those that stand for the contract, whoever set them; targets and entries are none', async () => {
    const list = [
      row({}, { text: `t-${STOP_ID}` }),
      row({ id: 2, order_type: 'plan-close-long-position' }, { size: -40, is_close: false }),
      row({ id: 3, order_type: 'close-short-position' }, {}, { rule: 1, price: '70000' }),
      row({ id: 4 }, {}, { rule: 1, price: '70000' }),
      row({ id: 5, order_type: '' }, { size: -100, is_close: false, is_reduce_only: false }),
      row({ id: 6, order_type: '' }, { size: 100, is_close: false }, { rule: 1, price: '71000' }),
      row({ id: 7 }, {}, { strategy_type: 1, price: '100' }),
    ];
    const { stops, stop, asked } = await stopDesk('gate', [wire(list), wire([])]);
    const { instrument } = stop();
    assert.deepEqual(await stops.standing(instrument, NO_HURRY), [
      { clientOrderId: STOP_ID, brokerRef: REF, side: 'sell', price: '64000.5', quantity: null },
      { clientOrderId: null, brokerRef: '2', side: 'sell', price: '64000.5', quantity: '0.004' },
      { clientOrderId: null, brokerRef: '3', side: 'buy', price: '70000', quantity: null },
      { clientOrderId: null, brokerRef: '6', side: 'buy', price: '71000', quantity: '0.01' },
    ]);
    assert.deepEqual(await stops.standing(instrument, NO_HURRY), []);
    assert.deepEqual(told(asked[0] ?? assert.fail()), {
      route: `GET ${PRICE_ORDERS}`,
      fields: { contract: 'BTC_USDT', limit: '100', status: 'open' },
    });
  });

  test('where one of them has an id that is none, the list is not believed: a stop is known by nothing else', async () => {
    const [named, misnamed] = [row({ id_string: '7' }), row({ id_string: `${REF}x` })];
    const { stops, stop } = await stopDesk('gate', [wire([named, misnamed])]);
    await assert.rejects(stops.standing(stop().instrument, NO_HURRY), BrokerUnavailable);
  });

  test('a list that goes on is read to its end', async () => {
    const full = Array.from({ length: 100 }, (_, index) => row({ id: index + 1 }));
    const { stops, stop, asked } = await stopDesk('gate', [wire(full), wire([row({ id: 101 })])]);
    assert.equal((await stops.standing(stop().instrument, NO_HURRY)).length, 101);
    assert.equal(asked[1]?.url.searchParams.get('offset'), '100');
  });
});

describe('Gate’s stops, once they have ended', () => {
  const FIRED = row({ status: 'finished', finish_as: 'succeeded', trade_id: 88 });
  const ORDER = {
    id: 88,
    contract: 'BTC_USDT',
    status: 'finished',
    finish_as: 'filled',
    size: -100,
    left: 0,
    fill_price: '63990.1',
    is_reduce_only: true,
    is_close: true,
    text: 'auto_liquidate',
  };
  const TRADES = [
    { order_id: '88', contract: 'BTC_USDT', size: -60, price: '64000', fee: '0.2', text: 'api' },
    { order_id: '88', contract: 'BTC_USDT', size: -40, price: '63000', fee: '0.1', text: 'api' },
  ];

  test('what one became is found by the order’s id', async () => {
    const { stops, sent, asked } = await stopDesk('gate', [wire(FIRED), wire(ORDER)]);
    assert.deepEqual(await stops.find(sent({ brokerRef: REF }), NO_HURRY), {
      brokerRef: REF,
      status: 'triggered',
      order: {
        brokerRef: '88',
        status: 'filled',
        fillQuantity: '0.01',
        fillPrice: '63990.1',
        fee: null,
        reason: null,
      },
      reason: null,
    });
    assert.deepEqual(
      asked.map((one) => told(one).route),
      [`GET ${PRICE_ORDERS}/${REF}`, 'GET /api/v4/futures/usdt/orders/88'],
    );
  });

  test('an order without a size is told by what it traded', async () => {
    const sizeless = { ...ORDER, size: 0, fill_price: '63600' };
    const { stops, sent, asked } = await stopDesk('gate', [wire(FIRED), wire(sizeless), wire(TRADES)]);
    const order = (await stops.find(sent({ brokerRef: REF }), NO_HURRY))?.order;
    assert.deepEqual(
      [order?.status, order?.fillQuantity, order?.fillPrice, order?.fee],
      ['filled', '0.01', '63600', '0.3'],
    );
    assert.deepEqual(told(asked[2] ?? assert.fail()), {
      route: 'GET /api/v4/futures/usdt/my_trades',
      fields: { contract: 'BTC_USDT', limit: '100', order: '88' },
    });
    const unfilled = await stopDesk('gate', [wire(FIRED), wire(sizeless), wire([])]);
    const found = await unfilled.stops.find(unfilled.sent({ brokerRef: REF }), NO_HURRY);
    assert.deepEqual([found?.status, found?.order], ['triggered', null]);
  });

  test('an order without a size that was cut short, or filled by nobody, says so', async () => {
    for (const [trades, fill_price, expected] of [
      [[], '0', ['cancelled', '0', null]],
      [[TRADES[0]], '64000', ['cancelled', '0.006', '64000']],
    ] as const) {
      const cut = { ...ORDER, size: 0, finish_as: 'ioc', fill_price };
      const { stops, sent } = await stopDesk('gate', [wire(FIRED), wire(cut), wire(trades)]);
      const order = (await stops.find(sent({ brokerRef: REF }), NO_HURRY))?.order;
      assert.deepEqual([order?.status, order?.fillQuantity, order?.fillPrice], expected);
      assert.match(order?.reason ?? '', /ioc/);
    }
    const open = { ...ORDER, size: 0, status: 'open', finish_as: undefined };
    const { stops, sent } = await stopDesk('gate', [wire(FIRED), wire(open), wire([TRADES[0]])]);
    const order = (await stops.find(sent({ brokerRef: REF }), NO_HURRY))?.order;
    assert.deepEqual([order?.status, order?.fillQuantity], ['partially_filled', '0.006']);
  });

  test('an order without a size is told by all of its trades, on however many pages', async () => {
    const sizeless = { ...ORDER, size: 0, fill_price: '63960.1' };
    const trades = Array.from({ length: 130 }, (_, index) => ({
      ...{ ...TRADES[0], size: -10, fee: '0.03' },
      price: index < 100 ? '63990.1' : '63860.1',
    }));
    const pages = [wire(trades.slice(0, 100)), wire(trades.slice(100))];
    const { stops, sent, asked } = await stopDesk('gate', [wire(FIRED), wire(sizeless), ...pages]);
    const order = (await stops.find(sent({ brokerRef: REF }), NO_HURRY))?.order;
    assert.deepEqual([order?.status, order?.fillQuantity, order?.fee], ['filled', '0.13', '3.9']);
    assert.deepEqual(
      asked.slice(2).map((one) => told(one).fields),
      [{}, { offset: '100' }].map((more) => ({ contract: 'BTC_USDT', limit: '100', order: '88', ...more })),
    );
  });

  test('an order without a size is not told while its trades do not make the price that it shows', async () => {
    for (const [fill_price, trades, isTold] of [
      ['63600', [TRADES[0]], false],
      ['63999.9', [TRADES[0]], false],
      ['0', TRADES, false],
      // As far as it shows its digits.
      ['63666.666667', [TRADES[0], { ...TRADES[1], size: -30 }], true],
      ['63666.6', [TRADES[0], { ...TRADES[1], size: -30 }], true],
      ['63666.5', [TRADES[0], { ...TRADES[1], size: -30 }], false],
    ] as const)
      for (const finish_as of ['filled', 'ioc']) {
        const sizeless = { ...ORDER, size: 0, fill_price, finish_as };
        const { stops, sent } = await stopDesk('gate', [wire(FIRED), wire(sizeless), wire(trades)]);
        const found = await stops.find(sent({ brokerRef: REF }), NO_HURRY);
        assert.deepEqual([found?.status, found?.order !== null], ['triggered', isTold], fill_price);
      }
    const cut = { ...ORDER, size: 0, finish_as: 'ioc' };
    const { stops, sent } = await stopDesk('gate', [wire(FIRED), wire(cut), wire([])]);
    assert.equal((await stops.find(sent({ brokerRef: REF }), NO_HURRY))?.order, null);
  });

  test('one that was removed, that expired, that failed when it triggered', async () => {
    for (const [end, reason] of [
      [{ finish_as: 'cancelled' }, 'the stop is cancelled'],
      [{ finish_as: 'expired' }, 'the stop is expired'],
      [{ finish_as: 'failed', reason: 'position not exists' }, 'the stop is failed: position not exists'],
      [{ status: 'invalid' }, 'the stop is invalid'],
    ] as const) {
      const { stops, sent } = await stopDesk('gate', [wire(row({ status: 'finished', ...end }))]);
      const found = await stops.find(sent({ brokerRef: REF }), NO_HURRY);
      const isDead = 'finish_as' in end && end.finish_as === 'failed';
      assert.deepEqual([found?.status, found?.reason], [isDead ? 'triggered' : 'ended', reason]);
      assert.equal(found?.order?.status, isDead ? 'failed' : undefined);
      assert.equal(found?.hasExpired ?? false, 'finish_as' in end && end.finish_as === 'expired');
    }
  });

  test('one whose id was lost is looked for by its shape, among those that stand and those that have ended', async () => {
    const standing = await stopDesk('gate', [wire([row({ id: 9 }, { text: 't-anothers' }), row()])]);
    const found = await standing.stops.find(standing.sent(), NO_HURRY);
    assert.deepEqual([found?.status, found?.brokerRef], ['standing', REF]);
    // In millionths of a second, as some of its answers are.
    const micro = row({
      status: 'finished',
      finish_as: 'cancelled',
      create_time: (Date.now() + 60_000) * 1000,
    });
    const ended = await stopDesk('gate', [wire([]), wire([micro])]);
    assert.equal((await ended.stops.find(ended.sent(), NO_HURRY))?.status, 'ended');
    const none = await stopDesk('gate', [NOT_FOUND, wire([]), wire([row({ id: 3 })])]);
    assert.equal(await none.stops.find(none.sent({ brokerRef: REF }), NO_HURRY), null);
  });

  test('another stop, order or trade is never taken for ours', async () => {
    for (const answers of [
      [wire({ ...row(), id: 5 })],
      [wire(row({ order_type: 'close-short-position' }, {}, { rule: 1 }))],
      [wire(row({}, { contract: 'ETH_USDT' }))],
      [wire(row({}, { text: 't-anothers' }))],
      [wire(FIRED), wire({ ...ORDER, id: 89 })],
      [wire(FIRED), wire({ ...ORDER, size: 100 })],
      [wire(FIRED), wire({ ...ORDER, size: 0 }), wire([{ ...TRADES[0], order_id: '9' }])],
    ]) {
      const { stops, sent } = await stopDesk('gate', answers);
      await assert.rejects(stops.find(sent({ brokerRef: REF }), NO_HURRY), BrokerUnavailable);
    }
  });
});

describe('what Gate may answer to a stop', () => {
  const twice = (answer: Answer): readonly Answer[] => [answer, answer];
  const cases: readonly (readonly [string, readonly Answer[], Expected])[] = [
    ['the price is below a long’s', [refused('AUTO_TRIGGER_PRICE_LESS_LAST')], 'passed'],
    ['the price is above a short’s', [refused('AUTO_TRIGGER_PRICE_GREATE_LAST')], 'passed'],
    ['the mark price is beyond it', [refused('AUTO_TRIGGER_PRICE_LESS_MARK')], 'passed'],
    [
      'the price is beyond it, in words',
      [refused('INVALID_PARAM_VALUE', 'invalid argument: Trigger.Price must < last_price')],
      'passed',
    ],
    ['nothing is held', [refused('POSITION_EMPTY')], 'no_position'],
    [
      'something is wrong with it',
      twice(refused('INVALID_PARAM_VALUE', 'invalid argument: size')),
      'refused',
    ],
    ['a hedged account', twice(refused('POSITION_DUAL_MODE')), 'refused'],
    ['the contract is delisted', twice(refused('CONTRACT_IN_DELISTING')), 'refused'],
    ['too many requests', [refused('TOO_MANY_REQUESTS', '', 429)], 'busy'],
    ['another clock', [refused('REQUEST_EXPIRED', '', 403)], 'unavailable'],
    ['no word whether it was taken', [refused('SERVER_ERROR', '', 500)], 'unknown'],
    ['a gateway that gave up', [{ status: 502, text: '<html></html>' }], 'unknown'],
    ['an id that is none', [wire({ id: 0 })], 'unknown'],
    ['an id that is no number', [wire({ id: 'x1' })], 'unknown'],
  ];
  for (const [title, answers, expected] of cases)
    test(`${title}: ${expected}`, async () => {
      const { stops, stop, asked } = await stopDesk('gate', answers);
      assert.equal(await placedAs(stops.place(stop(), NO_HURRY)), expected);
      assert.equal(asked.length, answers.length);
    });

  test('nonsense is never believed', async () => {
    for (const answer of NONSENSE) {
      const placing = await stopDesk('gate', [answer]);
      assert.equal(await placedAs(placing.stops.place(placing.stop(), NO_HURRY)), 'unknown');
      const removing = await stopDesk('gate', [answer]);
      await assert.rejects(
        removing.stops.remove(removing.sent({ brokerRef: REF }), NO_HURRY),
        BrokerUnavailable,
      );
      const finding = await stopDesk('gate', [answer]);
      await assert.rejects(finding.stops.find(finding.sent({ brokerRef: REF }), NO_HURRY), BrokerUnavailable);
      if (Array.isArray(answer.body)) continue;
      const looking = await stopDesk('gate', [answer]);
      await assert.rejects(looking.stops.standing(looking.stop().instrument, NO_HURRY), BrokerUnavailable);
    }
    for (const torn of [
      {},
      row({}, { contract: 'ETH_USDT' }),
      row({ id: undefined }),
      row({}, {}, { price: 64000 }),
      row({ create_time: 'x' }),
      row({ order_type: 3 }),
    ]) {
      const { stops, stop } = await stopDesk('gate', [wire([row({ id: 1 }), torn])]);
      await assert.rejects(stops.standing(stop().instrument, NO_HURRY), BrokerUnavailable);
    }
  });
});
