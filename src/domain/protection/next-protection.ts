// What to do next about a position's protection: one pure decision over what is saved of it (all that a successor would have
// after a crash) and what this pass has seen at the broker.
//
//   look      what is held, which stops stand, and what became of each leg that is not shown (recognise.ts)
//   record    what a leg has filled
//   flat      everything of ours is taken away, and it ends
//   stop      the one that is wanted, before anything else: in place where the broker can, else the new one before the old one
//             goes; where the broker reserves what an order would close, old before new (reserved.ts)
//   targets   limit orders that only reduce, each of its part
//   rest      until the next sweep, or sooner where the price decides
//
// A stop is sent again in doubt, because it can only reduce, and the surplus is taken away when it is shown. A target never is.
// The driver in worker/lane/protect.ts does what it is told, and saves each leg as `sending` before it is sent.

import { add, compare, type Decimal, ZERO } from '../decimal.ts';
import { millis, timestamp } from '../ids.ts';
import { brokenEven, follow, followsPrice } from './follow.ts';
import { type Parcel, parcels, settledTargets } from './parcels.ts';
import {
  isAwaiting,
  isPositive,
  isWatched,
  leftOf,
  type Protection,
  type ProtectiveLeg,
  wantsSomething,
} from './protection.ts';
import { isGivenUp, type Recognised, recognise } from './recognise.ts';
import { nextReserved } from './reserved.ts';
import {
  close,
  holdOff,
  isAskedAgain,
  isAtRest,
  move,
  place,
  removal,
  rest,
  SOON_MS,
  undecidedStop,
} from './sending.ts';
import type { Facts, Rules, Step } from './step.ts';
import { isForsaken } from './undecided.ts';
import { toCover } from './under-way.ts';
import { awaitsOpening, isBeyond, isTooLittle, keepable, tellingPart } from './whole.ts';

/** Of an order whose fate nobody knows, the position decides. */
const UNSETTLED_MS = 5_000;
/** An exit that took it away has died: it is protected again. */
const SUSPENDED_MS = 15_000;

export function nextProtection(wanted: Protection, facts: Facts, rules: Rules): Step {
  const { now, held, stops } = facts;
  if (!isWatched(wanted)) return { do: 'end', protection: wanted };
  if (isUnwanted(wanted, facts)) return ended(wanted);
  const backAt = wanted.suspendedAt === null ? 0 : millis(wanted.suspendedAt) + SUSPENDED_MS;
  if (now < backAt) return rest(wanted, backAt);
  const quiet = quietly(wanted, facts, rules);
  if (quiet) return quiet;
  if (held === null) return { do: 'read the position' };
  if (stops === null) return { do: 'look at the stops' };
  const seen = recognise(wanted, stops, facts, rules);
  if ('do' in seen) return seen;
  return isPositive(held.quantity)
    ? whenHeld(seen, held.quantity, facts, rules)
    : whenFlat(seen, facts, rules);
}

/** Nobody wants anything of it any more, and nothing of it is left. */
const isUnwanted = (protection: Protection, { isUnsettled }: Facts): boolean =>
  !wantsSomething(protection) &&
  protection.legs.length === 0 &&
  !isAwaiting(protection) &&
  protection.closesFor === null &&
  !isUnsettled;

/** Between two sweeps only the price can change what is wanted: nobody else is asked then. */
function quietly(protection: Protection, facts: Facts, rules: Rules): Step | null {
  const { now, quoted, held, stops, tickSize, isUnsettled, isTold } = facts;
  const { state, seenAt, legs } = protection;
  const isSeen = seenAt !== null && now - millis(seenAt) < rules.sweepMs - rules.followMs;
  const isStill =
    state === 'standing' && protection.closesFor === null && !isUnsettled && legs.every(isAtRest);
  if (isTold || held !== null || stops !== null || !isSeen || !isStill || !followsPrice(protection))
    return null;
  if (isDue(protection, now)) return null;
  if (quoted === null) return { do: 'ask for the price' };
  const better = follow(protection, quoted, tickSize, now);
  return better.stop === protection.stop ? rest(better, dueAt(better, facts, rules)) : null;
}

const isDue = ({ timeStopAt }: Protection, now: number): boolean =>
  timeStopAt !== null && now >= millis(timeStopAt);

function whenHeld(seen: Recognised, held: Decimal, facts: Facts, rules: Rules): Step {
  const { now, quoted, able, tickSize } = facts;
  const at = timestamp(now);
  const protection = settledTargets(
    // What a position that lags behind seemed to need is looked at again.
    { ...seen.protection, suspendedAt: null, heldAt: at, seenAt: facts.held?.isAgreed ? at : null },
    held,
    facts,
  );
  // A stop that would keep more than there is, is refused whole.
  const bare = toCover(held, facts);
  const stopped = awaitsOpening(protection, bare, facts) ? null : protection.closesFor;
  const reason = stopped ?? (isDue(protection, now) ? 'time_stop' : null);
  const closing = reason && close(protection, reason, facts, rules);
  if (closing) return closing;
  if (followsPrice(protection) && quoted === null) return { do: 'ask for the price' };
  const better = quoted ? follow(protection, quoted, tickSize, now) : brokenEven(protection, null);
  if (!isPositive(bare)) return whenClosing({ ...seen, protection: better }, held, facts, rules);
  const isBare = isTooLittle(better, bare, facts);
  const mayPass = isBare && facts.isOpen;
  if (mayPass && quoted === null) return { do: 'ask for the price' };
  const passed =
    mayPass && better.stop && isBeyond(better, facts) ? close(better, better.stop.kind, facts, rules) : null;
  if (passed) return passed;
  const coverable = keepable(bare, facts);
  const isSafe = !isBare && isCovered(better, seen, coverable);
  const kept = { ...seen, protection: tellingPart(marked(better, isSafe, facts, rules), bare, facts) };
  // Its order is under way, and closes what it can.
  if (seen.standing.some(({ triggeredAt }) => triggeredAt !== null))
    return rest(kept.protection, now + SOON_MS);
  const layout = parcels(kept.protection, coverable, {
    ...facts,
    reserves: able.reserves,
    // A stop of more than is held does no harm, but where it reserves what it would close.
    stopped: able.reserves ? coverable : (facts.held?.most ?? held),
    isOut: isOut(kept, facts, rules),
  });
  const next = able.reserves
    ? nextReserved(kept, layout, { isSafe, held: bare }, facts, rules)
    : (nextStop(kept, layout, isSafe, facts, rules) ?? nextTarget(kept, layout, facts, rules));
  if (next) return next;
  const all =
    able.reserves || rightStop(kept, layout, facts) !== null
      ? { ...kept.protection, refused: null }
      : kept.protection;
  return rest(all, dueAt(isBare ? { ...all, state: 'standing' } : all, facts, rules));
}

/** Where the broker reserves, and an order of ours closes all of it, or what is held is shown late. */
function whenClosing(seen: Recognised, held: Decimal, facts: Facts, rules: Rules): Step {
  const { protection } = seen;
  const leaving = removal(seen, facts, ({ isLeaving }) => isLeaving);
  if (leaving) return leaving;
  if (!facts.held?.isAgreed) return rest(protection, facts.now + SOON_MS);
  const waiting = marked(protection, protection.stop === null, facts, rules);
  if (waiting.state !== 'unprotected') return rest(waiting, facts.now + UNSETTLED_MS);
  // Nobody has heard of its end for so long: it may have come. Where it has not, the broker takes no stop, and nothing is closed for that.
  const layout = parcels({ ...waiting, targets: [] }, keepable(held, facts), { ...facts, reserves: true });
  const bare = { ...seen, protection: waiting };
  const trying: Facts = { ...facts, unprotected: 'alert' };
  const next = nextReserved(bare, layout, { isSafe: false, held }, trying, rules);
  return next ?? rest(waiting, dueAt(waiting, facts, rules));
}

/** They are tried again with the next sweep, or where somebody wants to know. */
function areTargetsRefused({ targetsAgainAt }: Protection, facts: Facts, { sweepMs }: Rules): boolean {
  if (targetsAgainAt === null || facts.now >= millis(targetsAgainAt)) return false;
  return !isAskedAgain(facts, millis(targetsAgainAt) - sweepMs);
}

/** Which targets cannot stand now: they were refused, taken away again and again, or may yet arrive. */
const isOut =
  ({ protection }: Recognised, facts: Facts, rules: Rules) =>
  (level: number): boolean => {
    const { now, able } = facts;
    const { targetsRestoredAt, legs } = protection;
    const isRefused = able.reserves && areTargetsRefused(protection, facts, rules);
    const isMissing = able.reserves && legs.some((leg) => leg.level === level && leg.missingSince !== null);
    return isRefused || isMissing || isGivenUp(targetsRestoredAt, now);
  };

/** Something of ours closes all that is held, at whatever price. */
function isCovered({ stop }: Protection, { standing, ofAll }: Recognised, held: Decimal): boolean {
  if (stop === null) return true;
  const stops = standing.filter(
    (leg) => leg.stop !== null && leg.status === 'standing' && leg.triggeredAt === null,
  );
  if (stops.some(({ clientOrderId }) => ofAll.has(clientOrderId))) return true;
  const sum = stops.reduce<Decimal>((total, leg) => add(total, leftOf(leg)), ZERO);
  return compare(sum, held) >= 0;
}

/** Whether it protects, and since when it does not. */
function marked(protection: Protection, isSafe: boolean, { now }: Facts, rules: Rules): Protection {
  const { unprotectedSince, unprotectedMs, state, refused } = protection;
  if (isSafe) {
    if (state === 'standing' && unprotectedSince === null) return protection;
    const ms = unprotectedSince === null ? 0 : Math.max(0, now - millis(unprotectedSince));
    return {
      ...protection,
      ...{ state: 'standing', reason: null, unprotectedSince: null, unprotectedMs: unprotectedMs ?? ms },
    };
  }
  const since = unprotectedSince ?? timestamp(now);
  const isLong = now - millis(since) >= rules.protectMs;
  return {
    ...protection,
    state: isLong ? 'unprotected' : 'armed',
    reason: isLong ? (refused?.words ?? protection.reason) : protection.reason,
    unprotectedSince: since,
  };
}

/** When the broker holds nothing on its side. */
function whenFlat(seen: Recognised, facts: Facts, rules: Rules): Step {
  const { protection } = seen;
  const { now, held, isUnsettled, resting, asked } = facts;
  // What was just opened may not be shown yet: it is not to lose its stop for that.
  // Whatever was seen before, it is looked at again: not only the price decides.
  if (held?.isAgreed === false) return rest({ ...protection, seenAt: null }, now + SOON_MS);
  // Nor what was shown a moment ago, while an entry is under way that may have brought it: our fills may not have known of it yet.
  const shownAt = protection.heldAt ?? protection.seenAt;
  const isShownLate = shownAt !== null && now - millis(shownAt) < UNSETTLED_MS;
  const isLate = (isUnsettled || isAwaiting(protection)) && isShownLate;
  const leaving = removal(seen, facts, (leg) => !isLate || leg.level > 0);
  if (leaving) return leaving;
  if (isUnsettled || protection.wantedBy.length > 0)
    return rest(protection, now + (isForsaken(protection, now) ? rules.sweepMs : UNSETTLED_MS));
  // What the broker does not know may turn out to have closed it. And somebody was told that what he asked for is done.
  if (protection.legs.length > 0 || isLate) return rest(protection, now + Math.min(SOON_MS, rules.sweepMs));
  if (resting === null) return { do: 'look at the orders' };
  const order = resting.find(({ clientOrderId }) => !asked.has(clientOrderId));
  return order ? { do: 'cancel', protection, order } : ended(protection);
}

const ended = (protection: Protection): Step => ({
  do: 'end',
  protection: {
    ...protection,
    ...{ state: 'ended', unprotectedSince: null, dueAt: null, closing: null, closesFor: null },
  },
});

const wantedStop = (layout: readonly Parcel[]): Parcel | undefined => layout.find(({ level }) => level === 0);

const watchesRight = (leg: ProtectiveLeg, { triggerBy }: Facts): boolean =>
  (leg.triggerBy ?? triggerBy) === triggerBy;

/** The one that stands as it is wanted; undefined: none is wanted. */
function rightStop(
  seen: Recognised,
  layout: readonly Parcel[],
  facts: Facts,
): ProtectiveLeg | null | undefined {
  const wanted = wantedStop(layout);
  if (!wanted) return undefined;
  const isRight = (leg: ProtectiveLeg) =>
    isEnough(leg, wanted, seen, facts) &&
    (seen.ofAll.has(leg.clientOrderId) || leg.quantity === wanted.quantity);
  return seen.standing.findLast(isRight) ?? null;
}

/** It closes what is held by now, or more, at the right price. */
const isEnough = (leg: ProtectiveLeg, wanted: Parcel, { ofAll }: Recognised, facts: Facts): boolean =>
  leg.level === 0 &&
  leg.status === 'standing' &&
  !leg.isLeaving &&
  leg.stop === wanted.stop &&
  watchesRight(leg, facts) &&
  (ofAll.has(leg.clientOrderId) || compare(leg.quantity, wanted.quantity) >= 0);

/** The next thing to do until the one stop that is wanted stands, and no other of ours. */
function nextStop(
  seen: Recognised,
  layout: readonly Parcel[],
  isSafe: boolean,
  facts: Facts,
  rules: Rules,
): Step | null {
  const { protection, standing } = seen;
  const wanted = wantedStop(layout);
  const right = rightStop(seen, layout, facts);
  const stays = right ?? undecidedStop(seen, layout, facts);
  if (!wanted || right) return removal(seen, facts, (leg) => leg.level === 0 && leg !== stays);
  // Where one of several is enough for now, the others leave before a third one comes.
  const enough = standing.findLast((leg) => isEnough(leg, wanted, seen, facts));
  const isSpare = (leg: ProtectiveLeg) => leg.level === 0 && leg !== enough;
  const spare = enough && standing.some(isSpare) && removal(seen, facts, isSpare);
  if (spare) return spare;
  const held = holdOff(protection, isSafe, facts, rules);
  if (held) return held;
  const last = standing.findLast((leg) => leg.level === 0 && leg.status === 'standing' && !leg.isLeaving);
  // Another price to watch is another stop: not everybody amends that.
  return facts.able.moves === 'amend' && last && !last.isStuck && watchesRight(last, facts)
    ? move(protection, last, wanted, facts)
    : place(protection, wanted, facts);
}

/** The targets, once the stop stands. What is wrong leaves first. */
function nextTarget(seen: Recognised, layout: readonly Parcel[], facts: Facts, rules: Rules): Step | null {
  const isWanted = (leg: ProtectiveLeg) =>
    layout.some(
      ({ level, limit, quantity }) =>
        level === leg.level && limit === leg.limit && quantity === leftOf(leg) && !leg.isLeaving,
    );
  const leaving = removal(seen, facts, (leg) => leg.level > 0 && leg.status === 'standing' && !isWanted(leg));
  if (leaving) return leaving;
  if (areTargetsRefused(seen.protection, facts, rules)) return null;
  const { legs } = seen.protection;
  const missing = layout.find(({ level }) => level > 0 && !legs.some((leg) => leg.level === level));
  return missing ? place(seen.protection, missing, facts) : null;
}

function dueAt(protection: Protection, { now, isUnsettled, held }: Facts, rules: Rules): number {
  const { timeStopAt, state, legs } = protection;
  // What the broker shows late may be more than what it covers.
  const isLagging = held?.isAgreed === false;
  const isPending =
    state !== 'standing' || isLagging || isAwaiting(protection) || legs.some((leg) => !isAtRest(leg));
  return Math.min(
    now + rules.sweepMs,
    isPending ? now + SOON_MS : Number.POSITIVE_INFINITY,
    followsPrice(protection) ? now + rules.followMs : Number.POSITIVE_INFINITY,
    isUnsettled ? now + UNSETTLED_MS : Number.POSITIVE_INFINITY,
    timeStopAt === null ? Number.POSITIVE_INFINITY : Math.max(now + 1, millis(timeStopAt)),
  );
}
