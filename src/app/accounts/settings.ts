// What users settle for themselves: API keys, the addresses they trade from, the terms, and what their plan gives them.

import { deleteAllowedIp, insertAllowedIp, listAllowedIps } from '../../data/accounts/allowed-ips.ts';
import type { Db, Statement } from '../../data/engine/db.ts';
import { insertApiKey, listApiKeys, revokeApiKey } from '../../data/identity/api-keys.ts';
import { roomFor } from '../../data/identity/room.ts';
import { sessionHolds } from '../../data/identity/sessions.ts';
import { acceptTerms, currentTerms, type Terms } from '../../data/identity/users.ts';
import { ordersOn } from '../../data/orders/limits.ts';
import { type Denial, deny } from '../../domain/denial.ts';
import { isUuid, millis, timestamp, type UserId } from '../../domain/ids.ts';
import { dayOf, effectivePlan, type Plans } from '../../domain/orders/entitlement.ts';
import { audit } from '../audit/audit.ts';
import type { User } from '../identity/access.ts';
import { checkAddress, type Verifying } from '../identity/addresses.ts';
import { hashToken } from '../identity/tokens.ts';
import { newId } from '../new-id.ts';
import type { Changes } from '../orders/changes.ts';
import { onePage, type PageRequest, pageOf } from '../pages.ts';
import { randomToken } from '../secret-box.ts';
import type { Maker, Owner } from './accounts.ts';
import { canonicalBlock } from './ip-block.ts';
import { type RoomDeps, roomOfUser } from './room.ts';

export interface SettingsDeps {
  readonly db: Db;
  readonly clock: { now(): number };
}

const DAY_MS = 86_400_000;

/** What is changed, for the audit log. */
interface Deed {
  readonly action: string;
  readonly resource: { readonly type: string; readonly id: string };
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** The change and its entry in one unit. A guard's name: nothing was changed. */
function perform({ db, clock }: SettingsDeps, owner: Owner, change: Statement[], deed: Deed) {
  return db.commit([
    ...change,
    audit(owner.context, { userId: owner.id, failure: null, ...deed }, clock.now()),
  ]);
}

export async function readApiKeys({ db }: Pick<SettingsDeps, 'db'>, user: UserId, page: PageRequest) {
  return pageOf(await listApiKeys(db.lists, user, onePage(page)), page, (key) => ({
    id: key.id,
    name: key.name,
    expires_at: key.expiresAt,
    last_used_at: key.lastUsedAt,
    created_at: key.createdAt,
  }));
}

/** The key itself is in this answer and nowhere else. */
export async function createApiKey(
  deps: SettingsDeps & RoomDeps & Verifying,
  owner: Maker,
  { name, expiresInDays }: { name: string; expiresInDays: number | null },
) {
  const unshown = checkAddress(deps, owner.user);
  if (unshown) return unshown;
  const now = deps.clock.now();
  const key = randomToken();
  const made = {
    id: newId(),
    userId: owner.id,
    name,
    keyHash: hashToken(key),
    expiresAt: expiresInDays === null ? null : timestamp(now + expiresInDays * DAY_MS),
    createdAt: timestamp(now),
  };
  const resource = { type: 'api_key', id: made.id };
  const lost = await perform(
    deps,
    owner,
    [
      ...roomFor('api_keys', owner.id, roomOfUser(deps, owner.user)),
      // A thief who makes one after the other is not to be left with the last.
      ...(owner.sessionId ? [sessionHolds(owner.sessionId)] : []),
      insertApiKey(made),
    ],
    {
      action: 'api_key_created',
      resource,
    },
  );
  if (lost === 'session') return deny('unauthenticated');
  if (lost !== null) return deny('too_many');
  return { id: made.id, name, key, expires_at: made.expiresAt, created_at: made.createdAt };
}

/** From the very next request on nobody gets in with it. Null: done. */
export async function removeApiKey(
  deps: SettingsDeps & { readonly changes: Pick<Changes, 'ofAccess'> },
  owner: Owner,
  id: string,
): Promise<Denial | null> {
  if (!isUuid(id)) return noSuchKey();
  const change = revokeApiKey(owner.id, id, timestamp(deps.clock.now()));
  const resource = { type: 'api_key', id };
  const lost = await perform(deps, owner, [change], { action: 'api_key_revoked', resource });
  if (lost !== null) return noSuchKey();
  deps.changes.ofAccess(owner.id);
  return null;
}

const noSuchKey = (): Denial => deny('not_found', { detail: 'You have no such API key.' });

export async function readAllowedIps({ db }: Pick<SettingsDeps, 'db'>, user: UserId, page: PageRequest) {
  return pageOf(await listAllowedIps(db.lists, user, onePage(page)), page, (ip) => ({
    id: ip.id,
    ip_address: ip.ipAddress,
    label: ip.label,
    created_at: ip.createdAt,
  }));
}

export async function addAllowedIp(
  deps: SettingsDeps & RoomDeps,
  owner: Maker,
  { ipAddress: given, label }: { ipAddress: string; label: string | null },
) {
  const ipAddress = canonicalBlock(given);
  if (ipAddress === null)
    return deny('request_invalid', {
      detail: '"ip_address" must be an IPv4 or IPv6 address, or a CIDR block such as 203.0.113.0/24.',
    });
  const createdAt = timestamp(deps.clock.now());
  const made = { id: newId(), userId: owner.id, ipAddress, label, createdAt };
  const lost = await perform(
    deps,
    owner,
    [...roomFor('allowed_ips', owner.id, roomOfUser(deps, owner.user)), insertAllowedIp(made)],
    {
      action: 'allowed_ip_added',
      resource: { type: 'allowed_ip', id: made.id },
      metadata: { ip_address: ipAddress },
    },
  );
  if (lost !== null) return deny(lost === 'room' ? 'too_many' : 'allowed_ip_exists');
  return { id: made.id, ip_address: ipAddress, label, created_at: createdAt };
}

/** Null: done. */
export async function removeAllowedIp(deps: SettingsDeps, owner: Owner, id: string): Promise<Denial | null> {
  const noSuchIp = () => deny('not_found', { detail: 'You have no such allowed IP.' });
  if (!isUuid(id)) return noSuchIp();
  const resource = { type: 'allowed_ip', id };
  const change = deleteAllowedIp(owner.id, id);
  const lost = await perform(deps, owner, [change], { action: 'allowed_ip_removed', resource });
  return lost === null ? null : noSuchIp();
}

/** Only what stands now can be accepted. Null: done. */
export async function acceptCurrentTerms(
  deps: SettingsDeps,
  owner: Owner,
  version: string,
): Promise<Denial | null> {
  const change = acceptTerms(owner.id, version, timestamp(deps.clock.now()));
  const resource = { type: 'terms', id: version };
  const lost = await perform(deps, owner, [change], { action: 'terms_accepted', resource });
  return lost === null ? null : deny('terms_version_outdated');
}

export async function readSubscription(deps: SettingsDeps & { readonly plans: Plans }, user: User) {
  const { db, clock, plans } = deps;
  const now = clock.now();
  const planExpiresAt = user.planExpiresAt === null ? null : millis(user.planExpiresAt);
  const effective = effectivePlan(plans, { plan: user.plan, planExpiresAt }, now);
  const { simulation_only, daily_orders } = plans[effective] ?? plans.free;
  const today = await ordersOn(db, user.id, dayOf(now));
  return {
    plan: user.plan,
    effective_plan: effective,
    expires_at: user.planExpiresAt,
    simulation_only,
    daily_orders,
    orders_today: today.real,
    simulated_today: today.simulated,
  };
}

export function readPlans({ plans }: { readonly plans: Plans }) {
  return { items: Object.entries(plans).map(([name, plan]) => ({ name, ...plan })), next_cursor: null };
}

export async function readTerms({ db }: { readonly db: Db }): Promise<Terms | Denial> {
  return (await currentTerms(db)) ?? deny('not_found', { detail: 'No terms are published.' });
}
