// Who waits at a queue is woken by a message on the channel of the queue's group. All groups share one connection. A
// wake is only a hint: whenever a group is subscribed, for the first time or after an outage, each of its queues is
// looked at, so that what was pushed while nobody listened is found. Replies come over the same connection, and whoever
// waits for one is told of an outage. Journals are watched in the same way as queues.

import { type Redis, ReplyError } from 'ioredis';
import type { Replies } from '../replies.ts';
import { backoffMs, type Connection, ended, soonEnough, unavailable } from './connection.ts';

/** How often the server is asked whether it is still there. */
const ROUND_MS = 2_000;
/** Who has served a message waits again soon: a group keeps its subscription for a while. */
const KEPT_MS = 60_000;
const CHANNELS = 'fillpath:wake:';
const REPLIES = 'fillpath:reply:';
/** Always subscribed: it shows at the start that we may subscribe. What is published there is for every process. */
const NO_GROUP = '';
export const TO_ALL = CHANNELS + NO_GROUP;

const groupOf = (queue: string): string => /^[^{]*\{([^}]+)\}/.exec(queue)?.[1] ?? queue;
export const channelOf = (queue: string): string => CHANNELS + groupOf(queue);
export const replyChannelOf = (address: string): string => REPLIES + groupOf(address);

interface Group {
  readonly queues: Set<string>;
  /** The subscription that it belongs to, by number; 0: to none. */
  heardOn: number;
  /** When the last queue left it. */
  idleSince: number;
}

export interface Wakes {
  /** Not 0: whatever is pushed is noticed, for as long as this number stays the same. */
  heardOn(queue: string): number;
  /** The queue is looked at once it is heard, and whenever it is woken, until it leaves. */
  enter(queue: string): void;
  leave(queue: string): void;
  close(): Promise<void>;
}

export async function listenForWakes(
  connection: Connection,
  replies: Pick<Replies, 'group' | 'deliver' | 'missed'>,
  { look, heard }: { look(queue: string): void; heard(text: string): void },
): Promise<Wakes> {
  const groups = new Map<string, Group>();
  const newGroups = new Set<string>();
  const firstSubscribed = Promise.withResolvers<void>();
  let isOpen = true;
  let subscriptions = 0;
  let attempts = 0;
  let retry: NodeJS.Timeout | undefined;
  let redis = listen();

  function listen(): Redis {
    const subscriber = connection.subscriber();
    subscriber.on('error', () => {});
    subscriber.on('message', (channel: string, text: string) => {
      if (channel === TO_ALL) return heard(text);
      if (!channel.startsWith(REPLIES)) return look(text);
      const end = text.indexOf('\n');
      replies.deliver(text.slice(0, end), text.slice(end + 1));
    });
    subscriber.once('ready', () => void subscribe([NO_GROUP, ...groups.keys()]));
    subscriber.once('end', () => {
      for (const group of groups.values()) group.heardOn = 0;
      if (isOpen) retry = setTimeout(() => (redis = listen()), backoffMs(++attempts));
    });
    subscriber.connect().catch(() => {});
    return subscriber;
  }

  async function subscribe(names: readonly string[]): Promise<void> {
    const subscriber = redis;
    const isNew = names[0] === NO_GROUP;
    const channels = names.map((name) => CHANNELS + name);
    if (isNew) channels.push(REPLIES + replies.group);
    try {
      await subscriber.subscribe(...channels);
    } catch (fault) {
      if (fault instanceof ReplyError) firstSubscribed.reject(unavailable(fault));
      subscriber.disconnect();
      return;
    }
    if (subscriber.status !== 'ready') return;
    attempts = 0;
    firstSubscribed.resolve();
    subscriptions++;
    for (const name of names) {
      const group = groups.get(name);
      if (!group) continue;
      group.heardOn = subscriptions;
      for (const queue of group.queues) look(queue);
    }
    if (isNew) replies.missed();
  }

  /** Many groups that come at once cost one command. */
  function subscribeSoon(name: string): void {
    if (newGroups.size === 0)
      setImmediate(() => {
        // Where the connection is not there now, they are subscribed with all others when it is.
        if (redis.status === 'ready') void subscribe([...newGroups]);
        newGroups.clear();
      });
    newGroups.add(name);
  }

  function dropIdle(): void {
    const now = performance.now();
    const idle = [...groups].filter(
      ([, { queues, idleSince }]) => queues.size === 0 && now - idleSince > KEPT_MS,
    );
    for (const [name] of idle) groups.delete(name);
    if (idle.length > 0 && redis.status === 'ready')
      redis.unsubscribe(...idle.map(([name]) => CHANNELS + name)).catch(() => {});
  }

  const rounds = setInterval(() => {
    // Without an answer the connection ends by its socketTimeout.
    if (redis.status === 'ready') redis.ping().catch(() => {});
    dropIdle();
    if (!connection.isCluster) return;
    // Between the nodes of a cluster a wake can get lost, and a node can leave.
    if (!connection.knows(redis)) redis.disconnect();
    for (const { queues } of groups.values()) for (const queue of queues) look(queue);
  }, ROUND_MS).unref();

  const wakes: Wakes = {
    heardOn: (queue) => groups.get(groupOf(queue))?.heardOn ?? 0,

    enter(queue) {
      const name = groupOf(queue);
      const known = groups.get(name);
      if (known) {
        known.queues.add(queue);
        return;
      }
      groups.set(name, { queues: new Set([queue]), heardOn: 0, idleSince: 0 });
      subscribeSoon(name);
    },

    leave(queue) {
      const group = groups.get(groupOf(queue));
      group?.queues.delete(queue);
      if (group?.queues.size === 0) group.idleSince = performance.now();
    },

    async close() {
      isOpen = false;
      clearInterval(rounds);
      clearTimeout(retry);
      await ended(redis);
    },
  };
  try {
    await soonEnough(firstSubscribed.promise);
  } catch (fault) {
    await wakes.close();
    throw fault;
  }
  return wakes;
}
