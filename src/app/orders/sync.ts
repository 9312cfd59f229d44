// A `sync`: the strategy reports where it stands, at each bar's close, and trades nothing. It finds a missed last alert,
// and a position that is not the strategy's.

import {
  findStrategy,
  forgetSymbol,
  type StrategyState,
  strategyStands,
} from '../../data/orders/strategies.ts';
import type { Target } from '../../data/orders/targets.ts';
import { newestOrder, symbolsSince, symbolsUnderWay } from '../../data/orders/under-way.ts';
import { type Decimal, ZERO } from '../../domain/decimal.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import type { Order } from '../../domain/orders/order.ts';
import type { Mapping } from '../../domain/signals/mapping.ts';
import type { Signal } from '../../domain/signals/signal.ts';
import { canonicalSymbol } from '../../domain/signals/symbol.ts';
import { towards } from './align.ts';
import { refusalOf } from './entitled.ts';
import { type Heard, type Hearing, keepHeard } from './hear-word.ts';
import type { PlaceOrderDeps } from './place-order.ts';
import { positionFor } from './plan-order.ts';
import { compareLater, keyOf, noteDrift, oweComparison } from './strategy.ts';

export interface Synced {
  readonly inSync: boolean;
  readonly strategyPosition: Decimal | null;
  readonly brokerPosition: Decimal;
  readonly gap: boolean;
  /** Protection has closed what the strategy holds. */
  readonly stoppedOut: boolean;
  /** What aligned the position, where the account follows its strategy. */
  readonly order: Order | null;
}

/** What was found, and, where the account follows its strategy, what it would do for that. */
export interface Report {
  readonly synced: Synced;
  readonly follows: Follows | null;
}

export interface Follows {
  /** By which it was decided: once the strategy has said something else, it is not done. */
  readonly state: StrategyState;
  readonly heard: Heard;
  readonly as: Mapping;
}

/** What it says is kept, also where it is refused; but a rehearsal needs no secret: what is refused of it is not kept. */
export async function hearReport(
  deps: PlaceOrderDeps,
  target: Target,
  hearing: Hearing,
): Promise<Denial | Heard> {
  const { simulation } = hearing;
  const refusal = refusalOf(deps, { ...target, intent: REPORT, simulation });
  if (refusal && simulation) return refusal;
  const heard = await keepHeard(deps.db, hearing);
  return refusal ?? heard;
}

export async function reportStrategy(
  deps: PlaceOrderDeps,
  target: Target,
  hearing: Hearing,
  { notes, stopped, print }: Heard,
): Promise<Denial | Report> {
  const { account, signal, simulation } = hearing;
  const key = keyOf(account, signal.symbol, simulation);
  const isBusy = await watchBook(deps, hearing);
  // By the worker, as an order would read it: a continuous month is the month that it stands for.
  const { factor } = hearing;
  const held = await positionFor(deps, account, { symbol: signal.symbol, simulation, factor });
  if (isDenial(held)) {
    if (await isBusy()) await oweComparison(deps, key);
    return held;
  }
  if ('rejection' in held) {
    await deps.db.commit([forgetSymbol(key)]);
    // There is no order to carry the broker's rejection.
    return deny('webhook_payload_invalid', { detail: held.rejection.message });
  }
  const { position: brokerPosition, step } = held;
  const holding = { key, userId: account.userId, brokerPosition, step, metadata: { found_by: 'sync' } };
  const found = (await isBusy()) ? await compareLater(deps, holding) : await noteDrift(deps, holding);
  const { inSync, strategyPosition } = found;
  const stoppedOut = stopped?.isAll ?? false;
  const synced = { inSync, strategyPosition, brokerPosition, gap: notes.gap, stoppedOut, order: null };
  const asFound = { synced, follows: null };
  if (inSync || account.outOfSync !== 'follow') return asFound;
  // The strategy may have said something else while the broker was asked.
  const state = await findStrategy(deps.db, key);
  if (!state || state.word.print !== print) return asFound;
  const whither = {
    position: strategyPosition ?? ZERO,
    symbol: signal.symbol,
    simulation,
    isUncounted: true,
  };
  const as = towards(deps, target, { ...whither, held: brokerPosition });
  if (isDenial(as)) return asFound;
  return { synced, follows: { state, heard: { notes, unit: [strategyStands(state)] }, as } };
}

/** From now on: whether an order of the symbol was under way at any time. What was read meanwhile is then no position to compare with. */
async function watchBook(
  { db }: Pick<PlaceOrderDeps, 'db'>,
  { account, signal, simulation }: Hearing,
): Promise<() => Promise<boolean>> {
  const book = { userId: account.userId, accountId: account.id, simulation };
  const canonical = (symbol: string) => canonicalSymbol(account.brokerName, symbol);
  const isMeant = (symbol: string) => canonical(symbol) === canonical(signal.symbol);
  const [before, newest] = await Promise.all([symbolsUnderWay(db, book), newestOrder(db, book)]);
  return async () => {
    if (before.some(isMeant)) return true;
    const now = await Promise.all([symbolsUnderWay(db, book), symbolsSince(db, book, newest)]);
    return now.flat().some(isMeant);
  };
}

/** Neither an entry nor counted: whoever may close may report. */
export const REPORT = { operation: 'CLOSE_POSITION', direction: null } as const;

/** It trades nothing, but where the account follows. */
export const isReport = ({ action }: Signal): boolean => action === 'sync';
