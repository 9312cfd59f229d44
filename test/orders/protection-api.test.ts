// What protects positions, asked for and seen through the API: on paper, whose prices are set.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { OrderRecord, OrderResult } from '../../src/domain/orders/result.ts';
import type { ShownProtection } from '../../src/domain/protection/shown.ts';
import { openWorld, type Problem, type Trader, type World } from '../world.ts';

interface Item extends ShownProtection {
  readonly trading_account_id: string;
  readonly symbol: string;
  readonly simulation: boolean;
  readonly side: string;
}
interface Page<Of> {
  readonly items: readonly Of[];
  readonly next_cursor: string | null;
}
interface Position {
  readonly symbol: string;
  readonly quantity: number;
  readonly average_price: number;
  readonly protection: ShownProtection | null;
  readonly risk: number | null;
  readonly closed_by_protection: null;
}

async function openDesk(t: TestContext) {
  const world = await openWorld(t, { env: { PROTECTION_SWEEP_SECONDS: '1' } });
  const trader = await world.makeTrader({}, { paper: { latency_ms: 0, price: { BTCUSDT: 60_000 } } });
  return { world, trader, ...deskOf(world, trader) };
}

const PATIENCE_MS = 20_000;

/** Asked again and again, until it is so. */
async function until<Seen>(read: () => Promise<Seen>, isSo: (seen: Seen) => boolean): Promise<Seen> {
  const begun = performance.now();
  for (;;) {
    const seen = await read();
    if (isSo(seen)) return seen;
    assert.ok(performance.now() - begun < PATIENCE_MS, `it never came to that: ${JSON.stringify(seen)}`);
    await pause(20);
  }
}

function deskOf(world: World, trader: Trader) {
  const account = `/trading/accounts/${trader.account.id}`;
  const get = async <Body>(url: string) => (await world.as<Body>(trader, 'GET', url)).body;
  const order = <Body = OrderResult>(fields: object) =>
    world.as<Body>(trader, 'POST', '/trading/order', {
      ...{ trading_account_id: trader.account.id, action: 'buy', symbol: 'BTCUSDT', ...fields },
    });
  return {
    get,
    order,
    plan: <Body>(fields: object) =>
      world.as<Body>(trader, 'POST', '/trading/order/plan', {
        ...{ trading_account_id: trader.account.id, action: 'buy', symbol: 'BTCUSDT', ...fields },
      }),
    change: <Body = Record<string, unknown>>(fields: object) =>
      world.as<Body>(trader, 'PATCH', account, fields),
    price: (price: number) => world.as(trader, 'PATCH', account, { paper: { price: { BTCUSDT: price } } }),
    record: (id: string) => get<OrderRecord>(`/trading/orders/${id}`),
    positions: async () => (await get<{ items: Position[] }>(`${account}/positions`)).items,
    protections: async (query = '') => (await get<Page<Item>>(`/trading/protections${query}`)).items,
    standing: (id: string | null | undefined) =>
      until(
        () => get<Item & { history: { what: string; by: string | null }[] }>(`/trading/protections/${id}`),
        ({ state }) => state === 'standing',
      ),
  };
}

describe('an order that asks for protection', () => {
  test('shows it, from the answer to its end, and what closed the position says why and for whom', async (t) => {
    const { world, trader, price, record, standing, protections, get, positions } = await openDesk(t);
    const { body: entry } = await world.send(trader, {
      ...{ stop_loss: '2%', take_profit: [{ at: 61_000, percent: 50 }], break_even: 'tp1' },
    });
    assert.equal(entry.status, 'filled');
    const id = entry.protection?.id;
    assert.ok(id);
    const stands = await standing(id);
    const fill = entry.fill_price ?? 0;
    assert.equal(stands.stop_loss, Math.ceil(fill * 98) / 100);
    assert.deepEqual(stands.take_profit, [{ price: 61_000, percent: 50, quantity: 0.5, filled: 0 }]);
    assert.equal(stands.stop_quantity, 1);
    assert.equal(stands.symbol, 'BTCUSDT');
    assert.deepEqual(stands.history[0]?.by, entry.order_id);

    const known = await record(entry.order_id);
    assert.equal(known.protection?.state, 'standing');
    assert.equal(typeof known.unprotected_ms, 'number');
    const [held] = await positions();
    assert.equal(held?.protection?.id, id);
    assert.equal(held?.risk, Number((fill - (stands.stop_loss ?? 0)).toFixed(8)));
    assert.equal(held?.closed_by_protection, null);

    await price(61_100);
    const moved = await until(
      () => get<Item>(`/trading/protections/${id}`),
      ({ take_profit, stop_loss }) => take_profit[0]?.filled === 0.5 && stop_loss === fill,
    );
    assert.equal(moved.break_even, null);
    const [target] = (await get<Page<OrderRecord>>('/trading/orders?source=protection')).items;
    assert.equal(target?.exit_reason, 'take_profit');
    assert.equal(target?.caused_by, entry.order_id);
    assert.equal(target?.protection, null);

    await price(59_000);
    const ended = await until(
      () => protections('?state=ended'),
      ({ length }) => length === 1,
    );
    assert.equal(ended[0]?.id, id);
    const closes = await get<Page<OrderRecord>>('/trading/orders?source=protection');
    assert.deepEqual(
      closes.items.map(({ exit_reason, action, fill_quantity }) => [exit_reason, action, fill_quantity]),
      [
        ['break_even', 'close_long', 0.5],
        ['take_profit', 'close_long', 0.5],
      ],
    );
    assert.equal((await record(entry.order_id)).protection?.state, 'ended');
  });

  test('says nothing of it where it asks for none; its record says null', async (t) => {
    const { world, trader, record, order } = await openDesk(t);
    const answers = [(await world.send(trader)).body, (await order({ quantity: 1 })).body];
    for (const plain of answers) {
      for (const name of ['exit_reason', 'caused_by', 'unprotected_ms', 'protection'])
        assert.ok(!(name in plain), name);
      const { exit_reason, caused_by, unprotected_ms, protection } = await record(plain.order_id);
      assert.deepEqual([exit_reason, caused_by, unprotected_ms, protection], [null, null, null, null]);
    }
  });
});
