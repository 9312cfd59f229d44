// A close that the broker refuses, or ends itself: when that is its last word, and what becomes of the order then.

import { compare, subtract, ZERO } from '../decimal.ts';
import { millis } from '../ids.ts';
import { takesBackRest } from './fill.ts';
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

/** It was for now or not at all, and there was nobody to take its rest just then: another moment is another market. */
const isTakenBack = (order: Order, { status }: Leg): boolean =>
  status === 'cancelled' && takesBackRest(order);

/** The broker has ended it, and this is its last word on that close. */
export const isKept = (order: Order, leg: Leg): boolean => isEnded(leg) && !isTakenBack(order, leg);

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
  const isLetGo = (close: Leg) => {
    const sent = order.legs.filter((leg) => isLike(leg, close) && !isUnsent(leg));
    const [before, last] = [sent.at(-2), sent.at(-1)];
    if (last && isTakenBack(order, last)) return true;
    if (isEnded(last)) {
      const isMore = compare(close.quantity, subtract(last.quantity, last.fillQuantity ?? ZERO)) > 0;
      const isAskedAgain = order.awaitsRest && able.reduceOnly && !isEnded(before);
      return isMore || isAskedAgain;
    }
    const [first, ...more] = refusals(order, close);
    return more.length < 2 || first?.sentAt == null || now - millis(first.sentAt) <= lagMs;
  };
  const closes = planned.legs.filter((leg) => leg.leg === 'exit' && isUnsent(leg));
  return closes.filter((close) => !isLetGo(close)).map(({ instrument }) => instrument);
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

/**
 * A close that was refused is not sent again in the same moment: once it is asked at once whether there still is something to close. Nor is
 * one whose rest was taken back.
 */
export function beforeNextClose(
  order: Order,
  { opposed }: Pick<Facts, 'opposed'>,
): { readonly afterMs: number; readonly rests: boolean } {
  const rounds = opposed ? opposed.times - 1 : roundsSoFar(order);
  return rounds < 1 ? AT_ONCE : { afterMs: beforeRound(rounds), rests: true };
}

function roundsSoFar(order: Order): number {
  const last = order.legs.findLast((leg) => !isUnsent(leg));
  if (last?.leg !== 'exit') return 0;
  const isBack = isTakenBack(order, last);
  if (last.status !== 'rejected' && !isBack) return 0;
  const back = order.legs.filter((leg) => isLike(leg, last) && isTakenBack(order, leg));
  const times = refusals(order, last).length + back.length;
  return isBack ? times : times - 1;
}

/** By its deadline it has closed a part, or nothing, and what was left was taken back each time. */
export const endsTakenBack = (order: Order): boolean => {
  const last = order.legs.findLast((leg) => !isUnsent(leg));
  return last?.leg === 'exit' && isTakenBack(order, last);
};
