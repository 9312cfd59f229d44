import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { BrokerUnavailable } from '../../src/broker/broker.ts';
import { candlesOf, pathOf, quote } from '../../src/broker/paper/market.ts';
import { openPaper } from '../../src/broker/paper/paper.ts';
import { INTERVAL_MS, INTERVALS, wholeCandles } from '../../src/domain/candles.ts';
import { compare, parseDecimal } from '../../src/domain/decimal.ts';
import {
  DEFAULT_PAPER_SETTINGS,
  mergePaperSettings,
  readPaperSettings,
  storedPaperSettings,
} from '../../src/domain/paper-settings.ts';
import { NumberText } from '../../src/domain/signals/json.ts';
import {
  accepted,
  accountOf,
  listed,
  NO_HURRY,
  newAccount,
  OPEN_HOURS,
  orderOf,
  type PaperDesk,
  paperDesk,
  place,
  rejected,
} from './paper-desk.ts';

let desk: PaperDesk;
before(async () => {
  desk = await paperDesk();
});
after(() => desk.end());

describe('paper settings', () => {
  it('are the defaults where nothing is given', () => {
    const defaults = {
      starting_cash: 100000,
      latency_ms: 20,
      fill: 'full',
      reject: null,
      lose_answer: false,
      seed: 1,
      protection: 'native',
      price: null,
    };
    for (const nothing of [undefined, null, {}])
      assert.deepEqual(readPaperSettings(nothing), { settings: defaults });
  });

  it('name every problem at once', () => {
    const reading = readPaperSettings({
      starting_cash: -1,
      latency_ms: 1.5,
      fill: 'half',
      reject: 'no_position',
      lose_answer: 1,
      seed: '1',
      speed: 9,
      toString: 1,
    });
    assert.ok('problems' in reading);
    assert.equal(reading.problems.length, 8);
    assert.match(reading.problems[1] ?? '', /paper\.latency_ms must be an integer from 0 to 60000/);
  });

  it('hold their bounds', () => {
    const isRead = (paper: unknown) => 'settings' in readPaperSettings(paper);
    for (const cash of [0, 0.01, 1e12, new NumberText('12345.6789')])
      assert.ok(isRead({ starting_cash: cash }));
    for (const cash of [1e12 + 1, Number.NaN, '5', null, new NumberText('1.000000000000000001')])
      assert.ok(!isRead({ starting_cash: cash }));
    assert.ok(isRead({ latency_ms: 60000, seed: -7, reject: null }));
    for (const bad of [{ latency_ms: 60001 }, { seed: 0.5 }, { seed: 1e16 }, [], 'x', 5])
      assert.ok(!isRead(bad));
  });

  it('take prices by symbol, and how stops fare', () => {
    const isRead = (paper: unknown) => 'settings' in readPaperSettings(paper);
    for (const price of [
      null,
      {},
      { BTCUSDT: 60_000 },
      { 'BINANCE:BTCUSDT.P': new NumberText('0.5'), AAPL: 1 },
    ])
      assert.ok(isRead({ price }), JSON.stringify(price));
    for (const price of [
      5,
      [],
      '1',
      { BTCUSDT: 0 },
      { BTCUSDT: -1 },
      { BTCUSDT: '1' },
      { 'a b': 1 },
      { '': 1 },
    ])
      assert.ok(!isRead({ price }), JSON.stringify(price));
    assert.ok(!isRead({ price: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`S${n}`, 1])) }));
    for (const protection of ['native', 'refuse', 'lose_answer', 'vanish']) assert.ok(isRead({ protection }));
    const reading = readPaperSettings({ protection: 'never', price: { X: 0 } });
    assert.deepEqual('problems' in reading && reading.problems.map((text) => text.slice(0, 38)), [
      'paper.protection must be one of native',
      'paper.price must be null or an object ',
    ]);
  });

  it('that nobody has changed are stored as a program from before reads them', () => {
    const { protection: _protection, price: _price, ...before } = DEFAULT_PAPER_SETTINGS;
    assert.deepEqual(storedPaperSettings(DEFAULT_PAPER_SETTINGS), before);
    const set = { ...DEFAULT_PAPER_SETTINGS, protection: 'refuse', price: { AAPL: 2 } } as const;
    assert.deepEqual(storedPaperSettings(set), set);
  });

  it('are merged by a patch', () => {
    const first = readPaperSettings({ fill: 'never', seed: 4 });
    assert.ok('settings' in first);
    const merged = mergePaperSettings(first.settings, { fill: 'full', reject: null });
    assert.ok('settings' in merged);
    assert.deepEqual([merged.settings.fill, merged.settings.seed], ['full', 4]);
    assert.ok('problems' in mergePaperSettings(first.settings, null));
  });

  it('that cannot be read open no connection', async () => {
    await assert.rejects(
      openPaper(desk.deps)(accountOf(newAccount(), { fill: 'x' }), NO_HURRY),
      BrokerUnavailable,
    );
  });
});

describe('the paper market', () => {
  it('quotes by seed, symbol and time alone, on the tick, the ask above the bid', () => {
    const anyListing = fc.constantFrom('BTCUSDT', 'ES1!', 'TXF1!', 'AAPL', 'DOGEUSDT').map(listed);
    const anyTime = fc.integer({ min: 0, max: 4e12 });
    fc.assert(
      fc.property(anyListing, fc.integer(), anyTime, (contract, seed, time) => {
        const { bid, ask } = quote(contract, seed, time);
        assert.deepEqual(quote(contract, seed, time), { bid, ask });
        assert.equal(compare(ask, bid), 1);
        for (const price of [bid, ask]) {
          assert.equal(parseDecimal(price), price);
          assert.ok(Number.isInteger(Math.round((Number(price) / Number(contract.tickSize)) * 1e6) / 1e6));
        }
        assert.ok(Math.abs(Number(bid) / contract.basePrice - 1) < 0.1);
      }),
    );
  });

  it('moves with time, little by little, and differs by seed', () => {
    const btc = listed('BTCUSDT');
    const prices = Array.from({ length: 100 }, (_, second) =>
      Number(quote(btc, 1, desk.now + second * 1000).bid),
    );
    assert.ok(new Set(prices).size > 90);
    for (const [index, price] of prices.entries())
      assert.ok(Math.abs(price - (prices[index - 1] ?? price)) < 100);
    assert.notEqual(quote(btc, 1, desk.now).bid, quote(btc, 2, desk.now).bid);
  });

  it('has the same prices in every release: two of them may trade one book', () => {
    const at = Date.parse('2026-11-10T12:00:07.250Z');
    const quoted = ['BTCUSDT', 'DOGEUSDT', 'ES1!', 'AAPL'].flatMap((symbol) =>
      [1, -7].map((seed) => Object.values(quote(listed(symbol), seed, at)).join(' ')),
    );
    assert.deepEqual(quoted, [
      ...['102510.3 102510.6', '104781.8 104781.9', '0.20114 0.20117', '0.20395 0.20397'],
      ...['6001 6001.5', '6020.5 6021', '237.23 237.25', '232.84 232.86'],
    ]);
  });

  it('draws candles of the quotes of their moments, whole but for the one that still runs', async () => {
    const anyListing = fc.constantFrom('BTCUSDT', 'ES1!', 'AAPL', 'XRPUSDT').map(listed);
    const anyTime = fc.integer({ min: Date.parse('2020-01-01'), max: Date.parse('2035-01-01') });
    await fc.assert(
      fc.asyncProperty(
        anyListing,
        fc.integer(),
        fc.constantFrom(...INTERVALS),
        anyTime,
        fc.integer({ min: 1, max: 130 }),
        async (contract, seed, interval, now, count) => {
          const each = INTERVAL_MS[interval];
          const span = wholeCandles({ interval, from: now - count * each, to: now });
          const candles = await candlesOf(contract, pathOf(contract, seed), span, now);
          const begins = Array.from({ length: (span.to - span.from) / each }, (_, n) => span.from + n * each);
          assert.deepEqual(
            candles.map(({ at }) => at),
            begins,
          );
          for (const { at, open, high, low, close } of candles) {
            const lasts = Math.min(each, now - at);
            const seen = Array.from(
              { length: 9 },
              (_, look) => quote(contract, seed, at + (lasts * look) / 8).bid,
            ).toSorted(compare);
            assert.deepEqual(
              [open, close],
              [quote(contract, seed, at).bid, quote(contract, seed, at + lasts).bid],
            );
            assert.deepEqual([low, high], [seen[0], seen.at(-1)]);
          }
        },
      ),
      { numRuns: 30 },
    );
  });

  it('takes any exchange prefix and .P suffix off, in any case', async () => {
    const broker = await desk.open(newAccount());
    for (const symbol of ['BTCUSDT', 'btcusdt', 'BINANCE:BTCUSDT.P', 'bybit:btcusdt.p', 'BTCUSDT.P']) {
      const resolved = await broker.resolve(symbol);
      assert.ok(!('rejection' in resolved));
      assert.equal(resolved.symbol, 'BTCUSDT');
    }
  });

  const hours: [string, string, string | null][] = [
    ['a winter session opens at 14:30 UTC', '2026-03-06T14:30:00Z', null],
    ['a minute before it is closed', '2026-03-06T14:29:59.999Z', '2026-03-06T14:30:00.000Z'],
    [
      'at 16:00 it is over; the clocks change on that weekend',
      '2026-03-06T21:00:00Z',
      '2026-03-09T13:30:00.000Z',
    ],
    ['the first summer Monday, an hour before', '2026-03-09T12:30:00Z', '2026-03-09T13:30:00.000Z'],
    ['the first summer Monday, open', '2026-03-09T13:30:00Z', null],
    ['the last summer Friday, after the close', '2026-10-30T20:00:00Z', '2026-11-02T14:30:00.000Z'],
    ['the Sunday of the change', '2026-11-01T12:00:00Z', '2026-11-02T14:30:00.000Z'],
    [
      'the first winter Monday is still closed at 13:30 UTC',
      '2026-11-02T13:30:00Z',
      '2026-11-02T14:30:00.000Z',
    ],
    [
      'past midnight in UTC it is still Friday evening there',
      '2026-07-18T01:00:00Z',
      '2026-07-20T13:30:00.000Z',
    ],
  ];
  for (const [name, time, nextOpen] of hours)
    it(`AAPL: ${name}`, async () => {
      desk.now = Date.parse(time);
      const broker = await desk.open(newAccount());
      const order = await orderOf(broker, 'buy', 1, 'AAPL');
      assert.equal(order.instrument.open, nextOpen === null);
      assert.equal(order.instrument.nextOpen, nextOpen);
      const outcome = await broker.place(order);
      if (nextOpen === null) assert.equal(accepted(outcome).status, 'filled');
      else
        assert.deepEqual(rejected(outcome).market_hours, {
          timezone: 'America/New_York',
          session: 'Monday-Friday 09:30-16:00',
          next_open: nextOpen,
        });
      assert.equal(accepted(await place(broker, 'buy', 1, 'TXF1!')).status, 'filled');
      desk.now = OPEN_HOURS;
    });

  it('in a simulation is always open', async () => {
    desk.now = Date.parse('2026-07-18T12:00:00Z');
    const broker = await desk.openSimulated(newAccount());
    assert.equal(accepted(await place(broker, 'buy', 1, 'AAPL')).status, 'filled');
    desk.now = OPEN_HOURS;
  });
});
