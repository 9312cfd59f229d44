// What keeps nobody in a position, and brings nobody into one: exits and targets after a close that was refused, cut short or
// cancelled, behind entries whose end nobody knows, and on a position that is shown late.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Decimal, decimal } from '../../src/domain/decimal.ts';
import { type OrderId, timestamp } from '../../src/domain/ids.ts';
import { afterLook, recordState } from '../../src/domain/orders/fill.ts';
import { nextStep } from '../../src/domain/orders/next-step.ts';
import {
  type Direction,
  type Leg,
  type LegStatus,
  NO_NOTES,
  type Order,
  type OrderIntent,
  type Side,
} from '../../src/domain/orders/order.ts';
import type { OtherLeg } from '../../src/domain/orders/other-legs.ts';
import { plannedPosition } from '../../src/domain/orders/position.ts';
import { fillOf, slippage } from '../../src/domain/orders/result.ts';
import { isSettleable, settle } from '../../src/domain/orders/settle.ts';
import type { Facts, Step } from '../../src/domain/orders/step.ts';
import { facts, held, NOW, RULES } from './deciding.ts';
import { DAY, order, sell } from './traded.ts';

const [LEG] = order(0, [sell(1, 100)]).legs as [Leg];

const leg = (
  name: 'entry' | 'exit',
  side: Side,
  quantity: number,
  status: LegStatus,
  fill = 0,
  more: Partial<Leg> = {},
): Leg => ({
  ...LEG,
  ...{ leg: name, side, status, instrument: 'BTCUSDT' },
  quantity: decimal(quantity),
  fillQuantity: decimal(fill),
  ...more,
});

const executing = (intent: OrderIntent, legs: readonly Leg[] = [], more: Partial<Order> = {}): Order =>
  order(0, [], {
    ...{ status: 'executing', intent, legs, submittedAt: timestamp(NOW - 1_000) },
    deadlineAt: timestamp(NOW + 299_000),
    ...more,
  });

const closing = (direction: Direction | null): OrderIntent => ({ operation: 'CLOSE_POSITION', direction });

const other = (
  side: Side,
  quantity: number,
  status: LegStatus,
  name: 'entry' | 'exit' = 'entry',
): OtherLeg => ({
  orderId: 'other' as OrderId,
  leg: leg(name, side, quantity, status, 0, { sentAt: timestamp(NOW - 2_000) }),
});

const decided = (of: Order, more: Partial<Facts>): Step =>
  nextStep(of, facts({ othersWatch: { looks: 1, ms: 2_500 }, ...more }), RULES);

/** What is sent now, or how it ends. */
function said(step: Step): readonly unknown[] {
  if (step.do === 'end') return ['end', step.order.status, step.order.error?.code ?? null];
  if (step.do !== 'send') return [step.do];
  const next = step.order.legs.find(({ status }) => status === 'planned');
  return [next?.leg, next?.side, next?.quantity];
}

describe('A target whose close the broker has cancelled', () => {
  const towards = (position: number): OrderIntent => ({
    ...{ operation: 'PLACE_ENTRY_ORDER', side: 'buy' },
    target: { position: decimal(position), opens: 'buy' },
  });

  test('opens what is missing to it where less is held by then, and not all of it once more', () => {
    const asked = executing(towards(3), [leg('exit', 'sell', 2, 'cancelled', 1)], {
      positionBefore: decimal(5),
    });
    const step = decided(asked, { position: held(1) });
    assert.deepEqual(said(step), ['entry', 'buy', '2']);
    assert.ok(step.do === 'send');
    assert.equal(plannedPosition(step.order), '3');
    assert.deepEqual(said(decided(asked, { position: held(3) })), ['end', 'done', null]);
  });

  test('nor where an entry of ours has turned the position meanwhile', () => {
    const asked = executing(towards(3), [leg('exit', 'buy', 5, 'cancelled')], {
      positionBefore: decimal(-5),
    });
    assert.deepEqual(said(decided(asked, { position: held(1) })), ['entry', 'buy', '2']);
  });

  for (const status of ['cancelled', 'rejected'] as const)
    test(`opens nothing that protection closed, though its own close was ${status} with nothing taken`, () => {
      const asked = executing(
        { ...towards(3), target: { position: decimal(3), opens: null } },
        [leg('exit', 'sell', 2, status)],
        { positionBefore: decimal(5), notes: { ...NO_NOTES, staysIn: true } },
      );
      assert.deepEqual(said(decided(asked, { position: held(1) })), ['ask who closed it']);
      assert.deepEqual(said(decided(asked, { position: held(1), closedBy: 'protection' })), [
        ...['end', 'rejected', 'stopped_out'],
      ]);
      assert.deepEqual(said(decided(asked, { position: held(1), closedBy: 'somebody' })), [
        ...['entry', 'buy', '2'],
      ]);
    });
});

describe('An exit that the broker does not take beside an order of the other side', () => {
  const words = 'potential wash trade';
  const opposed = (times: number): Facts['opposed'] => ({
    ...{ side: 'sell', times },
    error: { code: 'failed_at_broker', message: words },
  });
  const exit = executing(closing('long'));
  const others = [other('buy', 5, 'partially_filled')];

  test('takes back what is open of our own entries, also one at the market, and nothing else', () => {
    const step = decided(exit, { others, opposed: opposed(1) });
    assert.deepEqual(step, { do: 'take back', others });
    assert.deepEqual(said(decided(exit, { others, position: held(3) })), ['exit', 'sell', '3']);
    for (const beside of [other('sell', 5, 'placed'), other('buy', 5, 'placed', 'exit')])
      assert.deepEqual(said(decided(exit, { others: [beside], opposed: opposed(1) })), ['read the position']);
  });

  test('is sent again at once, and then after longer and longer pauses, whatever became of them', () => {
    const pauses = [1, 2, 3, 20].map((times) => {
      const step = decided(exit, { others, opposed: opposed(times), isCleared: true });
      assert.ok(step.do === 'read the position');
      return [step.afterMs, step.rests];
    });
    assert.deepEqual(pauses, [
      [0, false],
      [500, true],
      [1_000, true],
      [15_000, true],
    ]);
    const cleared = { others, opposed: opposed(9), isCleared: true, position: held(3) };
    assert.deepEqual(said(decided(exit, cleared)), ['exit', 'sell', '3']);
  });

  test('is refused after some fifteen seconds where nothing of ours is there: somebody else has to take that away', () => {
    assert.deepEqual(said(decided(exit, { opposed: opposed(6) })), ['read the position']);
    assert.deepEqual(said(decided(exit, { opposed: opposed(7) })), ['end', 'rejected', 'failed_at_broker']);
    const there = { others, isCleared: true, opposed: opposed(7) };
    assert.deepEqual(said(decided(exit, there)), ['read the position']);
  });

  test('says at its deadline what was in the way', () => {
    const late = { ...exit, deadlineAt: timestamp(NOW - 1) };
    const step = decided(late, { opposed: opposed(20) });
    assert.deepEqual(said(step), ['end', 'expired', 'expired']);
    assert.match(step.do === 'end' ? (step.order.error?.message ?? '') : '', new RegExp(words));
  });
});

const TO_NOTHING: OrderIntent = {
  ...{ operation: 'PLACE_EXIT_ORDER', direction: 'long' },
  target: { position: decimal(0), opens: null },
};

describe('An exit behind an entry of which nobody knows the end', () => {
  const clamped = leg('exit', 'sell', 3, 'cancelled', 2);
  const waiting = executing(closing('long'), [clamped], { positionBefore: decimal(3), awaitsRest: true });

  test('closes what that brings, though its first close was cut short because a stop took a part', () => {
    assert.deepEqual(said(decided(waiting, { others: [other('buy', 5, 'unknown')], position: held(0) })), [
      'look at others',
    ]);
    assert.deepEqual(said(decided(waiting, { position: held(5) })), ['exit', 'sell', '5']);
    // A stop had taken all of it first, and what was held is what has come since.
    const nothing = { ...waiting, legs: [leg('exit', 'sell', 5, 'cancelled')], positionBefore: decimal(5) };
    assert.deepEqual(said(decided(nothing, { position: held(5) })), ['exit', 'sell', '5']);
    assert.deepEqual(
      said(decided(nothing, { others: [other('buy', 5, 'partially_filled')], position: held(4) })),
      ['exit', 'sell', '4'],
    );
  });

  test('asks once more where the broker has kept a part; kept again, its word stands, and is told at once', () => {
    const facing = { others: [other('buy', 5, 'unknown')], position: held(1) };
    const step = decided(waiting, facing);
    assert.deepEqual(said(step), ['exit', 'sell', '1']);
    const again = { ...waiting, legs: [clamped, leg('exit', 'sell', 1, 'cancelled', 0, { nth: 2 })] };
    assert.deepEqual(said(decided(again, facing)), ['end', 'cancelled', 'cancelled_by_broker']);
  });

  test('does not ask for ever: what the broker ends once more is kept', () => {
    const again = {
      ...waiting,
      legs: [clamped, leg('exit', 'sell', 5, 'cancelled', 0, { nth: 2 })],
    };
    assert.deepEqual(said(decided(again, { position: held(5) })), [
      ...['end', 'cancelled', 'cancelled_by_broker'],
    ]);
  });

  for (const [what, intent] of [
    ['a close of either side', closing(null)],
    ['a target of 0', TO_NOTHING],
  ] as const) {
    test(`closes the other side too where that has turned the position: ${what}`, () => {
      const closed = executing(intent, [leg('exit', 'sell', 5, 'filled', 5)], {
        ...{ positionBefore: decimal(5), awaitsRest: true },
      });
      assert.deepEqual(said(decided(closed, { position: held(-2) })), ['exit', 'buy', '2']);
    });

    test(`and where its own close was refused, as that had closed all of it: ${what}`, () => {
      const refused = executing(intent, [leg('exit', 'sell', 5, 'rejected')], {
        exitError: { code: 'no_position', message: 'reduce-only' },
      });
      assert.deepEqual(said(decided(refused, { position: held(-2) })), ['exit', 'buy', '2']);
    });
  }

  test('does not say at its deadline that it was not sent, nor that all is closed, where a close was cut short', () => {
    const late = { ...waiting, deadlineAt: timestamp(NOW - 1) };
    for (const others of [[other('buy', 5, 'unknown')], []]) {
      const step = decided(late, { others });
      assert.deepEqual(said(step), ['end', 'expired', 'expired']);
      const words = step.do === 'end' ? (step.order.error?.message ?? '') : '';
      assert.match(words, /stays open/);
      assert.doesNotMatch(words, /is closed|not sent/);
    }
  });

  test('says that nobody has looked for the rest where it ended by a close that was at the broker at its deadline', () => {
    const placed = executing(closing('long'), [leg('exit', 'sell', 3, 'placed')], {
      ...{ positionBefore: decimal(3), awaitsRest: true, deadlineAt: timestamp(NOW - 1) },
    });
    const step = decided(placed, { others: [other('buy', 5, 'placed')] });
    assert.ok(step.do === 'end');
    assert.equal(step.order.status, 'placed');
    const filled = seenFilled(step.order, '3' as Decimal);
    assert.deepEqual([filled.status, filled.error?.code], ['filled', 'expired']);
    assert.match(filled.error?.message ?? '', /close what is left/);
  });
});

describe('Where orders are for now or not at all, and the broker takes back the rest because it was asked to', () => {
  const able = { refusesDuplicateIds: false, reduceOnly: false, fractionalQuantities: false };
  const cut = leg('exit', 'sell', 5, 'cancelled', 3);
  const exitError = { code: 'cancelled_by_broker', message: 'taken back' } as const;
  const brokerName = 'shioaji';
  const thin = (legs: readonly Leg[], more: Partial<Order> = {}): Order =>
    executing(closing('long'), legs, { ...{ positionBefore: decimal(5), exitError, brokerName }, ...more });
  const again = (nth: number, fill = 0): Leg => leg('exit', 'sell', 2, 'cancelled', fill, { nth });

  test('what is left is closed under the next id, as often as it takes', () => {
    for (const legs of [[cut], [cut, again(2)], [cut, again(2), again(3)]]) {
      const step = decided(thin(legs), { able, position: held(2) });
      assert.deepEqual(said(step), ['exit', 'sell', '2']);
      assert.ok(step.do === 'send');
      assert.equal(step.order.legs.at(-1)?.nth, legs.length + 1);
    }
    // All of it, where nobody took any.
    const none = thin([leg('exit', 'sell', 5, 'cancelled')]);
    assert.deepEqual(said(decided(none, { able, position: held(5) })), ['exit', 'sell', '5']);
  });

  test('of a position that was read after that, and agrees with our fills: never more than is held', () => {
    const unread = decided(thin([cut]), { able });
    assert.deepEqual(unread, { do: 'read the position', afterMs: 500, rests: true });
    assert.deepEqual(decided(thin([cut, again(2), again(3)]), { able }), {
      ...{ do: 'read the position', afterMs: 2_000, rests: true },
    });
    // It lags: 3 of these 5 are sold.
    assert.deepEqual(said(decided(thin([cut]), { able, position: held(5, 2) })), ['read the position']);
    assert.deepEqual(said(decided(thin([cut]), { able, position: held(1) })), ['exit', 'sell', '1']);
    assert.deepEqual(said(decided(thin([cut]), { able, position: held(0) })), ['end', 'filled', null]);
  });

  test('until its deadline: then it says what the broker said, with what was filled', () => {
    const late = thin([cut, again(2)], { deadlineAt: timestamp(NOW - 1) });
    assert.deepEqual(said(decided(late, { able })), ['end', 'cancelled', 'cancelled_by_broker']);
  });

  test('it is looked at until its end, since what comes then is for the worker to do', () => {
    const placed = thin([leg('exit', 'sell', 5, 'placed')]);
    const state = { brokerRef: 'x', fillQuantity: decimal(0), fillPrice: null, fee: null, reason: null };
    assert.equal(recordState(placed, 'exit', { ...state, status: 'placed' }, NOW).status, 'executing');
    const watch = { looks: 9, ms: 60_000 };
    assert.deepEqual(said(decided(placed, { able, watch })), ['look']);
    const late = { ...placed, deadlineAt: timestamp(NOW - 1) };
    assert.deepEqual(said(decided(late, { able, watch })), ['end', 'placed', null]);
  });

  test('an amount is closed, and no more', () => {
    const amount = executing(
      { operation: 'PLACE_EXIT_ORDER', direction: 'long' },
      [leg('exit', 'sell', 4, 'cancelled', 3)],
      { quantity: decimal(4), positionBefore: decimal(9), exitError, brokerName },
    );
    assert.deepEqual(said(decided(amount, { able, position: held(6) })), ['exit', 'sell', '1']);
  });

  test('a reversal goes on closing too, and opens when that is done', () => {
    const reversal = executing(
      { operation: 'PLACE_ENTRY_ORDER', side: 'sell' },
      [cut, { ...leg('entry', 'sell', 1, 'planned'), sentAt: null }],
      { positionBefore: decimal(5), quantity: decimal(1), exitError, brokerName },
    );
    assert.deepEqual(said(decided(reversal, { able })), ['read the position']);
    assert.deepEqual(said(decided(reversal, { able, position: held(2) })), ['exit', 'sell', '2']);
    assert.deepEqual(said(decided(reversal, { able, position: held(0) })), ['entry', 'sell', '1']);
  });

  test('a close that failed there, or was refused, keeps to the word that it has had', () => {
    const failed = thin([leg('exit', 'sell', 5, 'failed', 3)], {
      exitError: { code: 'failed_at_broker', message: 'no' },
    });
    assert.deepEqual(said(decided(failed, { able, position: held(2) })), [
      ...['end', 'failed', 'failed_at_broker'],
    ]);
  });
});

test('A symbol that rolls: a month whose close was never sent until the deadline is not told as closed', () => {
  const months = executing(
    closing('long'),
    [
      leg('exit', 'sell', 3, 'placed', 0, { instrument: 'TXFA' }),
      { ...leg('exit', 'sell', 2, 'planned', 0, { nth: 2, instrument: 'TXFB' }), sentAt: null },
    ],
    { symbol: 'TXF1!', positionBefore: decimal(5), deadlineAt: timestamp(NOW - 1) },
  );
  const step = decided(months, {});
  assert.ok(step.do === 'end');
  const filled = seenFilled(step.order, '3' as Decimal);
  assert.deepEqual([filled.status, filled.error?.code], ['failed', 'expired']);
  assert.match(filled.error?.message ?? '', /TXFB/);
});

test('is told beside what has become of the other month, and settled with it', () => {
  const months = executing(
    closing('long'),
    [
      leg('exit', 'sell', 3, 'unknown', 0, { instrument: 'TXFA' }),
      { ...leg('exit', 'sell', 2, 'expired', 0, { nth: 2, instrument: 'TXFB' }), sentAt: null },
    ],
    { symbol: 'TXF1!', positionBefore: decimal(5), deadlineAt: timestamp(NOW - 1), status: 'unknown' },
  );
  const state = { brokerRef: 'x', fillQuantity: decimal(0), fillPrice: null, fee: null, reason: 'by hand' };
  const cancelled = recordState(months, 'exit', { ...state, status: 'cancelled' }, NOW);
  assert.equal(cancelled.status, 'cancelled');
  assert.match(cancelled.error?.message ?? '', /by hand.* TXFB .* stays open/);
  for (const settlement of [
    { outcome: 'filled', price: decimal(100), quantity: decimal(3) } as const,
    { outcome: 'not_filled' } as const,
  ]) {
    const settled = settle(months, settlement, NOW);
    assert.ok('status' in settled);
    assert.equal(settled.status, settlement.outcome === 'filled' ? 'failed' : 'cancelled');
    assert.match(settled.error?.message ?? '', /^The close of TXFB .* stays open/);
    assert.equal(isSettleable(settled, { isDeadLetter: false }, NOW + DAY), false);
  }
});

test('An exit of both sides is told by the side that was held, and has no slippage', () => {
  const legs = [
    leg('exit', 'sell', 5, 'filled', 5, { fillPrice: decimal(100) }),
    leg('exit', 'buy', 2, 'filled', 2, { fillPrice: decimal(90), nth: 2 }),
  ];
  assert.deepEqual(fillOf({ legs }), { price: '100', quantity: '5' });
  assert.equal(slippage({ legs, notes: { ...NO_NOTES, price: decimal(100) } }), null);
});

/** As fill verification sees it. */
function seenFilled(of: Order, fillQuantity: Decimal): Order {
  const state = { brokerRef: 'x', status: 'filled', fillQuantity, fillPrice: decimal(100) } as const;
  const look = { seen: 'state', leg: 'exit', state: { ...state, fee: null, reason: null } } as const;
  const rules = { retries: 3, requeueMs: 30_000, giveUpMs: 30_000 };
  return afterLook(of, look, 1, rules, NOW + 60_000).order;
}

describe('Where the broker shows something else than our fills come to', () => {
  test('a close of one side is sent at once for what is there by either, though the other says the other side', () => {
    const long = executing(closing('long'));
    assert.deepEqual(said(decided(long, { position: held(-3, 5) })), ['exit', 'sell', '5']);
    assert.deepEqual(said(decided(long, { position: held(5, -3) })), ['exit', 'sell', '5']);
    assert.deepEqual(said(decided(executing(closing('short')), { position: held(-3, 5) })), [
      ...['exit', 'buy', '3'],
    ]);
    // Who closes either side has to know which.
    assert.deepEqual(said(decided(executing(closing(null)), { position: held(-3, 5) })), [
      'read the position',
    ]);
  });

  test('a share of it is not taken of the larger of the two, nor of the smaller: both have to agree', () => {
    const half = (percent: number): Order =>
      executing({ operation: 'PLACE_EXIT_ORDER', direction: 'long' }, [], {
        quantity: decimal(percent),
        sizing: {
          ...{ type: 'percent_of_position', asked: decimal(percent), factor: decimal(1), units: null },
          ...{ step: null, price: null, equity: null, stop: null, text: null },
        },
      });
    const market: Facts['market'] = {
      ...{ equity: null, currency: 'USDT', unitValue: decimal(1), step: decimal('0.001') },
      ...{ least: decimal('0.001'), quote: null, tick: decimal(1), wholeStops: false },
    };
    for (const position of [held(10, 5), held(5, 10)])
      assert.deepEqual(said(decided(half(50), { position, market })), ['read the position']);
    assert.deepEqual(said(decided(half(50), { position: held(10), market })), ['exit', 'sell', '5']);
    // All of it is all that is there.
    assert.deepEqual(said(decided(half(100), { position: held(5, 10), market })), ['exit', 'sell', '10']);
  });
});

describe('An exit’s alert of an account that follows', () => {
  const follows = (age: number, legs: readonly Leg[] = []): Order =>
    executing(
      {
        ...{ operation: 'PLACE_EXIT_ORDER', direction: 'long' },
        target: { position: decimal(2), opens: null },
      },
      legs,
      { submittedAt: timestamp(NOW - age), deadlineAt: timestamp(NOW - age + 300_000) },
    );

  test('opens what is missing while an entry would, and not minutes later', () => {
    assert.deepEqual(said(decided(follows(59_000), { position: held(0) })), ['entry', 'buy', '2']);
    assert.deepEqual(said(decided(follows(61_000), { position: held(0) })), ['end', 'expired', 'expired']);
    // What is too much is closed until its own deadline.
    assert.deepEqual(said(decided(follows(250_000), { position: held(3) })), ['exit', 'sell', '1']);
    assert.deepEqual(said(decided(follows(250_000), { position: held(-3) })), ['exit', 'buy', '3']);
  });

  test('and says so where it has closed what contradicts it', () => {
    const closed = [
      leg('exit', 'buy', 3, 'filled', 3),
      { ...leg('entry', 'buy', 2, 'planned'), sentAt: null },
    ];
    const step = decided(follows(250_000, closed), { position: held(0) });
    assert.deepEqual(said(step), ['end', 'failed', 'expired']);
  });
});

describe('Where stops are kept for whole quantities only', () => {
  const able = { refusesDuplicateIds: true, reduceOnly: false, fractionalQuantities: true, wholeStops: true };
  const stop = { stop: { unit: 'percent', value: decimal(2) } } as const;
  const towards = (position: string, wish: Order['wish'], before = 0): Step =>
    decided(
      executing(
        {
          ...{ operation: 'PLACE_EXIT_ORDER', direction: 'long' },
          target: { position: decimal(position), opens: null },
        },
        [],
        wish ? { wish } : {},
      ),
      { able, position: held(before) },
    );

  test('no part of one is opened that is to have a stop: it would be closed again for want of it', () => {
    const refused = towards('3.5', { own: {}, fromFlat: stop });
    assert.deepEqual(said(refused), ['end', 'rejected', 'invalid_quantity']);
    assert.deepEqual(said(towards('3', { own: {}, fromFlat: stop })), ['entry', 'buy', '3']);
    assert.deepEqual(said(towards('3.5', undefined)), ['entry', 'buy', '3.5']);
    assert.deepEqual(said(towards('3.5', { own: {}, fromFlat: { stop: 'none' } })), ['entry', 'buy', '3.5']);
    // What contradicts it is closed all the same.
    assert.deepEqual(said(towards('3.5', { own: {}, fromFlat: stop }, -2)), ['exit', 'buy', '2']);
  });
});

test('An exit of an amount takes what another close leaves, and the rest once it is known that that one has left it', () => {
  const able = { refusesDuplicateIds: true, reduceOnly: false, fractionalQuantities: true };
  const short: OrderIntent = { operation: 'PLACE_EXIT_ORDER', direction: 'short' };
  const resting = [other('buy', 8, 'placed', 'exit')];
  const asked = executing(short, [], { quantity: decimal(9) });
  const first = decided(asked, { able, others: resting, position: held(-13) });
  assert.deepEqual(said(first), ['exit', 'buy', '5']);
  assert.ok(first.do === 'send' && first.order.awaitsRest);
  // What is shown has that one's fill in it already, and nobody can look at it.
  const took = { ...first.order, legs: [leg('exit', 'buy', 5, 'filled', 5)] };
  assert.deepEqual(said(decided(took, { able, others: resting, position: held(-8) })), ['look at others']);
  assert.deepEqual(said(decided(took, { able, position: held(-8) })), ['exit', 'buy', '4']);
  assert.deepEqual(said(decided(took, { able, position: held(0) })), ['end', 'filled', null]);
  // Who has got what it asked for waits for nobody.
  const less = { ...took, quantity: decimal(5) };
  assert.deepEqual(said(decided(less, { able, others: resting, position: held(-8) })), [
    'end',
    'filled',
    null,
  ]);
});
