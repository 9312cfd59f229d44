// What a signal says of protection: by its row, in its fingerprint, and, where it says nothing of it, as it always was.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { UserId } from '../../src/domain/ids.ts';
import { isEntry } from '../../src/domain/orders/entitlement.ts';
import { withDefaults } from '../../src/domain/protection/defaults.ts';
import { PROTECTION_FIELDS, readWish, type Wish, wishJson } from '../../src/domain/protection/wish.ts';
import { asksForProtection, insteadOf } from '../../src/domain/signals/refused-fields.ts';
import { readBody, readSignal, type Signal } from '../../src/domain/signals/signal.ts';
import { fillTemplate, workingMessage } from '../../src/domain/signals/template.ts';
import { fingerprint } from '../../src/domain/signals/webhook.ts';
import recorded from './recorded-readings.json' with { type: 'json' };
import { anyWish } from './wishes.ts';

const good = {
  action: 'buy',
  symbol: 'BTCUSDT.P',
  quantity: 1,
  timestamp: '2026-11-15T10:00:00Z',
  secret: 's',
};
const { quantity: _, ...bare } = good;
const ON = { simulation: false } as const;
type Options = Parameters<typeof readSignal>[1];

const read = (body: object | string, options: Options = ON) =>
  readSignal(readBody(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))), options);
function signal(body: object | string, options: Options = ON): Signal {
  const reading = read(body, options);
  assert.ok('signal' in reading, JSON.stringify(reading));
  return reading.signal;
}
function problem(body: object | string, options: Options = ON): string {
  const reading = read(body, options);
  assert.ok('problem' in reading, JSON.stringify(reading));
  return reading.problem;
}
const printOf = (body: object | string, options: Options = ON) =>
  fingerprint('u' as UserId, signal(body, options));

describe('A message that says nothing of protection', () => {
  test('is read, refused and fingerprinted as it was recorded before anything of this was read', () => {
    assert.ok(recorded.length > 50);
    for (const row of recorded) {
      const { body } = row;
      const reading = read(body);
      if ('problem' in reading) assert.deepEqual({ body, problem: reading.problem }, row);
      else {
        const { intent, ignored, orderType, quantity } = reading.signal;
        const print = fingerprint('u' as UserId, reading.signal);
        const { operation } = intent;
        assert.deepEqual(
          { body, fingerprint: print, operation, order_type: orderType, quantity, ignored },
          row,
        );
      }
    }
  });

  test('asks for none', () => {
    assert.equal(signal(good).protection, null);
  });
});

describe('An entry', () => {
  const rows: readonly object[] = [
    { action: 'buy' },
    { action: 'sell' },
    { action: 'BUY', order_type: 'entry' },
    { action: 'long_entry' },
    { action: 'short_entry' },
    { action: 'buy', market_position: 'long' },
    { action: 'sell', market_position: 'short', market_position_size: 2 },
  ];
  for (const row of rows)
    test(`${JSON.stringify(row)} asks for what its fields say, and ignores none of them`, () => {
      const said = {
        stop_loss: '2 %',
        take_profit: 70000,
        trailing_stop: '1%',
        break_even: 'tp1',
        time_stop: 3600,
      };
      const { protection, ignored } = signal({ ...good, ...row, ...said, comment: 'x' });
      assert.deepEqual(protection && wishJson(protection), {
        stop_loss: '2%',
        take_profit: [{ at: '70000', percent: '100' }],
        trailing_stop: { distance: '1%' },
        break_even: { at: 'tp1' },
        time_stop: '3600',
      });
      assert.deepEqual(ignored, ['comment']);
      assert.equal(signal({ ...good, ...row }).protection, null);
      assert.equal(signal({ ...good, ...row, stop_loss: '', take_profit: null }).protection, null);
      for (const value of ['NaN', 'na', '{{plot_0}}', '{{plot("SL")}}', 'NaN%'])
        assert.match(
          problem({ ...good, ...row, stop_loss: value }),
          /^"stop_loss" is .*: the platform did not fill it in/,
        );
      assert.match(
        problem({ ...good, ...row, take_profit: 0 }),
        /^"take_profit" is 0: it must be above zero/,
      );
    });

  test('has any wish as it was said', () => {
    fc.assert(
      fc.property(anyWish, (wish) => {
        const body = { ...good, ...wishJson(wish) };
        const reading = read(body);
        if ('problem' in reading) return assert.match(reading.problem, /^"break_even"/);
        const { protection, ignored } = reading.signal;
        assert.deepEqual(protection ?? {}, wish);
        assert.deepEqual(ignored, []);
      }),
      { numRuns: 500 },
    );
  });

  test('has the fingerprint that it has without protection', () => {
    const plain = printOf(good, { simulation: false });
    assert.equal(printOf({ ...good, stop_loss: '2%' }), plain);
    assert.equal(printOf({ ...good, stop_loss: '3%', time_stop: 60 }), plain);
    const named = { ...good, id: 'Long', market_position: 'long', market_position_size: 1 };
    assert.equal(printOf({ ...named, stop_loss: '2%' }), printOf(named, { simulation: false }));
  });

  test('from flat that breaks even has a stop, by its own word or by its account’s', () => {
    const flat = { prev_market_position: 'flat', break_even: '1%' };
    assert.match(problem({ ...good, ...flat }), /^"break_even" moves a stop, and there is none/);
    assert.ok(signal({ ...good, ...flat, stop_loss: '2%' }));
    assert.ok(signal({ ...good, ...flat, trailing_stop: '2%' }));
    // Elsewhere it may stand there already.
    assert.ok(signal({ ...good, break_even: '1%' }));
    assert.ok(signal({ ...good, ...flat, prev_market_position: 'long' }));
    const defaults = { '*': stopAt('2%') };
    const filledIn = (wish: Wish, symbol: string) => withDefaults(wish, defaults, (name) => name === symbol);
    assert.deepEqual(wishJson(signal({ ...good, ...flat }, { ...ON, filledIn }).protection ?? {}), {
      break_even: { at: '1%' },
    });
    assert.match(
      problem({ ...good, ...flat, stop_loss: 'none' }, { ...ON, filledIn }),
      /^"break_even" moves/,
    );
  });

  test('is refused for a script’s own names in ticks, which an exit may have beside it', () => {
    assert.match(
      problem({ ...good, loss: 20 }),
      /^"loss" is not understood here\. Send "stop_loss": .*"20t"/,
    );
    assert.match(
      problem({ ...good, profit: '40' }),
      /^"profit" is not understood here\. Send "take_profit": /,
    );
    assert.deepEqual(signal({ ...good, loss: null, profit: '' }).ignored, ['loss', 'profit']);
    assert.deepEqual(signal({ ...bare, action: 'close', profit: -12.5 }).ignored, ['profit']);
  });
});

function stopAt(level: string): Wish {
  const wish = readWish({ stop_loss: level });
  assert.ok('wish' in wish);
  return wish.wish;
}

describe('Whatever only reduces, or reports', () => {
  const rows: readonly object[] = [
    { action: 'buy', order_type: 'exit' },
    { action: 'close_long' },
    { action: 'close_short' },
    { action: 'long_exit' },
    { action: 'short_exit' },
    { action: 'close', quantity: undefined },
    { action: 'sell', market_position: 'flat' },
    { action: 'buy', market_position: 'flat', market_position_size: 0 },
    { action: 'sell', market_position: 'long', market_position_size: 1 },
    { action: 'sync', quantity: undefined, market_position: 'long', market_position_size: 2 },
  ];
  for (const row of rows)
    test(`${JSON.stringify(row)} does not use the fields, filled in or not, and lists them`, () => {
      for (const value of [
        'NaN',
        'na',
        '{{plot_0}}',
        '{{plot("SL")}}',
        '',
        null,
        0,
        '-2%',
        'x',
        '2%',
        [],
        {},
        true,
      ]) {
        const fields = Object.fromEntries(PROTECTION_FIELDS.map((name) => [name, value]));
        for (const follow of [false, true]) {
          const { protection, ignored } = signal({ ...good, ...row, ...fields }, { ...ON, follow });
          assert.equal(protection, null);
          assert.deepEqual(ignored, [...PROTECTION_FIELDS]);
        }
        assert.equal(
          printOf({ ...good, ...row, ...fields }),
          printOf({ ...good, ...row }, { simulation: false }),
        );
      }
    });
});

describe('The action protect', () => {
  const protect = { ...bare, action: 'protect', stop_loss: '2%' };

  test('trades nothing, has an exit’s rights, and asks for what its fields say', () => {
    const { action, intent, orderType, quantity, protection, ignored } = signal({
      ...protect,
      action: ' Protect ',
    });
    assert.deepEqual(
      [action, intent, orderType, quantity],
      ['protect', { operation: 'PROTECT_POSITION', direction: null }, null, '0'],
    );
    assert.ok(!isEntry(intent));
    assert.deepEqual(protection && wishJson(protection), { stop_loss: '2%' });
    assert.deepEqual(ignored, []);
  });

  test('ignores a quantity, and lists it', () => {
    for (const quantity of [1, '1', 'NaN', '{{strategy.order.contracts}}', 'x', 0]) {
      const { ignored, quantity: read } = signal({ ...protect, quantity, comment: 'x' });
      assert.deepEqual([ignored, read], [['quantity', 'comment'], '0']);
      assert.equal(printOf({ ...protect, quantity }), printOf(protect));
    }
  });

  test('says at least one thing', () => {
    for (const fields of [{}, { stop_loss: null }, { stop_loss: '', time_stop: ' ' }])
      assert.match(
        problem({ ...bare, action: 'protect', ...fields }),
        /^The action protect needs at least one of stop_loss, take_profit, trailing_stop, break_even, time_stop\.$/,
      );
    assert.ok(signal({ ...bare, action: 'protect', stop_loss: 'none' }).protection);
  });

  test('is refused for what was not filled in, and for what makes no sense', () => {
    assert.match(problem({ ...protect, stop_loss: 'NaN' }), /the platform did not fill it in/);
    assert.match(problem({ ...protect, take_profit: 'far' }), /^"take_profit" is "far": send a price/);
    assert.match(problem({ ...protect, order_type: 'entry' }), /contradicts the action protect/);
    assert.match(problem({ ...protect, market_position: 'long' }), /does not go with the action protect/);
    assert.match(
      problem({ ...protect, stop_loss: 'none', trailing_stop: 'none', break_even: '1%' }),
      /^"break_even" moves a stop/,
    );
    assert.match(problem({ ...protect, symbol: undefined }), /^"symbol" is missing/);
    assert.ok(signal({ ...protect, order_type: 'exit', break_even: 'tp1' }));
  });

  test('is fingerprinted with what it asks for, in one form', async () => {
    const text = `u:protect:BTCUSDT.P:0:${good.timestamp}:s:{"stop_loss":"2%","take_profit":[{"at":"70000","percent":"100"}]}`;
    const digest = await crypto.subtle.digest('SHA-256', Buffer.from(text));
    assert.equal(
      printOf({ ...protect, take_profit: 70000 }),
      Buffer.from(digest).toString('hex').slice(0, 32),
    );
    const same = ['2%', '2 %', '2.0%', { percent: 2 }, { percent: '2' }];
    assert.equal(new Set(same.map((stop_loss) => printOf({ ...protect, stop_loss }))).size, 1);
    const others = ['2%', '3%', '2t', '2p', 2, 'none'];
    assert.equal(new Set(others.map((stop_loss) => printOf({ ...protect, stop_loss }))).size, others.length);
    assert.notEqual(printOf({ ...protect, id: 'x' }), printOf(protect));
    // The order of the fields is nothing that a sender decides.
    assert.equal(
      printOf({ take_profit: '4%', ...protect }),
      printOf({ ...protect, take_profit: { percent: '4.0' } }),
    );
  });

  test('is two where two wishes differ, and one where they do not', () => {
    const moves = anyWish.filter((wish) => Object.keys(wish).length > 0);
    fc.assert(
      fc.property(moves, moves, (one, other) => {
        const [a, b] = [one, other].map((wish) => read({ ...bare, action: 'protect', ...wishJson(wish) }));
        if (!a || !b || 'problem' in a || 'problem' in b) return;
        const isSame = JSON.stringify(wishJson(one)) === JSON.stringify(wishJson(other));
        const prints = [a, b].map((reading) => fingerprint('u' as UserId, reading.signal));
        assert.equal(prints[0] === prints[1], isSame);
      }),
      { numRuns: 300 },
    );
  });
});

describe('Another name for it', () => {
  // biome-ignore format: a table, one kind a line
  const KINDS: readonly (readonly [ours: RegExp, names: readonly string[]])[] = [
    [/^Send "stop_loss": a price as a number, or a distance/, ['sl', 'SL', 'stop', 'stopLoss', 'STOP_LOSS', 'stop-loss', 'sl_percent', 'slTriggerPx', 'stopLossPrice', 'use_stop_loss', 'presetStopLossPrice']],
    [/^Send "take_profit": a price as a number, or a distance/, ['tp', 'tp1', 'takeProfit', 'TAKE_PROFIT', 'tp1_price', 'target', 'profit_target', 'presetTakeProfitPrice']],
    [/^Send "trailing_stop": a distance/, ['trail', 'trailingStop', 'trail_points', 'trailPercent', 'callbackRate', 'activationPrice', 'trailing_take_profit']],
    [/^Send "break_even": a level, or "tp1"/, ['breakeven', 'breakEven', 'moveToBreakeven']],
    [/^Send "action": "protect" with the new "stop_loss"/, ['moveStopLoss']],
    [/^Send "stop_loss", "take_profit" and "trailing_stop"/, ['bracket', 'oco', 'order_class', 'tpslMode', 'attachAlgoOrds']],
    [/^Send "time_stop": seconds/, ['timeStop', 'time-stop', 'TIME_STOP']],
  ];
  for (const [ours, names] of KINDS)
    test(`is refused with ours in the text: ${names.join(', ')}`, () => {
      for (const name of names) {
        const words = problem({ ...good, [name]: '2%' });
        assert.ok(words.startsWith(`"${name}" is not understood here. `), words);
        assert.match(words.slice(words.indexOf('. ') + 2), ours);
        assert.ok('problem' in read({ ...bare, action: 'close', [name]: '2%' }), 'of an exit too');
        assert.ok(asksForProtection(name), name);
      }
    });

  test('of what is something else is refused as ever', () => {
    for (const name of [
      'limit_price',
      'stop_price',
      'orderType',
      'sentiment',
      'quantity_type',
      'leverage',
      'reduceOnly',
    ]) {
      assert.notEqual(insteadOf(name), null);
      assert.ok(!asksForProtection(name), name);
    }
    for (const name of ['comment', 'x'.repeat(100), 'constructor']) assert.ok(!asksForProtection(name));
  });
});

describe('A template', () => {
  const now = Date.parse('2026-11-15T10:00:00Z');
  const template = (fields: string) =>
    `{"action": "{{strategy.order.action}}", "symbol": "{{ticker}}", "quantity": {{strategy.order.contracts}}, ${fields}, "timestamp": "{{timenow}}", "secret": "s"}`;

  test('with what a script draws is read as it would be filled in', () => {
    const text = template(
      '"stop_loss": "{{plot("SL")}}", "take_profit": [{"at": "{{plot("TP 1")}}", "percent": 50}, {"at": "{{plot_3}}%", "percent": 50}], "trailing_stop": "{{ plot_1 }} ticks"',
    );
    const filled = fillTemplate(text, now);
    assert.deepEqual(wishJson(signal(filled.text).protection ?? {}), {
      stop_loss: '1',
      take_profit: [
        { at: '1000000', percent: '50' },
        { at: '1%', percent: '50' },
      ],
      trailing_stop: { distance: '1t' },
    });
    assert.deepEqual(
      filled.examples.filter(({ placeholder }) => placeholder.includes('plot')).map(({ field }) => field),
      ['stop_loss', 'at', 'at', 'trailing_stop'],
    );
  });

  test('is filled in as ever elsewhere', () => {
    const text = template('"stop_loss": "{{plot("SL")}}", "price": {{plot_0}}');
    assert.ok(fillTemplate(text, now).text.includes('"stop_loss": "1", "price": {{plot_0}}'));
  });

  test('that does not work keeps its protection in the one that does', () => {
    const message = JSON.stringify({ ...good, stop_loss: '2%', sl: 5, timestamp: 'soon' });
    const works = JSON.parse(workingMessage(message, now));
    assert.deepEqual([works.stop_loss, works.sl], ['2%', undefined]);
  });
});
