// How far apart sweeps are, as each worker host tells it itself: where all that sweep are more than a broker's rate has room for, that
// grows, and whoever waits for a sweep waits longer.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster.ts';

export interface ToldInterval {
  readonly at: number;
  readonly ms: number;
}

const EVERY_MS = 1_000;
const LINE = /^fillpath_sweep_interval_seconds\{broker="(\w+)"\} ([\d.]+)$/gm;

/** Only what is longer than it is set to be. */
export function watchSweeps(cluster: Cluster, broker: string) {
  const told: ToldInterval[] = [];
  let isOver = false;
  async function ask(url: string): Promise<void> {
    const answer = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(EVERY_MS) });
    for (const [, of, seconds] of (await answer.text()).matchAll(LINE)) {
      const ms = Number(seconds) * 1000;
      if (of === broker && ms > cluster.times.sweepMs) told.push({ at: Date.now(), ms });
    }
  }
  const watching = (async () => {
    while (!isOver) {
      // One that is dead or stands still tells nothing.
      await Promise.allSettled(cluster.workers.map(({ url }) => ask(url)));
      await sleep(EVERY_MS);
    }
  })();
  return {
    async stop(): Promise<readonly ToldInterval[]> {
      isOver = true;
      await watching;
      return told;
    },
  };
}
