// One account's broker hangs: what do the others notice? Their latency then, beside their latency just before; and that of
// the same user's other account, whose worker is the same.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Desk } from './desks.ts';
import type { Finding } from './records.ts';
import type { Scene } from './scene.ts';
import type { Signal } from './signals.ts';
import type { Traffic } from './traffic.ts';

const CALM_MS = 15_000;
const WARM_UP_MS = 6_000;
const MOST_WINDOWS = 6;
const LEAST_ANSWERS = 10;
/** A noisy machine doubles a median now and then; a queue behind the hanging broker would make it seconds. */
const MOST_TIMES = 3;
const MOST_MORE_MS = 50;

export async function measureHang(
  { exchange, desks, outages }: Scene,
  { signals }: Traffic,
  log: (text: string) => void,
): Promise<Finding[]> {
  const victim = pickVictim(desks);
  const isOf = (desk: Desk) => desk.trader.user.id === victim.trader.user.id;
  const isOther = (desk: Desk) => isOf(desk) && desk !== victim;
  await sleep(WARM_UP_MS);
  let before = 0;
  let during = 0;
  // A machine that has much else to do takes its time to start a cluster.
  for (let times = 0; times < MOST_WINDOWS && !isEnough(); times++) {
    before = Date.now();
    await sleep(CALM_MS);
    during = Date.now();
  }
  function isEnough(): boolean {
    const answered = latencies(
      signals.filter(({ desk }) => isOther(desk)),
      before,
      during,
    );
    return answered.length >= LEAST_ANSWERS;
  }
  await exchange.addFault({ kind: 'hang', ttl_ms: CALM_MS, accounts: [victim.trader.account.id] });
  await sleep(CALM_MS);
  const after = Date.now();
  outages.push({ from: during, to: after, accounts: [victim.trader.account.id] });

  const compare = (who: string, isIt: (desk: Desk) => boolean): Finding => {
    const theirs = signals.filter(({ desk }) => isIt(desk));
    const calm = latencies(theirs, before, during);
    const hanging = latencies(theirs, during, after);
    const text =
      `one account's broker hung for ${CALM_MS / 1000} s: the median of ${who} was ${ms(median(calm))} before and ` +
      `${ms(median(hanging))} meanwhile, 95 % ${ms(percentile(calm, 95))} and ${ms(percentile(hanging, 95))}`;
    log(text);
    return {
      invariant: `the latency of ${who} stays flat while one account's broker hangs: ${ms(median(calm))} → ${ms(median(hanging))}`,
      kind: 'other',
      checked: calm.length + hanging.length,
      problems: median(hanging) <= median(calm) * MOST_TIMES + MOST_MORE_MS ? [] : [text],
    };
  };
  return [
    compare('other users', (desk) => isPrompt(desk) && !isOf(desk)),
    compare("the same user's other account", isOther),
  ];
}

/** Whose latency is ours alone. */
const isPrompt = ({ isFilling, traits }: Desk): boolean => isFilling && traits.fillsAfterMs === null;

/** One whose user's other account is prompt, and has much to do. */
function pickVictim(desks: readonly Desk[]): Desk {
  const other = desks.find((desk) => isPrompt(desk) && desk.burst > 1);
  const victim = desks.find((desk) => desk !== other && desk.trader.user.id === other?.trader.user.id);
  if (!victim) throw new Error('there are too few users');
  return victim;
}

const latencies = (signals: readonly Signal[], from: number, to: number): number[] =>
  signals.flatMap(({ deliveries }) =>
    deliveries
      .filter(
        ({ sentAt, answer }) =>
          sentAt >= from && sentAt < to && (answer?.status === 200 || answer?.status === 202),
      )
      .map(({ ms }) => ms),
  );

function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? Number.NaN;
}

const median = (values: readonly number[]): number => percentile(values, 50);
const ms = (value: number): string => `${value.toFixed(1)} ms`;
