// What to do next about a position's protection: one pure decision over what is saved of it (all that a successor would have
// after a crash) and what this pass has seen at the broker.
//
//   look      what is held, which stops stand, and what became of each leg that is not shown (recognise.ts)
//   record    what a leg has filled
//   flat      everything of ours is taken away, and it ends
//   stop      the one that is wanted, before anything else: in place where the broker can, else the new one before the old one
//             goes; where the broker reserves what an order would close, old before new
//   targets   limit orders that only reduce, each of its part
//   rest      until the next sweep, or sooner where the price decides
//
// A stop is sent again in doubt, because it can only reduce, and the surplus is taken away when it is shown. A target never is.
// The driver in worker/lane/protect.ts does what it is told, and saves each leg as `sending` before it is sent.

import { add, compare, type Decimal, ZERO } from '../decimal.ts';
import { millis, timestamp } from '../ids.ts';
import { brokenEven, follow, followsPrice, priceFor } from './follow.ts';
import { type Parcel, parcels } from './parcels.ts';
import {
  type ExitReason,
  isBetter,
  isPositive,
  isWatched,
  leftOf,
  type Protection,
  type ProtectiveLeg,
  protectiveId,
} from './protection.ts';
import { ofLastHour, pauseOf, type Recognised, recognise, withLeg } from './recognise.ts';
import type { Facts, Rules, Step } from './step.ts';

/** Of the next try, from the first refusal on. */
const TRIES_AT_MS = [0, 1_000, 3_000, 7_000];
/** So often in an hour it is put back: then somebody means it, or another program does. */
const MOST_RESTORED = 3;
/** Of an order whose fate nobody knows, the position decides. */
const UNSETTLED_MS = 5_000;
/** An exit that took it away has died: it is protected again. */
const SUSPENDED_MS = 15_000;
/** What was asked to leave is looked at so often before something else is done. */
const MOST_WAITS = 6;

export function nextProtection(wanted: Protection, facts: Facts, rules: Rules): Step {
  const { now, held, stops, quoted, able, tickSize } = facts;
  if (!isWatched(wanted)) return { do: 'end', protection: wanted };
  if (wanted.closing !== null && facts.isClosing) return rest(wanted, now + UNSETTLED_MS);
  const backAt = wanted.suspendedAt === null ? 0 : millis(wanted.suspendedAt) + SUSPENDED_MS;
  if (now < backAt) return rest(wanted, backAt);
  if (held === null) return { do: 'read the position' };
  if (stops === null) return { do: 'look at the stops' };
  const seen = recognise(wanted, stops, facts, rules);
  if ('do' in seen) return seen;
  if (!isPositive(held.quantity)) return whenFlat(seen, facts);
  const protection = { ...seen.protection, suspendedAt: null, seenAt: timestamp(now) };
  if (protection.closesFor !== null) return close(protection, protection.closesFor, facts, rules);
  if (protection.timeStopAt !== null && now >= millis(protection.timeStopAt))
    return close(protection, 'time_stop', facts, rules);
  if (followsPrice(protection) && quoted === null) return { do: 'ask for the price' };
  const better = quoted ? follow(protection, quoted, tickSize, now) : brokenEven(protection, null);
  const kept = { ...seen, protection: marked(better, isCovered(better, seen, held.quantity), facts, rules) };
  const layout = parcels(kept.protection, held.quantity, { ...facts, reserves: able.reserves });
  const next = able.reserves
    ? nextReserved(kept, layout, facts, rules)
    : (nextStop(kept, layout, facts, rules) ?? nextTarget(kept, layout, facts, rules));
  return next ?? rest(kept.protection, dueAt(kept.protection, facts, rules));
}

/** Something of ours closes all that is held, at whatever price. */
function isCovered({ stop }: Protection, { standing, ofAll }: Recognised, held: Decimal): boolean {
  if (stop === null) return true;
  const stops = standing.filter((leg) => leg.stop !== null && leg.status === 'standing');
  if (stops.some(({ clientOrderId }) => ofAll.has(clientOrderId))) return true;
  const sum = stops.reduce<Decimal>((total, leg) => add(total, leftOf(leg)), ZERO);
  return compare(sum, held) >= 0;
}

/** Whether it protects, and since when it does not. */
function marked(protection: Protection, isSo: boolean, { now }: Facts, rules: Rules): Protection {
  const { unprotectedSince, unprotectedMs } = protection;
  const isSettled = protection.state === 'standing' && protection.refused === null;
  if (isSo && isSettled && unprotectedSince === null) return protection;
  if (isSo)
    return {
      ...protection,
      state: 'standing',
      reason: null,
      refused: null,
      unprotectedSince: null,
      unprotectedMs:
        unprotectedMs ?? (unprotectedSince === null ? 0 : Math.max(0, now - millis(unprotectedSince))),
    };
  const since = unprotectedSince ?? timestamp(now);
  const isLong = now - millis(since) >= rules.protectMs;
  return {
    ...protection,
    state: isLong ? 'unprotected' : 'armed',
    reason: isLong ? (protection.refused?.words ?? protection.reason) : protection.reason,
    unprotectedSince: since,
  };
}

/** When the broker holds nothing on its side. */
function whenFlat(seen: Recognised, facts: Facts): Step {
  const { protection } = seen;
  const leaving = removal(seen, facts, () => true);
  if (leaving) return leaving;
  // What may yet come is waited for, and what was just opened may not be shown yet.
  if (facts.isUnsettled || facts.held?.isAgreed === false) return rest(protection, facts.now + UNSETTLED_MS);
  if (seen.standing.length > 0) return rest(protection, facts.now + UNSETTLED_MS);
  return {
    do: 'end',
    protection: {
      ...protection,
      state: 'ended',
      unprotectedSince: null,
      dueAt: null,
      closing: null,
      closesFor: null,
    },
  };
}

/** The next thing to do until the one stop that is wanted stands, and no other of ours. */
function nextStop(seen: Recognised, layout: readonly Parcel[], facts: Facts, rules: Rules): Step | null {
  const { protection, standing, ofAll } = seen;
  const wanted = layout.find(({ level }) => level === 0);
  const ours = standing.filter(({ level, isLeaving }) => level === 0 && !isLeaving);
  const right = ours.findLast(
    (leg) => leg.stop === wanted?.stop && (ofAll.has(leg.clientOrderId) || leg.quantity === wanted?.quantity),
  );
  if (!wanted || right) return removal(seen, facts, (leg) => leg.level === 0 && leg !== right);
  const held = holdOff(protection, facts, rules);
  if (held) return held;
  const last = ours.at(-1);
  return facts.able.moves === 'amend' && last
    ? move(protection, last, wanted, facts)
    : place(protection, wanted, facts);
}

/** The targets, once the stop stands. What is wrong leaves first. */
function nextTarget(seen: Recognised, layout: readonly Parcel[], facts: Facts, _rules: Rules): Step | null {
  const isWrong = (leg: ProtectiveLeg) =>
    leg.level > 0 &&
    leg.status !== 'sending' &&
    !layout.some(
      ({ level, limit, quantity }) =>
        level === leg.level && limit === leg.limit && quantity === leftOf(leg) && !leg.isLeaving,
    );
  return removal(seen, facts, isWrong) ?? nextMissing(seen, layout, facts, null);
}

/** Where the broker keeps what an order would close: each parcel by itself, and nothing twice. */
function nextReserved(seen: Recognised, layout: readonly Parcel[], facts: Facts, rules: Rules): Step | null {
  const { protection, standing } = seen;
  const { held, able } = facts;
  const parcelOf = (leg: ProtectiveLeg) => layout.find(({ level }) => level === leg.level);
  const isElsewhere = (leg: ProtectiveLeg) => {
    const wanted = parcelOf(leg);
    return (
      wanted !== undefined &&
      wanted.limit === leg.limit &&
      wanted.quantity === leftOf(leg) &&
      wanted.stop !== leg.stop
    );
  };
  const isRight = (leg: ProtectiveLeg) =>
    parcelOf(leg)?.stop === leg.stop &&
    parcelOf(leg)?.limit === leg.limit &&
    parcelOf(leg)?.quantity === leftOf(leg);
  const isBoth = (leg: ProtectiveLeg) => (leg.stop === null) === (parcelOf(leg)?.stop === null);
  const misplaced = standing.find((leg) => !leg.isLeaving && isElsewhere(leg) && isBoth(leg));
  const to = misplaced && parcelOf(misplaced);
  if (able.moves === 'amend' && misplaced && to)
    return holdOff(protection, facts, rules) ?? move(protection, misplaced, to, facts);
  const leaving = removal(seen, facts, (leg) => leg.status !== 'sending' && (leg.isLeaving || !isRight(leg)));
  if (leaving) return leaving;
  const taken = protection.legs.reduce<Decimal>((sum, leg) => add(sum, leftOf(leg)), ZERO);
  const room = { taken, held: held?.quantity ?? ZERO };
  const stopMissing = layout.some(
    ({ level, stop }) => stop !== null && !protection.legs.some((leg) => leg.level === level),
  );
  return (stopMissing ? holdOff(protection, facts, rules) : null) ?? nextMissing(seen, layout, facts, room);
}

/** The first parcel of which nothing is there. */
function nextMissing(
  { protection }: Recognised,
  layout: readonly Parcel[],
  facts: Facts,
  room: { readonly taken: Decimal; readonly held: Decimal } | null,
): Step | null {
  const { targetsAgainAt } = protection;
  const isHeldBack = targetsAgainAt !== null && facts.now < millis(targetsAgainAt);
  const missing = layout.find(
    ({ level, stop }) =>
      (stop !== null || !isHeldBack) &&
      (room !== null || level > 0) &&
      !protection.legs.some((leg) => leg.level === level),
  );
  if (!missing) return null;
  if (room && compare(add(room.taken, missing.quantity), room.held) > 0) return null;
  return place(protection, missing, facts);
}

/** What keeps the stop from being placed now; null: nothing does. */
function holdOff(protection: Protection, facts: Facts, rules: Rules): Step | null {
  const { now, quoted, unprotected } = facts;
  const { stop, side, refused, restoredAt } = protection;
  if (stop === null) return null;
  if (ofLastHour(restoredAt, now).length > MOST_RESTORED)
    return rest(
      {
        ...protection,
        state: 'unprotected',
        reason:
          'The stop was taken away or changed at the broker again and again, and is not put back any more.',
      },
      now + rules.sweepMs,
    );
  const price = quoted && priceFor(side, quoted);
  if (price !== null && !isBetter(side, price, stop.price)) return close(protection, stop.kind, facts, rules);
  if (refused === null) return null;
  const over = millis(refused.firstAt) + rules.protectMs;
  if (now >= over && unprotected === 'close') return close(protection, 'unprotected', facts, rules);
  const next =
    now >= over
      ? millis(refused.lastAt) + rules.sweepMs
      : Math.min(over, millis(refused.firstAt) + (TRIES_AT_MS[refused.times] ?? rules.protectMs));
  return now < next ? rest(protection, next) : null;
}

function place(protection: Protection, { level, quantity, limit, stop }: Parcel, facts: Facts): Step {
  const leg: ProtectiveLeg = {
    ...{ level, quantity, limit, stop },
    ...nameOf(protection, level),
    brokerRef: null,
    status: 'sending',
    filled: ZERO,
    sentAt: timestamp(facts.now),
    isLeaving: false,
  };
  // The same call overwrites the one that is there.
  const isOverwritten = (old: ProtectiveLeg) => facts.able.moves === 'set' && old.level === level;
  const legs = protection.legs.map((old) => (isOverwritten(old) ? { ...old, isLeaving: true } : old));
  return {
    do: 'place',
    protection: { ...protection, revision: leg.revision + 1, legs: [...legs, leg] },
    leg,
  };
}

/** Until the answer is known, both names may be its own. */
function move(protection: Protection, from: ProtectiveLeg, to: Parcel, facts: Facts): Step {
  const leg: ProtectiveLeg = {
    ...from,
    ...nameOf(protection, from.level),
    quantity: from.limit === null ? to.quantity : from.quantity,
    stop: to.stop,
    brokerRef: null,
    status: 'sending',
    sentAt: timestamp(facts.now),
  };
  const moved = withLeg(protection, from, { ...from, status: 'taken' });
  return {
    do: 'move',
    protection: { ...moved, revision: leg.revision + 1, legs: [...moved.legs, leg] },
    from,
    leg,
  };
}

const nameOf = ({ id, revision }: Protection, level: number) => ({
  revision,
  clientOrderId: protectiveId(id, level, revision),
});

/** Of the first that is to leave, and of what stands there in no record of ours; null: nothing is, or it was asked and takes its time. */
function removal(
  { protection, standing, strays }: Recognised,
  facts: Facts,
  leaves: (leg: ProtectiveLeg) => boolean,
): Step | null {
  const leaving = standing.filter(leaves);
  const leg = leaving.find(({ clientOrderId }) => !facts.asked.has(clientOrderId));
  if (leg) {
    const last = { ...leg, isLeaving: true };
    return { do: 'remove', protection: withLeg(protection, leg, last), leg: last };
  }
  const stray = strays.find(({ clientOrderId }) => clientOrderId !== null && !facts.asked.has(clientOrderId));
  if (stray) return { do: 'clear', protection, stop: stray };
  const isAwaited = leaving.length > 0 && facts.waits < MOST_WAITS;
  return isAwaited ? { do: 'wait', protection, ms: pauseOf(facts) } : null;
}

/** Where one was asked for and has ended, what it left is closed by the next, a sweep later. */
function close(protection: Protection, reason: ExitReason, { now }: Facts, rules: Rules): Step {
  const again = protection.closing === null ? 0 : millis(protection.closing.at) + rules.sweepMs;
  return now < again ? rest(protection, again) : { do: 'close', protection, reason };
}

const rest = (protection: Protection, untilMs: number): Step => ({ do: 'rest', protection, untilMs });

function dueAt(protection: Protection, { now, isUnsettled }: Facts, rules: Rules): number {
  const { timeStopAt } = protection;
  return Math.min(
    now + rules.sweepMs,
    followsPrice(protection) ? now + rules.followMs : Number.POSITIVE_INFINITY,
    isUnsettled ? now + UNSETTLED_MS : Number.POSITIVE_INFINITY,
    timeStopAt === null ? Number.POSITIVE_INFINITY : Math.max(now + 1, millis(timeStopAt)),
  );
}
