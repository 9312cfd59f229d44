// What every role stands on: the database, the store, and the ways to the workers.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import packageJson from '../../package.json' with { type: 'json' };
import type { PasswordHasher } from '../app/identity/passwords.ts';
import { createWriteProbe, type WriteProbe } from '../app/operation/write-probe.ts';
import { type Changes, noteChanges } from '../app/orders/changes.ts';
import type { Brokers } from '../broker/broker.ts';
import type { Config } from '../config/config.ts';
import type { Db } from '../data/engine/db.ts';
import { migrate } from '../data/engine/migrate.ts';
import type { WindowCount } from '../domain/call-log.ts';
import type { UserId } from '../domain/ids.ts';
import { STALE_MS } from '../domain/orders/fill.ts';
import { type Tracing, UNTRACED } from '../domain/tracing.ts';
import { openLog } from '../log.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { Channels } from '../notify/channel.ts';
import type { Store } from '../store/store.ts';
import { openPrometheus, type Prometheus } from '../telemetry/prometheus.ts';
import { createHosts, type Hosts } from '../worker/host/hosts.ts';
import { createMailbox, type Mailbox } from '../worker/host/mailbox.ts';
import { createPool, type Launcher, type Placement, type Pool } from '../worker/host/pool.ts';
import { type Roster, watchHosts } from '../worker/host/roster.ts';
import { openDatabase, openStore } from './adapters.ts';
import { obtainMessageKey } from './message-key.ts';

/** What a test or the demo may bring of its own: at our own ports, and nowhere else. */
export interface Parts {
  readonly log?: Logger;
  readonly clock?: { now(): number };
  /** For expiries; without it they go by `clock`, where that is given. */
  readonly ticking?: { now(): number };
  readonly wait?: (ms: number) => Promise<void>;
  /** Stands before the database that was opened. */
  readonly db?: (opened: Db) => Db;
  /** Without the thread that reads, which takes longer to start than most tests take. */
  readonly readsHere?: boolean;
  readonly store?: Store;
  readonly brokers?: Partial<Brokers>;
  readonly hasher?: PasswordHasher;
  readonly mailer?: Mailer;
  readonly channels?: Channels;
  readonly launcher?: Launcher | null;
  /** How everybody may log in, where this is a demo. */
  readonly demo?: { readonly email: string; readonly password: string };
}

export interface Foundation {
  readonly config: Config;
  readonly parts: Parts;
  readonly log: Logger;
  readonly clock: { now(): number };
  /** For expiries: a step of the wall clock must neither free a claim nor freeze a window. */
  readonly ticking: { now(): number };
  wait(ms: number): Promise<void>;
  /** What this process counts of its own doing. */
  readonly counters: Prometheus;
  readonly tracing: Tracing;
  readonly db: Db;
  /** Whether it takes what is written. */
  readonly writes: WriteProbe;
  readonly store: Store;
  readonly roster: Roster;
  readonly mailbox: Mailbox;
  readonly pool: Pool & Placement;
  readonly hosts: Hosts;
  /** One call that reaches a broker, out of what a user has for reading in a minute, over all processes. */
  takeRead(user: UserId): Promise<WindowCount>;
  /** Told of every order that is saved. */
  readonly changes: Changes;
  readonly version: string;
  /** What is to be closed; the last one first. */
  readonly closers: (() => unknown)[];
}

const MINUTE_MS = 60_000;

export const steady = { now: () => performance.timeOrigin + performance.now() };

export async function layFoundation(
  config: Config,
  parts: Parts,
  closers: Foundation['closers'],
): Promise<Foundation> {
  const log = parts.log ?? openLog(config.logLevel);
  const clock = parts.clock ?? { now: () => Date.now() };
  const ticking = parts.ticking ?? parts.clock ?? steady;
  const counters = openPrometheus();
  const tracing = await openTraces(config, log, closers);
  const opened = await openDatabase(config, closers, { counters });
  const db = parts.db?.(opened) ?? opened;
  await migrate(db, clock.now(), { program: packageJson.version });
  const messageKey = () => obtainMessageKey(config, { db, log });
  const store = parts.store ?? (await openStore(config, { clock, ticking, log, messageKey }));
  closers.push(() => store.close());
  const changes = noteChanges({ store });
  closers.push(() => changes.stop());
  const { startTimeoutMs, leaseMs } = config.workers;
  const roster = watchHosts({ store, leaseMs, log });
  closers.push(() => roster.stop());
  const pool = createPool({ store, roster, startTimeoutMs, launcher: parts.launcher ?? null, log });
  return {
    config,
    parts,
    log,
    clock,
    ticking,
    wait: parts.wait ?? ((ms) => sleep(ms)),
    counters,
    tracing,
    db,
    writes: createWriteProbe({ db, clock }),
    store,
    roster,
    mailbox: createMailbox({ store, pool, roster, tracing, log }),
    pool,
    hosts: createHosts({ store }),
    takeRead: (user) =>
      store
        .countInWindow(`broker-reads:{${user}}`, config.brokers.readsPerMinute, MINUTE_MS)
        .catch((fault: unknown) => {
          // What is kept for orders is kept all the same.
          counters.failedOpen('broker_reads');
          log.warn(
            { fault, user_id: user },
            'what is read of brokers is not counted: the store does not answer',
          );
          return { allowed: true, retryAfterMs: 0 };
        }),
    changes,
    version: packageJson.version,
    closers,
  };
}

/** OpenTelemetry only where it is asked for: it is large, and a start without it need not load it. */
async function openTraces(config: Config, log: Logger, closers: Foundation['closers']): Promise<Tracing> {
  if (!config.tracing) return UNTRACED;
  const { openTracing } = await import('../telemetry/opentelemetry.ts');
  const tracing = openTracing(config.tracing, { version: packageJson.version, role: config.role, log });
  closers.push(() => tracing.close());
  return tracing;
}

/**
 * An order that its broker does not know so long after it was sent never arrives: its connector's time, our grace for
 * it, and the pause that a leg survives before it is sent have passed, and the broker is told to refuse it from then on.
 */
export const giveUpMs = ({ timings, brokers }: Config): number =>
  Math.max(timings.fillRequeueMs, brokers.timeoutMs + STALE_MS + 1_000);
