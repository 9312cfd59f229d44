// What is too long for one read is read in steps, and this is the only loop that does so (test/architecture.test.ts). Before
// each step everybody else of this thread has their turn, or whoever is waited for says when: orders come to the thread that
// trades ten times on their way, and none waits for more than one step.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { giveWay } from './give-way.ts';

/** Rows of a list, in one step, that may not fit. The database takes a step to its end, beside whatever order comes meanwhile. */
export const PASSED_OVER = 50;

/** Does the work when its turn has come, and ends the turn with it. */
export type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** After everything that is there to do at this moment. */
export const afterOthers: InTurn = async (work) => {
  await nextTurn();
  return work();
};

/** Works on until there is nothing left: `step` says whether there may be more. */
export async function untilDone(step: () => Promise<boolean>): Promise<void> {
  for await (const isMore of inSteps(step)) if (!isMore) return;
}

/** `read` is given the step before; null: there is nothing more. */
export async function* inSteps<Step>(
  read: (last: Step | null) => Promise<Step | null>,
  inTurn: InTurn = afterOthers,
): AsyncGenerator<Step> {
  for (let last: Step | null = null; ; ) {
    const step: Step | null = await inTurn(() => read(last));
    giveWay();
    if (step === null) return;
    yield step;
    last = step;
  }
}
