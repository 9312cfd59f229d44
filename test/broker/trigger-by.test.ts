// Which price a stop watches is a setting of the account: changed while a stop stands, it reaches that stop with the next look.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCcxt } from '../../src/broker/ccxt/open.ts';
import { sql } from '../../src/data/engine/db.ts';
import { openWorld, type Trader, type World } from '../world.ts';
import { journey } from './journey.ts';
import { stubHarness } from './stub-harness.ts';

const SOON = { PROTECTION_SWEEP_SECONDS: '1' };

async function toMark(world: World, trader: Trader): Promise<void> {
  const changed = await world.as(trader, 'PATCH', `/trading/accounts/${trader.account.id}`, {
    trigger_by: 'mark',
  });
  assert.equal(changed.status, 200);
}

const complaints = async (world: World, trader: Trader) =>
  (await world.audits(trader)).filter(({ action }) =>
    ['protection_failed', 'protection_restored', 'position_unprotected'].includes(action),
  );

test('on paper the stop that stands watches the other price from then on, and it is one', async (t) => {
  const world = await openWorld(t, { env: SOON });
  const trader = await world.makeTrader({}, { paper: { latency_ms: 0, price: { BTCUSDT: 65_000 } } });
  await world.send(trader, { stop_loss: 64_000 });
  const standing = () =>
    world.db.all<{ price: string; trigger_by: string }>(
      sql`select price, trigger_by from paper_stops where status = 'standing'`,
    );
  await world.eventually(standing, ([stop]) => stop?.trigger_by === 'last');
  await toMark(world, trader);
  await world.eventually(standing, ([stop, more]) => stop?.trigger_by === 'mark' && !more);
  assert.deepEqual(await standing(), [{ price: '64000', trigger_by: 'mark' }]);
  assert.deepEqual(await complaints(world, trader), []);
});

for (const name of ['okx', 'bybit', 'binance', 'gate', 'bitget'] as const) {
  const stub = stubHarness(name, (url) => openCcxt(name, { url }));
  test(`at ${name} the stop that stands watches the other price from then on, and it is one`, async (t) => {
    await stub.control('POST', 'prices', { BTCUSDT: 50_000 });
    const account = await stub.account({ fills_after_ms: null });
    const { world, ready, until } = await journey(t, { broker: name, url: stub.url(), env: SOON });
    const trader = await ready(account);
    const { body } = await world.send(trader, { symbol: 'BTCUSDT.P', quantity: 0.05, stop_loss: 48_000 });
    await until(trader, body.order_id, ({ protection }) => protection?.state === 'standing');
    await toMark(world, trader);
    const standing = async () => {
      const last = new Map((await account.ledger()).stops.map((line) => [line.client_order_id, line]));
      return [...last.values()].filter(({ what }) => what === 'placed' || what === 'moved');
    };
    const [stop] = await world.eventually(
      standing,
      ([only, more]) => only?.trigger_by === 'mark' && more === undefined,
    );
    assert.equal(stop?.price, '48000');
    await until(trader, body.order_id, ({ protection }) => protection?.state === 'standing');
    assert.deepEqual(await complaints(world, trader), []);
  });
}
