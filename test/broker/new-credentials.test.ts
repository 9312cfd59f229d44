// Credentials that are replaced while a position is protected: until they are verified nobody looks after it. Of the same account they
// go on with it; of another one they have nothing to do with what stands at the first.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Overview } from '../../src/app/orders/read-overview.ts';
import { openAlpaca } from '../../src/broker/alpaca/alpaca.ts';
import { openCcxt } from '../../src/broker/ccxt/open.ts';
import type { ShownProtection } from '../../src/domain/protection/shown.ts';
import { journey } from './journey.ts';
import { stubHarness } from './stub-harness.ts';

const stub = stubHarness('alpaca', (url) => openAlpaca({ url }), 'paper');

/** Long 10 with a stop that stands. */
async function protectedDesk(t: TestContext, env: Record<string, string> = {}) {
  const first = await stub.account();
  const desk = await journey(t, {
    ...{ broker: 'alpaca', url: stub.url(), environment: 'paper' },
    env: { PROTECTION_SWEEP_SECONDS: '1', ...env },
  });
  const { world } = desk;
  const trader = await desk.ready(first);
  const { body } = await world.send(trader, { symbol: 'AAPL', quantity: 10, stop_loss: 150 });
  await desk.until(trader, body.order_id, ({ protection }) => protection?.state === 'standing');
  const { protection } = await world.order(trader, body.order_id);
  const id = protection?.id ?? '';
  const shown = async () =>
    (await world.as<ShownProtection>(trader, 'GET', `/trading/protections/${id}`)).body;
  return {
    ...desk,
    ...{ first, trader, id },
    until: (is: (one: ShownProtection) => boolean) => world.eventually(shown, is),
    todo: async () => (await world.as<Overview>(trader, 'GET', '/trading/overview')).body.todo,
    /** Those that stand, by the exchange's own book. */
    async stops(of: typeof first) {
      const last = new Map((await of.ledger()).stops.map((line) => [line.client_order_id, line]));
      return [...last.values()]
        .filter(({ what }) => what === 'placed' || what === 'moved')
        .map(({ price }) => price);
    },
  };
}

test('nobody looks after it until new credentials are verified; those of the same account go on with it', async (t) => {
  const { first, trader, putKeys, verify, until, todo, stops, world } = await protectedDesk(t);
  await putKeys(trader, first.credentials);
  const { reason } = await until(({ state }) => state === 'unwatched');
  assert.match(reason ?? '', /New credentials were entered/);
  const items = await todo();
  const item = items.find(({ kind }) => kind === 'protection_unwatched');
  assert.deepEqual([item?.severity, items.length], ['act', 2], JSON.stringify(items));
  assert.match(item?.detail ?? '', /New credentials were entered.*Verify them/);
  assert.deepEqual(await stops(first), ['150']);
  assert.equal((await verify(trader)).status, 200);
  await until(({ state }) => state === 'standing');
  assert.deepEqual(await stops(first), ['150']);
  assert.deepEqual(await todo(), []);
  const left = (await world.audits(trader)).filter(({ action }) => action === 'protection_left');
  assert.deepEqual(left, []);
});

test('with credentials of another account it is left, and its owner is told what stands at the first one', async (t) => {
  const { first, trader, id, putKeys, verify, until, todo, stops, world } = await protectedDesk(t);
  const second = await stub.account();
  await putKeys(trader, second.credentials);
  assert.equal((await verify(trader)).status, 200);
  const { reason } = await until(({ state }) => state === 'left');
  assert.match(reason ?? '', /another account/);
  assert.deepEqual([await stops(first), await stops(second)], [['150'], []]);
  const [entry, ...others] = (await world.audits(trader)).filter(
    ({ action }) => action === 'protection_left',
  );
  assert.deepEqual([entry?.resource_id, others.length], [id, 0]);
  const { left, text } = JSON.parse(entry?.metadata ?? '{}');
  assert.deepEqual(
    left.map(({ broker_ref, ...what }: { broker_ref: string }) => [typeof broker_ref, what]),
    [['string', { symbol: 'AAPL', kind: 'stop', price: 150 }]],
  );
  assert.match(text, /a stop at 150 .*stands at the former account/);
  const [item] = await todo();
  assert.deepEqual([item?.kind, item?.protection_id], ['protection_left', id]);
  // What is bought there is protected there.
  await world.send(trader, { symbol: 'GME', quantity: 5, stop_loss: '10%' });
  await world.eventually(
    () => stops(second),
    ({ length }) => length === 1,
  );
  assert.deepEqual(await stops(first), ['150']);
});

test('what was filled at the former account is in no position of another one: its first order does not wait for that', async (t) => {
  const { trader, putKeys, verify, world } = await protectedDesk(t, { POSITION_LAG_SECONDS: '300' });
  await putKeys(trader, (await stub.account()).credentials);
  assert.equal((await verify(trader)).status, 200);
  const { body } = await world.send(trader, { symbol: 'AAPL', quantity: 5 });
  assert.equal(body.status, 'filled', JSON.stringify(body.error));
  assert.equal((await world.order(trader, body.order_id)).position_before, 0);
});

for (const name of ['binance', 'bybit', 'okx', 'gate', 'bitget'] as const) {
  const exchange = stubHarness(name, (url) => openCcxt(name, { url }));
  test(`${name} says whose the credentials are`, async () => {
    const broker = await (await exchange.account()).open();
    const { identity } = await broker.verify();
    assert.match(identity ?? '', /^\w+$/);
  });
}
