// What an order that has not ended, or whose end was seen a moment ago, means for the next one of its instrument.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { BrokerBusy, BrokerUnavailable } from '../../src/broker/broker.ts';
import { sql } from '../../src/data/engine/db.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { openWorld, settableClock, type Trader, type World } from '../world.ts';
import { scriptedBroker, scriptedWorld } from './scripted-broker.ts';

/** Alerts of a strategy that says where it stands: each a second after the one before. */
function strategyOf(world: World, trader: Trader) {
  let second = 0;
  return (action: 'buy' | 'sell', size: number) =>
    world.send(trader, {
      action,
      market_position: size === 0 ? 'flat' : size > 0 ? 'long' : 'short',
      market_position_size: Math.abs(size),
      timestamp: new Date(world.clock.now() - 30_000 + ++second * 1000).toISOString(),
    });
}

describe('A close of ours that rests', () => {
  test('is not made a second time by the next alert, which waits for it: the position ends where the strategy stands', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t, { env: { RESPONSE_WAIT_SECONDS: '1.5' } });
    broker.give(trader.account.id, 3);
    broker.fills = 'later';
    const alert = strategyOf(world, trader);
    assert.equal((await alert('sell', 1)).body.status, 'placed');
    const { status, body } = await alert('sell', 1);
    assert.deepEqual([status, body.status], [202, 'executing']);
    assert.deepEqual(broker.trades(), ['sell 2'], 'of 3, 2 are to be closed');
    broker.settle(broker.ledger[0], 'filled');
    const { error } = await world.eventually(
      () => world.order(trader, body.order_id),
      (order) => order.status === 'done',
    );
    assert.equal(error, null);
    assert.deepEqual([broker.trades(), broker.position(trader.account.id)], [['sell 2'], '1']);
  });

  test('and is never filled is named by the one that waited for it until its deadline', async (t) => {
    const env = { RESPONSE_WAIT_SECONDS: '1.5', EXIT_DEADLINE_SECONDS: '2' };
    const { broker, world, trader } = await scriptedWorld(t, { env });
    broker.give(trader.account.id, 3);
    broker.fills = 'later';
    const alert = strategyOf(world, trader);
    const { body: first } = await alert('sell', 1);
    assert.equal(first.status, 'placed');
    const { body } = await alert('sell', 1);
    const { error } = await world.eventually(
      () => world.order(trader, body.order_id),
      ({ status }) => status === 'expired',
    );
    assert.match(error?.message ?? '', new RegExp(first.order_id));
    assert.deepEqual(broker.trades(), ['sell 2']);
  });

  test('takes its part of what is still too much', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    broker.give(trader.account.id, 5);
    broker.fills = 'later';
    const alert = strategyOf(world, trader);
    await alert('sell', 3);
    await alert('sell', 1);
    assert.deepEqual(broker.trades(), ['sell 2', 'sell 2']);
  });

  test('does not keep the rest of a position open: flat is flat, whether or not it is ever filled', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    broker.give(trader.account.id, 3);
    broker.fills = 'later';
    const alert = strategyOf(world, trader);
    await alert('sell', 1);
    await alert('sell', 0);
    assert.deepEqual(broker.trades(), ['sell 2', 'sell 3']);
  });

  for (const [what, isMade] of [
    ['and was made though its answer was lost is found, and not made a second time', true],
    ['and never arrived is made anew once that is known, and by nobody else', false],
  ] as const)
    test(what, async (t) => {
      const short = { FILL_REQUEUE_SECONDS: '1', BROKER_TIMEOUT_SECONDS: '0.5' };
      const env = { RESPONSE_WAIT_SECONDS: '0.3', ...short };
      const { broker, world, trader } = await scriptedWorld(t, { env });
      broker.give(trader.account.id, 3);
      const alert = strategyOf(world, trader);
      broker.script(
        'place',
        async (goodAnswer) => {
          if (isMade) await goodAnswer();
          return { outcome: 'unknown', reason: 'no answer' };
        },
        1,
      );
      const { body: first } = await alert('sell', 1);
      const { body: second } = await alert('sell', 1);
      const ends = await world.eventually(
        () => Promise.all([first, second].map(({ order_id }) => world.order(trader, order_id))),
        (orders) => orders.every(({ status }) => status === 'filled' || status === 'done'),
        25_000,
      );
      assert.deepEqual(
        ends.map(({ status }) => status),
        ['filled', 'done'],
      );
      assert.deepEqual([broker.trades(), broker.position(trader.account.id)], [['sell 2'], '1']);
      assert.equal(ends[0]?.legs.length, isMade ? 1 : 2, 'under the next id where the first never arrived');
    });
});

describe('What an order does not open because another of ours rests', () => {
  test('is said of it to the end, also where fill verification finds that', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    broker.give(trader.account.id, 3);
    broker.fills = 'later';
    const alert = strategyOf(world, trader);
    await alert('buy', 4);
    const { body: placed } = await alert('sell', -2);
    assert.deepEqual(broker.trades(), ['buy 1', 'sell 3'], 'the close, and no entry while another one rests');
    broker.settle(broker.ledger[1], 'filled');
    await world.as(trader, 'POST', `/trading/orders/${placed.order_id}/look`);
    const filled = await world.eventually(
      () => world.order(trader, placed.order_id),
      ({ status }) => status === 'filled',
    );
    assert.equal(filled.error?.code, 'out_of_sync');
  });

  test('is opened after all where that one has ended before the order could be sent', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    broker.give(trader.account.id, 3);
    broker.fills = 'later';
    const alert = strategyOf(world, trader);
    await alert('buy', 4);
    broker.fills = 'at once';
    broker.script(
      'place',
      async () => {
        broker.settle(broker.ledger[0], 'cancelled');
        throw new BrokerBusy('slow down', 500);
      },
      1,
    );
    const { body } = await alert('sell', -2);
    assert.equal(body.status, 'filled', body.error?.message ?? '');
    assert.equal(broker.position(trader.account.id), '-2');
  });
});

describe('An order that rests at the account of other credentials', () => {
  const leftBehind = async (t: TestContext) => {
    const { broker, world, trader } = await scriptedWorld(t);
    broker.fills = 'later';
    const alert = strategyOf(world, trader);
    const { body } = await alert('buy', 1);
    assert.equal(body.status, 'placed');
    await world.db.commit([
      sql`update order_history set credentials_version = 6 where order_id = ${body.order_id}`,
    ]);
    broker.fills = 'at once';
    return { broker, trader, alert, first: broker.ledger[0] };
  };

  test('keeps nothing from being opened at this one, which does not know it', async (t) => {
    const { broker, alert, first } = await leftBehind(t);
    broker.script('find', (goodAnswer, { clientOrderId }) =>
      clientOrderId === first?.clientOrderId ? Promise.resolve(null) : goodAnswer(),
    );
    const { body } = await alert('buy', 2);
    assert.deepEqual([body.status, body.fill_quantity], ['filled', 2], body.error?.message ?? '');
  });

  test('is waited for where it is the same account, by another key', async (t) => {
    const { broker, alert } = await leftBehind(t);
    const { body } = await alert('buy', 2);
    assert.deepEqual([body.status, body.error?.code], ['rejected', 'out_of_sync']);
    assert.equal(broker.ledger.length, 1);
  });
});

describe('An order that its broker does not have any more', () => {
  const forgotten = async (t: TestContext) => {
    const clock = settableClock();
    const { broker, world, trader } = await scriptedWorld(t, { clock });
    broker.fills = 'later';
    const alert = strategyOf(world, trader);
    assert.equal((await alert('buy', 1)).body.status, 'placed');
    broker.fills = 'at once';
    broker.script('find', (goodAnswer, { clientOrderId }) =>
      clientOrderId === broker.ledger[0]?.clientOrderId ? Promise.resolve(null) : goodAnswer(),
    );
    return { clock, alert };
  };

  test('keeps nothing from being opened: what rests is never forgotten, only what has ended is', async (t) => {
    const { clock, alert } = await forgotten(t);
    clock.advance(120_000);
    const { body } = await alert('buy', 2);
    assert.deepEqual([body.status, body.fill_quantity], ['filled', 2], body.error?.message ?? '');
  });

  test('is waited for while it may be on its way into the broker’s books', async (t) => {
    const { clock, alert } = await forgotten(t);
    clock.advance(1_000);
    const { body } = await alert('buy', 2);
    assert.deepEqual([body.status, body.error?.code], ['rejected', 'out_of_sync']);
  });
});

describe('A fill that the position does not show yet', () => {
  test('counts once, however often it is seen: an entry is not taken for one that was made already', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    broker.fills = 'later';
    assert.equal((await world.send(trader, { action: 'long_entry' })).body.status, 'placed');
    broker.settle(broker.ledger[0], 'filled');
    broker.fills = 'at once';
    assert.equal((await world.send(trader, { action: 'close_long' })).body.status, 'filled');
    // The close is not in it yet.
    broker.script('position', async () => decimal(1), 1);
    await strategyOf(world, trader)('buy', 1);
    assert.equal(broker.position(trader.account.id), '1', 'it was flat, and the strategy is long');
  });

  test('counts where fill verification saw it: what it opened is closed', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    broker.fills = 'later';
    const { body: entry } = await world.send(trader, { action: 'long_entry' });
    assert.equal(entry.status, 'placed');
    broker.settle(broker.ledger[0], 'filled');
    await world.as(trader, 'POST', `/trading/orders/${entry.order_id}/look`);
    await world.eventually(
      () => world.order(trader, entry.order_id),
      ({ status }) => status === 'filled',
    );
    broker.fills = 'at once';
    broker.script('position', async () => decimal(0), 1);
    const { body } = await world.send(trader, { action: 'close_long' });
    assert.equal(body.status, 'filled', body.error?.message ?? '');
    assert.equal(broker.position(trader.account.id), '0');
  });
});

/** Of 3, 2 are to be closed by an order that rests, at a broker that does not clamp a second one. */
async function restingClose(t: TestContext) {
  const clock = settableClock();
  const broker = scriptedBroker(t, { reduceOnly: false });
  const world = await openWorld(t, { brokers: broker.brokers, clock, wait: async () => {} });
  const trader = await world.makeTrader();
  broker.give(trader.account.id, 3);
  broker.fills = 'later';
  const { body } = await world.send(trader, { action: 'long_exit', quantity: 2 });
  assert.equal(body.status, 'placed');
  broker.fills = 'at once';
  return { broker, world, trader, clock };
}

test('Over a new connection what else is open is looked at once more: what was filled takes nothing of what is left', async (t) => {
  const { broker, world, trader, clock } = await restingClose(t);
  // It has rested for long: it is looked at once.
  clock.advance(61_000);
  broker.settle(broker.ledger[0], 'filled');
  broker.script('position', () => Promise.reject(new BrokerUnavailable('broken')), 1);
  const { body } = await world.send(trader, { action: 'close_long' });
  assert.deepEqual(broker.trades(), ['sell 2', 'sell 1'], body.error?.message ?? '');
  assert.equal(broker.position(trader.account.id), '0');
});

describe('After a wait for a busy broker', () => {
  test('what else is open is looked at all the same, before anything is planned', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    broker.fills = 'later';
    assert.equal((await world.send(trader, { action: 'long_entry' })).body.status, 'placed');
    broker.settle(broker.ledger[0], 'filled');
    broker.fills = 'at once';
    broker.script('balance', () => Promise.reject(new BrokerBusy('slow down', 100)), 1);
    await world.as(trader, 'GET', `/trading/accounts/${trader.account.id}/balance`);
    broker.script('position', async () => decimal(0), 1);
    const { body } = await world.send(trader, { action: 'close_long' });
    assert.equal(body.status, 'filled', body.error?.message ?? '');
    assert.equal(broker.position(trader.account.id), '0');
  });

  test('an order of ours that was filled meanwhile takes nothing of what is left any more', async (t) => {
    const { broker, world, trader, clock } = await restingClose(t);
    // It has rested for long: it is looked at once.
    clock.advance(61_000);
    broker.script(
      'position',
      () => {
        broker.settle(broker.ledger[0], 'filled');
        return Promise.reject(new BrokerBusy('slow down', 100));
      },
      1,
    );
    const { body } = await world.send(trader, { action: 'close_long' });
    assert.deepEqual(broker.trades(), ['sell 2', 'sell 1'], body.error?.message ?? '');
    assert.equal(broker.position(trader.account.id), '0');
  });

  test('a look at an order that was turned away is made: what was filled takes nothing of what is left', async (t) => {
    const { broker, world, trader, clock } = await restingClose(t);
    clock.advance(61_000);
    broker.settle(broker.ledger[0], 'filled');
    broker.script('find', () => Promise.reject(new BrokerBusy('slow down', 100)), 1);
    const { body } = await world.send(trader, { action: 'close_long' });
    assert.deepEqual(broker.trades(), ['sell 2', 'sell 1'], body.error?.message ?? '');
    assert.equal(broker.position(trader.account.id), '0');
  });

  test('a look that was turned away for longer than there is for looks is made, and the next alert is followed', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    broker.fills = 'later';
    const alert = strategyOf(world, trader);
    assert.equal((await alert('buy', 1)).body.status, 'placed');
    broker.settle(broker.ledger[0], 'filled');
    broker.fills = 'at once';
    broker.script('find', () => Promise.reject(new BrokerBusy('slow down', 3000)), 1);
    const { body } = await alert('buy', 2);
    assert.deepEqual([body.status, body.fill_quantity], ['filled', 1], body.error?.message ?? '');
    assert.equal(broker.position(trader.account.id), '2');
  });

  test('an order that it never lets us look at holds nothing up for ever: what that one may take is left', async (t) => {
    const { broker, world, trader } = await restingClose(t);
    broker.script('find', () => Promise.reject(new BrokerBusy('slow down', 100)));
    const { body } = await world.send(trader, { action: 'close_long' });
    assert.deepEqual(broker.trades(), ['sell 2', 'sell 1'], body.error?.message ?? '');
  });

  test('a position that was read before it is read again', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    await world.send(trader, { action: 'long_entry' });
    broker.script('position', async () => decimal(0), 1);
    broker.script('position', () => Promise.reject(new BrokerBusy('slow down', 100)), 1);
    const { body } = await world.send(trader, { action: 'close_long' });
    assert.equal(body.status, 'filled', body.error?.message ?? '');
    assert.equal(broker.position(trader.account.id), '0');
  });
});

describe('Guards', () => {
  const guard = (world: World, trader: Trader, guards: object) =>
    world.as(trader, 'PATCH', `/trading/accounts/${trader.account.id}`, { guards });

  test('count an entry that rests: the position never gets beyond max_position', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    await guard(world, trader, { max_position: 1 });
    broker.fills = 'later';
    assert.equal((await world.send(trader, { action: 'long_entry' })).body.status, 'placed');
    const { body } = await world.send(trader, { action: 'long_entry' });
    for (const order of broker.ledger) broker.settle(order, 'filled');
    assert.equal(broker.position(trader.account.id), '1');
    assert.deepEqual([body.status, body.error?.guard], ['rejected', 'max_position']);
  });

  test('hold an entry back that was accepted before they were set, and not yet sent', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    const held = broker.hold('position');
    const answer = world.send(trader, { action: 'long_entry', quantity: 5 });
    await held.reached;
    assert.equal((await guard(world, trader, { max_order_quantity: 1 })).status, 200);
    held.release();
    const { body } = await answer;
    assert.deepEqual([body.status, body.error?.guard], ['rejected', 'max_order_quantity']);
    assert.deepEqual(broker.trades(), []);
  });

  test('hold back the entry of a reversal whose close was sent before they were set', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    broker.give(trader.account.id, -2);
    const held = broker.hold('place', 'after');
    const answer = world.send(trader, { action: 'long_entry', quantity: 5 });
    await held.reached;
    assert.equal((await guard(world, trader, { max_order_quantity: 1 })).status, 200);
    held.release();
    const { body } = await answer;
    assert.deepEqual([body.status, body.error?.guard], ['failed', 'max_order_quantity']);
    assert.deepEqual(broker.trades(), ['buy 2'], 'the close, once');
    assert.equal(broker.count('find'), 0, 'and what became of it is known');
  });

  test('that were taken away meanwhile hold nothing back', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    await guard(world, trader, { max_order_quantity: 10 });
    const held = broker.hold('position');
    const answer = world.send(trader, { action: 'long_entry', quantity: 5 });
    await held.reached;
    await guard(world, trader, { max_order_quantity: null });
    held.release();
    const { body } = await answer;
    assert.equal(body.status, 'filled', body.error?.message ?? '');
    assert.deepEqual(broker.trades(), ['buy 5']);
  });

  test('wait for a broker that is busy for a moment, as the order would', async (t) => {
    const { broker, world, trader, waits } = await scriptedWorld(t);
    await guard(world, trader, { max_price_deviation_percent: 5 });
    broker.script('quote', () => Promise.reject(new BrokerBusy('slow down', 700)), 1);
    const { body } = await world.send(trader, { action: 'long_entry', price: 100 });
    assert.equal(body.status, 'filled', body.error?.message ?? '');
    assert.ok(waits.some((ms) => ms >= 600));
  });
});
