// The database's answer to the accepting commit is lost: whether the order stands is looked up, and never guessed.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { pino } from 'pino';
import { readConfig } from '../../src/config/config.ts';
import { DatabaseUnavailable, type Db, sql } from '../../src/data/engine/db.ts';
import { openPostgres } from '../../src/data/engine/postgres.ts';
import { timestamp } from '../../src/domain/ids.ts';
import { openFillpath } from '../../src/main.ts';
import { PostgresMissing, startPostgres } from '../servers/postgres.ts';
import { startProxy } from '../servers/proxy.ts';
import { type Answer, openWorld, type Problem, serverOf, type Trader, type World } from '../world.ts';
import { APP_KEY, makeTrader, webhookPath } from './kill-harness.ts';

const SOON = { timeout: 60_000 };

type Commit = () => Promise<string | null>;

/** A database of which the answer to an accepting commit can be lost, and all answers while it is away. */
function losing() {
  const lost = () => new DatabaseUnavailable('the answer was lost');
  let isAway = false;
  let onAccepting: ((commit: Commit) => Promise<unknown>) | null = null;
  return {
    db: (whole: Db): Db => ({
      ...whole,
      all: (query) => (isAway ? Promise.reject(lost()) : whole.all(query)),
      get: (query) => (isAway ? Promise.reject(lost()) : whole.get(query)),
      async commit(unit) {
        if (isAway) throw lost();
        const isAccepting = unit.some(({ parts }) => parts[0]?.includes('insert into order_history'));
        if (!isAccepting || !onAccepting) return whole.commit(unit);
        const happens = onAccepting;
        onAccepting = null;
        await happens(() => whole.commit(unit));
        throw lost();
      },
    }),
    /** Instead of the next accepting commit this happens, and no answer comes. */
    loseNext(happens: (commit: Commit) => Promise<unknown>): void {
      onAccepting = happens;
    },
    leave(): void {
      isAway = true;
    },
    comeBack(): void {
      isAway = false;
    },
  };
}

type Sent = Answer<Problem & { order_id: string; status: string }>;

/** Each gives a sender who sends the very same again. */
const SENDERS = {
  'a signal': (world: World, trader: Trader) => {
    const signal = world.signal(trader);
    return (): Promise<Sent> => world.webhook(trader, signal);
  },
  'a manual order': (world: World, trader: Trader) => {
    const order = { trading_account_id: trader.account.id, action: 'buy', symbol: 'BTCUSDT', quantity: 1 };
    return (): Promise<Sent> => world.as(trader, 'POST', '/trading/order', order);
  },
  'a manual order with a key': (world: World, trader: Trader) => {
    const order = { trading_account_id: trader.account.id, action: 'buy', symbol: 'BTCUSDT', quantity: 1 };
    const headers = { 'idempotency-key': randomUUID() };
    return (): Promise<Sent> => world.as(trader, 'POST', '/trading/order', order, headers);
  },
};

async function assertTradedOnce(world: World, trader: Trader): Promise<void> {
  const traded = () => world.paperOrders(trader.account.id);
  assert.equal((await world.eventually(traded, ({ length }) => length > 0)).length, 1);
  assert.equal((await world.orders(trader)).length, 1);
}

function assertRefused(answer: Sent, code: string): void {
  assert.deepEqual([answer.status, answer.body.code], [503, code]);
  assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
}

async function openDesk(t: TestContext, sender: keyof typeof SENDERS) {
  const database = losing();
  const world = await openWorld(t, { db: database.db, env: { RATE_LIMIT_REQUESTS: '10000' } });
  const trader = await world.makeTrader();
  return { ...database, world, trader, send: SENDERS[sender](world, trader) };
}

const senders = Object.keys(SENDERS) as (keyof typeof SENDERS)[];

for (const sender of senders)
  describe(`the answer to the commit of ${sender} is lost`, () => {
    test('and the order stands: it is accepted, and traded once', SOON, async (t) => {
      const { world, trader, send, loseNext } = await openDesk(t, sender);
      loseNext((commit) => commit());
      const answer = await send();
      // Who is told that nothing was queued sends it again.
      if (answer.status >= 500) await send();
      assert.deepEqual([answer.status, answer.body.status], [200, 'filled']);
      await assertTradedOnce(world, trader);
    });

    test('and the order does not stand: nothing was queued, and the repeat trades', SOON, async (t) => {
      const { world, trader, send, loseNext } = await openDesk(t, sender);
      loseNext(async () => {});
      assertRefused(await send(), 'database_unavailable');
      assert.deepEqual(await world.orders(trader), []);
      const [refusal] = await world.audits(trader);
      assert.equal(JSON.parse(refusal?.metadata ?? '{}').code, 'database_unavailable');
      assert.equal((await send()).status, 200);
      await assertTradedOnce(world, trader);
    });

    test(
      'and the unit arrives after somebody was told that nothing was queued: it does not commit',
      SOON,
      async (t) => {
        const { world, trader, send, loseNext } = await openDesk(t, sender);
        let late: Commit | undefined;
        loseNext(async (commit) => {
          late = commit;
        });
        assertRefused(await send(), 'database_unavailable');
        assert.equal(await late?.(), 'account');
        assert.deepEqual(await world.orders(trader), []);
        assert.equal((await send()).status, 200);
        await assertTradedOnce(world, trader);
      },
    );

    for (const stands of [true, false])
      test(
        `and the database stays away, with the order ${stands ? 'in' : 'not in'} it: the sender is told that nobody knows, and the repeat is safe`,
        SOON,
        async (t) => {
          const { world, trader, send, loseNext, leave, comeBack } = await openDesk(t, sender);
          loseNext(async (commit) => {
            if (stands) await commit();
            leave();
          });
          const answer = await send();
          assertRefused(answer, 'outcome_unknown');
          assert.match(answer.body.detail, /may have been accepted/);
          comeBack();
          // Without a fingerprint or a key the sender has to look first, and is told so.
          if (stands && sender === 'a manual order') return assertTradedOnce(world, trader);
          // The first answer of a key is given once there is one.
          const repeat = await world.eventually(send, ({ body }) => body.code !== 'idempotency_in_progress');
          if (sender === 'a signal') assert.equal(repeat.status, stands ? 409 : 200);
          else assert.deepEqual([repeat.status, repeat.body.status], [200, 'filled']);
          await assertTradedOnce(world, trader);
        },
      );
  });

test('a simulated signal whose fate is not known is not traded again', SOON, async (t) => {
  const { db, loseNext, leave, comeBack } = losing();
  const world = await openWorld(t, { db });
  const trader = await world.makeTrader();
  const signal = world.signal(trader);
  const send = () => world.webhook<Problem>(trader, signal, { query: '?simulation=true' });
  loseNext(async () => leave());
  assert.equal((await send()).body.code, 'outcome_unknown');
  comeBack();
  assert.equal((await send()).body.code, 'webhook_replay_attack');
});

describe('the answer to the commit by which a report is followed is lost, and the database stays away', () => {
  for (const { stands, query } of [
    { stands: true, query: '' },
    { stands: false, query: '' },
    { stands: true, query: '?simulation=true' },
  ])
    test(
      `with the order ${stands ? 'in' : 'not in'} it${query}: the sender is told that nobody knows`,
      SOON,
      async (t) => {
        const { db, loseNext, leave, comeBack } = losing();
        const world = await openWorld(t, { db });
        const trader = await world.makeTrader({}, { outOfSync: 'follow' });
        const signal = world.signal(trader, {
          ...{ action: 'sync', quantity: undefined, market_position: 'long', market_position_size: 2 },
        });
        const send = () =>
          world.webhook<Problem & { order: { status: string } | null }>(trader, signal, { query });
        const trades = () => world.orders(trader);
        loseNext(async (commit) => {
          if (stands) await commit();
          leave();
        });
        const answer = await send();
        assert.deepEqual(
          [answer.status, answer.body.code],
          [503, 'outcome_unknown'],
          JSON.stringify(answer.body),
        );
        comeBack();
        const repeat = await send();
        if (query) assert.equal(repeat.body.code, 'webhook_replay_attack');
        else if (!stands) assert.equal(repeat.body.order?.status, 'filled', JSON.stringify(repeat.body));
        assert.equal((await world.eventually(trades, ({ length }) => length > 0)).length, 1);
      },
    );
});

describe('the way to a real PostgreSQL is cut', () => {
  async function openCuttable(t: TestContext) {
    const server = await startPostgres();
    const dir = mkdtempSync(join(tmpdir(), 'fillpath-lost-'));
    const { searchParams, pathname } = new URL(server.url);
    const proxy = await startProxy(join(searchParams.get('host') ?? '', '.s.PGSQL.5432'));
    const db = await openPostgres({ url: server.url, poolSize: 2 });
    const other = new Client(server.url);
    await other.connect();
    const env = { DATA_DIR: dir, APP_KEY, SEED_USER: 'false', EDGE: 'external' };
    const url = `postgres://postgres@127.0.0.1:${proxy.port}${pathname}`;
    const fillpath = await openFillpath(readConfig({ ...env, DATABASE_URL: url }), {
      log: pino({ level: 'silent' }),
    });
    t.after(async () => {
      await fillpath.stop();
      await Promise.all([proxy.close(), db.close(), other.end()]);
      await server.stop();
      rmSync(dir, { recursive: true, force: true });
    });
    const trader = await makeTrader(db, { latency_ms: 0 });
    const send = async (quantity: number) => {
      const { secret } = trader;
      const signal = { action: 'buy', symbol: 'BTCUSDT', quantity, timestamp: timestamp(Date.now()), secret };
      const response = await serverOf(fillpath).inject({
        method: 'POST',
        url: webhookPath(trader),
        payload: JSON.stringify(signal),
      });
      return { status: response.statusCode, body: response.json<Sent['body']>() };
    };
    const orders = () => db.all<{ order_id: string }>(sql`select order_id from order_history order by rowid`);
    // From here on the user has a worker.
    assert.equal((await send(1)).status, 200);
    return { proxy, db, other, trader, send, orders };
  }

  const needsServer = async (t: TestContext) => {
    try {
      return await openCuttable(t);
    } catch (fault) {
      if (!(fault instanceof PostgresMissing)) throw fault;
      t.skip(fault.message);
      return null;
    }
  };

  test('right behind the commit of an order: it is found, and answered as accepted', SOON, async (t) => {
    const desk = await needsServer(t);
    if (!desk) return;
    const cut = desk.proxy.cutAtAnswer(/INSERT 0 1.*COMMIT/s);
    const answer = await desk.send(2);
    await cut;
    assert.deepEqual([answer.status, answer.body.status], [200, 'filled']);
    assert.deepEqual((await desk.orders()).at(-1)?.order_id, answer.body.order_id);
  });

  test('while the server is still at it: whoever asks waits for what it comes to', SOON, async (t) => {
    const desk = await needsServer(t);
    if (!desk) return;
    const { proxy, db, other, trader, send, orders } = desk;
    // There is no event for it.
    const areWaiting = async (count: number) => {
      const waiting = sql`select 1 from pg_stat_activity where datname = current_database()
        and wait_event_type = 'Lock' and clock_timestamp() - query_start > interval '200 milliseconds'`;
      while ((await db.all(waiting)).length < count) await sleep(5);
    };
    await other.query('begin');
    await other.query('select 1 from daily_order_counts where user_id = $1 for update', [trader.user.id]);
    const sent = send(3);
    // The order's unit, alone by now and sent whole, waits for the count ...
    await areWaiting(1);
    proxy.cut();
    // ... and the fence waits for the unit, of which nobody would be told any more.
    await areWaiting(2);
    assert.equal((await orders()).length, 1);
    await other.query('commit');
    const answer = await sent;
    assert.deepEqual([answer.status, answer.body.status], [200, 'filled']);
    assert.deepEqual((await orders()).length, 2);
  });
});
