// POST /trading/order, the manual order of a user.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import type { OrderResult } from '../../src/domain/orders/result.ts';
import { scriptedBroker } from '../worker/scripted-broker.ts';
import { type Answer, openWorld, type Problem, settableClock, type Trader, type World } from '../world.ts';

const ORDER = '/trading/order';
const DAY_MS = 86_400_000;

const orderOf = ({ account }: Trader, fields: Record<string, unknown> = {}) => ({
  trading_account_id: account.id,
  action: 'buy',
  symbol: 'BTCUSDT',
  quantity: 1,
  ...fields,
});

const place = <Body = OrderResult>(
  world: World,
  trader: Trader,
  fields: Record<string, unknown> = {},
  headers: Record<string, string> = {},
) => world.as<Body>(trader, 'POST', ORDER, orderOf(trader, fields), headers);

/** `200`, or the status and code of a refusal. */
const outcome = ({ status, body }: Answer<unknown>): string =>
  status < 300 ? String(status) : `${status} ${(body as Problem).code}`;

// biome-ignore format: the contract's list
const ORDER_RESULT = ['order_id', 'status', 'simulation', 'source', 'trading_account_id', 'broker_name', 'symbol', 'action',
  'operation', 'order_type', 'quantity', 'broker_refs', 'fill_price', 'fill_quantity', 'auto_exit', 'exit_quantity',
  'position_before', 'exit_order_result', 'half_done', 'settled_by', 'error', 'submitted_at', 'filled_at', 'trace', 'market_position', 'target', 'gap',
  'ignored', 'price', 'slippage'];

describe('POST /trading/order', () => {
  test('the OrderResult has exactly the contract’s fields, and its source is the dashboard', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader();
    const { status, body } = await place(world, trader, { quantity: 0.5 });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body).sort(), [...ORDER_RESULT].sort());
    const { order_id, broker_refs, fill_price, trace, ...rest } = body;
    assert.deepEqual(rest, {
      status: 'filled',
      simulation: false,
      source: 'dashboard',
      trading_account_id: trader.account.id,
      broker_name: 'paper',
      symbol: 'BTCUSDT',
      action: 'buy',
      operation: 'PLACE_ENTRY_ORDER',
      order_type: 'entry',
      quantity: 0.5,
      fill_quantity: 0.5,
      market_position: null,
      target: null,
      gap: false,
      ignored: [],
      price: null,
      slippage: null,
      auto_exit: false,
      exit_quantity: null,
      position_before: 0,
      exit_order_result: null,
      half_done: false,
      settled_by: null,
      error: null,
      submitted_at: '2026-07-15T19:00:00.000Z',
      filled_at: '2026-07-15T19:00:00.000Z',
    });
    assert.match(order_id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.equal(broker_refs.length, 1);
    assert.equal(typeof fill_price, 'number');
    assert.deepEqual(Object.keys(trace), ['validated', 'queued', 'taken', 'sent', 'acked', 'answered']);

    const [entry] = await world.audits(trader);
    assert.deepEqual(
      [entry?.action, entry?.success, entry?.request_path, entry?.resource_type, entry?.resource_id],
      ['dashboard_order', 1, ORDER, 'order', order_id],
    );
  });

  test('a webhook’s OrderResult has the same fields, rejected and simulated ones too', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const answers = [
      await world.send(trader),
      await world.send(trader, {}, { query: '?simulation=true' }),
      await world.send(trader, { symbol: 'NOSUCH' }),
      await place(world, trader, { action: 'sell' }),
      await place(world, trader, { action: 'close_long', simulation: true }),
    ];
    for (const { status, body } of answers) {
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body).sort(), [...ORDER_RESULT].sort());
    }
  });

  // biome-ignore format: a table, one row a line
  const mapping: [action: string, orderType: string | null, operation: string, seen: string | null][] = [
    ['buy', null, 'PLACE_ENTRY_ORDER', 'entry'],
    ['sell', 'entry', 'PLACE_ENTRY_ORDER', 'entry'],
    ['buy', 'exit', 'PLACE_EXIT_ORDER', 'exit'],
    ['sell', 'exit', 'PLACE_EXIT_ORDER', 'exit'],
    ['close_long', null, 'CLOSE_POSITION', null],
    ['close_short', null, 'CLOSE_POSITION', null],
    ['long_entry', null, 'PLACE_ENTRY_ORDER', 'entry'],
    ['long_exit', null, 'PLACE_EXIT_ORDER', 'exit'],
    ['short_entry', null, 'PLACE_ENTRY_ORDER', 'entry'],
    ['short_exit', null, 'PLACE_EXIT_ORDER', 'exit'],
  ];
  test('the actions map as those of the webhook', async (t) => {
    const world = await openWorld(t);
    for (const [action, orderType, operation, seen] of mapping) {
      const fields = { action, ...(orderType ? { order_type: orderType } : {}) };
      const trader = await world.makeTrader();
      const [manual, signal] = [await place(world, trader, fields), await world.send(trader, fields)];
      for (const { body } of [manual, signal])
        assert.deepEqual([body.operation, body.order_type], [operation, seen], `${action} ${orderType}`);
    }
  });

  test('without valid credentials it is 401 before any look at the body', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const bodies = ['', 'no JSON', '{}', 'x'.repeat(70_000), JSON.stringify(orderOf(trader))];
    const credentials = [
      '',
      'Bearer',
      'Bearer ',
      'Bearer x',
      `Basic ${trader.apiKey}`,
      `Bearer ${trader.apiKey}x`,
    ];
    for (const authorization of credentials)
      for (const body of bodies) {
        const headers = { authorization, 'content-type': 'application/json' };
        const answer = await world.request<Problem>({ method: 'POST', url: ORDER, body, headers });
        assert.equal(outcome(answer), '401 unauthenticated', `${authorization} ${body.slice(0, 20)}`);
      }
    const urls = ['/trading/orders', `/trading/orders/${trader.account.id}`, '/trading/orders?limit=abc'];
    for (const url of urls)
      assert.equal(outcome(await world.request({ method: 'GET', url })), '401 unauthenticated', url);
  });

  // biome-ignore format: a table, one row a line
  const malformed: [name: string, fields: Record<string, unknown>][] = [
    ['an unknown field', { price: 5 }],
    ['a secret, which belongs to webhooks', { secret: 'x' }],
    ['__proto__', JSON.parse('{"__proto__": {"simulation": true}}')],
    ['an account that is no id', { trading_account_id: 'mine' }],
    ['an account in upper case', { trading_account_id: '01A1DD1D-B050-763C-8A06-602F97467E1F' }],
    ['an account that is a number', { trading_account_id: 1 }],
    ['an unknown action', { action: 'hold' }],
    ['an action in upper case', { action: 'BUY' }],
    ['a list of actions', { action: ['buy'] }],
    ['an empty symbol', { symbol: '' }],
    ['a symbol with a blank', { symbol: 'BTC USDT' }],
    ['a symbol of 65 characters', { symbol: 'x'.repeat(65) }],
    ['a numeric symbol', { symbol: 1 }],
    ['a quantity of zero', { quantity: 0 }],
    ['a negative quantity', { quantity: -1 }],
    ['a quantity in quotes', { quantity: '1' }],
    ['a quantity of null', { quantity: null }],
    ['an unknown order type', { order_type: 'market' }],
    ['an order type of null', { order_type: null }],
    ['simulation in quotes', { simulation: 'true' }],
    ['simulation as a number', { simulation: 1 }],
    ['an exit that enters', { action: 'long_exit', order_type: 'entry' }],
    ['an entry that exits', { action: 'short_entry', order_type: 'exit' }],
    ['no action', { action: undefined }],
    ['no symbol', { symbol: undefined }],
    ['no quantity', { quantity: undefined }],
    ['no account', { trading_account_id: undefined }],
  ];
  test('what does not fit the schema is 400, and trades nothing', async (t) => {
    const world = await openWorld(t, { env: { RATE_LIMIT_REQUESTS: '1000' } });
    const trader = await world.makeTrader();
    for (const [name, fields] of malformed)
      await t.test(name, async () => {
        assert.equal(outcome(await place(world, trader, fields)), '400 request_invalid');
      });
    const text = JSON.stringify(orderOf(trader));
    const texts = [
      '',
      'null',
      '[]',
      '1',
      text.slice(1),
      `${text}${text}`,
      text.replace('{', '{"action":"buy",'),
    ];
    // Numbers that a double would not carry: with more than 15 digits, or out of all bounds.
    for (const number of [
      '1.000000000000001',
      '1234567890123456',
      '0.1234567890123456',
      '1e16',
      '1e-16',
      '1e999',
      'NaN',
    ])
      texts.push(text.replace('"quantity":1', `"quantity":${number}`));
    for (const body of texts)
      await t.test(body.slice(0, 10) + body.slice(-30), async () => {
        const headers = { 'content-type': 'application/json' };
        assert.equal(outcome(await world.as(trader, 'POST', ORDER, body, headers)), '400 request_invalid');
      });
    const noBody = await world.as(trader, 'POST', ORDER);
    assert.equal(outcome(noBody), '400 request_invalid');
    const large = await world.as(trader, 'POST', ORDER, orderOf(trader, { symbol: 'x'.repeat(70_000) }));
    assert.equal(outcome(large), '413 payload_too_large');
    const form = await world.as(trader, 'POST', ORDER, 'a=b', { 'content-type': 'text/plain' });
    assert.equal(form.status, 415);
    assert.deepEqual(await world.orders(trader), []);
    assert.equal(outcome(await place(world, trader, { quantity: 0.00001 })), '200');
  });

  test('another user’s account and one that is not there are the same 404', async (t) => {
    const world = await openWorld(t);
    const [trader, other] = [await world.makeTrader(), await world.makeTrader()];
    const answers = [other.account.id, '01a1dd1d-b050-763c-8a06-602f97467e1f'].map((id) =>
      place<Problem>(world, trader, { trading_account_id: id }),
    );
    const [foreign, absent] = await Promise.all(answers);
    assert.ok(foreign && absent);
    assert.equal(outcome(foreign), '404 not_found');
    assert.deepEqual({ ...foreign.body, request_id: '' }, { ...absent.body, request_id: '' });
    assert.deepEqual(await world.paperOrders(other.account.id), []);
  });

  test('a symbol outside the allowed list is 400; one that the broker has not is an OrderResult with invalid_symbol', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader({}, { allowedSymbols: ['BTCUSDT', 'NOSUCH'] });
    assert.equal(outcome(await place(world, trader, { symbol: 'ETHUSDT' })), '400 request_invalid');
    assert.equal((await place(world, trader, { symbol: 'BINANCE:BTCUSDT.P' })).body.status, 'filled');
    assert.equal((await place(world, trader, { symbol: 'NOSUCH' })).body.error?.code, 'invalid_symbol');
  });
});

describe('Idempotency-Key', () => {
  const keyed = (key: string) => ({ 'idempotency-key': key });

  test('the same key and body gives the first answer again, and one order', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const first = await place(world, trader, {}, keyed('a'));
    assert.equal(first.status, 200);
    for (const _ of [1, 2]) {
      const again = await place(world, trader, {}, keyed('a'));
      assert.deepEqual([again.status, again.body], [200, first.body]);
    }
    const { trading_account_id, ...rest } = orderOf(trader);
    const reordered = await world.as(trader, 'POST', ORDER, { ...rest, trading_account_id }, keyed('a'));
    assert.deepEqual(reordered.body, first.body);
    await world.restart();
    assert.deepEqual((await place(world, trader, {}, keyed('a'))).body, first.body);
    assert.equal((await world.paperOrders(trader.account.id)).length, 1);
    assert.equal((await world.orders(trader)).length, 1);
  });

  test('a rejection is an answer too, and is given again', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const first = await place(world, trader, { symbol: 'NOSUCH' }, keyed('a'));
    assert.equal(first.body.error?.code, 'invalid_symbol');
    assert.deepEqual((await place(world, trader, { symbol: 'NOSUCH' }, keyed('a'))).body, first.body);
    assert.equal((await world.orders(trader)).length, 1);
  });

  test('a refusal is not remembered: the key is free for the next try', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader({}, { halted: true });
    const halt = (halted: boolean) =>
      world.db.commit([sql`update trading_accounts set halted = ${halted} where id = ${trader.account.id}`]);
    assert.equal(outcome(await place(world, trader, {}, keyed('a'))), '403 account_halted');
    await halt(false);
    const first = await place(world, trader, {}, keyed('a'));
    assert.equal(outcome(first), '200');
    await halt(true);
    assert.deepEqual((await place(world, trader, {}, keyed('a'))).body, first.body);
  });

  test('what the account allows by now takes no first answer away, and holds for the next order', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const first = await place(world, trader, {}, keyed('a'));
    assert.equal(outcome(first), '200');
    const url = `/trading/accounts/${trader.account.id}`;
    assert.equal((await world.as(trader, 'PATCH', url, { allowed_symbols: ['ETHUSDT'] })).status, 200);
    assert.deepEqual((await place(world, trader, {}, keyed('a'))).body, first.body);
    assert.equal(
      outcome(await place(world, trader, { quantity: 2 }, keyed('a'))),
      '409 idempotency_conflict',
    );
    assert.equal(outcome(await place(world, trader, {}, keyed('b'))), '400 request_invalid');
    assert.equal((await world.orders(trader)).length, 1);
  });

  test('twenty at once make one order; the rest wait or get its answer', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const answers = await Promise.all(Array.from({ length: 20 }, () => place(world, trader, {}, keyed('a'))));
    const [winner] = answers.filter(({ status }) => status === 200);
    assert.ok(winner);
    for (const answer of answers)
      if (answer.status === 200) assert.deepEqual(answer.body, winner.body);
      else assert.equal(outcome(answer), '409 idempotency_in_progress');
    assert.equal((await world.paperOrders(trader.account.id)).length, 1);
    assert.equal((await world.orders(trader)).length, 1);
  });

  test('while the first is under way the same is 409 in progress and another body a conflict', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, { brokers: broker.brokers });
    const trader = await world.makeTrader();
    const held = broker.hold('place');
    const first = place(world, trader, {}, keyed('a'));
    await held.reached;
    assert.equal(outcome(await place(world, trader, {}, keyed('a'))), '409 idempotency_in_progress');
    assert.equal(
      outcome(await place(world, trader, { quantity: 2 }, keyed('a'))),
      '409 idempotency_conflict',
    );
    held.release();
    const { body } = await first;
    assert.deepEqual((await place(world, trader, {}, keyed('a'))).body, body);
    assert.deepEqual(broker.trades(), ['buy 1']);
  });

  test('another body under the same key is 409 idempotency_conflict; another key or user is another order', async (t) => {
    const world = await openWorld(t);
    const [trader, other] = [await world.makeTrader(), await world.makeTrader()];
    assert.equal(outcome(await place(world, trader, {}, keyed('a'))), '200');
    for (const change of [{ quantity: 2 }, { action: 'sell' }, { symbol: 'ETHUSDT' }, { simulation: true }])
      assert.equal(outcome(await place(world, trader, change, keyed('a'))), '409 idempotency_conflict');
    assert.equal(outcome(await place(world, trader, {}, keyed('b'))), '200');
    assert.equal(outcome(await place(world, other, {}, keyed('a'))), '200');
    for (const _ of [1, 2]) assert.equal(outcome(await place(world, trader)), '200');
    assert.equal((await world.paperOrders(trader.account.id)).length, 4);
    assert.equal((await world.paperOrders(other.account.id)).length, 1);
  });

  test('a key is remembered for 24 hours, and is free from then on', async (t) => {
    const clock = settableClock();
    const world = await openWorld(t, { clock });
    const trader = await world.makeTrader();
    const first = await place(world, trader, {}, keyed('a'));
    clock.advance(DAY_MS - 1);
    assert.equal((await place(world, trader, {}, keyed('a'))).body.order_id, first.body.order_id);
    assert.equal(
      outcome(await place(world, trader, { quantity: 2 }, keyed('a'))),
      '409 idempotency_conflict',
    );
    clock.advance(1);
    const second = await place(world, trader, { quantity: 2 }, keyed('a'));
    assert.equal(second.status, 200);
    assert.notEqual(second.body.order_id, first.body.order_id);
    assert.equal(
      (await place(world, trader, { quantity: 2 }, keyed('a'))).body.order_id,
      second.body.order_id,
    );
    assert.equal((await world.paperOrders(trader.account.id)).length, 2);
  });

  test('a key is 1 to 255 visible ASCII characters', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    for (const [key, expected] of [
      ['', '400 request_invalid'],
      ['a b', '400 request_invalid'],
      ['ü', '400 request_invalid'],
      ['x'.repeat(256), '400 request_invalid'],
      ['x'.repeat(255), '200'],
      ['!~', '200'],
    ] as const)
      assert.equal(outcome(await place(world, trader, {}, keyed(key))), expected, key.slice(0, 10));
  });
});
