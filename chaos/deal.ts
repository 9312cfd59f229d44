// Who deals the faults, and when: each kind is dealt before any comes again, by several hands at once.

import { setTimeout as sleep } from 'node:timers/promises';
import { FAULTS } from './faults.ts';
import type { Scene, Tools } from './scene.ts';

/** These go on beside the others: a broker is ill at its own times, and busy at any; and what keeps people in comes often. */
const BUSY = ['exchange busy'];
const LAGGING = ['exchange lagging'];
const KEEPING_IN = ['exchange away', 'exchange away after a close', 'exchange refusing credentials'];
const OWN_HANDS = [...BUSY, ...LAGGING, ...KEEPING_IN];
const AT_EXCHANGE = Object.keys(FAULTS).filter(
  (name) => name.startsWith('exchange ') && !OWN_HANDS.includes(name),
);

/** All hands at once, each of its own: what happens at the exchange meets everything else. */
export async function dealWithAllHands(
  scene: Scene,
  { until, only, log }: { until: number; only: readonly string[] | null; log: (text: string) => void },
): Promise<Map<string, number>> {
  if (only) return dealFaults(scene, { until, only, log });
  const elsewhere = Object.keys(FAULTS).filter(
    (name) => !AT_EXCHANGE.includes(name) && !OWN_HANDS.includes(name),
  );
  const hands = await Promise.all([
    dealFaults(scene, { until, only: elsewhere, log }),
    dealFaults(scene, { until, only: AT_EXCHANGE, pauseMs: 9_000, log }),
    dealFaults(scene, { until, only: BUSY, pauseMs: 12_000, log }),
    dealFaults(scene, { until, only: LAGGING, pauseMs: 6_000, log }),
    dealFaults(scene, { until, only: KEEPING_IN, pauseMs: 4_000, log }),
  ]);
  return new Map(hands.flatMap((counts) => [...counts]));
}

/** Deals the faults one after the other until the time is up. Counts what happened. */
async function dealFaults(
  scene: Scene,
  {
    until,
    only,
    pauseMs = 2_000,
    log,
  }: { until: number; only: readonly string[]; pauseMs?: number; log: (text: string) => void },
): Promise<Map<string, number>> {
  const { random } = scene;
  const tools: Tools = {
    pick: (items) => items[Math.floor(random() * items.length)] as (typeof items)[number],
    between: (least, most) => Math.round(least + random() * (most - least)),
  };
  const counts = new Map<string, number>();
  let deck: string[] = [];
  while (Date.now() < until) {
    if (deck.length === 0)
      deck = only
        .map((name) => [random(), name] as const)
        .sort(([a], [b]) => a - b)
        .map(([, name]) => name);
    const name = deck.pop() as string;
    const happened = await FAULTS[name]?.(scene, tools);
    log(happened ?? `(${name}: the moment did not come)`);
    if (happened) counts.set(happened, (counts.get(happened) ?? 0) + 1);
    await sleep(tools.between(300, pauseMs));
  }
  return counts;
}
