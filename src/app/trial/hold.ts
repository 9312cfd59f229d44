// Keeps an account for a trial: while it lasts no strategy opens anything there. Exits go on: nobody is kept in a position by a trial.

import { accountStands } from '../../data/accounts/account-stands.ts';
import { type Account, changeAccount, findAccount } from '../../data/accounts/accounts.ts';
import type { Db, Statement } from '../../data/engine/db.ts';
import { symbolsUnderWay } from '../../data/orders/under-way.ts';
import { type Timestamp, timestamp } from '../../domain/ids.ts';
import { audit, type RequestContext } from '../audit/audit.ts';
import { Refused } from './looking.ts';

export interface HoldDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly context: RequestContext;
}

/** What a trial has halted. */
export interface Held {
  /** Of the account, once it was halted; not there: an earlier release noted none. */
  readonly revision?: number;
}

/** null: it was halted already, and stays so afterwards. Throws where orders of it are under way. */
export async function holdAccount(
  deps: HoldDeps,
  { id }: Pick<Account, 'id'>,
  symbol: string,
): Promise<Held | null> {
  // As it is now: whoever was asked may have taken long to answer.
  const account = await findAccount(deps.db, id);
  if (!account) throw new Refused('The account was deleted meanwhile.');
  const held = await hold(deps, account, symbol);
  const symbols = await symbolsUnderWay(deps.db, {
    userId: account.userId,
    accountId: account.id,
    simulation: false,
  });
  if (symbols.length === 0) return held;
  if (held) await releaseAccount(deps, account, held);
  throw new Refused(
    `Orders of this account are under way (${[...new Set(symbols)].join(', ')}). Wait until they have ended, and try again.`,
  );
}

async function hold(deps: HoldDeps, account: Account, symbol: string): Promise<Held | null> {
  const isOurs = !account.halted;
  const lost = await deps.db.commit([
    accountStands(account),
    ...(isOurs ? changed(deps, account, 'account_halted', timestamp(deps.clock.now())) : []),
    noted(deps, account, 'broker_tried', { symbol }),
  ]);
  if (lost !== null)
    throw new Refused(
      'The account was changed at this very moment, or its user is deactivated. Look at it, and try again.',
    );
  return isOurs ? { revision: account.revision + 1 } : null;
}

/** false: it is still halted, because somebody changed it meanwhile, and may have halted it, too. */
export async function releaseAccount(
  deps: HoldDeps,
  account: Pick<Account, 'id' | 'userId'>,
  { revision }: Held,
): Promise<boolean> {
  const lost = await deps.db.commit([
    ...(revision === undefined ? [] : [accountStands({ id: account.id, revision, halted: true })]),
    ...changed(deps, account, 'account_resumed', null),
  ]);
  return lost === null || (await findAccount(deps.db, account.id))?.halted !== true;
}

const changed = (
  deps: HoldDeps,
  account: Pick<Account, 'id' | 'userId'>,
  action: string,
  haltedAt: Timestamp | null,
): Statement[] => [changeAccount(account.id, { haltedAt }), noted(deps, account, action)];

function noted(
  { clock, context }: HoldDeps,
  { id, userId }: Pick<Account, 'id' | 'userId'>,
  action: string,
  more: object = {},
): Statement {
  const resource = { type: 'account', id };
  const metadata = { trading_account_id: id, by: 'broker try', ...more };
  return audit(context, { userId, action, failure: null, resource, metadata }, clock.now());
}
