import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figure, money, signed } from '../../web/parts/numbers.ts';

test('zero has no sign', () => {
  assert.deepEqual([figure(-0), signed(-0), money(-0), money(0)], ['0', '0', '0.00', '0.00']);
});

test('a sum of money has its sign, its groups and two decimals', () => {
  assert.equal(money(-120), '−120.00');
  assert.equal(money(1603.3), '+1,603.30');
  assert.equal(money(1.005), '+1.01', 'as the decimals say, not as the double does');
  assert.equal(money(-0.006), '−0.01');
});

test('what is less than half a cent is not called nothing', () => {
  assert.equal(money(0.00012), '+0.00012');
  assert.equal(money(-0.004), '−0.004');
  assert.equal(money(0.000123456), '+0.00012');
});

test('a broker’s own figure is exact', () => {
  assert.equal(signed(-0.00012345), '−0.00012345');
  assert.equal(signed(18.9), '+18.9');
});
