// The store in Redis, or in a Redis Cluster: shared by every process that is given the same address. Every operation is
// one command or one script on one key, or on two of the same slot; every key expires; and all times are the server's.

import { type Lease, type Store, StoreUnavailable } from '../store.ts';
import { connect, inTime, type Log } from './connection.ts';
import { openQueues } from './queues.ts';

/** The next fence is larger by the clock as well: what remembers the last one is for a clock that goes back. */
const FENCE_MS = 86_400_000;

const keyOf = (kind: 'once' | 'window' | 'lease' | 'fence' | 'queue' | 'present') => (key: string) =>
  `fillpath:${kind}:${key}`;
const onceKey = keyOf('once');
const windowKey = keyOf('window');
const presentKey = keyOf('present');
const queueKey = keyOf('queue');

/** Two keys of one slot: without a hash tag of its own, the whole name is made one. */
function leaseKeys(key: string): [lease: string, fence: string] {
  const tagged = /^[^{]*\{[^}]+\}/.test(key) ? key : `{${key.replaceAll('}', '%7D')}}`;
  return [keyOf('lease')(tagged), keyOf('fence')(tagged)];
}

/** Redis wants whole numbers, and refuses a time of nothing. */
const wholeMs = (ms: number): number => Math.max(1, Math.ceil(ms));

/**
 * `url` is redis:// or rediss:// with user, password and database as they are usual, or several of them, separated by
 * commas, where they are nodes of a Redis Cluster. Rejects with StoreUnavailable where none of them answers.
 */
export async function openRedisStore({
  url,
  log,
}: {
  readonly url: string;
  readonly log?: Log;
}): Promise<Store> {
  const connection = await connect(url, log);
  const queues = await openQueues(connection, queueKey).catch(async (fault) => {
    await connection.close();
    throw fault;
  });
  let closing: Promise<void> | undefined;

  const mustBeOpen = () => {
    if (closing) throw new StoreUnavailable('the store is closed');
  };

  const ask = async <T>(command: (redis: typeof connection.commands) => Promise<T>): Promise<T> => {
    mustBeOpen();
    return inTime(() => command(connection.commands));
  };

  return {
    async claim(key, ttlMs) {
      const set = await ask((redis) => redis.set(onceKey(key), 'under_way', 'PX', wholeMs(ttlMs), 'NX'));
      return set === 'OK';
    },

    async release(key) {
      await ask((redis) => redis.del(onceKey(key)));
    },

    async begin(key, ttlMs) {
      const known = await ask((redis) =>
        redis.set(onceKey(key), 'under_way', 'PX', wholeMs(ttlMs), 'NX', 'GET'),
      );
      if (known === null) return 'begun';
      return known === 'done' ? 'done' : 'under_way';
    },

    async prolong(key, ttlMs) {
      await ask((redis) => redis.pexpire(onceKey(key), wholeMs(ttlMs)));
    },

    async finish(key, ttlMs) {
      await ask((redis) => redis.set(onceKey(key), 'done', 'PX', wholeMs(ttlMs)));
    },

    async countInWindow(key, limit, windowMs) {
      const retryAfterMs = await ask((redis) => redis.countCall(windowKey(key), limit, wholeMs(windowMs)));
      return { allowed: retryAfterMs === 0, retryAfterMs };
    },

    async clearWindow(key) {
      await ask((redis) => redis.del(windowKey(key)));
    },

    async acquireLease(key, holder, ttlMs) {
      const fence = await ask((redis) =>
        redis.acquireLease(...leaseKeys(key), holder, wholeMs(ttlMs), FENCE_MS),
      );
      return fence === null ? null : { holder, fence };
    },

    async renewLease(key, { holder, fence }: Lease, ttlMs) {
      const [leaseKey] = leaseKeys(key);
      return (await ask((redis) => redis.renewLease(leaseKey, holder, fence, wholeMs(ttlMs)))) === 1;
    },

    async releaseLease(key, { holder, fence }: Lease) {
      const [leaseKey] = leaseKeys(key);
      await ask((redis) => redis.releaseLease(leaseKey, holder, fence));
    },

    async leaseHolder(key) {
      const [leaseKey] = leaseKeys(key);
      const [holder, fence] = await ask((redis) => redis.hmget(leaseKey, 'holder', 'fence'));
      return typeof holder === 'string' ? { holder, fence: Number(fence) } : null;
    },

    async push(queue, message, ttlMs) {
      mustBeOpen();
      await queues.push(queue, message, wholeMs(ttlMs));
    },

    async take(queue, options) {
      mustBeOpen();
      return queues.take(queue, options);
    },

    queueLength: (queue) => ask((redis) => redis.llen(queueKey(queue))),

    async announce(group, name, says, ttlMs) {
      await ask((redis) => redis.announcePresence(presentKey(group), name, says, wholeMs(ttlMs)));
    },

    async withdraw(group, name) {
      await ask((redis) => redis.hdel(presentKey(group), name));
    },

    async announced(group) {
      const present = await ask((redis) => redis.listPresent(presentKey(group)));
      return present.map(([name, says]) => ({ name, says }));
    },

    async ping() {
      await ask(() => connection.ping());
    },

    close() {
      closing ??= queues.close().then(() => connection.close());
      return closing;
    },
  };
}
