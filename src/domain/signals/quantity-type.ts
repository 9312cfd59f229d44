// What a message's quantity counts.

import type { Decimal } from '../decimal.ts';
import type { OrderIntent } from '../orders/order.ts';
import {
  isOfRisk,
  QUANTITY_TYPES,
  type QuantityType,
  quantityTypeOf,
  whyNotCounted,
} from '../orders/sizing.ts';
import { asksForStop, type Wish } from '../protection/wish.ts';
import { type Problem, shown } from './values.ts';

interface Counting {
  readonly intent: OrderIntent;
  readonly quantity: Decimal;
}

/** Who closes everything, or is told where to stand, has no quantity to count. */
const isCounted = ({ target, operation }: OrderIntent): boolean =>
  !target && (operation === 'PLACE_ENTRY_ORDER' || operation === 'PLACE_EXIT_ORDER');

/** `isUsed`: it means something with this order. */
export function readQuantityType(
  value: unknown,
  { intent, quantity }: Counting,
): { readonly type: QuantityType; readonly isUsed: boolean } | Problem {
  if (value === null || value === undefined) return { type: 'units', isUsed: true };
  const type = typeof value === 'string' ? quantityTypeOf(value) : null;
  // No exit fails for a field that means nothing to it.
  if (!isCounted(intent) && !(intent.target && intent.operation !== 'CLOSE_POSITION'))
    return { type: 'units', isUsed: false };
  if (type === null)
    return { problem: `"quantity_type" is ${shown(value)}: it must be one of ${QUANTITY_TYPES.join(', ')}.` };
  if (intent.target)
    return type === 'units'
      ? { type, isUsed: true }
      : {
          problem:
            '"market_position_size" counts units: leave "quantity_type" out, or leave the sizes out and send "market_position" alone.',
        };
  const isEntry = intent.operation === 'PLACE_ENTRY_ORDER';
  const why = whyNotCounted(type, quantity, { isEntry });
  return why === null ? { type, isUsed: true } : { problem: why };
}

/** `wish`: with what the account fills in from flat. null: it has what it counts from. */
export const whyNoRisk = (type: QuantityType, wish: () => Wish): string | null =>
  isOfRisk(type) && !asksForStop(wish())
    ? `"${type}" counts what is lost at the stop, and there is none. Send "stop_loss" or "trailing_stop" with it.`
    : null;
