// A host runs many users' workers in one process. Its warm workers wait for start requests; one that gets a request
// claims the user's lease and is that user's worker from then on. The leases of a host are good for as long as it says
// that it is there. One that falls silent loses its users to whoever starts them elsewhere; whatever it does after that
// fails by the orders' versions and the user's owner, and when it speaks again it looks whom it still has.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Counters, UNCOUNTED } from '../../domain/counters.ts';
import type { UserId } from '../../domain/ids.ts';
import type { Lease, Store } from '../../store/store.ts';
import { type HostRequest, hostQueue, REQUEST_TTL_MS, type WorkerState } from './hosts.ts';
import type { Mailbox } from './mailbox.ts';
import { leaseOf, readStart, START_TTL_MS, STARTS_QUEUE, type StartRequest } from './pool.ts';
import type { Reach } from './reach.ts';
import { beatMs, HOSTS, type HostState, KNOWN, type Roster, takeLeave } from './roster.ts';
import { surplus } from './spread.ts';
import type { Worker } from './worker.ts';

export interface HostDeps {
  readonly store: Store;
  readonly mailbox: Pick<Mailbox, 'waiting'>;
  readonly roster: Pick<Roster, 'hosts'>;
  /** Of the database. */
  readonly reach: Pick<Reach, 'isCut'>;
  /** As the operator knows it. */
  readonly name: string;
  startWorker(user: UserId): Worker;
  readonly poolSize: number;
  /** So long it may be silent. */
  readonly leaseMs: number;
  readonly clock: { now(): number };
  readonly log: Record<'info' | 'warn' | 'error', (context: object, text: string) => void>;
  readonly counters?: Pick<Counters, 'workerStarted' | 'takenOver'>;
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
  /** Another host is to have the user as soon as the worker has ended. */
  isLeaving: boolean;
  readonly startedAt: number;
  readonly retired: Promise<void>;
}

/** After a fault of the store, before the next try. */
const BREATH_MS = 200;
const ASKED_AT_ONCE = 500;
const MOST_BEGINNING = 32;
/**
 * A lease is good while its host is there. It ends by itself only so that nothing stays in the store for ever, and is
 * prolonged with all others in turn, a few at every beat.
 */
const KEPT_MS = 600_000;
const PROLONGED_EVERY_MS = KEPT_MS / 3;
const SPREAD_EVERY_MS = 1_000;
/** Who has traded since then is not moved. */
const IDLE_MS = 60_000;

export function startHost(deps: HostDeps): Host {
  const { store, mailbox, roster, reach, startWorker, poolSize, leaseMs, clock, log } = deps;
  const { counters = UNCOUNTED } = deps;
  const id = `${deps.name}/${randomUUID()}`;
  const startedAt = clock.now();
  const hosted = new Map<UserId, Hosted>();
  const claiming = new Map<UserId, Promise<void>>();
  const beginning = new Set<Promise<void>>();
  const stopping = new AbortController();
  const { signal } = stopping;
  let hasLeft = false;

  /** Serves a queue until the host stops, one message after the other. */
  async function serve(queue: string, answer: (message: string) => Promise<void>): Promise<void> {
    await spoken.promise;
    while (!signal.aborted)
      try {
        const message = await store.take(queue, { signal });
        if (message !== null) await answer(message);
      } catch (fault) {
        log.error({ fault, queue }, 'a message to the worker host could not be served');
        await breath(signal);
      }
  }

  /** Settles when the host is known to be there: before, nobody would believe in its leases. */
  const spoken = Promise.withResolvers<void>();
  const announce = announcer();
  announce();
  log.info({ id }, 'worker host started');
  const serving = [
    ...Array.from({ length: Math.max(1, poolSize) }, () =>
      serve(STARTS_QUEUE, (message) => begin(readStart(message))),
    ),
    serve(hostQueue(id), (message) => comply(JSON.parse(message) as HostRequest)),
  ];
  const beating = setInterval(() => {
    announce();
    void prolongSome();
  }, beatMs(leaseMs));
  // Not before what was moved the last time is known to all.
  const spreading = setInterval(spread, Math.max(SPREAD_EVERY_MS, 2 * beatMs(leaseMs)));

  /** A worker here could do nothing, and one there can. */
  const isBetterElsewhere = (): boolean =>
    reach.isCut() && roster.hosts().some((other) => other.id !== id && !other.draining);

  /** After the death of another host many users come at once: they begin side by side. */
  async function begin(request: StartRequest): Promise<void> {
    if (isBetterElsewhere()) {
      await store.push(STARTS_QUEUE, JSON.stringify(request), START_TTL_MS);
      return breath(signal);
    }
    const claimed = claim(request)
      .catch((fault: unknown) => log.error({ fault, user_id: request.user }, 'a user could not be claimed'))
      .finally(() => beginning.delete(claimed));
    beginning.add(claimed);
    // The one that takes what would be too many waits for it.
    if (beginning.size > MOST_BEGINNING) await claimed;
  }

  async function claim({ user, replyTo, instead }: StartRequest): Promise<void> {
    // Two requests for one user may come at once, and both would get the lease: it is this host's.
    const underWay = claiming.get(user) ?? acquire(user, instead).finally(() => claiming.delete(user));
    claiming.set(user, underWay);
    await underWay;
    // Without the lease another host has the user, which serves as well.
    if (replyTo !== null) await store.reply(replyTo, 'started');
  }

  async function acquire(user: UserId, instead: Lease | null): Promise<void> {
    const here = hosted.get(user);
    // Whoever asks has not found that: a store that was promoted may have forgotten this lease, and not this host.
    if (here) await keep(user, here);
    // Not where that worker has ended meanwhile: whoever asks waits for one.
    if (hosted.has(user)) return;
    const lease = await leaseFor(user, instead);
    if (!lease) return;
    if (instead) counters.takenOver('user');
    // What is accepted from the reply on comes by message, and not by what the worker finds at its start.
    await host(user, lease).ready;
  }

  /** An answer that was lost may have been a yes: then nobody else could have the user, and asking again finds it. */
  async function leaseFor(user: UserId, instead: Lease | null): Promise<Lease | null> {
    for (let tries = 0; ; tries++)
      try {
        return await store.acquireLease(leaseOf(user), id, KEPT_MS, instead);
      } catch (fault) {
        // It ends with this host.
        if (signal.aborted) throw fault;
        if (tries === 0) log.warn({ fault, user_id: user }, 'a lease is asked for again: no answer came');
        await breath(signal);
      }
  }

  function host(user: UserId, lease: Lease): Worker {
    const worker = startWorker(user);
    counters.workerStarted();
    log.info({ user_id: user }, 'worker started');
    const ended = worker.ended.catch((fault: unknown) =>
      log.error({ fault, user_id: user }, 'a worker ended with a fault'),
    );
    const entry: Hosted = {
      worker,
      lease,
      isLeaving: false,
      startedAt: clock.now(),
      retired: ended.then(() => retire(user, entry)),
    };
    hosted.set(user, entry);
    announce();
    if (signal.aborted) worker.stop().catch(() => {});
    return worker;
  }

  async function retire(user: UserId, entry: Hosted): Promise<void> {
    if (hosted.get(user) === entry) hosted.delete(user);
    announce();
    // Whoever comes back here meanwhile has the lease again.
    const isBack = () => hosted.has(user) || claiming.has(user);
    for (let tries = 0; tries === 0 || !isBack(); tries++)
      try {
        return await giveBack(user, entry.lease);
      } catch (fault) {
        if (tries === 0) log.warn({ fault, user_id: user }, 'a lease was not given back yet');
        // It ends with this host. Until then nobody else could have the user.
        if (signal.aborted) return;
        await breath(signal);
      }
  }

  async function giveBack(user: UserId, lease: Lease): Promise<void> {
    await store.releaseLease(leaseOf(user), lease);
    // A request that came after the last look into the mailbox has nobody else to serve it: here, or on another host.
    if ((await mailbox.waiting(user)) > 0)
      await store.push(STARTS_QUEUE, JSON.stringify({ user }), START_TTL_MS);
  }

  /** An endless walk over all users, and how many steps of it are due. */
  let walk = hosted.entries();
  let steps = 0;

  async function prolongSome(): Promise<void> {
    for (steps += (hosted.size * beatMs(leaseMs)) / PROLONGED_EVERY_MS; steps >= 1; steps--) {
      const next = walk.next();
      if (next.done) walk = hosted.entries();
      else await keep(...next.value);
    }
  }

  /** Others may have taken users of a host that was silent, and a store may have lost everything. */
  async function keepAll(): Promise<void> {
    const all = [...hosted];
    for (let at = 0; at < all.length; at += ASKED_AT_ONCE)
      await Promise.all(all.slice(at, at + ASKED_AT_ONCE).map(([user, entry]) => keep(user, entry)));
  }

  async function keep(user: UserId, entry: Hosted): Promise<void> {
    // It has ended since: its lease was given back.
    if (hosted.get(user) !== entry) return;
    try {
      // Where nobody else has the user by now, it is as if nothing had happened.
      const lease = await store.acquireLease(leaseOf(user), id, KEPT_MS);
      if (lease && hosted.get(user) !== entry) await store.releaseLease(leaseOf(user), lease);
      else if (lease) entry.lease = lease;
      else if (hosted.get(user) === entry) {
        log.warn({ user_id: user }, 'another host has the user: the worker stops');
        entry.worker.stop().catch(() => {});
      }
    } catch (fault) {
      log.warn({ fault, user_id: user }, 'a lease could not be prolonged');
    }
  }

  /** Hosts that came later get users too: those that do nothing just now. Where workers can do nothing here, all are to go. */
  function spread(): void {
    const others = roster.hosts().filter((other) => other.id !== id);
    const isCut = reach.isCut();
    const staying = [...hosted].filter(([, { isLeaving }]) => !isLeaving);
    const move = signal.aborted ? null : surplus(staying.length, others, { isCut });
    if (!move) return;
    if (isCut) log.warn({ users: staying.length }, 'the database is out of reach here: others get the users');
    const movable = staying
      .map(([user, entry]) => ({ user, entry, ...entry.worker.state() }))
      .filter(({ busy, lastActiveAt }) => isCut || (!busy && clock.now() - lastActiveAt >= IDLE_MS))
      // Where all are to go, those first for whom something is waiting.
      .sort((a, b) => (isCut ? b.lastActiveAt - a.lastActiveAt : a.lastActiveAt - b.lastActiveAt));
    for (const { user, entry } of movable.slice(0, move.users))
      handOver(user, entry, move.to).catch((fault: unknown) =>
        log.warn({ fault, user_id: user }, 'a user was not handed over; the next request starts a worker'),
      );
  }

  async function handOver(user: UserId, entry: Hosted, to: string): Promise<void> {
    entry.isLeaving = true;
    entry.worker.stop().catch(() => {});
    await entry.retired;
    const request: HostRequest = { kind: 'take', user, replyTo: null };
    await store.push(hostQueue(to), JSON.stringify(request), REQUEST_TTL_MS);
  }

  /** What administration, or another host, asks of this one. */
  async function comply(request: HostRequest): Promise<void> {
    const reply = async (answer: unknown) => {
      if (request.replyTo !== null) await store.reply(request.replyTo, JSON.stringify(answer));
    };
    switch (request.kind) {
      case 'workers':
        return reply(statesAfter(request.after, request.limit));
      case 'take':
        return begin({ user: request.user, replyTo: null, instead: null });
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
      .map(([userId, { worker, startedAt }]) => ({ userId, host: deps.name, startedAt, ...worker.state() }));
  }

  /** Says what this host has; of many changes at once, the last counts. */
  function announcer(): () => void {
    let isUnderWay = false;
    let isDue = false;
    let isHeard = true;
    const say = async () => {
      while (isDue && !hasLeft) {
        isDue = false;
        const busy = [...hosted.values()].filter(({ worker }) => worker.state().busy).length;
        const says: Omit<HostState, 'id'> = {
          name: deps.name,
          startedAt,
          workers: hosted.size,
          busy,
          draining: signal.aborted || reach.isCut(),
          knows: KNOWN,
        };
        const wasHere = await store.announce(HOSTS, id, JSON.stringify(says), leaseMs);
        if (!wasHere && hosted.size > 0) {
          log.warn({ users: hosted.size }, 'the worker host was silent; it looks whom it still has');
          void keepAll();
        }
        spoken.resolve();
        isHeard = true;
      }
    };
    const fail = (fault: unknown) => {
      // Once: it is tried again at every beat.
      if (isHeard) log.warn({ fault }, 'the worker host could not announce itself; it tries again');
      isHeard = false;
    };
    return () => {
      isDue = true;
      if (isUnderWay) return;
      isUnderWay = true;
      setImmediate(() =>
        say()
          .catch(fail)
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
      // One that was never heard has nobody to serve.
      spoken.resolve();
      clearInterval(spreading);
      announce();
      const stopAll = () =>
        [...hosted.values()].map(({ worker, retired }) => {
          worker.stop().catch(() => {});
          return retired;
        });
      // One that has not begun yet holds up whoever started it.
      stopAll();
      await Promise.all(serving);
      await Promise.all(beginning);
      await Promise.all(stopAll());
      // Not before: what is in flight may take as long as a lease.
      clearInterval(beating);
      hasLeft = true;
      await takeLeave(store, id).catch((fault: unknown) =>
        log.warn({ fault }, 'the worker host could not take its leave'),
      );
    },
  };
}

const breath = (signal: AbortSignal): Promise<void> =>
  sleep(BREATH_MS, undefined, { signal }).catch(() => {});
