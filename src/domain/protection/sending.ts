// What is sent, moved and taken away, and what holds it off.

import { ZERO } from '../decimal.ts';
import { millis, timestamp } from '../ids.ts';
import { priceFor } from './follow.ts';
import type { Parcel } from './parcels.ts';
import {
  type ExitReason,
  isBetter,
  type Protection,
  type ProtectiveLeg,
  protectiveId,
} from './protection.ts';
import { isGivenUp, MOST_WAITS, pauseOf, type Recognised, withLeg } from './recognise.ts';
import type { Facts, Rules, Step } from './step.ts';
import { isBeingClosed } from './under-way.ts';

/** Of each try, from the first refusal on. */
const TRIES_AT_MS = [0, 1_000, 3_000, 7_000];

/** What keeps the stop from being sent now; null: nothing does. `isSafe`: another stands, of the whole, at another price. */
export function holdOff(protection: Protection, isSafe: boolean, facts: Facts, rules: Rules): Step | null {
  const { now, quoted, unprotected } = facts;
  const { stop, side, refused, unprotectedSince } = protection;
  if (stop === null) return null;
  if (isGivenUp(protection.restoredAt, now))
    return restSoon({ ...protection, state: 'unprotected', reason: FOUGHT_OVER }, now + rules.sweepMs, now);
  const price = quoted && priceFor(side, quoted);
  const isPassed = price !== null && !isBetter(side, price, stop.price);
  const closing = isPassed ? close(protection, stop.kind, facts, rules) : null;
  if (closing) return closing;
  const expiring = isSafe ? null : whileExpiring(protection, facts, rules);
  if (expiring) return expiring;
  if (refused === null) return null;
  const first = millis(refused.firstAt);
  const tries = TRIES_AT_MS.filter((ms) => ms < rules.protectMs).length;
  // Whoever was filled longer ago, and is refused since a while, has waited long enough once all tries were made.
  const overAt =
    Math.min(first, unprotectedSince === null ? first : millis(unprotectedSince)) + rules.protectMs;
  const isOver = refused.times >= tries && now >= overAt;
  // Only what was refused each time is closed for it, and nothing that is protected.
  const closed =
    isOver && !isSafe && unprotected === 'close' ? close(protection, 'unprotected', facts, rules) : null;
  if (closed) return closed;
  const next =
    refused.times < tries
      ? Math.max(first + (TRIES_AT_MS[refused.times] ?? 0), millis(refused.lastAt) + 100)
      : isOver || isSafe
        ? millis(refused.lastAt) + rules.sweepMs
        : overAt;
  return now < next && !isAskedAgain(facts, millis(refused.lastAt)) ? restSoon(protection, next, now) : null;
}

const FOUGHT_OVER =
  'The stop was taken away or changed at the broker again and again, and is not put back any more.';

/** The broker keeps no stop there for long: as where it refuses one, the position is closed, or it is tried each sweep. */
function whileExpiring(protection: Protection, facts: Facts, rules: Rules): Step | null {
  const { now, unprotected } = facts;
  const { expiredAt } = protection;
  const last = expiredAt.at(-1);
  if (last === undefined || !isGivenUp(expiredAt, now)) return null;
  const bare: Protection = {
    ...protection,
    state: 'unprotected',
    reason: 'The stop expires at the broker again and again.',
  };
  const closing = unprotected === 'close' ? close(bare, 'unprotected', facts, rules) : null;
  if (closing) return closing;
  const next = millis(last) + rules.sweepMs;
  return now < next && !isAskedAgain(facts, millis(last)) ? restSoon(bare, next, now) : null;
}

/** Somebody wants to know since then: it is tried once more. */
export const isAskedAgain = ({ askedAt }: Facts, refusedAt: number): boolean =>
  askedAt !== null && refusedAt < askedAt;

export function place(protection: Protection, parcel: Parcel, facts: Facts): Step {
  const { level, quantity, limit, stop } = parcel;
  // The same call overwrites the one that is there: it is the same leg, by another name.
  const isOverwriting = facts.able.moves === 'set' && level === 0 && !facts.able.reserves;
  const isThere = (leg: ProtectiveLeg) => leg.level === 0 && leg.missingSince === null;
  const old = isOverwriting ? protection.legs.findLast(isThere) : undefined;
  const leg: ProtectiveLeg = {
    ...{ level, quantity, limit, stop },
    ...nameOf(protection, level),
    formerIds: old ? [old.clientOrderId, ...old.formerIds].slice(0, 3) : [],
    brokerRef: old?.brokerRef ?? null,
    status: 'sending',
    kind: stop === null ? null : (protection.stop?.kind ?? 'stop_loss'),
    triggerBy: stop === null ? null : facts.triggerBy,
    filled: ZERO,
    sentAt: timestamp(facts.now),
    isLeaving: false,
    isStuck: false,
    missingSince: null,
    triggeredAt: null,
    replacedAt: null,
  };
  const others = isOverwriting ? protection.legs.filter((each) => !isThere(each)) : protection.legs;
  const legs = others.map((each) =>
    each.level === level && each.missingSince !== null && each.replacedAt === null
      ? { ...each, replacedAt: leg.sentAt }
      : each,
  );
  return {
    do: 'place',
    protection: { ...protection, revision: leg.revision + 1, legs: [...legs, leg] },
    leg,
  };
}

/** Until the answer is known, both names may be its own. */
export function move(protection: Protection, from: ProtectiveLeg, to: Parcel, facts: Facts): Step {
  const leg: ProtectiveLeg = {
    ...from,
    ...nameOf(protection, from.level),
    quantity: from.limit === null ? to.quantity : from.quantity,
    stop: to.stop,
    kind: protection.stop?.kind ?? from.kind,
    triggerBy: facts.triggerBy,
    brokerRef: null,
    status: 'sending',
    sentAt: timestamp(facts.now),
  };
  const moved = withLeg(protection, from, { ...from, status: 'taken', sentAt: leg.sentAt });
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

/** Nobody wants it any more, but for one of whom it is not known whether he is in the position: it stays until that is. */
export const undecidedStop = (
  { standing }: Recognised,
  layout: readonly Parcel[],
  { isUndecided }: Facts,
): ProtectiveLeg | undefined =>
  isUndecided && layout.every(({ stop }) => stop === null)
    ? standing.findLast(({ stop, status }) => stop !== null && status === 'standing')
    : undefined;

/** Of the first that is to leave, and of what stands there in no record of ours; null: nothing is, or it was asked and takes its time. */
export function removal(
  { protection, standing, strays }: Recognised,
  facts: Facts,
  leaves: (leg: ProtectiveLeg) => boolean,
): Step | null {
  const leaving = standing.filter((leg) => leaves(leg));
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

/** null: its order is under way, or was asked for a moment ago: it is kept as it is meanwhile. What that leaves is closed by the next, a sweep later. */
export function close(protection: Protection, reason: ExitReason, facts: Facts, rules: Rules): Step | null {
  if (isBeingClosed(facts)) return null;
  const again = protection.closing === null ? 0 : millis(protection.closing.at) + rules.sweepMs;
  return facts.now < again ? null : { do: 'close', protection, reason };
}

export const rest = (protection: Protection, untilMs: number): Step => ({ do: 'rest', protection, untilMs });

/** Until something that was asked for has come about. */
export const SOON_MS = 1_000;

/** It stands, nobody has asked for its end, and the broker knows it. */
export const isAtRest = ({ status, isLeaving, missingSince, triggeredAt }: ProtectiveLeg): boolean =>
  status === 'standing' && !isLeaving && missingSince === null && triggeredAt === null;

/** What is not known of a leg is asked for meanwhile. */
const restSoon = (protection: Protection, untilMs: number, now: number): Step =>
  rest(protection, protection.legs.every(isAtRest) ? untilMs : Math.min(untilMs, now + SOON_MS));
