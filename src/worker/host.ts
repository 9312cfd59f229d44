// A host runs many users' workers in one process. Its warm workers wait for start requests; one that gets a request
// claims the user's lease and is that user's worker from then on. A host that falls silent loses its leases, and its
// users are started elsewhere; whatever it does after that fails by the orders' versions.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { UserId } from '../domain/ids.ts';
import type { Lease, Store } from '../store/store.ts';
import { type HostRequest, hostQueue, type WorkerState } from './hosts.ts';
import type { Mailbox } from './mailbox.ts';
import {
  HOSTS,
  leaseOf,
  readStart,
  replyQueues,
  START_TTL_MS,
  STARTS_QUEUE,
  type StartRequest,
} from './pool.ts';
import type { Worker } from './worker.ts';

export interface HostDeps {
  readonly store: Store;
  readonly mailbox: Mailbox;
  startWorker(user: UserId): Worker;
  readonly poolSize: number;
  readonly leaseMs: number;
  readonly clock: { now(): number };
  readonly log: { warn(context: object, text: string): void; error(context: object, text: string): void };
}

export interface Host {
  /** Users that have their worker here. */
  users(): number;
  /** Takes no new users, finishes what is in flight, gives the leases back. */
  stop(): Promise<void>;
}

interface Hosted {
  readonly worker: Worker;
  lease: Lease;
  readonly startedAt: number;
  readonly retired: Promise<void>;
}

const REPLY_TTL_MS = 60_000;
/** After a fault of the store, before the next try. */
const BREATH_MS = 200;
const RENEWED_AT_ONCE = 500;

export function startHost(deps: HostDeps): Host {
  const { store, mailbox, startWorker, poolSize, leaseMs, clock, log } = deps;
  const name = randomUUID();
  const startedAt = clock.now();
  const hosted = new Map<UserId, Hosted>();
  const claiming = new Map<UserId, Promise<void>>();
  const stopping = new AbortController();
  const { signal } = stopping;
  const nextReply = replyQueues();
  let hasLeft = false;

  /** Serves a queue until the host stops, one message after the other. */
  async function serve(queue: string, answer: (message: string) => Promise<void>): Promise<void> {
    while (!signal.aborted)
      try {
        const message = await store.take(queue, { signal });
        if (message !== null) await answer(message);
      } catch (fault) {
        log.error({ fault, queue }, 'a message to the worker host could not be served');
        await breath(signal);
      }
  }

  const serving = [
    ...Array.from({ length: Math.max(1, poolSize) }, () =>
      serve(STARTS_QUEUE, (message) => claim(readStart(message))),
    ),
    serve(hostQueue(name), (message) => comply(JSON.parse(message) as HostRequest)),
  ];
  const renewing = setInterval(() => void renewLeases(), leaseMs / 3);
  const announce = announcer();
  announce();

  async function claim({ user, replyTo }: StartRequest): Promise<void> {
    // Two requests for one user may come at once, and both would get the lease: it is this host's.
    const underWay = claiming.get(user) ?? acquire(user).finally(() => claiming.delete(user));
    claiming.set(user, underWay);
    await underWay;
    // Without the lease another host has the user, which serves as well.
    await store.push(replyTo, 'started', REPLY_TTL_MS);
  }

  async function acquire(user: UserId): Promise<void> {
    const lease = hosted.has(user) ? null : await store.acquireLease(leaseOf(user), name, leaseMs);
    // What is accepted from the reply on comes by message, and not by what the worker finds at its start.
    if (lease) await host(user, lease).ready;
  }

  function host(user: UserId, lease: Lease): Worker {
    const worker = startWorker(user);
    const ended = worker.ended.catch((fault: unknown) =>
      log.error({ fault, user }, 'a worker ended with a fault'),
    );
    const entry: Hosted = {
      worker,
      lease,
      startedAt: clock.now(),
      retired: ended.then(() => retire(user, entry)),
    };
    hosted.set(user, entry);
    announce();
    return worker;
  }

  async function retire(user: UserId, entry: Hosted): Promise<void> {
    if (hosted.get(user) === entry) hosted.delete(user);
    announce();
    try {
      await store.releaseLease(leaseOf(user), entry.lease);
      // A request that came after the last look into the mailbox has nobody else to serve it: here, or on another host.
      if ((await mailbox.waiting(user)) > 0)
        await store.push(STARTS_QUEUE, JSON.stringify({ user, replyTo: nextReply() }), START_TTL_MS);
    } catch (fault) {
      log.warn({ fault, user }, 'a lease was not given back; it will expire');
    }
  }

  async function renewLeases(): Promise<void> {
    announce();
    const all = [...hosted];
    for (let at = 0; at < all.length; at += RENEWED_AT_ONCE)
      await Promise.all(all.slice(at, at + RENEWED_AT_ONCE).map(([user, entry]) => renewLease(user, entry)));
  }

  async function renewLease(user: UserId, entry: Hosted): Promise<void> {
    try {
      if (await store.renewLease(leaseOf(user), entry.lease, leaseMs)) return;
      // The store may have lost everything. Where nobody else has the user by now, it is as if nothing had happened.
      const again = await store.acquireLease(leaseOf(user), name, leaseMs);
      if (again && hosted.get(user) !== entry) await store.releaseLease(leaseOf(user), again);
      else if (again) entry.lease = again;
      else if (hosted.get(user) === entry) {
        log.warn({ user }, 'another host has the user: the worker stops');
        entry.worker.stop().catch(() => {});
      }
    } catch (fault) {
      log.warn({ fault, user }, 'the lease could not be renewed');
    }
  }

  /** What administration asks of this host. */
  async function comply(request: HostRequest): Promise<void> {
    const reply = (answer: unknown) => store.push(request.replyTo, JSON.stringify(answer), REPLY_TTL_MS);
    switch (request.kind) {
      case 'workers':
        return reply(statesAfter(request.after, request.limit));
      case 'stop': {
        const entry = hosted.get(request.user);
        // Its fault, if it ends with one, is logged where it retires.
        entry?.worker.stop().catch(() => {});
        // Not waited for here: it may have an order in its hands, and others ask too.
        void (entry?.retired ?? Promise.resolve())
          .then(() => reply('stopped'))
          .catch((fault: unknown) => log.warn({ fault }, 'a reply was lost'));
      }
    }
  }

  function statesAfter(after: UserId | null, limit: number): WorkerState[] {
    return [...hosted]
      .filter(([user]) => after === null || user > after)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, limit)
      .map(([userId, { worker, startedAt }]) => ({ userId, host: name, startedAt, ...worker.state() }));
  }

  /** Says what this host has; of many changes at once, the last counts. */
  function announcer(): () => void {
    let isUnderWay = false;
    let isDue = false;
    const say = async () => {
      while (isDue && !hasLeft) {
        isDue = false;
        const busy = [...hosted.values()].filter(({ worker }) => worker.state().busy).length;
        const says = JSON.stringify({ startedAt, workers: hosted.size, busy, draining: signal.aborted });
        await store.announce(HOSTS, name, says, leaseMs);
      }
    };
    return () => {
      isDue = true;
      if (isUnderWay) return;
      isUnderWay = true;
      setImmediate(() =>
        say()
          .catch((fault: unknown) => log.warn({ fault }, 'the worker host could not announce itself'))
          .finally(() => {
            isUnderWay = false;
          }),
      );
    };
  }

  return {
    users: () => hosted.size,
    async stop() {
      stopping.abort();
      announce();
      const stopAll = () =>
        [...hosted.values()].map(({ worker, retired }) => {
          worker.stop().catch(() => {});
          return retired;
        });
      // One that has not begun yet holds up whoever started it.
      stopAll();
      await Promise.all(serving);
      await Promise.all(stopAll());
      // Not before: what is in flight may take as long as a lease.
      clearInterval(renewing);
      hasLeft = true;
      await store
        .withdraw(HOSTS, name)
        .catch((fault: unknown) => log.warn({ fault }, 'the worker host could not take its leave'));
    },
  };
}

const breath = (signal: AbortSignal): Promise<void> =>
  sleep(BREATH_MS, undefined, { signal }).catch(() => {});
