import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { orderHeadline } from '../../web/pages/story/headline.ts';
import { orderHappened } from '../../web/parts/happened.ts';
import {
  awayInWords,
  entryInWords,
  isResting,
  leftInWords,
  makesWay,
  priceInWords,
  type Resting,
  takenBackBy,
  whereInWords,
} from '../../web/parts/resting/words.ts';

const BY = '01981f0e-7c52-7b1e-9a55-3f0d2c44aa01';

const order = (changed: Partial<Resting> = {}): Resting =>
  ({
    order_id: 'o',
    trading_account_id: 'a',
    simulation: false,
    symbol: 'BTCUSDT.P',
    action: 'buy',
    operation: 'PLACE_ENTRY_ORDER',
    order_type: 'entry',
    quantity: 0.5,
    quantity_type: 'units',
    sizing: null,
    status: 'placed',
    limit_price: 64_200,
    stop_price: null,
    time_in_force: 'gtc',
    expires_at: '2026-11-18T14:02:10.000Z',
    entry_id: null,
    position_before: 0,
    target: null,
    fill_price: null,
    fill_quantity: null,
    exit_order_result: null,
    exit_reason: null,
    slippage: null,
    auto_exit: false,
    error: null,
    ...changed,
  }) as Resting;

const record = (changed: Partial<Resting> = {}) => {
  const { fill_quantity, fill_price, quantity, status } = order(changed);
  const entry = { leg: 'entry', side: 'buy', quantity, status, fill_quantity, fill_price };
  return { ...order(changed), legs: [entry], trace: {} } as never;
};
const ended = (code: string, message: string) =>
  ({ code, message, advice: '' }) as NonNullable<Resting['error']>;

describe('an entry that rests', () => {
  it('is one with a price that waits; what is over at once is none', () => {
    assert.equal(isResting(order()), true);
    assert.equal(isResting(order({ status: 'partially_filled' })), true);
    assert.equal(isResting(order({ status: 'cancelled' })), false);
    assert.equal(isResting(order({ time_in_force: 'ioc' })), false);
    assert.equal(isResting(order({ limit_price: null, time_in_force: null })), false);
  });

  it('says where it waits, and how far that is', () => {
    assert.equal(whereInWords(order()), 'at 64,200 or better');
    assert.equal(whereInWords({ stop_price: 61_000 }), 'at the market once 61,000 is reached');
    assert.equal(
      whereInWords({ stop_price: 61_000, limit_price: 61_100 }),
      'at 61,100 or better once 61,000 is reached',
    );
    assert.equal(priceInWords({ stop_price: 61_000, limit_price: 61_100 }), 'stop 61,000, then limit 61,100');
    assert.equal(priceInWords({}), 'at market');
    assert.equal(awayInWords(64_200, 66_120), '2.9 % below the market');
    assert.equal(awayInWords(3_182, 3_180), '0.06 % above the market');
    assert.equal(awayInWords(100, 100.001), 'less than 0.01 % below the market');
    assert.equal(awayInWords(100, null), null);
    assert.deepEqual([40_000, 720_000, 7_140_000, 259_200_000].map(leftInWords), [
      '40 s',
      '12 min',
      '1 h 59 min',
      '3 days',
    ]);
  });

  it('is told in the lists and in its story', () => {
    assert.equal(orderHappened(order()).text, 'Waits at 64,200 or better');
    assert.deepEqual(orderHeadline(record(), null), {
      lead: 'Waiting to buy 0.5 BTCUSDT.P',
      rest: 'at 64,200 or better',
    });
    const part = { status: 'partially_filled', fill_quantity: 0.2, fill_price: 64_200 } as const;
    assert.equal(
      orderHappened(order(part)).text,
      'Opened long 0.2 at 64,200 so far, the rest waits at 64,200 or better',
    );
    assert.deepEqual(orderHeadline(record(part), null), {
      lead: 'Bought 0.2 of 0.5 BTCUSDT.P so far: was flat, now long 0.2',
      rest: 'the rest waits at 64,200 or better',
    });
  });

  it('says why it was taken back, and by which order', () => {
    const replaced = ended('replaced', `The entry was taken back: order ${BY} took its place.`);
    assert.deepEqual(takenBackBy(replaced), { why: 'a later entry took its place', by: BY });
    const cancelled = ended(
      'cancelled_on_request',
      `The entry was taken back: order ${BY} (close_long) asked for it.`,
    );
    assert.deepEqual(takenBackBy(cancelled), { why: 'a later order (close_long) asked for it', by: BY });
    const lapsed = ended('lapsed', 'The entry was taken back: it was good until 2026-11-18T14:02:10.000Z.');
    assert.deepEqual(takenBackBy(lapsed), { why: 'its time was over', by: null });
    const guarded = ended('guard_refused', 'The entry was taken back. It is outside the trading hours.');
    assert.deepEqual(takenBackBy(guarded), { why: 'It is outside the trading hours', by: null });
    // A guard that refused it before it was sent took nothing back.
    assert.equal(takenBackBy(ended('guard_refused', 'It is outside the trading hours.')), null);
    assert.equal(takenBackBy(null), null);

    const gone = { status: 'cancelled', error: replaced } as const;
    assert.equal(orderHappened(order(gone)).text, 'Taken back: a later entry took its place');
    assert.deepEqual(orderHeadline(record(gone), null), {
      lead: 'Not bought: 0.5 BTCUSDT.P',
      rest: 'taken back: a later entry took its place',
    });
    const partly = { ...gone, error: lapsed, fill_quantity: 0.2, fill_price: 64_200 };
    assert.equal(
      orderHappened(order(partly)).text,
      'Opened long 0.2 at 64,200; the rest was taken back: its time was over',
    );
    assert.equal(orderHeadline(record(partly), null).rest, 'the rest was taken back: its time was over');
  });

  it('makes way: for its next one of its name, and for everything that does not rest beside it', () => {
    const dip = order({ order_id: 'dip', entry_id: 'dip' });
    const plain = order({ order_id: 'plain' });
    const other = order({ order_id: 'other', symbol: 'ETHUSDT.P' });
    const simulated = order({ order_id: 'simulated', simulation: true });
    const all = [dip, plain, other, simulated];
    const of = (wish: object) =>
      makesWay(all, {
        trading_account_id: 'a',
        symbol: 'btcusdt.p',
        simulation: false,
        action: 'buy',
        ...wish,
      }).map(({ order_id }) => order_id);
    assert.deepEqual(of({ order_type: 'entry', limit_price: 1 }), ['plain']);
    assert.deepEqual(of({ order_type: 'entry', limit_price: 1, id: 'dip' }), ['dip']);
    assert.deepEqual(of({ order_type: 'entry', limit_price: 1, id: 'new' }), []);
    assert.deepEqual(of({ order_type: 'entry' }), ['dip', 'plain']);
    assert.deepEqual(of({ order_type: 'entry', limit_price: 1, action: 'sell' }), ['dip', 'plain']);
    assert.deepEqual(of({ action: 'close' }), ['dip', 'plain']);
    assert.deepEqual(
      of({ action: 'close', symbol: 'BYBIT:BTCUSDT.P' }),
      ['dip', 'plain'],
      'as an alert spells it',
    );
    assert.equal(entryInWords(plain), 'buy 0.5 at 64,200 or better');
  });

  it('is taken back by a cancel, which says so', () => {
    const cancel = { action: 'cancel', operation: 'CANCEL_ENTRIES', status: 'done', symbol: '*' } as const;
    assert.equal(orderHappened(order(cancel)).text, 'Took back what rested');
    assert.equal(orderHeadline(record(cancel), null).lead, 'Took back what rested in every symbol');
  });
});
