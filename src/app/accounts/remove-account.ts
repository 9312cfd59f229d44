// Deleting a trading account. Whoever deletes one that holds something would have nothing left to close it with.

import { deleteAccount } from '../../data/accounts.ts';
import { accountsUnderWay } from '../../data/orders.ts';
import { NEEDS_CREDENTIALS } from '../../domain/brokers.ts';
import { sign } from '../../domain/decimal.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import { timestamp } from '../../domain/ids.ts';
import { audit } from '../audit/audit.ts';
import { type AskDeps, heldPositions } from './account-broker.ts';
import { type AccountDeps, noSuchAccount, type Owner, ownAccount } from './accounts.ts';

/** Softly: its webhook stops at once, its orders stay readable. Null: done. */
export async function removeAccount(
  deps: Pick<AccountDeps, 'db' | 'clock'> & AskDeps,
  owner: Owner,
  id: string,
  { keepPositions }: { readonly keepPositions: boolean },
): Promise<Denial | null> {
  const { db, clock } = deps;
  const account = await ownAccount(deps, owner.id, id);
  if (isDenial(account)) return account;
  // Looked at again by the unit that deletes; here, because the worker would not answer before they have ended.
  const underWay = await accountsUnderWay(db, owner.id);
  if (underWay.includes(account.id)) return deny('orders_under_way');
  // Without credentials nothing was ever traded there, and nobody can be asked.
  const canHold = !NEEDS_CREDENTIALS[account.brokerName] || account.sealedCredentials !== null;
  const held = canHold && !keepPositions ? await positionsOpen(deps, owner, account.id) : null;
  if (held) return held;

  const now = clock.now();
  const lost = await db.commit([
    ...deleteAccount(account.id, timestamp(now)),
    audit(
      owner.context,
      {
        userId: owner.id,
        action: 'account_deleted',
        failure: null,
        resource: { type: 'account', id: account.id },
        metadata: { trading_account_id: account.id, keep_positions: keepPositions },
      },
      now,
    ),
  ]);
  if (lost === 'idle') return deny('orders_under_way');
  return lost === null ? null : noSuchAccount();
}

const KEEP =
  'or delete it with ?keep_positions=true: what is held then stays at the broker, and is yours to look after.';

/** Why the account cannot go yet; a broker that does not answer may hold anything. */
async function positionsOpen(
  deps: AskDeps,
  { id: user }: Owner,
  account: Parameters<typeof heldPositions>[2],
): Promise<Denial | null> {
  const positions = await heldPositions(deps, user, account);
  if (isDenial(positions))
    return { ...positions, detail: `${positions.detail} The account is not deleted: try again, ${KEEP}` };
  const symbols = positions.filter(({ quantity }) => sign(quantity) !== 0).map(({ symbol }) => symbol);
  if (symbols.length === 0) return null;
  const named = symbols.length > 5 ? `${symbols.slice(0, 5).join(', ')} and more` : symbols.join(', ');
  return deny('positions_open', { detail: `The broker holds ${named}. Close it first, ${KEEP}` });
}
