// Groups of a user's accounts, as their owner makes, changes and deletes them. Another user's group does not exist here: 404.

import {
  changeGroup,
  deleteGroup,
  findGroup,
  type GroupChange,
  insertGroup,
  listGroups,
  roomForGroup,
} from '../../data/accounts/groups.ts';
import type { Db, Statement } from '../../data/engine/db.ts';
import { toNumber } from '../../domain/decimal.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import { type GivenMember, type Group, groupToken, MOST_GROUPS, readMembers } from '../../domain/groups.ts';
import { type GroupId, isUuid, timestamp, type UserId } from '../../domain/ids.ts';
import { audit } from '../audit/audit.ts';
import { newId } from '../new-id.ts';
import { onePage, type Page, type PageRequest, pageOf } from '../pages.ts';
import { randomToken, type SecretBox } from '../secret-box.ts';
import { shownSecret } from './account-keys.ts';
import { type AccountDeps, asShown, type Owner } from './accounts.ts';

export type ShownGroup = ReturnType<typeof showGroup>;
export type GroupWithSecret = ShownGroup & { readonly webhook_secret: string };
type Sealing = AccountDeps & { readonly secrets: SecretBox };

function showGroup({ baseUrl }: Pick<AccountDeps, 'baseUrl'>, group: Group) {
  return {
    id: group.id,
    name: group.name,
    max_request_age: group.maxRequestAge,
    enabled: group.enabled,
    members: group.members.map(({ accountId, factor, symbols, enabled }) => ({
      trading_account_id: accountId,
      factor: toNumber(factor),
      symbols,
      enabled,
    })),
    webhook_url: `${baseUrl}/webhook/${group.webhookToken}/order`,
    webhook_token: group.webhookToken,
    created_at: group.createdAt,
  };
}

async function ownGroup({ db }: { db: Db }, user: UserId, id: string): Promise<Group | Denial> {
  const group = isUuid(id) ? await findGroup(db, id as GroupId) : null;
  return group?.userId === user ? group : deny('group_not_found');
}

export async function readGroups(
  deps: Pick<AccountDeps, 'db' | 'baseUrl'>,
  user: UserId,
  page: PageRequest,
): Promise<Page<ShownGroup>> {
  const { after, limit } = onePage(page);
  const found = await listGroups(deps.db.lists, user, { after: after as GroupId | null, limit });
  return pageOf(found, page, (group) => showGroup(deps, group));
}

export async function readGroup(
  deps: Pick<AccountDeps, 'db' | 'baseUrl'>,
  user: UserId,
  id: string,
): Promise<ShownGroup | Denial> {
  const group = await ownGroup(deps, user, id);
  return isDenial(group) ? group : showGroup(deps, group);
}

export interface NewGroup {
  readonly name: string;
  readonly maxRequestAge: number;
  readonly enabled: boolean;
  readonly members: readonly GivenMember[];
}

export async function createGroup(
  deps: Sealing,
  owner: Owner,
  { name, maxRequestAge, enabled, members }: NewGroup,
): Promise<GroupWithSecret | Denial> {
  const read = readMembers(members);
  if ('problem' in read) return deny('request_invalid', { detail: read.problem });
  const id = newId() as GroupId;
  const secret = randomToken();
  const now = deps.clock.now();
  const group: Group = {
    id,
    userId: owner.id,
    name,
    webhookToken: groupToken(randomToken()),
    webhookSecret: deps.secrets.seal(secret, id),
    maxRequestAge,
    enabled,
    members: read.members,
    revision: 1,
    createdAt: timestamp(now),
  };
  const lost = await deps.db.commit([
    ...roomForGroup(owner.id, MOST_GROUPS),
    ...insertGroup(group),
    noted(owner, id, 'group_created', now, { members: read.members.map(({ accountId }) => accountId) }),
  ]);
  if (lost === 'room')
    return deny('group_conflict', {
      detail: `You have ${MOST_GROUPS} groups, and there is no room for another one.`,
      advice: 'Delete one that you no longer need.',
    });
  if (lost !== null) return noSuchMember();
  return { ...showGroup(deps, group), webhook_secret: secret };
}

const noSuchMember = (): Denial =>
  deny('not_found', {
    detail: 'A member is none of your trading accounts.',
    advice: 'GET /trading/accounts lists them; a group is no member of a group.',
  });

export interface GroupFields extends Omit<GroupChange, 'members'> {
  readonly members?: readonly GivenMember[];
}

/** So many lost rounds are no longer bad luck. */
const ROUNDS = 5;

export async function updateGroup(
  deps: AccountDeps,
  owner: Owner,
  id: string,
  { members: given, ...fields }: GroupFields,
): Promise<ShownGroup | Denial> {
  const read = given === undefined ? null : readMembers(given);
  if (read && 'problem' in read) return deny('request_invalid', { detail: read.problem });
  const changed = [...Object.keys(fields).map(asShown), ...(read ? ['members'] : [])];
  return change(deps, owner, id, 'group_updated', { changed }, () => ({
    ...fields,
    ...(read && { members: read.members }),
  }));
}

/** Null: done. Its webhook stops at once; its orders go on, and stay readable. */
export async function removeGroup(deps: AccountDeps, owner: Owner, id: string): Promise<Denial | null> {
  const group = await ownGroup(deps, owner.id, id);
  if (isDenial(group)) return group;
  const entry = noted(owner, group.id, 'group_deleted', deps.clock.now(), { name: group.name });
  const lost = await deps.db.commit([...deleteGroup(group.id), entry]);
  return lost === null ? null : deny('group_not_found');
}

/** The old one stops at once. */
export async function regenerateGroupSecret(
  deps: Sealing,
  owner: Owner,
  id: string,
): Promise<GroupWithSecret | Denial> {
  const secret = randomToken();
  const shown = await change(deps, owner, id, 'group_secret_regenerated', {}, (group) => ({
    webhookSecret: deps.secrets.seal(secret, group.id),
    madeAt: timestamp(deps.clock.now()),
  }));
  return isDenial(shown) ? shown : { ...shown, webhook_secret: secret };
}

/** The old one, and with it the old URL, stops at once. */
export const regenerateGroupToken = (deps: AccountDeps, owner: Owner, id: string) =>
  change(deps, owner, id, 'group_token_regenerated', {}, () => ({
    webhookToken: groupToken(randomToken()),
    madeAt: timestamp(deps.clock.now()),
  }));

export async function revealGroupSecret(
  deps: Pick<AccountDeps, 'db' | 'clock'> & { readonly secrets: SecretBox },
  owner: Owner,
  id: string,
): Promise<{ readonly webhook_secret: string } | Denial> {
  const group = await ownGroup(deps, owner.id, id);
  if (isDenial(group)) return group;
  const { webhookSecret } = group;
  return shownSecret(deps, owner, 'group_secret_shown', { type: 'group', id: group.id, webhookSecret });
}

/** By comparing and setting: of two who change it at once, both are heard, one after the other. */
async function change(
  deps: AccountDeps,
  owner: Owner,
  id: string,
  action: string,
  metadata: Readonly<Record<string, unknown>>,
  what: (group: Group) => GroupChange,
): Promise<ShownGroup | Denial> {
  for (let round = 0; round < ROUNDS; round++) {
    const group = await ownGroup(deps, owner.id, id);
    if (isDenial(group)) return group;
    const lost = await deps.db.commit([
      ...changeGroup(group, what(group)),
      noted(owner, group.id, action, deps.clock.now(), metadata),
    ]);
    if (lost === null) return readGroup(deps, owner.id, id);
    if (lost === 'member') return noSuchMember();
  }
  return deny('group_conflict', {
    detail: 'The group was changed at the same moment.',
    advice: 'Read it again, and repeat the change if it still applies.',
  });
}

function noted(
  { id: userId, context }: Owner,
  group: GroupId,
  action: string,
  now: number,
  metadata: Readonly<Record<string, unknown>> = {},
): Statement {
  const resource = { type: 'group', id: group };
  return audit(
    context,
    { userId, action, failure: null, resource, metadata: { group_id: group, ...metadata } },
    now,
  );
}
