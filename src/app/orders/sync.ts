// A `sync`: the strategy reports where it stands, at each bar's close, and trades nothing. It finds a missed last alert,
// and a position that is not the strategy's.

import { findStrategy, strategyStands } from '../../data/orders/strategies.ts';
import type { Target } from '../../data/orders/targets.ts';
import type { Decimal } from '../../domain/decimal.ts';
import { type Denial, deny, isDenial } from '../../domain/denial.ts';
import type { Order } from '../../domain/orders/order.ts';
import type { Signal } from '../../domain/signals/signal.ts';
import { fingerprint } from '../../domain/signals/webhook.ts';
import type { Contested, Placed, PlaceOrderDeps } from './place-order.ts';
import { refusalOf } from './place-order.ts';
import { positionFor } from './plan-order.ts';
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
  const { notes } = await keepHeard(deps.db, hearing);
  if (refusal) return refusal;
  // By the worker, as an order would read it: a continuous month is the month that it stands for.
  const held = await positionFor(deps, account, { symbol: signal.symbol, simulation });
  if (isDenial(held)) return held;
  // There is no order to carry the broker's rejection.
  if ('rejection' in held) return deny('webhook_payload_invalid', { detail: held.rejection.message });
  const key = keyOf(account, signal.symbol, simulation);
  const found = await noteDrift(deps, key, account.userId, held.position, { found_by: 'sync' });
  const { inSync, strategyPosition, brokerPosition } = found;
  const report = { inSync, strategyPosition, brokerPosition, gap: notes.gap, order: null };
  if (inSync || account.outOfSync !== 'follow') return report;
  // The strategy may have said something else while the broker was asked.
  const state = await findStrategy(deps.db, key);
  if (!state || state.word.print !== fingerprint(account.userId, signal)) return report;
  const placed = await place({ notes, unit: [strategyStands(state)] });
  // What is refused, halted or overtaken is not aligned; the report stands.
  return isDenial(placed) || 'contested' in placed ? report : { ...report, order: placed.order };
}

/** Neither an entry nor counted: whoever may close may report. */
export const REPORT = { operation: 'CLOSE_POSITION', direction: null } as const;

/** It trades nothing, but where the account follows. */
export const isReport = ({ action }: Signal): boolean => action === 'sync';
