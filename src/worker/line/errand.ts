// On which errand a broker is asked. It goes along with whatever is done for it, down to the call that reaches the broker: behind a gate
// that was closed exits come first, then protection, then entries, then sweeps and whoever only reads.

import { AsyncLocalStorage } from 'node:async_hooks';
import { currentReader } from './reader.ts';

export type Errand = 'exit' | 'protection' | 'entry' | 'sweep';

/** So long after the gate has opened. All who wait for one moment come within a tenth of a second of it (execute.ts). */
export const AFTER_MS: Readonly<Record<Errand, number>> = {
  exit: 0,
  protection: 100,
  entry: 200,
  sweep: 300,
};

interface Sent {
  errand(): Errand;
  /** Of the broker's rate, by all calls that were made for it. */
  weight: number;
}

const errands = new AsyncLocalStorage<Sent>();

/** An errand may become another: whoever reverses gets out first. */
export const onErrand = <T>(errand: () => Errand, work: () => T): T =>
  errands.run({ errand, weight: 0 }, work);

/** Of an errand whose calls are counted. */
export async function weighed<T>(
  errand: Errand,
  work: () => Promise<T>,
  cost: (weight: number) => void,
): Promise<T> {
  const sent: Sent = { errand: () => errand, weight: 0 };
  try {
    return await errands.run(sent, work);
  } finally {
    cost(sent.weight);
  }
}

/** Who says nothing of it does not wait for others. */
export function currentErrand(): Errand {
  if (currentReader()) return 'sweep';
  return errands.getStore()?.errand() ?? 'exit';
}

export function noteWeight(weight: number): void {
  const sent = errands.getStore();
  if (sent) sent.weight += weight;
}
