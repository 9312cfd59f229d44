// What faults are dealt in, and what is noted of them for the judge.

import type { RedisServer } from '../test/servers/redis.ts';
import type { Cluster } from './cluster.ts';
import type { Desk } from './desks.ts';
import type { ExchangeControl } from './exchange-client.ts';
import type { Postgres } from './postgres.ts';

export interface Scene {
  readonly cluster: Cluster;
  readonly postgres: Postgres;
  readonly redis: RedisServer;
  readonly exchange: ExchangeControl;
  readonly desks: readonly Desk[];
  readonly random: () => number;
  /** When somebody's clock was wrong. */
  readonly jumps: Span[];
  /** When nobody could do anything about a position: no host had what it needs, or the exchange gave no answer that could be used. */
  readonly outages: Outage[];
  /** When a worker host died, or stood still. */
  readonly deaths: number[];
}

interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Outage extends Span {
  /** null: everybody's. */
  readonly accounts: readonly string[] | null;
}

/** Resolves with what happened when it is over, or null where it could not be done at this moment. */
export type Fault = (scene: Scene, tools: Tools) => Promise<string | null>;

export interface Tools {
  pick<Item>(items: readonly Item[]): Item;
  /** Between the two, in milliseconds. */
  between(least: number, most: number): number;
}

/** So long somebody may take to come to the moment that is waited for. */
export const TRAP_MS = 5_000;

/** While it lasts, nobody can do anything about a position of these accounts. */
export async function withOutage(scene: Scene, accounts: Outage['accounts'], fault: () => Promise<unknown>) {
  const from = Date.now();
  await fault();
  scene.outages.push({ from, to: Date.now(), accounts });
}

/** What all hosts share is away. Longer than a lease lasts: then whose user it is is found out anew, as after a death. */
export async function withoutStores(scene: Scene, fault: () => Promise<unknown>) {
  const from = Date.now();
  await withOutage(scene, null, fault);
  if (Date.now() - from >= scene.cluster.times.leaseMs) scene.deaths.push(Date.now());
}
