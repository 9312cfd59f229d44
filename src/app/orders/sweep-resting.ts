// Fill verification makes one check of a user at a time, and a broker that hangs keeps it for long; so does a verifier that died. What
// rests is not to outlive its time for that: it is looked at beside the queue, and taken back where it is to end. So is what the queue has
// given up: its owner was told, and it may rest there all the same, or, at the market, have opened what is to be protected.

import { type OpenCheck, takeTurn } from '../../data/orders/fill-checks.ts';
import { givenUpResting, overdueResting } from '../../data/orders/resting.ts';
import { timestamp } from '../../domain/ids.ts';
import { type LookingDeps, lookAlone } from './look-now.ts';

/** Sooner, its turn may yet come. */
const GRACE_MS = 2_000;
/** A check takes as long where a broker is slow; a verifier that has it for longer is dead, or as good as dead for what rests. */
const STUCK_MS = 10_000;
/** So long nobody else looks at it: a broker that hangs does not take the room of the others in every round. */
const TURN_MS = 10_000;
const MOST_AT_ONCE = 64;

/** Returns how many accounts there were. A round does not wait for the looks of the one before (background.ts). */
export async function sweepResting(deps: LookingDeps): Promise<number> {
  const now = deps.clock.now();
  return lookAtAll(
    deps,
    await overdueResting(deps.db, {
      before: timestamp(now - GRACE_MS),
      stuckUntil: timestamp(now - STUCK_MS + deps.visibilityMs),
      limit: MOST_AT_ONCE,
    }),
  );
}

/** Nothing rests for longer: the longest time in force, and the day for which it is followed after that. */
const LONGEST_MS = 31 * 24 * 3_600_000;

/** In a round of its own: a broker that hangs here holds up nobody who is to end in time. */
export async function sweepGivenUp(deps: LookingDeps): Promise<number> {
  const now = deps.clock.now();
  const due = { before: timestamp(now - GRACE_MS), since: timestamp(now - LONGEST_MS), limit: MOST_AT_ONCE };
  return lookAtAll(deps, await givenUpResting(deps.db, due));
}

async function lookAtAll(deps: LookingDeps, checks: readonly OpenCheck[]): Promise<number> {
  await Promise.all(checks.map((check) => lookInTurn(deps, check)));
  return checks.length;
}

async function lookInTurn(deps: LookingDeps, check: OpenCheck): Promise<void> {
  const until = timestamp(deps.clock.now() + TURN_MS);
  if ((await deps.db.commit([takeTurn(check, until)])) === null) await lookAlone(deps, check);
}
