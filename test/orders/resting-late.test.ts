// What rests for days: its fill is as young as that of an order of this minute, whoever learns of it and whoever comes after him.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BrokerUnavailable } from '../../src/broker/broker.ts';
import { sql } from '../../src/data/engine/db.ts';
import { decimal } from '../../src/domain/decimal.ts';
import type { Trader, World } from '../world.ts';
import { type ScriptedDesk, scriptedDesk } from './resting-desk.ts';

const DAY = 24 * 3_600_000;

describe('an entry that rested for days', () => {
  test('and was filled a moment ago: a successor does not believe a position that lags behind it', async (t) => {
    const { clock, broker, world, trader, rests, found } = await scriptedDesk(t);
    const id = await rests({ quantity: 2 });
    clock.advance(2 * DAY);
    broker.settle(broker.ledger[0], 'filled');
    await found(id, 'filled', 2);
    await world.restart();
    broker.fills = 'at once';
    broker.script('position', async () => decimal(0), 3);
    const exit = await world.send(trader, { action: 'close', quantity: undefined });
    assert.equal(exit.body.status, 'filled', JSON.stringify(exit.body));
    assert.deepEqual(broker.trades(), ['buy 2', 'sell 2']);
  });

  test('and is filled in parts: the last one counts, also where it is taken back then', async (t) => {
    const { clock, broker, world, trader, rests, found } = await scriptedDesk(t);
    const id = await rests({ quantity: 4 });
    broker.settle(broker.ledger[0], 'partially_filled', '1');
    await found(id, 'partially_filled', 1);
    clock.advance(2 * DAY);
    broker.settle(broker.ledger[0], 'cancelled', '3');
    await found(id, 'cancelled', 3);
    await world.restart();
    broker.fills = 'at once';
    broker.script('position', async () => decimal(1), 3);
    const exit = await world.send(trader, { action: 'close', quantity: undefined });
    assert.equal(exit.body.status, 'filled', JSON.stringify(exit.body));
    assert.deepEqual(broker.trades(), ['buy 4', 'sell 3']);
  });

  test('beside others: all that was filled is held by our record, where the broker shows nothing', async (t) => {
    const { clock, broker, world, trader, rests, found } = await scriptedDesk(t);
    const first = await rests({ id: 'A', quantity: 2 });
    const second = await rests({ id: 'B', quantity: 3, limit_price: 80 });
    clock.advance(DAY);
    broker.settle(broker.ledger[0], 'filled');
    await found(first, 'filled', 2);
    broker.settle(broker.ledger[1], 'cancelled', '0');
    await found(second, 'cancelled', 0);
    clock.advance(DAY);
    broker.fills = 'at once';
    broker.script('positions', async () => {
      throw new Error('the list of positions is away');
    });
    const { body } = await flatten(world, trader);
    assert.deepEqual(
      body.orders.map(({ status }) => status),
      ['filled'],
      JSON.stringify(body),
    );
    assert.equal(broker.position(trader.account.id), '0');
  });
});

test('an entry whose price the market passes while the one before it is taken back is not sent', async (t) => {
  const { broker, world, trader, rests } = await scriptedDesk(t);
  const first = await rests({ limit_price: undefined, stop_price: 110 });
  const market = { bid: decimal(100), ask: decimal(100) };
  broker.script('quote', async () => market);
  broker.script('cancel', async (goodAnswer) => {
    Object.assign(market, { bid: decimal(120), ask: decimal(120) });
    return goodAnswer();
  });
  const { body } = await world.send(trader, { stop_price: 110 });
  assert.deepEqual([body.status, body.error?.code], ['rejected', 'invalid_price'], JSON.stringify(body));
  assert.equal((await world.order(trader, first)).error?.code, 'replaced');
  assert.equal(broker.ledger.length, 1);
});

test('the entry of a reversal whose price the market passes while the position is closed is not sent', async (t) => {
  const { broker, world, trader } = await scriptedDesk(t);
  broker.give(trader.account.id, -2);
  broker.fills = 'at once';
  const market = { bid: decimal(100), ask: decimal(100) };
  broker.script('quote', async () => market);
  broker.script('place', async (goodAnswer) => {
    Object.assign(market, { bid: decimal(120), ask: decimal(120) });
    return goodAnswer();
  });
  const { body } = await world.send(trader, { quantity: 3, stop_price: 110 });
  assert.deepEqual([body.status, body.error?.code], ['failed', 'invalid_price'], JSON.stringify(body));
  assert.match(body.error?.message ?? '', /was closed; the entry was not sent/);
  assert.deepEqual(broker.trades(), ['buy 2']);
});

test('an exit closes what an entry opens that is in no list for a moment, as its price is reached', async (t) => {
  const { clock, broker, world, trader, rests } = await scriptedDesk(t);
  const id = await rests({ quantity: 2, limit_price: undefined, stop_price: 110 });
  clock.advance(61_000);
  await world.eventually(
    () => world.order(trader, id),
    ({ verification }) => Date.parse(verification.next_at ?? '') > clock.now(),
  );
  broker.settle(broker.ledger[0], 'filled');
  broker.fills = 'at once';
  broker.script('find', async () => null, 3);
  broker.script('position', async () => decimal(0), 2);
  const { body } = await world.send(trader, { action: 'close', quantity: undefined });
  assert.equal(body.status, 'filled', JSON.stringify(body));
  assert.deepEqual(broker.trades(), ['buy 2', 'sell 2']);
});

describe('a flatten', () => {
  for (const [what, fields] of [
    ['a stop entry', { limit_price: undefined, stop_price: 110 }],
    ['a limit entry', { limit_price: 90 }],
  ] as const)
    test(`names ${what} that is not known to have been taken back, though nothing is held`, async (t) => {
      const { broker, world, trader, rests } = await scriptedDesk(t);
      const id = await rests({ quantity: 2, ...fields });
      // What waits for a price is in no list of open orders.
      broker.script('openOrders', async () => []);
      broker.script('cancel', () => Promise.reject(new BrokerUnavailable('orders cannot be cancelled now')));
      const { body } = await flatten(world, trader);
      assert.deepEqual(
        body.flatten.left.map(({ symbol, quantity, code }) => [symbol, quantity, code]),
        [['BTCUSDT', 2, 'entry_resting']],
        JSON.stringify(body.flatten),
      );
      assert.match(body.flatten.left[0]?.message ?? '', new RegExp(id));
      assert.equal(body.flatten_error?.code, 'close_unconfirmed');
      assert.match(body.flatten_error.message, /BTCUSDT: .*rest/);
    });

  test('says nothing of entries that were taken back', async (t) => {
    const { world, trader, rests } = await scriptedDesk(t);
    await rests({ limit_price: undefined, stop_price: 110 });
    const { body } = await flatten(world, trader);
    assert.deepEqual([body.flatten.left, body.flatten_error], [[], null]);
    assert.equal(body.flatten.cancelled, 1);
  });
});

interface Flattened {
  readonly orders: { readonly status: string }[];
  readonly flatten: {
    readonly cancelled: number;
    readonly left: { symbol: string; quantity: number; code: string; message: string }[];
  };
  readonly flatten_error: { readonly code: string; readonly message: string } | null;
}

const flatten = (world: World, trader: Trader) =>
  world.as<Flattened>(trader, 'POST', `/trading/accounts/${trader.account.id}/halt`, { flatten: true });

describe('a cancel', () => {
  test('of an entry that never arrived ends done as soon as the broker can be believed', async (t) => {
    const { clock, broker, world, trader } = await scriptedDesk(t, { env: { RESPONSE_WAIT_SECONDS: '2' } });
    broker.script('place', async () => ({ outcome: 'unknown', reason: 'the line broke' }), 1);
    const lost = await world.send(trader, { limit_price: 90 });
    assert.equal(lost.body.status, 'unknown', JSON.stringify(lost.body));
    clock.advance(60_000);
    const { status, body } = await world.send(trader, { action: 'cancel', quantity: undefined });
    assert.deepEqual([status, body.status], [200, 'done'], JSON.stringify(body));
  });

  test('of an entry behind other credentials fails at once, and names it', async (t) => {
    const { broker, world, trader, rests } = await scriptedDesk(t, { env: { RESPONSE_WAIT_SECONDS: '2' } });
    const id = await rests({});
    await world.db.commit([
      sql`update order_history set credentials_version = credentials_version - 1 where order_id = ${id}`,
    ]);
    broker.script('find', async () => null);
    const { status, body } = await world.send(trader, { action: 'cancel', quantity: undefined });
    assert.deepEqual([status, body.status], [200, 'failed'], JSON.stringify(body));
    assert.match(body.error?.message ?? '', new RegExp(`${id}.*by hand`));
  });

  test('that hangs at the broker holds nobody: what became of the entry is looked at meanwhile', async (t) => {
    const { broker, world, trader, rests } = await scriptedDesk(t, { env: { BROKER_TIMEOUT_SECONDS: '60' } });
    await rests({ quantity: 2 });
    broker.give(trader.account.id, 3);
    broker.fills = 'at once';
    // It has arrived, and its answer never comes.
    broker.hold('cancel', 'after');
    const { status, body } = await world.send(trader, { action: 'close', quantity: undefined });
    assert.deepEqual([status, body.status], [200, 'filled'], JSON.stringify(body));
    assert.equal(broker.ledger[0]?.state.status, 'cancelled');
    assert.deepEqual(broker.trades(), ['buy 2', 'sell 3']);
  });
});

describe('an entry of which nobody knows whether it arrived', () => {
  const lost = async ({ broker, world, trader }: ScriptedDesk) => {
    broker.script('place', async () => ({ outcome: 'unknown', reason: 'the line broke' }), 1);
    const { body } = await world.send(trader, { limit_price: 90 });
    assert.equal(body.status, 'unknown', JSON.stringify(body));
    return body.order_id;
  };

  test('and which was sent with other credentials is in nobody’s way: this account does not have it', async (t) => {
    const desk = await scriptedDesk(t);
    const { clock, world, trader } = desk;
    const id = await lost(desk);
    await world.db.commit([
      sql`update order_history set credentials_version = credentials_version - 1 where order_id = ${id}`,
    ]);
    for (const ms of [60_000, 15 * 60_000]) {
      clock.advance(ms);
      const { body } = await world.send(trader, { limit_price: 91 });
      assert.equal(body.status, 'placed', JSON.stringify(body));
    }
    assert.equal((await world.order(trader, id)).status, 'unknown', 'it may rest where it was sent');
  });

  test('and which no look finds any more is its owner’s to settle, and whoever is in its way is told so', async (t) => {
    const desk = await scriptedDesk(t, { able: { findsByClientIdMs: 60_000 } });
    const { clock, world, trader } = desk;
    const id = await lost(desk);
    clock.advance(15 * 60_000);
    const { body } = await world.send(trader, { limit_price: 91 });
    assert.deepEqual([body.status, body.error?.code], ['rejected', 'out_of_sync'], JSON.stringify(body));
    assert.match(body.error?.message ?? '', new RegExp(`${id}.*no longer tells.*what became of it`));
  });
});

describe('verification of what rests', () => {
  test('begins its tries anew whenever the broker shows it: what fails now and then adds up to nothing', async (t) => {
    const { clock, broker, world, trader, rests } = await scriptedDesk(t);
    const id = await rests({});
    const poll = async (attempts: number) => {
      clock.advance(31_000);
      const looks = broker.count('find');
      await world.eventually(
        async () => ({ order: await world.order(trader, id), looks: broker.count('find') }),
        ({ order, looks: made }) => made > looks && order.verification.attempts === attempts,
      );
    };
    for (let nth = 0; nth < 5; nth++) {
      broker.script('find', async () => null, 1);
      await poll(1);
      await poll(0);
    }
    const { status, verification } = await world.order(trader, id);
    assert.deepEqual([status, verification.state], ['placed', 'scheduled']);
  });

  test('takes one up again that was given up, when somebody looks and it is there', async (t) => {
    const { clock, broker, world, trader, rests, givesUp } = await scriptedDesk(t);
    const id = await rests();
    await givesUp(id);
    broker.forgetScripts();
    await world.as(trader, 'POST', `/trading/orders/${id}/look`);
    const seen = await world.eventually(
      () => world.order(trader, id),
      ({ verification }) => verification.state === 'scheduled',
    );
    assert.equal(seen.verification.attempts, 0);
    // And so it is taken back in time.
    clock.advance(31 * DAY);
    await world.eventually(
      () => world.order(trader, id),
      ({ status, error }) => status === 'cancelled' && error?.code === 'lapsed',
    );
  });
});

describe('a broker that hangs', () => {
  test('does not keep what rests on the user’s other accounts from ending in time', async (t) => {
    const { clock, broker, world, trader, rests } = await scriptedDesk(t, {
      env: { BROKER_TIMEOUT_SECONDS: '60' },
    });
    const other = await world.addAccount(trader);
    const stuck = await rests({});
    const first = await world.send(other, { limit_price: 90, expires_in: 60 });
    const second = await world.send(other, { limit_price: 91, id: 'B', expires_in: 90 });
    assert.deepEqual([first.body.status, second.body.status], ['placed', 'placed']);
    const hangs = Promise.withResolvers<void>();
    t.after(() => hangs.resolve());
    const reached = Promise.withResolvers<void>();
    broker.script('find', async (goodAnswer, { clientOrderId }) => {
      if (clientOrderId === broker.ledger[0]?.clientOrderId) {
        reached.resolve();
        await hangs.promise;
      }
      return goodAnswer();
    });
    // Only the first is due.
    clock.advance(2_500);
    await reached.promise;
    clock.advance(120_000);
    for (const { body } of [first, second]) {
      const ended = await world.eventually(
        () => world.order(other, body.order_id),
        ({ status }) => status === 'cancelled',
      );
      assert.equal(ended.error?.code, 'lapsed');
    }
    assert.equal((await world.order(trader, stuck)).status, 'placed');
    hangs.resolve();
  });
});
