// What stands in Redis is believed only where a process with the key has put it there, for that very place.

import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, describe, type TestContext, test } from 'node:test';
import { Redis } from 'ioredis';
import { openRedisStore } from '../../src/store/redis/adapter.ts';
import { createSignatures } from '../../src/store/redis/signatures.ts';
import { RedisMissing, startRedis } from '../servers/redis.ts';
import { settableClock } from '../world.ts';

const LONG = 60_000;
const AT_ONCE = { timeoutMs: 0 };
const key = randomBytes(32);

const server = await startRedis().catch((fault: unknown) => {
  if (fault instanceof RedisMissing) return { missing: fault.message };
  throw fault;
});

function silentLog() {
  const lines: object[] = [];
  return { lines, warn: (context: object) => void lines.push(context) };
}

describe('signatures', () => {
  const signatures = () => createSignatures({ key, clock: { now: Date.now }, log: undefined });

  test('are read by whoever has the key, at the place that they are for and nowhere else', () => {
    const [one, another] = [signatures(), signatures()];
    const stranger = createSignatures({ key: randomBytes(32), clock: { now: Date.now }, log: undefined });
    for (const text of ['', '{}', 'ünï\ncode\0', 'x'.repeat(100_000)]) {
      const signed = one.sign(['reply', 'a'], text);
      assert.equal(another.read(['reply', 'a'], signed), text);
      assert.equal(another.read(['reply', 'b'], signed), null);
      assert.equal(another.read(['queue', 'a'], signed), null);
      assert.equal(another.read(['present', 'a'], signed), null);
      assert.equal(stranger.read(['reply', 'a'], signed), null);
      assert.equal(another.read(['reply', 'a'], `${signed} `), null);
      assert.equal(another.read(['reply', 'a'], text), null);
    }
    assert.equal(another.refused(), 4 * 5);
  });

  test('of a place and a text that are shifted into each other are not the same', () => {
    const one = signatures();
    const signed = one.sign(['present', 'hosts', 'a'], 'b');
    assert.equal(one.read(['present', 'hosts'], signed), null);
    assert.equal(one.read(['present', 'hosts","a'], signed), null);
    assert.equal(one.read(['present', 'hosts', 'a\nb'], signed.slice(0, -1)), null);
  });

  test('of a request are good once, and not for ever', () => {
    const clock = settableClock();
    const [from, to, next] = [1, 2, 3].map(() => createSignatures({ key, clock, log: undefined }));
    assert.ok(from && to && next);
    const signed = from.signRequest('work', 'flatten', LONG);
    assert.equal(to.readRequest('work', signed), 'flatten');
    assert.equal(to.readRequest('work', signed), null);
    assert.equal(to.readRequest('work', from.signRequest('work', 'flatten', LONG)), 'flatten');
    // Clocks differ, by less than this.
    clock.advance(LONG + 400_000);
    assert.equal(next.readRequest('work', signed), null);
    // Nor does an answer pass for a request.
    assert.equal(next.readRequest('work', from.sign(['reply', 'work'], 'flatten')), null);
    assert.equal(next.readRequest('work', from.sign(['queue', 'work'], 'flatten')), null);
  });

  test('that are refused are counted, and told of once in a while', () => {
    const log = silentLog();
    const one = createSignatures({ key, clock: { now: Date.now }, log });
    for (let n = 0; n < 1000; n++) one.read(['reply', 'a'], 'no signature at all');
    assert.equal(one.refused(), 1000);
    assert.equal(log.lines.length, 1);
    assert.doesNotMatch(JSON.stringify(log.lines), /no signature/);
  });
});

if ('missing' in server) test('messages in Redis', { skip: server.missing }, () => {});
else {
  after(server.stop);
  const { url } = server;
  describe('messages in Redis', () => {
    async function open(t: TestContext) {
      const store = await openRedisStore({ url, key, clock: { now: Date.now } });
      t.after(() => store.close());
      const redis = new Redis(url, { protocol: 2 });
      t.after(() => redis.disconnect());
      return { store, redis };
    }

    test('that somebody else has put into a queue are passed over, and those behind them served', async (t) => {
      const { store, redis } = await open(t);
      const [mine, theirs] = [randomUUID(), randomUUID()];
      const keyOf = (queue: string) => `fillpath:queue:${queue}`;
      await store.push(theirs, 'for another', LONG);
      await store.push(mine, 'first', LONG);
      const [first = '', other = ''] = await Promise.all([
        redis.lindex(keyOf(mine), 0),
        redis.lindex(keyOf(theirs), 0),
      ]).then((found) => found.map((each) => each ?? ''));
      await redis.rpush(keyOf(mine), 'rubbish', '{"request":{}}', other, first);
      await store.push(mine, 'second', LONG);
      assert.equal(await store.take(mine, AT_ONCE), 'first');
      assert.equal(await store.take(mine, { timeoutMs: LONG }), 'second');
      assert.equal(await store.take(mine, AT_ONCE), null);
      assert.equal(store.refused(), 4);
    });

    test('that answer in another’s name leave who waits waiting for the right one', async (t) => {
      const { store, redis } = await open(t);
      const { store: worker } = await open(t);
      const asked = store.expectReply({ timeoutMs: LONG });
      const earlier = store.expectReply({ timeoutMs: LONG });
      const channel = `fillpath:reply:${/\{([^}]+)\}/.exec(asked.address)?.[1]}`;
      const listener = redis.duplicate();
      t.after(() => listener.disconnect());
      const { promise: recorded, resolve } = Promise.withResolvers<string>();
      listener.on('message', (_channel, text: string) => resolve(text.slice(text.indexOf('\n') + 1)));
      await listener.subscribe(channel);
      await worker.reply(earlier.address, 'nothing is held');
      assert.equal(await earlier.reply, 'nothing is held');

      await redis.publish(channel, `${asked.address}\nnothing is held`);
      await redis.publish(channel, `${asked.address}\n${await recorded}`);
      await redis.publish(channel, 'rubbish');
      await worker.reply(asked.address, 'one is held');
      assert.equal(await asked.reply, 'one is held');
      assert.equal(store.refused(), 3);
    });

    test('that tell of a host are believed of that host, from us', async (t) => {
      const { store, redis } = await open(t);
      const group = randomUUID();
      await store.announce(group, 'here', 'says', LONG);
      const stored = JSON.parse((await redis.hget(`fillpath:present:${group}`, 'here')) ?? '');
      await redis.hset(`fillpath:present:${group}`, 'ghost', JSON.stringify(stored));
      await redis.hset(`fillpath:present:${group}`, 'rubbish', JSON.stringify([stored[0], '{}']));
      const there = await store.announced(group);
      assert.deepEqual(
        there.map(({ name, says }) => [name, says]),
        [['here', 'says']],
      );
    });
  });
}
