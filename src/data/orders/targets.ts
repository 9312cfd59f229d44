// Whom an order would be for, and everything that it is checked against, in one read. Its account's revision is compared
// again when the order is committed: what was changed in between is not overlooked.

import type { Group, Member } from '../../domain/groups.ts';
import type { AccountId, GroupId, OrderId, Timestamp } from '../../domain/ids.ts';
import { type Account, type AccountRow, toAccount } from '../accounts/accounts.ts';
import { GROUP_COLUMNS, type GroupRow, toGroup, toMember } from '../accounts/groups.ts';
import { type Db, join, type Statement, sql } from '../engine/db.ts';
import { type User, type UserRow, userOf } from '../identity/users.ts';
import type { OrdersToday } from './limits.ts';

export interface Target {
  readonly user: User;
  readonly account: Account;
  /** Of the user's, addresses and CIDR blocks; empty: from anywhere. */
  readonly allowedIps: readonly string[];
  readonly limits: Limits;
  /** What the idempotency key that was asked for stands for already. */
  readonly earlier: { readonly bodyHash: string; readonly orderId: OrderId } | null;
}

export interface Limits {
  /** The UTC day whose orders are counted. */
  readonly day: string;
  /** Of the terms that stand now; null: there are none. */
  readonly termsVersion: string | null;
  /** The user had a plan beyond `free` at some time. */
  readonly hadPlan: boolean;
  readonly ordersToday: OrdersToday;
}

interface Moment {
  readonly day: string;
  readonly key?: { readonly key: string; readonly notBefore: Timestamp } | null;
}

/** Level 1: whom the token in the URL identifies. */
export const findByWebhookToken = (db: Db, token: string, moment: Moment): Promise<Target | null> =>
  find(db, moment, BY_TOKEN, token);

export const findTarget = (db: Db, account: AccountId, moment: Moment): Promise<Target | null> =>
  find(db, moment, BY_ID, account);

/** A group with all that its signals are checked against. */
export interface GroupTarget {
  readonly user: User;
  readonly allowedIps: readonly string[];
  readonly group: Group;
  /** In the group's order, disabled ones too. */
  readonly members: readonly { readonly member: Member; readonly target: Target }[];
}

export const findByGroupToken = (db: Db, token: string, day: string): Promise<GroupTarget | null> =>
  findGroup(db, day, sql`where g.webhook_token = ${token}`);

export const findGroupTarget = (db: Db, id: GroupId, day: string): Promise<GroupTarget | null> =>
  findGroup(db, day, sql`where g.id = ${id}`);

/** Without its group's columns; all of an account's are null where the group has no member. */
type MemberRow = Omit<TargetRow, 'earlier_hash' | 'earlier_order'> & GroupRow;

async function findGroup(db: Db, day: string, where: Statement): Promise<GroupTarget | null> {
  const rows = await db.all<MemberRow>(
    join(
      [
        // What is the same for all members is looked up once.
        sql`with whose as materialized (select u.id as owner, u.email, u.is_admin, u.is_active, u.plan, u.plan_expires_at,
              u.terms_version, u.email_verified, u.had_plan,
              (select string_agg(ip_address, ' ') from user_allowed_ips where user_id = u.id) as allowed_ips,
              (select version from terms order by published_at desc, version desc limit 1) as current_terms,
              c.orders, c.simulated
            from trading_groups g join users u on u.id = g.user_id
              left join daily_order_counts c on c.user_id = u.id and c.day = ${day}`,
        where,
        sql`)
          select a.*, w.email, w.is_admin, w.is_active, w.plan, w.plan_expires_at, w.terms_version, w.email_verified, w.had_plan,
              w.allowed_ips, w.current_terms, w.orders, w.simulated,`,
        GROUP_COLUMNS,
        sql`from trading_groups g
              join whose w on w.owner = g.user_id
              left join group_members m on m.group_id = g.id
              left join trading_accounts a on a.id = m.trading_account_id`,
        where,
        sql`order by m.position`,
      ],
      ' ',
    ),
  );
  const [first] = rows;
  const group = toGroup(rows);
  if (!first || !group) return null;
  return {
    user: userOf(group.userId, first),
    allowedIps: first.allowed_ips?.split(' ') ?? [],
    group,
    members: rows.flatMap((row) => {
      const member = toMember(row);
      return member ? [{ member, target: toTarget({ ...row, ...NOTHING_EARLIER }, day) }] : [];
    }),
  };
}

const NOTHING_EARLIER = { earlier_hash: null, earlier_order: null };

type TargetRow = AccountRow &
  Omit<UserRow, 'id'> & {
    had_plan: number | boolean;
    allowed_ips: string | null;
    current_terms: string | null;
    orders: number | null;
    simulated: number | null;
    earlier_hash: string | null;
    earlier_order: OrderId | null;
  };

/** Of the day, the idempotency key and the time before which that is forgotten. */
const TARGET = sql`select a.*, u.email, u.is_admin, u.is_active, u.plan, u.plan_expires_at, u.terms_version, u.email_verified, u.had_plan,
      (select string_agg(ip_address, ' ') from user_allowed_ips where user_id = u.id) as allowed_ips,
      (select version from terms order by published_at desc, version desc limit 1) as current_terms,
      c.orders, c.simulated, k.body_hash as earlier_hash, k.order_id as earlier_order
    from trading_accounts a
      join users u on u.id = a.user_id
      left join daily_order_counts c on c.user_id = u.id and c.day = ${null}
      left join idempotency_keys k on k.user_id = u.id and k.idempotency_key = ${null} and k.created_at > ${null}`;
/** Put together once, because every signal asks for it: an adapter knows a statement by its parts. */
const BY_TOKEN = join([TARGET, sql`where a.webhook_token = ${null} and a.deleted_at is null`], ' ');
const BY_ID = join([TARGET, sql`where a.id = ${null} and a.deleted_at is null`], ' ');

async function find(
  db: Db,
  { day, key = null }: Moment,
  { parts }: Statement,
  wanted: string,
): Promise<Target | null> {
  const values = [day, key?.key ?? null, key?.notBefore ?? null, wanted];
  const row = await db.get<TargetRow>({ parts, values });
  return row ? toTarget(row, day) : null;
}

function toTarget(row: TargetRow, day: string): Target {
  return {
    user: userOf(row.user_id, row),
    account: toAccount(row),
    allowedIps: row.allowed_ips?.split(' ') ?? [],
    limits: {
      day,
      termsVersion: row.current_terms,
      hadPlan: Boolean(row.had_plan),
      ordersToday: { real: row.orders ?? 0, simulated: row.simulated ?? 0 },
    },
    earlier:
      row.earlier_hash !== null && row.earlier_order !== null
        ? { bodyHash: row.earlier_hash, orderId: row.earlier_order }
        : null,
  };
}
