// Targets at Alpaca, each with a stop beside it or none, and what stands there of stops.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openAlpaca } from '../../src/broker/alpaca/alpaca.ts';
import { type Broker, type BrokerOrder, BrokerUnavailable, type StopOrder } from '../../src/broker/broker.ts';
import { decimal } from '../../src/domain/decimal.ts';
import type { ClientOrderId } from '../../src/domain/ids.ts';
import { json, order, refusal } from './alpaca-script.ts';
import {
  at,
  BY_ID,
  desk,
  FIRST,
  isRejected,
  LEG,
  OCO,
  STOP,
  sentAs,
  TARGET,
  WITH_LEG,
} from './alpaca-stop-script.ts';
import { NO_HURRY } from './paper-desk.ts';
import { stubHarness } from './stub-harness.ts';

describe('a target at Alpaca', () => {
  const target = (more: Partial<BrokerOrder> = {}): BrokerOrder =>
    order({
      clientOrderId: TARGET,
      side: 'sell',
      quantity: decimal(3),
      reduceOnly: true,
      limit: decimal(200),
      ...more,
    });
  const placed = async (broker: Broker, more: Partial<BrokerOrder> = {}) =>
    broker.place(target(more), NO_HURRY);

  it('with a stop beside it is one order of which one leg cancels the other', async () => {
    const { broker, bodies, asked } = await desk({ 'POST /v2/orders': json(WITH_LEG) });
    const outcome = await placed(broker, { stop: decimal(170) });
    assert.ok(outcome.outcome === 'accepted');
    assert.deepEqual([outcome.state.brokerRef, outcome.state.status], [OCO.id, 'placed']);
    assert.deepEqual(bodies('POST'), [
      {
        client_order_id: TARGET,
        order_class: 'oco',
        qty: '3',
        side: 'sell',
        stop_loss: { stop_price: '170' },
        symbol: 'AAPL',
        take_profit: { limit_price: '200' },
        time_in_force: 'gtc',
        type: 'limit',
      },
    ]);
    assert.ok(!asked.includes('GET /v2/clock'));
  });

  it('without one is a limit order until it is cancelled', async () => {
    const { broker, bodies } = await desk({ 'POST /v2/orders': json({ ...OCO, order_class: '' }) });
    assert.equal((await placed(broker)).outcome, 'accepted');
    assert.deepEqual(bodies('POST'), [
      {
        client_order_id: TARGET,
        limit_price: '200',
        qty: '3',
        side: 'sell',
        symbol: 'AAPL',
        time_in_force: 'gtc',
        type: 'limit',
      },
    ]);
  });

  it('for a fraction of a share is refused in words, and so is a stop without a limit; nothing is sent', async () => {
    const { broker, bodies } = await desk();
    const [beside, alone, lone] = [
      await placed(broker, { quantity: decimal('3.5'), stop: decimal(170) }),
      await placed(broker, { quantity: decimal('3.5') }),
      await broker.place(order({ stop: decimal(170) }), NO_HURRY),
    ];
    assert.ok(beside.outcome === 'rejected' && alone.outcome === 'rejected' && lone.outcome === 'rejected');
    assert.deepEqual(
      [beside.error.message, alone.error.message],
      [
        'Alpaca keeps stops for whole shares only: send 3, not 3.5.',
        'Alpaca keeps orders that rest for whole shares only: send 3, not 3.5.',
      ],
    );
    assert.equal(beside.error.code, 'invalid_quantity');
    assert.match(lone.error.message, /only beside its limit/);
    assert.deepEqual(bodies('POST'), []);
  });

  it('of which Alpaca tells another price, or kind, is unknown', async () => {
    for (const change of [{ limit_price: '201' }, { limit_price: null }, { type: 'market' }]) {
      const { broker } = await desk({ 'POST /v2/orders': json({ ...WITH_LEG, ...change }) });
      assert.equal((await placed(broker, { stop: decimal(170) })).outcome, 'unknown');
    }
  });

  it('that is refused because the price is beyond its stop says so', async () => {
    const words = 'stop price must be less than current price';
    const { broker } = await desk({ 'POST /v2/orders': refusal(422, 42210000, words) });
    const outcome = await placed(broker, { stop: decimal(170) });
    assert.ok(outcome.outcome === 'rejected');
    assert.match(outcome.error.message, /beyond the stop already/);
  });

  it('leads to its stop, which is found, moved and seen under the target’s id', async () => {
    const moved = { ...LEG, id: 'bbbbbbbb-0000-4000-8000-000000000003', stop_price: '175' };
    const { find, move, standing, bodies, sent } = await desk({
      [BY_ID]: json(OCO),
      [at('GET', OCO)]: json(WITH_LEG),
      [at('PATCH', LEG)]: json(moved),
      'GET /v2/orders': json([WITH_LEG]),
    });
    assert.deepEqual(await find(sentAs(TARGET)), {
      brokerRef: LEG.id,
      status: 'standing',
      order: null,
      reason: null,
    });
    assert.deepEqual(await move(sentAs(TARGET)), {
      outcome: 'accepted',
      clientOrderId: TARGET,
      brokerRef: moved.id,
    });
    assert.deepEqual(bodies('PATCH'), [{ stop_price: '175' }]);
    assert.deepEqual(await standing(), [
      { clientOrderId: TARGET, brokerRef: LEG.id, side: 'sell', price: '170', quantity: '3' },
    ]);
    assert.deepEqual(
      sent.filter(({ what }) => what === at('GET', OCO)).map(({ query }) => query),
      ['nested=true', 'nested=true'],
    );
  });

  it('keeps its quantity: its stop gets no other, and nothing is sent', async () => {
    const { move, bodies } = await desk({ [BY_ID]: json(OCO), [at('GET', OCO)]: json(WITH_LEG) });
    isRejected(
      await move(sentAs(TARGET), { quantity: decimal(2) }),
      'refused',
      /no quantity beside a target/,
    );
    assert.deepEqual(bodies('PATCH'), []);
  });

  it('without a stop has none', async () => {
    const { find, move } = await desk({ [BY_ID]: json(OCO), [at('GET', OCO)]: json({ ...OCO, legs: null }) });
    assert.equal(await find(sentAs(TARGET)), null);
    isRejected(await move(sentAs(TARGET)), 'gone', /no stop/);
  });

  it('whose stop was moved shows it in its list, or only what was there before: it is followed, and once', async () => {
    const third = { ...LEG, id: 'bbbbbbbb-0000-4000-8000-000000000004', stop_price: '176' };
    const second = {
      ...LEG,
      id: 'bbbbbbbb-0000-4000-8000-000000000003',
      status: 'replaced',
      replaced_by: third.id,
    };
    const first = { ...LEG, status: 'replaced', replaced_by: second.id };
    for (const [legs, hidden] of [
      [[first, second, third], []],
      [[third], []],
      [[first], [second, third]],
    ] as const) {
      const { standing, find, asked } = await desk({
        [BY_ID]: json(OCO),
        [at('GET', OCO)]: json({ ...OCO, legs }),
        [at('GET', second)]: json(second),
        [at('GET', third)]: json(third),
        'GET /v2/orders': json([{ ...OCO, legs }]),
      });
      const expected = [
        { clientOrderId: TARGET, brokerRef: third.id, side: 'sell', price: '176', quantity: '3' },
      ];
      assert.deepEqual(await standing(), expected);
      assert.deepEqual(await standing(), expected);
      assert.equal((await find(sentAs(TARGET)))?.brokerRef, third.id);
      const followed = hidden.length > 0 ? 1 : 0;
      assert.equal(asked.filter((what) => what === at('GET', second)).length, followed);
    }
  });

  it('whose stop was hit is replaced by it, and the fill is the stop’s', async () => {
    const hit = { ...LEG, status: 'filled', filled_qty: '3', filled_avg_price: '169.5' };
    const over = { ...OCO, status: 'replaced', replaced_by: LEG.id };
    const { find, broker } = await desk({
      [BY_ID]: json(over),
      [at('GET', OCO)]: json({ ...over, legs: [hit] }),
    });
    const state = await find(sentAs(TARGET));
    assert.deepEqual(
      [state?.status, state?.brokerRef, state?.order?.fillPrice],
      ['triggered', LEG.id, '169.5'],
    );
    const query = { ...sentAs(TARGET), brokerRef: OCO.id };
    const ended = await broker.find(query, NO_HURRY);
    assert.deepEqual([ended?.status, ended?.fillQuantity], ['cancelled', '0']);
  });

  it('that was filled in part before its stop was hit: the stop has filled the rest, whatever its quantity says', async () => {
    const over = {
      ...OCO,
      status: 'replaced',
      replaced_by: LEG.id,
      filled_qty: '1',
      filled_avg_price: '200',
    };
    for (const qty of ['3', '2']) {
      const hit = { ...LEG, qty, status: 'filled', filled_qty: '2', filled_avg_price: '169.5' };
      const { find, broker } = await desk({
        [BY_ID]: json(over),
        [at('GET', OCO)]: json({ ...over, legs: [hit] }),
      });
      const state = await find(sentAs(TARGET));
      assert.deepEqual(
        [state?.status, state?.order?.status, state?.order?.fillQuantity, state?.order?.fillPrice],
        ['triggered', 'filled', '2', '169.5'],
      );
      const ended = await broker.find({ ...sentAs(TARGET), brokerRef: OCO.id }, NO_HURRY);
      assert.deepEqual([ended?.status, ended?.fillQuantity], ['cancelled', '1']);
    }
    const alone = { ...STOP, status: 'filled', filled_qty: '2', filled_avg_price: '169.5' };
    await assert.rejects((await desk({ [BY_ID]: json(alone) })).find(sentAs(FIRST)), BrokerUnavailable);
  });

  it('that is filled ends its stop, and says why', async () => {
    const over = { ...OCO, status: 'filled', filled_qty: '3', filled_avg_price: '200' };
    const { find } = await desk({
      [BY_ID]: json(over),
      [at('GET', OCO)]: json({ ...over, legs: [{ ...LEG, status: 'canceled' }] }),
    });
    assert.deepEqual(await find(sentAs(TARGET)), {
      brokerRef: LEG.id,
      status: 'ended',
      order: null,
      reason: 'its target was filled',
    });
  });
});

describe('the stops that stand at Alpaca', () => {
  it('are asked for with their targets, of the one symbol', async () => {
    const { standing, sent } = await desk({ 'GET /v2/orders': json([]) });
    assert.deepEqual(await standing(), []);
    const [asked] = sent.filter(({ what }) => what === 'GET /v2/orders');
    assert.deepEqual(Object.fromEntries(new URLSearchParams(asked?.query)), {
      status: 'open',
      symbols: 'AAPL',
      nested: 'true',
      limit: '500',
      direction: 'asc',
    });
  });

  it('are anybody’s, and no order of another kind, of another symbol, or that has triggered is among them', async () => {
    const foreign = { ...STOP, id: 'c', client_order_id: 'theirs', type: 'stop_limit', stop_price: '160' };
    const { standing } = await desk({
      'GET /v2/orders': json([
        STOP,
        foreign,
        { ...STOP, id: 'd', status: 'partially_filled', filled_qty: '1' },
        { ...STOP, id: 'e', symbol: 'GME' },
        { ...STOP, id: 'f', type: 'limit', stop_price: null },
        { ...STOP, id: 'g', qty: null, stop_price: null },
        { ...STOP, id: 'h', status: 'pending_cancel', stop_price: '150' },
      ]),
    });
    assert.deepEqual(
      (await standing()).map(({ clientOrderId, price }) => [clientOrderId, price]),
      [
        [FIRST, '170'],
        ['theirs', '160'],
        [FIRST, '150'],
      ],
    );
  });

  it('beside a target are of what is left of it, and told once', async () => {
    const partly = { ...OCO, status: 'partially_filled', filled_qty: '1', legs: [LEG] };
    const { standing } = await desk({ 'GET /v2/orders': json([partly, { ...LEG, legs: null }]) });
    assert.deepEqual(await standing(), [
      { clientOrderId: TARGET, brokerRef: LEG.id, side: 'sell', price: '170', quantity: '2' },
    ]);
  });

  it('are not believed to be none where the answer is none', async () => {
    for (const answer of [
      json({}),
      json([{}]),
      json([{ ...STOP, status: 'perhaps' }]),
      refusal(500, null, 'oh'),
    ])
      await assert.rejects((await desk({ 'GET /v2/orders': answer })).standing(), BrokerUnavailable);
    const many = Array.from({ length: 500 }, (_, index) => ({ ...STOP, id: `${index}` }));
    await assert.rejects((await desk({ 'GET /v2/orders': json(many) })).standing(), /more open orders/);
  });
});

describe('at a stub of Alpaca', () => {
  const stub = stubHarness('alpaca', (url) => openAlpaca({ url }), 'paper');
  let ids = 0;

  /** Holds four shares, at a price of 100. */
  async function holding() {
    const account = await stub.account();
    const priced = (price: number) => stub.control('POST', 'prices', { SOLUSDT: price });
    await priced(100);
    const broker = await account.open();
    const name = () => `contract${++ids}` as ClientOrderId;
    const instrument = await broker.resolve('AAPL');
    assert.ok('symbol' in instrument);
    const of = (more: Partial<BrokerOrder>) => order({ clientOrderId: name(), instrument, ...more });
    const trade = (side: 'buy' | 'sell', quantity: number) =>
      broker.place(of({ side, quantity: decimal(quantity), reduceOnly: side === 'sell' }));
    const pair = of({
      side: 'sell',
      quantity: decimal(4),
      reduceOnly: true,
      limit: decimal(110),
      stop: decimal(90),
    });
    const stop = (price: number, more: Partial<StopOrder> = {}): StopOrder => ({
      clientOrderId: name(),
      instrument,
      side: 'sell',
      quantity: decimal(4),
      price: decimal(price),
      triggerBy: 'last',
      ...more,
    });
    assert.equal((await trade('buy', 4)).outcome, 'accepted');
    return { account, broker, instrument, priced, pair, stop, trade };
  }

  it('the stop beside a target of all that is held follows the price, under the target’s id, and its fill is found', async () => {
    const { broker, instrument, pair, stop, priced } = await holding();
    assert.equal((await broker.place(pair)).outcome, 'accepted');
    const beside = stop(90, { clientOrderId: pair.clientOrderId });
    for (const price of [91, 93, 95]) {
      const outcome = await broker.stops.move(beside, stop(price));
      assert.ok(outcome.outcome === 'accepted', JSON.stringify(outcome));
      assert.equal(outcome.clientOrderId, pair.clientOrderId);
      assert.deepEqual(await broker.stops.standing(instrument), [
        {
          clientOrderId: pair.clientOrderId,
          brokerRef: outcome.brokerRef,
          side: 'sell',
          price: `${price}`,
          quantity: '4',
        },
      ]);
    }
    await priced(94);
    const state = await broker.stops.find(beside);
    assert.deepEqual(
      [state?.status, state?.order?.status, state?.order?.fillQuantity],
      ['triggered', 'filled', '4'],
    );
    assert.equal((await broker.find(pair))?.status, 'cancelled');
    assert.deepEqual([await broker.position(instrument), await broker.openOrders()], ['0', []]);
  });

  it('what is kept for a stop is sold by nothing else, until it is taken away', async () => {
    const { broker, instrument, stop, trade, pair, account } = await holding();
    const first = stop(90, { quantity: decimal(3) });
    assert.equal((await broker.stops.place(first)).outcome, 'accepted');
    const second = await broker.stops.place(stop(91, { quantity: decimal(2) }));
    isRejected(second, 'refused', /^insufficient qty available for order \(requested: 2, available: 1\)$/);
    for (const outcome of [await trade('sell', 2), await broker.place(pair)])
      assert.ok(outcome.outcome === 'rejected' && outcome.error.code === 'no_position');
    assert.equal((await trade('sell', 1)).outcome, 'accepted');
    await broker.stops.remove(first);
    assert.equal((await trade('sell', 3)).outcome, 'accepted');
    assert.equal(await broker.position(instrument), '0');
    const sides = (await account.ledger()).orders.map(({ side }) => side);
    assert.deepEqual(sides, ['buy', 'sell', 'sell']);
  });

  it('a move whose answer is lost has been made: the new id stands, and the old one was replaced', async () => {
    const { broker, account, instrument, stop } = await holding();
    const [first, second] = [stop(90), stop(92)];
    await broker.stops.place(first);
    await account.set({ protection: 'lose_answer' });
    assert.equal((await broker.stops.move(first, second)).outcome, 'unknown');
    await account.set({ protection: 'native' });
    assert.equal((await broker.stops.find(second))?.status, 'standing');
    const before = await broker.stops.find(first);
    assert.equal(before?.status, 'ended');
    assert.match(before?.reason ?? '', /replaced by order/);
    assert.deepEqual(
      (await broker.stops.standing(instrument)).map(({ clientOrderId, price }) => [clientOrderId, price]),
      [[second.clientOrderId, '92']],
    );
    // Once more: it is there already.
    isRejected(await broker.stops.move(first, second), 'gone', /replaced/);
  });

  it('a stop that waits for the morning stands, and is not moved before', async () => {
    const { broker, account, instrument, stop } = await holding();
    const first = stop(90);
    await broker.stops.place(first);
    await account.set({ reject: 'market_closed' });
    isRejected(
      await broker.stops.move(first, stop(92)),
      'refused',
      /cannot replace order in accepted status/,
    );
    assert.equal((await broker.stops.find(first))?.status, 'standing');
    assert.equal((await broker.stops.standing(instrument)).length, 1);
  });
});
