// What the pages say of a group's signal, and what they offer to a member that refused it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { components } from '../../web/api/schema.ts';
import { groupBars } from '../../web/pages/story/group-bars.ts';
import { groupHeadline, sameThere } from '../../web/pages/story/group-headline.ts';
import { messageAgain, saidInWords } from '../../web/parts/last-signal.ts';

type Schemas = components['schemas'];
type Signal = Schemas['SignalRecord'];
type Order = Schemas['OrderRecord'];

const MEMBERS = ['one', 'two', 'three'];
const nameOf = (id: string) => id.charAt(0).toUpperCase() + id.slice(1);

const signal = (changed: Partial<Omit<Signal, 'understood'>> = {}, understood: object = {}): Signal =>
  ({
    ...{ id: 's', outcome: 'order', action: 'buy', symbol: 'BTCUSDT.P', quantity: 0.4, simulation: false },
    orders: MEMBERS.map((id) => ({ trading_account_id: id, order_id: id, code: null, detail: null })),
    ...changed,
    understood: {
      ...{ action: 'buy', symbol: 'BTCUSDT.P', quantity: 0.4, operation: 'PLACE_ENTRY_ORDER' },
      ...{ target: null, prev_strategy_position: null },
      ...understood,
    },
  }) as unknown as Signal;

const order = (id: string, changed: Partial<Order> = {}): Order =>
  ({
    ...{ order_id: id, trading_account_id: id, status: 'filled', fill_quantity: 0.4, error: null },
    ...{ limit_price: null, stop_price: null, time_in_force: null },
    ...changed,
  }) as unknown as Order;

const REFUSED = { trading_account_id: 'three', order_id: null, code: 'account_halted', detail: 'x' };
const resting = { status: 'placed', fill_quantity: null, limit_price: 59_000, time_in_force: 'gtc' } as const;

describe('the headline of a group’s signal', () => {
  const said = (of: Signal, orders: readonly Order[]) => {
    const { lead, rest } = groupHeadline(of, orders, nameOf);
    return rest === null ? lead : `${lead}: ${rest}`;
  };

  it('says what was traded, and not what was only sent', () => {
    const all = MEMBERS.map((id) => order(id));
    assert.equal(said(signal(), all), 'Bought BTCUSDT.P on all 3 accounts');
    assert.equal(said(signal(), all.slice(1)), 'Sent to buy BTCUSDT.P on all 3 accounts', 'being read');
    assert.equal(
      said(signal({ action: 'short_exit' }), all),
      'Bought BTCUSDT.P on all 3 accounts',
      'in words, whatever the action is called',
    );
    const error = { code: 'insufficient_margin', message: 'There is too little margin.' };
    const failed = order('three', { status: 'rejected', fill_quantity: null, error } as Partial<Order>);
    assert.equal(
      said(signal(), [...all.slice(0, 2), failed]),
      'Bought BTCUSDT.P on 2 of 3 accounts: Three did not trade, there is too little margin.',
    );
    assert.match(said(signal(), [failed, failed, failed]), /^Sent to buy .*, and nothing was traded: /);
  });

  it('names who refused it, and why', () => {
    const orders = [...signal().orders.slice(0, 2), REFUSED];
    assert.match(
      said(signal({ orders }), [order('one'), order('two')]),
      /^Bought BTCUSDT\.P on 2 of 3 accounts: Three refused it, .*halted/,
    );
  });

  it('of entries that wait says so', () => {
    const waits = MEMBERS.map((id) => order(id, resting));
    assert.equal(said(signal(), waits), 'Waits to buy BTCUSDT.P on all 3 accounts');
    assert.equal(
      said(signal(), [order('one'), ...waits.slice(1)]),
      'Bought BTCUSDT.P on 1 of 3 accounts, waits on 2',
    );
  });
});

describe('the order that would bring a member to where the others are', () => {
  const account = { id: 'three', quantity_multiplier: 2 } as unknown as Schemas['Account'];
  const member = { factor: 0.25, symbols: { 'BTCUSDT.P': 'BTCUSDT' } };
  const offered = (understood: object = {}) => sameThere(signal({}, understood), account, member);

  it('has its factor, its multiplier and its name of the symbol', () => {
    assert.deepEqual(offered(), {
      ...{ accountId: 'three', symbol: 'BTCUSDT', action: 'buy', quantity: 0.2 },
      ...{ simulation: false, dropsProtection: false },
    });
    assert.equal(offered({ symbol: 'BINANCE:BTCUSDT.P' })?.symbol, 'BTCUSDT');
    assert.equal(offered({ symbol: 'ETHUSDT.P' })?.symbol, 'ETHUSDT.P');
  });

  it('counts what the signal counts: money is never taken for units', () => {
    const sized = offered({ quantity: 3_000, quantity_type: 'cash', protection: {} });
    assert.deepEqual([sized?.quantity, sized?.counts, sized?.dropsProtection], [1_500, 'cash', true]);
    assert.equal(offered({ quantity_type: 'risk_percent' }), null, 'it needs the stop');
  });

  it('waits for the same price', () => {
    const priced = offered({ limit_price: 59_000, stop_price: null, expires_in: 600 });
    assert.deepEqual([priced?.limitPrice, priced?.stopPrice, priced?.expiresIn], [59_000, undefined, 600]);
  });

  it('is not offered where it would be a guess', () => {
    assert.equal(offered({ operation: 'CLOSE_POSITION', action: 'close' }), null);
    assert.equal(offered({ target: 3, prev_strategy_position: -5, quantity: 8 }), null);
    assert.equal(offered({ target: 3, prev_strategy_position: 0, quantity: 3 })?.quantity, 1.5);
    assert.equal(sameThere(signal(), account, undefined), null, 'it is no member any more');
  });
});

describe('the last signal, as it would be sent again', () => {
  it('is told with what its quantity counts', () => {
    assert.equal(saidInWords(signal()), 'buy 0.4 BTCUSDT.P');
    assert.equal(
      saidInWords(signal({ quantity: 3_000 }, { quantity_type: 'cash' })),
      'buy 3,000 in money of BTCUSDT.P',
    );
    assert.equal(saidInWords(signal({ action: 'close', quantity: 0 })), 'close BTCUSDT.P');
  });

  it('says all that it said, with the time of now and without a secret', () => {
    const message =
      '{"action":"buy","symbol":"X","quantity":500,"quantity_type":"cash","secret":"•••","timestamp":"2020"}';
    const now = new Date('2026-11-17T20:00:00Z');
    assert.deepEqual(JSON.parse(messageAgain({ message }, now) ?? ''), {
      ...{ action: 'buy', symbol: 'X', quantity: 500, quantity_type: 'cash' },
      ...{ secret: 'not asked for', timestamp: '2026-11-17T20:00:00.000Z' },
    });
    for (const odd of ['buy now', 'null', '7', null]) assert.equal(messageAgain({ message: odd }, now), null);
  });
});

describe('where the time of a group’s signal went', () => {
  const submitted_at = '2026-11-17T15:47:31.208Z';
  const after = (ms: number) => new Date(Date.parse(submitted_at) + ms).toISOString();
  const leg = (changed: object) => ({ sent_at: submitted_at, acked_at: null, filled_at: null, ...changed });
  const trace = { validated: 1.6, queued: 4.1 };
  const plain = order('one', {
    ...{ submitted_at, position_before: 0, trace: { ...trace, answered: 148 } },
    legs: [leg({ leg: 'entry', side: 'buy', fill_quantity: 0.4 })],
  } as unknown as Partial<Order>);
  const reversal = order('two', {
    ...{ submitted_at, position_before: -0.1, trace: { ...trace, answered: 203 } },
    legs: [
      leg({ leg: 'exit', side: 'buy', fill_quantity: 0.1, filled_at: after(112) }),
      leg({ leg: 'entry', side: 'buy', fill_quantity: 0.2, filled_at: after(203) }),
    ],
  } as unknown as Partial<Order>);

  it('is once for all until the commit, and from there each leg of each member', () => {
    const bars = groupBars([
      { account: 'OKX', order: reversal },
      { account: 'Bybit', order: plain },
    ]);
    assert.deepEqual(
      bars.map(({ name, from, at, position }) => [name, from, at, position]),
      [
        ['Arrived, checked once for the group', 0, 1.6, null],
        ['Judged, 2 orders recorded together', 1.6, 4.1, null],
        ['Bybit, bought 0.4', 4.1, 148, 0.4],
        ['OKX, closed short 0.1', 4.1, 112, 0],
        ['OKX, bought 0.2', 112, 203, 0.2],
      ],
    );
  });

  it('of one that was rejected is until its answer, and of one under way not yet', () => {
    const rejected = { ...plain, status: 'rejected', legs: [], trace: { ...trace, answered: 9 } } as Order;
    const open = { ...plain, status: 'executing', trace } as Order;
    assert.deepEqual(
      groupBars([
        { account: 'A', order: rejected },
        { account: 'B', order: open },
      ]).map(({ name, at }) => [name, at]),
      [
        ['Arrived, checked once for the group', 1.6],
        ['Judged, 2 orders recorded together', 4.1],
        ['A, rejected', 9],
      ],
    );
    assert.deepEqual(groupBars([]), []);
  });
});
