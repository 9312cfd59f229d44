// Figures of the whole deployment, the same from every process of it, but for two that a process alone can know: what it is,
// and which messages it did not believe. What it counts of its own doing stands beside them (domain/counters.ts).

import type { Db } from '../../data/engine/db.ts';
import { readPruned } from '../../data/engine/pruning.ts';
import { countChecks, earliestCheck } from '../../data/orders/fill-checks.ts';
import { countUnknown, ordersUnderWayNow } from '../../data/orders/orders.ts';
import { type CountedProtections, countProtections } from '../../data/orders/protections-troubled.ts';
import { countResting } from '../../data/orders/resting.ts';
import { BROKER_NAMES } from '../../domain/brokers.ts';
import type { Figure } from '../../domain/figure.ts';
import { millis, type Timestamp } from '../../domain/ids.ts';
import { PROTECTION_STATES } from '../../domain/protection/protection.ts';
import { type Attending, unattendedAt } from '../../domain/protection/unattended.ts';
import type { Store } from '../../store/store.ts';
import type { Hosts } from '../../worker/host/hosts.ts';
import { STARTS_QUEUE } from '../../worker/host/pool.ts';
import { unsealedMs } from './health.ts';

export interface MetricsDeps extends Attending {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly store: Pick<Store, 'queueLength' | 'refused'>;
  readonly hosts: Pick<Hosts, 'list' | 'lost'>;
  readonly version: string;
  readonly role: string;
}

/** A part that is down leaves its figures out, and says so in `part_up`. */
export async function readFigures(deps: MetricsDeps): Promise<Figure[]> {
  const { store, version, role } = deps;
  const [ofDatabase, ofStore] = await Promise.all([
    orNull(figuresOfDatabase(deps)),
    orNull(figuresOfStore(deps)),
  ]);
  return [
    family('info', 'The program.', [{ labels: { version, role }, value: 1 }]),
    family('part_up', 'Whether a part answers.', [
      { labels: { part: 'database' }, value: ofDatabase ? 1 : 0 },
      { labels: { part: 'store' }, value: ofStore ? 1 : 0 },
    ]),
    counter(
      'messages_refused_total',
      'Messages in Redis that were not ours, or not new, and were dropped by this process.',
      store.refused(),
    ),
    ...(ofDatabase ?? []),
    ...(ofStore ?? []),
  ];
}

async function figuresOfDatabase(deps: MetricsDeps): Promise<Figure[]> {
  const { db, clock } = deps;
  const [checks, due, orders, unknown, waitingMs, pruned, protections, resting] = await Promise.all([
    countChecks(db),
    earliestCheck(db),
    ordersUnderWayNow(db),
    countUnknown(db),
    unsealedMs(deps),
    readPruned(db),
    countProtections(db, unattendedAt(clock.now(), deps)),
    countResting(db),
  ]);
  const round = pruned.find(({ what }) => what === 'rounds');
  const secondsSince = (time: Timestamp | null) =>
    time === null ? 0 : Math.max(0, clock.now() - millis(time)) / 1000;
  return [
    gauge('orders_under_way', 'Orders accepted and not yet handed to their broker.', orders.count),
    gauge('oldest_order_seconds', 'Age of the oldest of them.', secondsSince(orders.oldest)),
    gauge(
      'order_overdue_seconds',
      'How long ago the deadline of one of them passed: an exit may wait until its own, and nothing longer.',
      secondsSince(orders.due),
    ),
    gauge('orders_unknown', 'Orders of which nobody knows whether the broker has them.', unknown),
    gauge('resting_entries', 'Entries that rest at their broker and wait for a price.', resting),
    family(
      'fill_checks',
      'Fill checks; dead letters wait for a person.',
      (['scheduled', 'running', 'dead_letter'] as const).map((state) => ({
        labels: { state },
        value: checks[state],
      })),
    ),
    gauge(
      'fill_check_overdue_seconds',
      'How long ago the oldest waiting fill check was due.',
      secondsSince(due),
    ),
    ...figuresOfProtections(protections, secondsSince),
    gauge('audit_unsealed_seconds', 'Age of the oldest audit entry without a seal.', waitingMs / 1000),
    {
      name: 'pruned_rows_total',
      type: 'counter',
      help: 'Rows that were pruned.',
      values: pruned
        .filter((each) => each !== round)
        .map(({ what, row_count }) => ({ labels: { what }, value: row_count })),
    },
    ...(round
      ? [
          gauge(
            'retention_age_seconds',
            'Time since the last whole round of pruning.',
            secondsSince(round.last_at),
          ),
        ]
      : []),
  ];
}

/** Of real positions. What has ended is not kept any more. */
function figuresOfProtections(
  counted: readonly CountedProtections[],
  secondsSince: (time: Timestamp | null) => number,
): Figure[] {
  const kept = PROTECTION_STATES.filter((state) => state !== 'ended' && state !== 'left');
  const sum = (rows: readonly CountedProtections[]) => rows.reduce((total, { count }) => total + count, 0);
  const first = (times: readonly (Timestamp | null)[]): Timestamp | null =>
    times.flatMap((time) => time ?? []).toSorted()[0] ?? null;
  const looked = counted.filter(({ state }) => state !== 'unwatched');
  return [
    family(
      'protections',
      'Positions that are protected, or are to be, by state.',
      kept.map((state) => ({
        labels: { state },
        value: sum(counted.filter((row) => row.state === state)),
      })),
    ),
    family(
      'oldest_unprotected_seconds',
      'For how long the oldest position has had no stop that is known to have none, or that nobody looks after, by broker; 0: there is none.',
      BROKER_NAMES.map((broker) => ({
        labels: { broker },
        value: secondsSince(
          first(counted.flatMap((row) => (row.brokerName === broker ? [row.unprotectedSince] : []))),
        ),
      })),
    ),
    gauge(
      'sweep_age_seconds',
      'Time since the look at the protected position that was looked at least lately.',
      secondsSince(first(looked.map(({ seenAt }) => seenAt))),
    ),
  ];
}

async function figuresOfStore({ store, hosts }: MetricsDeps): Promise<Figure[]> {
  const [starts, there, lost] = await Promise.all([
    store.queueLength(STARTS_QUEUE),
    hosts.list(),
    hosts.lost(),
  ]);
  const sum = (of: 'workers' | 'busy') => there.reduce((total, host) => total + host[of], 0);
  return [
    gauge('worker_starts_waiting', 'Users that wait for a worker host to take them.', starts),
    gauge('hosts', 'Worker hosts that are running.', there.length),
    counter('hosts_lost_total', 'Worker hosts that fell silent; the log names each.', lost),
    gauge('workers', 'Users that have a worker.', sum('workers')),
    gauge('workers_busy', 'Of them executing.', sum('busy')),
  ];
}

/** null: the part does not answer. */
const orNull = (figures: Promise<Figure[]>): Promise<Figure[] | null> => figures.catch(() => null);

const gauge = (name: string, help: string, value: number): Figure => family(name, help, [{ value }]);
const counter = (name: string, help: string, value: number): Figure => ({
  name,
  help,
  type: 'counter',
  values: [{ value }],
});
const family = (name: string, help: string, values: Figure['values']): Figure => ({
  name,
  help,
  type: 'gauge',
  values,
});
