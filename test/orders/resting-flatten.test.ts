// What a flatten makes of entries that rest, and says of them; and what it closes where the broker does not answer about them.

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Halted } from '../../src/app/orders/halt.ts';
import { restingDesk, scriptedDesk } from './resting-desk.ts';

test('the entry of a reversal is one that was taken back, and its close is none', async (t) => {
  const { world, trader, entry } = await restingDesk(t);
  await world.send(trader, { quantity: 2 });
  const { body } = await entry({ action: 'sell', limit_price: 61_000, quantity: 1 });
  assert.deepEqual([body.status, body.auto_exit], ['placed', true]);
  const url = `/trading/accounts/${trader.account.id}/halt`;
  const halted = await world.as<{ flatten: { cancelled: number } }>(trader, 'POST', url, { flatten: true });
  assert.equal(halted.body.flatten.cancelled, 1, JSON.stringify(halted.body));
});

describe('at a broker that hangs', () => {
  /** It holds 2, and an entry rests in something else. */
  async function heldThere(t: TestContext) {
    const desk = await scriptedDesk(t, { env: { RESPONSE_WAIT_SECONDS: '6', BROKER_TIMEOUT_SECONDS: '1' } });
    const { broker, world, trader, rests } = desk;
    broker.fills = 'at once';
    await world.send(trader, { quantity: 2 });
    broker.fills = 'later';
    await rests({ symbol: 'ETHUSDT' });
    broker.fills = 'at once';
    const hangs = Promise.withResolvers<never>();
    hangs.promise.catch(() => {});
    t.after(() => hangs.reject(new Error('over')));
    const flatten = async () => {
      const url = `/trading/accounts/${trader.account.id}/halt`;
      return (await world.as<Halted>(trader, 'POST', url, { flatten: true })).body;
    };
    const isFlat = async () => {
      await world.eventually(
        async () => broker.position(trader.account.id),
        (quantity) => quantity === '0',
      );
      broker.forgetScripts();
      hangs.reject(new Error('over'));
    };
    return { ...desk, hangs: () => hangs.promise, flatten, isFlat };
  }

  test('where it is asked for open orders, what is held is closed, and the answer says that they could not be read', async (t) => {
    const { broker, hangs, flatten, isFlat } = await heldThere(t);
    broker.script('openOrders', hangs);
    const { flatten: said, flatten_error } = await flatten();
    assert.match(said?.cancel_error ?? '', /did not answer in time/, JSON.stringify(flatten_error));
    await isFlat();
  });

  test('and pressed twice, both are answered in time: who stands behind the other has waited already', async (t) => {
    const { broker, hangs, flatten, isFlat } = await heldThere(t);
    broker.script('openOrders', hangs);
    for (const { flatten: said, flatten_error } of await Promise.all([flatten(), flatten()]))
      assert.match(said?.cancel_error ?? '', /did not answer in time/, JSON.stringify(flatten_error));
    await isFlat();
  });

  test('where it is asked what became of an entry, what is held is closed', async (t) => {
    const { broker, flatten, hangs, isFlat, rests } = await heldThere(t);
    broker.fills = 'later';
    await rests({ id: 'B', symbol: 'ETHUSDT' });
    await rests({ id: 'C', symbol: 'ETHUSDT' });
    broker.fills = 'at once';
    broker.script('find', hangs);
    assert.notEqual((await flatten()).flatten_error?.code, 'worker_unavailable');
    await isFlat();
  });

  test('where it is asked what is held, that is closed which we know of', async (t) => {
    const { broker, flatten, hangs } = await heldThere(t);
    broker.script('positions', hangs);
    const { flatten: said, flatten_error } = await flatten();
    assert.match(flatten_error?.message ?? '', /positions could not be read: .*did not answer in time/);
    assert.ok(
      said?.left.some(({ symbol }) => symbol === 'BTCUSDT') || said?.closed.length,
      JSON.stringify(said),
    );
  });
});
