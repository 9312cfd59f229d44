// Trading accounts.

import type { AccountId, Timestamp, UserId } from '../domain/ids.ts';
import type { BrokerName } from '../domain/symbol.ts';
import { type Db, type Statement, sql } from './db.ts';
import { toUser, type User, type UserRow } from './users.ts';

export interface Account {
  readonly id: AccountId;
  readonly userId: UserId;
  readonly name: string;
  readonly brokerName: BrokerName;
  readonly webhookToken: string;
  /** Encrypted under APP_KEY. */
  readonly webhookSecret: string;
  readonly maxRequestAge: number;
  readonly allowedSymbols: readonly string[];
  readonly credentialsVerified: boolean;
  readonly halted: boolean;
  readonly paper: unknown;
  readonly connectionVersion: number;
  readonly createdAt: Timestamp;
}

interface AccountRow {
  id: AccountId;
  user_id: UserId;
  name: string;
  broker_name: BrokerName;
  webhook_token: string;
  webhook_secret: string;
  max_request_age: number;
  allowed_symbols: string;
  broker_credentials_verified: number | boolean;
  halted: number | boolean;
  paper: string | null;
  connection_version: number;
  created_at: Timestamp;
}

const toAccount = (row: AccountRow): Account => ({
  id: row.id,
  userId: row.user_id,
  name: row.name,
  brokerName: row.broker_name,
  webhookToken: row.webhook_token,
  webhookSecret: row.webhook_secret,
  maxRequestAge: row.max_request_age,
  allowedSymbols: JSON.parse(row.allowed_symbols) as string[],
  credentialsVerified: Boolean(row.broker_credentials_verified),
  halted: Boolean(row.halted),
  paper: row.paper === null ? null : JSON.parse(row.paper),
  connectionVersion: row.connection_version,
  createdAt: row.created_at,
});

export function insertAccount(account: Account): Statement {
  return sql`insert into trading_accounts (id, user_id, name, broker_name, webhook_token, webhook_secret,
      max_request_age, allowed_symbols, broker_credentials_verified, halted, paper, connection_version, created_at)
    values (${account.id}, ${account.userId}, ${account.name}, ${account.brokerName}, ${account.webhookToken},
      ${account.webhookSecret}, ${account.maxRequestAge}, ${JSON.stringify(account.allowedSymbols)},
      ${account.credentialsVerified}, ${account.halted},
      ${account.paper === null ? null : JSON.stringify(account.paper)}, ${account.connectionVersion},
      ${account.createdAt})`;
}

export async function findAccount(db: Db, id: AccountId): Promise<Account | null> {
  const row = await db.get<AccountRow>(
    sql`select * from trading_accounts where id = ${id} and deleted_at is null`,
  );
  return row ? toAccount(row) : null;
}

/** Level 1: whom the token in the URL identifies. */
export async function findByWebhookToken(
  db: Db,
  token: string,
): Promise<{ account: Account; user: User } | null> {
  const account = await db.get<AccountRow>(
    sql`select * from trading_accounts where webhook_token = ${token} and deleted_at is null`,
  );
  if (!account) return null;
  const user = await db.get<UserRow>(sql`select * from users where id = ${account.user_id}`);
  return user ? { account: toAccount(account), user: toUser(user) } : null;
}
