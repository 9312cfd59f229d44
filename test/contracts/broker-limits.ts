// The connector contract about orders with a limit: its cases, for broker-protection.ts.

import assert from 'node:assert/strict';
import type { StopOrder } from '../../src/broker/broker.ts';
import { compare, ZERO } from '../../src/domain/decimal.ts';
import { acceptedState, becomes } from './broker.ts';
import { ends, isOver, notReserving, type Rule, restingTarget } from './protection-desk.ts';

export function limitRules(rule: Rule): void {
  rule(
    'an order with a limit rests among the open ones, and fills at its price or better',
    { hooks: ['setPrice'], stops: false },
    async (desk) => {
      await desk.trade('buy');
      const target = await restingTarget(desk, 5);
      await desk.setPrice(6);
      const filled = await becomes(desk.broker, target, ({ status }) => status === 'filled');
      assert.ok(filled.fillPrice && compare(filled.fillPrice, target.order.limit ?? ZERO) >= 0);
      assert.equal(await desk.position(), ZERO);
      assert.deepEqual(await desk.broker.openOrders(), []);
    },
  );

  rule(
    'an order with a limit that opens rests, and fills at its price or better',
    { hooks: ['setPrice'], stops: false },
    async (desk) => {
      const order = desk.order('buy', 1, { limit: desk.at(-5) });
      const { brokerRef } = acceptedState(await desk.broker.place(order));
      await desk.setPrice(-4);
      assert.equal((await desk.broker.find(order, { brokerRef }))?.status, 'placed');
      await desk.setPrice(-6);
      const filled = await becomes(desk.broker, { order, brokerRef }, ({ status }) => status === 'filled');
      assert.ok(filled.fillPrice && compare(filled.fillPrice, desk.at(-5)) <= 0);
      assert.equal(await desk.position(), desk.harness.quantity);
    },
  );

  rule('an order with a limit is cancelled, and its end is found', { stops: false }, async (desk) => {
    await desk.trade('buy');
    const { order, brokerRef } = await restingTarget(desk, 5);
    const open = (await desk.broker.openOrders()).find((each) => each.brokerRef === brokerRef);
    assert.ok(open);
    for (let times = 0; times < 2; times++) await desk.broker.cancel(open);
    const ended = await becomes(desk.broker, { order, brokerRef }, ({ status }) => status === 'cancelled');
    assert.deepEqual([ended.fillQuantity, ended.fillPrice], [ZERO, null]);
    assert.deepEqual(await desk.broker.openOrders(), []);
    assert.equal(await desk.position(), desk.harness.quantity);
  });

  rule(
    'an order with a limit that only reduces closes no more than is held, and opens nothing when it is flat',
    {
      hooks: ['setPrice'],
      stops: false,
      unless: ({ broker }) =>
        broker.capabilities.reduceOnly ? undefined : 'the broker has no reduce-only orders',
    },
    async (desk) => {
      await desk.trade('buy', 2);
      const target = await restingTarget(desk, 5, 2);
      await desk.trade('sell', 1, { reduceOnly: true });
      await desk.setPrice(6);
      const ended = await becomes(
        desk.broker,
        target,
        ({ status }) => status !== 'placed' && status !== 'partially_filled',
      );
      assert.equal(ended.fillQuantity, desk.harness.quantity);
      assert.equal(await desk.position(), ZERO);

      await desk.setPrice(0);
      await desk.trade('buy');
      await restingTarget(desk, 5);
      await desk.trade('sell', 1, { reduceOnly: true });
      await desk.setPrice(6);
      await desk.broker.openOrders();
      assert.equal(await desk.position(), ZERO);
    },
  );

  for (const first of ['limit', 'stop', 'cancel'] as const)
    rule(
      `of a limit with a stop beside it, the ${first === 'cancel' ? 'cancelling of one' : first} ends the other`,
      { hooks: ['setPrice'], unless: notReserving },
      async (desk) => {
        await desk.trade('buy');
        const { order, brokerRef } = await restingTarget(desk, 5, 1, { stop: desk.at(-5) });
        const asStop: StopOrder = { ...desk.stop('sell', -5), clientOrderId: order.clientOrderId };
        const [shown, ...others] = await desk.standing();
        assert.deepEqual(others, []);
        assert.deepEqual([shown?.clientOrderId, shown?.price], [order.clientOrderId, desk.at(-5)]);
        const ref = { brokerRef: shown?.brokerRef ?? null };
        if (first === 'cancel')
          for (const open of await desk.broker.openOrders())
            if (open.brokerRef === brokerRef) await desk.broker.cancel(open);
        if (first !== 'cancel') await desk.setPrice(first === 'limit' ? 6 : -6);
        const expected = first === 'limit' ? 'filled' : 'cancelled';
        await becomes(desk.broker, { order, brokerRef }, ({ status }) => status === expected);
        if (first === 'stop') assert.equal((await ends(desk, asStop, ref)).order?.status, 'filled');
        else await isOver(desk, asStop, ref);
        assert.deepEqual(await desk.standing(), []);
        assert.equal(await desk.position(), first === 'cancel' ? desk.harness.quantity : ZERO);
      },
    );
}
