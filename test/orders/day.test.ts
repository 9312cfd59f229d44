// What today has earned, of what was opened before.

import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { describe, test } from 'node:test';
import { readDay } from '../../src/app/orders/read-day.ts';
import { migrate } from '../../src/data/engine/migrate.ts';
import { openSqlite } from '../../src/data/engine/sqlite.ts';
import { insertOrder, saveOrder } from '../../src/data/orders/orders.ts';
import { decimal } from '../../src/domain/decimal.ts';
import { type OrderId, timestamp } from '../../src/domain/ids.ts';
import { type DayOrder, heldBefore, strikeFlat } from '../../src/domain/money/day.ts';
import type { Order } from '../../src/domain/orders/order.ts';
import type { Priced } from '../../src/domain/orders/priced.ts';
import { buy, DAY, order, START, sell, type Traded } from '../domain/traded.ts';
import { makeTrader } from './kill-harness.ts';

const HOUR = 3_600_000;
const TODAY = timestamp(START + DAY);
const priced: Priced = {
  limit: decimal(100),
  stop: null,
  timeInForce: 'gtc',
  expiresAt: timestamp(START + 9 * DAY),
  id: null,
};

/** So many milliseconds after yesterday began. */
const placed = (at: number, traded: Traded, position: number, more: Partial<Order> = {}): Order =>
  order(at, [traded], { id: randomUUIDv7() as OrderId, positionBefore: decimal(position), ...more });

function stopped(at: number, placedAt: number, traded: Traded, position: number): Order {
  const made = placed(at, traded, position, { source: 'protection', exitReason: 'stop_loss' });
  const sentAt = timestamp(START + placedAt);
  return { ...made, legs: made.legs.map((leg) => ({ ...leg, leg: 'exit', sentAt, ackedAt: sentAt })) };
}

async function earned(...orders: Order[]): Promise<number | undefined> {
  const db = openSqlite({ file: ':memory:' });
  try {
    await migrate(db, Date.now());
    const { user, account } = await makeTrader(db, {});
    for (const each of orders) {
      const own = { ...each, userId: user.id, accountId: account.id };
      await db.commit([insertOrder(own, null), ...saveOrder(own)]);
    }
    return (await readDay(db, user.id, TODAY)).profits.get(account.id)?.realised;
  } finally {
    await db.close();
  }
}

describe('What today has earned', () => {
  test('of two entries that rested beside each other yesterday has the cost of both', async () => {
    const profit = await earned(
      placed(0, buy(1, 100, { filledAt: HOUR }), 0, { priced }),
      placed(10, buy(1, 90, { filledAt: 2 * HOUR }), 0, { priced }),
      placed(DAY + HOUR, sell(2, 110), 2),
    );
    assert.equal(profit, 30);
  });
  test('of two entries that were filled today, one of which had rested since yesterday, has the cost of both', async () => {
    const profit = await earned(
      placed(0, buy(1, 100, { filledAt: DAY + HOUR }), 0, { priced }),
      placed(DAY, buy(1, 90, { filledAt: DAY + 2 * HOUR }), 0, { priced }),
      placed(DAY + 3 * HOUR, sell(2, 110), 2),
    );
    assert.equal(profit, 30);
  });
  test('has what a stop closed of yesterday’s position, also where it was known after the next order', async () => {
    const profit = await earned(
      placed(0, buy(1, 100), 0),
      placed(DAY + HOUR, sell(1, 95), 0),
      stopped(DAY + HOUR + 30_000, 100, sell(1, 96), 1),
    );
    assert.equal(profit, -4);
  });
});

const ofDay = (each: Order): DayOrder => ({
  ...each,
  wasUnreachable: false,
  isPriced: each.priced !== undefined,
});

test('behind entries that rested nobody looks once all that was held is found', () => {
  const [first, second, last] = [
    placed(0, buy(1, 100, { filledAt: HOUR }), 0, { priced }),
    placed(10, buy(1, 90, { filledAt: 2 * HOUR }), 0, { priced }),
    placed(DAY, sell(2, 110), 2),
  ].map(ofDay);
  assert.ok(first && second && last);
  const held = heldBefore([last]);
  strikeFlat(held, second);
  assert.equal(held.size, 1);
  strikeFlat(held, first);
  assert.equal(held.size, 0);
  assert.equal(heldBefore([first, second, last]).size, 0);
});
