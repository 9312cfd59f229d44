// What a word from the broker about a leg means for the order, and what to do after a fill-verification poll.

import { BROKERS } from '../brokers.ts';
import { compare, type Decimal, ZERO } from '../decimal.ts';
import { millis, type Timestamp, timestamp } from '../ids.ts';
import {
  hasEnded,
  keyOf,
  type Leg,
  type LegKey,
  lastCloses,
  legOf,
  mainLeg,
  moveTo,
  type Order,
  type OrderError,
  openLeg,
  withLeg,
} from './order.ts';
import { shortOfTarget } from './position.ts';
import { mayRest } from './priced.ts';
import { nextLookAt } from './resting.ts';

/** An order as the broker has it. */
export interface BrokerOrderState {
  /** null: the broker has acknowledged it without naming it. */
  readonly brokerRef: string | null;
  readonly status: 'placed' | 'partially_filled' | 'filled' | 'cancelled' | 'failed';
  readonly fillQuantity: Decimal;
  readonly fillPrice: Decimal | null;
  /** Of all its fills, in the account's currency; null: the broker does not say. */
  readonly fee: Decimal | null;
  /** Why it was cancelled or failed, in the broker's words. */
  readonly reason: string | null;
}

/** The leg takes the broker's state; the order follows its last leg. */
export function recordState(order: Order, key: LegKey, state: BrokerOrderState, now: number): Order {
  const { status, fillPrice, fillQuantity } = state;
  const leg = legOf(order, key);
  if (isOutdated(leg, state)) return order;
  const seen = withLeg(tradedMore(order, leg, state, now), key, {
    status,
    fillPrice,
    fillQuantity,
    // What was known once is not forgotten by an answer that leaves it out.
    brokerRef: state.brokerRef ?? leg?.brokerRef ?? null,
    fee: state.fee ?? leg?.fee ?? null,
    ackedAt: leg?.ackedAt ?? timestamp(now),
    filledAt: leg?.filledAt ?? (status === 'filled' || isFirstPart(order, state) ? timestamp(now) : null),
  });
  const isTakenBack = status === 'cancelled' && leg?.leg === 'entry' && order.ending !== undefined;
  const error = isTakenBack && order.ending ? order.ending : errorOf(state);
  if (isForWorkerToEnd(order, leg, status)) return { ...seen, exitError: error };
  if (order.status !== 'executing' && isOfMonths(order))
    return followingAll({ ...seen, exitError: error }, now);
  if (leg !== mainLeg(order)) return { ...seen, exitError: error };
  const filledAt = status === 'filled' ? timestamp(now) : order.filledAt;
  const left = status === 'filled' ? leftOpen(seen, now) : null;
  return moveTo(seen, status, { error: error ?? left ?? shortOfTarget(order), filledAt });
}

/** Its worker had waited for more until its deadline, and left to us what was at the broker by then. */
const leftOpen = (order: Order, now: number): OrderError | null =>
  order.awaitsRest && order.status !== 'executing' && now >= millis(order.deadlineAt)
    ? restNotLookedFor(order)
    : null;

/** It has sent closes, and each of them was filled. */
export function hasClosedAll(order: Order): boolean {
  const closes = lastCloses(order);
  return closes.length > 0 && closes.every(({ status }) => status === 'filled');
}

/** What it waited for has ended, and its deadline came before it was seen what that has brought. */
export const restNotLookedFor = (order: Order): OrderError => ({
  code: 'expired',
  message:
    `Until its deadline, ${order.deadlineAt}, ${order.action} in ${order.symbol} waited for another order of yours, and did not come to see what that ` +
    `has traded. ${hasClosedAll(order) ? 'What was held before it is closed; w' : 'W'}hat it has opened stays open: look at the position, ` +
    'and close what is left.',
});

/** A position may lag behind the last part as behind any other fill. */
const tradedMore = (order: Order, leg: Leg | undefined, state: BrokerOrderState, now: number): Order =>
  order.priced && compare(state.fillQuantity, leg?.fillQuantity ?? ZERO) > 0
    ? { ...order, tradedAt: timestamp(now) }
    : order;

/** What rests may be filled bit by bit, for days: from its first part on it is protected, and its times count. */
const isFirstPart = ({ priced }: Order, { fillQuantity }: BrokerOrderState): boolean =>
  priced !== undefined && fillQuantity !== ZERO;

/**
 * While a worker has an exit in hand, it decides whether that was all: more may have to be taken, and a close that the exchange
 * clamped and ended may have closed all there was.
 */
const isForWorkerToEnd = (order: Order, leg: Leg | undefined, seen: BrokerOrderState['status']): boolean =>
  order.status === 'executing' &&
  leg?.leg === 'exit' &&
  (order.awaitsRest ||
    seen === 'cancelled' ||
    seen === 'failed' ||
    order.legs.some((other) => isElsewhere(other, leg)) ||
    (seen !== 'filled' && takesBackRest(order)));

/** Its orders are for now or not at all: that a rest is taken back is what the broker was asked for, and no word of its own. */
export const takesBackRest = ({
  brokerName,
  simulation,
}: Pick<Order, 'brokerName' | 'simulation'>): boolean =>
  !simulation && BROKERS[brokerName].capabilities.takesBackRest === true;

/** It closes in several months, and does nothing else. */
export const isOfMonths = ({ legs }: Order): boolean =>
  legs.every(({ leg }) => leg === 'exit') && new Set(legs.map(({ instrument }) => instrument)).size > 1;

/** The order follows all of its closes: it has ended when each of them has. */
export function followingAll(order: Order, now: number): Order {
  if (hasEnded(order.status) || openLeg(order)) return order;
  const unfilled = lastCloses(order).filter(({ status }) => status !== 'filled');
  if (unfilled.length === 0)
    return moveTo(order, 'filled', {
      error: leftOpen(order, now) ?? shortOfTarget(order),
      filledAt: timestamp(now),
    });
  const ended = unfilled.find(({ sentAt }) => sentAt !== null);
  const status = ended?.status === 'cancelled' ? 'cancelled' : 'failed';
  // Who has settled it has had the last word on that one.
  const isTold = ended !== undefined && order.settledBy === undefined;
  const error = isTold ? (order.exitError ?? errorOf({ status, reason: null })) : null;
  const unsent = unfilled.filter(({ sentAt }) => sentAt === null).map((leg) => notSent(order, leg));
  const message = [...(error ? [error.message] : []), ...unsent].join(' ');
  return moveTo(order, status, { error: message === '' ? null : { code: 'expired', ...error, message } });
}

/** Of a symbol that rolls, a month that was not closed before the deadline. */
const notSent = ({ deadlineAt }: Order, { instrument, side, quantity }: Leg): string =>
  `The close of ${instrument} (${side} ${quantity}) was not sent before the deadline, ${deadlineAt}: that month stays open. ` +
  'Look at the position, and close what is left.';

/** Of a symbol that rolls: a close in another month, which decides too whether all is closed. */
const isElsewhere = ({ leg, instrument, status }: Leg, than: Leg): boolean =>
  leg === 'exit' && instrument !== than.instrument && status !== 'filled';

/** A fill is not taken back: an open order with less of it is an answer from behind, as a broker's replica may give. */
function isOutdated(leg: Leg | undefined, { status, fillQuantity }: BrokerOrderState): boolean {
  if (leg?.status !== 'partially_filled') return false;
  if (status === 'placed') return true;
  return status === 'partially_filled' && compare(fillQuantity, leg.fillQuantity ?? ZERO) < 0;
}

function errorOf({ status, reason }: Pick<BrokerOrderState, 'status' | 'reason'>): OrderError | null {
  if (status === 'cancelled')
    return {
      code: 'cancelled_by_broker',
      message: `The order was cancelled at the broker: ${reason ?? 'no reason given'}.`,
    };
  if (status === 'failed')
    return {
      code: 'failed_at_broker',
      message: `The order failed at the broker: ${reason ?? 'no reason given'}.`,
    };
  return null;
}

/** What the worker saw when it asked the broker for the order's open leg. `leg`: which one; a worker of old does not say. */
export type Look =
  | { readonly seen: 'state'; readonly leg?: LegKey; readonly state: BrokerOrderState }
  /** The broker can be believed: it has no such order. */
  | { readonly seen: 'nothing'; readonly leg?: LegKey }
  /** `isForgotten`: the broker answers that it has no such order, and too late for that to be believed. */
  | { readonly seen: 'failure'; readonly reason: string; readonly isForgotten?: boolean }
  /** The broker limits the rate: to be asked again, and no try is used up by it. */
  | { readonly seen: 'busy'; readonly retryAfterMs: number };

/** From saving a leg as `sending` to sending it; a process that is not paused needs a millisecond. */
export const STALE_MS = 5_000;
/** Machines and exchanges differ by so much about what time it is. */
export const CLOCKS_APART_MS = 5_000;

export interface FillRules {
  readonly retries: number;
  readonly requeueMs: number;
  /** An order that was sent has arrived at the broker after this time, or never will. */
  readonly giveUpMs: number;
}

export type Verdict =
  | { readonly check: 'done' }
  /** `isFree`: the poll does not count as a try. */
  | {
      readonly check: 'scheduled';
      readonly nextAt: Timestamp;
      readonly reason: string;
      readonly isFree?: boolean;
      /** It may rest on. `seen`: the broker shows it, and whatever failed before counts no longer. */
      readonly rests?: 'seen' | 'unseen';
    }
  | { readonly check: 'dead_letter'; readonly reason: string };

/** The spec's table of fill verification. `attempts` counts this poll too. */
export function afterLook(
  order: Order,
  look: Look,
  attempts: number,
  rules: FillRules,
  now: number,
): { order: Order; verdict: Verdict } {
  const leg = openLeg(order);
  if (!leg) return { order, verdict: { check: 'done' } };
  const after = recordLook(order, leg, look, { attempts, rules, now });
  const stillOpen = openLeg(after);
  if (!stillOpen) return { order: after, verdict: { check: 'done' } };
  if (look.seen === 'busy' && isYoung(stillOpen, now)) {
    const nextAt = timestamp(now + Math.min(Math.max(look.retryAfterMs, SOONEST_MS), rules.requeueMs));
    return { order: after, verdict: { check: 'scheduled', nextAt, reason: BUSY, isFree: true } };
  }
  const reason = reasonOf(look, stillOpen);
  if (mayYetRest(after, stillOpen, look, now)) {
    const nextAt = timestamp(nextLookAt(after, now, rules.requeueMs));
    const rests = look.seen === 'state' ? 'seen' : 'unseen';
    return { order: after, verdict: { check: 'scheduled', nextAt, reason, isFree: true, rests } };
  }
  if (attempts > rules.retries) return { order: after, verdict: { check: 'dead_letter', reason } };
  return { order: after, verdict: { check: 'scheduled', nextAt: timestamp(now + rules.requeueMs), reason } };
}

/**
 * An entry that waits for its price is looked at for as long as it does: that it rests is no failure to find out. Nor is it given up
 * while the broker cannot be asked, or it would rest there unseen; a day after its time somebody is to be told.
 */
function mayYetRest(order: Order, leg: Leg, look: Look, now: number): boolean {
  const { priced } = order;
  if (!priced || !mayRest(priced) || leg.leg !== 'entry' || look.seen === 'nothing') return false;
  // To ask on would tell no more, and somebody is to know of it: by the broker's own id it is found for as long as it rests.
  if (look.seen === 'failure' && look.isForgotten && leg.brokerRef === null) return false;
  return look.seen === 'state' || now < millis(priced.expiresAt) + GIVEN_UP_AFTER_MS;
}
const GIVEN_UP_AFTER_MS = 24 * 3_600_000;

const BUSY = 'the broker limits the rate of requests';
/** A busy broker is asked again a little later, but not for ever: then its silence counts. */
const SOONEST_MS = 1_000;
const BUSY_FOR_MS = 10 * 60_000;
const isYoung = ({ sentAt }: Leg, now: number): boolean =>
  sentAt !== null && now - millis(sentAt) < BUSY_FOR_MS;

function reasonOf(look: Look, { status }: Leg): string {
  if (look.seen === 'failure') return look.reason;
  return look.seen === 'busy' ? BUSY : `the broker reports ${status}`;
}

interface Moment {
  readonly attempts: number;
  readonly rules: FillRules;
  readonly now: number;
}

function recordLook(order: Order, leg: Leg, look: Look, moment: Moment): Order {
  // Somebody else has saved the end of the leg that was looked at: this one was not.
  const key = keyOf(leg);
  if ('leg' in look && look.leg !== key) return order;
  if (look.seen === 'state') return recordState(order, key, look.state, moment.now);
  if (look.seen !== 'nothing' || !neverArrived(leg, moment)) return order;
  const gone = withLeg(order, key, { status: 'expired' });
  if (isOfMonths(order)) return followingAll(gone, moment.now);
  if (mainLeg(order) !== leg) return gone;
  // A reversal that has closed already has failed, not expired: its close was traded.
  const close = order.legs.find((other) => other.status === 'filled');
  const message = close
    ? `The broker never received the entry; the close (${close.side} ${close.quantity}) was filled.`
    : 'The broker never received the order; nothing was traded.';
  return moveTo(gone, close ? 'failed' : 'expired', { error: { code: 'expired', message } });
}

/**
 * A broker that has never acknowledged the leg and does not know it so long after it was sent did not get it. Sooner, the order may still be on its way, so a "not found" decides nothing; nor does the first poll ever, since
 * the time of sending is by the clock of a machine that may be wrong.
 */
function neverArrived(leg: Leg, { attempts, rules, now }: Moment): boolean {
  if (leg.status !== 'sending' && leg.status !== 'unknown') return false;
  return attempts > 1 && leg.sentAt !== null && now - millis(leg.sentAt) >= rules.giveUpMs;
}
