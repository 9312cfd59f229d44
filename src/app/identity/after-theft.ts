// Somebody else may have been in. A new password by mail, "log out everywhere", an administrator's word and a restore all do
// the same, here: whatever opens a door ends, nothing is sent to where a thief may read it, and what cannot be ended without
// keeping somebody in a position is offered for replacement, until it is replaced.

import { listAuditEntries, placeAfter, type StoredEntry } from '../../data/audit/log.ts';
import type { Db, Statement } from '../../data/engine/db.ts';
import {
  accountsBefore,
  endAccess,
  endPasswords,
  groupsBefore,
  keysEndedAt,
  type Secured,
  securedUser,
  type Whose,
} from '../../data/identity/after-theft.ts';
import { findUserRecord, type User } from '../../data/identity/users.ts';
import { listDestinations } from '../../data/notifications/destinations.ts';
import { type Denial, deny } from '../../domain/denial.ts';
import {
  type Cause,
  CHANGE_THERE,
  CHANGE_THERE_OF_GROUP,
  type Replaceable,
} from '../../domain/identity/after-theft.ts';
import { isUuid, millis, timestamp, type UserId } from '../../domain/ids.ts';
import { audit, type RequestContext } from '../audit/audit.ts';
import type { Changes } from '../orders/changes.ts';
import { randomToken } from '../secret-box.ts';

interface SecureDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly changes: Pick<Changes, 'ofAccess'>;
}

interface Hashes {
  readonly hasher: { hash(password: string): Promise<string> };
}

/** Who was secured twice within it was in trouble once. */
const SAME_TROUBLE_MS = 7 * 86_400_000;

/** For the unit of what makes it necessary. */
export const secured = (whose: Whose, because: Cause, now: number): Statement[] =>
  endAccess(whose, { because, now: timestamp(now), recently: timestamp(now - SAME_TROUBLE_MS) });

/** A database of an earlier moment does not know what was revoked and changed since: so it trusts nobody's key, and no password. */
export async function securedAfterRestore({ hasher }: Hashes, now: number): Promise<Statement[]> {
  // One for all: nobody has it, and whoever guesses is told nothing by the time that it takes.
  const hashOfNobodys = await hasher.hash(randomToken());
  return [...secured('everybody', 'restore', now), ...endPasswords(hashOfNobodys, timestamp(now))];
}

export async function logoutEverywhere(
  { db, clock, changes }: SecureDeps,
  { id }: User,
  context: RequestContext,
): Promise<void> {
  const now = clock.now();
  await db.commit([
    ...secured(id, 'logout_everywhere', now),
    audit(context, { userId: id, action: 'logout_everywhere', failure: null }, now),
  ]);
  changes.ofAccess(id);
}

/** An administrator's word; `by` null: the operator's, at the machine. Null: done. */
export async function secureUser(
  { db, clock, changes }: SecureDeps,
  by: { readonly id: UserId | null; readonly context: RequestContext },
  id: string,
): Promise<Denial | null> {
  const user = isUuid(id) ? await findUserRecord(db, id as UserId) : null;
  if (!user) return deny('not_found', { detail: 'There is no such user.' });
  const now = clock.now();
  const resource = { type: 'user', id: user.id };
  await db.commit([
    ...secured(user.id, 'administrator', now),
    audit(by.context, { userId: by.id, action: 'user_secure', failure: null, resource }, now),
  ]);
  changes.ofAccess(user.id);
  return null;
}

/** What `restore` does for the embedded database, for one that was brought back by its own tools. */
export async function secureEverybody({
  db,
  clock,
  context,
  hasher,
}: Pick<SecureDeps, 'db' | 'clock'> & Hashes & { readonly context: RequestContext }): Promise<void> {
  const now = clock.now();
  await db.commit([
    ...(await securedAfterRestore({ hasher }, now)),
    audit(context, { userId: null, action: 'everybody_secured', failure: null }, now),
  ]);
}

/** Of each kind, in one answer: what is replaced makes room for the next. */
const MOST = 100;

const SHOWN: readonly string[] = ['webhook_secret_shown', 'group_secret_shown'];

/** What somebody does who has got in, as far as the log knows. */
const DEEDS = [
  ...['webhook_secret_shown', 'webhook_secret_regenerated', 'webhook_token_regenerated'],
  ...['group_secret_shown', 'group_secret_regenerated', 'group_token_regenerated'],
  ...['group_created', 'group_updated', 'group_deleted'],
  ...['account_created', 'account_updated', 'account_deleted', 'account_resumed', 'credentials_stored'],
  ...['api_key_created', 'api_key_revoked', 'allowed_ip_added', 'allowed_ip_removed', 'order_settled'],
  ...['notification_destination_added', 'notification_destination_changed'],
  ...['notification_destination_removed', 'protection_resumed'],
  ...['totp_enrol', 'totp_confirm', 'totp_disable', 'change_password'],
];

export async function readAfterTheft({ db }: Pick<SecureDeps, 'db'>, { id }: User) {
  const about = await securedUser(db.lists, id);
  if (!about) return NOTHING;
  const { at, because, exposedSince } = about;
  const accounts = await accountsBefore(db.lists, id, { at, limit: MOST });
  const groups = await groupsBefore(db.lists, id, at);
  const destinations = await listDestinations(db.lists, id);
  const keys = await keysEndedAt(db.lists, id, { at, limit: MOST });
  // Some are written a moment after others that were begun later.
  const before = await placeAfter(db.lists, id, timestamp(millis(at) + A_MOMENT_MS));
  const whatWasDone = (actions: readonly string[]) => entriesOf(db, id, { actions, before, ...about });
  const deeds = await whatWasDone(DEEDS);
  const shownAt = new Map(
    deeds
      .toReversed()
      .flatMap((entry) =>
        SHOWN.includes(entry.action) && entry.resource_id
          ? [[entry.resource_id, entry.created_at] as const]
          : [],
      ),
  );
  const offer = (kind: Replaceable, account: { id: string; name: string }) => ({
    kind,
    trading_account_id: account.id,
    account_name: account.name,
    shown_at: kind === 'webhook_secret' ? (shownAt.get(account.id) ?? null) : null,
    change_there: CHANGE_THERE[kind],
  });
  return {
    secured_at: at,
    because,
    exposed_since: exposedSince,
    replace: accounts.flatMap((account) => [
      ...(account.hasOldSecret ? [offer('webhook_secret', account)] : []),
      ...(account.hasOldToken ? [offer('webhook_token', account)] : []),
    ]),
    replace_groups: groups.flatMap(({ id: group, name, hasOldSecret, hasOldToken }) =>
      (['webhook_secret', 'webhook_token'] as const)
        .filter((kind) => (kind === 'webhook_secret' ? hasOldSecret : hasOldToken))
        .map((kind) => ({
          kind,
          group_id: group,
          group_name: name,
          shown_at: kind === 'webhook_secret' ? (shownAt.get(group) ?? null) : null,
          change_there: CHANGE_THERE_OF_GROUP[kind],
        })),
    ),
    destinations: destinations
      .filter(({ pausedBecause }) => pausedBecause !== null)
      .map((destination) => ({
        id: destination.id,
        name: destination.name,
        kind: destination.kind,
        address: destination.shownAs,
        created_at: destination.createdAt,
      })),
    accounts: accounts.map((account) => ({ trading_account_id: account.id, name: account.name })),
    api_keys: keys,
    deeds: deeds.map(shownDeed),
    sign_ins: (await whatWasDone(['login'])).map((entry) => ({
      ...shownPlace(entry),
      success: entry.success,
    })),
  };
}

const NOTHING = {
  ...{ secured_at: null, because: null, exposed_since: null },
  ...{
    replace: [],
    replace_groups: [],
    destinations: [],
    accounts: [],
    api_keys: [],
    deeds: [],
    sign_ins: [],
  },
};

const A_MOMENT_MS = 10_000;

/** Newest first. */
async function entriesOf(
  db: Db,
  user: UserId,
  {
    actions,
    before,
    at,
    exposedSince,
  }: Secured & { readonly actions: readonly string[]; readonly before: string },
): Promise<StoredEntry[]> {
  const found = await listAuditEntries(db.lists, user, { actions, until: at, after: before, limit: MOST });
  return found.filter(({ created_at }) => created_at >= exposedSince);
}

const shownPlace = ({ created_at, ip_address, user_agent }: StoredEntry) => ({
  at: created_at,
  ip_address,
  user_agent,
});

const shownDeed = (entry: StoredEntry) => ({
  ...shownPlace(entry),
  action: entry.action,
  success: entry.success,
  resource_type: entry.resource_type,
  resource_id: entry.resource_id,
});
