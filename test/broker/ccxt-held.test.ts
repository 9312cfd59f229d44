// What is held and what closes it, at exchanges whose answers are written down: what is not traded here is shown, what closes is
// the exchange's own to refuse, and an order is in the margin that the account, or its position, says.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AccountUnfit, type Broker, type BrokerOrder, BrokerUnavailable } from '../../src/broker/broker.ts';
import { decimal } from '../../src/domain/decimal.ts';
import type { ClientOrderId, Timestamp } from '../../src/domain/ids.ts';
import { type Asked, scriptedExchange } from './ccxt-script.ts';
import { NO_HURRY } from './paper-desk.ts';

async function orderOf(broker: Broker, more: Partial<BrokerOrder> = {}): Promise<BrokerOrder> {
  const instrument = await broker.resolve('BTCUSDT.P', NO_HURRY);
  assert.ok(!('rejection' in instrument));
  return {
    clientOrderId: 'fe1234567890123456789012' as ClientOrderId,
    instrument,
    side: 'buy',
    quantity: decimal('0.01'),
    reduceOnly: false,
    sendBefore: new Date(Date.now() + 20_000).toISOString() as Timestamp,
    ...more,
  };
}

const sent = (asked: readonly Asked[]): string[] =>
  asked.filter(({ method }) => method === 'POST').map(({ body, url }) => body || url.search);

const shownBy = async (broker: Broker) =>
  (await broker.positions(NO_HURRY)).map(({ symbol, quantity, tradable }) => [symbol, quantity, tradable]);

describe('what is held', () => {
  const held = (symbol: string, positionAmt: string) => ({
    symbol,
    positionAmt,
    entryPrice: '100',
    markPrice: '100',
    unRealizedProfit: '0',
    positionSide: 'BOTH',
  });

  test('of another margin currency is listed, also where the markets cannot be listed anew', async () => {
    const { broker } = await scriptedExchange('binance', [
      { body: [held('BTCUSDT', '1'), held('BTCUSDC', '-5'), held('ETHUSDC', '0')] },
      { status: 503, text: '' },
    ]);
    assert.deepEqual(await shownBy(broker), [
      ['BTCUSDT.P', '1', true],
      ['BTCUSDC', '-5', false],
    ]);
  });

  const row = (symbol: string, positionIdx: number, side: string, size: string) => ({
    symbol,
    side,
    size,
    positionIdx,
    avgPrice: '100',
    markPrice: '100',
    unrealisedPnl: '0',
  });
  const listed = (...list: object[]) => ({ body: { retCode: 0, result: { list, nextPageCursor: '' } } });

  test('in hedge mode is listed side by side, and the rest can be traded', async () => {
    const rows = [
      row('BTCUSDT', 0, 'Buy', '1'),
      row('DOGEUSDT', 1, 'Buy', '10'),
      row('DOGEUSDT', 2, 'Sell', '4'),
    ];
    const { broker } = await scriptedExchange('bybit', [listed(...rows)]);
    assert.deepEqual(await shownBy(broker), [
      ['BTCUSDT.P', '1', true],
      ['DOGEUSDT', '10', false],
      ['DOGEUSDT', '-4', false],
    ]);
  });

  test('in hedge mode in the instrument itself is no position that could be traded', async () => {
    const rows = [row('BTCUSDT', 1, 'Buy', '1'), row('BTCUSDT', 2, '', '0')];
    const { broker } = await scriptedExchange('bybit', [listed(...rows), listed(...rows)]);
    const [position, ...others] = await broker.positions(NO_HURRY);
    assert.deepEqual(others, []);
    assert.match(position?.reason ?? '', /hedge mode.*Close it at Bybit/);
    const { instrument } = await orderOf(broker);
    await assert.rejects(broker.position(instrument, NO_HURRY), AccountUnfit);
  });

  test('as a dated future or on margin stands beside the swaps of OKX', async () => {
    const swap = { instType: 'SWAP', instId: 'BTC-USDT-SWAP', pos: '3', posSide: 'net', mgnMode: 'cross' };
    const dated = { ...swap, instType: 'FUTURES', instId: 'BTC-USDT-270625', pos: '-2' };
    const margin = { instType: 'MARGIN', instId: 'BTC-USDT', pos: '0.5', posSide: 'net', mgnMode: '' };
    const data = [{ ...swap, avgPx: '100' }, { ...dated, avgPx: '100' }, margin];
    const { broker } = await scriptedExchange('okx', [{ body: { code: '0', data } }]);
    assert.deepEqual(await shownBy(broker), [
      ['BTCUSDT.P', '0.03', true],
      ['BTC-USDT-270625', '-2', false],
      ['BTC-USDT', '0.5', false],
    ]);
  });
});

describe('a close', () => {
  const CLOSE = { side: 'sell', reduceOnly: true } as const;

  for (const [what, quantity] of [
    ['below the least quantity', '0.0004'],
    ['beside the step', '0.0015'],
  ] as const)
    test(`${what} is sent as it stands, and what the exchange refuses is named as left`, async () => {
      const refusal = { status: 400, body: { code: -4003, msg: 'Quantity less than or equal to zero.' } };
      const { broker, asked } = await scriptedExchange('binance', [refusal]);
      const order = await orderOf(broker, { ...CLOSE, quantity: decimal(quantity) });
      const outcome = await broker.place(order, NO_HURRY);
      assert.match(sent(asked)[0] ?? '', new RegExp(`quantity=${quantity}&`));
      assert.ok(outcome.outcome === 'rejected');
      assert.equal(outcome.error.code, 'invalid_quantity');
      assert.ok(outcome.error.message.includes(`${quantity} of BTCUSDT.P is not closed`));
      const entry = await broker.place({ ...order, reduceOnly: false }, NO_HURRY);
      assert.equal(entry.outcome === 'rejected' && entry.error.code, 'invalid_quantity');
      assert.equal(asked.length, 1, 'an entry keeps our checks');
    });

  for (const [name, body] of [
    ['bybit', /"qty":"0.0015"/],
    ['gate', /"size":"-15.5"/],
  ] as const)
    test(`beside the step is not rounded on its way to ${name}`, async () => {
      const { broker, asked } = await scriptedExchange(name);
      const quantity = decimal(name === 'gate' ? '0.00155' : '0.0015');
      await broker.place(await orderOf(broker, { ...CLOSE, quantity }), NO_HURRY);
      assert.match(sent(asked)[0] ?? '', body);
    });
});

describe('a list of open orders', () => {
  test('of Gate is read where one of them closes whatever is held and has no size', async () => {
    const ours = { id: 41, contract: 'BTC_USDT', status: 'open', size: 3, left: 3, text: 't-ours' };
    const closes = { ...ours, id: 42, size: 0, left: 0, text: 'web', is_close: true, is_reduce_only: true };
    const { broker } = await scriptedExchange('gate', [{ body: [closes, ours] }]);
    const refs = (await broker.openOrders(NO_HURRY)).map(({ brokerRef }) => brokerRef);
    assert.deepEqual(refs, ['41']);
  });

  test('of Gate with an order without a size that is no close cannot be read', async () => {
    const odd = {
      id: 42,
      contract: 'BTC_USDT',
      status: 'open',
      size: 0,
      left: 0,
      text: 't-fe1234567890123456789012',
    };
    const others = { ...odd, text: 'web' };
    const { broker } = await scriptedExchange('gate', [{ body: [odd] }, { body: [others] }]);
    await assert.rejects(broker.openOrders(NO_HURRY), BrokerUnavailable);
    assert.deepEqual(await broker.openOrders(NO_HURRY), [], 'certainly not ours');
  });

  test('of Bybit is read where a stop is for whatever is held', async () => {
    const ours = { orderId: 'a', symbol: 'BTCUSDT', orderStatus: 'New', side: 'Buy', cumExecQty: '0' };
    const stop = { ...ours, orderId: 'b', orderStatus: 'Untriggered', side: 'Sell', closeOnTrigger: true };
    const list = [
      { ...stop, qty: '' },
      { ...ours, qty: '1' },
    ];
    const { broker } = await scriptedExchange('bybit', [{ body: { retCode: 0, result: { list } } }]);
    const refs = (await broker.openOrders(NO_HURRY)).map(({ brokerRef }) => brokerRef);
    assert.deepEqual(refs, ['a']);
  });
});

describe('the margin mode', () => {
  const EXCHANGES = [
    {
      name: 'okx',
      flat: { code: '0', data: [] },
      held: (mode: string) => ({
        code: '0',
        data: [
          { instType: 'SWAP', instId: 'BTC-USDT-SWAP', pos: '1', posSide: 'net', mgnMode: mode, avgPx: '1' },
        ],
      }),
      noPosition: { code: '1', data: [{ sCode: '51169', sMsg: 'no position' }] },
      taken: { code: '0', data: [{ sCode: '0', ordId: '7', clOrdId: 'fe1234567890123456789012' }] },
      says: { cross: /"tdMode":"cross"/, isolated: /"tdMode":"isolated"/ },
    },
    {
      name: 'bitget',
      flat: { code: '00000', data: [] },
      held: (mode: string) => ({
        code: '00000',
        data: [
          {
            symbol: 'BTCUSDT',
            total: '0.01',
            holdSide: 'long',
            posMode: 'one_way_mode',
            marginMode: mode === 'cross' ? 'crossed' : mode,
            openPriceAvg: '1',
          },
        ],
      }),
      noPosition: { code: '22002', msg: 'No position to close' },
      taken: { code: '00000', data: { orderId: '7', clientOid: 'fe1234567890123456789012' } },
      says: { cross: /"marginMode":"crossed"/, isolated: /"marginMode":"isolated"/ },
    },
  ] as const;
  const CLOSE = { side: 'sell', reduceOnly: true } as const;

  for (const { name, flat, held, noPosition, taken, says } of EXCHANGES) {
    for (const mode of ['cross', 'isolated'] as const)
      test(`${name}: what is opened is ${mode} where the account says so`, async () => {
        const { broker, asked } = await scriptedExchange(name, [{ body: flat }], { marginMode: mode });
        await broker.place(await orderOf(broker), NO_HURRY);
        const [body = '', ...others] = sent(asked);
        assert.deepEqual(others, []);
        assert.match(body, says[mode]);
        assert.doesNotMatch(body, says[mode === 'cross' ? 'isolated' : 'cross']);
      });

    test(`${name}: a close goes to its position, whatever the setting is by now`, async () => {
      const { broker, asked } = await scriptedExchange(name, [{ body: held('isolated') }]);
      await broker.place(await orderOf(broker, CLOSE), NO_HURRY);
      assert.match(sent(asked)[0] ?? '', says.isolated);
    });

    for (const [what, shown] of [
      ['is shown as flat', flat],
      ['is still shown as it was', held('isolated')],
    ] as const)
      test(`${name}: a reversal opens in the account’s setting, where its close ${what}`, async () => {
        const answers = [held('isolated'), taken, shown].map((body) => ({ body }));
        const { broker, asked } = await scriptedExchange(name, answers);
        const close = await orderOf(broker, CLOSE);
        assert.equal((await broker.place(close, NO_HURRY)).outcome, 'accepted');
        await broker.place({ ...close, reduceOnly: false }, NO_HURRY);
        const [closed = '', opened = '', ...others] = sent(asked);
        assert.match(closed, says.isolated);
        assert.match(opened, says.cross);
        assert.deepEqual(others, []);
      });

    test(`${name}: what is opened after a close, on the same side, is in the account’s setting`, async () => {
      const answers = [held('isolated'), taken, flat].map((body) => ({ body }));
      const { broker, asked } = await scriptedExchange(name, answers);
      await broker.place(await orderOf(broker, CLOSE), NO_HURRY);
      await broker.place(await orderOf(broker), NO_HURRY);
      assert.match(sent(asked)[1] ?? '', says.cross);
    });

    test(`${name}: a close ahead of the list of positions is tried in both`, async () => {
      const { broker, asked } = await scriptedExchange(
        name,
        [{ body: flat }, { body: noPosition }, { body: noPosition }],
        { marginMode: 'isolated' },
      );
      const outcome = await broker.place(await orderOf(broker, CLOSE), NO_HURRY);
      assert.equal(outcome.outcome === 'rejected' && outcome.error.code, 'no_position');
      const [first = '', second = '', ...others] = sent(asked);
      assert.match(first, says.isolated);
      assert.match(second, says.cross);
      assert.deepEqual(others, []);
    });
  }
});
