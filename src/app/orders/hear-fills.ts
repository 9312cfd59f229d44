// A worker has heard at its broker that something happened to an order: it is looked at now, as where a user asks for it. Any
// number of verifiers hear; each word reaches one of them. One that is lost is made up for by the next check of the queue.

import { findOpenCheck } from '../../data/fill-checks.ts';
import type { OrderId } from '../../domain/ids.ts';
import type { Mailbox } from '../../worker/mailbox.ts';
import { type LookingDeps, lookAlone } from './look-now.ts';

export interface HearDeps extends Omit<LookingDeps, 'mailbox'> {
  readonly mailbox: Pick<Mailbox, 'ask' | 'nextWanted'>;
  wait(ms: number): Promise<void>;
}

/** Looks at the same time; the words behind them wait. */
const MOST_AT_ONCE = 32;
/** The account is being looked at: that look may have asked the broker too soon. */
const AGAIN_MS = 300;
const MOST_TRIES = 20;
/** After a fault of the store. */
const BREATH_MS = 200;

/** Until the signal aborts; what is under way is finished. */
export async function hearFills(deps: HearDeps, signal: AbortSignal): Promise<void> {
  const underWay = new Set<Promise<void>>();
  while (!signal.aborted)
    try {
      const order = await deps.mailbox.nextWanted({ signal });
      if (order === null) continue;
      const looking = lookSoon(deps, order, signal)
        .catch((fault: unknown) => deps.log.warn({ fault, order }, 'a look at what was heard failed'))
        .finally(() => underWay.delete(looking));
      underWay.add(looking);
      if (underWay.size >= MOST_AT_ONCE) await Promise.race(underWay);
    } catch (fault) {
      deps.log.warn({ fault }, 'it cannot be heard which orders are to be looked at');
      await deps.wait(BREATH_MS);
    }
  await Promise.all(underWay);
}

async function lookSoon(deps: HearDeps, order: OrderId, signal: AbortSignal): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES && !signal.aborted; tries++) {
    const check = await findOpenCheck(deps.db, order);
    if (!check) return;
    if (check.state !== 'running' && (await lookAlone(deps, check))) return;
    await deps.wait(AGAIN_MS);
  }
}
