// What has become of what waits. A price is known for every moment, so whoever looks goes along it from where the last one
// stopped, second by second, and does what an exchange would have done at each: the same whoever looks, and whenever. After its
// first day, what waits is looked at minute by minute. A foreign market has no past: its price is that of the look.

import Big from 'big.js';
import { type Decimal, sign, smaller, ZERO } from '../../domain/decimal.ts';
import { type ClientOrderId, millis, timestamp } from '../../domain/ids.ts';
import { isResting, listedNow, reducible, unfilled, waits } from './book.ts';
import type { Book, BookChange, PaperOrder, PaperStop } from './ledger.ts';
import type { Listing } from './market.ts';
import {
  changeOf,
  type Draft,
  draftOf,
  dueAt,
  endIdle,
  endOrder,
  endStop,
  fillable,
  isStopReached,
  isUnchanged,
  isWithinLimit,
  keepOrder,
  keepStop,
  LEFT,
  listingOf,
  matchInBook,
  matchNow,
} from './matching.ts';
import { rehearse } from './rejections.ts';
import { brokerRef, type Moment, type Rules, sessionOf, walkedTo } from './rules.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export interface Settled {
  readonly book: Book;
  /** null: there is nothing to write. */
  readonly change: BookChange | null;
}

/** Somebody looks; or nobody does, and it is written down that prices were looked at up to here, for they are to change. */
export function settle(book: Book, rules: Rules, moment: Moment, isLook = true): Settled {
  const draft = draftOf(book);
  walk(draft, rules, moment);
  if (isLook) lookAround(draft, rules, moment);
  // Whoever comes next, perhaps after a restart, is not to go along all of it again.
  const isLong = book.walkedTo !== null && moment.now - millis(book.walkedTo) > HOUR;
  if (isUnchanged(draft) && !(waits(book) && (!isLook || isLong)))
    return { book: walkedTo(book, timestamp(moment.now)), change: null };
  const change = changeOf(draft, moment.now);
  return { book: change.book, change };
}

/** What the settings say, at each look, of orders that rest and stops that stand. */
function lookAround(draft: Draft, rules: Rules, moment: Moment): void {
  const { now } = moment;
  const { fill, protection } = rules.settings;
  const end = (order: PaperOrder, status: 'cancelled' | 'failed', reason: string) =>
    keepOrder(draft, endOrder(order, status, reason, now), now);
  for (const order of draft.book.resting) {
    if (fill === 'never' || now < dueAt(order, rules)) continue;
    const listing = listingOf(draft.book, order);
    if (fill === 'cancel') end(order, 'cancelled', 'cancelled by the paper exchange');
    else if (fill === 'fail') end(order, 'failed', 'failed at the paper exchange');
    else if (!listing) end(order, 'cancelled', `${order.symbol} is no longer listed`);
    else if (order.limit === null && order.trigger === null)
      matchInBook(draft, order, listing, rules, moment);
  }
  if (protection !== 'vanish') return;
  for (const stop of draft.book.stops)
    keepStop(draft, endStop(stop, 'cancelled', 'vanished from the paper exchange', now));
}

/** Something that waits for a price. */
interface Watch {
  /** Since when. */
  readonly since: number;
  /** Of a foreign market: at the look alone. */
  readonly isForeign: boolean;
  isReached(at: number): boolean;
  act(moment: Moment): void;
}

/** What is reached on the way to this moment, in the order in which it is. */
export function walk(draft: Draft, rules: Rules, moment: Moment): void {
  const { walkedTo: from } = draft.book;
  if (from === null) return;
  let watches = watchesOf(draft, rules, moment);

  function stopAt(at: number, isSeen: (watch: Watch) => boolean): void {
    const next = () => watches.find((watch) => isSeen(watch) && watch.isReached(at));
    for (let reached = next(); reached; reached = next()) {
      const before = draft.book;
      reached.act(momentAt(moment, at));
      const isDone = draft.book !== before;
      watches = isDone ? watchesOf(draft, rules, moment) : watches.filter((watch) => watch !== reached);
    }
  }

  const isAlongThePath = ({ isForeign }: Watch) => !isForeign;
  for (let at = stepAfter(millis(from), watches); at <= moment.now; at = stepAfter(at, watches)) {
    if (!watches.some(isAlongThePath)) break;
    stopAt(at, (watch) => isAlongThePath(watch) && isLookedAt(watch, at));
  }
  stopAt(moment.now, (watch) => watch.isForeign || moment.isJump === true);
}

/** On the whole second or minute, whatever moment the last look was: so all looks together see what one would. */
function stepAfter(at: number, watches: readonly Watch[]): number {
  const isSecond = watches.some(({ since, isForeign }) => !isForeign && at + SECOND - since <= DAY);
  const step = isSecond ? SECOND : MINUTE;
  return (Math.floor(at / step) + 1) * step;
}

const isLookedAt = ({ since }: Watch, at: number): boolean =>
  at > since && (at - since <= DAY || at % MINUTE === 0);

const momentAt = (moment: Moment, at: number): Moment => ({
  ...moment,
  now: at,
  quotes: (listing) => moment.path(listing)?.quote(at) ?? moment.quotes(listing),
});

/** Stops first: where both are reached at once, the worse comes true. */
function watchesOf(draft: Draft, rules: Rules, moment: Moment): Watch[] {
  const { stops, resting } = draft.book;
  return [
    ...stops.flatMap((stop) => watchOfStop(draft, stop, rules, moment)),
    ...resting.flatMap((order) => watchOfTrigger(draft, order, rules, moment)),
    ...resting.flatMap((order) => watchOfLimit(draft, order, rules, moment)),
    ...resting.flatMap((order) => watchOfEnd(draft, order, moment)),
  ];
}

function watchOfStop(draft: Draft, stop: PaperStop, rules: Rules, moment: Moment): Watch[] {
  const listing = listedNow(draft.book, stop.symbol);
  if (!listing) return [];
  const path = moment.path(listing);
  const level = ticks(stop.price, listing);
  const isOpen = hoursOf(listing, rules);
  const last = path ? path.bid : () => ticks(moment.quotes(listing).bid, listing);
  return watchOf(listing, moment, {
    since: millis(stop.updatedAt),
    isReached: (at) => isOpen(at) && isStopReached(stop.side, level, last(at)),
    act: (then) => fire(draft, stop, listing, rules, then),
  });
}

/** An entry that waits for its price becomes an order at the market, or one with its limit. */
function watchOfTrigger(draft: Draft, order: PaperOrder, rules: Rules, moment: Moment): Watch[] {
  const { trigger, side } = order;
  const listing = trigger === null ? null : listingOf(draft.book, order);
  if (trigger === null || !listing) return [];
  const path = moment.path(listing);
  const level = ticks(trigger, listing);
  const isOpen = hoursOf(listing, rules);
  const last = path ? path.bid : () => ticks(moment.quotes(listing).bid, listing);
  return watchOf(listing, moment, {
    since: dueAt(order, rules),
    isReached: (at) => isOpen(at) && isStopReached(side, level, last(at)),
    act(then) {
      const triggered = { ...order, trigger: null, updatedAt: timestamp(then.now) };
      keepOrder(draft, triggered, then.now);
      matchInBook(draft, triggered, listing, rules, then);
    },
  });
}

/** The day that it was good for is over. */
function watchOfEnd(draft: Draft, order: PaperOrder, moment: Moment): Watch[] {
  const { goodUntil } = order;
  const listing = goodUntil === null ? null : listingOf(draft.book, order);
  if (goodUntil === null || !listing) return [];
  return watchOf(listing, moment, {
    since: millis(order.acceptedAt),
    isReached: (at) => at >= millis(goodUntil),
    act: ({ now }) => keepOrder(draft, endOrder(order, 'cancelled', 'the session has ended', now), now),
  });
}

function watchOfLimit(draft: Draft, order: PaperOrder, rules: Rules, moment: Moment): Watch[] {
  const { limit, side, trigger } = order;
  const listing = limit === null || trigger !== null ? null : listingOf(draft.book, order);
  if (limit === null || !listing || sign(fillable(order, listing, rules)) === 0) return [];
  const path = moment.path(listing);
  const level = ticks(limit, listing);
  const isOpen = hoursOf(listing, rules);
  // The ask costs more to find out, and is above the bid.
  const isAlong =
    path &&
    ((at: number) =>
      side === 'sell' ? path.bid(at) >= level : path.bid(at) < level && path.ask(at) <= level);
  return watchOf(listing, moment, {
    since: dueAt(order, rules),
    isReached: (at) => isOpen(at) && (isAlong ? isAlong(at) : isWithinLimit(order, moment.quotes(listing))),
    act: (then) => matchInBook(draft, order, listing, rules, then),
  });
}

function watchOf(listing: Listing, moment: Moment, watch: Omit<Watch, 'isForeign'>): Watch[] {
  const isForeign = moment.path(listing) === null;
  return isForeign && !moment.isQuoted(listing) ? [] : [{ ...watch, isForeign }];
}

const ticks = (price: Decimal, { tickSize }: Listing): number => Number(new Big(price).div(tickSize));

/** Markets open and close on the half hour; to ask the calendar each second would take longer than all the rest. */
function hoursOf(listing: Listing, rules: Rules): (at: number) => boolean {
  const session = sessionOf(listing, rules);
  let known = { slot: Number.NaN, isOpen: false };
  return (at) => {
    const slot = Math.floor(at / (HOUR / 2));
    if (slot !== known.slot) known = { slot, isOpen: session.isOpen(at) };
    return known.isOpen;
  };
}

/** Of what a stop became. No client can give such an id. */
const orderOfStop = (id: ClientOrderId): ClientOrderId => `${id}#stop` as ClientOrderId;
export const isOfStop = (id: ClientOrderId): boolean => id.endsWith('#stop');

/** The stop is at its price: it becomes an order for what there still is to close, and what stood beside it ends. */
function fire(draft: Draft, stop: PaperStop, listing: Listing, rules: Rules, moment: Moment): void {
  const { now } = moment;
  const { symbol, side, clientOrderId } = stop;
  const beside = stop.isBeside
    ? draft.book.resting.find((order) => order.clientOrderId === clientOrderId)
    : undefined;
  const held = reducible(draft.book, symbol, side);
  const quantity = smaller(beside ? unfilled(beside) : (stop.quantity ?? held), held);
  const refusal =
    sign(quantity) === 0 ? LEFT : rehearse(rules.settings.reject, quantity, listing, moment)?.message;
  if (refusal !== undefined) {
    keepStop(draft, endStop(stop, 'rejected', refusal, now));
    return;
  }
  const id = orderOfStop(clientOrderId);
  keepStop(draft, { ...stop, status: 'triggered', orderId: id, updatedAt: timestamp(now) });
  if (beside) keepOrder(draft, endOrder(beside, 'cancelled', 'the stop beside it was triggered', now), now);
  const { book, order } = matchNow(
    draft.book,
    {
      ...{ clientOrderId: id, brokerRef: brokerRef(id, rules), symbol, side, quantity, reduceOnly: true },
      ...{
        limit: null,
        trigger: null,
        goodUntil: null,
        instrument: listing.abroad,
        status: 'placed',
        fillQuantity: ZERO,
        fillPrice: null,
      },
      fee: listing.abroad ? null : ZERO,
      reason: null,
      acceptedAt: timestamp(now),
      updatedAt: timestamp(now),
    },
    listing,
    rules,
    moment,
  );
  draft.made.set(id, order);
  draft.book = isResting(order) ? { ...book, resting: [...book.resting, order] } : book;
  endIdle(draft, symbol, rules, now);
}
