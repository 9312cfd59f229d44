// Keeps an account for a trial: while it lasts no strategy opens anything there. Exits go on: nobody is kept in a position by a trial.

import type { Account } from '../../data/accounts/accounts.ts';
import { changeAccount } from '../../data/accounts/accounts.ts';
import type { Db } from '../../data/engine/db.ts';
import { symbolsUnderWay } from '../../data/orders/under-way.ts';
import { timestamp } from '../../domain/ids.ts';
import { audit, type RequestContext } from '../audit/audit.ts';
import { Refused } from './looking.ts';

export interface HoldDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly context: RequestContext;
}

/** true: it was not halted, and is now. Throws where orders of it are under way. */
export async function holdAccount(deps: HoldDeps, account: Account): Promise<boolean> {
  const isOurs = !account.halted;
  if (isOurs) await change(deps, account, 'account_halted', timestamp(deps.clock.now()));
  const symbols = await symbolsUnderWay(deps.db, {
    userId: account.userId,
    accountId: account.id,
    simulation: false,
  });
  if (symbols.length === 0) return isOurs;
  if (isOurs) await releaseAccount(deps, account);
  throw new Refused(
    `Orders of this account are under way (${[...new Set(symbols)].join(', ')}). Wait until they have ended, and try again.`,
  );
}

export const releaseAccount = (deps: HoldDeps, account: Account): Promise<void> =>
  change(deps, account, 'account_resumed', null);

async function change(
  { db, clock, context }: HoldDeps,
  { id, userId }: Account,
  action: string,
  haltedAt: ReturnType<typeof timestamp> | null,
): Promise<void> {
  const resource = { type: 'account', id };
  const metadata = { trading_account_id: id, by: 'broker try' };
  await db.commit([
    changeAccount(id, { haltedAt }),
    audit(context, { userId, action, failure: null, resource, metadata }, clock.now()),
  ]);
}
