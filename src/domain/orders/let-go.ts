// A close that the broker refuses, or ends itself: when that is its last word, and what becomes of the order then.

import { compare, subtract, ZERO } from '../decimal.ts';
import { millis } from '../ids.ts';
import { type Leg, moveTo, type Order } from './order.ts';
import { endedByBroker, isDoubtful, stillHeld, stopped } from './outcome.ts';
import { beforeRound } from './patience.ts';
import { type Holding, heldInAll } from './position.ts';
import type { Facts, Rules } from './step.ts';

export const AT_ONCE = { afterMs: 0, rests: false } as const;

export const isUnsent = ({ status }: Leg): boolean => status === 'planned';

type Close = Pick<Leg, 'instrument' | 'side'>;

const isLike = (leg: Leg, { instrument, side }: Close): boolean =>
  leg.leg === 'exit' && leg.instrument === instrument && leg.side === side;

/** By the broker, and not by its fill. */
const isEnded = (leg: Leg | undefined): leg is Leg & { readonly status: 'cancelled' | 'failed' } =>
  leg?.status === 'cancelled' || leg?.status === 'failed';

const refusals = ({ legs }: Order, close: Close): readonly Leg[] =>
  legs.filter((leg) => isLike(leg, close) && leg.status === 'rejected');

/**
 * Instruments of which the broker has said its last word on what is still to be closed there: it ended the close, or refuses it again and
 * again. What has come since to what an ended close had left is another matter; and where more was awaited it is asked once more, because
 * what a stop had taken first looks as if it were kept. "Nothing to close", while a position is shown, is its last word only when that may
 * no longer lag behind somebody else's trade.
 */
export function keptByBroker(
  planned: Pick<Order, 'legs'>,
  order: Order,
  { now, able }: Facts,
  { lagMs }: Rules,
): (string | null)[] {
  const isKept = (close: Leg) => {
    const sent = order.legs.filter((leg) => isLike(leg, close) && !isUnsent(leg));
    const [before, last] = [sent.at(-2), sent.at(-1)];
    if (isEnded(last)) {
      const isMore = compare(close.quantity, subtract(last.quantity, last.fillQuantity ?? ZERO)) > 0;
      const isAskedAgain = order.awaitsRest && able.reduceOnly && !isEnded(before);
      return !isMore && !isAskedAgain;
    }
    const [first, ...more] = refusals(order, close);
    return more.length > 1 && first?.sentAt != null && now - millis(first.sentAt) > lagMs;
  };
  const closes = planned.legs.filter((leg) => leg.leg === 'exit' && isUnsent(leg));
  return closes.filter(isKept).map(({ instrument }) => instrument);
}

/** What is held and the broker does not let go. */
export function refusedFor(order: Order, held: readonly Holding[]): Order {
  const asked = { ...order, legs: order.legs.filter((leg) => !isUnsent(leg)) };
  const last = asked.legs.findLast(({ leg }) => leg === 'exit');
  if (isEnded(last)) return moveTo(asked, last.status, { error: order.exitError ?? endedByBroker(last) });
  const { exitError } = order;
  return stopped(
    asked,
    'rejected',
    exitError && !isDoubtful(exitError) ? exitError : stillHeld(order, heldInAll(held)),
  );
}

/** A close that was refused is not sent again in the same moment. */
export function afterRefusals(
  order: Order,
  { opposed }: Pick<Facts, 'opposed'>,
): { readonly afterMs: number; readonly rests: boolean } {
  const last = order.legs.findLast((leg) => !isUnsent(leg));
  const isRefused = last?.leg === 'exit' && last.status === 'rejected';
  const times = opposed?.times ?? (isRefused ? refusals(order, last).length : 0);
  return times < 2 ? AT_ONCE : { afterMs: beforeRound(times - 1), rests: true };
}
