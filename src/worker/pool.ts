// "Is a worker active for this user? If not, start one." A host marks an active worker by holding its lease; a start
// is a message that the next warm worker of any host takes. Where none does, a host is started directly.

import { randomUUID } from 'node:crypto';
import type { UserId } from '../domain/ids.ts';
import type { Store } from '../store/store.ts';

export const STARTS_QUEUE = 'worker-starts';
export const leaseOf = (user: UserId) => `worker:{${user}}`;

export interface StartRequest {
  readonly user: UserId;
  readonly replyTo: string;
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
/** A start that somebody took and died over is asked for again after this time. */
const ASK_AGAIN_MS = 3_000;

export function createPool({ store, startTimeoutMs, launcher, log }: PoolDeps): Pool {
  // Orders that arrive together while a worker starts wait for the one start.
  const starting = new Map<UserId, Promise<boolean>>();
  const nextReply = replyQueues();

  async function start(user: UserId): Promise<boolean> {
    const replyTo = nextReply();
    const message = JSON.stringify({ user, replyTo } satisfies StartRequest);
    const giveUp = performance.now() + startTimeoutMs;
    const left = () => Math.max(0, giveUp - performance.now());
    for (let patience = CLAIM_MS; left() > 0; patience = ASK_AGAIN_MS) {
      await store.push(STARTS_QUEUE, message, startTimeoutMs);
      const hasHosts = launcher === null || (await store.announced(HOSTS)).length > 0;
      if (hasHosts && (await store.take(replyTo, { timeoutMs: Math.min(patience, left()) }))) return true;
      launcher
        ?.launch()
        .catch((fault: unknown) => log.warn({ fault, user }, 'a worker host could not be started'));
      if (!hasHosts && (await store.take(replyTo, { timeoutMs: Math.min(ASK_AGAIN_MS, left()) })))
        return true;
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
