// What to do next about an order: one pure decision over what is saved of it and what this execution has learnt so far.
//
//   the order       what is saved, and all that a successor would have after a crash: its legs are planned (never sent),
//                   sending (may have been sent: only the broker knows), or known
//   the facts       what the worker saw since it took the order in hand; a crash forgets them, and they are seen again
//
//   nothing sent    look at the account's other open legs on this instrument until they have ended, or for a while
//                   → read the position → plan → send the first leg
//   sending         (found so, after a crash) look for it → adopt it, send it again where that is safe, or `unknown`
//   open            look again and again: for a second before the answer is given, for 5 s where the entry waits for it
//   filled          on to the next leg, or the end
//
// The driver in worker/lane/execute.ts does what it is told and saves every step before the next one is taken.

import { type Decimal, isWhole, sign, ZERO } from '../decimal.ts';
import { guardRefusal } from '../guards/guards.ts';
import { millis } from '../ids.ts';
import { STALE_MS } from './fill.ts';
import {
  clientOrderId,
  type GuardVerdict,
  hasEnded,
  isLate,
  isOpenLeg,
  type Leg,
  type LegName,
  mainLeg,
  moveTo,
  type Order,
  type OrderError,
} from './order.ts';
import {
  closeInDoubt,
  furthestPosition,
  type OtherLeg,
  pendingLeg,
  takeable,
  withoutOpening,
} from './other-legs.ts';
import {
  closeUnfilled,
  late,
  lost,
  nothingHeld,
  nothingToTake,
  otherLogin,
  otherMonth,
  rateLimited,
  stillPending,
  stopped,
  superseded,
  turned,
  undecided,
  wholeOnly,
} from './outcome.ts';
import { planOrder, shortOfTarget } from './position.ts';

/** What the broker can promise; see the port. */
interface Abilities {
  readonly refusesDuplicateIds: boolean;
  readonly reduceOnly: boolean;
  readonly fractionalQuantities: boolean;
}

/** What guards said, and of which entry: another plan is judged anew. */
export interface Judgement {
  readonly verdicts: readonly GuardVerdict[];
  readonly quantity: Decimal;
  readonly positionAfter: Decimal;
}

/** How often, and for how long, something was looked at. By the clock and by what was waited, whichever is more. */
export interface Watch {
  readonly looks: number;
  readonly ms: number;
}

export const UNWATCHED: Watch = { looks: 0, ms: 0 };

export interface Rules {
  /** A broker that acknowledges and fills a moment later: so long the answer waits for the fill. */
  readonly fillWaitMs: number;
  /** So long an order waits for the account's other open legs on its instrument; one that rests is not waited for longer. */
  readonly settleMs: number;
  /** A reversal's entry waits so long for its close. */
  readonly closeWaitMs: number;
  /** At first sooner, and then so far apart a leg is looked at. */
  readonly lookEveryMs: number;
  /** What has not arrived at the broker this long after it was sent is given up. */
  readonly giveUpMs: number;
}

export interface Facts {
  readonly now: number;
  readonly able: Abilities;
  /** The broker's name for the order's symbol, or why it has none; null: to be asked. */
  readonly instrument: string | { readonly rejection: OrderError } | null;
  /** The connection is of the credentials with which the order's legs were sent, if any were. */
  readonly isSameLogin: boolean;
  readonly others: readonly OtherLeg[];
  /** Since they were first looked at. */
  readonly othersWatch: Watch;
  /** null: to be read. */
  readonly position: { readonly quantity: Decimal; readonly readAt: number } | null;
  /** Since it was first read. */
  readonly positionWatch: Watch;
  /** What it should be by our own fills of a moment ago; null: there were none. */
  readonly expected: Decimal | null;
  /** What the account's guards say of the entry that is about to be sent; none: it has none. */
  readonly guards: 'none' | 'unjudged' | Judgement;
  /** Until the broker takes calls again, in ms. */
  readonly busyMs: number;
  /** How often the broker has refused this order for the rate. */
  readonly refusals: number;
  /** Of the leg in hand, since it was sent or found. */
  readonly watch: Watch;
  /** A leg found `sending` was looked for, and the broker does not have it. */
  readonly isMissing: boolean;
}

export type Step =
  | { readonly do: 'resolve the symbol' }
  | { readonly do: 'look at others'; readonly afterMs: number; readonly withinMs: number }
  | { readonly do: 'read the position'; readonly afterMs: number }
  /** Wait until the broker takes calls again. */
  | { readonly do: 'wait'; readonly ms: number }
  /** `withinMs`: an answer that comes later is of no use. */
  | { readonly do: 'look'; readonly leg: Leg; readonly afterMs: number; readonly withinMs: number | null }
  | { readonly do: 'judge the guards'; readonly order: Order; readonly positionAfter: Decimal }
  | { readonly do: 'send'; readonly order: Order; readonly leg: LegName; readonly again: boolean }
  | { readonly do: 'end'; readonly order: Order };

/** A busy broker is waited for twice, and at most so long. */
const PATIENCE_MS = 5_000;
const MOST_REFUSALS = 2;
/** A position may lag behind the fill that made it; after so long the broker is believed. */
const LAG_MS = 1_000;
/** By the clock of whoever sent it; one that rests for longer is not waited for. */
const RECENT_MS = 60_000;

const FIRST_LOOK_MS = 50;
/** 50, 100, 200, 400, 500, 500 … ms, and not beyond the time there is. */
const pause = ({ looks, ms }: Watch, { lookEveryMs }: Rules, budgetMs: number): number =>
  Math.max(0, Math.min(FIRST_LOOK_MS * 2 ** looks, lookEveryMs, budgetMs - ms));

export function nextStep(order: Order, facts: Facts, rules: Rules): Step {
  if (hasEnded(order.status)) return end(order);
  return wasSent(order) ? goOn(order, facts, rules) : begin(order, facts, rules);
}

const end = (order: Order): Step => ({ do: 'end', order });

/** Or may have been. */
export const wasSent = (order: Order): boolean => order.legs.some(({ status }) => status !== 'planned');

/** Nothing has been sent: whatever was planned before is planned anew, on the position as it is now. */
function begin(order: Order, facts: Facts, rules: Rules): Step {
  const { now, able, instrument, others, othersWatch, position } = facts;
  if (order.notes.superseded) return end(stopped(order, 'rejected', superseded(order)));
  if (isLate(order, now)) return end(late(order));
  const busy = unlessBusy(order, facts);
  if (busy) return busy;
  if (instrument === null) return { do: 'resolve the symbol' };
  if (typeof instrument !== 'string') return end(stopped(order, 'rejected', instrument.rejection));
  if (!able.fractionalQuantities && !isWhole(amountOf(order)))
    return end(stopped(order, 'rejected', wholeOnly(order)));
  const lookElsewhere = watchOthers(others, othersWatch, now, rules);
  if (lookElsewhere) return lookElsewhere;
  if (position === null || now - position.readAt > STALE_MS) return { do: 'read the position', afterMs: 0 };
  if (facts.expected !== null && facts.expected !== position.quantity && facts.positionWatch.ms < LAG_MS)
    return { do: 'read the position', afterMs: pause(facts.positionWatch, rules, LAG_MS) };
  const planned = plan(order, position.quantity, instrument, facts, rules);
  const doubt = able.reduceOnly ? undefined : closeInDoubt(position.quantity, facts, rules);
  if (doubt && planned.legs.some(({ leg }) => leg === 'exit'))
    return end(stopped(order, 'rejected', undecided(order, doubt)));
  if (planned.legs.length > 0) return sendGuarded(planned, firstLeg(planned), facts, rules);
  // What is under way of our own decides where the position will stand.
  const pending = planned.intent.target && pendingLeg(facts, rules);
  if (pending) return end(stopped(planned, 'rejected', stillPending(planned, pending)));
  const short = shortOfTarget(planned);
  if (short) return end(stopped(planned, 'rejected', short));
  // It stands where it is to stand.
  if (planned.intent.target) return end(moveTo(planned, 'done'));
  return end(stopped(planned, 'rejected', whyNothing(planned, others)));
}

/** Who closes asks for whatever is held, whatever the quantity. */
const amountOf = ({ intent, quantity }: Order): Decimal =>
  intent.target?.position ?? (intent.operation === 'CLOSE_POSITION' ? ZERO : quantity);

const firstLeg = ({ legs: [first] }: Order): LegName => first?.leg ?? 'entry';

/**
 * Each open leg is looked at once: it may have ended since. One that was sent a moment ago decides what there is to plan
 * on, and is waited for; one that has rested for long does not end now.
 */
function watchOthers(others: readonly OtherLeg[], watch: Watch, now: number, rules: Rules): Step | null {
  const open = others.filter(({ leg }) => isOpenLeg(leg));
  if (open.length === 0) return null;
  if (watch.looks === 0) return { do: 'look at others', afterMs: 0, withinMs: rules.settleMs };
  const withinMs = rules.settleMs - watch.ms;
  if (withinMs <= 0) return null;
  const isRecent = ({ leg }: OtherLeg) =>
    leg.sentAt !== null && Math.abs(now - millis(leg.sentAt)) < RECENT_MS;
  if (!open.some(isRecent)) return null;
  const afterMs = pause({ ...watch, looks: watch.looks - 1 }, rules, rules.settleMs);
  return { do: 'look at others', afterMs, withinMs: withinMs - afterMs };
}

function plan(order: Order, position: Decimal, instrument: string, facts: Facts, rules: Rules): Order {
  // Towards a target nothing is opened while a leg of our own may yet be filled: it may be what is missing.
  const intent = pendingLeg(facts, rules) ? withoutOpening(order.intent) : order.intent;
  const free = takeable(position, order.intent, facts, rules);
  const { legs, autoExit } = planOrder(intent, order.quantity, free);
  return {
    ...order,
    positionBefore: position,
    autoExit,
    legs: legs.map(({ leg, side, quantity }) => ({
      leg,
      clientOrderId: clientOrderId(order.id, leg),
      brokerRef: null,
      instrument,
      side,
      quantity,
      status: 'planned',
      fillPrice: null,
      fillQuantity: null,
      fee: null,
      unitValue: null,
      sentAt: null,
      ackedAt: null,
      filledAt: null,
    })),
  };
}

/** A leg has been sent, or may have been. */
function goOn(order: Order, facts: Facts, rules: Rules): Step {
  const main = mainLeg(order);
  const close = order.legs[0];
  // A reversal's close, until its entry has been sent.
  const leg = main?.status === 'planned' ? close : main;
  if (!main || !leg) return end(order);
  const isMain = leg === main;
  switch (leg.status) {
    case 'planned':
      return sendNext(order, leg, facts, rules);
    case 'filled':
      return isMain ? end(order) : sendNext(order, main, facts, rules);
    case 'sending': {
      const canAsk = facts.busyMs <= PATIENCE_MS && facts.refusals <= MOST_REFUSALS;
      const isAsked = facts.isMissing && facts.instrument !== null;
      if (canAsk && !isAsked && facts.busyMs > 0) return { do: 'wait', ms: facts.busyMs };
      if (canAsk && !facts.isMissing) return { do: 'look', leg, afterMs: 0, withinMs: null };
      if (canAsk && !isAsked) return { do: 'resolve the symbol' };
      return isAsked && maySendAgain(order, leg, facts)
        ? { do: 'send', order, leg: leg.leg, again: true }
        : goOn(lost(order, leg.leg), facts, rules);
    }
    // Whether it was taken is for fill verification to find out; only a reversal cannot wait for that.
    case 'unknown':
    case 'placed':
    case 'partially_filled': {
      if (isMain && leg.status === 'unknown') return end(order);
      const budgetMs = isMain ? rules.fillWaitMs : rules.closeWaitMs;
      if (facts.watch.ms < budgetMs) {
        const afterMs = pause(facts.watch, rules, budgetMs);
        return { do: 'look', leg, afterMs, withinMs: budgetMs - facts.watch.ms - afterMs };
      }
      return isMain ? end(order) : end(aborted(order, closeUnfilled(order, leg, rules.closeWaitMs)));
    }
    case 'rejected':
      return isMain ? end(order) : afterRefusedClose(order, leg, facts, rules);
    // The close of a reversal came to an end that is no fill.
    default:
      return end(
        isMain ? order : aborted(order, order.exitError ?? closeUnfilled(order, leg, rules.closeWaitMs)),
      );
  }
}

const aborted = (order: Order, error: OrderError): Order =>
  moveTo(order, 'failed', { error, exitError: error });

/** The entry of a reversal, after its close. */
function sendNext(order: Order, leg: Leg, facts: Facts, rules: Rules): Step {
  const { now, instrument, isSameLogin } = facts;
  if (isLate(order, now)) return end(late(order));
  if (!isSameLogin) return end(stopped(order, 'failed', otherLogin(order)));
  const busy = unlessBusy(order, facts);
  if (busy) return busy;
  if (instrument === null) return { do: 'resolve the symbol' };
  if (typeof instrument !== 'string') return end(stopped(order, 'failed', instrument.rejection));
  if (leg.instrument !== null && leg.instrument !== instrument)
    return end(stopped(order, 'failed', otherMonth(leg, instrument)));
  return sendGuarded(order, leg.leg, facts, rules);
}

/** An entry is judged right before it is sent; a close is never held back. */
function sendGuarded(order: Order, leg: LegName, facts: Facts, rules: Rules): Step {
  const { guards } = facts;
  if (leg !== 'entry' || guards === 'none') return { do: 'send', order, leg, again: false };
  const positionAfter = furthestPosition(order, facts, rules);
  const isJudged =
    guards !== 'unjudged' &&
    guards.quantity === mainLeg(order)?.quantity &&
    guards.positionAfter === positionAfter;
  if (!isJudged) return { do: 'judge the guards', order, positionAfter };
  const judged = { ...order, guards: guards.verdicts };
  const refusal = guardRefusal(guards.verdicts);
  return refusal
    ? end(stopped(judged, 'rejected', refusal))
    : { do: 'send', order: judged, leg, again: false };
}

/**
 * It may have been sent, and the broker does not have it, though it may yet arrive. The same id again is safe only where
 * a second one is refused for ever, and a close only where it cannot open the other side.
 */
const maySendAgain = (order: Order, leg: Leg, { able, now, isSameLogin, instrument }: Facts): boolean =>
  able.refusesDuplicateIds &&
  (able.reduceOnly || leg.leg === 'entry') &&
  isSameLogin &&
  instrument === leg.instrument &&
  !isLate(order, now);

/** "Nothing to close" may mean that it is closed already: the position says, and then the entry is due all the same. */
function afterRefusedClose(order: Order, close: Leg, facts: Facts, rules: Rules): Step {
  const error = order.exitError ?? nothingHeld(order);
  if (error.code !== 'no_position') return end(moveTo(order, 'rejected', { error }));
  if (isLate(order, facts.now)) return end(late(order));
  const busy = unlessBusy(order, facts);
  if (busy) return busy;
  if (facts.instrument === null) return { do: 'resolve the symbol' };
  if (typeof facts.instrument !== 'string') return end(stopped(order, 'failed', facts.instrument.rejection));
  if (facts.position === null) return { do: 'read the position', afterMs: 0 };
  const isStillHeld = sign(facts.position.quantity) === (close.side === 'buy' ? -1 : 1);
  if (isStillHeld && facts.positionWatch.ms < LAG_MS)
    return { do: 'read the position', afterMs: pause(facts.positionWatch, rules, LAG_MS) };
  if (isStillHeld) return end(moveTo(order, 'rejected', { error }));
  // Neither what was planned, nor what the guards would judge, holds for a position that stands on the entry's side already.
  if (sign(facts.position.quantity) !== 0)
    return end(moveTo(order, 'rejected', { error: turned(order, facts.position.quantity) }));
  const entry = mainLeg(order);
  return entry ? sendNext(order, entry, facts, rules) : end(order);
}

/** null: the broker takes calls. */
function unlessBusy(order: Order, facts: Facts): Step | null {
  const { busyMs } = facts;
  if (isWorthWaiting(order, facts)) return busyMs > 0 ? { do: 'wait', ms: busyMs } : null;
  return end(stopped(order, 'rejected', rateLimited(busyMs, order)));
}

/** A busy broker is waited for where the order stays fresh and patience lasts. */
export const isWorthWaiting = (
  order: Order,
  { now, busyMs, refusals }: Pick<Facts, 'now' | 'busyMs' | 'refusals'>,
): boolean => busyMs <= PATIENCE_MS && refusals <= MOST_REFUSALS && now + busyMs <= millis(order.deadlineAt);

/** Nothing is held; or what is held is being closed, or what would be held has yet to come. */
function whyNothing(order: Order, others: readonly OtherLeg[]): OrderError {
  const open = others.find(({ leg }) => isOpenLeg(leg));
  return open ? nothingToTake(order, open) : nothingHeld(order);
}
