// The hosts as administration sees them: who is there, whose workers they run, and how to stop one. Each host answers
// for itself over a queue of its own, so that nothing about workers has to be kept anywhere else.

import type { UserId } from '../domain/ids.ts';
import type { Store } from '../store/store.ts';
import { HOSTS, leaseOf, replyQueues } from './pool.ts';

export interface WorkerState {
  readonly userId: UserId;
  /** The name of the host that it runs on. */
  readonly host: string;
  readonly startedAt: number;
  readonly busy: boolean;
  readonly lastActiveAt: number;
  readonly connections: number;
}

/** What a host says of itself, every few seconds and at every change. */
interface HostState {
  readonly name: string;
  readonly startedAt: number;
  readonly workers: number;
  readonly busy: number;
  /** It is stopping and takes no new users. */
  readonly draining: boolean;
}

export type HostRequest = { readonly replyTo: string } & (
  | { readonly kind: 'workers'; readonly after: UserId | null; readonly limit: number }
  | { readonly kind: 'stop'; readonly user: UserId }
);

export const hostQueue = (host: string) => `host:{${host}}`;

export interface Hosts {
  list(): Promise<HostState[]>;
  /** In the order of their users, beginning after the given one. A host that does not answer is left out. */
  workers(page: { after: UserId | null; limit: number }): Promise<WorkerState[]>;
  /** The host that has the user's worker; null: none. */
  hostOf(user: UserId): Promise<string | null>;
  /** Ends when the worker has, or after a while: what it has in flight is finished first. */
  stop(host: string, user: UserId): Promise<void>;
}

const REQUEST_TTL_MS = 60_000;
/** A host that lives answers at once. */
const LIST_MS = 2_000;
const STOP_MS = 30_000;

export function createHosts({ store }: { store: Store }): Hosts {
  const nextReply = replyQueues();

  async function ask(host: string, request: Unaddressed, timeoutMs: number): Promise<string | null> {
    const replyTo = nextReply();
    await store.push(hostQueue(host), JSON.stringify({ ...request, replyTo }), REQUEST_TTL_MS);
    return store.take(replyTo, { timeoutMs });
  }

  async function list(): Promise<HostState[]> {
    const there = await store.announced(HOSTS);
    return there.map(({ name, says }) => ({ name, ...(JSON.parse(says) as Omit<HostState, 'name'>) }));
  }

  return {
    list,
    async workers({ after, limit }) {
      const answers = await Promise.all(
        (await list()).map(({ name }) => ask(name, { kind: 'workers', after, limit }, LIST_MS)),
      );
      return answers
        .flatMap((answer) => (answer === null ? [] : (JSON.parse(answer) as WorkerState[])))
        .sort((a, b) => (a.userId < b.userId ? -1 : 1))
        .slice(0, limit);
    },
    async hostOf(user) {
      const [lease, there] = await Promise.all([store.leaseHolder(leaseOf(user)), store.announced(HOSTS)]);
      return there.some(({ name }) => name === lease?.holder) ? (lease?.holder ?? null) : null;
    },
    async stop(host, user) {
      await ask(host, { kind: 'stop', user }, STOP_MS);
    },
  };
}

type Unaddressed = HostRequest extends infer Each
  ? Each extends HostRequest
    ? Omit<Each, 'replyTo'>
    : never
  : never;
