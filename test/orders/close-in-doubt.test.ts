// A position that is gone while a close of our own is in doubt: nobody says that somebody else closed it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../src/app/new-id.ts';
import { workerProtections } from '../../src/app/protection/for-workers.ts';
import { sql } from '../../src/data/engine/db.ts';
import { findOrder, insertOrder, saveOrder } from '../../src/data/orders/orders.ts';
import { type OrderId, timestamp } from '../../src/domain/ids.ts';
import { clientOrderId, type Order } from '../../src/domain/orders/order.ts';
import type { OrderResult } from '../../src/domain/orders/result.ts';
import { openWorld } from '../world.ts';

test('a protection that ends beside a close of ours of which nobody knows the end was not closed elsewhere', async (t) => {
  const world = await openWorld(t);
  const trader = await world.makeTrader();
  const { body } = await world.webhook<OrderResult>(
    trader,
    world.signal(trader, { quantity: 3, stop_loss: '5%' }),
  );
  const protections = workerProtections({ db: world.db, clock: { now: Date.now }, exitDeadlineMs: 300_000 });
  const { id: user } = trader.user;
  const [protection] = await world.eventually(
    () => protections.kept(user),
    ([one]) => one?.state === 'standing',
  );
  const owner = await world.db.get<{ token: string }>(
    sql`select token from worker_owners where user_id = ${user}`,
  );
  const entry = await findOrder(world.db, body.order_id);
  const [opened] = entry?.legs ?? [];
  assert.ok(protection && owner && entry && opened);
  const id = newId() as OrderId;
  const { wish: _, protectedAs: __, ...plain } = entry;
  const close: Order = {
    ...plain,
    ...{ id, version: 1, requestId: null, action: 'close_long', status: 'unknown', filledAt: null },
    intent: { operation: 'CLOSE_POSITION', direction: 'long' },
    positionBefore: opened.quantity,
    submittedAt: timestamp(Date.now()),
    legs: [
      {
        ...{
          ...opened,
          leg: 'exit',
          side: 'sell',
          status: 'unknown',
          clientOrderId: clientOrderId(id, 'exit'),
        },
        ...{ fillQuantity: null, fillPrice: null, fee: null, brokerRef: null, filledAt: null },
      },
    ],
  };
  assert.equal(await world.db.commit([insertOrder(close, null), ...saveOrder(close)]), null);
  const over = await protections.save(
    { ...protection, state: 'ended', legs: [], dueAt: null },
    protection,
    owner.token,
  );
  assert.equal(typeof over === 'object' && over.reason, null);
});
