// Fill verification makes one check of a user at a time, and a broker that hangs keeps it for long. What rests on the user's other
// accounts is not to outlive its time for that: it is looked at beside the queue, and taken back where it is to end.

import { overdueResting } from '../../data/orders/resting.ts';
import { timestamp } from '../../domain/ids.ts';
import { type LookingDeps, lookAlone } from './look-now.ts';

/** Sooner, its turn may yet come. */
const GRACE_MS = 2_000;
const MOST_AT_ONCE = 64;

/** Returns how many accounts there were. */
export async function sweepResting(deps: LookingDeps): Promise<number> {
  const overdue = await overdueResting(deps.db, timestamp(deps.clock.now() - GRACE_MS), MOST_AT_ONCE);
  // One of an account at a time.
  const first = new Map(overdue.toReversed().map((check) => [check.accountId, check]));
  await Promise.all([...first.values()].map((check) => lookAlone(deps, check)));
  return first.size;
}
