// What a message asks for about protection: its fields in every spelling, what makes no sense, and what a broker cannot keep.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { BROKER_NAMES, BROKERS, type BrokerName } from '../../src/domain/brokers.ts';
import { compare, decimal } from '../../src/domain/decimal.ts';
import { whyUnsupported } from '../../src/domain/protection/ability.ts';
import {
  asksForStop,
  breakEvenPrice,
  contradiction,
  isProtectionField,
  PROTECTION_FIELDS,
  readWish,
  type Wish,
  wishFromJson,
  wishJson,
} from '../../src/domain/protection/wish.ts';
import { readJson } from '../../src/domain/signals/json.ts';
import { anyDistance, anyWish, positive } from './wishes.ts';

function written(json: string): Record<string, unknown> {
  const reading = readJson(Buffer.from(json));
  assert.ok('value' in reading, json);
  return reading.value as Record<string, unknown>;
}

const formOf = (fields: Record<string, unknown>): unknown => {
  const read = readWish(fields);
  return 'problem' in read ? read.problem : wishJson(read.wish);
};

describe('A wish', () => {
  // biome-ignore format: a table, one form a line
  const FORMS: readonly (readonly [form: object, spellings: readonly string[]])[] = [
    [{}, ['{}', '{"stop_loss": null}', '{"stop_loss": ""}', '{"take_profit": "  "}', '{"action": "buy", "sl": 1}', '{"STOP_LOSS": 1}']],
    [{ stop_loss: '64000' }, ['{"stop_loss": 64000}', '{"stop_loss": "64000.0"}', '{"stop_loss": {"price": "64000"}}']],
    [{ stop_loss: '2%' }, ['{"stop_loss": "2%"}', '{"stop_loss": "2 %"}', '{"stop_loss": {"percent": 2}}', '{"stop_loss": "2.0%", "time_stop": null}']],
    [{ stop_loss: 'none' }, ['{"stop_loss": "none"}', '{"stop_loss": " None "}', '{"stop_loss": "NONE"}']],
    [{ take_profit: [{ at: '2%', percent: '100' }] }, ['{"take_profit": "2%"}', '{"take_profit": {"percent": 2}}', '{"take_profit": {"at": "2%", "percent": 100}}', '{"take_profit": [{"at": "2 %", "percent": "100"}]}', '{"take_profit": [{"percent": 100.0, "at": {"percent": "2"}}]}']],
    [{ take_profit: [{ at: '66000', percent: '50' }, { at: '20t', percent: '25.5' }] }, ['{"take_profit": [{"at": 66000, "percent": 50}, {"at": "20 ticks", "percent": 25.5}]}']],
    [{ take_profit: 'none' }, ['{"take_profit": "none"}']],
    [{ trailing_stop: { distance: '1%' } }, ['{"trailing_stop": "1%"}', '{"trailing_stop": {"percent": 1}}', '{"trailing_stop": {"distance": "1 %"}}', '{"trailing_stop": {"distance": {"percent": 1}, "activate_at": null}}', '{"trailing_stop": {"distance": "1%", "activate_at": ""}}']],
    [{ trailing_stop: { distance: '150p', activate_at: '66000' } }, ['{"trailing_stop": {"distance": "150 points", "activate_at": 66000}}']],
    [{ trailing_stop: 'none' }, ['{"trailing_stop": "none"}']],
    [{ break_even: { at: '1%' } }, ['{"break_even": "1%"}', '{"break_even": {"percent": 1}}', '{"break_even": {"at": "1%"}}', '{"break_even": {"at": {"percent": "1"}, "offset": null}}']],
    [{ break_even: { at: 'tp1' } }, ['{"break_even": "tp1"}', '{"break_even": " TP1 "}', '{"break_even": {"at": "Tp1"}}']],
    [{ break_even: { at: 'tp1', offset: '2t' } }, ['{"break_even": {"at": "tp1", "offset": "2 ticks"}}']],
    [{ break_even: 'none' }, ['{"break_even": "none"}']],
    [{ time_stop: '3600' }, ['{"time_stop": 3600}', '{"time_stop": "3600"}']],
    [{ time_stop: '15:55 America/New_York' }, ['{"time_stop": "15:55 america/new_york"}']],
    [{ time_stop: 'none' }, ['{"time_stop": "none"}']],
    [{ stop_loss: '2%', take_profit: [{ at: '4%', percent: '100' }], trailing_stop: { distance: '1%' }, break_even: { at: 'tp1' }, time_stop: '60' },
      ['{"time_stop": 60, "break_even": "tp1", "trailing_stop": "1%", "take_profit": "4%", "stop_loss": "2%"}']],
  ];
  for (const [form, spellings] of FORMS)
    test(`${JSON.stringify(form)} is one form of ${spellings.length} spellings`, () => {
      for (const spelling of spellings) {
        assert.deepEqual(formOf(written(spelling)), form, spelling);
        assert.deepEqual(formOf(JSON.parse(spelling)), form, spelling);
        // The same text, whatever the order in which it was said: what a fingerprint is made of.
        assert.equal(JSON.stringify(formOf(written(spelling))), JSON.stringify(form));
      }
    });

  // biome-ignore format: a table, one kind a line
  const REFUSED: readonly (readonly [spelling: string, words: RegExp])[] = [
    ['{"stop_loss": 0}', /^"stop_loss" is 0: it must be above zero\. Leave it out, or send "none"/],
    ['{"stop_loss": "-2%"}', /^"stop_loss" is "-2%": a distance has no sign/],
    ['{"stop_loss": "NaN"}', /^"stop_loss" is NaN: the platform did not fill it in/],
    ['{"stop_loss": "{{plot_0}}"}', /^"stop_loss" is \{\{plot_0\}\}: the platform did not fill it in/],
    ['{"stop_loss": false}', /^"stop_loss" is false: send a price/],
    ['{"stop_loss": ["2%"]}', /^"stop_loss" is \["2%"\]: send a price/],
    ['{"take_profit": []}', /^"take_profit" has 0 levels: send 1 to 5/],
    ['{"take_profit": [1, 2, 3, 4, 5, 6]}', /^"take_profit" has 6 levels: send 1 to 5/],
    ['{"take_profit": ["2%"]}', /^"take_profit\[0\]" is "2%": send \{"at": a level, "percent": /],
    ['{"take_profit": [{"at": "2%"}]}', /^"take_profit\[0\]\.percent" is null: send how much of the position/],
    ['{"take_profit": [{"percent": 50}]}', /^"take_profit\[0\]\.at" is null: send a price/],
    ['{"take_profit": [{"at": "2%", "percent": 50}, {"at": "NaN", "percent": 50}]}', /^"take_profit\[1\]\.at" is NaN: the platform/],
    ['{"take_profit": [{"at": "2%", "percent": "NaN"}]}', /^"take_profit\[0\]\.percent" is NaN: the platform/],
    ['{"take_profit": [{"at": "2%", "percent": 0}]}', /^"take_profit\[0\]\.percent" is 0: send how much/],
    ['{"take_profit": [{"at": "2%", "percent": 100.5}]}', /^"take_profit\[0\]\.percent" is 100\.5: send how much/],
    ['{"take_profit": [{"at": "2%", "percent": "50%"}]}', /^"take_profit\[0\]\.percent" is "50%": send how much/],
    ['{"take_profit": [{"at": "2%", "percent": 50, "size": 1}]}', /^"take_profit\[0\]" has "size": send \{"at"/],
    ['{"take_profit": [{"at": "1%", "percent": 60}, {"at": "2%", "percent": 40.1}]}', /^"take_profit" closes 100\.1 percent of the position in all: .*add up to 100 at most/],
    ['{"take_profit": {"price": 66000, "percent": 50}}', /^"take_profit" is .*exactly one of price, percent/],
    ['{"trailing_stop": 100}', /^"trailing_stop" is 100, which would be a price\. Send a distance/],
    ['{"trailing_stop": {"distance": 100}}', /^"trailing_stop\.distance" is 100, which would be a price/],
    ['{"trailing_stop": {"distance": "1%", "activate_at": "none"}}', /^"trailing_stop\.activate_at" is "none": send a price/],
    ['{"trailing_stop": {"distance": "1%", "step": "1t"}}', /^"trailing_stop" has "step": send \{"distance"/],
    ['{"trailing_stop": {"activate_at": 5}}', /^"trailing_stop" is .*exactly one of/],
    ['{"break_even": "tp2"}', /^"break_even" is "tp2": send a price .*; or "tp1", which is when the first target is filled\.$/],
    ['{"break_even": {"at": true}}', /^"break_even\.at" is true: send a price .*; or "tp1"/],
    ['{"break_even": {"at": "tp1", "offset": 5}}', /^"break_even\.offset" is 5, which would be a price/],
    ['{"break_even": {"at": "tp1", "offset": "0t"}}', /^"break_even\.offset" is "0t": it must be above zero/],
    ['{"break_even": {"at": "tp1", "plus": "1t"}}', /^"break_even" has "plus": send \{"at"/],
    ['{"time_stop": 59}', /^"time_stop" is 59: send whole seconds/],
    ['{"stop_loss": "2%", "time_stop": "soon"}', /^"time_stop" is "soon": send whole seconds/],
  ];
  for (const [spelling, words] of REFUSED)
    test(`is not ${spelling}`, () => assert.match(formOf(written(spelling)) as string, words));

  test('is read again from the form in which it is kept', () => {
    fc.assert(
      fc.property(anyWish, (wish) => {
        const kept = JSON.stringify(wishJson(wish));
        assert.deepEqual(wishFromJson(JSON.parse(kept)), wish);
        assert.equal(JSON.stringify(wishJson(wishFromJson(JSON.parse(kept)))), kept);
      }),
      { numRuns: 1_000 },
    );
    for (const broken of [null, [], { stop_loss: 'x' }]) assert.throws(() => wishFromJson(broken));
  });

  test('is read, or refused in words, whatever stands in its fields', () => {
    const fields = fc.dictionary(
      fc.constantFrom(...PROTECTION_FIELDS),
      fc.oneof(
        fc.anything(),
        fc.dictionary(
          fc.constantFrom('at', 'percent', 'distance', 'activate_at', 'offset', 'price'),
          fc.anything(),
        ),
        fc.array(fc.dictionary(fc.constantFrom('at', 'percent'), fc.constantFrom('1%', 50, '2t', null))),
      ),
    );
    fc.assert(
      fc.property(fields, (any) => {
        const read = readWish(any);
        if ('wish' in read) assert.deepEqual(readWish(wishJson(read.wish)), read);
        else assert.match(read.problem, /^"(?:stop_loss|take_profit|trailing_stop|break_even|time_stop)/);
      }),
      { numRuns: 2_000 },
    );
  });

  test('has fields of its own', () => {
    assert.ok(isProtectionField('stop_loss'));
    assert.ok(!isProtectionField('sl') && !isProtectionField('toString'));
  });
});

const wish = (json: string): Wish => {
  const read = readWish(written(json));
  assert.ok('wish' in read, json);
  return read.wish;
};

describe('What makes no sense together', () => {
  // biome-ignore format: a table, one case a line
  const ROWS: readonly (readonly [json: string, fromFlat: RegExp | null, held: RegExp | null])[] = [
    ['{}', null, null],
    ['{"stop_loss": "2%"}', null, null],
    ['{"trailing_stop": "1%"}', null, null],
    ['{"take_profit": "2%"}', null, null],
    ['{"break_even": "1%"}', /there is none: send "stop_loss"/, null],
    ['{"break_even": "1%", "take_profit": "2%"}', /there is none: send "stop_loss"/, null],
    ['{"break_even": "1%", "stop_loss": "2%"}', null, null],
    ['{"break_even": "1%", "trailing_stop": "2%"}', null, null],
    ['{"break_even": "1%", "trailing_stop": "2%", "stop_loss": "none"}', null, null],
    ['{"break_even": "1%", "stop_loss": "none"}', /there is none: send "stop_loss"/, null],
    ['{"break_even": "1%", "stop_loss": "none", "trailing_stop": "none"}', /there is none/, /there is none: send "stop_loss"/],
    ['{"break_even": "tp1", "stop_loss": "2%"}', /there is none: send "take_profit"/, null],
    ['{"break_even": "tp1", "stop_loss": "2%", "take_profit": "none"}', /there is none: send "take_profit"/, /send "take_profit"/],
    ['{"break_even": "tp1", "stop_loss": "2%", "take_profit": "2%"}', null, null],
    ['{"break_even": "none"}', null, null],
  ];
  for (const [json, fromFlat, held] of ROWS)
    test(`${json}: from flat ${fromFlat ? 'it is known' : 'nothing'}, else ${held ? 'it is known too' : 'nothing'}`, () => {
      for (const [expected, isFromFlat] of [
        [fromFlat, true],
        [held, false],
      ] as const) {
        const found = contradiction(wish(json), { isFromFlat });
        if (expected === null) assert.equal(found, null);
        else assert.match(found ?? '', expected);
      }
    });

  test('a trailing stop is a stop, what is removed is none', () => {
    assert.ok(asksForStop(wish('{"stop_loss": "2%"}')) && asksForStop(wish('{"trailing_stop": "2%"}')));
    assert.ok(!asksForStop(wish('{"stop_loss": "none", "take_profit": "2%"}')));
  });
});

describe('What a broker cannot keep', () => {
  const why = (broker: BrokerName, json: string, quantity: string | null = '1') =>
    whyUnsupported(wish(json), {
      ...BROKERS[broker],
      quantity: quantity === null ? null : decimal(quantity),
    });

  test('without stops is refused by name, and the clock is taken', () => {
    for (const broker of BROKER_NAMES.filter((name) => BROKERS[name].capabilities.stop === 'none')) {
      for (const field of ['stop_loss', 'take_profit', 'trailing_stop', 'break_even'])
        assert.match(
          why(broker, JSON.stringify({ [field]: '2%' })) ?? '',
          new RegExp(`keeps no stops and no targets: leave out "${field}"\\. "time_stop" is taken\\.$`),
        );
      assert.match(
        why(broker, '{"stop_loss": "2%", "take_profit": "3%", "time_stop": 60}') ?? '',
        /"stop_loss", "take_profit"\./,
      );
      assert.equal(why(broker, '{"time_stop": 60}'), null);
      assert.equal(why(broker, '{"stop_loss": "none", "take_profit": "none"}'), null);
      assert.equal(why(broker, '{}'), null);
    }
    assert.match(why('shioaji', '{"stop_loss": "2%"}') ?? '', /^Shioaji \(SinoPac\) keeps no stops/);
  });

  test('of a fraction of a share is refused with the whole ones', () => {
    const stop = '{"stop_loss": "2%"}';
    assert.equal(why('alpaca', stop, '3.5'), 'Alpaca keeps stops for whole shares only: send 3, not 3.5.');
    assert.equal(
      why('alpaca', stop, '0.5'),
      'Alpaca keeps stops for whole shares only: send at least 1, not 0.5.',
    );
    assert.equal(
      why('alpaca', '{"take_profit": "2%"}', '3.5'),
      'Alpaca keeps targets for whole shares only: send 3, not 3.5.',
    );
    assert.match(why('alpaca', '{"trailing_stop": "2%", "take_profit": "2%"}', '3.5') ?? '', /keeps stops/);
    for (const quantity of ['3', null]) assert.equal(why('alpaca', stop, quantity), null);
    assert.equal(why('alpaca', '{"time_stop": 60}', '3.5'), null);
  });

  test('is nothing at every other broker', () => {
    for (const broker of BROKER_NAMES.filter((name) => name !== 'shioaji' && name !== 'alpaca'))
      assert.equal(why(broker, '{"stop_loss": "2%", "take_profit": "2%"}', '0.005'), null, broker);
  });
});

test('a stop that breaks even never stands at a loss', () => {
  const tick = fc.constantFrom(...['0.01', '0.25', '1', '5'].map(decimal));
  const offset = fc.option(anyDistance);
  fc.assert(
    fc.property(
      offset,
      fc.constantFrom('long', 'short'),
      positive(10n ** 8n, 4),
      tick,
      (beyond, side, entry, step) => {
        const price = breakEvenPrice({ at: 'tp1', offset: beyond }, { side, entry, tick: step });
        if (price === null) return assert.equal(side, 'short');
        assert.ok(compare(price, entry) * (side === 'long' ? 1 : -1) >= 0);
        if (beyond) assert.notEqual(price, entry);
      },
    ),
  );
  const at = { side: 'long', entry: decimal('64000.03'), tick: decimal('0.1') } as const;
  assert.equal(breakEvenPrice({ at: 'tp1', offset: null }, at), '64000.1');
  assert.equal(breakEvenPrice({ at: 'tp1', offset: { unit: 'ticks', value: decimal(3) } }, at), '64000.3');
});
