// What Prometheus reads: of the deployment, and of what this process did itself.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { settleRestored } from '../../src/app/operation/settle-restored.ts';
import { readConfig } from '../../src/config/config.ts';
import { sql } from '../../src/data/engine/db.ts';
import { DENIALS } from '../../src/domain/denials.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { openFillpath } from '../../src/main.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { StoreUnavailable } from '../../src/store/store.ts';
import { countingHasher } from '../http/visitor.ts';
import { scriptedBroker } from '../worker/scripted-broker.ts';
import { logbook, openWorld, type World } from '../world.ts';

const scrape = async (world: World) => (await world.request<string>({ method: 'GET', url: '/metrics' })).body;

/** One sample; fails where there is none. */
function sample(text: string, series: string): number {
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  assert.ok(line, `there is no ${series}`);
  return Number(line.slice(series.length + 1));
}

describe('Prometheus reads', () => {
  test('how long orders took to their broker and webhooks to their answer', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    for (let n = 0; n < 3; n++) assert.equal((await world.send(trader)).status, 200);
    const text = await scrape(world);
    assert.equal(sample(text, 'fillpath_accept_to_broker_seconds_count{broker="paper"}'), 3);
    assert.equal(sample(text, 'fillpath_accept_to_broker_seconds_bucket{le="60",broker="paper"}'), 3);
    assert.equal(sample(text, 'fillpath_queue_wait_seconds_count'), 3);
    assert.equal(sample(text, 'fillpath_webhook_seconds_count{answer="result"}'), 3);
    assert.equal(
      sample(text, 'fillpath_broker_call_seconds_count{broker="paper",call="place",outcome="answered"}'),
      3,
    );
    assert.equal(sample(text, 'fillpath_orders_ended_total{broker="paper",outcome="filled"}'), 3);
    assert.equal(sample(text, 'fillpath_worker_starts_total'), 1);
    assert.ok(sample(text, 'fillpath_commit_units_count') > 0);
    assert.ok(
      sample(text, 'fillpath_commit_wait_seconds_count') >= sample(text, 'fillpath_commit_units_count'),
    );
    assert.ok(sample(text, 'process_cpu_seconds_total') > 0);
    assert.equal(sample(text, 'fillpath_orders_unknown'), 0);
  });

  test('a simulated order as one of no broker', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await world.send(trader, {}, { query: '?simulation=true' });
    const text = await scrape(world);
    assert.equal(sample(text, 'fillpath_accept_to_broker_seconds_count{broker="simulation"}'), 1);
    assert.doesNotMatch(text, /accept_to_broker_seconds\S*broker="paper"/);
  });

  test('denials by their code, and no code but ours', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await world.send(trader, { secret: 'wrong' });
    await world.send(trader, { secret: 'wrong too' });
    await world.request({ method: 'GET', url: '/no/such/page' });
    const text = await scrape(world);
    assert.equal(sample(text, 'fillpath_denials_total{code="webhook_credential_attack"}'), 2);
    assert.equal(sample(text, 'fillpath_denials_total{code="not_found"}'), 1);
    assert.equal(sample(text, 'fillpath_denials_total{code="daily_limit_reached"}'), 0);
    assert.equal(sample(text, 'fillpath_webhook_seconds_count{answer="denied"}'), 2);
    const codes = [...text.matchAll(/^fillpath_denials_total\{code="(\w+)"\}/gm)].map(([, code]) => code);
    assert.deepEqual(codes.toSorted(), Object.keys(DENIALS).toSorted());
  });

  test('orders that are unknown, late fill checks and dead letters', async (t) => {
    const broker = scriptedBroker(t);
    const world = await openWorld(t, {
      brokers: broker.brokers,
      env: { FILL_FIRST_POLL_SECONDS: '0.01', FILL_REQUEUE_SECONDS: '0.01', FILL_RETRIES: '0' },
    });
    broker.script('place', async () => ({ outcome: 'unknown', reason: 'the line went dead' }));
    broker.script('find', () => Promise.reject(new Error('nobody answers')), 100);
    const trader = await world.makeTrader();
    const { body } = await world.send(trader);
    assert.equal(body.status, 'unknown');
    const text = await world.eventually(
      () => scrape(world),
      (each) => /^fillpath_dead_letters_total 1$/m.test(each),
    );
    assert.equal(sample(text, 'fillpath_orders_unknown'), 1);
    assert.equal(sample(text, 'fillpath_fill_checks{state="dead_letter"}'), 1);
    assert.ok(sample(text, 'fillpath_fill_check_lag_seconds_count') >= 1);
    assert.equal(sample(text, 'fillpath_fill_check_overdue_seconds'), 0);
  });

  test('how soon positions were protected, which are not, and what brokers said to their stops', async (t) => {
    const world = await openWorld(t, { env: { PROTECT_SECONDS: '1', PROTECTION_SWEEP_SECONDS: '1' } });
    const price = { BTCUSDT: 65_000 };
    const trader = await world.makeTrader({}, { paper: { latency_ms: 0, price }, unprotected: 'alert' });
    const until = (pattern: RegExp) =>
      world.eventually(
        () => scrape(world),
        (text) => pattern.test(text),
      );
    await world.send(trader, { stop_loss: 64_000 });
    const safe = await until(/^fillpath_protections\{state="standing"\} 1$/m);
    assert.equal(sample(safe, 'fillpath_unprotected_seconds_count{broker="paper"}'), 1);
    assert.equal(sample(safe, 'fillpath_protection_calls_total{call="place",outcome="accepted"}'), 1);
    assert.ok(sample(safe, 'fillpath_protection_calls_total{call="standing",outcome="answered"}') >= 1);
    assert.equal(sample(safe, 'fillpath_protection_calls_total{call="place",outcome="rejected"}'), 0);
    assert.equal(sample(safe, 'fillpath_oldest_unprotected_seconds{broker="paper"}'), 0);
    assert.ok(sample(safe, 'fillpath_sweep_age_seconds') < 60);

    // Somebody takes it away at the broker, and the broker refuses the next one.
    await world.setPaper(trader, { price, protection: 'refuse' });
    await world.db.commit([sql`update paper_stops set status = 'cancelled' where status = 'standing'`]);
    const bare = await until(/^fillpath_protections\{state="unprotected"\} 1$/m);
    assert.ok(sample(bare, 'fillpath_oldest_unprotected_seconds{broker="paper"}') >= 1);
    assert.ok(sample(bare, 'fillpath_protection_calls_total{call="place",outcome="rejected"}') >= 1);
    assert.equal(sample(bare, 'fillpath_protection_restored_total'), 1);
    assert.equal(sample(bare, 'fillpath_protections{state="standing"}'), 0);
  });

  test('an order of a restored database whose fate nobody knows, though nothing of it can be looked for', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    const { body } = await world.send(trader);
    await world.stop();
    // As it stood in the backup: nobody had begun it.
    await world.db.commit([
      sql`delete from fill_checks where order_id = ${body.order_id}`,
      sql`delete from order_legs where order_id = ${body.order_id}`,
      sql`update order_history set status = 'queued', unsettled = ${true} where order_id = ${body.order_id}`,
    ]);
    const madeAt = timestamp(world.clock.now());
    const settled = await settleRestored(
      { ...world, hasher: countingHasher() },
      { madeAt, hasLedger: () => false, halt: false },
    );
    assert.deepEqual(settled, { unknown: 1, expired: 0 });
    await world.restart();
    assert.equal(sample(await scrape(world), 'fillpath_orders_unknown'), 1);
  });

  test('that the rate limiter let somebody through, and which mails failed', async (t) => {
    const store = openMemoryStore({ clock: { now: () => Date.now() } });
    const { log, line } = logbook();
    const world = await openWorld(t, {
      log,
      store: {
        ...store,
        countInWindow: async () => {
          throw new StoreUnavailable('gone');
        },
      },
      mailer: {
        send: async () => {
          throw new Error('no mail server');
        },
      },
    });
    const trader = await world.makeTrader();
    assert.equal((await world.send(trader)).status, 200);
    await world.send(trader, { secret: 'wrong' });
    await line('a task after the answer failed');
    const text = await scrape(world);
    assert.equal(sample(text, 'fillpath_fail_opens_total{what="rate_limit"}'), 2);
    assert.equal(sample(text, 'fillpath_notifications_total{channel="mail",outcome="failed"}'), 1);
    assert.equal(sample(text, 'fillpath_notifications_total{channel="telegram",outcome="failed"}'), 0);
  });

  test('at a port of its own what no front forwards, and nothing else there', async (t) => {
    const { log, line } = logbook();
    const dir = mkdtempSync(join(tmpdir(), 'fillpath-metrics-'));
    const env = { PORT: '0', METRICS_PORT: '0', METRICS_IPS: '127.0.0.1', ADMIN_IPS: '203.0.113.7' };
    const fillpath = await openFillpath(readConfig({ DATA_DIR: dir, SEED_USER: 'false', ...env }), { log });
    t.after(async () => {
      await fillpath.stop();
      rmSync(dir, { recursive: true, force: true });
    });
    const api = (await fillpath.listen()).replace('localhost', '127.0.0.1');
    const { port } = await line('metrics are read at this port');
    const ask = async (url: string) => {
      const { status } = await fetch(url);
      return status;
    };
    assert.equal(await ask(`http://127.0.0.1:${port}/metrics`), 200);
    assert.equal(await ask(`http://127.0.0.1:${port}/deployment/workers`), 404);
    assert.equal(await ask(`${api}/metrics`), 403);
  });

  test('nothing that names a user, an account or a symbol', async (t) => {
    const world = await openWorld(t);
    const trader = await world.makeTrader();
    await world.send(trader, { symbol: 'ETHUSDT' });
    await world.send(trader, { secret: 'wrong', symbol: 'ETHUSDT' });
    const text = await scrape(world);
    for (const name of [trader.user.id, trader.account.id, trader.user.email, 'ETHUSDT'])
      assert.ok(!text.includes(name), name);
    assert.ok(text.split('\n').length < 1_000);
  });

  test('what docs/operations/watch.md says of each figure, and nothing else', async (t) => {
    const world = await openWorld(t);
    // As after the first pruning.
    const now = timestamp(Date.now());
    await world.db.commit([sql`insert into pruned (what, row_count, last_at) values ('rounds', 1, ${now})`]);
    const text = await scrape(world);
    const types = new Map([...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].map(([, name, type]) => [name, type]));
    const rows = [...text.matchAll(/^# HELP (\S+) (.+)$/gm)].map(
      ([, name = '', help = '']) => `| \`${name}\` | ${types.get(name)} | ${help} |`,
    );
    const document = readFileSync(new URL('../../docs/operations/watch.md', import.meta.url), 'utf8');
    const documented = document
      .split('\n')
      .filter((line) => /^\| `(fillpath|process|nodejs)_\w+` \|/.test(line));
    assert.deepEqual(documented, rows, `the table is to be:\n${rows.join('\n')}\n`);
  });
});
