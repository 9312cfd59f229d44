// What goes wrong, and for how long. The moments and the victims are chance, the same for the same seed.

import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { RedisServer } from '../test/servers/redis.ts';
import type { Cluster, Member } from './cluster.ts';
import type { ExchangeControl } from './exchange-client.ts';
import type { FaultOrder } from './exchange-faults.ts';
import type { TrapOrder } from './exchange-traps.ts';
import type { Postgres } from './postgres.ts';
import type { Desk } from './traffic.ts';

export interface Scene {
  readonly cluster: Cluster;
  readonly postgres: Postgres;
  readonly redis: RedisServer;
  readonly exchange: ExchangeControl;
  readonly desks: readonly Desk[];
  readonly random: () => number;
  /** When somebody's clock was wrong. */
  readonly jumps: { readonly from: number; readonly to: number }[];
}

/** Resolves with what happened when it is over, or null where it could not be done at this moment. */
type Fault = (scene: Scene, tools: Tools) => Promise<string | null>;

export interface Tools {
  pick<Item>(items: readonly Item[]): Item;
  /** Between the two, in milliseconds. */
  between(least: number, most: number): number;
}

/** Longer than a lease and the rescue that follows it: others have the victim's users by then. */
const ZOMBIE_MS = [9_000, 14_000] as const;
const TRAP_MS = 5_000;
/** Than BROKER_TIMEOUT_SECONDS. */
const LONGER_THAN_A_CALL_MS = 2_500;

/** The worker is caught at that moment of an order at the exchange, and dies or stands still right there. */
function caught(at: TrapOrder['at'], then: 'killed' | 'frozen', when: string): Fault {
  return async ({ cluster, exchange }, { pick, between }) => {
    const worker = pick(cluster.workers.filter((each) => each.isRunning()));
    const trap = await exchange.trap({ asker: worker.name, at, within_ms: TRAP_MS, hold_ms: 10_000 });
    if (!trap.caught) return null;
    if (then === 'killed') {
      await worker.end('SIGKILL');
      await exchange.release(trap.id);
      await sleep(between(300, 2_500));
      await worker.start();
      return `worker killed ${when}`;
    }
    worker.freeze();
    await exchange.release(trap.id);
    await sleep(between(...ZOMBIE_MS));
    worker.thaw();
    return `worker frozen past its lease ${when}, then woken`;
  };
}

const killed =
  (
    what: string,
    members: (cluster: Cluster) => readonly Member[],
    signal: NodeJS.Signals = 'SIGKILL',
  ): Fault =>
  async ({ cluster }, { pick, between }) => {
    const victim = pick(members(cluster));
    await sleep(between(0, 500));
    await victim.end(signal);
    await sleep(between(200, 2_500));
    await victim.start();
    return what;
  };

const frozen =
  (what: string, members: (cluster: Cluster) => readonly Member[], least: number, most: number): Fault =>
  async ({ cluster }, { pick, between }) => {
    const victim = pick(members(cluster));
    victim.freeze();
    await sleep(between(least, most));
    victim.thaw();
    return what;
  };

/** For everybody, in part of the calls. */
const atExchange =
  (what: string, fault: Omit<FaultOrder, 'ttl_ms' | 'seed'>): Fault =>
  async ({ exchange }, { between }) => {
    const ttl = between(2_000, 5_000);
    await exchange.addFault({ ...fault, ttl_ms: ttl, seed: between(1, 1e6) });
    await sleep(ttl);
    return what;
  };

/** Of one account, as it pleases that account's broker. */
const atOneAccount =
  (
    what: string,
    isIt: (desk: Desk) => boolean,
    fault: (tools: Tools) => Omit<FaultOrder, 'accounts'>[],
  ): Fault =>
  async ({ exchange, desks }, tools) => {
    const suitable = desks.filter(isIt);
    if (suitable.length === 0) return null;
    const accounts = [tools.pick(suitable).trader.account.id];
    const faults = fault(tools);
    for (const each of faults) await exchange.addFault({ ...each, accounts });
    await sleep(faults[0]?.ttl_ms ?? 0);
    return what;
  };

async function withRedis<T>({ redis }: Scene, task: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(redis.url, { protocol: 2, maxRetriesPerRequest: 1 });
  client.on('error', () => {});
  try {
    return await task(client);
  } finally {
    client.disconnect();
  }
}

export const FAULTS: Readonly<Record<string, Fault>> = {
  'worker killed before sending': caught('position', 'killed', 'before sending'),
  'worker killed while sending': caught('arrived', 'killed', 'while sending'),
  'worker killed after the accept': caught('accepted', 'killed', 'after the accept'),
  'worker killed before its reply': caught('answered', 'killed', 'before its reply'),
  'zombie before sending': caught('position', 'frozen', 'before sending'),
  'zombie while sending': caught('arrived', 'frozen', 'while sending'),
  'zombie after the accept': caught('accepted', 'frozen', 'after the accept'),
  'zombie anywhere': frozen(
    'worker frozen past its lease, then woken',
    ({ workers }) => workers,
    ...ZOMBIE_MS,
  ),
  'worker killed': killed('worker killed at a random moment', ({ workers }) => workers),
  'worker drained': killed('worker ended by SIGTERM and started again', ({ workers }) => workers, 'SIGTERM'),
  'all workers killed': async ({ cluster }, { between }) => {
    await Promise.all(cluster.workers.map((worker) => worker.end('SIGKILL')));
    await sleep(between(500, 4_000));
    await Promise.all(cluster.workers.map((worker) => worker.start()));
    return 'all workers killed at once';
  },
  'api killed': killed('API killed', ({ apis }) => apis),
  'api drained': killed('API ended by SIGTERM and started again', ({ apis }) => apis, 'SIGTERM'),
  'api frozen': frozen('API frozen and woken', ({ apis }) => apis, 1_000, 7_000),
  'verifier killed': killed('verifier killed', ({ verifiers }) => verifiers),
  'verifier frozen': frozen(
    'verifier frozen past its visibility, then woken',
    ({ verifiers }) => verifiers,
    9_000,
    11_000,
  ),

  'redis killed': async ({ redis }, { between }) => {
    await redis.kill();
    await sleep(between(200, 4_000));
    await redis.restart();
    return 'Redis killed and started again, empty';
  },
  'redis flushed': async (scene) => {
    await withRedis(scene, (client) => client.flushall());
    return 'Redis: FLUSHALL';
  },
  'redis hanging': async ({ redis }, { between }) => {
    redis.hang();
    await sleep(between(1_000, 6_000));
    redis.goOn();
    return 'Redis frozen and woken';
  },
  'postgres restarted': async ({ postgres }, { between }) => {
    await postgres.crash();
    await sleep(between(100, 2_500));
    await postgres.start();
    return 'PostgreSQL crashed and started again';
  },
  'postgres hanging': async ({ postgres }, { between }) => {
    postgres.hang();
    await sleep(between(2_000, 8_000));
    postgres.goOn();
    return 'PostgreSQL frozen and woken';
  },
  'disk full': async ({ postgres }, { between }) => {
    if (!postgres.fillDisk) return null;
    const makeRoom = postgres.fillDisk();
    try {
      await sleep(between(2_000, 5_000));
    } finally {
      makeRoom();
    }
    // It may have ended over it.
    await sleep(500);
    await postgres.start();
    return "PostgreSQL's disk full";
  },

  'exchange slow': atExchange('exchange slow before the accept', {
    kind: 'slow',
    ms: 1_200,
    probability: 0.5,
  }),
  'exchange too slow': atExchange('exchange slower than our patience', {
    kind: 'slow_answer',
    ms: 3_000,
    probability: 0.3,
    calls: 'orders',
  }),
  'exchange resetting': atExchange('exchange resetting connections', { kind: 'reset', probability: 0.4 }),
  'exchange losing': atExchange('exchange accepting and losing the answer', {
    kind: 'lose',
    probability: 0.5,
    calls: 'orders',
  }),
  'exchange garbage for what it takes': atExchange('exchange accepting and answering garbage', {
    kind: 'garbage',
    probability: 0.4,
    taken: true,
  }),
  'exchange garbage': atExchange('exchange answering garbage', {
    kind: 'garbage',
    probability: 0.4,
    taken: false,
  }),
  'exchange naming others': atExchange("exchange answering with another order's ids", {
    kind: 'garbage',
    garbage: 'another',
    probability: 0.4,
    taken: true,
  }),
  'exchange naming nobody': atExchange('exchange accepting orders without naming them', {
    kind: 'garbage',
    garbage: 'nameless',
    probability: 0.4,
    taken: true,
    calls: 'orders',
  }),
  'exchange stalling': atExchange('exchange stopping in the middle of an answer', {
    kind: 'stall',
    probability: 0.3,
  }),
  'exchange refusing': atExchange('exchange answering 429', {
    kind: 'refuse',
    probability: 0.6,
    calls: 'orders',
  }),

  'exchange hanging': atOneAccount(
    'exchange hanging for one account',
    () => true,
    ({ between }) => [{ kind: 'hang', ttl_ms: between(3_000, 9_000) }],
  ),
  // Longer than it remembers ids: what it took meanwhile without our hearing of it can no longer be asked for.
  'exchange silent': atOneAccount(
    'exchange losing the answers to orders, and for a minute to look-ups, of one account',
    ({ traits }) => traits.forgetsIdsAfterMs !== null,
    () => [
      { kind: 'lose', ttl_ms: 4_000, calls: 'orders' },
      { kind: 'lose', ttl_ms: 70_000, calls: 'look_ups' },
    ],
  ),
  'exchange busy': async ({ exchange, desks, random }, { between }) => {
    const accounts = desks
      .filter(({ traits }) => traits.limits !== null)
      .map(({ trader }) => trader.account.id);
    const isLong = random() < 0.15;
    const ttl = between(200, 2_500);
    await exchange.addFault({
      kind: 'refuse',
      accounts,
      ttl_ms: ttl,
      retry_after_ms: isLong ? between(5_500, 9_000) : between(200, 3_000),
      probability: 0.3 + 0.7 * random(),
      seed: between(1, 1e6),
    });
    await sleep(ttl);
    return `exchange busy, to be asked again ${isLong ? 'after more than 5 s' : 'in a moment'}`;
  },

  'exchange lagging': async ({ exchange, desks, random }, { between }) => {
    const accounts = some(desks, 0.5, random);
    const ttl = between(4_000, 12_000);
    await exchange.addFault({ kind: 'lag', accounts, ttl_ms: ttl, ms: between(500, 5_000) });
    await sleep(ttl);
    return 'exchange telling of positions up to 5 s late';
  },
  'exchange away': async ({ exchange, desks, random }, { between }) => {
    const ttl = between(2_000, 20_000);
    await exchange.addFault({ kind: 'reset', accounts: some(desks, 0.3, random), ttl_ms: ttl });
    await sleep(ttl);
    return 'exchange away for 2 to 20 s';
  },
  'exchange away after a close': async ({ cluster, exchange, desks, random }, { pick, between }) => {
    const worker = pick(cluster.workers);
    const trap = await exchange.trap({
      asker: worker.name,
      at: 'accepted',
      // Not every order is a close.
      within_ms: 2 * TRAP_MS,
      hold_ms: 10_000,
      closes: true,
    });
    if (!trap.caught || !trap.account) return null;
    const ttl = between(2_000, 20_000);
    const accounts = [...new Set([trap.account, ...some(desks, 0.2, random)])];
    await exchange.addFault({ kind: 'reset', accounts, ttl_ms: ttl });
    // Half of them never hear that the close was taken.
    if (random() < 0.5) await sleep(LONGER_THAN_A_CALL_MS);
    await exchange.release(trap.id);
    await sleep(ttl);
    return 'exchange away for 2 to 20 s right after it took a close';
  },
  'exchange refusing credentials': async ({ exchange, desks, random }, { between }) => {
    const ttl = between(500, 8_000);
    for (const account of some(desks, 0.15, random)) {
      const times = between(0, 2);
      const passes = times > 0 ? { ttl_ms: 8_000, times } : { ttl_ms: ttl };
      await exchange.addFault({ kind: 'deny', accounts: [account], ...passes });
    }
    await sleep(ttl);
    return 'exchange refusing right credentials once, twice, or for up to 8 s';
  },

  'clock ahead': jumped(20, 60),
  'clock behind': jumped(-60, -20),

  poison: async (scene, { pick }) => {
    const { user } = pick(scene.desks).trader;
    const junk = ['not json', 'null', '[]', '{"request":{}}', '{"replyTo":7,"request":{"kind":"dance"}}'];
    const lost = JSON.stringify({
      replyTo: null,
      request: { kind: 'execute', orderId: '0199c0de-0000-7000-8000-000000000000' },
    });
    await withRedis(scene, async (client) => {
      for (const message of [...junk, lost]) {
        await client.rpush(`fillpath:queue:work:{${user.id}}`, message);
        await client.rpush('fillpath:queue:worker-starts', message);
      }
      for (const queue of [`fillpath:queue:work:{${user.id}}`, 'fillpath:queue:worker-starts'])
        await client.pexpire(queue, 600_000);
    });
    return 'poison messages in the queues';
  },
};

/** A part of the accounts, at least one. */
function some(desks: readonly Desk[], part: number, random: () => number): string[] {
  const chosen = desks.filter(() => random() < part);
  return (chosen.length > 0 ? chosen : desks.slice(0, 1)).map(({ trader }) => trader.account.id);
}

function jumped(least: number, most: number): Fault {
  return async ({ cluster, jumps }, { pick, between }) => {
    const victim = pick(cluster.members);
    const from = Date.now();
    if (!victim.jump(between(least, most))) return null;
    await sleep(between(4_000, 8_000));
    victim.jump(0);
    // It is seen a second later.
    jumps.push({ from, to: Date.now() + 1_000 });
    return `clock of a ${victim.role} jumped ${least < 0 ? 'back' : 'ahead'} and returned`;
  };
}
