// A worker has heard at its broker that something happened to an order: it is looked at now, as where a user asks for it. Any
// number of verifiers hear; each word reaches one of them. One that is lost is made up for by the next check of the queue.

import { findOpenCheck } from '../../data/orders/fill-checks.ts';
import { findOrder } from '../../data/orders/orders.ts';
import type { AccountId, OrderId } from '../../domain/ids.ts';
import type { Mailbox } from '../../worker/host/mailbox.ts';
import { type LookingDeps, lookAlone } from './look-now.ts';

export interface HearDeps extends Omit<LookingDeps, 'mailbox'> {
  readonly mailbox: Pick<Mailbox, 'ask' | 'tell' | 'nextWanted'>;
  wait(ms: number): Promise<void>;
}

/** Accounts that are looked at at the same time; the words behind them wait. */
const MOST_AT_ONCE = 32;
/** The account is being looked at: that look may have asked the broker too soon. */
const AGAIN_MS = 300;
const MOST_TRIES = 20;
/** After a fault of the store. */
const BREATH_MS = 200;

/** Until the signal aborts; what is under way is finished. An account has one place: it is looked at once at a time anyway. */
export async function hearFills(deps: HearDeps, signal: AbortSignal): Promise<void> {
  /** What is to be looked at behind the look that is under way: however many words there are of an order, it is one. */
  const behind = new Map<AccountId, Set<OrderId>>();
  const underWay = new Set<Promise<void>>();
  while (!signal.aborted)
    try {
      const id = await deps.mailbox.nextWanted({ signal });
      const order = id && (await findOrder(deps.db, id));
      if (!order) continue;
      const { accountId } = order;
      const waiting = behind.get(accountId);
      if (waiting) {
        waiting.add(order.id);
        continue;
      }
      behind.set(accountId, new Set([order.id]));
      const looking = lookInTurn(deps, behind, accountId, signal).finally(() => underWay.delete(looking));
      underWay.add(looking);
      if (underWay.size >= MOST_AT_ONCE) await Promise.race(underWay);
    } catch (fault) {
      deps.log.warn({ fault }, 'it cannot be heard which orders are to be looked at');
      await deps.wait(BREATH_MS);
    }
  await Promise.all(underWay);
}

/** Of one account, until nothing is wanted any more. */
async function lookInTurn(
  deps: HearDeps,
  behind: Map<AccountId, Set<OrderId>>,
  account: AccountId,
  signal: AbortSignal,
): Promise<void> {
  const wanted = behind.get(account) ?? new Set();
  for (const order of wanted) {
    if (signal.aborted) break;
    // Before the look: what is heard during it makes one more.
    wanted.delete(order);
    await lookSoon(deps, order, signal).catch((fault: unknown) =>
      deps.log.warn({ fault, order }, 'a look at what was heard failed'),
    );
  }
  // In the same step: what is heard from now on begins anew.
  behind.delete(account);
}

async function lookSoon(deps: HearDeps, order: OrderId, signal: AbortSignal): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES && !signal.aborted; tries++) {
    const check = await findOpenCheck(deps.db, order);
    if (!check) return;
    if (check.state !== 'running' && (await lookAlone(deps, check))) return;
    await deps.wait(AGAIN_MS);
  }
}
