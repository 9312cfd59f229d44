// What happens around a protected position, at a broker's stub: the key is refused, the stop expires, somebody closes by hand, the account
// is deleted, the user deactivated, the instrument gone.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Overview } from '../../src/app/orders/read-overview.ts';
import { openCcxt } from '../../src/broker/ccxt/open.ts';
import { sql } from '../../src/data/engine/db.ts';
import { decimal } from '../../src/domain/decimal.ts';
import type { ClientOrderId } from '../../src/domain/ids.ts';
import type { ShownProtection } from '../../src/domain/protection/shown.ts';
import { journey } from './journey.ts';
import { NEVER } from './paper-desk.ts';
import { stubHarness } from './stub-harness.ts';

const stub = stubHarness('binance', (url) => openCcxt('binance', { url }));

/** Long 0.05 with a stop and a target. */
async function openDesk(t: TestContext) {
  await stub.control('POST', 'prices', { BTCUSDT: 50_000 });
  const account = await stub.account({ fills_after_ms: null });
  const desk = await journey(t, {
    ...{ broker: 'binance', url: stub.url() },
    env: { PROTECTION_SWEEP_SECONDS: '1', RESPONSE_WAIT_SECONDS: '6' },
  });
  const { world } = desk;
  const trader = await desk.ready(account);
  const { body } = await world.send(trader, {
    ...{ symbol: 'BTCUSDT.P', quantity: 0.05, stop_loss: 48_000 },
    take_profit: [{ at: 55_000, percent: 40 }],
  });
  const order = await desk.until(trader, body.order_id, ({ protection }) => protection?.state === 'standing');
  const id = order.protection?.id ?? '';
  const shown = async () =>
    (await world.as<ShownProtection>(trader, 'GET', `/trading/protections/${id}`)).body;
  const targets = async () =>
    (await account.ledger()).orders.filter(
      ({ status, client_order_id }) => status === 'placed' && client_order_id.startsWith('fp'),
    );
  await world.eventually(targets, ({ length }) => length === 1);
  return {
    ...desk,
    ...{ account, trader, id, shown, targets },
    until: (is: (one: ShownProtection) => boolean) => world.eventually(shown, is),
    async stops() {
      const last = new Map((await account.ledger()).stops.map((line) => [line.client_order_id, line]));
      return [...last.values()].filter(({ what }) => what === 'placed' || what === 'moved');
    },
  };
}

test('a key that is refused leaves the stop where it stands, amber; when it is taken again it is looked after', async (t) => {
  const { account, world, trader, until, stops } = await openDesk(t);
  await account.change({ credentials: { ...account.credentials, api_key: 'another' } });
  const { reason } = await until(({ state }) => state === 'unwatched');
  assert.ok(reason);
  const { todo } = (await world.as<Overview>(trader, 'GET', '/trading/overview')).body;
  const item = todo.find(({ kind }) => kind === 'protection_unwatched');
  assert.equal(item?.severity, 'act');
  assert.match(item?.detail ?? '', /refuses the credentials. The stop at 48000 stands there/);
  assert.equal((await stops()).length, 1);
  await account.change({ credentials: account.credentials });
  await world.as(trader, 'POST', `/trading/accounts/${trader.account.id}/verify`);
  await until(({ state }) => state === 'standing');
  assert.equal((await stops()).length, 1);
});

test('closed by hand: it ends as closed elsewhere, and nothing of it is left', async (t) => {
  const { account, until, stops, targets, world, trader } = await openDesk(t);
  const broker = await account.open();
  const instrument = await broker.resolve('BTCUSDT.P');
  assert.ok('symbol' in instrument);
  await broker.place({
    ...{ clientOrderId: 'by-hand' as ClientOrderId, instrument, side: 'sell', reduceOnly: true },
    ...{ quantity: decimal('0.05'), sendBefore: NEVER },
  });
  const { reason } = await until(({ state }) => state === 'ended');
  assert.match(reason ?? '', /^closed_elsewhere: /);
  assert.deepEqual([await stops(), await targets()], [[], []]);
  const closes = (await world.orders(trader)).filter(({ source }) => source === 'protection');
  assert.deepEqual(closes, []);
});

test('closed by its own strategy: it ends, and nobody else is blamed', async (t) => {
  const { until, stops, targets, world, trader } = await openDesk(t);
  await world.send(trader, { symbol: 'BTCUSDT.P', action: 'close_long' });
  const { reason } = await until(({ state }) => state === 'ended');
  assert.equal(reason, null);
  assert.deepEqual([await stops(), await targets()], [[], []]);
});

test('an account that is deleted with its positions leaves its orders there, and names them', async (t) => {
  const { world, trader, id, stops, targets, shown } = await openDesk(t);
  const { status, body } = await world.as<{ left: { kind: string; price: number; broker_ref: string }[] }>(
    ...([trader, 'DELETE', `/trading/accounts/${trader.account.id}?keep_positions=true`] as const),
  );
  assert.equal(status, 200);
  assert.deepEqual(
    body.left.map(({ kind, price, broker_ref }) => [kind, price, typeof broker_ref]),
    [
      ['stop', 48_000, 'string'],
      ['target', 55_000, 'string'],
    ],
  );
  assert.equal((await shown()).state, 'left');
  assert.deepEqual([(await stops()).length, (await targets()).length], [1, 1]);
  const entry = (await world.audits(trader)).find(({ action }) => action === 'account_deleted');
  assert.equal(JSON.parse(entry?.metadata ?? '{}').left.length, 2);
  const resumed = await world.as<{ code: string }>(trader, 'POST', `/trading/protections/${id}/resume`);
  assert.deepEqual([resumed.status, resumed.body.code], [409, 'not_resumable']);
});

test('of a user who is deactivated the orders stay there, are kept, and are named', async (t) => {
  const { world, trader, stops, targets } = await openDesk(t);
  const admin = await world.makeTrader({ isAdmin: true });
  const { status, body } = await world.inSession<{ left?: { kind: string }[] }>(
    ...([admin, 'PATCH', `/deployment/users/${trader.user.id}`, { is_active: false }] as const),
  );
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(
    body.left?.map(({ kind }) => kind),
    ['stop', 'target'],
  );
  assert.deepEqual([(await stops()).length, (await targets()).length], [1, 1]);
  const [entry] = await world.db.all<{ metadata: string }>(
    sql`select metadata from audit_logs where action like '%user_change' order by id desc limit 1`,
  );
  assert.equal(JSON.parse(entry?.metadata ?? '{}').left.length, 2);
});

for (const [day, kind] of [
  ['that is away', 'reset'],
  ['that is busy', 'refuse'],
] as const)
  test(`with a broker ${day} for a while the stop stands where it stood, and is looked after again`, async (t) => {
    const { account, world, trader, until, stops, shown } = await openDesk(t);
    const before = await stops();
    const { seen_at } = await shown();
    await account.breaks(kind, { calls: 'all' });
    await world.as(trader, 'POST', `/trading/protections/${(await shown()).id}/look`);
    // It has to wait, and breaks nothing.
    await world.send(trader, {
      action: 'protect',
      symbol: 'BTCUSDT.P',
      quantity: undefined,
      stop_loss: 48_500,
    });
    assert.deepEqual(await stops(), before);
    await account.heal();
    // What was asked for meanwhile is done then.
    await world.eventually(stops, ([only, more]) => only?.price === '48500' && more === undefined);
    await until((one) => one.state === 'standing' && (one.seen_at ?? '') > (seen_at ?? ''));
  });
