// What protects everybody's positions, for who runs the service: whose stop is missing, since when, and what was done about it.

import type { Db } from '../../data/engine/db.ts';
import { findOwned, keptOfAll, type OwnedProtection } from '../../data/orders/protections-read.ts';
import { type Denial, deny } from '../../domain/denial.ts';
import { isUuid } from '../../domain/ids.ts';
import type { ProtectionState } from '../../domain/protection/protection.ts';
import { onePage, type PageRequest, pageOf } from '../pages.ts';
import { shown, shownHistory } from '../protection/read-protections.ts';

const withOwner = (found: OwnedProtection) => ({
  ...shown(found),
  user: found.email,
  account: found.accountName,
  broker: found.protection.brokerName,
});
export type KeptProtection = ReturnType<typeof withOwner>;

/** Those that have not ended; `state`: only these. */
export async function readKeptProtections(
  { db }: { readonly db: Db },
  { state, ...page }: PageRequest & { readonly state: ProtectionState | null },
) {
  return pageOf(await keptOfAll(db.lists, { state, ...onePage(page) }), page, withOwner);
}

export async function readAnyProtection({ db }: { readonly db: Db }, id: string) {
  const found = isUuid(id) ? await findOwned(db.lists, id) : null;
  if (!found) return noSuchProtection();
  return { ...withOwner(found), history: await shownHistory(db.lists, found.id) };
}

const noSuchProtection = (): Denial => deny('not_found', { detail: 'There is no such protection.' });
