// strategy_positions: where strategies stand, by their own word.

import { type Decimal, decimalOrNull } from '../../domain/decimal.ts';
import { type AccountId, millis, type Timestamp, timestamp } from '../../domain/ids.ts';
import type { Stance, StanceSide, StrategyWord } from '../../domain/signals/strategy.ts';
import { type Db, must, type Reads, type Statement, sql } from '../engine/db.ts';

/** One strategy trades one symbol of an account, in one mode. */
export interface StrategyKey {
  readonly accountId: AccountId;
  /** In its canonical form. */
  readonly symbol: string;
  readonly simulation: boolean;
}

export interface StrategyState {
  readonly key: StrategyKey;
  readonly version: number;
  readonly word: StrategyWord;
  readonly arrivedAt: Timestamp;
  readonly driftSince: Timestamp | null;
  /** What the account held instead, when it was last compared; null: it is the same, or was not noted. */
  readonly held: Decimal | null;
}

interface StrategyRow {
  trading_account_id: AccountId;
  symbol: string;
  simulation: number | boolean;
  version: number;
  said_at: Timestamp;
  arrived_at: Timestamp;
  side: StanceSide | null;
  size: string | null;
  before_side: StanceSide | null;
  before_size: string | null;
  fingerprint: string | null;
  drift_since: Timestamp | null;
  held: string | null;
}

export async function findStrategy(db: Db, key: StrategyKey): Promise<StrategyState | null> {
  const row = await db.get<StrategyRow>(
    sql`select * from strategy_positions where trading_account_id = ${key.accountId} and symbol = ${key.symbol}
          and simulation = ${key.simulation}`,
  );
  return row ? toState(row) : null;
}

/** Of one account, by their symbols. */
export async function strategiesOf(
  db: Reads,
  account: AccountId,
  { simulation }: { simulation: boolean },
): Promise<StrategyState[]> {
  const rows = await db.all<StrategyRow>(
    sql`select * from strategy_positions where trading_account_id = ${account} and simulation = ${simulation}
        order by symbol`,
  );
  return rows.map(toState);
}

/** Guarded by `strategy`: nobody has said anything since the state was read. */
export function keepWord(
  { accountId, symbol, simulation }: StrategyKey,
  known: StrategyState | null,
  { timestamp: said, after, before, print }: StrategyWord,
  arrivedAt: Timestamp,
): Statement {
  const at = timestamp(said);
  return must(
    'strategy',
    known === null
      ? sql`insert into strategy_positions (trading_account_id, symbol, simulation, version, said_at, arrived_at, side,
              size, before_side, before_size, fingerprint)
            values (${accountId}, ${symbol}, ${simulation}, 1, ${at}, ${arrivedAt}, ${after?.side ?? null},
              ${after?.size ?? null}, ${before?.side ?? null}, ${before?.size ?? null}, ${print})
            on conflict (trading_account_id, symbol, simulation) do nothing`
      : sql`update strategy_positions set version = ${known.version + 1}, said_at = ${at}, arrived_at = ${arrivedAt},
              side = ${after?.side ?? null}, size = ${after?.size ?? null}, before_side = ${before?.side ?? null},
              before_size = ${before?.size ?? null}, fingerprint = ${print}
            where trading_account_id = ${accountId} and symbol = ${symbol} and simulation = ${simulation}
              and version = ${known.version}`,
  );
}

/** A genuine signal that says nothing of the position: what was said before holds no longer. When it came is kept. */
export const forgetStance = (
  { accountId, symbol, simulation }: StrategyKey,
  arrivedAt: Timestamp,
): Statement =>
  sql`insert into strategy_positions (trading_account_id, symbol, simulation, version, said_at, arrived_at)
      values (${accountId}, ${symbol}, ${simulation}, 1, ${NEVER}, ${arrivedAt})
      on conflict (trading_account_id, symbol, simulation) do update
        set version = strategy_positions.version + 1, arrived_at = excluded.arrived_at, side = null, size = null,
          before_side = null, before_size = null`;

/** Said before whatever will be said. */
const NEVER = timestamp(0);

/** Guarded by `strategy`, for what was decided on the state and changes nothing of it. */
export const strategyStands = ({ key, version }: StrategyState): Statement =>
  must(
    'strategy',
    sql`select 1 from strategy_positions where trading_account_id = ${key.accountId} and symbol = ${key.symbol}
          and simulation = ${key.simulation} and version = ${version}`,
  );

/** What the account holds instead, and since when; null: no longer. Guarded by `strategy`. */
export const setDrift = (
  { key, version }: StrategyState,
  drift: { readonly since: Timestamp; readonly held: Decimal } | null,
): Statement =>
  must(
    'strategy',
    sql`update strategy_positions set drift_since = ${drift?.since ?? null}, held = ${drift?.held ?? null}, version = ${version + 1}
        where trading_account_id = ${key.accountId} and symbol = ${key.symbol} and simulation = ${key.simulation}
          and version = ${version}`,
  );

const toState = (row: StrategyRow): StrategyState => ({
  key: { accountId: row.trading_account_id, symbol: row.symbol, simulation: Boolean(row.simulation) },
  version: row.version,
  word: {
    timestamp: millis(row.said_at),
    before: toStance(row.before_side, row.before_size),
    after: toStance(row.side, row.size),
    print: row.fingerprint,
  },
  arrivedAt: row.arrived_at,
  driftSince: row.drift_since,
  held: decimalOrNull(row.held),
});

const toStance = (side: StanceSide | null, size: string | null): Stance | null =>
  side === null ? null : { side, size: decimalOrNull(size) };
