// What to send for a signal, given the position held: the spec's auto-reversal table. A position is signed.

import { absolute, type Decimal, negate, sign, smaller } from './decimal.ts';
import type { Direction, LegName, OrderIntent, Side } from './order.ts';

interface PlannedLeg {
  readonly leg: LegName;
  readonly side: Side;
  readonly quantity: Decimal;
  /** A leg that closes must never open the other side, whatever happened since the position was read. */
  readonly reduceOnly: boolean;
}

export interface Plan {
  /** In the order in which they are sent; empty: there is nothing to close. */
  readonly legs: readonly PlannedLeg[];
  readonly autoExit: boolean;
}

const NOTHING: Plan = { legs: [], autoExit: false };

export function planOrder(intent: OrderIntent, quantity: Decimal, position: Decimal): Plan {
  switch (intent.operation) {
    case 'PLACE_ENTRY_ORDER':
      return planEntry(intent.side, quantity, position);
    case 'PLACE_EXIT_ORDER':
      return planExit(intent.direction, quantity, position);
    case 'CLOSE_POSITION':
      return planExit(intent.direction, absolute(position), position);
  }
}

function planEntry(side: Side, quantity: Decimal, position: Decimal): Plan {
  const entry: PlannedLeg = { leg: 'entry', side, quantity, reduceOnly: false };
  const held = sign(position);
  const isOpposite = side === 'buy' ? held < 0 : held > 0;
  if (!isOpposite) return { legs: [entry], autoExit: false };
  return { legs: [closing(side, absolute(position)), entry], autoExit: true };
}

/** Takes at most what is held on that side: an exit never flips a position. */
function planExit(direction: Direction, quantity: Decimal, position: Decimal): Plan {
  const heldThatWay = direction === 'long' ? position : negate(position);
  if (sign(heldThatWay) <= 0) return NOTHING;
  const side = direction === 'long' ? 'sell' : 'buy';
  return { legs: [closing(side, smaller(quantity, heldThatWay))], autoExit: false };
}

const closing = (side: Side, quantity: Decimal): PlannedLeg => ({
  leg: 'exit',
  side,
  quantity,
  reduceOnly: true,
});
