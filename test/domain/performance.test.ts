import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  add,
  type Decimal,
  decimal,
  multiply,
  negate,
  rounded,
  subtract,
  toNumber,
  ZERO,
} from '../../src/domain/decimal.ts';
import { type AccountId, timestamp } from '../../src/domain/ids.ts';
import { openPerformance, type Range } from '../../src/domain/money/performance.ts';
import { NO_NOTES, type Order, type Side } from '../../src/domain/orders/order.ts';
import { buy, DAY, order, START, sell } from './traded.ts';

function performanceOf(taken: readonly Order[], range: Range = {}) {
  const performance = openPerformance(range);
  for (const each of taken) performance.take(each);
  return performance.read();
}

const realised = (taken: readonly Order[], range: Range = {}) =>
  performanceOf(taken, range).symbols.map((row) => row.realised);
describe('Realised profit', () => {
  test('is by average cost: bought 1 at 100 and 1 at 110, one sold at 120 earns 15', () => {
    assert.deepEqual(
      realised([order(0, [buy(1, 100)]), order(1, [buy(1, 110)]), order(2, [sell(1, 120)])]),
      [15],
    );
  });
  test('of a short is the other way round', () => {
    assert.deepEqual(realised([order(0, [sell(2, 100)]), order(1, [buy(1, 90)])]), [10]);
  });
  test('of a reversal is what its close earned; its entry begins anew', () => {
    const taken = [order(0, [buy(2, 100)]), order(1, [sell(2, 110), sell(1, 111)])];
    assert.deepEqual(realised(taken), [20]);
    assert.deepEqual(realised([...taken, order(2, [buy(1, 101)])]), [30]);
  });
  test('of one leg that flips a position is the same', () => {
    const taken = [order(0, [buy(2, 100)]), order(1, [sell(3, 110)]), order(2, [buy(1, 100)])];
    assert.deepEqual(realised(taken), [30]);
  });
  test('counts the contract size and the currency, as noted when the leg was sent', () => {
    assert.deepEqual(
      realised([
        order(0, [buy(1, 6000, { unitValue: 50 })], { symbol: 'ES1!' }),
        order(1, [sell(1, 6001.25, { unitValue: 50 })], { symbol: 'ES1!' }),
      ]),
      [62.5],
    );
  });
  test('is less the fees that are known, those of the opening on its own day', () => {
    const { days } = performanceOf([
      order(0, [buy(1, 100, { fee: '0.05' })]),
      order(DAY, [sell(1, 110, { fee: '0.055' })]),
      order(2 * DAY, [buy(1, 100)]),
    ]);
    assert.deepEqual(
      days.map(({ day, realised }) => [day, realised]),
      [
        ['2026-03-02', -0.05],
        ['2026-03-03', 9.945],
        ['2026-03-04', 0],
      ],
    );
  });
  test('is exact where doubles are not', () => {
    const taken = [order(0, [buy(0.1, 0.1)]), order(1, [buy(0.2, 0.1)]), order(2, [sell(0.3, 0.3)])];
    assert.deepEqual(realised(taken), [0.06]);
  });
  test('counts in the order of filling, not of submission', () => {
    const taken = [
      order(0, [buy(1, 200, { filledAt: 5_000 })]),
      order(1_000, [buy(1, 100)]),
      order(2_000, [sell(1, 110)]),
    ];
    assert.deepEqual(realised(taken, { to: timestamp(START + 3_000) }), [10]);
    assert.deepEqual(realised([...taken, order(6_000, [sell(1, 210)])]), [20]);
  });
  test('counts a part that was filled before the rest was cancelled', () => {
    const taken = [
      order(0, [buy(0.4, 100, { filledAt: null })], { status: 'cancelled' }),
      order(1, [sell(0.4, 110)]),
    ];
    assert.deepEqual(realised(taken), [4]);
  });
  test('is counted for each account and instrument apart', () => {
    const other = { accountId: 'other' as AccountId };
    assert.deepEqual(realised([order(0, [buy(1, 100)]), order(1, [sell(1, 120)], other)]), [0]);
    assert.deepEqual(
      realised([order(0, [buy(1, 100)]), order(1, [sell(1, 120)], { symbol: 'ETHUSDT' })]),
      [0, 0],
    );
  });
  test('is one for two spellings of a symbol', () => {
    const taken = [order(0, [buy(1, 100)], { symbol: 'BINANCE:btcusdt.P' }), order(1, [sell(1, 120)])];
    assert.deepEqual(performanceOf(taken).symbols, [
      { symbol: 'BTCUSDT', realised: 20, orders: 2, volume: 2, exit_reasons: {} },
    ]);
  });
  test('forgets what a reset of the simulated book took', () => {
    const simulated = { simulation: true, positionBefore: ZERO };
    const taken = [
      order(0, [buy(3, 100)], simulated),
      order(1, [buy(1, 200)], simulated),
      order(2, [sell(1, 210)], { ...simulated, positionBefore: decimal(1) }),
    ];
    assert.deepEqual(realised(taken), [10]);
  });
  test('of what was opened elsewhere is not known: closing it earns nothing, and opens nothing', () => {
    const held = (position: number) => ({ positionBefore: decimal(position) });
    const taken = [
      order(0, [sell(2, 100)], held(2)),
      order(1, [buy(1, 50)], held(0)),
      order(2, [sell(1, 60)], held(1)),
    ];
    assert.deepEqual(realised(taken), [10]);
    // Of 1 of ours and 2 of others, ours are closed first.
    assert.deepEqual(realised([order(0, [buy(1, 50)], held(2)), order(1, [sell(3, 60)], held(3))]), [10]);
  });
  test('of what was closed elsewhere is not known either: its cost is forgotten', () => {
    const held = (position: number) => ({ positionBefore: decimal(position) });
    const taken = [
      order(0, [buy(2, 100)], held(0)),
      order(1, [buy(1, 50)], held(0)),
      order(2, [sell(1, 60)], held(1)),
    ];
    assert.deepEqual(realised(taken), [10]);
  });
  test('is not misled by a position that was read while an earlier order was yet to be filled, as far as we knew', () => {
    const held = (position: number) => ({ positionBefore: decimal(position) });
    const taken = [
      order(0, [buy(1, 100)], held(0)),
      // Closed at once, and we learnt it late: the next order saw a flat position.
      order(1_000, [sell(1, 110, { filledAt: 9_000 })], held(1)),
      order(2_000, [buy(1, 105)], held(0)),
      order(10_000, [sell(1, 115)], held(1)),
    ];
    assert.deepEqual(realised(taken), [20]);
  });
  test('is nothing where nothing was traded', () => {
    assert.deepEqual(performanceOf([]), { days: [], symbols: [], latencies: [], currency: null });
    assert.deepEqual(realised([order(0, [], { status: 'rejected' })]), [0]);
  });
});

describe('A day', () => {
  test('is one of UTC; orders count on the day of their submission, profit on that of the fill', () => {
    const { days, currency } = performanceOf([
      order(DAY - 1, [buy(1, 100, { filledAt: DAY + 5 })]),
      order(DAY + 10, [sell(1, 101)]),
      order(DAY + 11, [], { status: 'rejected' }),
      order(DAY + 12, [], { status: 'rejected' }),
    ]);
    assert.deepEqual(
      days.map(({ day, realised, orders }) => ({ day, realised, orders })),
      [
        { day: '2026-03-02', realised: 0, orders: { filled: 1 } },
        { day: '2026-03-03', realised: 1, orders: { filled: 1, rejected: 2 } },
      ],
    );
    assert.equal(currency, 'USD');
  });
  test('has the latencies from acceptance to the broker’s answer, by nearest rank', () => {
    const traced = (ms: number) => order(ms, [], { trace: { validated: 3, queued: 3, acked: 3 + ms } });
    const taken = Array.from({ length: 100 }, (_, index) => traced(index + 1));
    const [day] = performanceOf([...taken, order(200, [], { trace: { queued: 3 } })]).days;
    assert.deepEqual(day?.latency_ms, { p50: 50, p90: 90, p99: 99 });
    const [none] = performanceOf([order(0, [])]).days;
    assert.deepEqual(none?.latency_ms, { p50: null, p90: null, p99: null });
  });
  test('tells how many took how long, whole and by the broker’s own share', () => {
    const traced = (sent: number, acked: number) => order(1, [], { trace: { queued: 3, sent, acked } });
    const { latencies } = performanceOf([
      traced(4, 5),
      traced(4, 23),
      traced(4, 24),
      order(2, [], { trace: { queued: 3, acked: 9_003 } }),
      order(3, [], { trace: { queued: 3 } }),
    ]);
    assert.deepEqual(
      latencies.filter(({ orders, broker }) => orders + broker > 0),
      [
        { up_to_ms: 1, orders: 0, broker: 1 },
        { up_to_ms: 2, orders: 1, broker: 0 },
        { up_to_ms: 20, orders: 1, broker: 2 },
        { up_to_ms: 30, orders: 1, broker: 0 },
        { up_to_ms: null, orders: 1, broker: 0 },
      ],
    );
    assert.deepEqual(
      latencies.slice(0, 8).map(({ up_to_ms }) => up_to_ms),
      [1, 2, 3, 5, 7, 10, 15, 20],
    );
    assert.deepEqual(performanceOf([]).latencies, []);
  });
  test('has the slippage of all its orders summed in money; below zero is worse', () => {
    const seen = (price: number) => ({ notes: { ...NO_NOTES, price: decimal(price) } });
    const slippage = (...taken: Order[]) => performanceOf(taken).days.map((day) => day.slippage);
    assert.deepEqual(slippage(order(0, [buy(2, 101)], seen(100)), order(1, [sell(1, 105)], seen(104))), [-1]);
    assert.deepEqual(slippage(order(0, [buy(2, 6001, { unitValue: 50 })], seen(6000))), [-100]);
    assert.deepEqual(slippage(order(0, [buy(1, 100)])), [null]);
  });
});

const trade = fc.record({
  side: fc.constantFrom<Side>('buy', 'sell'),
  quantity: fc.integer({ min: 1, max: 9_999 }).map((steps) => decimal(steps / 1000)),
  price: fc.integer({ min: 1, max: 99_999 }).map((ticks) => decimal(ticks / 100)),
  fee: fc.option(
    fc.integer({ min: 0, max: 999 }).map((cents) => decimal(cents / 1000)),
    { nil: undefined },
  ),
  gap: fc.integer({ min: 1, max: DAY / 2 }),
  delay: fc.constantFrom(0, 0, 0, 50, 20_000, DAY),
  account: fc.constantFrom('a', 'b'),
  symbol: fc.constantFrom('BTCUSDT', 'ETHUSDT', 'ES1!'),
});
const UNIT = { BTCUSDT: 1, ETHUSDT: 1, 'ES1!': 50 };
const signed = (side: Side, quantity: Decimal) => (side === 'buy' ? quantity : negate(quantity));

function history(trades: readonly (typeof trade extends fc.Arbitrary<infer T> ? T : never)[]): Order[] {
  let at = 0;
  return trades.map(({ side, quantity, price, fee, gap, delay, account, symbol }) => {
    at += gap;
    const traded = { side, quantity, price, unitValue: UNIT[symbol], filledAt: at + delay };
    return order(at, [fee === undefined ? traded : { ...traded, fee }], {
      accountId: account as AccountId,
      symbol,
    });
  });
}

/** Of each book: what is held in the end. */
function leftOver(taken: readonly Order[]): Map<string, { position: Decimal; last: Order }> {
  const books = new Map<string, { position: Decimal; last: Order }>();
  for (const each of taken) {
    const key = `${each.accountId} ${each.symbol}`;
    const position = each.legs.reduce<Decimal>(
      (sum, leg) => add(sum, signed(leg.side, leg.fillQuantity ?? ZERO)),
      books.get(key)?.position ?? ZERO,
    );
    books.set(key, { position, last: each });
  }
  return books;
}

test('once everything is closed, what was realised is the cash that flowed, less the fees, to the last digit', () => {
  fc.assert(
    fc.property(fc.array(trade, { minLength: 1, maxLength: 40 }), (trades) => {
      const taken = history(trades);
      const closes = [...leftOver(taken).values()]
        .filter(({ position }) => position !== ZERO)
        .map(({ position, last }, index) =>
          order(
            60 * DAY + index,
            [
              {
                side: position.startsWith('-') ? 'buy' : 'sell',
                quantity: position.replace('-', ''),
                price: '77.77',
                unitValue: UNIT[last.symbol as keyof typeof UNIT],
              },
            ],
            { accountId: last.accountId, symbol: last.symbol },
          ),
        );
      const all = [...taken, ...closes];
      for (const row of performanceOf(all).symbols) {
        const legs = all.filter(({ symbol }) => symbol === row.symbol).flatMap((each) => each.legs);
        const cash = legs.reduce<Decimal>((sum, leg) => {
          const value = multiply(
            multiply(leg.fillQuantity ?? ZERO, leg.fillPrice ?? ZERO),
            leg.unitValue ?? ZERO,
          );
          return subtract(subtract(sum, signed(leg.side, value)), leg.fee ?? ZERO);
        }, ZERO);
        assert.equal(row.realised, toNumber(rounded(cash)));
        assert.equal(
          row.volume,
          toNumber(legs.reduce<Decimal>((sum, leg) => add(sum, leg.fillQuantity ?? ZERO), ZERO)),
        );
      }
    }),
    { numRuns: 300 },
  );
});

test('two ranges that meet at midnight tell together what one over both tells: a position keeps its cost', () => {
  fc.assert(
    fc.property(fc.array(trade, { maxLength: 40 }), fc.integer({ min: 0, max: 12 }), (trades, nights) => {
      const taken = history(trades);
      const midnight = START + nights * DAY;
      const whole = performanceOf(taken).days;
      const before = performanceOf(taken, { to: timestamp(midnight - 1) }).days;
      const after = performanceOf(taken, { from: timestamp(midnight) }).days;
      assert.deepEqual([...before, ...after], whole);
    }),
    { numRuns: 300 },
  );
});
