// What a word of a strategy, or of a person, means for an order: the spec's tables. A signal that says two things is refused, never
// guessed.

import { type Decimal, sign, ZERO } from '../decimal.ts';
import type { Action, Direction, OrderIntent, OrderType, Side } from '../orders/order.ts';
import { sideTowards } from '../orders/position.ts';
import { cancelling } from './priced-fields.ts';
import { positionOf, type Stance } from './strategy.ts';
import { missing } from './values.ts';

export type Mapping = { readonly intent: OrderIntent; readonly orderType: OrderType | null };

/** Where the strategy stands afterwards decides between entry, exit and close; with its size also how much is traded. */
export function mapStance(
  action: Action,
  orderType: OrderType | null,
  stance: Stance,
  { follow, isSized }: { readonly follow: boolean; readonly isSized: boolean },
): Mapping | { readonly problem: string } {
  if (action !== 'buy' && action !== 'sell' && action !== 'sync')
    return {
      problem: `"market_position" does not go with the action ${action}: send buy, sell or sync, or leave it out.`,
    };
  if (orderType !== null)
    return { problem: '"order_type" does not go with "market_position", which decides it: leave one out.' };
  const position = positionOf(stance);
  // Flat has its size by itself; who reports where it stands says both.
  if (action === 'sync')
    return position === null || !isSized
      ? missing('market_position_size', 'where the strategy stands')
      : alignment(position);
  const opens = follow ? null : action;
  const target = position === null ? {} : { target: { position, opens } };
  if (stance.side === 'flat')
    return { intent: { operation: 'CLOSE_POSITION', direction: null, ...target }, orderType: null };
  const isEntry = stance.side === (action === 'buy' ? 'long' : 'short');
  const { intent, orderType: type } = isEntry ? entry(action) : exit(stance.side);
  return { intent: { ...intent, ...target }, orderType: type };
}

/** Moves the position to where the strategy stands, whatever has to be traded for it. */
export function alignment(position: Decimal): Mapping {
  const target = { position, opens: null };
  return sign(position) === 0
    ? { intent: { operation: 'CLOSE_POSITION', direction: null, target }, orderType: null }
    : { intent: { ...entry(sideTowards(position)).intent, target }, orderType: 'entry' };
}

/** As far as that closes something: what exceeds or contradicts. Nothing is opened. */
export function reduction(position: Decimal): Mapping {
  const { intent } = alignment(position);
  if (intent.operation !== 'PLACE_ENTRY_ORDER') return alignment(position);
  const opens = intent.side === 'buy' ? 'sell' : 'buy';
  const { intent: leaving } = exit(intent.side === 'buy' ? 'long' : 'short');
  return { intent: { ...leaving, target: { position, opens } }, orderType: 'exit' };
}

export function mapAction(
  action: Action,
  orderType: OrderType | null,
): Mapping | { readonly problem: string } {
  switch (action) {
    case 'buy':
    case 'sell':
      return orderType === 'exit' ? exit(action === 'buy' ? 'short' : 'long') : entry(action);
    case 'close':
      if (orderType === 'entry') return { problem: '"order_type" entry contradicts the action close.' };
      return alignment(ZERO);
    case 'sync':
      return missing('market_position', 'where the strategy stands, with its size');
    case 'protect':
      if (orderType === 'entry') return { problem: '"order_type" entry contradicts the action protect.' };
      return { intent: { operation: 'PROTECT_POSITION', direction: null }, orderType: null };
    case 'cancel':
      if (orderType !== null)
        return { problem: '"order_type" does not go with the action cancel: leave it out.' };
      return { intent: cancelling(null), orderType: null };
    case 'close_long':
    case 'close_short':
      return {
        intent: { operation: 'CLOSE_POSITION', direction: action === 'close_long' ? 'long' : 'short' },
        orderType: null,
      };
    case 'long_entry':
    case 'short_entry':
      if (orderType === 'exit') return { problem: `"order_type" exit contradicts the action ${action}.` };
      return entry(action === 'long_entry' ? 'buy' : 'sell');
    case 'long_exit':
    case 'short_exit':
      if (orderType === 'entry') return { problem: `"order_type" entry contradicts the action ${action}.` };
      return exit(action === 'long_exit' ? 'long' : 'short');
  }
}

const entry = (side: Side): Mapping => ({
  intent: { operation: 'PLACE_ENTRY_ORDER', side },
  orderType: 'entry',
});

const exit = (direction: Direction): Mapping => ({
  intent: { operation: 'PLACE_EXIT_ORDER', direction },
  orderType: 'exit',
});
