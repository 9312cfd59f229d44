// What an account fills in where an entry from flat does not say how it is protected.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  type Defaults,
  defaultsJson,
  readDefaults,
  withDefaults,
} from '../../src/domain/protection/defaults.ts';
import { contradiction, readWish, type Wish, wishJson } from '../../src/domain/protection/wish.ts';
import { anyDistance, anyWish, wishOf } from './wishes.ts';

const problemsOf = (value: unknown): readonly string[] => {
  const read = readDefaults(value);
  return 'problems' in read ? read.problems : [];
};
function defaults(value: unknown): Defaults {
  const read = readDefaults(value);
  assert.ok('defaults' in read, JSON.stringify(read));
  return read.defaults;
}
function wish(fields: Record<string, unknown>): Wish {
  const read = readWish(fields);
  assert.ok('wish' in read);
  return read.wish;
}

describe('The setting', () => {
  test('is kept in one form and read again', () => {
    const set = {
      '*': { stop_loss: '2 %', take_profit: { percent: 4 } },
      'BTCUSDT.P': { stop_loss: '20 ticks', break_even: 'tp1' },
      ES1: {},
    };
    const kept = {
      '*': { stop_loss: '2%', take_profit: [{ at: '4%', percent: '100' }] },
      'BTCUSDT.P': { stop_loss: '20t', break_even: { at: 'tp1' } },
      ES1: {},
    };
    assert.deepEqual(defaultsJson(defaults(set)), kept);
    assert.deepEqual(defaultsJson(defaults(kept)), kept);
    for (const none of [null, {}]) assert.deepEqual(defaults(none), {});
  });

  // biome-ignore format: a table, one case a line
  const REFUSED: readonly (readonly [value: unknown, words: RegExp])[] = [
    ['2%', /must be null, or an object of up to 100 symbols/],
    [[], /must be null, or an object/],
    [Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`S${n}`, {}])), /up to 100 symbols/],
    [{ 'BTC USDT': {} }, /"BTC USDT" is no symbol/],
    [{ '': {} }, /"" is no symbol/],
    [{ '*': '2%' }, /"\*" must be an object of stop_loss, take_profit, trailing_stop, break_even, time_stop and nothing else/],
    [{ '*': { sl: '2%' } }, /"\*" must be an object of stop_loss/],
    [{ '*': { stop_loss: '2' } }, /"\*": 2 would be a price, and is not known beforehand\. Send a distance/],
    [{ '*': { stop_loss: 64000 } }, /64000 would be a price/],
    [{ '*': { take_profit: [{ at: '1%', percent: 50 }, { at: 70000, percent: 50 }] } }, /70000 would be a price/],
    [{ '*': { trailing_stop: { distance: '1%', activate_at: 70000 } } }, /70000 would be a price/],
    [{ '*': { stop_loss: '1%', break_even: 70000 } }, /70000 would be a price/],
    [{ '*': { stop_loss: 'x' } }, /"\*": "stop_loss" is "x": send/],
    [{ '*': { break_even: '1%' } }, /"\*": "break_even" moves a stop, and there is none/],
    [{ '*': { stop_loss: '2%' }, AAPL: { stop_loss: 'none', break_even: '1%' } }, /"AAPL": "break_even" moves a stop/],
  ];
  for (const [value, words] of REFUSED)
    test(`is not ${JSON.stringify(value).slice(0, 100)}`, () => {
      const [first = ''] = problemsOf(value);
      assert.ok(first.startsWith('protection_defaults '), first);
      assert.match(first, words);
    });

  test('names everything that is wrong with it', () => {
    assert.equal(problemsOf({ '*': { stop_loss: 1 }, AAPL: { x: 1 }, 'A B': {} }).length, 3);
  });

  test('may have break-even of a symbol on the stop of all', () => {
    assert.deepEqual(problemsOf({ '*': { stop_loss: '2%' }, AAPL: { break_even: '1%' } }), []);
  });

  test('has symbols of any name', () => {
    const odd = JSON.parse('{"__proto__": {"stop_loss": "2%"}, "constructor": {"stop_loss": "3%"}}');
    const read = defaults(odd);
    assert.deepEqual(Object.keys(read), ['__proto__', 'constructor']);
    assert.deepEqual(wishJson(withDefaults({}, read, (name) => name === '__proto__')), { stop_loss: '2%' });
    assert.deepEqual(
      withDefaults({}, read, () => false),
      {},
    );
  });
});

describe('An entry from flat', () => {
  const set = defaults({
    '*': { stop_loss: '2%', take_profit: '4%', break_even: 'tp1', time_stop: 3600 },
    'BTCUSDT.P': { stop_loss: '3%' },
    AAPL: { take_profit: 'none', time_stop: 'none' },
  });
  const filled = (fields: Record<string, unknown>, symbol: string) =>
    wishJson(withDefaults(wish(fields), set, (name) => name === symbol));
  const target = (at: string) => [{ at, percent: '100' }];

  // biome-ignore format: a table, one case a line
  const ROWS: readonly (readonly [said: Record<string, unknown>, symbol: string, asks: object, why: string])[] = [
    [{}, 'ETHUSDT.P', { stop_loss: '2%', take_profit: target('4%'), break_even: { at: 'tp1' }, time_stop: '3600' }, 'all that every symbol has'],
    [{}, 'BTCUSDT.P', { stop_loss: '3%', take_profit: target('4%'), break_even: { at: 'tp1' }, time_stop: '3600' }, 'the symbol’s own, and the rest of all'],
    [{}, 'AAPL', { stop_loss: '2%' }, 'what the symbol declines is not there, and what would wait for it neither'],
    [{ stop_loss: '64000' }, 'BTCUSDT.P', { stop_loss: '64000', take_profit: target('4%'), break_even: { at: 'tp1' }, time_stop: '3600' }, 'what is said stands'],
    [{ stop_loss: 'none' }, 'BTCUSDT.P', { take_profit: target('4%'), time_stop: '3600' }, '"none" declines; without a stop nothing breaks even'],
    [{ take_profit: 'none', break_even: '1%' }, 'BTCUSDT.P', { stop_loss: '3%', break_even: { at: '1%' }, time_stop: '3600' }, 'one is declined, another is said'],
    [{ stop_loss: 'none', take_profit: 'none', time_stop: 'none' }, 'ETHUSDT.P', {}, 'all is declined'],
  ];
  for (const [said, symbol, asks, why] of ROWS)
    test(`${JSON.stringify(said)} in ${symbol}: ${why}`, () => {
      assert.deepEqual(filled(said, symbol), asks);
      assert.equal(JSON.stringify(filled(said, symbol)), JSON.stringify(asks));
    });

  test('keeps every part that it says, declines what it declines, and gets nothing that makes no sense by a default', () => {
    const setting = fc
      .tuple(wishOf(anyDistance), wishOf(anyDistance))
      .map(([all, own]) => ({ '*': all, X: own }));
    fc.assert(
      fc.property(anyWish, setting, (said, given) => {
        const asks = withDefaults(said, given, (name) => name === 'X');
        for (const [part, value] of Object.entries(said))
          assert.deepEqual(asks[part as keyof Wish], value === 'none' ? undefined : value);
        assert.ok(!Object.values(asks).includes('none'));
        if (said.breakEven === undefined) assert.equal(contradiction(asks, { isFromFlat: true }), null);
      }),
      { numRuns: 1_000 },
    );
  });

  test('is as it says without a setting', () => {
    fc.assert(
      fc.property(anyWish, (said) => {
        const asks = withDefaults(said, {}, () => true);
        const parts = Object.entries(said).filter(([, value]) => value !== 'none');
        assert.deepEqual(asks, Object.fromEntries(parts));
      }),
    );
  });
});
