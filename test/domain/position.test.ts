import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { absolute, add, compare, type Decimal, decimal, negate, sign } from '../../src/domain/decimal.ts';
import type { Direction, OrderIntent, Side } from '../../src/domain/orders/order.ts';
import { planOrder } from '../../src/domain/orders/position.ts';

const entry = (side: Side): OrderIntent => ({ operation: 'PLACE_ENTRY_ORDER', side });
const exit = (direction: Direction): OrderIntent => ({ operation: 'PLACE_EXIT_ORDER', direction });
const close = (direction: Direction): OrderIntent => ({ operation: 'CLOSE_POSITION', direction });

function play(intent: OrderIntent, quantity: Decimal, position: Decimal) {
  const plan = planOrder(intent, quantity, [{ instrument: 'BTCUSDT', quantity: position }], 'BTCUSDT');
  const steps = plan.legs.map((leg) => `${leg.side} ${leg.quantity}`);
  const final = plan.legs.reduce(
    (held, leg) => add(held, leg.side === 'buy' ? leg.quantity : negate(leg.quantity)),
    position,
  );
  return { ...plan, steps, final };
}

describe('Auto-reversal table', () => {
  const rows: [string, string, Side, string[], string][] = [
    ['flat, then long_entry (buy 1), buys 1 and ends long 1', '0', 'buy', ['buy 1'], '1'],
    ['long 1, then long_entry (buy 1), buys 1 and ends long 2', '1', 'buy', ['buy 1'], '2'],
    [
      'short 2, then long_entry (buy 1), closes the short, buys 1 and ends long 1',
      '-2',
      'buy',
      ['buy 2', 'buy 1'],
      '1',
    ],
    ['flat, then short_entry (sell 1), sells 1 and ends short 1', '0', 'sell', ['sell 1'], '-1'],
    [
      'long 3, then short_entry (sell 1), closes the long, sells 1 and ends short 1',
      '3',
      'sell',
      ['sell 3', 'sell 1'],
      '-1',
    ],
    ['short 1, then short_entry (sell 1), sells 1 and ends short 2', '-1', 'sell', ['sell 1'], '-2'],
  ];
  for (const [name, position, side, steps, final] of rows)
    test(name, () => {
      const played = play(entry(side), decimal(1), decimal(position));
      assert.deepEqual(played.steps, steps);
      assert.equal(played.final, final);
      assert.equal(played.autoExit, steps.length === 2);
      assert.deepEqual(
        played.legs.map((leg) => leg.leg),
        steps.length === 2 ? ['exit', 'entry'] : ['entry'],
      );
    });
});

describe('Exits and closes', () => {
  const rows: [string, OrderIntent, string, string, string[], string][] = [
    ['long 3, then long_exit 1, ends long 2', exit('long'), '3', '1', ['sell 1'], '2'],
    ['long 1, then long_exit 5, takes only what is held', exit('long'), '1', '5', ['sell 1'], '0'],
    ['short 1, then long_exit 1, does nothing', exit('long'), '-1', '1', [], '-1'],
    ['short 3, then short_exit 1, ends short 2', exit('short'), '-3', '1', ['buy 1'], '-2'],
    ['flat, then short_exit 1, does nothing', exit('short'), '0', '1', [], '0'],
    [
      'long 2.5, then close_long, ends flat whatever the quantity',
      close('long'),
      '2.5',
      '1',
      ['sell 2.5'],
      '0',
    ],
    [
      'short 2.5, then close_short, ends flat whatever the quantity',
      close('short'),
      '-2.5',
      '99',
      ['buy 2.5'],
      '0',
    ],
    ['short 1, then close_long, does nothing', close('long'), '-1', '1', [], '-1'],
  ];
  for (const [name, intent, position, quantity, steps, final] of rows)
    test(name, () => {
      const played = play(intent, decimal(quantity), decimal(position));
      assert.deepEqual([played.steps, played.final], [steps, final]);
    });
});

const quantities = fc.integer({ min: 1, max: 1_000_000 }).map((n) => decimal((n / 1000).toFixed(3)));
const positions = fc.integer({ min: -1_000_000, max: 1_000_000 }).map((n) => decimal((n / 1000).toFixed(3)));
const intents = fc.oneof(
  fc.constantFrom<Side>('buy', 'sell').map(entry),
  fc.constantFrom<Direction>('long', 'short').map(exit),
  fc.constantFrom<Direction>('long', 'short').map(close),
);

test('for any position and any sequence of signals, the position after equals the table', () => {
  fc.assert(
    fc.property(positions, fc.array(fc.tuple(intents, quantities), { maxLength: 20 }), (start, signals) => {
      let position = start;
      for (const [intent, quantity] of signals) {
        const { final } = play(intent, quantity, position);
        assert.equal(final, expected(intent, quantity, position));
        position = final;
      }
    }),
  );

  /** The spec's tables, said another way: by the sign of the position alone. */
  function expected(intent: OrderIntent, quantity: Decimal, position: Decimal): Decimal {
    const held = sign(position);
    if (intent.operation === 'PLACE_ENTRY_ORDER') {
      const change = intent.side === 'buy' ? quantity : negate(quantity);
      return held * sign(change) < 0 ? change : add(position, change);
    }
    if (held !== (intent.direction === 'long' ? 1 : -1)) return position;
    if (intent.operation === 'CLOSE_POSITION' || compare(quantity, absolute(position)) >= 0)
      return decimal(0);
    return add(position, held > 0 ? negate(quantity) : quantity);
  }
});

test('an exit or close never flips and never grows a position', () => {
  const closing = intents.filter((intent) => intent.operation !== 'PLACE_ENTRY_ORDER');
  fc.assert(
    fc.property(closing, quantities, positions, (intent, quantity, position) => {
      const { final } = play(intent, quantity, position);
      assert.ok(sign(final) === sign(position) || sign(final) === 0);
      assert.ok(compare(absolute(final), absolute(position)) <= 0);
    }),
  );
});
