// What `max_daily_loss` counts from on the day on which it is set: the equity of that moment, of the account and of its simulated
// book. Without it every entry would be refused until the day is over: nobody noted what the day's first order began with.

import type { Balance } from '../../broker/broker.ts';
import type { Account } from '../../data/accounts/accounts.ts';
import type { Statement } from '../../data/engine/db.ts';
import { beginDay } from '../../data/orders/guard-facts.ts';
import { NEEDS_CREDENTIALS } from '../../domain/brokers.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import { dayOf } from '../../domain/orders/entitlement.ts';
import { StoreUnavailable } from '../../store/store.ts';
import { type AskDeps, askWorker } from './account-broker.ts';

/** To be committed with the guard. */
export async function beginningOfDay(
  deps: AskDeps & { readonly clock: { now(): number } },
  account: Account,
): Promise<readonly Statement[] | Denial> {
  // Without credentials there is nothing to ask with, and nothing was traded: the day begins with its first order.
  const isMute = NEEDS_CREDENTIALS[account.brokerName] && account.sealedCredentials === null;
  const books = isMute ? [true] : [false, true];
  const day = dayOf(deps.clock.now());
  const begun: Statement[] = [];
  for (const simulation of books) {
    const read = await equityOf(deps, account, simulation);
    if (isDenial(read)) return read;
    begun.push(beginDay({ accountId: account.id, simulation }, day, read.equity));
  }
  return begun;
}

async function equityOf(
  deps: AskDeps,
  { id, userId, connectionVersion: version }: Account,
  simulation: boolean,
): Promise<Balance | Denial> {
  const detail = (why: string) =>
    `max_daily_loss counts from the equity of now on the day on which it is set, and that could not be read: ${why}`;
  try {
    const answer = await askWorker(deps, userId, { kind: 'balance', accountId: id, simulation, version });
    if (!isDenial(answer)) return answer.balance;
    return { ...answer, detail: detail(answer.detail) };
  } catch (fault) {
    if (fault instanceof StoreUnavailable)
      return deny('store_unavailable', { detail: detail('the store does not answer.') });
    throw fault;
  }
}
