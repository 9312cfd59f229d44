// "Is a worker active for this user? If not, start one." A host marks an active worker by holding its lease; a start
// is a message that the next warm worker of any host takes.

import { randomUUID } from 'node:crypto';
import type { UserId } from '../domain/ids.ts';
import type { Store } from '../store/store.ts';

export const STARTS_QUEUE = 'worker-starts';
export const leaseOf = (user: UserId) => `worker:{${user}}`;

export interface StartRequest {
  readonly user: UserId;
  readonly replyTo: string;
}

export interface Pool {
  /** True once a worker is active for the user; false where none could be started in time. */
  ensure(user: UserId): Promise<boolean>;
}

export function createPool({ store, startTimeoutMs }: { store: Store; startTimeoutMs: number }): Pool {
  // Orders that arrive together while a worker starts wait for the one start.
  const starting = new Map<UserId, Promise<boolean>>();

  async function start(user: UserId): Promise<boolean> {
    const replyTo = `reply:{${randomUUID()}}`;
    const request: StartRequest = { user, replyTo };
    await store.push(STARTS_QUEUE, JSON.stringify(request), startTimeoutMs);
    return (await store.take(replyTo, { timeoutMs: startTimeoutMs })) !== null;
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
