// What is told of each event: one sentence that says it once, and what to do where there is something to do.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Decimal } from '../../src/domain/decimal.ts';
import { type AccountId, type OrderId, timestamp, type UserId } from '../../src/domain/ids.ts';
import { ACTIONS, type Leg, type Order } from '../../src/domain/orders/order.ts';
import { afterRestore } from '../../src/domain/orders/restored.ts';
import { EXIT_REASONS, type ExitReason } from '../../src/domain/protection/protection.ts';
import {
  type Entry,
  entryEvent,
  orderEvents,
  silenceEvent,
  TOLD_ACTIONS,
} from '../../src/domain/told/events.ts';

const AT = timestamp(Date.parse('2026-11-16T00:30:00Z'));
const decimal = (text: string) => text as Decimal;

const leg = (side: Leg['side'], quantity: string, filled: string | null, price: string | null = null) =>
  ({
    side,
    quantity: decimal(quantity),
    fillQuantity: filled === null ? null : decimal(filled),
    fillPrice: price === null ? null : decimal(price),
  }) as Leg;

const order = (fields: Partial<Order>): Order =>
  ({
    id: 'an-order' as OrderId,
    userId: 'a-user' as UserId,
    accountId: 'an-account' as AccountId,
    symbol: 'BTCUSDT',
    action: 'sell',
    intent: { operation: 'PLACE_ENTRY_ORDER', side: 'sell' },
    quantity: decimal('0.05'),
    simulation: false,
    status: 'filled',
    error: null,
    legs: [],
    ...fields,
  }) as Order;

const told = (fields: Partial<Order>, isDeadLetter = false): string[] =>
  orderEvents(order(fields), 'Paper', { before: null, isDeadLetter, at: AT }).map(({ text }) => text);

describe('An order is told of in one sentence', () => {
  test('when it is filled, with what was traded and where', () => {
    assert.deepEqual(told({ legs: [leg('sell', '0.05', '0.05', '60000')] }), [
      'Sold 0.05 BTCUSDT at 60000 on Paper.',
    ]);
    assert.deepEqual(told({ action: 'close', quantity: decimal('0'), legs: [leg('buy', '2', '2')] }), [
      'Bought 2 BTCUSDT on Paper.',
    ]);
  });

  test('when it closed and opened, with both', () => {
    const legs = [leg('sell', '0.1', '0.1', '60000'), leg('sell', '0.2', '0.2', '59990')];
    assert.deepEqual(told({ legs }), ['Sold 0.1 BTCUSDT at 60000, then sold 0.2 at 59990, on Paper.']);
  });

  test('when a part of it was filled, with how much of what', () => {
    const error = {
      code: 'cancelled_by_broker',
      message: 'The order was cancelled at the broker: no reason given.',
    } as const;
    assert.deepEqual(told({ status: 'cancelled', error, legs: [leg('sell', '0.05', '0.03', '60000')] }), [
      'Sold 0.03 of 0.05 BTCUSDT at 60000 on Paper.',
      'Sell 0.05 BTCUSDT on Paper was cancelled. The order was cancelled at the broker: no reason given.',
    ]);
  });

  test('when it came to nothing, with the reason', () => {
    const error = {
      code: 'market_closed',
      message: 'The market for ES1! is closed. It opens next at 23:00.',
    } as const;
    assert.deepEqual(told({ status: 'rejected', action: 'buy', symbol: 'ES1!', error }), [
      'Buy 0.05 ES1! on Paper was rejected. The market for ES1! is closed. It opens next at 23:00.',
    ]);
    assert.deepEqual(told({ status: 'expired' }), ['Sell 0.05 BTCUSDT on Paper expired.']);
  });

  test('when it is unknown, and when nobody asks any more', () => {
    assert.deepEqual(
      told({ status: 'unknown', legs: [{ ...leg('sell', '0.05', null), status: 'unknown' }] }),
      [
        'Sell 0.05 BTCUSDT on Paper: whether it was traded is not known yet. Fill verification is asking the broker.',
      ],
    );
    assert.deepEqual(told({ status: 'placed' }, true), [
      'Sell 0.05 BTCUSDT on Paper was last seen as placed, and the broker could not tell what became of it. Look at the account at your broker.',
    ]);
  });

  test('when a reversal closed and did not open, with both', () => {
    const legs = [
      { ...leg('buy', '2', '2', '60000'), leg: 'exit', status: 'filled' },
      { ...leg('buy', '1', null), leg: 'entry', status: 'rejected' },
    ] as Leg[];
    const error = { code: 'insufficient_margin', message: 'Too little margin.' } as const;
    assert.deepEqual(told({ status: 'rejected', action: 'buy', error, legs }), [
      'Bought 2 BTCUSDT at 60000 on Paper.',
      'Buy 0.05 BTCUSDT on Paper was rejected. Too little margin. The position was closed, and what was to be opened is not.',
    ]);
  });

  test('when the close that a failed reversal left at the broker ends', () => {
    const later = (status: Leg['status'], fields: Partial<Leg> = {}, isDeadLetter = false) => {
      const legs = [
        { ...leg('buy', '2', null), leg: 'exit', status, sentAt: AT, ...fields },
        { ...leg('buy', '1', null), leg: 'entry', status: 'planned', sentAt: null },
      ] as Leg[];
      const failed = order({ status: 'failed', action: 'buy', legs, exitError: null });
      const before = { status: 'failed', deadLetter: false } as const;
      return orderEvents(failed, 'Paper', { before, isDeadLetter, at: AT }).map(
        ({ kind, text }) => `${kind}: ${text}`,
      );
    };
    const filled = { fillQuantity: decimal('2'), fillPrice: decimal('60000') };
    assert.deepEqual(later('filled', filled), [
      'fill: Bought 2 BTCUSDT at 60000 on Paper: the close of a reversal that had failed. The position is closed, and the entry was not made.',
    ]);
    assert.deepEqual(later('cancelled'), [
      'order_failed: The close of a reversal that had failed (buy 2 BTCUSDT) was cancelled on Paper. The entry was not sent. Look at the position.',
    ]);
    assert.deepEqual(later('placed'), []);
    assert.deepEqual(later('placed', {}, true), [
      'dead_letter: The close of a reversal that failed (buy 2): Buy 0.05 BTCUSDT on Paper was last seen as placed, and the broker could not tell what became of it. Look at the account at your broker.',
    ]);
  });

  test('when it waited in a restored backup: nobody asks about it, and it says itself what to do', () => {
    const { error } = afterRestore(order({ status: 'queued' }), { madeAt: AT, hasLedger: () => false });
    const message = error?.message ?? '';
    assert.match(message, /client order ids fe\w+ \(entry\) and fx\w+ \(exit\) at the broker\.$/);
    assert.deepEqual(told({ status: 'unknown', error: { code: 'expired', message } }), [
      `Sell 0.05 BTCUSDT on Paper: whether it was traded is not known. ${message}`,
    ]);
  });

  test('when a protection made it, with what was hit, and not as a fill besides', () => {
    const close = (exitReason: ExitReason) => {
      const made = { source: 'protection', action: 'close_long', exitReason } as const;
      return orderEvents(order({ ...made, legs: [leg('sell', '2', '2', '63000')] }), 'Paper', {
        ...{ before: null, isDeadLetter: false, at: AT },
      }).map(({ kind, title, text }) => `${kind}: ${title}. ${text}`);
    };
    assert.deepEqual(close('stop_loss'), ['stop_hit: The stop was hit. Sold 2 BTCUSDT at 63000 on Paper.']);
    assert.deepEqual(close('take_profit'), [
      'target_hit: A target was hit. Sold 2 BTCUSDT at 63000 on Paper.',
    ]);
    assert.deepEqual(told({ status: 'failed', action: 'close_long', exitReason: 'time_stop' }), [
      'The time of its time stop had come. Close long 0.05 BTCUSDT on Paper failed.',
    ]);
    for (const reason of EXIT_REASONS) assert.equal(close(reason).length, 1, reason);
  });

  test('whatever its action: an order that names no quantity has none', () => {
    for (const action of ACTIONS) {
      const [text = ''] = told({ status: 'failed', action, quantity: decimal('0') });
      assert.match(text, /^[A-Z][a-z ]+ BTCUSDT on Paper failed\.$/, action);
    }
    assert.match(
      told({ status: 'failed', action: 'close_long' })[0] ?? '',
      /^Close long 0\.05 BTCUSDT on Paper/,
    );
  });
});

test('an exit that failed is named in every burst; one of a rehearsal, or that had nothing to close, need not be', () => {
  const isNamed = (fields: Partial<Order>) =>
    orderEvents(order({ status: 'rejected', ...fields }), 'Paper', {
      ...{ before: null, isDeadLetter: false, at: AT },
    }).map(({ kind, mustBeNamed = false }) => `${kind}: ${mustBeNamed}`);
  const exit = { action: 'close', intent: { operation: 'CLOSE_POSITION', direction: null } } as const;
  assert.deepEqual(isNamed(exit), ['order_failed: true']);
  assert.deepEqual(isNamed({ ...exit, simulation: true }), ['order_failed: false']);
  assert.deepEqual(isNamed({ ...exit, error: { code: 'no_position', message: 'Nothing is held.' } }), [
    'order_failed: false',
  ]);
  assert.deepEqual(isNamed({}), ['order_failed: false'], 'an entry');
  const close = { ...leg('buy', '2', null), leg: 'exit', status: 'rejected', sentAt: AT } as Leg;
  assert.deepEqual(isNamed({ legs: [close] }), ['order_failed: true'], 'a reversal that did not close');
});

describe('Besides orders', () => {
  const entry = (action: string, metadata: Entry['metadata'] = {}): Entry => ({
    action,
    metadata,
    at: AT,
    ip: '203.0.113.7',
    userId: 'a-user' as UserId,
    accountId: 'an-account' as AccountId,
  });
  const text = (...given: Parameters<typeof entry>) => entryEvent(entry(...given), 'Paper')?.text ?? '';

  test('an attack is told of in words, and not by the name that programs have for it', () => {
    assert.equal(
      text('webhook_credential_attack'),
      'The signal carried a wrong webhook secret. It came from 203.0.113.7, for Paper. Nothing was traded.',
    );
    for (const action of TOLD_ACTIONS) assert.doesNotMatch(text(action), /_/, action);
  });

  test('a drift says who stands where', () => {
    const drift = (strategy_position: number, broker_position: number) =>
      text('position_drift', { symbol: 'BTCUSDT', strategy_position, broker_position });
    assert.equal(
      drift(2, -1),
      'The strategy is long 2 BTCUSDT, Paper is short 1. Align the position, or the strategy.',
    );
    assert.match(drift(0, 1), /^The strategy is flat in BTCUSDT, Paper is long 1\./);
  });

  test('what is told of a protection is what the audit log says of it, with the account before it', () => {
    const about = { symbol: 'BTCUSDT', text: 'The long position in BTCUSDT has no stop.' };
    const told = (action: string, more: Entry['metadata'] = {}) => {
      const event = entryEvent(entry(action, { ...about, ...more }), 'Paper');
      return event && `${event.kind}: ${event.title}`;
    };
    assert.equal(text('position_unprotected', about), 'Paper: The long position in BTCUSDT has no stop.');
    assert.equal(told('position_unprotected'), 'unprotected: A position has no stop');
    assert.equal(
      told('position_unprotected_ended', { state: 'standing' }),
      'unprotected: The position is protected again',
    );
    assert.equal(
      told('protection_failed', { leg: 'target' }),
      'protection_failed: The broker refuses a target',
    );
    assert.equal(told('protection_restored', { leg: 'stop' }), 'protection_restored: A stop was put back');
    // What closes the position is told as the order that it is; a rehearsal to nobody.
    assert.equal(told('protection_failed', { exit_reason: 'unprotected', order_id: 'an-order' }), null);
    assert.equal(told('position_unprotected', { simulation: true }), null);
  });

  test('a silence is as long as a person would say it', () => {
    const silent = silenceEvent(
      { id: 'an-account' as AccountId, userId: 'a-user' as UserId, name: 'Paper' },
      { at: AT, silenceAfter: 7200 },
    );
    assert.match(silent.text, /for more than 2 hours\./);
  });
});
