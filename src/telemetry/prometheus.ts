// What Prometheus reads, written by prom-client: what this process counted itself, what the platform knows of it, and the
// figures of the whole deployment, which are made anew for every reader.

import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Histogram from 'prom-client/lib/histogram.js';
import Registry from 'prom-client/lib/registry.js';
import {
  ANSWERS,
  CHANNELS,
  type Counters,
  FAIL_OPENS,
  PROTECTION_CALLS,
  type SweepInterval,
  TAKEOVERS,
} from '../domain/counters.ts';
import { DENIALS } from '../domain/denials.ts';
import type { Figure } from '../domain/figure.ts';

export const METRICS_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

const PREFIX = 'fillpath_';

/** From what a warm order takes to what an order may wait at most. */
const LATENCIES = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60];
const CALLS = [0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
/** From what a broker takes to show a stop to what nobody should wait for. */
const UNPROTECTED = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300];
const WAITS = [0.0001, 0.0005, 0.001, 0.005, 0.02, 0.1, 0.5, 2, 10];
const GROUPS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

export interface Prometheus extends Counters {
  /** The text that Prometheus reads. */
  expose(ofDeployment: readonly Figure[]): Promise<string>;
}

export function openPrometheus(): Prometheus {
  const registry = new Registry();
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter<L>({ name: PREFIX + name, help, labelNames, registers });
  const histogram = <L extends string>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: readonly L[] = [],
  ) => new Histogram<L>({ name: PREFIX + name, help, buckets, labelNames, registers });

  const webhook = histogram('webhook_seconds', 'From the arrival of a webhook to its answer.', LATENCIES, [
    'answer',
  ]);
  const denials = counter('denials_total', 'Requests that were refused, by the code of the denial.', [
    'code',
  ]);
  const failOpens = counter(
    'fail_opens_total',
    'Requests that were let through because what would have decided did not answer.',
    ['what'],
  );
  const taken = histogram(
    'queue_wait_seconds',
    "From an order's acceptance until its worker took it.",
    LATENCIES,
  );
  const sent = histogram(
    'accept_to_broker_seconds',
    "From an order's acceptance until it was sent to the broker.",
    LATENCIES,
    ['broker'],
  );
  const ended = counter('orders_ended_total', 'Orders that ended here, by outcome.', ['broker', 'outcome']);
  const calls = histogram('broker_call_seconds', 'Calls to brokers.', CALLS, ['broker', 'call', 'outcome']);
  const unreadable = counter(
    'unreadable_replies_total',
    'Replies of brokers that could not be read, by what was asked.',
    ['broker', 'call'],
  );
  const lag = histogram('fill_check_lag_seconds', 'How late fill checks were begun.', LATENCIES);
  const deadLetters = counter('dead_letters_total', 'Fill checks that were given up.');
  const protectionCalls = counter(
    'protection_calls_total',
    'Calls to brokers about stops, by what was asked and what became of it.',
    ['call', 'outcome'],
  );
  const unprotected = histogram(
    'unprotected_seconds',
    'From the first fill of a position that is to be protected until its stop was seen at the broker.',
    UNPROTECTED,
    ['broker'],
  );
  const restored = counter(
    'protection_restored_total',
    'Stops and targets that somebody else took away or changed, and that were put back.',
  );
  const groupOrders = counter('group_orders_total', 'Orders that signals to groups became.');
  const starts = counter('worker_starts_total', "Users' workers that were started here.");
  const takeovers = counter('takeovers_total', 'What this process took over from one that was gone.', [
    'what',
  ]);
  const told = counter('notifications_total', 'What was sent to users, or could not be, by channel.', [
    'channel',
    'outcome',
  ]);
  const commitWait = histogram('commit_wait_seconds', 'A unit waited for its turn to be committed.', WAITS);
  const commit = histogram('commit_seconds', 'A transaction of one or more units.', WAITS);
  const group = histogram('commit_units', 'Units that shared a transaction.', GROUPS);
  const poolWait = histogram('pool_wait_seconds', 'Waits for a connection to the database.', WAITS, ['pool']);
  const pools = new Map<string, () => number>();
  new Gauge({
    name: `${PREFIX}pool_waiting`,
    help: 'Who waits for a connection to the database at this moment.',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const [pool, waiting] of pools) this.set({ pool }, waiting());
    },
  });
  let sweepIntervals: () => readonly SweepInterval[] = () => [];
  new Gauge({
    name: `${PREFIX}sweep_interval_seconds`,
    help: 'How far apart two sweeps of a protected position are by now in this process, by broker.',
    labelNames: ['broker'],
    registers,
    collect() {
      for (const { broker, ms } of sweepIntervals()) this.set({ broker }, ms / 1000);
    },
  });
  describeProcess(registers);

  // What never happened is 0 and not missing: the first time is a change, and an alarm sees it.
  for (const code of Object.keys(DENIALS)) denials.inc({ code }, 0);
  for (const what of FAIL_OPENS) failOpens.inc({ what }, 0);
  for (const what of TAKEOVERS) takeovers.inc({ what }, 0);
  for (const call of PROTECTION_CALLS) protectionCalls.inc({ call, outcome: 'failed' }, 0);
  for (const call of ['place', 'move'] as const) protectionCalls.inc({ call, outcome: 'rejected' }, 0);
  for (const answer of ANSWERS) webhook.zero({ answer });
  for (const channel of CHANNELS) told.inc({ channel, outcome: 'failed' }, 0);

  return {
    webhookAnswered: (answer, ms) => webhook.observe({ answer }, ms / 1000),
    denied: (code) => denials.inc({ code }),
    failedOpen: (what) => failOpens.inc({ what }),
    orderTaken: (ms) => taken.observe(ms / 1000),
    orderSent: (broker, ms) => sent.observe({ broker }, ms / 1000),
    orderEnded: (broker, outcome) => ended.inc({ broker, outcome }),
    replyUnreadable: (broker, call) => unreadable.inc({ broker, call }),
    brokerCalled: (broker, call, outcome, ms) => calls.observe({ broker, call, outcome }, ms / 1000),
    checkTaken: (ms) => lag.observe(ms / 1000),
    deadLetter: () => deadLetters.inc(),
    protectionCalled: (call, outcome) => protectionCalls.inc({ call, outcome }),
    positionProtected: (broker, ms) => unprotected.observe({ broker }, ms / 1000),
    protectionRestored: () => restored.inc(),
    groupOrders: (count) => groupOrders.inc(count),
    watchSweeps(intervals) {
      sweepIntervals = intervals;
    },
    workerStarted: () => starts.inc(),
    takenOver: (what) => takeovers.inc({ what }),
    notified: (channel, outcome) => told.inc({ channel, outcome }),
    commitWaited: (ms) => commitWait.observe(ms / 1000),
    committed(units, ms) {
      group.observe(units);
      commit.observe(ms / 1000);
    },
    poolWaited: (pool, ms) => poolWait.observe({ pool }, ms / 1000),
    watchPool(pool, waiting) {
      pools.set(pool, waiting);
      poolWait.zero({ pool });
    },
    async expose(ofDeployment) {
      const [own, shared] = await Promise.all([registry.metrics(), textOf(ofDeployment)]);
      return shared + own;
    },
  };
}

async function textOf(figures: readonly Figure[]): Promise<string> {
  const registry = new Registry();
  const registers = [registry];
  for (const { name, type, help, values } of figures) {
    const labelNames = Object.keys(values[0]?.labels ?? {});
    const options = { name: PREFIX + name, help, labelNames, registers };
    const made = type === 'counter' ? new Counter(options) : new Gauge(options);
    for (const { labels = {}, value } of values) made.inc(labels, value);
  }
  return registry.metrics();
}

/** By the names under which Prometheus knows such figures of any program; the last one is Node's own. */
function describeProcess(registers: InstanceType<typeof Registry>[]): void {
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Memory of this process.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'When this process was started, as Unix time.',
    registers,
  }).set(performance.timeOrigin / 1000);
  const total = (name: string, help: string, read: () => number) =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  total('process_cpu_seconds_total', 'Processor time of this process.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  total(
    'nodejs_eventloop_busy_seconds_total',
    'Time in which the event loop of this process was busy: its rate is how full the process is.',
    () => performance.eventLoopUtilization().active / 1000,
  );
}
