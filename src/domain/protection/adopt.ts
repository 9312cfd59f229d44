// What an order asks for becomes what is wanted: levels become prices once it is known what the position was opened at.

import { type Decimal, sign, ZERO } from '../decimal.ts';
import { millis, type OrderId, type Timestamp, timestamp } from '../ids.ts';
import { hasEnded, type Order } from '../orders/order.ts';
import type { Direction } from '../side.ts';
import { type Distance, distanceOf, type Entry, type Level, priceOf } from './level.ts';
import {
  type BreakEven,
  FORMER_TARGET,
  isBetter,
  type Protection,
  type ProtectiveLeg,
  type StopKind,
  type Trail,
  type WantedStop,
  type WantedTarget,
} from './protection.ts';
import { timeStopAt } from './time-stop.ts';
import { breakEvenPrice, isGiven, type Wish } from './wish.ts';

/** What it is made of: the order, at which price it was filled, and when first. */
export interface Ground extends Entry {
  readonly order: OrderId;
  readonly filledAt: number;
}

/** Nothing was held on its side before. */
export const opensAnew = ({ positionBefore, legs }: Pick<Order, 'positionBefore' | 'legs'>): boolean => {
  const entry = legs.findLast(({ leg }) => leg === 'entry');
  return (
    entry !== undefined &&
    (positionBefore === null || sign(positionBefore) !== (entry.side === 'buy' ? 1 : -1))
  );
};

/**
 * Whose wishes are to be taken in, as they were sent: what an earlier order has filled may be known later. One that was sent before whose
 * wish was taken in last waits until its end is known, and is not taken in twice: what it asked for may have moved since.
 */
export function toTakeIn(
  { wantedBy, adopted, heard }: Pick<Protection, 'wantedBy' | 'adopted' | 'heard'>,
  orders: readonly Order[],
): readonly Order[] {
  const last = orders.find(({ id }) => id === adopted?.order);
  const isOver = (order: Order) =>
    isBehind(order, last) && (!hasEnded(order.status) || heard.includes(order.id));
  return orders
    .filter((order) => wantedBy.includes(order.id) && !isOver(order))
    .toSorted((a, b) => sentAt(a) - sentAt(b));
}

/** It was sent before the one whose wish was taken in last. */
export function isBehind<Last extends Order | undefined>(order: Order, last: Last): last is Last & Order {
  return last !== undefined && order.id !== last.id && sentAt(order) < sentAt(last);
}

/**
 * It opened a position where another one had been. `before`: the order whose wish was taken in last; one that was filled only after this
 * one had been sent has brought the same position.
 */
export const beginsAnew = (order: Order, before: Order | undefined): boolean =>
  opensAnew(order) && before?.id !== order.id && !(before && isFilledAfter(before, sentAt(order)));

const isFilledAfter = (order: Order, at: number): boolean => {
  const filledAt = firstFillOf(order) ?? order.filledAt;
  return filledAt !== null && millis(filledAt) > at;
};

/** When something of its entry was first known to be filled; null: of one that was not, or nobody noted it. */
export const firstFillOf = ({ legs }: Pick<Order, 'legs'>): Timestamp | null =>
  legs.findLast(({ leg }) => leg === 'entry')?.filledAt ?? null;

/** What trades nothing counts from when it was done. */
export const sentAt = ({ legs, filledAt, submittedAt }: Order): number =>
  millis(legs.findLast(({ leg }) => leg === 'entry')?.sentAt ?? filledAt ?? submittedAt);

/** Of a position that was closed nothing is wanted any more: its legs leave, and whoever opens the next one sets it anew. */
export const anew = (protection: Protection): Protection => ({
  ...protection,
  adopted: null,
  heard: [],
  unpriced: [],
  stop: null,
  targets: [],
  trail: null,
  breakEven: null,
  timeStopAt: null,
  refused: null,
  restoredAt: [],
  targetsRestoredAt: [],
  expiredAt: [],
  targetsAgainAt: null,
  movedAt: null,
  closesFor: null,
  legs: protection.legs.map(former),
});

/** Of what may be of another position the stop stays alone: in doubt that protects, and all else closes what nobody wanted closed. */
export const stopAlone = (protection: Protection): Protection => ({
  ...protection,
  heard: [],
  unpriced: [],
  targets: [],
  trail: null,
  breakEven: null,
  timeStopAt: null,
  targetsRestoredAt: [],
  targetsAgainAt: null,
  closesFor: null,
  legs: protection.legs.map((leg) => (leg.level > 0 ? former(leg) : leg)),
});

/** What a leg of former targets has filled is none of the new ones'. */
const former = (leg: ProtectiveLeg): ProtectiveLeg => ({
  ...leg,
  level: leg.level > 0 ? FORMER_TARGET : leg.level,
  isLeaving: true,
});

/** A part that is given replaces, one that is absent leaves what stands, and "none" removes. */
export function adopt(protection: Protection, wish: Wish, ground: Ground): Protection {
  const { adopted } = protection;
  if (adopted?.order === ground.order)
    return adopted.entry === ground.entry ? protection : adjusted(protection, wish, ground);
  const { side } = protection;
  const trail = replaced(wish.trail, protection.trail, (asked) => trailOf(asked, side, ground));
  const stop = replaced(wish.stop, protection.stop, (level) => stopAt(level, side, ground));
  return {
    ...protection,
    setBy: ground.order,
    adopted: { order: ground.order, entry: ground.entry },
    heard: [...protection.heard, ground.order],
    stop: stop ?? (trail && stopOfTrail(trail, protection, ground.tick, isGiven(wish.trail))),
    trail,
    targets: replaced(wish.targets, protection.targets, (all) => targetsOf(all, side, ground)) ?? [],
    breakEven: replaced(wish.breakEven, protection.breakEven, (asked) => breakEvenOf(asked, side, ground)),
    timeStopAt: replaced(wish.timeStop, protection.timeStopAt, (asked) =>
      timestamp(timeStopAt(asked, ground.filledAt)),
    ),
    // Where nothing protects yet another one is tried at once, and puts nothing off: who adds again and again would hold for ever what
    // nobody protects.
    refused: protection.refused && protection.unprotectedSince ? { ...protection.refused, times: 0 } : null,
    // Whoever sets it anew has seen what there was.
    restoredAt: [],
    targetsRestoredAt: [],
    expiredAt: [],
    legs:
      wish.targets === undefined
        ? protection.legs
        : protection.legs.map((leg) => (leg.level > 0 ? former(leg) : leg)),
    targetsAgainAt: null,
    // Nor is it closed for a stop that another one, or none, has taken the place of. Where that one is passed too, it is closed for it.
    closesFor: wish.stop === undefined && !isGiven(wish.trail) ? protection.closesFor : null,
  };
}

/**
 * What an order asks for is known after the wish of a later one was taken in: what that one gave counts on, and a stop that has moved by itself
 * does not go back.
 */
export function adoptBehind(protection: Protection, wish: Wish, later: Wish, ground: Ground): Protection {
  const isLeft = ([part]: [string, unknown]) => later[part as keyof Wish] === undefined;
  const after = adopt(protection, Object.fromEntries(Object.entries(wish).filter(isLeft)), ground);
  const { adopted, setBy, stop, side, closesFor } = protection;
  const isKept =
    stop !== null &&
    stop.kind !== 'stop_loss' &&
    after.stop !== null &&
    isBetter(side, stop.price, after.stop.price);
  return { ...after, adopted, setBy, ...(isKept && { stop, closesFor }) };
}

/** The same order, at its end: its average has changed a little, and what counts from it does too. What has moved since stays. */
function adjusted(protection: Protection, wish: Wish, ground: Ground): Protection {
  const { side, adopted, stop, trail, targets, breakEven } = protection;
  const before = adopted && { ...ground, entry: adopted.entry };
  const [was, is] = [before && wantedStop(wish, side, before), wantedStop(wish, side, ground)];
  const isUnmoved = stop !== null && was !== null && was?.price === stop.price;
  const prices = isGiven(wish.targets) ? targetsOf(wish.targets, side, ground) : [];
  return {
    ...protection,
    adopted: { order: ground.order, entry: ground.entry },
    stop: isUnmoved && is ? is : stop,
    trail: trail && isGiven(wish.trail) ? bestOf(trail, trailOf(wish.trail, side, ground), side) : trail,
    targets: targets.map((target, index) =>
      target.isFilled ? target : { ...target, price: prices[index]?.price ?? target.price },
    ),
    breakEven: breakEven && isGiven(wish.breakEven) ? breakEvenOf(wish.breakEven, side, ground) : breakEven,
  };
}

const wantedStop = (wish: Wish, side: Direction, ground: Ground): WantedStop | null =>
  isGiven(wish.stop)
    ? stopAt(wish.stop, side, ground)
    : isGiven(wish.trail)
      ? stopBehind(trailOf(wish.trail, side, ground), side, ground.tick)
      : null;

function replaced<Asked, Wanted>(
  part: Asked | 'none' | undefined,
  before: Wanted | null,
  made: (asked: Asked) => Wanted,
): Wanted | null {
  if (part === undefined) return before;
  return isGiven(part) ? made(part) : null;
}

/** Where the distance leads below zero, as far as it goes. */
const stopAt = (level: Level, side: Direction, { entry, tick }: Ground): WantedStop => ({
  price: priceOf(level, { leg: 'stop', side, entry, tick }) ?? tick,
  kind: 'stop_loss',
});

/** Where the trail has it: at its distance from the best price it has seen, which is the entry at first. */
const stopBehind = ({ distance, best }: Trail, side: Direction, tick: Decimal): WantedStop => ({
  price: priceOf({ unit: 'points', value: distance }, { leg: 'stop', side, entry: best, tick }) ?? tick,
  kind: 'trailing_stop' satisfies StopKind,
});

/**
 * What trails has a stop, whatever is said of another one. Where a trail has brought it nearer already, it does not go back. `isAsked`: the
 * trail is given now; one that has not begun to follow brings no stop nearer because that one is taken away.
 */
export function stopOfTrail(
  trail: Trail,
  { side, stop }: Pick<Protection, 'side' | 'stop'>,
  tick: Decimal,
  isAsked: boolean,
): WantedStop {
  const behind = stopBehind(trail, side, tick);
  if (stop === null) return behind;
  const hasBegun = trail.activateAt === null && trail.best !== trail.from;
  if (!isAsked && !hasBegun) return isBetter(side, behind.price, stop.price) ? stop : behind;
  return stop.kind === 'trailing_stop' && isBetter(side, stop.price, behind.price) ? stop : behind;
}

const trailOf = (
  { distance, activateAt }: { readonly distance: Distance; readonly activateAt: Level | null },
  side: Direction,
  { entry, tick }: Ground,
): Trail => ({
  distance: distanceOf(distance, { entry, tick }),
  activateAt: activateAt && priceOf(activateAt, { leg: 'target', side, entry, tick }),
  from: entry,
  best: entry,
});

/** What was seen since the first fill counts on. */
const bestOf = (seen: Trail, anew: Trail, side: Direction): Trail => ({
  ...anew,
  activateAt: seen.activateAt === null ? null : anew.activateAt,
  best: isBetter(side, seen.best, anew.best) ? seen.best : anew.best,
});

const targetsOf = (
  targets: readonly { readonly at: Level; readonly percent: Decimal }[],
  side: Direction,
  { entry, tick }: Ground,
): readonly WantedTarget[] =>
  targets.map(({ at, percent }) => ({
    price: priceOf(at, { leg: 'target', side, entry, tick }) ?? tick,
    percent,
    closed: ZERO,
    isFilled: false,
  }));

const breakEvenOf = (
  asked: Parameters<typeof breakEvenPrice>[0],
  side: Direction,
  { entry, tick }: Ground,
): BreakEven => ({
  at: asked.at === 'tp1' ? 'tp1' : (priceOf(asked.at, { leg: 'target', side, entry, tick }) ?? entry),
  to: breakEvenPrice(asked, { side, entry, tick }) ?? entry,
});
