// Is the service able to take an order? Each part is asked; one that is down makes the whole unhealthy.

import { oldestUnsealed } from '../../data/audit/chain.ts';
import type { Db } from '../../data/engine/db.ts';
import { countChecks } from '../../data/orders/fill-checks.ts';
import { millis } from '../../domain/ids.ts';
import type { Store } from '../../store/store.ts';
import type { Hosts } from '../../worker/host/hosts.ts';
import { STARTS_QUEUE } from '../../worker/host/pool.ts';
import type { WriteProbe } from './write-probe.ts';

export interface HealthDeps {
  readonly db: Db;
  readonly writes: WriteProbe;
  readonly store: Pick<Store, 'ping' | 'queueLength'>;
  readonly hosts: Pick<Hosts, 'list'>;
  readonly clock: { now(): number };
  /** null: other processes seal. */
  readonly sealer: { problem(): string | null } | null;
  readonly version: string;
}

type Part = { readonly status: 'up' | 'down' } & Readonly<Record<string, unknown>>;

export interface Health {
  readonly status: 'up' | 'down';
  readonly version: string;
  readonly database: Part;
  readonly store: Part;
  readonly workers: Part;
  readonly queues: Part;
  /** Down where entries wait for their seal. It does not make the whole unhealthy: orders go on. */
  readonly audit: Part;
}

const PATIENCE_MS = 2_000;
/** Sealing takes a second. */
export const LONG_UNSEALED_MS = 60_000;

export async function readHealth(deps: HealthDeps): Promise<Health> {
  const { db, writes, store, hosts, version } = deps;
  const [database, inMemory, workers, queues, audit] = await Promise.all([
    part(async () => {
      await writes.write();
      return { kind: db.dialect };
    }),
    part(async () => {
      await store.ping();
      return {};
    }),
    part(async () => {
      const there = await hosts.list();
      return { hosts: there.length, active: there.reduce((sum, { workers }) => sum + workers, 0) };
    }),
    part(async () => {
      const checks = await countChecks(db);
      return {
        worker_starts: await store.queueLength(STARTS_QUEUE),
        fill_checks: checks.scheduled + checks.running,
        dead_letters: checks.dead_letter,
      };
    }),
    part(async () => {
      const waitingMs = await unsealedMs(deps);
      const isDown = waitingMs > LONG_UNSEALED_MS || (deps.sealer?.problem() ?? null) !== null;
      return { ...(isDown ? { status: 'down' } : {}), unsealed_seconds: Math.round(waitingMs / 1000) };
    }),
  ]);
  const isUp = [database, inMemory, workers, queues].every((each) => each.status === 'up');
  return { status: isUp ? 'up' : 'down', version, database, store: inMemory, workers, queues, audit };
}

/** For how long the first entry without a seal has been waiting for it. */
export async function unsealedMs({ db, clock }: Pick<HealthDeps, 'db' | 'clock'>): Promise<number> {
  const oldest = await oldestUnsealed(db);
  return oldest === null ? 0 : Math.max(0, clock.now() - millis(oldest));
}

/** A part that does not answer in time is down, whatever it would have said. */
async function part(ask: () => Promise<Record<string, unknown>>): Promise<Part> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer')), PATIENCE_MS);
  });
  try {
    return { status: 'up', ...(await Promise.race([ask(), silence])) };
  } catch {
    return { status: 'down' };
  } finally {
    clearTimeout(timer);
  }
}
