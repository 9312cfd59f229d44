// Fill verification makes one check of a user at a time, and a broker that hangs keeps it for long. What rests on the user's other
// accounts is not to outlive its time for that: it is looked at beside the queue, and taken back where it is to end. So is what the
// queue has given up: its owner was told, and it may rest there all the same.

import { givenUpResting, overdueResting } from '../../data/orders/resting.ts';
import { timestamp } from '../../domain/ids.ts';
import { type LookingDeps, lookAlone } from './look-now.ts';

/** Sooner, its turn may yet come. */
const GRACE_MS = 2_000;
const MOST_AT_ONCE = 64;

/** Returns how many accounts there were. */
export async function sweepResting(deps: LookingDeps): Promise<number> {
  const overdue = await overdueResting(deps.db, timestamp(deps.clock.now() - GRACE_MS), MOST_AT_ONCE);
  await Promise.all(overdue.map((check) => lookAlone(deps, check)));
  return overdue.length;
}

/** Nothing rests for longer: the longest time in force, and the day for which it is followed after that. */
const LONGEST_MS = 31 * 24 * 3_600_000;

/** In a round of its own: a broker that hangs here holds up nobody who is to end in time. */
export async function sweepGivenUp(deps: LookingDeps): Promise<number> {
  const now = deps.clock.now();
  const due = { before: timestamp(now - GRACE_MS), since: timestamp(now - LONGEST_MS), limit: MOST_AT_ONCE };
  const checks = await givenUpResting(deps.db, due);
  await Promise.all(checks.map((check) => lookAlone(deps, check)));
  return checks.length;
}
