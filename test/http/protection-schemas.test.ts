// What a request may say of protection: the shapes let pass whatever the reader takes.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Type } from 'typebox';
import { Compile } from 'typebox/schema';
import { toNumber } from '../../src/domain/decimal.ts';
import { readDefaults } from '../../src/domain/protection/defaults.ts';
import { planProtection } from '../../src/domain/protection/planned.ts';
import { PROTECTION_FIELDS, readWish, wishJson } from '../../src/domain/protection/wish.ts';
import { plannedLegs, protectionDefaults, protectionFields } from '../../src/http/schemas/protection.ts';
import { anyWish } from '../domain/wishes.ts';

const body = Compile(Type.Object(protectionFields, { additionalProperties: false }));

describe('The fields of an order', () => {
  // biome-ignore format: a list
  const TAKEN: readonly object[] = [
    {}, { stop_loss: 64000 }, { stop_loss: '64000' }, { stop_loss: '2 %' }, { stop_loss: { percent: 2 } }, { stop_loss: { ticks: '20' } },
    { stop_loss: 'none' }, { take_profit: '20 ticks' }, { take_profit: { points: 150 } }, { take_profit: { at: '2%', percent: 100 } },
    { take_profit: [{ at: { price: 66000 }, percent: '50' }, { at: '4%', percent: 50 }] }, { trailing_stop: '1%' }, { trailing_stop: { percent: 1 } },
    { trailing_stop: { distance: '150p', activate_at: 66000 } }, { trailing_stop: 'none' }, { break_even: 'tp1' }, { break_even: { at: 'TP1', offset: '2t' } },
    { break_even: 66000 }, { time_stop: 3600 }, { time_stop: '3600' }, { time_stop: '15:55 America/New_York' }, { time_stop: 'none' },
  ];
  test('are taken in every spelling that the reader takes', () => {
    for (const fields of TAKEN) {
      assert.ok(body.Check(fields), JSON.stringify(fields));
      assert.ok('wish' in readWish({ ...fields }), JSON.stringify(fields));
    }
  });

  // biome-ignore format: a list
  const REFUSED: readonly object[] = [
    { stop_loss: true }, { stop_loss: [] }, { stop_loss: { percent: 2, ticks: 1 } }, { stop_loss: { pips: 2 } }, { take_profit: [] },
    { take_profit: [1, 2] }, { take_profit: Array.from({ length: 6 }, () => ({ at: '1%', percent: 1 })) }, { trailing_stop: 100 },
    { trailing_stop: { price: 100 } }, { trailing_stop: { distance: '1%', step: 1 } }, { break_even: { offset: '2t' } }, { time_stop: 59 }, { time_stop: 90.5 },
    { stopLoss: 1 },
  ];
  test('are no other shapes, which the reader refuses too', () => {
    for (const fields of REFUSED) {
      assert.ok(!body.Check(fields), JSON.stringify(fields));
      if (!('stopLoss' in fields)) assert.ok('problem' in readWish({ ...fields }), JSON.stringify(fields));
    }
  });

  test('are all that there are, in the form in which they are kept too', () => {
    assert.deepEqual(Object.keys(protectionFields), [...PROTECTION_FIELDS]);
    fc.assert(fc.property(anyWish, (wish) => assert.ok(body.Check(wishJson(wish)))));
  });
});

test('the account’s setting is an object or null; its reader says the rest', () => {
  const setting = Compile(protectionDefaults);
  for (const value of [null, {}, { '*': { stop_loss: '2%' } }]) {
    assert.ok(setting.Check(value));
    assert.ok('defaults' in readDefaults(value));
  }
  for (const value of ['2%', 1, []]) assert.ok(!setting.Check(value));
  for (const example of (protectionDefaults as { examples?: unknown[] }).examples ?? [])
    assert.ok('defaults' in readDefaults(example));
});

test('a plan is shown as it is described', () => {
  const at = {
    side: 'long',
    entry: '64000',
    held: '0.4',
    tick: '0.1',
    step: '0.001',
    least: '0.001',
  } as unknown;
  const wish = readWish({ stop_loss: '2%', take_profit: '4%' });
  assert.ok('wish' in wish);
  const plan = planProtection(wish.wish, at as Parameters<typeof planProtection>[1]);
  assert.ok('legs' in plan);
  const shown = plan.legs.map(({ leg, price, quantity, how }) => ({
    leg,
    price: toNumber(price),
    quantity: toNumber(quantity),
    how,
  }));
  assert.ok(Compile(plannedLegs).Check(shown), JSON.stringify(shown));
});
