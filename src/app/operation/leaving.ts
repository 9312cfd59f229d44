// What a user who cannot get in any more has at brokers. What protects positions stays there, and is looked after as before. An entry
// that rests is taken back: nobody could close what it opens.

import type { Db, Statement } from '../../data/engine/db.ts';
import { keptProtections } from '../../data/orders/protections.ts';
import { endEntriesOf, restingOfUser } from '../../data/orders/resting.ts';
import { timestamp, type UserId } from '../../domain/ids.ts';
import { cancelledBy, leftEntries } from '../../domain/orders/resting.ts';
import { type LeftOrder, leftOrders } from '../../domain/protection/left.ts';

interface Leaving {
  /** Stays at brokers, an entry until it is taken back. */
  readonly left: readonly LeftOrder[];
  /** After what keeps the user out: no entry is sent from then on. */
  readonly unit: readonly Statement[];
}

export async function leaving(
  { db, clock }: { readonly db: Db; readonly clock: { now(): number } },
  user: UserId,
): Promise<Leaving> {
  const [protections, resting] = [await keptProtections(db, user), await restingOfUser(db, user)];
  return {
    left: [...protections.flatMap(leftOrders), ...resting.flatMap(leftEntries)],
    unit: endEntriesOf(user, cancelledBy('its user was deactivated'), timestamp(clock.now())),
  };
}
