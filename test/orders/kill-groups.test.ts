// A process that dies between a group's commit and its first order: its successor sends them all. One that dies before the commit has
// accepted none, and the repeat trades.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '../../src/data/engine/db.ts';
import { migrate } from '../../src/data/engine/migrate.ts';
import { openSqlite } from '../../src/data/engine/sqlite.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { makeGroup, makeTrader, startProgram } from './kill-harness.ts';

const MEMBERS = 5;
const PATIENCE_MS = 60_000;

async function openDesk(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'fillpath-kill-groups-'));
  const db = openSqlite({ file: join(dir, 'fillpath.sqlite') });
  await migrate(db, Date.now());
  const paper = { latency_ms: 0, starting_cash: 1e12 };
  const traders = [await makeTrader(db, paper)];
  while (traders.length < MEMBERS) traders.push(await makeTrader(db, paper, traders[0]?.user));
  const group = await makeGroup(db, traders);
  const programs: ReturnType<typeof startProgram>[] = [];
  t.after(async () => {
    // Whoever still writes there ends first.
    for (const program of programs) {
      program.kill();
      await program.ended;
    }
    await db.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const body = JSON.stringify({
    action: 'buy',
    symbol: 'BTCUSDT',
    quantity: 1,
    timestamp: timestamp(Date.now()),
    secret: group.secret,
  });
  const statuses = async () =>
    (await db.all<{ status: string }>(sql`select status from order_history order by trading_account_id`)).map(
      ({ status }) => status,
    );
  return {
    statuses,
    start(...how: DropFirst<Parameters<typeof startProgram>>) {
      const program = startProgram(dir, ...how);
      programs.push(program);
      return program;
    },
    post: (address: string) => fetch(address + group.path, { method: 'POST', body }),
    ledger: () => db.all<{ book: string }>(sql`select book from paper_orders order by book`),
    async until(wanted: readonly string[]) {
      const deadline = Date.now() + PATIENCE_MS;
      while (`${await statuses()}` !== `${wanted}`) {
        assert.ok(Date.now() < deadline, `the orders are ${await statuses()}`);
        await sleep(20);
      }
    },
  };
}

const filled = Array.from({ length: MEMBERS }, () => 'filled');

test('killed between a group’s commit and its first order, its successor sends them all, each once, and a repeat sends none', async (t) => {
  const { start, statuses, post, ledger, until } = await openDesk(t);
  const dying = start({}, ['test/orders/dies-after-commit.ts']);
  await assert.rejects(post(await dying.ready));
  await dying.ended;
  assert.deepEqual(
    await statuses(),
    filled.map(() => 'queued'),
  );
  assert.deepEqual(await ledger(), [], 'nothing was sent');
  const successor = start();
  const address = await successor.ready;
  await until(filled);
  const again = await post(address);
  assert.equal(again.status, 409);
  const { orders } = (await again.json()) as { orders: { order_id: string }[] };
  assert.equal(orders.length, MEMBERS);
  assert.equal((await ledger()).length, MEMBERS);
});

test('killed right before a group’s commit, no member has an order, and the repeat trades on all of them', async (t) => {
  const { start, statuses, post, ledger } = await openDesk(t);
  const dying = start({ DIES: 'before' }, ['test/orders/dies-after-commit.ts']);
  await assert.rejects(post(await dying.ready));
  await dying.ended;
  assert.deepEqual(await statuses(), []);
  const successor = start();
  assert.equal((await post(await successor.ready)).status, 200);
  assert.deepEqual(await statuses(), filled);
  assert.equal((await ledger()).length, MEMBERS);
});

type DropFirst<Many extends readonly unknown[]> = Many extends readonly [unknown, ...infer Rest] ? Rest : [];
