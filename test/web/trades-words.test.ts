// The rules of the trades page: what is asked for, words, the calendar, and where things lie in its plots.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  askedOf,
  dayAfter,
  localDay,
  queryOf,
  searchOf,
  spanOf,
  withinWords,
} from '../../web/pages/trades/asked.ts';
import { weeksOf } from '../../web/pages/trades/calendar.ts';
import { draw } from '../../web/pages/trades/drawing.ts';
import {
  answerOf,
  endInWords,
  fillInWords,
  heldInWords,
  type Summary,
} from '../../web/pages/trades/words.ts';

const NOON = new Date(2026, 10, 12, 12).getTime();
const HOUR = 3_600_000;

describe('What is asked for', () => {
  test('stands in the address, without what is usual', () => {
    assert.deepEqual(searchOf(askedOf({})), {});
    const search = {
      ...{ range: '90', account: 'a', symbol: 'BTCUSDT', strategy: 'Breakout', closed_by: 'signal' },
      ...{ currency: 'USDT', money: 'real' },
    };
    assert.deepEqual(searchOf(askedOf(search)), search);
    assert.deepEqual(searchOf(askedOf({ range: '12', from: 'yesterday', to: '2026-13-01' })), {});
  });
  test('is days where the reader is, both in it', () => {
    const one = queryOf(askedOf({ from: '2026-11-05', to: '2026-11-05' }), NOON);
    assert.equal(one.from, new Date(2026, 10, 5).toISOString());
    assert.equal(one.to, new Date(new Date(2026, 10, 6).getTime() - 1).toISOString());
    const month = queryOf(askedOf({}), NOON);
    assert.equal(month.from, new Date(2026, 9, 14).toISOString());
    assert.equal(month.to, undefined, 'what is closed while one looks on is in it');
    assert.deepEqual(queryOf(askedOf({ range: 'all', simulation: 'true' }), NOON), { simulation: true });
    assert.deepEqual(spanOf(askedOf({ range: '7' }), NOON), { first: '2026-11-06', last: '2026-11-12' });
  });
  test('is said behind the sum', () => {
    assert.equal(withinWords(askedOf({})), 'in 30 days');
    assert.equal(withinWords(askedOf({ range: 'all' })), 'since the beginning');
    assert.equal(withinWords(askedOf({ from: '2026-11-05', to: '2026-11-05' })), 'on 5 Nov 2026');
    assert.equal(withinWords(askedOf({ from: '2026-10-05', to: '2026-11-05' })), 'from 5 Oct to 5 Nov 2026');
  });
});

const summary = (more: Partial<Summary>): Summary =>
  ({
    ...{ currency: 'USDT', trades: 135, won: 79, lost: 56, profit: 2587.57, profit_factor: 1.98 },
    ...{ enough_trades: 20, ...more },
  }) as Summary;

describe('The heading', () => {
  const said = (more: Partial<Summary>) => Object.values(answerOf(summary(more), askedOf({}))).join(' | ');
  test('is the answer: the money, how many were won, and what was earned for each lost', () => {
    assert.equal(said({}), '+2,587.57 USDT in 30 days: 79 of 135 trades won, | 1.98 earned for each 1 lost');
  });
  test('says when there are too few, and when there is none', () => {
    const few = { trades: 3, won: 1, profit: -2, profit_factor: null };
    assert.equal(said(few), '−2.00 USDT in 30 days: 1 of 3 trades won, | too few to say more');
    assert.equal(
      said({ ...few, trades: 1 }),
      '−2.00 USDT in 30 days: 1 of 1 trade won, | too few to say more',
    );
    assert.equal(said({ trades: 0, won: 0 }), 'No trade was closed in 30 days | ');
    assert.match(said({ lost: 0, profit_factor: null }), /none lost$/);
  });
});

test('how long a trade was held is said in two units at most', () => {
  const words = [900, 59_000, 60_000, 12 * 60_000, HOUR, 3 * HOUR + 12 * 60_000, 48 * HOUR, 52 * HOUR];
  assert.deepEqual(words.map(heldInWords), [
    ...['under 1 s', '59 s', '1 min', '12 min', '1 h', '3 h 12 min', '2 days', '2 days 4 h'],
  ]);
});

test('what closed a trade is a sentence, and so is each fill', () => {
  assert.equal(
    endInWords({ closed_by: 'trailing_stop', closed_elsewhere: 0 }),
    'closed by its trailing stop',
  );
  assert.equal(endInWords({ closed_by: null, closed_elsewhere: 0 }), 'still open');
  assert.match(endInWords({ closed_by: 'signal', closed_elsewhere: 0.2 }), /0\.2 of it by somebody else$/);
  const fill = { side: 'sell', quantity: 0.2, order_id: 'x', closed_by: 'take_profit' } as never;
  assert.equal(fillInWords(fill), 'sold 0.2, closed at its target');
});

describe('The calendar', () => {
  const day = (name: string, profit: number) => ({ day: name, profit, trades: 2, won: 1 });
  test('has weeks from Monday to Sunday, with what each came to', () => {
    const { weeks } = weeksOf([day('2026-11-04', -10), day('2026-11-08', 30.1), day('2026-11-12', 0.2)], {
      first: '2026-11-03',
      last: '2026-11-12',
    });
    assert.deepEqual(
      weeks.map(({ key, profit }) => [key, profit]),
      [
        ['2026-11-02', 20.1],
        ['2026-11-09', 0.2],
      ],
    );
    const [first] = weeks;
    assert.equal(first?.days[0], null, 'before what is asked for');
    assert.equal(first?.days[1]?.name, '3 Nov');
    assert.equal(first?.days[2]?.name, '4');
    assert.deepEqual(
      first?.days.map((one) => one?.width ?? null),
      [null, 0, 33, 0, 0, 0, 100],
    );
    assert.equal(weeks[1]?.days[4], null, 'after it');
  });
  test('has half a year at the most, and says so', () => {
    const { weeks, isCut } = weeksOf([day('2020-01-01', 1)], { first: null, last: '2026-11-12' });
    assert.equal(weeks.length, 26);
    assert.equal(isCut, true);
    assert.equal(weeks.at(-1)?.key, '2026-11-09');
  });
  test('goes over the days on which clocks change', () => {
    let name = '2026-03-01';
    for (let count = 0; count < 300; count++) name = dayAfter(name);
    assert.equal(name, localDay(new Date(2026, 2, 301)));
  });
});

describe('The drawing', () => {
  const at = (hours: number) => new Date(NOON + hours * HOUR).toISOString();
  const points = [
    { at: at(1), profit: 10, drawdown: 0 },
    { at: at(2), profit: 4, drawdown: -6 },
    { at: at(4), profit: 20, drawdown: 0 },
  ];
  const span = { from: NOON, to: NOON + 5 * HOUR };
  test('goes in steps from zero, trade by trade, both lines on one axis', () => {
    const { equity, drawdown, left, width } = draw(points, span, 600, String);
    assert.equal(left + width, 600);
    const steps = (path: string) => [...path.matchAll(/H([\d.]+)/g)].map(([, x]) => Number(x));
    assert.deepEqual(steps(equity.path), steps(drawdown.path));
    assert.equal(steps(equity.path).length, 4);
    assert.equal(steps(equity.path)[1], Math.round(width * 0.4 * 10) / 10);
    assert.ok(equity.path.startsWith(`M0 ${equity.scale.y(0)}`));
    assert.doesNotMatch(equity.path + drawdown.path, /NaN/);
  });
  test('finds the trade that is nearest to the pointer', () => {
    const drawn = draw(points, span, 600, String);
    assert.equal(drawn.at(0), 0);
    assert.equal(drawn.at(drawn.width), 2);
    assert.equal(drawn.at(drawn.width + 50), null);
  });
  test('of nothing, or without room, is no fault', () => {
    assert.doesNotMatch(draw([], span, 600, String).equity.path, /NaN/);
    assert.doesNotMatch(draw(points, { from: NOON, to: NOON }, 0, String).equity.path, /NaN/);
  });
});
