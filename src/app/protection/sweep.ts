// Protected positions whose worker does not look after them: it died, or was never started after a restart. Whoever finds them first has
// a worker begin with them.

import type { Db } from '../../data/engine/db.ts';
import { claimDueProtections, usersWithDueProtection } from '../../data/orders/protections.ts';
import { timestamp } from '../../domain/ids.ts';
import type { Mailbox } from '../../worker/host/mailbox.ts';

export interface SweepDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly mailbox: Pick<Mailbox, 'tell'>;
  readonly log: { warn(context: object, text: string): void };
}

/** A worker that lives looks before that. */
const GRACE_MS = 3_000;
/** So long it has time to begin. */
const CLAIMED_MS = 10_000;
const MOST_USERS = 64;

/** Returns how many users there were. */
export async function sweepProtections({ db, clock, mailbox, log }: SweepDeps): Promise<number> {
  const now = clock.now();
  const due = timestamp(now - GRACE_MS);
  const users = await usersWithDueProtection(db, due, MOST_USERS);
  await Promise.all(
    users.map(async (user) => {
      if ((await db.commit([claimDueProtections(user, due, timestamp(now + CLAIMED_MS))])) !== null) return;
      await mailbox
        .tell(user, { kind: 'recover' })
        .catch((fault: unknown) =>
          log.warn({ fault, user_id: user }, 'a worker could not be told of what it is to protect'),
        );
    }),
  );
  return users.length;
}
