// What was traded before, as each broker is asked for it and says it. The answers are as ccxt's sources and
// Alpaca's library describe them, with the times of a span that was asked for; no broker was asked yet.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BrokerBusy, BrokerUnavailable, CredentialsRejected } from '../../src/broker/broker.ts';
import { type CandleSpan, INTERVAL_MS } from '../../src/domain/candles.ts';
import { json, opened, order, refusal } from './alpaca-script.ts';
import { type Answer, type ExchangeName, scriptedExchange } from './ccxt-script.ts';
import { NO_HURRY } from './paper-desk.ts';

const MINUTE = INTERVAL_MS['1m'];
/** Two minutes of an hour ago. */
const FROM = Math.floor(Date.now() / MINUTE) * MINUTE - 60 * MINUTE;
const span: CandleSpan = { interval: '1m', from: FROM, to: FROM + 2 * MINUTE };
const [first, second] = [FROM, FROM + MINUTE];

/** By the exchange: how it says two candles, and what it was asked. */
const SAID: Readonly<Record<ExchangeName, { readonly body: unknown; readonly asked: string }>> = {
  binance: {
    body: [
      [
        first,
        '0.02501300',
        '0.02501800',
        '0.02500000',
        '0.02500000',
        '22.19000000',
        first + 59_999,
        '0.5',
        40,
      ],
      [
        second,
        '0.02499600',
        '0.02500900',
        '0.02499400',
        '0.02500300',
        '21.34700000',
        second + 59_999,
        '0',
        24,
      ],
    ],
    asked: `/fapi/v1/klines?symbol=BTCUSDT&interval=1m&startTime=${first}&endTime=${second + MINUTE - 1}&limit=2`,
  },
  bybit: {
    body: {
      retCode: 0,
      retMsg: 'OK',
      result: {
        symbol: 'BTCUSDT',
        category: 'linear',
        list: [
          [`${second}`, '0.024996', '0.025009', '0.024994', '0.025003', '268611', '15.74462667'],
          [`${first}`, '0.025013', '0.025018', '0.025', '0.025', '4177', '0.24469757'],
        ],
      },
    },
    asked: `/v5/market/kline?category=linear&symbol=BTCUSDT&interval=1&start=${first}&end=${second + MINUTE - 1}&limit=2`,
  },
  okx: {
    body: {
      code: '0',
      msg: '',
      data: [
        [`${second}`, '0.024996', '0.025009', '0.024994', '0.025003', '628', '2.5819', '62800', '0'],
        [`${first}`, '0.025013', '0.025018', '0.025', '0.025', '2565', '10.5401', '256500', '1'],
      ],
    },
    asked: `/api/v5/market/candles?instId=BTC-USDT-SWAP&bar=1m&limit=2&after=${second + MINUTE}&before=${first - 1}`,
  },
  gate: {
    body: [
      { t: first / 1000, v: 97151, c: '0.025', h: '0.025018', l: '0.025', o: '0.025013', sum: '3580' },
      { t: second / 1000, v: 9715, c: '0.025003', h: '0.025009', l: '0.024994', o: '0.024996', sum: '358' },
    ],
    asked: `/api/v4/futures/usdt/candlesticks?contract=BTC_USDT&interval=1m&from=${first / 1000}&to=${(second + MINUTE) / 1000 - 1}`,
  },
  bitget: {
    body: {
      code: '00000',
      msg: 'success',
      requestTime: 1695865615662,
      data: [
        [`${first}`, '0.025013', '0.025018', '0.025', '0.025', '26.26', '687897.63'],
        [`${second}`, '0.024996', '0.025009', '0.024994', '0.025003', '17.98', '471618.72'],
        [`${second + MINUTE}`, '1', '1', '1', '1', '1', '1'],
      ],
    },
    asked: `/api/v2/mix/market/candles?symbol=BTCUSDT&productType=USDT-FUTURES&granularity=1m&startTime=${first}&endTime=${second + MINUTE}&limit=2`,
  },
};
const TWO = [
  { at: first, open: '0.025013', high: '0.025018', low: '0.025', close: '0.025' },
  { at: second, open: '0.024996', high: '0.025009', low: '0.024994', close: '0.025003' },
];

async function read(name: ExchangeName, answers: readonly Answer[], wanted: CandleSpan = span) {
  const { broker, asked } = await scriptedExchange(name, answers);
  const instrument = await broker.resolve('BTCUSDT.P', NO_HURRY);
  assert.ok('symbol' in instrument && broker.candles);
  const candles = await broker.candles(instrument, wanted, NO_HURRY);
  return { candles, asked: asked.map(({ url, headers }) => ({ url, headers })) };
}

for (const name of Object.keys(SAID) as ExchangeName[])
  describe(`Candles of ${name}`, () => {
    test('are exact, the oldest first, and none that was not asked for', async () => {
      const { candles, asked } = await read(name, [{ body: SAID[name].body }]);
      assert.deepEqual(candles, TWO);
      assert.deepEqual(
        asked.map(({ url }) => url.pathname + url.search),
        [SAID[name].asked],
      );
      assert.equal(
        JSON.stringify([...(asked[0]?.headers ?? [])]).includes('script-key'),
        false,
        'nobody’s key',
      );
    });
    test('that cannot be read, or are refused, are unavailable', async () => {
      const wrong: readonly Answer[] = [
        { body: { nothing: true } },
        { text: '<html>' },
        { body: JSON.parse(JSON.stringify(SAID[name].body).replaceAll('0.025013', 'x')) },
        { status: 503, text: '' },
      ];
      for (const answer of wrong) await assert.rejects(read(name, [answer]), BrokerUnavailable);
    });
  });

describe('Many candles', () => {
  const hours = (back: number, count: number): CandleSpan => {
    const from = Math.floor(Date.now() / INTERVAL_MS['1h']) * INTERVAL_MS['1h'] - back * INTERVAL_MS['1h'];
    return { interval: '1h', from, to: from + count * INTERVAL_MS['1h'] };
  };
  const none = { okx: { code: '0', data: [] }, bitget: { code: '00000', data: [] }, binance: [] };

  test('come in parts where an exchange gives fewer at once', async () => {
    const limits = async (name: keyof typeof none, wanted: CandleSpan) => {
      const { asked } = await read(
        name,
        [{ body: none[name] }, { body: none[name] }, { body: none[name] }],
        wanted,
      );
      return asked.map(({ url }) => `${url.pathname.split('/').at(-1)} ${url.searchParams.get('limit')}`);
    };
    assert.deepEqual(await limits('okx', hours(600, 500)), ['candles 300', 'candles 200']);
    assert.deepEqual(await limits('okx', hours(5000, 300)), ['history-candles 300']);
    assert.deepEqual(await limits('bitget', hours(600, 500)), ['candles 500']);
    assert.deepEqual(await limits('bitget', hours(5000, 500)), [
      'history-candles 200',
      'history-candles 200',
      'history-candles 100',
    ]);
    assert.deepEqual(await limits('binance', hours(600, 500)), ['klines 499', 'klines 1']);
  });

  test('are asked for once more only by who may', async () => {
    const { broker, asked } = await scriptedExchange('bitget', [
      { body: none.bitget },
      { body: none.bitget },
    ]);
    const instrument = await broker.resolve('BTCUSDT.P', NO_HURRY);
    assert.ok(!('rejection' in instrument));
    const before = asked.length;
    let paid = 0;
    const askMore = async () => {
      if (++paid > 1) throw new Error('too often');
    };
    await assert.rejects(async () => broker.candles?.(instrument, hours(5000, 500), NO_HURRY, askMore), {
      message: 'too often',
    });
    assert.deepEqual([paid, asked.length - before], [2, 2]);
  });
});

test('candles that are refused for the rate say nothing of orders, unless the whole address is meant', async () => {
  const cases: readonly (readonly [ExchangeName, Answer, BrokerBusy['scope']])[] = [
    ['gate', { status: 429, body: { label: 'TOO_MANY_REQUESTS', message: 'Too many' } }, 'question'],
    ['okx', { status: 429, body: { code: '50011', msg: 'Too Many Requests', data: [] } }, 'question'],
    ['bitget', { status: 429, body: { code: '429', msg: 'Too Many Requests' } }, 'question'],
    ['bybit', { body: { retCode: 10006, retMsg: 'Too many visits!' } }, 'question'],
    ['bybit', { status: 403, text: 'access too frequent' }, 'address'],
    ['binance', { status: 429, body: { code: -1003, msg: 'Too many requests.' } }, 'address'],
    ['binance', { status: 418, body: { code: -1003, msg: 'banned' } }, 'address'],
    ['gate', { status: 429, text: '' }, 'address'],
  ];
  for (const [name, answer, scope] of cases)
    await assert.rejects(read(name, [answer]), (fault) => {
      assert.ok(fault instanceof BrokerBusy, name);
      assert.equal(fault.scope, scope, name);
      return true;
    });
});

describe('Bars of Alpaca', () => {
  const BARS = 'GET /v2/stocks/AAPL/bars';
  const bar = (at: number) => ({
    ...{ t: new Date(at).toISOString().replace('.000', ''), o: 179.5, h: 179.61, l: 179.4, c: 179.52 },
    ...{ v: 1118, n: 65, vw: 179.513 },
  });
  const body = { bars: [bar(first), bar(second)], symbol: 'AAPL', next_page_token: null };
  const { instrument } = order();

  test('are of all exchanges', async () => {
    const { connection, sent } = await opened({ [BARS]: json(body) });
    assert.deepEqual(await connection.candles?.(instrument, span, NO_HURRY), [
      { at: first, open: '179.5', high: '179.61', low: '179.4', close: '179.52' },
      { at: second, open: '179.5', high: '179.61', low: '179.4', close: '179.52' },
    ]);
    const query = new URLSearchParams(sent.find(({ what }) => what === BARS)?.query);
    assert.deepEqual(
      [query.get('timeframe'), query.get('start'), query.get('feed')],
      ['1Min', new Date(first).toISOString(), 'sip'],
    );
  });
  test('are those of IEX for who does not pay for the others; nothing traded is none', async () => {
    let asked = 0;
    const { connection, sent } = await opened({
      [BARS]: (init) =>
        asked++ === 0
          ? refusal(403, null, 'subscription does not permit querying recent SIP data')(init)
          : json({ ...body, bars: null })(init),
    });
    assert.deepEqual(await connection.candles?.(instrument, span, NO_HURRY), []);
    assert.deepEqual(
      sent.filter(({ what }) => what === BARS).map(({ query }) => new URLSearchParams(query).get('feed')),
      ['sip', 'iex'],
    );
  });
  test('that are refused say nothing of the key, and hold back nobody', async () => {
    for (const answer of [
      refusal(403, null, 'forbidden.'),
      json({ message: 'too many requests.' }, 429),
      json({ ...body, symbol: 'GME' }),
      json({ ...body, bars: [{ t: 'now', o: 1 }] }),
      () => new Response('<html>', { status: 500 }),
    ]) {
      const { connection } = await opened({ [BARS]: answer });
      await assert.rejects(
        async () => connection.candles?.(instrument, span, NO_HURRY),
        (fault) =>
          fault instanceof BrokerUnavailable &&
          !(fault instanceof CredentialsRejected) &&
          !(fault instanceof BrokerBusy),
      );
    }
  });
});
