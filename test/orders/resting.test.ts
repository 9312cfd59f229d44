// Entries that rest, over the webhook and by hand, at the paper exchange.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OrderResult } from '../../src/domain/orders/result.ts';
import type { Problem } from '../world.ts';
import { restingDesk } from './resting-desk.ts';

type Result = OrderResult & Record<string, unknown>;

describe('an entry with a limit', () => {
  test('rests as placed, shows what it waits for, and is filled when the price comes', async (t) => {
    const { clock, entry, read, until, moves, held } = await restingDesk(t);
    const { status, body } = await entry({ id: 'Long', quantity: 2 });
    const result = body as Result;
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(
      [result.status, result.limit_price, result.stop_price, result.time_in_force, result.error],
      ['placed', 59_000, null, 'gtc', null],
    );
    assert.equal(result.expires_at, new Date(clock.now() + 86_400_000).toISOString());
    const record = await read(result.order_id);
    assert.deepEqual([record.limit_price, record.expires_at], [59_000, result.expires_at]);
    assert.equal(await held(), 0);
    await moves(58_900);
    clock.advance(30_000);
    const filled = await until(result.order_id, (order) => order.status === 'filled');
    assert.ok((filled.fill_price ?? 0) <= 59_000);
    assert.deepEqual([filled.fill_quantity, await held()], [2, 2]);
  });

  test('far through the market is filled at once, at the market’s price', async (t) => {
    const { entry, held } = await restingDesk(t);
    const { body } = await entry({ limit_price: 90_000 });
    assert.equal(body.status, 'filled', JSON.stringify(body));
    assert.ok((body.fill_price ?? 0) < 61_000);
    assert.equal(await held(), 1);
  });

  test('is looked at for as long as it rests, without using up a try', async (t) => {
    const { clock, entry, read, until } = await restingDesk(t);
    const { body } = await entry({ expires_in: 3_600 });
    let last = '';
    for (let look = 0; look < 12; look++) {
      clock.advance(31_000);
      const seen = await until(
        body.order_id,
        ({ verification }) =>
          verification.next_at !== null && verification.next_at > new Date(clock.now()).toISOString(),
      );
      assert.ok((seen.verification.next_at ?? '') > last);
      last = seen.verification.next_at ?? '';
    }
    const { status, verification } = await read(body.order_id);
    assert.deepEqual([status, verification.state, verification.attempts], ['placed', 'scheduled', 0]);
  });

  test('is taken back when its time is over, and what was filled of it stays', async (t) => {
    const { clock, world, trader, entry, until, moves, held, atExchange } = await restingDesk(t);
    const { body } = await entry({ expires_in: 60, quantity: 4 });
    await world.setPaper(trader, { fill: 'partial', price: { BTCUSDT: 60_000 } });
    await moves(58_900);
    clock.advance(30_000);
    await until(body.order_id, ({ status }) => status === 'partially_filled');
    clock.advance(30_000);
    const ended = await until(body.order_id, ({ status }) => status === 'cancelled');
    assert.equal(ended.error?.code, 'lapsed');
    assert.ok((ended.fill_quantity ?? 0) > 0 && (ended.fill_quantity ?? 4) < 4);
    assert.equal(await held(), ended.fill_quantity);
    assert.deepEqual(await atExchange(), []);
  });

  test('is one of its name: the next one takes its place, another name stands beside it', async (t) => {
    const { entry, read, atExchange } = await restingDesk(t);
    const first = await entry({ id: 'A' });
    const other = await entry({ id: 'B', limit_price: 58_000 });
    const second = await entry({ id: 'A', limit_price: 57_000 });
    assert.deepEqual(
      [first.body.status, other.body.status, second.body.status],
      ['placed', 'placed', 'placed'],
    );
    const replaced = await read(first.body.order_id);
    assert.deepEqual([replaced.status, replaced.error?.code], ['cancelled', 'replaced']);
    assert.ok(replaced.error?.message.includes(second.body.order_id));
    assert.equal((await read(other.body.order_id)).status, 'placed');
    const nameless = await entry({ limit_price: 56_000 });
    const again = await entry({ limit_price: 55_000 });
    assert.equal((await read(nameless.body.order_id)).error?.code, 'replaced');
    assert.equal(again.body.status, 'placed');
    assert.equal((await atExchange()).length, 3);
  });

  test('ten rest in a symbol; the eleventh is refused, and one of a known name is not', async (t) => {
    const { entry, atExchange } = await restingDesk(t);
    for (let nth = 0; nth < 10; nth++) {
      const { body } = await entry({ id: `e${nth}`, limit_price: 59_000 - nth * 10, quantity: 0.1 });
      assert.equal(body.status, 'placed', JSON.stringify(body));
    }
    const more = await entry({ id: 'one more', quantity: 0.1 });
    assert.deepEqual([more.body.status, more.body.error?.code], ['rejected', 'too_many_resting']);
    const known = await entry({ id: 'e3', quantity: 0.1 });
    assert.equal(known.body.status, 'placed');
    assert.equal((await atExchange()).length, 10);
  });

  test('a market entry, a target, an exit and the other side first take back what rests', async (t) => {
    const { world, trader, entry, read, held, atExchange } = await restingDesk(t);
    const cases = [
      [{ action: 'buy', quantity: 1 }, 'replaced'],
      [{ action: 'buy', quantity: 1, market_position: 'long', market_position_size: 3 }, 'replaced'],
      [{ action: 'sell', quantity: 1, market_position: 'long', market_position_size: 2 }, 'replaced'],
      [{ action: 'sell', order_type: 'exit', quantity: 1 }, 'cancelled_on_request'],
      [{ action: 'sell', quantity: 1, limit_price: 61_000 }, 'replaced'],
      [{ action: 'close', quantity: undefined }, 'cancelled_on_request'],
    ] as const;
    for (const [fields, code] of cases) {
      const rested = await entry({ id: 'A' });
      assert.equal(rested.body.status, 'placed', JSON.stringify(rested.body));
      const { body } = await world.send(trader, fields);
      assert.ok(['filled', 'placed', 'done'].includes(body.status), JSON.stringify(body));
      const ended = await read(rested.body.order_id);
      assert.deepEqual([fields.action, ended.status, ended.error?.code], [fields.action, 'cancelled', code]);
    }
    assert.equal(await held(), 0);
    assert.deepEqual(await atExchange(), []);
  });

  test('the other way closes at the market first, and then rests', async (t) => {
    const { world, trader, entry, held } = await restingDesk(t);
    await world.send(trader, { quantity: 2 });
    const { body } = await entry({ action: 'sell', limit_price: 61_000, quantity: 1 });
    assert.deepEqual([body.status, body.auto_exit, body.exit_quantity], ['placed', true, 2]);
    assert.equal(await held(), 0);
  });

  test('between two ticks, and a stop on the wrong side, is invalid_price, and nothing is taken back for it', async (t) => {
    const { entry, read } = await restingDesk(t);
    const rested = await entry({});
    const between = await entry({ limit_price: 59_000.03 });
    const passed = await entry({ limit_price: undefined, stop_price: 59_000 });
    for (const { body } of [between, passed])
      assert.deepEqual([body.status, body.error?.code], ['rejected', 'invalid_price'], JSON.stringify(body));
    assert.equal((await read(rested.body.order_id)).status, 'placed');
  });

  test('on an exit its fields are ignored, and listed', async (t) => {
    const { world, trader } = await restingDesk(t);
    await world.send(trader, { quantity: 1 });
    const { body } = await world.send(trader, {
      ...{
        action: 'close',
        quantity: undefined,
        limit_price: 'NaN',
        stop_price: 5,
        time_in_force: 'x',
        expires_in: 1,
      },
    });
    assert.equal(body.status, 'filled', JSON.stringify(body));
    assert.deepEqual(body.ignored, ['limit_price', 'stop_price', 'time_in_force', 'expires_in']);
  });

  test('what cannot be read, or does not go together, is a 400 that says so', async (t) => {
    const { world, trader } = await restingDesk(t);
    const cases: [Record<string, unknown>, RegExp][] = [
      [{ limit_price: 0 }, /"limit_price" is 0: it must be a price/],
      [{ limit_price: 'NaN' }, /did not fill it in/],
      [{ stop_price: 'soon' }, /"stop_price" is "soon"/],
      [{ time_in_force: 'gtc' }, /"time_in_force" is about an entry that rests/],
      [{ expires_in: 60 }, /"expires_in" is about an entry that rests/],
      [
        { limit_price: 1, time_in_force: 'soon' },
        /"time_in_force" is "soon": it must be one of gtc, day, ioc, fok/,
      ],
      [{ limit_price: 1, expires_in: 9 }, /from 10 to 2592000/],
      [{ limit_price: 1, expires_in: 2_592_001 }, /from 10 to 2592000/],
      [{ limit_price: 1, market_position: 'long', market_position_size: 1 }, /market_position_size/],
      [{ action: 'cancel', cancel_id: 5 }, /"cancel_id" must be/],
      [{ limitPrice: 5 }, /"limit_price"/],
    ];
    for (const [fields, words] of cases) {
      const { status, body } = await world.send<Problem>(trader, fields);
      assert.deepEqual([status, body.code], [400, 'webhook_payload_invalid'], JSON.stringify(fields));
      assert.match(body.detail, words);
    }
    const day = await world.send<Problem>(trader, { limit_price: 59_000, time_in_force: 'DAY' });
    assert.deepEqual([day.status, day.body.code], [400, 'order_kind_unsupported']);
  });

  test('ioc and fok are over at once', async (t) => {
    const { entry, held, world, trader } = await restingDesk(t);
    const none = await entry({ time_in_force: 'IOC' });
    assert.deepEqual([none.body.status, none.body.fill_quantity], ['cancelled', 0]);
    const all = await entry({ time_in_force: 'fok', limit_price: 61_000 });
    assert.equal(all.body.status, 'filled');
    await world.setPaper(trader, { fill: 'partial', price: { BTCUSDT: 60_000 }, starting_cash: 1_000_000 });
    const killed = await entry({ time_in_force: 'fok', limit_price: 61_000, quantity: 4 });
    assert.deepEqual([killed.body.status, killed.body.fill_quantity], ['cancelled', 0]);
    const part = await entry({ time_in_force: 'ioc', limit_price: 61_000, quantity: 4 });
    assert.equal(part.body.status, 'cancelled');
    assert.ok((part.body.fill_quantity ?? 0) > 0);
    assert.equal((await held()).toFixed(6), (1 + (part.body.fill_quantity ?? 0)).toFixed(6));
  });
});

describe('an entry with a stop', () => {
  test('waits until the price is there, and is then at the market', async (t) => {
    const { clock, entry, until, moves, held } = await restingDesk(t);
    const { body } = await entry({ limit_price: undefined, stop_price: 61_000 });
    assert.equal(body.status, 'placed', JSON.stringify(body));
    await moves(61_200);
    clock.advance(30_000);
    const filled = await until(body.order_id, ({ status }) => status === 'filled');
    assert.ok((filled.fill_price ?? 0) >= 61_000);
    assert.equal(await held(), 1);
  });

  test('and a limit is an order with that limit once the price is there', async (t) => {
    const { clock, entry, read, until, moves, held } = await restingDesk(t);
    const { body } = await entry({ limit_price: 61_100, stop_price: 61_000 });
    await moves(61_500);
    clock.advance(30_000);
    await until(
      body.order_id,
      ({ verification }) => (verification.next_at ?? '') > new Date(clock.now()).toISOString(),
    );
    assert.equal((await read(body.order_id)).status, 'placed');
    assert.equal(await held(), 0);
    await moves(61_050);
    clock.advance(30_000);
    const filled = await until(body.order_id, ({ status }) => status === 'filled');
    assert.ok((filled.fill_price ?? 0) <= 61_100);
  });
});

describe('cancel', () => {
  test('takes back what rests: of a name, of the symbol, of every symbol; it ends done', async (t) => {
    const { world, trader, entry, read, atExchange } = await restingDesk(t);
    const [a, b] = [await entry({ id: 'A' }), await entry({ id: 'B' })];
    const other = await entry({ symbol: 'ETHUSDT', limit_price: 1_000 });
    const cancel = (fields: Record<string, unknown>) =>
      world.send(trader, { action: 'cancel', quantity: undefined, ...fields });
    const named = await cancel({ cancel_id: 'A' });
    assert.deepEqual(
      [named.body.status, named.body.operation, named.body.error],
      ['done', 'CANCEL_ENTRIES', null],
    );
    assert.equal((await read(a.body.order_id)).error?.code, 'cancelled_on_request');
    assert.equal((await read(b.body.order_id)).status, 'placed');
    const symbol = await cancel({ quantity: 5 });
    assert.deepEqual([symbol.body.status, symbol.body.ignored], ['done', ['quantity']]);
    assert.equal((await read(b.body.order_id)).status, 'cancelled');
    assert.equal((await read(other.body.order_id)).status, 'placed');
    assert.equal((await cancel({ symbol: '*' })).body.status, 'done');
    assert.equal((await read(other.body.order_id)).error?.code, 'cancelled_on_request');
    assert.equal((await cancel({ symbol: '*' })).body.status, 'done', 'nothing rests any more');
    assert.deepEqual(await atExchange(), []);
  });

  test('of one order, by hand: what was filled stays, and an order that does not rest is a 409', async (t) => {
    const { world, trader, entry, held } = await restingDesk(t, { paper: { fill: 'partial' } });
    const { body } = await entry({ limit_price: 60_500, quantity: 4 });
    assert.equal(body.status, 'partially_filled', JSON.stringify(body));
    const cancel = <Body>(id: string) => world.as<Body>(trader, 'POST', `/trading/orders/${id}/cancel`);
    const { status, body: after } = await cancel<OrderResult>(body.order_id);
    assert.deepEqual([status, after.status, after.error?.code], [200, 'cancelled', 'cancelled_on_request']);
    assert.equal(after.fill_quantity, await held());
    const again = await cancel<Problem>(body.order_id);
    assert.deepEqual([again.status, again.body.code], [409, 'not_resting']);
    assert.equal((await cancel<Problem>('nobody')).status, 404);
  });

  test('in the same second with another name is another cancel; the same one is a replay', async (t) => {
    const { world, trader, entry } = await restingDesk(t);
    await entry({ id: 'A' });
    const sent = (cancel_id: string) =>
      world.webhook(trader, world.signal(trader, { action: 'cancel', quantity: undefined, cancel_id }));
    assert.deepEqual(
      [(await sent('A')).status, (await sent('B')).status, (await sent('A')).status],
      [200, 200, 409],
    );
  });
});

describe('what rests', () => {
  test('is taken back by a halt, also without flatten, and by flatten before positions are closed', async (t) => {
    const { clock, world, trader, entry, until, atExchange } = await restingDesk(t);
    const { body } = await entry({});
    const halt = (flatten: boolean) =>
      world.as<{ flatten: { cancelled: number } | null }>(
        trader,
        'POST',
        `/trading/accounts/${trader.account.id}/halt`,
        { flatten },
      );
    await halt(false);
    clock.advance(1_000);
    const ended = await until(body.order_id, ({ status }) => status === 'cancelled');
    assert.equal(ended.error?.code, 'cancelled_on_request');
    await world.as(trader, 'POST', `/trading/accounts/${trader.account.id}/resume`);
    const next = await entry({ stop_price: 61_000, limit_price: undefined });
    const flattened = await halt(true);
    assert.equal(flattened.body.flatten?.cancelled, 1, JSON.stringify(flattened.body));
    assert.equal(
      (await until(next.body.order_id, ({ status }) => status === 'cancelled')).error?.code,
      'cancelled_on_request',
    );
    assert.deepEqual(await atExchange(), []);
  });

  test('is taken back where its user is deactivated: nobody could close what it opens', async (t) => {
    const { clock, world, trader, entry, read, held, moves, atExchange } = await restingDesk(t);
    const admin = await world.makeTrader({ isAdmin: true });
    const bystander = await world.makeTrader({}, { paper: { price: { BTCUSDT: 60_000 } } });
    const { body: real } = await entry({});
    const { body: simulated } = await entry({}, '?simulation=true');
    const { body: anothers } = await world.send(bystander, { limit_price: 59_000 });
    const url = `/deployment/users/${trader.user.id}`;
    const { body } = await world.as<{ left: { kind: string; price: number }[] }>(admin, 'PATCH', url, {
      is_active: false,
    });
    assert.deepEqual(
      body.left.map(({ kind, price }) => [kind, price]),
      [['entry', 59_000]],
    );
    await world.eventually(atExchange, ({ length }) => length === 1);
    await world.as(admin, 'PATCH', url, { is_active: true });
    await moves(58_900);
    clock.advance(31_000);
    for (const { order_id } of [real, simulated]) {
      const { status, error } = await world.eventually(
        () => read(order_id),
        (order) => order.status !== 'placed',
      );
      assert.deepEqual([status, error?.code], ['cancelled', 'cancelled_on_request']);
      assert.match(error?.message ?? '', /deactivated/);
    }
    assert.equal(await held(), 0);
    assert.equal((await world.order(bystander, anothers.order_id)).status, 'placed');
  });

  test('goes with an account that is deleted with keep_positions, which names it, and without keeps it', async (t) => {
    const { clock, world, trader, entry, until, atExchange } = await restingDesk(t);
    const { body: real } = await entry({});
    const { body: simulated } = await entry({}, '?simulation=true');
    const remove = (query: string) =>
      world.as<Problem & { left: { kind: string; price: number }[] }>(
        trader,
        'DELETE',
        `/trading/accounts/${trader.account.id}${query}`,
      );
    const refused = await remove('');
    assert.deepEqual([refused.status, refused.body.code], [409, 'orders_under_way']);
    const removed = await remove('?keep_positions=true');
    assert.equal(removed.status, 200, JSON.stringify(removed.body));
    assert.deepEqual(
      removed.body.left.map(({ kind, price }) => [kind, price]),
      [['entry', 59_000]],
    );
    clock.advance(200_000);
    for (const { order_id } of [real, simulated])
      await until(
        order_id,
        ({ status, verification }) => status === 'placed' && verification.state === 'done',
      );
    assert.equal(
      (await atExchange()).length,
      2,
      'what stands at the broker, or on the simulated book, stands',
    );
    const { body: metrics } = await world.request<string>({ method: 'GET', url: '/metrics' });
    assert.match(metrics, /fillpath_resting_entries 0\n/);
  });

  test('is taken back outside the trading hours, and in a pause, at the next sweep', async (t) => {
    const { clock, world, trader, entry, until } = await restingDesk(t);
    const { body } = await entry({});
    const from = new Date(clock.now() + 10_000).toISOString();
    const to = new Date(clock.now() + 3_600_000).toISOString();
    await world.as(trader, 'PATCH', `/trading/accounts/${trader.account.id}`, {
      guards: { pauses: [{ from, to, label: 'news' }] },
    });
    clock.advance(30_000);
    const ended = await until(body.order_id, ({ status }) => status === 'cancelled');
    assert.deepEqual([ended.error?.code, ended.error?.guard], ['guard_refused', 'pauses']);
  });

  test('counts as filled for the guards', async (t) => {
    const { world, trader, entry } = await restingDesk(t, { account: { guards: { max_position: 3 } } });
    assert.equal((await entry({ id: 'A', quantity: 2 })).body.status, 'placed');
    const { body } = await entry({ id: 'B', quantity: 2 });
    assert.deepEqual([body.status, body.error?.guard], ['rejected', 'max_position'], JSON.stringify(body));
    assert.equal(
      (await world.send(trader, { quantity: 2, limit_price: 58_000, id: 'A' })).body.status,
      'placed',
    );
  });

  test('goes on over a restart, and is taken back in time', async (t) => {
    const { clock, world, entry, until } = await restingDesk(t);
    const { body } = await entry({ expires_in: 120 });
    await world.restart();
    clock.advance(120_000);
    const ended = await until(body.order_id, ({ status }) => status === 'cancelled');
    assert.equal(ended.error?.code, 'lapsed');
  });

  test('is protected from its first fill on', async (t) => {
    const { clock, world, trader, entry, until, moves } = await restingDesk(t);
    const { body } = await entry({ quantity: 4, stop_loss: 58_000 });
    assert.equal(body.status, 'placed', JSON.stringify(body));
    await world.setPaper(trader, { fill: 'partial', price: { BTCUSDT: 60_000 }, starting_cash: 1_000_000 });
    await moves(58_900);
    clock.advance(10_000);
    const partly = await until(body.order_id, ({ protection }) => protection?.state === 'standing');
    assert.equal(partly.status, 'partially_filled');
    assert.equal(partly.protection?.stop_loss, 58_000);
  });

  test('on the simulated book is as in earnest', async (t) => {
    const { clock, entry, until } = await restingDesk(t);
    const { body } = await entry({ limit_price: 10_000, expires_in: 60 }, '?simulation=true');
    assert.equal(body.status, 'placed', JSON.stringify(body));
    clock.advance(60_000);
    assert.equal((await until(body.order_id, ({ status }) => status === 'cancelled')).error?.code, 'lapsed');
  });
});

describe('an order of the day', () => {
  for (const [where, query] of [
    ['the paper exchange', ''],
    ['the simulated book', '?simulation=true'],
  ] as const)
    test(`ends with the session on ${where}`, async (t) => {
      // 15:00 in New York.
      const { clock, entry, read, until } = await restingDesk(t);
      const { body } = await entry({ symbol: 'AAPL', limit_price: 1, time_in_force: 'day' }, query);
      assert.equal(body.status, 'placed', JSON.stringify(body));
      clock.advance(59 * 60_000);
      await until(body.order_id, ({ verification }) => Date.parse(verification.next_at ?? '') > clock.now());
      assert.equal((await read(body.order_id)).status, 'placed');
      clock.advance(2 * 60_000);
      const ended = await until(body.order_id, ({ status }) => status === 'cancelled');
      assert.equal(ended.error?.code, 'cancelled_by_broker');
      assert.match(ended.error.message, /session/);
    });
});

describe('by hand', () => {
  test('an entry rests, plan says so, and nothing is sent for a plan', async (t) => {
    const { world, trader, atExchange } = await restingDesk(t);
    const order = {
      ...{ trading_account_id: trader.account.id, action: 'buy', symbol: 'BTCUSDT', quantity: 1 },
      ...{ limit_price: 59_000, time_in_force: 'GTC', expires_in: 600, id: 'mine' },
    };
    const plan = await world.as<{ rests: { kind: string; limit_price: number } | null; text: string }>(
      trader,
      'POST',
      '/trading/order/plan',
      order,
    );
    assert.deepEqual(
      [plan.status, plan.body.rests?.kind, plan.body.rests?.limit_price],
      [200, 'limit', 59_000],
    );
    assert.match(plan.body.text, /Buy 1 BTCUSDT at 59000 or better to open a long position/);
    assert.deepEqual(await atExchange(), []);
    const { status, body } = await world.as<OrderResult>(trader, 'POST', '/trading/order', order);
    assert.deepEqual([status, body.status], [200, 'placed']);
    const cancelled = await world.as<OrderResult>(trader, 'POST', '/trading/order', {
      ...{ trading_account_id: trader.account.id, action: 'cancel', symbol: 'BTCUSDT', cancel_id: 'mine' },
    });
    assert.deepEqual([cancelled.status, cancelled.body.status], [200, 'done']);
    assert.equal((await world.order(trader, body.order_id)).error?.code, 'cancelled_on_request');
    const wrong = await world.as<Problem>(trader, 'POST', '/trading/order', {
      ...order,
      limit_price: undefined,
    });
    assert.deepEqual([wrong.status, wrong.body.code], [400, 'request_invalid']);
  });
});
