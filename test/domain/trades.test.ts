import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { add, type Decimal, decimal, subtract, toNumber, ZERO } from '../../src/domain/decimal.ts';
import { type AccountId, millis, type Timestamp, timestamp } from '../../src/domain/ids.ts';
import { openPerformance, type Range } from '../../src/domain/money/performance.ts';
import { earnedIn, openTrades, type RoundTrip } from '../../src/domain/money/trades.ts';
import { NO_NOTES, type Order, type Side } from '../../src/domain/orders/order.ts';
import { buy, DAY, order, START, sell, type Traded } from './traded.ts';

function tradesOf(taken: readonly Order[]) {
  const closed: RoundTrip[] = [];
  const foreign: Decimal[] = [];
  const trades = openTrades({
    onClosed: (trade) => closed.push(trade),
    onForeign: ({ fee }) => foreign.push(fee),
  });
  for (const each of taken) trades.take(each);
  const open = trades.close();
  return { closed, open, foreign: foreign.reduce<Decimal>(add, ZERO) };
}

const brief = ({ side, quantity, entryPrice, exitPrice, profit, closedBy }: RoundTrip) => [
  side,
  ...[quantity, entryPrice, exitPrice, profit].map((value) => value && toNumber(value)),
  closedBy,
];
const closedOf = (...taken: Order[]) => tradesOf(taken).closed.map(brief);
const held = (position: number, more: Partial<Order> = {}) => ({
  positionBefore: decimal(position),
  ...more,
});

describe('A round trip', () => {
  test('is from flat to flat: bought 1 at 100 and 1 at 110, both sold at 120', () => {
    assert.deepEqual(closedOf(order(0, [buy(1, 100)]), order(1, [buy(1, 110)]), order(2, [sell(2, 120)])), [
      ['long', 2, 105, 120, 30, 'signal'],
    ]);
  });
  test('of a short is the other way round', () => {
    assert.deepEqual(closedOf(order(0, [sell(2, 100)]), order(1, [buy(2, 90)])), [
      ['short', 2, 100, 90, 20, 'signal'],
    ]);
  });
  test('that is closed in parts is one, and is closed by the last of them', () => {
    const taken = [
      order(0, [buy(0.4, 65_020)]),
      order(1, [sell(0.2, 66_400)], { exitReason: 'take_profit', source: 'protection' }),
      order(2, [sell(0.2, 66_331.5)], { exitReason: 'trailing_stop', source: 'protection' }),
    ];
    assert.deepEqual(closedOf(...taken), [['long', 0.4, 65_020, 66_365.75, 538.3, 'trailing_stop']]);
    const [{ id = '', parts = [] } = {}] = tradesOf(taken).closed;
    assert.equal(id, taken[0]?.id);
    assert.deepEqual(
      parts.map(({ side, quantity, position, profit, closedBy }) => [
        side,
        quantity,
        position,
        profit,
        closedBy,
      ]),
      [
        ['buy', '0.4', '0.4', '0', null],
        ['sell', '0.2', '0.2', '276', 'take_profit'],
        ['sell', '0.2', '0', '262.3', 'trailing_stop'],
      ],
    );
  });
  test('ends with a reversal, and the next begins with it, whether that takes one leg or two', () => {
    const first = order(0, [buy(2, 100)]);
    const last = order(2, [buy(1, 101)]);
    for (const reversal of [order(1, [sell(2, 110), sell(1, 110)]), order(1, [sell(3, 110)])]) {
      const { closed } = tradesOf([first, reversal, last]);
      assert.deepEqual(closed.map(brief), [
        ['long', 2, 100, 110, 20, 'reversal'],
        ['short', 1, 110, 101, 9, 'signal'],
      ]);
      assert.deepEqual(
        closed.map(({ id, openedBy, exits }) => [id, openedBy, exits]),
        [
          [first.id, [first.id], [reversal.id]],
          [reversal.id, [reversal.id], [last.id]],
        ],
      );
    }
  });
  test('bears the fees of both its ends; one fill of two trades is shared by quantity', () => {
    const { closed } = tradesOf([
      order(0, [buy(2, 100, { fee: '0.2' })]),
      order(1, [sell(3, 110, { fee: '0.3' })]),
      order(2, [buy(1, 101, { fee: '0.1' })]),
    ]);
    assert.deepEqual(
      closed.map(({ profit, fees, feesUnknown }) => [profit, fees, feesUnknown]),
      [
        ['19.6', '0.4', 0],
        ['8.8', '0.2', 0],
      ],
    );
  });
  test('tells how many fills have a fee that is not known, or of another currency, and adds none of it', () => {
    const [trade] = tradesOf([order(0, [buy(1, 100)]), order(1, [sell(1, 110, { fee: '0.1' })])]).closed;
    assert.deepEqual([trade?.profit, trade?.fees, trade?.feesUnknown], ['9.9', '0.1', 1]);
  });
  test('is closed by hand, by a signal or by what its protection did', () => {
    const close = (more: Partial<Order>) =>
      closedOf(order(0, [buy(1, 100)]), order(1, [sell(1, 100)], more)).map((row) => row.at(-1));
    assert.deepEqual(close({ source: 'dashboard' }), ['dashboard']);
    assert.deepEqual(close({ source: 'webhook' }), ['signal']);
    assert.deepEqual(close({ source: 'protection', exitReason: 'time_stop' }), ['time_stop']);
  });
  test('is counted in the order of filling: a fill that is known late belongs where it happened', () => {
    const late = order(0, [buy(1, 200, { filledAt: 5_000 })]);
    const taken = [
      late,
      order(1_000, [buy(1, 100)]),
      order(2_000, [sell(1, 110)]),
      order(6_000, [sell(1, 210)]),
    ];
    assert.deepEqual(closedOf(...taken), [
      ['long', 1, 100, 110, 10, 'signal'],
      ['long', 1, 200, 210, 10, 'signal'],
    ]);
  });
  test('has the slippage of its orders in money, as the performance counts it', () => {
    const seen = (price: number) => ({ notes: { ...NO_NOTES, price: decimal(price) } });
    const taken = [
      order(0, [buy(2, 6001, { unitValue: 50 })], { symbol: 'ES1!', ...seen(6000) }),
      order(1, [sell(2, 6005, { unitValue: 50 })], { symbol: 'ES1!', ...seen(6004) }),
    ];
    const [trade] = tradesOf(taken).closed;
    assert.equal(trade?.slippage, '0');
    const performance = openPerformance({});
    for (const each of taken) performance.take(each);
    assert.equal(performance.read().days[0]?.slippage, 0);
    assert.equal(tradesOf([order(0, [buy(1, 100)]), order(1, [sell(1, 110)])]).closed[0]?.slippage, null);
  });
  test('that somebody else closed ends when we see it; what that earned is not known', () => {
    const { closed, open } = tradesOf([
      order(0, [buy(2, 100, { fee: '0.1' })], held(0)),
      order(1_000, [buy(1, 50)], held(0)),
      order(2_000, [sell(1, 60)], held(1)),
    ]);
    assert.deepEqual(closed.map(brief), [
      ['long', 2, 100, null, -0.1, 'closed_elsewhere'],
      ['long', 1, 50, 60, 10, 'signal'],
    ]);
    assert.equal(closed[0]?.closedElsewhere, '2');
    assert.equal(closed[0]?.closedAt, timestamp(START + 1_000));
    assert.deepEqual(open, []);
  });
  test('is never of what somebody else had opened: closing that only costs its fee', () => {
    const { closed, open, foreign } = tradesOf([order(0, [sell(2, 100, { fee: '0.2' })], held(2))]);
    assert.deepEqual([closed, open, foreign], [[], [], '0.2']);
  });
  test('that is open has what its parts have earned already', () => {
    const { closed, open } = tradesOf([order(0, [buy(2, 100, { fee: '0.2' })]), order(1, [sell(1, 110)])]);
    assert.deepEqual(closed, []);
    assert.deepEqual(open.map(brief), [['long', 2, 100, 110, 9.8, null]]);
  });
});

// Against a model of its own: cash that flowed, in whole numbers.

const UNIT = { BTCUSDT: 1, ETHUSDT: 1, 'ES1!': 50 };
const sent = fc.record({
  side: fc.constantFrom<Side>('buy', 'sell'),
  /** In thousandths; a second one is the entry of a reversal. */
  quantities: fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 2 }),
  /** In hundredths. */
  price: fc.integer({ min: 1, max: 99_999 }),
  /** In thousandths; null: not known, or of another currency. */
  fee: fc.option(fc.integer({ min: 0, max: 999 })),
  gap: fc.integer({ min: 1, max: DAY / 2 }),
  delay: fc.constantFrom(0, 0, 0, 50, 20_000, DAY),
  account: fc.constantFrom('a', 'b'),
  symbol: fc.constantFrom<keyof typeof UNIT>('BTCUSDT', 'ETHUSDT', 'ES1!'),
});
type Sent = typeof sent extends fc.Arbitrary<infer Value> ? Value : never;

function history(all: readonly Sent[]): Order[] {
  let at = 0;
  return all.map(({ side, quantities, price, fee, gap, delay, account, symbol }) => {
    at += gap;
    const legs = quantities.map((quantity): Traded => {
      const traded = { side, quantity: quantity / 1000, price: price / 100, unitValue: UNIT[symbol] };
      return { ...traded, filledAt: at + delay, ...(fee === null ? {} : { fee: fee / 1000 }) };
    });
    return order(at, legs, { accountId: account as AccountId, symbol });
  });
}

interface Modelled {
  readonly openedAt: number;
  readonly closedAt: number;
  /** Of a hundred-thousandth. */
  readonly cash: bigint;
  readonly fees: number;
}

function model(all: readonly Sent[]): Modelled[] {
  let submitted = 0;
  const fills = all.flatMap(({ gap, delay, quantities, ...rest }) => {
    submitted += gap;
    const at = START + submitted + delay;
    return quantities.map((quantity) => ({ ...rest, at, quantity: BigInt(quantity) }));
  });
  const books = Map.groupBy(
    fills.toSorted((a, b) => a.at - b.at),
    ({ account, symbol }) => `${account} ${symbol}`,
  );
  return [...books.values()].flatMap((book) => {
    const trades: Modelled[] = [];
    let [position, cash, fees, openedAt] = [0n, 0n, 0, 0];
    for (const { side, quantity, price, fee, at, symbol } of book) {
      let left = quantity;
      const direction = side === 'buy' ? 1n : -1n;
      while (left > 0n) {
        if (position === 0n) openedAt = at;
        const against = position * direction < 0n ? (position < 0n ? -position : position) : left;
        const part = against < left ? against : left;
        position += direction * part;
        cash -= direction * part * BigInt(price) * BigInt(UNIT[symbol]);
        fees += ((fee ?? 0) / 1000) * (Number(part) / Number(quantity));
        left -= part;
        if (position !== 0n) continue;
        trades.push({ openedAt, closedAt: at, cash, fees });
        [cash, fees] = [0n, 0];
      }
    }
    return trades;
  });
}

const inCash = (value: Decimal): bigint => {
  const [whole = '', rest = ''] = value.replace('-', '').split('.');
  assert.ok(rest.length <= 5, value);
  return BigInt(`${value.startsWith('-') ? '-' : ''}${whole}${rest.padEnd(5, '0')}`);
};
const key = ({ openedAt, closedAt, cash }: Modelled) => `${openedAt} ${closedAt} ${cash}`;

test('trades are those of the cash that flowed, to the last digit, whatever was filled when', () => {
  fc.assert(
    fc.property(fc.array(sent, { minLength: 1, maxLength: 40 }), (all) => {
      const found = tradesOf(history(all)).closed.map((trade) => ({
        openedAt: millis(trade.openedAt),
        closedAt: millis(trade.closedAt as Timestamp),
        cash: inCash(add(trade.profit, trade.fees)),
        fees: toNumber(trade.fees),
      }));
      const expected = model(all);
      const inOrder = (trades: readonly Modelled[]) =>
        trades.toSorted((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a.fees - b.fees));
      assert.deepEqual(inOrder(found).map(key), inOrder(expected).map(key));
      for (const [index, { fees }] of inOrder(found).entries())
        assert.ok(Math.abs(fees - (inOrder(expected)[index]?.fees ?? Number.NaN)) < 1e-9);
    }),
    { numRuns: 400 },
  );
});

test('what trades earned, with what open ones have earned so far, is the realised profit of the performance, to the last digit', () => {
  const sum = (amounts: readonly Decimal[]) => amounts.reduce<Decimal>(add, ZERO);
  fc.assert(
    fc.property(
      fc.array(sent, { minLength: 1, maxLength: 40 }),
      fc.option(fc.integer({ min: 0, max: 10 * DAY })),
      fc.option(fc.integer({ min: 0, max: 10 * DAY })),
      (all, from, length) => {
        const taken = history(all);
        const range: Range = {
          ...(from === null ? {} : { from: timestamp(START + from) }),
          ...(length === null ? {} : { to: timestamp(START + (from ?? 0) + length) }),
        };
        let realised = ZERO;
        const performance = openPerformance(range, (_, earned) => {
          realised = add(realised, earned);
        });
        for (const each of taken) performance.take(each);
        performance.read();
        const { closed, open } = tradesOf(taken);
        const isIn = ({ closedAt }: RoundTrip) =>
          closedAt !== null && closedAt >= (range.from ?? '') && closedAt <= (range.to ?? '9');
        const inRange = closed.filter(isIn);
        const others = [...closed.filter((trade) => !isIn(trade)), ...open];
        const counted = subtract(
          add(
            sum(inRange.map(({ profit }) => profit)),
            sum(others.map((trade) => earnedIn(trade, range).within)),
          ),
          sum(inRange.map((trade) => earnedIn(trade, range).before)),
        );
        assert.equal(counted, realised);
        if (from === null && length === null && open.length === 0)
          assert.equal(sum(closed.map(({ profit }) => profit)), realised);
      },
    ),
    { numRuns: 400 },
  );
});

test('a count that goes on from where another stood finds what one count of all finds, and leaves that one as it was', () => {
  fc.assert(
    fc.property(
      fc.array(sent, { minLength: 1, maxLength: 40 }),
      fc.nat(40),
      fc.nat(40),
      (all, first, more) => {
        const taken = history(all);
        const closed: RoundTrip[] = [];
        const before = openTrades({ onClosed: (trade) => closed.push(trade) });
        for (const each of taken.slice(0, first)) before.take(each);
        const soFar = before.soFar();
        const goOn = (end: number | undefined) => {
          const later: RoundTrip[] = [];
          const trades = openTrades({ onClosed: (trade) => later.push(trade) }, soFar);
          for (const each of taken.slice(first, end)) trades.take(each);
          const open = trades.close();
          return { closed: [...closed, ...later], open };
        };
        goOn(first + more);
        const { closed: ended, open } = tradesOf(taken);
        assert.deepEqual(goOn(undefined), { closed: ended, open });
      },
    ),
    { numRuns: 200 },
  );
});
