// What of a signal or an order can be rehearsed, as an order by hand.

import type { components } from '../../api/schema.ts';
import { type QuantityType, scaled, unitsOf } from '../../parts/sizes.ts';
import { type SignalRecord, understoodOf } from './headline.ts';

type Order = components['schemas']['OrderRecord'];

export interface Wish {
  readonly trading_account_id: string;
  readonly action: Order['action'];
  readonly symbol: string;
  readonly quantity: number | null;
  readonly quantity_type: QuantityType;
  readonly order_type: Order['order_type'];
  /** The strategy said where it stands; an order by hand cannot. */
  readonly hadTarget: boolean;
}

/** null: there is nothing to rehearse, or nothing that can be said without a strategy. */
export function canRehearse(signal: SignalRecord | null, order: Order | null): Wish | null {
  const { action, symbol, trading_account_id } = order ?? signal ?? {};
  // What protection closed, and what only changed it, is nothing that an order could do again.
  if (order?.source === 'protection' || action === 'protect') return null;
  if (!action || !symbol || !trading_account_id || action === 'sync') return null;
  const sized = sizeOf(signal, order);
  // What is lost at a stop cannot be counted without one.
  if (sized.quantity_type.startsWith('risk')) return null;
  return {
    trading_account_id,
    action: action as Order['action'],
    symbol,
    ...sized,
    order_type: order?.order_type ?? null,
    hadTarget: order !== null && order.market_position !== null,
  };
}

/** As many units as were traded; where nobody computed them, what was asked for. */
function sizeOf(signal: SignalRecord | null, order: Order | null): Pick<Wish, 'quantity' | 'quantity_type'> {
  if (order === null) {
    const understood = signal && understoodOf(signal);
    return { quantity: signal?.quantity || null, quantity_type: understood?.quantity_type ?? 'units' };
  }
  const units = unitsOf(order);
  if (units) return { quantity: units, quantity_type: 'units' };
  return { quantity: scaled(order) || null, quantity_type: order.quantity_type };
}
