// How a user's things stand, for the overview: a few statements, each by an index, however long the history is.

import type { BrokerName } from '../../domain/brokers.ts';
import { type Decimal, decimalOrNull } from '../../domain/decimal.ts';
import type { AccountId, Timestamp, UserId } from '../../domain/ids.ts';
import type { CountedAlike } from '../../domain/money/day.ts';
import type { OrderStatus, Source } from '../../domain/orders/order.ts';
import type { Scale, Stance, StanceSide, Stopped } from '../../domain/signals/strategy.ts';
import { join, type Reads, type Statement, sql } from '../engine/db.ts';
import { toScale, toStopped } from './strategies.ts';

export interface StandingAccount {
  readonly id: AccountId;
  readonly name: string;
  readonly brokerName: BrokerName;
  readonly environment: string;
  readonly halted: boolean;
  readonly haltedAt: Timestamp | null;
  readonly hasCredentials: boolean;
  readonly credentialsVerified: boolean;
  /** They were verified once: exits are still tried with them. */
  readonly credentialsRefused: boolean;
  readonly credentialsCheckedAt: Timestamp | null;
  readonly keyWarnings: readonly string[];
  readonly silenceAfter: number | null;
  /** Its owner was told then that no genuine signal had come. */
  readonly silenceToldAt: Timestamp | null;
  readonly lastSignalAt: Timestamp | null;
  /** Of those that came to it as a member of a group. */
  readonly lastGroupSignalAt: Timestamp | null;
  readonly createdAt: Timestamp;
}

interface AccountRow {
  id: AccountId;
  name: string;
  broker_name: BrokerName;
  environment: string;
  halted: number | boolean;
  halted_at: Timestamp | null;
  has_credentials: number | boolean;
  broker_credentials_verified: number | boolean;
  credentials_refused: number | boolean;
  credentials_checked_at: Timestamp | null;
  key_warnings: string | null;
  silence_after: number | null;
  silence_told_at: Timestamp | null;
  last_signal_at: Timestamp | null;
  last_group_signal_at: Timestamp | null;
  created_at: Timestamp;
}

const later = (a: Timestamp | null, b: Timestamp | null): Timestamp | null =>
  a === null || (b !== null && b > a) ? b : a;

const earlier = (a: Timestamp | null, b: Timestamp | null): Timestamp | null =>
  a === null || (b !== null && b < a) ? b : a;

/** Oldest first. */
export async function standingAccounts(db: Reads, user: UserId): Promise<StandingAccount[]> {
  const rows = await db.all<AccountRow>(
    sql`select a.id, a.name, a.broker_name, a.environment, a.halted, a.halted_at,
          a.sealed_credentials is not null as has_credentials, a.broker_credentials_verified, a.credentials_refused,
          a.credentials_checked_at,
          a.key_warnings, a.silence_after, a.silence_told_at, a.created_at,
          (select max(s.arrived_at) from signals s where s.user_id = a.user_id and s.trading_account_id = a.id)
            as last_signal_at,
          (select max(m.arrived_at) from signal_members m where m.trading_account_id = a.id) as last_group_signal_at
        from trading_accounts a where a.user_id = ${user} and a.deleted_at is null order by a.id`,
  );
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    brokerName: row.broker_name,
    environment: row.environment,
    halted: Boolean(row.halted),
    haltedAt: row.halted_at,
    hasCredentials: Boolean(row.has_credentials),
    credentialsVerified: Boolean(row.broker_credentials_verified),
    credentialsRefused: Boolean(row.credentials_refused),
    credentialsCheckedAt: row.credentials_checked_at,
    keyWarnings: row.key_warnings === null ? [] : (JSON.parse(row.key_warnings) as string[]),
    silenceAfter: row.silence_after,
    silenceToldAt: row.silence_told_at,
    lastSignalAt: later(row.last_signal_at, row.last_group_signal_at),
    lastGroupSignalAt: row.last_group_signal_at,
    createdAt: row.created_at,
  }));
}

// Orders

/** The newest since `begin`, and of them since `from`: alike by account, way, mode and status. */
export async function countOrders(
  db: Reads,
  user: UserId,
  { begin, from, limit }: { readonly begin: Timestamp; readonly from: Timestamp; readonly limit: number },
): Promise<CountedAlike[]> {
  const rows = await db.all<{
    trading_account_id: AccountId;
    source: Source;
    simulation: number | boolean;
    status: OrderStatus;
    of_day: number;
    seen: number;
  }>(
    sql`select trading_account_id, source, simulation, status, count(*) as seen,
          count(case when submitted_at >= ${from} then 1 end) as of_day
        from (select trading_account_id, source, simulation, status, submitted_at from order_history
          where user_id = ${user} and submitted_at >= ${begin}
          order by submitted_at desc, order_id desc limit ${limit}) as newest
        group by trading_account_id, source, simulation, status`,
  );
  return rows.map((row) => ({
    accountId: row.trading_account_id,
    source: row.source,
    simulation: Boolean(row.simulation),
    status: row.status,
    ofDay: row.of_day,
    seen: row.seen,
  }));
}

// Strategies

export interface StandingStrategy {
  readonly accountId: AccountId;
  readonly symbol: string;
  readonly stance: Stance;
  readonly scale: Scale;
  /** null: protection has closed nothing since. */
  readonly stopped: Stopped | null;
  readonly driftSince: Timestamp | null;
  readonly held: Decimal | null;
}

/** Real ones that have said where they stand. */
export async function standingStrategies(
  db: Reads,
  user: UserId,
  limit: number,
): Promise<StandingStrategy[]> {
  const rows = await db.all<{
    trading_account_id: AccountId;
    symbol: string;
    side: StanceSide;
    size: string | null;
    drift_since: Timestamp | null;
    held: string | null;
    factor: string | null;
    step: string | null;
    stopped: string | null;
  }>(
    sql`select p.trading_account_id, p.symbol, p.side, p.size, p.drift_since, p.held, p.factor, p.step, p.stopped
        from trading_accounts a join strategy_positions p on p.trading_account_id = a.id
        where a.user_id = ${user} and a.deleted_at is null and p.simulation = ${false} and p.side is not null
        order by p.trading_account_id, p.symbol limit ${limit}`,
  );
  return rows.map((row) => ({
    accountId: row.trading_account_id,
    symbol: row.symbol,
    stance: { side: row.side, size: decimalOrNull(row.size) },
    scale: toScale(row),
    stopped: toStopped(row),
    driftSince: row.drift_since,
    held: decimalOrNull(row.held),
  }));
}

// Signals

/** Of all accounts and modes: those that became no order of their own. A group's counts at each of its members. */
export async function countSignals(
  db: Reads,
  user: UserId,
  since: Timestamp,
): Promise<{ readonly refused: number; readonly reported: number }> {
  const row = await db.get<{ refused: number; reported: number }>(
    sql`select
          (select count(*) from signals where user_id = ${user} and outcome = 'refused' and arrived_at >= ${since})
            as refused,
          (select count(*) from signals where user_id = ${user} and outcome = 'sync' and arrived_at >= ${since}
            and order_id is null) as reported`,
  );
  const { more_refused = 0, more_reported = 0 } = (await countInGroups(db, user, since)) ?? {};
  return { refused: (row?.refused ?? 0) + more_refused, reported: (row?.reported ?? 0) + more_reported };
}

/** What the members of groups had beyond the one that the signal itself stands for. */
const countInGroups = (db: Reads, user: UserId, since: Timestamp) =>
  db.get<{ more_refused: number; more_reported: number }>(
    sql`select cast(coalesce(sum(refused - whole_refused), 0) as integer) as more_refused,
          cast(coalesce(sum(reported - whole_reported), 0) as integer) as more_reported
        from (select case when s.outcome = 'refused' then 1 else 0 end as whole_refused,
            case when s.outcome = 'sync' and s.order_id is null then 1 else 0 end as whole_reported,
            count(m.code) as refused,
            count(case when s.outcome = 'sync' and m.code is null and m.order_id is null then 1 end) as reported
          from signals s join signal_members m on m.signal_id = s.id
          where s.user_id = ${user} and s.group_id is not null and s.arrived_at >= ${since}
          group by s.id, s.outcome, s.order_id) as counted`,
  );

/** Also what a group's signal was refused for at this account. */
export async function countRefused(
  db: Reads,
  user: UserId,
  { id, lastGroupSignalAt }: Pick<StandingAccount, 'id' | 'lastGroupSignalAt'>,
  { code, since }: { readonly code: string; readonly since: Timestamp },
): Promise<number> {
  const row = await db.get<{ signals: number }>(
    sql`select count(*) as signals from signals where user_id = ${user} and code = ${code} and arrived_at >= ${since}
          and trading_account_id = ${id} and group_id is null`,
  );
  const own = row?.signals ?? 0;
  if (lastGroupSignalAt === null || lastGroupSignalAt < since) return own;
  const member = await db.get<{ signals: number }>(
    sql`select count(*) as signals from signal_members
        where trading_account_id = ${id} and arrived_at >= ${since} and code = ${code}`,
  );
  return own + (member?.signals ?? 0);
}

export interface SignalMark {
  readonly accountId: AccountId;
  readonly at: Timestamp;
  readonly refused: boolean;
  readonly simulation: boolean;
}

/** Accounts in one statement: SQLite joins no more than 500 selects. */
const AT_ONCE = 50;

/** The newest of each account: its own, and what came to it as a member of a group. */
export async function signalMarks(
  db: Reads,
  user: UserId,
  accounts: readonly Pick<StandingAccount, 'id' | 'lastGroupSignalAt'>[],
  { since, limit }: { readonly since: Timestamp; readonly limit: number },
): Promise<SignalMark[]> {
  const own = ({ id }: { readonly id: AccountId }): Statement =>
    sql`select * from (select trading_account_id, arrived_at, case when outcome = 'refused' then 1 else 0 end as refused,
            simulation from signals
          where user_id = ${user} and trading_account_id = ${id} and arrived_at >= ${since} and group_id is null
          order by arrived_at desc, id desc limit ${limit}) as newest`;
  const asMember = ({ id }: { readonly id: AccountId }): Statement =>
    sql`select * from (select trading_account_id, arrived_at, case when code is null then 0 else 1 end as refused,
            simulation from signal_members
          where trading_account_id = ${id} and arrived_at >= ${since}
          order by arrived_at desc limit ${limit}) as newest`;
  const isMember = ({ lastGroupSignalAt }: (typeof accounts)[number]) =>
    lastGroupSignalAt !== null && lastGroupSignalAt >= since;
  const each = [...accounts.map(own), ...accounts.filter(isMember).map(asMember)];
  const marks: SignalMark[] = [];
  for (let from = 0; from < each.length; from += AT_ONCE) {
    const rows = await db.all<{
      trading_account_id: AccountId;
      arrived_at: Timestamp;
      refused: number;
      simulation: number | boolean;
    }>(join(each.slice(from, from + AT_ONCE), ' union all '));
    marks.push(
      ...rows.map((row) => ({
        accountId: row.trading_account_id,
        at: row.arrived_at,
        refused: row.refused === 1,
        simulation: Boolean(row.simulation),
      })),
    );
  }
  const newest = [...Map.groupBy(marks, ({ accountId }) => accountId).values()];
  return newest.flatMap((of) => of.sort((a, b) => b.at.localeCompare(a.at)).slice(0, limit));
}

/** Genuine: whoever sent it had the secret. As data/notifications/notices.ts asks for it. */
const GENUINE = sql`simulation = false
  and (outcome <> 'refused' or refused_by in ('halt', 'plan', 'terms', 'credentials', 'daily_limit', 'worker'))`;

/** Its sender had the group's secret, since a member was asked. What came before proves nothing anew. */
const GENUINE_IN_GROUP = sql`simulation = false and (code is null or code <> 'webhook_replay_attack')`;

/** The last genuine signal up to a moment, and the first one after it. Those of its groups count. */
export async function signalsAround(
  db: Reads,
  user: UserId,
  { id, lastGroupSignalAt }: Pick<StandingAccount, 'id' | 'lastGroupSignalAt'>,
  at: Timestamp,
): Promise<{ readonly last: Timestamp | null; readonly next: Timestamp | null }> {
  const one = async (condition: Statement, order: Statement): Promise<Timestamp | null> => {
    const from = sql`select arrived_at from signals where user_id = ${user} and trading_account_id = ${id} and`;
    const found = await db.get<{ arrived_at: Timestamp }>(
      join([from, condition, sql`and`, GENUINE, order, sql`limit 1`], ' '),
    );
    return found?.arrived_at ?? null;
  };
  const oneInGroup = async (condition: Statement, order: Statement): Promise<Timestamp | null> => {
    if (lastGroupSignalAt === null) return null;
    const from = sql`select arrived_at from signal_members where trading_account_id = ${id} and`;
    const found = await db.get<{ arrived_at: Timestamp }>(
      join([from, condition, sql`and`, GENUINE_IN_GROUP, order, sql`limit 1`], ' '),
    );
    return found?.arrived_at ?? null;
  };
  const [after, before] = [sql`arrived_at > ${at}`, sql`arrived_at <= ${at}`];
  const next = earlier(
    await one(after, sql`order by arrived_at, id`),
    await oneInGroup(after, sql`order by arrived_at`),
  );
  if (next !== null) return { last: null, next };
  const last = later(
    await one(before, sql`order by arrived_at desc, id desc`),
    await oneInGroup(before, sql`order by arrived_at desc`),
  );
  return { last, next: null };
}

// What has ended

const FEW = 5;

export interface Ending {
  readonly action: string;
  readonly at: Timestamp;
  readonly resourceId: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The newest successful entries of each of these actions; a few, since not all of them count. */
export async function newestEntries(db: Reads, user: UserId, actions: readonly string[]): Promise<Ending[]> {
  const each = actions.map(
    (action) =>
      sql`select * from (select action, created_at, resource_id, metadata from audit_logs
            where user_id = ${user} and action = ${action} and success = ${true} order by id desc limit ${FEW}) as newest`,
  );
  const rows = await db.all<{
    action: string;
    created_at: Timestamp;
    resource_id: string | null;
    metadata: string;
  }>(join(each, ' union all '));
  return rows.map((row) => ({
    action: row.action,
    at: row.created_at,
    resourceId: row.resource_id,
    metadata: JSON.parse(row.metadata) as Record<string, unknown>,
  }));
}
