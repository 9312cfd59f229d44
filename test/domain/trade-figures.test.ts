import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { decimal, ZERO } from '../../src/domain/decimal.ts';
import { type AccountId, type Timestamp, timestamp } from '../../src/domain/ids.ts';
import { type ClosedTrade, openFigures } from '../../src/domain/money/trade-figures.ts';
import { clockOf } from '../../src/domain/timezone.ts';
import { DAY, START } from './traded.ts';

const HOUR = 3_600_000;

const trade = (profit: number, at = 0, more: Partial<ClosedTrade> = {}): ClosedTrade => ({
  id: `trade-${at}`,
  accountId: 'account' as AccountId,
  brokerName: 'paper',
  currency: 'USD',
  symbol: 'BTCUSDT',
  side: 'long',
  openedAt: timestamp(START + at - HOUR),
  closedAt: timestamp(START + at),
  closedBy: 'signal',
  quantity: decimal(1),
  entryPrice: decimal(100),
  exitPrice: decimal(100),
  profit: decimal(profit),
  fees: decimal('0.1'),
  feesUnknown: 0,
  slippage: null,
  closedElsewhere: ZERO,
  openedBy: [],
  exits: [],
  parts: [],
  strategy: null,
  ...more,
});

function figuresOf(trades: readonly ClosedTrade[], zone = 'UTC') {
  const figures = openFigures(zone);
  for (const each of trades) figures.take(each);
  return figures.read();
}
const inTurn = (...profits: number[]) => profits.map((profit, index) => trade(profit, index * HOUR));
const at = (hours: number): Timestamp => timestamp(START + hours * HOUR);

describe('The figures of trades', () => {
  test('count wins and losses, and what each came to', () => {
    const { trades, won, lost, profit, won_profit, lost_profit, average_win, average_loss, fees } = figuresOf(
      inTurn(30, -10, 20, 0, -5),
    );
    assert.deepEqual([trades, won, lost, profit], [5, 2, 2, 35]);
    assert.deepEqual([won_profit, lost_profit, average_win, average_loss, fees], [50, -15, 25, -7.5, 0.5]);
  });
  test('say no ratio of fewer than 20 trades', () => {
    const some = Array.from({ length: 19 }, (_, index) => (index % 2 === 0 ? 3 : -1));
    const few = figuresOf(inTurn(...some));
    assert.deepEqual([few.win_rate, few.profit_factor, few.expectancy], [null, null, null]);
    const enough = figuresOf(inTurn(...some, -1));
    assert.deepEqual([enough.win_rate, enough.profit_factor, enough.expectancy], [0.5, 3, 1]);
  });
  test('have no profit factor where nothing was lost', () => {
    const { profit_factor, win_rate, drawdown, losses_in_a_row } = figuresOf(inTurn(...Array(20).fill(1)));
    assert.deepEqual([profit_factor, win_rate, drawdown, losses_in_a_row], [null, 1, null, null]);
  });
  test('find the deepest drawdown: from its highest point to its lowest, and when it was as high again', () => {
    const { drawdown, equity } = figuresOf(inTurn(10, -4, 4, -3, -3, 1, 8, -5));
    assert.deepEqual(drawdown, { amount: -6, from: at(2), to: at(4), back_at: at(6) });
    assert.deepEqual(
      equity.map((point) => [point.profit, point.drawdown]),
      [
        [10, 0],
        [6, -4],
        [10, 0],
        [7, -3],
        [4, -6],
        [5, -5],
        [13, 0],
        [8, -5],
      ],
    );
    assert.equal(figuresOf(inTurn(10, -4)).drawdown?.back_at, null);
    // Before the first trade it stood at zero.
    assert.deepEqual(figuresOf(inTurn(-4)).drawdown, { amount: -4, from: at(-1), to: at(0), back_at: null });
  });
  test('find the most losses in a row, of as many the dearest', () => {
    const { losses_in_a_row } = figuresOf(inTurn(-1, -1, 5, -2, -2, 0, -9));
    assert.deepEqual(losses_in_a_row, { trades: 2, from: at(3), to: at(4), profit: -4 });
  });
  test('do not guess what somebody else closed: it is neither won nor lost', () => {
    const lost = trade(-0.1, 9 * HOUR, { closedBy: 'closed_elsewhere', closedElsewhere: decimal(1) });
    const { trades, won, lost: losses, not_known, profit, worst_trade } = figuresOf([...inTurn(5), lost]);
    assert.deepEqual([trades, won, losses, not_known, profit, worst_trade], [2, 1, 0, 1, 4.9, 5]);
  });
  test('are by day of the user’s zone, by the hour of opening, by symbol, strategy and what closed it', () => {
    // 23:30 in Berlin, and half past midnight there.
    const [evening, night] = [22.5 * HOUR, 23.5 * HOUR];
    const all = [
      trade(1, evening, { strategy: 'Breakout', symbol: 'ETHUSDT', closedBy: 'take_profit' }),
      trade(-2, night, { strategy: 'Breakout' }),
      trade(4, night, {}),
    ];
    const berlin = figuresOf(all, 'Europe/Berlin');
    assert.deepEqual(berlin.days, [
      { day: '2026-03-02', trades: 1, won: 1, profit: 1 },
      { day: '2026-03-03', trades: 2, won: 1, profit: 2 },
    ]);
    assert.deepEqual(berlin.hours, [
      { hour: 22, trades: 1, won: 1, profit: 1 },
      { hour: 23, trades: 2, won: 1, profit: 2 },
    ]);
    const utc = figuresOf(all);
    assert.deepEqual(utc.days, [{ day: '2026-03-02', trades: 3, won: 2, profit: 3 }]);
    assert.deepEqual(utc.strategies, [
      { strategy: 'Breakout', trades: 2, won: 1, profit: -1 },
      { strategy: null, trades: 1, won: 1, profit: 4 },
    ]);
    assert.deepEqual(utc.symbols, [
      { symbol: 'BTCUSDT', trades: 2, won: 1, profit: 2 },
      { symbol: 'ETHUSDT', trades: 1, won: 1, profit: 1 },
    ]);
    assert.deepEqual(
      utc.closed_by.map((row) => row.closed_by),
      ['signal', 'take_profit'],
    );
  });
  test('draw many trades with some of them: the highest, the lowest and the last are among them', () => {
    const profits = Array.from({ length: 5_000 }, (_, index) => ((index * 7_919) % 101) - 50);
    const { equity, drawdown, profit } = figuresOf(inTurn(...profits));
    assert.ok(equity.length <= 1_000 && equity.length > 500, `${equity.length}`);
    assert.equal(equity.at(-1)?.profit, profit);
    assert.equal(Math.min(...equity.map((point) => point.drawdown)), drawdown?.amount);
    const times = equity.map((point) => point.at);
    assert.deepEqual(times, times.toSorted());
  });
});

test('the deepest drawdown is that of every pair of points, one behind the other', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 1, maxLength: 40 }), (profits) => {
      const heights = [0];
      for (const each of profits) heights.push((heights.at(-1) ?? 0) + each);
      const deepest = Math.min(
        ...heights.flatMap((low, index) => heights.slice(0, index + 1).map((high) => low - high)),
      );
      assert.equal(figuresOf(inTurn(...profits)).drawdown?.amount ?? 0, deepest);
    }),
  );
});

test('a day has 23 hours where the clocks go forward', () => {
  const clock = clockOf('Europe/Berlin');
  const midnight = Date.parse('2026-03-29T00:00:00+01:00');
  const hours = Array.from({ length: 24 }, (_, hour) => clock(midnight + hour * HOUR));
  assert.deepEqual(
    hours.map(({ hour }) => hour).filter((hour) => hour === 2),
    [],
  );
  assert.deepEqual(hours.at(-1), { day: '2026-03-30', hour: 0 });
  assert.deepEqual(clockOf('Asia/Kathmandu')(Date.parse('2026-01-01T18:20:00Z')), {
    day: '2026-01-02',
    hour: 0,
  });
  assert.equal(clock(midnight + DAY).day, '2026-03-30');
});
