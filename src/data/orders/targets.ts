// Whom an order would be for, and everything that it is checked against, in one read. Its account's revision is compared
// again when the order is committed: what was changed in between is not overlooked.

import type { AccountId, OrderId, Timestamp } from '../../domain/ids.ts';
import { type Account, type AccountRow, toAccount } from '../accounts/accounts.ts';
import { type Db, join, type Statement, sql } from '../engine/db.ts';
import { toUser, type User, type UserRow } from '../identity/users.ts';
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
  find(db, moment, sql`where a.webhook_token = ${token} and a.deleted_at is null`);

export const findTarget = (db: Db, account: AccountId, moment: Moment): Promise<Target | null> =>
  find(db, moment, sql`where a.id = ${account} and a.deleted_at is null`);

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

async function find(db: Db, { day, key = null }: Moment, where: Statement): Promise<Target | null> {
  const row = await db.get<TargetRow>(
    join(
      [
        sql`select a.*, u.email, u.is_admin, u.is_active, u.plan, u.plan_expires_at, u.terms_version, u.email_verified, u.had_plan,
              (select string_agg(ip_address, ' ') from user_allowed_ips where user_id = u.id) as allowed_ips,
              (select version from terms order by published_at desc, version desc limit 1) as current_terms,
              c.orders, c.simulated, k.body_hash as earlier_hash, k.order_id as earlier_order
            from trading_accounts a
              join users u on u.id = a.user_id
              left join daily_order_counts c on c.user_id = u.id and c.day = ${day}
              left join idempotency_keys k on k.user_id = u.id and k.idempotency_key = ${key?.key ?? null}
                and k.created_at > ${key?.notBefore ?? null}`,
        where,
      ],
      ' ',
    ),
  );
  if (!row) return null;
  return {
    user: toUser({ ...row, id: row.user_id }),
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
