// The rules of the price chart: what is numbered, how the stop went, which candles are asked for, and where all of it lies.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { draw } from '../../web/parts/price-chart/drawing.ts';
import {
  type Fill,
  inWords,
  movesOf,
  numbered,
  stopOf,
  targetsOf,
} from '../../web/parts/price-chart/happened.ts';
import { around, askedSpan, offered, timesIn, usualInterval } from '../../web/parts/price-chart/spans.ts';

const MINUTE = 60_000;
const NOON = Date.parse('2026-11-10T12:00:00Z');
const at = (minutes: number) => new Date(NOON + minutes * MINUTE).toISOString();
const ORDER = '01990000-0000-7000-8000-000000000000';

const bought: Fill = { at: at(0), side: 'buy', quantity: 0.4, price: 65_020, asked: 65_016.5 };
const half: Fill = { at: at(80), side: 'sell', quantity: 0.2, price: 66_400, asked: null };
const line = (minutes: number, what: string, from: number | null, to: number | null, by: string | null) => ({
  ...{ at: at(minutes), what, from, to, by },
});
const history = [
  line(0, 'set', null, 63_820, ORDER),
  line(0, 'standing', null, null, null),
  line(34, 'moved', 63_820, 64_620, 'stop_loss'),
  line(80, 'take_profit', null, 66_400, ORDER),
  line(80, 'moved', 64_620, 65_020, 'break_even'),
  line(120, 'moved', 65_020, 66_000, 'trailing_stop'),
  line(130, 'moved', 66_000, 66_340, 'trailing_stop'),
  line(190, 'trailing_stop', null, 66_331.5, ORDER),
  line(190, 'ended', null, null, null),
];

describe('What happened', () => {
  test('is numbered by time, fills and moves of the stop together; a stop that trails is one', () => {
    const told = numbered([bought, half], movesOf(history));
    assert.deepEqual(
      told.map((one) => `${one.no} ${inWords(one)}`),
      [
        '1 bought 0.4 at 65,020',
        '2 stop set at 63,820',
        '3 stop moved from 63,820 to 64,620, by an order',
        '4 sold 0.2 at 66,400',
        '5 stop moved from 64,620 to 65,020, to break even',
        '6 stop begins to trail, to 66,000',
      ],
    );
  });
  test('the stop goes in steps, and is gone while it does not stand', () => {
    const steps = (of: typeof history) =>
      stopOf(of).map(({ at: time, price }) => [(time - NOON) / MINUTE, price]);
    assert.deepEqual(steps(history), [
      [0, 63_820],
      [34, 64_620],
      [80, 65_020],
      [120, 66_000],
      [130, 66_340],
      [190, null],
    ]);
    const lost = [
      ...history.slice(0, 2),
      line(5, 'unprotected', null, 63_820, null),
      line(6, 'restored', null, 63_820, null),
    ];
    assert.deepEqual(steps(lost), [
      [0, 63_820],
      [5, null],
      [6, 63_820],
    ]);
  });
  test('a target stands until it was filled', () => {
    const take_profit = [
      { price: 66_400, percent: 50, quantity: 0.2, filled: 0.2 },
      { price: 67_600, percent: 50, quantity: 0.2, filled: 0 },
    ];
    assert.deepEqual(targetsOf({ take_profit, history, created_at: at(0) }), [
      { price: 66_400, name: 'target 1', from: NOON, to: NOON + 80 * MINUTE },
      { price: 67_600, name: 'target 2', from: NOON, to: null },
    ]);
  });
});

describe('The time that is shown', () => {
  const trade = around(NOON, NOON + 192 * MINUTE, NOON + 1000 * MINUTE);
  test('has a part before and after, and nothing that is yet to come', () => {
    assert.deepEqual([(trade.from - NOON) / MINUTE, (trade.to - NOON) / MINUTE], [-48, 240]);
    const now = NOON + 1000;
    const quick = around(NOON, NOON + 500, now);
    assert.deepEqual([quick.to, quick.to - quick.from], [now, 30 * MINUTE]);
    assert.equal(around(NOON, null, now).to, now);
  });
  test('is in wider candles on a phone, and never in more than the API gives', () => {
    assert.equal(usualInterval(trade, 1216), '5m');
    assert.equal(usualInterval(trade, 350), '15m');
    assert.deepEqual(
      offered(trade).map(({ name }) => name),
      ['1 min', '5 min', '15 min'],
    );
    const years = around(NOON - 3000 * 1440 * MINUTE, NOON, NOON);
    assert.equal(usualInterval(years, 1216), '1d');
    const { from, to } = askedSpan(years, '1d', false);
    assert.ok(((to ?? 0) - from) / (1440 * MINUTE) <= 500);
    assert.deepEqual(askedSpan(trade, '5m', true), { from: NOON - 50 * MINUTE, to: null });
  });
  test('has round times that have room', () => {
    const times = timesIn(trade, 600, 64);
    assert.ok(times.length >= 3 && times.length <= 10);
    for (const time of times) assert.equal(new Date(time).getMinutes() % 30, 0);
  });
});

describe('The drawing', () => {
  const span = around(NOON, NOON + 190 * MINUTE, NOON + 1000 * MINUTE);
  const candles = [
    { at: at(-5), open: 64_900, high: 65_050, low: 64_850, close: 65_000 },
    { at: at(0), open: 65_000, high: 65_100, low: 64_700, close: 64_800 },
    { at: at(999), open: 1, high: 1, low: 1, close: 1 },
  ];
  const charted = {
    ...{ span, intervalMs: 5 * MINUTE, candles: candles.slice(0, 2), side: 'long' as const, entry: 65_020 },
    ...{ numbered: numbered([bought, half], movesOf(history)), stop: stopOf(history) },
    targets: [
      { price: 67_600, name: 'target 2', from: NOON, to: null },
      { price: 650_000, name: 'far', from: NOON, to: null },
    ],
    ...{ opened: NOON, closed: NOON + 190 * MINUTE },
  };
  const drawn = draw(charted, 1200, 380);
  const all = (of: object) => JSON.stringify(of);

  test('fits its room, with what rose hollow and what fell filled', () => {
    assert.ok(drawn.width < 1200 && drawn.width > 1000);
    assert.equal(drawn.rose.match(/z/g)?.length, 1);
    assert.equal(drawn.fell.match(/z/g)?.length, 1);
    for (const { x, y } of [...drawn.fills, ...drawn.moves]) {
      assert.ok(x >= 0 && x <= drawn.width && y >= 9 && y <= 371, `${x} ${y}`);
    }
  });
  test('what was bought points from below, what was sold from above; no two marks hide each other', () => {
    const [entry, exit] = drawn.fills;
    assert.ok((entry?.y ?? 0) > drawn.scale.y(65_020));
    assert.ok((exit?.y ?? 0) < drawn.scale.y(66_400));
    const marks = [...drawn.fills, ...drawn.moves];
    assert.equal(marks.length, 6);
    for (const one of marks)
      for (const other of marks)
        if (one !== other) assert.ok(Math.hypot(one.x - other.x, one.y - other.y) >= 17, all([one, other]));
  });
  test('the stop is one line in steps; what the strategy asked for is a diamond beside its fill', () => {
    assert.equal(drawn.stop.match(/M/g)?.length, 1);
    assert.equal(drawn.stop.match(/V/g)?.length, 4);
    assert.equal(drawn.asked.length, 1);
    assert.deepEqual(
      drawn.names.map(({ text }) => text),
      ['stop 66,340', 'entry 65,020', 'price 64,800'],
    );
  });
  test('fills of one moment that were asked for at one price have diamonds of their own numbers', () => {
    const twice = { ...charted, numbered: numbered([bought, { ...bought, quantity: 0.1 }], []) };
    assert.deepEqual(
      draw(twice, 1200, 380).asked.map(({ no }) => no),
      [1, 2],
    );
  });
  test('no candle lies under the prices of the scale, where there is room for both', () => {
    const first = {
      at: new Date(span.from).toISOString(),
      open: 64_900,
      high: 65_050,
      low: 64_850,
      close: 65_000,
    };
    const leftOf = (room: number) =>
      Number(/^M([\d.]+)/.exec(draw({ ...charted, candles: [first] }, room, 380).rose)?.[1]);
    assert.ok(leftOf(1200) >= '65,000'.length * 6.2);
    assert.ok(leftOf(320) < 20, 'a phone has none');
  });
  test('a target that is far away does not make everything else flat', () => {
    assert.deepEqual(
      drawn.targets.map(({ text }) => text),
      ['target 2 67,600'],
    );
    assert.ok(drawn.scale.high < 70_000);
  });
  test('without candles, without anything, in no room: no path says NaN', () => {
    const bare = { ...charted, candles: [] };
    const empty = { ...bare, numbered: [], stop: [], targets: [], entry: null };
    const one = { ...empty, numbered: numbered([bought], []), entry: 65_020 };
    for (const shown of [bare, empty, one])
      for (const width of [0, 320, 1200])
        assert.doesNotMatch(all(draw(shown, width, 320)), /NaN|null|Infinity/);
    assert.equal(draw(bare, 1200, 380).fills.length, 2);
  });
  test('candles that began before it, or end after it, do not hang over the edge', () => {
    const { wicks } = draw({ ...charted, candles }, 1200, 380);
    assert.equal(wicks.match(/M/g)?.length, 4);
  });
});
