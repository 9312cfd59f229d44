import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filtersOf, fromOf, isWholeDay, queryOf } from '../../web/pages/signals/filters.ts';
import { lastKnown } from '../../web/pages/signals/last-known.ts';
import { HEIGHT, MOST_BLOCKS, stripOf, WIDTH } from '../../web/pages/signals/strip.ts';
import { happened, orderHappened, positionAfter, type Signal } from '../../web/parts/happened.ts';
import { unrealOf } from '../../web/parts/numbers.ts';
import { minuteOf } from '../../web/parts/times.ts';
import { orderSummary as order, signalRecord as signal } from './records.ts';

const exit = { client_order_id: 'c', broker_ref: null, error: null };

test('a reversal says what it closed and what it opened', () => {
  const reversed = order({
    auto_exit: true,
    position_before: 0.1,
    fill_quantity: 0.2,
    fill_price: 96418.1,
    exit_quantity: 0.1,
    exit_order_result: { ...exit, status: 'filled', quantity: 0.1, fill_price: 96418.3, fill_quantity: 0.1 },
  });
  assert.equal(orderHappened(reversed).text, 'Closed long 0.1, opened short 0.2 at 96,418.1');
  assert.equal(positionAfter(reversed), -0.2);
});

test('an entry from flat says no more than itself, one that adds says where it led, without dust', () => {
  const bought = { action: 'buy', fill_quantity: 0.2, fill_price: 3184.37 } as const;
  assert.equal(orderHappened(order({ ...bought, position_before: 0 })).text, 'Opened long 0.2 at 3,184.37');
  assert.equal(
    orderHappened(order({ ...bought, position_before: 0.1 })).text,
    'Opened long 0.2 at 3,184.37, now long 0.3',
  );
});

test('an exit says how much of what was held it closed', () => {
  const sold = { operation: 'CLOSE_POSITION', action: 'close', fill_price: 272.84 } as const;
  assert.equal(
    orderHappened(order({ ...sold, position_before: 40, fill_quantity: 40 })).text,
    'Closed long 40 at 272.84, now flat',
  );
  assert.equal(
    orderHappened(order({ ...sold, position_before: -0.3, fill_quantity: 0.1 })).text,
    'Closed 0.1 of short 0.3 at 272.84, now short 0.2',
  );
});

test('towards a target, a sale reduces or opens as the position was', () => {
  const sold = { target: 1, fill_price: 10 } as const;
  assert.equal(
    orderHappened(order({ ...sold, position_before: 1.5, fill_quantity: 0.5 })).text,
    'Closed 0.5 of long 1.5 at 10, now long 1',
  );
  assert.equal(
    orderHappened(order({ ...sold, action: 'sync', position_before: 0, fill_quantity: 1 })).text,
    'Opened long 1 at 10',
  );
});

test('what was there already is said to be there already', () => {
  assert.equal(
    orderHappened(order({ status: 'done', target: 1, market_position: 'long', position_before: 1 })).text,
    'Already there: the strategy says long 1, the broker holds long 1',
  );
});

test('closing what is closed is no word of a strategy', () => {
  const closed = order({ status: 'done', action: 'close', target: 0, position_before: 0 });
  assert.equal(orderHappened(closed).text, 'Already flat: nothing had to be traded');
});

test('a reversal whose entry was rejected says both', () => {
  const half = order({
    status: 'rejected',
    auto_exit: true,
    position_before: 2,
    exit_order_result: { ...exit, status: 'filled', quantity: 2, fill_price: 5, fill_quantity: 2 },
    error: { code: 'insufficient_margin', message: 'Too little margin.', advice: 'Add funds.' },
  });
  assert.deepEqual(orderHappened(half), {
    text: 'Closed long 2 at 5, now flat; too little margin',
    code: 'insufficient_margin',
  });
});

test('a time in a reason is said as it is where the reader is', () => {
  const message = 'The market is closed. It opens next at 2026-11-20T09:05:00.000Z.';
  const closed = order({ status: 'rejected', error: { code: 'market_closed', message, advice: '' } });
  const opens = new Date('2026-11-20T09:05:00.000Z');
  assert.equal(
    orderHappened(closed).text,
    `The market is closed. It opens next at ${minuteOf(opens, new Date())}`,
  );
});

test('a refusal says its reason and its code; a report that it was one', () => {
  assert.deepEqual(
    happened(signal({ outcome: 'refused', code: 'webhook_replay_attack', detail: 'Send a new one.' }), null),
    { text: 'This signal was received before', code: 'webhook_replay_attack' },
  );
  assert.match(happened(signal({ outcome: 'sync', order_id: null }), null).text, /said where it stands/);
});

test('without its order, a signal says only what its own line has', () => {
  assert.equal(
    happened(signal({ fill_price: 10.5, position_before: -2 }), null).text,
    'Filled at 10.5, was short 2',
  );
});

test('what is still under way is not said to have happened', () => {
  assert.equal(orderHappened(order({ status: 'queued' })).text, 'Accepted, waiting for its turn');
  assert.equal(
    orderHappened(order({ status: 'executing', trace: { sent: 3 } })).text,
    'Sent, waiting for the broker’s answer',
  );
  assert.equal(orderHappened(order({ status: 'unknown' })).text, 'The broker’s answer was lost');
});

const MIDNIGHT = Date.parse('2026-11-12T00:00:00Z');
const quarters = (path: string) => path.split('M').length - 1;

test('the strip has a block for each signal of the day, and none of another day', () => {
  const strip = stripOf(
    [
      { at: MIDNIGHT, kind: 'ok' },
      { at: MIDNIGHT + 60_000, kind: 'no' },
      { at: MIDNIGHT + 86_400_000 - 1, kind: 'sim' },
      { at: MIDNIGHT - 1, kind: 'ok' },
    ],
    MIDNIGHT,
  );
  assert.deepEqual([strip.ok, strip.no, strip.sim].map(quarters), [1, 1, 1]);
});

test('from 300 on the strip has bars, within its height', () => {
  const many = Array.from({ length: MOST_BLOCKS }, () => ({ at: MIDNIGHT + 1, kind: 'ok' as const }));
  const { ok } = stripOf(many, MIDNIGHT);
  assert.equal(quarters(ok), 1);
  const [, height = ''] = /v-([\d.]+)/.exec(ok) ?? [];
  assert.ok(Number(height) <= HEIGHT && Number(height) > HEIGHT / 2 && WIDTH > 0);
});

test('the address asks the API for all that it filters by, today unless it says otherwise', () => {
  const filters = filtersOf({ account: 'a', outcome: 'rejected', symbol: 'ES1!', other: 'x' });
  assert.deepEqual(queryOf(filters, MIDNIGHT), {
    trading_account_id: 'a',
    outcome: 'rejected',
    instrument: 'ES1!',
    from: '2026-11-12T00:00:00.000Z',
  });
  assert.equal(fromOf({ time: 'all' }, MIDNIGHT), null);
  assert.equal(fromOf({ time: 'week' }, MIDNIGHT), '2026-11-06T00:00:00.000Z');
  assert.equal(fromOf({ from: 'nonsense' }, MIDNIGHT), null);
});

test('without its order a signal is told by its own line', () => {
  const said = (given: Partial<Signal>) => happened(signal(given), null).text;
  assert.equal(said({ fill_price: 60_000.5, position_before: 2 }), 'Filled at 60,000.5, was long 2');
  assert.equal(said({ order_status: 'queued' }), 'On its way to the broker');
  assert.equal(said({ order_status: 'done' }), 'Nothing had to be traded');
  assert.equal(said({ order_status: 'rejected' }), 'Rejected');
});

test('what moved no real money says so, also when its account is deleted or not read yet', () => {
  const demo = { broker: 'okx', environment: 'demo' };
  assert.equal(unrealOf(signal({}), { broker: 'okx', environment: 'live_eea' }), null);
  assert.equal(unrealOf(signal({}), undefined), null, 'real money is known without the account');
  assert.equal(unrealOf(signal({ real_money: false }), demo), 'demo');
  assert.equal(unrealOf(signal({ real_money: false }), undefined), 'no real money');
  assert.equal(unrealOf(order({ real_money: false, broker_name: 'paper' }), undefined), 'paper');
  assert.equal(unrealOf(signal({ real_money: false, simulation: true }), undefined), 'simulated');
});

test('the file and the list are of the same question: also by status and by money', () => {
  assert.deepEqual(queryOf({ time: 'all', status: 'cancelled', money: 'real' }, MIDNIGHT), {
    order_status: 'cancelled',
    real_money: true,
  });
  assert.deepEqual(queryOf({ time: 'all', money: 'simulated' }, MIDNIGHT), { real_money: false });
  assert.ok(isWholeDay({ outcome: 'refused' }) && !isWholeDay({ symbol: 'ES1!' }));
});

test('an order is shown as it was last known: what the list was asked for after a change was heard is newer', () => {
  const heard = order({ status: 'executing' });
  const read = order({ status: 'filled' });
  // The stream was lost after it, and the order filled meanwhile.
  assert.equal(lastKnown({ order: heard, at: 1_000 }, { order: read, at: 61_000 }), read);
  assert.equal(lastKnown({ order: heard, at: 61_000 }, { order: read, at: 1_000 }), heard);
  // The list could not be read with its orders, or the order is not in it yet.
  assert.equal(lastKnown({ order: heard, at: 1_000 }, undefined), heard);
  assert.equal(lastKnown(undefined, { order: read, at: 1_000 }), read);
  assert.equal(lastKnown(undefined, undefined), null);
});
