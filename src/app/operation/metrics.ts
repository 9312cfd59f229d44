// What Prometheus reads: figures of the whole deployment, the same from every process of it, but for what a process alone
// can know: which messages it did not believe.

import type { Db } from '../../data/db.ts';
import { countChecks } from '../../data/fill-checks.ts';
import { ordersUnderWayNow } from '../../data/orders.ts';
import { readPruned } from '../../data/pruning.ts';
import { millis, type Timestamp } from '../../domain/ids.ts';
import type { Store } from '../../store/store.ts';
import type { Hosts } from '../../worker/hosts.ts';
import { STARTS_QUEUE } from '../../worker/pool.ts';
import { unsealedMs } from './health.ts';

export interface MetricsDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly store: Pick<Store, 'queueLength' | 'refused'>;
  readonly hosts: Pick<Hosts, 'list' | 'lost'>;
  readonly version: string;
  readonly role: string;
}

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** A part that is down leaves its figures out, and says so in `fillpath_part_up`. */
export async function readMetrics(deps: MetricsDeps): Promise<string> {
  const { db, clock, store, hosts, version, role } = deps;
  const [ofDatabase, ofStore] = await Promise.all([
    figures(async () => {
      const [checks, orders, waitingMs, pruned] = await Promise.all([
        countChecks(db),
        ordersUnderWayNow(db),
        unsealedMs(deps),
        readPruned(db),
      ]);
      const round = pruned.find(({ what }) => what === 'rounds');
      const secondsSince = (time: Timestamp) => Math.max(0, clock.now() - millis(time)) / 1000;
      const age = orders.oldest === null ? 0 : secondsSince(orders.oldest);
      return [
        gauge('orders_under_way', 'Orders accepted and not yet handed to their broker.', orders.count),
        gauge('oldest_order_seconds', 'Age of the oldest of them.', age),
        family('fill_checks', 'Fill checks; dead letters wait for a person.', {
          '{state="scheduled"}': checks.scheduled,
          '{state="running"}': checks.running,
          '{state="dead_letter"}': checks.dead_letter,
        }),
        gauge('audit_unsealed_seconds', 'Age of the oldest audit entry without a seal.', waitingMs / 1000),
        family(
          'pruned_rows_total',
          'Rows that were kept no longer.',
          Object.fromEntries(
            pruned
              .filter((each) => each !== round)
              .map(({ what, row_count }) => [`{what="${what}"}`, row_count]),
          ),
          'counter',
        ),
        ...(round
          ? [gauge('retention_age_seconds', 'Time since the last pruning.', secondsSince(round.last_at))]
          : []),
      ];
    }),
    figures(async () => {
      const [starts, there, lost] = await Promise.all([
        store.queueLength(STARTS_QUEUE),
        hosts.list(),
        hosts.lost(),
      ]);
      const sum = (of: 'workers' | 'busy') => there.reduce((total, host) => total + host[of], 0);
      return [
        gauge('worker_starts_waiting', 'Users that wait for a worker host to take them.', starts),
        gauge('hosts', 'Worker hosts that are there.', there.length),
        counter('hosts_lost_total', 'Worker hosts that fell silent; the log names each.', lost),
        gauge('workers', 'Users that have a worker.', sum('workers')),
        gauge('workers_busy', 'Of them executing.', sum('busy')),
      ];
    }),
  ]);
  const parts = {
    '{part="database"}': ofDatabase ? 1 : 0,
    '{part="store"}': ofStore ? 1 : 0,
  };
  return [
    family('info', 'The program.', { [`{version="${version}",role="${role}"}`]: 1 }),
    family('part_up', 'Whether a part answers.', parts),
    counter(
      'messages_refused_total',
      'Messages in Redis that were not ours, or not new, and were dropped by this process.',
      store.refused(),
    ),
    ...(ofDatabase ?? []),
    ...(ofStore ?? []),
  ].join('');
}

/** null: the part does not answer. */
const figures = (ask: () => Promise<string[]>): Promise<string[] | null> => ask().catch(() => null);

const gauge = (name: string, help: string, value: number): string => family(name, help, { '': value });
const counter = (name: string, help: string, value: number): string =>
  family(name, help, { '': value }, 'counter');

function family(
  name: string,
  help: string,
  values: Readonly<Record<string, number>>,
  type: 'gauge' | 'counter' = 'gauge',
): string {
  const full = `fillpath_${name}`;
  const lines = Object.entries(values).map(([labels, value]) => `${full}${labels} ${value}\n`);
  return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${lines.join('')}`;
}
