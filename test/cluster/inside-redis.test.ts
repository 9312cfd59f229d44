// Somebody is inside Redis, with a client of their own: reads along, writes, deletes, and says again what was said. They
// can make us wait. What they say is not believed, and nobody is let in by what they delete.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Redis } from 'ioredis';
import { sql } from '../../src/data/engine/db.ts';
import type { OrderResult } from '../../src/domain/orders/result.ts';
import { MESSAGES } from '../orders/kill-harness.ts';
import {
  assertFilled,
  type Cluster,
  type Member,
  openCluster,
  type Problem,
  startServers,
  type Trader,
  until,
} from './desk.ts';

const servers = await startServers();
const skip = servers.missing === undefined ? {} : { skip: servers.missing };
after(async () => {
  if (servers.missing === undefined) await servers.redis.stop();
});
const PASSWORD = 'a horse, a staple, a battery';

interface Held {
  readonly items: readonly { readonly symbol: string; readonly quantity: number }[];
}
interface Flattened {
  readonly orders: readonly OrderResult[];
  readonly flatten_error: { readonly code: string } | null;
}

describe('somebody inside Redis', skip, () => {
  let cluster: Cluster;
  let api: Member;
  let worker: Member;
  let redis: Redis;
  let listener: Redis;
  /** Every answer that went through Redis, without its address. */
  const heard: string[] = [];

  before(async () => {
    if (servers.missing !== undefined) return;
    cluster = await openCluster(servers, { RESPONSE_WAIT_SECONDS: '4' });
    [api, worker] = await Promise.all([cluster.start('api'), cluster.start('worker')]);
    redis = cluster.redis;
    listener = redis.duplicate();
    listener.on('pmessage', (_pattern, _channel, text: string) => {
      heard.push(text.slice(text.indexOf('\n') + 1));
    });
    await listener.psubscribe('fillpath:reply:*');
  });
  after(async () => {
    if (worker) process.kill(worker.pid, 'SIGCONT');
    listener?.disconnect();
    await cluster?.close();
  });
  beforeEach(() => {
    heard.length = 0;
  });

  const pathOf = ({ account }: Trader, what: string) => `/trading/accounts/${account.id}/${what}`;
  const queueOf = ({ user }: Trader) => `fillpath:queue:work:{${user.id}}`;
  const heldBy = async (trader: Trader, what = 'positions') =>
    (await cluster.as<Held>(api, trader, 'GET', pathOf(trader, what))).body.items.map(
      ({ symbol, quantity }) => [symbol, quantity],
    );

  /** The worker stands still while this is done. */
  async function frozen<T>(does: () => Promise<T>): Promise<T> {
    process.kill(worker.pid, 'SIGSTOP');
    try {
      return await does();
    } finally {
      process.kill(worker.pid, 'SIGCONT');
    }
  }

  /** Where the sender of the question in the trader's queue waits for its answer. */
  async function addressOf(trader: Trader): Promise<string> {
    const question = await until('a question', () => redis.lindex(queueOf(trader), -1));
    return /reply:\{[^}]+\}:\d+/.exec(question ?? '')?.[0] ?? assert.fail(`no address in ${question}`);
  }

  async function answer(address: string, text: string): Promise<void> {
    const channel = `fillpath:reply:${/\{([^}]+)\}/.exec(address)?.[1]}`;
    assert.equal(
      await redis.publish(channel, `${address}\n${text}`),
      2,
      'our listener and who waits hear it',
    );
  }

  test('says that nothing is held: it is not believed, and the worker’s own answer is', async () => {
    const trader = await cluster.trader();
    assertFilled([await cluster.order(api, trader)]);
    const { asking } = await frozen(async () => {
      const asking = heldBy(trader);
      await answer(await addressOf(trader), '{"positions":[]}');
      return { asking };
    });
    assert.deepEqual(await asking, [['BTCUSDT', 0.01]]);
  });

  test('answers a flatten: nobody is told that it succeeded, and the position is held', async () => {
    const trader = await cluster.trader();
    assertFilled([await cluster.order(api, trader)]);
    const { body } = await frozen(async () => {
      const halting = cluster.as<Flattened>(api, trader, 'POST', pathOf(trader, 'halt'), { flatten: true });
      await answer(await addressOf(trader), '{"positions":[],"open":[]}');
      return halting;
    });
    assert.equal(body.flatten_error?.code, 'worker_unavailable');
    assert.deepEqual(await heldBy(trader), [['BTCUSDT', 0.01]]);
    const again = await cluster.as<Flattened>(api, trader, 'POST', pathOf(trader, 'halt'), { flatten: true });
    assert.equal(again.body.flatten_error, null);
    assert.deepEqual(await heldBy(trader), []);
  });

  test('says again what a worker said once: to another question it is no answer', async () => {
    const [rich, flat] = [await cluster.trader(), await cluster.trader()];
    assertFilled([await cluster.order(api, rich)]);
    assert.deepEqual(await heldBy(flat), []);
    const nothingHeld = await until('the answer', () =>
      heard.find((text) => text.includes('"positions":[]')),
    );
    const { asking } = await frozen(async () => {
      const asking = heldBy(rich);
      await answer(await addressOf(rich), nothingHeld ?? '');
      return { asking };
    });
    assert.deepEqual(await asking, [['BTCUSDT', 0.01]]);
  });

  test('says again that an order was filled: the next one is not', async () => {
    const trader = await cluster.trader();
    const first = await cluster.order(api, trader);
    assertFilled([first]);
    const filled = await until('the answer', () =>
      heard.find((text) => text.includes(first.body.order_id) && text.includes('filled')),
    );
    const second = await frozen(async () => {
      const ordering = cluster.order(api, trader);
      await answer(await addressOf(trader), filled ?? '');
      return ordering;
    });
    assert.equal(second.status, 202);
    assert.notEqual(second.body.order_id, first.body.order_id);
    assert.equal(second.body.status, 'queued');
  });

  test('asks a worker in our name, and says again what we asked: neither is done', async () => {
    const trader = await cluster.trader();
    const simulated = 'simulation/positions';
    const send = async () =>
      assertFilled([await cluster.deliver(api, trader, cluster.signal(trader), '?simulation=true')]);
    const reset = () => cluster.as(api, trader, 'POST', pathOf(trader, 'simulation/reset'));
    await send();
    const request = { kind: 'resetSimulation', accountId: trader.account.id };
    await redis.rpush(queueOf(trader), JSON.stringify({ replyTo: null, request }));
    // It would come before this one, and the book would be flat by then.
    await send();
    assert.deepEqual(await heldBy(trader, simulated), [['BTCUSDT', 0.02]]);

    const { asked, resetting } = await frozen(async () => {
      const resetting = reset();
      return { asked: await until('the question', () => redis.lindex(queueOf(trader), -1)), resetting };
    });
    assert.equal((await resetting).status, 204);
    await send();
    await redis.rpush(queueOf(trader), asked ?? '');
    await send();
    assert.deepEqual(await heldBy(trader, simulated), [['BTCUSDT', 0.02]]);
    // Nor is it a question to anybody else.
    const other = await cluster.trader();
    await redis.rpush(queueOf(other), asked ?? '');
    assert.deepEqual(await heldBy(other), []);
  });

  test('deletes what is there: who guessed ten passwords stays locked out', async () => {
    const email = `${crypto.randomUUID()}@example.com`;
    const body = { email, password: PASSWORD };
    assert.equal((await cluster.call(api, 'POST', '/auth/register', { body })).status, 201);
    const login = (password: string) =>
      cluster.call<Problem>(api, 'POST', '/auth/login', { body: { email, password } });
    for (let n = 0; n < 10; n++) assert.equal((await login(`not the one ${n}`)).status, 401);
    assert.equal((await login(PASSWORD)).status, 429);
    for (const key of await redis.keys('*password*')) await redis.del(key);
    await redis.flushdb();
    const { status, body: problem, headers } = await login(PASSWORD);
    assert.deepEqual([status, problem.code], [429, 'login_locked']);
    assert.ok(Number(headers['retry-after']) > 60);
  });

  test('is counted', async () => {
    const { body } = await cluster.call<string>(api, 'GET', '/metrics');
    const refused = /^fillpath_messages_refused_total (\d+)$/m.exec(body)?.[1];
    assert.ok(Number(refused) >= 4, body);
  });
});

describe('the key of the messages', skip, () => {
  test('reaches a worker that came before everybody else and has no APP_KEY, sealed to its own key', async (t) => {
    if (servers.missing !== undefined) return;
    const cluster = await openCluster(servers);
    t.after(() => cluster.close());
    const early = cluster.launch('worker', { APP_KEY: '', LOG_LEVEL: 'warn' });
    // It has brought the database up to date, and looks there.
    await until('the first look', () =>
      cluster.db.get(sql`select 1 from facts`).then(
        () => true,
        () => false,
      ),
    );
    const api = await cluster.start('api');
    await early.ready;
    assertFilled([await cluster.order(api, await cluster.trader())]);
    const facts = await cluster.db.all<{ value: string }>(
      sql`select value from facts where name like 'message_key %'`,
    );
    assert.equal(facts.length, 1);
    assert.doesNotMatch(facts[0]?.value ?? '', new RegExp(MESSAGES.key.toString('base64url')));
    await early.kill('SIGTERM');
    assert.match(await early.ended, /waiting for an API process/);
  });
});
