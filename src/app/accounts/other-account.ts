// Credentials of another account at the broker: what protected positions at the former one is none of its business. It stands there, and its
// owner is told what does.

import { createHash } from 'node:crypto';
import { type Account, brokerIdentity, noteIdentity } from '../../data/accounts/accounts.ts';
import type { Db, Statement } from '../../data/engine/db.ts';
import { keptProtections } from '../../data/orders/protections.ts';
import { leaveProtections } from '../../data/orders/protections-left.ts';
import { type AccountId, timestamp } from '../../domain/ids.ts';
import { leftInWords, leftOrders } from '../../domain/protection/left.ts';
import type { Protection } from '../../domain/protection/protection.ts';
import { positionOf } from '../../domain/told/protection-words.ts';
import { audit } from '../audit/audit.ts';
import type { Owner } from './accounts.ts';

export interface OtherAccountDeps {
  readonly db: Db;
  readonly clock: { now(): number };
}

const REASON =
  'The credentials are of another account at the broker: what stands at the former account stands there, and nobody looks after it.';

interface Identified {
  /** In the unit that says that they are good. */
  readonly noted: readonly Statement[];
  /** They are of another account than those before. */
  readonly isOther: boolean;
}

/** `identity`: the broker's own name of the account, where it tells one. */
export async function identified(
  { db, clock }: OtherAccountDeps,
  owner: Owner,
  { id }: Pick<Account, 'id'>,
  identity: string | undefined,
): Promise<Identified> {
  if (identity === undefined) return { noted: [], isOther: false };
  const [before, now] = [await brokerIdentity(db, id), hashed(id, identity)];
  if (before === now) return { noted: [], isOther: false };
  if (before === null) return { noted: [noteIdentity(id, now)], isOther: false };
  const left = (await keptProtections(db, owner.id, id)).filter(({ simulation }) => !simulation);
  const at = clock.now();
  const noted = [
    noteIdentity(id, now),
    leaveProtections(REASON, timestamp(at), id, { isReal: true }),
    ...left.map((protection) => told(owner, protection, at)),
  ];
  return { noted, isOther: true };
}

/** Compared, and never shown. */
const hashed = (account: AccountId, identity: string): string =>
  createHash('sha256').update(`${account} ${identity}`).digest('base64url');

function told({ id: userId, context }: Owner, protection: Protection, at: number): Statement {
  const left = leftOrders(protection);
  const { symbol, side, simulation, accountId, setBy } = protection;
  const stands = left.length === 0 ? 'Nothing of it is known to stand' : `Of it ${leftInWords(left)} stands`;
  return audit(
    context,
    {
      userId,
      action: 'protection_left',
      failure: null,
      resource: { type: 'protection', id: protection.id },
      metadata: {
        ...{ trading_account_id: accountId, symbol, side, simulation, caused_by: setBy, left },
        text: `The protection of ${positionOf(protection)} is no longer watched: the credentials are of another account at the broker. ${stands} at the former account: watch it there, or enter its credentials again and resume it on Today.`,
      },
    },
    at,
  );
}
