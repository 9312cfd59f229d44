// Trading accounts.

import { type BrokerName, isRealMoney, type MarginMode } from '../../domain/brokers.ts';
import { type Decimal, decimal } from '../../domain/decimal.ts';
import type { Guards } from '../../domain/guards/guards.ts';
import { type AccountId, isUuid, type Timestamp, type UserId } from '../../domain/ids.ts';
import type { TriggerBy, Unprotected } from '../../domain/protection/settings.ts';
import type { OutOfSync } from '../../domain/signals/strategy.ts';
import { type Db, join, must, type Reads, type Statement, sql } from '../engine/db.ts';

export interface Account {
  readonly id: AccountId;
  readonly userId: UserId;
  readonly name: string;
  readonly brokerName: BrokerName;
  /** `live`, or what else its broker offers. */
  readonly environment: string;
  readonly webhookToken: string;
  /** Encrypted under APP_KEY. */
  readonly webhookSecret: string;
  readonly maxRequestAge: number;
  readonly allowedSymbols: readonly string[];
  readonly outOfSync: OutOfSync;
  /** Of what its orders open, where the broker asks. */
  readonly marginMode: MarginMode;
  readonly guards: Guards;
  /** Seconds; null: nobody is told. */
  readonly silenceAfter: number | null;
  /** Its webhook is for who shows the charting platform's client certificate. */
  readonly requirePlatformCertificate: boolean;
  /** What an entry from flat is protected with that does not say, as it was set; null: nothing. */
  readonly protectionDefaults: unknown;
  /** What is done where the broker refuses a stop. */
  readonly unprotected: Unprotected;
  readonly triggerBy: TriggerBy;
  /** What its webhook's sizes are multiplied with. */
  readonly quantityMultiplier: Decimal;
  /** A JWE that only a worker can open; null: none given. */
  readonly sealedCredentials: string | null;
  readonly credentialsVerified: boolean;
  /** They were verified once, and the broker refused them later: entries are held back, and exits are not. */
  readonly credentialsRefused: boolean;
  readonly halted: boolean;
  readonly paper: unknown;
  readonly connectionVersion: number;
  readonly credentialsVersion: number;
  /** Grows with every change of what an order is checked against. */
  readonly revision: number;
  readonly createdAt: Timestamp;
}

export interface AccountRow {
  id: AccountId;
  user_id: UserId;
  name: string;
  broker_name: BrokerName;
  environment: string;
  webhook_token: string;
  webhook_secret: string;
  max_request_age: number;
  allowed_symbols: string;
  out_of_sync: OutOfSync;
  margin_mode: MarginMode;
  guards: string | null;
  silence_after: number | null;
  require_platform_certificate: number | boolean;
  protection_defaults: string | null;
  unprotected: Unprotected;
  trigger_by: TriggerBy;
  quantity_multiplier: string;
  sealed_credentials: string | null;
  broker_credentials_verified: number | boolean;
  credentials_refused: number | boolean;
  halted: number | boolean;
  paper: string | null;
  connection_version: number;
  credentials_version: number;
  revision: number;
  created_at: Timestamp;
}

export const toAccount = (row: AccountRow): Account => ({
  id: row.id,
  userId: row.user_id,
  name: row.name,
  brokerName: row.broker_name,
  environment: row.environment,
  webhookToken: row.webhook_token,
  webhookSecret: row.webhook_secret,
  maxRequestAge: row.max_request_age,
  allowedSymbols: JSON.parse(row.allowed_symbols) as string[],
  outOfSync: row.out_of_sync,
  marginMode: row.margin_mode,
  guards: row.guards === null ? {} : (JSON.parse(row.guards) as Guards),
  silenceAfter: row.silence_after,
  requirePlatformCertificate: Boolean(row.require_platform_certificate),
  protectionDefaults: row.protection_defaults === null ? null : JSON.parse(row.protection_defaults),
  unprotected: row.unprotected,
  triggerBy: row.trigger_by,
  quantityMultiplier: decimal(row.quantity_multiplier),
  sealedCredentials: row.sealed_credentials,
  credentialsVerified: Boolean(row.broker_credentials_verified),
  credentialsRefused: Boolean(row.credentials_refused),
  halted: Boolean(row.halted),
  paper: row.paper === null ? null : JSON.parse(row.paper),
  connectionVersion: row.connection_version,
  credentialsVersion: row.credentials_version,
  revision: row.revision,
  createdAt: row.created_at,
});

const guardsText = (guards: Guards): string | null =>
  Object.keys(guards).length > 0 ? JSON.stringify(guards) : null;

const defaultsText = (defaults: unknown): string | null =>
  defaults === null ? null : JSON.stringify(defaults);

export function insertAccount(account: Account): Statement {
  return sql`insert into trading_accounts (id, user_id, name, broker_name, environment, webhook_token, webhook_secret,
      max_request_age, allowed_symbols, out_of_sync, margin_mode, guards, silence_after, require_platform_certificate,
      protection_defaults, unprotected, trigger_by, quantity_multiplier, sealed_credentials,
      broker_credentials_verified, credentials_refused, halted, paper, connection_version, credentials_version, revision, created_at)
    values (${account.id}, ${account.userId}, ${account.name}, ${account.brokerName}, ${account.environment},
      ${account.webhookToken},
      ${account.webhookSecret}, ${account.maxRequestAge}, ${JSON.stringify(account.allowedSymbols)}, ${account.outOfSync},
      ${account.marginMode}, ${guardsText(account.guards)}, ${account.silenceAfter}, ${account.requirePlatformCertificate},
      ${defaultsText(account.protectionDefaults)}, ${account.unprotected}, ${account.triggerBy}, ${account.quantityMultiplier},
      ${account.sealedCredentials}, ${account.credentialsVerified}, ${account.credentialsRefused}, ${account.halted},
      ${account.paper === null ? null : JSON.stringify(account.paper)}, ${account.connectionVersion},
      ${account.credentialsVersion}, ${account.revision}, ${account.createdAt})`;
}

export async function findAccount(db: Db, id: AccountId): Promise<Account | null> {
  const row = await db.get<AccountRow>(
    sql`select * from trading_accounts where id = ${id} and deleted_at is null`,
  );
  return row ? toAccount(row) : null;
}

/** Whoever's they are, by id or by name. */
export async function accountsNamed(
  db: Reads,
  name: string,
  { limit, withDeleted = false }: { limit: number; withDeleted?: boolean },
): Promise<Account[]> {
  const conditions = [
    isUuid(name) ? sql`id = ${name}` : sql`name = ${name}`,
    ...(withDeleted ? [] : [sql`deleted_at is null`]),
  ];
  const rows = await db.all<AccountRow>(
    join(
      [sql`select * from trading_accounts where`, join(conditions, ' and '), sql`order by id limit ${limit}`],
      ' ',
    ),
  );
  return rows.map(toAccount);
}

/**
 * Of one user, oldest first; `after` is the last account of the page before. `bytes`: no further than the first whose
 * symbols go beyond it. The sizes are looked at first: what is read and not shown costs as much as what is shown.
 */
export async function listAccounts(
  db: Reads,
  user: UserId,
  { after, limit, bytes }: { after: AccountId | null; limit: number; bytes: number },
): Promise<Account[]> {
  const conditions = [sql`from trading_accounts where user_id = ${user}`, sql`deleted_at is null`];
  if (after) conditions.push(sql`id > ${after}`);
  const theirs = join(conditions, ' and ');
  const first = (columns: Statement, count: number) =>
    join([sql`select`, columns, theirs, sql`order by id limit ${count}`], ' ');
  const sizes = await db.all<{ size: number }>(
    first(sql`octet_length(cast(allowed_symbols as text)) as size`, limit),
  );
  let room = bytes;
  const count = sizes.findIndex(({ size }) => {
    room -= Number(size);
    return room < 0;
  });
  const rows = await db.all<AccountRow>(first(sql`*`, count < 0 ? limit : count + 1));
  return rows.map(toAccount);
}

/** Those of them that trade real money, deleted ones too: what was done with them stays what it was. */
export async function realMoneyAmong(db: Reads, ids: Iterable<AccountId>): Promise<ReadonlySet<AccountId>> {
  const each = [...new Set(ids)].map((id) => sql`${id}`);
  if (each.length === 0) return new Set();
  return realMoneyWhere(db, join([sql`id in (`, join(each, ', '), sql`)`], ''));
}

/** Of one user, deleted ones too, in the order of their making. */
export async function accountIdsOf(db: Reads, user: UserId): Promise<AccountId[]> {
  const rows = await db.all<Pick<AccountRow, 'id'>>(
    sql`select id from trading_accounts where user_id = ${user} order by created_at, id`,
  );
  return rows.map(({ id }) => id);
}

/** Of one user, deleted ones too. */
export const realMoneyOf = (db: Reads, user: UserId): Promise<ReadonlySet<AccountId>> =>
  realMoneyWhere(db, sql`user_id = ${user}`);

async function realMoneyWhere(db: Reads, condition: Statement): Promise<ReadonlySet<AccountId>> {
  const rows = await db.all<Pick<AccountRow, 'id' | 'broker_name' | 'environment'>>(
    join([sql`select id, broker_name, environment from trading_accounts where`, condition], ' '),
  );
  return new Set(rows.filter((row) => isRealMoney(row.broker_name, row.environment)).map((row) => row.id));
}

export interface AccountChange {
  readonly name?: string;
  readonly maxRequestAge?: number;
  readonly allowedSymbols?: readonly string[];
  readonly outOfSync?: OutOfSync;
  /** A worker's open connection must notice it. */
  readonly marginMode?: MarginMode;
  readonly guards?: Guards;
  readonly silenceAfter?: number | null;
  readonly requirePlatformCertificate?: boolean;
  readonly protectionDefaults?: unknown;
  readonly unprotected?: Unprotected;
  readonly triggerBy?: TriggerBy;
  readonly quantityMultiplier?: Decimal;
  readonly webhookToken?: string;
  /** Encrypted under APP_KEY. */
  readonly webhookSecret?: string;
  /** With either of those. */
  readonly madeAt?: Timestamp;
  readonly credentials?: CheckedCredentials;
  /** Since when; null: no longer. */
  readonly haltedAt?: Timestamp | null;
}

/** As the broker took them, or refused them. */
interface CheckedCredentials {
  readonly verified: boolean;
  readonly at: Timestamp;
  /** What the broker said of the key besides. */
  readonly warnings: readonly string[];
}

/** At least one change. Guarded by `account`. */
export function changeAccount(id: AccountId, change: AccountChange): Statement {
  return must('account', join([setting(change), sql` where id = ${id} and deleted_at is null`], ''));
}

/** The same, if a worker's connection would still be what it was at this version. Guarded by `version`. */
export function changeAccountAt(id: AccountId, version: number, change: AccountChange): Statement {
  return must(
    'version',
    join(
      [setting(change), sql` where id = ${id} and deleted_at is null and connection_version = ${version}`],
      '',
    ),
  );
}

function setting(change: AccountChange): Statement {
  const { name, maxRequestAge, allowedSymbols, outOfSync, marginMode, webhookToken, webhookSecret } = change;
  const { madeAt = null, credentials, haltedAt, guards, silenceAfter, requirePlatformCertificate } = change;
  const { protectionDefaults, unprotected, triggerBy, quantityMultiplier } = change;
  const changes = [
    ...(name === undefined ? [] : [sql`name = ${name}`]),
    ...(maxRequestAge === undefined ? [] : [sql`max_request_age = ${maxRequestAge}`]),
    ...(allowedSymbols === undefined ? [] : [sql`allowed_symbols = ${JSON.stringify(allowedSymbols)}`]),
    ...(outOfSync === undefined ? [] : [sql`out_of_sync = ${outOfSync}`]),
    ...(marginMode === undefined ? [] : marginSetting(marginMode)),
    ...(guards === undefined ? [] : [sql`guards = ${guardsText(guards)}`]),
    ...(silenceAfter === undefined ? [] : [sql`silence_after = ${silenceAfter}`]),
    ...(requirePlatformCertificate === undefined
      ? []
      : [sql`require_platform_certificate = ${requirePlatformCertificate}`]),
    ...(protectionDefaults === undefined
      ? []
      : [sql`protection_defaults = ${defaultsText(protectionDefaults)}`]),
    ...(unprotected === undefined ? [] : [sql`unprotected = ${unprotected}`]),
    ...(triggerBy === undefined ? [] : [sql`trigger_by = ${triggerBy}`]),
    ...(quantityMultiplier === undefined ? [] : [sql`quantity_multiplier = ${quantityMultiplier}`]),
    ...(webhookToken === undefined ? [] : [sql`webhook_token = ${webhookToken}, token_made_at = ${madeAt}`]),
    ...(webhookSecret === undefined
      ? []
      : [sql`webhook_secret = ${webhookSecret}, secret_made_at = ${madeAt}`]),
    ...(credentials === undefined ? [] : checked(credentials)),
    ...(haltedAt === undefined ? [] : halting(haltedAt)),
    sql`revision = revision + 1`,
  ];
  return join([sql`update trading_accounts set `, join(changes, ', ')], '');
}

/** What was refused once more is refused since the first time; and what was halted once more is halted since then. */
const checked = ({ verified, at, warnings }: CheckedCredentials): Statement[] => [
  verified
    ? sql`credentials_checked_at = ${at}`
    : sql`credentials_checked_at = case when broker_credentials_verified = true then ${at}
            else coalesce(credentials_checked_at, ${at}) end`,
  // The old row is what is asked here: only what was verified can be refused later.
  verified
    ? sql`credentials_refused = ${false}`
    : sql`credentials_refused = case when broker_credentials_verified = true then true else credentials_refused end`,
  sql`broker_credentials_verified = ${verified}`,
  sql`key_warnings = ${warnings.length > 0 ? JSON.stringify(warnings) : null}`,
];

const marginSetting = (mode: MarginMode): Statement[] => [
  sql`connection_version = connection_version + case when margin_mode = ${mode} then 0 else 1 end`,
  sql`margin_mode = ${mode}`,
];

const halting = (at: Timestamp | null): Statement[] =>
  at === null
    ? [sql`halted = ${false}`, sql`halted_at = null`]
    : [
        sql`halted_at = case when halted = true then coalesce(halted_at, ${at}) else ${at} end`,
        sql`halted = ${true}`,
      ];

/** A worker's open connection must notice it. Guarded by `version`. */
export const changePaper = (id: AccountId, version: number, paper: object): Statement =>
  must(
    'version',
    sql`update trading_accounts set paper = ${JSON.stringify(paper)}, connection_version = ${version + 1}
        where id = ${id} and deleted_at is null and connection_version = ${version}`,
  );

/** Nobody has verified these yet, and a worker's open connection must notice them. Guarded by `account`. */
export const storeCredentials = (id: AccountId, sealed: string): Statement =>
  must(
    'account',
    sql`update trading_accounts set sealed_credentials = ${sealed}, broker_credentials_verified = ${false},
          credentials_refused = ${false}, credentials_checked_at = null, key_warnings = null, connection_version = connection_version + 1, credentials_version = credentials_version + 1,
          revision = revision + 1
        where id = ${id} and deleted_at is null`,
  );

/** Whose credentials were verified last, as it was noted; null: not known. */
export async function brokerIdentity(db: Reads, id: AccountId): Promise<string | null> {
  const row = await db.get<{ broker_identity: string | null }>(
    sql`select broker_identity from trading_accounts where id = ${id}`,
  );
  return row?.broker_identity ?? null;
}

export const noteIdentity = (id: AccountId, identity: string): Statement =>
  sql`update trading_accounts set broker_identity = ${identity} where id = ${id}`;

export interface SealedCredentials {
  readonly id: AccountId;
  readonly user_id: UserId;
  readonly sealed_credentials: string;
}

/** In the order of their ids, deleted accounts too; `after` is the last one of the page before. */
export const listCredentials = (
  db: Reads,
  { after, limit }: { after: string; limit: number },
): Promise<SealedCredentials[]> =>
  db.all<SealedCredentials>(
    sql`select id, user_id, sealed_credentials from trading_accounts
        where id > ${after} and sealed_credentials is not null order by id limit ${limit}`,
  );

/** The same credentials, sealed to another key: to whoever uses them nothing has changed. Guarded by `unchanged`. */
export const resealCredentials = (id: AccountId, before: string, sealed: string): Statement =>
  must(
    'unchanged',
    sql`update trading_accounts set sealed_credentials = ${sealed}
        where id = ${id} and sealed_credentials = ${before}`,
  );

/**
 * Guarded by `account` and then by `idle`: nothing of it may be under way, neither an order nor a fill check. In two
 * statements, because only a statement that begins after the account's row is locked sees every order accepted before.
 */
export const deleteAccount = (id: AccountId, now: Timestamp): [account: Statement, idle: Statement] => [
  must(
    'account',
    sql`update trading_accounts set deleted_at = ${now} where id = ${id} and deleted_at is null`,
  ),
  must(
    'idle',
    sql`update trading_accounts set connection_version = connection_version + 1
        where id = ${id}
          and not exists (select 1 from order_history o
            where o.trading_account_id = ${id} and o.status in ('queued', 'executing'))
          and not exists (select 1 from fill_checks c join order_history o on o.order_id = c.order_id
            where o.trading_account_id = ${id} and c.state in ('scheduled', 'running'))`,
  ),
];

/** Of accounts that are there. */
export async function brokersInUse(db: Db): Promise<BrokerName[]> {
  const rows = await db.all<{ broker_name: BrokerName }>(
    sql`select distinct broker_name from trading_accounts where deleted_at is null order by broker_name`,
  );
  return rows.map(({ broker_name }) => broker_name);
}
