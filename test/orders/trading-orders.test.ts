// What a user can read of orders: one by its id, and all of them page by page.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import type { OrderRecord } from '../../src/domain/orders/result.ts';
import { type Answer, openWorld, type Problem, settableClock, type Trader, type World } from '../world.ts';

/** `200`, or the status and code of a refusal. */
const outcome = ({ status, body }: Answer<unknown>): string =>
  status < 300 ? String(status) : `${status} ${(body as Problem).code}`;

describe('GET /trading/orders/{id}', () => {
  // biome-ignore format: the spec's field groups, and what the contract adds
  const RECORD = ['symbol', 'action', 'quantity', 'order_type', 'source', 'order_id', 'broker_refs', 'status', 'submitted_at',
    'fill_price', 'fill_quantity', 'filled_at', 'auto_exit', 'exit_quantity', 'position_before', 'exit_order_result', 'user_id',
    'trading_account_id', 'broker_name', 'simulation', 'error', 'trace', 'legs', 'verification'];
  // biome-ignore format: the contract's list
  const LEG = ['leg', 'client_order_id', 'broker_ref', 'side', 'quantity', 'status', 'fill_price', 'fill_quantity', 'fee', 'sent_at', 'acked_at', 'filled_at'];

  test('the owner’s record has every field of the contract', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await world.send(trader, { quantity: 2 });
    const { body } = await world.send(trader, { action: 'sell' });
    const record = await world.as<OrderRecord>(trader, 'GET', `/trading/orders/${body.order_id}`);
    assert.equal(record.status, 200);
    for (const field of RECORD) assert.ok(field in record.body, field);
    for (const [field, value] of Object.entries(body))
      assert.deepEqual(record.body[field as keyof OrderRecord], value, `${field} as in the OrderResult`);
    assert.equal(record.body.user_id, trader.user.id);
    assert.deepEqual(record.body.verification, { state: 'none', attempts: 0, next_at: null });
    assert.deepEqual(
      record.body.legs.map(({ leg, side, quantity, status }) => [leg, side, quantity, status]),
      [
        ['exit', 'sell', 2, 'filled'],
        ['entry', 'sell', 1, 'filled'],
      ],
    );
    for (const leg of record.body.legs) assert.deepEqual(Object.keys(leg).sort(), [...LEG].sort());
  });

  test('another user’s order, an order that is not there and a garbage id are the same 404', async (t) => {
    const world = await openWorld(t);
    const [trader, other] = [await world.makeTrader(), await world.makeTrader()];
    const { body } = await world.send(other);
    const ids = [
      body.order_id,
      '01a1dd1d-b050-763c-8a06-602f97467e1f',
      'x',
      '%00',
      '%F0%9F%92%A9',
      '..%2F',
      '-1',
    ];
    ids.push(body.order_id.toUpperCase(), `${body.order_id}x`, 'y'.repeat(3000), "'%20or%201=1");
    const looks = new Set<string>();
    for (const id of ids) {
      const answer = await world.as<Problem>(trader, 'GET', `/trading/orders/${id}`);
      assert.equal(outcome(answer), '404 not_found', id);
      looks.add(JSON.stringify({ ...answer.body, request_id: '' }));
    }
    assert.equal(looks.size, 1);
  });
});

interface Page {
  readonly items: readonly OrderRecord[];
  readonly next_cursor: string | null;
}

describe('GET /trading/orders', () => {
  const page = async (world: World, trader: Trader, query: Record<string, string | number>) => {
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
    const answer = await world.as<Page>(trader, 'GET', `/trading/orders?${search}`);
    assert.equal(answer.status, 200);
    return answer.body;
  };

  /** All pages; `between` happens after each of them. */
  async function walk(
    world: World,
    trader: Trader,
    query: Record<string, string | number>,
    between: () => Promise<unknown> = async () => {},
  ): Promise<{ ids: string[]; sizes: number[] }> {
    const ids: string[] = [];
    const sizes: number[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { items, next_cursor }: Page = await page(world, trader, {
        ...query,
        ...(cursor ? { cursor } : {}),
      });
      ids.push(...items.map(({ order_id }) => order_id));
      sizes.push(items.length);
      assert.ok(sizes.length < 500, 'the pages come to an end');
      await between();
      cursor = next_cursor;
    }
    return { ids, sizes };
  }

  test('130 orders come page by page, newest first, without loss or repeat, whatever is added meanwhile', async (t) => {
    const world = await openWorld(t, { env: { RATE_LIMIT_REQUESTS: '1000' } });
    const [trader, other] = [await world.makeTrader(), await world.makeTrader()];
    const simulated = { query: '?simulation=true' };
    const send = (whose: Trader) => world.send(whose, { quantity: 0.001 }, simulated);
    await Promise.all([...Array.from({ length: 130 }, () => send(trader)), send(other), send(other)]);
    const newest = await world.db.all<{ order_id: string }>(
      sql`select order_id from order_history where user_id = ${trader.user.id}
          order by submitted_at desc, order_id desc`,
    );
    const all = newest.map(({ order_id }) => order_id);
    assert.equal(all.length, 130);

    // biome-ignore format: a table, one row a line
    const rows: [query: Record<string, number>, sizes: number[]][] = [
      [{}, [50, 50, 30]],
      [{ limit: 50 }, [50, 50, 30]],
      [{ limit: 65 }, [65, 65]],
      [{ limit: 129 }, [129, 1]],
      [{ limit: 130 }, [130]],
      [{ limit: 200 }, [130]],
    ];
    for (const [query, sizes] of rows)
      assert.deepEqual(await walk(world, trader, query), { ids: all, sizes });
    const { ids, sizes } = await walk(world, trader, { limit: 1 });
    assert.deepEqual([ids, sizes.length], [all, 130]);

    const added = await walk(world, trader, { limit: 40 }, () => send(trader));
    assert.deepEqual(added.ids, all);
    assert.equal((await world.orders(trader)).length, 134);
    assert.equal((await walk(world, other, {})).ids.length, 2);
  });

  test('without orders the first page is empty and the last', async (t) => {
    const world = await openWorld(t);
    assert.deepEqual(await page(world, await world.makeTrader(), {}), { items: [], next_cursor: null });
  });

  test('an item is the record without trace and legs', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const { body } = await world.send(trader);
    const record = Object.entries(await world.order(trader, body.order_id));
    const besides = ['trace', 'legs'];
    const summary = Object.fromEntries(record.filter(([field]) => !besides.includes(field)));
    assert.deepEqual((await page(world, trader, {})).items, [summary]);
  });

  test('each filter, alone and with others, and over pages', async (t) => {
    const clock = settableClock(Date.parse('2026-07-15T10:00:00Z'));
    const world = await openWorld(t, { clock, env: { RATE_LIMIT_REQUESTS: '1000' } });
    const trader = await world.makeTrader();
    const second = await world.addAccount(trader);
    const stranger = await world.makeTrader();
    const order = { trading_account_id: second.account.id, action: 'buy', symbol: 'ES1!', quantity: 1 };
    // One order a minute.
    const made: [name: string, send: () => Promise<Answer>][] = [
      ['a webhook’s', () => world.send(trader)],
      ['a rejected one', () => world.send(trader, { symbol: 'NOSUCH' })],
      ['of the second account', () => world.send(second)],
      ['a manual one', () => world.as(trader, 'POST', '/trading/order', order)],
      ['in another spelling', () => world.send(second, { symbol: 'BINANCE:BTCUSDT.P' })],
    ];
    const names = new Map<string, string>();
    for (const [name, send] of made) {
      const { status, body } = await send();
      assert.equal(status, 200);
      names.set(body.order_id, name);
      clock.advance(60_000);
    }
    await world.send(stranger);

    // biome-ignore format: a table, one row a line
    const rows: [query: Record<string, string>, expected: number[]][] = [
      [{}, [0, 1, 2, 3, 4]],
      [{ trading_account_id: trader.account.id }, [0, 1]],
      [{ trading_account_id: second.account.id }, [2, 3, 4]],
      [{ trading_account_id: stranger.account.id }, []],
      [{ status: 'filled' }, [0, 2, 3, 4]],
      [{ status: 'rejected' }, [1]],
      [{ status: 'unknown' }, []],
      [{ source: 'webhook' }, [0, 1, 2, 4]],
      [{ source: 'dashboard' }, [3]],
      [{ symbol: 'BTCUSDT' }, [0, 2]],
      [{ symbol: 'ES1!' }, [3]],
      [{ symbol: "'; drop table order_history; --" }, []],
      [{ from: '2026-07-15T10:01:00Z' }, [1, 2, 3, 4]],
      [{ from: '2026-07-15T10:01:00.001Z' }, [2, 3, 4]],
      [{ to: '2026-07-15T10:01:00.000Z' }, [0, 1]],
      [{ to: '2026-07-15T10:00:59.999Z' }, [0]],
      [{ from: '2026-07-15T12:01:00+02:00', to: '2026-07-15T06:03:00-04:00' }, [1, 2, 3]],
      [{ from: '2026-07-16T00:00:00Z' }, []],
      [{ status: 'filled', source: 'webhook', trading_account_id: second.account.id }, [2, 4]],
      [{ status: 'filled', symbol: 'BTCUSDT', to: '2026-07-15T10:01:00Z' }, [0]],
    ];
    for (const [query, expected] of rows)
      for (const limit of [1, 2, 50]) {
        const { ids } = await walk(world, trader, { ...query, limit });
        const found = ids.map((id) => names.get(id)).reverse();
        assert.deepEqual(
          found,
          expected.map((index) => made[index]?.[0]),
          JSON.stringify({ ...query, limit }),
        );
      }
  });

  test('what is no limit, cursor or filter is 400', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await world.send(trader);
    const queries = [
      '0',
      '201',
      'abc',
      '-1',
      '1.5',
      '1e1',
      '0x10',
      'true',
      '',
      '%201',
      '%2B5',
      '5&limit=5',
      '9'.repeat(30),
    ].map((limit) => `limit=${limit}`);
    queries.push('cursor=', 'cursor=x', 'cursor=%00', `cursor=${'x'.repeat(300)}`, 'cursor=0&cursor=1');
    queries.push('status=', 'status=finished', 'status=FILLED', 'status=filled&status=filled', 'source=api');
    queries.push(
      'trading_account_id=x',
      'symbol=',
      `symbol=${'x'.repeat(65)}`,
      'page=2',
      'limit[]=5',
      '__proto__=x',
    );
    for (const time of [
      'x',
      '',
      '1',
      '2026-07-15',
      '2026-02-30T00:00:00Z',
      '2016-12-31T23:59:60Z',
      '9999-12-31T23:59:59-14:00',
    ])
      queries.push(`from=${time}`, `to=${time}`);
    for (const query of queries) {
      const answer = await world.as<Problem>(trader, 'GET', `/trading/orders?${query}`);
      assert.equal(outcome(answer), '400 request_invalid', query);
    }
  });
});
