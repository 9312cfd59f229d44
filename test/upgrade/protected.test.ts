// Protected positions over an upgrade, back to the last release, which knows nothing of protection, and forward again: what stands at the
// broker stands all the time, and is looked after wherever somebody knows how.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { sql } from '../../src/data/engine/db.ts';
import { type Cluster, type Member, openCluster, type Role, startServers, until } from '../cluster/desk.ts';
import { messagesRefused } from './refused.ts';
import { takeOut } from './release.ts';

const release = takeOut();
const servers = 'missing' in release ? release : await startServers();

test('protected positions stay protected over an upgrade, a way back, and the next upgrade', {
  skip: servers.missing ?? false,
}, async (t) => {
  if (servers.missing !== undefined || 'missing' in release) return;
  const cluster = await openCluster(servers, {
    PROTECTION_SWEEP_SECONDS: '1',
    FILL_FIRST_POLL_SECONDS: '1',
  });
  t.after(async () => {
    await cluster.close();
    await servers.redis.stop();
    release.remove();
  });
  const old = (role: Role) => cluster.start(role, {}, join(release.folder, 'src/main.ts'));
  const now = (role: Role) => cluster.start(role);
  const three = (start: typeof old) => Promise.all([start('api'), start('worker'), start('verifier')]);
  const retire = async (members: readonly Member[]) => {
    for (const member of members) {
      assert.equal(await messagesRefused(cluster, member), 0);
      assert.equal(await member.end('SIGTERM'), 0, await member.printed);
    }
  };
  const { order } = cluster;

  const before = await three(old);
  const after = await three(now);
  const [api] = after;
  const [kept, closed, plain] = [await cluster.trader(), await cluster.trader(), await cluster.trader()];
  const stop = { stop_loss: '20%' };
  // Side by side: whose worker it would be is not known.
  assert.equal((await order(api, kept, stop)).status, 503);
  assert.equal((await order(api, plain)).status, 200);
  await retire(before);
  for (const trader of [kept, closed])
    await until(
      'an entry with its stop',
      async () => (await order(api, trader, stop)).status,
      (status) => status === 200,
    );
  const standing = () => standingStops(cluster);
  const both = await until('both stops', standing, ({ length }) => length === 2);

  // Back.
  const [oldApi, ...others] = await three(old);
  await retire(after);
  assert.equal((await order(oldApi, kept, stop)).status, 400);
  assert.equal((await order(oldApi, plain)).status, 200);
  const exit = await order(oldApi, closed, { action: 'long_exit' });
  assert.equal(exit.body.status, 'filled');
  for (const path of ['/trading/orders', `/trading/accounts/${closed.account.id}/positions`])
    assert.equal((await cluster.as(oldApi, closed, 'GET', path)).status, 200);
  assert.deepEqual(await standing(), both);

  // And forward: nobody sends anything, and yet both are looked after.
  const again = await three(now);
  await retire([oldApi, ...others]);
  const [last] = await until(
    'the end of the stop without a position',
    standing,
    ({ length }) => length === 1,
  );
  assert.ok(last && both.includes(last));
  const rows = await until(
    'what the rows say',
    () =>
      cluster.db.all<{ user_id: string; state: string }>(
        sql`select user_id, state from protections order by created_at`,
      ),
    (seen) => seen.map(({ state }) => state).join() === 'standing,ended',
  );
  assert.equal(rows[0]?.user_id, kept.user.id);
  const end = await order(again[0], kept, { action: 'long_exit' });
  assert.equal(end.body.status, 'filled');
  await until('the end of the other', standing, ({ length }) => length === 0);
  for (const member of again) assert.equal(await messagesRefused(cluster, member), 0);
});

/** In the paper broker's own ledger. */
const standingStops = async ({ db }: Cluster): Promise<string[]> =>
  (
    await db.all<{ client_order_id: string }>(
      sql`select client_order_id from paper_stops where status = 'standing' order by client_order_id`,
    )
  ).map(({ client_order_id }) => client_order_id);
