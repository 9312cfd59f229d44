// What to do next about an order: one pure decision over what is saved of it and what this execution has learnt so far.
//
//   the order       what is saved, and all that a successor would have after a crash: its legs are planned (never sent),
//                   sending (may have been sent: only the broker knows), or known
//   the facts       what the worker saw since it took the order in hand; a crash forgets them, and they are seen again
//
//   nothing open    look at the account's other open legs on this instrument → read the position, until it agrees with what our
//                   own fills make of it (waiting.ts) → plan (planning.ts) → send
//   sending         (found so, after a crash) look for it → adopt it, send it again where that is safe, or `unknown`
//   unknown         an entry is left to fill verification; an exit is looked for until it is found, or known never to have
//                   arrived: then it is planned anew, under the next id
//   open            look again and again: for a second before the answer is given, for 5 s where the entry waits for it
//   filled          on to the next leg, or the end; an exit behind an entry that is not settled waits for the rest
//
// An entry may be given up early. An exit ends by its fill, by the broker's final word, by proof that nothing is held, or by its
// deadline. The driver in worker/lane/execute.ts does what it is told and saves every step before the next one is taken.

import { type Decimal, isWhole, smaller, ZERO } from '../decimal.ts';
import { guardRefusal } from '../guards/guards.ts';
import { millis } from '../ids.ts';
import { asksForStop } from '../protection/wish.ts';
import { agrees } from './expected.ts';
import { hasClosedAll, restNotLookedFor, STALE_MS, takesBackRest } from './fill.ts';
import {
  AT_ONCE,
  beforeNextClose,
  endsTakenBack,
  isKept,
  isUnsent,
  keptByBroker,
  refusedFor,
} from './let-go.ts';
import {
  hasEnded,
  hasTraded,
  isLate,
  isOpenLeg,
  keyOf,
  type Leg,
  type LegKey,
  lastCloses,
  mainLeg,
  moveTo,
  type Order,
  type OrderError,
  unitsOf,
  wasSent,
} from './order.ts';
import {
  closeInDoubt,
  furthestPosition,
  othersToAwait,
  pendingLeg,
  protectiveFilled,
  protectiveInDoubt,
} from './other-legs.ts';
import {
  closeUnfilled,
  heldBackByOthers,
  isDoubtful,
  late,
  lost,
  made,
  neverReceived,
  nothingHeld,
  nothingToTake,
  otherLogin,
  staysOut,
  stillPending,
  stopped,
  stoppedOut,
  superseded,
  tooOldToOpen,
  turned,
  undecided,
  wholeOnly,
  wholeStopsOnly,
} from './outcome.ts';
import { isExit, PATIENCE, patienceOf } from './patience.ts';
import { heldToPlanOn, onWhatStands, plan } from './planning.ts';
import { heldInAll, heldOn, positionAfter, shortOfTarget } from './position.ts';
import { mayRest } from './priced.ts';
import { sizedBy } from './sized-order.ts';
import { end, type Facts, type Rules, refuse, type Step } from './step.ts';
import {
  clearTheWay,
  instrumentOr,
  isAgreed,
  longPause,
  lookAtOthersAgain,
  lookAtOthersFirst,
  opposedByOthers,
  pause,
  readAgain,
  unlessBusy,
} from './waiting.ts';

export function nextStep(order: Order, facts: Facts, rules: Rules): Step {
  if (hasEnded(order.status)) return end(order);
  const elsewhere = closeElsewhere(order, facts, rules);
  if (elsewhere) return elsewhere;
  const leg = order.legs.find(isOpenLeg);
  if (leg) return follow(order, leg, facts, rules);
  const main = mainLeg(order);
  const isReversing = main?.leg === 'entry' && main.status === 'planned' && wasSent(order);
  return isReversing ? afterCloses(order, main, facts, rules) : begin(order, facts, rules);
}

/** Closes in several months were planned together, and none waits for another: each is of what is held there now. */
function closeElsewhere(order: Order, facts: Facts, rules: Rules): Step | null {
  const { position, now, able } = facts;
  const next = order.legs.find(isUnsent);
  const isThere = (leg: Leg) => !isUnsent(leg) && leg.instrument === next?.instrument;
  if (next?.leg !== 'exit' || !wasSent(order) || order.legs.some(isThere) || isLate(order, now)) return null;
  const busy = unlessBusy(order, facts);
  if (busy) return busy;
  if (facts.instrument === null) return { do: 'resolve the symbol' };
  if (position === null || now - position.readAt > STALE_MS) return { do: 'read the position', ...AT_ONCE };
  const held = position.held.find(({ instrument }) => instrument === next.instrument);
  const there = held ? heldOn([held], next.side === 'sell' ? 'long' : 'short') : ZERO;
  if (held && !agrees(held) && !able.reduceOnly) return readAgain(facts, rules);
  const quantity = held && !agrees(held) ? next.quantity : smaller(next.quantity, there);
  const legs = order.legs.flatMap((leg) =>
    leg === next ? (quantity === ZERO ? [] : [{ ...leg, quantity }]) : [leg],
  );
  return quantity === ZERO
    ? nextStep({ ...order, legs }, facts, rules)
    : sendGuarded({ ...order, legs }, next, facts, rules);
}

/** Nothing of it is open: whatever was planned before is planned anew, on the position as it is now. */
function begin(accepted: Order, facts: Facts, rules: Rules): Step {
  const { now, able, position } = facts;
  let order = accepted;
  if (order.notes.superseded) return refuse(order, superseded(order));
  if (order.notes.stoppedOut && !isExit(order)) return refuse(order, stoppedOut(order));
  if (isLate(order, now)) return end(atDeadline(order, facts));
  const instrument = instrumentOr(order, facts, 'rejected');
  if (typeof instrument !== 'string') return instrument;
  const isSized = order.sizing?.units !== null;
  if (!able.fractionalQuantities && isSized && !isExit(order) && !isWhole(amountOf(order)))
    return refuse(order, wholeOnly(order));
  if (facts.wrongPrice) return refuse(order, facts.wrongPrice);
  const lookElsewhere = lookAtOthersFirst(order, facts, rules);
  if (lookElsewhere) return lookElsewhere;
  const clearing = clearTheWay(order, facts);
  if (clearing) return clearing;
  const opposed = opposedByOthers(order, facts);
  if (opposed) return refuse(order, opposed);
  if (position === null) return { do: 'read the position', ...beforeNextClose(order, facts) };
  if (now - position.readAt > STALE_MS) return { do: 'read the position', ...AT_ONCE };
  const held = heldToPlanOn(order, position.held, facts);
  if (held === null) return readAgain(facts, rules);
  if (!isSized) {
    // What it would lose cannot be counted to a stop that cannot stand.
    if (facts.wrong && !order.intent.target) return refuse(order, facts.wrong);
    const computed = sizedBy(order, held, facts.market);
    if ('code' in computed) return refuse(order, computed);
    order = computed;
  }
  const all = plan(order, held, instrument, facts, rules);
  const kept = keptByBroker(all, order, facts, rules);
  const isHeldBack = kept.length > 0;
  const open = held.filter((each) => !kept.includes(each.instrument));
  const planned = isHeldBack
    ? { ...plan(order, open, instrument, facts, rules), positionBefore: all.positionBefore }
    : all;
  const next = planned.legs.find(isUnsent);
  if (!next && !isAgreed(facts)) return readAgain(facts, rules);
  if (!next && !isHeldBack) return withNothingToSend(planned, facts, rules);
  // What contradicts it, or is too much for it, the broker does not let go: nothing is opened beside that.
  if (!next || (isHeldBack && next.leg === 'entry')) return end(refusedFor(all, held));
  const reopening = reopens(planned, next) && (protectiveInDoubt(facts) ? 'protection' : closedBy(facts));
  if (reopening === null) return { do: 'ask who closed it' };
  if (reopening === 'protection') {
    const awaited = planned.awaitsRest ? othersToAwait(planned, facts) : undefined;
    return awaited ? lookAtOthersAgain(facts, rules) : end(staysOut(order, facts.now));
  }
  if (facts.wrong && planned.legs.some(({ leg, status }) => leg === 'entry' && status === 'planned'))
    return refuse(order, facts.wrong);
  // What is held is whole: only a part of it may not be.
  if (!able.fractionalQuantities && !isWhole(next.quantity)) return refuse(order, wholeOnly(order));
  const doubt = able.reduceOnly || next.leg === 'entry' ? undefined : closeInDoubt(held, facts, rules);
  if (!doubt) return sendGuarded(planned, next, facts, rules);
  return patienceOf(planned).waitsForRest && isExit(order)
    ? lookAtOthersAgain(facts, rules)
    : refuse(order, undecided(order, doubt));
}

/** It opens what its strategy says that it holds already: all of it, or what is gone since it has closed what was too much. */
const reopens = (planned: Order, next: Leg): boolean =>
  next.leg === 'entry' &&
  planned.notes.staysIn === true &&
  (positionAfter(planned) === ZERO || hasReduced(planned, next));

/** When its own close was sent, nothing was missing: what is missing now somebody has closed since, whatever became of that close. */
const hasReduced = ({ legs }: Order, { side }: Leg): boolean =>
  legs.some((leg) => leg.leg === 'exit' && leg.side !== side && !isUnsent(leg));

/** Who has seen it need not ask: what a look has told of another order is saved later, and by somebody else. */
const closedBy = (facts: Facts): Facts['closedBy'] =>
  protectiveFilled(facts) ? 'protection' : facts.closedBy;

/** Who closes asks for whatever is held, whatever the quantity. */
const amountOf = (order: Order): Decimal =>
  order.intent.target?.position ?? (order.intent.operation === 'CLOSE_POSITION' ? ZERO : unitsOf(order));

/** Nothing is to be traded now, and what is held is proven. */
function withNothingToSend(planned: Order, facts: Facts, rules: Rules): Step {
  const { others } = facts;
  // What it has closed is closed; what may yet come is waited for.
  if (isExit(planned)) {
    const awaited = planned.awaitsRest ? othersToAwait(planned, facts) : undefined;
    if (awaited) return lookAtOthersAgain(facts, rules);
    if (hasTraded(planned)) return end(made(planned, facts.now));
  } else {
    // What is under way of our own decides where the position will stand.
    const pending = planned.intent.target && pendingLeg(facts, rules);
    if (pending) return refuse(planned, stillPending(planned, pending));
  }
  const short = shortOfTarget(planned);
  if (short) return refuse(planned, short);
  // It stands where it is to stand.
  if (planned.intent.target) return end(moveTo(planned, 'done'));
  const open = others.find(({ leg }) => isOpenLeg(leg));
  // What its protection has closed needs no exit any more.
  const by = !open && isExit(planned) ? closedBy(facts) : facts.closedBy;
  if (!open && isExit(planned) && by === null) return { do: 'ask who closed it' };
  if (by === 'protection') return end(moveTo(planned, 'done'));
  return refuse(planned, open ? nothingToTake(planned, open) : nothingHeld(planned));
}

/** The deadline has come, and says what was in the way. */
function atDeadline(order: Order, facts: Facts): Order {
  const why = facts.opposed?.error.message;
  if (!isExit(order)) return late(order, why);
  const awaited = othersToAwait(order, facts);
  if (awaited) return moveTo(order, 'expired', { error: heldBackByOthers(order, awaited) });
  // Nobody is known who brings more; and nobody has looked what was brought by who is done by now.
  if (order.awaitsRest && wasSent(order)) return moveTo(order, 'expired', { error: restNotLookedFor(order) });
  if (hasClosedAll(order)) return made(order, facts.now);
  return endsTakenBack(order) ? refusedFor(order, []) : late(order, why);
}

/** A leg has been sent, or may have been. */
function follow(order: Order, leg: Leg, facts: Facts, rules: Rules): Step {
  const isMain = leg === mainLeg(order);
  const patience = patienceOf(order);
  const isPatient = patience.looksForLost && !isLate(order, facts.now);
  switch (leg.status) {
    case 'sending': {
      // After the deadline it is asked for once more, and not waited for.
      const most = isPatient ? patience : PATIENCE.entry;
      const canAsk = facts.busyMs <= most.busyMs && facts.refusals <= most.refusals;
      const isAsked = facts.isMissing && facts.instrument !== null;
      if (canAsk && !isAsked && facts.busyMs > 0)
        return { do: 'wait', afterMs: facts.busyMs, rests: isPatient };
      if (canAsk && !facts.isMissing) return { do: 'look', leg, ...AT_ONCE, withinMs: null };
      if (canAsk && !isAsked) return { do: 'resolve the symbol' };
      return isAsked && maySendAgain(order, leg, facts)
        ? { do: 'send', order, leg: keyOf(leg), again: true }
        : nextStep(lost(order, keyOf(leg)), facts, rules);
    }
    // Whether an entry was taken is for fill verification to find out.
    case 'unknown':
      return leg.leg === 'exit' ? lookForLost(order, leg, facts, rules) : end(order);
    case 'placed':
    case 'partially_filled': {
      // A reversal's entry waits for it; an exit that has more to do, or may have, goes on when it has ended.
      const hasMore = !isMain || order.awaitsRest;
      const isNotAll = mainLeg(order)?.leg === 'exit' && (hasMore || takesBackRest(order));
      if (isNotAll && !isPatient) return end(moveTo(withNothingUnsent(order), leg.status));
      // It waits for its price: one look tells whether it was filled at once.
      const isWaiting = leg.leg === 'entry' && order.priced !== undefined && mayRest(order.priced);
      if (isWaiting && facts.watch.looks > 0) return end(order);
      const budgetMs = isNotAll ? Number.POSITIVE_INFINITY : isMain ? rules.fillWaitMs : rules.closeWaitMs;
      if (facts.watch.ms < budgetMs) {
        if (isNotAll) {
          const rests = hasMore || facts.watch.ms >= rules.fillWaitMs;
          return { do: 'look', leg, afterMs: longPause(facts.watch), rests, withinMs: rules.settleMs };
        }
        const afterMs = pause(facts.watch, rules, budgetMs);
        return { do: 'look', leg, afterMs, rests: false, withinMs: budgetMs - facts.watch.ms - afterMs };
      }
      return end(isMain ? order : aborted(order, closeUnfilled(order, leg, rules.closeWaitMs)));
    }
    default:
      return end(order);
  }
}

/**
 * An exit whose answer was lost. What the broker does not have so long after it was sent, by the clock of whoever sent it and by our
 * own watch, it never got, where its word can be believed.
 */
function lookForLost(order: Order, leg: Leg, facts: Facts, rules: Rules): Step {
  const { now, watch, isMissing, isBelieved, busyMs } = facts;
  const age = leg.sentAt === null ? 0 : now - millis(leg.sentAt);
  const isOverdue = age >= rules.giveUpMs && watch.ms >= rules.giveUpMs && watch.looks > 1;
  if (isMissing && isBelieved && isOverdue) return nextStep(neverReceived(order, keyOf(leg)), facts, rules);
  // Nobody can tell whether it was made: fill verification goes on asking, and in the end a person.
  if (isLate(order, now) || (isOverdue && !isBelieved)) return end(leftUnknown(order, leg, rules));
  if (busyMs > 0) return { do: 'wait', afterMs: busyMs, rests: true };
  return { do: 'look', leg, afterMs: longPause(watch), rests: watch.looks > 4, withinMs: null };
}

const leftUnknown = (order: Order, leg: Leg, rules: Rules): Order =>
  mainLeg(order)?.leg === 'exit'
    ? moveTo(withNothingUnsent(order), 'unknown')
    : aborted(order, closeUnfilled(order, leg, rules.closeWaitMs));

/** What was never sent is not followed. Of a symbol that rolls, a month that was not closed is told. */
function withNothingUnsent(order: Order): Order {
  const isSentThere = ({ instrument }: Leg) =>
    order.legs.some((leg) => leg.instrument === instrument && !isUnsent(leg));
  return {
    ...order,
    legs: order.legs.flatMap((leg) => {
      if (!isUnsent(leg)) return [leg];
      return isSentThere(leg) ? [] : [{ ...leg, status: 'expired' as const }];
    }),
  };
}

const aborted = (order: Order, error: OrderError): Order =>
  moveTo(order, 'failed', { error, exitError: error });

/** The entry of a reversal, once its closes have ended. */
function afterCloses(order: Order, entry: Leg, facts: Facts, rules: Rules): Step {
  const close = lastCloses(order).find(({ status }) => status !== 'filled');
  if (!close) return sendNext(order, entry, facts, rules);
  // It never arrived, or the broker found nothing to close: the position says which, and whether the entry is due all the same.
  const error = order.exitError ?? nothingHeld(order);
  if (close.status === 'rejected' && !isDoubtful(error)) return refuse(order, error);
  if (isLate(order, facts.now)) return end(late(order, order.exitError?.message));
  const instrument = instrumentOr(order, facts, 'failed');
  if (typeof instrument !== 'string') return instrument;
  const { position } = facts;
  if (position === null) return { do: 'read the position', ...beforeNextClose(order, facts) };
  if (!isAgreed(facts)) return readAgain(facts, rules);
  const [against, along] = close.side === 'buy' ? (['short', 'long'] as const) : (['long', 'short'] as const);
  // Neither what was planned, nor what the guards would judge, holds for a position that stands on the entry's side already.
  if (heldOn(position.held, along) !== ZERO)
    return end(moveTo(order, 'rejected', { error: turned(order, heldInAll(position.held)) }));
  // What it was planned on was no longer so.
  if (heldOn(position.held, against) === ZERO)
    return sendNext(onWhatStands(order, facts, rules), entry, facts, rules);
  return isKept(order, close) ? end(aborted(order, error)) : begin(order, facts, rules);
}

function sendNext(order: Order, leg: Leg, facts: Facts, rules: Rules): Step {
  const { now, isSameLogin } = facts;
  if (isLate(order, now)) return end(late(order));
  if (!isSameLogin) return end(stopped(order, 'failed', otherLogin(order)));
  const instrument = instrumentOr(order, facts, 'failed');
  if (typeof instrument !== 'string') return instrument;
  // Opened is what the symbol means now, whichever month was closed.
  const legs = order.legs.map((each) => (each === leg ? { ...each, instrument } : each));
  return sendGuarded({ ...order, legs }, leg, facts, rules);
}

/** An entry is judged right before it is sent; a close is never held back. */
function sendGuarded(order: Order, leg: Leg, facts: Facts, rules: Rules): Step {
  const { guards, now, able } = facts;
  const key: LegKey = keyOf(leg);
  // An exit's alert has longer than an entry, because it is to get out.
  const age = now - millis(order.submittedAt);
  if (leg.leg === 'entry' && isExit(order) && age > rules.openWithinMs)
    return end(stopped(order, 'expired', tooOldToOpen(order, rules.openWithinMs)));
  if (
    leg.leg === 'entry' &&
    able.wholeStops &&
    !isWhole(leg.quantity) &&
    asksForStop(order.wish?.fromFlat ?? {})
  )
    return refuse(order, wholeStopsOnly(order, leg.quantity));
  if (leg.leg !== 'entry' || guards === 'none') return { do: 'send', order, leg: key, again: false };
  const positionAfter = furthestPosition(order, facts, rules);
  const isJudged =
    guards !== 'unjudged' &&
    guards.quantity === mainLeg(order)?.quantity &&
    guards.positionAfter === positionAfter;
  if (!isJudged) return { do: 'judge the guards', order, positionAfter };
  const judged = { ...order, guards: guards.verdicts };
  const refusal = guardRefusal(guards.verdicts);
  return refusal ? refuse(judged, refusal) : { do: 'send', order: judged, leg: key, again: false };
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
