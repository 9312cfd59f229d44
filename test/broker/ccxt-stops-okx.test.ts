// OKX's stops: what goes out for each call, and what each answer is to us.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BrokerUnavailable } from '../../src/broker/broker.ts';
import { decimal } from '../../src/domain/decimal.ts';
import type { ClientOrderId } from '../../src/domain/ids.ts';
import type { Answer } from './ccxt-script.ts';
import { type Expected, NONSENSE, placedAs, STOP_ID, stopDesk, told } from './ccxt-stops-desk.ts';
import { NO_HURRY } from './paper-desk.ts';

const said = (...data: readonly object[]): Answer => ({ body: { code: '0', msg: '', data } });
const failed = (sCode: string, sMsg: string): Answer => ({
  body: {
    code: '1',
    msg: 'All operations failed',
    data: [{ algoId: '', algoClOrdId: STOP_ID, clOrdId: '', sCode, sMsg, tag: '' }],
  },
});
const TAKEN = {
  algoId: '1836487817828872192',
  algoClOrdId: STOP_ID,
  clOrdId: '',
  sCode: '0',
  sMsg: '',
  tag: '',
};
const REF = TAKEN.algoId;

const held = (mgnMode: string): Answer =>
  said({ instType: 'SWAP', instId: 'BTC-USDT-SWAP', mgnMode, posSide: 'net', pos: '1', avgPx: '66000' });
const config = (acctLv: string): Answer => said({ uid: '1', acctLv, posMode: 'net_mode' });

/** As lists and look-ups tell of it: of the whole position, and of a size. */
const WHOLE = {
  algoId: REF,
  algoClOrdId: STOP_ID,
  instType: 'SWAP',
  instId: 'BTC-USDT-SWAP',
  ordType: 'conditional',
  side: 'sell',
  posSide: 'net',
  reduceOnly: 'true',
  closeFraction: '1',
  sz: '',
  slTriggerPx: '64000.5',
  slTriggerPxType: 'last',
  slOrdPx: '-1',
  tpTriggerPx: '',
  state: 'live',
  failCode: '',
  ordId: '',
  ordIdList: [],
};
const SIZED = { ...WHOLE, closeFraction: '', sz: '1' };
const ORDER = {
  instType: 'SWAP',
  instId: 'BTC-USDT-SWAP',
  ordId: '590919993110396111',
  clOrdId: '',
  side: 'sell',
  sz: '1',
  accFillSz: '1',
  avgPx: '63990.1',
  state: 'filled',
  feeCcy: 'USDT',
  fee: '-0.32',
  reduceOnly: 'true',
};
const NOT_FOUND: Answer = { body: { code: '51603', msg: 'Order does not exist', data: [] } };

/** What goes out for one of the whole position. */
const PLACED = {
  instId: 'BTC-USDT-SWAP',
  tdMode: 'cross',
  side: 'sell',
  ordType: 'conditional',
  closeFraction: '1',
  reduceOnly: true,
  cxlOnClosePos: true,
  slTriggerPx: '64000.5',
  slOrdPx: '-1',
  slTriggerPxType: 'last',
  algoClOrdId: STOP_ID,
};

describe('OKX’s stops, as they go out', () => {
  test('placed for the whole position, bound to it, in its margin mode, under our id', async () => {
    const { stops, stop, asked } = await stopDesk('okx', [held('cross'), said(TAKEN)]);
    assert.deepEqual(await stops.place(stop(), NO_HURRY), {
      outcome: 'accepted',
      clientOrderId: STOP_ID,
      brokerRef: REF,
    });
    assert.deepEqual(asked.map(told), [
      { route: 'GET /api/v5/account/positions', fields: { instId: 'BTC-USDT-SWAP' } },
      { route: 'POST /api/v5/trade/order-algo', fields: PLACED },
    ]);
  });

  test('of a short position that is isolated, by the mark price', async () => {
    const short = { side: 'buy', triggerBy: 'mark', price: decimal('70000.1') } as const;
    const { stops, stop, asked } = await stopDesk('okx', [held('isolated'), said(TAKEN)]);
    assert.equal(await placedAs(stops.place(stop(short), NO_HURRY)), 'accepted');
    assert.deepEqual(told(asked[1] ?? assert.fail()).fields, {
      ...PLACED,
      tdMode: 'isolated',
      side: 'buy',
      slTriggerPx: '70000.1',
      slTriggerPxType: 'mark',
    });
  });

  test('in the other margin mode where nothing is held in the first', async () => {
    const nothing = failed('51058', 'No available position for this algo order');
    const { stops, stop, asked } = await stopDesk('okx', [said(), nothing, said(TAKEN)]);
    assert.equal(await placedAs(stops.place(stop(), NO_HURRY)), 'accepted');
    assert.deepEqual(
      asked.slice(1).map((each) => (told(each).fields as typeof PLACED).tdMode),
      ['cross', 'isolated'],
    );
  });

  test('beside another one for the whole position: of a size, and still bound to it', async () => {
    const second = failed('51088', 'You can only place 1 TP/SL order to close an entire position');
    const { stops, stop, asked } = await stopDesk('okx', [held('cross'), second, config('2'), said(TAKEN)]);
    assert.equal(await placedAs(stops.place(stop(), NO_HURRY)), 'accepted');
    const { closeFraction, ...rest } = PLACED;
    assert.deepEqual(
      asked.slice(1).map((each) => told(each).fields),
      [PLACED, {}, { ...rest, sz: '1' }],
    );
  });

  test('in portfolio margin: of a size, and bound to nothing', async () => {
    const never = failed('51332', 'closeFraction is not applicable to Portfolio Margin');
    const { stops, stop, asked } = await stopDesk('okx', [held('cross'), never, config('4'), said(TAKEN)]);
    assert.equal(await placedAs(stops.place(stop(), NO_HURRY)), 'accepted');
    const { closeFraction, cxlOnClosePos, ...rest } = PLACED;
    assert.deepEqual(told(asked[3] ?? assert.fail()).fields, { ...rest, sz: '1' });
  });

  test('amended in its trigger price alone, and keeps its id', async () => {
    const { stops, stop, sent, asked } = await stopDesk('okx', [held('cross'), said(TAKEN)]);
    const to = stop({ clientOrderId: 'fs2' as ClientOrderId, price: decimal('65200') });
    assert.deepEqual(await stops.move?.(sent({ brokerRef: REF }), to, NO_HURRY), {
      outcome: 'accepted',
      clientOrderId: STOP_ID,
      brokerRef: REF,
    });
    assert.deepEqual(told(asked[1] ?? assert.fail()), {
      route: 'POST /api/v5/trade/amend-algos',
      fields: { instId: 'BTC-USDT-SWAP', algoClOrdId: STOP_ID, newSlTriggerPx: '65200' },
    });
  });

  for (const [what, row, size] of [
    ['one of a size gets the new one', SIZED, { newSz: '2' }],
    ['one for the whole position has none', WHOLE, {}],
  ] as const)
    test(`amended for another quantity: ${what}`, async () => {
      const { stops, stop, sent, asked } = await stopDesk('okx', [held('cross'), said(row), said(TAKEN)]);
      const to = stop({ quantity: decimal('0.02') });
      assert.equal(await placedAs(stops.move?.(sent(), to, NO_HURRY) ?? assert.fail()), 'accepted');
      assert.deepEqual(asked.slice(1).map(told), [
        { route: 'GET /api/v5/trade/order-algo', fields: { algoClOrdId: STOP_ID } },
        {
          route: 'POST /api/v5/trade/amend-algos',
          fields: { instId: 'BTC-USDT-SWAP', algoClOrdId: STOP_ID, newSlTriggerPx: '64000.5', ...size },
        },
      ]);
    });

  test('removed by the exchange’s id, and by ours where it is not known; one that has ended is no error', async () => {
    const { stops, sent, asked } = await stopDesk('okx', [
      said(TAKEN),
      said(TAKEN),
      failed('51400', 'Order cancellation failed as the order has been filled, canceled or does not exist.'),
      failed('51416', "Order has been triggered and can't be canceled"),
      said({ ...TAKEN, algoId: '1' }),
      failed('51403', "Cancellation failed as the order type doesn't support cancellation."),
    ]);
    await stops.remove(sent({ brokerRef: REF }), NO_HURRY);
    await stops.remove(sent(), NO_HURRY);
    await stops.remove(sent(), NO_HURRY);
    await stops.remove(sent(), NO_HURRY);
    await assert.rejects(stops.remove(sent({ brokerRef: REF }), NO_HURRY), BrokerUnavailable);
    await assert.rejects(stops.remove(sent(), NO_HURRY), BrokerUnavailable);
    assert.deepEqual(asked.slice(0, 2).map(told), [
      { route: 'POST /api/v5/trade/cancel-algos', fields: [{ instId: 'BTC-USDT-SWAP', algoId: REF }] },
      {
        route: 'POST /api/v5/trade/cancel-algos',
        fields: [{ instId: 'BTC-USDT-SWAP', algoClOrdId: STOP_ID }],
      },
    ]);
  });
});

describe('what stands at OKX', () => {
  test('all that stop, whoever set them; targets and what could open are none', async () => {
    const { stops, stop, asked } = await stopDesk('okx', [
      said(
        WHOLE,
        { ...SIZED, algoId: '2', algoClOrdId: '', sz: '3', side: 'buy', slTriggerPx: '70000' },
        { ...SIZED, algoId: '3', slTriggerPx: '', tpTriggerPx: '71000' },
        { ...SIZED, algoId: '4', reduceOnly: 'false' },
      ),
    ]);
    assert.deepEqual(await stops.standing(stop().instrument, NO_HURRY), [
      { clientOrderId: STOP_ID, brokerRef: REF, side: 'sell', price: '64000.5', quantity: null },
      { clientOrderId: null, brokerRef: '2', side: 'buy', price: '70000', quantity: '0.03' },
    ]);
    assert.deepEqual(asked.map(told), [
      {
        route: 'GET /api/v5/trade/orders-algo-pending',
        fields: { ordType: 'conditional', instType: 'SWAP', instId: 'BTC-USDT-SWAP' },
      },
    ]);
  });

  test('a long list comes in pages', async () => {
    const full = Array.from({ length: 100 }, (_, index) => ({ ...SIZED, algoId: `${500 - index}` }));
    const { stops, stop, asked } = await stopDesk('okx', [said(...full), said(WHOLE)]);
    assert.equal((await stops.standing(stop().instrument, NO_HURRY)).length, 101);
    assert.equal(asked[1]?.url.searchParams.get('after'), '401');
  });

  test('one row that cannot be read, or of another instrument, hides nothing: the list is none', async () => {
    for (const row of [
      { ...WHOLE, side: '' },
      { ...WHOLE, instId: 'ETH-USDT-SWAP' },
      { ...SIZED, sz: 'x' },
    ]) {
      const { stops, stop } = await stopDesk('okx', [said(WHOLE, row)]);
      await assert.rejects(stops.standing(stop().instrument, NO_HURRY), BrokerUnavailable);
    }
  });
});

describe('what became of a stop at OKX', () => {
  test('it stands', async () => {
    const { stops, sent, asked } = await stopDesk('okx', [said(WHOLE)]);
    assert.deepEqual(await stops.find(sent(), NO_HURRY), {
      brokerRef: REF,
      status: 'standing',
      order: null,
      reason: null,
    });
    assert.deepEqual(asked.map(told), [
      { route: 'GET /api/v5/trade/order-algo', fields: { algoClOrdId: STOP_ID } },
    ]);
  });

  test('it has triggered, and its order tells the fill', async () => {
    const fired = { ...WHOLE, state: 'effective', ordIdList: [ORDER.ordId] };
    const { stops, sent, asked } = await stopDesk('okx', [said(fired), said(ORDER)]);
    const found = await stops.find(sent(), NO_HURRY);
    assert.deepEqual(
      [found?.status, found?.order],
      [
        'triggered',
        {
          brokerRef: ORDER.ordId,
          status: 'filled',
          fillQuantity: '0.01',
          fillPrice: '63990.1',
          fee: '0.32',
          reason: null,
        },
      ],
    );
    assert.deepEqual(told(asked[1] ?? assert.fail()), {
      route: 'GET /api/v5/trade/order',
      fields: { instId: 'BTC-USDT-SWAP', ordId: ORDER.ordId },
    });
  });

  test('it has triggered, and its order is not shown yet', async () => {
    const fired = { ...WHOLE, state: 'effective', ordIdList: [ORDER.ordId] };
    const { stops, sent } = await stopDesk('okx', [said(fired), NOT_FOUND]);
    assert.deepEqual(await stops.find(sent(), NO_HURRY), {
      brokerRef: REF,
      status: 'triggered',
      order: null,
      reason: null,
    });
  });

  test('it was cancelled, or its order was refused when it triggered', async () => {
    for (const [row, reason] of [
      [{ ...WHOLE, state: 'canceled' }, 'the stop is canceled'],
      [{ ...WHOLE, state: 'order_failed', failCode: '51008' }, 'the stop is order_failed (51008)'],
    ] as const) {
      const { stops, sent } = await stopDesk('okx', [said(row)]);
      const found = await stops.find(sent(), NO_HURRY);
      const isDead = row.state === 'order_failed';
      assert.deepEqual([found?.brokerRef, found?.reason], [REF, reason]);
      assert.equal(found?.status, isDead ? 'triggered' : 'ended');
      assert.equal(found?.order?.status, isDead ? 'failed' : undefined);
    }
  });

  test('not there is not there; of one that had the exchange’s id its history is asked besides', async () => {
    const unknown = await stopDesk('okx', [NOT_FOUND]);
    assert.equal(await unknown.stops.find(unknown.sent(), NO_HURRY), null);
    const { stops, sent, asked } = await stopDesk('okx', [NOT_FOUND, said({ ...WHOLE, state: 'canceled' })]);
    assert.equal((await stops.find(sent({ brokerRef: REF }), NO_HURRY))?.status, 'ended');
    assert.deepEqual(told(asked[1] ?? assert.fail()), {
      route: 'GET /api/v5/trade/orders-algo-history',
      fields: { ordType: 'conditional', algoId: REF },
    });
  });

  test('another’s answer is believed in nothing', async () => {
    for (const more of [{ algoClOrdId: 'another' }, { side: 'buy' }, { instId: 'ETH-USDT-SWAP' }]) {
      const { stops, sent } = await stopDesk('okx', [said({ ...WHOLE, ...more })]);
      await assert.rejects(stops.find(sent(), NO_HURRY), BrokerUnavailable);
    }
  });
});

const TO_PLACE: readonly (readonly [string, string, Expected])[] = [
  ['51278', 'SL trigger price cannot be lower than the last price', 'passed'],
  ['51280', 'SL trigger price cannot be higher than the last price', 'passed'],
  ['51302', 'SL trigger price cannot be lower than the mark price', 'passed'],
  ['51304', 'SL trigger price cannot be higher than the mark price', 'passed'],
  ['51058', 'No available position for this algo order', 'no_position'],
  ['51169', "Order failed because you don't have any positions in this direction", 'no_position'],
  ['51261', 'Each user can hold up to 500 pending stop orders at the same time.', 'refused'],
  ['51150', 'The precision of the number of trades or the price exceeds the limit.', 'refused'],
  ['51030', 'Funding fee is being settled.', 'unavailable'],
  ['51054', 'Request timed out. Please try again.', 'unknown'],
  ['50061', "You've reached the maximum order rate limit for this account.", 'busy'],
];
const TO_MOVE: readonly (readonly [string, string, Expected])[] = [
  ['51527', 'Order modification unsuccessful. The stop order does not exist.', 'gone'],
  ['51503', 'Your order has already been filled or canceled.', 'gone'],
  ['51532', "Your TP/SL can't be modified because it was partially triggered", 'gone'],
  ['51528', 'Unable to modify trigger price type', 'refused'],
  ['51523', 'Unable to modify the order price of a stop order that closes an entire position.', 'refused'],
  ['51304', 'SL trigger price cannot be higher than the mark price', 'passed'],
  ['51521', "Unable to edit reduce-only order because you don't have any positions", 'no_position'],
];

describe('what OKX refuses', () => {
  for (const [code, words, expected] of TO_PLACE)
    test(`to place, ${code}: ${expected}`, async () => {
      const { stops, stop } = await stopDesk('okx', [held('cross'), failed(code, words)]);
      assert.equal(await placedAs(stops.place(stop(), NO_HURRY)), expected);
    });

  for (const [code, words, expected] of TO_MOVE)
    test(`to amend, ${code}: ${expected}`, async () => {
      const { stops, stop, sent } = await stopDesk('okx', [held('cross'), failed(code, words)]);
      const moved = stops.move?.(sent(), stop({ price: decimal('65200') }), NO_HURRY) ?? assert.fail();
      assert.equal(await placedAs(moved), expected);
    });

  test('a second of a size too: then it is refused, and nothing goes on for ever', async () => {
    const second = failed('51088', 'You can only place 1 TP/SL order to close an entire position');
    const { stops, stop, asked } = await stopDesk('okx', [held('cross'), second, config('2'), second]);
    assert.equal(await placedAs(stops.place(stop(), NO_HURRY)), 'refused');
    assert.equal(asked.length, 4);
  });

  test('an id that it has: the stop under it is ours', async () => {
    const { stops, stop } = await stopDesk('okx', [
      held('cross'),
      failed('51068', `${STOP_ID} already exists within algoClOrdId and attachAlgoClOrdId.`),
      said(WHOLE),
    ]);
    assert.deepEqual(await stops.place(stop(), NO_HURRY), {
      outcome: 'accepted',
      clientOrderId: STOP_ID,
      brokerRef: REF,
    });
  });

  test('nothing by talking nonsense: a stop is unknown then, and a question unanswered', async () => {
    for (const answer of [...NONSENSE, said(), said({ ...TAKEN, algoClOrdId: 'another' })]) {
      const { stops, stop } = await stopDesk('okx', [held('cross'), answer]);
      assert.equal(await placedAs(stops.place(stop(), NO_HURRY)), 'unknown');
    }
    for (const answer of NONSENSE) {
      const { stops, stop, sent } = await stopDesk('okx', [answer, answer, answer]);
      await assert.rejects(stops.standing(stop().instrument, NO_HURRY), BrokerUnavailable);
      await assert.rejects(stops.find(sent(), NO_HURRY), BrokerUnavailable);
      await assert.rejects(stops.remove(sent(), NO_HURRY), BrokerUnavailable);
    }
  });
});
