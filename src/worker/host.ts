// A host runs many users' workers in one process. Its warm workers wait for start requests; one that gets a request
// claims the user's lease and is that user's worker from then on.

import { randomUUID } from 'node:crypto';
import type { UserId } from '../domain/ids.ts';
import type { Lease, Store } from '../store/store.ts';
import type { Mailbox } from './mailbox.ts';
import { leaseOf, STARTS_QUEUE, type StartRequest } from './pool.ts';
import type { Worker } from './worker.ts';

export interface HostDeps {
  readonly store: Store;
  readonly mailbox: Mailbox;
  startWorker(user: UserId): Worker;
  readonly poolSize: number;
  readonly clock: { now(): number };
  readonly log: { warn(context: object, text: string): void; error(context: object, text: string): void };
}

interface WorkerState {
  readonly userId: UserId;
  readonly startedAt: number;
  readonly busy: boolean;
  readonly lastActiveAt: number;
  readonly connections: number;
}

export interface Host {
  workers(): WorkerState[];
  /** Takes nothing new, finishes what is in flight, and ends; null: this user has no worker here. */
  stopWorker(user: UserId): Promise<void> | null;
  /** Takes no new users, finishes what is in flight, gives the leases back. */
  stop(): Promise<void>;
}

const LEASE_MS = 30_000;
const RENEW_MS = LEASE_MS / 3;
const STARTED_TTL_MS = 60_000;

export function startHost({ store, mailbox, startWorker, poolSize, clock, log }: HostDeps): Host {
  const name = randomUUID();
  const hosted = new Map<
    UserId,
    { worker: Worker; lease: Lease; startedAt: number; retired: Promise<void> }
  >();
  const stopping = new AbortController();

  const warmWorkers = Array.from({ length: Math.max(1, poolSize) }, async () => {
    while (!stopping.signal.aborted) {
      try {
        const message = await store.take(STARTS_QUEUE, { signal: stopping.signal });
        if (message !== null) await claim(JSON.parse(message) as StartRequest);
      } catch (fault) {
        log.error({ fault }, 'a worker could not be started');
      }
    }
  });

  const renewing = setInterval(() => void renewLeases(), RENEW_MS);

  async function claim({ user, replyTo }: StartRequest): Promise<void> {
    const isHere = hosted.has(user);
    const lease = isHere ? null : await store.acquireLease(leaseOf(user), name, LEASE_MS);
    if (lease) {
      const worker = startWorker(user);
      const retired = worker.ended.then(
        () => retire(user),
        (fault: unknown) => {
          log.error({ fault, user }, 'a worker ended with a fault');
          return retire(user);
        },
      );
      hosted.set(user, { worker, lease, startedAt: clock.now(), retired });
    }
    // Without the lease another host has the user, which serves as well.
    await store.push(replyTo, 'started', STARTED_TTL_MS);
  }

  async function retire(user: UserId): Promise<void> {
    const entry = hosted.get(user);
    hosted.delete(user);
    if (!entry) return;
    try {
      await store.releaseLease(leaseOf(user), entry.lease);
      // A request that came between the last look into the mailbox and the release has nobody else to serve it.
      if (!stopping.signal.aborted && (await mailbox.waiting(user)) > 0)
        await store.push(
          STARTS_QUEUE,
          JSON.stringify({ user, replyTo: `reply:{${randomUUID()}}` }),
          LEASE_MS,
        );
    } catch (fault) {
      log.warn({ fault, user }, 'a lease was not given back; it will expire');
    }
  }

  async function renewLeases(): Promise<void> {
    for (const [user, { worker, lease }] of hosted) {
      try {
        if (await store.renewLease(leaseOf(user), lease, LEASE_MS)) continue;
        log.warn({ user }, 'the lease was lost: the worker stops');
        void worker.stop();
      } catch (fault) {
        log.warn({ fault, user }, 'the lease could not be renewed');
      }
    }
  }

  return {
    workers: () =>
      [...hosted].map(([userId, { worker, startedAt }]) => ({ userId, startedAt, ...worker.state() })),
    stopWorker(user) {
      const entry = hosted.get(user);
      if (!entry) return null;
      // Its fault, if it ends with one, is logged where it retires.
      entry.worker.stop().catch(() => {});
      return entry.retired;
    },
    async stop() {
      stopping.abort();
      clearInterval(renewing);
      await Promise.all(warmWorkers);
      const retiring = [...hosted.values()].map(({ worker, retired }) => {
        worker.stop().catch(() => {});
        return retired;
      });
      await Promise.all(retiring);
    },
  };
}
