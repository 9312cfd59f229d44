// Groups and their members.

import { decimal } from '../../domain/decimal.ts';
import type { Group, Member, SymbolMap } from '../../domain/groups.ts';
import { type AccountId, type GroupId, isUuid, type Timestamp, type UserId } from '../../domain/ids.ts';
import { join, must, type Reads, type Statement, sql } from '../engine/db.ts';

export interface GroupRow {
  group_id: GroupId;
  group_user: UserId;
  group_name: string;
  group_token: string;
  group_secret: string;
  group_age: number;
  group_enabled: number | boolean;
  group_revision: number;
  group_created_at: Timestamp;
  /** Null: it has no member. */
  member_id: AccountId | null;
  factor: string | null;
  symbols: string | null;
  member_enabled: number | boolean | null;
}

/** Of `trading_groups g` and, on the left, `group_members m`. */
export const GROUP_COLUMNS = sql`g.id as group_id, g.user_id as group_user, g.name as group_name, g.webhook_token as group_token,
  g.webhook_secret as group_secret, g.max_request_age as group_age, g.enabled as group_enabled,
  g.revision as group_revision, g.created_at as group_created_at,
  m.trading_account_id as member_id, m.factor, m.symbols, m.enabled as member_enabled`;

/** Rows of one group, in the order of its members. */
export function toGroup(rows: readonly GroupRow[]): Group | null {
  const [first] = rows;
  if (!first) return null;
  return {
    id: first.group_id,
    userId: first.group_user,
    name: first.group_name,
    webhookToken: first.group_token,
    webhookSecret: first.group_secret,
    maxRequestAge: first.group_age,
    enabled: Boolean(first.group_enabled),
    members: rows.flatMap((row) => toMember(row) ?? []),
    revision: first.group_revision,
    createdAt: first.group_created_at,
  };
}

export const toMember = (row: GroupRow): Member | null =>
  row.member_id === null || row.factor === null || row.symbols === null
    ? null
    : {
        accountId: row.member_id,
        factor: decimal(row.factor),
        symbols: JSON.parse(row.symbols) as SymbolMap,
        enabled: Boolean(row.member_enabled),
      };

const groupsWhere = (db: Reads, where: Statement): Promise<GroupRow[]> =>
  db.all<GroupRow>(
    join(
      [
        sql`select`,
        GROUP_COLUMNS,
        sql`from trading_groups g left join group_members m on m.group_id = g.id where`,
        where,
        sql`order by g.id, m.position`,
      ],
      ' ',
    ),
  );

export const findGroup = async (db: Reads, id: GroupId): Promise<Group | null> =>
  toGroup(await groupsWhere(db, sql`g.id = ${id}`));

/** Of whoever's, by name or id. */
export const groupsNamed = async (db: Reads, name: string, limit: number): Promise<Group[]> =>
  inGroups(
    await groupsWhere(
      db,
      isUuid(name)
        ? sql`g.id = ${name}`
        : sql`g.id in (select id from trading_groups where name = ${name} order by id limit ${limit})`,
    ),
  );

const inGroups = (rows: readonly GroupRow[]): Group[] =>
  [...Map.groupBy(rows, ({ group_id }) => group_id).values()].flatMap((each) => toGroup(each) ?? []);

/** Of one user, oldest first; `after` is the last one of the page before. */
export async function listGroups(
  db: Reads,
  user: UserId,
  { after, limit }: { after: GroupId | null; limit: number },
): Promise<Group[]> {
  const from = after === null ? sql`` : sql`and id > ${after}`;
  const rows = await groupsWhere(
    db,
    join(
      [
        sql`g.id in (select id from trading_groups where user_id = ${user}`,
        from,
        sql`order by id limit ${limit})`,
      ],
      ' ',
    ),
  );
  return inGroups(rows);
}

/** Guarded by `room`, as data/identity/room.ts does it. */
export const roomForGroup = (user: UserId, most: number): Statement[] => [
  sql`update users set plan = plan where id = ${user}`,
  must(
    'room',
    sql`select 1 from users where id = ${user}
        and (select count(*) from trading_groups where user_id = ${user}) < ${most}`,
  ),
];

/** Guarded by `member`: each is an account of this user, and stays one until the commit. */
export function insertGroup(group: Group): Statement[] {
  return [
    ...membersStand(group),
    sql`insert into trading_groups (id, user_id, name, webhook_token, webhook_secret, max_request_age, enabled, revision,
          created_at)
        values (${group.id}, ${group.userId}, ${group.name}, ${group.webhookToken}, ${group.webhookSecret},
          ${group.maxRequestAge}, ${group.enabled}, ${group.revision}, ${group.createdAt})`,
    ...insertMembers(group),
  ];
}

const membersStand = ({ userId, members }: Pick<Group, 'userId' | 'members'>): Statement[] =>
  members.map(({ accountId }) =>
    must(
      'member',
      sql`select 1 from trading_accounts where id = ${accountId} and user_id = ${userId} and deleted_at is null`,
    ),
  );

const insertMembers = ({ id, members }: Pick<Group, 'id' | 'members'>): Statement[] =>
  members.map(
    ({ accountId, factor, symbols, enabled }, position) =>
      sql`insert into group_members (group_id, trading_account_id, position, factor, symbols, enabled)
          values (${id}, ${accountId}, ${position}, ${factor}, ${JSON.stringify(symbols)}, ${enabled})`,
  );

export interface GroupChange {
  readonly name?: string;
  readonly maxRequestAge?: number;
  readonly enabled?: boolean;
  /** All of them: who is not among them is no member any more. */
  readonly members?: readonly Member[];
  readonly webhookToken?: string;
  /** Encrypted under APP_KEY. */
  readonly webhookSecret?: string;
  /** With either of those. */
  readonly madeAt?: Timestamp;
}

/** Guarded by `group`: it is what it was when it was read; and by `member`. */
export function changeGroup({ id, userId, revision }: Group, change: GroupChange): Statement[] {
  const { name, maxRequestAge, enabled, members, webhookToken, webhookSecret, madeAt = null } = change;
  const settings = [
    ...(name === undefined ? [] : [sql`name = ${name}`]),
    ...(maxRequestAge === undefined ? [] : [sql`max_request_age = ${maxRequestAge}`]),
    ...(enabled === undefined ? [] : [sql`enabled = ${enabled}`]),
    ...(webhookToken === undefined ? [] : [sql`webhook_token = ${webhookToken}, token_made_at = ${madeAt}`]),
    ...(webhookSecret === undefined
      ? []
      : [sql`webhook_secret = ${webhookSecret}, secret_made_at = ${madeAt}`]),
    sql`revision = revision + 1`,
  ];
  return [
    ...(members ? membersStand({ userId, members }) : []),
    must(
      'group',
      join(
        [
          sql`update trading_groups set`,
          join(settings, ', '),
          sql`where id = ${id} and revision = ${revision}`,
        ],
        ' ',
      ),
    ),
    ...(members
      ? [sql`delete from group_members where group_id = ${id}`, ...insertMembers({ id, members })]
      : []),
  ];
}

/** Guarded by `group`. */
export const deleteGroup = (id: GroupId): Statement[] => [
  sql`delete from group_members where group_id = ${id}`,
  must('group', sql`delete from trading_groups where id = ${id}`),
];

/** All of a user's. */
export const deleteGroups = (user: UserId): Statement[] => [
  sql`delete from group_members where group_id in (select id from trading_groups where user_id = ${user})`,
  sql`delete from trading_groups where user_id = ${user}`,
];

/** A deleted account is a member of nothing. Behind what locks the account's row. */
export const leaveGroups = (account: AccountId): Statement[] => [
  sql`update trading_groups set revision = revision + 1
      where id in (select group_id from group_members where trading_account_id = ${account})`,
  sql`delete from group_members where trading_account_id = ${account}`,
];

/** Guarded by `account`, as what an account is: where either has changed, everything is checked again. */
export const groupStands = ({ id, revision }: Pick<Group, 'id' | 'revision'>): Statement =>
  must('account', sql`select 1 from trading_groups where id = ${id} and revision = ${revision}`);
