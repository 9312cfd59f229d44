import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { CallLog } from '../../src/domain/call-log.ts';
import { openRedisStore } from '../../src/store/redis/adapter.ts';
import { SCRIPTS } from '../../src/store/redis/scripts.ts';
import { type Store, StoreUnavailable } from '../../src/store/store.ts';
import { storeContract } from '../contracts/store.ts';
import { openMonitor } from '../servers/monitor.ts';
import { RedisMissing, type RedisServer, startRedis } from '../servers/redis.ts';
import { stopwatch } from '../stopwatch.ts';

const LONG = 60_000;
const DEADLINE = 10_000;
const AT_ONCE = { timeoutMs: 0 };
const MESSAGES = { key: Buffer.alloc(32, 1), clock: { now: Date.now } };
/** The time for a command, and what a busy machine adds. */
const TOO_LONG = 2_000 + 1_500;

const server = await startRedis().catch((fault: unknown) => {
  if (fault instanceof RedisMissing) return { missing: fault.message };
  throw fault;
});

if ('missing' in server) {
  console.log(server.missing);
  test('the store contract on Redis', { skip: server.missing }, () => {});
} else {
  after(server.stop);
  // The two halves wait more than they work: side by side.
  describe('Redis', { concurrency: true }, () => {
    describe('one server', { concurrency: 1 }, () => {
      const open = () => openRedisStore({ ...MESSAGES, url: server.url });
      storeContract({ name: 'Redis', open, openAnother: open });
      describe('store: Redis, beyond the contract', () => singleTests(server));
    });

    describe('a cluster', { concurrency: 1 }, () => {
      let cluster: RedisServer;
      before(async () => {
        cluster = await startRedis({ cluster: true });
      });
      after(() => cluster.stop());
      const open = () => openRedisStore({ ...MESSAGES, url: cluster.url });
      storeContract({ name: 'Redis Cluster', open, openAnother: open });
      describe('store: Redis Cluster, beyond the contract', () => clusterTests(() => cluster));
    });

    test('where no server answers in time it does not open, and does not tell the address', async () => {
      await assert.rejects(
        openRedisStore({ ...MESSAGES, url: 'redis://user:secret@127.0.0.1:1' }),
        (fault) => {
          assert.ok(fault instanceof StoreUnavailable && fault.cause instanceof Error);
          assert.doesNotMatch(fault.message, /secret|user|127/);
          return true;
        },
      );
    });
  });
}

function singleTests(redis: RedisServer): void {
  let admin: Redis;
  before(() => {
    admin = new Redis(redis.url, { protocol: 2 });
    admin.on('error', () => {});
  });
  after(() => admin.disconnect());

  test('every operation, and the contract before, leaves no key without an expiry', (t) =>
    everyKeyExpires(t, redis));

  test('what is asked in one turn about one user is one command; about two users it is two', async (t) => {
    const store = await opened(t, redis.url);
    const [one, two] = [newKey(), newKey()];
    const ask = (...users: string[]) =>
      Promise.all(
        users.flatMap((user) => [
          store.finish(`once:{${user}}`, LONG),
          store.push(`queue:{${user}}`, 'message', LONG),
          store.leaseHolder(`lease:{${user}}`),
        ]),
      );
    // The scripts are known from here on.
    await ask(one);
    const monitor = await openMonitor(admin);
    t.after(() => monitor.disconnect());
    const calls: string[] = [];
    monitor.on('monitor', (_time: string, args: readonly string[], source: string) => {
      if (source !== 'lua' && args.some((arg) => arg.includes(one) || arg.includes(two)))
        calls.push(args.join(' '));
    });
    await ask(one);
    await ask(one, two);
    await admin.set(`fillpath:once:${one}:end`, '', 'PX', 1000);
    await soon(async () => (calls.at(-1)?.includes(':end') ? true : null));
    assert.equal(calls.length - 1, 3, calls.join('\n'));
  });

  test('a broken line in a journal fails whoever notes something there, and nothing that is asked in the same turn', async (t) => {
    const store = await opened(t, redis.url);
    const user = newKey();
    const journal = `orders:{${user}}`;
    await store.keepJournal(journal, LONG);
    const [key = ''] = await admin.keys(`*journal*${user}*`);
    await admin.rpush(key, 'garbage');
    const [pushed, noted, held] = await Promise.allSettled([
      store.push(`queue:{${user}}`, 'message', LONG),
      store.note(journal, ['line']),
      store.acquireLease(`lease:{${user}}`, 'somebody', LONG),
    ]);
    assert.deepEqual([pushed.status, noted.status, held.status], ['fulfilled', 'rejected', 'fulfilled']);
    assert.equal(await store.take(`queue:{${user}}`, AT_ONCE), 'message');
    assert.equal((await store.leaseHolder(`lease:{${user}}`))?.holder, 'somebody');
  });

  test('who waits for a reply is told of an outage, and hears what is said after it', async (t) => {
    const [store, other] = [await opened(t, redis.url), await opened(t, redis.url)];
    const missed = Promise.withResolvers<void>();
    const expected = store.expectReply({ timeoutMs: LONG, onMissed: missed.resolve });
    await admin.call('client', 'kill', 'type', 'pubsub');
    await missed.promise;
    await soon(() =>
      other.reply(expected.address, 'after it').then(
        () => true,
        () => null,
      ),
    );
    assert.equal(await expected.reply, 'after it');
  });

  test('who has been served and waits again does not look before something comes', async (t) => {
    const [store, other] = [await opened(t, redis.url), await opened(t, redis.url)];
    const queue = newKey();
    const scripts = async () =>
      Number(/cmdstat_evalsha:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1]);
    const taken = store.take(queue, { timeoutMs: LONG });
    await heard(admin, [queue]);
    await other.push(queue, 'first', LONG);
    assert.equal(await taken, 'first');
    const before = await scripts();
    for (let round = 0; round < 20; round++) {
      const next = store.take(queue, { timeoutMs: LONG });
      await other.push(queue, `${round}`, LONG);
      assert.equal(await next, `${round}`);
    }
    // Each is pushed once and popped once; the first may have been popped before its wake came, which then makes a look.
    const more = (await scripts()) - before - 2 * 20;
    assert.ok(more >= 0 && more <= 2, `${more} looks more than messages`);
  });

  test('who waits gets what is pushed after the server was killed and started again', async (t) => {
    const [store, other] = [await opened(t, redis.url), await opened(t, redis.url)];
    const queues = Array.from({ length: 100 }, newKey);
    const taken = queues.map((queue) => store.take(queue, { timeoutMs: LONG }));
    await heard(admin, queues);
    await redis.kill();
    await assert.rejects(store.ping(), StoreUnavailable);
    await assert.rejects(store.take(newKey(), AT_ONCE), StoreUnavailable);
    // One comes while there is no server: it waits like those before.
    queues.push(newKey());
    taken.push(store.take(queues.at(-1) as string, { timeoutMs: LONG }));
    await redis.restart();
    await answers(other);
    await Promise.all(queues.map((queue) => other.push(queue, queue, LONG)));
    assert.deepEqual(await Promise.all(taken), queues);
  });

  test('a wait that ends while there is no server ends with null', async (t) => {
    const store = await opened(t, redis.url);
    const ending = new AbortController();
    const taken = [
      store.take(newKey(), { timeoutMs: 300 }),
      store.take(newKey(), { signal: ending.signal }),
      store.take(newKey(), {}),
    ];
    await store.ping();
    await redis.kill();
    ending.abort();
    assert.deepEqual(await Promise.all(taken.slice(0, 2)), [null, null]);
    await store.close();
    assert.equal(await taken[2], null);
    await redis.restart();
  });

  test('a server that hangs is unavailable within its time, and heals when it goes on', async (t) => {
    const store = await opened(t, redis.url);
    const [queue, full] = [newKey(), newKey()];
    for (const message of ['one', 'two']) await store.push(full, message, LONG);
    const waiting = store.take(queue, { timeoutMs: LONG });
    await heard(admin, [queue]);
    redis.hang();
    t.after(redis.goOn);
    const passed = stopwatch();
    const late = store.take(full, { timeoutMs: 50 });
    const calls = [store.claim(newKey(), LONG), store.ping(), store.take(newKey(), AT_ONCE)];
    assert.equal(await late, null);
    for (const call of calls) await assert.rejects(call, StoreUnavailable);
    assert.ok(passed() < TOO_LONG);
    redis.goOn();
    await answers(store);
    await store.push(queue, 'woken', LONG);
    assert.equal(await waiting, 'woken');
    // What was on its way to the taker that has left is back, before what came after it.
    for (const message of ['one', 'two']) assert.equal(await soon(() => store.take(full, AT_ONCE)), message);
  });

  test('a message that is put back keeps its time', async (t) => {
    const store = await opened(t, redis.url);
    const queue = newKey();
    await store.push(queue, 'precious', 30_000);
    redis.hang();
    t.after(redis.goOn);
    assert.equal(await store.take(queue, { timeoutMs: 20 }), null);
    redis.goOn();
    const left = await soon(async () => {
      const ms = await admin.pttl(`fillpath:queue:${queue}`);
      return ms === -2 ? null : ms;
    });
    assert.ok(left > 15_000 && left <= 30_000);
    assert.equal(await soon(() => store.take(queue, AT_ONCE)), 'precious');
  });

  test('who waits survives the loss of all data, and of all scripts', async (t) => {
    const store = await opened(t, redis.url);
    const key = newKey();
    const taken = store.take(key, { timeoutMs: LONG });
    const lease = await store.acquireLease(key, 'a', LONG);
    await heard(admin, [key]);
    await admin.flushall();
    await admin.script('FLUSH');
    await store.push(key, 'later', LONG);
    assert.equal(await taken, 'later');
    const next = await store.acquireLease(key, 'b', LONG);
    assert.ok(lease && next && next.fence > lease.fence, 'fences grow over the loss too');
  });

  test('who waits survives the loss of either connection', async (t) => {
    const [store, other] = [await opened(t, redis.url), await opened(t, redis.url)];
    for (const type of ['pubsub', 'normal', 'pubsub'] as const) {
      const queue = newKey();
      const taken = store.take(queue, { timeoutMs: LONG });
      await heard(admin, [queue]);
      await admin.call('client', 'kill', 'type', type, 'skipme', 'yes');
      await soon(() =>
        other.push(queue, type, LONG).then(
          () => true,
          () => null,
        ),
      );
      assert.equal(await taken, type);
    }
  });

  test('two connections, however many queues are waited at, and a subscription per group', async (t) => {
    const store = await opened(t, redis.url);
    const before = await clients(admin);
    const ending = new AbortController();
    const users = Array.from({ length: 1000 }, newKey);
    const queues = [
      ...users.map((user) => `work:{${user}}`),
      ...users.map((_, index) => `reply:{${users[0]}}:${index}`),
    ];
    const taken = queues.map((queue) => store.take(queue, { signal: ending.signal }));
    await heard(admin, queues);
    assert.equal(await clients(admin), before);
    assert.equal(before, 2);
    assert.equal(await subscriptions(admin), 1000);
    ending.abort();
    assert.ok((await Promise.all(taken)).every((message) => message === null));
    await store.close();
    await soon(async () => ((await clients(admin)) === 0 ? true : null));
  });

  test('the window agrees with the one in process, call by call', async () => {
    // The server's clock, moved: the script is told the time instead of asking for it.
    const lua = SCRIPTS.countCall.lua.replace("redis.call('TIME')", '{ ARGV[3], ARGV[4] }');
    assert.notEqual(lua, SCRIPTS.countCall.lua);
    const calls = fc.array(
      fc.record({ seconds: fc.integer({ min: 0, max: 60 }), limit: fc.integer({ min: 0, max: 9 }) }),
      { maxLength: 40, size: 'max' },
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 200 }), calls, async (windowSeconds, steps) => {
        const key = `fillpath:window:${newKey()}`;
        const log = new CallLog(0);
        let now = 1_790_000_000;
        const expected = [];
        const counted = [];
        for (const [index, { seconds }] of steps.entries()) {
          const limit = steps[index - (index % 10)]?.limit ?? 1;
          now += seconds;
          expected.push(log.count(now * 1000, limit, windowSeconds * 1000).retryAfterMs);
          counted.push(admin.eval(lua, 1, key, limit, windowSeconds * 1000, now, 0));
        }
        assert.deepEqual(await Promise.all(counted), expected);
      }),
      { numRuns: 50 },
    );
  });

  test('user, password and database come from the address, and are kept out of faults', async (t) => {
    await admin.call('acl', 'setuser', 'fillpath', 'on', '>pass word', '~fillpath:*', '&fillpath:*', '+@all');
    t.after(() => admin.call('acl', 'deluser', 'fillpath'));
    const address = redis.url.replace('redis://', 'redis://fillpath:pass%20word@');
    const store = await opened(t, `${address}/5`);
    const key = newKey();
    await store.claim(key, LONG);
    const inThatDatabase = new Redis(`${redis.url}/5`, { protocol: 2 });
    t.after(() => inThatDatabase.disconnect());
    assert.equal(await inThatDatabase.exists(`fillpath:once:${key}`), 1);
    const taken = store.take(key, { timeoutMs: DEADLINE });
    await heard(admin, [key]);
    await store.push(key, 'heard', LONG);
    assert.equal(await taken, 'heard');

    for (const [url, code] of [
      [address.replace('pass', 'wrong'), 'WRONGPASS'],
      [`${address}/99999`, 'ERR'],
    ] as const)
      await assert.rejects(openRedisStore({ ...MESSAGES, url }), (fault) => {
        assert.ok(fault instanceof StoreUnavailable && fault.cause instanceof Error);
        assert.equal(fault.message, `Redis refused: ${code}`);
        return true;
      });
  });

  test('a server that answers with a fault is unavailable, and says which', async (t) => {
    const store = await opened(t, redis.url);
    await admin.call('config', 'set', 'min-replicas-to-write', 1);
    t.after(() => admin.call('config', 'set', 'min-replicas-to-write', 0));
    await assert.rejects(store.claim(newKey(), LONG), { name: 'StoreUnavailable', message: /NOREPLICAS$/ });
    await assert.rejects(store.push(newKey(), '', LONG), {
      name: 'StoreUnavailable',
      message: /NOREPLICAS$/,
    });
  });

  test('a memory policy that forgets is warned of, once', async (t) => {
    const warnings: object[] = [];
    const log = { warn: (context: object) => warnings.push(context) };
    await (await openRedisStore({ ...MESSAGES, url: redis.url, log })).close();
    assert.deepEqual(warnings, []);
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    t.after(() => admin.config('SET', 'maxmemory-policy', 'noeviction'));
    await (await openRedisStore({ ...MESSAGES, url: redis.url, log })).close();
    assert.deepEqual(warnings, [{ policy: 'allkeys-lru' }]);
  });

  test('what is no Redis 7, no URL, or several that are no cluster, is refused', async (t) => {
    const old = createServer((socket) => {
      const info = 'redis_version:6.2.14\r\ncluster_enabled:0\r\nmaxmemory_policy:noeviction\r\n';
      socket.on('error', () => {});
      socket.on('data', (data) => {
        for (const [name] of String(data).matchAll(/(?<=^\*\d+\r\n\$\d+\r\n)\w+/gm))
          socket.write(name.toLowerCase() === 'info' ? `$${info.length}\r\n${info}\r\n` : '+OK\r\n');
      });
    }).listen(0, '127.0.0.1');
    t.after(() => old.close());
    await once(old, 'listening');
    const { port } = old.address() as AddressInfo;
    await assert.rejects(
      openRedisStore({ ...MESSAGES, url: `redis://127.0.0.1:${port}` }),
      /Redis 7 or newer .* 6\.2\.14/,
    );
    await assert.rejects(openRedisStore({ ...MESSAGES, url: `${redis.url},${redis.url}` }), /Redis Cluster/);
    for (const url of ['localhost:6379', 'http://localhost', 'redis://:pass#word@localhost'])
      await assert.rejects(openRedisStore({ ...MESSAGES, url }), /URL/);
  });

  test('a process that has closed the store ends, be the server there or not', async () => {
    await endsByItself(redis.url, "await store.ping(); store.take('q', {}); await store.close();");
    await endsByItself(
      redis.url,
      `store.take('q', {});
       process.kill(${await pidOf(admin)}, 'SIGKILL');
       while (await store.ping().then(() => true, () => false));
       await store.close();`,
    );
    await redis.restart();
  });
}

function clusterTests(cluster: () => RedisServer): void {
  let admins: Redis[];
  before(() => {
    admins = cluster().nodes.map(({ url }) => new Redis(url, { protocol: 2 }));
    for (const admin of admins) admin.on('error', () => {});
  });
  after(() => {
    for (const admin of admins) admin.disconnect();
  });

  test('every operation, and the contract before, leaves no key without an expiry', (t) =>
    everyKeyExpires(t, cluster()));

  test('one address is enough, and all of them are served', async (t) => {
    const store = await opened(t, cluster().nodes[1]?.url as string);
    const keys = Array.from({ length: 100 }, newKey);
    assert.ok((await Promise.all(keys.map((key) => store.claim(key, LONG)))).every(Boolean));
    const sizes = await Promise.all(admins.map((admin) => admin.dbsize()));
    assert.ok(sizes.every((size) => size > 0));
    await store.ping();
  });

  test('a slot that has moved is found', async (t) => {
    const store = await opened(t, cluster().url);
    const key = newKey();
    await store.claim(key, LONG);
    const [slot, from, to] = await slotOf(admins, `fillpath:once:${key}`);
    const ids = await Promise.all(admins.map((admin) => admin.call('cluster', 'myid')));
    await admins[to]?.call('cluster', 'setslot', slot, 'importing', String(ids[from]));
    await admins[from]?.call('cluster', 'setslot', slot, 'migrating', String(ids[to]));
    const { hostname, port } = new URL(cluster().nodes[to]?.url as string);
    await admins[from]?.migrate(hostname, Number(port), `fillpath:once:${key}`, 0, 5000);
    assert.equal(await store.claim(key, LONG), false, 'while it moves');
    for (const admin of [admins[to], ...admins])
      await admin?.call('cluster', 'setslot', slot, 'node', String(ids[to]));
    assert.equal(await store.claim(key, LONG), false, 'after it has moved');
    await store.release(key);
    assert.equal(await store.claim(key, LONG), true);
  });

  test('a process that has closed the store ends', async () => {
    // Closed at once, and about when it is asked who serves what.
    const moments = [0, 1_990, 2_000, 2_005].map((ms) =>
      endsByItself(cluster().url, `store.take('q', {}); await pause(${ms}); await store.close();`),
    );
    await Promise.all(moments);
  });

  test('the node of the wakes dies: who waits at the others is served, and at its own when it is back', async (t) => {
    const [store, other] = [await opened(t, cluster().url), await opened(t, cluster().url)];
    const queues = Array.from({ length: 60 }, newKey);
    const places = await Promise.all(
      queues.map(async (queue) => (await slotOf(admins, `fillpath:queue:${queue}`))[1]),
    );
    const taken = queues.map((queue) => store.take(queue, { timeoutMs: LONG }));
    const wakesAt = await soon(async () => {
      const counts = await Promise.all(admins.map(subscriptions));
      const index = counts.indexOf(queues.length);
      return index < 0 ? null : index;
    });
    const node = cluster().nodes[wakesAt];
    await node?.kill();
    const push = (queue: string) =>
      soon(() =>
        other.push(queue, queue, LONG).then(
          () => true,
          () => null,
        ),
      );
    const alive = queues.filter((_, index) => places[index] !== wakesAt);
    assert.ok(alive.length > 0 && alive.length < queues.length);
    await Promise.all(alive.map(push));
    assert.deepEqual(await Promise.all(taken.filter((_, index) => places[index] !== wakesAt)), alive);
    await assert.rejects(other.ping(), StoreUnavailable, 'a part of it is missing');
    await node?.restart();
    await Promise.all(queues.filter((_, index) => places[index] === wakesAt).map(push));
    assert.deepEqual(await Promise.all(taken), queues);
  });
}

const newKey = () => `test:${randomUUID()}`;

async function opened(t: TestContext, url: string): Promise<Store> {
  const store = await openRedisStore({ ...MESSAGES, url });
  t.after(() => store.close());
  return store;
}

/** Asks until there is an answer. */
async function soon<T>(ask: () => Promise<T | null>): Promise<T> {
  const start = performance.now();
  for (;;) {
    const answer = await ask();
    if (answer !== null) return answer;
    assert.ok(performance.now() - start < DEADLINE, 'waited in vain');
    await pause(10);
  }
}

const answers = (store: Store) =>
  soon(() =>
    store.ping().then(
      () => true,
      () => null,
    ),
  );

const subscriptions = async (admin: Redis) =>
  ((await admin.pubsub('CHANNELS', 'fillpath:wake:?*')) as string[]).length;

/** Somebody listens for wakes of each of these queues. */
async function heard(admin: Redis, queues: readonly string[]): Promise<void> {
  const channels = queues.map((queue) => `fillpath:wake:${/\{(.+)\}/.exec(queue)?.[1] ?? queue}`);
  await soon(async () => {
    const known = new Set((await admin.pubsub('CHANNELS')) as string[]);
    return channels.every((channel) => known.has(channel)) ? true : null;
  });
}

/** Connections of stores. */
async function clients(admin: Redis): Promise<number> {
  const list = String(await admin.client('LIST'));
  return list.split('\n').filter((line) => line.includes(' name=fillpath')).length;
}

const pidOf = async (admin: Redis) => /process_id:(\d+)/.exec(await admin.info('server'))?.[1];

/** The key's slot, the index of the node that serves it, and that of another. */
async function slotOf(
  admins: readonly Redis[],
  key: string,
): Promise<[slot: number, at: number, other: number]> {
  const slot = (await admins[0]?.cluster('KEYSLOT', key)) as number;
  const at = [5461, 10923, 16384].findIndex((end) => slot < end);
  return [slot, at, (at + 1) % admins.length];
}

const KINDS = ['fence', 'journal', 'lease', 'once', 'present', 'queue', 'tally', 'window'];
const HOUR = 3_600_000;

/**
 * Every operation that writes is done here and now, for an hour: what there is to look at does not depend on how long
 * the tests before have taken. Of all keys that are there, theirs included, none stays for ever.
 */
async function everyKeyExpires(t: TestContext, redis: RedisServer): Promise<void> {
  const store = await opened(t, redis.url);
  for (let round = 0; round < 2; round++) {
    const key = newKey();
    await store.claim(key, HOUR);
    await store.begin(key, HOUR);
    await store.prolong(key, HOUR);
    await store.finish(key, HOUR);
    await store.countInWindow(key, 2, HOUR);
    const lease = await store.acquireLease(key, 'a', HOUR);
    await store.acquireLease(key, 'b', HOUR, lease);
    await store.renewLease(key, (await store.leaseHolder(key)) ?? { holder: '', fence: 0 }, HOUR);
    for (const message of ['one', 'two']) await store.push(key, message, HOUR);
    await store.take(key, AT_ONCE);
    await store.announce(key, 'a', '', HOUR);
    await store.announced(key);
    await store.tally(key, 'a', HOUR);
    await store.keepJournal(key, HOUR);
    await store.note(key, ['a']);
    await Promise.all([store.finish(`{${key}}`, HOUR), store.push(`{${key}}`, 'both', HOUR)]);
  }
  const { forEver, kinds } = await keysOf(redis);
  assert.deepEqual([...kinds].sort(), KINDS);
  assert.deepEqual(forEver, []);

  const planted = `fillpath:once:${newKey()}`;
  const admins = redis.nodes.map(({ url }) => new Redis(url, { protocol: 2 }));
  const places = await Promise.allSettled(admins.map((admin) => admin.set(planted, 'for ever')));
  assert.deepEqual((await keysOf(redis)).forEver, [planted], 'it would have been found');
  for (const [index, { status }] of places.entries())
    if (status === 'fulfilled') await admins[index]?.del(planted);
  for (const admin of admins) admin.disconnect();
}

/** What kinds of keys there are, and which of them have no expiry. One that ends while we look had one. */
async function keysOf({ nodes }: RedisServer) {
  const kinds = new Set<string>();
  const forEver: string[] = [];
  for (const { url } of nodes) {
    const admin = new Redis(url, { protocol: 2 });
    for await (const keys of admin.scanStream({ count: 1000 }) as AsyncIterable<string[]>)
      for (const key of keys) {
        kinds.add(/^fillpath:(\w+):/.exec(key)?.[1] ?? key);
        if ((await admin.pttl(key)) === -1) forEver.push(key);
      }
    admin.disconnect();
  }
  return { kinds, forEver };
}

/** Runs a module with an open store in a process of its own, which must end in time. */
async function endsByItself(url: string, code: string): Promise<void> {
  const source = JSON.stringify(new URL('../../src/store/redis/adapter.ts', import.meta.url).href);
  const module = `
    import { setTimeout as pause } from 'node:timers/promises';
    import { openRedisStore } from ${source};
    const store = await openRedisStore({ url: ${JSON.stringify(url)}, key: Buffer.alloc(32), clock: Date });
    ${code}
    console.log('closed');`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', module], {
    timeout: DEADLINE,
  });
  assert.equal(stdout, 'closed\n');
}
