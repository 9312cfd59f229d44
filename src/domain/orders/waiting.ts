// What an order waits for before it is planned or sent, and for how long at a time. How long in all is the table's to say
// (patience.ts), and the deadline's.

import { millis } from '../ids.ts';
import { agrees } from './expected.ts';
import { isOpenLeg, type Order, type OrderError, wasSent } from './order.ts';
import { inTheWayOf, isForgotten, isSettledIn, type OtherLeg, waitingBeside } from './other-legs.ts';
import { notTakenBack, rateLimited, stopped, tooManyResting } from './outcome.ts';
import { isExit, isWorthWaiting, patienceOf } from './patience.ts';
import { MOST_RESTING } from './resting.ts';
import { end, type Facts, type Rules, refuse, type Step, type Watch } from './step.ts';

/** By the clock of whoever sent it; an entry waits for one that was sent a moment ago, and not for one that rests. */
const RECENT_MS = 60_000;
const FIRST_LOOK_MS = 50;
/** Of whoever waits for long. */
const SELDOM_MS = 2_000;

/** 50, 100, 200, 400, 500, 500 … ms, and not beyond the time there is. */
export const pause = ({ looks, ms }: Watch, { lookEveryMs }: Rules, budgetMs: number): number =>
  Math.max(0, Math.min(FIRST_LOOK_MS * 2 ** looks, lookEveryMs, budgetMs - ms));

/** 50, 100 … 1600, 2000, 2000 … ms, for whoever has patience until a deadline. */
export const longPause = ({ looks }: Watch): number => Math.min(FIRST_LOOK_MS * 2 ** looks, SELDOM_MS);

const untilDeadline = ({ deadlineAt }: Order, now: number): number =>
  Math.max(0, millis(deadlineAt) - now) + 1;

/** null: the broker takes calls. */
export function unlessBusy(order: Order, facts: Facts): Step | null {
  const { busyMs, now } = facts;
  if (!isWorthWaiting(order, facts)) return refuse(order, rateLimited(busyMs, order));
  if (busyMs <= 0) return null;
  const rests = patienceOf(order, facts).rounds > 0;
  return { do: 'wait', afterMs: Math.min(busyMs, untilDeadline(order, now)), rests };
}

/** The broker's name for what the order's symbol means, or what comes first: it takes no calls, was not asked, or has none. */
export function instrumentOr(order: Order, facts: Facts, status: 'rejected' | 'failed'): string | Step {
  const busy = unlessBusy(order, facts);
  if (busy) return busy;
  const { instrument } = facts;
  if (instrument === null) return { do: 'resolve the symbol' };
  return typeof instrument === 'string' ? instrument : end(stopped(order, status, instrument.rejection));
}

/**
 * Each open leg is looked at once: it may have ended since. An entry waits for one that was sent a moment ago, since that decides
 * what there is to plan on; an exit takes what is held at once, and waits for the rest later.
 */
export function lookAtOthersFirst(order: Order, facts: Facts, rules: Rules): Step | null {
  const { others, othersWatch: watch, now } = facts;
  const open = others.filter(({ leg }) => isOpenLeg(leg) && !isForgotten(leg, now));
  if (open.length === 0) return null;
  if (watch.looks === 0) return { do: 'look at others', afterMs: 0, rests: false, withinMs: rules.settleMs };
  if (!patienceOf(order).waitsForOthersFirst) return null;
  const withinMs = rules.settleMs - watch.ms;
  if (withinMs <= 0) return null;
  const isRecent = (other: OtherLeg) =>
    other.leg.sentAt !== null && Math.abs(now - millis(other.leg.sentAt)) < RECENT_MS && !isSettledIn(other);
  if (!open.some(isRecent)) return null;
  const afterMs = pause({ ...watch, looks: watch.looks - 1 }, rules, rules.settleMs);
  return { do: 'look at others', afterMs, rests: false, withinMs: withinMs - afterMs };
}

/** What is in the way is taken back before anything is planned. An exit is made all the same where that is not confirmed. */
export function clearTheWay(order: Order, { others, isCleared, opposed }: Facts): Step | null {
  const inTheWay = inTheWayOf(order, others, opposed);
  const [first] = inTheWay;
  if (first && !isCleared) return { do: 'take back', others: inTheWay };
  if (first && !isExit(order)) return refuse(order, notTakenBack(order, first));
  if (order.priced && waitingBeside(others) - inTheWay.length >= MOST_RESTING)
    return refuse(order, tooManyResting(order));
  return null;
}

/**
 * Nothing of ours is in its way, and the broker has refused it often enough: an order of somebody else's is there until they take it away.
 * What waits behind the close, in other symbols too, is not held up by that.
 */
export const opposedByOthers = (order: Order, { others, opposed }: Facts): OrderError | null =>
  opposed &&
  opposed.times >= MOST_OPPOSED &&
  !wasSent(order) &&
  inTheWayOf(order, others, opposed).length === 0
    ? opposed.error
    : null;
/** Over some fifteen seconds. */
const MOST_OPPOSED = 7;

/** An exit has taken all there is, and an order that is not settled may bring more. */
export const lookAtOthersAgain = ({ othersWatch }: Facts, rules: Rules): Step => ({
  do: 'look at others',
  afterMs: longPause({ ...othersWatch, looks: Math.max(0, othersWatch.looks - 1) }),
  rests: true,
  withinMs: rules.settleMs,
});

/** What the broker says is held is not what our fills of late make of it: it is read again until it is, or is believed. */
export const readAgain = ({ positionWatch, others, othersWatch }: Facts, rules: Rules): Step => {
  const afterMs = longPause({ ...positionWatch, looks: Math.max(0, positionWatch.looks - 1) });
  // A fill that nobody has seen yet may be what the difference is.
  const isUnseen = others.some(({ leg }) => isOpenLeg(leg)) && othersWatch.looks <= positionWatch.looks;
  // At once only after the first reading: after each look the position is read at once.
  const waiting = positionWatch.looks > 1 ? { afterMs, rests: true } : { afterMs: 0, rests: false };
  return isUnseen
    ? { do: 'look at others', ...waiting, withinMs: rules.settleMs }
    : { do: 'read the position', afterMs, rests: true };
};

export const isAgreed = ({ position }: Facts): boolean => position?.held.every(agrees) ?? false;
