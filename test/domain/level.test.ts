// A level in every spelling, and the price that is made of it.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import Big from 'big.js';
import fc from 'fast-check';
import { compare, type Decimal, decimal, isOnStep, sign, subtract } from '../../src/domain/decimal.ts';
import type { Direction } from '../../src/domain/orders/order.ts';
import {
  distanceOf,
  type Level,
  levelText,
  priceOf,
  readDistance,
  readLevel,
} from '../../src/domain/protection/level.ts';
import { readJson } from '../../src/domain/signals/json.ts';
import { anyDistance, anyLevel, positive } from './wishes.ts';

/** As it stands in a message. */
function written(json: string): unknown {
  const reading = readJson(Buffer.from(json));
  assert.ok('value' in reading, json);
  return reading.value;
}

const textOf = (level: ReturnType<typeof readLevel>): string =>
  'problem' in level ? level.problem : levelText(level);

describe('A level', () => {
  // biome-ignore format: a table, one form a line
  const FORMS: Readonly<Record<string, readonly string[]>> = {
    '64000': ['64000', '64000.0', '6.4e4', '"64000"', '" 64000.00 "', '{"price": 64000}', '{"price": "64000"}'],
    '0.00001234': ['0.00001234', '1.234e-5', '".00001234"'],
    '2%': ['"2%"', '"2 %"', '" 2.0 % "', '"2\\t%"', '{"percent": 2}', '{"percent": "2.00"}', '{"percent": " 2 "}'],
    '0.5%': ['".5%"', '"0.50 %"', '{"percent": 0.5}', '{"percent": 5e-1}'],
    '20t': ['"20t"', '"20T"', '"20 t"', '"20 ticks"', '"20Ticks"', '"20 TICKS"', '"20 tick"', '{"ticks": 20}', '{"ticks": "20"}'],
    '1t': ['"1 tick"', '"1t"'],
    '150p': ['"150p"', '"150P"', '"150 p"', '"150 points"', '"150points"', '"150 Point"', '{"points": 150}', '{"points": "150.0"}'],
    '2.5p': ['"2.5p"', '{"points": 2.5}'],
  };
  for (const [form, spellings] of Object.entries(FORMS))
    test(`${form} is one form of ${spellings.length} spellings`, () => {
      for (const spelling of spellings) {
        assert.equal(textOf(readLevel('stop_loss', written(spelling))), form, spelling);
        // From a body that was validated already.
        assert.equal(textOf(readLevel('stop_loss', JSON.parse(spelling))), form, spelling);
      }
    });

  const AS_A_LEVEL = /send a price as a number, or a distance: "2%" .*"20t" .*"150p"/;
  // biome-ignore format: a table, one kind a line
  const REFUSED: readonly (readonly [kind: string, words: RegExp, spellings: readonly string[]])[] = [
    ['zero', /: it must be above zero\. Leave it out, or send "none"/, ['0', '0.0', '"0"', '"0%"', '"0 t"', '"0p"', '-0', '{"percent": 0}', '{"price": "0"}']],
    ['a negative price', /: a price is above zero\.$/, ['-1', '"-64000"', '{"price": -5}']],
    ['a negative distance', /: a distance has no sign, since its side is known/, ['"-2%"', '"-2 %"', '"-20t"', '"-1 points"', '{"ticks": -20}', '{"percent": "-2"}']],
    ['more digits than a double carries', /at most 15 significant digits/, ['1234567890123456', '"0.1234567890123456"', '"1234567890.123456%"', '{"price": 1234567890123456}', '1e16', '"1e-16%"', '1e300']],
    ['what the platform did not fill in', /the platform did not fill it in/, ['"NaN"', '"na"', '" NaN "', '"NaN%"', '"NaN %"', '"na t"', '"NaN points"', '"{{plot_0}}"', '"{{plot_0}}%"', '"{{plot(\\"SL\\")}}"', '{"percent": "NaN"}', '{"price": "{{close}}"}']],
    ['what is no level', AS_A_LEVEL, ['""', '"  "', '"abc"', '"%"', '"t"', '"p"', '"2 percent"', '"2%%"', '"2% below"', '"20 pips"', '"64,000"', '"64000 USD"', '"+2%"', '"1/2"', '"0x10"', '"٣%"', '"tp1"', 'true', 'false', 'null', '[]', '[64000]', '"Infinity"', `"${'1'.repeat(100)}"`, `"2${' '.repeat(500)}%"`]],
    ['an object of more or less than one unit', /: it has exactly one of price, percent, ticks, points\. Send a price/, ['{}', '{"price": 1, "percent": 2}', '{"pips": 2}', '{"Percent": 2}', '{"at": 2}', '{"__proto__": 2}', '{"percent": 2, "of": "x"}']],
    ['an object whose unit has no number', /^"stop_loss\.(?:price|percent)" is .*: send a number\.$/, ['{"percent": "2%"}', '{"price": ""}', '{"price": null}', '{"percent": [2]}', '{"price": {"price": 1}}', '{"percent": true}']],
  ];
  for (const [kind, words, spellings] of REFUSED)
    test(`is not ${kind}, and the words name field, value and what to send`, () => {
      for (const spelling of spellings) {
        const read = readLevel('stop_loss', written(spelling));
        assert.ok('problem' in read, spelling);
        assert.match(read.problem, words, spelling);
        assert.match(read.problem, /^"stop_loss[^"]*" is \S/, spelling);
        assert.ok(read.problem.length < 400, spelling);
      }
    });

  test('as a distance has no price', () => {
    for (const spelling of ['64000', '"64000"', '{"price": 64000}'])
      assert.match(
        (readDistance('trailing_stop', written(spelling)) as { problem: string }).problem,
        /^"trailing_stop" is .*, which would be a price\. Send a distance: "2%"/,
      );
    assert.deepEqual(readDistance('trailing_stop', '20 ticks'), { unit: 'ticks', value: '20' });
    assert.match(
      (readDistance('trailing_stop', 'x') as { problem: string }).problem,
      /^"trailing_stop" is "x": send a distance: "2%"/,
    );
  });

  test('is read, or refused in words, whatever stands there', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        const read = readLevel('stop_loss', value);
        if ('problem' in read) assert.ok(read.problem.startsWith('"stop_loss'));
        else assert.ok(sign(read.value) > 0);
      }),
      { numRuns: 2_000 },
    );
  });
});

const tick = fc.constantFrom(
  ...['0.01', '0.25', '0.1', '1', '5', '0.0001', '0.5', '10', '0.03'].map(decimal),
);
const side: fc.Arbitrary<Direction> = fc.constantFrom('long', 'short');
const leg = fc.constantFrom('stop', 'target');
/** An average is seldom on the tick. */
const entry = positive(10n ** 9n, 6);

test('a level is read again from its one form', () => {
  fc.assert(
    fc.property(anyLevel, (any) => {
      assert.deepEqual(readLevel('stop_loss', levelText(any)), any);
    }),
  );
});

describe('The price of a level', () => {
  /** Reckoned apart from the code. */
  const exactly = (
    { unit, value }: Level,
    at: { leg: 'stop' | 'target'; side: Direction; entry: Decimal; tick: Decimal },
  ): Big => {
    if (unit === 'price') return new Big(value);
    const away = {
      percent: () => new Big(at.entry).times(value).div(100),
      ticks: () => new Big(at.tick).times(value),
      points: () => new Big(value),
    }[unit]();
    const isAbove = (at.leg === 'target') === (at.side === 'long');
    return isAbove ? new Big(at.entry).plus(away) : new Big(at.entry).minus(away);
  };

  const placing = fc.record({ leg, side, entry, tick });

  test('is above zero and on the tick, or there is none', () => {
    fc.assert(
      fc.property(anyLevel, placing, (any, at) => {
        const price = priceOf(any, at);
        if (price === null) return;
        assert.ok(sign(price) > 0);
        assert.ok(isOnStep(price, at.tick));
      }),
      { numRuns: 3_000 },
    );
  });

  test('is less than a tick from what was asked', () => {
    fc.assert(
      fc.property(anyLevel, placing, (any, at) => {
        const price = priceOf(any, at);
        if (price !== null) assert.ok(new Big(price).minus(exactly(any, at)).abs().lt(at.tick));
      }),
      { numRuns: 3_000 },
    );
  });

  test('lies between what was asked and the entry, unless no tick does', () => {
    fc.assert(
      fc.property(anyLevel, placing, (any, at) => {
        const price = priceOf(any, at);
        const exact = exactly(any, at);
        if (price === null || exact.eq(at.entry)) return;
        const towards = exact.lt(at.entry) ? 1 : -1;
        const isBetween =
          new Big(price).minus(exact).times(towards).gte(0) &&
          new Big(at.entry).minus(price).times(towards).gt(0);
        // The tick before it, seen from the entry, is the entry or lies beyond.
        const next = new Big(price).plus(new Big(at.tick).times(towards));
        assert.ok(isBetween || new Big(at.entry).minus(next).times(towards).lte(0), `${price} of ${exact}`);
      }),
      { numRuns: 3_000 },
    );
  });

  test('of a distance lies on the losing side for a stop and on the winning side for a target, never on the entry', () => {
    fc.assert(
      fc.property(anyDistance, placing, (any, at) => {
        const price = priceOf(any, at);
        if (price === null) return;
        const isAbove = (at.leg === 'target') === (at.side === 'long');
        assert.equal(compare(price, at.entry), isAbove ? 1 : -1);
      }),
      { numRuns: 3_000 },
    );
  });

  test('stays on the side of the entry on which it was asked', () => {
    fc.assert(
      fc.property(anyLevel, placing, (any, at) => {
        const price = priceOf(any, at);
        const asked = exactly(any, at).cmp(at.entry);
        if (price !== null && asked !== 0) assert.equal(compare(price, at.entry), asked);
      }),
      { numRuns: 3_000 },
    );
  });

  test('is none exactly where the tick that is meant is not above zero', () => {
    fc.assert(
      fc.property(anyLevel, placing, (any, at) => {
        const isNone = priceOf(any, at) === null;
        const exact = exactly(any, at);
        if (exact.lte(0)) assert.ok(isNone);
        else if (exact.gte(at.tick)) assert.ok(!isNone);
      }),
      { numRuns: 3_000, examples: [[{ unit: 'percent', value: decimal(100) }, at({ side: 'long' })]] },
    );
  });

  const at = (more: Partial<{ leg: 'stop' | 'target'; side: Direction; entry: string; tick: string }>) => ({
    leg: more.leg ?? ('stop' as const),
    side: more.side ?? ('long' as const),
    entry: decimal(more.entry ?? '64000'),
    tick: decimal(more.tick ?? '0.1'),
  });
  // biome-ignore format: a table, one case a line
  const ROWS: readonly (readonly [said: string, on: Parameters<typeof at>[0], price: string | null, why: string])[] = [
    ['2%', {}, '62720', '2 % below'],
    ['2%', { side: 'short' }, '65280', 'a short position stops above'],
    ['2%', { leg: 'target' }, '65280', 'a long position wins above'],
    ['2%', { leg: 'target', side: 'short' }, '62720', 'a short position wins below'],
    ['20t', { tick: '0.25', entry: '5000' }, '4995', 'ticks of the instrument'],
    ['150p', {}, '63850', 'points are units of the price'],
    ['1.2345%', {}, '63210', '63209.92, up to the tick, towards the entry'],
    ['1.2345%', { side: 'short' }, '64790', '64790.08, down to the tick, towards the entry'],
    ['63000.07', {}, '63000.1', 'a price between ticks, towards the entry'],
    ['65000.07', {}, '65000', 'a stop in profit, towards the entry'],
    ['63000', {}, '63000', 'a price on the tick stays'],
    ['64000.03', { entry: '64000.03', tick: '0.1' }, '64000.1', 'the entry itself, of a long position: not at a loss'],
    ['64000.03', { entry: '64000.03', tick: '0.1', side: 'short' }, '64000', 'the entry itself, of a short position: not at a loss'],
    ['0.1%', { entry: '99.5', tick: '1' }, '99', 'less than a tick away: the next tick on its side'],
    ['1t', { entry: '100', tick: '1' }, '99', 'a tick'],
    ['0.5t', { entry: '100', tick: '1' }, '99', 'a part of a tick would be the entry itself'],
    ['100%', {}, null, 'nothing is left of the price'],
    ['120%', {}, null, 'below zero'],
    ['120%', { side: 'short' }, '140800', 'above there is room'],
    ['50t', { entry: '10', tick: '1' }, null, 'more ticks than there are'],
    ['0.1%', { entry: '0.5', tick: '1' }, null, 'the next tick on its side is zero'],
  ];
  for (const [said, on, price, why] of ROWS)
    test(`${said} on ${JSON.stringify(on)} is ${price}: ${why}`, () => {
      const read = readLevel('stop_loss', said);
      assert.ok(!('problem' in read));
      assert.equal(priceOf(read, at(on)), price);
    });
});

describe('A distance in units of the price', () => {
  test('is on the tick, at least a tick, and not more than asked unless that is less than a tick', () => {
    fc.assert(
      fc.property(anyDistance, entry, tick, (any, from, step) => {
        const away = distanceOf(any, { entry: from, tick: step });
        assert.ok(isOnStep(away, step));
        assert.ok(compare(away, step) >= 0);
        const exact = {
          percent: new Big(from).times(any.value).div(100),
          ticks: new Big(step).times(any.value),
          points: new Big(any.value),
        }[any.unit];
        if (exact.gte(step)) assert.ok(exact.gte(away) && exact.minus(away).lt(step));
        else assert.equal(away, step);
      }),
      { numRuns: 3_000 },
    );
  });

  test('is that of the stop, where the entry is on the tick', () => {
    fc.assert(
      fc.property(anyDistance, fc.integer({ min: 1, max: 10 ** 6 }), tick, (any, ticks, step) => {
        const from = decimal(new Big(step).times(ticks));
        const price = priceOf(any, { leg: 'stop', side: 'long', entry: from, tick: step });
        if (price !== null) assert.equal(subtract(from, price), distanceOf(any, { entry: from, tick: step }));
      }),
    );
  });
});
