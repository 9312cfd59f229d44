// Worker hosts without a database: what processes share, the ways of one process to the workers, and hosts whose workers
// do nothing until they are told to.

import type { TestContext } from 'node:test';
import type { UserId } from '../../src/domain/ids.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { type Store, StoreUnavailable } from '../../src/store/store.ts';
import { startHost } from '../../src/worker/host/host.ts';
import { createMailbox } from '../../src/worker/host/mailbox.ts';
import { createPool } from '../../src/worker/host/pool.ts';
import type { Reach } from '../../src/worker/host/reach.ts';
import { watchHosts } from '../../src/worker/host/roster.ts';
import type { Worker } from '../../src/worker/host/worker.ts';
import { logbook } from '../world.ts';

const steady = { now: () => performance.timeOrigin + performance.now() };

export const sharedStore = () => openMemoryStore({ clock: steady });

/** One process's ways to the workers, until the test ends. */
export function openWays(t: TestContext, store: Store, { leaseMs = 10_000, startTimeoutMs = 5_000 } = {}) {
  const { log, lines } = logbook();
  const roster = watchHosts({ store, leaseMs, log });
  t.after(() => roster.stop());
  const pool = createPool({ store, roster, startTimeoutMs, launcher: null, log });
  const mailbox = createMailbox({ store, pool, roster, log });
  return { store, roster, pool, mailbox, log, lines };
}

export interface FakeWorker {
  readonly user: UserId;
  busy: boolean;
  lastActiveAt: number;
  end(): void;
}

/** What a worker does with a request: it answers with its host's name, keeps silent about it, or leaves it alone. */
type Manner = 'answers' | 'swallows' | 'sleeps';

export function openHost(
  t: TestContext,
  store: Store,
  {
    name = 'one',
    leaseMs = 10_000,
    manner = 'sleeps' as Manner,
    ready = Promise.resolve(),
    reach = { isCut: () => false } as Pick<Reach, 'isCut'>,
  } = {},
) {
  const { roster, mailbox, log, lines } = openWays(t, store, { leaseMs });
  const workers: FakeWorker[] = [];
  const startWorker = (user: UserId): Worker => {
    const stopping = new AbortController();
    const done = Promise.withResolvers<void>();
    const fake: FakeWorker = { user, busy: false, lastActiveAt: 0, end: done.resolve };
    workers.push(fake);
    const serve = async () => {
      for (;;) {
        const envelope = await mailbox.next(user, { timeoutMs: 60_000, signal: stopping.signal });
        if (!envelope) return;
        if (manner === 'answers') await mailbox.reply(envelope, { unavailable: name });
      }
    };
    const ended = manner === 'sleeps' ? done.promise : serve();
    return {
      ready: Promise.race([ready, ended]),
      ended,
      stop() {
        stopping.abort();
        done.resolve();
        return ended;
      },
      state: () => ({ busy: fake.busy, lastActiveAt: fake.lastActiveAt, connections: 0 }),
    };
  };
  const clock = steady;
  const own = { name, startWorker, poolSize: 4, leaseMs };
  const host = startHost({ store, mailbox, roster, reach, ...own, clock, log });
  t.after(() => host.stop());
  return { host, workers, lines };
}

/** The store as one process reaches it: once it is cut off, the others cannot tell it from a dead one. */
export function severable(store: Store) {
  let cut = new AbortController();
  const unreachable = () => {
    throw new StoreUnavailable('cut off');
  };
  const reached: Store = {
    ...store,
    async take(queue, { signal, ...options }) {
      const { signal: cutOff } = cut;
      if (cutOff.aborted) return unreachable();
      const both = signal ? AbortSignal.any([signal, cutOff]) : cutOff;
      const message = await store.take(queue, { ...options, signal: both });
      return cutOff.aborted ? unreachable() : message;
    },
  };
  for (const name of ['acquireLease', 'releaseLease', 'reply', 'announce', 'withdraw', 'announced'] as const)
    reached[name] = async (...args: never[]) =>
      cut.signal.aborted ? unreachable() : (store[name] as (...args: never[]) => Promise<never>)(...args);
  return {
    store: reached,
    cutOff: () => cut.abort(),
    heal() {
      cut = new AbortController();
    },
  };
}
