// What protection closed stays closed: the strategy's next alerts, its sync, its exit, and when it may open again.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '../../src/data/engine/db.ts';
import { findOrder } from '../../src/data/orders/orders.ts';
import { closedBy, knownOf, stoppedOutBy } from '../../src/data/orders/protections.ts';
import { noteStopped } from '../../src/data/orders/strategies.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { millis, timestamp } from '../../src/domain/ids.ts';
import type { Order } from '../../src/domain/orders/order.ts';
import type { OrderRecord, OrderResult } from '../../src/domain/orders/result.ts';
import type { Protection } from '../../src/domain/protection/protection.ts';
import { openWorld } from '../world.ts';

const PATIENCE_MS = 20_000;

interface Protections {
  readonly items: readonly { readonly state: string; readonly stop_loss: number | null }[];
}

async function openDesk(t: TestContext, sweepSeconds = 1, env: Record<string, string> = {}) {
  const world = await openWorld(t, { env: { PROTECTION_SWEEP_SECONDS: `${sweepSeconds}`, ...env } });
  const trader = await world.makeTrader({}, { paper: { latency_ms: 0, price: { BTCUSDT: 60_000 } } });
  const account = `/trading/accounts/${trader.account.id}`;
  let alerts = 0;
  const get = async <Body>(url: string) => (await world.as<Body>(trader, 'GET', url)).body;
  const until = world.eventually;
  const protections = () => get<Protections>('/trading/protections');
  return {
    world,
    trader,
    get,
    until,
    change: (fields: object) => world.as(trader, 'PATCH', account, fields),
    price: (price: number) => world.as(trader, 'PATCH', account, { paper: { price: { BTCUSDT: price } } }),
    /** An alert of a strategy that says where it stands, before and after. */
    alert: async <Body = OrderResult>(action: string, from: number, to: number, more: object = {}) => {
      const side = (size: number) => (size === 0 ? 'flat' : size > 0 ? 'long' : 'short');
      const { body } = await world.webhook<Body>(
        trader,
        world.signal(trader, {
          ...{ action, id: `alert-${++alerts}`, quantity: Math.abs(to - from) || 1 },
          ...{ market_position: side(to), market_position_size: Math.abs(to) },
          ...{ prev_market_position: side(from), prev_market_position_size: Math.abs(from) },
          ...more,
        }),
      );
      return body;
    },
    /** 1 is sold. */
    closeByHand: async () =>
      (
        await world.as<OrderResult>(trader, 'POST', '/trading/order', {
          ...{ trading_account_id: trader.account.id, action: 'close_long', symbol: 'BTCUSDT', quantity: 1 },
        })
      ).body,
    standing: () => until(protections, ({ items }) => items[0]?.state === 'standing'),
    ended: () => until(protections, ({ items }) => items.every(({ state }) => state === 'ended')),
    closes: async () => (await get<{ items: OrderRecord[] }>('/trading/orders?source=protection')).items,
  };
}

describe('a strategy that was stopped out', () => {
  test('does not open again on that side until it has been flat, and its exit is done', async (t) => {
    const { alert, standing, ended, price, closes } = await openDesk(t);
    const entry = await alert('buy', 0, 2, { stop_loss: '2%' });
    assert.equal(entry.status, 'filled');
    await standing();
    await price(58_000);
    await ended();
    const [close, ...others] = await closes();
    assert.deepEqual(others, []);
    assert.deepEqual(
      [close?.status, close?.exit_reason, close?.caused_by, close?.fill_quantity],
      ['filled', 'stop_loss', entry.order_id, 2],
    );
    const added = await alert('buy', 2, 3);
    assert.deepEqual([added.status, added.error?.code], ['rejected', 'stopped_out']);
    const synced = await alert<{ in_sync: boolean; stopped_out?: boolean; gap: boolean }>('sync', 3, 3, {
      ...{ prev_market_position: undefined, prev_market_position_size: undefined, quantity: undefined },
    });
    assert.deepEqual([synced.in_sync, synced.stopped_out], [true, true]);
    assert.equal((await alert('sell', 3, 1)).status, 'done');
    assert.equal((await alert('sell', 1, 0)).status, 'done');
    const again = await alert('buy', 0, 1, { stop_loss: '2%' });
    assert.deepEqual([again.status, again.fill_quantity], ['filled', 1]);
  });

  test('is not let in again by a script that goes on moving its stop', async (t) => {
    const { alert, standing, ended, price, world, trader } = await openDesk(t);
    await alert('buy', 0, 2, { stop_loss: '2%' });
    await standing();
    await price(58_000);
    await ended();
    const moved = await world.send(trader, { action: 'protect', quantity: undefined, stop_loss: 57_000 });
    assert.deepEqual([moved.body.status, moved.body.error?.code], ['rejected', 'no_position']);
    const added = await alert('buy', 2, 3);
    assert.deepEqual([added.status, added.error?.code, added.gap], ['rejected', 'stopped_out', false]);
  });

  test('is not opened again before anybody has looked at the stop either', async (t) => {
    const { alert, standing, price, get, trader } = await openDesk(t, 600);
    await alert('buy', 0, 2, { stop_loss: '2%' });
    await standing();
    await price(58_000);
    const added = await alert('buy', 2, 3);
    assert.deepEqual([added.status, added.error?.code], ['rejected', 'stopped_out']);
    const { items } = await get<{ items: { quantity: number }[] }>(
      `/trading/accounts/${trader.account.id}/positions`,
    );
    assert.deepEqual(
      items.filter(({ quantity }) => quantity !== 0),
      [],
    );
  });

  test('counts what a target closed: an add brings it to where the strategy stands, less that', async (t) => {
    const { alert, standing, price, closes, get, trader } = await openDesk(t);
    await alert('buy', 0, 2, { stop_loss: '2%', take_profit: [{ at: '1%', percent: 50 }] });
    await standing();
    await price(60_700);
    const begun = performance.now();
    while ((await closes()).length === 0) assert.ok(performance.now() - begun < PATIENCE_MS);
    const added = await alert('buy', 2, 3);
    assert.deepEqual([added.status, added.fill_quantity, added.target], ['filled', 1, 2]);
    const { items } = await get<{ items: { quantity: number; in_sync: boolean | null }[] }>(
      `/trading/accounts/${trader.account.id}/positions`,
    );
    assert.deepEqual([items[0]?.quantity, items[0]?.in_sync], [2, true]);
  });

  test('by a part alone goes on, where that was seen only after an order of its own had read what was left', async (t) => {
    const { alert, standing, price, closes, until } = await openDesk(t, 4, { POSITION_LAG_SECONDS: '1' });
    await alert('buy', 0, 2, { stop_loss: '5%', take_profit: [{ at: 61_000, percent: 50 }] });
    await standing();
    // Nothing was filled of late: whatever is shown is believed.
    await sleep(1_100);
    await price(61_500);
    const part = await alert('sell', 2, 1);
    assert.deepEqual([part.status, part.position_before], ['done', 1]);
    const [close] = await until(closes, ([first]) => first !== undefined);
    assert.deepEqual(
      [close?.exit_reason, close?.fill_quantity, close?.position_before],
      ['take_profit', 1, 2],
    );
    const added = await alert('buy', 1, 3);
    assert.deepEqual([added.status, added.fill_quantity, added.target], ['filled', 1, 2]);
  });

  test('that says nothing of its position opens as it says, and its late exit is done', async (t) => {
    const { world, trader, standing, ended, price } = await openDesk(t);
    const send = async (fields: object) =>
      (await world.webhook(trader, world.signal(trader, { id: `${Math.random()}`, ...fields }))).body;
    await send({ quantity: 1, stop_loss: '2%' });
    await standing();
    await price(58_000);
    await ended();
    const exit = await send({ action: 'long_exit', quantity: 1 });
    assert.deepEqual([exit.status, exit.error], ['done', null]);
    assert.equal((await send({ quantity: 1 })).status, 'filled');
  });
});

test('whoever traded last in an instrument did so under whatever spelling', async (t) => {
  const { world, trader, standing, ended, price } = await openDesk(t);
  const byHand = async (fields: object) => {
    const order = { trading_account_id: trader.account.id, quantity: 1, ...fields };
    return (await world.as<OrderResult>(trader, 'POST', '/trading/order', order)).body;
  };
  const exit = async (symbol: string) => {
    const { body } = await world.send(trader, { action: 'long_exit', symbol });
    return [body.status, body.error?.code ?? null];
  };
  await byHand({ action: 'buy', symbol: 'BTCUSDT', stop_loss: '2%' });
  await standing();
  await price(58_000);
  await ended();
  assert.deepEqual(await exit('BINANCE:BTCUSDT'), ['done', null], 'its stop was there first');
  await byHand({ action: 'buy', symbol: 'BINANCE:BTCUSDT' });
  assert.equal((await byHand({ action: 'close_long', symbol: 'BINANCE:BTCUSDT' })).status, 'filled');
  assert.deepEqual(await exit('btcusdt'), ['rejected', 'no_position'], 'somebody has closed by hand since');
});

test('who moves a stop has said nothing of the strategy: where it stands is known as before', async (t) => {
  const { alert, standing, world, trader, get } = await openDesk(t);
  await alert('buy', 0, 2, { stop_loss: '2%' });
  await standing();
  const moved = await world.send(trader, { action: 'protect', quantity: undefined, stop_loss: 59_000 });
  assert.equal(moved.body.status, 'done', JSON.stringify(moved.body));
  const { items } = await get<{ items: { strategy_position: number | null; in_sync: boolean | null }[] }>(
    `/trading/accounts/${trader.account.id}/positions`,
  );
  assert.deepEqual([items[0]?.strategy_position, items[0]?.in_sync], [2, true]);
  assert.equal((await alert('sell', 3, 2)).gap, true, 'an alert that was missed is seen all the same');
});

describe('an entry with a stop', () => {
  test('is protected before the entries behind it are sent', async (t) => {
    const { world, trader, get, standing, until } = await openDesk(t, 600);
    await world.as(trader, 'PATCH', `/trading/accounts/${trader.account.id}`, { paper: { latency_ms: 400 } });
    let sent = 0;
    const send = (fields: object) =>
      world.webhook(trader, world.signal(trader, { id: `${++sent}`, quantity: 1, ...fields }));
    const first = send({ stop_loss: '2%' });
    // It has been accepted, and is on its way.
    const orders = () => get<{ items: OrderRecord[] }>('/trading/orders');
    await until(orders, (seen) => seen.items.length === 1);
    const entries = Array.from({ length: 4 }, () => send({ symbol: 'ETHUSDT' }));
    await Promise.all([first, ...entries]);
    await standing();
    const { items } = await orders();
    const { items: protections } = await get<{ items: { id: string }[] }>('/trading/protections');
    const { history } = await get<{ history: { at: string; what: string }[] }>(
      `/trading/protections/${protections[0]?.id}`,
    );
    const stoodAt = history.find(({ what }) => what === 'standing')?.at ?? '';
    const later = items.filter(
      ({ symbol, filled_at }) => symbol === 'ETHUSDT' && (filled_at ?? '') > stoodAt,
    );
    assert.ok(later.length >= 3, `it stood at ${stoodAt}: ${items.map(({ filled_at }) => filled_at)}`);
  });
});

describe('a bad day', () => {
  test('a broker that refuses the stop: the position is closed, and told why', async (t) => {
    const { alert, change, ended, closes } = await openDesk(t);
    await change({ paper: { protection: 'refuse' } });
    const entry = await alert('buy', 0, 1, { stop_loss: '2%' });
    assert.equal(entry.status, 'filled');
    await ended();
    const [close] = await closes();
    assert.deepEqual([close?.status, close?.exit_reason], ['filled', 'unprotected']);
  });

  test('a protective close whose fill somebody else than its worker finds: the strategy stays out all the same', async (t) => {
    const { alert, world, closeByHand } = await openDesk(t);
    await alert('buy', 0, 1);
    const body = await closeByHand();
    const close = await findOrder(world.db, body.order_id);
    assert.ok(close);
    await world.db.commit(knownOf({ ...close, source: 'protection', exitReason: 'unprotected' }));
    const again = await alert('buy', 1, 2);
    assert.deepEqual([again.status, again.error?.code], ['rejected', 'stopped_out']);
  });

  test('a protective close that was accepted before an entry, and filled after it, has closed what the entry misses', async (t) => {
    const { alert, world, closeByHand } = await openDesk(t);
    await alert('buy', 0, 1);
    const body = await closeByHand();
    const close = await findOrder(world.db, body.order_id);
    assert.ok(close?.filledAt);
    await world.db.commit([
      sql`update order_history set source = 'protection' where order_id = ${body.order_id}`,
    ]);
    const filledAt = millis(close.filledAt);
    const entry: Order = { ...close, intent: { operation: 'PLACE_ENTRY_ORDER', side: 'buy' } };
    const asked = (order: Order, ms: number) => closedBy(world.db, { ...order, submittedAt: timestamp(ms) });
    assert.equal(await asked(entry, filledAt), 'protection');
    assert.equal(await asked(entry, filledAt + 1), 'somebody');
    assert.equal(await asked({ ...entry, symbol: 'BINANCE:BTCUSDT' }, filledAt), 'protection');
    const exit: Order = { ...close, intent: { operation: 'PLACE_EXIT_ORDER', direction: 'long' } };
    assert.equal(await asked(exit, filledAt + 1), 'somebody', 'it has traded itself since');
    assert.equal(await asked({ ...exit, legs: [] }, filledAt + 1), 'protection');
  });

  test('a protective close of long ago, of which nobody knows the end, keeps nobody out who has been flat and came in again since', async (t) => {
    const { alert, world, closeByHand } = await openDesk(t);
    await alert('buy', 0, 1);
    const { order_id: old } = await closeByHand();
    await world.db.commit([
      sql`update order_history set source = 'protection', status = 'unknown', fill_quantity = null, filled_at = null
          where order_id = ${old}`,
    ]);
    await alert('sell', 1, 0);
    assert.equal((await alert('buy', 0, 1)).status, 'filled');
    // Its owner closes that by hand, and the strategy adds.
    await closeByHand();
    assert.equal((await alert('buy', 1, 2)).error?.code, undefined);
  });

  test('a protective close whose fill is learnt after the strategy has been flat and came in again holds back nothing', async (t) => {
    const { alert, world, closeByHand } = await openDesk(t);
    await alert('buy', 0, 1);
    const body = await closeByHand();
    assert.equal((await alert('sell', 1, 0)).status, 'done');
    await alert('buy', 0, 1);
    const close = await findOrder(world.db, body.order_id);
    assert.ok(close);
    await world.db.commit(knownOf({ ...close, source: 'protection', exitReason: 'stop_loss' }));
    const added = await alert('buy', 1, 2);
    assert.deepEqual([added.status, added.fill_quantity], ['filled', 1]);
  });

  test('what was recorded as a part and turns out to have been all: the strategy stays out, unless it came in again since', async (t) => {
    const { alert, world, trader, closeByHand } = await openDesk(t);
    const entry = await alert('buy', 0, 1);
    const at = timestamp(Date.now());
    const body = await closeByHand();
    assert.equal(body.status, 'filled');
    const made = await findOrder(world.db, entry.order_id);
    assert.ok(made);
    const key = { accountId: trader.account.id, symbol: 'BTCUSDT', simulation: false };
    const part = noteStopped(key, 'long', { quantity: decimal('0.5'), isAll: false }, at);
    await world.db.commit([part]);
    const learnt = () =>
      world.db.commit([stoppedOutBy({ ...made, side: 'long' } as unknown as Protection, at)]);
    await learnt();
    const added = await alert('buy', 1, 2);
    assert.deepEqual([added.status, added.error?.code], ['rejected', 'stopped_out']);
    await alert('sell', 2, 0);
    await alert('buy', 0, 1);
    await learnt();
    assert.equal((await alert('buy', 1, 2)).status, 'filled');
  });

  test('what its owner has aligned since is not stopped out once more when the protection ends', async (t) => {
    const { alert, world, trader, closeByHand } = await openDesk(t);
    const entry = await alert('buy', 0, 1);
    const body = await closeByHand();
    const [made, close] = [
      await findOrder(world.db, entry.order_id),
      await findOrder(world.db, body.order_id),
    ];
    assert.ok(made && close);
    await world.db.commit(knownOf({ ...close, source: 'protection', exitReason: 'stop_loss' }));
    // On purpose: the position is to stand where the strategy does.
    const aligned = await world.as<OrderResult>(
      trader,
      'POST',
      `/trading/accounts/${trader.account.id}/align`,
      { symbol: 'BTCUSDT' },
    );
    assert.equal(aligned.body.status, 'filled');
    // The lane comes to the end of the old protection only now.
    await world.db.commit([
      stoppedOutBy({ ...made, side: 'long' } as unknown as Protection, close.submittedAt),
    ]);
    assert.equal((await alert('buy', 1, 2)).status, 'filled');
  });

  test('a level on the wrong side of the market trades nothing', async (t) => {
    const { alert, closes } = await openDesk(t);
    const entry = await alert('buy', 0, 1, { stop_loss: 61_000 });
    assert.deepEqual([entry.status, entry.error?.code], ['rejected', 'invalid_protection']);
    assert.match(entry.error?.message ?? '', /61000/);
    assert.deepEqual(await closes(), []);
  });

  test('a stop is looked after by the next process, where the first one died with it', async (t) => {
    const { alert, standing, world, ended, price, closes } = await openDesk(t);
    await alert('buy', 0, 1, { stop_loss: '2%' });
    await standing();
    await world.restart();
    await price(58_000);
    await ended();
    assert.equal((await closes()).length, 1);
  });
});

interface Held {
  readonly quantity: number;
  readonly in_sync: boolean | null;
  readonly closed_by_protection: number | null;
  readonly protection: { take_profit: readonly { quantity: number; filled: number }[] } | null;
}

describe('a target that is filled in part and rests', () => {
  test('shows what it has filled, counts as closed at once, and stands in the history at its end', async (t) => {
    const { alert, standing, change, price, get, world, trader, closes } = await openDesk(t);
    await alert('buy', 0, 2, { stop_loss: '5%', take_profit: [{ at: 61_000, percent: 50 }] });
    await standing();
    const held = async () =>
      (await get<{ items: Held[] }>(`/trading/accounts/${trader.account.id}/positions`)).items[0];
    await world.eventually(held, (seen) => seen?.protection?.take_profit[0]?.quantity === 1);
    await change({ paper: { fill: 'partial', price: { BTCUSDT: 61_100 } } });
    const isPartly = (seen: Held | undefined) =>
      (seen?.protection?.take_profit[0]?.filled ?? 0) > 0 && seen?.in_sync === true;
    const partly = await world.eventually(held, isPartly);
    const filled = partly?.protection?.take_profit[0]?.filled ?? 0;
    assert.ok(filled < 1, `${filled} of 1 is a part`);
    assert.deepEqual(
      [partly?.quantity, partly?.closed_by_protection],
      [Number((2 - filled).toFixed(8)), filled],
    );
    assert.deepEqual(await closes(), [], 'it has not ended');
    // Below the target: the rest of it waits until there is more to close.
    await change({ paper: { fill: 'full', price: { BTCUSDT: 60_900 } } });
    // Where the strategy is to stand counts less that: nothing is bought back.
    const added = await alert('buy', 2, 3);
    assert.deepEqual([added.status, added.fill_quantity], ['filled', 1]);
    await price(61_100);
    // Half of three: what it has closed already is a part of that.
    const after = await world.eventually(held, (seen) => seen?.quantity === 1.5 && seen.in_sync === true);
    assert.equal(after?.closed_by_protection, 1.5);
    const made = await closes();
    assert.equal(
      made.reduce((sum, { fill_quantity }) => sum + (fill_quantity ?? 0), 0),
      1.5,
      'each fill stands in the history once',
    );
    assert.ok(made.every(({ exit_reason }) => exit_reason === 'take_profit'));
    const { todo } = await get<{ todo: { kind: string }[] }>('/trading/overview');
    assert.deepEqual(todo, []);
  });
});
