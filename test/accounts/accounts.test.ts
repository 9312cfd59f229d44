// Trading accounts over the API: made, changed, deleted, asked about; and nobody else's.

import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { describe, type TestContext, test } from 'node:test';
import type { ShownAccount, WithSecret } from '../../src/app/accounts/accounts.ts';
import { BrokerUnavailable, type StopOrder } from '../../src/broker/broker.ts';
import { openPaper } from '../../src/broker/paper/paper.ts';
import { sql } from '../../src/data/engine/db.ts';
import { openPaperLedger } from '../../src/data/orders/paper-ledger.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { type ClientOrderId, timestamp } from '../../src/domain/ids.ts';
import type { OrderResult } from '../../src/domain/orders/result.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Store } from '../../src/store/store.ts';
import { STARTS_QUEUE } from '../../src/worker/host/pool.ts';
import { NO_HURRY } from '../broker/paper-desk.ts';
import { scriptedBroker, scriptedWorld } from '../worker/scripted-broker.ts';
import { openWorld, type Problem, settableClock, type Trader, type World } from '../world.ts';
import { makeSession, SIGNED } from './credentials.ts';

const urlOf = ({ account }: Trader, rest = '') => `/trading/accounts/${account.id}${rest}`;
const show = async (world: World, trader: Trader) =>
  (await world.as<ShownAccount>(trader, 'GET', urlOf(trader))).body;
const actionsOf = async (world: World, trader: Trader) =>
  (await world.audits(trader)).map(({ action, success }) => `${action} ${success}`);

/** A store whose calls a test may replace. */
const openStore = (): { -readonly [Call in keyof Store]: Store[Call] } => ({
  ...openMemoryStore({ clock: { now: () => performance.timeOrigin + performance.now() } }),
});

/** The next order stands still between its checks and its commit: while it waits for a worker. */
function holdOrders(store: ReturnType<typeof openStore>) {
  const { leaseHolder } = store;
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  store.leaseHolder = async (key) => {
    store.leaseHolder = leaseHolder;
    reached.resolve();
    await released.promise;
    return leaseHolder(key);
  };
  return { reached: reached.promise, release: released.resolve };
}

const invalid = async (
  world: World,
  trader: Trader,
  method: 'POST' | 'PATCH',
  url: string,
  body: unknown,
) => {
  const answer = await world.inSession<Problem>(trader, method, url, body);
  assert.deepEqual(
    [answer.status, answer.body.code],
    [400, 'request_invalid'],
    JSON.stringify(body)?.slice(0, 80),
  );
  assert.ok(answer.body.detail.length < 600);
};

/** Wrong for a new account and for a change alike. */
const WRONG_FIELDS: readonly object[] = [
  { name: '' },
  { name: '   ' },
  { name: 'x'.repeat(101) },
  { name: 'a\0b' },
  { name: 'line\nbreak' },
  { name: '\ud800' },
  { name: 5 },
  { name: null },
  { max_request_age: 9 },
  { max_request_age: 3601 },
  { max_request_age: 30.5 },
  { max_request_age: '300' },
  { max_request_age: 1e300 },
  { allowed_symbols: 'BTCUSDT' },
  { allowed_symbols: ['BTC USDT'] },
  { allowed_symbols: [''] },
  { allowed_symbols: ['x'.repeat(65)] },
  { allowed_symbols: ['a\0'] },
  { allowed_symbols: [7] },
  { allowed_symbols: Array(501).fill('BTCUSDT') },
  { paper: null },
  { paper: [] },
  { paper: 'full' },
  { paper: { fill: 'sometimes' } },
  { paper: { latency_ms: -1 } },
  { paper: { latency_ms: 0.5 } },
  { paper: { starting_cash: '1' } },
  { paper: { reject: 'no' } },
  { paper: { unknown: 1 } },
  { halted: true },
  { broker_credentials_verified: true },
  { webhook_secret: 'mine' },
  { user_id: randomUUIDv7() },
];

describe('a new account', () => {
  test('answers 201 with all of it, and with the secret this once', async (t) => {
    const world = await openWorld(t, { env: { BASE_URL: 'https://fillpath.example' } });
    const trader = await world.makeTrader();
    const body = {
      name: 'Mine',
      broker: 'paper',
      max_request_age: 60,
      allowed_symbols: ['BINANCE:BTCUSDT.P'],
    };
    const made = await world.as<WithSecret>(trader, 'POST', '/trading/accounts', body);
    assert.equal(made.status, 201);
    assert.equal(made.headers['cache-control'], 'no-store');
    const { id, webhook_token, webhook_secret, created_at, ...rest } = made.body;
    for (const token of [webhook_token, webhook_secret]) assert.match(token, /^[\w-]{43}$/);
    assert.deepEqual(rest, {
      ...body,
      environment: 'live',
      out_of_sync: 'hold',
      margin_mode: null,
      require_platform_certificate: false,
      silence_after: null,
      guards: {
        max_order_quantity: null,
        max_position: null,
        max_orders_per_minute: null,
        cooldown_seconds: null,
        max_daily_loss: null,
        max_price_deviation_percent: null,
        trading_hours: null,
        pauses: null,
        require_stop: null,
      },
      protection_defaults: null,
      unprotected: 'close',
      trigger_by: 'last',
      quantity_multiplier: 1,
      halted: false,
      broker_credentials_verified: true,
      credentials_refused: false,
      has_credentials: false,
      paper: {
        starting_cash: 100000,
        latency_ms: 20,
        fill: 'full',
        reject: null,
        lose_answer: false,
        seed: 1,
        protection: 'native',
        price: null,
      },
      webhook_url: `https://fillpath.example/webhook/${webhook_token}/order`,
    });
    const { webhook_secret: _, ...shown } = made.body;
    const { body: read } = await world.as(trader, 'GET', `/trading/accounts/${id}`);
    assert.deepEqual(read, shown);
    assert.ok(Math.abs(Date.parse(created_at) - Date.now()) < 60_000);
    const rows = JSON.stringify(await world.db.all(sql`select * from trading_accounts`));
    assert.ok(!rows.includes(webhook_secret), 'the secret is not stored in the clear');
    assert.deepEqual(await actionsOf(world, trader), ['account_created 1']);
  });

  test('has defaults, and its webhook trades at once', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const body = { name: 'B', broker: 'paper', paper: { latency_ms: 0, seed: 7 } };
    const made = (await world.as<WithSecret>(trader, 'POST', '/trading/accounts', body)).body;
    assert.deepEqual([made.max_request_age, made.allowed_symbols], [300, []]);
    assert.deepEqual([made.paper?.latency_ms, made.paper?.seed, made.paper?.fill], [0, 7, 'full']);
    const signal = { ...world.signal(trader), secret: made.webhook_secret };
    const url = `/webhook/${made.webhook_token}/order`;
    const order = await world.request<OrderResult>({ method: 'POST', url, body: signal });
    assert.deepEqual([order.status, order.body.status], [200, 'filled']);
    assert.equal(order.body.trading_account_id, made.id);
  });

  test('is for the environment that it was made for, one of the broker’s, and stays so', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const url = '/trading/accounts';
    const made = (name: string) => ({ name, broker: 'paper', environment: name });
    const live = await world.as<WithSecret>(trader, 'POST', url, made('live'));
    assert.deepEqual([live.status, live.body.environment], [201, 'live']);
    const refused = await world.as<{ detail: string }>(trader, 'POST', url, made('testnet'));
    assert.equal(refused.status, 400);
    assert.match(refused.body.detail, /The environments of Paper are: live\./);
    for (const environment of ['', null, 1])
      await invalid(world, trader, 'POST', url, { ...made('x'), environment });
    await invalid(world, trader, 'PATCH', `${url}/${live.body.id}`, { environment: 'live' });
  });

  test('has a margin mode where its broker asks for one: cross until it is changed, and connected anew then', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const url = '/trading/accounts';
    type Shown = WithSecret & { margin_mode: string | null };
    const made = await world.as<Shown>(trader, 'POST', url, { name: 'a', broker: 'okx' });
    assert.deepEqual([made.status, made.body.margin_mode], [201, 'cross']);
    const own = { name: 'b', broker: 'bitget', margin_mode: 'isolated' };
    assert.equal((await world.as<Shown>(trader, 'POST', url, own)).body.margin_mode, 'isolated');
    const version = async () => {
      const sought = sql`select connection_version from trading_accounts where id = ${made.body.id}`;
      return (await world.db.get<{ connection_version: number }>(sought))?.connection_version;
    };
    for (const [margin_mode, connection] of [
      ['cross', 1],
      ['isolated', 2],
      ['isolated', 2],
    ] as const) {
      const changed = await world.as<Shown>(trader, 'PATCH', `${url}/${made.body.id}`, { margin_mode });
      assert.deepEqual([changed.status, changed.body.margin_mode], [200, margin_mode]);
      assert.equal(await version(), connection);
    }
    for (const margin_mode of ['both', '', null])
      await invalid(world, trader, 'PATCH', `${url}/${made.body.id}`, { margin_mode });
    for (const broker of ['paper', 'binance', 'alpaca']) {
      const refused = await world.as<{ detail: string }>(trader, 'POST', url, { ...own, broker });
      assert.equal(refused.status, 400, broker);
      assert.match(refused.body.detail, /has no margin_mode/);
      const { body } = await world.as<Shown>(trader, 'POST', url, { name: broker, broker });
      assert.equal(body.margin_mode, null);
      const change = { margin_mode: 'cross' };
      assert.equal((await world.as(trader, 'PATCH', `${url}/${body.id}`, change)).status, 400);
    }
  });

  test('is refused whole if any field is wrong', async (t) => {
    const world = await openWorld(t, { env: { RATE_LIMIT_REQUESTS: '1000' } });
    const trader = await world.makeTrader();
    const url = '/trading/accounts';
    for (const wrong of WRONG_FIELDS)
      await invalid(world, trader, 'POST', url, { name: 'A', broker: 'paper', ...wrong });
    const bodies = [
      undefined,
      {},
      [],
      null,
      'text',
      { name: 'A' },
      { broker: 'paper' },
      { name: 'A', broker: 'etrade' },
    ];
    for (const body of bodies) {
      const headers = { authorization: `Bearer ${trader.apiKey}`, 'content-type': 'application/json' };
      const answer = await world.request({ method: 'POST', url, headers, body: JSON.stringify(body) });
      assert.equal(answer.status, 400, JSON.stringify(body));
    }
    assert.equal((await world.as<{ items: [] }>(trader, 'GET', url)).body.items.length, 1);
  });
});

test('the list has the user’s own accounts, oldest first, page by page', async (t) => {
  const world = await openWorld(t);
  const [trader, other] = [await world.makeTrader(), await world.makeTrader()];
  for (const name of ['two', 'three'])
    await world.as(trader, 'POST', '/trading/accounts', { name, broker: 'paper' });
  await world.as(other, 'POST', '/trading/accounts', { name: 'not yours', broker: 'paper' });
  interface Page {
    items: ShownAccount[];
    next_cursor: string | null;
  }
  const read = async (query: string) =>
    (await world.as<Page>(trader, 'GET', `/trading/accounts${query}`)).body;
  const all = await read('');
  assert.deepEqual([all.items.map(({ name }) => name), all.next_cursor], [['Paper', 'two', 'three'], null]);
  assert.ok(!JSON.stringify(all).includes('secret'));
  const first = await read('?limit=2');
  assert.deepEqual(first.items, all.items.slice(0, 2));
  const second = await read(`?limit=2&cursor=${first.next_cursor}`);
  assert.deepEqual(second, { items: all.items.slice(2), next_cursor: null });
  assert.equal((await read('?limit=3')).next_cursor, null);
  for (const query of ['?limit=0', '?limit=201', '?limit=x', '?cursor=x', '?cursor=%00', '?page=2'])
    assert.equal((await world.as(trader, 'GET', `/trading/accounts${query}`)).status, 400, query);
});

describe('a change', () => {
  test('holds from the next signal on', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const body = { name: 'Renamed ✓', max_request_age: 10, allowed_symbols: ['ETHUSDT'] };
    const changed = await world.as<ShownAccount>(trader, 'PATCH', urlOf(trader), body);
    assert.equal(changed.status, 200);
    assert.deepEqual(changed.body, { ...(await show(world, trader)), ...body });
    assert.equal((await world.send(trader)).status, 400);
    const old = timestamp(Date.now() - 11_000);
    assert.equal((await world.send(trader, { symbol: 'ETHUSDT', timestamp: old })).status, 401);
    assert.equal((await world.send(trader, { symbol: 'BINANCE:ETHUSDT.P' })).status, 200);
    const [entry] = await world.audits(trader);
    assert.deepEqual([entry?.action, entry?.resource_id], ['account_updated', trader.account.id]);
    assert.deepEqual(JSON.parse(entry?.metadata ?? '{}').changed, [
      'name',
      'max_request_age',
      'allowed_symbols',
    ]);
  });

  test('of paper settings is merged, and the worker’s open connection notices it', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    assert.equal((await world.send(trader)).body.status, 'filled');
    const patch = (paper: object) => world.as<ShownAccount>(trader, 'PATCH', urlOf(trader), { paper });
    await patch({ reject: 'market_closed' });
    const { body } = await patch({ seed: 9 });
    assert.deepEqual([body.paper?.reject, body.paper?.seed, body.paper?.latency_ms], ['market_closed', 9, 0]);
    assert.equal((await world.send(trader)).body.error?.code, 'market_closed');
    await patch({ reject: null });
    assert.equal((await world.send(trader)).body.status, 'filled');
  });

  test('of prices settles what waits up to that moment, and at it', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const patch = (price: object | null) =>
      world.as<ShownAccount>(trader, 'PATCH', urlOf(trader), { paper: { price } });
    await patch({ 'BTCUSDT.P': 50_000 });
    assert.equal((await world.send(trader)).body.status, 'filled');
    const ledger = openPaperLedger(world.db);
    const open = openPaper({ ledger, clock: { now: Date.now }, wait: async () => {} });
    const book = await open({ id: trader.account.id, paper: { price: { BTCUSDT: 50_000 } } }, NO_HURRY);
    const instrument = await book.resolve('BTCUSDT', NO_HURRY);
    assert.ok(!('rejection' in instrument));
    const stop: StopOrder = {
      clientOrderId: 'fs1' as ClientOrderId,
      instrument,
      side: 'sell',
      quantity: decimal(1),
      price: decimal(49_000),
      triggerBy: 'last',
    };
    assert.equal((await book.stops.place(stop, NO_HURRY)).outcome, 'accepted');
    const { body } = await patch({ BTCUSDT: 48_000.04 });
    assert.deepEqual(body.paper?.price, { BTCUSDT: 48_000.04 });
    const fired = await ledger.findStop(trader.account.id, stop.clientOrderId);
    assert.equal(fired?.status, 'triggered');
    const order = await ledger.find(trader.account.id, fired?.orderId ?? assert.fail());
    assert.deepEqual([order?.status, order?.fillPrice], ['filled', '48000']);
    assert.equal((await patch(null)).body.paper?.price, null);
  });

  test('of one setting each, all at once, loses none', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const changes = [
      { seed: 5 },
      { fill: 'partial' },
      { reject: 'market_closed' },
      { lose_answer: true },
      { starting_cash: 1 },
    ];
    const answers = await Promise.all(
      changes.map((paper) => world.as(trader, 'PATCH', urlOf(trader), { paper })),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200, 200],
    );
    const { paper } = await show(world, trader);
    const untouched = { latency_ms: 0, protection: 'native', price: null };
    assert.deepEqual(paper, Object.assign(untouched, ...changes));
  });

  test('is refused whole if any field is wrong, and an empty one says nothing', async (t) => {
    const world = await openWorld(t, { env: { RATE_LIMIT_REQUESTS: '1000' } });
    const trader = await world.makeTrader();
    const before = await show(world, trader);
    for (const wrong of [...WRONG_FIELDS, {}, { broker: 'paper' }, { id: randomUUIDv7() }])
      await invalid(world, trader, 'PATCH', urlOf(trader), { ...wrong });
    for (const wrong of WRONG_FIELDS.slice(8))
      await invalid(world, trader, 'PATCH', urlOf(trader), { name: 'Changed', ...wrong });
    assert.deepEqual(await show(world, trader), before);
    assert.deepEqual(await world.audits(trader), []);
  });
});

describe('a deletion', () => {
  const remove = (world: World, trader: Trader, query = '?keep_positions=true') =>
    world.as<Problem>(trader, 'DELETE', `${urlOf(trader)}${query}`);

  test('stops the webhook at once and leaves the orders readable', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const { body: order } = await world.send(trader);
    assert.equal((await remove(world, trader)).status, 204);
    const refused = await world.send<Problem>(trader);
    assert.deepEqual([refused.status, refused.body.code], [404, 'webhook_not_found']);
    assert.equal((await world.order(trader, order.order_id)).status, 'filled');
    assert.equal((await world.as(trader, 'GET', urlOf(trader))).status, 404);
    assert.deepEqual((await world.as<{ items: [] }>(trader, 'GET', '/trading/accounts')).body.items, []);
    assert.equal((await remove(world, trader)).status, 404);
    assert.deepEqual((await actionsOf(world, trader)).slice(0, 2), ['webhook_order 1', 'account_deleted 1']);
  });

  test('is 409 while the broker shows a position, which it names; closed, or kept on purpose, it passes', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const kept = await world.addAccount(trader);
    for (const each of [trader, kept]) await world.send(each, { quantity: 2 });
    await world.send(trader, { symbol: 'ETHUSDT', action: 'sell' }, { query: '?simulation=true' });
    for (const query of ['', '?keep_positions=false']) {
      const refused = await remove(world, trader, query);
      assert.deepEqual([refused.status, refused.body.code], [409, 'positions_open'], query);
      assert.match(refused.body.detail, /BTCUSDT.*keep_positions=true/);
      assert.doesNotMatch(refused.body.detail, /ETHUSDT/);
    }
    assert.equal((await world.send(trader, { action: 'close_long' })).status, 200, 'it trades on');
    assert.equal((await remove(world, trader, '')).status, 204);
    assert.equal((await remove(world, kept)).status, 204);
    assert.equal(await world.position(kept.account.id, 'BTCUSDT'), '2');
    const deleted = (await world.audits(trader)).filter(({ action }) => action === 'account_deleted');
    assert.deepEqual(
      deleted.map(({ metadata }) => JSON.parse(metadata).keep_positions),
      [false, true],
    );
    for (const query of ['?keep_positions=1', '?keep_positions=', '?keep_positions', '?keep-positions=true'])
      assert.equal((await remove(world, trader, query)).status, 400, query);
  });

  test('of an account whose broker cannot be asked is refused with what to do, and nothing is deleted', async (t) => {
    const broker = scriptedBroker(t);
    const store = openStore();
    const env = { WORKER_START_TIMEOUT_SECONDS: '0.5' };
    const world = await openWorld(t, { brokers: broker.brokers, store, env, wait: async () => {} });
    const trader = await world.makeTrader();
    broker.script('open', () => Promise.reject(new BrokerUnavailable('maintenance')));
    const refused = await remove(world, trader, '');
    assert.deepEqual([refused.status, refused.body.code], [503, 'broker_unavailable']);
    assert.match(refused.body.detail, /maintenance.*keep_positions=true/);
    const other = await world.makeTrader();
    const { push } = store;
    store.push = async (queue, ...message) =>
      void (queue === STARTS_QUEUE || (await push(queue, ...message)));
    const alone = await remove(world, other, '');
    assert.deepEqual([alone.status, alone.body.code], [503, 'worker_unavailable']);
    assert.match(alone.body.detail, /keep_positions=true/);
    for (const each of [trader, other]) {
      assert.equal((await world.as(each, 'GET', urlOf(each))).status, 200);
      assert.equal((await remove(world, each)).status, 204);
    }
  });

  test('is 409 while an order is with the worker', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers });
    const trader = await world.makeTrader();
    const held = broker.hold('place');
    const order = world.send(trader);
    await held.reached;
    for (const query of ['', '?keep_positions=true']) {
      const refused = await remove(world, trader, query);
      assert.deepEqual([refused.status, refused.body.code], [409, 'orders_under_way']);
    }
    held.release();
    assert.equal((await order).body.status, 'filled');
    assert.equal((await remove(world, trader)).status, 204);
    assert.deepEqual((await actionsOf(world, trader)).toSorted(), ['account_deleted 1', 'webhook_order 1']);
  });

  test('is 409 where an order came in while the broker was asked, however soon it was filled', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers });
    const trader = await world.makeTrader();
    const other = await world.addAccount(trader);
    assert.equal((await world.send(trader, { action: 'long_entry' })).body.status, 'filled');
    assert.equal((await world.send(trader, { action: 'close_long' })).body.status, 'filled');
    const tradeMeanwhile = (...trade: Parameters<typeof world.send>) =>
      broker.script(
        'positions',
        async (goodAnswer) => {
          const nothing = await goodAnswer();
          assert.equal((await world.send(...trade)).body.status, 'filled');
          return nothing;
        },
        1,
      );
    tradeMeanwhile(trader, { action: 'long_entry' });
    const refused = await remove(world, trader, '');
    assert.deepEqual([refused.status, refused.body?.code], [409, 'orders_under_way']);
    assert.equal(broker.position(trader.account.id), '1');
    assert.equal((await world.send(trader, { action: 'close_long' })).body.status, 'filled', 'it trades on');
    // What can hold nothing there is no reason.
    tradeMeanwhile(trader, {}, { query: '?simulation=true' });
    assert.equal((await remove(world, trader, '')).status, 204);
    tradeMeanwhile(await world.addAccount(trader));
    assert.equal((await remove(world, other, '')).status, 204);
  });

  test('is 409 while an order is followed by fill verification, and passes when that has given up', async (t) => {
    const env = { FILL_FIRST_POLL_SECONDS: '600', FILL_REQUEUE_SECONDS: '0.1', FILL_RETRIES: '0' };
    const world = await openWorld(t, { env });
    const trader = await world.makeTrader({}, { paper: { latency_ms: 0, fill: 'never' } });
    const { body: order } = await world.send(trader);
    assert.equal(order.status, 'placed');
    assert.equal((await remove(world, trader, '')).body?.code, 'orders_under_way');
    await world.db.commit([sql`update fill_checks set next_at = ${timestamp(Date.now())}`]);
    const state = async () => (await world.order(trader, order.order_id)).verification.state;
    await world.eventually(state, (seen) => seen === 'dead_letter');
    assert.equal((await remove(world, trader)).status, 204);
  });

  test('is 409 for an order of this account only', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers });
    const trader = await world.makeTrader();
    const second = await world.addAccount(trader);
    const held = broker.hold('place');
    const order = world.send(trader);
    await held.reached;
    assert.equal((await remove(world, second)).status, 204);
    held.release();
    assert.equal((await order).status, 200);
  });

  for (const kind of ['webhook', 'dashboard'] as const)
    test(`comes before a ${kind} order that was checked but not yet accepted: 404, and nothing is traded`, async (t) => {
      const store = openStore();
      const world = await openWorld(t, { store });
      const trader = await world.makeTrader();
      const held = holdOrders(store);
      const body = { trading_account_id: trader.account.id, action: 'buy', symbol: 'BTCUSDT', quantity: 1 };
      const order =
        kind === 'webhook'
          ? world.send<Problem>(trader)
          : world.as<Problem>(trader, 'POST', '/trading/order', body);
      await held.reached;
      assert.equal((await remove(world, trader)).status, 204);
      held.release();
      const refused = await order;
      assert.deepEqual(
        [refused.status, refused.body.code],
        [404, kind === 'webhook' ? 'webhook_not_found' : 'not_found'],
      );
      assert.deepEqual(await world.orders(trader), []);
    });
});

describe('the webhook’s token and secret', () => {
  test('a new secret: the old one is an attack from now on', async (t) => {
    const world = await openWorld(t, { env: SIGNED });
    const trader = await world.makeTrader();
    const answer = await world.inSession<WithSecret>(trader, 'POST', urlOf(trader, '/webhook-secret'));
    assert.deepEqual([answer.status, answer.headers['cache-control']], [200, 'no-store']);
    const { webhook_secret: secret, ...shown } = answer.body;
    assert.deepEqual(shown, await show(world, trader));
    assert.equal((await world.send(trader)).status, 401);
    assert.equal((await world.send(trader, { secret })).status, 200);
    assert.deepEqual((await actionsOf(world, trader)).slice(0, 2), [
      'webhook_secret_regenerated 1',
      'webhook_credential_attack 0',
    ]);
  });

  test('a new token: the old URL is 404, the secret stays', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const { body, status } = await world.inSession<ShownAccount>(
      trader,
      'POST',
      urlOf(trader, '/webhook-token'),
    );
    assert.equal(status, 200);
    assert.ok(!('webhook_secret' in body));
    assert.notEqual(body.webhook_token, trader.account.webhookToken);
    assert.ok(body.webhook_url.includes(body.webhook_token));
    assert.equal((await world.send(trader)).status, 404);
    const moved = { ...trader, account: { ...trader.account, webhookToken: body.webhook_token } };
    assert.equal((await world.send(moved)).status, 200);
  });

  test('the secret is shown to a session, on record; an API key does not see it', async (t) => {
    const world = await openWorld(t, { env: SIGNED });
    const trader = await world.makeTrader();
    const url = urlOf(trader, '/webhook-secret');
    const { cookie } = await makeSession(world, trader.user);
    const answer = await world.request({ method: 'GET', url, headers: cookie });
    assert.deepEqual([answer.status, answer.body], [200, { webhook_secret: trader.secret }]);
    assert.equal(answer.headers['cache-control'], 'no-store');
    const refused = await world.as<Problem>(trader, 'GET', url);
    assert.deepEqual([refused.status, refused.body.code], [403, 'session_required']);
    assert.deepEqual(await actionsOf(world, trader), ['webhook_secret_shown 1']);
    const stranger = await makeSession(world, (await world.makeTrader()).user);
    assert.equal((await world.request({ method: 'GET', url, headers: stranger.cookie })).status, 404);
  });

  test('an API key makes neither of them anew: who stole it would keep a way in when it is revoked', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    for (const path of ['/webhook-secret', '/webhook-token']) {
      const refused = await world.as<Problem>(trader, 'POST', urlOf(trader, path));
      assert.deepEqual([refused.status, refused.body.code], [403, 'session_required'], path);
    }
    assert.equal((await world.send(trader)).status, 200, 'the URL and the secret are what they were');
  });

  test('an action that takes nothing refuses a body with something in it', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    for (const action of ['webhook-secret', 'webhook-token', 'verify', 'resume']) {
      await invalid(world, trader, 'POST', urlOf(trader, `/${action}`), { flatten: true });
      await invalid(world, trader, 'POST', urlOf(trader, `/${action}`), [1]);
    }
    assert.deepEqual(await world.audits(trader), []);
  });
});

describe('what the worker is asked', () => {
  test('positions are signed, with their average price, the last one and what closing them would bring', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const first = await world.send(trader, { quantity: 0.25 });
    await world.send(trader, { symbol: 'ES1!', action: 'sell', quantity: 1 });
    await world.send(trader, { symbol: 'ETHUSDT' }, { query: '?simulation=true' });
    interface Positions {
      items: {
        symbol: string;
        quantity: number;
        average_price: number;
        last_price: number;
        open_profit: number;
      }[];
    }
    const { body } = await world.as<Positions>(trader, 'GET', urlOf(trader, '/positions'));
    assert.deepEqual(body.items.map(({ symbol, quantity }) => [symbol, quantity]).toSorted(), [
      ['BTCUSDT', 0.25],
      ['ES1!', -1],
    ]);
    const held = body.items.find(({ symbol }) => symbol === 'BTCUSDT');
    assert.equal(held?.average_price, first.body.fill_price);
    const short = body.items.find(({ symbol }) => symbol === 'ES1!') ?? assert.fail();
    assert.equal(short.open_profit, (short.average_price - short.last_price) * 50);
  });

  test('the balance is what the broker says', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    const amounts = { equity: decimal('101000.5'), cash: decimal(100_000), available: decimal(90_000) };
    broker.script('balance', async () => ({ currency: 'USDT', ...amounts }));
    const { status, body } = await world.as(trader, 'GET', urlOf(trader, '/balance'));
    assert.equal(status, 200);
    assert.deepEqual(body, { currency: 'USDT', equity: 101_000.5, cash: 100_000, available: 90_000 });
  });

  test('a paper account’s balance is its cash and what its positions would bring', async (t) => {
    // Prices go with the time.
    const world = await openWorld(t, { clock: settableClock() });
    const trader = await world.makeTrader();
    const read = async () =>
      (await world.as<Record<string, number>>(trader, 'GET', urlOf(trader, '/balance'))).body;
    const all = { equity: 100_000, cash: 100_000, available: 100_000 };
    assert.deepEqual(await read(), { currency: 'USD', ...all });
    await world.send(trader, { quantity: 0.5 });
    const { equity = 0, cash = 0, available = 0 } = await read();
    const { body } = await world.as<{ items: [{ open_profit: number }] }>(
      trader,
      'GET',
      urlOf(trader, '/positions'),
    );
    assert.equal(equity, cash + body.items[0].open_profit);
    // The fee is paid, and a part is bound.
    assert.ok(cash < 100_000 && available < equity, JSON.stringify({ equity, cash, available }));
  });

  test('a quote is what the broker says, asked once for all who want the same within a second', async (t) => {
    const { broker, world, trader } = await scriptedWorld(t);
    let asked = 0;
    broker.script('quote', async () => {
      asked++;
      return { bid: decimal('59990.5'), ask: decimal(60_000) };
    });
    const read = (query: string) => world.as<Problem>(trader, 'GET', urlOf(trader, `/quote${query}`));
    const [one, same] = await Promise.all([read('?symbol=BTCUSDT'), read('?symbol=BTCUSDT')]);
    assert.deepEqual([one.status, one.body], [200, { symbol: 'BTCUSDT', bid: 59_990.5, ask: 60_000 }]);
    assert.deepEqual([same.body, asked], [one.body, 1]);
    for (const query of ['', '?symbol=', '?symbol=BTC%20USDT', '?symbol=BTCUSDT&simulation=x', '?q=BTCUSDT'])
      assert.equal((await read(query)).status, 400, query);
    assert.deepEqual(await world.orders(trader), [], 'nothing is ordered for it');
  });

  test('a quote of a symbol that the broker does not have is 404; a simulated book has its own', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const read = (query: string) =>
      world.as<Problem & { bid: number; ask: number }>(trader, 'GET', urlOf(trader, `/quote${query}`));
    const none = await read('?symbol=BTCUSTD');
    assert.deepEqual([none.status, none.body.code], [404, 'not_found']);
    assert.match(none.body.detail, /has no such symbol/);
    for (const query of ['?symbol=BTCUSDT', '?symbol=BTCUSDT&simulation=true']) {
      const { status, body } = await read(query);
      assert.equal(status, 200, query);
      assert.ok(body.bid > 0 && body.ask > body.bid, JSON.stringify(body));
    }
  });

  test('symbols are found by part of their name, in order, page by page', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    interface Symbols {
      items: { symbol: string }[];
      next_cursor: string | null;
    }
    const read = async (query: string) =>
      (await world.as<Symbols>(trader, 'GET', urlOf(trader, `/symbols${query}`))).body;
    const { items, next_cursor } = await read('?q=btc');
    assert.deepEqual(
      [items, next_cursor],
      [
        [
          {
            symbol: 'BTCUSDT',
            description: 'Bitcoin / Tether',
            contract_size: 1,
            quantity_step: 0.00001,
            min_quantity: 0.00001,
            tick_size: 0.1,
            open: true,
            next_open: null,
          },
        ],
        null,
      ],
    );
    const all = (await read('')).items.map(({ symbol }) => symbol);
    assert.ok(['BTCUSDT', 'ETHUSDT', 'ES1!', 'TXF1!', 'AAPL'].every((symbol) => all.includes(symbol)));
    const paged: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Symbols = await read(`?limit=3${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
      paged.push(...page.items.map(({ symbol }) => symbol));
      cursor = page.next_cursor;
    }
    assert.deepEqual(paged, all);
    // Symbol before name, beginning before middle; what it is quoted in is not meant.
    const found = async (query: string) => (await read(query)).items.map(({ symbol }) => symbol);
    assert.deepEqual(await found('?q=eth'), ['ETHUSDT']);
    assert.deepEqual(await found('?q=BINANCE:ETHUSDT.P'), ['ETHUSDT']);
    assert.deepEqual(await found('?q=es'), ['ES1!', 'MES1!', 'TSLA', 'TXF1!']);
    assert.deepEqual(await found('?q=es&limit=1&cursor=MES1!'), ['TSLA']);
    assert.deepEqual((await read('?q=%00')).items, []);
    for (const query of ['?limit=0', `?q=${'x'.repeat(65)}`, '?symbol=BTC', '?q=a&q=b'])
      assert.equal((await world.as(trader, 'GET', urlOf(trader, `/symbols${query}`))).status, 400, query);
  });

  test('the open orders at the broker are told, with the names of ours', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const { body: order } = await world.as<{ order_id: string }>(trader, 'POST', '/trading/order', {
      trading_account_id: trader.account.id,
      action: 'buy',
      symbol: 'BINANCE:BTCUSDT.P',
      quantity: 0.5,
      limit_price: 1000,
    });
    const { body } = await world.as<{ items: Record<string, unknown>[] }>(
      trader,
      'GET',
      urlOf(trader, '/open-orders'),
    );
    const [{ broker_ref, client_order_id, ...open } = {}, ...others] = body.items;
    assert.deepEqual(others, []);
    assert.deepEqual(open, {
      symbol: 'BTCUSDT',
      side: 'buy',
      quantity: 0.5,
      fill_quantity: 0,
      reduce_only: false,
      order_id: order.order_id,
    });
    assert.ok(broker_ref && client_order_id);
    await world.as(trader, 'POST', `/trading/orders/${order.order_id}/cancel`, {});
    await world.eventually(
      async () => (await world.as<{ items: unknown[] }>(trader, 'GET', urlOf(trader, '/open-orders'))).body,
      ({ items }) => items.length === 0,
    );
  });

  const questions: readonly (readonly ['GET' | 'POST', string])[] = [
    ['GET', '/positions'],
    ['GET', '/balance'],
    ['GET', '/quote?symbol=BTCUSDT'],
    ['GET', '/candles?symbol=BTCUSDT&interval=1h'],
    ['GET', '/open-orders'],
    ['GET', '/symbols'],
    ['POST', '/verify'],
  ];
  const assertUnavailable = async (world: World, trader: Trader, code: string, detail: RegExp) => {
    for (const [method, path] of questions) {
      const answer = await world.as<Problem>(trader, method, urlOf(trader, path));
      assert.deepEqual([answer.status, answer.body.code], [503, code], path);
      assert.match(answer.body.detail, detail);
      assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
    }
  };

  test('a broker that cannot be reached is 503 broker_unavailable', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, wait: async () => {} });
    const trader = await world.makeTrader();
    broker.script('open', () => Promise.reject(new BrokerUnavailable('maintenance until noon')));
    await assertUnavailable(world, trader, 'broker_unavailable', /maintenance until noon\. Try again/);
  });

  test('a connector that breaks says nothing of what it had in hand', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers, wait: async () => {} });
    const trader = await world.makeTrader();
    broker.script('open', () => Promise.reject(new TypeError('cannot read key "hunter2"')));
    await assertUnavailable(world, trader, 'broker_unavailable', /^[^"]+$/);
    broker.forgetScripts();
    assert.equal((await world.as(trader, 'GET', urlOf(trader, '/positions'))).status, 200);
  });

  test('a worker that does not start is 503 worker_unavailable', async (t) => {
    const store = openStore();
    const { push } = store;
    store.push = async (queue, ...message) =>
      void (queue === STARTS_QUEUE || (await push(queue, ...message)));
    const world = await openWorld(t, { store, env: { WORKER_START_TIMEOUT_SECONDS: '0.05' } });
    await assertUnavailable(world, await world.makeTrader(), 'worker_unavailable', /could be started/);
  });

  test('a worker that does not answer in time is 503 worker_unavailable', async (t) => {
    const store = openStore();
    const { push } = store;
    store.push = async (queue, ...message) =>
      void (queue.startsWith('work:') || (await push(queue, ...message)));
    const world = await openWorld(t, { store, env: { RESPONSE_WAIT_SECONDS: '0.05' } });
    await assertUnavailable(world, await world.makeTrader(), 'worker_unavailable', /did not answer/);
  });
});

describe('every route of an account', () => {
  const routes: readonly (readonly ['GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', string, object?])[] = [
    ['GET', ''],
    ['PATCH', '', { name: 'Mine now' }],
    ['PATCH', '', { paper: { seed: 2 } }],
    ['DELETE', ''],
    ['POST', '/webhook-secret'],
    ['POST', '/webhook-token'],
    ['POST', '/verify'],
    ['GET', '/positions'],
    ['GET', '/simulation/positions'],
    ['POST', '/simulation/reset'],
    ['GET', '/balance'],
    ['GET', '/symbols'],
    ['POST', '/halt'],
    ['POST', '/halt', { flatten: true }],
    ['POST', '/resume'],
  ];
  const assertNotFound = async (world: World, trader: Trader, id: string) => {
    for (const [method, path, body] of routes) {
      const answer = await world.inSession<Problem>(trader, method, `/trading/accounts/${id}${path}`, body);
      assert.deepEqual([answer.status, answer.body.code], [404, 'not_found'], `${method} ${path}`);
      assert.equal(answer.body.detail, 'You have no such trading account.');
    }
  };
  const opened = (t: TestContext) => openWorld(t, { env: { RATE_LIMIT_REQUESTS: '1000' } });

  test('is 404 for another user, and changes nothing', async (t) => {
    const world = await opened(t);
    const [owner, stranger] = [await world.makeTrader(), await world.makeTrader()];
    const before = await show(world, owner);
    await assertNotFound(world, stranger, owner.account.id);
    assert.deepEqual(await show(world, owner), before);
    assert.deepEqual([await world.audits(owner), await world.audits(stranger)], [[], []]);
  });

  test('is 404 for an id that nobody has, and for what is no id', async (t) => {
    const world = await opened(t);
    const trader = await world.makeTrader();
    for (const id of [randomUUIDv7(), 'x', '%00', "'%20or%20true", trader.account.id.toUpperCase()])
      await assertNotFound(world, trader, id);
  });
});

describe('a trading request', () => {
  test('of any kind counts against the one rate limit; a GET does not', async (t) => {
    const world = await openWorld(t, { env: { RATE_LIMIT_REQUESTS: '4' } });
    const trader = await world.makeTrader();
    for (let round = 0; round < 6; round++)
      assert.equal((await world.as(trader, 'GET', urlOf(trader))).status, 200);
    assert.equal((await world.send(trader)).status, 200);
    assert.equal((await world.as(trader, 'PATCH', urlOf(trader), { name: 'A' })).status, 200);
    assert.equal((await world.as(trader, 'POST', urlOf(trader, '/resume'))).status, 200);
    // What is not valid says nothing, and counts for nothing.
    for (let round = 0; round < 3; round++)
      await invalid(world, trader, 'PATCH', urlOf(trader), { nome: 'A' });
    assert.equal((await world.inSession(trader, 'POST', urlOf(trader, '/webhook-token'))).status, 200);
    const refused = await world.as<Problem>(trader, 'PATCH', urlOf(trader), { name: 'B' });
    assert.deepEqual([refused.status, refused.body.code], [429, 'rate_limited']);
    assert.match(String(refused.headers['retry-after']), /^[1-9]\d*$/);
    const order = { trading_account_id: trader.account.id, action: 'buy', symbol: 'BTCUSDT', quantity: 1 };
    assert.equal((await world.as(trader, 'POST', '/trading/order', order)).status, 429);
    assert.equal((await world.as(trader, 'GET', urlOf(trader))).status, 200);
    assert.equal((await show(world, trader)).name, 'A');
    const refusals = (await world.audits(trader)).filter(({ success }) => !success);
    assert.deepEqual(
      refusals.map(({ action, resource_id, metadata }) => [action, resource_id, JSON.parse(metadata).code]),
      [
        ['trading_request', trader.account.id, 'rate_limited'],
        ['dashboard_order', trader.account.id, 'rate_limited'],
      ],
    );
  });

  test('from an address that is not allowed is 403, on record as webhook_ip_blocked; a GET is answered', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await world.allowIps(trader, '203.0.113.0/24');
    const { bearer: headers } = await makeSession(world, trader.user);
    const from = (
      remoteAddress: string,
      method: 'GET' | 'PATCH' | 'DELETE' | 'POST',
      path = '',
      body?: object,
    ) => world.request<Problem>({ method, url: urlOf(trader, path), headers, body, remoteAddress });
    const acts = [
      ['PATCH', '', { name: 'B' }],
      ['DELETE', '', undefined],
      ['POST', '/webhook-secret', undefined],
      ['POST', '/verify', undefined],
      ['POST', '/resume', undefined],
    ] as const;
    for (const [method, path, body] of acts) {
      const refused = await from('198.51.100.7', method, path, body);
      assert.deepEqual([refused.status, refused.body.code], [403, 'ip_not_allowed'], `${method} ${path}`);
    }
    assert.equal((await from('198.51.100.7', 'GET')).status, 200);
    assert.equal((await from('198.51.100.7', 'GET', '/positions')).status, 200);
    assert.equal((await from('203.0.113.9', 'PATCH', '', { name: 'C' })).status, 200);
    const blocked = (await world.audits(trader)).filter(({ action }) => action === 'webhook_ip_blocked');
    assert.equal(blocked.length, acts.length);
    assert.ok(blocked.every(({ ip_address, success }) => ip_address === '198.51.100.7' && !success));
  });
});
