// An account that takes its strategy's sizes times a factor: its webhook's entries, exits and targets, and nothing else.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Account } from '../../src/data/accounts/accounts.ts';
import { decimal } from '../../src/domain/decimal.ts';
import type { OrderRecord, OrderResult } from '../../src/domain/orders/result.ts';
import { openWorld, type Problem } from '../world.ts';

interface Synced {
  readonly in_sync: boolean;
  readonly strategy_position: number | null;
  readonly broker_position: number;
  readonly order: OrderResult | null;
}

type Sized = OrderResult & Pick<OrderRecord, 'sizing'>;

interface Position {
  readonly quantity: number;
  readonly strategy_position: number | null;
  readonly in_sync: boolean | null;
}

const standing = (position: number) => ({
  market_position: position > 0 ? 'long' : position < 0 ? 'short' : 'flat',
  market_position_size: Math.abs(position),
});

async function openDesk(t: TestContext, multiplier: string, account: Partial<Account> = {}) {
  const world = await openWorld(t, { env: { PROTECTION_SWEEP_SECONDS: '1' } });
  const paper = { latency_ms: 0, starting_cash: 1_000_000, price: { BTCUSDT: 60_000 } };
  const quantityMultiplier = decimal(multiplier);
  const trader = await world.makeTrader({}, { paper, quantityMultiplier, ...account });
  const at = `/trading/accounts/${trader.account.id}`;
  const send = <Body = Sized>(fields: object) => world.send<Body>(trader, { ...fields });
  const positions = async () =>
    (await world.as<{ items: Position[] }>(trader, 'GET', `${at}/positions`)).body.items;
  return {
    world,
    trader,
    at,
    send,
    positions,
    held: async () => (await positions())[0]?.quantity ?? 0,
    say: (action: string, to: number) => send({ action, quantity: 1, ...standing(to) }),
    sync: (to: number) => send<Synced>({ action: 'sync', quantity: null, ...standing(to) }),
    drifts: async () => {
      const { body } = await world.as<{ todo: { kind: string }[] }>(trader, 'GET', '/trading/overview');
      return body.todo.filter(({ kind }) => kind.startsWith('drift')).length;
    },
  };
}

describe('quantities', () => {
  test('of entries and exits are multiplied and rounded down; the record keeps what was sent', async (t) => {
    const { world, trader, send, held } = await openDesk(t, '0.33333');
    const { body } = await send({ quantity: 1 });
    assert.equal(body.status, 'filled', JSON.stringify(body));
    assert.deepEqual([body.quantity, body.fill_quantity, await held()], [1, 0.33333, 0.33333]);
    const { sizing, quantity_type } = await world.order(trader, body.order_id);
    assert.equal(quantity_type, 'units');
    assert.deepEqual([sizing?.asked, sizing?.factor, sizing?.units], [1, 0.33333, 0.33333]);
    assert.equal(sizing?.text, '1 times 0.33333 is 0.33333 BTC.');
    const half = await send({ action: 'sell', order_type: 'exit', quantity: 0.5 });
    // 0.166665 is between two steps.
    assert.deepEqual([half.body.fill_quantity, await held()], [0.16666, 0.16667]);
    await send({ action: 'long_exit', quantity: 9 });
    assert.equal(await held(), 0);
  });

  test('of every other type are multiplied as well, but not percents of the position', async (t) => {
    const { send, held } = await openDesk(t, '2');
    const cash = await send({ quantity: 600, quantity_type: 'cash' });
    assert.deepEqual([cash.body.fill_quantity, cash.body.sizing?.factor], [0.01999, 2]);
    const part = await send({ action: 'long_exit', quantity: 50, quantity_type: 'percent_of_position' });
    assert.deepEqual([part.body.fill_quantity, part.body.sizing?.factor], [0.00999, 1]);
    const equity = await send({ quantity: 6, quantity_type: 'percent_of_equity' });
    assert.ok(equity.body.fill_quantity && Math.abs(equity.body.fill_quantity - 1.9999) < 0.001);
    const risk = { quantity: 60, quantity_type: 'risk_cash', stop_loss: '1%' };
    assert.equal((await send(risk)).body.fill_quantity, 0.2);
    const percent = { quantity: 0.006, quantity_type: 'risk_percent', stop_loss: '1%' };
    assert.ok(Math.abs(((await send(percent)).body.fill_quantity ?? 0) - 0.2) < 0.001);
    await send({ action: 'close_long' });
    assert.equal(await held(), 0);
  });

  test('that are too small are refused, with what they would be', async (t) => {
    const { send } = await openDesk(t, '0.000001');
    const { body } = await send({ quantity: 1 });
    assert.deepEqual([body.status, body.error?.code], ['rejected', 'invalid_quantity']);
    assert.match(body.error?.message ?? '', /^1 times 0\.000001 is 0\.000001 BTC.*the least is 0\.00001\.$/);
    const target = await send({ quantity: 1, ...standing(1) });
    assert.deepEqual([target.body.status, target.body.error?.code], ['rejected', 'invalid_quantity']);
  });

  test('ordered by hand are not multiplied, and neither is what closes everything', async (t) => {
    const { world, trader, send, held } = await openDesk(t, '3');
    const order = { trading_account_id: trader.account.id, symbol: 'BTCUSDT' };
    const made = await world.as<OrderRecord>(trader, 'POST', '/trading/order', {
      ...{ ...order, action: 'buy', quantity: 0.5 },
    });
    assert.ok(!('sizing' in made.body));
    assert.equal(await held(), 0.5);
    const closed = await send({ action: 'close_long' });
    assert.ok(!('sizing' in closed.body));
    assert.equal(await held(), 0);
  });

  test('are shown multiplied by a check, and not by a plan for the dashboard', async (t) => {
    const { world, trader, at } = await openDesk(t, '0.5');
    interface Plan {
      readonly legs: readonly { readonly quantity: number }[];
      readonly sizing: OrderRecord['sizing'];
    }
    const message = JSON.stringify(world.signal(trader, { quantity: 3 }));
    const check = await world.as<{ plan: Plan }>(trader, 'POST', `${at}/check`, { message });
    assert.deepEqual(
      check.body.plan.legs.map(({ quantity }) => quantity),
      [1.5],
    );
    assert.equal(check.body.plan.sizing?.factor, 0.5);
    const target = JSON.stringify(world.signal(trader, { quantity: 3, ...standing(3) }));
    const stance = await world.as<{ plan: Plan }>(trader, 'POST', `${at}/check`, { message: target });
    assert.deepEqual(
      stance.body.plan.legs.map(({ quantity }) => quantity),
      [1.5],
    );
    const order = { trading_account_id: trader.account.id, action: 'buy', symbol: 'BTCUSDT', quantity: 3 };
    const plan = await world.as<Plan>(trader, 'POST', '/trading/order/plan', order);
    assert.deepEqual([plan.body.legs[0]?.quantity, plan.body.sizing], [3, null]);
  });
});

describe('a strategy’s target', () => {
  test('is multiplied and rounded down, and the account is in sync there', async (t) => {
    const { say, sync, positions, held, drifts } = await openDesk(t, '0.333333');
    const { body } = await say('buy', 1);
    assert.deepEqual([body.status, body.target, await held()], ['filled', 0.33333, 0.33333]);
    assert.deepEqual((await positions())[0]?.in_sync, true);
    assert.equal((await positions())[0]?.strategy_position, 0.33333);
    const synced = await sync(1);
    assert.deepEqual(
      [synced.body.in_sync, synced.body.strategy_position, synced.body.broker_position],
      [true, 0.33333, 0.33333],
    );
    const more = await say('buy', 3);
    assert.deepEqual([more.body.target, await held()], [0.99999, 0.99999]);
    const less = await say('sell', 2);
    assert.deepEqual([less.body.target, await held()], [0.66666, 0.66666]);
    const turned = await say('sell', -2);
    assert.deepEqual([turned.body.target, turned.body.auto_exit, await held()], [-0.66666, true, -0.66666]);
    const flat = await say('buy', 0);
    assert.deepEqual([flat.body.status, await held(), await drifts()], ['filled', 0, 0]);
  });

  test('that the account does not hold is drift, by a step or more', async (t) => {
    const { world, trader, say, sync, drifts } = await openDesk(t, '0.333333');
    await say('buy', 1);
    const order = { trading_account_id: trader.account.id, action: 'sell', symbol: 'BTCUSDT' };
    await world.as(trader, 'POST', '/trading/order', { ...order, order_type: 'exit', quantity: 0.00001 });
    assert.equal((await sync(1)).body.in_sync, false);
    assert.equal(await drifts(), 1);
  });

  test('is followed by a sync, and aligned to, times the same factor', async (t) => {
    const { world, trader, at, send, sync, held } = await openDesk(t, '0.333333', { outOfSync: 'follow' });
    const followed = await sync(2);
    assert.equal(followed.body.order?.status, 'filled', JSON.stringify(followed.body));
    assert.equal(await held(), 0.66666);
    const record = await world.order(trader, followed.body.order?.order_id ?? '');
    assert.equal(record.sizing?.text, '2 times 0.333333 is 0.66666 BTC.');
    assert.deepEqual([(await sync(2)).body.in_sync, (await sync(2)).body.order], [true, null]);
    const order = { trading_account_id: trader.account.id, action: 'close', symbol: 'BTCUSDT' };
    await world.as(trader, 'POST', '/trading/order', order);
    assert.equal(await held(), 0);
    const aligned = await world.as<Sized>(trader, 'POST', `${at}/align`, { symbol: 'BTCUSDT' });
    assert.deepEqual([aligned.body.status, await held()], ['filled', 0.66666], JSON.stringify(aligned.body));
    await send({ action: 'close', quantity: null });
    assert.equal(await held(), 0);
  });

  test('of before another multiplier is compared as it was taken; the next word is taken with the new one', async (t) => {
    const { world, trader, at, say, sync, positions, held, drifts } = await openDesk(t, '1');
    await say('buy', 1);
    const changed = await world.as<{ quantity_multiplier: number }>(trader, 'PATCH', at, {
      quantity_multiplier: 0.5,
    });
    assert.equal(changed.body.quantity_multiplier, 0.5);
    assert.deepEqual([(await positions())[0]?.in_sync, await drifts()], [true, 0]);
    assert.equal((await sync(1)).body.in_sync, false);
    await say('buy', 4);
    assert.equal(await held(), 2);
    assert.equal((await sync(4)).body.in_sync, true);
  });

  test('less what protection has closed is rounded down too, and stays met', async (t) => {
    const { world, trader, at, send, sync, positions, held } = await openDesk(t, '0.333333');
    await send({ quantity: 1, ...standing(1), stop_loss: '5%', take_profit: [{ at: '2%', percent: 50 }] });
    await world.eventually(positions, ([position]) => (position?.quantity ?? 0) > 0);
    await world.as(trader, 'PATCH', at, { paper: { price: { BTCUSDT: 62_000 } } });
    await world.eventually(held, (quantity) => quantity < 0.2);
    const left = await held();
    await world.eventually(
      () => sync(1),
      ({ body }) => body.in_sync && body.broker_position === left,
    );
  });
});

describe('the setting', () => {
  for (const [what, quantity_multiplier] of [
    ['nothing', 0],
    ['less than nothing', -1],
    ['more than a thousand', 1000.1],
    ['a word', 'two'],
    ['null', null],
  ] as const)
    test(`${what} is refused`, async (t) => {
      const { world, trader, at } = await openDesk(t, '1');
      const { status, body } = await world.as<Problem>(trader, 'PATCH', at, { quantity_multiplier });
      assert.deepEqual([status, body.code], [400, 'request_invalid']);
      assert.match(JSON.stringify(body), /quantity_multiplier/);
    });

  test('has no more digits than are kept', async (t) => {
    const { world, trader, at } = await openDesk(t, '1');
    for (const quantity_multiplier of [0.1234567890123456, 1e-20]) {
      const { status, body } = await world.as<Problem>(trader, 'PATCH', at, { quantity_multiplier });
      assert.deepEqual([status, body.code], [400, 'request_invalid']);
    }
  });

  test('is 1 unless it is given, and given with a new account too', async (t) => {
    const { world, trader } = await openDesk(t, '1');
    interface Shown {
      readonly quantity_multiplier: number;
    }
    const make = (fields: object) =>
      world.as<Shown>(trader, 'POST', '/trading/accounts', { name: 'A', broker: 'paper', ...fields });
    assert.equal((await make({})).body.quantity_multiplier, 1);
    assert.equal((await make({ quantity_multiplier: 0.001 })).body.quantity_multiplier, 0.001);
    assert.equal((await make({ quantity_multiplier: 1000 })).body.quantity_multiplier, 1000);
  });
});

test('the same signal is the same, whatever the multiplier is by then', async (t) => {
  const { world, trader, at, held } = await openDesk(t, '1');
  const signal = world.signal(trader, { quantity: 1 });
  await world.send(trader, signal);
  await world.as(trader, 'PATCH', at, { quantity_multiplier: 2 });
  const again = await world.send<Problem>(trader, signal);
  assert.deepEqual([again.status, await held()], [409, 1]);
});
