// What a `sync` left for later, because an order of its symbol was under way, or because it may have overtaken its own alert: the
// broker is asked once nothing is under way any more. It stands in the database, so that it is compared whoever dies.

import { findAccount } from '../../data/accounts/accounts.ts';
import type { Db } from '../../data/engine/db.ts';
import {
  forgetSymbol,
  owedComparisons,
  type StrategyState,
  setCompared,
} from '../../data/orders/strategies.ts';
import { symbolsUnderWay } from '../../data/orders/under-way.ts';
import { isDenial } from '../../domain/denial.ts';
import { millis, timestamp } from '../../domain/ids.ts';
import { canonicalSymbol } from '../../domain/signals/symbol.ts';
import type { AskDeps } from '../accounts/account-broker.ts';
import { OURSELVES } from '../audit/audit.ts';
import { positionFor } from './plan-order.ts';
import { gapNoted, heardAs, noteDrift } from './strategy.ts';

export interface CompareDeps extends AskDeps {
  readonly db: Db;
  readonly clock: { now(): number };
  readonly log: { warn(context: object, text: string): void };
}

const AT_ONCE = 100;
/** Where the broker cannot be asked, or somebody else is at it. */
const AGAIN_MS = 15_000;
/** By then it is no longer what the strategy said that is compared. */
const GIVE_UP_MS = 3_600_000;

/** Returns how many were due. */
export async function compareOwed(deps: CompareDeps): Promise<number> {
  const due = await owedComparisons(deps.db, timestamp(deps.clock.now()), AT_ONCE);
  const compare = (state: StrategyState) =>
    compareOne(deps, state).catch((fault: unknown) =>
      deps.log.warn(
        { fault, ...state.key },
        'what a sync owes could not be compared; it will be tried again',
      ),
    );
  await Promise.all(due.map(compare));
  return due.length;
}

async function compareOne(deps: CompareDeps, state: StrategyState): Promise<void> {
  const { db, clock } = deps;
  const { key, owed } = state;
  const account = await findAccount(db, key.accountId);
  if (!account) return void (await db.commit([setCompared(state, { ...state, owed: null })]));
  const { id: accountId, userId, brokerName } = account;
  const isBusy = async () =>
    (await symbolsUnderWay(db, { userId, accountId, simulation: key.simulation })).some(
      (symbol) => canonicalSymbol(brokerName, symbol) === key.symbol,
    );
  if (await isBusy()) return;

  const now = clock.now();
  const isOver = now - millis(state.arrivedAt) > GIVE_UP_MS;
  // Claimed by its version. What is missed is told now: for that nobody has to be asked.
  const claimed = await db.commit([
    setCompared(state, { ...state, owed: isOver ? null : { at: timestamp(now + AGAIN_MS), gap: false } }),
    ...(owed?.gap ? gapNoted(key, userId, heardAs(state.word), now, OURSELVES) : []),
  ]);
  if (claimed !== null || isOver) return;
  const held = await positionFor(deps, account, { ...key, factor: state.scale.factor });
  if (isDenial(held)) return;
  if ('rejection' in held) return void (await db.commit([forgetSymbol(key)]));
  if (await isBusy()) return;
  const { position: brokerPosition, step } = held;
  const holding = { key, userId, brokerPosition, step, metadata: { found_by: 'sync' } };
  await noteDrift(deps, holding, { settles: true });
}
