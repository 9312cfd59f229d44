// ROLE=worker: a host of many users' workers. The only role with a key that opens broker credentials.

import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { openUnreadable } from '../app/operation/unreadable.ts';
import { noteEnd } from '../app/orders/strategy.ts';
import { tellEnd } from '../app/orders/tell-end.ts';
import { workerProtections } from '../app/protection/for-workers.ts';
import { flattenSimulated } from '../broker/paper/flatten.ts';
import { openSimulated } from '../broker/paper/paper.ts';
import { openBrokers } from '../broker/registry.ts';
import { openingKeys } from '../config/keys.ts';
import { sql } from '../data/engine/db.ts';
import { workerOrders } from '../data/orders/for-workers.ts';
import { openPaperLedger } from '../data/orders/paper-ledger.ts';
import { type Host, startHost } from '../worker/host/host.ts';
import { watchReach } from '../worker/host/reach.ts';
import { startWorker, type WorkerDeps } from '../worker/host/worker.ts';
import { credentialsOpener } from '../worker/line/credentials.ts';
import { createGates } from '../worker/line/gate.ts';
import { createRates } from '../worker/line/rates.ts';
import { createSweeps, lateSweeps } from '../worker/line/sweeps.ts';
import { createYoung } from '../worker/line/young.ts';
import { countingStops } from './counted-stops.ts';
import { type Foundation, giveUpMs } from './foundation.ts';

/** A broker that acknowledges with an id is asked for the fill for so long before the sender is answered. */
const FILL_WAIT_MS = 1_000;
/** An order that follows at once waits so much longer for it: what is not filled by then rests. */
const SETTLE_MS = 2_000;

/** Candles are the same for all users of a broker, and only the last one still moves. */
const CHART_MS = 10_000;
/** Each is some tens of kilobytes at the most. */
const MOST_CHARTS = 200;

/** A stop that nobody sees so long after it was sent is sent again: it can only reduce. */
const LOST_STOP_MS = 2_000;

/** Patience is by the clock on the wall: whoever shortens waits in a test would make a busy loop of it. */
const rest = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => {});

export function openHosting({ config, parts, db, store, mailbox, ...base }: Foundation): Host {
  const { clock, wait, changes, counters, tracing, closers } = base;
  const { timings, tries, workers } = config;
  const name = `${workers.hostName ?? hostname()}:${process.pid}`;
  // By the name that /deployment shows: its lines are found when somebody asks for them.
  const log = base.log.child({ host: name });
  const closeWaitMs = tries.reversalPolls * timings.reversalPollMs;
  const { timeoutMs, urls } = config.brokers;
  const ledger = openPaperLedger(db);
  const unreadable = openUnreadable({ db, clock, counters, log });
  closers.push(() => unreadable.close());
  const sweeps = createSweeps();
  counters.watchSweeps(() =>
    lateSweeps(sweeps).map(({ broker, ms }) => ({ broker, ms: timings.protectionSweepMs + ms })),
  );
  const deps: WorkerDeps = {
    mailbox,
    orders: workerOrders({
      db,
      clock,
      firstPollMs: timings.fillFirstPollMs,
      onSave: (order) => changes.ofOrder(order),
      onEnd(order) {
        tellEnd({ clock, log, counters }, order);
        return noteEnd({ db, clock, log }, order);
      },
    }),
    protections: workerProtections({
      db,
      clock,
      exitDeadlineMs: timings.exitDeadlineMs,
      counters,
      onEnd(order) {
        changes.ofOrder(order);
        tellEnd({ clock, log, counters }, order);
        return noteEnd({ db, clock, log }, order);
      },
    }),
    protecting: {
      ...{ protectMs: timings.protectMs, sweepMs: timings.protectionSweepMs },
      ...{ followMs: timings.protectionFollowMs, lostMs: LOST_STOP_MS, giveUpMs: giveUpMs(config) },
    },
    prices: createYoung(),
    sweeps,
    brokers: countingStops(
      { ...openBrokers({ ledger, clock, wait, urls, unreadable: unreadable.tell }), ...parts.brokers },
      counters,
    ),
    simulated: openSimulated({ ledger, clock }),
    flattenSimulated: flattenSimulated({ ledger, clock }),
    openCredentials: credentialsOpener(openingKeys(config)),
    clock,
    wait,
    rest,
    log,
    counters,
    tracing,
    rules: {
      fillWaitMs: FILL_WAIT_MS,
      settleMs: Math.min(SETTLE_MS, closeWaitMs),
      closeWaitMs,
      lookEveryMs: timings.reversalPollMs,
      giveUpMs: giveUpMs(config),
      lagMs: timings.positionLagMs,
      openWithinMs: timings.entryDeadlineMs,
    },
    gates: createGates(),
    rates: createRates(),
    listings: createYoung(),
    charts: createYoung(undefined, { youngMs: CHART_MS, most: MOST_CHARTS }),
    takeRead: base.takeRead,
    idleMs: workers.idleMs,
    brokerTimeoutMs: timeoutMs,
  };
  // The embedded one is nobody else's. Reads and commits have connections of their own: either may be refused one.
  const reach = watchReach(async () => {
    if (db.dialect === 'postgres') await Promise.all([db.get(sql`select 1`), db.commit([])]);
  });
  closers.push(() => reach.stop());
  const host = startHost({
    store,
    mailbox,
    roster: base.roster,
    reach,
    name,
    startWorker: (user) => startWorker(deps, user),
    poolSize: workers.poolSize,
    leaseMs: workers.leaseMs,
    clock,
    log,
    counters,
  });
  closers.push(() => host.stop());
  return host;
}
