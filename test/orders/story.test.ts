// What an order's story is made of besides its record: its signal, its neighbours, and what the audit log says of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOrder } from '../../src/app/orders/read-orders.ts';
import { ListTooSlow } from '../../src/data/engine/db.ts';
import type { Surroundings } from '../../src/data/orders/story.ts';
import { isDenial } from '../../src/domain/denial.ts';
import { openWorld } from '../world.ts';
import { FIRST_POLL, polled, restingBroker } from './fill-desk.ts';

test('an order names its signal, and the orders before and after it in the same book', async (t) => {
  const world = await openWorld(t);
  const trader = await world.makeTrader();
  const second = await world.addAccount(trader);
  const { body: first } = await world.send(trader, { quantity: 2 });
  await world.send(second);
  await world.send(trader, {}, { query: '?simulation=true' });
  await world.send(trader, { symbol: 'ETHUSDT' });
  const { body: middle } = await world.as<{ order_id: string }>(trader, 'POST', '/trading/order', {
    trading_account_id: trader.account.id,
    action: 'sell',
    symbol: 'BTCUSDT',
    quantity: 1,
  });
  const { body: last } = await world.send(trader, { action: 'close', quantity: undefined });
  const story = async (id: string) =>
    (await world.as<Surroundings>(trader, 'GET', `/trading/orders/${id}/story`)).body;

  const begun = await story(first.order_id);
  assert.deepEqual([begun.previous_order, begun.next_order?.order_id], [null, middle.order_id]);
  const { body: signal } = await world.as<{ order_id: string }>(
    trader,
    'GET',
    `/trading/signals/${begun.signal_id}`,
  );
  assert.equal(signal.order_id, first.order_id);
  const between = await story(middle.order_id);
  assert.deepEqual(
    [between.signal_id, between.previous_order?.order_id, between.next_order?.order_id],
    [null, first.order_id, last.order_id],
  );
  assert.deepEqual(
    [between.previous_order?.action, between.previous_order?.quantity, between.previous_order?.status],
    ['buy', 2, 'filled'],
  );
});

test('an order is told while lists are too slow: what stands around it is asked for apart', async (t) => {
  const world = await openWorld(t);
  const trader = await world.makeTrader();
  const { body } = await world.send(trader);
  const tooSlow = async () => {
    throw new ListTooSlow('too slow');
  };
  const db = { ...world.db, lists: { all: tooSlow, get: tooSlow } };
  const order = await readOrder({ db }, trader.user.id, body.order_id);
  assert.ok(!isDenial(order));
  assert.equal(order.status, 'filled');
});

test('the audit log tells of one order, to its owner alone', async (t) => {
  const world = await openWorld(t);
  const [trader, other] = [await world.makeTrader(), await world.makeTrader()];
  const { body } = await world.send(trader);
  await world.send(trader);
  await world.as(trader, 'POST', `/trading/orders/${body.order_id}/look`);
  const entries = async (whose: typeof trader, more = '') =>
    (
      await world.as<{ items: { action: string }[] }>(
        whose,
        'GET',
        `/settings/audit-log?order_id=${body.order_id}${more}`,
      )
    ).body.items.map(({ action }) => action);
  assert.deepEqual(await entries(trader), ['order_look', 'webhook_order']);
  assert.deepEqual(await entries(trader, '&action=webhook_order'), ['webhook_order']);
  assert.deepEqual(await entries(other), []);
});

test('what the last look found is told while it found no end', async (t) => {
  const { clock, world, trader } = await restingBroker(t);
  const { body } = await world.send(trader);
  clock.advance(FIRST_POLL);
  await polled(world, trader, body.order_id, 1);
  const { body: story } = await world.as<Surroundings>(
    trader,
    'GET',
    `/trading/orders/${body.order_id}/story`,
  );
  assert.equal(story.last_look, 'the broker reports placed');
});

test('an order that asked for a stop says when it stood, and names the closes that it led to; they name the order', async (t) => {
  const world = await openWorld(t, { env: { PROTECTION_SWEEP_SECONDS: '1' } });
  const at = (price: number) => ({ latency_ms: 0, price: { BTCUSDT: price } });
  const trader = await world.makeTrader({}, { paper: at(65_000) });
  const story = async (id: string) =>
    (await world.as<Surroundings>(trader, 'GET', `/trading/orders/${id}/story`)).body;
  const { body: plain } = await world.send(trader, { symbol: 'ETHUSDT' });
  const { body: entry } = await world.send(trader, {
    quantity: 2,
    stop_loss: 64_000,
    take_profit: [{ at: 66_000, percent: 50 }],
  });
  const begun = await world.eventually(
    () => story(entry.order_id),
    ({ protected: step }) => step !== null,
  );
  assert.ok(begun.protected && begun.protected.unprotected_ms >= 0);
  assert.ok(begun.protected.at >= entry.submitted_at);
  assert.deepEqual([begun.closes, begun.caused_by, begun.exit_reason_text], [[], null, null]);

  for (const [price, closes] of [
    [66_500, 1],
    [63_000, 2],
  ] as const) {
    await world.setPaper(trader, at(price));
    await world.eventually(
      () => story(entry.order_id),
      (each) => each.closes.length === closes,
    );
  }
  const { closes, protected: step } = await story(entry.order_id);
  assert.deepEqual(step, begun.protected);
  assert.deepEqual(
    closes.map(({ action, quantity, status, exit_reason, exit_reason_text }) => [
      ...[action, quantity, status, exit_reason, exit_reason_text],
    ]),
    [
      ['close_long', 1, 'filled', 'take_profit', 'A target was reached.'],
      ['close_long', 1, 'filled', 'stop_loss', 'The stop was reached.'],
    ],
  );
  const close = await story(closes[1]?.order_id ?? '');
  assert.deepEqual(
    [close.caused_by?.order_id, close.exit_reason_text, close.protected],
    [entry.order_id, 'The stop was reached.', null],
  );
  const other = await story(plain.order_id);
  assert.deepEqual([other.protected, other.closes, other.caused_by], [null, [], null]);
});
