// What goes wrong, and for how long. The moments and the victims are chance, the same for the same seed.

import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Cluster, Member } from './cluster.ts';
import type { TrapOrder } from './exchange-traps.ts';
import { AT_EXCHANGE } from './faults-at-exchange.ts';
import { type Fault, type Scene, TRAP_MS, withOutage } from './scene.ts';

/** Longer than a lease and the rescue that follows it: others have the victim's users by then. */
const ZOMBIE_MS = [9_000, 14_000] as const;

/** The worker is caught at that moment of an order at the exchange, or of a stop, and dies or stands still right there. */
function caught(
  at: TrapOrder['at'],
  then: 'killed' | 'frozen',
  when: string,
  { stops = false }: Pick<TrapOrder, 'stops'> = {},
): Fault {
  return async ({ cluster, exchange, deaths }, { pick, between }) => {
    const worker = pick(cluster.workers.filter((each) => each.isRunning()));
    const trap = await exchange.trap({ asker: worker.name, at, within_ms: TRAP_MS, hold_ms: 10_000, stops });
    if (!trap.caught) return null;
    deaths.push(Date.now());
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

const STOPS = { stops: true };

const killed =
  (
    what: string,
    members: (cluster: Cluster) => readonly Member[],
    signal: NodeJS.Signals = 'SIGKILL',
  ): Fault =>
  async ({ cluster, deaths }, { pick, between }) => {
    const victim = pick(members(cluster));
    await sleep(between(0, 500));
    if (victim.role === 'worker') deaths.push(Date.now());
    await victim.end(signal);
    await sleep(between(200, 2_500));
    await victim.start();
    return what;
  };

const frozen =
  (what: string, members: (cluster: Cluster) => readonly Member[], least: number, most: number): Fault =>
  async ({ cluster, deaths }, { pick, between }) => {
    const victim = pick(members(cluster));
    if (victim.role === 'worker') deaths.push(Date.now());
    victim.freeze();
    await sleep(between(least, most));
    victim.thaw();
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
  ...AT_EXCHANGE,
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
  'worker killed while it places a stop': caught('arrived', 'killed', 'while it placed a stop', STOPS),
  'worker killed after a stop was taken': caught('accepted', 'killed', 'after its stop was taken', STOPS),
  'zombie while it places a stop': caught('accepted', 'frozen', 'while it placed a stop', STOPS),
  'worker killed': killed('worker killed at a random moment', ({ workers }) => workers),
  'worker drained': killed('worker ended by SIGTERM and started again', ({ workers }) => workers, 'SIGTERM'),
  'all workers killed': async (scene, { between }) => {
    const { workers } = scene.cluster;
    scene.deaths.push(Date.now());
    await withOutage(scene, null, async () => {
      await Promise.all(workers.map((worker) => worker.end('SIGKILL')));
      await sleep(between(500, 4_000));
      await Promise.all(workers.map((worker) => worker.start()));
    });
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

  'redis killed': async (scene, { between }) => {
    await withOutage(scene, null, async () => {
      await scene.redis.kill();
      await sleep(between(200, 4_000));
      await scene.redis.restart();
    });
    return 'Redis killed and started again, empty';
  },
  'redis flushed': async (scene) => {
    await withRedis(scene, (client) => client.flushall());
    return 'Redis: FLUSHALL';
  },
  'redis hanging': async (scene, { between }) => {
    await withOutage(scene, null, async () => {
      scene.redis.hang();
      await sleep(between(1_000, 6_000));
      scene.redis.goOn();
    });
    return 'Redis frozen and woken';
  },
  'postgres restarted': async (scene, { between }) => {
    await withOutage(scene, null, async () => {
      await scene.postgres.crash();
      await sleep(between(100, 2_500));
      await scene.postgres.start();
    });
    return 'PostgreSQL crashed and started again';
  },
  'postgres hanging': async (scene, { between }) => {
    await withOutage(scene, null, async () => {
      scene.postgres.hang();
      await sleep(between(2_000, 8_000));
      scene.postgres.goOn();
    });
    return 'PostgreSQL frozen and woken';
  },
  'disk full': async (scene, { between }) => {
    const { fillDisk, start } = scene.postgres;
    if (!fillDisk) return null;
    await withOutage(scene, null, async () => {
      const makeRoom = fillDisk();
      try {
        await sleep(between(2_000, 5_000));
      } finally {
        makeRoom();
      }
      // It may have ended over it.
      await sleep(500);
      await start();
    });
    return "PostgreSQL's disk full";
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
