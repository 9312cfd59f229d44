// What is told of a decimal by its text is what arithmetic says of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import Big from 'big.js';
import fc from 'fast-check';
import {
  absolute,
  add,
  canonical,
  compare,
  decimal,
  downTo,
  isOnStep,
  isWhole,
  multiply,
  negate,
  parseDecimal,
  rounded,
  sign,
  subtract,
  ZERO,
} from '../../src/domain/decimal.ts';

/** However somebody may write it. */
const written = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.bigInt({ min: 0n, max: 10n ** 18n }),
    fc.nat({ max: 18 }),
    fc.constantFrom('', '0', '000'),
  )
  .map(([minus, digits, places, zeros]) => {
    const text = String(digits).padStart(places + 1, '0');
    const whole = text.slice(0, text.length - places);
    const part = text.slice(text.length - places) + zeros;
    return `${minus}${whole}${part === '' ? '' : `.${part}`}`;
  });

test('a decimal is the same however it is written, and its text tells its sign', () => {
  fc.assert(
    fc.property(written, written, (one, other) => {
      const [a, b] = [decimal(one), decimal(other)];
      const [exactA, exactB] = [new Big(one), new Big(other)];
      assert.equal(a, canonical(exactA));
      assert.equal(decimal(a), a);
      assert.equal(sign(a), exactA.cmp(0));
      assert.equal(negate(a), canonical(exactA.times(-1)));
      assert.equal(absolute(a), canonical(exactA.abs()));
      assert.equal(compare(a, b), exactA.cmp(exactB));
      assert.equal(a === b, exactA.eq(exactB));
    }),
    { numRuns: 2_000, examples: [['-0', '0.000']] },
  );
});

/** Of all lengths alike, and often of those at which one way of reckoning ends and the other begins. */
const amount = fc
  .tuple(
    fc.boolean(),
    fc.nat({ max: 18 }).chain((digits) => fc.bigInt({ min: 0n, max: 10n ** BigInt(digits) })),
    fc.nat({ max: 15 }),
  )
  .map(([isNegative, digits, places]) => canonical(new Big(`${isNegative ? '-' : ''}${digits}e-${places}`)));

test('sums, products and steps are exact, of however many digits', () => {
  fc.assert(
    fc.property(amount, amount, (a, b) => {
      const [exactA, exactB] = [new Big(a), new Big(b)];
      assert.equal(add(a, b), canonical(exactA.plus(exactB)));
      assert.equal(subtract(a, b), canonical(exactA.minus(exactB)));
      assert.equal(subtract(a, a), ZERO);
      assert.equal(multiply(a, b), canonical(exactA.times(exactB)));
      assert.equal(compare(a, b), exactA.cmp(exactB));
      assert.equal(isWhole(a), exactA.mod(1).eq(0));
      assert.equal(rounded(a), canonical(exactA.c.length > 15 ? exactA.prec(15) : exactA));
      if (sign(b) !== 0) {
        const [size, step] = [absolute(a), absolute(b)];
        assert.equal(isOnStep(size, step), new Big(size).mod(step).eq(0));
        const product = multiply(size, step);
        assert.equal(isOnStep(product, step), new Big(product).mod(step).eq(0));
      }
    }),
    { numRuns: 5_000 },
  );
});

test('what is read is kept as it stands where it is canonical already', () => {
  fc.assert(
    fc.property(written, (text) => {
      const exact = new Big(text);
      const isCarried = exact.c.length <= 15 && exact.e <= 15 && exact.e >= -15;
      assert.equal(parseDecimal(text), isCarried ? canonical(exact) : null);
    }),
    { numRuns: 5_000, examples: [['-0'], ['0.10'], ['999999999999999'], ['0.0000000000001']] },
  );
});

test('there is one zero', () => {
  for (const text of ['0', '-0', '0.0', '-0.000', '00']) assert.equal(decimal(text), ZERO);
  assert.equal(decimal(-0), ZERO);
});

test('down to a step is the multiple of it that is not above, and less than a step away', () => {
  const above = fc
    .tuple(fc.bigInt({ min: 1n, max: 10n ** 18n }), fc.nat({ max: 18 }))
    .map(([digits, places]) => decimal(new Big(String(digits)).times(new Big(10).pow(-places))));
  fc.assert(
    fc.property(above, above, (whole, step) => {
      const down = downTo(whole, step);
      assert.ok(down === ZERO || isOnStep(down, step));
      assert.ok(compare(down, whole) <= 0);
      assert.ok(compare(subtract(whole, down), step) < 0);
    }),
    { numRuns: 2_000 },
  );
});
