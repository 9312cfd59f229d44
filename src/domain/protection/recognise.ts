// What of ours stands at the broker: what is shown there is matched with what was sent, and what is not shown is asked for, one
// by one. What a leg has filled is written down before anything else is decided.

import { add, compare } from '../decimal.ts';
import { type ClientOrderId, millis, timestamp } from '../ids.ts';
import {
  type ExitReason,
  isPositive,
  isProtective,
  type Protection,
  type ProtectiveLeg,
} from './protection.ts';
import type { Facts, Fate, Rules, ShownStop, Step } from './step.ts';

export interface Recognised {
  /** With what was learnt of its legs. */
  readonly protection: Protection;
  /** Legs that are shown, that the broker knows as standing, or that may yet arrive. */
  readonly standing: readonly ProtectiveLeg[];
  /** Which of them close all that is held when they trigger. */
  readonly ofAll: ReadonlySet<ClientOrderId>;
  /** Shown, ours by their ids, and in no record of this one. */
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
  let protection = wanted;
  for (const leg of wanted.legs) {
    const shown = leg.stop === null ? undefined : [...unmatched].find((stop) => isSame(leg, stop));
    if (shown) unmatched.delete(shown);
    if (shown?.quantity === null) ofAll.add(leg.clientOrderId);
    // A target is always asked for: it may be filled in part.
    const outcome: Outcome | Step =
      shown && leg.limit === null
        ? { leg: asShown(leg, shown), isRestored: isEdited(leg, shown) }
        : unshown(protection, leg, shown, facts, rules);
    if ('do' in outcome) return outcome;
    if (outcome.isRestored) protection = restored(protection, facts.now);
    if (outcome.hasDied) protection = { ...protection, closesFor: protection.stop?.kind ?? 'stop_loss' };
    protection = withLeg(protection, leg, outcome.leg);
    if (outcome.leg) standing.push(outcome.leg);
  }
  const strays = [...unmatched].filter(
    ({ clientOrderId }) => clientOrderId !== null && isProtective(clientOrderId),
  );
  return { protection, standing, ofAll, strays };
}

interface Outcome {
  /** null: it is gone. */
  readonly leg: ProtectiveLeg | null;
  /** Somebody else took it away, or changed it. */
  readonly isRestored: boolean;
  /** It triggered, and closed nothing. */
  readonly hasDied?: boolean;
}

/** By our id, by the broker's, or, where it has neither, by its shape. */
function isSame(leg: ProtectiveLeg, stop: ShownStop): boolean {
  if (stop.clientOrderId !== null) return stop.clientOrderId === leg.clientOrderId;
  if (stop.brokerRef !== null && leg.brokerRef !== null) return stop.brokerRef === leg.brokerRef;
  return compare(stop.price, leg.stop ?? stop.price) === 0;
}

const asShown = (leg: ProtectiveLeg, { price, quantity, brokerRef }: ShownStop): ProtectiveLeg => ({
  ...leg,
  status: 'standing',
  stop: price,
  quantity: quantity ?? leg.quantity,
  brokerRef: brokerRef ?? leg.brokerRef,
});

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
  const { now, held, fates } = facts;
  const fate = fates.get(leg.clientOrderId);
  if (fate === undefined) return { do: 'find', leg };
  if (fate?.status === 'triggered') return { do: 'wait', protection, ms: pauseOf(facts) };
  if (fate?.status === 'standing') {
    const isShown = beside !== undefined || leg.limit === null || leg.stop === null;
    // The target rests, and its stop is not there: it may be shown late.
    if (!isShown && leg.status !== 'standing' && now - millis(leg.sentAt) < rules.lostMs)
      return { do: 'wait', protection, ms: pauseOf(facts) };
    const stop = isShown ? (beside?.price ?? leg.stop) : null;
    const isChanged = leg.status === 'standing' && !leg.isLeaving && stop !== leg.stop;
    return { leg: { ...asFound(leg, fate), stop }, isRestored: isChanged };
  }
  if (fate && fate.fills.length > 0) return record(protection, leg, fate);
  if (fate?.hasDied) return { leg: null, isRestored: false, hasDied: true };
  const isFlat = held !== null && !isPositive(held.quantity);
  const isExpected = !leg.isLeaving && !isFlat;
  if (fate === null && leg.status !== 'standing' && isExpected) {
    const age = now - millis(leg.sentAt);
    if (leg.limit === null && age < rules.lostMs) return { do: 'wait', protection, ms: pauseOf(facts) };
    // It may yet arrive, and must not be there twice.
    if (leg.limit !== null && age < rules.giveUpMs) return { leg, isRestored: false };
  }
  return { leg: null, isRestored: leg.status === 'standing' && isExpected };
}

const asFound = (leg: ProtectiveLeg, { brokerRef, fills }: Fate): ProtectiveLeg => ({
  ...leg,
  status: 'standing',
  brokerRef: brokerRef ?? leg.brokerRef,
  filled: fills.find(({ by }) => by === 'target')?.order.fillQuantity ?? leg.filled,
});

/** It has ended, and this is what it closed. */
function record(protection: Protection, leg: ProtectiveLeg, { fills, hasDied }: Fate): Step {
  const byStop: ExitReason = protection.stop?.kind ?? 'stop_loss';
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
      ...withLeg(protection, leg, null),
      targets,
      closesFor: hasDied ? byStop : protection.closesFor,
    },
    leg,
    fills: fills.map(({ by, order }) => ({ reason: by === 'target' ? 'take_profit' : byStop, order })),
  };
}

const HOUR_MS = 3_600_000;

export const ofLastHour = (times: Protection['restoredAt'], now: number): Protection['restoredAt'] =>
  times.filter((time) => now - millis(time) < HOUR_MS);

const restored = (protection: Protection, now: number): Protection => ({
  ...protection,
  restoredAt: [...ofLastHour(protection.restoredAt, now), timestamp(now)],
});

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
