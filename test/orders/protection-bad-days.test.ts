// The bad days of a protected position, through the webhook on paper: each comes to the state that was meant for it, and says what to do.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import type { OrderRecord } from '../../src/domain/orders/result.ts';
import type { ShownProtection } from '../../src/domain/protection/shown.ts';
import { openWorld } from '../world.ts';

const PRICE = { BTCUSDT: 65_000 };

async function openDesk(t: TestContext, paper: object = {}, account: object = {}, sweep = '1') {
  const world = await openWorld(t, { env: { PROTECTION_SWEEP_SECONDS: sweep, PROTECT_SECONDS: '2' } });
  const trader = await world.makeTrader({}, { paper: { latency_ms: 0, price: PRICE, ...paper }, ...account });
  const get = async <Body>(url: string) => (await world.as<Body>(trader, 'GET', url)).body;
  const shown = async () =>
    (await get<{ items: ShownProtection[] }>('/trading/protections')).items[0] as ShownProtection;
  return {
    world,
    trader,
    shown,
    until: (is: (one: ShownProtection) => boolean) => world.eventually(shown, is),
    standing: () => world.eventually(shown, (one) => one?.state === 'standing'),
    stops: () =>
      world.db.all<{ price: string; client_order_id: string }>(
        sql`select price, client_order_id from paper_stops where status = 'standing'`,
      ),
    history: async () =>
      (
        await get<{ history: readonly { readonly what: string }[] }>(
          `/trading/protections/${(await shown()).id}`,
        )
      ).history,
    closes: async () => (await get<{ items: OrderRecord[] }>('/trading/orders?source=protection')).items,
    texts: async (action: string) =>
      (await world.audits(trader)).flatMap((entry) =>
        entry.action === action ? [String(JSON.parse(entry.metadata).text)] : [],
      ),
    /** As its owner sets it. */
    paper: (settings: object) =>
      world.as(trader, 'PATCH', `/trading/accounts/${trader.account.id}`, { paper: settings }),
    /** Behind the broker's back; its book is read anew. */
    async byHand(change: ReturnType<typeof sql>) {
      await world.db.commit([change]);
      await world.setPaper(trader, { price: PRICE, ...paper });
    },
  };
}

test('a stop whose answer is lost stands once', async (t) => {
  const { world, trader, standing, stops, texts } = await openDesk(t, { protection: 'lose_answer' });
  await world.send(trader, { stop_loss: 64_000 });
  await standing();
  assert.deepEqual(
    (await stops()).map(({ price }) => price),
    ['64000'],
  );
  assert.deepEqual(await texts('position_unprotected'), []);
});

test('a stop that is taken and never shown is told as missing, and stands once the broker shows it again', async (t) => {
  const { world, trader, until, standing, stops, paper, closes } = await openDesk(t, {
    protection: 'vanish',
  });
  await world.send(trader, { stop_loss: 64_000 });
  await until((one) => one?.state === 'unprotected');
  await paper({ protection: 'native' });
  await world.send(trader, { action: 'protect', quantity: undefined, stop_loss: 64_100 });
  await standing();
  assert.deepEqual(
    (await stops()).map(({ price }) => price),
    ['64100'],
  );
  assert.deepEqual(await closes(), [], 'only what is refused is closed');
});

test('a stop that somebody moves is put back where it was, and that is told with how to remove it', async (t) => {
  const { world, trader, standing, stops, byHand, texts } = await openDesk(t);
  await world.send(trader, { stop_loss: 64_000 });
  await standing();
  await byHand(sql`update paper_stops set price = '60000' where status = 'standing'`);
  await world.eventually(stops, ([only, more]) => only?.price === '64000' && more === undefined);
  const [told] = await world.eventually(
    () => texts('protection_restored'),
    ({ length }) => length > 0,
  );
  assert.match(
    told ?? '',
    /put back at 64000.*To remove it for good, send "protect" with "stop_loss": "none"/,
  );
});

test('a worker that has lost its user ends when it looks after his position: the next one puts back the stop that is gone', async (t) => {
  const { world, trader, standing, stops, byHand } = await openDesk(t);
  await world.send(trader, { stop_loss: 64_000 });
  await standing();
  // Another one has begun with the user, and has ended since.
  await byHand(sql`update worker_owners set token = 'another'`);
  await byHand(sql`update paper_stops set status = 'cancelled' where status = 'standing'`);
  await world.eventually(stops, ([only, more]) => only?.price === '64000' && more === undefined);
});

test('a stop that expires there is placed again, and told as expired: nobody took it away', async (t) => {
  const { world, trader, standing, stops, byHand, texts, history } = await openDesk(t);
  await world.send(trader, { stop_loss: 64_000 });
  await standing();
  const [first] = await stops();
  await byHand(sql`update paper_stops set status = 'expired' where status = 'standing'`);
  await world.eventually(
    stops,
    ([only, more]) => only !== undefined && only.client_order_id !== first?.client_order_id && !more,
  );
  assert.equal((await standing()).stop_loss, 64_000);
  assert.deepEqual(await texts('protection_restored'), [
    'The stop of the long position in BTCUSDT has expired at the broker, and is placed again at 64000. Nobody took it away.',
  ]);
  const told = (await history()).map(({ what }) => what);
  assert.ok(told.includes('expired') && !told.includes('restored'), told.join());
});

test('a broker that lets a stop expire again and again keeps none: the position is closed, as where it refuses one', async (t) => {
  const { world, trader, standing, stops, byHand } = await openDesk(t);
  await world.send(trader, { stop_loss: 64_000 });
  for (let times = 0; times < 4; times++) {
    const [last] = await world.eventually(stops, ([only]) => only !== undefined);
    await standing();
    await byHand(sql`update paper_stops set status = 'expired' where status = 'standing'`);
    if (times < 3)
      await world.eventually(
        stops,
        ([only]) => only !== undefined && only.client_order_id !== last?.client_order_id,
      );
  }
  const closes = () =>
    world.as<{ items: { exit_reason: string | null }[] }>(trader, 'GET', '/trading/orders?source=protection');
  const { body } = await world.eventually(closes, ({ body: { items } }) => items.length > 0);
  assert.deepEqual(
    body.items.map(({ exit_reason }) => exit_reason),
    ['unprotected'],
  );
  assert.deepEqual(await stops(), []);
});

test('a stop that was refused is tried again when somebody asks for a look, and not only with the next sweep', async (t) => {
  const { world, trader, until, standing, shown, paper, stops } = await openDesk(
    ...([t, { protection: 'refuse' }, { unprotected: 'alert' }, '300'] as const),
  );
  await world.send(trader, { stop_loss: 64_000 });
  await until((one) => one?.state === 'unprotected');
  await paper({ protection: 'native' });
  const { id } = await shown();
  assert.equal((await world.as(trader, 'POST', `/trading/protections/${id}/look`)).status, 202);
  assert.equal((await standing()).stop_loss, 64_000);
  assert.equal((await stops()).length, 1);
});

test('a stop that the price has passed before it could be placed closes the position, as it would have', async (t) => {
  const { world, trader, until, paper, closes } = await openDesk(
    ...([t, { protection: 'refuse' }, { unprotected: 'alert' }] as const),
  );
  await world.send(trader, { stop_loss: 64_000 });
  await until((one) => one?.state === 'unprotected');
  await paper({ protection: 'native', price: { BTCUSDT: 63_000 } });
  await until((one) => one?.state === 'ended');
  assert.deepEqual(
    (await closes()).map(({ exit_reason, status, fill_quantity }) => [exit_reason, status, fill_quantity]),
    [['stop_loss', 'filled', 1]],
  );
});

test('an entry that is filled in part, and then nothing: what is held is protected, and no more', async (t) => {
  const { world, trader, standing, stops } = await openDesk(t, { fill: 'partial' });
  await world.send(trader, { stop_loss: 64_000 });
  await standing();
  const held = await world.position(trader.account.id, 'BTCUSDT');
  assert.ok(Number(held) > 0 && Number(held) < 1);
  assert.equal((await standing()).stop_quantity, Number(held));
  assert.equal((await stops()).length, 1);
});

test('an exit that comes while the stop fires closes nothing twice', async (t) => {
  const { world, trader, standing, until, paper, closes } = await openDesk(t);
  await world.send(trader, { stop_loss: 64_000 });
  await standing();
  const [, exit] = await Promise.all([
    paper({ price: { BTCUSDT: 63_900 } }),
    world.send(trader, { action: 'sell', order_type: 'exit' }),
  ]);
  await until((one) => one?.state === 'ended');
  assert.equal(await world.position(trader.account.id, 'BTCUSDT'), '0');
  const filled = [...(await closes()), await world.order(trader, exit.body.order_id)].map(
    ({ fill_quantity }) => fill_quantity ?? 0,
  );
  assert.equal(
    filled.reduce((sum, each) => sum + each, 0),
    1,
    JSON.stringify(filled),
  );
});

test('an instrument that is gone: it ends, and its owner is told to look', async (t) => {
  const { world, trader, standing, until, texts } = await openDesk(t);
  await world.send(trader, { stop_loss: 64_000 });
  await standing();
  await world.stop();
  await world.db.commit([sql`update protections set instrument = 'GONEUSDT'`]);
  await world.restart();
  const { reason } = await until((one) => one?.state === 'ended');
  assert.ok(reason);
  const [told] = await texts('protection_failed');
  assert.match(told ?? '', /is not protected any more: .*Look at it at your broker/);
});
