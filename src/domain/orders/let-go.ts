// A close that the broker refuses, or ends itself: when that is its last word, and what becomes of the order then.

import { millis } from '../ids.ts';
import { type Leg, moveTo, type Order } from './order.ts';
import { endedByBroker, isDoubtful, stillHeld, stopped } from './outcome.ts';
import { beforeRound } from './patience.ts';
import { type Holding, heldInAll } from './position.ts';
import type { Facts, Rules } from './step.ts';

export const AT_ONCE = { afterMs: 0, rests: false } as const;

export const isUnsent = ({ status }: Leg): boolean => status === 'planned';

const refusals = ({ legs }: Order, instrument: string | null): readonly Leg[] =>
  legs.filter((leg) => leg.leg === 'exit' && leg.instrument === instrument && leg.status === 'rejected');

/**
 * Instruments of which the broker has said its last word: it ended the close, or refuses it again and again. "Nothing to close",
 * while a position is shown, is its last word only when that may no longer lag behind somebody else's trade.
 */
export function keptByBroker(order: Order, { now }: Facts, { lagMs }: Rules): (string | null)[] {
  const isKept = ({ leg, status, instrument }: Leg) => {
    if (leg !== 'exit') return false;
    if (status === 'cancelled' || status === 'failed') return true;
    const [first, ...more] = refusals(order, instrument);
    return more.length > 1 && first?.sentAt != null && now - millis(first.sentAt) > lagMs;
  };
  return order.legs.filter(isKept).map(({ instrument }) => instrument);
}

/** What is held and the broker does not let go. */
export function refusedFor(order: Order, held: readonly Holding[]): Order {
  const asked = { ...order, legs: order.legs.filter((leg) => !isUnsent(leg)) };
  const last = asked.legs.findLast(({ leg }) => leg === 'exit');
  const isEnded = last?.status === 'cancelled' || last?.status === 'failed';
  if (isEnded && last) return moveTo(asked, last.status, { error: order.exitError ?? endedByBroker(last) });
  const { exitError } = order;
  return stopped(
    asked,
    'rejected',
    exitError && !isDoubtful(exitError) ? exitError : stillHeld(order, heldInAll(held)),
  );
}

/** A close that was refused is not sent again in the same moment. */
export function afterRefusals(order: Order): { readonly afterMs: number; readonly rests: boolean } {
  const last = order.legs.findLast((leg) => !isUnsent(leg));
  if (last?.leg !== 'exit' || last.status !== 'rejected') return AT_ONCE;
  const times = refusals(order, last.instrument).length;
  return times < 2 ? AT_ONCE : { afterMs: beforeRound(times - 1), rests: true };
}
