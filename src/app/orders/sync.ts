// A `sync`: the strategy reports where it stands, at each bar's close, and trades nothing. It finds a missed last alert,
// and a position that is not the strategy's.

import type { Target } from '../../data/targets.ts';
import { type Decimal, ZERO } from '../../domain/decimal.ts';
import { type Denial, isDenial } from '../../domain/denial.ts';
import type { Order } from '../../domain/order.ts';
import { canonicalSymbol } from '../../domain/symbol.ts';
import { heldPositions } from '../accounts/account-broker.ts';
import { type Contested, type Placed, type PlaceOrderDeps, refusalOf } from './place-order.ts';
import { type Heard, type Hearing, keepHeard, keyOf, noteDrift } from './strategy.ts';

export interface Synced {
  readonly inSync: boolean;
  readonly strategyPosition: Decimal | null;
  readonly brokerPosition: Decimal;
  readonly gap: boolean;
  /** What aligned the position, where the account follows its strategy. */
  readonly order: Order | null;
}

interface Sync {
  readonly target: Target;
  readonly hearing: Hearing;
  place(heard: Heard): Promise<Denial | Contested | Placed>;
}

export async function syncStrategy(
  deps: PlaceOrderDeps,
  { target, hearing, place }: Sync,
): Promise<Denial | Synced> {
  const { account, signal, simulation } = hearing;
  const refusal = refusalOf(deps, { ...target, intent: REPORT, simulation });
  if (refusal) {
    await keepHeard(deps.db, hearing);
    return refusal;
  }
  const { notes } = await keepHeard(deps.db, hearing);
  const positions = await heldPositions(deps, account.userId, account.id, { simulation });
  if (isDenial(positions)) return positions;
  const key = keyOf(account, signal.symbol, simulation);
  const held = positions.find(({ symbol }) => canonicalSymbol(account.brokerName, symbol) === key.symbol);
  const { inSync, strategyPosition, brokerPosition } = await noteDrift(
    deps,
    key,
    account.userId,
    held?.quantity ?? ZERO,
    { found_by: 'sync' },
  );
  const found = { inSync, strategyPosition, brokerPosition, gap: notes.gap };
  if (inSync || account.outOfSync !== 'follow' || notes.superseded) return { ...found, order: null };
  const placed = await place({ notes, unit: [] });
  if (isDenial(placed)) return placed;
  return { ...found, order: 'contested' in placed ? null : placed.order };
}

/** Neither an entry nor counted: whoever may close may report. */
const REPORT = { operation: 'CLOSE_POSITION', direction: null } as const;
