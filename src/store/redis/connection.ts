// The connections to Redis, or to a Redis Cluster: one for commands (in a cluster: one per master), and one at a time
// for wakes. Whatever goes wrong with them is StoreUnavailable to whoever asked, at once or after ANSWER_MS; the
// connections come back by themselves.

import { setTimeout as pause } from 'node:timers/promises';
import { Cluster, Redis, type RedisOptions, ReplyError } from 'ioredis';
import { StoreUnavailable } from '../store.ts';
import { SCRIPTS, type Scripts } from './scripts.ts';

/** How long a command may take. */
export const ANSWER_MS = 2_000;
/** How long a server may say nothing before the connection counts as dead. Longer: it may be a short hang. */
const SILENCE_MS = 5_000;
const OPEN_MS = 5_000;
/** How often a cluster is asked who serves what. */
const REFRESH_MS = 2_000;
const LONGEST_BACKOFF_MS = 1_000;
const OLDEST_VERSION = 7;

type Commands = (Redis | Cluster) & Scripts;

export interface Connection {
  /** To be used at once: throws while there is no connection. */
  readonly commands: Commands;
  readonly isCluster: boolean;
  /** Every server answers. */
  ping(): Promise<unknown>;
  /** A new connection for subscriptions, to any server; it does not come back by itself. */
  subscriber(): Redis;
  /** Whether the server of this subscriber still belongs to us. */
  knows(subscriber: Redis): boolean;
  close(): Promise<void>;
}

export interface Log {
  warn(context: object, text: string): void;
}

export const backoffMs = (attempt: number): number => Math.min(attempt * 50, LONGEST_BACKOFF_MS);

const OPTIONS = {
  protocol: 2,
  connectionName: 'fillpath',
  scripts: SCRIPTS,
  lazyConnect: true,
  // Nothing waits for a connection, and nothing is sent twice: who asked decides what to do.
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  connectTimeout: ANSWER_MS,
  socketTimeout: SILENCE_MS,
  disconnectTimeout: 100,
  maxLoadingRetryTime: 500,
  retryStrategy: backoffMs,
  // A primary that has become a replica: its address may lead to the new one.
  reconnectOnError: ({ message }) => message.startsWith('READONLY'),
} satisfies RedisOptions;

const SUBSCRIBER: Partial<RedisOptions> = {
  connectionName: 'fillpath-wakes',
  scripts: undefined,
  enableOfflineQueue: false,
  readOnly: false,
  retryStrategy: null,
  socketTimeout: ANSWER_MS,
};

export async function connect(url: string, log: Log | undefined): Promise<Connection> {
  const urls = url.split(',').map((each) => each.trim());
  if (!urls.every((each) => /^rediss?:\/\//.test(each) && URL.canParse(each)))
    throw new Error(
      'the address of Redis must be a redis:// or rediss:// URL, or several separated by commas',
    );
  const first = await firstToAnswer(urls);
  try {
    const info = fieldsOf(await inTime(() => first.info()));
    if (Number.parseInt(info.redis_version ?? '', 10) < OLDEST_VERSION)
      throw new Error(`Redis ${OLDEST_VERSION} or newer is needed, this is ${info.redis_version}`);
    if (info.maxmemory_policy && info.maxmemory_policy !== 'noeviction')
      log?.warn(
        { policy: info.maxmemory_policy },
        'Redis may evict keys when its memory is full: what should happen once may happen twice. Set maxmemory-policy to noeviction',
      );
    if (info.cluster_enabled === '1') return await openCluster(urls, first);
    // Each process could end up at another one.
    if (urls.length > 1)
      throw new Error('several addresses are for a Redis Cluster, and this Redis is not one');
    return openSingle(first);
  } catch (fault) {
    first.disconnect();
    throw fault;
  }
}

function openSingle(redis: Redis): Connection {
  const cork = corker(() => [redis]);
  return {
    get commands() {
      return cork(whenReady(redis));
    },
    isCluster: false,
    ping: () => redis.ping(),
    subscriber: () => redis.duplicate(SUBSCRIBER),
    knows: () => true,
    close: () => ended(redis),
  };
}

async function openCluster(urls: readonly string[], first: Redis): Promise<Connection> {
  const { username, password, tls } = first.options;
  const { enableOfflineQueue: _, retryStrategy: __, scripts: ___, ...redisOptions } = OPTIONS;
  const cluster = new Cluster([...urls], {
    scripts: SCRIPTS,
    clusterRetryStrategy: backoffMs,
    // By default a command whose connection was lost is sent again, and a claim would lose against itself.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    slotsRefreshTimeout: ANSWER_MS,
    // Names stay names: a certificate is made out to one.
    dnsLookup: (address, done) => done(null, address),
    redisOptions: { ...redisOptions, username, password, tls },
  });
  cluster.on('error', () => {});
  first.disconnect();
  try {
    await soonEnough(new Promise<void>((resolve) => cluster.once('ready', resolve)));
  } catch (fault) {
    cluster.disconnect();
    throw fault;
  }
  // The driver's own interval outlives the cluster where it is closed during a refresh.
  const refreshing = setInterval(() => cluster.refreshSlotsCache(), REFRESH_MS).unref();
  const cork = corker(() => cluster.nodes('master'));
  const addressOf = ({ options: { host, port } }: Redis) => `${host}:${port}`;
  return {
    get commands() {
      return cork(whenReady(cluster));
    },
    isCluster: true,
    ping() {
      const connected = new Map(cluster.nodes('master').map((node) => [addressOf(node), node]));
      const masters = new Set(cluster.slots.map(([master]) => master ?? 'none'));
      return Promise.all([...masters].map((master) => pinged(connected.get(master))));
    },
    subscriber() {
      const nodes = cluster.nodes();
      return (nodes[Math.floor(Math.random() * nodes.length)] ?? first).duplicate(SUBSCRIBER);
    },
    knows: (subscriber) => cluster.nodes().some((node) => addressOf(node) === addressOf(subscriber)),
    close() {
      clearInterval(refreshing);
      return ended(cluster);
    },
  };
}

async function pinged(node: Redis | undefined): Promise<void> {
  if (!node) throw new StoreUnavailable('a node of the Redis Cluster cannot be reached');
  await node.ping();
}

function whenReady(client: Redis | Cluster): Commands {
  if (client.status !== 'ready') throw new StoreUnavailable('Redis cannot be reached');
  return client as Commands;
}

/**
 * All commands of one turn leave in one write. (With 64 requests at once a fifth less work than one write each, and
 * than the driver's own pipelining, which besides lets a lone command wait half as long again.)
 */
function corker(connections: () => Redis[]): <Client>(client: Client) => Client {
  let corked: Redis['stream'][] = [];
  const uncork = () => {
    for (const stream of corked) stream.uncork();
    corked = [];
  };
  return (client) => {
    if (corked.length > 0) return client;
    corked = connections().flatMap(({ status, stream }) => (status === 'ready' ? [stream] : []));
    for (const stream of corked) stream.cork();
    process.nextTick(uncork);
    return client;
  };
}

/** Connected and past its greeting. Fails early where a server answers, but does not want us. */
async function firstToAnswer(urls: readonly string[]): Promise<Redis> {
  let cause: unknown;
  const candidates = urls.map((url) => new Redis(url, OPTIONS));
  const answers = candidates.map(
    (redis) =>
      new Promise<Redis>((resolve, reject) => {
        redis.once('ready', () => resolve(redis));
        redis.on('error', (fault: Error) => {
          cause = fault;
          if (fault instanceof ReplyError) reject(fault);
        });
        redis.connect().catch(() => {});
      }),
  );
  let first: Redis | undefined;
  try {
    first = await soonEnough(Promise.any(answers));
    return first;
  } catch (fault) {
    if (fault instanceof StoreUnavailable) throw new StoreUnavailable(fault.message, { cause });
    throw unavailable(cause);
  } finally {
    for (const redis of candidates) if (redis !== first) redis.disconnect();
  }
}

export function soonEnough<T>(answer: Promise<T>): Promise<T> {
  return limited(answer, OPEN_MS, `no Redis answered within ${OPEN_MS / 1000} s`);
}

/** The answer of a command, or StoreUnavailable. */
export async function inTime<T>(command: () => Promise<T>): Promise<T> {
  try {
    return await limited(command(), ANSWER_MS, 'Redis did not answer in time');
  } catch (fault) {
    throw unavailable(fault);
  }
}

function limited<T>(answer: Promise<T>, ms: number, text: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new StoreUnavailable(text)), ms);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Of Redis' own words only the first, the code: the rest may quote what was sent. */
export function unavailable(fault: unknown): StoreUnavailable {
  if (fault instanceof StoreUnavailable) return fault;
  const code = fault instanceof ReplyError ? /^[A-Z]+/.exec((fault as Error).message)?.[0] : undefined;
  return new StoreUnavailable(code ? `Redis refused: ${code}` : 'Redis cannot be reached', { cause: fault });
}

/** Ends the connections, and waits for that where there is something to wait for. */
export async function ended(client: Redis | Cluster): Promise<void> {
  const end =
    client.status === 'ready' ? new Promise<void>((resolve) => client.once('end', resolve)) : undefined;
  client.disconnect();
  await Promise.race([end, pause(ANSWER_MS, undefined, { ref: false })]);
}

function fieldsOf(info: string): Record<string, string> {
  return Object.fromEntries(
    info
      .split('\r\n')
      .filter((line) => line.includes(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
}
