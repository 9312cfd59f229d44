// How much is traded: what a quantity counts, computed exactly and rounded down.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import Big from 'big.js';
import { array, constantFrom, assert as holds, integer, property, record } from 'fast-check';
import { type Decimal, decimal, isOnStep, ONE } from '../../src/domain/decimal.ts';
import {
  QUANTITY_TYPES,
  type QuantityType,
  quantityTypeOf,
  type Sizing,
  type SizingMarket,
  sized,
  sizingOf,
  whyNotCounted,
} from '../../src/domain/orders/sizing.ts';

const MARKET: SizingMarket = {
  price: decimal(68_000),
  equity: decimal(10_000),
  currency: 'USDT',
  held: null,
  stop: decimal(66_640),
  unitValue: ONE,
  step: decimal('0.001'),
  least: decimal('0.001'),
};

function asking(type: QuantityType, asked: number | string, factor: number | string = 1): Sizing {
  const sizing = sizingOf(type, decimal(asked), decimal(factor));
  assert.ok(sizing);
  return sizing;
}

const unitsOf = (sizing: Sizing, market: Partial<SizingMarket> = {}) => {
  const made = sized(sizing, 'BTCUSDT', { ...MARKET, ...market });
  return 'code' in made ? made : made.units;
};

describe('a quantity counts', () => {
  for (const [type, asked, units] of [
    ['cash', 500, '0.007'],
    ['percent_of_equity', 50, '0.073'],
    // 1,360 are lost with each.
    ['risk_cash', 100, '0.073'],
    ['risk_percent', 2, '0.147'],
  ] as const)
    test(`${type}: ${asked} is ${units}`, () => assert.equal(unitsOf(asking(type, asked)), units));

  test('what a contract is worth', () => {
    const contracts = { unitValue: decimal('0.01'), step: ONE, least: ONE };
    assert.equal(unitsOf(asking('cash', 5_000), contracts), '7');
  });

  test('a part of what is held, of which 100 takes the odd rest too', () => {
    const held = decimal('0.3338');
    assert.equal(unitsOf(asking('percent_of_position', 50), { held }), '0.166');
    assert.equal(unitsOf(asking('percent_of_position', 100), { held }), held);
  });

  test('no less than what is held, with an exit that asks for more: what an entry brings meanwhile is closed too', () => {
    assert.equal(unitsOf(asking('cash', 500), { held: decimal('0.002') }), '0.007');
    assert.equal(unitsOf(asking('cash', 500), { held: decimal(0) }), '0.007');
    assert.equal(unitsOf(asking('percent_of_position', 50), { held: decimal(0) }), '0');
    assert.equal(unitsOf(asking('cash', 500), { held: decimal(0), price: null }), '0');
  });

  test('times the account’s factor, but not of a part of what is held', () => {
    assert.equal(unitsOf(asking('units', '0.05', '0.333')), '0.016');
    assert.equal(unitsOf(asking('cash', 500, 3)), '0.022');
    assert.equal(unitsOf(asking('percent_of_position', 50, 3), { held: decimal(1) }), '0.5');
  });

  test('and says how, in words', () => {
    const text = (sizing: Sizing, market: Partial<SizingMarket> = {}) => {
      const made = sized(sizing, 'BINANCE:BTCUSDT.P', { ...MARKET, ...market });
      return 'code' in made ? made.message : made.text;
    };
    const uncounted = 'Fees and slippage are not counted.';
    assert.equal(text(asking('cash', 500)), `500 USDT is 0.007 BTC at 68,000. ${uncounted}`);
    assert.equal(
      text(asking('percent_of_equity', 50, 2)),
      `50 % of 10,000 USDT times 2 is 0.147 BTC at 68,000. ${uncounted}`,
    );
    assert.equal(
      text(asking('risk_cash', 100)),
      `100 USDT is 0.073 BTC, at risk from 68,000 to the stop at 66,640. ${uncounted}`,
    );
    assert.equal(text(asking('units', 1, '0.5')), '1 times 0.5 is 0.5 BTC.');
    assert.equal(text(asking('percent_of_position', 50), { held: ONE }), '50 % of 1 is 0.5 BTC.');
  });

  test('units as they were sent: nothing is computed', () =>
    assert.equal(sizingOf('units', decimal('0.0123456'), ONE), null));
});

describe('what cannot be computed', () => {
  test('is refused where it rounds to less than the least, with what it would be', () =>
    assert.deepEqual(unitsOf(asking('percent_of_equity', 1), { equity: decimal(500) }), {
      code: 'invalid_quantity',
      message: '1 % of 500 USDT is 0.00007 BTC at 68,000; the least is 0.001.',
    }));

  for (const [sizing, market, message] of [
    [asking('cash', 50, 2), {}, '50 USDT times 2 is 0.001 BTC at 68,000; the least is 0.01.'],
    [asking('cash', 1), { currency: null }, '1 in cash is 0.00001 BTC at 68,000; the least is 0.01.'],
    [asking('units', 1, '0.002'), {}, '1 times 0.002 is 0.002 BTC; the least is 0.01.'],
    [
      asking('risk_percent', '0.01'),
      {},
      '0.01 % of 10,000 USDT is 0.0007 BTC, at risk from 68,000 to the stop at 66,640; the least is 0.01.',
    ],
    [
      asking('percent_of_position', 10),
      { held: decimal('0.05') },
      '10 % of 0.05 is 0.005 BTC; the least is 0.01.',
    ],
    [
      asking('cash', 1_200_000),
      { step: decimal(25), least: decimal(25) },
      '1,200,000 USDT is 17.64 BTC at 68,000; the least is 25.',
    ],
    // A step that the least does not tell of.
    [
      asking('cash', 50),
      { step: ONE, least: decimal(0) },
      '50 USDT is 0.0007 BTC at 68,000; the least is 0.',
    ],
  ] as const)
    test(`in words: ${message}`, () =>
      assert.deepEqual(unitsOf(sizing, { least: decimal('0.01'), ...market }), {
        code: 'invalid_quantity',
        message,
      }));

  test('is no reason to keep somebody in: who asks for as much as is held, or more, closes all of it', () => {
    const held = decimal('0.0004');
    assert.equal(unitsOf(asking('units', '0.0008', '0.5'), { held }), held);
    assert.equal(unitsOf(asking('cash', 28), { held }), held);
    assert.equal(unitsOf(asking('percent_of_equity', 100), { held }), '0.147');
  });

  for (const [why, sizing, market] of [
    ['the price', asking('cash', 500), { price: null }],
    ['nobody could tell the price', asking('cash', 500), { price: decimal(0) }],
    ['the equity', asking('percent_of_equity', 1), { equity: null }],
    ['the equity of the account is -3', asking('risk_percent', 1), { equity: decimal(-3) }],
    ['needs a stop', asking('risk_cash', 10), { stop: null }],
    ['the stop stands at the price', asking('risk_cash', 10), { stop: decimal(68_000) }],
  ] as const)
    test(`says what is missing: ${why}`, () => {
      const made = unitsOf(sizing, market);
      assert.ok(made !== null && typeof made === 'object');
      assert.equal(made.code, 'sizing_failed');
      assert.match(made.message, new RegExp(why));
    });

  test('is refused when it is asked for: percents of a position that is not there, risk without an entry', () => {
    assert.match(whyNotCounted('percent_of_position', ONE, { isEntry: true }) ?? '', /goes with exits/);
    assert.match(whyNotCounted('percent_of_position', decimal(101), { isEntry: false }) ?? '', /at most 100/);
    assert.match(whyNotCounted('risk_percent', ONE, { isEntry: false }) ?? '', /goes with entries/);
    assert.equal(whyNotCounted('cash', decimal(5_000), { isEntry: false }), null);
  });
});

test('the words of others are understood, in any case, and no other words', () => {
  const of = (words: readonly string[]) => words.map(quantityTypeOf);
  assert.deepEqual(of(['fixed_quantity', 'Contracts', ' base ']), ['units', 'units', 'units']);
  assert.deepEqual(of(['dollar_amount', 'QUOTE', 'notional']), ['cash', 'cash', 'cash']);
  assert.deepEqual(of(['risk_dollar_amount', 'risk_percent']), ['risk_cash', 'risk_percent']);
  assert.deepEqual(of(['', 'percent', 'toString', 'lots']), [null, null, null, null]);
});

const amount = (most: number) =>
  record({ digits: integer({ min: 1, max: most }), places: integer({ min: 0, max: 6 }) }).map(
    ({ digits, places }): Decimal => decimal(new Big(digits).div(new Big(10).pow(places))),
  );

test('what is computed is on the step and never more than the exact value; one step more would be', () => {
  const drawn = record({
    type: constantFrom(...QUANTITY_TYPES),
    asked: amount(1e6),
    factor: amount(1e4),
    price: amount(1e8),
    stop: amount(1e8),
    equity: amount(1e9),
    held: amount(1e7),
    unitValue: amount(1e4),
    step: constantFrom('0.00001', '0.001', '0.5', '1', '25').map(decimal),
  });
  holds(
    property(drawn, array(integer({ min: 0, max: 1 }), { minLength: 1, maxLength: 1 }), (on, [exits = 0]) => {
      const sizing = sizingOf(on.type, on.asked, on.factor);
      if (sizing === null) return;
      const held = exits === 1 || on.type === 'percent_of_position' ? on.held : null;
      const made = sized(sizing, 'X', { ...on, held, currency: null, least: on.step });
      if ('code' in made) return;
      assert.ok(made.units);
      const exact = exactly(on, held);
      assert.ok(new Big(made.units).lte(exact), `${made.units} is more than ${exact}`);
      if (held === made.units) return;
      assert.ok(isOnStep(made.units, on.step));
      assert.ok(new Big(made.units).plus(on.step).gt(exact), `${made.units} is too little for ${exact}`);
    }),
    { numRuns: 2_000 },
  );
});

/** Of which a hundred places are exact enough here. */
function exactly(
  on: Readonly<Record<'asked' | 'factor' | 'price' | 'stop' | 'equity' | 'unitValue', Decimal>> & {
    readonly type: QuantityType;
  },
  held: Decimal | null,
): Big {
  const { type, asked, factor, price, stop, equity, unitValue } = on;
  const Exact = Big();
  Exact.DP = 100;
  const share =
    type.includes('percent_of_equity') || type === 'risk_percent' ? new Exact(equity).div(100) : 1;
  const each = type.startsWith('risk') ? new Exact(price).minus(stop).abs() : new Exact(price);
  switch (type) {
    case 'units':
      return new Exact(asked).times(factor);
    case 'percent_of_position':
      return new Exact(asked).times(held ?? 0).div(100);
    default:
      return new Exact(asked).times(factor).times(share).div(each.times(unitValue));
  }
}
