// The kill switch: no entry after it, whatever was under way; positions closed on demand; and nothing in its way.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Halted } from '../../src/app/orders/halt.ts';
import { AccountUnfit, BrokerUnavailable } from '../../src/broker/broker.ts';
import { sql } from '../../src/data/engine/db.ts';
import { timestamp } from '../../src/domain/ids.ts';
import type { OrderResult } from '../../src/domain/orders/result.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { type Store, StoreUnavailable } from '../../src/store/store.ts';
import { STARTS_QUEUE } from '../../src/worker/host/pool.ts';
import { scriptedBroker } from '../worker/scripted-broker.ts';
import { openWorld, type Problem, type Trader, type World } from '../world.ts';

const urlOf = ({ account }: Trader, action: string) => `/trading/accounts/${account.id}/${action}`;
const halt = <Body = Halted>(world: World, trader: Trader, body?: object) =>
  world.as<Body>(trader, 'POST', urlOf(trader, 'halt'), body);
const resume = (world: World, trader: Trader) =>
  world.as<Pick<Halted, 'account'>>(trader, 'POST', urlOf(trader, 'resume'));
const isHalted = async (world: World, { account }: Trader) =>
  Boolean(
    (
      await world.db.get<{ halted: number }>(
        sql`select halted from trading_accounts where id = ${account.id}`,
      )
    )?.halted,
  );
const dashboard = <Body = OrderResult>(world: World, { account, ...trader }: Trader, fields: object = {}) =>
  world.as<Body>({ account, ...trader }, 'POST', '/trading/order', {
    trading_account_id: account.id,
    action: 'buy',
    symbol: 'BTCUSDT',
    quantity: 1,
    ...fields,
  });

const openStore = (): { -readonly [Call in keyof Store]: Store[Call] } => ({
  ...openMemoryStore({ clock: { now: () => performance.timeOrigin + performance.now() } }),
});

describe('a halted account', () => {
  test('refuses every new entry at once, simulated too, and lets exits pass; resumed, it trades again', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await world.send(trader, { quantity: 2 });
    await world.send(trader, {}, { query: '?simulation=true' });
    const halted = await halt(world, trader);
    assert.equal(halted.status, 200);
    assert.deepEqual(
      [halted.body.account.halted, halted.body.orders, halted.body.flatten_error],
      [true, [], null],
    );

    const entries = [
      world.send<Problem>(trader),
      world.send<Problem>(trader, { action: 'short_entry' }),
      world.send<Problem>(trader, {}, { query: '?simulation=true' }),
      dashboard<Problem>(world, trader),
      dashboard<Problem>(world, trader, { simulation: true, action: 'sell' }),
    ];
    for (const { status, body } of await Promise.all(entries))
      assert.deepEqual([status, body.code], [403, 'account_halted']);
    assert.equal((await world.send(trader, { action: 'sell', order_type: 'exit' })).body.status, 'filled');
    assert.equal((await dashboard(world, trader, { action: 'close_long' })).body.status, 'filled');
    const simulated = await world.send(trader, { action: 'close_long' }, { query: '?simulation=true' });
    assert.equal(simulated.body.status, 'filled');
    assert.equal(await world.position(trader.account.id, 'BTCUSDT'), '0');

    const resumed = await resume(world, trader);
    assert.deepEqual([resumed.status, resumed.body.account.halted], [200, false]);
    assert.equal((await world.send(trader)).body.status, 'filled');
    const actions = (await world.audits(trader)).map(({ action }) => action);
    assert.deepEqual(
      actions.filter((action) => action.startsWith('account_')),
      ['account_halted', 'account_resumed'],
    );
  });

  test('can be halted and resumed again and again', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    for (const _ of [1, 2]) assert.equal((await halt(world, trader, {})).body.account.halted, true);
    for (const _ of [1, 2]) assert.equal((await resume(world, trader)).body.account.halted, false);
    assert.equal((await halt(world, trader, { flatten: false })).body.account.halted, true);
  });

  test('halts alone: the user’s other accounts trade on', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const other = await world.addAccount(trader);
    await halt(world, trader);
    assert.equal((await world.send(trader)).status, 403);
    assert.equal((await world.send(other)).status, 200);
  });

  test('is not halted by what is no halt', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const wrong = [{ flatten: 'true' }, { flatten: 1 }, { flatten: null }, { flaten: true }, [], [true]];
    for (const body of wrong) {
      const answer = await halt<Problem>(world, trader, body);
      assert.deepEqual([answer.status, answer.body.code], [400, 'request_invalid'], JSON.stringify(body));
    }
    const headers = { authorization: `Bearer ${trader.apiKey}`, 'content-type': 'application/json' };
    for (const body of ['{', 'true', '{"flatten":true,"flatten":false}', '"\0"'])
      assert.equal(
        (await world.request({ method: 'POST', url: urlOf(trader, 'halt'), headers, body })).status,
        400,
        body,
      );
    assert.equal(await isHalted(world, trader), false);
    // A client that names a content type and sends nothing means a halt.
    const empty = await world.request({ method: 'POST', url: urlOf(trader, 'halt'), headers, body: '' });
    assert.deepEqual([empty.status, await isHalted(world, trader)], [200, true]);
  });
});

describe('nothing holds a halt back', () => {
  test('neither the rate limit nor the IP whitelist, nor is it counted', async (t) => {
    const world = await openWorld(t, { env: { RATE_LIMIT_REQUESTS: '2' } });
    const trader = await world.makeTrader();
    for (let round = 0; round < 5; round++) assert.equal((await halt(world, trader)).status, 200);
    assert.equal((await resume(world, trader)).status, 200, 'five halts have not been counted');
    assert.equal((await world.send(trader)).status, 200);
    assert.equal((await resume(world, trader)).status, 429);
    assert.equal((await halt(world, trader)).status, 200);

    await world.allowIps(trader, '203.0.113.1');
    assert.equal((await halt(world, trader, { flatten: false })).status, 200);
    assert.equal(await isHalted(world, trader), true);
    const refused = (await world.audits(trader)).filter(({ success }) => !success);
    assert.deepEqual(
      refused.map(({ action }) => action),
      ['trading_request'],
    );
  });

  test('not even one that flattens: the rate limit neither stops its closing orders nor counts them', async (t) => {
    const world = await openWorld(t, { env: { RATE_LIMIT_REQUESTS: '2' } });
    const trader = await world.makeTrader();
    assert.equal((await world.send(trader)).status, 200);
    assert.equal((await world.send(trader)).status, 200);
    assert.equal((await resume(world, trader)).status, 429);
    const { status, body } = await halt(world, trader, { flatten: true });
    assert.deepEqual([status, body.account.halted, body.flatten_error], [200, true, null]);
    assert.deepEqual([await isHalted(world, trader), body.orders.length], [true, 1]);
    assert.equal(await world.position(trader.account.id, 'BTCUSDT'), '0');
  });

  test('from an address that is not on the list it halts all the same, and says why it did not flatten', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    assert.equal((await world.send(trader)).status, 200);
    await world.allowIps(trader, '203.0.113.1');
    const { status, body } = await halt(world, trader, { flatten: true });
    assert.deepEqual([status, body.account.halted, body.orders], [200, true, []]);
    assert.equal(body.flatten_error?.code, 'ip_not_allowed');
    assert.match(body.flatten_error?.message ?? '', /^The account is halted, but .*allowed IPs/);
    assert.equal(await isHalted(world, trader), true);
    assert.equal(await world.position(trader.account.id, 'BTCUSDT'), '1');
    const [, halted, blocked] = await world.audits(trader);
    assert.deepEqual([halted?.action, halted?.success], ['account_halted', 1]);
    assert.deepEqual([blocked?.action, blocked?.success], ['webhook_ip_blocked', 0]);
    assert.equal(JSON.parse(blocked?.metadata ?? '{}').trading_account_id, trader.account.id);
  });
});

describe('flatten', () => {
  test('closes every position, long and short, and says what became of each', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await world.send(trader, { quantity: 0.5 });
    await world.send(trader, { symbol: 'ES1!', action: 'sell', quantity: 2 });
    await world.send(trader, { symbol: 'ETHUSDT', quantity: 3 });
    await world.send(trader, { symbol: 'ETHUSDT', action: 'close_long' });
    const { status, body } = await halt(world, trader, { flatten: true });
    assert.equal(status, 200);
    assert.deepEqual([body.account.halted, body.flatten_error], [true, null]);
    assert.deepEqual(
      body.orders
        .map((order) => [order.symbol, order.action, order.operation, order.quantity, order.fill_quantity])
        .toSorted(),
      [
        ['BTCUSDT', 'close_long', 'CLOSE_POSITION', 0.5, 0.5],
        ['ES1!', 'close_short', 'CLOSE_POSITION', 2, 2],
      ],
    );
    for (const order of body.orders)
      assert.deepEqual([order.status, order.source, order.simulation], ['filled', 'dashboard', false]);
    for (const symbol of ['BTCUSDT', 'ES1!', 'ETHUSDT'])
      assert.equal(await world.position(trader.account.id, symbol), '0');
    const entries = (await world.audits(trader)).filter(({ metadata }) => JSON.parse(metadata).kill_switch);
    assert.deepEqual(
      entries.map(({ action, resource_id }) => [action, resource_id]).toSorted(),
      body.orders.map((order) => ['dashboard_order', order.order_id]).toSorted(),
    );
    const again = await halt(world, trader, { flatten: true });
    assert.deepEqual([again.body.orders, again.body.flatten_error], [[], null]);
  });

  test('twice at one moment closes once', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await world.send(trader, { quantity: 2 });
    await Promise.all([halt(world, trader, { flatten: true }), halt(world, trader, { flatten: true })]);
    assert.equal(await world.position(trader.account.id, 'BTCUSDT'), '0');
    const sells = (await world.paperOrders(trader.account.id)).filter(({ side }) => side === 'sell');
    assert.deepEqual(
      sells.map(({ fill_quantity }) => fill_quantity),
      ['2'],
    );
  });

  test('is not held back by plan, terms, credentials or the daily limit, and is not counted', async (t) => {
    const plans = {
      free: { simulation_only: true, daily_orders: 1 },
      pro: { simulation_only: false, daily_orders: 2 },
    };
    const world = await openWorld(t, { env: { PLANS: JSON.stringify(plans) } });
    const trader = await world.makeTrader({ plan: 'pro' });
    await world.send(trader);
    await world.send(trader, { symbol: 'ETHUSDT' });
    assert.equal((await world.send(trader)).status, 429);
    await world.db.commit([
      sql`update users set plan_expires_at = ${timestamp(Date.now() - 1)}, terms_version = null where id = ${trader.user.id}`,
      sql`update trading_accounts set broker_credentials_verified = ${false}, allowed_symbols = ${'["ES1!"]'}
          where id = ${trader.account.id}`,
    ]);
    const counted = async () =>
      (await world.as<{ orders_today: number }>(trader, 'GET', '/settings/subscription')).body.orders_today;
    assert.equal(await counted(), 2);
    const { body } = await halt(world, trader, { flatten: true });
    assert.deepEqual(
      body.orders.map(({ status }) => status),
      ['filled', 'filled'],
    );
    assert.equal(body.flatten_error, null);
    assert.equal(await counted(), 2);
  });

  test('a close that the broker rejects is in the orders, with its error, and is no success', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await world.send(trader);
    await world.setPaper(trader, { reject: 'market_closed' });
    const { body } = await halt(world, trader, { flatten: true });
    assert.deepEqual(
      body.orders.map(({ status, error }) => [status, error?.code]),
      [['rejected', 'market_closed']],
    );
    assert.deepEqual(
      body.flatten?.left.map(({ symbol, quantity, code }) => [symbol, quantity, code]),
      [['BTCUSDT', 1, 'market_closed']],
    );
    assert.deepEqual(body.flatten?.closed, []);
    assert.equal(body.flatten_error?.code, 'close_unconfirmed');
    assert.match(body.flatten_error?.message ?? '', /^The account is halted, but .*BTCUSDT.*market .*closed/);
  });

  test('a close that is not answered in time is in the orders as known so far, and not confirmed', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, {
      brokers: broker.brokers,
      env: { RESPONSE_WAIT_SECONDS: '1' },
    });
    const trader = await world.makeTrader();
    broker.give(trader.account.id, 1);
    const held = broker.hold('place');
    const { status, body } = await halt(world, trader, { flatten: true });
    const [order] = body.orders;
    assert.equal(status, 200);
    assert.match(order?.status ?? '', /^(queued|executing)$/);
    assert.deepEqual(
      body.flatten?.left.map(({ symbol, quantity, code }) => [symbol, quantity, code]),
      [['BTCUSDT', 1, 'closing']],
    );
    assert.equal(body.flatten_error?.code, 'close_unconfirmed');
    assert.match(body.flatten_error?.message ?? '', new RegExp(order?.order_id ?? 'none'));
    held.release();
    await world.eventually(
      () => world.order(trader, order?.order_id ?? ''),
      (seen) => seen.status === 'filled',
    );
  });
});

describe('a flatten after which something is held is no success', () => {
  test('the broker says again and again that there is nothing to close, and other orders there hold it back', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, env: { POSITION_LAG_SECONDS: '0.2' } });
    const trader = await world.makeTrader();
    broker.give(trader.account.id, 2);
    // As Alpaca does while a stop of the user's own rests: "insufficient qty available for order".
    const error = { code: 'no_position', message: 'insufficient qty available for order' } as const;
    broker.script('place', async () => ({ outcome: 'rejected', error }));
    const { body } = await halt(world, trader, { flatten: true });
    assert.ok(broker.count('place') > 1, 'one refusal is no proof that nothing is held');
    assert.deepEqual(
      body.orders.map((order) => [order.status, order.error?.code]),
      [['rejected', 'failed_at_broker']],
    );
    assert.deepEqual(
      body.flatten?.left.map(({ symbol, quantity, code }) => [symbol, quantity, code]),
      [['BTCUSDT', 2, 'failed_at_broker']],
    );
    assert.equal(body.flatten_error?.code, 'close_unconfirmed');
  });

  test('a close that was sent before is in doubt, where a second one could open the other side: waited for', async (t) => {
    const broker = scriptedBroker(t, { reduceOnly: false, refusesDuplicateIds: false });
    const world = await openWorld(t, {
      brokers: broker.brokers,
      env: { RESPONSE_WAIT_SECONDS: '1', EXIT_DEADLINE_SECONDS: '6' },
    });
    const trader = await world.makeTrader();
    broker.give(trader.account.id, 2);
    broker.script('place', async () => ({ outcome: 'unknown', reason: 'lost' }), 1);
    const lost = await world.send(trader, { action: 'close_long' });
    assert.deepEqual([lost.status, lost.body.status], [202, 'executing']);
    const { body } = await halt(world, trader, { flatten: true });
    assert.deepEqual([broker.count('place'), body.flatten?.closed], [1, []]);
    assert.deepEqual(
      body.flatten?.left.map(({ quantity, code }) => [quantity, code]),
      [[2, 'closing']],
    );
    assert.equal(body.flatten_error?.code, 'close_unconfirmed');
    // Until the deadline nobody learns what became of it: no second one is sent, and the error names the first.
    const ended = (id = '') =>
      world.eventually(
        () => world.order(trader, id),
        ({ status }) => status !== 'queued' && status !== 'executing',
      );
    assert.equal((await ended(lost.body.order_id)).status, 'unknown');
    const { status, error } = await ended(body.orders[0]?.order_id);
    assert.deepEqual([status, error?.code], ['expired', 'expired']);
    assert.match(error?.message ?? '', new RegExp(lost.body.order_id));
    assert.equal(broker.count('place'), 1);
  });

  test('a part is left to a close that rests', async (t) => {
    const broker = scriptedBroker(t, { reduceOnly: false });
    const world = await openWorld(t, { brokers: broker.brokers });
    const trader = await world.makeTrader();
    broker.give(trader.account.id, 5);
    broker.fills = 'later';
    await world.send(trader, { action: 'sell', order_type: 'exit', quantity: 2 });
    broker.fills = 'at once';
    const { body } = await halt(world, trader, { flatten: true });
    assert.deepEqual(broker.trades(), ['sell 2', 'sell 3']);
    assert.equal(broker.position(trader.account.id), '2');
    assert.equal(body.flatten_error?.code, 'close_unconfirmed');
  });

  test('an entry that rests cannot be taken back: what it opens is closed as soon as it is filled', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, {
      brokers: broker.brokers,
      wait: async () => {},
      env: { RESPONSE_WAIT_SECONDS: '1' },
    });
    const trader = await world.makeTrader();
    broker.fills = 'later';
    await world.send(trader, { action: 'short_entry', quantity: 2 });
    broker.script('cancel', () => Promise.reject(new AccountUnfit('orders cannot be cancelled now')));
    const { body } = await halt(world, trader, { flatten: true });
    assert.deepEqual([body.flatten?.cancelled, body.orders[0]?.action], [0, 'close_short']);
    assert.match(body.flatten?.cancel_error ?? '', /orders cannot be cancelled now/);
    assert.deepEqual(
      body.flatten?.left.map(({ symbol, quantity, code }) => [symbol, quantity, code]),
      [['BTCUSDT', -2, 'closing']],
    );
    assert.equal(body.flatten_error?.code, 'close_unconfirmed');
    broker.fills = 'at once';
    broker.settle(broker.ledger[0], 'filled');
    await world.eventually(
      () => world.order(trader, body.orders[0]?.order_id ?? ''),
      (order) => order.status === 'filled',
    );
    assert.deepEqual([broker.trades(), broker.position(trader.account.id)], [['sell 2', 'buy 2'], '0']);
  });

  test('and one after which nothing is: an earlier close was filled meanwhile', async (t) => {
    const broker = scriptedBroker(t, { reduceOnly: false });
    const world = await openWorld(t, { brokers: broker.brokers });
    const trader = await world.makeTrader();
    broker.give(trader.account.id, 3);
    broker.fills = 'later';
    await world.send(trader, { action: 'long_exit', quantity: 2 });
    broker.fills = 'at once';
    broker.settle(broker.ledger[0], 'filled');
    const { body } = await halt(world, trader, { flatten: true });
    assert.deepEqual([broker.position(trader.account.id), body.flatten_error], ['0', null]);
  });
});

test('a flatten succeeds by what the database says, and not by what a message says', async (t) => {
  const store = openStore();
  const world = await openWorld(t, { store, env: { RESPONSE_WAIT_SECONDS: '2' } });
  const trader = await world.makeTrader();
  await world.send(trader);
  await world.setPaper(trader, { reject: 'market_closed' });
  const { reply } = store;
  store.reply = (address, message) => {
    const answer = JSON.parse(message) as { status?: string; error: unknown } | null;
    const isRejected = answer?.status === 'rejected';
    return reply(
      address,
      isRejected ? JSON.stringify({ ...answer, status: 'filled', error: null }) : message,
    );
  };
  const { body } = await halt(world, trader, { flatten: true });
  assert.deepEqual(
    [body.orders.map(({ status }) => status), body.flatten_error?.code],
    [['rejected'], 'close_unconfirmed'],
  );
});

describe('a flatten that fails leaves the account halted, and says so', () => {
  const assertHalted = async (world: World, trader: Trader, code: string, message: RegExp) => {
    const { status, body } = await halt(world, trader, { flatten: true });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([body.account.halted, body.orders, body.flatten_error?.code], [true, [], code]);
    assert.match(body.flatten_error?.message ?? '', message);
    assert.match(body.flatten_error?.message ?? '', /^The account is halted, but /);
    assert.equal(await isHalted(world, trader), true);
  };

  test('the broker cannot be reached: what we know of is closed when it is back', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, {
      brokers: broker.brokers,
      wait: async () => {},
      // Longer than the broker is waited for before its positions count as not read.
      env: { RESPONSE_WAIT_SECONDS: '15' },
    });
    const trader = await world.makeTrader();
    await world.send(trader, { quantity: 2 });
    for (const call of ['open', 'openOrders', 'positions', 'resolve', 'position'] as const)
      broker.script(call, () => Promise.reject(new BrokerUnavailable('maintenance')));
    const { status, body } = await halt(world, trader, { flatten: true });
    assert.deepEqual(
      [status, body.account.halted, body.flatten_error?.code],
      [200, true, 'broker_unavailable'],
    );
    assert.match(
      body.flatten_error?.message ?? '',
      /^The account is halted, but .*positions could not be read: maintenance/,
    );
    assert.deepEqual(
      [body.flatten?.closed, body.flatten?.left.map(({ quantity, code }) => [quantity, code])],
      [[], [[2, 'closing']]],
    );
    assert.deepEqual(broker.trades(), ['buy 2']);
    broker.forgetScripts();
    await world.eventually(
      () => world.order(trader, body.orders[0]?.order_id ?? ''),
      (order) => order.status === 'filled',
    );
    assert.deepEqual([broker.trades(), broker.position(trader.account.id)], [['buy 2', 'sell 2'], '0']);
  });

  test('no worker can be started', async (t) => {
    const store = openStore();
    const { push } = store;
    store.push = async (queue, ...message) =>
      void (queue === STARTS_QUEUE || (await push(queue, ...message)));
    const world = await openWorld(t, { store, env: { WORKER_START_TIMEOUT_SECONDS: '0.05' } });
    await assertHalted(world, await world.makeTrader(), 'worker_unavailable', /worker/);
  });

  test('the store is away', async (t) => {
    const store = openStore();
    const world = await openWorld(t, { store });
    const trader = await world.makeTrader();
    store.countInWindow = () => Promise.reject(new StoreUnavailable('gone'));
    store.leaseHolder = () => Promise.reject(new StoreUnavailable('gone'));
    await assertHalted(world, trader, 'store_unavailable', /its positions could not be closed/);
  });
});

describe('an entry that was under way when the account was halted', () => {
  for (const send of ['webhook', 'dashboard', 'simulated'] as const)
    test(`${send}, checked but not yet accepted: refused`, async (t) => {
      const store = openStore();
      const world = await openWorld(t, { store });
      const trader = await world.makeTrader();
      const { leaseHolder } = store;
      const reached = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      store.leaseHolder = async (key) => {
        reached.resolve();
        await released.promise;
        return leaseHolder(key);
      };
      const query = send === 'simulated' ? '?simulation=true' : '';
      const order =
        send === 'dashboard' ? dashboard<Problem>(world, trader) : world.send<Problem>(trader, {}, { query });
      await reached.promise;
      assert.equal((await halt(world, trader)).status, 200);
      released.resolve();
      const { status, body } = await order;
      assert.deepEqual([status, body.code], [403, 'account_halted']);
      assert.deepEqual(await world.orders(trader), []);
    });

  test('an exit in the same place is accepted', async (t) => {
    const store = openStore();
    const world = await openWorld(t, { store });
    const trader = await world.makeTrader();
    await world.send(trader);
    const { leaseHolder } = store;
    const reached = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    store.leaseHolder = async (key) => {
      reached.resolve();
      await released.promise;
      return leaseHolder(key);
    };
    const order = world.send(trader, { action: 'close_long' });
    await reached.promise;
    await halt(world, trader);
    released.resolve();
    assert.equal((await order).body.status, 'filled');
  });

  const opened = async (t: TestContext) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, wait: async () => {} });
    return { broker, world, trader: await world.makeTrader() };
  };

  test('accepted but not yet sent: rejected with account_halted, and the broker never sees it', async (t) => {
    const { broker, world, trader } = await opened(t);
    const held = broker.hold('position');
    const order = world.send(trader);
    await held.reached;
    await halt(world, trader);
    held.release();
    const { status, body } = await order;
    assert.deepEqual([status, body.status, body.error?.code], [200, 'rejected', 'account_halted']);
    assert.deepEqual(broker.trades(), []);
  });

  test('queued behind another order: rejected', async (t) => {
    const { broker, world, trader } = await opened(t);
    const held = broker.hold('place');
    const first = world.send(trader);
    await held.reached;
    const second = world.send(trader);
    await world.eventually(
      () => world.orders(trader),
      (orders) => orders.length === 2,
    );
    await halt(world, trader);
    held.release();
    assert.equal((await first).body.status, 'filled', 'what was sent was sent');
    assert.equal((await second).body.error?.code, 'account_halted');
    assert.deepEqual(broker.trades(), ['buy 1']);
  });

  test('a reversal before its close: neither leg is sent', async (t) => {
    const { broker, world, trader } = await opened(t);
    broker.give(trader.account.id, -2);
    const held = broker.hold('position');
    const order = world.send(trader);
    await held.reached;
    await halt(world, trader);
    held.release();
    assert.deepEqual([(await order).body.status, broker.trades()], ['rejected', []]);
  });

  test('a reversal between its legs: the close stands, the entry is not sent, and the order has failed', async (t) => {
    const { broker, world, trader } = await opened(t);
    broker.give(trader.account.id, -2);
    const held = broker.hold('place', 'after');
    const order = world.send(trader);
    await held.reached;
    await halt(world, trader);
    held.release();
    const { body } = await order;
    assert.deepEqual([body.status, body.error?.code, body.auto_exit], ['failed', 'account_halted', true]);
    assert.equal(body.exit_order_result?.status, 'filled');
    assert.deepEqual(broker.trades(), ['buy 2']);
  });

  test('found by the next worker after a crash: not sent', async (t) => {
    const { broker, world, trader } = await opened(t);
    broker.script('place', async () => ({ outcome: 'unknown', reason: 'lost' }), 1);
    const { body } = await world.send(trader);
    // As if the process had died between the commit and the queue.
    await world.db.commit([
      sql`update order_history set status = 'queued', version = version + 1 where order_id = ${body.order_id}`,
      sql`delete from order_legs where order_id = ${body.order_id}`,
      sql`delete from fill_checks where order_id = ${body.order_id}`,
    ]);
    await halt(world, trader);
    await world.restart();
    const record = await world.eventually(
      () => world.order(trader, body.order_id),
      ({ status }) => status !== 'queued' && status !== 'executing',
    );
    assert.deepEqual([record.status, record.error?.code], ['rejected', 'account_halted']);
    assert.deepEqual([broker.trades(), broker.count('place')], [[], 1]);
  });

  test('at the broker in an unknown state: looked for, and not sent again', async (t) => {
    const { broker, world, trader } = await opened(t);
    // The leg is saved as sending; the broker does not have it.
    broker.script('place', async () => ({ outcome: 'unknown', reason: 'lost' }), 1);
    const { body } = await world.send(trader);
    assert.equal(body.status, 'unknown');
    await world.db.commit([
      sql`update order_history set status = 'executing', version = version + 1 where order_id = ${body.order_id}`,
      sql`update order_legs set status = 'sending' where order_id = ${body.order_id}`,
      sql`delete from fill_checks where order_id = ${body.order_id}`,
    ]);
    await halt(world, trader);
    await world.restart();
    const record = await world.eventually(
      () => world.order(trader, body.order_id),
      ({ status }) => status !== 'executing',
    );
    assert.equal(record.status, 'unknown');
    assert.deepEqual([broker.trades(), broker.count('place')], [[], 1]);
  });

  test('200 entries and one halt: what is not accepted is refused, and nothing is sent after the answer', async (t) => {
    // On a slow machine the last of them are answered late, and they are to be answered.
    const world = await openWorld(t, { env: { RATE_LIMIT_REQUESTS: '1000', RESPONSE_WAIT_SECONDS: '300' } });
    const trader = await world.makeTrader();
    await world.send(trader, { quantity: 0.001 });
    const orders = Array.from({ length: 200 }, () => world.send<unknown>(trader, { quantity: 0.001 }));
    const halted = await halt(world, trader);
    assert.equal(halted.status, 200);
    const traded = (await world.paperOrders(trader.account.id)).length;
    const outcomes = (await Promise.all(orders)).map(({ status, body }) => {
      if (status !== 200) return (body as Problem).code;
      const order = body as OrderResult;
      return order.error?.code ?? order.status;
    });
    const filled = outcomes.filter((outcome) => outcome === 'filled').length;
    const refusals = new Set(outcomes.filter((outcome) => outcome !== 'filled'));
    // A machine that is too slow for so many at once says so, and has queued nothing; or their time was over, and nothing was sent.
    for (const slow of ['database_unavailable', 'expired']) refusals.delete(slow);
    assert.deepEqual([...refusals], ['account_halted']);
    assert.equal((await world.paperOrders(trader.account.id)).length, filled + 1);
    // One may have been on its way to the broker at that moment.
    assert.ok(
      filled + 1 <= traded + 1,
      `${filled + 1} orders at the end, ${traded} when the halt was answered`,
    );
  });
});
