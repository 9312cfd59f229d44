// One user's broker hangs: what do the others notice? Their latency then, beside their latency just before.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Scene } from './faults.ts';
import type { Finding } from './judge.ts';
import type { Signal, Traffic } from './traffic.ts';

const CALM_MS = 12_000;
const WARM_UP_MS = 6_000;
/** A noisy machine doubles a median now and then; a queue behind the hanging broker would make it seconds. */
const MOST_TIMES = 3;
const MOST_MORE_MS = 50;

export async function measureHang(
  { exchange, desks }: Scene,
  { signals }: Traffic,
  log: (text: string) => void,
): Promise<Finding> {
  const victim = desks.find((desk) => desk.burst > 1) ?? desks[0];
  const account = victim?.trader.account.id ?? '';
  await sleep(WARM_UP_MS);
  const before = Date.now();
  await sleep(CALM_MS);
  const during = Date.now();
  await exchange.addFault({ kind: 'hang', ttl_ms: CALM_MS, accounts: [account] });
  await sleep(CALM_MS);
  const after = Date.now();
  const others = signals.filter((signal) => signal.accountId !== account && signal.desk.isImmediate);
  const calm = latencies(others, before, during);
  const hanging = latencies(others, during, after);
  const own = signals
    .filter((signal) => signal.accountId === account)
    .flatMap(({ deliveries }) => deliveries.filter(({ sentAt }) => sentAt >= during && sentAt < after));
  const text =
    `one user's broker hung for ${CALM_MS / 1000} s (${own.length} deliveries of that user): ` +
    `the others' median was ${ms(median(calm))} before and ${ms(median(hanging))} meanwhile, ` +
    `95 % ${ms(percentile(calm, 95))} and ${ms(percentile(hanging, 95))}`;
  log(text);
  const isFlat = median(hanging) <= median(calm) * MOST_TIMES + MOST_MORE_MS;
  return {
    invariant: `others' latency stays flat while one user's broker hangs: ${ms(median(calm))} → ${ms(median(hanging))}`,
    kind: 'other',
    checked: calm.length + hanging.length,
    problems: isFlat ? [] : [text],
  };
}

const latencies = (signals: readonly Signal[], from: number, to: number): number[] =>
  signals.flatMap(({ deliveries }) =>
    deliveries
      .filter(({ sentAt, answer }) => sentAt >= from && sentAt < to && answer?.status === 200)
      .map(({ ms }) => ms),
  );

function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? Number.NaN;
}

const median = (values: readonly number[]): number => percentile(values, 50);
const ms = (value: number): string => `${value.toFixed(1)} ms`;
