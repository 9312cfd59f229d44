// What is told of a decimal by its text is what arithmetic says of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import Big from 'big.js';
import fc from 'fast-check';
import { absolute, canonical, compare, decimal, negate, sign, ZERO } from '../../src/domain/decimal.ts';

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

test('there is one zero', () => {
  for (const text of ['0', '-0', '0.0', '-0.000', '00']) assert.equal(decimal(text), ZERO);
  assert.equal(decimal(-0), ZERO);
});
