// Beside versions that know nothing of protection: what asks for it is refused until the last of them is gone, and what was accepted is
// kept from them.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import { decimal } from '../../src/domain/decimal.ts';
import type { OrderRecord } from '../../src/domain/orders/result.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Store } from '../../src/store/store.ts';
import { leaseOf } from '../../src/worker/host/pool.ts';
import { HOSTS } from '../../src/worker/host/roster.ts';
import { openWorld, type Problem } from '../world.ts';

type Desk = Awaited<ReturnType<typeof openDesk>>;
const LONG_MS = 60_000;
const OLDER = 'older/1';
/** As the last release says it. */
const SAYS = { name: 'older', startedAt: 0, workers: 0, busy: 0, draining: false };

/** It says so again and again, until it is gone. */
async function joinAs(t: TestContext, store: Store, says: object) {
  const say = () => store.announce(HOSTS, OLDER, JSON.stringify(says), 400);
  await say();
  const saying = setInterval(say, 100);
  const leave = async () => {
    clearInterval(saying);
    await store.withdraw(HOSTS, OLDER);
  };
  t.after(() => clearInterval(saying));
  return { leave };
}

/** `waits`: for how many seconds an answer is waited for. */
async function openDesk(t: TestContext, { waits = '20' } = {}) {
  const store = openMemoryStore({ clock: { now: () => Date.now() } });
  const world = await openWorld(t, {
    store,
    env: { WORKER_LEASE_SECONDS: '0.4', RESPONSE_WAIT_SECONDS: waits },
  });
  const trader = await world.makeTrader({}, { paper: { latency_ms: 0, price: { BTCUSDT: 60_000 } } });
  return { store, world, trader };
}

test('a body that needs protection is refused while one host does not know it, and others are not', async (t) => {
  const { store, world, trader } = await openDesk(t);
  const { leave } = await joinAs(t, store, SAYS);
  await answers({ world }, 503);
  const defaults = await world.addAccount(trader, { protectionDefaults: { '*': { stop_loss: '2%' } } });
  for (const [who, fields] of [
    [trader, { stop_loss: '2%' }],
    [trader, { action: 'protect', quantity: undefined, stop_loss: 59_000 }],
    [defaults, {}],
  ] as const) {
    const { status, body } = await world.send<Problem>(who, fields);
    assert.equal(status, 503, JSON.stringify(body));
    assert.equal(body.code, 'worker_unavailable');
    assert.match(body.detail, /being upgraded/);
  }
  assert.deepEqual(
    await world.db.all(sql`select order_id from order_history where user_id = ${trader.user.id}`),
    [],
  );
  assert.equal((await world.send(trader, { quantity: 2 })).status, 200);
  assert.equal((await world.send(trader, { action: 'long_exit' })).status, 200);

  await leave();
  await answers({ world }, 200);
  const { status, body } = await world.send(trader, { stop_loss: '2%' });
  assert.equal(status, 200, JSON.stringify(body));
});

test('an exit that may open what is missing is taken all the same, and opens only what every host can protect', async (t) => {
  const { store, world, trader } = await openDesk(t);
  const { leave } = await joinAs(t, store, SAYS);
  await answers({ world }, 503);
  const follower = await world.addAccount(trader, {
    ...{ outOfSync: 'follow', protectionDefaults: { '*': { stop_loss: '2%' } } },
  });
  const exit = () =>
    world.send(follower, { action: 'sell', market_position: 'long', market_position_size: 2 });
  const meanwhile = await exit();
  assert.deepEqual([meanwhile.status, meanwhile.body.error?.code], [200, 'out_of_sync']);

  await leave();
  await answers({ world }, 200);
  const { body } = await exit();
  assert.deepEqual([body.status, body.fill_quantity], ['filled', 2]);
  assert.ok(body.protection?.id, 'it has the account’s stop');
});

test('one that was accepted is kept from older workers, and worked off in its turn by the next that knows', async (t) => {
  // Its user is with a host that does nothing.
  const { store, world, trader } = await openDesk(t, { waits: '0.2' });
  const { leave } = await joinAs(t, store, { ...SAYS, knows: ['protection'] });
  assert.ok(await store.acquireLease(leaseOf(trader.user.id), OLDER, LONG_MS));
  const entry = await world.send(trader, { stop_loss: '2%' });
  const exit = await world.send(trader, { action: 'long_exit' });
  assert.deepEqual([entry.status, exit.status], [202, 202]);
  // What a version from before protection works off.
  const open = await world.db.all<{ order_id: string }>(
    sql`select order_id from order_history where unsettled = true and trading_account_id = ${trader.account.id}`,
  );
  assert.deepEqual(open, [{ order_id: exit.body.order_id }]);

  await leave();
  await world.send(trader, { action: 'long_exit' });
  const ends = await world.eventually(
    () =>
      Promise.all(
        [entry, exit].map(
          async ({ body }) =>
            (await world.as<OrderRecord>(trader, 'GET', `/trading/orders/${body.order_id}`)).body,
        ),
      ),
    (orders) => orders.every(({ status }) => status !== 'queued' && status !== 'executing'),
  );
  assert.deepEqual(
    ends.map(({ status, fill_quantity }) => [status, fill_quantity]),
    [
      ['filled', 1],
      ['filled', 1],
    ],
  );
});

test('a size that is to be computed, or multiplied, is refused while one host does not know of it', async (t) => {
  const { store, world, trader } = await openDesk(t);
  const { leave } = await joinAs(t, store, { ...SAYS, knows: ['protection'] });
  const doubled = await world.addAccount(trader, { quantityMultiplier: decimal(2) });
  const cash = { quantity: 600, quantity_type: 'cash' };
  await world.eventually(
    async () => (await world.send(trader, cash)).status,
    (status) => status === 503,
  );
  const { status, body } = await world.send<Problem>(doubled, {});
  assert.deepEqual([status, body.code], [503, 'worker_unavailable']);
  assert.match(body.detail, /being upgraded/);
  assert.equal((await world.send(trader, {})).status, 200);
  assert.equal((await world.send(trader, { action: 'close_long' })).status, 200);
  assert.equal((await world.send(doubled, { action: 'close_long' })).status, 200);

  await leave();
  await world.eventually(
    async () => (await world.send(trader, cash)).status,
    (now) => now === 200,
  );
});

/** Until the API has heard of the other host, or of its end: so it answers what would move a stop that nobody has. */
const answers = async ({ world }: Pick<Desk, 'world'>, expected: number) => {
  const probe = async () => {
    const stranger = await world.makeTrader();
    const fields = { action: 'protect', quantity: undefined, stop_loss: 59_000 };
    return (await world.send(stranger, fields)).status;
  };
  await world.eventually(probe, (status) => status === expected);
};
