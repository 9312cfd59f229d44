// The store in Redis, or in a Redis Cluster: shared by every process that is given the same address. Every operation is
// one command or one script on one key, or on two of the same slot; every key expires; and all times are the server's.

import type { Clock } from '../../domain/clock.ts';
import { Replies } from '../replies.ts';
import { type Store, StoreUnavailable } from '../store.ts';
import { connect, inTime, type Log } from './connection.ts';
import { openJournals } from './journals.ts';
import { openQueues } from './queues.ts';
import { createSignatures } from './signatures.ts';
import { type Ask, openTurns } from './turns.ts';

/** The next fence is larger by the clock as well: what remembers the last one is for a clock that goes back. */
const FENCE_MS = 86_400_000;

type Kind = 'once' | 'window' | 'lease' | 'fence' | 'queue' | 'present' | 'tally' | 'journal';
const keyOf = (kind: Kind) => (key: string) => `fillpath:${kind}:${key}`;
const onceKey = keyOf('once');
const windowKey = keyOf('window');
const presentKey = keyOf('present');
const tallyKey = keyOf('tally');
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
 * commas, where they are nodes of a Redis Cluster. `key` is what all our processes know and Redis does not: what they tell
 * each other is believed by it. Rejects with StoreUnavailable where none of the addresses answers.
 */
export async function openRedisStore({
  url,
  key,
  clock,
  log,
}: {
  readonly url: string;
  readonly key: Buffer;
  readonly clock: Clock;
  readonly log?: Log;
}): Promise<Store> {
  const connection = await connect(url, log);
  const turns = openTurns(connection);
  const replies = new Replies();
  const signatures = createSignatures({ key, clock, log });
  const journals = openJournals({ turns, keyOf: keyOf('journal'), wakes: () => queues.wakes });
  const opening = openQueues({ connection, turns, keyOf: queueKey, replies, signatures, others: journals });
  const queues = await opening.catch(async (fault) => {
    await connection.close();
    throw fault;
  });
  let closing: Promise<void> | undefined;

  const mustBeOpen = () => {
    if (closing) throw new StoreUnavailable('the store is closed');
  };

  const ask = async (...question: Parameters<Ask>): Promise<unknown> => {
    mustBeOpen();
    return inTime(() => turns(...question));
  };
  const command = (name: string, key: string, ...args: (string | number)[]) =>
    ask('plain', [key], [name, ...args]);

  return {
    async claim(key, ttlMs) {
      return (await command('set', onceKey(key), 'under_way', 'PX', wholeMs(ttlMs), 'NX')) === 'OK';
    },

    async release(key) {
      await command('del', onceKey(key));
    },

    async begin(key, ttlMs) {
      const known = await command('set', onceKey(key), 'under_way', 'PX', wholeMs(ttlMs), 'NX', 'GET');
      if (known === null) return 'begun';
      return known === 'done' ? 'done' : 'under_way';
    },

    async prolong(key, ttlMs) {
      await command('pexpire', onceKey(key), wholeMs(ttlMs));
    },

    async finish(key, ttlMs) {
      await command('set', onceKey(key), 'done', 'PX', wholeMs(ttlMs));
    },

    async countInWindow(key, limit, windowMs) {
      const retryAfterMs = Number(await ask('countCall', [windowKey(key)], [limit, wholeMs(windowMs)]));
      return { allowed: retryAfterMs === 0, retryAfterMs };
    },

    async acquireLease(key, holder, ttlMs, instead) {
      const from = instead ? [instead.holder, instead.fence] : ['', ''];
      const fence = await ask('acquireLease', leaseKeys(key), [holder, wholeMs(ttlMs), FENCE_MS, ...from]);
      return fence === null ? null : { holder, fence: Number(fence) };
    },

    async renewLease(key, { holder, fence }, ttlMs) {
      const [leaseKey] = leaseKeys(key);
      return (await ask('renewLease', [leaseKey], [holder, fence, wholeMs(ttlMs)])) === 1;
    },

    async releaseLease(key, { holder, fence }) {
      const [leaseKey] = leaseKeys(key);
      await ask('releaseLease', [leaseKey], [holder, fence]);
    },

    async leaseHolder(key) {
      const [leaseKey] = leaseKeys(key);
      const [holder, fence] = (await command('hmget', leaseKey, 'holder', 'fence')) as (string | null)[];
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

    async queueLength(queue) {
      return Number(await command('llen', queueKey(queue)));
    },

    expectReply: (options) => replies.expect(options),

    async reply(address, message) {
      mustBeOpen();
      await queues.reply(address, message);
    },

    async announce(group, name, says, ttlMs) {
      const signed = signatures.sign(['present', group, name], says);
      return (await ask('announcePresence', [presentKey(group)], [name, signed, wholeMs(ttlMs)])) === 1;
    },

    async withdraw(group, name) {
      await command('hdel', presentKey(group), name);
    },

    async announced(group) {
      const present = (await ask('listPresent', [presentKey(group)], [])) as [string, string, number][];
      return present.flatMap(([name, signed, leftMs]) => {
        const says = signatures.read(['present', group, name], signed);
        return says === null ? [] : [{ name, says, leftMs }];
      });
    },

    async tally(group, name, ttlMs) {
      await ask('tally', [tallyKey(group)], [name, wholeMs(ttlMs)]);
    },

    async tallied(group) {
      const fields = (await ask('listTallies', [tallyKey(group)], [])) as string[];
      const names = fields.filter((_, index) => index % 2 === 0);
      return names.map((name, index) => ({ name, count: Number(fields[2 * index + 1]) }));
    },

    async keepJournal(journal, keptMs) {
      mustBeOpen();
      return journals.keepJournal(journal, wholeMs(keptMs));
    },

    async note(journal, texts) {
      mustBeOpen();
      await journals.note(journal, texts);
    },

    async readJournal(journal, after) {
      mustBeOpen();
      return journals.readJournal(journal, after);
    },

    watchJournal: (journal, look) => journals.watchJournal(journal, look),

    refused: () => signatures.refused(),

    async ping() {
      mustBeOpen();
      await inTime(() => connection.ping());
    },

    close() {
      closing ??= queues.close().then(() => connection.close());
      return closing;
    },
  };
}
