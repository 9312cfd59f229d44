// How much is traded where a quantity counts something else than units, through the webhook, by hand, and beforehand.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { OrderRecord, OrderResult } from '../../src/domain/orders/result.ts';
import { openWorld, type Problem } from '../world.ts';

interface Plan {
  readonly legs: readonly { readonly leg: string; readonly quantity: number }[];
  readonly sizing: OrderRecord['sizing'];
  readonly error: { readonly code: string } | null;
}

async function openDesk(t: TestContext) {
  const world = await openWorld(t);
  const paper = { latency_ms: 0, starting_cash: 100_000, price: { BTCUSDT: 60_000 } };
  const trader = await world.makeTrader({}, { paper });
  const position = async () => {
    const url = `/trading/accounts/${trader.account.id}/positions`;
    const { body } = await world.as<{ items: { quantity: number }[] }>(trader, 'GET', url);
    return body.items[0]?.quantity ?? 0;
  };
  return { world, trader, position };
}

describe('an entry', () => {
  test('for cash buys what that pays for at the ask, rounded down, and says how', async (t) => {
    const { world, trader, position } = await openDesk(t);
    const { status, body } = await world.send(trader, { quantity: 500, quantity_type: 'cash' });
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body.status, 'filled');
    const { sizing } = body as OrderResult & Pick<OrderRecord, 'sizing'>;
    assert.ok(sizing?.price && sizing.units);
    assert.ok(sizing.units * sizing.price <= 500 && (sizing.units + 0.00001) * sizing.price > 500);
    assert.deepEqual(
      [body.quantity, body.fill_quantity, await position(), sizing.quantity_type],
      [500, sizing.units, sizing.units, 'cash'],
    );
    assert.match(
      sizing.text ?? '',
      /^500 in cash is 0\.00833 BTC at 60,0\d\d(?:\.\d+)?\. Fees and slippage are not counted\.$/,
    );
    const record = await world.order(trader, body.order_id);
    assert.deepEqual([record.quantity_type, record.sizing], ['cash', sizing]);
  });

  test('for a part of the equity, and for what is lost at its stop', async (t) => {
    const { world, trader } = await openDesk(t);
    const share = await world.send(trader, { quantity: 10, quantity_type: 'percent_of_equity' });
    assert.equal(share.body.fill_quantity, 0.16666, JSON.stringify(share.body));
    const other = await world.addAccount(trader);
    // 600 with each, and a little more.
    const risk = await world.send(other, { quantity: 60, quantity_type: 'risk_cash', stop_loss: '1%' });
    assert.equal(risk.body.fill_quantity, 0.1, JSON.stringify(risk.body));
    const { sizing } = await world.order(other, risk.body.order_id);
    assert.ok(sizing?.stop && sizing.price && Math.abs(sizing.price - sizing.stop - 600) < 10);
  });

  test('that would be less than the least is refused, with what it would be', async (t) => {
    const { world, trader, position } = await openDesk(t);
    const { body } = await world.send(trader, { quantity: 0.5, quantity_type: 'Notional' });
    assert.equal(body.status, 'rejected');
    assert.equal(body.error?.code, 'invalid_quantity');
    assert.match(
      body.error?.message ?? '',
      /^0\.5 in cash is 0\.000008 BTC at 60,0\d\d(?:\.\d+)?; the least is 0\.00001\.$/,
    );
    assert.equal(await position(), 0);
  });
});

test('an exit takes a part of what is held, all of it, or what cash pays for, and never more than is held', async (t) => {
  const { world, trader, position } = await openDesk(t);
  await world.send(trader, { quantity: 1 });
  const exit = (quantity: number, quantity_type: string) =>
    world.send(trader, { action: 'long_exit', quantity, quantity_type });
  await exit(25, 'percent_of_position');
  assert.equal(await position(), 0.75);
  await exit(6_000, 'cash');
  assert.equal(await position(), 0.65);
  await exit(33.3333, 'percent_of_position');
  assert.equal(await position(), 0.43334);
  await exit(1_000_000, 'cash');
  assert.equal(await position(), 0);
  const nothing = await exit(50, 'percent_of_position');
  assert.equal(nothing.body.error?.code, 'no_position');
});

test('a reversal closes what is held, and opens what its cash pays for', async (t) => {
  const { world, trader, position } = await openDesk(t);
  await world.send(trader, { quantity: 0.5 });
  const { body } = await world.send(trader, { action: 'sell', quantity: 600, quantity_type: 'cash' });
  assert.equal(body.auto_exit, true);
  assert.equal(await position(), -0.01);
});

describe('a message that makes no sense', () => {
  for (const [what, fields, says] of [
    [
      'an unknown word',
      { quantity_type: 'lots' },
      /"quantity_type" is "lots": it must be one of units, cash/,
    ],
    ['a number', { quantity_type: 7 }, /"quantity_type" is 7/],
    ['what was not filled in', { quantity_type: '{{plot("x")}}' }, /not filled in|placeholder/i],
    ['a percent of a position to enter', { quantity_type: 'percent_of_position' }, /goes with exits/],
    ['risk without a stop', { quantity_type: 'risk_percent' }, /there is none\. Send "stop_loss"/],
    ['risk to exit', { action: 'long_exit', quantity_type: 'risk_cash' }, /goes with entries/],
    [
      'more than all',
      { action: 'long_exit', quantity: 101, quantity_type: 'percent_of_position' },
      /at most 100/,
    ],
    [
      'a size of the strategy',
      { market_position: 'long', market_position_size: 2, quantity_type: 'cash' },
      /"market_position_size" counts units/,
    ],
  ] as const)
    test(`${what} is refused`, async (t) => {
      const { world, trader } = await openDesk(t);
      const { status, body } = await world.send<Problem>(trader, fields);
      assert.equal(status, 400, JSON.stringify(body));
      assert.equal(body.code, 'webhook_payload_invalid');
      assert.match(body.detail, says);
    });

  test('but one that closes everything ignores it, and says so', async (t) => {
    const { world, trader } = await openDesk(t);
    await world.send(trader, { quantity: 1 });
    const { body } = await world.send(trader, { action: 'close_long', quantity_type: 'lots' });
    assert.equal(body.status, 'filled', JSON.stringify(body));
    assert.deepEqual(body.ignored, ['quantity_type']);
  });
});

test('by hand, planned and checked: the same sizes', async (t) => {
  const { world, trader } = await openDesk(t);
  const order = { trading_account_id: trader.account.id, action: 'buy', symbol: 'BTCUSDT' };
  const sized = { ...order, quantity: 500, quantity_type: 'dollar_amount' };
  const plan = await world.as<Plan>(trader, 'POST', '/trading/order/plan', sized);
  assert.deepEqual(plan.body.legs, [{ leg: 'entry', side: 'buy', quantity: 0.00833 }]);
  assert.equal(plan.body.sizing?.units, 0.00833);
  const { body } = await world.as<OrderRecord>(trader, 'POST', '/trading/order', sized);
  assert.equal(body.fill_quantity, 0.00833);
  const check = await world.as<{ plan: Plan }>(
    trader,
    'POST',
    `/trading/accounts/${trader.account.id}/check`,
    { message: JSON.stringify(world.signal(trader, { quantity: 500, quantity_type: 'cash' })) },
  );
  assert.equal(check.body.plan.sizing?.units, 0.00833);
  const risky = { ...order, quantity: 1, quantity_type: 'risk_percent' };
  for (const path of ['/trading/order', '/trading/order/plan']) {
    const refused = await world.as<Problem>(trader, 'POST', path, risky);
    assert.deepEqual([refused.status, refused.body.code], [400, 'request_invalid']);
  }
});

test('a plain order’s answer has no word of it, and its record says units', async (t) => {
  const { world, trader } = await openDesk(t);
  const { body } = await world.send(trader, { quantity: 1 });
  assert.ok(!('sizing' in body) && !('quantity_type' in body));
  const record = await world.order(trader, body.order_id);
  assert.deepEqual([record.quantity_type, record.sizing], ['units', null]);
});
