// The rules of the performance page: days, sums and words, and where things lie in its plots.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { answerOf, isMixed, wordOf } from '../../web/pages/performance/answer.ts';
import {
  dayInWords,
  firstDay,
  outstanding,
  type Row,
  rangeOf,
  rowsOf,
  spanInWords,
  totalsOf,
} from '../../web/pages/performance/days.ts';
import { draw } from '../../web/pages/performance/drawing.ts';
import { latencySheet, widthsOf } from '../../web/pages/performance/latencies.ts';
import { csvOf, sheetsOf } from '../../web/pages/performance/sheets.ts';
import { inOrder, symbolSheet } from '../../web/pages/performance/symbols.ts';
import {
  amountBars,
  bars,
  columns,
  line,
  linearScale,
  logScale,
  namedDays,
  spread,
  stacked,
  stairs,
} from '../../web/parts/geometry.ts';

const NOW = Date.parse('2026-11-12T09:30:00Z');

const day = (name: string, realised: number | null, more: object = {}) => ({
  day: name,
  realised,
  orders: { filled: 2 },
  latency_ms: { p50: 20, p90: 35, p99: 60 },
  slippage: null as number | null,
  ...more,
});
const performance = (days: ReturnType<typeof day>[], currency: string | null = 'USDT') => ({
  days,
  symbols: [],
  latencies: [],
  real_money: true as boolean | null,
  currency,
});

describe('The days of a range', () => {
  test('are all there, also those on which nothing happened, up to today', () => {
    const rows = rowsOf(performance([day('2026-11-10', 5)]), '2026-11-08', NOW);
    assert.deepEqual(
      rows.map(({ day: name, realised, total }) => [name, realised, total]),
      [
        ['2026-11-08', 0, 0],
        ['2026-11-09', 0, 0],
        ['2026-11-10', 5, 5],
        ['2026-11-11', 0, 5],
        ['2026-11-12', 0, 5],
      ],
    );
    assert.deepEqual(
      rows.map(({ isWeekend }) => isWeekend),
      [true, false, false, false, false],
    );
  });

  test('begin with the first order where all are asked for, and are none without one', () => {
    assert.equal(firstDay('all', NOW), null);
    assert.equal(rowsOf(performance([day('2026-11-10', 5)]), null, NOW)[0]?.day, '2026-11-10');
    assert.deepEqual(rowsOf(performance([], null), null, NOW), []);
  });

  test('are as many as the range says, and a range that nobody knows is 30 days', () => {
    assert.equal(firstDay('7', NOW), '2026-11-06');
    assert.equal(rowsOf(performance([], null), firstDay('7', NOW), NOW).length, 7);
    assert.equal(rangeOf(undefined), '30');
    assert.equal(rangeOf('1000000'), '30');
    assert.equal(rangeOf('all'), 'all');
  });

  test('hold an order of tomorrow, which a clock that is a little ahead has brought', () => {
    assert.equal(rowsOf(performance([day('2026-11-13', 5)]), '2026-11-12', NOW).length, 2);
  });

  test('add up without the dust of binary fractions', () => {
    const rows = rowsOf(performance([day('2026-11-11', 0.1), day('2026-11-12', 0.2)]), null, NOW);
    assert.equal(totalsOf(rows).realised, 0.3);
  });

  test('have no sum where they are of several currencies', () => {
    const rows = rowsOf(performance([day('2026-11-11', null)], null), '2026-11-10', NOW);
    assert.equal(totalsOf(rows).realised, null);
    assert.equal(totalsOf(rows).best, null);
    assert.equal(totalsOf(rows).orderCount, 2);
  });

  test('are said with the year once, and twice where it changes', () => {
    const span = (first: string, last: number) => spanInWords(rowsOf(performance([], null), first, last));
    assert.equal(span('2026-10-14', NOW), '14 Oct to 12 Nov 2026');
    assert.equal(span('2026-11-12', NOW), '12 Nov 2026');
    assert.equal(span('2025-12-30', Date.parse('2026-01-02T00:00:00Z')), '30 Dec 2025 to 2 Jan 2026');
  });
});

describe('The heading', () => {
  const scope = { range: '30', accountName: 'Bybit main' } as const;
  const answer = (days: ReturnType<typeof day>[], currency: string | null = 'USDT') =>
    answerOf(performance(days, currency), rowsOf(performance(days, currency), '2026-11-01', NOW), scope);

  test('sums with the money and its sign', () => {
    assert.deepEqual(answer([day('2026-11-11', 1603.36)]), {
      said: '+1,603.36 USDT realised in 30 days',
      rest: 'by 2 orders on Bybit main',
    });
    assert.equal(answer([day('2026-11-11', -2.5)]).said, '−2.50 USDT realised in 30 days');
  });

  test('has no sum of several currencies, and says when there is nothing', () => {
    assert.deepEqual(answer([day('2026-11-11', null)], null), {
      said: '2 orders in 30 days',
      rest: 'in several currencies',
    });
    assert.deepEqual(answer([], null), { said: 'No order in 30 days', rest: 'on Bybit main' });
  });

  test('has no currency where nothing was filled', () => {
    assert.equal(answer([day('2026-11-11', 0)], null).said, '0.00 realised in 30 days');
  });

  test('is marked where no money is real, and sums of both kinds are said to be', () => {
    const paper = { broker: 'paper', environment: 'paper' } as const;
    const live = { broker: 'bybit', environment: 'live' } as const;
    const [none, all] = [{ real_money: false }, { real_money: true }];
    assert.equal(wordOf(all, [live], false), null);
    assert.equal(wordOf(none, [paper], false), 'paper');
    assert.equal(wordOf(none, [live], true), 'simulated');
    assert.equal(wordOf(none, [{ broker: 'okx', environment: 'demo' }, paper], false), 'demo, paper');
    assert.equal(wordOf(none, [], false), 'no real money', 'its account is deleted, or not read yet');
  });

  test('has no sum of real money and paper', () => {
    const mixed = { ...performance([day('2026-11-11', 12)]), real_money: null };
    assert.deepEqual(answerOf(mixed, rowsOf(mixed, '2026-11-01', NOW), { range: '30', accountName: null }), {
      said: '2 orders in 30 days',
      rest: 'with real money and without it; choose an account',
    });
    assert.ok(isMixed(mixed) && !isMixed({ ...mixed, days: [] }));
  });
});

test('A day is told in words, also one on which nothing is known', () => {
  const [one, none] = rowsOf(
    performance([day('2026-11-11', -204.75, { orders: { rejected: 5, filled: 17 }, slippage: -1.9 })]),
    null,
    NOW,
  ) as [Row, Row];
  assert.equal(
    // Whether a comma follows the weekday is a matter of the ICU.
    dayInWords(one, 'USDT').replace('y, 11', 'y 11'),
    'Wednesday 11 November 2026: realised −204.75 USDT, −204.75 in all; 22 orders: 17 filled, 5 rejected; ' +
      'p50 20, p90 35, p99 60 ms; slippage −1.90 USDT against the signals’ prices.',
  );
  assert.match(
    dayInWords(none, 'USDT'),
    /realised 0\.00 USDT, −204\.75 in all; no order; no broker answered;/,
  );
});

test('A day stands out by three times the usual, and only among at least three', () => {
  assert.equal(outstanding([40, 41, null, 2410, 39]), 3);
  assert.equal(outstanding([40, 41, 90]), null);
  assert.equal(outstanding([1, -50, 2, 0, 3]), 1);
  assert.equal(outstanding([1, 100]), null);
  assert.equal(outstanding([]), null);
});

describe('A scale', () => {
  test('has round numbers, and zero among them', () => {
    assert.deepEqual(linearScale([0, 1603.36, -204.75], 208, 5).ticks, [0, 500, 1000, 1500]);
    assert.deepEqual(linearScale([0.3, -0.12], 88, 3).ticks, [0, 0.2]);
    assert.deepEqual(linearScale([-0.7, -0.1], 88, 4).ticks, [-0.6, -0.4, -0.2, 0]);
    assert.deepEqual(linearScale([27], 104).ticks, [0, 10, 20]);
  });

  test('puts the greatest on top and keeps what lies outside at the edge', () => {
    const { y } = linearScale([0, 100], 130);
    assert.deepEqual([y(100), y(50), y(0), y(200), y(-5)], [22, 72, 122, 22, 122]);
  });

  test('of nothing, of zeros and of one value is one all the same', () => {
    for (const values of [[], [null], [0], [0, 0], [7], [-7], [Number.NaN]]) {
      const scale = linearScale(values, 100);
      assert.ok(scale.ticks.length > 0 && scale.ticks.every(Number.isFinite), String(values));
      assert.ok(Number.isFinite(scale.y(0)) && Number.isFinite(scale.y(7)), String(values));
    }
    assert.deepEqual(linearScale([0, 0], 100).ticks, [0]);
  });

  test('of times is logarithmic: 1, 3, 10, and so on', () => {
    assert.deepEqual(logScale([41, 115, 2410], 132).ticks, [30, 100, 300, 1000, 3000]);
    assert.deepEqual(logScale([41], 132).ticks, [30, 100]);
    const { y } = logScale([10, 1000], 130);
    assert.deepEqual([y(1000), y(100), y(10)], [22, 72, 122]);
  });

  test('of times holds none and no time at all', () => {
    for (const values of [[], [null], [0], [0, 0], [1], [0, 5]]) {
      const { ticks, y } = logScale(values, 100);
      assert.ok(ticks.length > 0, String(values));
      assert.ok(
        [0, 1, 5].every((value) => Number.isFinite(y(value))),
        String(values),
      );
    }
  });
});

describe('A drawing', () => {
  const scale = linearScale([-10, 10], 130);
  const paths = (values: (number | null)[], width = 400) => {
    const days = columns(values.length, width);
    const { above, below } = bars(values, days, scale);
    const counts = values.map((value) => Math.max(0, value ?? 0));
    return [
      above,
      below,
      stairs(values, days, scale),
      line(values, days, scale),
      ...stacked([counts], days, scale),
    ];
  };

  test('never says NaN, whatever there is of days, values and width', () => {
    for (const values of [[], [5], [null], [null, 5, null], [Number.NaN], [1, 2, 3]])
      for (const width of [0, -20, 1, 400])
        for (const path of paths(values, width)) assert.doesNotMatch(path, /NaN|Infinity|undefined/);
  });

  test('has what was earned above zero and what was lost below it', () => {
    const [above, below] = paths([10, -10, 0, null]);
    assert.equal(above, 'M34 72h32V22h-32z');
    assert.equal(below, 'M134 72h32V122h-32z');
  });

  test('has a level for each day, and parts where nothing is known', () => {
    const days = columns(4, 400);
    assert.equal(stairs([10, 0, null, 10], days, scale), 'M0 22H100V72H200M300 22H400');
  });

  test('has a line from day to day; a day alone is a point', () => {
    const days = columns(4, 400);
    assert.equal(line([10, 0, null, 10], days, scale), 'M50 22L150 72M350 22h0');
  });

  test('stacks its layers on each other', () => {
    const days = columns(1, 100);
    const stack = linearScale([4], 130);
    assert.deepEqual(stacked([[1], [0], [3]], days, stack), ['M34 122h32V97h-32z', '', 'M34 97h32V22h-32z']);
  });

  test('knows the day under the pointer, and that there is none beside it', () => {
    const days = columns(4, 400);
    assert.deepEqual([-1, 0, 99, 100, 400, 401].map(days.at), [null, 0, 0, 1, 3, null]);
    assert.equal(columns(0, 400).at(10), null);
  });

  test('names the last day, and others that have room', () => {
    assert.deepEqual(namedDays(columns(5, 400), 64), [0, 1, 2, 3, 4]);
    assert.deepEqual(namedDays(columns(30, 900), 64), [4, 9, 14, 19, 24, 29]);
    assert.deepEqual(namedDays(columns(0, 900), 64), []);
    assert.ok(namedDays(columns(5000, 300), 64).length <= 5);
  });

  test('keeps names apart and in the order of their lines', () => {
    assert.deepEqual(spread([20, 60, 100], 16, 8, 120), [20, 60, 100]);
    assert.deepEqual(spread([50, 50, 50], 16, 8, 120), [50, 66, 82]);
    assert.deepEqual(spread([119, 118, 120], 16, 8, 120), [104, 88, 120]);
    assert.deepEqual(spread([], 16, 8, 120), []);
  });
});

test('All plots are drawn of no day, of one and of many, at any width, without a NaN', () => {
  const quiet = day('2026-11-12', 0, { orders: {}, latency_ms: { p50: null, p90: null, p99: null } });
  const ranges = [
    rowsOf(performance([], null), null, NOW),
    rowsOf(performance([day('2026-11-12', 5, { slippage: -1 })]), null, NOW),
    rowsOf(performance([quiet]), null, NOW),
    rowsOf(performance([day('2026-11-11', null)], null), '2026-11-01', NOW),
    rowsOf(performance([day('2025-01-01', -3)]), null, NOW),
  ];
  for (const rows of ranges)
    for (const width of [0, 40, 358, 1200])
      assert.doesNotMatch(JSON.stringify(draw(rows, width), loud), /NaN|Infinity|undefined/);
});
/** JSON would say null. */
const loud = (_: string, value: unknown) =>
  typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;

describe('Behind a plot', () => {
  const rows = rowsOf(
    performance([day('2026-11-11', -1.5), day('2026-11-12', 4, { orders: { rejected: 1 }, slippage: -0.2 })]),
    '2026-11-01',
    NOW,
  );
  const sheets = sheetsOf(rows, 'USDT');

  test('stands a file of the days on which something happened, numbers as numbers', () => {
    assert.equal(
      csvOf(sheets.realised),
      'day,realised,total\r\n2026-11-11,-1.5,-1.5\r\n2026-11-12,4,2.5\r\n',
    );
    assert.equal(
      csvOf(sheets.orders),
      'day,orders,filled,rejected\r\n2026-11-11,2,2,0\r\n2026-11-12,1,0,1\r\n',
    );
    assert.equal(csvOf(sheets.slippage), 'day,slippage\r\n2026-11-12,-0.2\r\n');
  });

  test('stands a table that says its money with signs and its unit in the head', () => {
    const [, realised] = sheets.realised.columns;
    assert.equal(realised?.head, 'Realised, USDT');
    assert.deepEqual(
      sheets.realised.rows.map((row) => realised?.said(row)),
      ['−1.50', '+4.00'],
    );
  });

  test('a text that begins as a formula is none in a spreadsheet', () => {
    const symbols = ['=1+1', '@cmd', '-2', '+3', 'A,"B"'].map((symbol) => ({
      symbol,
      realised: -1,
      orders: 1,
      volume: 2,
      exit_reasons: {},
    }));
    const lines = csvOf(symbolSheet(symbols, null)).split('\r\n').slice(1, -1);
    assert.deepEqual(lines, ["'=1+1,-1,1,2", "'@cmd,-1,1,2", "'-2,-1,1,2", "'+3,-1,1,2", '"A,""B""",-1,1,2']);
  });
});

test('Symbols: who earned most stands first, and all bars begin at one zero', () => {
  const symbol = (name: string, realised: number | null, orders = 1) => ({
    symbol: name,
    realised,
    orders,
    volume: 1,
    exit_reasons: {},
  });
  const ordered = inOrder([symbol('BNB', -25), symbol('BTC', 75), symbol('ETH', 50)]);
  assert.deepEqual(
    ordered.map(({ symbol: name }) => name),
    ['BTC', 'ETH', 'BNB'],
  );
  assert.deepEqual(amountBars(ordered.map(({ realised }) => realised ?? 0)), [
    { zero: 25, left: 25, width: 75 },
    { zero: 25, left: 25, width: 50 },
    { zero: 25, left: 0, width: 25 },
  ]);
  assert.deepEqual(amountBars([0, 0]), [null, null]);
  assert.deepEqual(
    inOrder([symbol('A', null, 1), symbol('B', null, 5)]).map(({ symbol: name }) => name),
    ['B', 'A'],
  );
});

test('Symbols stand in the order of the figure that is shown; what is not known, and then what was never filled, comes last and shows none', () => {
  const symbol = (name: string, realised: number | null, volume = 1) => ({
    ...{ symbol: name, realised, volume },
    orders: 1,
    exit_reasons: {},
  });
  const ordered = inOrder([
    symbol('never filled', 0, 0),
    symbol('not known', null),
    symbol('loss', -3),
    symbol('still open', 0),
    symbol('gain', 2),
  ]);
  const [, realised] = symbolSheet(ordered, null).columns;
  assert.deepEqual(
    ordered.map((row) => [row.symbol, realised?.said(row)]),
    [
      ['gain', '+2.00'],
      ['still open', '0.00'],
      ['loss', '−3.00'],
      ['not known', null],
      ['never filled', 'no fill'],
    ],
  );
});

describe('How long orders took', () => {
  const spans = [
    { up_to_ms: 2_000, orders: 1, broker: 4 },
    { up_to_ms: 5_000, orders: 2, broker: 0 },
    { up_to_ms: null, orders: 1, broker: 0 },
  ];
  test('is said by span, the last without an end', () => {
    const { columns, rows } = latencySheet(spans);
    assert.deepEqual(
      rows.map((row) => columns.map(({ said }) => said(row))),
      [
        ['up to 2,000 ms', '1', '4'],
        ['up to 5,000 ms', '2', '0'],
        ['over 5,000 ms', '1', '0'],
      ],
    );
  });
  test('whole and the broker’s share are drawn by one scale', () => {
    assert.deepEqual(widthsOf(spans), [
      { orders: 25, broker: 100 },
      { orders: 50, broker: 0 },
      { orders: 25, broker: 0 },
    ]);
    assert.deepEqual(widthsOf([]), []);
  });
});
