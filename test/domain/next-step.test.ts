// What is decided next about an order, where one look at the facts tells: the lives of orders are in test/worker.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decimal } from '../../src/domain/decimal.ts';
import { type OrderId, timestamp } from '../../src/domain/ids.ts';
import { nextStep } from '../../src/domain/orders/next-step.ts';
import { NO_NOTES, type Order } from '../../src/domain/orders/order.ts';
import type { Facts, Step } from '../../src/domain/orders/step.ts';
import { facts, held, NOW, RULES } from './deciding.ts';
import { legOfThree } from './legs.ts';
import { buy, order } from './traded.ts';

describe('A strategy that stays short with less', () => {
  // It stood at -2, and says -1.
  const less: Partial<Order> = {
    status: 'executing',
    intent: {
      operation: 'PLACE_EXIT_ORDER',
      direction: 'short',
      target: { position: decimal(-1), opens: null },
    },
    notes: { ...NO_NOTES, staysIn: true },
    positionBefore: decimal(-2),
  };
  const closed = () => {
    const made = order(0, [buy(1, 100)], less);
    return {
      ...made,
      legs: made.legs.map((leg) => ({ ...leg, leg: 'exit' as const, instrument: 'BTCUSDT' })),
    };
  };

  test('opens nothing anew where a stop has closed the rest, since its own close was filled', () => {
    const step = nextStep(closed(), facts({ position: held(0) }), RULES);
    assert.equal(step.do, 'ask who closed it');
    const after = nextStep(closed(), facts({ position: held(0), closedBy: 'protection' }), RULES);
    assert.equal(after.do, 'end');
    const ended = (after as Extract<Step, { do: 'end' }>).order;
    assert.deepEqual([ended.status, ended.error?.code], ['filled', 'stopped_out']);
    assert.deepEqual(
      ended.legs.map(({ leg, status }) => [leg, status]),
      [['exit', 'filled']],
    );
  });

  test('nor what a target has closed of the rest since then: somebody else’s close is followed', () => {
    const less = { position: decimal(-2), opens: null };
    const reduced: Order = { ...closed(), positionBefore: decimal(-3) };
    const one: Order = { ...reduced, intent: { ...reduced.intent, target: less } };
    const asked = nextStep(one, facts({ position: held(-1) }), RULES);
    assert.equal(asked.do, 'ask who closed it');
    const step = nextStep(one, facts({ position: held(-1), closedBy: 'protection' }), RULES);
    assert.ok(step.do === 'end');
    assert.deepEqual([step.order.status, step.order.error?.code], ['filled', 'stopped_out']);
    const followed = nextStep(one, facts({ position: held(-1), closedBy: 'somebody' }), RULES);
    assert.deepEqual(followed.do === 'send' && followed.leg, 'entry');
    // Of an earlier entry nobody knows the end: what it brings is to be closed yet.
    const unknown: Facts['others'] = [
      {
        orderId: 'other' as OrderId,
        leg: { ...legOfThree('entry', 'unknown', timestamp(NOW - 60_000)), instrument: 'BTCUSDT' },
      },
    ];
    const waiting = nextStep(
      one,
      facts({
        ...{ position: held(-1), closedBy: 'protection', others: unknown },
        othersWatch: { ms: 60_000, looks: 9 },
      }),
      RULES,
    );
    assert.equal(waiting.do, 'look at others');
  });

  test('nor where protection closes there, and nobody knows how that ended; unless that is forgotten', () => {
    const sentAgo = (ms: number): Facts['others'] => [
      {
        orderId: 'other' as OrderId,
        order: { exitReason: 'unprotected' },
        leg: { ...legOfThree('exit', 'unknown', timestamp(NOW - ms)), side: 'buy', instrument: 'BTCUSDT' },
      },
    ];
    const looked = {
      position: held(0),
      closedBy: 'somebody',
      othersWatch: { ms: 60_000, looks: 9 },
    } as const;
    const step = nextStep(closed(), facts({ ...looked, others: sentAgo(60_000) }), RULES);
    assert.equal(step.do === 'end' && step.order.error?.code, 'stopped_out');
    assert.equal(nextStep(closed(), facts({ ...looked, others: sentAgo(700_000) }), RULES).do, 'send');
  });

  test('nor where a look has just told that protection closed it, and nobody has saved that yet', () => {
    const filled = (exitReason: Order['exitReason']): Facts['others'] => [
      {
        orderId: 'other' as OrderId,
        ...(exitReason && { order: { exitReason } }),
        leg: {
          ...legOfThree('exit', 'filled', timestamp(NOW - 2_000)),
          ...{ side: 'buy', fillQuantity: decimal(3) },
        },
      },
    ];
    const looked = {
      position: held(0, 0),
      closedBy: 'somebody',
      othersWatch: { ms: 300, looks: 3 },
    } as const;
    const ended = (one: Order, others: Facts['others']) => {
      const step = nextStep(one, facts({ ...looked, others }), RULES);
      return step.do === 'end' ? [step.order.status, step.order.error?.code ?? null] : step.do;
    };
    assert.deepEqual(ended(closed(), filled('stop_loss')), ['filled', 'stopped_out']);
    assert.equal(ended(closed(), filled(undefined)), 'send');
    const added = order(0, [], {
      ...less,
      intent: {
        operation: 'PLACE_ENTRY_ORDER',
        side: 'sell',
        target: { position: decimal(-2), opens: null },
      },
      positionBefore: null,
      deadlineAt: timestamp(NOW + 60_000),
    });
    assert.deepEqual(ended(added, filled('stop_loss')), ['rejected', 'stopped_out']);
    // Its own exit, which comes later, has nothing left to do.
    const exit: Order = { ...added, intent: { operation: 'CLOSE_POSITION', direction: 'short' } };
    assert.deepEqual(ended(exit, filled('stop_loss')), ['done', null]);
    assert.deepEqual(ended(exit, filled(undefined)), ['rejected', 'no_position']);
  });

  test('opens what is missing where somebody else has closed it', () => {
    const step = nextStep(closed(), facts({ position: held(0), closedBy: 'somebody' }), RULES);
    assert.equal(step.do, 'send');
  });
});

describe('A position that is told late, beside an order of which nobody knows the end', () => {
  test('is asked for in a rhythm that slows down, and not as fast as the broker answers', () => {
    const unknown = {
      orderId: 'other' as OrderId,
      leg: legOfThree('entry', 'unknown', timestamp(NOW - 1_000)),
    };
    const entry = order(0, [], { status: 'executing', legs: [], deadlineAt: timestamp(NOW + 60_000) });
    let [now, reads, looks] = [NOW, 0, 0];
    let position: Facts['position'] = null;
    const since = () => now - NOW;
    // Each answer takes a millisecond; what was filled of ours is shown after ten seconds.
    while (since() < 10_000) {
      const step = nextStep(
        entry,
        facts({
          now,
          position,
          others: [unknown],
          othersWatch: { looks, ms: since() },
          positionWatch: { looks: reads, ms: since() },
        }),
        { ...RULES, settleMs: 0 },
      );
      assert.ok(step.do === 'read the position' || step.do === 'look at others', step.do);
      now += step.afterMs + 1;
      if (step.do === 'look at others') {
        looks++;
        position = null;
      } else {
        reads++;
        position = { held: held(0, 3)?.held ?? [], readAt: now };
      }
      assert.ok(reads + looks < 50, `asked ${reads + looks} times within ${since()} ms`);
    }
    assert.ok(reads > 5 && looks > 5, `${reads} reads, ${looks} looks`);
  });
});

test('an exit that waited for what an entry before it brings is not filled at its deadline by what it took first', () => {
  const late = (more: Partial<Order>) => {
    const [leg] = order(0, [buy(5, 100)]).legs;
    assert.ok(leg);
    const exit = order(0, [], {
      ...{ status: 'executing', awaitsRest: true, positionBefore: decimal(-5), quantity: decimal(6) },
      intent: { operation: 'PLACE_EXIT_ORDER', direction: 'short' },
      legs: [{ ...leg, leg: 'exit', instrument: 'BTCUSDT' }],
      deadlineAt: timestamp(NOW - 1),
      ...more,
    });
    const step = nextStep(exit, facts({}), RULES);
    return step.do === 'end' ? step.order : null;
  };
  // A worker has died meanwhile: what it waited for has ended, and nobody has looked what is held since then.
  const ended = late({});
  assert.deepEqual([ended?.status, ended?.error?.code], ['expired', 'expired']);
  assert.match(ended?.error?.message ?? '', /What was held before it is closed; .*close what is left/);
  assert.equal(late({ awaitsRest: false })?.status, 'filled');
});

describe('An order towards a target whose close the broker does not let go', () => {
  const closing = (status: 'cancelled' | 'failed', fillQuantity: number, operation: 'exit' | 'entry') => {
    const [leg] = order(0, [buy(2, 100)]).legs;
    assert.ok(leg);
    return order(0, [], {
      ...{ status: 'executing', positionBefore: decimal(-5) },
      intent: {
        ...(operation === 'exit'
          ? { operation: 'PLACE_EXIT_ORDER', direction: 'short' }
          : { operation: 'PLACE_ENTRY_ORDER', side: 'sell' }),
        target: { position: decimal(-3), opens: null },
      },
      legs: [
        {
          ...leg,
          ...{ leg: 'exit', instrument: 'BTCUSDT', status, fillQuantity: decimal(fillQuantity) },
        },
      ],
    });
  };

  for (const [what, status, filled] of [
    ['was cancelled', 'cancelled', 0],
    ['was cancelled after a part of it', 'cancelled', 1],
    ['has failed', 'failed', 0],
  ] as const)
    for (const operation of ['exit', 'entry'] as const)
      test(`opens nothing beside what is too much: an ${operation} whose close ${what}`, () => {
        const step = nextStep(
          closing(status, filled, operation),
          facts({ position: held(filled - 5) }),
          RULES,
        );
        assert.ok(step.do === 'end', step.do);
        assert.equal(step.order.status, status);
        assert.ok(step.order.legs.every(({ leg }) => leg === 'exit'));
      });
});
