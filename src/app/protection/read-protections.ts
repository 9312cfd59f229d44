// What a user can see of what protects their positions.

import type { Db, Reads } from '../../data/engine/db.ts';
import { keptProtections, untouchedProtection } from '../../data/orders/protections.ts';
import { leftProtections } from '../../data/orders/protections-left.ts';
import {
  findListed,
  historyOf,
  type ListedProtection,
  listProtections,
  type ProtectionFilter,
  protectionsOfOrders,
  standingProtection,
  unitValueOf,
} from '../../data/orders/protections-read.ts';
import type { WindowCount } from '../../domain/call-log.ts';
import { type Decimal, sign, toNumberOrNull } from '../../domain/decimal.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import { isUuid, type UserId } from '../../domain/ids.ts';
import type { Order } from '../../domain/orders/order.ts';
import { isWatched, type Protection } from '../../domain/protection/protection.ts';
import { riskOf, showProtection } from '../../domain/protection/shown.ts';
import { canonicalSymbol } from '../../domain/signals/symbol.ts';
import type { Mailbox } from '../../worker/host/mailbox.ts';
import { LESS, secondsOf } from '../accounts/account-broker.ts';
import type { Owner } from '../accounts/accounts.ts';
import { writeAudit } from '../audit/audit.ts';
import { onePage, type PageRequest, pageOf } from '../pages.ts';

export type { ProtectionFilter };

export const shown = ({ protection, createdAt, endedAt }: ListedProtection) => ({
  ...showProtection(protection),
  trading_account_id: protection.accountId,
  symbol: protection.symbol,
  simulation: protection.simulation,
  side: protection.side,
  set_by: protection.setBy,
  created_at: createdAt,
  ended_at: endedAt,
});

export async function readProtections(
  { db }: { readonly db: Db },
  user: UserId,
  { filter, ...page }: PageRequest & { readonly filter: ProtectionFilter },
) {
  return pageOf(await listProtections(db.lists, user, { filter, ...onePage(page) }), page, shown);
}

export async function readProtection({ db }: { readonly db: Db }, user: UserId, id: string) {
  const found = await ownProtection({ db }, user, id);
  if (isDenial(found)) return found;
  return { ...shown(found), history: await shownHistory(db.lists, found.id) };
}

export async function shownHistory(db: Reads, id: string) {
  const history = await historyOf(db, id);
  return history.map(({ at, what, from, to, by }) => ({
    ...{ at, what, from: toNumberOrNull(from), to: toNumberOrNull(to), by },
  }));
}

/** Another user's does not exist for this one. */
export async function ownProtection(
  { db }: { readonly db: Db },
  user: UserId,
  id: string,
): Promise<ListedProtection | Denial> {
  const found = isUuid(id) ? await findListed(db, user, id) : null;
  return found ?? deny('not_found', { detail: 'You have no such protection.' });
}

interface LookDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly mailbox: Pick<Mailbox, 'tell'>;
  takeRead(user: UserId): Promise<WindowCount>;
}

/** The user's worker compares what is wanted with what stands at the broker, now. The answer does not wait for it. */
export async function lookAtProtection(deps: LookDeps, owner: Owner, id: string) {
  const found = await ownProtection(deps, owner.id, id);
  if (isDenial(found)) return found;
  const { protection } = found;
  const denial = isWatched(protection) ? await tooMany(deps, owner.id) : nothingThere();
  await writeAudit(deps, owner.context, {
    userId: owner.id,
    action: 'protection_look',
    failure: denial,
    resource: { type: 'protection', id: protection.id },
    metadata: { trading_account_id: protection.accountId, ...(denial ? { code: denial.code } : {}) },
  });
  if (denial) return denial;
  await deps.mailbox.tell(owner.id, { kind: 'recover', accountId: protection.accountId, isAsked: true });
  return shown(found);
}

const nothingThere = (): Denial =>
  deny('nothing_to_look_for', {
    detail: 'This protection is no longer watched: its position is closed, or its account is gone.',
    advice: 'Read it with GET /trading/protections/{id}.',
  });

async function tooMany({ takeRead }: LookDeps, user: UserId): Promise<Denial | null> {
  const { allowed, retryAfterMs } = await takeRead(user);
  if (allowed) return null;
  return deny('rate_limited', {
    ...LESS,
    retryAfter: secondsOf(retryAfterMs),
    detail: 'You have asked brokers too often within a minute.',
  });
}

/** For an answer that has an order in it: what cannot be read now is read later, and what its worker has just made need not be. */
export async function protectionFor(
  { db }: { readonly db: Reads },
  order: Order,
): Promise<Protection | null> {
  if (!order.wish) return null;
  const untouched = untouchedProtection(order);
  if (untouched) return untouched;
  try {
    const standing = await standingProtection(db, order);
    return standing ?? (await protectionsOfOrders(db, [order])).get(order.id) ?? null;
  } catch {
    return null;
  }
}

interface HeldPosition {
  readonly symbol: string;
  readonly quantity: Decimal;
  readonly averagePrice: Decimal;
}

const MOST_LEFT = 200;

/** Beside each position of an account: what protects it, and what is lost at the stop. */
export async function besidePositions(
  { db }: { readonly db: Reads },
  user: UserId,
  account: Pick<Protection, 'accountId' | 'brokerName' | 'simulation'>,
  positions: readonly HeldPosition[],
) {
  // One that is kept comes first: of one that was left beside it, nobody knows what stands.
  const all = [
    ...(await keptProtections(db, user, account.accountId)),
    ...(account.simulation ? [] : await leftProtections(db, user, MOST_LEFT)),
  ];
  const kept = all.filter(
    ({ accountId, simulation }) => accountId === account.accountId && simulation === account.simulation,
  );
  const canonical = (symbol: string) => canonicalSymbol(account.brokerName, symbol);
  return Promise.all(
    positions.map(async (position) => {
      const side = sign(position.quantity) < 0 ? 'short' : 'long';
      const found = kept.find(
        (each) => each.side === side && canonical(each.instrument) === canonical(position.symbol),
      );
      return {
        protection: found ? showProtection(found) : null,
        risk: found?.stop ? riskOf(found, position, await unitValueOf(db, found)) : null,
      };
    }),
  );
}

export const UNPROTECTED = { protection: null, risk: null } as const;
