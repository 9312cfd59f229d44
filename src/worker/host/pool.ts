// "Is a worker active for this user? If not, start one." A host marks an active worker by holding its lease, which is
// good for as long as that host is there; a start is a message that the next warm worker of any host takes. Where none
// does, a host is started directly.

import { setTimeout as sleep } from 'node:timers/promises';
import { isUuid, type UserId } from '../../domain/ids.ts';
import type { Lease, Store } from '../../store/store.ts';
import { HOSTS, type Knowledge, type Roster } from './roster.ts';

export const STARTS_QUEUE = 'worker-starts';
export const leaseOf = (user: UserId) => `worker:{${user}}`;

export interface StartRequest {
  readonly user: UserId;
  /** null: nobody waits for it. */
  readonly replyTo: string | null;
  /** The lease of a host that is gone: it may be taken. */
  readonly instead: Lease | null;
}

/** Throws for what is none: anybody may have put it there. */
export function readStart(message: string): StartRequest {
  const { user, replyTo = null, instead = null } = JSON.parse(message) as Partial<StartRequest>;
  if (typeof user !== 'string' || !isUuid(user) || (replyTo !== null && typeof replyTo !== 'string'))
    throw new Error('a start that names no user');
  return { user, replyTo, instead };
}

/** Brings another host into being, wherever hosts come from. */
export interface Launcher {
  /** Ends when the host takes users. */
  launch(): Promise<void>;
}

export interface Pool {
  /**
   * True once a worker is active for the user, as far as this process knows: it may have stopped since it was last
   * heard of. False where none could be started in time.
   */
  ensure(user: UserId): Promise<boolean>;
  /** Whoever's worker it may be. False while a version from before that is still among them. */
  allKnow(what: Knowledge): boolean;
}

export interface Placement {
  /** The host that has the user's worker at this moment; null: none that is there. */
  hostOf(user: UserId): Promise<string | null>;
}

export interface PoolDeps {
  readonly store: Store;
  readonly roster: Pick<Roster, 'isHere' | 'onGone' | 'hosts'>;
  readonly startTimeoutMs: number;
  /** null: there is nothing to launch hosts with. */
  readonly launcher: Launcher | null;
  readonly log: { warn(context: object, text: string): void };
}

/** A warm worker needs a few milliseconds; one that is busy may need a little more. */
const CLAIM_MS = 500;
const LOOK_EVERY_MS = 100;
/** A start that somebody took and died over is asked for again after this time. */
const ASK_AGAIN_MS = 1_000;
const LAUNCH_AGAIN_MS = 3_000;
/** A start waits for a host for this long, and as long no other one is asked for while it does. */
export const START_TTL_MS = 600_000;
/** Whose host is remembered. */
const MOST_USERS = 100_000;

export function createPool({ store, roster, startTimeoutMs, launcher, log }: PoolDeps): Pool & Placement {
  // Orders that arrive together while a worker starts wait for the one start.
  const starting = new Map<UserId, Promise<boolean>>();
  /** Where each user's worker was seen last. */
  const hosts = new Map<UserId, string>();
  roster.onGone((gone) => {
    for (const [user, host] of hosts) if (host === gone) hosts.delete(user);
  });

  /** With the lease of one who is not there any more. */
  async function look(user: UserId): Promise<{ host: string | null; lost: Lease | null }> {
    const lease = await store.leaseHolder(leaseOf(user));
    const isHere = lease !== null && (await roster.isHere(lease.holder));
    hosts.delete(user);
    if (!isHere) return { host: null, lost: lease };
    const [oldest] = hosts.size < MOST_USERS ? [] : hosts.keys();
    if (oldest) hosts.delete(oldest);
    hosts.set(user, lease.holder);
    return { host: lease.holder, lost: null };
  }

  async function start(user: UserId, found: Lease | null): Promise<boolean> {
    const { address, reply, cancel } = store.expectReply({ timeoutMs: startTimeoutMs });
    const asked = `start:{${user}}`;
    let lost = found;
    const ask = () => {
      const request: StartRequest = { user, replyTo: address, instead: lost };
      return store.push(STARTS_QUEUE, JSON.stringify(request), START_TTL_MS);
    };
    const launch = () =>
      launcher
        ?.launch()
        .catch((fault: unknown) => log.warn({ fault, user_id: user }, 'a worker host could not be started'));

    const begun = performance.now();
    const passedMs = () => performance.now() - begun;
    try {
      // One start for all processes that want one, or the queue would only grow while no host is there. In an empty
      // queue there is none.
      if ((await store.claim(asked, START_TTL_MS)) || (await store.queueLength(STARTS_QUEUE)) === 0)
        await ask();
      if (launcher && (await store.announced(HOSTS)).length === 0) void launch();
      let askAgainAt = ASK_AGAIN_MS;
      let launchAt = CLAIM_MS;
      while (passedMs() < startTimeoutMs) {
        const patience = Math.min(LOOK_EVERY_MS, startTimeoutMs - passedMs());
        const isStarted = (await Promise.race([reply, sleep(patience, null)])) !== null;
        const seen = isStarted ? null : await look(user);
        if (isStarted || seen?.host) {
          await store.release(asked);
          return true;
        }
        lost = seen?.lost ?? null;
        if (passedMs() >= launchAt) {
          void launch();
          launchAt += LAUNCH_AGAIN_MS;
        }
        if (passedMs() >= askAgainAt) {
          // An empty queue: whoever took ours, or somebody else's, for this user has not started it.
          if ((await store.queueLength(STARTS_QUEUE)) === 0) await ask();
          askAgainAt += ASK_AGAIN_MS;
        }
      }
      return false;
    } finally {
      cancel();
    }
  }

  return {
    async ensure(user) {
      if (hosts.has(user)) return true;
      const { host, lost } = await look(user);
      if (host) return true;
      const underWay = starting.get(user) ?? start(user, lost).finally(() => starting.delete(user));
      starting.set(user, underWay);
      return underWay;
    },
    hostOf: async (user) => (await look(user)).host,
    allKnow: (what) => roster.hosts().every(({ knows }) => knows?.includes(what)),
  };
}
