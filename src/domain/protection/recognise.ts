// What of ours stands at the broker: what is shown there is matched with what was sent, and what is not shown is asked for, one
// by one. What a leg has filled is written down before anything else is decided. A leg that the broker does not know may have been
// filled all the same: its lists lag behind each other, and so it is looked for a while longer before it is forgotten.

import { add } from '../decimal.ts';
import { type ClientOrderId, millis, timestamp } from '../ids.ts';
import { isLegOf, isPositive, type Protection, type ProtectiveLeg } from './protection.ts';
import type { Facts, Fate, Rules, ShownStop, Step } from './step.ts';

/** What the broker is to show is looked at so often within a pass. */
export const MOST_WAITS = 6;
/** What rests in the market after its trigger is not waited for any longer in each pass: the account has other positions. */
const TRIGGERED_MS = 4_000;

export interface Recognised {
  /** With what was learnt of its legs. */
  readonly protection: Protection;
  /** Legs that are shown, that the broker knows as standing, or that were sent a moment ago. */
  readonly standing: readonly ProtectiveLeg[];
  /** Which of them close all that is held when they trigger. */
  readonly ofAll: ReadonlySet<ClientOrderId>;
  /** Shown, this one's own by their ids, and in no record any more. */
  readonly strays: readonly ShownStop[];
}

export function recognise(
  wanted: Protection,
  stops: readonly ShownStop[],
  facts: Facts,
  rules: Rules,
): Recognised | Step {
  const unmatched = new Set(stops);
  const standing: ProtectiveLeg[] = [];
  const ofAll = new Set<ClientOrderId>();
  const lost = { stop: false, target: false, expired: false };
  let protection = wanted;
  for (const leg of wanted.legs) {
    // Its successor goes on under its name, and is all that stands there.
    if (isSucceeded(leg, wanted, facts) && stops.some((stop) => stop.clientOrderId === leg.clientOrderId)) {
      protection = withLeg(protection, leg, null);
      continue;
    }
    const shown =
      leg.stop === null || isSucceeded(leg, wanted, facts)
        ? undefined
        : [...unmatched].find(
            (stop) => isSame(leg, stop, facts) && !isAnothers(stop.brokerRef, leg, wanted, facts),
          );
    if (shown) unmatched.delete(shown);
    // A target is always asked for: it may be filled in part.
    const outcome: Outcome | Step =
      shown && leg.limit === null
        ? { leg: asShown(leg, shown, wanted), isTaken: isEdited(leg, shown) }
        : unshown(protection, leg, shown, facts, rules);
    if ('do' in outcome) return outcome;
    if (outcome.isTaken) lost[leg.stop === null ? 'target' : outcome.hasExpired ? 'expired' : 'stop'] = true;
    if (outcome.hasDied) protection = { ...protection, closesFor: leg.kind ?? 'stop_loss' };
    protection = withLeg(protection, leg, outcome.leg);
    if (outcome.leg?.missingSince === null) standing.push(outcome.leg);
    if (outcome.leg && shown?.quantity === null) ofAll.add(outcome.leg.clientOrderId);
  }
  const strays = [...unmatched].filter(
    ({ clientOrderId }) => clientOrderId !== null && isLegOf(wanted, clientOrderId),
  );
  return { protection: restored(protection, lost, facts.now), standing, ofAll, strays };
}

interface Outcome {
  /** null: it is gone. */
  readonly leg: ProtectiveLeg | null;
  /** It is gone, or is another, and we have not asked for that: somebody else took it away, or changed it. */
  readonly isTaken: boolean;
  /** Nobody did: its time at the broker was over. */
  readonly hasExpired?: boolean;
  /** It triggered, and did not close what it was to close. */
  readonly hasDied?: boolean;
}

/**
 * By our id, by the broker's, or, where it repeats neither, by its price. Where the broker has one stop of the position, which is overwritten,
 * it is that one, whatever it is called.
 */
function isSame(leg: ProtectiveLeg, stop: ShownStop, { able, names }: Facts): boolean {
  if (able.moves === 'set' && leg.limit === null && !able.reserves) return true;
  if (stop.clientOrderId !== null) return stop.clientOrderId === leg.clientOrderId;
  if (names === 'ours') return false;
  if (stop.brokerRef !== null && leg.brokerRef !== null) return stop.brokerRef === leg.brokerRef;
  return stop.price === leg.stop;
}

/** Where nothing has our ids, what stands at its price may be the one that was sent in its place. */
const isAnothers = (
  ref: string | null,
  { clientOrderId }: ProtectiveLeg,
  { legs }: Protection,
  { names }: Facts,
): boolean =>
  names !== 'ours' &&
  ref !== null &&
  legs.some((other) => other.clientOrderId !== clientOrderId && other.brokerRef === ref);

/** Another was set in its place since: what stands there is that one. */
const isSucceeded = (
  { level, revision, missingSince }: ProtectiveLeg,
  { legs }: Protection,
  { able }: Facts,
): boolean =>
  able.moves === 'set' &&
  missingSince !== null &&
  legs.some((other) => other.level === level && other.revision > revision);

/** Where another was overwritten, it may stand there by its former name. By a name that is none of ours nobody is known. */
const asShown = (leg: ProtectiveLeg, shown: ShownStop, wanted: Protection): ProtectiveLeg => {
  const { price, quantity, brokerRef, clientOrderId: name } = shown;
  const isNamed = name === null || name === leg.clientOrderId;
  const isOurs = isNamed || leg.formerIds.includes(name) || isLegOf(wanted, name);
  return {
    ...leg,
    ...(isOurs &&
      !isNamed && {
        clientOrderId: name,
        formerIds: [leg.clientOrderId, ...leg.formerIds.filter((id) => id !== name)],
      }),
    status: 'standing',
    stop: price,
    quantity: quantity ?? leg.quantity,
    brokerRef: isOurs ? (brokerRef ?? leg.brokerRef) : leg.brokerRef,
    missingSince: null,
    triggeredAt: null,
  };
};

const isEdited = (leg: ProtectiveLeg, { price, quantity }: ShownStop): boolean =>
  leg.status === 'standing' &&
  !leg.isLeaving &&
  (price !== leg.stop || (quantity !== null && quantity !== leg.quantity));

/** One that is not among the stops that stand, or a target, which may have one beside it there. */
function unshown(
  protection: Protection,
  leg: ProtectiveLeg,
  beside: ShownStop | undefined,
  facts: Facts,
  rules: Rules,
): Outcome | Step {
  const found = facts.fates.get(leg.clientOrderId);
  if (found === undefined) return { do: 'find', leg };
  const isNotIts =
    found !== null &&
    (isAnothers(found.brokerRef, leg, protection, facts) ||
      (found.status === 'standing' && isSucceeded(leg, protection, facts)));
  const fate = isNotIts ? null : found;
  if (fate?.status === 'triggered') return triggered(protection, leg, fate, facts, rules);
  if (fate?.status === 'standing') return known(protection, leg, fate, beside, facts, rules);
  if (fate && fate.fills.length > 0) return record(protection, leg, fate, facts);
  if (fate?.hasDied) return { leg: null, isTaken: false, hasDied: true };
  const isFlat = facts.held !== null && !isPositive(facts.held.quantity);
  const isOurs = leg.missingSince === null && !leg.isLeaving && !isFlat;
  const isTaken = leg.status === 'standing' && isOurs;
  // One that was moved may have ended for the one that goes on in its place.
  const isLast = !protection.legs.some(
    ({ level, revision }) => level === leg.level && revision > leg.revision,
  );
  // What ends before it was seen to stand counts as well: nobody is asked for it again and again without end.
  if (fate !== null)
    return {
      leg: null,
      isTaken: isTaken || (leg.status === 'taken' && isOurs && isLast),
      hasExpired: fate.hasExpired,
    };
  return missing(protection, leg, isTaken, facts, rules);
}

/** Its order is under way. Where nobody ever shows one, it has died. */
function triggered(
  protection: Protection,
  leg: ProtectiveLeg,
  { fills, isOrdered }: Fate,
  facts: Facts,
  rules: Rules,
): Outcome | Step {
  const since = leg.triggeredAt ?? timestamp(facts.now);
  const waiting: ProtectiveLeg = { ...leg, status: 'standing', triggeredAt: since, missingSince: null };
  const isDead = !isOrdered && fills.length === 0 && facts.now - millis(since) >= rules.protectMs;
  if (isDead) return { leg: null, isTaken: false, hasDied: true };
  if (facts.waits < MOST_WAITS && facts.now - millis(since) < TRIGGERED_MS)
    return { do: 'wait', protection: withLeg(protection, leg, waiting), ms: pauseOf(facts) };
  return { leg: waiting, isTaken: false };
}

/** The broker knows it as standing: a target, or a stop that it does not show yet. */
function known(
  protection: Protection,
  leg: ProtectiveLeg,
  { brokerRef, fills }: Fate,
  beside: ShownStop | undefined,
  facts: Facts,
  rules: Rules,
): Outcome | Step {
  const hasItsStop = beside !== undefined || leg.limit === null || leg.stop === null;
  // The target rests, and its stop is not there: it may be shown late.
  if (
    !hasItsStop &&
    leg.status !== 'standing' &&
    isYoung(leg, facts, rules.lostMs) &&
    facts.waits < MOST_WAITS
  )
    return { do: 'wait', protection, ms: pauseOf(facts) };
  const stop = hasItsStop ? (beside?.price ?? leg.stop) : null;
  return {
    leg: {
      ...leg,
      stop,
      status: 'standing',
      brokerRef: brokerRef ?? leg.brokerRef,
      filled: fills.find(({ by }) => by === 'target')?.order.fillQuantity ?? leg.filled,
      missingSince: null,
      triggeredAt: null,
    },
    isTaken: leg.status === 'standing' && !leg.isLeaving && stop !== leg.stop,
  };
}

/** The broker has none. It may yet arrive, or have been filled a moment ago. */
function missing(
  protection: Protection,
  leg: ProtectiveLeg,
  isTaken: boolean,
  facts: Facts,
  rules: Rules,
): Outcome | Step {
  const isSent = leg.status !== 'standing' && !leg.isLeaving;
  if (isSent && isYoung(leg, facts, rules.lostMs) && facts.waits < MOST_WAITS)
    return { do: 'wait', protection, ms: pauseOf(facts) };
  const since = leg.missingSince ?? timestamp(facts.now);
  const isOver = !isYoung(leg, facts, rules.giveUpMs) && facts.now - millis(since) >= rules.giveUpMs;
  return { leg: isOver ? null : { ...leg, missingSince: since }, isTaken };
}

const isYoung = ({ sentAt }: ProtectiveLeg, { now }: Facts, ms: number): boolean => now - millis(sentAt) < ms;

/** It has ended, and this is what it closed. */
function record(
  protection: Protection,
  leg: ProtectiveLeg,
  { fills, hasDied }: Fate,
  { names }: Facts,
): Step {
  const byStop = leg.kind ?? protection.stop?.kind ?? 'stop_loss';
  const asTarget = fills.find(({ by }) => by === 'target')?.order;
  const targets = protection.targets.map((target, index) =>
    asTarget && index === leg.level - 1
      ? {
          ...target,
          closed: add(target.closed, asTarget.fillQuantity),
          isFilled: target.isFilled || asTarget.status === 'filled',
        }
      : target,
  );
  return {
    do: 'record',
    protection: {
      ...without(protection, leg, names),
      targets,
      closesFor: hasDied ? byStop : protection.closesFor,
    },
    leg,
    fills: fills.map(({ by, order }) => ({ by, reason: by === 'target' ? 'take_profit' : byStop, order })),
  };
}

/** By its price alone, what was never shown and has been replaced would be taken for this one once more. */
const without = (protection: Protection, leg: ProtectiveLeg, names: Facts['names']): Protection => ({
  ...protection,
  legs: protection.legs.filter(
    (each) =>
      each.clientOrderId !== leg.clientOrderId &&
      !(
        names === 'theirs' &&
        each.level === leg.level &&
        each.brokerRef === null &&
        each.replacedAt !== null
      ),
  ),
});

const HOUR_MS = 3_600_000;
type Times = Protection['restoredAt'];

const ofLastHour = (times: Times, now: number): Times => times.filter((time) => now - millis(time) < HOUR_MS);

/** However many were taken away at once. */
const restored = (
  protection: Protection,
  lost: { readonly stop: boolean; readonly target: boolean; readonly expired: boolean },
  now: number,
): Protection => {
  if (!lost.stop && !lost.target && !lost.expired) return protection;
  const with_ = (times: Times, isLost: boolean): Times =>
    isLost ? [...ofLastHour(times, now), timestamp(now)] : times;
  return {
    ...protection,
    restoredAt: with_(protection.restoredAt, lost.stop),
    targetsRestoredAt: with_(protection.targetsRestoredAt, lost.target),
    expiredAt: with_(protection.expiredAt, lost.expired),
  };
};

/** So often in an hour it is put back: then somebody means it, or another program does. */
const MOST_RESTORED = 3;
export const isGivenUp = (times: Times, now: number): boolean =>
  ofLastHour(times, now).length > MOST_RESTORED;

export const withLeg = (
  protection: Protection,
  leg: ProtectiveLeg,
  to: ProtectiveLeg | null,
): Protection => ({
  ...protection,
  legs: protection.legs.flatMap((each) =>
    each.clientOrderId === leg.clientOrderId ? (to ? [to] : []) : [each],
  ),
});

/** Sooner at first: most brokers show at once what they have taken. */
export const pauseOf = ({ waits }: Pick<Facts, 'waits'>): number => Math.min(1_000, 100 * 2 ** waits);
