import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { add, type Decimal, decimal, subtract, toNumber, ZERO } from '../../src/domain/decimal.ts';
import { type AccountId, millis, type Timestamp, timestamp } from '../../src/domain/ids.ts';
import { openPerformance, type Range } from '../../src/domain/money/performance.ts';
import { earnedIn, openTrades, type RoundTrip } from '../../src/domain/money/trades.ts';
import { NO_NOTES, type Order, type Side } from '../../src/domain/orders/order.ts';
import type { ExitReason } from '../../src/domain/protection/protection.ts';
import { buy, DAY, order, START, sell, type Traded } from './traded.ts';

const into = (closed: RoundTrip[]) => ({
  onClosed: (trade: RoundTrip) => closed.push(trade),
  onReopened: (id: string) =>
    closed.splice(
      closed.findLastIndex((trade) => trade.id === id),
      1,
    ),
});

function tradesOf(taken: readonly Order[]) {
  const closed: RoundTrip[] = [];
  const foreign: Decimal[] = [];
  const trades = openTrades({
    ...into(closed),
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

/** A fill of a stop or target that was placed then, and that was written down so late. */
function found(
  at: number,
  placedAt: number,
  traded: Traded,
  position: number,
  exitReason: ExitReason,
): Order {
  const made = order(at, [traded], { source: 'protection', exitReason, ...held(position) });
  const sentAt = timestamp(START + placedAt);
  return { ...made, legs: made.legs.map((leg) => ({ ...leg, leg: 'exit', sentAt, ackedAt: sentAt })) };
}

describe('A round trip whose stop or target is found late', () => {
  test('has what the resting target had filled before the strategy closed the rest', () => {
    const { closed, open } = tradesOf([
      order(0, [buy(1, 100)], held(0)),
      order(5_000, [sell(0.8, 105)], held(0.8)),
      found(30_000, 100, sell(0.2, 110), 0.2, 'take_profit'),
    ]);
    assert.deepEqual(closed.map(brief), [['long', 1, 100, 106, 6, 'take_profit']]);
    assert.deepEqual(
      [closed[0]?.closedElsewhere, closed[0]?.parts.map(({ position }) => position), open],
      ['0', ['1', '0.2', '0'], []],
    );
  });
  test('has what its stop closed before the strategy turned to the other side', () => {
    const { closed, open } = tradesOf([
      order(0, [buy(1, 100)], held(0)),
      order(10_000, [sell(1, 95)], held(0)),
      found(30_000, 100, sell(1, 96), 1, 'stop_loss'),
      order(60_000, [buy(1, 90)], held(-1)),
    ]);
    assert.deepEqual(closed.map(brief), [
      ['long', 1, 100, 96, -4, 'stop_loss'],
      ['short', 1, 95, 90, 5, 'signal'],
    ]);
    assert.deepEqual(open, []);
  });
  test('has what its stop closed before the strategy went in again on the same side', () => {
    const { closed, open } = tradesOf([
      order(0, [buy(1, 100)], held(0)),
      order(10_000, [buy(1, 95)], held(0)),
      found(30_000, 100, sell(1, 96), 2, 'stop_loss'),
    ]);
    assert.deepEqual(closed.map(brief), [['long', 1, 100, 96, -4, 'stop_loss']]);
    assert.deepEqual(open.map(brief), [['long', 1, 95, null, 0, null]]);
  });
  test('that goes on meanwhile is one', () => {
    const { closed, open } = tradesOf([
      order(0, [buy(1, 100)], held(0)),
      order(5_000, [buy(1, 103)], held(0.8)),
      found(30_000, 100, sell(0.2, 110, { fee: '0.1' }), 2, 'take_profit'),
      order(60_000, [sell(1.8, 105)], held(1.8)),
    ]);
    assert.deepEqual(
      closed.map(({ profit, closedElsewhere }) => [profit, closedElsewhere]),
      [['7.9', '0']],
    );
    assert.deepEqual(open, []);
  });
  test('keeps what somebody else closed of it besides', () => {
    const { closed } = tradesOf([
      order(0, [buy(1, 100)], held(0)),
      order(10_000, [sell(1, 95)], held(0)),
      found(30_000, 100, sell(0.4, 110), 0.4, 'take_profit'),
    ]);
    assert.deepEqual(
      closed.map(({ profit, closedElsewhere }) => [profit, closedElsewhere]),
      [['4', '0.6']],
    );
  });
  test('has nothing of what its stop closed of somebody else’s, and that opens nothing', () => {
    const { closed, open, foreign } = tradesOf([
      order(0, [buy(1, 100)], held(1)),
      found(30_000, -100, sell(2, 110, { fee: '0.2' }), 2, 'stop_loss'),
    ]);
    assert.deepEqual(closed.map(brief), [['long', 1, 100, 110, 9.9, 'stop_loss']]);
    assert.deepEqual([open, foreign], [[], '0.1']);
  });
  test('has all of a resting entry that was filled in parts, with a target between them', () => {
    const { closed, open } = tradesOf([
      order(0, [buy(10, 100, { filledAt: 1_000 })], { ...held(0), tradedAt: timestamp(START + 60_000) }),
      found(30_000, 2_000, sell(2.5, 110), 5, 'take_profit'),
      order(90_000, [sell(7.5, 110)], held(7.5)),
    ]);
    assert.deepEqual(closed.map(brief), [['long', 10, 100, 110, 100, 'signal']]);
    assert.deepEqual(open, []);
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
      (sentOrders, first, more) => {
        const taken = history(sentOrders);
        const closed: RoundTrip[] = [];
        const before = openTrades(into(closed));
        for (const each of taken.slice(0, first)) before.take(each);
        const soFar = before.soFar();
        const goOn = (end: number | undefined) => {
          const all: RoundTrip[] = [...closed];
          const trades = openTrades(into(all), soFar);
          for (const each of taken.slice(first, end)) trades.take(each);
          const open = trades.close();
          return { closed: all, open };
        };
        goOn(first + more);
        const { closed: ended, open } = tradesOf(taken);
        assert.deepEqual(goOn(undefined), { closed: ended, open });
      },
    ),
    { numRuns: 200 },
  );
});

// Against the cash that flowed at a broker: stops and targets are filled there, whole or in part, and written down later.

const happens = fc.record({
  what: fc.constantFrom(
    'trade',
    'trade',
    'exit',
    'protection',
    'protection',
    'sweep',
    'rest',
    'part',
    'part',
    'end',
  ),
  side: fc.constantFrom<Side>('buy', 'sell'),
  /** In thousandths. */
  size: fc.integer({ min: 1, max: 3_000 }),
  /** In hundredths. */
  price: fc.integer({ min: 1, max: 99_999 }),
});
type Happens = typeof happens extends fc.Arbitrary<infer Value> ? Value : never;

const FEE = 0.003;

function broker() {
  const orders: Order[] = [];
  let [now, position, placedAt, flowed] = [0, 0, 0, 0n];
  /** Filled, and not written down. */
  let late: {
    readonly placedAt: number;
    readonly side: Side;
    readonly size: number;
    readonly price: number;
  }[] = [];
  let resting: {
    readonly index: number;
    readonly side: Side;
    readonly price: number;
    filled: number;
  } | null = null;

  const fill = (side: Side, size: number, price: number): Traded => {
    const signed = side === 'buy' ? size : -size;
    position += signed;
    flowed -= BigInt(signed) * BigInt(price);
    return { side, quantity: size / 1000, price: price / 100, fee: FEE };
  };
  const pay = (fees: number) => {
    flowed -= BigInt(fees) * 300n;
  };
  const away = (): Side => (position > 0 ? 'sell' : 'buy');

  function sweep(): void {
    while (late.length > 0) {
      const [first, ...others] = late;
      late = others;
      if (!first) return;
      now += 10;
      const sign = first.side === 'sell' ? 1 : -1;
      const later = others.filter(({ side }) => side === first.side).reduce((sum, { size }) => sum + size, 0);
      const before = sign * (Math.max(0, sign * position) + later + first.size);
      const traded = { side: first.side, quantity: first.size / 1000, price: first.price / 100, fee: FEE };
      orders.push(found(now, first.placedAt, traded, before / 1000, 'stop_loss'));
    }
  }
  function end(): void {
    if (resting?.filled === 0) orders.splice(resting.index, 1);
    resting = null;
  }
  function exit(size: number, price: number): void {
    if (position === 0) return;
    const before = held(position / 1000);
    orders.push(order(now, [fill(away(), Math.min(size, Math.abs(position)), price)], before));
    pay(1);
  }

  return {
    happen({ what, side, size, price }: Happens): void {
      now += 1_000;
      if (what === 'sweep' || late.length > 4) sweep();
      else if (what === 'exit') exit(size, price);
      else if (what === 'end') end();
      else if (what === 'trade' && resting === null) {
        const before = held(position / 1000);
        const closes = position !== 0 && side === away();
        const legs = closes ? [fill(side, Math.abs(position), price)] : [];
        orders.push(order(now, [...legs, fill(side, size, price)], before));
        pay(closes ? 2 : 1);
        placedAt = now + 1;
      } else if (what === 'protection' && position !== 0) {
        const filled = Math.min(size, Math.abs(position));
        late.push({ placedAt, side: away(), size: filled, price });
        fill(away(), filled, price);
        pay(1);
        if (resting) sweep();
      } else if (what === 'rest' && resting === null) {
        sweep();
        const own = position === 0 ? side : position > 0 ? 'buy' : 'sell';
        resting = { index: orders.length, side: own, price, filled: 0 };
        orders.push(order(now, [{ side: own, quantity: 1, price: 1 }], held(position / 1000)));
      } else if (what === 'part' && resting && (position === 0 || resting.side !== away())) {
        const made = orders[resting.index];
        if (!made) return;
        if (resting.filled === 0) pay(1);
        resting.filled += size;
        fill(resting.side, size, resting.price);
        const [leg] = order(0, [
          { side: resting.side, quantity: resting.filled / 1000, price: resting.price / 100, fee: FEE },
        ]).legs;
        const at = timestamp(START + now);
        const [{ sentAt = null, filledAt = null } = {}] = made.legs;
        const isFirst = made.tradedAt === undefined;
        if (leg)
          orders[resting.index] = {
            ...made,
            tradedAt: at,
            legs: [{ ...leg, sentAt, ackedAt: sentAt, filledAt: isFirst ? at : filledAt }],
          };
        if (isFirst) placedAt = now + 1;
      }
    },
    /** Nothing is held after it. */
    close(): { readonly orders: readonly Order[]; readonly flowed: bigint } {
      now += 1_000;
      sweep();
      end();
      now += 1_000;
      exit(Number.MAX_SAFE_INTEGER, 7_777);
      return { orders, flowed };
    },
  };
}

test('what trades earned is the cash that flowed at the broker, to the last digit, however late it is known what protected them', () => {
  fc.assert(
    fc.property(fc.array(happens, { minLength: 2, maxLength: 40 }), (all) => {
      const { happen, close } = broker();
      for (const each of all) happen(each);
      const { orders, flowed } = close();
      let realised = ZERO;
      const performance = openPerformance({}, (_, earned) => {
        realised = add(realised, earned);
      });
      for (const each of orders) performance.take(each);
      performance.read();
      const { closed, open, foreign } = tradesOf(orders);
      const sum = closed.reduce<Decimal>((total, { profit }) => add(total, profit), ZERO);
      assert.deepEqual(
        [open, foreign, closed.filter(({ closedElsewhere }) => closedElsewhere !== ZERO), inCash(sum)],
        [[], ZERO, [], flowed],
      );
      assert.equal(realised, sum);
    }),
    { numRuns: 600 },
  );
});
