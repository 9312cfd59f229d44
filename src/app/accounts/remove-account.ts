// Deleting a trading account. Whoever deletes one that holds something would have nothing left to close it with. The broker
// is asked before, and may be slow: an order that is accepted meanwhile, though it has ended by then, makes the answer void.

import { countRecentOrders, noOrderSince } from '../../data/accounts/account-stands.ts';
import { deleteAccount } from '../../data/accounts/accounts.ts';
import { leaveGroups } from '../../data/accounts/groups.ts';
import { accountsUnderWay } from '../../data/orders/orders.ts';
import { keptProtections } from '../../data/orders/protections.ts';
import { leaveProtections } from '../../data/orders/protections-left.ts';
import { leaveEntry, restingOf } from '../../data/orders/resting.ts';
import { NEEDS_CREDENTIALS } from '../../domain/brokers.ts';
import { sign } from '../../domain/decimal.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import { type Timestamp, timestamp } from '../../domain/ids.ts';
import { leftEntries } from '../../domain/orders/resting.ts';
import { ACCOUNT_DELETED, type LeftOrder, leftInWords, leftOrders } from '../../domain/protection/left.ts';
import { audit } from '../audit/audit.ts';
import { type AskDeps, heldPositions } from './account-broker.ts';
import { type AccountDeps, noSuchAccount, type Owner, ownAccount } from './accounts.ts';

export interface RemoveDeps extends Pick<AccountDeps, 'db' | 'clock'>, AskDeps {
  readonly entryDeadlineMs: number;
}

/** How far the clock of another API process may be behind ours, and much more. */
const CLOCKS_APART_MS = 3_600_000;

/** Softly: its webhook stops at once, its orders stay readable. Null: done. */
export async function removeAccount(
  deps: RemoveDeps,
  owner: Owner,
  id: string,
  { keepPositions }: { readonly keepPositions: boolean },
): Promise<Denial | Left | null> {
  const { db, clock } = deps;
  const account = await ownAccount(deps, owner.id, id);
  if (isDenial(account)) return account;
  // Before anything else is looked at: what is accepted from now on is found by the unit that deletes.
  const seen = await countRecentOrders(db, account, recently(deps));
  // Looked at again by the unit that deletes; here, because the worker would not answer before they have ended.
  const underWay = await accountsUnderWay(db, owner.id);
  if (underWay.includes(account.id)) return deny('orders_under_way');
  const entries = await restingOf(db, account.id);
  const resting = entries.flatMap(leftEntries);
  if (resting.length > 0 && !keepPositions)
    return deny('orders_under_way', {
      detail: `Entries of the account rest at the broker: ${leftInWords(resting)}.`,
      advice: 'Take them back first: send the action cancel with the symbol "*".',
    });
  // Without credentials nothing was ever traded there, and nobody can be asked.
  const canHold = !NEEDS_CREDENTIALS[account.brokerName] || account.sealedCredentials !== null;
  const mustBeFlat = canHold && !keepPositions;
  const held = mustBeFlat ? await positionsOpen(deps, owner, account) : null;
  if (held) return held;

  const now = clock.now();
  const left = [...(await keptProtections(db, owner.id, account.id)).flatMap(leftOrders), ...resting];
  const [deleted, idle] = deleteAccount(account.id, timestamp(now));
  const lost = await db.commit([
    deleted,
    // Those that are named: one that came since is looked after by its check, and the account is not deleted.
    ...(keepPositions ? entries.flatMap(({ id: entry }) => leaveEntry(entry)) : []),
    idle,
    ...leaveGroups(account.id),
    leaveProtections(ACCOUNT_DELETED, timestamp(now), account.id),
    ...(mustBeFlat ? [noOrderSince(account, seen)] : []),
    audit(
      owner.context,
      {
        userId: owner.id,
        action: 'account_deleted',
        failure: null,
        resource: { type: 'account', id: account.id },
        metadata: {
          trading_account_id: account.id,
          keep_positions: keepPositions,
          ...(left.length > 0 && { left }),
        },
      },
      now,
    ),
  ]);
  if (lost === 'idle') return deny('orders_under_way');
  if (lost === 'quiet')
    return deny('orders_under_way', {
      detail: CAME_BETWEEN,
      advice: `Try again, ${KEEP}`,
    });
  if (lost !== null) return noSuchAccount();
  return left.length > 0 ? { left } : null;
}

/** Protective orders that stay at the broker. */
export interface Left {
  readonly left: readonly LeftOrder[];
}

/** An order that is accepted now has not arrived before: a later one would have been refused. */
function recently({ clock, entryDeadlineMs }: RemoveDeps): Timestamp {
  return timestamp(clock.now() - entryDeadlineMs - CLOCKS_APART_MS);
}

const CAME_BETWEEN = 'An order came in while the broker was asked what it holds.';
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
    return {
      ...positions,
      detail: `${positions.detail} The account is not deleted: try again, ${KEEP}`,
      advice: `Try again, ${KEEP}`,
    };
  const symbols = positions.filter(({ quantity }) => sign(quantity) !== 0).map(({ symbol }) => symbol);
  if (symbols.length === 0) return null;
  const named = symbols.length > 5 ? `${symbols.slice(0, 5).join(', ')} and more` : symbols.join(', ');
  return deny('positions_open', {
    detail: `The account holds ${named} at the broker.`,
    advice: `Close it first, ${KEEP}`,
  });
}
