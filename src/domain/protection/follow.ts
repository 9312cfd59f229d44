// How a stop gets better by itself: it follows the price, or goes to where nothing is lost. It never goes back.

import { add, compare, type Decimal, decimal, downTo, multiply, subtract } from '../decimal.ts';
import { millis, timestamp } from '../ids.ts';
import type { Direction } from '../side.ts';
import { isBetter, type Protection, type StopKind } from './protection.ts';

/** A tenth of the distance: less is not worth a call. */
const LEAST_PART = decimal('0.1');
const MOST_OFTEN_MS = 5_000;

/** The price at which the position could be closed now. */
export interface Quoted {
  readonly bid: Decimal;
  readonly ask: Decimal;
}

export const priceFor = (side: Direction, { bid, ask }: Quoted): Decimal => (side === 'long' ? bid : ask);

/** Nothing more can be decided without a price. */
export const followsPrice = ({ trail, breakEven }: Protection): boolean =>
  trail !== null || (breakEven !== null && breakEven.at !== 'tp1');

/** As it is wanted now that the price is this; the same object where nothing changes. */
export function follow(protection: Protection, quoted: Quoted, tick: Decimal, now: number): Protection {
  const price = priceFor(protection.side, quoted);
  return trailed(brokenEven(protection, price), price, tick, now);
}

/** Where the first target has been filled, no price is needed. */
export function brokenEven(protection: Protection, price: Decimal | null): Protection {
  const { side, breakEven, targets } = protection;
  if (breakEven === null) return protection;
  const { at, to } = breakEven;
  const isThere =
    at === 'tp1'
      ? (targets[0]?.isFilled ?? false)
      : price !== null && (price === at || isBetter(side, price, at));
  return isThere ? { ...improved(protection, to, 'break_even'), breakEven: null } : protection;
}

function trailed(protection: Protection, price: Decimal, tick: Decimal, now: number): Protection {
  const { side, trail, stop, movedAt } = protection;
  if (trail === null) return protection;
  const { distance, activateAt } = trail;
  const isActive = activateAt === null || price === activateAt || isBetter(side, price, activateAt);
  if (!isActive) return protection;
  const isNew = isBetter(side, price, trail.best);
  const best = isNew ? price : trail.best;
  const seen =
    isNew || activateAt !== null
      ? { ...protection, trail: { ...trail, best, activateAt: null } }
      : protection;
  // It follows from the first price that is better than the entry.
  if (!isNew && trail.best === trail.from) return seen;
  // On the tick, and never nearer than asked for.
  const to = side === 'long' ? downTo(subtract(best, distance), tick) : upTo(add(best, distance), tick);
  const step = stop === null ? null : side === 'long' ? subtract(to, stop.price) : subtract(stop.price, to);
  const isFar =
    step === null || (compare(step, tick) >= 0 && compare(step, multiply(distance, LEAST_PART)) >= 0);
  const isSoon = movedAt !== null && now - millis(movedAt) < MOST_OFTEN_MS;
  if (!isFar || isSoon) return seen;
  const moved = improved(seen, to, 'trailing_stop');
  return moved === seen ? seen : { ...moved, movedAt: timestamp(now) };
}

const upTo = (amount: Decimal, step: Decimal): Decimal => {
  const below = downTo(amount, step);
  return below === amount ? amount : add(below, step);
};

/** Only ever towards the profit. */
function improved(protection: Protection, price: Decimal, kind: StopKind): Protection {
  const { side, stop } = protection;
  return stop === null || isBetter(side, price, stop.price)
    ? { ...protection, stop: { price, kind } }
    : protection;
}
