// An entry that rests, as the Trade drawer begins with it: sent under the same name, the next one takes its place.

import type { TradeDraft } from '../drafts.ts';
import { minus } from '../exact.ts';
import { type Resting, sideOf, unitsOf } from './words.ts';

export function draftOf(order: Resting): TradeDraft {
  const { limit_price, stop_price, time_in_force, expires_at, entry_id } = order;
  const lasts = expires_at === null ? null : Date.parse(expires_at) - Date.parse(order.submitted_at);
  return {
    accountId: order.trading_account_id,
    symbol: order.symbol,
    action: sideOf(order),
    // What was filled stays.
    quantity: minus(unitsOf(order), order.fill_quantity ?? 0),
    orderType: 'entry',
    simulation: order.simulation,
    ...(limit_price !== null && { limitPrice: limit_price }),
    ...(stop_price !== null && { stopPrice: stop_price }),
    ...(time_in_force !== null && { timeInForce: time_in_force }),
    ...(lasts !== null && { expiresIn: Math.round(lasts / 1000) }),
    ...(entry_id !== null && { name: entry_id }),
    dropsProtection: order.protection !== null,
  };
}
