// When a part of ours fails while a group's signal is decided: nothing was accepted, each member says so, and the repeat trades, once.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { DatabaseUnavailable, type Db } from '../../src/data/engine/db.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { type Store, StoreUnavailable } from '../../src/store/store.ts';
import type { Trader } from '../world.ts';
import { codes, openGroup, type Repeat } from './group-desk.ts';

const unavailable = async (): Promise<never> => {
  throw new StoreUnavailable('the store does not answer');
};

async function openDesk(t: TestContext, parts: { db?: (whole: Db) => Db } = {}) {
  const whole = openMemoryStore({ clock: { now: () => performance.timeOrigin + performance.now() } });
  const store: { -readonly [Call in keyof Store]: Store[Call] } = { ...whole };
  const desk = await openGroup(t, { store, ...parts });
  // Its first member does not take it, whatever else there is.
  await desk.halt(desk.traders[0] as Trader);
  const body = desk.signal();
  return {
    ...desk,
    store,
    again: () => desk.post<Repeat>(body),
    async assertTradesOnce() {
      Object.assign(store, whole);
      const { status, body: answer } = await desk.post(body);
      assert.deepEqual([status, codes(answer)], [200, ['account_halted', 'filled', 'filled']]);
      assert.equal((await desk.post(body)).status, 409);
      assert.equal((await desk.world.orders(desk.first)).length, 2);
    },
  };
}

describe('a group’s signal that is refused because of us', () => {
  test('has a 5xx and all members, also where the first would have been refused anyway; and the repeat trades', async (t) => {
    const { store, again, assertTradesOnce, signals } = await openDesk(t);
    store.leaseHolder = unavailable;
    const { status, body } = await again();
    assert.deepEqual([status, body.code], [503, 'store_unavailable']);
    assert.deepEqual(codes(body), ['account_halted', 'store_unavailable', 'store_unavailable']);
    assert.deepEqual(
      (await signals())[0]?.orders.map(({ code }) => code),
      ['account_halted', 'store_unavailable', 'store_unavailable'],
    );
    await assertTradesOnce();
  });

  test('before anybody was asked has all members too', async (t) => {
    const { store, again, assertTradesOnce } = await openDesk(t);
    store.begin = unavailable;
    const { status, body } = await again();
    assert.deepEqual([status, codes(body)], [503, Array.from({ length: 3 }, () => 'store_unavailable')]);
    await assertTradesOnce();
  });

  for (const stands of [true, false])
    test(`and whose commit ${stands ? 'stands' : 'does not stand'} while its answer was lost trades once per member`, async (t) => {
      let loses = true;
      const db = (whole: Db): Db => ({
        ...whole,
        async commit(unit) {
          if (!loses || !unit.some(({ parts }) => parts.join('?').includes('into order_history')))
            return whole.commit(unit);
          loses = false;
          if (stands) await whole.commit(unit);
          throw new DatabaseUnavailable('the answer was lost');
        },
      });
      const { again, world, first } = await openDesk(t, { db });
      const { status, body } = await again();
      if (stands) assert.deepEqual([status, codes(body)], [200, ['account_halted', 'filled', 'filled']]);
      else {
        const lost = ['account_halted', 'database_unavailable', 'database_unavailable'];
        assert.deepEqual([status, codes(body)], [503, lost]);
        assert.deepEqual(await world.orders(first), []);
        assert.equal((await again()).status, 200);
      }
      assert.equal((await again()).status, 409);
      assert.equal((await world.orders(first)).length, 2);
    });
});
