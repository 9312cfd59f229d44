// strategy_positions: where strategies stand, by their own word.

import { add, type Decimal, decimal, decimalOrNull, ONE, ZERO } from '../../domain/decimal.ts';
import { type AccountId, millis, type Timestamp, timestamp } from '../../domain/ids.ts';
import type { Direction } from '../../domain/side.ts';
import {
  type Scale,
  type Stance,
  type StanceSide,
  type Stopped,
  type StrategyWord,
  staysOnSide,
} from '../../domain/signals/strategy.ts';
import { type Db, must, type Reads, type Statement, sql } from '../engine/db.ts';

/** One strategy trades one symbol of an account, in one mode. */
export interface StrategyKey {
  readonly accountId: AccountId;
  /** In its canonical form. */
  readonly symbol: string;
  readonly simulation: boolean;
}

/** What was found by comparing, and what is still to be compared. */
export interface Compared {
  /** Since when the account holds something else; null: it did not when it was last compared. */
  readonly driftSince: Timestamp | null;
  /** What the account held instead, when it was last compared; null: it is the same, or was not noted. */
  readonly held: Decimal | null;
  readonly owed: OwedComparison | null;
}

interface OwedComparison {
  /** Not before. */
  readonly at: Timestamp;
  /** An alert never arrived, as it seems: to be told of then. */
  readonly gap: boolean;
}

export const NOTHING_COMPARED: Compared = { driftSince: null, held: null, owed: null };

export interface StrategyState extends Compared {
  readonly key: StrategyKey;
  readonly version: number;
  readonly word: StrategyWord;
  readonly arrivedAt: Timestamp;
  /** null: protection has closed nothing since. */
  readonly stopped: Stopped | null;
  /** By which its last word was taken. */
  readonly scale: Scale;
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
  compare_at: Timestamp | null;
  owes_gap: number | boolean;
  stopped: string | null;
  factor: string | null;
  step: string | null;
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

/** Those whose comparison is due, the longest first. */
export async function owedComparisons(db: Db, now: Timestamp, limit: number): Promise<StrategyState[]> {
  const rows = await db.all<StrategyRow>(
    sql`select * from strategy_positions where compare_at <= ${now} order by compare_at limit ${limit}`,
  );
  return rows.map(toState);
}

/** Guarded by `strategy`: nobody has said anything since the state was read. */
export function keepWord(
  { accountId, symbol, simulation }: StrategyKey,
  known: StrategyState | null,
  { timestamp: said, after, before, print }: StrategyWord,
  {
    arrivedAt,
    factor,
    driftSince,
    held,
    owed,
  }: { readonly arrivedAt: Timestamp; readonly factor: Decimal } & Compared,
): Statement {
  const at = timestamp(said);
  const taken = factor === ONE ? null : factor;
  return must(
    'strategy',
    known === null
      ? sql`insert into strategy_positions (trading_account_id, symbol, simulation, version, said_at, arrived_at, side,
              size, before_side, before_size, fingerprint, compare_at, owes_gap, factor)
            values (${accountId}, ${symbol}, ${simulation}, 1, ${at}, ${arrivedAt}, ${after?.side ?? null},
              ${after?.size ?? null}, ${before?.side ?? null}, ${before?.size ?? null}, ${print}, ${owed?.at ?? null},
              ${owed?.gap ?? false}, ${taken})
            on conflict (trading_account_id, symbol, simulation) do nothing`
      : sql`update strategy_positions set version = ${known.version + 1}, said_at = ${at}, arrived_at = ${arrivedAt},
              side = ${after?.side ?? null}, size = ${after?.size ?? null}, before_side = ${before?.side ?? null},
              before_size = ${before?.size ?? null}, fingerprint = ${print}, drift_since = ${driftSince},
              held = ${held}, compare_at = ${owed?.at ?? null}, owes_gap = ${owed?.gap ?? false}, factor = ${taken},
              stopped = case when ${staysOnSide(known.word, { timestamp: said, after, before, print })} then stopped else null end
            where trading_account_id = ${accountId} and symbol = ${symbol} and simulation = ${simulation}
              and version = ${known.version}`,
  );
}

/**
 * A genuine signal that says nothing of the position: what was said before holds no longer. When it came is kept. Guarded by
 * `strategy`, where something was found that its owner is told of when it ends: whoever does that has to read it first.
 */
export const forgetStance = (
  { accountId, symbol, simulation }: StrategyKey,
  arrivedAt: Timestamp,
): Statement =>
  must(
    'strategy',
    sql`insert into strategy_positions (trading_account_id, symbol, simulation, version, said_at, arrived_at)
        values (${accountId}, ${symbol}, ${simulation}, 1, ${NEVER}, ${arrivedAt})
        on conflict (trading_account_id, symbol, simulation) do update
          set version = strategy_positions.version + 1, arrived_at = excluded.arrived_at, side = null, size = null,
            before_side = null, before_size = null, stopped = null
          where strategy_positions.drift_since is null and strategy_positions.compare_at is null`,
  );

/** The broker has no such symbol: there is nothing that a strategy could hold. */
export const forgetSymbol = ({ accountId, symbol, simulation }: StrategyKey): Statement =>
  sql`delete from strategy_positions where trading_account_id = ${accountId} and symbol = ${symbol}
        and simulation = ${simulation}`;

/** Said before whatever will be said. */
const NEVER = timestamp(0);

/** Guarded by `strategy`, for what was decided on the state and changes nothing of it. */
export const strategyStands = ({ key, version }: StrategyState): Statement =>
  must(
    'strategy',
    sql`select 1 from strategy_positions where trading_account_id = ${key.accountId} and symbol = ${key.symbol}
          and simulation = ${key.simulation} and version = ${version}`,
  );

/** Guarded by `strategy`. `step`: as it was learnt from the broker. */
export const setCompared = (
  { key, version, scale }: StrategyState,
  { driftSince, held, owed }: Compared,
  step = scale.step,
): Statement =>
  must(
    'strategy',
    sql`update strategy_positions set drift_since = ${driftSince}, held = ${held}, compare_at = ${owed?.at ?? null},
          owes_gap = ${owed?.gap ?? false}, step = ${step}, version = ${version + 1}
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
  owed: row.compare_at === null ? null : { at: row.compare_at, gap: Boolean(row.owes_gap) },
  stopped: toStopped(row),
  scale: toScale(row),
});

export const toScale = ({ factor, step }: Pick<StrategyRow, 'factor' | 'step'>): Scale => ({
  factor: factor === null ? ONE : decimal(factor),
  step: decimalOrNull(step),
});

const toStance = (side: StanceSide | null, size: string | null): Stance | null =>
  side === null ? null : { side, size: decimalOrNull(size) };

/** In turn, each with a "!" where nothing was left. */
export const toStopped = ({ stopped }: Pick<StrategyRow, 'stopped'>): Stopped | null => {
  if (stopped === null) return null;
  const parts = stopped.split(' ');
  return {
    quantity: parts.reduce<Decimal>((sum, part) => add(sum, decimal(part.replace('!', ''))), ZERO),
    isAll: parts.at(-1)?.endsWith('!') ?? false,
  };
};

/**
 * Protection has closed so much of what the strategy holds, by its own word, on that side. `at`: when. Who learns it late finds a
 * strategy that has left since and come in again: what it holds now was not closed.
 */
export const noteStopped = (
  { accountId, symbol, simulation }: StrategyKey,
  side: Direction,
  { quantity, isAll }: Stopped,
  at: Timestamp,
): Statement => {
  const part = `${quantity}${isAll ? '!' : ''}`;
  return sql`update strategy_positions set version = version + 1,
        stopped = case when stopped is null then ${part} else stopped || ' ' || ${part} end
      where trading_account_id = ${accountId} and symbol = ${symbol} and simulation = ${simulation} and side = ${side}
        and not (arrived_at > ${at} and before_side is not null and before_side <> ${side})`;
};

/** What protection has closed of it, by then, was the last of it. Nothing was, where its owner or the strategy has said otherwise since. */
export const noteAllStopped = (
  { accountId, symbol, simulation }: StrategyKey,
  side: Direction,
  at: Timestamp,
): Statement =>
  sql`update strategy_positions set version = version + 1, stopped = stopped || ' 0!'
      where trading_account_id = ${accountId} and symbol = ${symbol} and simulation = ${simulation} and side = ${side}
        and stopped is not null and not (arrived_at > ${at} and before_side is not null and before_side <> ${side})`;

/** On purpose: the position is to stand where the strategy does, whatever protection has closed. Guarded by `strategy`. */
export const forgetStopped = ({ key, version }: StrategyState): Statement =>
  must(
    'strategy',
    sql`update strategy_positions set stopped = null, version = ${version + 1}
        where trading_account_id = ${key.accountId} and symbol = ${key.symbol} and simulation = ${key.simulation}
          and version = ${version}`,
  );
