// "Is a worker active for this user? If not, start one." A host marks an active worker by holding its lease; a start
// is a message that the next warm worker of any host takes. Where none does, a host is started directly.

import { randomUUID } from 'node:crypto';
import { isUuid, type UserId } from '../domain/ids.ts';
import type { Store } from '../store/store.ts';

export const STARTS_QUEUE = 'worker-starts';
export const leaseOf = (user: UserId) => `worker:{${user}}`;

export interface StartRequest {
  readonly user: UserId;
  readonly replyTo: string;
}

/** Throws for what is none: anybody may have put it there. */
export function readStart(message: string): StartRequest {
  const { user, replyTo } = JSON.parse(message) as Partial<StartRequest>;
  if (typeof user !== 'string' || !isUuid(user) || typeof replyTo !== 'string')
    throw new Error('a start that names no user');
  return { user, replyTo };
}

/** Brings another host into being, wherever hosts come from. */
export interface Launcher {
  /** Ends when the host takes users. */
  launch(): Promise<void>;
}

export interface Pool {
  /** True once a worker is active for the user; false where none could be started in time. */
  ensure(user: UserId): Promise<boolean>;
}

export interface PoolDeps {
  readonly store: Store;
  readonly startTimeoutMs: number;
  /** null: there is nothing to launch hosts with. */
  readonly launcher: Launcher | null;
  readonly log: { warn(context: object, text: string): void };
}

/** A warm worker needs a few milliseconds; one that is busy may need a little more. */
const CLAIM_MS = 500;
const LOOK_EVERY_MS = 100;
/** A start that somebody took and died over is asked for again after this time. */
const ASK_AGAIN_MS = 3_000;
/** A start waits for a host for this long, and as long no other one is asked for while it does. */
export const START_TTL_MS = 600_000;

export function createPool({ store, startTimeoutMs, launcher, log }: PoolDeps): Pool {
  // Orders that arrive together while a worker starts wait for the one start.
  const starting = new Map<UserId, Promise<boolean>>();
  const nextReply = replyQueues();

  async function start(user: UserId): Promise<boolean> {
    const replyTo = nextReply();
    const asked = `start:{${user}}`;
    const ask = () => store.push(STARTS_QUEUE, JSON.stringify({ user, replyTo }), START_TTL_MS);
    const launch = () =>
      launcher
        ?.launch()
        .catch((fault: unknown) => log.warn({ fault, user }, 'a worker host could not be started'));

    const begun = performance.now();
    const passedMs = () => performance.now() - begun;
    // One start for all processes that want one, or the queue would only grow while no host is there. In an empty queue
    // there is none.
    if ((await store.claim(asked, START_TTL_MS)) || (await store.queueLength(STARTS_QUEUE)) === 0)
      await ask();
    if (launcher && (await store.announced(HOSTS)).length === 0) void launch();
    let askAgainAt = ASK_AGAIN_MS;
    let launchAt = CLAIM_MS;
    while (passedMs() < startTimeoutMs) {
      const patience = Math.min(LOOK_EVERY_MS, startTimeoutMs - passedMs());
      const isStarted =
        (await store.take(replyTo, { timeoutMs: patience })) !== null ||
        (await store.leaseHolder(leaseOf(user))) !== null;
      if (isStarted) {
        await store.release(asked);
        return true;
      }
      if (passedMs() >= launchAt) {
        void launch();
        launchAt += ASK_AGAIN_MS;
      }
      if (passedMs() >= askAgainAt) {
        // An empty queue: whoever took ours, or somebody else's, for this user has not started it.
        if ((await store.queueLength(STARTS_QUEUE)) === 0) await ask();
        askAgainAt += ASK_AGAIN_MS;
      }
    }
    return false;
  }

  return {
    async ensure(user) {
      if (await store.leaseHolder(leaseOf(user))) return true;
      const underWay = starting.get(user) ?? start(user).finally(() => starting.delete(user));
      starting.set(user, underWay);
      return underWay;
    },
  };
}

/** The group under which hosts announce themselves. */
export const HOSTS = 'worker-hosts';

/** Names for queues of one answer each; all those of one process wait together. */
export function replyQueues(): () => string {
  const group = randomUUID();
  let made = 0;
  return () => `reply:{${group}}:${++made}`;
}
