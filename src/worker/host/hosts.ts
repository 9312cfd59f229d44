// The hosts as administration sees them: who is there, whose workers they run, and how to stop one. Each host answers
// for itself over a queue of its own, so that nothing about workers has to be kept anywhere else.

import type { UserId } from '../../domain/ids.ts';
import type { Store } from '../../store/store.ts';
import { leaseOf } from './pool.ts';
import { announcedHosts, type HostState, lostHosts } from './roster.ts';

export interface WorkerState {
  readonly userId: UserId;
  /** The name of the host that it runs on. */
  readonly host: string;
  readonly startedAt: number;
  readonly busy: boolean;
  readonly lastActiveAt: number;
  readonly connections: number;
}

export type HostRequest = { readonly replyTo: string | null } & (
  | { readonly kind: 'workers'; readonly after: UserId | null; readonly limit: number }
  | { readonly kind: 'stop'; readonly user: UserId }
  /** Of another host, which has more users than this one. */
  | { readonly kind: 'take'; readonly user: UserId }
);

export const hostQueue = (id: string) => `host:{${id}}`;
/** Longer than anybody waits for an answer. */
export const REQUEST_TTL_MS = 60_000;

export interface Hosts {
  list(): Promise<HostState[]>;
  /** How many fell silent so far. */
  lost(): Promise<number>;
  /** In the order of their users, beginning after the given one. A host that does not answer is left out. */
  workers(page: { after: UserId | null; limit: number }): Promise<WorkerState[]>;
  /** The id of the host that has the user's worker; null: none. */
  hostOf(user: UserId): Promise<string | null>;
  /** Ends when the worker has, or after a while: what it has in flight is finished first. */
  stop(id: string, user: UserId): Promise<void>;
}

/** A host that lives answers at once. */
const LIST_MS = 2_000;
const STOP_MS = 30_000;

export function createHosts({ store }: { store: Store }): Hosts {
  async function ask(id: string, request: Unaddressed, timeoutMs: number): Promise<string | null> {
    const { address, reply, cancel } = store.expectReply({ timeoutMs });
    try {
      await store.push(hostQueue(id), JSON.stringify({ ...request, replyTo: address }), REQUEST_TTL_MS);
      return await reply;
    } finally {
      cancel();
    }
  }

  return {
    list: () => announcedHosts(store),
    lost: () => lostHosts(store),
    async workers({ after, limit }) {
      const there = await announcedHosts(store);
      const answers = await Promise.all(
        there.map(({ id }) => ask(id, { kind: 'workers', after, limit }, LIST_MS)),
      );
      return answers
        .flatMap((answer) => (answer === null ? [] : (JSON.parse(answer) as WorkerState[])))
        .sort((a, b) => (a.userId < b.userId ? -1 : 1))
        .slice(0, limit);
    },
    async hostOf(user) {
      const [lease, there] = await Promise.all([store.leaseHolder(leaseOf(user)), announcedHosts(store)]);
      return there.some(({ id }) => id === lease?.holder) ? (lease?.holder ?? null) : null;
    },
    async stop(id, user) {
      await ask(id, { kind: 'stop', user }, STOP_MS);
    },
  };
}

type Unaddressed = HostRequest extends infer Each
  ? Each extends HostRequest
    ? Omit<Each, 'replyTo'>
    : never
  : never;
