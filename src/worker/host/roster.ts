// Which worker hosts are there, as this process sees it. A host says so several times within the time of a lease; one that
// was silent for all of it has lost its users, and whoever finds that first says so. What this process itself could not
// hear, because the store was away or it stood still, is held against nobody.

import type { Store } from '../../store/store.ts';

/** The group under which hosts announce themselves. */
export const HOSTS = 'worker-hosts';
/** Those whose end is known: each is told of once, and who took its leave not at all. */
const ENDED = 'worker-hosts-ended';
const ENDED_MS = 60_000;
const LOST = 'worker-hosts-lost';
const LOST_MS = 30 * 86_400_000;

/** How often a host says that it is there: one word that gets lost, or comes late, is no silence. */
export const beatMs = (leaseMs: number): number => leaseMs / 4;

/** What a host says of itself, at every beat and at every change. */
export interface HostState {
  /** Of this very process: the next one of the same name is another host. */
  readonly id: string;
  /** As the operator knows it. */
  readonly name: string;
  readonly startedAt: number;
  readonly workers: number;
  readonly busy: number;
  /** It takes no new users: it is stopping, or does not reach the database. */
  readonly draining: boolean;
  /** What its workers can do beyond the first version; one from before this says nothing. */
  readonly knows?: readonly Knowledge[];
}

/**
 * What a worker must know of an order, or it must not have it; and of what is asked, or it gives no answer (`enquiries`: of a quote, of
 * candles, and of the orders that are open at the broker).
 */
export type Knowledge = 'protection' | 'sizes' | 'resting' | 'enquiries';
/** Of this version. */
export const KNOWN: readonly Knowledge[] = ['protection', 'sizes', 'resting', 'enquiries'];

export interface Roster {
  /** Asks, where this process has not heard of the host. */
  isHere(id: string): Promise<boolean>;
  /** As heard last. */
  hosts(): readonly HostState[];
  /** Until the returned function is called. */
  onGone(listener: (id: string) => void): () => void;
  stop(): void;
}

export interface RosterDeps {
  readonly store: Pick<Store, 'announced' | 'announce' | 'tally'>;
  readonly leaseMs: number;
  readonly log: { warn(context: object, text: string): void };
}

interface Seen {
  readonly state: HostState;
  /** It is believed until then, whatever the store says: one that forgot everything is told again in a moment. */
  readonly until: number;
}

/** Not before its time has passed. */
const SOON_MS = 5;

export function watchHosts({ store, leaseMs, log }: RosterDeps): Roster {
  const seen = new Map<string, Seen>();
  const listeners = new Set<(id: string) => void>();
  let heardAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;

  function look(): Promise<void> {
    clearTimeout(timer);
    looking ??= hear().finally(() => {
      looking = null;
      if (!isOver) timer = setTimeout(() => look().catch(() => {}), untilNextLook()).unref();
    });
    return looking;
  }

  /** At the moment when a host is to be missed, and every beat. Where that moment has passed, the store is away. */
  function untilNextLook(): number {
    const now = performance.now();
    const moments = [...seen.values()].map(({ until }) => until - now).filter((ms) => ms >= 0);
    return Math.min(beatMs(leaseMs), ...moments.map((ms) => ms + SOON_MS));
  }

  async function hear(): Promise<void> {
    const there = await announcedHosts(store);
    const now = performance.now();
    // Before, nobody's word could have ended that was heard the last time.
    const wasDeaf = now - heardAt > leaseMs - beatMs(leaseMs);
    heardAt = now;
    for (const { leftMs, ...state } of there) seen.set(state.id, { state, until: now + leftMs });
    const present = new Set(there.map(({ id }) => id));
    for (const [id, { state, until }] of [...seen])
      if (present.has(id)) continue;
      else if (wasDeaf) seen.set(id, { state, until: now + 2 * beatMs(leaseMs) });
      else if (until <= now) {
        seen.delete(id);
        tell(state);
      }
  }

  function tell({ id, name, workers }: HostState): void {
    // By the first of all processes.
    const say = async () => {
      if (await store.announce(ENDED, id, name, ENDED_MS)) return;
      log.warn({ host: name, users: workers }, 'a worker host fell silent: others take its users');
      await store.tally(LOST, name, LOST_MS);
    };
    say().catch((fault: unknown) => log.warn({ fault, host: name }, 'a worker host fell silent'));
    for (const listener of [...listeners]) listener(id);
  }

  look().catch(() => {});
  return {
    async isHere(id) {
      if (seen.has(id)) return true;
      // What is under way may have been asked before the host was there.
      await looking;
      if (!seen.has(id)) await look();
      return seen.has(id);
    },
    hosts: () => [...seen.values()].map(({ state }) => state),
    onGone(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

export async function announcedHosts(
  store: Pick<Store, 'announced'>,
): Promise<(HostState & { readonly leftMs: number })[]> {
  const there = await store.announced(HOSTS);
  return there.map(({ name: id, says, leftMs }) => ({
    ...(JSON.parse(says) as Omit<HostState, 'id'>),
    id,
    leftMs,
  }));
}

/** It goes in good order: nobody is to miss it. */
export async function takeLeave(store: Pick<Store, 'announce' | 'withdraw'>, id: string): Promise<void> {
  await store.announce(ENDED, id, '', ENDED_MS);
  await store.withdraw(HOSTS, id);
}

/** How many hosts fell silent, since the store can remember. */
export async function lostHosts(store: Pick<Store, 'tallied'>): Promise<number> {
  return (await store.tallied(LOST)).reduce((sum, { count }) => sum + count, 0);
}
