// The last release and this version side by side, on a real PostgreSQL and a real Redis: every role is replaced, and put back,
// under a steady stream of signals. Nobody who sends one notices.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from '../../src/data/engine/db.ts';
import { MIGRATIONS } from '../../src/data/engine/migrate.ts';
import type { OrderResult } from '../../src/domain/orders/result.ts';
import { type Cluster, type Member, openCluster, type Role, startServers, until } from '../cluster/desk.ts';
import type { makeTrader, Trader } from '../orders/kill-harness.ts';
import { type Balancer, startBalancer } from './balancer.ts';
import { messagesRefused } from './refused.ts';
import { takeOut } from './release.ts';

const TRADERS = 6;
const SIGNAL_MS = 60;
/** Of one pairing of versions, at the least. */
const SIGNALS = 15;

interface Sent {
  readonly status: number;
  readonly answer: OrderResult | null;
  readonly text: string;
}

const release = takeOut();
const servers = 'missing' in release ? release : await startServers();
const missing = servers.missing;

test('every role is upgraded and rolled back under way: each signal is answered with its order, which is traded once', {
  skip: missing ?? false,
}, async (t) => {
  if (servers.missing !== undefined || 'missing' in release) return;
  const { folder, differences, remove } = release;
  for (const difference of differences) t.diagnostic(`the last release runs with ${difference}`);
  const cluster = await openCluster(servers, { FILL_FIRST_POLL_SECONDS: '1' });
  const balancer = await startBalancer();
  t.after(async () => {
    await balancer.close();
    await cluster.close();
    await servers.redis.stop();
    remove();
  });

  const old = (role: Role) => cluster.start(role, {}, join(folder, 'src/main.ts'));
  const now = (role: Role) => cluster.start(role);

  /** All three at once, as machines do that come back together: one of them migrates, the others wait for it. */
  const startThree = (start: typeof old) => Promise.all([start('api'), start('worker'), start('verifier')]);

  // As it was: its schema, its accounts, made by its own code.
  const before = await startThree(old);
  await balancer.join(before[0].url);
  const itsHarness: { makeTrader: typeof makeTrader } = await import(
    join(folder, 'test/orders/kill-harness.ts')
  );
  const traders: Trader[] = [];
  for (let made = 0; made < TRADERS; made++)
    traders.push(await itsHarness.makeTrader(cluster.db, { latency_ms: 20, starting_cash: 1e12 }));

  const stream = sendSteadily(cluster, balancer, traders);
  t.after(stream.stop);

  /** Taken off the balancer, if it is on it; then told to stop. */
  async function retire(member: Member): Promise<void> {
    balancer.leave(member.url);
    assert.equal(await messagesRefused(cluster, member), 0);
    assert.equal(await member.end('SIGTERM'), 0, await member.printed);
    await stream.more(SIGNALS);
  }

  const [newApi, newWorker, newVerifier] = await startThree(now);
  assert.equal(await newestMigration(cluster), MIGRATIONS.at(-1)?.name);
  await stream.more(SIGNALS);
  await retire(before[2]);
  // From here on the old API speaks to the new worker.
  await retire(before[1]);
  await balancer.join(newApi.url);
  await stream.more(SIGNALS);
  await retire(before[0]);

  // And back: now the new API speaks to the old worker.
  const [api, worker, verifier] = await startThree(old);
  await retire(newWorker);
  await balancer.join(api.url);
  await retire(newApi);
  await retire(newVerifier);

  const sent = await stream.stop();
  for (const member of [api, worker, verifier]) assert.equal(await messagesRefused(cluster, member), 0);
  for (const { status, text } of sent) assert.ok(status === 200 || status === 202, `${status} ${text}`);
  const ids = new Set(sent.map(({ answer }) => answer?.order_id));
  assert.equal(ids.size, sent.length);
  t.diagnostic(
    `${sent.length} signals, ${sent.filter(({ status }) => status === 202).length} of them answered with 202`,
  );

  // None is stuck, and what the broker has is what was asked for.
  const open = sql`select order_id, status from order_history where status in ('queued', 'executing', 'placed', 'unknown')`;
  await until(
    'the last orders',
    () => cluster.db.all(open),
    ({ length }) => length === 0,
  );
  const orders = await cluster.db.all<{ order_id: string; status: string }>(
    sql`select order_id, status from order_history`,
  );
  assert.deepEqual(new Set(orders.map(({ order_id }) => order_id)), ids);
  assert.deepEqual(new Set(orders.map(({ status }) => status)), new Set(['filled']));
  const ledger = await cluster.db.all(sql`select client_order_id from paper_orders where status = 'filled'`);
  const legs = await cluster.db.all(sql`select client_order_id from order_legs`);
  assert.equal(ledger.length, sent.length);
  assert.equal(legs.length, sent.length);
});

function sendSteadily(cluster: Cluster, balancer: Balancer, traders: readonly Trader[]) {
  const under: Promise<Sent>[] = [];
  let answered = 0;
  let isOver = false;

  async function send(trader: Trader): Promise<Sent> {
    const path = `/webhook/${trader.account.webhookToken}/order`;
    const body = JSON.stringify(cluster.signal(trader));
    const response = await fetch(balancer.url + path, { method: 'POST', body }).catch(
      (fault: Error) => fault,
    );
    answered++;
    if (response instanceof Error) return { status: 0, answer: null, text: response.message };
    const text = await response.text();
    return { status: response.status, answer: response.ok ? JSON.parse(text) : null, text };
  }

  const sending = (async () => {
    for (let turn = 0; !isOver; turn++) {
      const trader = traders[turn % traders.length];
      if (trader) under.push(send(trader));
      await pause(SIGNAL_MS);
    }
  })();

  return {
    /** Resolves when so many more have been answered. */
    more: (count: number) => {
      const enough = answered + count;
      return until(`${count} more answers`, () => answered >= enough);
    },
    async stop(): Promise<readonly Sent[]> {
      isOver = true;
      await sending;
      return Promise.all(under);
    },
  };
}

async function newestMigration({ db }: Cluster): Promise<string | undefined> {
  return (await db.get<{ name: string }>(sql`select max(name) as name from migrations`))?.name;
}
